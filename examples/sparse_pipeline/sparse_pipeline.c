/* SPDX-License-Identifier: MIT */
/*
 * A sparse matrix from a file or a generator, from coordinate list to CSR to y = A x and PageRank,
 * on the GPU or the CPU, timed stage by stage and compared with serial loops.
 * sparse_pipeline --help says how.
 */
#include "cli.h"
#include "mmio.h"
#include "rmat.h"
#include "stages.h"
#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    const char *file;
    uint64_t scale; /* 0: no R-MAT graph */
    uint64_t edge_factor, seed, threads;
    uint64_t max_memory; /* bytes; 0: by the size of the file */
    gp_backend backend;
    double tolerance;
};

/* Limits without --max-memory. Files of short lines stay several times below that of their bytes,
 * so it is only met by row or column counts far beyond the entries. */
static const uint64_t stream_limit = UINT64_C(2) << 30; /* of text from a pipe or device */
static const uint64_t matrix_limit = UINT64_C(1) << 30; /* or, if it is more: */
static const uint64_t matrix_limit_per_byte = 512;      /* of the file */

static const char usage[] =
    "usage: sparse_pipeline [options] FILE\n"
    "       sparse_pipeline [options] --rmat SCALE\n"
    "\n"
    "Reads a Matrix Market file (coordinate or array; real, integer or pattern; general, symmetric\n"
    "or skew-symmetric; FILE.mtx.gz too, and - is the standard input) or generates an R-MAT graph,\n"
    "builds its CSR form, multiplies it with a vector, computes PageRank if it is square, and\n"
    "compares everything with a serial oracle. Entries of the same place are added up. Times are\n"
    "the median of up to 5 runs.\n"
    "\n"
    "  --rmat SCALE         a graph of 2^SCALE vertices, 1 to 28\n"
    "  --edge-factor F      edges per vertex of the graph (16)\n"
    "  --seed S             of the graph (1)\n"
    "  --backend NAME       cpu, cuda, or auto: the first usable GPU, otherwise the CPU (auto)\n"
    "  --threads N          of the CPU backend (as many as there are)\n"
    "  --tolerance T        of PageRank (1e-6)\n"
    "  --max-memory SIZE    refuse a matrix that takes more, such as 500M or 16G (1G or 512 times\n"
    "                       the file, whichever is more), and a stream that is longer (2G)\n"
    "  --help               this text\n"
    "  --version            the version of gp\n"
    "\n"
    "PageRank takes |a| with each column scaled to sum 1 as the links and 0.85 as damping.\n"
    "\n"
    "exit code: 0 done and equal to the oracle, 1 bad input, an error of gp, or output that could\n"
    "not be written, 2 bad options, 3 a result differs from the oracle\n";

/* ---- options --------------------------------------------------------------------------------- */

enum { RMAT = 1, EDGE_FACTOR, SEED, BACKEND, THREADS, TOLERANCE, MAX_MEMORY };

static const struct option options[] = {CLI_OPTIONS,
                                        {"rmat", required_argument, NULL, RMAT},
                                        {"edge-factor", required_argument, NULL, EDGE_FACTOR},
                                        {"seed", required_argument, NULL, SEED},
                                        {"backend", required_argument, NULL, BACKEND},
                                        {"threads", required_argument, NULL, THREADS},
                                        {"tolerance", required_argument, NULL, TOLERANCE},
                                        {"max-memory", required_argument, NULL, MAX_MEMORY},
                                        {0}};

static const struct cli cli = {"sparse_pipeline", usage, options};

static uint64_t option_count(const char *name, const char *text, uint64_t low, uint64_t high)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || v < low || v > high)
        cli_wrong(&cli, "%s is \"%s\", expected %llu to %llu", name, text, (unsigned long long)low,
                  (unsigned long long)high);
    return v;
}

/* A number of bytes, or with K, M, G or T of the powers of 1024. */
static uint64_t option_size(const char *name, const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    const bool ends = unit ? !end[1] : !*end;
    if (!isdigit((unsigned char)*text) || !ends || errno || v == 0 || v > UINT64_MAX >> shift)
        cli_wrong(&cli, "%s is \"%s\", expected a size such as 500M or 16G", name, text);
    return v << shift;
}

static gp_backend option_backend(const char *text)
{
    static const char *const names[] = {"auto", "cpu", "cuda"};
    static const gp_backend backends[] = {GP_BACKEND_AUTO, GP_BACKEND_CPU, GP_BACKEND_CUDA};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0)
            return backends[i];
    cli_wrong(&cli, "--backend is \"%s\", expected cpu, cuda or auto", text);
}

static double option_tolerance(const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end || !(value >= 1e-14 && value <= 0.1))
        cli_wrong(&cli, "--tolerance is \"%s\", expected 1e-14 to 0.1", text);
    return value;
}

static void option_set(struct options *o, int option, const char *value)
{
    switch (option) {
    case RMAT:
        o->scale = option_count("--rmat", value, 1, 28);
        break;
    case EDGE_FACTOR:
        o->edge_factor = option_count("--edge-factor", value, 1, 1 << 20);
        break;
    case SEED:
        o->seed = option_count("--seed", value, 0, UINT64_MAX);
        break;
    case BACKEND:
        o->backend = option_backend(value);
        break;
    case THREADS:
        o->threads = option_count("--threads", value, 1, 4096);
        break;
    case TOLERANCE:
        o->tolerance = option_tolerance(value);
        break;
    default:
        o->max_memory = option_size("--max-memory", value);
        break;
    }
}

static void options_read(struct options *o, int argc, char **argv)
{
    char first[MM_NAME_BYTES], second[MM_NAME_BYTES];
    *o = (struct options){.edge_factor = 16, .seed = 1, .tolerance = 1e-6};
    for (int option; (option = cli_next(&cli, argc, argv)) != -1;)
        option_set(o, option, optarg);
    if (optind + 1 < argc)
        cli_wrong(&cli, "more than one file: %s, %s", mm_printable(argv[optind], first),
                  mm_printable(argv[optind + 1], second));
    o->file = argv[optind]; /* NULL behind the last */
    if (!o->file == !o->scale)
        cli_wrong(&cli, "expected %s",
                  o->file ? "either a file or --rmat, not both" : "a file or --rmat SCALE");
}

/* ---- input ----------------------------------------------------------------------------------- */

/* Whether the matrix may take what all stages need of memory: arrays with an item per row, column
 * or entry, of host and device together. Row counts cost a file nothing. */
static bool memory_allowed(const char *what, double rows, double cols, double entries, double limit)
{
    const double needed = 48 * rows + (rows == cols ? 48 : 24) * cols + 170 * entries;
    if (needed <= limit)
        return true;
    fprintf(stderr,
            "sparse_pipeline: %s: %.0f x %.0f with %.0f entries takes about %.1f GiB, more than "
            "%.1f GiB; --max-memory %.0fG allows it\n",
            what, rows, cols, entries, needed * 0x1p-30, limit * 0x1p-30, ceil(needed * 0x1p-30));
    return false;
}

static bool file_allowed(const struct pipeline *p, const struct options *o, size_t file_bytes)
{
    char name[MM_NAME_BYTES];
    double limit = (double)matrix_limit_per_byte * (double)file_bytes;
    limit = fmax(limit, (double)matrix_limit);
    limit = o->max_memory ? (double)o->max_memory : limit;
    return memory_allowed(mm_printable(text_name(o->file), name), p->m.num_rows, p->m.num_cols,
                          (double)p->m.nnz, limit);
}

static int read_file(struct pipeline *p, const struct options *o, struct stage_line *line,
                     struct mm_file *file)
{
    char message[MM_MESSAGE_BYTES];
    const size_t stream = (size_t)(o->max_memory ? o->max_memory : stream_limit);
    report_begin(&p->report, "read");
    if (!mm_read(o->file, stream, &p->m, file, message, report_progress, &p->report)) {
        report_clear(&p->report);
        fprintf(stderr, "sparse_pipeline: %s\n", message);
        return EXIT_ERROR;
    }
    report_clear(&p->report);
    if (!file_allowed(p, o, file->bytes))
        return EXIT_ERROR;
    *line = (struct stage_line){"read", report_now() - p->report.begin, (double)file->bytes, "B",
                                "host", "Matrix Market reader"};
    return EXIT_GOOD;
}

static int generate(struct pipeline *p, const struct options *o, struct stage_line *line)
{
    const double vertices = (double)(UINT64_C(1) << o->scale);
    if (o->max_memory && !memory_allowed("the graph", vertices, vertices,
                                         vertices * (double)o->edge_factor, (double)o->max_memory))
        return EXIT_ERROR;
    report_begin(&p->report, "generate");
    if (!rmat_generate((unsigned)o->scale, o->edge_factor, o->seed, &p->m, report_progress,
                       &p->report))
        return stages_no_memory();
    *line = (struct stage_line){"generate",       report_now() - p->report.begin,
                                (double)p->m.nnz, " entries",
                                "host",           "R-MAT generator"};
    return EXIT_GOOD;
}

/* Read or generate the matrix; only then print anything. */
static int input(struct pipeline *p, const struct options *o)
{
    struct mm_file file = {0};
    struct stage_line line;
    char context[256], name[MM_NAME_BYTES];
    int e = o->file ? read_file(p, o, &line, &file) : generate(p, o, &line);
    if (e != EXIT_GOOD)
        return e;
    if (p->m.nnz > UINT32_MAX) {
        fprintf(stderr, "sparse_pipeline: %zu entries, expected at most %u\n", p->m.nnz,
                UINT32_MAX);
        return EXIT_ERROR;
    }
    report_clear(&p->report);
    gp_context_describe(p->ctx, context, sizeof context);
    printf("context  %s\n", context);
    if (o->file)
        printf("matrix   %s: %s", mm_printable(text_name(o->file), name), file.kind);
    else
        printf("matrix   R-MAT scale %d, edge factor %llu, seed %llu", (int)o->scale,
               (unsigned long long)o->edge_factor, (unsigned long long)o->seed);
    printf(", %u x %u, %zu entries\n", p->m.num_rows, p->m.num_cols, p->m.nnz);
    report_title();
    report_line(&p->report, &line);
    return EXIT_GOOD;
}

static int run(struct pipeline *p, const struct options *o)
{
    int e = input(p, o);
    if (e == EXIT_GOOD)
        e = stages_upload(p);
    if (e == EXIT_GOOD)
        e = stages_csr(p);
    if (e == EXIT_GOOD)
        e = stages_download(p);
    if (e == EXIT_GOOD && p->m.num_rows == p->m.num_cols && p->m.num_rows)
        e = stages_pagerank(p);
    else if (e == EXIT_GOOD)
        printf("%-18s left out: the matrix is not square\n", "PageRank");
    if (e == EXIT_GOOD)
        printf("\n%zu entries became %zu: %zu were duplicates\n", p->m.nnz, p->a.nnz,
               p->m.nnz - p->a.nnz);
    return e == EXIT_GOOD ? stages_check(p) : e;
}

int main(int argc, char **argv)
{
    struct options o;
    struct pipeline p = {0};
    gp_context_options c = GP_CONTEXT_OPTIONS_INIT;
    cli_begin(&cli);
    options_read(&o, argc, argv);
    c.backend = o.backend;
    c.threads = (int)o.threads;
    if (gp_context_create(&p.ctx, &c) != GP_OK)
        return stages_fail(&p);
    p.where = gp_context_backend(p.ctx) == GP_BACKEND_CUDA ? "cuda" : "cpu";
    p.tolerance = o.tolerance;
    p.report.terminal = isatty(STDOUT_FILENO) == 1;
    int e = run(&p, &o);
    stages_free(&p);
    return e;
}
