/* SPDX-License-Identifier: MIT */
/*
 * CPU: the sort inside COO to CSR and transpose.
 *
 *   1. Count entries per (chunk of the input, bucket); a bucket is a range of keys by their
 *      top bits.
 *   2. Scatter keys and values, so that each bucket is contiguous and in input order.
 *   3. Sort each bucket in cache, least significant digit first, and merge its duplicates in place.
 *   4. Add up what the buckets hold, and write each to its place, with the row pointers.
 *
 * Workspace: [keys x nnz] and [slots x nnz] twice, [counts: chunks x buckets], a few words per
 * bucket. A slot is a value, widened to 4 or 8 bytes. Where what a bucket leaves of the key has
 * 32 bits, and values 4 bytes, an entry is one word (csr_pack_cpu_tmpl.c).
 */
#ifndef GPI_CSR_SORT_CPU_H
#define GPI_CSR_SORT_CPU_H

#include "csr/csr_internal.h"

struct gpi_csr_sort {
    gp_context *ctx;
    const struct gpi_csr_coo *c;
    unsigned bucket_shift; /* bucket = key >> bucket_shift */
    size_t buckets, chunks;
    uint64_t chunk_items;
    void *keys[2], *slots[2]; /* entries of one word: keys are these words, there are no slots */
    bool packed;
    uint64_t *starts;    /* chunks x buckets: counts, then where a chunk's next entry goes */
    uint64_t *begins;    /* buckets + 1, in the sorted arrays */
    uint64_t *places;    /* buckets + 1: entries after merging, then where they go */
    uint64_t *last_rows; /* buckets: last row in it, then in those before it; UINT64_MAX: none */
    unsigned char *side; /* buckets: which of the two arrays holds the result */
    char *rooms;         /* of chunks, where entries are one word */
    size_t room_bytes;
    bool past_cache;
};

typedef void (*gpi_csr_sort_fn)(struct gpi_csr_sort *s);

/* The unit for this many bits of key and bytes of value, or for entries of one word. */
gpi_csr_sort_fn gpi_csr_sort_find(const gp_context *ctx, bool wide_keys, bool wide_slots);
gpi_csr_sort_fn gpi_csr_sort_packed_find(const gp_context *ctx);

#endif
