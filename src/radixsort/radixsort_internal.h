/* SPDX-License-Identifier: MIT */
/*
 * Radix sort. The routes; docs/design/sort.md has all their conditions.
 *
 * CUDA, radixsort_cuda.c. The host chooses by sizes (radixsort_engine_tmpl.cu), the first kernel by
 * counts and samples of the keys (radixsort_histogram.cuh), and in the end each block by its bucket
 * (radixsort_bucket_k.cuh).
 *   1. COPY        no bits to compare, or none that differ
 *   2. COUNT       keys alone of 1 byte, or 2 bytes if many   radixsort_counting.cuh
 *   3. ONE LAUNCH  few items, by ranks or pieces              radixsort_rank_k.cuh
 *                  what fits one bucket                       radixsort_bucket_k.cuh
 *   4. BUCKETS     keys of 4 and 8 bytes. Partition passes move items to their buckets, then blocks
 *                  sort buckets in shared memory. The bucket of a word is given by
 *        its highest bits that differ; 1 or 2 passes          radixsort_partition_k.cuh
 *      or, if skewed keys overfill such buckets, by
 *        splitters of a sample; 1 pass                        radixsort_split_array.cuh
 *        the same level by level, large arrays of 8 bytes     radixsort_levels_k.cuh
 *        a map learned from a sample, 4 bytes; 1 or 2 passes  radixsort_map_k.cuh
 *      Buckets larger than shared memory are counted by values (radixsort_values_k.cuh) or sorted
 *      through global memory (radixsort_bucket_global.cuh).
 *   5. LSD PASSES  all others: a stable pass per digit        radixsort_partition_k.cuh
 *                  over the bits that differ, 8 bytes         radixsort_bit_passes.cuh
 *   BY REQUEST     CUB, an engine for words out of place      radixsort_cub.c
 * Values of other sizes than 1, 2, 4 and 8 bytes are gathered at the end, by positions that are
 * sorted beside the keys, or are words of 4 bytes meanwhile (many values of 3 bytes). Floats alone
 * by some of their bits are sorted as pairs, too.
 *
 * CPU, radixsort_cpu.c and sort_alone() in radixsort_cpu_msd.h. Values of other sizes than 1, 2, 4,
 * 8 and 16 bytes are gathered at the end.
 *   1. COPY
 *   2. COUNT       keys alone of 1 byte, or 2 bytes if many   radixsort_cpu_count.h
 *   3. PARTITION   what does not fit the caches of a thread, by 8 bits or what a sample says
 *                  (radixsort_cpu_sample.h); then each bucket radixsort_cpu_msd.h
 *   4. COMPARE     in vectors, keys alone                     radixsort_cpu_quicksort.h
 *                  words of keys and positions                radixsort_cpu_positions.h
 *                  each pair of few items                     gpi_radixsort_few()
 *   5. LSD PASSES  in the caches                              radixsort_cpu_lsd.h
 *
 * Both move keys as they are and compare their order words (core/order.h), which are computed where
 * they are needed. Keys alone are compared by invertible words: sorts of keys alone are not stable,
 * and other words would leave the order of NaNs and zeros of different bits to chance. CUB sorts
 * words, which are turned back.
 *
 * Scratch of a call, each piece 256-byte aligned; which ones exist depends on the route:
 *   CPU    [keys n][keys n if not an output][values or indices n][indices n]
 *          [copy of values][counts]
 *   CUDA   [keys or words n][keys n if not an output][values, words or positions n]
 *          [words or positions n][copy of keys][copy of values][words n]
 *          [plan, counts, tile states: 1 to 12% of the arrays; or what CUB takes];
 *          the last alone where keys are counted
 */
#ifndef GPI_RADIXSORT_INTERNAL_H
#define GPI_RADIXSORT_INTERNAL_H

#include <gp/radixsort.h>

#include "core/context.h"
#include "core/launch.h"
#include "core/order.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GPI_RADIX_BITS = 8, GPI_RADIX_BINS = 256 };

/* The buckets of a sort on CUDA as its partitions leave them. */
struct gpi_radix_buckets {
    const void *keys;    /* the RadixKeys of their width (radixsort_key_codec.cuh) */
    void *const *values; /* by enum gpi_radix_place */
};

/* Another room's use of the buckets of pairs, before these are sorted. visit() is called once if
 * there may be buckets: behind the `count` launches that make them it adds launches of kernels that
 * read them, and that may set the plan's route to gpi_radix_route_done: nothing is left to sort. If
 * the list has no room, visit() queues what is in it. Arguments of its kernels must stay where they
 * are until the sort has been queued. */
struct gpi_radix_visitor {
    gp_status (*visit)(gp_context *ctx, const char *function, struct gpi_radix_visitor *self,
                       const struct gpi_radix_buckets *buckets, struct gpi_launch *launches,
                       int *count);
    /* Whether it wants buckets of few keys, too, however large they are. The sort cannot sort
     * those: if the visitor leaves them, the sort begins again. */
    bool few_keys;
};

/* One sort, checked and with its options resolved. */
struct gpi_radix_job {
    struct gpi_radix_order order;
    size_t key_bytes;
    size_t value_bytes; /* 0: keys only */
    size_t n;
    const uint64_t *device_n;            /* NULL, or n is its bound, on CUDA */
    const uint64_t *device_num_segments; /* the same, of a sort of segments */
    int begin_bit, end_bit;              /* begin_bit == end_bit: copy */
    gp_algorithm algorithm;
    struct gpi_radix_visitor *visitor; /* or NULL */
    const void *keys_in;
    const void *values_in; /* NULL with value_bytes 4 or 8: the indices 0 .. n - 1 */
    void *keys_out;        /* NULL: not wanted */
    void *values_out;
};

/* ---- the engine of CUDA, as the host and its kernels see it ---- */

/* LSD passes at most; parts of the array that the second of two passes into buckets divides. */
enum { GPI_RADIX_PASSES = 8, GPI_RADIX_SEGMENTS = 256 };

/* Bytes of a sample and its splitters; entries follow them, in the place of an array of states. */
enum { GPI_RADIX_LEARNED = 80 << 10 };

/* Levels of splitters at most; items of one word that a block copies. */
enum { GPI_RADIX_LEVELS = 10, GPI_RADIX_COPIED = 1 << 16 };

enum gpi_radix_place { gpi_radix_in, gpi_radix_tmp, gpi_radix_out };

enum gpi_radix_route {
    gpi_radix_route_undecided,
    gpi_radix_route_lsd,
    gpi_radix_route_buckets,
    gpi_radix_route_splitters,
    gpi_radix_route_levels_or_map,
    gpi_radix_route_one_bucket,
    gpi_radix_route_done
};

/* Why keys are not counted: buckets would not fit; the same, and the sample of splitters is there;
 * words are so close together that few passes may follow. Plus `looked` if the first block of a
 * large sort has seen that while others counted. */
enum { gpi_radix_skewed = 1, gpi_radix_sampled, gpi_radix_close, gpi_radix_looked };

/* What learning a map of words to buckets writes (radixsort_map_learn.cuh). */
struct gpi_radix_map {
    void *sample;                        /* words */
    uint32_t *counts, *starts, *cursors; /* of buckets */
};

/* A range of items that a level splits into buckets (radixsort_levels_k.cuh). */
struct gpi_radix_segment {
    uint64_t base, end;    /* the least and the most word that may be in it */
    uint32_t first, count; /* its items */
    uint32_t tile;         /* its first one */
    uint32_t buckets;
    uint32_t steps, shift; /* of the search for a bucket; see SplitSearch and CellsOf */
    uint64_t low, gap, beyond;
};

/* Items that a block sorts by the lowest `bits` bits of their words, or copies if bits is 0. If
 * there are more than fit a bucket, the base is subtracted from words first. */
struct gpi_radix_entry {
    uint64_t base; /* no word is smaller */
    uint32_t first, count, bits;
    uint32_t from; /* enum gpi_radix_place */
};

/* What levels leave to be sorted and divided; maps and splitters have entries alone. */
struct gpi_radix_lists {
    struct gpi_radix_segment *segments[2];   /* of even and odd levels */
    uint32_t others_max;                     /* segments of a level that need not be ones */
    uint32_t *tables;                        /* [segment]: SplitTable */
    uint32_t *segment_of;                    /* [tile] */
    struct gpi_radix_entry *entries, *large; /* of one bucket's size, and the others */
};

enum { gpi_radix_cold = 1, gpi_radix_hot };

/* Whether a map is to be tried, and words of which a sample has many get buckets of their own. */
enum gpi_radix_map_kind { gpi_radix_unmapped, gpi_radix_mapped, gpi_radix_marked };

/* One LSD pass. */
struct gpi_radix_pass {
    uint32_t active;      /* gpi_radix_cold, or gpi_radix_hot: a digit has many of the items */
    uint32_t shift, bits; /* shift: or the places of two parts, see DigitOfParts */
    uint32_t from, to;    /* enum gpi_radix_place */
    uint32_t number;      /* among the active ones */
    uint32_t last;        /* it writes the result */
};

/* What a sample tells of the buckets of one pass, or of two: how many distinct words they have, how
 * many are expected of few keys, in 64ths, and whether a bucket has too many. */
struct gpi_radix_few {
    uint32_t different, expected, full;
};

/* The decisions of a sort, which its kernels write and read. Zeroed when the sort begins. */
struct gpi_radix_plan {
    uint64_t varying; /* bits in which some word differs from the first */
    uint32_t arrived; /* blocks at the barrier */
    uint32_t tickets[GPI_RADIX_PASSES + 2];
    uint32_t route;
    uint32_t recounted;
    uint32_t skewed;      /* one of gpi_radix_skewed .., or 0 */
    uint32_t shift, bits; /* the bucket of a word: (word >> shift) % 2^bits */
    uint32_t first, used; /* the first bucket that has items, and how many up to the last one */
    uint32_t result;      /* where the array is after the passes, or the buckets are */
    uint32_t segment_tile[GPI_RADIX_SEGMENTS + 1]; /* first tile of each, in the second pass */
    uint32_t split_arrived; /* by splitters, or passes: blocks at the barrier */
    /* By levels: */
    uint32_t level_arrived, level_tickets[2];
    uint32_t segments[2], others, tiles, entries, large;
    /* By a map: its kind; what buckets too large for a block take. */
    uint32_t mapped, map_arrived, map_passed, map_tickets[2], map_work_max, map_work_all;
    uint32_t most, rest; /* of words, if passes know it: the most, and of their complements */
    struct gpi_radix_pass pass[GPI_RADIX_PASSES];
    uint32_t buckets_claimed; /* by blocks that have sorted their first one */
    struct gpi_radix_few few[2];
    uint32_t visitor_bits;  /* of the numbers of buckets that a visitor may want; 0: to be sorted */
    uint32_t again_arrived; /* from here on see clear_tables() */
    uint64_t changing;      /* bits that vary in words xor'ed with themselves one bit lower */
};

/* A sort of n > 0 items, or of any number up to n that is on the device, by at least one bit. */
struct gpi_radix_engine_args {
    struct gpi_radix_order order;
    bool exact; /* words distinguish NaNs and zeros: items may come in any order otherwise */
    int begin_bit, end_bit;
    uint64_t n;
    const uint64_t *device_n; /* or NULL */
    size_t value_bytes;       /* 0, 1, 2, 4 or 8 */
    void *keys[3];            /* by place; all three exist unless counted, in may equal out */
    void *values[3];          /* in NULL: the positions */
    bool keys_wanted;
    struct gpi_radix_visitor *visitor; /* or NULL */
    void *scratch;
    size_t scratch_bytes; /* of CUB */
};

/* The pieces of an engine's scratch, in order; which ones exist depends on the sort. */
enum gpi_radix_piece {
    GPI_RADIX_PLAN,
    GPI_RADIX_STARTS,
    GPI_RADIX_BUCKETS,
    GPI_RADIX_RECOUNT,
    GPI_RADIX_CURSORS,
    GPI_RADIX_STATES,
    GPI_RADIX_STATES_ODD,
    GPI_RADIX_SEGMENT_LIST,
    GPI_RADIX_SEGMENT_LIST_ODD,
    GPI_RADIX_SEGMENT_OF,
    GPI_RADIX_ENTRIES,
    GPI_RADIX_LARGE,
    GPI_RADIX_MAP_SAMPLE,
    GPI_RADIX_MAP_COUNTS,
    GPI_RADIX_PIECES
};

struct gpi_radix_span {
    size_t at, bytes; /* from the begin of the scratch on */
};

/* Bounds of a sort of n items or fewer, and where the pieces are. */
struct gpi_radix_layout {
    int bucket_bits, bits_if_narrow, narrow_position_bits; /* see radixsort_key_codec.cuh */
    int bits_max;                                          /* of the tables of buckets */
    uint32_t divided;              /* buckets, if they have a bit more than all of them take */
    bool by_values, levels_or_map; /* if buckets do not fit */
    uint32_t entries;              /* of a bucket's size, if by levels or a map */
    uint32_t others_max;           /* segments of a level that need not be ones */
    uint32_t map_starts; /* those of a map's buckets, behind its cursors among the others */
    uint64_t rows;       /* of states */
    struct gpi_radix_span pieces[GPI_RADIX_PIECES];
    size_t zeroed, bytes; /* what has to be zero, and all */
};

/* radixsort_layout_cuda.cu: of an engine, by the bytes of its keys and values. */
typedef void gpi_radix_layout_fn(size_t key_bytes, size_t value_bytes, uint64_t n,
                                 struct gpi_radix_layout *layout);

/* The kinds of tiles that check their ranks; of other passes than those by digits pairs alone. */
enum gpi_radix_fault_tile {
    gpi_radix_fault_in_keys,       /* of a pass by a digit, over keys alone */
    gpi_radix_fault_in_pairs,      /* the same over pairs */
    gpi_radix_fault_in_long_tiles, /* the same by all threads of a block */
    gpi_radix_fault_in_buckets,    /* of a partition by highest bits */
    gpi_radix_fault_in_map,
    gpi_radix_fault_in_levels,
    GPI_RADIX_FAULT_TILES
};

/* The code of one key width, and of values of no, up to 4, or 8 bytes. */
struct gpi_radix_engine {
    gp_status (*sort)(gp_context *ctx, const char *function,
                      const struct gpi_radix_engine_args *args);
    /* From this number of items on exact keys alone are counted, not moved: there is no array
     * gpi_radix_tmp, and the scratch of one item is enough. */
    uint64_t counted_from;
#ifdef GPI_FAULT
    /* Those made and those repaired, of this width. */
    void (*add_faults)(uint64_t counts[GPI_RADIX_FAULT_TILES][2]);
#endif
};

#ifdef GPI_FAULT
/* Since the program began; waits for the device. Of test builds, see radixsort_tile.cuh. */
GP_API void gp_radix_sort_faults(gp_context *ctx, uint64_t counts[GPI_RADIX_FAULT_TILES][2]);
#endif

/* ---- what is around it ---- */

/* The kernels around the sort. */
struct gpi_radix_cuda_kernels {
    /* out[i] = order word of in[i], which with exact can be turned back; back: the key of a word.
     * in may equal out. */
    void (*words)(gp_context *ctx, const struct gpi_radix_order *order, bool exact, bool back,
                  size_t key_bytes, const void *in, uint64_t n, void *out);
    /* Values of 3 bytes as words of 4, and back; words have room for a multiple of 4, and are
     * aligned to 16 bytes. */
    void (*widen)(gp_context *ctx, const void *values, uint64_t n, const uint64_t *device_n,
                  void *words);
    void (*narrow)(gp_context *ctx, const void *words, uint64_t n, const uint64_t *device_n,
                   void *values);
};

/* The code for one architecture. Engines by log2 of the key's bytes, and for values of no, up to 4,
 * and 8 bytes. */
struct gpi_radix_cuda {
    const struct gpi_radix_engine *engine[4][3];
    const struct gpi_radix_cuda_kernels *kernels;
    gpi_radix_layout_fn *layout; /* of the scratch of an engine */
};

/* NULL: this build has no code for the GPU. */
const struct gpi_radix_cuda *gpi_radix_cuda_get(const gp_context *ctx);

/* Sort by a job; the frame is theirs. */
gp_status gpi_radixsort_cpu(gp_context *ctx, const char *function, const struct gpi_radix_job *job);
gp_status gpi_radixsort_cuda(gp_context *ctx, const char *function,
                             const struct gpi_radix_job *job);

/* The same through CUB, out of place and with values of 0, 4 or 8 bytes; without scratch it only
 * says how much it takes. gpi_radix_cub_bytes_max() is an upper bound of that. */
gp_status gpi_radix_cub_sort(gp_context *ctx, const char *function, size_t key_bytes,
                             struct gpi_radix_engine_args *a);
size_t gpi_radix_cub_bytes_max(int sm_count, size_t key_bytes, size_t moved_bytes, size_t n);

/* Whether keys are their own order words. */
static inline bool gpi_radix_is_word(const struct gpi_radix_order *order)
{
    return order->inf == 0 && order->flip == 0;
}

/* The indices 0 .. n - 1, queued. */
gp_status gpi_radix_put_indices(gp_context *ctx, const char *function, size_t index_bytes,
                                uint64_t n, const uint64_t *device_n, void *out);

/* Upper bounds of the workspace of these sorts, also in place; 0 threads or multiprocessors: as
 * many as there may be. */
size_t gpi_radixsort_cpu_bytes(int threads, const struct gpi_radix_job *job);
size_t gpi_radixsort_cuda_bytes(int sm_count, const struct gpi_radix_job *job);

/* ---- radixsort.c: checks and options that the front doors of all sorts share ---- */

/* The outputs of a job: arrays, and overlaps with the inputs and each other. */
gp_status gpi_radix_check_outputs(gp_context *ctx, const char *function,
                                  const struct gpi_radix_job *job);

/* Check the options and put them, resolved, into the job, whose key_bytes is set. */
gp_status gpi_radix_apply_options(gp_context *ctx, const char *function, gp_backend backend,
                                  gp_dtype dtype, const gp_radix_sort_options *options,
                                  struct gpi_radix_job *job);

/* Counts in memory that the options name, and that no output lies over them. */
gp_status gpi_radix_check_counts(gp_context *ctx, const char *function,
                                 const struct gpi_radix_job *job);

/* Bytes of the indices that stand in for values or keys of an array. 2^32 itself counts as wide, so
 * that counts of 32 bits are enough for narrow ones. */
static inline size_t gpi_radix_index_bytes(uint64_t n)
{
    return n >= (uint64_t)1 << 32 ? 8 : 4;
}

#ifdef __cplusplus
}
#endif

#endif
