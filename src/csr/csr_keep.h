/* SPDX-License-Identifier: MIT */
/* CUDA: arrays of entries compacted by a bit for each entry, for filters. */
#ifndef GPI_CSR_KEEP_H
#define GPI_CSR_KEEP_H

#include "csr/csr_internal.h"

/* What is kept of as many arrays as entries have; heads: the bits of the kept entries, and ranks
 * that are made of them. */
enum { GPI_CSR_KEPT_ARRAYS = 2 };
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
};

struct gpi_csr_keep_ops {
    gp_status (*count)(gp_context *ctx, const struct gpi_csr_keep *k); /* the bits of each word */
    gp_status (*keep)(gp_context *ctx, const struct gpi_csr_keep *k);
};
const struct gpi_csr_keep_ops *gpi_csr_keep_find(const gp_context *ctx);

#endif
