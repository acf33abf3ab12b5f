/* SPDX-License-Identifier: MIT */
/* gp-bench: the command line. */
#include "bench.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "calls/calls.h"
#include "gp_bench_commit.h"

static const struct suite {
    const char *name, *what;
    void (*run)(struct bench *b);
    bool by_name; /* runs only when it is named */
} suites[] = {
    {"memcpy", "copy read write", bench_memcpy, false},
    {"scan",
     "inclusive_sum exclusive_sum unaligned_sum in_place_sum inclusive_product inclusive_min "
     "inclusive_max inclusive_and inclusive_or inclusive_xor inclusive_affine inclusive_mat2 "
     "algorithms",
     bench_scan, false},
    {"segments",
     "segmented_1 segmented_16 segmented_1000 segmented_powerlaw segmented_huge flagged_16 "
     "by_key_16 rows_1000",
     bench_segments, false},
    {"reduce", "reduce_sum unaligned_sum reduce_max argmin backward_sum", bench_reduce, false},
    {"compact", "flags_10 flags_50 flags_90 if_50", bench_compact, false},
    {"gather", "random_4 random_8 random_12", bench_gather, false},
    {"sort", "keys pairs_u32 pairs_u64 pairs_20_bits argsort", bench_sort, false},
    {"segsort", "segments_16 segments_256 segments_1024 segments_65536 segments_powerlaw",
     bench_segsort, false},
    {"lexsort", "indices", bench_lexsort, false},
    {"histogram", "even_256 even_256_odd even_2048 even_65536 even_1048576 bincount_256 bincount_n",
     bench_histogram, false},
    {"csr", "row_pointers row_pointers_powerlaw coo_to_csr transpose spmv_even spmv_powerlaw",
     bench_csr, false},
    {"balance", "search_16 search_powerlaw", bench_balance, false},
    {"sizes", "inclusive_sum at every power of two, with a verdict (only when named)",
     bench_scan_sizes, true},
    {"distributions", "sorts of keys of uneven distributions, with a table (only when named)",
     bench_distributions, true},
    {"breadth",
     "every call over the arguments that users choose, the worst share of the ideal first "
     "(only when named)",
     bench_breadth, true},
    {"ladder", "inclusive_sum, step by step (only when named)", bench_ladder, true},
    {"calls",
     "host cost, first call, one thread and two; cases are functions without gp_, such as "
     "scan_by_key (only when named)",
     bench_calls, true},
};

enum { NUM_SUITES = sizeof suites / sizeof *suites };

static const char usage[] =
    "usage: gp-bench [suite...] [options]\n"
    "       gp-bench --compare OLD.csv NEW.csv\n"
    "\n"
    "  --backend cpu|cuda|auto  where to compute (auto)\n"
    "  --n EXP[,EXP...]         sizes 2^EXP (8 to 31) instead of each suite's own\n"
    "  --case NAME              only this case\n"
    "  --dtype T                only this element type, such as i32\n"
    "  --runs N                 timed runs of each implementation (15, at most 101)\n"
    "  --threads N              CPU threads (all)\n"
    "  --csv FILE               write the rows to FILE too\n"
    "  --svg FILE               draw the ladder into FILE\n"
    "  --quick                  main sizes only, fewer runs\n"
    "  --list                   the suites and their cases\n"
    "  --help                   this text\n";

static void usage_error(const char *what, const char *value)
{
    fprintf(stderr, "gp-bench: %s %s\n%s", what, value, usage);
    exit(2);
}

static int number(const char *text, const char *option, int low, int high)
{
    char *end;
    long v = strtol(text, &end, 10);
    if (end == text || *end || v < low || v > high)
        usage_error(option, "has a value that is not allowed");
    return (int)v;
}

static void parse_exponents(struct bench_options *o, char *list)
{
    for (char *p = strtok(list, ","); p; p = strtok(NULL, ",")) {
        if (o->num_exponents == BENCH_SIZES)
            usage_error("--n", "has too many sizes");
        int i = o->num_exponents++;
        int e = number(p, "--n", 8, 31);
        for (; i > 0 && o->exponents[i - 1] < e; i--) /* largest first: buffers are made once */
            o->exponents[i] = o->exponents[i - 1];
        o->exponents[i] = e;
    }
}

static void parse_backend(struct bench_options *o, const char *name)
{
    if (strcmp(name, "cpu") == 0)
        o->backend = GP_BACKEND_CPU;
    else if (strcmp(name, "cuda") == 0)
        o->backend = GP_BACKEND_CUDA;
    else if (strcmp(name, "auto") != 0)
        usage_error("unknown backend", name);
}

static void parse_suite(struct bench_options *o, const char *name)
{
    for (int i = 0; i < NUM_SUITES; i++)
        if (strcmp(suites[i].name, name) == 0 && o->num_suites < NUM_SUITES) {
            o->suites[o->num_suites++] = suites[i].name;
            return;
        }
    usage_error("unknown suite or option", name);
}

static int list_suites(void)
{
    for (int i = 0; i < NUM_SUITES; i++)
        printf("%-15s%s\n", suites[i].name, suites[i].what);
    return 0;
}

/* Options that take no value; true if it was one. */
static bool parse_plain(struct bench_options *o, const char *option)
{
    if (strcmp(option, "--help") == 0)
        exit(fputs(usage, stdout) < 0);
    if (strcmp(option, "--list") == 0)
        exit(list_suites());
    if (strcmp(option, "--quick") != 0)
        return false;
    o->quick = true;
    return true;
}

static void parse_valued(struct bench_options *o, const char *option, char *value)
{
    if (!value)
        usage_error("no value after, or unknown option", option);
    if (strcmp(option, "--backend") == 0)
        parse_backend(o, value);
    else if (strcmp(option, "--n") == 0)
        parse_exponents(o, value);
    else if (strcmp(option, "--case") == 0)
        o->case_name = value;
    else if (strcmp(option, "--first-call") == 0) /* of the suite calls, for itself */
        o->first_call = value;
    else if (strcmp(option, "--dtype") == 0)
        o->dtype = value;
    else if (strcmp(option, "--csv") == 0)
        o->csv = value;
    else if (strcmp(option, "--svg") == 0)
        o->svg = value;
    else if (strcmp(option, "--runs") == 0)
        o->runs = number(value, option, 1, BENCH_RUNS);
    else if (strcmp(option, "--threads") == 0)
        o->threads = number(value, option, 1, INT_MAX);
    else
        usage_error("unknown option", option);
}

static bool named(const struct bench_options *o, const char *suite)
{
    for (int i = 0; i < o->num_suites; i++)
        if (strcmp(o->suites[i], suite) == 0)
            return true;
    return false;
}

static void parse(struct bench_options *o, int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--compare") == 0)
        exit(bench_compare(argv[2], argv[3]));
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-')
            parse_suite(o, argv[i]);
        else if (!parse_plain(o, argv[i])) {
            parse_valued(o, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
            i++;
        }
    }
    if (o->svg && !named(o, "ladder"))
        usage_error("--svg is for the suite", "ladder, which is not named");
    if (!o->runs)
        o->runs = o->quick ? 7 : 15;
}

static void start(struct bench *b)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    const char *commit = getenv("GP_COMMIT");
    time_t now = time(NULL);
    char text[256];
    o.backend = b->options.backend;
    o.threads = b->options.threads;
    if (gp_context_create(&b->ctx, &o) != GP_OK)
        bench_die("%s", gp_last_error(NULL));
    b->backend = &bench_cpu;
#if BENCH_HAVE_CUDA
    if (gp_context_backend(b->ctx) == GP_BACKEND_CUDA)
        b->backend = &bench_cuda;
#endif
    strftime(b->date, sizeof b->date, "%Y-%m-%d", gmtime(&now));
    snprintf(b->commit, sizeof b->commit, "%s", commit && *commit ? commit : GP_BENCH_COMMIT);
    b->backend->open(b);
    bench_add_peers(b, bench_algorithm_peers);
    for (char *p = b->machine; *p; p++) /* a comma would end the CSV column */
        if (*p == ',')
            *p = ' ';
    if (gp_context_describe(b->ctx, text, sizeof text) == GP_OK)
        printf("%s, %s; commit %s\n", b->machine, text, b->commit);
    if (b->options.csv && !(b->csv = fopen(b->options.csv, "w")))
        bench_die("cannot write %s: %s", b->options.csv, strerror(errno));
    bench_write_header(b);
}

static bool chosen(const struct bench_options *o, const struct suite *suite)
{
    return o->num_suites ? named(o, suite->name) : !suite->by_name;
}

static int finish(struct bench *b)
{
    for (int i = 0; i < BENCH_SLOTS; i++)
        gp_free(b->ctx, b->slots[i].memory);
    b->backend->close(b);
    gp_context_destroy(b->ctx);
    if (b->csv && fclose(b->csv) != 0)
        bench_die("cannot write %s: %s", b->options.csv, strerror(errno));
    if (b->failures)
        printf("%d FAILED\n", b->failures);
    return b->failures ? 1 : 0;
}

/* Results that could not be written are lost: the last thing that the program looks at. */
static void close_output(void)
{
    const bool lost = ferror(stdout) != 0;
    errno = 0;
    if (fclose(stdout) == 0 && !lost)
        return;
    fprintf(stderr, "gp-bench: cannot write the output: %s\n",
            errno ? strerror(errno) : "an earlier write failed");
    _exit(1);
}

int main(int argc, char **argv)
{
    static struct bench b;
    if (atexit(close_output) != 0)
        bench_die("atexit failed");
    parse(&b.options, argc, argv);
    if (b.options.first_call)
        return call_first_child(&b.options);
    start(&b);
    for (int i = 0; i < NUM_SUITES; i++)
        if (chosen(&b.options, &suites[i]))
            suites[i].run(&b);
    return finish(&b);
}
