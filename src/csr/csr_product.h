/* SPDX-License-Identifier: MIT */
/* Products with a matrix, and their plans: what the front doors share. */
#ifndef GPI_CSR_PRODUCT_H
#define GPI_CSR_PRODUCT_H

#include "csr/csr_internal.h"

/* A call as its front door has checked it. */
struct gpi_csr_product {
    gp_dtype index, offset;
    struct gpi_csr_spmv args;
    bool planned, wants_hot; /* hot: as desc->hot_columns */
    bool transposed;         /* the matrix of args is the transpose, which lies in the plan */
};

/* Dtypes and sizes of the matrix; by: of a descriptor. */
gp_status gpi_csr_product_check(gp_context *ctx, const char *f, bool by,
                                const struct gpi_csr_product *c);

/* Checks of arrays that have been made: the work, and the rules of the contents. */
gp_status gpi_csr_product_run(gp_context *ctx, const char *f, struct gpi_csr_product *c);

size_t gpi_csr_product_bytes(const struct gpi_csr_product *c, gp_backend backend);

/* What alpha and beta point to, NULL: what is missing. */
double gpi_csr_scalar(gp_dtype dtype, const void *value, double missing);

/* A plan is of numbers that the host knows. */
gp_status gpi_csr_plan_known(gp_context *ctx, const char *f, const gp_csr_desc *d);

size_t gpi_csr_plan_bytes(const struct gpi_csr_product *c, gp_backend backend);

/* args->plan is set: where its arrays lie; a transpose becomes the matrix of args. */
void gpi_csr_plan_open(struct gpi_csr_product *c, gp_backend backend);

/* In a context that validates: CPU: whether the plan is of this matrix. CUDA: words[2], in memory,
 * becomes 1 if it is not; words[0 .. 1] are the hash of the pattern. */
gp_status gpi_csr_plan_check(gp_context *ctx, const char *f, const struct gpi_csr_product *c,
                             uint32_t *words);

/* Widths and, for CUDA, how large the tiles are and how many. */
void gpi_csr_take_tiles(struct gpi_csr_product *c);

#endif
