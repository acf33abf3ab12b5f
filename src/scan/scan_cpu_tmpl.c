/* SPDX-License-Identifier: MIT */
/*
 * Scan on the CPU, compiled per accumulator and instruction set.
 *
 * The threads take blocks in order. Each reduces its block, which also brings it into the
 * cache, waits for its turn, adds the block's sum to the carry that goes from block to block,
 * and then scans the block, while that which it most likely takes next is on its way. So memory
 * is read once, and the association of floats depends on the block size alone.
 *
 * Inside a block: chunks that stay in the first-level cache are converted to the accumulator,
 * scanned to their outputs or into a buffer that begins with the carry (read from there an
 * exclusive scan is the inclusive one, one item earlier), and stored, past the cache when the
 * output is too large for it. Backward, chunks lie as in memory; vectors are turned in registers.
 * Items that are not stored as accumulators are converted by functions of scan_cpu_stored_tmpl.c, a
 * chunk at a time, so that one engine serves all dtypes that are computed alike. Folds, and minima
 * and maxima of halves, take them as they are stored (gpi_scan_form).
 */
#include "core/ahead.h"
#include "core/check.h"
#include "core/threads.h"
#include "core/past_cache.h"
#include "scan/scan_cpu_internal.h"
#include "scan/scan_cpu_types_internal.h"
#if ACC_BYTES >= 4
#include "scan/scan_cpu_trees_internal.h"
#else
#include "scan/scan_cpu_lanes_internal.h"
#endif
#if GPI_SCALARS == 1 && OUT_KIND == 1
#include "scan/scan_cpu_sum_internal.h"
#endif

/* The carry is the item before buffer[FRONT], where the chunk begins; backward, the one behind the
 * chunk. Chunks lie on the stack, which may be that of a thread with little of it. */
enum { CHUNK = GPI_SCAN_CHUNK(sizeof(acc_t)), FRONT = 64 };

struct job {
    const struct gpi_scan_stored *stored;
    const char *in;
    char *out;
    uint64_t n, blocks;
    size_t block; /* items of one */
    gp_op op;
    bool inclusive;
    bool reduce;                  /* blocks are reduced before their turn */
    bool backward;                /* item i is the one n - 1 - i of the arrays */
    bool stream;                  /* store past the cache */
    bool wide;                    /* of integer sums: the total in 64 bits, outputs are checked */
    bool last_counts;             /* what comes behind the last item is an output */
    uint64_t sign;                /* bit of the output dtype, or 0 */
    int joined;                   /* threads that are there */
    _Alignas(LINE) uint64_t next; /* block to be taken */
    _Alignas(LINE) uint64_t turn; /* block that may take the carry */
    acc_t carry;                  /* of everything before block turn */
    uint64_t total;               /* of blocks, if wide */
    uint32_t overflow;
};

#include "scan/scan_cpu_outputs_internal.h"

/* ---- operators: each loop is compiled for each of them --------------------------------------- */

/* Of integers only the order depends on the sign: with other operators signed items go to the
 * engine of unsigned ones. */
#if GPI_SCALARS == 1 && OUT_KIND == 2
#define EACH_OP GPI_ORDER_OPERATORS(GPI_OPERATOR_CASE)
#else
#define EACH_OP GPI_EACH_OPERATOR
#endif

/* Items of the scan in the order of memory. */
struct chunk {
    const char *items;
    enum gpi_scan_form form;
};

/* Items are scanned in vectors, which take two groups at a time. */
enum { STEP = 2 * GROUP };

static inline size_t padded(size_t n)
{
    return (n + STEP - 1) / STEP * STEP;
}

/* out[i] = carry op in[0] op .. op in[i], or in the other order, from item n - 1 on; returns the
 * last one. Of floats out may be NULL. */
ALWAYS_INLINE acc_t scan(gp_op op, bool turn, struct chunk in, size_t n, acc_t carry, char *out)
{
#if HAVE_HALVES
    if (in.form)
        return halves_scan(op, turn, in.form, in.items, n, carry, out);
#endif
#if ACC_BYTES >= 4
    return groups_scan(op, turn, (const acc_t *)(const void *)in.items, n, NULL, identity(op),
                       carry, (acc_t *)(void *)out);
#else
    const acc_t *items = (const acc_t *)(const void *)in.items;
    acc_t *to = (acc_t *)(void *)out;
#if HAVE_PRODUCTS
    if (op == GP_PRODUCT)
        return products_scan(turn, items, n, carry, to);
#endif
    return lanes_scan(op, turn, items, n, carry, to);
#endif
}

/* Of single scalars each order has a loop of its own; of several the choice does not show. */
__attribute__((noinline)) static acc_t chunk_scan(gp_op op, bool turn, struct chunk in, size_t n,
                                                  acc_t carry, char *out)
{
    switch (op) {
#define CASE(name)                                                                                 \
    case GP_##name:                                                                                \
        if (GPI_SCALARS == 1 && !turn)                                                             \
            return scan(GP_##name, false, in, n, carry, out);                                      \
        return scan(GP_##name, turn, in, n, carry, out);
        EACH_OP
#undef CASE
    default:
        __builtin_unreachable();
    }
}

/* Where items [first, first + n) of the scan lie, backward in the other order. */
static inline const void *items_at(const struct job *job, uint64_t first, size_t n)
{
    const uint64_t place = job->backward ? job->n - first - n : first;
    return job->in + place * job->stored->in_bytes;
}

/* Items to be scanned or folded behind carry where they are, if that can be; otherwise as
 * accumulators in room, filled up to want items, in front or behind, with what adds nothing. */
ALWAYS_INLINE struct chunk items_load(gp_op op, bool scanned, const struct job *job, bool in_front,
                                      uint64_t first, size_t n, size_t want, acc_t carry,
                                      acc_t *room)
{
    const char *in = items_at(job, first, n);
    const size_t from = in_front ? want - n : 0;
    const enum gpi_scan_form form = job->stored->form;
    if (n == want && (!job->stored->load || as_stored(op, scanned, form, in, n, carry)))
        return (struct chunk){in, form};
    if (job->stored->load)
        job->stored->load(in, n, room + from);
    else
        memcpy(room + from, in, n * sizeof *room);
    for (size_t i = n; i < want; i++)
        room[in_front ? i - n : i] = identity(op);
    return (struct chunk){(const char *)room, GPI_AS_COMPUTED};
}

#if ACC_IS_FLOAT && GPI_SCALARS == 1
/* Sums in lanes, in the order of memory; the others, for which the order of items can show
 * (overflow, which of equal minima), as a scan whose last item is kept. */
ALWAYS_INLINE acc_t reduce(gp_op op, const struct job *job, uint64_t first, size_t n)
{
    _Alignas(LINE) acc_t room[CHUNK], carry = identity(op);
    const bool turn = op != GP_SUM && job->backward;
    struct partial partial;
    partial_begin(GP_SUM, &partial);
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK, want = padded(m);
        const uint64_t at = first + (op == GP_SUM && job->backward ? n - i - m : i);
        const struct chunk chunk = items_load(op, false, job, turn, at, m, want, carry, room);
        acc_t extreme;
        if (op == GP_SUM)
            partial = partial_add(GP_SUM, partial, chunk.form, chunk.items, want);
        else if ((op == GP_MIN || op == GP_MAX) &&
                 plain_extreme(op, chunk.form, chunk.items, want, &extreme))
            carry = apply(op, carry, extreme);
        else
            carry = op == GP_PRODUCT ? trees_fold(op, turn, chunk.form, chunk.items, want, carry)
                                     : chunk_scan(op, turn, chunk, want, carry, NULL);
    }
    return op == GP_SUM ? partial_end(GP_SUM, &partial) : carry;
}
#elif GPI_SCALARS == 1
/* Of integers the order does not matter, and only sums have items stored as something else. */
static inline acc_t reduce(gp_op op, const struct job *job, uint64_t first, size_t n)
{
    const void *in = items_at(job, first, n);
    return job->stored->sum ? (acc_t)job->stored->sum(in, n) : integers_fold(op, in, n);
}
#else
static inline acc_t reduce(gp_op op, const struct job *job, uint64_t first, size_t n)
{
    _Alignas(LINE) acc_t room[CHUNK], carry = identity(op);
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = n - i < CHUNK ? n - i : CHUNK, want = padded(m);
        const struct chunk chunk =
            items_load(op, false, job, job->backward, first + i, m, want, carry, room);
        carry = trees_fold(op, job->backward, chunk.form, chunk.items, want, carry);
    }
    return carry;
}
#endif

__attribute__((noinline)) static acc_t block_reduce(gp_op op, const struct job *job, uint64_t first,
                                                    size_t n)
{
    switch (op) {
#define CASE(name)                                                                                 \
    case GP_##name:                                                                                \
        return reduce(GP_##name, job, first, n);
        EACH_OP
#undef CASE
    default:
        __builtin_unreachable();
    }
}

#include "scan/scan_cpu_wide_internal.h"

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Bytes from a block to the one that its thread takes next, most likely. */
static int64_t block_after(const struct job *job)
{
    const int blocks = __atomic_load_n(&job->joined, __ATOMIC_RELAXED);
    const int64_t bytes = (int64_t)(job->block * job->stored->in_bytes) * blocks;
    return job->backward ? -bytes : bytes;
}

/* Scan one block behind carry while the next one comes; returns the carry behind the block. */
static acc_t block_scan(struct job *job, uint64_t first, size_t n, acc_t carry)
{
    _Alignas(LINE) acc_t buffer[FRONT + CHUNK + 1];
    _Alignas(LINE) acc_t room[CHUNK];
    char *scanned = (char *)(buffer + FRONT);
    const char *block = items_at(job, first, n);
    const int64_t next = block_after(job);
    if (job->wide)
        block_check(job, carry, first, n);
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = n - i < CHUNK ? n - i : CHUNK, want = padded(m);
        const struct chunk chunk =
            items_load(job->op, true, job, job->backward, first + i, m, want, carry, room);
        char *to = chunk_room(job, chunk.form, first + i, m, want, i + m == n, scanned);
        gpi_ahead(block + i * job->stored->in_bytes, m * job->stored->in_bytes, next);
        const acc_t before = carry;
        if (!job->inclusive)
            before_store(job, chunk.form, before, to, want);
        carry = chunk_scan(job->op, job->backward, chunk, want, carry, to);
        if (job->wide && job->sign)
            sums_check(job, before, (const acc_t *)(const void *)to, first + i, m, want);
        if (to == scanned)
            outputs_store(job, chunk.form, scanned, first + i, m, want);
    }
    return carry;
}

static size_t block_items(const struct job *job, uint64_t block)
{
    uint64_t left = job->n - block * job->block;
    return left < job->block ? (size_t)left : job->block;
}

static void pass_on(struct job *job, uint64_t block, acc_t carry)
{
    job->carry = carry;
    __atomic_store_n(&job->turn, block + 1, __ATOMIC_RELEASE);
}

/* Whether a block is reduced before its turn. The last block needs no sum before it; nor does any
 * while no other thread has come, but for sums and products of floats, whose bits depend on it. */
static bool reduces(const struct job *job, uint64_t block)
{
    if (!job->reduce || block + 1 == job->blocks)
        return false;
    const bool order = GPI_SCALARS == 1 && (job->op == GP_MIN || job->op == GP_MAX);
    return (ACC_IS_FLOAT && !order) || __atomic_load_n(&job->joined, __ATOMIC_RELAXED) > 1;
}

/* What one thread does: blocks, in order, until there are none. */
static void run(void *arg, size_t thread)
{
    struct job *job = arg;
    uint64_t block;
    (void)thread;
    __atomic_fetch_add(&job->joined, 1, __ATOMIC_RELAXED);
    while ((block = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED)) < job->blocks) {
        uint64_t first = block * job->block;
        size_t n = block_items(job, block);
        bool reduce = reduces(job, block);
        acc_t sum = reduce ? block_reduce(job->op, job, first, n) : identity(job->op);
        gpi_wait_for(&job->turn, block);
        acc_t carry = job->carry;
        if (reduce)
            pass_on(job, block, apply(job->op, carry, sum));
        carry = block_scan(job, first, n, carry);
        if (!reduce)
            pass_on(job, block, carry);
    }
    stores_done();
}

static void chained_run(int threads, struct job *job)
{
    job->reduce = threads > 1 || ACC_IS_FLOAT;
    gpi_parallel_for(threads, (size_t)threads, run, job);
}

/* One thread, one pass, no sums before. */
static void serial_run(struct job *job)
{
    job->reduce = false;
    run(job, 0);
}

#include "scan/family/family_cpu.h"

static uint64_t items_of(const struct gpi_scan_args *args)
{
    if (args->device_n && *args->device_n < args->n)
        return *args->device_n;
    return args->n;
}

static acc_t initial(const struct gpi_scan_args *args, const struct gpi_scan_stored *stored)
{
    acc_t init;
    if (!args->has_init)
        return identity(args->op);
    if (stored->load_out)
        stored->load_out(args->init, 1, &init);
    else
        memcpy(&init, args->init, sizeof init);
    return init;
}

/* sign_bits: of the output dtype, whose accumulator may be that of unsigned items. */
static void total_store(acc_t value, int sign_bits, void *total)
{
#if GPI_SCALARS == 1 && ACC_IS_FLOAT
    double wide = (double)value + 0.0; /* never -0 */
    (void)sign_bits;
    memcpy(total, &wide, sizeof wide);
#elif GPI_SCALARS == 1
    const int unused = 64 - 8 * (int)sizeof value;
    uint64_t wide = (uint64_t)value;
    if (sign_bits)
        wide = (uint64_t)((int64_t)(wide << unused) >> unused);
    memcpy(total, &wide, sizeof wide);
#else
    (void)value, (void)sign_bits, (void)total;
#endif
}

/* The sum of nothing is stored as 0, not as the -0 that is neutral to the last bit. */
static void first_store(const struct gpi_scan_args *args, const struct job *job)
{
#if ACC_IS_FLOAT && GPI_SCALARS == 1
    const size_t bytes = job->stored->out_bytes;
    bool any = job->n > 0 || args->kind == GP_SCAN_ROW_POINTERS;
    if (args->op == GP_SUM && !args->has_init && args->kind != GP_SCAN_INCLUSIVE && any)
        memset(job->out + (args->backward ? job->n - 1 : 0) * bytes, 0, bytes);
#else
    (void)args, (void)job;
#endif
}

#define ENGINE PASTE4(gpi_scan_engine_, GPI_UNIT, _, GPI_ISA_SUFFIX)
gpi_scan_engine_fn ENGINE;

gp_status ENGINE(gp_context *ctx, const struct gpi_scan_args *args,
                 const struct gpi_scan_stored *stored)
{
    const uint64_t n = items_of(args);
    const size_t block = gpi_scan_block_items(stored);
    struct job job = {.stored = stored,
                      .in = args->in,
                      .out = args->out,
                      .n = n,
                      .block = block,
                      .blocks = (n + block - 1) / block,
                      .op = args->op,
                      .inclusive = args->kind == GP_SCAN_INCLUSIVE,
                      .backward = args->backward,
                      .stream = args->in != args->out && n >= STREAM_BYTES / stored->out_bytes,
                      .wide = args->wide,
                      .last_counts = args->kind != GP_SCAN_EXCLUSIVE,
                      .sign = args->sign_bits ? (uint64_t)1 << (args->sign_bits - 1) : 0,
                      .carry = initial(args, stored)};
    total_store(job.carry, args->sign_bits, &job.total);
    if (args->algorithm == GP_ALGORITHM_SERIAL)
        serial_run(&job);
    else if (gpi_scan_is_default(GP_BACKEND_CPU, args->algorithm))
        chained_run(gpi_threads_for(ctx->threads, n * (stored->in_bytes + stored->out_bytes) / 16),
                    &job);
    else
        GPI_TRY(family_run(ctx, args, &job));
    if (args->kind == GP_SCAN_ROW_POINTERS)
        chunk_store(stored, &job.carry, 1, false, job.out + n * stored->out_bytes);
    first_store(args, &job);
    if (!args->wide)
        total_store(job.carry, args->sign_bits, &job.total);
    if (args->total)
        memcpy(args->total, &job.total, sizeof job.total);
#if GPI_SCALARS == 1
    if (job.overflow) {
        const struct gpi_reporter reporter = gpi_reporter_of(ctx, NULL, args->out_dtype);
        gpi_report_overflow(&reporter, job.total);
    }
#endif
    return GP_OK;
}

/* The unit whose items are stored as they are computed. */
#define FUNCTION PASTE4(gpi_scan_cpu_, GPI_UNIT, _, GPI_ISA_SUFFIX)
gp_status FUNCTION(gp_context *ctx, const struct gpi_scan_args *args);

gp_status FUNCTION(gp_context *ctx, const struct gpi_scan_args *args)
{
    static const struct gpi_scan_stored as_computed = {.in_bytes = sizeof(acc_t),
                                                       .out_bytes = sizeof(acc_t)};
    return ENGINE(ctx, args, &as_computed);
}
