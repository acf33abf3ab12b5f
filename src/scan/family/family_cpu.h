/* SPDX-License-Identifier: MIT */
/*
 * The other scan algorithms on the CPU, on the blocks and vector loops of scan_cpu_tmpl.c, which
 * includes this file. For m blocks of B items, work and depth beside those of scanning a block:
 *
 * Reduce-then-scan: all blocks are reduced, the sums scanned by one thread, all blocks scanned
 * behind their prefixes. Work n + m, depth B + m. Reads 2 n, writes n.
 * The two-pass form does the same with a fixed number of parts of consecutive blocks.
 * Source: Dotsenko et al. 2008; Merrill and Grimshaw 2009.
 *
 * Scan-then-fan: all blocks are scanned alone, their totals scanned by one thread, and added to all
 * items. Work n + m, depth 1 + m. Reads 2 n, writes 2 n. Source: Sengupta et al. 2007.
 */
#ifndef GPI_SCAN_FAMILY_CPU_H
#define GPI_SCAN_FAMILY_CPU_H

#include "core/workspace.h"
#include "scan/family/family_internal.h"

struct family {
    struct job *job;
    acc_t *sums; /* of the parts; then their prefixes */
    acc_t *keep; /* the local scans, where out would lose some of them; or NULL */
    uint64_t parts;
};

struct part {
    uint64_t first, end; /* blocks */
};

static struct part part_of(const struct family *f, uint64_t i)
{
    return (struct part){f->job->blocks * i / f->parts, f->job->blocks * (i + 1) / f->parts};
}

static void part_reduce(void *arg, size_t i)
{
    struct family *f = arg;
    struct job *job = f->job;
    struct part part = part_of(f, i);
    acc_t sum = identity(job->op);
    for (uint64_t b = part.first; b < part.end; b++)
        sum = apply(job->op, sum, block_reduce(job->op, job, b * job->block, block_items(job, b)));
    f->sums[i] = sum;
}

static void part_scan(void *arg, size_t i)
{
    struct family *f = arg;
    struct part part = part_of(f, i);
    acc_t carry = f->sums[i];
    for (uint64_t b = part.first; b < part.end; b++)
        carry = block_scan(f->job, b * f->job->block, block_items(f->job, b), carry);
    stores_done();
}

/* Scan a block alone: into keep as computed, or into out. */
static void block_scan_alone(void *arg, size_t b)
{
    _Alignas(LINE) acc_t buffer[FRONT + CHUNK];
    acc_t room[CHUNK];
    struct family *f = arg;
    struct job *job = f->job;
    uint64_t first = b * job->block;
    size_t n = block_items(job, b);
    acc_t carry = identity(job->op);
    if (job->wide)
        block_total(job, first, n);
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK, want = padded(m);
        const struct chunk chunk =
            items_load(job->op, true, job, false, first + i, m, want, carry, room);
        buffer[FRONT - 1] = carry;
        carry = chunk_scan(job->op, false, chunk, want, carry, (char *)(buffer + FRONT));
        const acc_t *scanned = buffer + FRONT - !job->inclusive;
        if (f->keep)
            memcpy(f->keep + first + i, scanned, m * sizeof *scanned);
        else
            memcpy(job->out + (first + i) * sizeof *scanned, scanned, m * sizeof *scanned);
    }
    f->sums[b] = carry;
}

static inline void items_fan(gp_op op, acc_t prefix, acc_t *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        items[i] = apply(op, prefix, items[i]);
}

static void chunk_fan(gp_op op, acc_t prefix, acc_t *items, size_t n)
{
    switch (op) {
#define CASE(name)                                                                                 \
    case GP_##name:                                                                                \
        items_fan(GP_##name, prefix, items, n);                                                    \
        break;
        EACH_OP
#undef CASE
    default:
        __builtin_unreachable();
    }
}

/* m outputs from item i of block b on; of exclusive scans the last step of a block leads to the
 * first output of the next. */
static void fan_check(struct family *f, size_t b, size_t i, acc_t before, const acc_t *outputs,
                      size_t m)
{
    struct job *job = f->job;
    const uint64_t first = b * job->block + i;
    const acc_t behind = b + 1 < f->parts ? f->sums[b + 1] : job->carry;
    if (job->inclusive) {
        steps_check(job, before, outputs, first, m);
        return;
    }
    if (i > 0)
        steps_check(job, before, outputs, first - 1, 1);
    steps_check(job, outputs[0], outputs + 1, first, m - 1);
    if (i + m == block_items(job, b))
        steps_check(job, outputs[m - 1], &behind, first + m - 1, 1);
}

static void block_fan(void *arg, size_t b)
{
    acc_t room[CHUNK];
    struct family *f = arg;
    struct job *job = f->job;
    acc_t before = f->sums[b];
    size_t n = block_items(job, b);
    if (job->wide && !job->sign)
        rise_check(job, before, b * job->block, n, block_sum(job, b * job->block, n));
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK;
        uint64_t first = b * job->block + i;
        if (f->keep)
            memcpy(room, f->keep + first, m * sizeof *room);
        else /* as computed, or there would be a keep */
            memcpy(room, job->out + first * sizeof *room, m * sizeof *room);
        chunk_fan(job->op, f->sums[b], room, m);
        if (job->wide && job->sign)
            fan_check(f, b, i, before, room, m);
        before = room[m - 1];
        chunk_store(job->stored, room, m, job->stream, job->out + first * job->stored->out_bytes);
    }
    stores_done();
}

/* The sums become the prefixes of their parts; the carry moves behind them all. */
static void sums_scan(struct family *f)
{
    for (uint64_t i = 0; i < f->parts; i++) {
        acc_t sum = f->sums[i];
        f->sums[i] = f->job->carry;
        f->job->carry = apply(f->job->op, f->job->carry, sum);
    }
}

static void family_phases(gp_context *ctx, gp_algorithm algorithm, struct family *f)
{
    int threads = gpi_threads_for(ctx->threads, f->job->n * sizeof(acc_t) / 8);
    bool fan = algorithm == GP_ALGORITHM_SCAN_THEN_FAN;
    size_t parts = (size_t)f->parts;
    gpi_parallel_for(threads, parts, fan ? block_scan_alone : part_reduce, f);
    sums_scan(f);
    gpi_parallel_for(threads, parts, fan ? block_fan : part_scan, f);
}

/* The job by one of these algorithms; afterwards its carry is the total. */
static gp_status family_run(gp_context *ctx, const struct gpi_scan_args *args, struct job *job)
{
    static const char function[] = "gp_scan";
    struct gpi_scan_args of = *args;
    of.n = job->n; /* args->n may be its bound */
    GPI_FRAME(frame, ctx, function, gpi_scan_family_bytes(GP_BACKEND_CPU, &of));
    struct family f = {.job = job, .parts = job->blocks};
    if (args->algorithm == GP_ALGORITHM_REDUCE_THEN_SCAN_TWO_PASS && f.parts > GPI_SCAN_CPU_PARTS)
        f.parts = GPI_SCAN_CPU_PARTS;
    f.sums = gpi_frame_take(&frame, (size_t)f.parts * sizeof *f.sums);
    f.keep = gpi_scan_family_keeps(args) ? gpi_frame_take(&frame, (size_t)job->n * sizeof *f.keep)
                                         : NULL;
    const struct gpi_scan_stored *stored = job->stored;
    struct gpi_scan_stored computed = *stored;
    computed.form = GPI_AS_COMPUTED;
    if (args->algorithm == GP_ALGORITHM_SCAN_THEN_FAN) /* keeps what it computes */
        job->stored = &computed;
    family_phases(ctx, args->algorithm, &f);
    job->stored = stored;
    return GP_OK;
}

#endif
