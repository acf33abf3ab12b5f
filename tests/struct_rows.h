/* SPDX-License-Identifier: MIT */
/* Every call that takes a struct whose size callers give, and structs that these calls accept. */
#ifndef GP_TEST_STRUCT_ROWS_H
#define GP_TEST_STRUCT_ROWS_H

#include <stddef.h>
#include <string.h>

#include "every_call.h"
#include "gp_test.h"

enum { N = 3000, TAIL = 40 };

typedef const every *E;

/* A call, with its struct; a figure of bytes goes to *figure. */
typedef gp_status call_fn(gp_context *ctx, E e, const void *given, size_t *figure);

struct kind {
    const char *argument;
    size_t bytes, older; /* older: of an earlier release; 0: it has not grown */
    void (*make)(void *full);
};

/* A struct that all its calls accept. */
#define KIND(name, type, old, initializer, text, ...)                                              \
    static void make_##name(void *full)                                                            \
    {                                                                                              \
        type d = initializer;                                                                      \
        __VA_ARGS__;                                                                               \
        memcpy(full, &d, sizeof d);                                                                \
    }                                                                                              \
    static const struct kind name##_kind = {text, sizeof(type), old, make_##name};

KIND(context, gp_context_options, offsetof(gp_context_options, validate), GP_CONTEXT_OPTIONS_INIT,
     "options", d.backend = gp_context_backend(t_ctx()))
KIND(target, gp_target, 0, GP_TARGET_INIT, "target", d.threads = 3)
KIND(scan, gp_scan_desc, 0, GP_SCAN_DESC_INIT, "desc", d.in_dtype = GP_U32; d.op = GP_MAX)
KIND(reduce, gp_reduce_desc, 0, GP_REDUCE_DESC_INIT, "desc", d.in_dtype = GP_U32; d.op = GP_MAX)
KIND(by_segment, gp_reduce_segmented_desc, 0, GP_REDUCE_SEGMENTED_DESC_INIT, "desc",
     d.in_dtype = d.offset_dtype = GP_U32)
KIND(by_row, gp_reduce_segmented_desc, 0, GP_REDUCE_SEGMENTED_DESC_INIT, "desc",
     d.in_dtype = GP_U32)
KIND(arg, gp_arg_desc, 0, GP_ARG_DESC_INIT, "desc", d.dtype = GP_U32)
KIND(compact, gp_compact_desc, 0, GP_COMPACT_DESC_INIT, "desc", d.item_bytes = 4; d.capacity = N)
KIND(unique, gp_unique_desc, 0, GP_UNIQUE_DESC_INIT, "desc", d.key_dtype = GP_U32)
KIND(run_length, gp_run_length_desc, 0, GP_RUN_LENGTH_DESC_INIT, "desc",
     d.key_dtype = d.index_dtype = GP_U32)
KIND(reduce_by_key, gp_reduce_by_key_desc, 0, GP_REDUCE_BY_KEY_DESC_INIT, "desc",
     d.key_dtype = d.in_dtype = GP_U32)
KIND(group_by, gp_group_by_desc, 0, GP_GROUP_BY_DESC_INIT, "desc", d.key_dtype = GP_U32)
KIND(aggregate, gp_aggregate, 0, GP_AGGREGATE_INIT, "desc->aggregates", d.kind = GP_AGGREGATE_COUNT;
     d.out_dtype = GP_U32)
KIND(multisplit, gp_multisplit_desc, 0, GP_MULTISPLIT_DESC_INIT, "desc", d.item_bytes = 4;
     d.num_buckets = 2)
KIND(histogram, gp_histogram_options, 0, GP_HISTOGRAM_OPTIONS_INIT, "options", d.accumulate = 1)
KIND(sort, gp_radix_sort_options, 0, GP_RADIX_SORT_OPTIONS_INIT, "options", d.order = GP_DESCENDING;
     d.end_bit = 13)
KIND(gather, gp_gather_desc, 0, GP_GATHER_DESC_INIT, "desc", d.item_bytes = 4;
     d.in_items = N / EVERY_SEGMENT * EVERY_SEGMENT; d.index_dtype = GP_U32)
KIND(scatter, gp_scatter_desc, 0, GP_SCATTER_DESC_INIT, "desc", d.item_bytes = 4;
     d.index_dtype = GP_U32)
KIND(fill, gp_fill_desc, 0, GP_FILL_DESC_INIT, "desc", d.item_bytes = 3; d.item = "abc")
KIND(difference, gp_difference_desc, 0, GP_DIFFERENCE_DESC_INIT, "desc", d.dtype = GP_F32)
KIND(vector, gp_vector_desc, 0, GP_VECTOR_DESC_INIT, "desc", d.dtype = GP_F32)
KIND(iota, gp_iota_desc, 0, GP_IOTA_DESC_INIT, "desc", d.dtype = GP_F16)
KIND(lexsort, gp_lexsort_options, 0, GP_LEXSORT_OPTIONS_INIT, "options", d.order = GP_DESCENDING)
KIND(lex_by, gp_lexsort_desc, 0, GP_LEXSORT_DESC_INIT, "desc", d.index_dtype = GP_U32;
     d.num_parts = 1; d.parts[0] = (gp_key_part){NULL, 4, GP_U32, GP_DESCENDING})
KIND(records, gp_record_sort_desc, 0, GP_RECORD_SORT_DESC_INIT, "desc", d.record_bytes = 8;
     d.num_fields = 1; d.fields[0] = (gp_record_field){3, GP_F32, GP_DESCENDING})
KIND(merge, gp_merge_desc, 0, GP_MERGE_DESC_INIT, "desc", d.dtype = GP_U32)
KIND(merge_runs, gp_merge_runs_desc, 0, GP_MERGE_RUNS_DESC_INIT, "desc",
     d.dtype = d.offset_dtype = GP_U32;
     d.value_bytes = 4)
KIND(merge_pairs, gp_merge_desc, 0, GP_MERGE_DESC_INIT, "desc", d.dtype = GP_U32; d.value_bytes = 4)
KIND(top_k, gp_top_k_desc, 0, GP_TOP_K_DESC_INIT, "desc", d.dtype = GP_U32; d.index_dtype = GP_U32)
KIND(coo, gp_coo_desc, 0, GP_COO_DESC_INIT, "desc", d.duplicates = GP_DUPLICATES_LAST)
KIND(filter, gp_csr_filter_desc, 0, GP_CSR_FILTER_DESC_INIT, "desc", d.entries = GP_ENTRIES_LOWER)
KIND(offsets, gp_balance_desc, 0, GP_BALANCE_DESC_INIT, "desc", d.offset_dtype = GP_U32)
KIND(search, gp_balance_desc, 0, GP_BALANCE_DESC_INIT, "desc", d.offset_dtype = GP_U32;
     d.index_dtype = GP_I64)
KIND(expand, gp_balance_desc, 0, GP_BALANCE_DESC_INIT, "desc", d.item_bytes = 3;
     d.offset_dtype = GP_U32)
KIND(counts, gp_balance_desc, 0, GP_BALANCE_DESC_INIT, "desc", d.item_bytes = 3;
     d.count_dtype = GP_U32)
KIND(intervals, gp_interval_desc, 0, GP_INTERVAL_DESC_INIT, "desc", d.item_bytes = 4;
     d.offset_dtype = GP_U32)
KIND(bound, gp_bound_desc, 0, GP_BOUND_DESC_INIT, "desc", d.dtype = GP_U32; d.index_dtype = GP_I64)
KIND(csr, gp_csr_desc, 0, GP_CSR_DESC_INIT, "desc", d.index_dtype = d.offset_dtype = GP_U32)
KIND(values, gp_csr_desc, 0, GP_CSR_DESC_INIT, "desc", d.index_dtype = d.offset_dtype = GP_U32;
     d.value_dtype = GP_F32)
KIND(spmm, gp_spmm_desc, 0, GP_SPMM_DESC_INIT, "desc", d.index_dtype = d.offset_dtype = GP_U32;
     d.value_dtype = GP_F32; d.columns = 3)

#include "struct_ranks.h"

/* Of each call: name, kind, whether it has a context, what it is. */
#define CALLS(X)                                                                                   \
    X(create, context, false, create_and_destroy(given))                                           \
    X(scan, scan, true, gp_scan(ctx, given, e->keys, e->n, e->out[0]))                             \
    X(segmented, scan, true,                                                                       \
      gp_scan_segmented(ctx, given, e->keys, e->n, GP_U32, e->offsets, e->segments, e->out[0]))    \
    X(flagged, scan, true, gp_scan_flagged(ctx, given, e->keys, e->flags, e->n, e->out[0]))        \
    X(by_key, scan, true, gp_scan_by_key(ctx, given, 4, e->sorted, e->keys, e->n, e->out[0]))      \
    X(rows, scan, true, gp_scan_rows(ctx, given, e->keys, 10, e->n / 10, e->out[0]))               \
    X(reduce, reduce, true, gp_reduce_by(ctx, given, e->keys, e->n, e->out[0]))                    \
    X(sums, by_segment, true,                                                                      \
      gp_reduce_segmented(ctx, given, e->keys, e->n, e->offsets, e->segments, e->out[0]))          \
    X(row_sums, by_row, true, gp_reduce_rows(ctx, given, e->keys, 10, e->n / 10, e->out[0]))       \
    X(places, by_segment, true,                                                                    \
      gp_argmin_segmented(ctx, given, e->keys, e->n, e->offsets, e->segments, NULL,                \
                          (uint64_t *)(void *)e->out[0]))                                          \
    X(argmin, arg, true, gp_argmin_by(ctx, given, e->keys, e->n, e->out[0], e->count))             \
    X(argmax, arg, true, gp_argmax_by(ctx, given, e->keys, e->n, NULL, e->count))                  \
    X(compact, compact, true,                                                                      \
      gp_compact_by(ctx, given, e->keys, e->flags, e->n, e->out[0], e->count))                     \
    X(unique_by, unique, true,                                                                     \
      gp_unique_by(ctx, given, e->sorted, NULL, e->n, e->out[0], NULL, NULL, e->count))            \
    X(run_length_by, run_length, true,                                                             \
      gp_run_length_encode_by(ctx, given, e->sorted, e->n, e->out[0], e->out[1], e->out[2],        \
                              e->count))                                                           \
    X(reduce_by_key, reduce_by_key, true,                                                          \
      gp_reduce_by_key(ctx, given, e->sorted, e->keys, e->n, e->out[0], e->out[1], e->count))      \
    X(group_by, group_by, true, gp_group_by(ctx, given, e->keys, e->n, e->out[0], e->count))       \
    X(aggregate, aggregate, true, count_groups(ctx, e, given))                                     \
    X(multisplit, multisplit, true,                                                                \
      gp_multisplit_by(ctx, given, e->keys, e->flags, e->n, e->out[0],                             \
                       (uint64_t *)(void *)e->out[1]))                                             \
    X(even, histogram, true,                                                                       \
      gp_histogram_even(ctx, GP_F32, e->floats, e->n, &lo, &hi, 9, GP_U32, e->out[0], given))      \
    X(edges, histogram, true,                                                                      \
      gp_histogram_edges(ctx, GP_U32, e->keys, e->n, e->edges, 9, GP_U32, e->out[0], given))       \
    X(bincount, histogram, true,                                                                   \
      gp_bincount(ctx, GP_U32, e->keys, e->n, 99, GP_U32, e->out[0], given))                       \
    X(sort, sort, true, gp_radix_sort(ctx, GP_U32, e->keys, e->n, e->out[0], given))               \
    X(pairs, sort, true,                                                                           \
      gp_radix_sort_pairs(ctx, GP_U32, e->keys, 4, e->floats, e->n, e->out[0], e->out[1], given))  \
    X(argsort, sort, true, gp_argsort(ctx, GP_U32, e->keys, e->n, GP_U32, e->out[0], given))       \
    X(sort_segments, sort, true,                                                                   \
      gp_radix_sort_segmented(ctx, GP_U32, e->keys, e->n, GP_U32, e->offsets, e->segments,         \
                              e->out[0], given))                                                   \
    X(pair_segments, sort, true,                                                                   \
      gp_radix_sort_segmented_pairs(ctx, GP_U32, e->keys, 4, e->floats, e->n, GP_U32, e->offsets,  \
                                    e->segments, e->out[0], e->out[1], given))                     \
    X(gather, gather, true, gp_gather_by(ctx, given, e->floats, e->rows, e->n, e->out[0]))         \
    X(scatter, scatter, true,                                                                      \
      gp_scatter_by(ctx, given, e->floats, e->offsets, e->segments, e->out[0]))                    \
    X(fill, fill, true, gp_fill_by(ctx, given, e->n, e->out[0]))                                   \
    X(difference, difference, true,                                                                \
      gp_adjacent_difference_by(ctx, given, e->floats, e->n, e->out[0]))                           \
    X(dot, vector, true, gp_vector_dot(ctx, given, e->floats, e->floats, e->n, e->out[0]))         \
    X(dot_bytes, vector, false, gp_vector_dot_workspace_bytes(NULL, given, e->n, figure))          \
    X(norm, vector, true, gp_vector_norm(ctx, given, e->floats, e->n, e->out[0]))                  \
    X(axpby, vector, true, gp_vector_axpby(ctx, given, NULL, e->floats, &zero, e->out[0], e->n))   \
    X(scale, vector, true, gp_vector_scale(ctx, given, NULL, e->floats, e->n, e->out[0]))          \
    X(multiply, vector, true,                                                                      \
      gp_vector_multiply(ctx, given, e->floats, e->floats, e->n, e->out[0]))                       \
    X(divide, vector, true, gp_vector_divide(ctx, given, e->floats, e->floats, e->n, e->out[0]))   \
    X(iota, iota, true, gp_iota_by(ctx, given, e->n, e->out[0]))                                   \
    X(lexsort, lexsort, true,                                                                      \
      gp_lexsort(ctx, GP_U32, e->rows, e->cols, e->n, GP_U32, e->out[0], given))                   \
    X(lex_pairs, lexsort, true,                                                                    \
      gp_lexsort_pairs(ctx, GP_U32, e->rows, e->cols, 4, e->floats, e->n, e->out[0], e->out[1],    \
                       e->out[2], given))                                                          \
    X(lexsort_by, lex_by, true, gp_lexsort_by(ctx, given, 0, e->out[0]))                           \
    X(record_sort, records, true, gp_record_sort(ctx, given, e->keys, e->n / 2, e->out[0]))        \
    X(merge, merge, true, gp_merge_by(ctx, given, e->sorted, e->n, e->sorted, e->n, e->out[0]))    \
    X(merge_pairs, merge_pairs, true,                                                              \
      gp_merge_pairs_by(ctx, given, e->sorted, e->keys, e->n, e->sorted, e->floats, e->n,          \
                        e->out[0], e->out[1]))                                                     \
    X(merge_runs, merge_runs, true,                                                                \
      gp_merge_runs(ctx, given, e->sorted, e->floats, e->n, e->offsets, e->segments, e->out[0],    \
                    e->out[1]))                                                                    \
    X(top_k, top_k, true, gp_top_k_by(ctx, given, e->keys, e->n, e->n / 7, e->out[0], e->out[1]))  \
    X(rebalance, place, true, rebalance(ctx, e, given))                                            \
    X(bins_of_ranks, bins, true, bins_of_ranks(ctx, e, given))                                     \
    X(rank, ops, false, create_rank(t_ctx(), given))                                               \
    X(coo, coo, true,                                                                              \
      gp_csr_from_coo(ctx, given, e->n, e->n, e->rows, e->cols, e->floats, e->n, e->out[0],        \
                      e->out[1], e->out[2], e->count))                                             \
    X(transpose, coo, true,                                                                        \
      gp_csr_transpose(ctx, given, e->segments, e->n, e->n, e->offsets, e->cols, e->floats,        \
                       e->out[0], e->out[1], e->out[2]))                                           \
    X(filter, filter, true,                                                                        \
      gp_csr_filter(ctx, given, e->segments, e->n, e->n, e->offsets, e->cols, e->floats,           \
                    e->out[0], e->out[1], e->out[2], e->count))                                    \
    X(sort_columns, coo, true,                                                                     \
      gp_csr_sort_columns(ctx, given, e->segments, e->n, e->n, e->offsets, e->cols, e->floats,     \
                          e->out[0], e->out[1]))                                                   \
    X(filter_list, filter, true,                                                                   \
      gp_coo_filter(ctx, given, e->n, e->n, e->rows, e->cols, e->floats, e->n, e->out[0],          \
                    e->out[1], e->out[2], e->count))                                               \
    X(search_by, search, true,                                                                     \
      gp_balance_search_by(ctx, given, e->offsets, e->segments, e->n, e->out[0], e->out[1]))       \
    X(balance_plan, offsets, true,                                                                 \
      gp_balance_plan(ctx, given, e->offsets, e->segments, e->n, e->out[0]))                       \
    X(expand_by, expand, true,                                                                     \
      gp_expand_by(ctx, given, e->keys, e->offsets, e->segments, e->n, e->out[0]))                 \
    X(counts_by, counts, true,                                                                     \
      gp_expand_counts_by(ctx, given, e->keys, e->counts, e->n, e->n, e->out[0], e->count))        \
    X(intervals, intervals, true,                                                                  \
      gp_copy_intervals(ctx, given, e->keys, NULL, e->offsets, e->segments, e->n, e->offsets,      \
                        e->out[0]))                                                                \
    X(partition_by, offsets, true,                                                                 \
      gp_merge_path_partition_by(ctx, given, e->offsets, e->segments, e->n, 9, e->out[0],          \
                                 e->out[1]))                                                       \
    X(check_by, offsets, true, gp_check_offsets_by(ctx, given, e->offsets, e->segments, e->n))     \
    X(lower_by, bound, true,                                                                       \
      gp_lower_bound_by(ctx, given, e->sorted, e->n, e->keys, e->n, e->out[0]))                    \
    X(upper_by, bound, true,                                                                       \
      gp_upper_bound_by(ctx, given, e->sorted, e->n, e->keys, e->n, e->out[0]))                    \
    X(pointers_by, csr, true,                                                                      \
      gp_csr_row_pointers_by(ctx, given, e->sorted, e->n, 1000, e->out[0]))                        \
    X(unsorted_by, csr, true,                                                                      \
      gp_csr_row_pointers_unsorted_by(ctx, given, e->keys, e->n, 1000, e->out[0]))                 \
    X(to_coo_by, csr, true,                                                                        \
      gp_csr_to_coo_by(ctx, given, e->offsets, e->segments, e->n, e->out[0]))                      \
    X(check_csr_by, csr, true, gp_check_csr_by(ctx, given, 0, e->n, 0, e->offsets, NULL))          \
    X(spmv_plan, values, true,                                                                     \
      gp_spmv_plan(ctx, given, e->segments, e->n, e->n, e->offsets, e->cols, e->out[0]))           \
    X(spmv_plan_bytes, values, false,                                                              \
      gp_spmv_plan_bytes(NULL, given, e->segments, e->n, e->n, figure))                            \
    X(spmv_planned, values, true, multiply_planned(ctx, e, given))                                 \
    X(transposed_plan, values, true,                                                               \
      gp_spmv_transposed_plan(ctx, given, e->segments, e->n, e->n, e->offsets, e->cols, e->floats, \
                              e->out[0]))                                                          \
    X(transposed_bytes, values, false,                                                             \
      gp_spmv_transposed_plan_bytes(NULL, given, e->segments, e->n, e->n, figure))                 \
    X(transposed_work, values, false,                                                              \
      gp_spmv_transposed_plan_workspace_bytes(NULL, given, e->segments, e->n, e->n, figure))       \
    X(transposed, values, true, multiply_transposed(ctx, e, given))                                \
    X(spmm, spmm, true,                                                                            \
      gp_spmm(ctx, given, e->segments, e->n, e->n, e->offsets, e->cols, e->floats, NULL,           \
              e->out[1], NULL, e->out[0]))                                                         \
    X(spmm_bytes, spmm, false,                                                                     \
      gp_spmm_workspace_bytes(NULL, given, e->segments, e->n, e->n, figure))                       \
    X(spmv_by, values, true,                                                                       \
      gp_spmv_by(ctx, given, e->segments, e->n, e->n, e->offsets, e->cols, e->floats, NULL,        \
                 e->floats, NULL, e->out[0]))                                                      \
    X(scan_bytes, scan, false, gp_scan_workspace_bytes(NULL, given, N, figure))                    \
    X(segmented_bytes, scan, false, gp_scan_segmented_workspace_bytes(NULL, given, N, figure))     \
    X(rows_bytes, scan, false, gp_scan_rows_workspace_bytes(NULL, given, 10, N, figure))           \
    X(sums_bytes, by_segment, false,                                                               \
      gp_reduce_segmented_workspace_bytes(NULL, given, N, 9, figure))                              \
    X(row_sums_bytes, by_row, false, gp_reduce_rows_workspace_bytes(NULL, given, 10, N, figure))   \
    X(reduce_bytes, reduce, false, gp_reduce_workspace_bytes(NULL, given, N, figure))              \
    X(compact_bytes, compact, false, gp_compact_workspace_bytes(NULL, given, N, figure))           \
    X(unique_bytes, unique, false, gp_unique_workspace_bytes(NULL, given, N, figure))              \
    X(run_length_bytes, run_length, false,                                                         \
      gp_run_length_encode_workspace_bytes(NULL, given, N, figure))                                \
    X(by_key_bytes, reduce_by_key, false,                                                          \
      gp_reduce_by_key_workspace_bytes(NULL, given, N, figure))                                    \
    X(group_by_bytes, group_by, false, gp_group_by_workspace_bytes(NULL, given, N, figure))        \
    X(multisplit_bytes, multisplit, false, gp_multisplit_workspace_bytes(NULL, given, N, figure))  \
    X(histogram_bytes, histogram, false,                                                           \
      gp_histogram_workspace_bytes(NULL, GP_U32, N, 9, GP_U32, given, figure))                     \
    X(sort_bytes, sort, false, gp_radix_sort_workspace_bytes(NULL, GP_U32, 4, N, given, figure))   \
    X(argsort_bytes, sort, false,                                                                  \
      gp_argsort_workspace_bytes(NULL, GP_U32, N, GP_U32, given, figure))                          \
    X(segsort_bytes, sort, false,                                                                  \
      gp_radix_sort_segmented_workspace_bytes(NULL, GP_U32, 4, N, 50, given, figure))              \
    X(lexsort_bytes, lexsort, false,                                                               \
      gp_lexsort_workspace_bytes(NULL, GP_U32, 4, N, given, figure))                               \
    X(lexsort_by_bytes, lex_by, false, gp_lexsort_by_workspace_bytes(NULL, given, N, figure))      \
    X(record_bytes, records, false, gp_record_sort_workspace_bytes(NULL, given, N, figure))        \
    X(merge_runs_bytes, merge_runs, false,                                                         \
      gp_merge_runs_workspace_bytes(NULL, given, N, 9, figure))                                    \
    X(coo_bytes, coo, false, gp_csr_from_coo_workspace_bytes(NULL, given, N, N, N, figure))        \
    X(transpose_bytes, coo, false, gp_csr_transpose_workspace_bytes(NULL, given, N, N, N, figure)) \
    X(filter_bytes, filter, false, gp_csr_filter_workspace_bytes(NULL, given, N, N, N, figure))    \
    X(list_bytes, filter, false, gp_coo_filter_workspace_bytes(NULL, given, N, N, N, figure))      \
    X(columns_bytes, coo, false,                                                                   \
      gp_csr_sort_columns_workspace_bytes(NULL, given, N, N, N, figure))                           \
    X(target, target, false, gp_merge_workspace_bytes(given, GP_U32, N, figure))                   \
    X(target_of_sort, target, false,                                                               \
      gp_radix_sort_workspace_bytes(given, GP_U32, 4, N, NULL, figure))

static gp_status create_and_destroy(const gp_context_options *given)
{
    gp_context *ctx;
    gp_status s = gp_context_create(&ctx, given);
    gp_context_destroy(ctx);
    return s;
}

/* One aggregate, of which the struct is given. */
static gp_status count_groups(gp_context *ctx, E e, const void *given)
{
    gp_group_by_desc d = GP_GROUP_BY_DESC_INIT;
    const size_t out = offsetof(gp_aggregate, out);
    _Alignas(16) char copy[sizeof(gp_aggregate) + TAIL];
    memcpy(copy, given, sizeof copy);
    memcpy(copy + out, &e->out[1], sizeof e->out[1]);
    d.key_dtype = GP_U32, d.num_aggregates = 1;
    d.aggregates = (const gp_aggregate *)(const void *)copy;
    return gp_group_by(ctx, &d, e->keys, e->n, e->out[0], e->count);
}

/* By plans of which the struct is given, too. */
static gp_status multiply_planned(gp_context *ctx, E e, const void *given)
{
    const gp_status s =
        gp_spmv_plan(ctx, given, e->segments, e->n, e->n, e->offsets, e->cols, e->out[1]);
    return s ? s
             : gp_spmv_planned(ctx, given, e->segments, e->n, e->n, e->offsets, e->cols, e->out[1],
                               e->floats, NULL, e->floats, NULL, e->out[0]);
}

static gp_status multiply_transposed(gp_context *ctx, E e, const void *given)
{
    gp_status s = gp_spmv_transposed_plan(ctx, given, e->segments, e->n, e->n, e->offsets, e->cols,
                                          e->floats, e->out[1]);
    if (s == GP_OK)
        s = gp_spmv_transposed_values(ctx, given, e->segments, e->n, e->n, e->floats, e->out[1]);
    return s ? s
             : gp_spmv_transposed(ctx, given, e->segments, e->n, e->n, e->out[1], NULL, e->floats,
                                  NULL, e->out[0]);
}

static const float lo = -1, hi = 1, zero = 0;

#define CALL(name, kind, has_context, expression)                                                  \
    static gp_status call_##name(gp_context *ctx, E e, const void *given, size_t *figure)          \
    {                                                                                              \
        (void)ctx, (void)e, (void)figure;                                                          \
        return expression;                                                                         \
    }
CALLS(CALL)

#define ROW(name, kind, has_context, expression) {#name, &kind##_kind, has_context, call_##name},
static const struct row {
    const char *name;
    const struct kind *kind;
    bool has_context;
    call_fn *call;
} rows[] = {CALLS(ROW)};
enum { ROWS = sizeof rows / sizeof rows[0] };

#endif
