/* SPDX-License-Identifier: MIT */
/*
 * Every call with its numbers in memory against the same call with numbers of the host: a few items
 * of many that there is room for, and all of them. The calls are those of the test of counts.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "counts.h"

enum { FEW = 1024 };

/* What a case hands to its calls. */
struct counted {
    const counts_row *row;
    counts by_host, by_memory;
};

static const struct counted *counted_of(const struct bench_args *a)
{
    return (const struct counted *)(const void *)a->rule;
}

static int run_counted(struct bench *b, const struct bench_args *a)
{
    const struct counted *c = counted_of(a);
    return bench_status(b, c->row->call(b->ctx, &c->by_memory));
}

static int run_of_host(struct bench *b, const struct bench_args *a)
{
    const struct counted *c = counted_of(a);
    return bench_status(b, c->row->call(b->ctx, &c->by_host));
}

/* The peers of this suite: the same call. */
static const struct bench_peer peers[] = {
    {"host", "counts", NULL, (gp_dtype)0, NULL, run_of_host, false},
    {NULL, NULL, NULL, (gp_dtype)0, NULL, NULL, false},
};

static bool is_here(struct bench *b, const struct counted *c)
{
    return c->row->call(b->ctx, &c->by_host) == GP_OK;
}

static void measure(struct bench *b, const counts_row *row, const counts *data,
                    const uint32_t *offsets, bool few)
{
    struct bench_case c = {.suite = "counts", .name = row->name, .run = run_counted};
    struct counted counted = {row, *data, *data};
    uint64_t numbers[2];
    if (!bench_wanted(b, row->name, GP_U32))
        return;
    counts_bounds(row, offsets, &counted.by_memory);
    counts_numbers(row, offsets, few ? FEW : counted.by_memory.n, &counted.by_host);
    if (!few)
        counted.by_host.m = counted.by_memory.m;
    numbers[0] = counted.by_host.n, numbers[1] = counted.by_host.m;
    uint64_t *const memory = bench_buffer(b, BENCH_SLOT_1, sizeof numbers);
    bench_copy(b, numbers, sizeof numbers, memory);
    counted.by_memory.device_n = memory;
    counted.by_memory.device_m = memory + 1;
    c.args = (struct bench_args){.dtype = GP_U32, .n = counted.by_host.n};
    c.args.rule = (const struct bench_rule *)(const void *)&counted;
    for (int i = 0; i < BENCH_OUTPUTS; i++)
        c.outputs[i] = (struct bench_output){data->out[i], 4 * data->items};
    c.bytes = 8.0 * (double)counted.by_host.n;
    if (is_here(b, &counted))
        bench_measure(b, &c);
}

/* The inputs lie in one buffer, the outputs in another. */
static void take_memory(struct bench *b, counts *c, counts *host)
{
    const size_t out_bytes = (24 * c->items + COUNTS_ROOM + 255) / 256 * 256;
    size_t bytes = 0;
#define ADD(type, name, size) bytes += ((size) + 255) / 256 * 256;
    COUNTS_INPUTS(ADD)
    char *at = bench_buffer(b, BENCH_SLOT_0, bytes);
#define PLACE(type, name, size)                                                                    \
    c->name = (type *)(void *)at;                                                                  \
    host->name = malloc(size);                                                                     \
    if (!host->name)                                                                               \
        bench_die("no memory for the inputs");                                                     \
    at += ((size) + 255) / 256 * 256;
    COUNTS_INPUTS(PLACE)
    char *out = bench_buffer(b, BENCH_SLOT_2, COUNTS_OUTPUTS * out_bytes);
    for (size_t i = 0; i < COUNTS_OUTPUTS; i++)
        c->out[i] = out + i * out_bytes;
}

static void measure_all(struct bench *b, size_t items)
{
    counts data = {.items = items, .segments = items / 8}, host = data;
    counts *const c = &data;
    take_memory(b, c, &host);
    counts_make(&host, 1);
#define COPY(type, name, size) bench_copy(b, host.name, size, c->name);
    COUNTS_INPUTS(COPY)
    for (size_t r = 0; r < counts_row_count; r++) {
        measure(b, &counts_rows[r], c, host.offsets, true);
        measure(b, &counts_rows[r], c, host.offsets, false);
    }
#define FREE(type, name, size) free(host.name);
    COUNTS_INPUTS(FREE)
}

void bench_counts(struct bench *b)
{
    int exponents[BENCH_SIZES];
    const int count = bench_sizes(b, b->backend == &bench_cpu ? 20 : 24, false, exponents);
    bench_add_peers(b, peers);
    for (int i = 0; i < count; i++)
        measure_all(b, (size_t)1 << exponents[i]);
    b->num_peers--;
}
