/* SPDX-License-Identifier: MIT */
/*
 * Segmented scan on the CPU, compiled per accumulator and instruction set. Halves are scanned by
 * the unit of f32, a chunk at a time: minima and maxima by their bits (segments_cpu_halves_tmpl.c),
 * if these tell; otherwise converted by the functions of scan_cpu_stored_tmpl.c.
 *
 * The threads take blocks in order, as in the plain scan. Each makes the heads of its block and
 * folds what comes behind the last one, which is what goes into the next block; waits for its turn;
 * passes that on, behind the carry if the block has no head; and scans the block. So the
 * association of floats depends on the block size and the heads alone, and a thread that is
 * interrupted while it scans keeps no other waiting.
 */
#include "core/ahead.h"
#include "core/check.h"
#include "core/threads.h"
#include "core/past_cache.h"
#include "scan/scan_cpu_types_internal.h"
#if ACC_BYTES >= 4
#include "scan/scan_cpu_trees_internal.h"
#else
#include "scan/scan_cpu_lanes_internal.h"
#endif
#include "segments/segments_cpu_internal.h"

/* Items of a block have at least ITEM_BYTES. */
enum { ITEM_BYTES = ACC_IS_FLOAT && GPI_SCALARS == 1 ? ACC_BYTES / 2 : sizeof(acc_t) };
enum { WORDS = GPI_SCAN_BLOCK_BYTES / ITEM_BYTES / 64 + 1, FRONT = 64 };
enum { CHUNK = sizeof(acc_t) <= 8 ? 512 : 4096 / sizeof(acc_t) };

struct job {
    const struct gpi_scan_stored *stored;
    const char *in;
    char *out;
    uint64_t n, blocks;
    size_t block; /* items of one */
    gp_op op;
    bool exclusive;
    bool stream; /* store past the cache */
    const struct gpi_segments *segments;
    int joined;                   /* threads that are there */
    acc_t start;                  /* of every segment */
    uint16_t start_half;          /* as it is stored, of halves */
    _Alignas(LINE) uint64_t next; /* block to be taken */
    _Alignas(LINE) uint64_t turn; /* block that may take the carry */
    acc_t carry;                  /* of everything before block turn, from its last head on */
};

/* A block. */
struct part {
    const char *in;
    char *out;
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

/* Which items are scanned in vectors: those for which the instruction set has what it takes. */
#if ACC_BYTES >= 4 && (ACC_IS_FLOAT || defined(__AVX2__))
#define lanes_segments(op, ...) groups_scan(op, false, __VA_ARGS__)
#define IN_LANES 1
#elif defined(__AVX2__)
#include "segments/segments_cpu_lanes_internal.h"
#define IN_LANES 1
#else
#define IN_LANES 0
#endif

/* Scan items whose first one is number `first` of its block; in may be out. Beside vectors it has
 * little to do, and is compiled once for all operators. */
#if IN_LANES
__attribute__((noinline))
#endif
static acc_t
items_scan(gp_op op, const acc_t *in, size_t n, const uint64_t *heads, size_t first, acc_t start,
           acc_t x, acc_t *out)
{
    for (size_t i = 0; i < n; i++) {
        const acc_t before = heads[(first + i) / 64] >> (first + i) % 64 & 1 ? start : x;
        out[i] = x = apply(op, before, in[i]);
    }
    return x;
}

#if IN_LANES
/* Which NaN is the result depends on the order of NaNs. */
ALWAYS_INLINE bool in_lanes(gp_op op, const acc_t *in, size_t n)
{
#if GPI_SCALARS == 1 && ACC_IS_FLOAT
    return (op != GP_MIN && op != GP_MAX) || !has_nan(in, n);
#else
    (void)op, (void)in, (void)n;
    return true;
#endif
}
#endif

#if HAVE_HALVES
#define HALVES_SEGMENTS PASTE(gpi_halves_segments_, GPI_ISA_SUFFIX)
gpi_halves_segments_fn HALVES_SEGMENTS;
#endif

/* Items as they lie in memory. */
struct chunk {
    const char *items;
    enum gpi_scan_form form;
};

/* first is a multiple of 64; so is n, if the items are not accumulators. */
ALWAYS_INLINE acc_t chunk_scan(gp_op op, struct chunk chunk, size_t n, const uint64_t *heads,
                               size_t first, acc_t start, acc_t x, char *to)
{
    const acc_t *in = (const acc_t *)(const void *)chunk.items;
    acc_t *out = (acc_t *)(void *)to;
    size_t done = 0;
#if HAVE_HALVES
    if (chunk.form)
        return half_widened(chunk.form,
                            HALVES_SEGMENTS(op, (const int16_t *)(const void *)chunk.items, n,
                                            heads + first / 64, half_narrowed(chunk.form, start),
                                            half_narrowed(chunk.form, x), (int16_t *)(void *)to));
#endif
#if IN_LANES
    const size_t whole = n / 64 * 64;
    if (in_lanes(op, in, whole)) {
        x = lanes_segments(op, in, whole, heads + first / 64, start, x, out);
        done = whole;
    }
#endif
    return items_scan(op, in + done, n - done, heads, first + done, start, x, out + done);
}

/* A chunk of items to be scanned or folded behind x: where it is, if that can be, otherwise as
 * accumulators in room. */
__attribute__((noinline)) static struct chunk items_load(const struct job *job, gp_op op,
                                                         bool scanned, const char *in, size_t n,
                                                         acc_t x, acc_t *room)
{
    const enum gpi_scan_form form = job->stored->form;
    if (!job->stored->load || (n % 64 == 0 && as_stored(op, scanned, form, in, n, x) &&
                               as_stored(op, scanned, form, in, 0, job->start)))
        return (struct chunk){in, form};
    job->stored->load(in, n, room);
    return (struct chunk){(const char *)room, GPI_AS_COMPUTED};
}

/* x op in[0] op .. op in[n - 1] of a few items. */
__attribute__((noinline)) static acc_t rest_fold(gp_op op, const acc_t *in, size_t n, acc_t x)
{
    for (size_t i = 0; i < n; i++)
        x = apply(op, x, in[i]);
    return x;
}

/* x op the n items. */
static inline acc_t fold(gp_op op, const struct job *job, const char *in, size_t n, acc_t x)
{
    _Alignas(LINE) acc_t room[CHUNK];
#if GPI_SCALARS == 1 && ACC_IS_FLOAT
    struct partial partial;
    partial_begin(GP_SUM, &partial);
#endif
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = n - i < CHUNK ? n - i : CHUNK;
        const struct chunk chunk =
            items_load(job, op, false, in + i * job->stored->in_bytes, m, x, room);
        const acc_t *items = (const acc_t *)(const void *)chunk.items;
#if GPI_SCALARS == 1 && !ACC_IS_FLOAT
        const size_t done = m;
        x = apply(op, x, integers_fold(op, items, m));
#elif GPI_SCALARS == 1
        size_t done = m / (2 * GROUP) * (2 * GROUP);
        acc_t extreme;
        if (op == GP_SUM)
            partial = partial_add(op, partial, chunk.form, chunk.items, done);
        else if (op == GP_PRODUCT)
            x = trees_fold(op, false, chunk.form, chunk.items, done, x);
        else if (done && plain_extreme(op, chunk.form, chunk.items, done, &extreme))
            x = apply(op, x, extreme);
        else
            done = 0;
#else
        const size_t done = m / (2 * GROUP) * (2 * GROUP);
        x = trees_fold(op, false, chunk.form, chunk.items, done, x);
#endif
        x = rest_fold(op, items + done, m - done, x);
    }
#if GPI_SCALARS == 1 && ACC_IS_FLOAT
    if (op == GP_SUM)
        x = apply(op, partial_end(op, &partial), x);
#endif
    return x;
}

/* Not inlined, or the loop of its caller is compiled for every operator. */
__attribute__((noinline)) static acc_t op_scan(gp_op op, struct chunk in, size_t n,
                                               const uint64_t *heads, size_t first, acc_t start,
                                               acc_t x, char *out)
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

static acc_t block_fold(const struct job *job, const char *in, size_t n, acc_t x)
{
    switch (job->op) {
#define CASE(name)                                                                                 \
    case GP_##name:                                                                                \
        return fold(GP_##name, job, in, n, x);
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
static void heads_start(const struct job *job, enum gpi_scan_form form, const uint64_t *heads,
                        size_t first, size_t n, char *out)
{
    for (size_t i = 0; i < n; i += 64)
        for (uint64_t word = heads[(first + i) / 64]; word; word &= word - 1) {
            const size_t at = i + (size_t)__builtin_ctzll(word);
            if (at >= n)
                return;
            if (form)
                ((uint16_t *)(void *)out)[at] = job->start_half;
            else
                ((acc_t *)(void *)out)[at] = job->start;
        }
}

static void items_store(const struct job *job, struct chunk from, size_t n, char *out)
{
    _Alignas(LINE) acc_t room[CHUNK];
    const size_t bytes = n * job->stored->out_bytes;
    const bool convert = job->stored->store && !from.form;
    const void *items = from.items;
    if (convert) {
        job->stored->store(items, n, job->stream ? (void *)room : out);
        items = room;
    }
    if (job->stream || !convert)
        bytes_store(items, bytes, job->stream, out);
}

/* Scan a block of n items before which their segment folds to x. The block that this thread takes
 * next, most likely, comes in the meantime. */
static void block_scan(const struct job *job, const struct part *part, size_t n, acc_t x)
{
    const struct gpi_scan_stored *stored = job->stored;
    const bool direct = !job->exclusive && !job->stream;
    const int64_t next =
        (int64_t)(job->block * stored->in_bytes) * __atomic_load_n(&job->joined, __ATOMIC_RELAXED);
    _Alignas(LINE) acc_t buffer[FRONT + CHUNK];
    _Alignas(LINE) acc_t room[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = n - i < CHUNK ? n - i : CHUNK;
        const struct chunk chunk =
            items_load(job, job->op, true, part->in + i * stored->in_bytes, m, x, room);
        gpi_ahead(part->in + i * stored->in_bytes, m * stored->in_bytes, next);
        char *out = part->out + i * stored->out_bytes, *scanned = (char *)(buffer + FRONT);
        char *before = scanned - form_bytes(chunk.form, 1);
        const bool there = direct && (chunk.form || !stored->store);
        if (chunk.form)
            stored->store(&x, 1, before);
        else
            memcpy(before, &x, sizeof x);
        x = op_scan(job->op, chunk, m, part->heads, i, job->start, x, there ? out : scanned);
        if (job->exclusive)
            heads_start(job, chunk.form, part->heads, i, m, before);
        if (!there)
            items_store(job, (struct chunk){job->exclusive ? before : scanned, chunk.form}, m, out);
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

#define HEADS PASTE(gpi_segment_heads_cpu_, GPI_ISA_SUFFIX)
gpi_segment_heads_cpu_fn HEADS;

static void run_block(struct job *job, uint64_t block)
{
    const struct gpi_scan_stored *stored = job->stored;
    uint64_t heads[WORDS], first = block * job->block, left = job->n - first;
    const size_t n = left < job->block ? (size_t)left : job->block;
    const struct part part = {job->in + first * stored->in_bytes,
                              job->out + first * stored->out_bytes, heads};
    HEADS(job->segments, first, n, heads);
    heads[(n + 63) / 64] = 0;
    const size_t last = last_head(heads, n), from = last < n ? last : 0;
    const acc_t start = last < n ? job->start : identity(job->op);
    const acc_t sum = block_fold(job, part.in + from * stored->in_bytes, n - from, start);
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
    __atomic_fetch_add(&job->joined, 1, __ATOMIC_RELAXED);
    while ((block = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED)) < job->blocks)
        run_block(job, block);
    stores_done();
}

/* The initial value; or the identity, except that exclusive sums start from +0, not from the -0
 * that is neutral to the last bit. */
static acc_t start_of(const struct gpi_segment_args *args, const struct gpi_scan_stored *stored)
{
    acc_t init;
#if ACC_IS_FLOAT && GPI_SCALARS == 1
    if (!args->has_init && args->op == GP_SUM && args->exclusive)
        return 0;
#endif
    if (!args->has_init)
        return identity(args->op);
    if (stored->load_out)
        stored->load_out(args->init, 1, &init);
    else
        memcpy(&init, args->init, sizeof init);
    return init;
}

#define ENGINE PASTE4(gpi_segment_engine_, GPI_UNIT, _, GPI_ISA_SUFFIX)
gpi_segment_engine_fn ENGINE;

gp_status ENGINE(gp_context *ctx, const struct gpi_segment_args *args,
                 const struct gpi_scan_stored *stored)
{
    const size_t block = gpi_scan_block_items(stored);
    struct job job = {.stored = stored,
                      .in = args->in,
                      .out = args->out,
                      .n = args->n,
                      .blocks = (args->n + block - 1) / block,
                      .block = block,
                      .op = args->op,
                      .exclusive = args->exclusive,
                      .stream =
                          args->in != args->out && args->n >= STREAM_BYTES / stored->out_bytes,
                      .segments = &args->segments,
                      .start = start_of(args, stored),
                      .carry = identity(args->op)};
    int threads = gpi_threads_for(ctx->threads, args->n);
    if (stored->form)
        stored->store(&job.start, 1, &job.start_half);
    gpi_parallel_for(threads, (size_t)threads, run, &job);
    return GP_OK;
}

/* The unit whose items are stored as they are computed. */
#define FUNCTION PASTE4(gpi_segment_cpu_, GPI_UNIT, _, GPI_ISA_SUFFIX)
gp_status FUNCTION(gp_context *ctx, const struct gpi_segment_args *args);

gp_status FUNCTION(gp_context *ctx, const struct gpi_segment_args *args)
{
    static const struct gpi_scan_stored as_computed = {.in_bytes = sizeof(acc_t),
                                                       .out_bytes = sizeof(acc_t)};
    return ENGINE(ctx, args, &as_computed);
}

/* ---- chunks, of those that have the heads ---------------------------------------------------- */

#define ITEMS PASTE4(gpi_segment_items_, GPI_UNIT, _, GPI_ISA_SUFFIX)
gpi_segment_items_fn ITEMS;

bool ITEMS(gp_op op, enum gpi_scan_form form, const void *in, size_t n, const uint64_t *heads,
           void *carry, void *out)
{
    acc_t *const x = carry;
    if (form && (n % 64 != 0 || !as_stored(op, true, form, in, n, *x)))
        return false;
#if IN_LANES
    if (!form && !in_lanes(op, in, n))
        return false;
#endif
    *x = op_scan(op, (struct chunk){in, form}, n, heads, 0, identity(op), *x, out);
    return true;
}

#define CHUNK_SCAN PASTE4(gpi_segment_chunk_, GPI_UNIT, _, GPI_ISA_SUFFIX)
gpi_segment_chunk_fn CHUNK_SCAN;

bool CHUNK_SCAN(gp_op op, const void *in, size_t n, const uint64_t *heads, void *carry, void *out)
{
    return ITEMS(op, GPI_AS_COMPUTED, in, n, heads, carry, out);
}
