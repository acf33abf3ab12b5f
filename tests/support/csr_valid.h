/* SPDX-License-Identifier: MIT */
/* Every call of csr.h with arguments that are valid, of which a test changes one. */
#ifndef CSR_VALID_H
#define CSR_VALID_H

#include "csr_cases.h"

/* Arguments of all calls, valid as they are: a 4 x 5 matrix of 6 entries. */
struct valid {
    gp_coo_desc d;
    gp_dtype index, offset, value;
    size_t rows, cols, nnz;
    t_array in_rows, in_cols, in_values, pointers, out_cols, out_values, out_nnz, out_pointers, x,
        y;
    void *p_rows, *p_cols, *p_values, *p_pointers, *p_out_cols, *p_out_values, *p_out_nnz;
    void *p_out_pointers, *p_x, *p_y;
};

static inline struct valid valid_new(void)
{
    static const uint32_t rows[] = {0, 0, 1, 2, 2, 3}, cols[] = {0, 4, 1, 2, 3, 0};
    static const uint32_t pointers[] = {0, 2, 3, 5, 6};
    static const float values[] = {1, 2, 3, 4, 5, 6};
    gp_coo_desc d = GP_COO_DESC_INIT;
    struct valid v = {.d = d, .index = GP_U32, .offset = GP_U32, .value = GP_F32};
    v.rows = 4;
    v.cols = 5;
    v.nnz = 6;
    v.in_rows = t_new_from(rows, sizeof rows, 0);
    v.in_cols = t_new_from(cols, sizeof cols, 0);
    v.in_values = t_new_from(values, sizeof values, 0);
    v.pointers = t_new_from(pointers, sizeof pointers, 0);
    v.x = t_new_from(values, 20, 0);
    t_array *outputs[] = {&v.out_cols, &v.out_values, &v.out_nnz, &v.out_pointers, &v.y};
    for (int i = 0; i < 5; i++)
        *outputs[i] = t_new(64, 0);
    v.p_rows = v.in_rows.data;
    v.p_cols = v.in_cols.data;
    v.p_values = v.in_values.data;
    v.p_pointers = v.pointers.data;
    v.p_out_cols = v.out_cols.data;
    v.p_out_values = v.out_values.data;
    v.p_out_nnz = v.out_nnz.data;
    v.p_out_pointers = v.out_pointers.data;
    v.p_x = v.x.data;
    v.p_y = v.y.data;
    return v;
}

static inline void valid_free(struct valid *v)
{
    t_array *all[] = {&v->in_rows,    &v->in_cols, &v->in_values,    &v->pointers, &v->out_cols,
                      &v->out_values, &v->out_nnz, &v->out_pointers, &v->x,        &v->y};
    for (int i = 0; i < 10; i++)
        t_free(all[i]);
}

enum call { POINTERS, UNSORTED, FROM_COO, TO_COO, TRANSPOSE, COLUMNS, FILTER, CHECK, SPMV, CALLS };

static inline const gp_csr_filter_desc *filter_of(const struct valid *v)
{
    static gp_csr_filter_desc d = GP_CSR_FILTER_DESC_INIT;
    d.entries = GP_ENTRIES_LOWER;
    d.index_dtype = v->d.index_dtype;
    d.offset_dtype = v->d.offset_dtype;
    d.value_dtype = v->d.value_dtype;
    return &d;
}

static inline gp_status run_call(enum call which, gp_context *ctx, const struct valid *v)
{
    switch (which) {
    case POINTERS:
        return gp_csr_row_pointers(ctx, v->index, v->p_rows, v->nnz, v->rows, v->offset,
                                   v->p_out_pointers);
    case UNSORTED:
        return gp_csr_row_pointers_unsorted(ctx, v->index, v->p_rows, v->nnz, v->rows, v->offset,
                                            v->p_out_pointers);
    case FROM_COO:
        return gp_csr_from_coo(ctx, &v->d, v->rows, v->cols, v->p_rows, v->p_cols, v->p_values,
                               v->nnz, v->p_out_pointers, v->p_out_cols, v->p_out_values,
                               v->p_out_nnz);
    case TO_COO:
        return gp_csr_to_coo(ctx, v->offset, v->p_pointers, v->rows, v->nnz, v->index,
                             v->p_out_cols);
    case TRANSPOSE:
        return gp_csr_transpose(ctx, &v->d, v->rows, v->cols, v->nnz, v->p_pointers, v->p_cols,
                                v->p_values, v->p_out_pointers, v->p_out_cols, v->p_out_values);
    case COLUMNS:
        return gp_csr_sort_columns(ctx, &v->d, v->rows, v->cols, v->nnz, v->p_pointers, v->p_cols,
                                   v->p_values, v->p_out_cols, v->p_out_values);
    case FILTER:
        return gp_csr_filter(ctx, filter_of(v), v->rows, v->cols, v->nnz, v->p_pointers, v->p_cols,
                             v->p_values, v->p_out_pointers, v->p_out_cols, v->p_out_values,
                             v->p_out_nnz);
    case CHECK:
        return gp_check_csr(ctx, v->index, v->offset, v->rows, v->cols, v->nnz, v->p_pointers,
                            v->p_cols);
    default:
        return gp_spmv(ctx, v->index, v->offset, v->value, v->rows, v->cols, v->nnz, v->p_pointers,
                       v->p_cols, v->p_values, NULL, v->p_x, NULL, v->p_y);
    }
}

static inline gp_status run_bytes(enum call which, const gp_target *target, const struct valid *v,
                                  size_t *bytes)
{
    switch (which) {
    case UNSORTED:
        return gp_csr_row_pointers_unsorted_workspace_bytes(target, v->index, v->nnz, v->rows,
                                                            v->offset, bytes);
    case FROM_COO:
        return gp_csr_from_coo_workspace_bytes(target, &v->d, v->rows, v->cols, v->nnz, bytes);
    case TO_COO:
        return gp_csr_to_coo_workspace_bytes(target, v->offset, v->rows, v->nnz, v->index, bytes);
    case TRANSPOSE:
        return gp_csr_transpose_workspace_bytes(target, &v->d, v->rows, v->cols, v->nnz, bytes);
    case COLUMNS:
        return gp_csr_sort_columns_workspace_bytes(target, &v->d, v->rows, v->cols, v->nnz, bytes);
    case FILTER:
        return gp_csr_filter_workspace_bytes(target, filter_of(v), v->rows, v->cols, v->nnz, bytes);
    case SPMV:
        return gp_spmv_workspace_bytes(target, v->index, v->offset, v->value, v->rows, v->cols,
                                       v->nnz, bytes);
    default:
        *bytes = 0; /* takes none */
        return GP_OK;
    }
}

static inline void outputs_untouched(const struct valid *v)
{
    t_check_untouched(&v->out_cols);
    t_check_untouched(&v->out_values);
    t_check_untouched(&v->out_nnz);
    t_check_untouched(&v->out_pointers);
    t_check_untouched(&v->y);
}

#endif
