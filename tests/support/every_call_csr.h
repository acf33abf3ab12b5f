/* SPDX-License-Identifier: MIT */
/* A part of every_call.c: matrices and lists of entries. */

CALL(row_pointers)
{
    return gp_csr_row_pointers(ctx, GP_U32, e->sorted, e->n, 1000, GP_U32, e->out[0]);
}

CALL(row_pointers_unsorted)
{
    return gp_csr_row_pointers_unsorted(ctx, GP_U32, e->keys, e->n, 1000, GP_U32, e->out[0]);
}

/* rows and cols are below n. */
CALL(csr_from_coo)
{
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.value_dtype = GP_F32;
    return gp_csr_from_coo(ctx, &d, e->n, e->n, e->rows, e->cols, e->floats, e->n, e->out[0],
                           e->out[1], e->out[2], e->count);
}

CALL(csr_to_coo)
{
    return gp_csr_to_coo(ctx, GP_U32, e->offsets, e->segments, e->n, GP_U32, e->out[0]);
}

CALL(csr_transpose)
{
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.value_dtype = GP_F32;
    return gp_csr_transpose(ctx, &d, e->segments, e->n, e->n, e->offsets, e->cols, e->floats,
                            e->out[0], e->out[1], e->out[2]);
}

CALL(csr_filter)
{
    gp_csr_filter_desc d = GP_CSR_FILTER_DESC_INIT;
    d.entries = GP_ENTRIES_UPPER;
    return gp_csr_filter(ctx, &d, e->segments, e->n, e->n, e->offsets, e->cols, e->floats,
                         e->out[0], e->out[1], e->out[2], e->count);
}

CALL(csr_sort_columns)
{
    gp_coo_desc d = GP_COO_DESC_INIT;
    return gp_csr_sort_columns(ctx, &d, e->segments, e->n, e->n, e->offsets, e->cols, e->floats,
                               e->out[0], e->out[1]);
}

CALL(coo_filter)
{
    gp_csr_filter_desc d = GP_CSR_FILTER_DESC_INIT;
    d.entries = GP_ENTRIES_UPPER;
    return gp_coo_filter(ctx, &d, e->n, e->n, e->rows, e->cols, e->floats, e->n, e->out[0],
                         e->out[1], e->out[2], e->count);
}

CALL(check_coo)
{
    return gp_check_coo(ctx, GP_U32, e->n, e->n, e->rows, e->cols, e->n, GP_COO_ANY);
}

CALL(spmv)
{
    return gp_spmv(ctx, GP_U32, GP_U32, GP_F32, e->segments, e->n, e->n, e->offsets, e->cols,
                   e->floats, NULL, e->floats, NULL, e->out[0]);
}
