/* SPDX-License-Identifier: MIT */
/*
 * Top-k by radix select (Alabi, Blanchard, Gordon and Steinbach 2012).
 *
 *   1. The k-th order word is found from the top, 11 bits at a time: count the next digit of the
 *      words that agree with what is known; the bin that holds the k-th one is known then. Done
 *      when all words of that bin are wanted, or when no bits are left.
 *   2. With the known bits as bound, every word below it is wanted, and the first ones in input
 *      order of those at it. Both kinds are counted per chunk of the input, the counts added up,
 *   3. and keys and indices collected: those below the bound, then those at it,
 *      each in input order.
 *   4. The k pairs are sorted by gp_radix_sort_pairs(), which is stable: what compares equal is of
 *      one kind, hence in input order.
 * Nothing depends on how the input is cut.
 *
 * Scratch, each piece 256-byte aligned:
 *   [state and bins][counts per chunk][keys k][indices k][keys k][indices k][the sort's]
 */
#ifndef GPI_TOPK_INTERNAL_H
#define GPI_TOPK_INTERNAL_H

#include "core/context.h"
#include "core/order.h"

enum { GPI_TOPK_BITS = 11, GPI_TOPK_BINS = 1 << GPI_TOPK_BITS };

/* What is known of the k-th word, in the context's memory. */
struct gpi_topk_state {
    uint64_t mask;   /* bits that are known */
    uint64_t prefix; /* their values */
    uint64_t wanted; /* how many are wanted of the words that agree with them */
    uint64_t done;   /* all of those are wanted, or all bits are known */
};

/* Words of a chunk below the bound, and at it; then how many of each lie before the chunk. There is
 * one more for all. */
struct gpi_topk_counts {
    uint64_t below, at;
};

/* A call, checked. */
struct gpi_topk_job {
    struct gpi_radix_order order;
    size_t key_bytes, index_bytes;
    const void *keys;
    uint64_t n, k;
    const uint64_t *device_n, *device_k; /* NULL, or n and k are their bounds, on CUDA */
    /* scratch */
    /* On CUDA the words of a barrier; wanted: how many were found, if n or k is on the device. */
    struct gpi_topk_state *state;
    uint64_t *bins;                 /* behind it, GPI_TOPK_BINS for every pass; the CPU has one */
    struct gpi_topk_counts *counts; /* chunks + 1 */
    uint64_t chunks;
    void *top_keys, *top_indices; /* k collected ones */
};

#ifdef __CUDACC__
#define GPI_TOPK_INLINE static __host__ __device__ inline
#else
#define GPI_TOPK_INLINE static inline
#endif

/* Bits of a digit, from shift on; passes go from the top down. */
GPI_TOPK_INLINE int gpi_topk_passes(size_t key_bytes)
{
    return (8 * (int)key_bytes + GPI_TOPK_BITS - 1) / GPI_TOPK_BITS;
}

/* The state and the bins. */
static inline size_t gpi_topk_state_bytes(size_t key_bytes)
{
    return sizeof(struct gpi_topk_state) +
           (size_t)gpi_topk_passes(key_bytes) * GPI_TOPK_BINS * sizeof(uint64_t);
}

GPI_TOPK_INLINE int gpi_topk_shift(size_t key_bytes, int pass)
{
    int shift = 8 * (int)key_bytes - (pass + 1) * GPI_TOPK_BITS;
    return shift > 0 ? shift : 0;
}

/* Bits of the digit of a pass: the last one may be shorter. */
GPI_TOPK_INLINE int gpi_topk_width(size_t key_bytes, int pass)
{
    int left = 8 * (int)key_bytes - pass * GPI_TOPK_BITS;
    return left < GPI_TOPK_BITS ? left : GPI_TOPK_BITS;
}

static inline uint64_t gpi_topk_chunk_begin(const struct gpi_topk_job *j, uint64_t chunk)
{
    uint64_t length = (j->n + j->chunks - 1) / j->chunks, begin = chunk * length;
    return begin < j->n ? begin : j->n;
}

/* Loops over one chunk on the CPU. */
struct gpi_topk_loops {
    /* Add the digits of the words that agree with the state to bins. */
    void (*count)(const struct gpi_topk_job *j, int pass, uint64_t chunk, uint32_t *bins);
    /* counts[chunk] */
    void (*publish)(const struct gpi_topk_job *j, uint64_t chunk);
    void (*collect)(const struct gpi_topk_job *j, uint64_t chunk);
};

/* Queue steps 1 to 3 of a job. */
typedef gp_status gpi_topk_launch_fn(gp_context *ctx, const char *function,
                                     const struct gpi_topk_job *job);

/* topk_table.c; width is log2 of the key's bytes. */
const struct gpi_topk_loops *gpi_topk_loops_get(int isa, int width);
gpi_topk_launch_fn *gpi_topk_launch_get(int sm_row);

/* Steps 1 to 3 on the CPU. */
void gpi_topk_cpu(gp_context *ctx, const struct gpi_topk_job *job);

/* Chunks of an input. On CUDA fewer, longer ones than there could be: their counts are added up by
 * one block. */
uint64_t gpi_topk_cpu_chunks(uint64_t n);

enum { GPI_TOPK_CHUNK_MIN = 4096, GPI_TOPK_CHUNKS_MAX = 4096 };

GPI_TOPK_INLINE uint64_t gpi_topk_cuda_chunks(uint64_t n)
{
    const uint64_t chunks = (n + GPI_TOPK_CHUNK_MIN - 1) / GPI_TOPK_CHUNK_MIN;
    return chunks < GPI_TOPK_CHUNKS_MAX ? chunks : GPI_TOPK_CHUNKS_MAX;
}

#endif
