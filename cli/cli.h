/* SPDX-License-Identifier: MIT */
/*
 * What the command lines of all programs share: getopt_long with --help and --version, names that
 * were misspelt, and an exit status of 1 when the output was lost. Nothing of the library is here.
 */
#ifndef GP_CLI_H
#define GP_CLI_H

#include <getopt.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CLI_HELP = 1000, CLI_VERSION };

/* Rows of every program's table of options. */
#define CLI_OPTIONS                                                                                \
    {"help", no_argument, NULL, CLI_HELP},                                                         \
    {                                                                                              \
        "version", no_argument, NULL, CLI_VERSION                                                  \
    }

struct cli {
    const char *name;
    const char *usage;            /* what --help prints */
    const struct option *options; /* long ones; the last row is of zeros */
};

/*
 * The first call of a program. From then on a program that ends by exit() or by return says so if
 * its standard output could not be written, and has exit status 1.
 */
void cli_begin(const struct cli *c);

/*
 * The val of the next option, its value in optarg; -1 if there is none, and operands begin at
 * argv[optind]. --help and --version end the program, and so do mistakes, with exit status 2.
 */
int cli_next(const struct cli *c, int argc, char **argv);

/* End the program with exit status 2 and a reason. */
void cli_wrong(const struct cli *c, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* cli_begin() and all options of a program that has only those two; what: a sentence for --help. */
void cli_alone(const char *name, const char *what, int argc, char **argv);

/* The one of the names, which end with NULL, that word may have been meant to be; NULL if none. */
const char *cli_nearest(const char *word, const char *const *names);

/* Write what waits in stdout. False: it could not be written, and the reason is on stderr. */
bool cli_flush(const char *name);

#ifdef __cplusplus
}
#endif

#endif
