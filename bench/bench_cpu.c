/* SPDX-License-Identifier: MIT */
/* The CPU side of the harness: loops over threads, the wall clock, and the memory's rates. */
#include "bench.h"

#include <string.h>
#include <time.h>

#include "bench_task_item.h"

enum { THREADS_MAX = 4096 };

static int threads(const struct bench *b)
{
    const int wanted = b->options.threads ? b->options.threads : bench_processors();
    return wanted < THREADS_MAX ? wanted : THREADS_MAX;
}

static void machine_name(char *name, size_t bytes)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    snprintf(name, bytes, "CPU");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (colon && strncmp(line, "model name", 10) == 0) {
            colon[1 + strcspn(colon + 1, "\n")] = '\0';
            snprintf(name, bytes, "%s", colon + 2);
            break;
        }
    }
    if (f)
        fclose(f);
}

static void cpu_open(struct bench *b)
{
    char name[96];
    machine_name(name, sizeof name);
    snprintf(b->machine, sizeof b->machine, "%s (%d threads)", name, threads(b));
    bench_add_peers(b, bench_serial_peers);
    bench_add_peers(b, bench_serial_reduce_peers);
    bench_add_peers(b, bench_serial_sort_peers);
    bench_add_peers(b, bench_serial_csr_peers);
    bench_add_peers(b, bench_parallel_peers(threads(b)));
}

static void cpu_close(struct bench *b)
{
    (void)b;
}

/* Smaller loops take less time than waking a thread. */
static const size_t shared_from = 65536;

/* Several times what caches hold. */
static const size_t flush_bytes = (size_t)128 << 20;

/* A share of a loop over n: [begin, end). */
typedef void (*share_function)(void *arg, size_t begin, size_t end);

struct loop {
    size_t n;
    int shares;
    share_function share;
    void *arg;
};

/* Whole groups of 64 but for the last share. */
static void run_share(void *arg, int index)
{
    const struct loop *l = arg;
    const size_t groups = (l->n + 63) / 64, i = (size_t)index, count = (size_t)l->shares;
    const size_t begin = groups * i / count * 64, end = groups * (i + 1) / count * 64;
    l->share(l->arg, begin < l->n ? begin : l->n, end < l->n ? end : l->n);
}

/* Run a share per thread. */
static void for_shares(const struct bench *b, size_t n, share_function share, void *arg)
{
    struct loop l = {n, n < shared_from ? 1 : threads(b), share, arg};
    bench_parallel(l.shares, run_share, &l);
}

static void task_share(void *arg, size_t begin, size_t end)
{
    const struct bench_task t = *(const struct bench_task *)arg;
    for (size_t i = begin; i < end; i++)
        bench_task_item(&t, i);
}

static void cpu_task(struct bench *b, const struct bench_task *task)
{
    struct bench_task t = *task;
    for_shares(b, t.n, task_share, &t);
}

struct fill {
    char *memory;
    int byte;
};

static void fill_share(void *arg, size_t begin, size_t end)
{
    const struct fill *f = arg;
    memset(f->memory + begin, f->byte, end - begin);
}

static void cpu_fill_bytes(struct bench *b, void *memory, int byte, size_t bytes)
{
    struct fill f = {memory, byte};
    for_shares(b, bytes, fill_share, &f);
}

static void copy_share(void *arg, size_t begin, size_t end)
{
    const struct bench_args *a = arg;
    memcpy((char *)a->out + begin, (const char *)a->in + begin, end - begin);
}

static void read_share(void *arg, size_t begin, size_t end)
{
    const struct bench_args *a = arg;
    const uint64_t *in = a->in;
    uint64_t sum = 0;
    for (size_t i = begin / 8; i < end / 8; i++)
        sum += in[i];
    if (begin < end) /* so that the reads are needed */
        *(volatile uint64_t *)((char *)a->out + begin / 64 * 64) = sum;
}

static int copy(struct bench *b, const struct bench_args *a)
{
    struct bench_args copied = *a;
    for_shares(b, a->n, copy_share, &copied);
    return BENCH_OK;
}

static int read_only(struct bench *b, const struct bench_args *a)
{
    struct bench_args copied = *a;
    for_shares(b, a->n, read_share, &copied);
    return BENCH_OK;
}

static int write_only(struct bench *b, const struct bench_args *a)
{
    cpu_fill_bytes(b, a->out, 3, a->n);
    return BENCH_OK;
}

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_rate(const struct bench *b, bench_run run)
{
    return run == b->backend->rates[BENCH_COPY] || run == b->backend->rates[BENCH_READ] ||
           run == b->backend->rates[BENCH_WRITE];
}

static void nothing(void *arg, int index)
{
    (void)arg;
    (void)index;
}

/* Read more than caches hold, with the threads of the run that comes: they stay awake for it. */
static int flush(struct bench *b, bool rate)
{
    uint32_t max;
    struct bench_args a = {.n = flush_bytes};
    if (!b->slots[BENCH_SLOT_FLUSH].bytes)
        cpu_fill_bytes(b, bench_buffer(b, BENCH_SLOT_FLUSH, flush_bytes), 1, flush_bytes);
    a.in = a.out = b->slots[BENCH_SLOT_FLUSH].memory; /* the readers leave a sum in each share */
    return rate ? read_only(b, &a)
                : bench_status(b, gp_reduce(b->ctx, GP_U32, GP_MAX, a.in, a.n / 4, &max));
}

static int cpu_time(struct bench *b, bench_run run, const struct bench_args *a, double *seconds)
{
    /* Threads of the run before spin for some milliseconds before they sleep,
     * on cores that a peer wants. */
    const struct timespec pause = {0, 5000000};
    int result = BENCH_OK;
    nanosleep(&pause, NULL);
    if (b->cold)
        result = flush(b, is_rate(b, run));
    else if (is_rate(b, run)) /* the rates are those of threads that are awake */
        bench_parallel(threads(b), nothing, NULL);
    if (result != BENCH_OK)
        return result;
    double start = bench_now();
    result = run(b, a);
    *seconds = bench_now() - start;
    return result;
}

const struct bench_backend bench_cpu = {
    .name = "cpu",
    .copy_impl = "memcpy",
    .rate_impl = "loop",
    .open = cpu_open,
    .close = cpu_close,
    .task = cpu_task,
    .fill_bytes = cpu_fill_bytes,
    .time = cpu_time,
    .rates = {copy, read_only, write_only},
    .use_min = true,
};
