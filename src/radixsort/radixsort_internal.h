/* SPDX-License-Identifier: MIT */
/*
 * Radix sort. The routes; docs/design/sort.md has all their conditions.
 *
 * CUDA, radixsort_cuda.c. Values of other sizes than 1, 2, 4 and 8 bytes, and floats alone by some
 * of their bits, are sorted as positions beside the keys, which a gather then fetches by; many
 * values of 3 bytes as words of 4. By sizes the host decides (radixsort_engine_tmpl.cu), by keys
 * the plan of the first kernel (radixsort_histogram.cuh), by its items a block for its bucket
 * (radixsort_bucket_k.cuh):
 *   1. COPY        no bits compared, or none that vary
 *   2. COUNT       keys alone of 1 byte, or 2 bytes if many   radixsort_counting.cuh
 *   3. ONE LAUNCH  few items: ranks, or pieces                radixsort_rank_k.cuh
 *                  one bucket                                 radixsort_bucket_k.cuh
 *   4. BUCKETS     keys of 4 and 8 bytes: partitions by the number of a word's bucket, then every
 *                  bucket is sorted inside one multiprocessor; the number is
 *        its highest bits that vary, in 1 or 2 partitions     radixsort_partition_k.cuh
 *        found between splitters, in 1 partition              radixsort_split_array.cuh
 *        the same level by level (8 bytes)                    radixsort_levels_k.cuh
 *        that of a map learned from a sample (4 bytes)        radixsort_map_k.cuh
 *        that of a cell, level by level (4 bytes)             radixsort_adaptive_k.cuh
 *      Buckets too large for that are counted (radixsort_values_k.cuh), or sorted through memory
 *      (radixsort_bucket_global.cuh).
 *   LAST RESORT    stable partitions by digits, from the lowest one that varies on (LSD)
 *   BY REQUEST     CUB                                        radixsort_cub.c
 *
 * CPU, radixsort_cpu.c and sort_alone() in radixsort_cpu_msd.h. Values of other sizes than 1, 2, 4,
 * 8 and 16 bytes are collected by indices at the end.
 *   1. COPY
 *   2. COUNT       keys alone of 1 byte, or 2 bytes if many   radixsort_cpu_count.h
 *   3. PARTITION   what does not fit the caches of a thread, by 8 bits or what a sample says
 *                  (radixsort_cpu_sample.h); then each bucket radixsort_cpu_msd.h
 *   4. COMPARE     in vectors, keys alone                     radixsort_cpu_quicksort.h
 *                  words of keys and positions                radixsort_cpu_positions.h
 *                  few items of any                           radixsort_cpu_small.h
 *   LAST RESORT    LSD in the caches                          radixsort_cpu_lsd.h
 *
 * On both, keys are moved as they are and compared by their order words (core/order.h), computed
 * where they are needed. Equal words in any order would leave NaNs and zeros of different bits to
 * chance, so keys alone are compared by invertible words. CUB sorts words that are turned back.
 *
 * Scratch of a call, each piece 256-byte aligned; which ones exist depends on the route:
 *   CPU    [keys n][keys n if not an output][values or indices n][indices n]
 *          [copy of values][counts]
 *   CUDA   [keys n][keys n if not an output][values, words or positions n]
 *          [words or positions n][words n]
 *          [copy of values][plan, counts, tile states: 1 to 7% of the arrays];
 *          the last alone where keys are counted
 *   CUB    [copy of keys][copy of values][words n][indices n][indices n][temporary of the sort]
 */
#ifndef GPI_RADIXSORT_INTERNAL_H
#define GPI_RADIXSORT_INTERNAL_H

#include <gp/radixsort.h>

#include "core/context.h"
#include "core/launch.h"
#include "radixsort/radixsort_order.h"

enum { GPI_RADIX_BITS = 8, GPI_RADIX_BINS = 256 };

/* The buckets of a sort on CUDA as its partitions leave them. */
struct gpi_radix_buckets {
    const void *keys;    /* the RadixKeys of their width (radixsort_key_codec.cuh) */
    void *const *values; /* by enum gpi_radix_place */
};

/* What is asked before buckets of pairs are sorted, where there may be some: behind the `count`
 * launches that make them it adds kernels that read them, and that may make the plan's route
 * gpi_radix_route_undecided, so that they stay so. If there is no room it queues what there is.
 * Arguments of its kernels stay where they are until the sort has been queued. */
struct gpi_radix_visitor {
    gp_status (*visit)(gp_context *ctx, const char *function, struct gpi_radix_visitor *self,
                       const struct gpi_radix_buckets *buckets, struct gpi_launch *launches,
                       int *count);
    /* It wants buckets of few keys, too, however large they are. Those are not sorted: where it
     * leaves them, the sort begins again. */
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

/* What the code of one key width gets; every array is as long as n. */
struct gpi_radix_cpu_job {
    struct gpi_radix_job job; /* keys_out is set, value_bytes is 0, 1, 2, 4, 8 or 16 */
    void *keys_tmp;
    void *values_tmp;
    void *counts; /* see gpi_radixsort_counts_bytes() */
    char *rooms;  /* see gpi_radixsort_rooms_bytes() */
    unsigned char *rooms_taken;
    uint64_t *words; /* rooms of words_items, see gpi_radixsort_words_room() */
    unsigned char *words_taken;
    size_t words_rooms, words_items;
    size_t parts;
    int threads;
    bool keys_alone; /* no values, and all bits are compared */
    bool whole;      /* all bits are compared, those that a cut has put in order included */
};

typedef void gpi_radixsort_cpu_fn(const struct gpi_radix_cpu_job *job);
/* Sorts n > 0 items from `start` on, alone, by the calling thread; with values it has values_in. */
typedef void gpi_radixsort_segment_fn(const struct gpi_radix_cpu_job *job, size_t start, size_t n);
/* Sorts segments of up to GPI_RADIX_SHORT_ITEMS pairs of integers, compared in all bits, of 4 or 8
 * bytes each, by the calling thread. Segment s ends at ends[s], where the next one begins, counted
 * from `start`: below 2^31, and behind them are GPI_RADIX_SHORT_ENDS larger numbers. Returns how
 * many from the first one on are sorted. */
enum { GPI_RADIX_SHORT_ITEMS = 2048, GPI_RADIX_SHORT_ENDS = 16 };
typedef size_t gpi_radixsort_short_fn(const struct gpi_radix_job *j, size_t start,
                                      const uint32_t *ends, size_t count);
/* Puts unsigned words in order; false: they are all there, in no order. */
typedef bool gpi_radixsort_quick_fn(void *words, size_t n);

/* One sort of unsigned words through CUB. Values are value_bytes (0, 4 or 8) wide. */
struct gpi_radix_cub_args {
    const void *keys_in;
    void *keys_out;
    const void *values_in;
    void *values_out;
    size_t value_bytes;
    uint64_t n;
    int begin_bit, end_bit;
};

/* The kernels around the sort. */
struct gpi_radix_cuda_kernels {
    /* out[i] = order word of in[i], which with exact can be turned back (in may equal out). */
    void (*to_words)(gp_context *ctx, const struct gpi_radix_order *order, bool exact,
                     size_t key_bytes, const void *in, uint64_t n, void *out);
    /* The keys of exact order words, in place. */
    void (*from_words)(gp_context *ctx, const struct gpi_radix_order *order, size_t key_bytes,
                       void *words, uint64_t n);
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
};

/* radixsort_table.c; width is log2 of the key's bytes. NULL: this build has no code for the GPU. */
gpi_radixsort_cpu_fn *gpi_radixsort_cpu_get(int isa, int width);
gpi_radixsort_segment_fn *gpi_radixsort_segment_get(int isa, int width);
gpi_radixsort_short_fn *gpi_radixsort_short_get(int isa);
const struct gpi_radix_cuda *gpi_radix_cuda_get(const gp_context *ctx);

/* Sort by a job; the frame is theirs. */
gp_status gpi_radixsort_cpu(gp_context *ctx, const char *function, const struct gpi_radix_job *job);
gp_status gpi_radixsort_cuda(gp_context *ctx, const char *function,
                             const struct gpi_radix_job *job);
gp_status gpi_radixsort_cub(gp_context *ctx, const char *function, const struct gpi_radix_job *job);

/* The indices 0 .. n - 1, queued. */
gp_status gpi_radix_put_indices(gp_context *ctx, const char *function, size_t index_bytes,
                                uint64_t n, const uint64_t *device_n, void *out);

/* Upper bounds of their frames, arrays in place included;
 * 0 threads or multiprocessors: any number. */
size_t gpi_radixsort_cpu_bytes(int threads, const struct gpi_radix_job *job);
size_t gpi_radixsort_cuda_bytes(int sm_count, const struct gpi_radix_job *job);
size_t gpi_radixsort_cub_bytes(int sm_count, const struct gpi_radix_job *job);

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

#endif
