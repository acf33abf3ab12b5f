/* SPDX-License-Identifier: MIT */
#include "every_call.h"

#include <stdlib.h>
#include <string.h>

#include "gp_test.h"

typedef const every *E;

static gp_scan_desc scan_of(gp_dtype dtype, gp_op op)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = dtype;
    d.op = op;
    return d;
}

#define CALL(name) static gp_status name(gp_context *ctx, E e)

#include "every_call_scan.h"

CALL(compact)
{
    return gp_compact(ctx, 12, e->keys, e->flags, e->n / 3, e->out[0], e->count);
}

CALL(compact_if)
{
    const uint32_t limit = 500;
    return gp_compact_if(ctx, GP_U32, GP_LT, &limit, e->keys, e->n, e->out[0], e->count);
}

CALL(compact_indices)
{
    return gp_compact_indices(ctx, GP_U32, e->flags, e->n, e->out[0], e->count);
}

CALL(partition)
{
    return gp_partition(ctx, 4, e->keys, e->flags, e->n, e->out[0], e->count);
}

CALL(partition_into)
{
    return gp_partition_into(ctx, 3, e->keys, e->flags, e->n, e->out[0], e->out[1],
                             (uint64_t *)(void *)e->out[2]);
}

CALL(partition_range)
{
    const uint32_t value = 200, upper = 700;
    return gp_partition_range(ctx, GP_U32, &value, &upper, e->keys, e->n, e->out[0], e->out[1],
                              e->out[2], (uint64_t *)(void *)(e->out[2] + 4 * e->n));
}

CALL(multisplit)
{
    return gp_multisplit(ctx, 4, e->keys, e->flags, e->n, 2, e->out[0],
                         (uint64_t *)(void *)e->out[1]);
}

CALL(compact_in_place)
{
    gp_status s = gp_copy(ctx, e->keys, e->n * 4, e->out[0]);
    return s ? s : gp_compact(ctx, 4, e->out[0], e->flags, e->n, e->out[0], e->count);
}

CALL(unique)
{
    return gp_unique(ctx, GP_F32, e->floats, e->n, e->out[0], e->count);
}

CALL(unique_of_records)
{
    gp_unique_desc d = GP_UNIQUE_DESC_INIT;
    d.key_bytes = 12, d.value_bytes = 4, d.index_dtype = GP_U32;
    return gp_unique_by(ctx, &d, e->sorted, e->keys, e->n / 3, e->out[0], e->out[1], e->out[2],
                        e->count);
}

CALL(run_length_encode)
{
    return gp_run_length_encode(ctx, GP_U32, e->sorted, e->n, GP_U64, e->out[0], e->out[1],
                                e->count);
}

CALL(run_length_encode_longer)
{
    gp_run_length_desc d = GP_RUN_LENGTH_DESC_INIT;
    d.key_dtype = GP_U8, d.index_dtype = GP_U32, d.longer = 1;
    return gp_run_length_encode_by(ctx, &d, e->flags, e->n, e->out[0], e->out[1], e->out[2],
                                   e->count);
}

CALL(reduce_by_key)
{
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    d.key_dtype = GP_U32, d.in_dtype = GP_F32, d.out_dtype = GP_F64;
    return gp_reduce_by_key(ctx, &d, e->sorted, e->floats, e->n, e->out[0], e->out[1], e->count);
}

CALL(group_by)
{
    gp_aggregate g[3] = {GP_AGGREGATE_INIT, GP_AGGREGATE_INIT, GP_AGGREGATE_INIT};
    gp_group_by_desc d = GP_GROUP_BY_DESC_INIT;
    g[0].in_dtype = GP_F32, g[0].values = e->floats, g[0].out = e->out[1];
    g[1].kind = GP_AGGREGATE_LAST, g[1].value_bytes = 1;
    g[1].values = e->flags, g[1].out = e->out[2];
    g[2].kind = GP_AGGREGATE_COUNT, g[2].out_dtype = GP_U32;
    g[2].out = e->out[2] + (e->n + 4) / 4 * 4;
    d.key_dtype = GP_U32, d.num_aggregates = 3, d.aggregates = g;
    return gp_group_by(ctx, &d, e->keys, e->n, e->out[0], e->count);
}

CALL(histogram_even)
{
    const float lo = -1, hi = 1;
    return gp_histogram_even(ctx, GP_F32, e->floats, e->n, &lo, &hi, EVERY_BINS, GP_U32, e->out[0],
                             NULL);
}

CALL(histogram_edges)
{
    const size_t bins = e->n < EVERY_BINS ? e->n - 1 : EVERY_BINS;
    return gp_histogram_edges(ctx, GP_U32, e->keys, e->n, e->edges, bins, GP_U64, e->out[0], NULL);
}

CALL(bincount)
{
    return gp_bincount(ctx, GP_U32, e->keys, e->n, 1000, GP_U32, e->out[0], NULL);
}

CALL(balance_search)
{
    return gp_balance_search(ctx, GP_U32, e->offsets, e->segments, e->n, GP_U32, e->out[0],
                             e->out[1]);
}

CALL(expand)
{
    return gp_expand(ctx, 4, e->keys, GP_U32, e->offsets, e->segments, e->n, e->out[0]);
}

/* The starts are those that intervals have anyway. */
CALL(copy_intervals)
{
    gp_interval_desc d = GP_INTERVAL_DESC_INIT;
    d.item_bytes = 4;
    d.offset_dtype = GP_U32;
    return gp_copy_intervals(ctx, &d, e->keys, e->offsets, e->offsets, e->segments, e->n, NULL,
                             e->out[0]);
}

CALL(expand_counts)
{
    return gp_expand_counts(ctx, 4, e->keys, GP_U32, e->counts, e->n, e->n, e->out[0], e->count);
}

CALL(merge_path_partition)
{
    return gp_merge_path_partition(ctx, GP_U32, e->offsets, e->segments, e->n, 1 + e->n / 100,
                                   e->out[0], e->out[1]);
}

CALL(lower_bound)
{
    return gp_lower_bound(ctx, GP_U32, e->sorted, e->n, e->keys, e->n, GP_U32, e->out[0]);
}

CALL(upper_bound)
{
    return gp_upper_bound(ctx, GP_U32, e->sorted, e->n, e->keys, e->n, GP_U64, e->out[0]);
}

CALL(radix_sort)
{
    return gp_radix_sort(ctx, GP_F32, e->floats, e->n, e->out[0], NULL);
}

CALL(radix_sort_bytes)
{
    return gp_radix_sort(ctx, GP_U8, e->keys, e->n, e->out[0], NULL);
}

CALL(radix_sort_pairs)
{
    return gp_radix_sort_pairs(ctx, GP_U32, e->keys, 16, e->out[2], e->n / 4, e->out[0], e->out[1],
                               NULL);
}

CALL(argsort)
{
    return gp_argsort(ctx, GP_U32, e->keys, e->n, GP_U64, e->out[0], NULL);
}

CALL(sort_segmented)
{
    return gp_radix_sort_segmented_pairs(ctx, GP_U32, e->keys, 4, e->floats, e->n, GP_U32,
                                         e->offsets, e->segments, e->out[0], e->out[1], NULL);
}

CALL(lexsort)
{
    return gp_lexsort(ctx, GP_U32, e->rows, e->cols, e->n, GP_U32, e->out[0], NULL);
}

CALL(lexsort_pairs)
{
    return gp_lexsort_pairs(ctx, GP_U32, e->rows, e->cols, 4, e->floats, e->n, e->out[0], e->out[1],
                            e->out[2], NULL);
}

CALL(lexsort_by)
{
    gp_lexsort_desc d = GP_LEXSORT_DESC_INIT;
    d.index_dtype = GP_U32;
    d.num_parts = 3;
    d.parts[0] = (gp_key_part){e->flags, 1, GP_U8, GP_DESCENDING};
    d.parts[1] = (gp_key_part){e->floats, 4, GP_F32, GP_ASCENDING};
    d.parts[2] = (gp_key_part){e->keys, 4, GP_U32, GP_ASCENDING};
    return gp_lexsort_by(ctx, &d, e->n, e->out[0]);
}

CALL(record_sort)
{
    gp_record_sort_desc d = GP_RECORD_SORT_DESC_INIT;
    d.record_bytes = 12;
    d.num_fields = 1;
    d.fields[0] = (gp_record_field){4, GP_U32, GP_DESCENDING};
    return gp_record_sort(ctx, &d, e->keys, e->n / 3, e->out[0]);
}

CALL(gather)
{
    return gp_gather(ctx, 4, e->floats, GP_U32, e->rows, e->n, e->out[0]);
}

/* No index occurs twice. */
CALL(scatter)
{
    return gp_scatter(ctx, 4, e->floats, GP_U32, e->offsets, e->segments, e->out[0]);
}

CALL(fill)
{
    const char item[12] = "eleven chars";
    return gp_fill(ctx, 12, item, e->n / 3, e->out[0]);
}

CALL(iota)
{
    return gp_iota(ctx, GP_F32, NULL, NULL, e->n, e->out[0]);
}

CALL(merge)
{
    return gp_merge(ctx, GP_U32, GP_ASCENDING, e->sorted, e->n, e->sorted, e->n / 2, e->out[0]);
}

CALL(merge_pairs)
{
    return gp_merge_pairs(ctx, GP_U32, GP_ASCENDING, 8, e->sorted, e->out[2], e->n / 2, e->sorted,
                          e->out[2], e->n / 2, e->out[0], e->out[1]);
}

CALL(top_k)
{
    return gp_top_k(ctx, GP_F32, GP_DESCENDING, e->floats, e->n, e->n / 5, e->out[0], GP_U32,
                    e->out[1]);
}

CALL(balance_plan)
{
    gp_balance_desc d = GP_BALANCE_DESC_INIT;
    d.offset_dtype = GP_U32;
    return gp_balance_plan(ctx, &d, e->offsets, e->segments, e->n, e->out[0]);
}

CALL(check_offsets)
{
    return gp_check_offsets(ctx, GP_U32, e->offsets, e->segments, e->n);
}

CALL(merge_runs)
{
    gp_merge_runs_desc d = GP_MERGE_RUNS_DESC_INIT;
    d.dtype = GP_U32;
    d.offset_dtype = GP_U32;
    d.value_bytes = 4;
    return gp_merge_runs(ctx, &d, e->sorted, e->floats, e->n, e->offsets, e->segments, e->out[0],
                         e->out[1]);
}

#include "every_call_csr.h"

#include "every_call_by.h"
#include "every_call_dist.h"

#undef CALL

static const struct {
    const char *name;
    gp_status (*run)(gp_context *ctx, E e);
} calls[] = {
#define NAMED(name)                                                                                \
    {                                                                                              \
#name, name                                                                                \
    }
    NAMED(scan_u32),
    NAMED(scan_f64),
    NAMED(scan_backward_mat2),
    NAMED(scan_row_pointers),
    NAMED(scan_then_fan),
    NAMED(reduce_then_scan),
    NAMED(scan_segmented),
    NAMED(scan_flagged),
    NAMED(scan_by_key),
    NAMED(scan_rows),
    NAMED(adjacent_difference),
    NAMED(reduce),
    NAMED(reduce_segmented),
    NAMED(reduce_rows),
    NAMED(argmin_segmented),
    NAMED(argmax_segmented),
    NAMED(argmin),
    NAMED(argmax),
    NAMED(argmin_by),
    NAMED(argmax_by),
    NAMED(compact),
    NAMED(compact_if),
    NAMED(compact_indices),
    NAMED(partition),
    NAMED(partition_into),
    NAMED(partition_range),
    NAMED(multisplit),
    NAMED(multisplit_of_rows),
    NAMED(compact_in_place),
    NAMED(unique),
    NAMED(unique_of_records),
    NAMED(run_length_encode),
    NAMED(run_length_encode_longer),
    NAMED(reduce_by_key),
    NAMED(group_by),
    NAMED(histogram_even),
    NAMED(histogram_edges),
    NAMED(bincount),
    NAMED(balance_search),
    NAMED(expand),
    NAMED(copy_intervals),
    NAMED(expand_counts),
    NAMED(merge_path_partition),
    NAMED(lower_bound),
    NAMED(upper_bound),
    NAMED(radix_sort),
    NAMED(radix_sort_bytes),
    NAMED(radix_sort_pairs),
    NAMED(argsort),
    NAMED(sort_segmented),
    NAMED(lexsort),
    NAMED(lexsort_pairs),
    NAMED(lexsort_by),
    NAMED(record_sort),
    NAMED(gather),
    NAMED(gather_by),
    NAMED(gather_field),
    NAMED(scatter),
    NAMED(scatter_by),
    NAMED(fill),
    NAMED(fill_by),
    NAMED(iota),
    NAMED(adjacent_difference_by),
    NAMED(vector_dot),
    NAMED(vector_norm),
    NAMED(vector_axpby),
    NAMED(vector_scale),
    NAMED(vector_multiply),
    NAMED(vector_divide),
    NAMED(iota_by),
    NAMED(merge),
    NAMED(merge_pairs),
    NAMED(merge_by),
    NAMED(merge_pairs_by),
    NAMED(merge_runs),
    NAMED(top_k),
    NAMED(top_k_by),
    NAMED(row_pointers),
    NAMED(row_pointers_unsorted),
    NAMED(csr_from_coo),
    NAMED(csr_to_coo),
    NAMED(csr_transpose),
    NAMED(csr_filter),
    NAMED(csr_sort_columns),
    NAMED(coo_filter),
    NAMED(check_coo),
    NAMED(balance_plan),
    NAMED(check_offsets),
    NAMED(spmv),
    NAMED(balance_search_by),
    NAMED(expand_by),
    NAMED(expand_counts_by),
    NAMED(merge_path_partition_by),
    NAMED(check_offsets_by),
    NAMED(lower_bound_by),
    NAMED(upper_bound_by),
    NAMED(row_pointers_by),
    NAMED(row_pointers_unsorted_by),
    NAMED(csr_to_coo_by),
    NAMED(check_csr_by),
    NAMED(spmv_by),
    NAMED(spmv_plan),
    NAMED(spmv_planned),
    NAMED(spmv_transposed_plan),
    NAMED(spmv_transposed_values),
    NAMED(spmv_transposed),
    NAMED(spmm),
    EVERY_CALLS_OF_RANKS(NAMED)
#undef NAMED
};

_Static_assert(sizeof calls / sizeof calls[0] == EVERY_CALLS, "all are counted");

const char *every_name(int call)
{
    return calls[call].name;
}

bool every_in_place(int call)
{
    return calls[call].run == compact_in_place;
}

gp_status every_run(gp_context *ctx, const every *e, int call)
{
    return calls[call].run(ctx, e);
}
