/* SPDX-License-Identifier: MIT */
#include "counts.h"

typedef const counts *C;

#define CALL(name) static gp_status name(gp_context *ctx, C c)
#define COUNT(c, i) ((uint64_t *)(void *)(c)->out[i])

/* ---- scans and reductions -------------------------------------------------------------------- */

static gp_scan_desc scan_of(C c, gp_scan_kind kind)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.kind = kind;
    d.in_dtype = GP_U32;
    d.device_n = c->device_n;
    return d;
}

CALL(scan)
{
    gp_scan_desc d = scan_of(c, GP_SCAN_EXCLUSIVE);
    d.out_dtype = GP_U64;
    d.total = c->out[1];
    return gp_scan(ctx, &d, c->keys, c->n, c->out[0]);
}

CALL(scan_row_pointers)
{
    gp_scan_desc d = scan_of(c, GP_SCAN_ROW_POINTERS);
    return gp_scan(ctx, &d, c->keys, c->n, c->out[0]);
}

CALL(scan_backward)
{
    gp_scan_desc d = scan_of(c, GP_SCAN_INCLUSIVE);
    d.backward = 1;
    return gp_scan(ctx, &d, c->keys, c->n, c->out[0]);
}

static gp_status scan_by_algorithm(gp_context *ctx, C c, gp_algorithm algorithm)
{
    gp_scan_desc d = scan_of(c, GP_SCAN_INCLUSIVE);
    d.algorithm = c->any_algorithm ? GP_ALGORITHM_AUTO : algorithm;
    return gp_scan(ctx, &d, c->keys, c->n, c->out[0]);
}

CALL(scan_lookback)
{
    return scan_by_algorithm(ctx, c, GP_ALGORITHM_LOOKBACK);
}

CALL(scan_chained)
{
    return scan_by_algorithm(ctx, c, GP_ALGORITHM_CHAINED);
}

CALL(scan_reduce_then_scan)
{
    return scan_by_algorithm(ctx, c, GP_ALGORITHM_REDUCE_THEN_SCAN);
}

CALL(scan_then_fan)
{
    return scan_by_algorithm(ctx, c, GP_ALGORITHM_SCAN_THEN_FAN);
}

CALL(scan_fenwick)
{
    return scan_by_algorithm(ctx, c, GP_ALGORITHM_FENWICK);
}

CALL(scan_two_pass)
{
    return scan_by_algorithm(ctx, c, GP_ALGORITHM_REDUCE_THEN_SCAN_TWO_PASS);
}

CALL(scan_segmented)
{
    gp_scan_desc d = scan_of(c, GP_SCAN_INCLUSIVE);
    d.device_n = c->device_m;
    d.device_num_segments = c->device_n;
    return gp_scan_segmented(ctx, &d, c->keys, c->m, GP_U32, c->offsets, c->n, c->out[0]);
}

CALL(scan_flagged)
{
    gp_scan_desc d = scan_of(c, GP_SCAN_EXCLUSIVE);
    return gp_scan_flagged(ctx, &d, c->keys, c->heads, c->n, c->out[0]);
}

CALL(scan_by_key)
{
    gp_scan_desc d = scan_of(c, GP_SCAN_INCLUSIVE);
    return gp_scan_by_key(ctx, &d, 4, c->sorted, c->keys, c->n, c->out[0]);
}

CALL(scan_rows)
{
    gp_scan_desc d = scan_of(c, GP_SCAN_INCLUSIVE);
    d.device_n = NULL;
    d.device_num_segments = c->device_n;
    return gp_scan_rows(ctx, &d, c->keys, c->n, COUNTS_ROW_LENGTH, c->out[0]);
}

CALL(reduce)
{
    gp_reduce_desc d = GP_REDUCE_DESC_INIT;
    d.in_dtype = GP_U32;
    d.device_n = c->device_n;
    return gp_reduce_by(ctx, &d, c->keys, c->n, c->out[0]);
}

static gp_arg_desc arg_of(C c)
{
    gp_arg_desc d = GP_ARG_DESC_INIT;
    d.dtype = GP_U32;
    d.device_n = c->device_n;
    return d;
}

CALL(argmin)
{
    const gp_arg_desc d = arg_of(c);
    return gp_argmin_by(ctx, &d, c->bits, c->n, c->out[0], COUNT(c, 1));
}

CALL(argmax)
{
    const gp_arg_desc d = arg_of(c);
    return gp_argmax_by(ctx, &d, c->keys, c->n, c->out[0], COUNT(c, 1));
}

static gp_reduce_segmented_desc segments_of(C c)
{
    gp_reduce_segmented_desc d = GP_REDUCE_SEGMENTED_DESC_INIT;
    d.in_dtype = GP_U32;
    d.offset_dtype = GP_U32;
    d.device_n = c->device_m;
    d.device_num_segments = c->device_n;
    return d;
}

CALL(reduce_segmented)
{
    const gp_reduce_segmented_desc d = segments_of(c);
    return gp_reduce_segmented(ctx, &d, c->keys, c->m, c->offsets, c->n, c->out[0]);
}

CALL(argmin_segmented)
{
    const gp_reduce_segmented_desc d = segments_of(c);
    return gp_argmin_segmented(ctx, &d, c->keys, c->m, c->offsets, c->n, c->out[0], COUNT(c, 1));
}

CALL(argmax_segmented)
{
    const gp_reduce_segmented_desc d = segments_of(c);
    return gp_argmax_segmented(ctx, &d, c->keys, c->m, c->offsets, c->n, c->out[0], COUNT(c, 1));
}

CALL(reduce_rows)
{
    gp_reduce_segmented_desc d = GP_REDUCE_SEGMENTED_DESC_INIT;
    d.in_dtype = GP_U32;
    d.device_num_segments = c->device_n;
    return gp_reduce_rows(ctx, &d, c->keys, c->n, COUNTS_ROW_LENGTH, c->out[0]);
}

/* ---- moving ---------------------------------------------------------------------------------- */

CALL(compact)
{
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.item_bytes = 4;
    d.device_n = c->device_n;
    return gp_compact_by(ctx, &d, c->keys, c->flags, c->n, c->out[0], COUNT(c, 1));
}

CALL(partition)
{
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.kind = GP_COMPACT_PARTITION;
    d.item_bytes = 4;
    d.device_n = c->device_n;
    return gp_compact_by(ctx, &d, c->keys, c->flags, c->n, c->out[0], COUNT(c, 1));
}

CALL(multisplit)
{
    gp_multisplit_desc d = GP_MULTISPLIT_DESC_INIT;
    d.item_bytes = 4;
    d.num_buckets = 2;
    d.device_n = c->device_n;
    return gp_multisplit_by(ctx, &d, c->keys, c->flags, c->n, c->out[0], COUNT(c, 1));
}

/* More buckets than a byte has numbers. */
CALL(multisplit_1000)
{
    gp_multisplit_desc d = GP_MULTISPLIT_DESC_INIT;
    d.item_bytes = 4;
    d.num_buckets = 1000;
    d.device_n = c->device_n;
    return gp_multisplit_by(ctx, &d, c->bits, c->keys, c->n, c->out[0], COUNT(c, 1));
}

CALL(gather)
{
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    d.item_bytes = 4;
    d.index_dtype = GP_U32;
    d.device_n = c->device_n;
    return gp_gather_by(ctx, &d, c->bits, c->indices, c->n, c->out[0]);
}

CALL(scatter)
{
    gp_scatter_desc d = GP_SCATTER_DESC_INIT;
    d.item_bytes = 4;
    d.index_dtype = GP_U32;
    d.device_n = c->device_n;
    return gp_scatter_by(ctx, &d, c->bits, c->indices, c->n, c->out[0]);
}

CALL(fill)
{
    const uint32_t item = 7;
    gp_fill_desc d = GP_FILL_DESC_INIT;
    d.item_bytes = 4;
    d.item = &item;
    d.device_n = c->device_n;
    return gp_fill_by(ctx, &d, c->n, c->out[0]);
}

CALL(iota)
{
    gp_iota_desc d = GP_IOTA_DESC_INIT;
    d.dtype = GP_U16;
    d.device_n = c->device_n;
    return gp_iota_by(ctx, &d, c->n, c->out[0]);
}

CALL(unique)
{
    gp_unique_desc d = GP_UNIQUE_DESC_INIT;
    d.key_dtype = GP_U32;
    d.key_bytes = 4;
    d.device_n = c->device_n;
    return gp_unique_by(ctx, &d, c->sorted, NULL, c->n, c->out[0], NULL, NULL, COUNT(c, 1));
}

CALL(run_length)
{
    gp_run_length_desc d = GP_RUN_LENGTH_DESC_INIT;
    d.key_dtype = GP_U32;
    d.key_bytes = 4;
    d.index_dtype = GP_U32;
    d.device_n = c->device_n;
    return gp_run_length_encode_by(ctx, &d, c->sorted, c->n, c->out[0], c->out[1], c->out[2],
                                   COUNT(c, 3));
}

CALL(reduce_by_key)
{
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    d.key_dtype = GP_U32;
    d.key_bytes = 4;
    d.in_dtype = GP_U32;
    d.device_n = c->device_n;
    return gp_reduce_by_key(ctx, &d, c->sorted, c->keys, c->n, c->out[0], c->out[1], COUNT(c, 2));
}

CALL(difference)
{
    gp_difference_desc d = GP_DIFFERENCE_DESC_INIT;
    d.dtype = GP_U32;
    d.device_n = c->device_n;
    return gp_adjacent_difference_by(ctx, &d, c->bits, c->n, c->out[0]);
}

static gp_vector_desc vector_desc(C c)
{
    gp_vector_desc d = GP_VECTOR_DESC_INIT;
    d.dtype = GP_F32;
    d.device_n = c->device_n;
    return d;
}

CALL(vector_axpby)
{
    const gp_vector_desc d = vector_desc(c);
    const float two = 2, zero = 0;
    return gp_vector_axpby(ctx, &d, &two, c->floats, &zero, c->out[0], c->n);
}

CALL(vector_scale)
{
    const gp_vector_desc d = vector_desc(c);
    const float half = 0.5f;
    return gp_vector_scale(ctx, &d, &half, c->floats, c->n, c->out[0]);
}

CALL(vector_multiply)
{
    const gp_vector_desc d = vector_desc(c);
    return gp_vector_multiply(ctx, &d, c->floats, c->floats, c->n, c->out[0]);
}

static gp_status grouped(gp_context *ctx, C c, const void *first)
{
    gp_group_by_desc d = GP_GROUP_BY_DESC_INIT;
    gp_aggregate a[3] = {GP_AGGREGATE_INIT, GP_AGGREGATE_INIT, GP_AGGREGATE_INIT};
    a[0].in_dtype = GP_U32, a[0].values = c->bits, a[0].out = c->out[1];
    a[1].kind = GP_AGGREGATE_COUNT, a[1].out_dtype = GP_U32, a[1].out = c->out[2];
    a[2].kind = GP_AGGREGATE_FIRST, a[2].value_bytes = 4, a[2].values = first;
    a[2].out = c->out[2] + 4 * c->items;
    d.key_dtype = GP_U32;
    d.num_aggregates = 3;
    d.aggregates = a;
    d.device_n = c->device_n;
    return gp_group_by(ctx, &d, c->keys, c->n, c->out[0], COUNT(c, 3));
}

CALL(group_by)
{
    return grouped(ctx, c, c->bits);
}

/* Positions are sorted with the keys. */
CALL(group_by_two)
{
    return grouped(ctx, c, c->floats);
}

/* ---- histograms ------------------------------------------------------------------------------ */

static gp_histogram_options histogram_of(C c)
{
    gp_histogram_options o = GP_HISTOGRAM_OPTIONS_INIT;
    o.device_n = c->device_n;
    o.outside = COUNT(c, 1);
    return o;
}

CALL(histogram_even)
{
    const float lo = 10, hi = 900;
    const gp_histogram_options o = histogram_of(c);
    return gp_histogram_even(ctx, GP_F32, c->floats, c->n, &lo, &hi, COUNTS_BINS, GP_U32, c->out[0],
                             &o);
}

CALL(histogram_of_bytes)
{
    const uint8_t lo = 3, hi = 250;
    const gp_histogram_options o = histogram_of(c);
    return gp_histogram_even(ctx, GP_U8, c->bits, c->n, &lo, &hi, 13, GP_U64, c->out[0], &o);
}

/* The sorted numbers of the first segments are edges. */
CALL(histogram_edges)
{
    const gp_histogram_options o = histogram_of(c);
    return gp_histogram_edges(ctx, GP_U32, c->keys, c->n, c->offsets, 40, GP_U32, c->out[0], &o);
}

CALL(bincount)
{
    const gp_histogram_options o = histogram_of(c);
    return gp_bincount(ctx, GP_U32, c->bits, c->n, (size_t)1 << 17, GP_U32, c->out[0], &o);
}

#include "counts_sorts.h"
#include "counts_sparse.h"

#define ROW(function, calls, kind)                                                                 \
    {                                                                                              \
#function, calls, kind, function                                                           \
    }

const counts_row counts_rows[] = {
    ROW(scan, "gp_scan", COUNTS_ITEMS),
    ROW(scan_row_pointers, "gp_scan", COUNTS_ITEMS),
    ROW(scan_backward, "gp_scan", COUNTS_ITEMS),
    ROW(scan_lookback, "gp_scan", COUNTS_ITEMS),
    ROW(scan_chained, "gp_scan", COUNTS_ITEMS),
    ROW(scan_reduce_then_scan, "gp_scan", COUNTS_ITEMS),
    ROW(scan_then_fan, "gp_scan", COUNTS_ITEMS),
    ROW(scan_fenwick, "gp_scan", COUNTS_ITEMS),
    ROW(scan_two_pass, "gp_scan", COUNTS_ITEMS),
    ROW(scan_segmented, "gp_scan_segmented", COUNTS_SEGMENTS_ITEMS),
    ROW(scan_flagged, "gp_scan_flagged", COUNTS_ITEMS),
    ROW(scan_by_key, "gp_scan_by_key", COUNTS_ITEMS),
    ROW(scan_rows, "gp_scan_rows", COUNTS_SEGMENTS),
    ROW(reduce, "gp_reduce_by", COUNTS_ITEMS),
    ROW(argmin, "gp_argmin_by", COUNTS_ITEMS),
    ROW(argmax, "gp_argmax_by", COUNTS_ITEMS),
    ROW(reduce_segmented, "gp_reduce_segmented", COUNTS_SEGMENTS_ITEMS),
    ROW(argmin_segmented, "gp_argmin_segmented", COUNTS_SEGMENTS_ITEMS),
    ROW(argmax_segmented, "gp_argmax_segmented", COUNTS_SEGMENTS_ITEMS),
    ROW(reduce_rows, "gp_reduce_rows", COUNTS_SEGMENTS),
    ROW(compact, "gp_compact_by", COUNTS_ITEMS),
    ROW(partition, "gp_compact_by", COUNTS_ITEMS),
    ROW(multisplit, "gp_multisplit_by", COUNTS_ITEMS),
    ROW(multisplit_1000, "gp_multisplit_by", COUNTS_ITEMS),
    ROW(gather, "gp_gather_by", COUNTS_ITEMS),
    ROW(scatter, "gp_scatter_by", COUNTS_ITEMS),
    ROW(fill, "gp_fill_by", COUNTS_ITEMS),
    ROW(iota, "gp_iota_by", COUNTS_ITEMS),
    ROW(unique, "gp_unique_by", COUNTS_ITEMS),
    ROW(run_length, "gp_run_length_encode_by", COUNTS_ITEMS),
    ROW(reduce_by_key, "gp_reduce_by_key", COUNTS_ITEMS),
    ROW(difference, "gp_adjacent_difference_by", COUNTS_ITEMS),
    ROW(vector_axpby, "gp_vector_axpby", COUNTS_ITEMS),
    ROW(vector_scale, "gp_vector_scale", COUNTS_ITEMS),
    ROW(vector_multiply, "gp_vector_multiply", COUNTS_ITEMS),
    ROW(group_by, "gp_group_by", COUNTS_ITEMS),
    ROW(group_by_two, "gp_group_by", COUNTS_ITEMS),
    ROW(histogram_even, "gp_histogram_even", COUNTS_ITEMS),
    ROW(histogram_of_bytes, "gp_histogram_even", COUNTS_ITEMS),
    ROW(histogram_edges, "gp_histogram_edges", COUNTS_ITEMS),
    ROW(bincount, "gp_bincount", COUNTS_ITEMS),
    ROW(balance_search, "gp_balance_search_by", COUNTS_SEGMENTS_ITEMS),
    ROW(balance_search_covered, "gp_balance_search_by", COUNTS_SEGMENTS_ITEMS),
    ROW(expand, "gp_expand_by", COUNTS_SEGMENTS_ITEMS),
    ROW(expand_covered, "gp_expand_by", COUNTS_SEGMENTS_ITEMS),
    ROW(expand_counts, "gp_expand_counts_by", COUNTS_SEGMENTS),
    ROW(merge_path, "gp_merge_path_partition_by", COUNTS_SEGMENTS_ITEMS),
    ROW(copy_intervals, "gp_copy_intervals", COUNTS_SEGMENTS_ITEMS),
    ROW(lower_bound, "gp_lower_bound_by", COUNTS_TWICE),
    ROW(upper_bound, "gp_upper_bound_by", COUNTS_HALF),
    ROW(merge, "gp_merge_by", COUNTS_HALF),
    ROW(merge_pairs, "gp_merge_pairs_by", COUNTS_TWICE),
    ROW(row_pointers, "gp_csr_row_pointers_by", COUNTS_ROWS),
    ROW(row_pointers_unsorted, "gp_csr_row_pointers_unsorted_by", COUNTS_ROWS),
    ROW(from_coo_sum, "gp_csr_from_coo", COUNTS_ROWS),
    ROW(from_coo_keep, "gp_csr_from_coo", COUNTS_ROWS),
    ROW(from_coo_last, "gp_csr_from_coo", COUNTS_ROWS),
    ROW(to_coo, "gp_csr_to_coo_by", COUNTS_SEGMENTS_ITEMS),
    ROW(transpose, "gp_csr_transpose", COUNTS_SEGMENTS_ITEMS),
    ROW(filter, "gp_csr_filter", COUNTS_SEGMENTS_ITEMS),
    ROW(sort_columns, "gp_csr_sort_columns", COUNTS_SEGMENTS_ITEMS),
    ROW(filter_list, "gp_coo_filter", COUNTS_ROWS),
    ROW(spmv, "gp_spmv_by", COUNTS_SEGMENTS_ITEMS),
    ROW(spmm, "gp_spmm", COUNTS_SEGMENTS_ITEMS),
    COUNTS_SORTS,
};
const size_t counts_row_count = sizeof counts_rows / sizeof counts_rows[0];
