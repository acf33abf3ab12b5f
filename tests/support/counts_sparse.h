/* SPDX-License-Identifier: MIT */
/* The rows of counts_calls.c that search, merge and have matrices: a part of that file. */

/* ---- searches -------------------------------------------------------------------------------- */

static gp_balance_desc balance_of(C c)
{
    gp_balance_desc d = GP_BALANCE_DESC_INIT;
    d.offset_dtype = GP_U32;
    d.device_num_segments = c->device_n;
    d.device_num_items = c->device_m;
    return d;
}

CALL(balance_search)
{
    gp_balance_desc d = balance_of(c);
    d.index_dtype = GP_U32;
    return gp_balance_search_by(ctx, &d, c->offsets, c->n, c->m, c->out[0], c->out[1]);
}

/* The offsets say how many items there are. */
CALL(balance_search_covered)
{
    gp_balance_desc d = balance_of(c);
    d.index_dtype = GP_U64;
    d.device_num_items = NULL;
    return gp_balance_search_by(ctx, &d, c->offsets, c->n, c->m, c->out[0], NULL);
}

CALL(expand)
{
    gp_balance_desc d = balance_of(c);
    d.item_bytes = 4;
    return gp_expand_by(ctx, &d, c->keys, c->offsets, c->n, c->m, c->out[0]);
}

CALL(expand_covered)
{
    gp_balance_desc d = balance_of(c);
    d.item_bytes = 3;
    d.device_num_items = NULL;
    return gp_expand_by(ctx, &d, c->keys, c->offsets, c->n, c->m, c->out[0]);
}

CALL(expand_counts)
{
    gp_balance_desc d = GP_BALANCE_DESC_INIT;
    d.item_bytes = 4;
    d.count_dtype = GP_U32;
    d.device_num_segments = c->device_n;
    return gp_expand_counts_by(ctx, &d, c->keys, c->repeats, c->n, c->items, c->out[0],
                               COUNT(c, 1));
}

CALL(merge_path)
{
    gp_balance_desc d = balance_of(c);
    return gp_merge_path_partition_by(ctx, &d, c->offsets, c->n, c->m, COUNTS_PARTS, c->out[0],
                                      c->out[1]);
}

CALL(copy_intervals)
{
    gp_interval_desc d = GP_INTERVAL_DESC_INIT;
    d.item_bytes = 4;
    d.offset_dtype = GP_U32;
    d.device_num_segments = c->device_n;
    return gp_copy_intervals(ctx, &d, c->bits, NULL, c->offsets, c->n, c->m, NULL, c->out[0]);
}

static gp_bound_desc bound_of(C c)
{
    gp_bound_desc d = GP_BOUND_DESC_INIT;
    d.dtype = d.index_dtype = GP_U32;
    d.device_n = c->device_n;
    d.device_m = c->device_m;
    return d;
}

CALL(lower_bound)
{
    const gp_bound_desc d = bound_of(c);
    return gp_lower_bound_by(ctx, &d, c->sorted, c->n, c->keys, c->m, c->out[0]);
}

CALL(upper_bound)
{
    const gp_bound_desc d = bound_of(c);
    return gp_upper_bound_by(ctx, &d, c->sorted, c->n, c->keys, c->m, c->out[0]);
}

CALL(merge)
{
    gp_merge_desc d = GP_MERGE_DESC_INIT;
    d.dtype = GP_U32;
    d.device_num_a = c->device_n;
    d.device_num_b = c->device_m;
    return gp_merge_by(ctx, &d, c->sorted, c->n, c->sorted_rows, c->m, c->out[0]);
}

CALL(merge_pairs)
{
    gp_merge_desc d = GP_MERGE_DESC_INIT;
    d.dtype = GP_U32;
    d.value_bytes = 12;
    d.device_num_a = c->device_m;
    d.device_num_b = c->device_n;
    return gp_merge_pairs_by(ctx, &d, c->sorted, c->bits, c->m, c->sorted_rows, c->bits, c->n,
                             c->out[0], c->out[1]);
}

/* ---- matrices -------------------------------------------------------------------------------- */

static gp_csr_desc csr_of(const uint64_t *device_nnz, const uint64_t *device_num_rows)
{
    gp_csr_desc d = GP_CSR_DESC_INIT;
    d.index_dtype = d.offset_dtype = GP_U32;
    d.device_nnz = device_nnz;
    d.device_num_rows = device_num_rows;
    return d;
}

CALL(row_pointers)
{
    const gp_csr_desc d = csr_of(c->device_n, c->device_m);
    return gp_csr_row_pointers_by(ctx, &d, c->sorted_rows, c->n, c->m, c->out[0]);
}

CALL(row_pointers_unsorted)
{
    const gp_csr_desc d = csr_of(c->device_n, c->device_m);
    return gp_csr_row_pointers_unsorted_by(ctx, &d, c->rows, c->n, c->m, c->out[0]);
}

static gp_status from_coo(gp_context *ctx, C c, gp_duplicates duplicates)
{
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.duplicates = duplicates;
    d.device_nnz = c->device_n;
    d.device_num_rows = c->device_m;
    return gp_csr_from_coo(ctx, &d, c->m, COUNTS_COLUMNS, c->rows, c->cols, c->floats, c->n,
                           c->out[0], c->out[1], c->out[2], COUNT(c, 3));
}

CALL(from_coo_sum)
{
    return from_coo(ctx, c, GP_DUPLICATES_SUM);
}

CALL(from_coo_keep)
{
    return from_coo(ctx, c, GP_DUPLICATES_KEEP);
}

CALL(from_coo_last)
{
    return from_coo(ctx, c, GP_DUPLICATES_LAST);
}

CALL(to_coo)
{
    const gp_csr_desc d = csr_of(c->device_m, c->device_n);
    return gp_csr_to_coo_by(ctx, &d, c->offsets, c->n, c->m, c->out[0]);
}

CALL(transpose)
{
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.device_nnz = c->device_m;
    d.device_num_rows = c->device_n;
    return gp_csr_transpose(ctx, &d, c->n, COUNTS_COLUMNS, c->m, c->offsets, c->cols, c->floats,
                            c->out[0], c->out[1], c->out[2]);
}

CALL(filter)
{
    gp_csr_filter_desc d = GP_CSR_FILTER_DESC_INIT;
    d.entries = GP_ENTRIES_LOWER;
    d.device_nnz = c->device_m;
    d.device_num_rows = c->device_n;
    return gp_csr_filter(ctx, &d, c->n, COUNTS_COLUMNS, c->m, c->offsets, c->cols, c->floats,
                         c->out[0], c->out[1], c->out[2], COUNT(c, 3));
}

CALL(sort_columns)
{
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.device_nnz = c->device_m;
    d.device_num_rows = c->device_n;
    return gp_csr_sort_columns(ctx, &d, c->n, COUNTS_COLUMNS, c->m, c->offsets, c->cols, c->floats,
                               c->out[0], c->out[1]);
}

CALL(filter_list)
{
    gp_csr_filter_desc d = GP_CSR_FILTER_DESC_INIT;
    const float low = 0;
    d.entries = GP_ENTRIES_COMPARED;
    d.compare = GP_GE;
    d.value = &low;
    d.device_nnz = c->device_m;
    d.device_num_rows = c->device_n;
    return gp_coo_filter(ctx, &d, c->n, COUNTS_COLUMNS, c->rows, c->cols, c->floats, c->m,
                         c->out[0], c->out[1], c->out[2], COUNT(c, 3));
}

CALL(spmv)
{
    gp_csr_desc d = csr_of(c->device_m, c->device_n);
    d.value_dtype = GP_F32;
    return gp_spmv_by(ctx, &d, c->n, COUNTS_COLUMNS, c->m, c->offsets, c->cols, c->floats, NULL,
                      c->floats, NULL, c->out[0]);
}

/* Columns that are strides of X apart lie in each other: no more of it is there. */
CALL(spmm)
{
    gp_spmm_desc d = GP_SPMM_DESC_INIT;
    d.index_dtype = d.offset_dtype = GP_U32;
    d.value_dtype = GP_F32;
    d.columns = 2;
    d.device_nnz = c->device_m;
    d.device_num_rows = c->device_n;
    return gp_spmm(ctx, &d, c->n, COUNTS_COLUMNS, c->m, c->offsets, c->cols, c->floats, NULL,
                   c->floats, NULL, c->out[0]);
}
