/* SPDX-License-Identifier: MIT */
/*
 * Segmented scan on the CPU, compiled per unit and instruction set.
 *
 * The threads take blocks in order, as in the plain scan. Each makes the heads of its block and
 * folds what comes behind the last one, which is what goes into the next block; waits for its turn;
 * passes that on, behind the carry if the block has no head; and scans the block. So the
 * association of floats depends on the block size and the heads alone.
 */
#include "core/check.h"
#include "core/threads.h"
#include "scan/scan_cpu_types_internal.h"
#include "segments/segments_internal.h"

enum { BLOCK = GPI_SCAN_BLOCK_BYTES / sizeof(in_t), WORDS = (BLOCK + 63) / 64, LINE = 64 };

struct job {
    const in_t *in;
    out_t *out;
    uint64_t n, blocks;
    gp_op op;
    bool exclusive;
    const struct gpi_segments *segments;
    acc_t start;                  /* of every segment */
    _Alignas(LINE) uint64_t next; /* block to be taken */
    _Alignas(LINE) uint64_t turn; /* block that may take the carry */
    acc_t carry;                  /* of everything before block turn, from its last head on */
};

/* ---- loops: compiled for every operator ---- */

/* Of integers only the order depends on the sign: with other operators signed items go to the unit
 * of unsigned ones. */
#if GPI_SCALARS == 1 && OUT_KIND == 2
#define EACH_OP GPI_ORDER_OPERATORS(GPI_OPERATOR_CASE)
#else
#define EACH_OP GPI_EACH_OPERATOR
#endif

static inline acc_t fold(gp_op op, const in_t *in, size_t n, acc_t x)
{
    for (size_t i = 0; i < n; i++)
        x = apply(op, x, widen_in(in[i]));
    return x;
}

/* Scan up to 64 items before which their segment folds to x; in may be out. */
static inline acc_t scan_word(gp_op op, bool exclusive, const in_t *in, size_t n, uint64_t heads,
                              acc_t start, acc_t x, out_t *out)
{
    for (size_t i = 0; i < n; i++) {
        acc_t before = heads >> i & 1 ? start : x;
        x = apply(op, before, widen_in(in[i]));
        out[i] = narrow(exclusive ? before : x);
    }
    return x;
}

/* ---- blocks ---- */

/* Place of the last head; n if there is none. */
static size_t last_head(const uint64_t *heads, size_t n)
{
    for (size_t w = (n + 63) / 64; w-- > 0;)
        if (heads[w])
            return w * 64 + 63 - (size_t)__builtin_clzll(heads[w]);
    return n;
}

static inline void block_scan(gp_op op, bool exclusive, const struct job *job, uint64_t first,
                              size_t n, const uint64_t *heads, acc_t x)
{
    const in_t *in = job->in + first;
    out_t *out = job->out + first;
    for (size_t i = 0; i < n; i += 64) {
        size_t m = n - i < 64 ? n - i : 64;
        if (heads[i / 64])
            x = scan_word(op, exclusive, in + i, m, heads[i / 64], job->start, x, out + i);
        else
            x = scan_word(op, exclusive, in + i, m, 0, job->start, x, out + i);
    }
}

static inline void run_block(gp_op op, struct job *job, uint64_t block)
{
    uint64_t heads[WORDS], first = block * BLOCK, left = job->n - first;
    size_t n = left < BLOCK ? (size_t)left : BLOCK;
    gpi_segment_heads_cpu(job->segments, first, n, heads);
    size_t last = last_head(heads, n), from = last < n ? last : 0;
    acc_t sum = fold(op, job->in + first + from, n - from, last < n ? job->start : identity(op));
    gpi_wait_for(&job->turn, block);
    acc_t carry = job->carry;
    job->carry = last < n ? sum : apply(op, carry, sum);
    __atomic_store_n(&job->turn, block + 1, __ATOMIC_RELEASE);
    if (job->exclusive)
        block_scan(op, true, job, first, n, heads, carry);
    else
        block_scan(op, false, job, first, n, heads, carry);
}

/* What one thread does: blocks, in order, until there are none. */
static void run(void *arg, size_t thread)
{
    struct job *job = arg;
    uint64_t block;
    (void)thread;
    while ((block = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED)) < job->blocks) {
        switch (job->op) {
#define CASE(name)                                                                                 \
    case GP_##name:                                                                                \
        run_block(GP_##name, job, block);                                                          \
        break;
            EACH_OP
#undef CASE
        default:
            __builtin_unreachable();
        }
    }
}

/* The initial value; or the identity, except that exclusive sums start from +0, not from the -0
 * that is neutral to the last bit. */
static acc_t start_of(const struct gpi_segment_args *args)
{
    out_t init;
#if ACC_IS_FLOAT && GPI_SCALARS == 1
    if (!args->has_init && args->op == GP_SUM && args->exclusive)
        return 0;
#endif
    if (!args->has_init)
        return identity(args->op);
    memcpy(&init, args->init, sizeof init);
    return widen_out(init);
}

#define FUNCTION PASTE4(gpi_segment_cpu_, GPI_UNIT, _, GPI_ISA_SUFFIX)
gp_status FUNCTION(gp_context *ctx, const struct gpi_segment_args *args);

gp_status FUNCTION(gp_context *ctx, const struct gpi_segment_args *args)
{
    struct job job = {.in = args->in,
                      .out = args->out,
                      .n = args->n,
                      .blocks = (args->n + BLOCK - 1) / BLOCK,
                      .op = args->op,
                      .exclusive = args->exclusive,
                      .segments = &args->segments,
                      .start = start_of(args),
                      .carry = identity(args->op)};
    int threads = gpi_threads_for(ctx->threads, args->n);
    gpi_parallel_for(threads, (size_t)threads, run, &job);
    return GP_OK;
}
