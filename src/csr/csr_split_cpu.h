/* SPDX-License-Identifier: MIT */
/*
 * CPU: transposes of many entries. The new rows of entries are the keys, and entries of one key
 * stay in their order, so two stable splits are enough:
 *
 *   1. Count entries per (chunk of the input, bucket); a bucket is a range of rows.
 *   2. Move entries to their buckets: of the row what the bucket does not tell, the column, the
 *      value. A chunk collects a group of entries for each bucket in its room, which leaves in
 *      lines past the cache.
 *   3. In the cache, count the rows of a bucket, and move its entries to their places; the counters
 *      are the row pointers of the result.
 *
 * Workspace: [rests x nnz], [columns x nnz], [slots x nnz], [counts: chunks x buckets], [rooms].
 */
#ifndef GPI_CSR_SPLIT_CPU_H
#define GPI_CSR_SPLIT_CPU_H

#include "csr/csr_internal.h"

/* Few entries of a bucket are placed fastest, but from some buckets on their rooms leave the
 * first-level cache: then buckets grow until they fill the second-level one. */
enum {
    GPI_CSR_GROUP = 32,              /* entries that leave a room at once: their rests are a line */
    GPI_CSR_AHEAD = 12,              /* the place of the entry so far ahead is asked for */
    GPI_CSR_REST_BITS = 16,          /* of a row in its bucket, at most */
    GPI_CSR_SPLIT_BUCKET_BITS = 11,  /* buckets at most */
    GPI_CSR_SPLIT_NEAR_BITS = 8,     /* those whose rooms are near */
    GPI_CSR_SPLIT_ITEMS = 32 * 1024, /* of a bucket, or twice as few */
    GPI_CSR_SPLIT_BYTES = 1280 * 1024, /* of a large one, likewise */
    GPI_CSR_SPLIT_PARTS = 64,
    GPI_CSR_SPLIT_CHUNK_ITEMS = 64 * 1024
};

struct gpi_csr_split {
    gp_context *ctx;
    const struct gpi_csr_coo *c;
    unsigned shift; /* bucket = row >> shift */
    size_t buckets, chunks, room_bytes;
    uint64_t chunk_items;
    uint16_t *rests;
    void *cols, *values;
    uint64_t *starts; /* chunks x buckets: counts, then where a chunk's next entry goes */
    uint64_t *begins; /* buckets + 1 */
    char *rooms;
    bool past_cache;
};

void gpi_csr_split_cpu(struct gpi_csr_split *s);

/* Whether a conversion takes this way: rows fit buckets and rests, and their pointers are not most
 * of the work. */
static inline bool gpi_csr_by_split(const struct gpi_csr_coo *c)
{
    return c->sort_bit && c->row_bits <= GPI_CSR_SPLIT_BUCKET_BITS + GPI_CSR_REST_BITS &&
           c->nnz >= c->num_rows / 8;
}

#endif
