/* SPDX-License-Identifier: MIT */
/* The arrays of entries compacted together, for filters. */
#ifndef GPI_CSR_KEEP_H
#define GPI_CSR_KEEP_H

#include "compact/compact_internal.h"
#include "csr/csr_internal.h"

/* Columns, values, and of a list rows of what is kept; heads: the bits of the kept entries, and the
 * ranks of words of them, which the row pointers come from. */
enum { GPI_CSR_KEPT_ARRAYS = 3, GPI_CSR_KEEP_TILE = 1024 /* entries, or more */ };
struct gpi_csr_kept {
    const void *in;
    void *out;
    size_t item_bytes; /* 0: there is no such array */
};
struct gpi_csr_keep {
    uint64_t nnz, num_rows;
    const uint64_t *device_nnz, *device_num_rows; /* NULL, or those are bounds */
    struct gpi_csr_heads heads;
    struct gpi_csr_kept arrays[GPI_CSR_KEPT_ARRAYS];
    size_t offset_bytes;
    const void *pointers;
    void *out_pointers;
    uint64_t *out_nnz;
    bool by_value;                  /* otherwise the bits are there, but for the CPU */
    struct gpi_compact_range range; /* of values */
};

typedef gp_status gpi_csr_keep_fn(gp_context *ctx, const struct gpi_csr_keep *k);
gpi_csr_keep_fn *gpi_csr_keep_find(const gp_context *ctx);

/* CPU, without `heads`. flags: NULL, or a byte for each entry. */
gp_status gpi_csr_keep_cpu(gp_context *ctx, const char *function, const struct gpi_csr_keep *k,
                           const uint8_t *flags);
size_t gpi_csr_keep_cpu_bytes(uint64_t nnz);

#endif
