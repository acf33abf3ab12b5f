/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <errno.h>
#include <gp/core.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD_MAX = 32 };

static const char *program = "gp";

bool cli_flush(const char *name)
{
    const bool lost = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !lost)
        return true;
    fprintf(stderr, "%s: cannot write the output: %s\n", name,
            errno ? strerror(errno) : "an earlier write failed");
    return false;
}

/* The last thing that a program does. Some file systems report a lost write on closing. */
static void close_output(void)
{
    if (!cli_flush(program))
        _exit(1);
    if (close(STDOUT_FILENO) == 0 || errno == EBADF)
        return;
    fprintf(stderr, "%s: cannot write the output: %s\n", program, strerror(errno));
    _exit(1);
}

void cli_begin(const struct cli *c)
{
    program = c->name;
    if (atexit(close_output) == 0)
        return;
    fprintf(stderr, "%s: out of memory\n", program);
    exit(1);
}

/* ---- misspelt names -------------------------------------------------------------------------- */

/* The least number of characters to insert, remove or replace, and of neighbours to exchange; of
 * words up to WORD_MAX long. Damerau 1964. */
static int distance(const char *a, const char *b)
{
    int d[WORD_MAX + 1][WORD_MAX + 1];
    const int n = (int)strlen(a), m = (int)strlen(b);
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            int least = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            least = d[i - 1][j] < least ? d[i - 1][j] + 1 : least;
            least = d[i][j - 1] < least ? d[i][j - 1] + 1 : least;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                least = d[i - 2][j - 2] < least ? d[i - 2][j - 2] + 1 : least;
            d[i][j] = least;
        }
    return d[n][m];
}

const char *cli_nearest(const char *word, const char *const *names)
{
    const char *nearest = NULL;
    const size_t length = strlen(word);
    int least = length < 5 ? 2 : 3; /* not as many */
    if (length < 3 || length > WORD_MAX)
        return NULL;
    for (; *names; names++) {
        const int d = strlen(*names) > WORD_MAX ? least : distance(word, *names);
        if (d < least) {
            least = d;
            nearest = *names;
        }
    }
    return nearest;
}

/* ---- options --------------------------------------------------------------------------------- */

static void end_wrong(const struct cli *c) __attribute__((noreturn));

static void end_wrong(const struct cli *c)
{
    fprintf(stderr, "%s: --help lists the options\n", c->name);
    exit(2);
}

void cli_wrong(const struct cli *c, const char *format, ...)
{
    va_list list;
    fprintf(stderr, "%s: ", c->name);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    end_wrong(c);
}

/* getopt_long has said what is wrong with the word; this says what it may have been meant to be. */
static void suggest(const struct cli *c, const char *word)
{
    const char *names[64];
    char name[WORD_MAX + 1];
    size_t count = 0;
    if (strncmp(word, "--", 2) != 0)
        return;
    const size_t length = strcspn(word + 2, "=");
    if (length > WORD_MAX)
        return;
    memcpy(name, word + 2, length);
    name[length] = 0;
    for (const struct option *o = c->options; o->name && count < 63; o++)
        names[count++] = o->name;
    names[count] = NULL;
    const char *nearest = cli_nearest(name, names);
    if (nearest && strcmp(nearest, name) != 0)
        fprintf(stderr, "%s: did you mean --%s?\n", c->name, nearest);
}

int cli_next(const struct cli *c, int argc, char **argv)
{
    char name[WORD_MAX + 1];
    snprintf(name, sizeof name, "%s", c->name);
    char *path = argv[0];
    argv[0] = name; /* what the messages begin with */
    const int option = getopt_long(argc, argv, "h", c->options, NULL);
    argv[0] = path;
    if (option == '?') {
        suggest(c, argv[optind - 1]);
        end_wrong(c);
    }
    if (option == CLI_HELP || option == 'h')
        exit(fputs(c->usage, stdout) < 0);
    if (option == CLI_VERSION) {
        printf("%s (gp) %d.%d.%d\n", c->name, GP_VERSION_MAJOR, GP_VERSION_MINOR, GP_VERSION_PATCH);
        exit(0);
    }
    return option;
}

void cli_alone(const char *name, const char *what, int argc, char **argv)
{
    static const struct option options[] = {CLI_OPTIONS, {0}};
    static char usage[256];
    const struct cli c = {name, usage, options};
    snprintf(usage, sizeof usage, "usage: %s [--help | --version]\n\n%s\n", name, what);
    cli_begin(&c);
    cli_next(&c, argc, argv);
    if (optind < argc)
        cli_wrong(&c, "unexpected argument \"%s\"", argv[optind]);
}
