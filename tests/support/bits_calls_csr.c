/* SPDX-License-Identifier: MIT */
/* The calls of test_backends.c that take matrices. */
#include <stdlib.h>
#include <string.h>

#include "bits_call.h"

void bits_call_from_coo(struct bits_run *r)
{
    gp_coo_desc desc = GP_COO_DESC_INIT;
    uint64_t nnz;
    desc.value_dtype = D->dtype;
    desc.duplicates = (gp_duplicates)r->which;
    void *rows = given(r, D->rows, D->n * 4), *cols = given(r, D->cols, D->n * 4);
    void *pointers = result(r, (BITS_SIDE + 1) * 4), *out_cols = result(r, D->n * 4);
    void *values = result(r, D->n * D->item), *count = result(r, 8);
    T_OK(gp_csr_from_coo(r->ctx, &desc, BITS_SIDE, BITS_SIDE, rows, cols, items(r), D->n, pointers,
                         out_cols, values, count));
    T_OK(gp_copy(r->ctx, count, sizeof nnz, &nnz));
    T_OK(gp_context_synchronize(r->ctx));
    r->out_bytes[1] = nnz * 4;
    r->out_bytes[2] = nnz * D->item;
    r->out_bytes[3] = 0; /* the last row pointer says the same */
}

/* The entries by rows, each row in input order. */
static void by_rows(struct bits_run *r, uint32_t (*pointers)[BITS_SIDE + 1], uint32_t *cols,
                    char *values)
{
    uint32_t nnz = (*pointers)[0] = 0;
    for (uint32_t row = 0; row < BITS_SIDE; row++) {
        for (size_t i = 0; i < D->n; i++)
            if (D->rows[i] == row) {
                memcpy(values + nnz * D->item, D->in + i * D->item, D->item);
                cols[nnz++] = D->cols[i];
            }
        (*pointers)[row + 1] = nnz;
    }
}

/* The items as a matrix, on the backend. */
struct matrix {
    void *pointers, *cols, *values;
};

static struct matrix given_matrix(struct bits_run *r)
{
    uint32_t pointers[BITS_SIDE + 1], *cols = t_host(D->n * 4);
    char *values = t_host(D->n * D->item);
    by_rows(r, &pointers, cols, values);
    struct matrix m;
    m.pointers = given(r, pointers, sizeof pointers);
    m.cols = given(r, cols, D->n * 4);
    m.values = given(r, values, D->n * D->item);
    T_OK(gp_context_synchronize(r->ctx));
    free(cols);
    free(values);
    return m;
}

void bits_call_transpose(struct bits_run *r)
{
    gp_coo_desc desc = GP_COO_DESC_INIT;
    desc.value_dtype = D->dtype;
    const struct matrix m = given_matrix(r);
    void *out_pointers = result(r, (BITS_SIDE + 1) * 4);
    void *out_cols = result(r, D->n * 4), *out_values = result(r, D->n * D->item);
    T_OK(gp_csr_transpose(r->ctx, &desc, BITS_SIDE, BITS_SIDE, D->n, m.pointers, m.cols, m.values,
                          out_pointers, out_cols, out_values));
    T_OK(gp_context_synchronize(r->ctx));
}

void bits_call_csr_filter(struct bits_run *r)
{
    gp_csr_filter_desc desc = GP_CSR_FILTER_DESC_INIT;
    uint64_t nnz;
    desc.value_dtype = D->dtype;
    desc.entries = (gp_entries)r->which;
    const struct matrix m = given_matrix(r);
    void *out_pointers = result(r, (BITS_SIDE + 1) * 4);
    void *out_cols = result(r, D->n * 4), *out_values = result(r, D->n * D->item);
    void *count = result(r, 8);
    T_OK(gp_csr_filter(r->ctx, &desc, BITS_SIDE, BITS_SIDE, D->n, m.pointers, m.cols, m.values,
                       out_pointers, out_cols, out_values, count));
    T_OK(gp_copy(r->ctx, count, sizeof nnz, &nnz));
    T_OK(gp_context_synchronize(r->ctx));
    r->out_bytes[1] = nnz * 4;
    r->out_bytes[2] = nnz * D->item;
    r->out_bytes[3] = 0; /* the last row pointer says the same */
}

void bits_call_coo_filter(struct bits_run *r)
{
    gp_csr_filter_desc desc = GP_CSR_FILTER_DESC_INIT;
    uint64_t nnz;
    desc.value_dtype = D->dtype;
    desc.entries = (gp_entries)r->which;
    void *rows = given(r, D->rows, D->n * 4), *cols = given(r, D->cols, D->n * 4);
    void *out_rows = result(r, D->n * 4), *out_cols = result(r, D->n * 4);
    void *out_values = result(r, D->n * D->item), *count = result(r, 8);
    T_OK(gp_coo_filter(r->ctx, &desc, BITS_SIDE, BITS_SIDE, rows, cols, items(r), D->n, out_rows,
                       out_cols, out_values, count));
    T_OK(gp_copy(r->ctx, count, sizeof nnz, &nnz));
    T_OK(gp_context_synchronize(r->ctx));
    r->out_bytes[0] = r->out_bytes[1] = nnz * 4;
    r->out_bytes[2] = nnz * D->item;
    r->out_bytes[3] = 0; /* the sizes of the others say the same */
}

void bits_call_sort_columns(struct bits_run *r)
{
    gp_coo_desc desc = GP_COO_DESC_INIT;
    desc.value_dtype = D->dtype;
    const struct matrix m = given_matrix(r);
    void *out_cols = result(r, D->n * 4), *out_values = result(r, D->n * D->item);
    T_OK(gp_csr_sort_columns(r->ctx, &desc, BITS_SIDE, BITS_SIDE, D->n, m.pointers, m.cols,
                             m.values, out_cols, out_values));
    T_OK(gp_context_synchronize(r->ctx));
}

/* r->which: 0: SpMV; 1: SpMM, of one column, which is that of the vector. */
void bits_call_spmv(struct bits_run *r)
{
    uint32_t *cols = t_host(D->n * 4);
    for (size_t i = 0; i < D->n; i++)
        cols[i] = (uint32_t)(D->cols[i] % D->n);
    gp_spmm_desc d = GP_SPMM_DESC_INIT;
    d.index_dtype = d.offset_dtype = GP_U32;
    d.value_dtype = D->dtype;
    void *pointers = given(r, D->offsets, (D->segments + 1) * 4), *c = given(r, cols, D->n * 4);
    void *values = given(r, D->small, D->n * D->item), *y = result(r, D->segments * D->item);
    void *x = given(r, D->indices, D->n * D->item);
    if (r->which)
        T_OK(gp_spmm(r->ctx, &d, D->segments, D->n, D->n, pointers, c, values, NULL, x, NULL, y));
    else
        T_OK(gp_spmv(r->ctx, GP_U32, GP_U32, D->dtype, D->segments, D->n, D->n, pointers, c, values,
                     NULL, x, NULL, y));
    T_OK(gp_context_synchronize(r->ctx));
    free(cols);
}
