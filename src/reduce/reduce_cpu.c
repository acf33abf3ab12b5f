/* SPDX-License-Identifier: MIT */
/* Reduction on the CPU: blocks by threads, their sums in order, the result. */
#include <string.h>

#include "core/check.h"
#include "core/half.h"
#include "core/threads.h"
#include "core/workspace.h"
#include "reduce/reduce_internal.h"

enum { ACC_MAX = 32 };

struct job {
    const struct gpi_reduce_cpu *unit;
    gp_op op;
    const char *in;
    uint64_t n;
    char *sums; /* of the blocks */
};

union acc {
    uint64_t bits;
    float f;
    double d;
    char item[ACC_MAX];
};

/* The bytes of an item are a power of two. */
static uint64_t blocks_of(uint64_t n, uint64_t item_bytes)
{
    return (n * item_bytes + GPI_REDUCE_BLOCK_BYTES - 1) / GPI_REDUCE_BLOCK_BYTES;
}

size_t gpi_reduce_cpu_bytes(uint64_t n, size_t item_bytes, size_t acc_bytes)
{
    return gpi_piece(blocks_of(n, item_bytes) * acc_bytes);
}

static const char *block_begin(const struct job *job, uint64_t block, size_t *items)
{
    const uint64_t first = block * GPI_REDUCE_BLOCK_BYTES; /* bytes */
    const uint64_t left = job->n * job->unit->item_bytes - first;
    const uint32_t bytes = left < GPI_REDUCE_BLOCK_BYTES ? (uint32_t)left : GPI_REDUCE_BLOCK_BYTES;
    *items = bytes / (uint32_t)job->unit->item_bytes;
    return job->in + first;
}

static void block_reduce(void *arg, size_t block)
{
    const struct job *job = arg;
    size_t items;
    const char *in = block_begin(job, block, &items);
    job->unit->block(job->op, in, items, job->sums + block * job->unit->acc_bytes);
}

static void sum_load(const struct job *job, uint64_t block, union acc *acc)
{
    memcpy(acc, job->sums + block * job->unit->acc_bytes, job->unit->acc_bytes);
}

static void sum_join(const struct job *job, uint64_t block, union acc *all)
{
    job->unit->join(job->op, all, job->sums + block * job->unit->acc_bytes);
}

/* ---- results --------------------------------------------------------------------------------- */

/* Integers: the low bytes, and whether they are all of it. */
static bool integer_store(const struct gpi_reduce_args *args, uint64_t value)
{
    size_t bytes = gpi_dtype_bytes(args->out_dtype);
    int unused = 64 - (int)bytes * 8;
    uint64_t low = value << unused;
    uint64_t stored = args->sign_bits ? (uint64_t)((int64_t)low >> unused) : low >> unused;
    memcpy(args->out, &stored, bytes); /* little-endian */
    if (args->total)
        memcpy(args->total, args->wide ? &value : &stored, sizeof value);
    return !args->wide || stored == value;
}

/* selected: acc is an item or the initial value, whose bits stay. */
static void float_store(const struct gpi_reduce_args *args, const union acc *acc, bool selected)
{
    bool is_double = args->out_dtype == GP_F64;
    double total = (is_double ? acc->d : (double)acc->f) + 0.0; /* never -0 */
    uint16_t half;
    if (args->out_dtype == GP_F16 || args->out_dtype == GP_BF16) {
        if (args->out_dtype == GP_F16)
            half = selected ? gpi_f16_of_widened(acc->f) : gpi_float_to_f16(acc->f);
        else
            half = selected ? gpi_bf16_of_widened(acc->f) : gpi_float_to_bf16(acc->f);
        memcpy(args->out, &half, sizeof half);
    } else {
        memcpy(args->out, acc, gpi_dtype_bytes(args->out_dtype));
    }
    if (args->total)
        memcpy(args->total, &total, sizeof total);
}

static void result_store(gp_context *ctx, const struct gpi_reduce_args *args, const union acc *acc,
                         bool selected)
{
    if (gpi_op_scalars(args->op) > 1)
        memcpy(args->out, acc, gpi_dtype_bytes(args->out_dtype) * gpi_op_scalars(args->op));
    else if (gpi_dtype_is_float(args->out_dtype))
        float_store(args, acc, selected);
    else if (!integer_store(args, acc->bits)) {
        const struct gpi_reporter reporter = gpi_reporter_of(ctx, NULL, args->out_dtype);
        gpi_report(&reporter, GPI_RULE_TOTAL, GPI_NO_INDEX, acc->bits, 0);
    }
}

/* The initial value as an accumulator. */
static void start_load(const struct gpi_reduce_args *args, union acc *acc)
{
    uint16_t half;
    memcpy(&half, args->init, sizeof half);
    memset(acc, 0, sizeof *acc);
    memcpy(acc, args->init, gpi_dtype_bytes(args->out_dtype) * gpi_op_scalars(args->op));
    if (args->out_dtype == GP_F16)
        acc->f = gpi_f16_to_float(half);
    else if (args->out_dtype == GP_BF16)
        acc->f = gpi_bf16_to_float(half);
    else if (args->sign_bits)
        acc->bits =
            (uint64_t)((int64_t)(acc->bits << (64 - args->sign_bits)) >> (64 - args->sign_bits));
}

/* What the first sum is folded with; the sum of nothing is +0, not the neutral -0. */
static void start_of(const struct job *job, const struct gpi_reduce_args *args, union acc *acc)
{
    if (args->has_init)
        start_load(args, acc);
    else if (job->n == 0 && args->op == GP_SUM)
        memset(acc, 0, sizeof *acc);
    else
        job->unit->identity(args->op, acc);
}

static void arg_store(const struct job *job, uint64_t blocks, const struct gpi_reduce_args *args)
{
    union acc all;
    if (blocks == 0) {
        *args->index = UINT64_MAX;
        job->unit->identity(args->op, &all);
        if (args->out)
            result_store(NULL, args, &all, false);
        return;
    }
    size_t items, bytes = job->unit->item_bytes;
    uint64_t best = 0;
    sum_load(job, 0, &all);
    for (uint64_t block = 1; block < blocks; block++) {
        const union acc before = all;
        sum_join(job, block, &all);
        if (memcmp(&before, &all, job->unit->acc_bytes) != 0)
            best = block;
    }
    const char *in = block_begin(job, best, &items);
    size_t i = job->unit->find(in, items, &all);
    *args->index = best * (GPI_REDUCE_BLOCK_BYTES / bytes) + i;
    if (args->out)
        memcpy(args->out, in + i * bytes, bytes);
}

/* MIN and MAX of items start from the first block: from their identity, a NaN that is not in the
 * array would be the first of several. */
static void reduce_sums(gp_context *ctx, const struct gpi_reduce_args *args, const struct job *job,
                        uint64_t blocks)
{
    union acc all;
    bool ordered = args->op == GP_MIN || args->op == GP_MAX;
    bool from_first = ordered && blocks > 0 && !args->has_init;
    if (from_first)
        sum_load(job, 0, &all);
    else
        start_of(job, args, &all);
    for (uint64_t block = from_first; block < blocks; block++)
        sum_join(job, block, &all);
    result_store(ctx, args, &all, ordered && (blocks > 0 || args->has_init));
}

gp_status gpi_reduce_cpu(gp_context *ctx, const char *function, const struct gpi_reduce_args *args)
{
    struct job job = {.unit = gpi_reduce_cpu_find(ctx, args->in_dtype, args->out_dtype, args->op),
                      .op = args->op,
                      .in = args->in,
                      .n = args->n};
    if (args->device_n && *args->device_n < job.n)
        job.n = *args->device_n;
    const uint64_t blocks = blocks_of(job.n, job.unit->item_bytes);
    const size_t bytes = gpi_piece(blocks * job.unit->acc_bytes);
    GPI_FRAME(frame, ctx, function, bytes);
    job.sums = gpi_frame_take(&frame, bytes);
    gpi_parallel_for(gpi_threads_for(ctx->threads, job.n * job.unit->item_bytes / 16),
                     (size_t)blocks, block_reduce, &job);
    if (args->index)
        arg_store(&job, blocks, args);
    else
        reduce_sums(ctx, args, &job, blocks);
    return GP_OK;
}
