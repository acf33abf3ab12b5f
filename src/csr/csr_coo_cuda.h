/* SPDX-License-Identifier: MIT */
/* CUDA: the kernels of COO to CSR as the host code that strings them together sees them. */
#ifndef GPI_CSR_COO_CUDA_H
#define GPI_CSR_COO_CUDA_H

#include "csr/csr_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Entries sorted by key. Keys that fit 64 bits are packed; otherwise rows and cols are apart. */
struct gpi_csr_sorted {
    const struct gpi_csr_coo *c;
    const uint64_t *keys;        /* or NULL: */
    const uint64_t *rows, *cols; /* 64-bit indices */
    const void *values;
    const uint8_t *flags;  /* 1: first of its run; NULL: every entry is */
    const void *positions; /* where a first entry goes: uint32_t, from 2^32 entries on uint64_t */
};

/* Kernels for one pair of widths; each call queues one kernel. */
struct gpi_csr_kernels {
    /* keys[i] = packed entry i; checks the range */
    gp_status (*pack)(gp_context *ctx, const struct gpi_csr_coo *c, uint64_t *keys);
    /* flags; checks the range of wide keys, and for duplicates where they are errors */
    gp_status (*heads)(gp_context *ctx, const struct gpi_csr_sorted *s, uint8_t *flags);
    /* out_cols; without flags also *out_nnz */
    gp_status (*cols)(gp_context *ctx, const struct gpi_csr_sorted *s);
    gp_status (*pointers)(gp_context *ctx, const struct gpi_csr_sorted *s);
    /* out_values */
    gp_status (*merge)(gp_context *ctx, const struct gpi_csr_sorted *s);
    gp_status (*set_sticky)(gp_context *ctx, uint32_t bits);
    gp_status (*read_word)(gp_context *ctx, const char *f, const uint64_t *word, uint64_t *value);
};

/* The kernels of a CUDA context. */
static inline const struct gpi_csr_kernels *gpi_csr_kernels_of(const gp_context *ctx,
                                                               const struct gpi_csr_coo *c)
{
    return gpi_csr_find(ctx, c->index_bytes, c->offset_bytes)->kernels;
}

#ifdef __cplusplus
}
#endif

#endif
