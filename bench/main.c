/* SPDX-License-Identifier: MIT */
/* gp-bench: the command line. */
#include "bench.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calls/calls.h"
#include "cli.h"
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
    {"segreduce",
     "segments_1 segments_16 segments_1000 segments_powerlaw segments_one segments_tenth",
     bench_segreduce, false},
    {"compact",
     "flags_10 flags_50 flags_90 if_50 indices_50 records_12 partition three_parts multisplit_32",
     bench_compact, false},
    {"group",
     "unique_1 unique_2 unique_16 unique_1000 unique_1000000 unique_powerlaw unique_one lengths_.. "
     "sums_.. (of the same runs) group_by_1024 group_by_zipf_1024 group_by_sparse_1024 .. (of 2^10, "
     "2^20, 2^27 groups)",
     bench_group, false},
    {"gather", "random_4 random_8 random_12", bench_gather, false},
    {"sort", "keys pairs_u32 pairs_u64 pairs_20_bits argsort", bench_sort, false},
    {"segsort", "segments_16 segments_256 segments_1024 segments_65536 segments_powerlaw",
     bench_segsort, false},
    {"lexsort", "indices indices_any indices_repeats three_parts records_12 records_24 records_100",
     bench_lexsort, false},
    {"merge", "keys_R pairs_R for R runs: 2, 4, 16, 1024", bench_merge, false},
    {"histogram", "even_256 even_256_odd even_2048 even_65536 even_1048576 bincount_256 bincount_n",
     bench_histogram, false},
    {"csr", "row_pointers row_pointers_powerlaw coo_to_csr transpose spmv_even spmv_powerlaw",
     bench_csr, false},
    {"spmv", "random banded stencil_27 rmat dense_row tenth, also with _plan, _u64, _transposed",
     bench_spmv, false},
    {"spmv_files", "a case for each matrix in the directory GP_TEST_DATA (only when named)",
     bench_spmv_files, true},
    {"spmm", "random banded stencil_27 rmat, with _8 and _32 columns", bench_spmm, false},
    {"vector", "dot norm axpby multiply", bench_vector, false},
    {"balance", "search_16 search_powerlaw", bench_balance, false},
    {"sizes", "inclusive_sum at every power of two, with a verdict (only when named)",
     bench_scan_sizes, true},
    {"distributions", "sorts of keys of uneven distributions, with a table (only when named)",
     bench_distributions, true},
    {"breadth",
     "every call over the arguments that users choose, the worst share of the ideal first "
     "(only when named)",
     bench_breadth, true},
    {"counts",
     "every call with its numbers in device memory beside the same with numbers of the host: a few "
     "items of many, and all (only when named)",
     bench_counts, true},
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
    "  --case NAME              only this case, or those that a pattern has ('gather*')\n"
    "  --dtype T                only this element type, such as i32\n"
    "  --runs N                 timed runs of each implementation (15, at most 101)\n"
    "  --threads N              CPU threads (all)\n"
    "  --csv FILE               write the rows to FILE too\n"
    "  --svg FILE               draw the ladder into FILE\n"
    "  --quick                  main sizes only, fewer runs\n"
    "  --list                   the suites and their cases\n"
    "  --help                   this text\n"
    "  --version                the version of gp\n"
    "\n"
    "exit status: 0 done, 1 a wrong result, an error, or output that could not be written, 2 bad\n"
    "options\n";

enum { BACKEND = 1, SIZES, CASE, DTYPE, RUNS, THREADS, CSV, SVG, QUICK, LIST, COMPARE, FIRST_CALL };

static const struct option options[] = {
    CLI_OPTIONS,
    {"backend", required_argument, NULL, BACKEND},
    {"n", required_argument, NULL, SIZES},
    {"case", required_argument, NULL, CASE},
    {"dtype", required_argument, NULL, DTYPE},
    {"runs", required_argument, NULL, RUNS},
    {"threads", required_argument, NULL, THREADS},
    {"csv", required_argument, NULL, CSV},
    {"svg", required_argument, NULL, SVG},
    {"quick", no_argument, NULL, QUICK},
    {"list", no_argument, NULL, LIST},
    {"compare", no_argument, NULL, COMPARE},
    {"first-call", required_argument, NULL, FIRST_CALL}, /* of the suite calls, for itself */
    {0}};

static const struct cli cli = {"gp-bench", usage, options};

static int number(const char *text, const char *option, int low, int high)
{
    char *end;
    long v = strtol(text, &end, 10);
    if (end == text || *end || v < low || v > high)
        cli_wrong(&cli, "%s is \"%s\", expected %d to %d", option, text, low, high);
    return (int)v;
}

static void parse_exponents(struct bench_options *o, char *list)
{
    for (char *p = strtok(list, ","); p; p = strtok(NULL, ",")) {
        if (o->num_exponents == BENCH_SIZES)
            cli_wrong(&cli, "--n has more than %d sizes", (int)BENCH_SIZES);
        int i = o->num_exponents++;
        int e = number(p, "--n", 8, 31);
        for (; i > 0 && o->exponents[i - 1] < e; i--) /* largest first: buffers are made once */
            o->exponents[i] = o->exponents[i - 1];
        o->exponents[i] = e;
    }
}

static gp_backend parse_backend(const char *name)
{
    if (strcmp(name, "cpu") == 0)
        return GP_BACKEND_CPU;
    if (strcmp(name, "cuda") == 0)
        return GP_BACKEND_CUDA;
    if (strcmp(name, "auto") != 0)
        cli_wrong(&cli, "--backend is \"%s\", expected cpu, cuda or auto", name);
    return GP_BACKEND_AUTO;
}

static void parse_suite(struct bench_options *o, const char *name)
{
    const char *names[NUM_SUITES + 1] = {NULL};
    for (int i = 0; i < NUM_SUITES; i++) {
        names[i] = suites[i].name;
        if (strcmp(suites[i].name, name) == 0 && o->num_suites < NUM_SUITES) {
            o->suites[o->num_suites++] = suites[i].name;
            return;
        }
    }
    const char *nearest = cli_nearest(name, names);
    if (nearest)
        fprintf(stderr, "gp-bench: did you mean %s?\n", nearest);
    cli_wrong(&cli, "there is no suite \"%s\"; --list has their names", name);
}

static int list_suites(void)
{
    for (int i = 0; i < NUM_SUITES; i++)
        printf("%-15s%s\n", suites[i].name, suites[i].what);
    return 0;
}

static bool parse_option(struct bench_options *o, int option, char *value)
{
    switch (option) {
    case BACKEND:
        o->backend = parse_backend(value);
        break;
    case SIZES:
        parse_exponents(o, value);
        break;
    case CASE:
        o->case_name = value;
        break;
    case DTYPE:
        o->dtype = value;
        break;
    case RUNS:
        o->runs = number(value, "--runs", 1, BENCH_RUNS);
        break;
    case THREADS:
        o->threads = number(value, "--threads", 1, INT_MAX);
        break;
    case CSV:
        o->csv = value;
        break;
    case SVG:
        o->svg = value;
        break;
    case QUICK:
        o->quick = true;
        break;
    case LIST:
        exit(list_suites());
    case FIRST_CALL:
        o->first_call = value;
        break;
    default:
        return false;
    }
    return true;
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
    bool comparing = false;
    for (int option; (option = cli_next(&cli, argc, argv)) != -1;)
        if (!parse_option(o, option, optarg))
            comparing = true;
    if (comparing && argc - optind != 2)
        cli_wrong(&cli, "--compare takes two files");
    if (comparing)
        exit(bench_compare(argv[optind], argv[optind + 1]));
    for (int i = optind; i < argc; i++)
        parse_suite(o, argv[i]);
    if (o->svg && !named(o, "ladder"))
        cli_wrong(&cli, "--svg is for the suite ladder, which is not named");
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

int main(int argc, char **argv)
{
    static struct bench b;
    cli_begin(&cli);
    parse(&b.options, argc, argv);
    if (b.options.first_call)
        return call_first_child(&b.options);
    start(&b);
    for (int i = 0; i < NUM_SUITES; i++)
        if (chosen(&b.options, &suites[i]))
            suites[i].run(&b);
    return finish(&b);
}
