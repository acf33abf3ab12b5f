/* SPDX-License-Identifier: MIT */
/*
 * Runs of equal keys, and groups.
 *
 *   1. every item gets one bit: whether its key differs from the one before, so that a run begins
 *      there (its head); the last item of a run is the one before the next head, or of the array;
 *   2. heads of all tiles before a tile are counted, and the last of them is remembered;
 *   3. a head's key, position and value go to (heads before it); the length of a run, its last
 *      value and its fold to (heads up to its last item) - 1.
 *
 * CUDA: all of that but the folds in a single pass, as compaction (compact_internal.h), with the
 * count and the last head as what tiles exchange (group_stream.cuh). Keys of sizes that have no
 * kernel become bits first, item by item (group_wide_cuda.cu); the same pass then reads the bits. A
 * fold is a single pass of its own, over bits that the first one leaves and the values
 * (group_fold_stream.cuh): so it depends on the type of values alone, the other on the width of
 * keys. What tiles exchange is the fold from the last head on, as in the segmented scan. Of short
 * arrays the bits come from a kernel that needs no order of tiles (group_heads_k.cuh), and the fold
 * moves the keys, which the cache still has.
 * CPU: rounds that fit the caches, as compaction, whose loops move keys and values.
 *
 * Group-by: a stable sort of the keys with the values, or with positions by which each array of
 * values is gathered; then the runs.
 * On CUDA counts, sums and extremes of up to GPI_GROUP_FEW groups of many items are folded in
 * tables of shared memory (group_few_k.cuh). Where a sample or the first items have more keys
 * everything is left to the sort, which finds nothing to do otherwise. Those of more items come out
 * of the buckets of the sort before these are sorted, if each has few keys (group_bucket_k.cuh).
 * Whether they do the sort tells by a sample (radixsort_few_keys.cuh), and in the end it is found
 * out by trying: the rest of the sort and the runs are queued behind that, and find nothing to do.
 *
 * The association of floats depends on where runs begin in tiles or blocks, and on nothing else.
 *
 * Scratch: CUDA [a bit per item, for folds, for several moves and for keys without a kernel] and
 * the tile states. CPU [counts, places][bits of a round] and two folds for each block of a round.
 */
#ifndef GPI_GROUP_INTERNAL_H
#define GPI_GROUP_INTERNAL_H

#include <stdbool.h>

#include <gp/group.h>

#include "core/context.h"
#include "core/launch.h"
#include "radixsort/radixsort_internal.h"
#include "reduce/reduce_internal.h"

enum { GPI_GROUP_ACC_MAX = 32 }; /* bytes of an accumulator */

/* Items that are taken from the first or the last place of each run. */
struct gpi_group_move {
    const void *from;
    void *to;
    uint32_t bytes; /* of an item */
    bool last;
};

/* The fold of each run's values. */
struct gpi_group_fold {
    const void *values;
    void *out;
    gp_dtype in_dtype, out_dtype;
    gp_op op;
};

/* A call that has been checked. */
struct gpi_group_args {
    const void *keys;
    uint64_t sign, inf; /* of float keys, in their width (core/order.h); inf 0: compare bits */
    uint64_t n;
    const uint64_t *device_n; /* or NULL */
    void *keys_out;           /* or NULL */
    void *heads, *lengths;    /* or NULL */
    uint64_t *out_count;
    uint64_t capacity; /* runs that may be written; not above n */
    uint32_t key_bytes;
    uint32_t index_bytes; /* of heads and lengths: 4 or 8 */
    bool longer;          /* runs of one item do not count; there are no folds then */
    int move_count, fold_count;
    const struct gpi_group_move *moves;
    const struct gpi_group_fold *folds;
    const uint64_t *more; /* CUDA: groups that are there already, if no items are; or NULL */
};

/* 0..3 for keys of 1, 2, 4, 8 bytes, which have code of their own; -1 for other sizes. */
static inline int gpi_group_width(uint32_t key_bytes)
{
    for (int i = 0; i < 4; i++)
        if (key_bytes == 1u << i)
            return i;
    return -1;
}

/* Keys of a dtype, or of that many bytes. */
void gpi_group_keys(struct gpi_group_args *a, gp_dtype dtype, size_t key_bytes);

/* gpi_check_arrays(). */
struct gpi_array;
gp_status gpi_group_check_arrays(gp_context *ctx, const char *function,
                                 const struct gpi_array *arrays, int count);

gp_status gpi_group_run(gp_context *ctx, const char *function, const struct gpi_group_args *a);
/* Upper bound of what it takes; pointers in *a only say what there is. */
size_t gpi_group_bytes(const gp_target *target, const struct gpi_group_args *a);

/* ---- CPU ---- */

/* Bits of a block, one per item, 64 to a word, zero past the end: where runs begin and end. */
struct gpi_group_marks {
    uint64_t *starts, *ends;
};

/* Of a block: runs that begin and end in it, and where the last one begins. */
struct gpi_group_block {
    uint64_t starts, ends;
    uint64_t last; /* GPI_GROUP_NOWHERE: none begins */
};

#define GPI_GROUP_NOWHERE UINT64_MAX

/* One instruction set's inner loops. */
struct gpi_group_loops {
    /* Where runs begin and end in items [first, first + items), of n. */
    struct gpi_group_block (*mark)(const struct gpi_group_args *a, uint64_t n, uint64_t first,
                                   size_t items, uint64_t *starts, uint64_t *ends);
    /* to[k] = number + the place of the k-th set bit; returns how many there are. Up to 64 words
     * behind them are written, too. */
    uint32_t (*places)(const uint64_t *bits, size_t words, uint32_t number, uint32_t *to);
    /* The ends of runs that begin in these items, too, and how many they are: not the first one if
     * a run goes on into them, as *open says, false from there on. */
    uint64_t (*whole_ends)(const uint64_t *ends, size_t words, bool *open, uint64_t *to);
};
enum { GPI_GROUP_PLACES_ROOM = 64 };
const struct gpi_group_loops *gpi_group_loops_for(int isa);

/* What a unit adds to the reduction's accumulators (reduce_internal.h). */
struct gpi_group_fold_cpu {
    /* Output `place` from an accumulator. */
    void (*store)(const void *acc, void *out, uint64_t place);
    /* Of the runs that begin and end in the items, the first `room` of them, to out. */
    void (*runs)(gp_op op, const struct gpi_reduce_cpu *reduce, const void *values,
                 const struct gpi_group_marks *marks, size_t items, void *out, uint64_t room);
    /* acc[numbers[i]] = that op values[i], of accumulators of 8 bytes; NULL: pair operators. */
    void (*scatter)(gp_op op, const void *values, const uint16_t *numbers, size_t n, void *acc);
    size_t in_bytes, out_bytes;
};
const struct gpi_group_fold_cpu *gpi_group_fold_cpu_for(gp_dtype in, gp_dtype out, gp_op op);
/* The fold of n > 0 values. */
void gpi_group_piece(const struct gpi_reduce_cpu *reduce, gp_op op, const void *values, size_t n,
                     void *acc);

gp_status gpi_group_cpu(gp_context *ctx, const char *function, const struct gpi_group_args *a);
size_t gpi_group_cpu_bytes(const struct gpi_group_args *a, int threads);

/* Groups of few integer keys in any order, without a sort (group_few_cpu.c). */
struct gpi_group_few_args {
    const void *keys;
    uint64_t n, capacity;
    gp_dtype key_dtype;
    void *keys_out; /* or NULL */
    uint64_t *out_count;
    int count;
    const gp_aggregate *of;
};
/* *done: the outputs are there; otherwise keys are too many, or these are no such aggregates. */
gp_status gpi_group_few_cpu(gp_context *ctx, const char *function,
                            const struct gpi_group_few_args *a, bool *done);
size_t gpi_group_few_cpu_bytes(const struct gpi_group_few_args *a);

/* ---- CUDA: gpi_group_<unit>_sm<architecture> ---- */

/* The kernels of a call, queued together; their parameters lie here until then. */
enum { GPI_GROUP_PARAMS_BYTES = 320 };
struct gpi_group_queue {
    struct gpi_launch launches[GPI_LAUNCHES_MAX];
    uint64_t params[GPI_LAUNCHES_MAX][GPI_GROUP_PARAMS_BYTES / 8];
    int count;
};
typedef gp_status gpi_group_flush(gp_context *ctx, const char *function,
                                  struct gpi_group_queue *queue);

/* One launch of the first pass, or of a fold. */
struct gpi_group_pass {
    const struct gpi_group_args *a;
    const char *function;
    struct gpi_group_queue *queue;
    uint32_t *bits;                    /* of heads, for whole tiles; NULL: not wanted */
    const struct gpi_group_move *move; /* or NULL */
    const struct gpi_group_fold *fold; /* of a fold */
    bool again; /* keys, positions and the count are there already: only the move */
    bool only_bits;
    bool with_keys; /* the fold moves the keys, too, and counts */
};
typedef gp_status gpi_group_launch(gp_context *ctx, const struct gpi_group_pass *pass);

/* ---- CUDA: folds in the buckets of a sort, see group_bucket_k.cuh ---- */

enum {
    GPI_GROUP_FEW = 1024,       /* groups, at most, that are folded without a sort */
    GPI_GROUP_FEW_PARTS = 132,  /* of the items, at most */
    GPI_GROUP_BUCKET_KEYS = 64, /* of a bucket, at most */
    GPI_GROUP_BUCKET_BITS = 16, /* of the number of a bucket, at most */
    GPI_GROUP_BUCKET_LEAST = 9, /* bits of the items that there are for a bucket */
    GPI_GROUP_BUCKET_FOLDS = 4,
    GPI_GROUP_CHUNK = 1 << 14, /* items that a warp folds at once */
    GPI_GROUP_CHUNKS = 64      /* whose groups are counted together */
};

/* What has been found out. */
struct gpi_group_progress {
    uint64_t remaining; /* items whose groups are still to be found: none, or all */
    uint64_t groups;    /* that have their places */
    uint64_t chunks;
    uint32_t folded, gave_up; /* whether all groups are there; whether they will not be */
    uint32_t done;            /* blocks that have ended */
};

/* The same of groups that are folded without a sort (group_few_k.cuh); keys of all blocks, 2 *
 * GPI_GROUP_FEW, follow. */
struct gpi_group_few {
    uint64_t remaining, groups;
    uint32_t count, has_zero; /* keys, and whether 0 is one, too */
    uint64_t gave_up;
};

/* Some items of a bucket, or none. */
struct gpi_group_chunk {
    uint32_t first, count;
    uint32_t part, parts; /* which one of the bucket it is, and of how many */
    uint32_t groups;      /* its own; of the first part, those of all in the end */
    uint32_t folded[2];   /* parts, and joins, behind which this one waits: see join_parts() */
};

/* One fold of a call; a count is the sum of as many ones. */
struct gpi_group_bucket_fold {
    gp_dtype in_dtype; /* 0: a count */
    gp_dtype out_dtype;
    gp_op op;
    void *out, *groups; /* in order, and by chunk */
};

struct gpi_group_buckets {
    struct gpi_radix_visitor visitor; /* of the sort; calls fold_buckets() */
    bool visited;                     /* it has: then *progress counts */
    bool few_keys;                    /* whether it is to be */
    gp_dtype key_dtype;
    uint32_t key_bytes;
    const void *keys_in, *values_in;
    uint64_t n;
    const uint64_t *device_n; /* or NULL */
    int count;
    struct gpi_group_bucket_fold folds[GPI_GROUP_BUCKET_FOLDS];
    uint64_t capacity;
    void *keys_out;                                                          /* or NULL */
    uint64_t params[GPI_GROUP_BUCKET_FOLDS + 1][GPI_GROUP_PARAMS_BYTES / 8]; /* of kernels */
    /* Scratch. */
    struct gpi_group_progress *progress;
    uint32_t *sums, sum_count; /* groups of GPI_GROUP_CHUNKS chunks, behind *progress */
    char *few;                 /* of each fold: struct gpi_group_few and keys */
    void *few_folds;
    struct gpi_group_chunk *chunks;
    void *keys;
};

typedef gp_status gpi_group_fold_buckets(gp_context *ctx, const char *function,
                                         struct gpi_group_buckets *b,
                                         const struct gpi_radix_buckets *buckets,
                                         struct gpi_launch *launches, int *count);

/* Folds of few groups, ahead of the launches of the sort; see group_few_k.cuh. */
typedef gp_status gpi_group_fold_few(gp_context *ctx, const char *function,
                                     struct gpi_group_buckets *b);
gp_status gpi_group_fold_few_groups(gp_context *ctx, const char *function,
                                    struct gpi_group_buckets *b);
static inline size_t gpi_group_few_bytes(const struct gpi_group_buckets *b)
{
    return sizeof(struct gpi_group_few) + 2 * GPI_GROUP_FEW * (size_t)b->key_bytes;
}
static inline const struct gpi_group_few *gpi_group_few_of(const struct gpi_group_buckets *b)
{
    return (const struct gpi_group_few *)b->few;
}

/* Their scratch, for n items. */
size_t gpi_group_buckets_bytes(const struct gpi_group_buckets *b, uint64_t n);
struct gpi_frame;
void gpi_group_buckets_take(struct gpi_group_buckets *b, struct gpi_frame *frame, uint64_t n);

/* One architecture's launchers. */
struct gpi_group_cuda {
    gpi_group_launch *wide;        /* bits of keys without a kernel */
    gpi_group_launch *by_width[5]; /* keys of 1, 2, 4, 8 bytes; by bits */
    gpi_group_launch *u32, *u64, *f32, *f64, *pair;
    gpi_group_flush *flush; /* queues the kernels that there are */
    gpi_group_fold_buckets *fold_buckets;
    gpi_group_fold_few *fold_few;
};
const struct gpi_group_cuda *gpi_group_cuda_for(int sm_row);

/* Up to this number of items a reduction makes bits first, without a prefix, and one single pass
 * over the values moves the keys, which are in the cache. */
enum { GPI_GROUP_SHORT = 1 << 20 };

/* Items of the smallest and largest tiles: they bound the tile states and what the bits need past
 * the last item. */
enum { GPI_GROUP_TILE_MIN = 1024, GPI_GROUP_PAIR_TILE_MIN = 256, GPI_GROUP_TILE_MAX = 1 << 16 };

gp_status gpi_group_cuda(gp_context *ctx, const char *function, const struct gpi_group_args *a);
size_t gpi_group_cuda_bytes(const struct gpi_group_args *a);

#endif
