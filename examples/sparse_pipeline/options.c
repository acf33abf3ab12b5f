/* SPDX-License-Identifier: MIT */
#include "options.h"

#include "cli.h"
#include "mmio.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: sparse_pipeline [options] FILE\n"
    "       sparse_pipeline [options] --rmat SCALE\n"
    "       sparse_pipeline [options] --load FILE\n"
    "\n"
    "Reads a Matrix Market file (coordinate or array; real, integer or pattern; general, symmetric\n"
    "or skew-symmetric; FILE.mtx.gz too, and - is the standard input) or generates an R-MAT graph,\n"
    "builds its CSR form and what is asked for, ranks the vertices by PageRank if it is square, and\n"
    "compares everything with serial loops. Entries of the same place are added up.\n"
    "\n"
    "  --rmat SCALE         a graph of 2^SCALE vertices, 1 to 28\n"
    "  --edge-factor F      edges per vertex of the graph (16)\n"
    "  --seed S             of the graph (1)\n"
    "  --save FILE          write the matrix in a binary form, which --load reads at once\n"
    "  --load FILE          read it\n"
    "\n"
    "  --bfs[=VERTEX]       breadth-first search, from the vertex with most links\n"
    "  --components         connected components; links count in both directions\n"
    "  --triangles          number of triangles; likewise\n"
    "  --picture FILE.svg   draw the pattern of the matrix and the distribution of degrees\n"
    "\n"
    "  --backend NAME       cpu, cuda, or auto: the first usable GPU, otherwise the CPU (auto)\n"
    "  --threads N          of the CPU (as many as there are)\n"
    "  --tolerance T        of PageRank (1e-6)\n"
    "  --max-memory SIZE    refuse a matrix that takes more, such as 500M or 16G (1G or 512 times\n"
    "                       the file, whichever is more), and a stream that is longer (2G)\n"
    "  --no-oracle          do not compare; each stage runs once\n"
    "  --help               this text\n"
    "  --version            the version of gp\n"
    "\n"
    "An entry in row i and column j is a link from j to i. PageRank takes |a| with each column\n"
    "scaled to sum 1 as its weights and 0.85 as damping. With the comparison, times are the median\n"
    "of up to 5 runs; \"of copy\" is the traffic that a stage needs at least, per second, as a share\n"
    "of what a copy in memory moves; \"serial\" is the time of the loop compared with.\n"
    "\n"
    "exit code: 0 done and equal to the oracle, 1 bad input, an error of gp, or output that could\n"
    "not be written, 2 bad options, 3 a result differs from the oracle\n";

enum {
    RMAT = 1,
    EDGE_FACTOR,
    SEED,
    SAVE,
    LOAD,
    BFS,
    COMPONENTS,
    TRIANGLES,
    PICTURE,
    BACKEND,
    THREADS,
    TOLERANCE,
    MAX_MEMORY,
    NO_ORACLE
};

static const struct option options[] = {CLI_OPTIONS,
                                        {"rmat", required_argument, NULL, RMAT},
                                        {"edge-factor", required_argument, NULL, EDGE_FACTOR},
                                        {"seed", required_argument, NULL, SEED},
                                        {"save", required_argument, NULL, SAVE},
                                        {"load", required_argument, NULL, LOAD},
                                        {"bfs", optional_argument, NULL, BFS},
                                        {"components", no_argument, NULL, COMPONENTS},
                                        {"triangles", no_argument, NULL, TRIANGLES},
                                        {"picture", required_argument, NULL, PICTURE},
                                        {"backend", required_argument, NULL, BACKEND},
                                        {"threads", required_argument, NULL, THREADS},
                                        {"tolerance", required_argument, NULL, TOLERANCE},
                                        {"max-memory", required_argument, NULL, MAX_MEMORY},
                                        {"no-oracle", no_argument, NULL, NO_ORACLE},
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

/* What to read, to do and to write. */
static bool option_set_job(struct options *o, int option, const char *value)
{
    switch (option) {
    case RMAT:
        o->scale = option_count("--rmat", value, 1, 28);
        return true;
    case EDGE_FACTOR:
        o->edge_factor = option_count("--edge-factor", value, 1, 1 << 20);
        return true;
    case SEED:
        o->seed = option_count("--seed", value, 0, UINT64_MAX);
        return true;
    case SAVE:
        o->save = value;
        return true;
    case LOAD:
        o->load = value;
        return true;
    case PICTURE:
        o->picture = value;
        return true;
    case BFS:
        o->bfs = true;
        o->source = value ? option_count("--bfs", value, 1, UINT32_MAX) : 0;
        return true;
    case COMPONENTS:
        o->components = true;
        return true;
    case TRIANGLES:
        o->triangles = true;
        return true;
    }
    return false;
}

/* How. */
static void option_set(struct options *o, int option, const char *value)
{
    switch (option) {
    case BACKEND:
        o->backend = option_backend(value);
        break;
    case THREADS:
        o->threads = option_count("--threads", value, 1, 4096);
        break;
    case TOLERANCE:
        o->tolerance = option_tolerance(value);
        break;
    case MAX_MEMORY:
        o->max_memory = option_size("--max-memory", value);
        break;
    default:
        o->oracle = false;
        break;
    }
}

void options_read(struct options *o, int argc, char **argv)
{
    char first[MM_NAME_BYTES], second[MM_NAME_BYTES];
    cli_begin(&cli);
    *o = (struct options){.edge_factor = 16, .seed = 1, .tolerance = 1e-6, .oracle = true};
    for (int option; (option = cli_next(&cli, argc, argv)) != -1;)
        if (!option_set_job(o, option, optarg))
            option_set(o, option, optarg);
    if (optind + 1 < argc)
        cli_wrong(&cli, "more than one file: %s, %s", mm_printable(argv[optind], first),
                  mm_printable(argv[optind + 1], second));
    o->file = argv[optind]; /* NULL behind the last */
    if (o->load ? o->file || o->scale : !o->file == !o->scale)
        cli_wrong(&cli, "expected %s",
                  o->load   ? "--load without a file and without --rmat"
                  : o->file ? "either a file or --rmat, not both"
                            : "a file or --rmat SCALE, or --load FILE");
}
