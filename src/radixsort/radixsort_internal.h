/* SPDX-License-Identifier: MIT */
/*
 * Radix sort.
 *
 * CPU. What fits the caches of one thread is sorted least significant digit first (Knuth volume 3,
 * 5.2.5) with digits of up to 12 bits, items going straight to their place; a few items by
 * comparing. More is cut into parts, one per thread, and into buckets:
 *   1. one read counts the eight highest bits that vary, per part;
 *   2. an exclusive sum over (bin, part) gives each part its place in each bucket;
 *   3. each part moves its items, collecting them per bin in a line-sized buffer that leaves in
 *      one piece;
 *   4. threads sort the buckets by the bits below, each one in its caches; a bucket that is too
 *      long for that is cut again, by all threads if it is most of the array.
 * A digit that is the same in all keys needs no pass. Keys of 8 and 16 bits without values are
 * counted and written anew.
 *
 * CUDA: keys are moved as they are and compared by their order words (radixsort_order.h), which
 * kernels compute where they need a digit. radixsort_partition_k.cuh says which routes there are.
 * Equal words in any order would leave NaNs and zeros of different bits to chance, so keys alone
 * are compared by an invertible word. Many values of 3 bytes are moved as words of 4; sizes other
 * than 1, 2, 4 and 8 are picked by position at the end. CUB, when asked for, sorts words that are
 * turned back afterwards.
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

/* Bytes of the indices that stand in for values or keys of an array. 2^32 itself counts as wide, so
 * that counts of 32 bits are enough for narrow ones. */
static inline size_t gpi_radix_index_bytes(uint64_t n)
{
    return n >= (uint64_t)1 << 32 ? 8 : 4;
}

#endif
