/* SPDX-License-Identifier: MIT */
/*
 * Multisplit: a stable sort by small numbers of which only the result's order is wanted.
 *
 * CUDA, numbers of 8 bits. The items are cut into shares, of whole tiles:
 *   1. a block for each share counts its items of each bucket;
 *   2. an exclusive sum over (bucket, share) gives every share a place in each bucket;
 *   3. blocks claim shares in their order and go through them tile by tile: an item's rank in its
 *      tile comes from ballots over the bits of the numbers; a list in the order of buckets names
 *      the items of the tile, which wait in shared memory, and the output is written word by word
 *      along the list. Items that are one word need no list (multisplit_words.cuh).
 * So what is written at a time lies together, and no block is the last one for long. Where items
 * are one word, and there are no more tiles than blocks that run at once, one launch does all of
 * this (multisplit_meet.cuh).
 *
 * The CPU does the same with a range per thread, whose items go straight to their places.
 *
 * Numbers of 32 bits: a radix sort of pairs, and offsets by searching the sorted numbers.
 *
 * Scratch: up to 256 buckets [counts: buckets x shares (CUDA) or threads, of uint64_t]
 * [CUDA: claimed shares][of the sum: CUDA]; otherwise [sorted numbers][of the sort].
 */
#ifndef GPI_MULTISPLIT_INTERNAL_H
#define GPI_MULTISPLIT_INTERNAL_H

#include <stdbool.h>

#include <gp/multisplit.h>

#include "core/context.h"

enum {
    GPI_MULTISPLIT_BYTE_BUCKETS = 256, /* numbers have 8 bits up to here */
    GPI_MULTISPLIT_SHARES = 8192,      /* at most, up to 2^35 items */
    GPI_MULTISPLIT_COUNTS = 1 << 20,   /* shares times buckets, at most, up to as many */
    GPI_MULTISPLIT_MEET_SHARES = 768   /* that are moved at once, at most */
};

/* A call that has been checked. */
struct gpi_multisplit_args {
    const void *in;
    const void *numbers;
    uint64_t n;
    const uint64_t *device_n; /* or NULL */
    void *out;
    uint64_t *offsets;
    uint32_t item_bytes, num_buckets;
};

/* Numbers of 8 bits on the CPU. The scratch that any call takes; 0 threads: any number. */
size_t gpi_multisplit_cpu_bytes(int threads);
void gpi_multisplit_cpu(int threads, const struct gpi_multisplit_args *a, void *scratch);

/* Numbers of 8 bits on CUDA. */
struct gpi_multisplit_shares {
    uint64_t items;   /* of each, but the last */
    uint32_t number;  /* of them, by the bound of the items */
    uint64_t *counts; /* by bucket; then items before them */
    uint32_t *claimed;
    bool at_once;    /* a block for each, all of which run at once: these count, as shorts */
    uint32_t stride; /* then: counts of a bucket, in whole sectors */
};

/* One architecture's kernels. */
struct gpi_multisplit_cuda {
    /* Shares of one tile that may be moved at once, without a count before, at most. */
    uint32_t (*most_at_once)(const gp_context *ctx, const struct gpi_multisplit_args *a);
    /* Also: nothing is claimed. */
    gp_status (*count)(gp_context *ctx, const char *function, const struct gpi_multisplit_args *a,
                       const struct gpi_multisplit_shares *shares);
    /* counts: those before. Writes items and offsets. */
    gp_status (*move)(gp_context *ctx, const char *function, const struct gpi_multisplit_args *a,
                      const struct gpi_multisplit_shares *shares);
    /* Offsets from sorted numbers. */
    gp_status (*search)(gp_context *ctx, const char *function, const struct gpi_multisplit_args *a,
                        const uint32_t *sorted);
};

/* NULL: this build has no code for the GPU. */
const struct gpi_multisplit_cuda *gpi_multisplit_cuda_get(int sm_row);

enum {
    GPI_MULTISPLIT_TILE_BYTES = 32768,       /* of items, at most, unless one item is larger */
    GPI_MULTISPLIT_TILE_MAX = 4096,          /* items */
    GPI_MULTISPLIT_WORD_TILE_BYTES = 16384,  /* of items that are one word */
    GPI_MULTISPLIT_LARGE_TILE_BYTES = 24576, /* the same of many of 4 and 8 bytes */
    GPI_MULTISPLIT_LARGE_BYTES = 1 << 26,    /* what many have at least */
    GPI_MULTISPLIT_LARGE_BUCKETS = 16,       /* of fewer pieces are long anyway */
    GPI_MULTISPLIT_STAGED = 4096 /* bytes of items that wait in shared memory; larger ones are
                                        * read where they lie, with the same number of accesses */
};

/* Items that are one word. */
static inline bool gpi_multisplit_is_word(uint32_t item_bytes)
{
    return item_bytes <= 16 && (item_bytes & (item_bytes - 1)) == 0;
}

static inline uint32_t gpi_multisplit_tile_items(uint32_t item_bytes)
{
    const uint32_t fit = (gpi_multisplit_is_word(item_bytes) ? GPI_MULTISPLIT_WORD_TILE_BYTES
                                                             : GPI_MULTISPLIT_TILE_BYTES) /
                         item_bytes;
    return fit < 1 ? 1 : fit > GPI_MULTISPLIT_TILE_MAX ? GPI_MULTISPLIT_TILE_MAX : fit;
}

/* Whether items that are one word go by large tiles, which longer ones gain least by. */
static inline bool gpi_multisplit_is_large(const struct gpi_multisplit_args *a)
{
    return (a->item_bytes == 4 || a->item_bytes == 8) &&
           a->n >= GPI_MULTISPLIT_LARGE_BYTES / a->item_bytes &&
           a->num_buckets >= GPI_MULTISPLIT_LARGE_BUCKETS;
}

/* Of a call, which shares consist of. */
static inline uint32_t gpi_multisplit_tile_of(const struct gpi_multisplit_args *a)
{
    return gpi_multisplit_is_large(a) ? GPI_MULTISPLIT_LARGE_TILE_BYTES / a->item_bytes
                                      : gpi_multisplit_tile_items(a->item_bytes);
}

/* Shares are at most this many, and have less than 2^23 items. */
static inline uint64_t gpi_multisplit_most_shares(const struct gpi_multisplit_args *a)
{
    const uint64_t most = GPI_MULTISPLIT_COUNTS / a->num_buckets, many = a->n >> 22;
    const uint64_t few = most < GPI_MULTISPLIT_SHARES ? most : GPI_MULTISPLIT_SHARES;
    return few < many ? many : few;
}

/* The highest bit of the numbers below count, from 1. */
static inline int gpi_multisplit_bits(uint64_t count)
{
    int bits = 1;
    while (((uint64_t)1 << bits) < count)
        bits++;
    return bits;
}

#endif
