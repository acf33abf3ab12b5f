/* SPDX-License-Identifier: MIT */
/* One call of every primitive. */
#include "calls.h"

/* A function of the table; the arguments are those of the library's behind the context. */
#define CALL(name, ...)                                                                            \
    static gp_status name(gp_context *ctx, const struct call_arrays *a)                            \
    {                                                                                              \
        return gp_##name(ctx, __VA_ARGS__);                                                        \
    }

static const uint32_t middle = 0x80000000;
static const int32_t lowest = 0, highest = CALL_SAMPLES_BELOW;
static const gp_coo_desc matrix = GP_COO_DESC_INIT;

static gp_scan_desc sums(void)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = GP_U32;
    return d;
}

CALL(scan_inclusive, GP_I32, GP_SUM, a->words, a->n, a->out)
CALL(scan_exclusive, GP_I32, GP_SUM, a->words, a->n, NULL, a->out)

static gp_status scan_segmented(gp_context *ctx, const struct call_arrays *a)
{
    const gp_scan_desc d = sums();
    return gp_scan_segmented(ctx, &d, a->words, a->n, GP_U32, a->offsets, a->num_segments, a->out);
}

static gp_status scan_flagged(gp_context *ctx, const struct call_arrays *a)
{
    const gp_scan_desc d = sums();
    return gp_scan_flagged(ctx, &d, a->words, a->heads, a->n, a->out);
}

static gp_status scan_by_key(gp_context *ctx, const struct call_arrays *a)
{
    const gp_scan_desc d = sums();
    return gp_scan_by_key(ctx, &d, 4, a->segments, a->words, a->n, a->out);
}

static gp_status scan_rows(gp_context *ctx, const struct call_arrays *a)
{
    const gp_scan_desc d = sums();
    return gp_scan_rows(ctx, &d, a->words, a->num_segments, CALL_SEGMENT, a->out);
}

CALL(reduce, GP_I32, GP_SUM, a->words, a->n, a->out)
CALL(argmin, GP_U32, a->words, a->n, a->out, a->out_count)
CALL(argmax, GP_U32, a->words, a->n, a->out, a->out_count)

CALL(compact, 4, a->words, a->flags, a->n, a->out, a->out_count)
CALL(compact_if, GP_U32, GP_LT, &middle, a->words, a->n, a->out, a->out_count)
CALL(compact_indices, GP_U32, a->flags, a->n, a->out, a->out_count)
CALL(partition, 4, a->words, a->flags, a->n, a->out, a->out_count)

CALL(histogram_even, GP_I32, a->samples, a->n, &lowest, &highest, CALL_BINS, GP_U32, a->out, NULL)
CALL(histogram_edges, GP_U32, a->samples, a->n, a->edges, CALL_BINS, GP_U32, a->out, NULL)
CALL(bincount, GP_U8, a->bytes, a->n, CALL_BINS, GP_U32, a->out, NULL)

CALL(radix_sort, GP_U32, a->words, a->n, a->out, NULL)
CALL(radix_sort_pairs, GP_U32, a->words, 4, a->values, a->n, a->out, a->out_values, NULL)
CALL(argsort, GP_U32, a->words, a->n, GP_U32, a->out, NULL)
CALL(radix_sort_segmented, GP_U32, a->words, a->n, GP_U32, a->offsets, a->num_segments, a->out,
     NULL)
CALL(radix_sort_segmented_pairs, GP_U32, a->words, 4, a->values, a->n, GP_U32, a->offsets,
     a->num_segments, a->out, a->out_values, NULL)
CALL(lexsort, GP_U32, a->rows, a->cols, a->n, GP_U32, a->out, NULL)
CALL(lexsort_pairs, GP_U32, a->rows, a->cols, 4, a->values, a->n, a->out_rows, a->out,
     a->out_values, NULL)
CALL(merge, GP_U32, GP_ASCENDING, a->halves, a->n / 2, a->halves + a->n / 2, a->n / 2, a->out)
CALL(merge_pairs, GP_U32, GP_ASCENDING, 4, a->halves, a->values, a->n / 2, a->halves + a->n / 2,
     a->values + a->n / 2, a->n / 2, a->out, a->out_values)
CALL(top_k, GP_U32, GP_DESCENDING, a->words, a->n, CALL_TOP, a->out, GP_U32, a->out_values)
CALL(gather, 4, a->words, GP_U32, a->places, a->n, a->out)

CALL(lower_bound, GP_U32, a->ascending, a->n, a->words, a->n, GP_U32, a->out)
CALL(upper_bound, GP_U32, a->ascending, a->n, a->words, a->n, GP_U32, a->out)
CALL(balance_search, GP_U32, a->offsets, a->num_segments, a->n, GP_U32, a->out, NULL)
CALL(expand, 4, a->words, GP_U32, a->offsets, a->num_segments, a->n, a->out)
CALL(expand_counts, 4, a->words, GP_U32, a->sizes, a->num_segments, a->n, a->out, a->out_count)
CALL(merge_path_partition, GP_U32, a->offsets, a->num_segments, a->n, CALL_PARTS, a->out,
     a->out_values)
CALL(check_offsets, GP_U32, a->offsets, a->num_segments, a->n)

CALL(csr_row_pointers, GP_U32, a->segments, a->n, a->num_segments, GP_U32, a->out_offsets)
CALL(csr_row_pointers_unsorted, GP_U32, a->rows, a->n, a->num_segments, GP_U32, a->out_offsets)
CALL(csr_to_coo, GP_U32, a->offsets, a->num_segments, a->n, GP_U32, a->out)
CALL(check_csr, GP_U32, GP_U32, a->num_segments, a->num_segments, a->n, a->offsets, a->csr_cols)
CALL(spmv, GP_U32, GP_U32, GP_F32, a->num_segments, a->num_segments, a->n, a->offsets, a->csr_cols,
     a->values, NULL, a->values, NULL, a->out)

static gp_status csr_from_coo(gp_context *ctx, const struct call_arrays *a)
{
    return gp_csr_from_coo(ctx, &matrix, a->num_segments, a->num_segments, a->rows, a->cols,
                           a->values, a->n, a->out_offsets, a->out, a->out_values, a->out_count);
}

static gp_status csr_transpose(gp_context *ctx, const struct call_arrays *a)
{
    return gp_csr_transpose(ctx, &matrix, a->num_segments, a->num_segments, a->n, a->offsets,
                            a->csr_cols, a->values, a->out_offsets, a->out, a->out_values);
}

static void take_words(const struct call_arrays *a, struct bench_args *loop)
{
    loop->in = a->words;
    loop->bound = middle;
}

static void take_samples(const struct call_arrays *a, struct bench_args *loop)
{
    loop->in = a->samples;
    loop->bound = CALL_SAMPLES_BELOW;
}

static void take_bytes(const struct call_arrays *a, struct bench_args *loop)
{
    loop->in = a->bytes;
}

#define ROW(name, dtype)                                                                           \
    {                                                                                              \
#name, name, dtype, false, NULL, NULL, NULL                                                \
    }

const struct call call_table[] = {
    {"scan_inclusive", scan_inclusive, GP_I32, false, "scan", "inclusive_sum", take_words},
    ROW(scan_exclusive, GP_I32),
    ROW(scan_segmented, GP_U32),
    ROW(scan_flagged, GP_U32),
    ROW(scan_by_key, GP_U32),
    ROW(scan_rows, GP_U32),
    {"reduce", reduce, GP_I32, false, "reduce", "reduce_sum", take_words},
    ROW(argmin, GP_U32),
    ROW(argmax, GP_U32),
    {"compact", compact, GP_U32, true, "compact", "flags_50", take_words},
    {"compact_if", compact_if, GP_U32, true, "compact", "if_50", take_words},
    {"compact_indices", compact_indices, GP_U32, true, NULL, NULL, NULL},
    ROW(partition, GP_U32),
    {"histogram_even", histogram_even, GP_I32, false, "histogram", "even_256", take_samples},
    ROW(histogram_edges, GP_U32),
    {"bincount", bincount, GP_U8, false, "histogram", "bincount_256", take_bytes},
    ROW(radix_sort, GP_U32),
    ROW(radix_sort_pairs, GP_U32),
    ROW(argsort, GP_U32),
    ROW(radix_sort_segmented, GP_U32),
    ROW(radix_sort_segmented_pairs, GP_U32),
    ROW(lexsort, GP_U32),
    ROW(lexsort_pairs, GP_U32),
    ROW(merge, GP_U32),
    ROW(merge_pairs, GP_U32),
    ROW(top_k, GP_U32),
    ROW(gather, GP_U32),
    ROW(lower_bound, GP_U32),
    ROW(upper_bound, GP_U32),
    ROW(balance_search, GP_U32),
    ROW(expand, GP_U32),
    ROW(expand_counts, GP_U32),
    ROW(merge_path_partition, GP_U32),
    ROW(check_offsets, GP_U32),
    ROW(csr_row_pointers, GP_U32),
    ROW(csr_row_pointers_unsorted, GP_U32),
    {"csr_from_coo", csr_from_coo, GP_F32, true, NULL, NULL, NULL},
    ROW(csr_to_coo, GP_U32),
    ROW(csr_transpose, GP_F32),
    ROW(check_csr, GP_U32),
    ROW(spmv, GP_F32),
    {NULL, NULL, (gp_dtype)0, false, NULL, NULL, NULL},
};
