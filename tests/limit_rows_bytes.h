/* SPDX-License-Identifier: MIT */
/* Limits of the figures of workspace. */
#ifndef GP_TEST_LIMITS_BYTES_H
#define GP_TEST_LIMITS_BYTES_H

#include <gp/gp.h>

#include "limit_rows_csr.h"
#include "limit_rows_sizes.h"

/* The figure for a number holds for all smaller ones, so it cannot be less than theirs. */
static gp_status run_bytes(const struct limit *l, uint64_t value)
{
    size_t bytes = 77, of_less = 78;
    gp_status s = l->bytes(l, value, &bytes);
    if (s != GP_OK) {
        ck_assert_msg(bytes == 77, "%s: bytes are set", limit_now);
        return s;
    }
    if (value > l->least) {
        T_OK(l->bytes(l, value - 1, &of_less));
        ck_assert_msg(of_less <= bytes, "%s: %zu bytes, %zu of one less", limit_now, bytes,
                      of_less);
        T_OK(l->bytes(l, l->least + (value - l->least) / 2, &of_less));
        ck_assert_msg(of_less <= bytes, "%s: %zu bytes, %zu of half", limit_now, bytes, of_less);
    }
    return s;
}

static gp_status bytes_sort(const struct limit *l, uint64_t value, size_t *bytes)
{
    return gp_radix_sort_workspace_bytes(NULL, l->dtype, l->with, value, NULL, bytes);
}

static gp_status bytes_argsort(const struct limit *l, uint64_t value, size_t *bytes)
{
    return gp_argsort_workspace_bytes(NULL, l->dtype, value, l->with == 4 ? GP_U32 : GP_U64, NULL,
                                      bytes);
}

static gp_status bytes_segsort(const struct limit *l, uint64_t value, size_t *bytes)
{
    return gp_radix_sort_segmented_workspace_bytes(NULL, l->dtype, l->with, value, value, NULL,
                                                   bytes);
}

static gp_status bytes_lexsort(const struct limit *l, uint64_t value, size_t *bytes)
{
    return gp_lexsort_workspace_bytes(NULL, l->dtype, l->with, value, NULL, bytes);
}

/* with: the number of parts, whose stride it is, too. */
static gp_status bytes_lexsort_by(const struct limit *l, uint64_t value, size_t *bytes)
{
    gp_lexsort_desc d = GP_LEXSORT_DESC_INIT;
    d.index_dtype = GP_U64;
    d.num_parts = (int)l->with;
    for (int p = 0; p < d.num_parts; p++)
        d.parts[p] = (gp_key_part){NULL, 8, l->dtype, GP_ASCENDING};
    return gp_lexsort_by_workspace_bytes(NULL, &d, value, bytes);
}

/* with: the bytes of a record. */
static gp_status bytes_records(const struct limit *l, uint64_t value, size_t *bytes)
{
    gp_record_sort_desc d = GP_RECORD_SORT_DESC_INIT;
    d.record_bytes = l->with;
    d.num_fields = 2;
    d.fields[0].dtype = d.fields[1].dtype = l->dtype;
    return gp_record_sort_workspace_bytes(NULL, &d, value, bytes);
}

static gp_status bytes_topk(const struct limit *l, uint64_t value, size_t *bytes)
{
    return gp_top_k_workspace_bytes(NULL, l->dtype, value, l->with ? l->with : value, bytes);
}

static gp_status bytes_merge_runs(const struct limit *l, uint64_t value, size_t *bytes)
{
    gp_merge_runs_desc d = GP_MERGE_RUNS_DESC_INIT;
    d.dtype = l->dtype;
    d.value_bytes = l->with;
    d.offset_dtype = GP_U64;
    return gp_merge_runs_workspace_bytes(NULL, &d, value, value, bytes);
}

static gp_status bytes_merge(const struct limit *l, uint64_t value, size_t *bytes)
{
    return gp_merge_workspace_bytes(NULL, l->dtype, value, bytes);
}

static gp_status bytes_histogram(const struct limit *l, uint64_t value, size_t *bytes)
{
    return gp_histogram_workspace_bytes(NULL, l->dtype, value, l->with, GP_U64, NULL, bytes);
}

/* Of more bins it can be less. with: the values. */
static gp_status run_bytes_of_bins(const struct limit *l, uint64_t value)
{
    size_t bytes = 77;
    gp_status s =
        gp_histogram_workspace_bytes(NULL, l->dtype, l->with, value, GP_U64, NULL, &bytes);
    ck_assert_msg((s == GP_OK) == (bytes != 77), "%s: %zu bytes", limit_now, bytes);
    return s;
}

static gp_status bytes_scan(const struct limit *l, uint64_t value, size_t *bytes)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = d.out_dtype = l->dtype;
    return l->with == SCAN_SEGMENTED ? gp_scan_segmented_workspace_bytes(NULL, &d, value, bytes)
           : l->with == SCAN_FLAGGED ? gp_scan_flagged_workspace_bytes(NULL, &d, value, bytes)
           : l->with == SCAN_BY_KEY  ? gp_scan_by_key_workspace_bytes(NULL, &d, value, bytes)
           : l->with == SCAN_ROWS    ? gp_scan_rows_workspace_bytes(NULL, &d, value, 1, bytes)
                                     : gp_scan_workspace_bytes(NULL, &d, value, bytes);
}

static gp_status bytes_reduce(const struct limit *l, uint64_t value, size_t *bytes)
{
    gp_reduce_desc d = GP_REDUCE_DESC_INIT;
    d.in_dtype = d.out_dtype = l->dtype;
    return l->with ? gp_argmin_workspace_bytes(NULL, l->dtype, value, bytes)
                   : gp_reduce_workspace_bytes(NULL, &d, value, bytes);
}

/* with: rows. */
static gp_status bytes_segreduce(const struct limit *l, uint64_t value, size_t *bytes)
{
    gp_reduce_segmented_desc d = GP_REDUCE_SEGMENTED_DESC_INIT;
    d.in_dtype = l->dtype;
    d.offset_dtype = l->with ? (gp_dtype)0 : GP_U64;
    return l->with ? gp_reduce_rows_workspace_bytes(NULL, &d, value, 1, bytes)
                   : gp_reduce_segmented_workspace_bytes(NULL, &d, value, value, bytes);
}

static gp_status bytes_compact(const struct limit *l, uint64_t value, size_t *bytes)
{
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.item_bytes = l->with;
    return gp_compact_workspace_bytes(NULL, &d, value, bytes);
}

/* with: the buckets. */
static gp_status bytes_multisplit(const struct limit *l, uint64_t value, size_t *bytes)
{
    gp_multisplit_desc d = GP_MULTISPLIT_DESC_INIT;
    d.item_bytes = 4;
    d.num_buckets = l->with;
    return gp_multisplit_workspace_bytes(NULL, &d, value, bytes);
}

static gp_status bytes_expand(const struct limit *l, uint64_t value, size_t *bytes)
{
    return gp_expand_counts_workspace_bytes(NULL, l->dtype, value, bytes);
}

/* with: which size the value is, of a matrix whose others are 1000; dtype: of all indices. */
enum {
    COO_ROWS,
    COO_COLS,
    COO_NNZ,
    UNSORTED_ROWS,
    UNSORTED_NNZ,
    SPMV_ROWS,
    SPMV_NNZ,
    SPMM_ROWS,
    SPMM_NNZ,
    PLAN_COLS,
    TO_COO_NNZ
};

/* Of SpMM with one column, or of a plan that holds the transpose. */
static gp_status bytes_products(const struct limit *l, uint64_t rows, uint64_t cols, uint64_t nnz,
                                size_t *bytes)
{
    gp_spmm_desc d = GP_SPMM_DESC_INIT;
    gp_csr_desc plan = GP_CSR_DESC_INIT;
    d.index_dtype = d.offset_dtype = plan.index_dtype = plan.offset_dtype = l->dtype;
    d.value_dtype = plan.value_dtype = GP_F64;
    if (l->with == PLAN_COLS)
        return gp_spmv_transposed_plan_bytes(NULL, &plan, rows, cols, nnz, bytes);
    return gp_spmm_workspace_bytes(NULL, &d, rows, cols, nnz, bytes);
}

static gp_status bytes_csr(const struct limit *l, uint64_t value, size_t *bytes)
{
    const bool by_rows = l->with == COO_ROWS || l->with == UNSORTED_ROWS || l->with == SPMV_ROWS ||
                         l->with == SPMM_ROWS;
    const bool by_cols = l->with == COO_COLS || l->with == PLAN_COLS;
    uint64_t rows = by_rows ? value : 1000, nnz = by_rows || by_cols ? 1000 : value;
    uint64_t cols = by_cols ? value : 1000;
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.index_dtype = d.offset_dtype = l->dtype;
    if (l->with == UNSORTED_ROWS || l->with == UNSORTED_NNZ)
        return gp_csr_row_pointers_unsorted_workspace_bytes(NULL, l->dtype, nnz, rows, l->dtype,
                                                            bytes);
    if (l->with == SPMV_ROWS || l->with == SPMV_NNZ)
        return gp_spmv_workspace_bytes(NULL, l->dtype, l->dtype, GP_F64, rows, cols, nnz, bytes);
    if (l->with == SPMM_ROWS || l->with == SPMM_NNZ || l->with == PLAN_COLS)
        return bytes_products(l, rows, cols, nnz, bytes);
    if (l->with == TO_COO_NNZ)
        return gp_csr_to_coo_workspace_bytes(NULL, l->dtype, rows, nnz, l->dtype, bytes);
    size_t other = 0;
    gp_csr_filter_desc filter = GP_CSR_FILTER_DESC_INIT;
    filter.entries = GP_ENTRIES_DIAGONAL;
    filter.index_dtype = filter.offset_dtype = l->dtype;
    gp_status s = gp_csr_from_coo_workspace_bytes(NULL, &d, rows, cols, nnz, bytes);
    s = limit_both(s, gp_csr_sort_columns_workspace_bytes(NULL, &d, rows, cols, nnz, &other));
    s = limit_both(s, gp_csr_filter_workspace_bytes(NULL, &filter, rows, cols, nnz, &other));
    return limit_both(s, gp_csr_transpose_workspace_bytes(NULL, &d, rows, cols, nnz, &other));
}

#endif
