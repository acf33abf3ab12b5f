/* SPDX-License-Identifier: MIT */
/* A part of every_call.c: calls by the form with a descriptor. They do what the short forms there
 * do, which test_sparse_desc compares. */

CALL(argmin_by)
{
    gp_arg_desc d = GP_ARG_DESC_INIT;
    d.dtype = GP_U32;
    return gp_argmin_by(ctx, &d, e->keys, e->n, e->out[0], e->count);
}

CALL(argmax_by)
{
    gp_arg_desc d = GP_ARG_DESC_INIT;
    d.dtype = GP_F32;
    return gp_argmax_by(ctx, &d, e->floats, e->n, e->out[0], e->count);
}

CALL(gather_by)
{
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    d.item_bytes = 4;
    d.in_items = e->n;
    d.index_dtype = GP_U32;
    return gp_gather_by(ctx, &d, e->floats, e->rows, e->n, e->out[0]);
}

/* The upper halves of words. */
CALL(gather_field)
{
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    d.item_bytes = 2;
    d.in_stride = 4;
    return gp_gather_by(ctx, &d, (const char *)e->floats + 2, NULL, e->n, e->out[0]);
}

CALL(scatter_by)
{
    gp_scatter_desc d = GP_SCATTER_DESC_INIT;
    d.item_bytes = 4;
    d.out_items = e->n;
    d.index_dtype = GP_U32;
    return gp_scatter_by(ctx, &d, e->floats, e->offsets, e->segments, e->out[0]);
}

CALL(fill_by)
{
    const char item[12] = "eleven chars";
    gp_fill_desc d = GP_FILL_DESC_INIT;
    d.item_bytes = sizeof item;
    d.item = item;
    return gp_fill_by(ctx, &d, e->n / 3, e->out[0]);
}

CALL(adjacent_difference_by)
{
    gp_difference_desc d = GP_DIFFERENCE_DESC_INIT;
    d.dtype = GP_F32;
    return gp_adjacent_difference_by(ctx, &d, e->floats, e->n, e->out[0]);
}

static gp_vector_desc vector_desc(void)
{
    gp_vector_desc d = GP_VECTOR_DESC_INIT;
    d.dtype = GP_F32;
    return d;
}

CALL(vector_dot)
{
    const gp_vector_desc d = vector_desc();
    return gp_vector_dot(ctx, &d, e->floats, e->floats, e->n, e->out[0]);
}

CALL(vector_norm)
{
    const gp_vector_desc d = vector_desc();
    return gp_vector_norm(ctx, &d, e->floats, e->n, e->out[0]);
}

CALL(vector_axpby)
{
    const gp_vector_desc d = vector_desc();
    const float two = 2, zero = 0;
    return gp_vector_axpby(ctx, &d, &two, e->floats, &zero, e->out[0], e->n);
}

CALL(vector_scale)
{
    const gp_vector_desc d = vector_desc();
    const float two = 2;
    return gp_vector_scale(ctx, &d, &two, e->floats, e->n, e->out[0]);
}

CALL(vector_multiply)
{
    const gp_vector_desc d = vector_desc();
    return gp_vector_multiply(ctx, &d, e->floats, e->floats, e->n, e->out[0]);
}

CALL(vector_divide)
{
    const gp_vector_desc d = vector_desc();
    return gp_vector_divide(ctx, &d, e->floats, e->floats, e->n, e->out[0]);
}

CALL(iota_by)
{
    gp_iota_desc d = GP_IOTA_DESC_INIT;
    d.dtype = GP_F32;
    return gp_iota_by(ctx, &d, e->n, e->out[0]);
}

/* Numbers of 32 bits, as many buckets as items. */
CALL(multisplit_of_rows)
{
    gp_multisplit_desc d = GP_MULTISPLIT_DESC_INIT;
    d.item_bytes = 12;
    d.num_buckets = e->n;
    return gp_multisplit_by(ctx, &d, e->keys, e->rows, e->n / 3, e->out[0],
                            (uint64_t *)(void *)e->out[1]);
}

CALL(merge_by)
{
    gp_merge_desc d = GP_MERGE_DESC_INIT;
    d.dtype = GP_U32;
    return gp_merge_by(ctx, &d, e->sorted, e->n, e->sorted, e->n / 2, e->out[0]);
}

CALL(merge_pairs_by)
{
    gp_merge_desc d = GP_MERGE_DESC_INIT;
    d.dtype = GP_U32;
    d.value_bytes = 8;
    return gp_merge_pairs_by(ctx, &d, e->sorted, e->out[2], e->n / 2, e->sorted, e->out[2],
                             e->n / 2, e->out[0], e->out[1]);
}

CALL(top_k_by)
{
    gp_top_k_desc d = GP_TOP_K_DESC_INIT;
    d.dtype = GP_F32;
    d.order = GP_DESCENDING;
    d.index_dtype = GP_U32;
    return gp_top_k_by(ctx, &d, e->floats, e->n, e->n / 5, e->out[0], e->out[1]);
}

static gp_balance_desc balance_of(size_t item_bytes, gp_dtype offset, gp_dtype count,
                                  gp_dtype index)
{
    gp_balance_desc d = GP_BALANCE_DESC_INIT;
    d.item_bytes = item_bytes;
    d.offset_dtype = offset;
    d.count_dtype = count;
    d.index_dtype = index;
    return d;
}

CALL(balance_search_by)
{
    const gp_balance_desc d = balance_of(0, GP_U32, (gp_dtype)0, GP_U32);
    return gp_balance_search_by(ctx, &d, e->offsets, e->segments, e->n, e->out[0], e->out[1]);
}

CALL(expand_by)
{
    const gp_balance_desc d = balance_of(4, GP_U32, (gp_dtype)0, (gp_dtype)0);
    return gp_expand_by(ctx, &d, e->keys, e->offsets, e->segments, e->n, e->out[0]);
}

CALL(expand_counts_by)
{
    const gp_balance_desc d = balance_of(4, (gp_dtype)0, GP_U32, (gp_dtype)0);
    return gp_expand_counts_by(ctx, &d, e->keys, e->counts, e->n, e->n, e->out[0], e->count);
}

CALL(merge_path_partition_by)
{
    const gp_balance_desc d = balance_of(0, GP_U32, (gp_dtype)0, (gp_dtype)0);
    return gp_merge_path_partition_by(ctx, &d, e->offsets, e->segments, e->n, 1 + e->n / 100,
                                      e->out[0], e->out[1]);
}

CALL(check_offsets_by)
{
    const gp_balance_desc d = balance_of(0, GP_U32, (gp_dtype)0, (gp_dtype)0);
    return gp_check_offsets_by(ctx, &d, e->offsets, e->segments, e->n);
}

CALL(lower_bound_by)
{
    const gp_bound_desc d = {sizeof d, GP_U32, GP_U32, NULL, NULL};
    return gp_lower_bound_by(ctx, &d, e->sorted, e->n, e->keys, e->n, e->out[0]);
}

CALL(upper_bound_by)
{
    const gp_bound_desc d = {sizeof d, GP_U32, GP_U64, NULL, NULL};
    return gp_upper_bound_by(ctx, &d, e->sorted, e->n, e->keys, e->n, e->out[0]);
}

static gp_csr_desc csr_of(gp_dtype value)
{
    gp_csr_desc d = GP_CSR_DESC_INIT;
    d.index_dtype = d.offset_dtype = GP_U32;
    d.value_dtype = value;
    return d;
}

CALL(row_pointers_by)
{
    const gp_csr_desc d = csr_of((gp_dtype)0);
    return gp_csr_row_pointers_by(ctx, &d, e->sorted, e->n, 1000, e->out[0]);
}

CALL(row_pointers_unsorted_by)
{
    const gp_csr_desc d = csr_of((gp_dtype)0);
    return gp_csr_row_pointers_unsorted_by(ctx, &d, e->keys, e->n, 1000, e->out[0]);
}

CALL(csr_to_coo_by)
{
    const gp_csr_desc d = csr_of((gp_dtype)0);
    return gp_csr_to_coo_by(ctx, &d, e->offsets, e->segments, e->n, e->out[0]);
}

/* Rows without entries. */
CALL(check_csr_by)
{
    const gp_csr_desc d = csr_of((gp_dtype)0);
    return gp_check_csr_by(ctx, &d, 0, e->n, 0, e->offsets, NULL);
}

static gp_csr_desc spmv_desc(void)
{
    gp_csr_desc d = GP_CSR_DESC_INIT;
    d.index_dtype = d.offset_dtype = GP_U32;
    d.value_dtype = GP_F32;
    return d;
}

CALL(spmv_plan)
{
    const gp_csr_desc d = spmv_desc();
    return gp_spmv_plan(ctx, &d, e->segments, e->n, e->n, e->offsets, e->cols, e->out[0]);
}

/* The plan is in another output. The workspace of the product is there before it is written. */
CALL(spmv_planned)
{
    size_t bytes;
    const gp_csr_desc d = spmv_desc();
    gp_status s =
        gp_spmv_workspace_bytes(NULL, GP_U32, GP_U32, GP_F32, e->segments, e->n, e->n, &bytes);
    if (s == GP_OK)
        s = gp_context_reserve(ctx, bytes);
    if (s == GP_OK)
        s = gp_spmv_plan(ctx, &d, e->segments, e->n, e->n, e->offsets, e->cols, e->out[1]);
    return s ? s
             : gp_spmv_planned(ctx, &d, e->segments, e->n, e->n, e->offsets, e->cols, e->out[1],
                               e->floats, NULL, e->floats, NULL, e->out[0]);
}

CALL(spmv_transposed_plan)
{
    const gp_csr_desc d = spmv_desc();
    return gp_spmv_transposed_plan(ctx, &d, e->segments, e->n, e->n, e->offsets, e->cols, e->floats,
                                   e->out[0]);
}

CALL(spmv_transposed_values)
{
    const gp_csr_desc d = spmv_desc();
    const gp_status s = gp_spmv_transposed_plan(ctx, &d, e->segments, e->n, e->n, e->offsets,
                                                e->cols, e->floats, e->out[0]);
    return s ? s
             : gp_spmv_transposed_values(ctx, &d, e->segments, e->n, e->n, e->floats, e->out[0]);
}

CALL(spmv_transposed)
{
    const gp_csr_desc d = spmv_desc();
    const gp_status s = gp_spmv_transposed_plan(ctx, &d, e->segments, e->n, e->n, e->offsets,
                                                e->cols, e->floats, e->out[1]);
    return s ? s
             : gp_spmv_transposed(ctx, &d, e->segments, e->n, e->n, e->out[1], NULL, e->floats,
                                  NULL, e->out[0]);
}

/* X is an output that is not written. */
CALL(spmm)
{
    gp_spmm_desc d = GP_SPMM_DESC_INIT;
    d.index_dtype = d.offset_dtype = GP_U32;
    d.value_dtype = GP_F32;
    d.columns = 3;
    return gp_spmm(ctx, &d, e->segments, e->n, e->n, e->offsets, e->cols, e->floats, NULL,
                   e->out[1], NULL, e->out[0]);
}

CALL(spmv_by)
{
    const gp_csr_desc d = csr_of(GP_F32);
    return gp_spmv_by(ctx, &d, e->segments, e->n, e->n, e->offsets, e->cols, e->floats, NULL,
                      e->floats, NULL, e->out[0]);
}
