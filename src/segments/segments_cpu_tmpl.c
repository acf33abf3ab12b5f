/* SPDX-License-Identifier: MIT */
/*
 * Segmented scan on the CPU, compiled per unit and instruction set.
 *
 * The threads take blocks in order, as in the plain scan. Each makes the heads of its block and
 * folds what comes behind the last one, which is what goes into the next block; waits for its turn;
 * passes that on, behind the carry if the block has no head; and scans the block. So the
 * association of floats depends on the block size and the heads alone, and a thread that is
 * interrupted while it scans keeps no other waiting.
 */
#include "core/check.h"
#include "core/threads.h"
#if defined(__AVX2__)
#define VECTOR 32
#endif
#include "scan/scan_cpu_copy_internal.h"
#include "scan/scan_cpu_types_internal.h"
#if GPI_SCALARS == 1
#include "scan/scan_cpu_lanes_internal.h"
#endif
#include "segments/segments_internal.h"

enum { BLOCK = GPI_SCAN_BLOCK_BYTES / sizeof(in_t), WORDS = (BLOCK + 63) / 64 + 1 };
enum { CHUNK = 512, FRONT = 64 };

struct job {
    const in_t *in;
    out_t *out;
    uint64_t n, blocks;
    gp_op op;
    bool exclusive;
    bool stream; /* store past the cache; not worth while where items wait for each other */
    const struct gpi_segments *segments;
    acc_t start;                  /* of every segment */
    _Alignas(LINE) uint64_t next; /* block to be taken */
    _Alignas(LINE) uint64_t turn; /* block that may take the carry */
    acc_t carry;                  /* of everything before block turn, from its last head on */
};

/* A block. */
struct part {
    const in_t *in;
    out_t *out;
    const uint64_t *heads; /* of the block: of the item that is number 0 there, and so on */
};

/* ---- loops: compiled for every operator ---- */

/* Of integers only the order depends on the sign: with other operators signed items go to the unit
 * of unsigned ones. */
#if GPI_SCALARS == 1 && OUT_KIND == 2
#define EACH_OP GPI_ORDER_OPERATORS(GPI_OPERATOR_CASE)
#else
#define EACH_OP GPI_EACH_OPERATOR
#endif

/* The heads of items i to i + 63; there is a word behind the last one. */
static inline uint64_t heads_at(const uint64_t *heads, size_t i)
{
    const uint64_t *word = heads + i / 64;
    return i % 64 ? word[0] >> i % 64 | word[1] << (64 - i % 64) : word[0];
}

/* Scan up to 64 items before which their segment folds to x; in may be out. */
static inline acc_t word_items_scan(gp_op op, const acc_t *in, size_t n, uint64_t heads,
                                    acc_t start, acc_t x, acc_t *out)
{
    for (size_t i = 0; i < n; i++) {
        acc_t before = heads >> i & 1 ? start : x;
        x = apply(op, before, in[i]);
        out[i] = x;
    }
    return x;
}

/* Scan items whose first one is number `first` of its block. */
static inline acc_t items_scan(gp_op op, const acc_t *in, size_t n, const uint64_t *heads,
                               size_t first, acc_t start, acc_t x, acc_t *out)
{
    for (size_t i = 0; i < n; i += 64) {
        const size_t m = n - i < 64 ? n - i : 64;
        const uint64_t word = heads_at(heads, first + i);
        if (word)
            x = word_items_scan(op, in + i, m, word, start, x, out + i);
        else
            x = word_items_scan(op, in + i, m, 0, start, x, out + i);
    }
    return x;
}

#if GPI_SCALARS == 1 && defined(__AVX2__)
#include "segments/segments_cpu_lanes_internal.h"
#endif

static inline acc_t chunk_scan(gp_op op, const acc_t *in, size_t n, const uint64_t *heads,
                               size_t first, acc_t start, acc_t x, acc_t *out)
{
    size_t done = 0;
#if GPI_SCALARS == 1 && defined(__AVX2__)
    const size_t whole = n / 64 * 64;
    if (in_lanes(op, in, whole)) {
        x = lanes_segments(op, in, whole, heads, first, start, x, out);
        done = whole;
    }
#endif
    return items_scan(op, in + done, n - done, heads, first + done, start, x, out + done);
}

static inline acc_t fold(gp_op op, const in_t *in, size_t n, acc_t x)
{
    acc_t room[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = n - i < CHUNK ? n - i : CHUNK;
        const acc_t *items = chunk_load(op, in + i, m, m, room);
        size_t done = 0;
#if GPI_SCALARS == 1 && !ACC_IS_FLOAT
        done = m / GROUP * GROUP;
        x = apply(op, x, lanes_fold(op, items, done));
#elif GPI_SCALARS == 1
        acc_t extreme;
        if ((op == GP_MIN || op == GP_MAX) && m % (2 * GROUP) == 0 &&
            plain_extreme(op, items, m, &extreme)) {
            x = apply(op, x, extreme);
            done = m;
        }
#endif
        for (size_t k = done; k < m; k++)
            x = apply(op, x, items[k]);
    }
    return x;
}

static acc_t op_scan(gp_op op, const acc_t *in, size_t n, const uint64_t *heads, size_t first,
                     acc_t start, acc_t x, acc_t *out)
{
    switch (op) {
#define CASE(name)                                                                                 \
    case GP_##name:                                                                                \
        return chunk_scan(GP_##name, in, n, heads, first, start, x, out);
        EACH_OP
#undef CASE
    default:
        __builtin_unreachable();
    }
}

static acc_t block_fold(const struct job *job, const in_t *in, size_t n, acc_t x)
{
    switch (job->op) {
#define CASE(name)                                                                                 \
    case GP_##name:                                                                                \
        return fold(GP_##name, in, n, x);
        EACH_OP
#undef CASE
    default:
        __builtin_unreachable();
    }
}

static acc_t join(gp_op op, acc_t left, acc_t right)
{
    switch (op) {
#define CASE(name)                                                                                 \
    case GP_##name:                                                                                \
        return apply(GP_##name, left, right);
        EACH_OP
#undef CASE
    default:
        __builtin_unreachable();
    }
}

/* ---- blocks ---- */

/* The outputs before those of an inclusive scan: each is the one before it, and start at heads. */
static void heads_start(const uint64_t *heads, size_t first, size_t n, acc_t start, acc_t *out)
{
    for (size_t i = 0; i < n; i += 64)
        for (uint64_t word = heads_at(heads, first + i); word; word &= word - 1) {
            const size_t at = i + (size_t)__builtin_ctzll(word);
            if (at >= n)
                return;
            out[at] = start;
        }
}

static void items_store(const struct job *job, const acc_t *from, size_t n, out_t *out)
{
#if IN_IS_ACC
    const acc_t *narrowed = from;
#else
    out_t narrowed[CHUNK];
    narrow_all(from, n, narrowed);
#endif
    if (job->stream)
        copy_past_cache(narrowed, n * sizeof *out, out);
    else
        memcpy(out, narrowed, n * sizeof *out);
}

/* Scan a block of n items before which their segment folds to x. */
static void block_scan(const struct job *job, const struct part *part, size_t n, acc_t x)
{
    const bool direct = IN_IS_ACC && !job->exclusive && !job->stream;
    _Alignas(LINE) acc_t buffer[FRONT + CHUNK];
    acc_t room[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = n - i < CHUNK ? n - i : CHUNK;
        const acc_t *items = chunk_load(job->op, part->in + i, m, m, room);
        acc_t *to = direct ? (acc_t *)(void *)(part->out + i) : buffer + FRONT;
        buffer[FRONT - 1] = x;
        x = op_scan(job->op, items, m, part->heads, i, job->start, x, to);
        if (job->exclusive)
            heads_start(part->heads, i, m, job->start, --to);
        if (!direct)
            items_store(job, to, m, part->out + i);
    }
}

/* Place of the last head; n if there is none. */
static size_t last_head(const uint64_t *heads, size_t n)
{
    for (size_t w = (n + 63) / 64; w-- > 0;)
        if (heads[w])
            return w * 64 + 63 - (size_t)__builtin_clzll(heads[w]);
    return n;
}

static void run_block(struct job *job, uint64_t block)
{
    uint64_t heads[WORDS], first = block * BLOCK, left = job->n - first;
    const size_t n = left < BLOCK ? (size_t)left : BLOCK;
    const struct part part = {job->in + first, job->out + first, heads};
    gpi_segment_heads_cpu(job->segments, first, n, heads);
    heads[(n + 63) / 64] = 0;
    const size_t last = last_head(heads, n), from = last < n ? last : 0;
    const acc_t start = last < n ? job->start : identity(job->op);
    const acc_t sum = block_fold(job, part.in + from, n - from, start);
    gpi_wait_for(&job->turn, block);
    const acc_t carry = job->carry;
    job->carry = last < n ? sum : join(job->op, carry, sum);
    __atomic_store_n(&job->turn, block + 1, __ATOMIC_RELEASE);
    block_scan(job, &part, n, carry);
}

/* What one thread does: blocks, in order, until there are none. */
static void run(void *arg, size_t thread)
{
    struct job *job = arg;
    uint64_t block;
    (void)thread;
    while ((block = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED)) < job->blocks)
        run_block(job, block);
    stores_done();
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
                      .stream = args->in != args->out && args->n >= STREAM_BYTES / sizeof(out_t) &&
                                (!ACC_IS_FLOAT || gpi_scan_is_order(args->op)),
                      .segments = &args->segments,
                      .start = start_of(args),
                      .carry = identity(args->op)};
    int threads = gpi_threads_for(ctx->threads, args->n);
    gpi_parallel_for(threads, (size_t)threads, run, &job);
    return GP_OK;
}
