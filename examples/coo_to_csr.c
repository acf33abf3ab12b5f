/* SPDX-License-Identifier: MIT */
/* A sparse matrix from (row, column, value) triples in any order, with a duplicate, and y = A x. */
#include <gp/gp.h>

#include "cli.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 3, COLS = 3, NNZ = 5 };

static gp_context *ctx;

static void need(gp_status status)
{
    if (status == GP_OK)
        return;
    fprintf(stderr, "coo_to_csr: %s\n", gp_last_error(ctx));
    exit(1);
}

/* Memory where the context computes, with a copy of what is at host unless that is NULL. */
static void *device(size_t bytes, const void *host)
{
    void *memory;
    need(gp_malloc(ctx, bytes, &memory));
    if (host)
        need(gp_copy(ctx, host, bytes, memory));
    return memory;
}

int main(int argc, char **argv)
{
    /* | 1 0 2 |   the 2 comes in two parts; row 1 is empty
     * | 0 0 0 |
     * | 0 4 3 | */
    const uint32_t rows[NNZ] = {2, 0, 2, 0, 0}, cols[NNZ] = {2, 2, 1, 0, 2};
    const double values[NNZ] = {3, 1.5, 4, 1, 0.5}, x[COLS] = {1, 10, 100};
    double y[ROWS];
    uint64_t nnz;
    gp_coo_desc desc = GP_COO_DESC_INIT;
    cli_alone("coo_to_csr",
              "A sparse matrix from its entries, and its product with a vector, checked.", argc,
              argv);
    desc.value_dtype = GP_F64;

    need(gp_context_create(&ctx, NULL));
    void *d[] = {
        device(sizeof rows, rows),    device(sizeof cols, cols), device(sizeof values, values),
        device((ROWS + 1) * 4, NULL), device(NNZ * 4, NULL),     device(NNZ * 8, NULL),
        device(sizeof nnz, NULL),     device(sizeof x, x),       device(sizeof y, NULL)};
    need(gp_csr_from_coo(ctx, &desc, ROWS, COLS, d[0], d[1], d[2], NNZ, d[3], d[4], d[5], d[6]));
    need(gp_copy(ctx, d[6], sizeof nnz, &nnz));
    need(gp_context_synchronize(ctx)); /* nnz is needed on the host */
    need(gp_spmv(ctx, GP_U32, GP_U32, GP_F64, ROWS, COLS, (size_t)nnz, d[3], d[4], d[5], NULL, d[7],
                 NULL, d[8]));
    need(gp_copy(ctx, d[8], sizeof y, y));
    need(gp_context_synchronize(ctx));

    printf("%llu entries, y = %g %g %g\n", (unsigned long long)nnz, y[0], y[1], y[2]);
    for (size_t i = 0; i < sizeof d / sizeof d[0]; i++)
        gp_free(ctx, d[i]);
    gp_context_destroy(ctx);
    return nnz == 4 && y[0] == 201 && y[1] == 0 && y[2] == 340 ? 0 : 1;
}
