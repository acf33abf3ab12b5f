/* SPDX-License-Identifier: MIT */
/*
 * Calls over ranks against the call of one rank with as many items: a thread for each rank, each
 * with a GPU of its own where there are enough. The first row is the rate at which ranks exchange.
 */
#include "cli.h"
#include "dist.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS_MAX = 64 };

static struct settings {
    gp_backend backend;
    int ranks, runs, log_n;
    bool nccl, apart;
    const char *only; /* in the name of a case; NULL: all */
} set = {GP_BACKEND_CPU, 2, 5, 22, false, false, NULL};

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void need(gp_context *ctx, gp_status s)
{
    if (s == GP_OK)
        return;
    fprintf(stderr, "gp-dist-bench: %s\n", gp_last_error(ctx));
    exit(1);
}

/* ---- cases: each the call of one rank, or that over ranks ------------------------------------ */

static gp_status sort_keys(struct rank *r, gp_dtype dtype)
{
    if (!r->comm)
        return gp_radix_sort(r->ctx, dtype, r->in, r->n, r->out, NULL);
    return gp_dist_sort(r->comm, NULL, dtype, GP_ASCENDING, r->in, r->n, r->out, NULL);
}

static gp_status sort_u32(struct rank *r)
{
    return sort_keys(r, GP_U32);
}

static gp_status sort_u64(struct rank *r)
{
    return sort_keys(r, GP_U64);
}

/* The result of keys that are all on one rank is divided. */
static gp_status sort_evenly(struct rank *r)
{
    gp_dist_desc d = GP_DIST_DESC_INIT;
    if (!r->comm)
        return sort_keys(r, GP_U32);
    d.result = GP_DIST_EVEN;
    d.capacity = ((size_t)1 << set.log_n) / (size_t)set.ranks + 1;
    return gp_dist_sort(r->comm, &d, GP_U32, GP_ASCENDING, r->in, r->n, r->out, NULL);
}

static gp_status sort_pairs(struct rank *r)
{
    if (!r->comm)
        return gp_radix_sort_pairs(r->ctx, GP_U32, r->in, 4, r->values, r->n, r->out, r->values_out,
                                   NULL);
    return gp_dist_sort_pairs(r->comm, NULL, GP_U32, GP_ASCENDING, r->in, 4, r->values, r->n,
                              r->out, r->values_out, NULL);
}

static gp_status scan_any(struct rank *r, const void *known)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = GP_I32;
    return r->comm ? gp_dist_scan(r->comm, &d, known, r->in, r->n, r->out)
                   : gp_scan(r->ctx, &d, r->in, r->n, r->out);
}

static gp_status scan(struct rank *r)
{
    return scan_any(r, NULL);
}

static gp_status scan_known(struct rank *r)
{
    return scan_any(r, r->counts); /* any number: only the time counts */
}

static gp_status reduce(struct rank *r)
{
    gp_reduce_desc d = GP_REDUCE_DESC_INIT;
    d.in_dtype = GP_I32;
    return r->comm ? gp_dist_reduce(r->comm, &d, r->in, r->n, r->out)
                   : gp_reduce_by(r->ctx, &d, r->in, r->n, r->out);
}

static gp_status histogram(struct rank *r, size_t bins)
{
    const uint32_t lo = 0, hi = UINT32_MAX;
    gp_dist_histogram_desc d = GP_DIST_HISTOGRAM_DESC_INIT;
    d.dtype = GP_U32, d.lo = &lo, d.hi = &hi, d.bins = bins, d.counter_dtype = GP_U32;
    return r->comm ? gp_dist_histogram(r->comm, &d, r->in, r->n, r->out)
                   : gp_histogram_even(r->ctx, GP_U32, r->in, r->n, &lo, &hi, bins, GP_U32, r->out,
                                       NULL);
}

static gp_status histogram_256(struct rank *r)
{
    return histogram(r, 256);
}

static gp_status histogram_large(struct rank *r)
{
    return histogram(r, (size_t)1 << 20);
}

/* Every second key stays. */
static gp_status compact(struct rank *r, gp_dist_result result)
{
    const uint32_t limit = 1u << 31;
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    gp_dist_desc dist = GP_DIST_DESC_INIT;
    dist.result = result;
    dist.capacity = ((size_t)1 << set.log_n) / (size_t)set.ranks + 1;
    d.compare = GP_LT, d.dtype = GP_U32, d.value = &limit;
    return r->comm ? gp_dist_compact(r->comm, &dist, &d, r->in, NULL, r->n, r->out, r->counts)
                   : gp_compact_by(r->ctx, &d, r->in, NULL, r->n, r->out, r->counts);
}

static gp_status compact_free(struct rank *r)
{
    return compact(r, GP_DIST_FREE);
}

static gp_status compact_even(struct rank *r)
{
    return compact(r, GP_DIST_EVEN);
}

/* All items go to the next rank. */
static gp_status pass_on(struct rank *r)
{
    if (!r->comm)
        return gp_copy(r->ctx, r->in, r->n * 4, r->out);
    return gp_dist_exchange(r->comm, 4, r->in, r->n, r->counts + 8, r->out, r->n, NULL);
}

static const struct kind {
    const char *name;
    int shift; /* of the number of items, to the right */
    size_t item_bytes;
    gp_status (*run)(struct rank *r);
    enum spread spread;
    void (*prepare)(struct rank *r); /* NULL: keys */
} kinds[] = {
    {"exchange with the next rank, or copy", 0, 4, pass_on, SPREAD_EVEN, NULL},
    {"sort u32", 0, 4, sort_u32, SPREAD_EVEN, NULL},
    {"sort u64", 1, 8, sort_u64, SPREAD_EVEN, NULL},
    {"sort u32 + u32", 1, 8, sort_pairs, SPREAD_EVEN, NULL},
    {"sort u32, sorted", 0, 4, sort_u32, SPREAD_SORTED, NULL},
    {"sort u32, reversed", 0, 4, sort_u32, SPREAD_REVERSED, NULL},
    {"sort u32, equal", 0, 4, sort_u32, SPREAD_EQUAL, NULL},
    {"sort u32, Zipf", 0, 4, sort_u32, SPREAD_ZIPF, NULL},
    {"sort u32, all on one rank", 0, 4, sort_evenly, SPREAD_ONE, NULL},
    {"sort u32, as of 4 ranks", 0, 4, sort_u32, SPREAD_LIKE_4, NULL},
    {"sort u32, as of 8 ranks", 0, 4, sort_u32, SPREAD_LIKE_8, NULL},
    {"scan i32", 0, 4, scan, SPREAD_EVEN, NULL},
    {"scan i32, totals known", 0, 4, scan_known, SPREAD_EVEN, NULL},
    {"reduce i32", 0, 4, reduce, SPREAD_EVEN, NULL},
    {"histogram, 256 bins", 0, 4, histogram_256, SPREAD_EVEN, NULL},
    {"histogram, 2^20 bins", 0, 4, histogram_large, SPREAD_EVEN, NULL},
    {"compact, as it falls", 0, 4, compact_free, SPREAD_EVEN, NULL},
    {"compact, even", 0, 4, compact_even, SPREAD_EVEN, NULL},
    {"compact, even, of one rank", 0, 4, compact_even, SPREAD_ONE, NULL},
    {"COO to CSR", 5, 4, coo_run, SPREAD_EVEN, coo_prepare},
    {"COO to CSR, 2^k rows", 5, 4, coo_run, SPREAD_EVEN, coo_prepare_even},
    {"SpMV, 3-D Laplacian", 4, 4, product_run, SPREAD_EVEN, product_prepare},
    {"sort u32, samples and CUB", 0, 5, sample_sort, SPREAD_EVEN, NULL},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- measuring ------------------------------------------------------------------------------- */

struct worker {
    pthread_t id;
    struct rank rank;
    const struct kind *kind;
    struct start *start;
    double times[RUNS_MAX];
};

/* Where ranks wait for each other without sleeping: to be woken takes longer than short calls. */
struct start {
    unsigned ranks, arrived; /* arrived: atomic, so often */
};

static void wait_for_all(struct start *s)
{
    const unsigned mine = __atomic_fetch_add(&s->arrived, 1, __ATOMIC_ACQ_REL);
    const unsigned all = (mine / s->ranks + 1) * s->ranks;
    for (unsigned i = 0; __atomic_load_n(&s->arrived, __ATOMIC_ACQUIRE) < all; i++)
        if (i > 100000)
            sched_yield();
}

static void prepare(struct worker *w)
{
    struct rank *r = &w->rank;
    const size_t total = ((size_t)1 << set.log_n) >> w->kind->shift,
                 each = total / (size_t)r->ranks;
    const size_t some = (size_t)4 << 20; /* for many bins, and samples */
    const size_t most = (r->n > each ? r->n : each + 1) * w->kind->item_bytes + 256;
    const size_t bytes = most > some ? most : some;
    uint64_t counts[8 + RANKS_MAX] = {0};
    need(r->ctx, gp_malloc(r->ctx, bytes, &r->in));
    need(r->ctx, gp_malloc(r->ctx, bytes, &r->out));
    need(r->ctx, gp_malloc(r->ctx, bytes, &r->values));
    need(r->ctx, gp_malloc(r->ctx, bytes, &r->values_out));
    need(r->ctx, gp_malloc(r->ctx, 8 * 64, (void **)&r->counts));
    fill_keys(r, w->kind->spread, w->kind->run == sort_u64);
    if (w->kind->prepare)
        w->kind->prepare(r);
    counts[8 + (r->number + 1) % r->ranks] = r->n;
    need(r->ctx, gp_copy(r->ctx, counts, sizeof counts, r->counts));
    need(r->ctx, gp_context_synchronize(r->ctx));
}

static void clear(struct rank *r)
{
    gp_free(r->ctx, r->in), gp_free(r->ctx, r->out), gp_free(r->ctx, r->values);
    gp_free(r->ctx, r->values_out), gp_free(r->ctx, r->counts);
    matrix_clear(r);
    need(r->ctx, gp_context_synchronize(r->ctx));
}

static void *work(void *arg)
{
    struct worker *w = arg;
    prepare(w);
    for (int i = -1; i < set.runs; i++) {
        wait_for_all(w->start);
        const double begin = now();
        need(w->rank.ctx, w->kind->run(&w->rank));
        need(w->rank.ctx, gp_context_synchronize(w->rank.ctx));
        if (i >= 0)
            w->times[i] = now() - begin;
        wait_for_all(w->start);
    }
    clear(&w->rank);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median time of the last rank in each run of a case with that many ranks; 0: a plain call. */
static double measure(const struct kind *kind, gp_context **ctx, gp_comm **comm, int ranks)
{
    struct worker w[RANKS_MAX];
    const int count = ranks ? ranks : 1;
    const size_t total = ((size_t)1 << set.log_n) >> kind->shift;
    struct start start = {(unsigned)count, 0};
    for (int r = 0; r < count; r++) {
        w[r] = (struct worker){.kind = kind, .start = &start};
        w[r].rank = (struct rank){
            .ctx = ctx[r], .comm = ranks ? comm[r] : NULL, .number = r, .ranks = count};
        w[r].rank.cuda = set.backend == GP_BACKEND_CUDA;
        w[r].rank.n = kind->spread != SPREAD_ONE ? total / (size_t)count : r == 0 ? total : 0;
        if (pthread_create(&w[r].id, NULL, work, &w[r]) != 0)
            exit(1);
    }
    for (int r = 0; r < count; r++)
        pthread_join(w[r].id, NULL);
    for (int i = 0; i < set.runs; i++)
        for (int r = 1; r < count; r++)
            w[0].times[i] = w[r].times[i] > w[0].times[i] ? w[r].times[i] : w[0].times[i];
    qsort(w[0].times, (size_t)set.runs, sizeof w[0].times[0], compare);
    return w[0].times[set.runs / 2];
}

/* Memory of another context: ranks do not know whether others see it, so they do not read it. What
 * is released while work may use it is not given out before the context's next call. */
static void *memory_apart(void *user, size_t bytes, size_t alignment, gp_stream stream)
{
    void *memory = NULL;
    (void)alignment, (void)stream;
    need(user, gp_malloc(user, bytes, &memory));
    need(user, gp_context_synchronize(user));
    return memory;
}

static void release_apart(void *user, void *memory, size_t bytes, gp_stream stream)
{
    (void)bytes, (void)stream;
    gp_free(user, memory);
}

static gp_context *make_context(int rank, gp_allocator allocator)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    o.backend = set.backend;
    o.threads = set.backend == GP_BACKEND_CPU && set.ranks > 1 ? 1 : 0;
    o.device = set.backend == GP_BACKEND_CUDA ? rank : -1;
    o.allocator = allocator;
    gp_status s = gp_context_create(&ctx, &o);
    if (s == GP_ERROR_DEVICE && rank > 0) {
        o.device = 0;
        s = gp_context_create(&ctx, &o);
    }
    need(NULL, s);
    return ctx;
}

/* The context that memory comes from lives as long as the program. */
static gp_context *context_of(int rank)
{
    const gp_allocator own = {NULL, NULL, NULL};
    if (!set.apart)
        return make_context(rank, own);
    return make_context(rank, (gp_allocator){make_context(rank, own), memory_apart, release_apart});
}

/* Ranks of NCCL, whose library is looked for here as gp does. */
static void create_nccl(gp_context **ctx, gp_comm **comm)
{
    int (*init_all)(void **comms, int count, const int *devices), devices[RANKS_MAX];
    void *nccl[RANKS_MAX], *library = dlopen("libnccl.so.2", RTLD_NOW);
    void *symbol = library ? dlsym(library, "ncclCommInitAll") : NULL;
    memcpy(&init_all, &symbol, sizeof symbol);
    for (int r = 0; r < set.ranks; r++)
        devices[r] = r;
    if (!symbol || init_all(nccl, set.ranks, devices) != 0) {
        fprintf(stderr, "gp-dist-bench: no libnccl.so.2, or it cannot connect the GPUs\n");
        exit(1);
    }
    for (int r = 0; r < set.ranks; r++)
        need(NULL, gp_comm_create_nccl(ctx[r], nccl[r], &comm[r]));
}

static void measure_all(void)
{
    gp_context *ctx[RANKS_MAX];
    gp_comm *comm[RANKS_MAX];
    char text[200];
    for (int r = 0; r < set.ranks; r++)
        ctx[r] = context_of(r);
    if (set.nccl)
        create_nccl(ctx, comm);
    else
        need(NULL, gp_comm_create_local(ctx, set.ranks, comm));
    for (int r = 0; r < set.ranks; r++) {
        need(NULL, gp_context_describe(ctx[r], text, sizeof text));
        printf("# rank %d: %s\n", r, text);
    }
    printf("case,items,ranks,one rank ms,all ranks ms,items per ns,times as fast as one\n");
    for (size_t k = 0; k < KINDS; k++) {
        if (set.only && !strstr(kinds[k].name, set.only) && !strstr(set.only, kinds[k].name))
            continue;
        const size_t total = ((size_t)1 << set.log_n) >> kinds[k].shift;
        const bool like = kinds[k].spread == SPREAD_LIKE_4 || kinds[k].spread == SPREAD_LIKE_8;
        const double one = like ? 0 : measure(&kinds[k], ctx, comm, 0); /* that of even keys */
        const double all = measure(&kinds[k], ctx, comm, set.ranks);
        printf("\"%s\",%zu,%d,%.4f,%.4f,%.3f,%.3f\n", kinds[k].name, total, set.ranks, 1e3 * one,
               1e3 * all, 1e-9 * (double)total / all, one / all);
        fflush(stdout);
    }
    for (int r = 0; r < set.ranks; r++) {
        gp_comm_destroy(comm[r]);
        gp_context_destroy(ctx[r]);
    }
}

static const struct option options[] = {{"backend", required_argument, NULL, 'b'},
                                        {"ranks", required_argument, NULL, 'r'},
                                        {"log-items", required_argument, NULL, 'n'},
                                        {"runs", required_argument, NULL, 't'},
                                        {"case", required_argument, NULL, 'k'},
                                        {"nccl", no_argument, NULL, 'c'},
                                        {"apart", no_argument, NULL, 'a'},
                                        CLI_OPTIONS,
                                        {NULL, 0, NULL, 0}};

int main(int argc, char **argv)
{
    static const struct cli cli = {
        "gp-dist-bench",
        "usage: gp-dist-bench [OPTION..]\nCalls over ranks against the call of one rank.\n\n"
        "  --backend cpu|cuda   (cpu)\n"
        "  --ranks N            1 to 16 threads (2)\n"
        "  --log-items N        2^N items of all ranks, 10 to 33 (22); of 8 bytes half as many\n"
        "  --runs N             1 to 64 (5); the time is their median\n"
        "  --case TEXT          only cases with this in their names, or whose names are in it\n"
        "  --nccl               ranks of NCCL, with cuda and a GPU for each\n"
        "  --apart              GPUs do not read each other's memory, as those of several hosts\n"
        "  --help, --version\n",
        options};
    int o;
    cli_begin(&cli);
    while ((o = cli_next(&cli, argc, argv)) != -1) {
        if (o == 'c' || o == 'a') {
            *(o == 'c' ? &set.nccl : &set.apart) = true;
            continue;
        }
        if (o == 'k') {
            set.only = optarg;
            continue;
        }
        const int number = o == 'b' ? 0 : atoi(optarg);
        if (o == 'b' ? strcmp(optarg, "cpu") && strcmp(optarg, "cuda")
                     : number < (o == 'n' ? 10 : 1) || number > (o == 'r'   ? RANKS_MAX
                                                                 : o == 'n' ? 33
                                                                            : RUNS_MAX))
            cli_wrong(&cli, "%s is not allowed", optarg);
        set.backend = o != 'b'                      ? set.backend
                      : strcmp(optarg, "cuda") == 0 ? GP_BACKEND_CUDA
                                                    : GP_BACKEND_CPU;
        set.ranks = o == 'r' ? number : set.ranks;
        set.runs = o == 't' ? number : set.runs;
        set.log_n = o == 'n' ? number : set.log_n;
    }
    if (optind < argc)
        cli_wrong(&cli, "%s: no operand is expected", argv[optind]);
    measure_all();
    return 0;
}
