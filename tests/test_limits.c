/* SPDX-License-Identifier: MIT */
/* The bit and size arguments of all calls, at their limits and where the code takes another way:
 * one row per argument, see limit_rows.h. */
#include "limit_rows_bins.h"
#include "limit_rows_bytes.h"
#include "limit_rows_csr.h"
#include "limit_rows_groups.h"
#include "limit_rows_moves.h"
#include "limit_rows_sizes.h"
#include "limit_rows_sorts.h"

#define POWER(bits) ((uint64_t)1 << (bits))
#define N_MOST POWER(40)
#define REFUSED GP_ERROR_ARGUMENT

/* A row; what stands behind too_many_ are the places beside the limits. */
#define ROW(call_, argument_, run_, dtype_, with_, least_, most_, outside_, too_many_, ...)        \
    {                                                                                              \
        .call = call_, .argument = argument_, .run = run_, .dtype = dtype_, .with = with_,         \
        .least = least_, .most = most_, .outside = outside_, .too_many = too_many_, .at = {        \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
/* The bytes of an item or a value. */
#define BYTES_ROW(call, argument, run, with)                                                       \
    ROW(call, argument, run, GP_U32, with, 1, 65536, REFUSED, 0, 4, 8, 16, 32, 4096)
/* The workspace for `value` items. */
#define BYTES_OF(call_, argument_, of, dtype_, with_, most_, ...)                                  \
    {                                                                                              \
        .call = call_, .argument = argument_, .run = run_bytes, .bytes = of, .dtype = dtype_,      \
        .with = with_, .most = most_, .outside = REFUSED, .at = {                                  \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static const struct limit limits[] = {
    /* Bits that a sort compares; with: the other end of the range. */
    ROW("gp_radix_sort", "begin_bit", run_begin_bit, GP_U8, 0, 0, 8, REFUSED, 0, 2, 6),
    ROW("gp_radix_sort", "begin_bit", run_begin_bit, GP_I16, 0, 0, 16, REFUSED, 0, 8, 14),
    ROW("gp_radix_sort", "begin_bit", run_begin_bit, GP_U32, 0, 0, 32, REFUSED, 0, 8, 16, 20, 30),
    ROW("gp_radix_sort", "begin_bit", run_begin_bit, GP_F32, 0, 0, 32, REFUSED, 0, 8, 24, 30),
    ROW("gp_radix_sort", "begin_bit", run_begin_bit, GP_U64, 0, 0, 64, REFUSED, 0, 31, 33, 52, 62),
    ROW("gp_radix_sort", "begin_bit", run_begin_bit, GP_F64, 0, 0, 64, REFUSED, 0, 32, 56, 62),
    ROW("gp_radix_sort", "begin_bit", run_begin_bit, GP_U64, 32, 0, 32, REFUSED, 0, 0),
    ROW("gp_radix_sort", "begin_bit", run_begin_bit, GP_U64, 63, 0, 63, REFUSED, 0, 32),
    ROW("gp_radix_sort", "begin_bit", run_begin_bit, GP_U32, 1, 0, 1, REFUSED, 0, 0),
    ROW("gp_radix_sort", "end_bit", run_end_bit, GP_I8, 0, 0, 8, REFUSED, 0, 2, 6),
    ROW("gp_radix_sort", "end_bit", run_end_bit, GP_U16, 0, 0, 16, REFUSED, 0, 8, 14),
    ROW("gp_radix_sort", "end_bit", run_end_bit, GP_U32, 0, 0, 32, REFUSED, 0, 8, 12, 24, 30),
    ROW("gp_radix_sort", "end_bit", run_end_bit, GP_F32, 0, 0, 32, REFUSED, 0, 23, 30),
    ROW("gp_radix_sort", "end_bit", run_end_bit, GP_U64, 0, 0, 64, REFUSED, 0, 8, 31, 33, 62),
    ROW("gp_radix_sort", "end_bit", run_end_bit, GP_I64, 0, 0, 64, REFUSED, 0, 32, 48, 62),
    ROW("gp_radix_sort", "end_bit", run_end_bit, GP_U64, 32, 32, 64, REFUSED, 0, 40),
    ROW("gp_radix_sort", "end_bit", run_end_bit, GP_U64, 64, 64, 64, REFUSED, 0, 0),

    /* Items of a sort: where it goes over from comparing to counting, to wide digits, to parts, to
     * writing past the caches, and on CUDA from one bucket to many and to larger tiles. */
    ROW("gp_radix_sort", "n", run_sort_n, GP_U8, 0, 0, N_MOST, REFUSED, 140000, 128, 65536, 131072),
    ROW("gp_radix_sort", "n", run_sort_n, GP_U16, 0, 0, N_MOST, REFUSED, 140000, 128, 2048, 16384,
        131072),
    ROW("gp_radix_sort", "n", run_sort_n, GP_U32, 0, 0, N_MOST, REFUSED, 140000, 8, 64, 128, 256,
        2048, 8192, 9216, 65536, 131072),
    ROW("gp_radix_sort", "n", run_sort_n, GP_U64, 0, 0, N_MOST, REFUSED, 1400000, 32, 128, 2048,
        4096, 8192, 9216, 131072, 1398101),
    {.call = "gp_radix_sort",
     .argument = "n",
     .run = run_sort_n,
     .dtype = GP_U32,
     .most = N_MOST,
     .too_many = POWER(22) + 2,
     .at = {POWER(21), POWER(22)},
     .cuda = true},
    ROW("gp_argsort", "n", run_argsort_n, GP_U8, 4, 0, POWER(32) - 1, REFUSED, 256, 128),
    ROW("gp_argsort", "n", run_argsort_n, GP_U8, 8, 0, N_MOST, REFUSED, 256, 128),
    ROW("gp_radix_sort_segmented", "the length of a segment", run_segment_length, GP_U64, 1050000,
        1000, POWER(20), GP_OK, 400000, 65536, 349525),
    ROW("gp_radix_sort_segmented", "num_segments", run_num_segments, GP_U32, 5000, 1, N_MOST,
        REFUSED, 300002, 4096, 5000, 65536, 300000),
    ROW("gp_radix_sort_segmented", "num_segments", run_num_segments, GP_U32, 0, 0, N_MOST, REFUSED,
        300, 256),

    /* k of top-k, of which a digit is 11 bits; with: the keys, chunks of 2^16 or 4096. */
    ROW("gp_top_k", "k", run_top_k, GP_U8, 70000, 0, 70000, REFUSED, 0, 128, 65536),
    ROW("gp_top_k", "k", run_top_k, GP_I16, 65536, 0, 65536, REFUSED, 0, 2048, 4096),
    ROW("gp_top_k", "k", run_top_k, GP_F32, 65537, 0, 65537, REFUSED, 0, 2048, 4096),
    ROW("gp_top_k", "k", run_top_k, GP_U64, 131072, 0, 131072, REFUSED, 0, 2048, 65536),
    ROW("gp_top_k", "k", run_top_k, GP_U32, 1, 0, 1, REFUSED, 0, 0),

    /* Bits of rows and columns: words of 32 and 64 bits, or two sorts. */
    ROW("gp_lexsort", "row_bits + col_bits", run_lexsort_bits, GP_U32, 0, 2, 64, GP_OK, 0, 32, 63),
    ROW("gp_lexsort", "row_bits + col_bits", run_lexsort_bits, GP_U64, 0, 2, 128, GP_OK, 0, 32, 64),
    ROW("gp_lexsort", "row_bits", run_row_bits, GP_U32, 31, 0, 32, REFUSED, 0, 2),
    ROW("gp_lexsort", "row_bits", run_row_bits, GP_U64, 1, 0, 64, REFUSED, 0, 32, 63),
    ROW("gp_lexsort", "row_bits", run_row_bits, GP_U64, 32, 0, 64, REFUSED, 0, 32),
    ROW("gp_lexsort", "col_bits", run_col_bits, GP_U32, 1, 0, 32, REFUSED, 0, 31),
    ROW("gp_lexsort", "col_bits", run_col_bits, GP_U64, 0, 0, 64, REFUSED, 0, 32),
    ROW("gp_lexsort", "n", run_lexsort_n, GP_U32, 0, 0, N_MOST, REFUSED, 140000, 65536, 131072),

    /* Sparse matrices: keys of up to 64 bits and of more; with: the bytes of a row pointer. */
    ROW("gp_csr_from_coo", "the bits of rows and columns", run_coo_bits, GP_U32, 4, 2, 53, GP_OK, 0,
        31, 33),
    ROW("gp_csr_from_coo", "the bits of rows and columns", run_coo_bits, GP_U32, 8, 2, 49, GP_OK, 0,
        32),
    ROW("gp_csr_from_coo", "the bits of rows and columns", run_coo_bits, GP_U64, 8, 2, 65, GP_OK, 0,
        32, 64),
    ROW("gp_csr_from_coo", "num_rows", run_coo_rows, GP_I32, 4, 0, POWER(31), REFUSED, 70000,
        65536),
    ROW("gp_csr_from_coo", "num_rows", run_coo_rows, GP_U32, 8, 0, POWER(32), REFUSED, 70000, 1024),
    ROW("gp_csr_from_coo", "num_rows", run_coo_rows, GP_U64, 8, 0, N_MOST, REFUSED, 70000, 65536),
    ROW("gp_csr_from_coo", "num_cols", run_coo_cols, GP_I32, 4, 0, POWER(31), REFUSED, 0, 65536),
    ROW("gp_csr_from_coo", "num_cols", run_coo_cols, GP_U32, 4, 0, POWER(32), REFUSED, 0, 65536),
    ROW("gp_csr_from_coo", "num_cols", run_coo_cols, GP_U64, 8, 0, N_MOST, REFUSED, 0, POWER(32)),
    ROW("gp_csr_from_coo", "nnz", run_coo_nnz, GP_I32, 4, 0, POWER(31) - 1, GP_ERROR_OVERFLOW,
        140000, 48, 8192, 16384, 131072),
    ROW("gp_csr_from_coo", "nnz", run_coo_nnz, GP_U32, 4, 0, POWER(32) - 1, GP_ERROR_OVERFLOW,
        140000, 1024),
    ROW("gp_csr_from_coo", "nnz", run_coo_nnz, GP_U32, 8, 0, N_MOST, REFUSED, 140000, 1024),
    ROW("gp_csr_transpose", "num_cols", run_transpose_cols, GP_U32, 20000, 1, POWER(32), GP_OK,
        1026, 2, 4, 8, 1024),
    ROW("gp_csr_row_pointers", "num_rows", run_pointers_rows, GP_U32, 4, 0, POWER(32), REFUSED,
        140000, 1024, 16384, 131072 - 3001),
    ROW("gp_csr_row_pointers", "num_rows", run_pointers_rows, GP_I32, 8, 0, POWER(31), REFUSED,
        2000, 1024),
    ROW("gp_csr_row_pointers", "num_rows", run_pointers_rows, GP_U64, 8, 0, N_MOST, REFUSED, 2000,
        1024),
    ROW("gp_csr_row_pointers", "nnz", run_pointers_nnz, GP_U32, 4, 0, POWER(32) - 1,
        GP_ERROR_OVERFLOW, 140000, 500, 1024, 65536, 131072),
    ROW("gp_csr_row_pointers", "nnz", run_pointers_nnz, GP_I32, 4, 0, POWER(31) - 1,
        GP_ERROR_OVERFLOW, 2000, 1024),
    ROW("gp_csr_row_pointers", "nnz", run_pointers_nnz, GP_I64, 8, 0, N_MOST, REFUSED, 2000, 1024),
    ROW("gp_spmv", "num_rows", run_matrix_rows, GP_U32, 0, 0, POWER(32), REFUSED, 40000, 16, 32,
        1024, 4096, 8192, 16384, 32768),
    ROW("gp_spmv", "num_rows", run_matrix_rows, GP_I64, 0, 0, N_MOST, REFUSED, 9000, 1024, 8192),

    /* Bins, with: enum histogram_kind; and the bits of the range, with: the bins. */
    ROW("gp_histogram_even", "bins", run_bins, GP_U32, HISTOGRAM_EVEN, 1, POWER(31), REFUSED,
        POWER(18) + 2, 256, 1024, 2048, 12288, 58096, POWER(18)),
    ROW("gp_histogram_even", "bins", run_bins, GP_F32, HISTOGRAM_EVEN, 1, POWER(31), REFUSED,
        POWER(18) + 2, 1024, 2048, POWER(18)),
    ROW("gp_histogram_even", "bins", run_bins, GP_U8, HISTOGRAM_EVEN, 1, POWER(31), REFUSED, 2050,
        100, 256, 2048),
    ROW("gp_histogram_edges", "bins", run_bins, GP_U32, HISTOGRAM_EDGES, 1, POWER(31), REFUSED,
        4098, 2, 1024, 2048, 4096),
    ROW("gp_histogram_edges", "bins", run_bins, GP_F64, HISTOGRAM_EDGES, 1, POWER(31), REFUSED,
        2050, 256, 2048),
    ROW("gp_bincount", "bins", run_bins, GP_U8, HISTOGRAM_WHOLE, 1, POWER(31), REFUSED, 70000, 128,
        256, 65536),
    ROW("gp_bincount", "bins", run_bins, GP_I8, HISTOGRAM_WHOLE, 1, POWER(31), REFUSED, 300, 128,
        256),
    ROW("gp_bincount", "bins", run_bins, GP_I16, HISTOGRAM_WHOLE, 1, POWER(31), REFUSED, 70000,
        2048, 32768, 65536),
    ROW("gp_bincount", "bins", run_bins, GP_U16, HISTOGRAM_WHOLE, 1, POWER(31), REFUSED, 70000,
        2048, 65536),
    ROW("gp_bincount", "bins", run_bins, GP_U32, HISTOGRAM_WHOLE, 1, POWER(31), REFUSED,
        POWER(18) + 2, 2048, POWER(18)),
    ROW("gp_bincount", "bins", run_bins, GP_I64, HISTOGRAM_WHOLE, 1, POWER(31), REFUSED, 2050,
        2048),
    ROW("gp_bincount", "bins", run_bins, GP_U64, HISTOGRAM_WHOLE, 1, POWER(31), REFUSED,
        POWER(18) + 2, 2048, POWER(18)),
    ROW("gp_histogram_even", "the bits of hi - lo", run_range_bits, GP_U64, 1000, 1, 64, GP_OK, 0,
        32, 40),
    ROW("gp_histogram_even", "the bits of hi - lo", run_range_bits, GP_I64, 1021, 1, 64, GP_OK, 0,
        32, 40),
    ROW("gp_histogram_even", "the bits of hi - lo", run_range_bits, GP_U64, 1, 1, 64, GP_OK, 0, 32),
    ROW("gp_histogram_even", "the bits of hi - lo", run_range_bits, GP_U64, POWER(22), 32, 32,
        GP_OK, 0, 0),

    /* Bytes of an item or a value. */
    BYTES_ROW("gp_gather", "item_bytes", run_gather_bytes, 0),
    BYTES_ROW("gp_gather_by", "desc->item_bytes", run_gather_bytes, 1),
    BYTES_ROW("gp_scatter", "item_bytes", run_scatter_bytes, 0),
    BYTES_ROW("gp_scatter_by", "desc->item_bytes", run_scatter_bytes, 1),
    BYTES_ROW("gp_fill", "item_bytes", run_fill_bytes, 0),
    BYTES_ROW("gp_fill_by", "desc->item_bytes", run_fill_bytes, 1),
    BYTES_ROW("gp_radix_sort_pairs", "value_bytes", run_sort_bytes, 0),
    BYTES_ROW("gp_radix_sort_segmented_pairs", "value_bytes", run_segsort_bytes, 0),
    ROW("gp_lexsort_pairs", "value_bytes", run_lexsort_bytes, GP_U32, 16, 0, 65536, REFUSED, 0, 2,
        4, 8, 16),
    ROW("gp_lexsort_pairs", "value_bytes", run_lexsort_bytes, GP_U32, 32, 0, 65536, REFUSED, 0, 4,
        8, 16),
    BYTES_ROW("gp_merge_pairs", "value_bytes", run_merge_bytes, 0),
    BYTES_ROW("gp_merge_pairs_by", "desc->value_bytes", run_merge_bytes, 1),
    BYTES_ROW("gp_compact", "item_bytes", run_compact_bytes, 0),
    BYTES_ROW("gp_partition", "item_bytes", run_compact_bytes, 1),
    BYTES_ROW("gp_unique_by", "desc->key_bytes", run_unique_bytes, 0),
    ROW("gp_unique_by", "desc->value_bytes", run_unique_bytes, GP_U32, 1, 1, 65536, GP_OK, 0, 4, 8,
        16, 32, 4096),
    BYTES_ROW("gp_partition_into", "item_bytes", run_partition_into_bytes, 0),
    BYTES_ROW("gp_multisplit", "item_bytes", run_multisplit_bytes, 0),
    BYTES_ROW("gp_expand", "item_bytes", run_expand_bytes, 0),
    BYTES_ROW("gp_expand_counts", "item_bytes", run_expand_bytes, 1),
    BYTES_ROW("gp_copy_intervals", "desc->item_bytes", run_interval_bytes, 0),

    /* Numbers of items, segments and shares. */
    ROW("gp_scan_inclusive", "n", run_scan_n, GP_U32, SCAN_PLAIN, 0, N_MOST, REFUSED, 140000, 1024,
        4096, 16384, 131072),
    ROW("gp_scan_segmented", "n", run_scan_n, GP_U32, SCAN_SEGMENTED, 0, N_MOST, REFUSED, 70000,
        1024, 4096, 65536),
    ROW("gp_scan_flagged", "n", run_scan_n, GP_U32, SCAN_FLAGGED, 0, N_MOST, REFUSED, 70000, 16, 32,
        64, 4096, 65536),
    ROW("gp_scan_by_key", "n", run_scan_n, GP_U32, SCAN_BY_KEY, 0, N_MOST, REFUSED, 70000, 64, 4096,
        65536),
    {.call = "gp_scan_by_key",
     .argument = "key_bytes",
     .run = run_key_bytes,
     .least = 1,
     .most = 8,
     .outside = REFUSED,
     .powers = true,
     .at = {4, 16, POWER(32)}},
    ROW("gp_scan_rows", "row_length", run_row_length, GP_U32, 100, 0, N_MOST / 100, REFUSED, 1026,
        32, 64, 1024),
    ROW("gp_scan_rows", "row_length", run_row_length, GP_U32, POWER(36), 0, 16, REFUSED, 1,
        POWER(28), POWER(40)),
    ROW("gp_reduce", "n", run_reduce_n, GP_U32, 0, 0, N_MOST, REFUSED, 140000, 1024, 4096, 8192,
        16384, 131072),
    ROW("gp_adjacent_difference", "n", run_difference, GP_U64, 0, 0, N_MOST, REFUSED, 9000, 2,
        8192),
    ROW("gp_vector_scale", "n", run_vector, GP_F64, 0, 0, N_MOST, REFUSED, 40000, 2, 8192, 16384),
    ROW("gp_vector_dot", "n", run_vector, GP_F64, 1, 0, N_MOST, REFUSED, 40000, 2, 2048, 16384),
    ROW("gp_reduce_segmented", "n", run_sums, GP_U32, 0, 0, N_MOST, REFUSED, 140000, 16, 1024, 2048,
        16384, 131072),
    ROW("gp_reduce_rows", "num_rows", run_sums, GP_U32, 1, 0, N_MOST / 100, REFUSED, 2000, 16, 160,
        1024),
    ROW("gp_compact_indices", "n", run_compact_n, GP_U8, 4, 0, POWER(32), REFUSED, 70000, 64, 16384,
        65536),
    ROW("gp_compact_indices", "n", run_compact_n, GP_U8, 8, 0, N_MOST, REFUSED, 70000, 64, 16384),
    ROW("gp_compact_by", "capacity", run_compact_capacity, GP_U32, 20000, 0, UINT64_MAX, GP_OK, 0,
        64, 16384, 20000, POWER(32), N_MOST),
    ROW("gp_run_length_encode", "n", run_lengths_n, GP_U32, 4, 0, POWER(32) - 1, REFUSED, 140000,
        32, 64, 6144, 8192, 16384, 131072),
    ROW("gp_run_length_encode", "n", run_lengths_n, GP_U32, 8, 0, N_MOST, REFUSED, 70000, 64, 16384,
        65536),
    ROW("gp_reduce_by_key", "n", run_group_n, GP_U32, 0, 0, N_MOST, REFUSED, 140000, 32, 64, 736,
        2816, 6144, 16384, 131072),
    ROW("gp_group_by", "n", run_group_n, GP_U32, 1, 0, N_MOST, REFUSED, 140000, 64, 16384, 131072),
    ROW("gp_merge", "num_a", run_merge_n, GP_U32, 10, 0, N_MOST - 10, REFUSED, 70000, 10, 2816,
        3840, 4864, 16384, 65536),
    ROW("gp_gather_by", "desc->in_items", run_gather_items, GP_U32, 0, 0, N_MOST, REFUSED,
        MOVES + 1, 2, MOVES),
    ROW("gp_gather_by", "desc->in_stride", run_gather_stride, GP_U32, 0, 8, POWER(23), REFUSED, 40,
        16, 4096, 65536),
    ROW("gp_iota", "n", run_iota_n, GP_U64, 0, 0, N_MOST, REFUSED, 300000, 512, 32768, POWER(18)),
    ROW("gp_lower_bound", "n", run_bound, GP_I32, 3000, 0, POWER(31) - 1, REFUSED, 70000, 128,
        65536),
    ROW("gp_lower_bound", "n", run_bound, GP_U32, 10, 0, POWER(32) - 1, REFUSED, 300, 256),
    ROW("gp_lower_bound", "m", run_bound, GP_U64, 0, 0, N_MOST, REFUSED, 9000, 8, 4096, 8192),
    ROW("gp_balance_search", "num_items", run_search_items, GP_I32, 1000, 0, POWER(31) - 1, REFUSED,
        300000, 8176, 32768, 262144),
    ROW("gp_balance_search", "num_items", run_search_items, GP_U32, 10, 0, POWER(32) - 1, REFUSED,
        300, 256),
    ROW("gp_balance_search", "num_items", run_search_items, GP_U64, 1000, 0, N_MOST, REFUSED, 70000,
        65536),
    ROW("gp_balance_search", "num_segments", run_search_segments, GP_I32, 1000, 1, POWER(31) - 1,
        GP_OK, 300000, 8176, 32768, 262144),
    ROW("gp_balance_search", "num_segments", run_search_segments, GP_U64, 5000, 1, N_MOST, GP_OK,
        70000, 8176, 65536),
    ROW("gp_balance_search", "num_segments", run_search_segments, GP_I32, 0, 0, POWER(31) - 1,
        REFUSED, 300, 256),
    ROW("gp_balance_search", "num_segments", run_search_segments, GP_U64, 0, 0, N_MOST, REFUSED,
        300, 256),
    ROW("gp_merge_path_partition", "parts", run_parts, GP_U32, 1000, 1, N_MOST, REFUSED, 70000, 64,
        256, 4000, 65536),
    ROW("gp_merge_path_partition", "parts", run_parts, GP_I64, 3, 1, N_MOST, REFUSED, 70000, 64),
    ROW("gp_expand_counts", "the bits of the sum", run_sum_of_counts, GP_U64, 200000, 20, 64, GP_OK,
        0, 32, 63),

    /* Workspace. */
    BYTES_OF("gp_radix_sort_workspace_bytes", "n", bytes_sort, GP_U8, 0, N_MOST, 65536, POWER(31)),
    BYTES_OF("gp_radix_sort_workspace_bytes", "n", bytes_sort, GP_U16, 0, N_MOST, 16384, POWER(22)),
    BYTES_OF("gp_radix_sort_workspace_bytes", "n", bytes_sort, GP_U32, 4, N_MOST, 9216, POWER(21),
             POWER(22), POWER(30), POWER(31), POWER(32)),
    BYTES_OF("gp_radix_sort_workspace_bytes", "n", bytes_sort, GP_F64, 65536, N_MOST, 9216,
             POWER(21), POWER(30), POWER(32)),
    BYTES_OF("gp_argsort_workspace_bytes", "n", bytes_argsort, GP_U32, 4, POWER(32) - 1, POWER(31)),
    BYTES_OF("gp_argsort_workspace_bytes", "n", bytes_argsort, GP_U64, 8, N_MOST, POWER(32)),
    BYTES_OF("gp_radix_sort_segmented_workspace_bytes", "n", bytes_segsort, GP_U32, 24, N_MOST,
             16384, POWER(31), POWER(32)),
    BYTES_OF("gp_lexsort_workspace_bytes", "n", bytes_lexsort, GP_U32, 4, N_MOST, POWER(32)),
    BYTES_OF("gp_lexsort_workspace_bytes", "n", bytes_lexsort, GP_U64, 65536, N_MOST, POWER(32)),
    BYTES_OF("gp_top_k_workspace_bytes", "n = k", bytes_topk, GP_U32, 0, N_MOST, 65536, POWER(28),
             POWER(32)),
    BYTES_OF("gp_merge_workspace_bytes", "n", bytes_merge, GP_U32, 0, N_MOST, 2816, POWER(32)),
    BYTES_OF("gp_histogram_workspace_bytes", "n", bytes_histogram, GP_U32, 2048, N_MOST, 16384,
             POWER(31), POWER(32)),
    BYTES_OF("gp_scan_workspace_bytes", "n", bytes_scan, GP_U32, SCAN_PLAIN, N_MOST, POWER(32)),
    BYTES_OF("gp_scan_segmented_workspace_bytes", "n", bytes_scan, GP_U32, SCAN_SEGMENTED, N_MOST,
             POWER(32)),
    BYTES_OF("gp_scan_flagged_workspace_bytes", "n", bytes_scan, GP_U8, SCAN_FLAGGED, N_MOST,
             POWER(32)),
    BYTES_OF("gp_scan_by_key_workspace_bytes", "n", bytes_scan, GP_F64, SCAN_BY_KEY, N_MOST,
             POWER(32)),
    BYTES_OF("gp_scan_rows_workspace_bytes", "num_rows", bytes_scan, GP_U32, SCAN_ROWS, N_MOST,
             POWER(32)),
    BYTES_OF("gp_reduce_workspace_bytes", "n", bytes_reduce, GP_F32, 0, N_MOST, POWER(32)),
    BYTES_OF("gp_argmin_workspace_bytes", "n", bytes_reduce, GP_U64, 1, N_MOST, POWER(32)),
    BYTES_OF("gp_reduce_segmented_workspace_bytes", "n", bytes_segreduce, GP_F32, 0, N_MOST,
             POWER(32)),
    BYTES_OF("gp_reduce_rows_workspace_bytes", "num_rows", bytes_segreduce, GP_U8, 1, N_MOST,
             POWER(32)),
    BYTES_OF("gp_compact_workspace_bytes", "n", bytes_compact, GP_U8, 1, N_MOST, 16384, POWER(32)),
    BYTES_OF("gp_compact_workspace_bytes", "n", bytes_compact, GP_U8, 65536, N_MOST, POWER(32)),
    BYTES_OF("gp_unique_workspace_bytes", "n", bytes_group, GP_U8, BYTES_UNIQUE, N_MOST, 1024,
             POWER(32)),
    BYTES_OF("gp_run_length_encode_workspace_bytes", "n", bytes_group, GP_U8, BYTES_LENGTHS, N_MOST,
             16384, POWER(32)),
    BYTES_OF("gp_reduce_by_key_workspace_bytes", "n", bytes_group, GP_F64, BYTES_REDUCE, N_MOST,
             16384, POWER(32)),
    BYTES_OF("gp_group_by_workspace_bytes", "n", bytes_group, GP_U32, BYTES_GROUP, N_MOST, 16384,
             POWER(32)),
    BYTES_OF("gp_multisplit_workspace_bytes", "n", bytes_multisplit, GP_U8, 256, N_MOST, 4096,
             POWER(32)),
    BYTES_OF("gp_multisplit_workspace_bytes", "n", bytes_multisplit, GP_U32, 257, N_MOST, POWER(21),
             POWER(32)),
    BYTES_OF("gp_expand_counts_workspace_bytes", "n", bytes_expand, GP_U32, 0, N_MOST, POWER(32)),
    BYTES_OF("gp_csr_from_coo_workspace_bytes", "num_rows", bytes_csr, GP_U32, COO_ROWS, POWER(32),
             1024),
    BYTES_OF("gp_csr_from_coo_workspace_bytes", "num_rows", bytes_csr, GP_I64, COO_ROWS, N_MOST,
             POWER(31)),
    BYTES_OF("gp_csr_from_coo_workspace_bytes", "num_cols", bytes_csr, GP_I32, COO_COLS, POWER(31),
             1024),
    BYTES_OF("gp_csr_from_coo_workspace_bytes", "nnz", bytes_csr, GP_U64, COO_NNZ, N_MOST, 8192,
             131072, POWER(32)),
    BYTES_OF("gp_csr_row_pointers_unsorted_workspace_bytes", "num_rows", bytes_csr, GP_U32,
             UNSORTED_ROWS, POWER(32), 1024),
    BYTES_OF("gp_csr_row_pointers_unsorted_workspace_bytes", "nnz", bytes_csr, GP_U64, UNSORTED_NNZ,
             N_MOST, POWER(32)),
    BYTES_OF("gp_spmv_workspace_bytes", "num_rows", bytes_csr, GP_U64, SPMV_ROWS, N_MOST, 16384),
    BYTES_OF("gp_spmv_workspace_bytes", "nnz", bytes_csr, GP_U64, SPMV_NNZ, N_MOST, POWER(32)),
    BYTES_OF("gp_csr_to_coo_workspace_bytes", "nnz", bytes_csr, GP_U64, TO_COO_NNZ, N_MOST, 1024),
    ROW("gp_histogram_workspace_bytes", "bins", run_bytes_of_bins, GP_U32, 100000, 1, POWER(31),
        REFUSED, 0, 2048, 100000, POWER(18)),
    {.call = "gp_top_k_workspace_bytes",
     .argument = "n of k = 1000",
     .run = run_bytes,
     .bytes = bytes_topk,
     .dtype = GP_U64,
     .with = 1000,
     .least = 1000,
     .most = N_MOST,
     .outside = REFUSED,
     .at = {65536, POWER(28), POWER(32)}},
};

enum { LIMITS = sizeof limits / sizeof limits[0] };

START_TEST(test_arguments_at_their_limits_are_right_or_refused)
{
    if (t_is_cuda() || !limits[_i].cuda)
        limit_try_all(&limits[_i]);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("limits");
    TCase *c = t_case(s, "table");
    tcase_add_loop_test(c, test_arguments_at_their_limits_are_right_or_refused, 0, LIMITS);
    return t_main(argc, argv, s);
}
