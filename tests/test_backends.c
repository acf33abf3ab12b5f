/* SPDX-License-Identifier: MIT */
/*
 * Both backends give the same bits. A run on a GPU compares every call with a CPU context, a
 * run on the CPU with serial loops, on values at which mistakes show: what is moved,
 * selected, sorted and counted, and integers, to the last bit. Sums of floats are in
 * test_reduce.c and test_scan_floats.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "oracle.h"

/* ---- the table ------------------------------------------------------------------------------- */

static bool any(gp_dtype dtype, int which)
{
    (void)dtype, (void)which;
    return true;
}

/* Selections of all dtypes, the rest of integers. */
static bool exact_op(gp_dtype dtype, int op)
{
    return op == GP_MIN || op == GP_MAX || (!t_is_float(dtype) && t_op_allowed(dtype, (gp_op)op));
}

static bool exact_policy(gp_dtype dtype, int policy)
{
    return policy != GP_DUPLICATES_SUM || !t_is_float(dtype);
}

static bool integer(gp_dtype dtype, int which)
{
    (void)which;
    return !t_is_float(dtype);
}

static bool index_dtype(gp_dtype dtype, int which)
{
    (void)which;
    return dtype >= GP_I32 && dtype <= GP_U64;
}

static bool single_or_double(gp_dtype dtype, int which)
{
    (void)which;
    return dtype == GP_F32 || dtype == GP_F64;
}

static const struct row {
    const char *name;
    bits_call *call;
    bits_expect *expect;
    int first, last; /* of which */
    bool (*allowed)(gp_dtype dtype, int which);
    bool long_too;  /* also long arrays */
    bool canonical; /* the order of zeros, and of NaNs, is not specified */
    bool scans;     /* the smallest of NaNs alone is any NaN */
} rows[] = {
    {"inclusive scan", bits_call_scan_inclusive, bits_scan_inclusive, GP_SUM, T_OP_COUNT, exact_op,
     true, false, true},
    {"exclusive scan", bits_call_scan_exclusive, bits_scan_exclusive, GP_SUM, T_OP_COUNT, exact_op,
     true, false, true},
    {"backward scan", bits_call_scan_backward, bits_scan_backward, GP_SUM, T_OP_COUNT, exact_op,
     true, false, true},
    {"scan by key", bits_call_scan_by_key, bits_scan_by_key, GP_SUM, T_OP_COUNT, exact_op, true,
     false, true},
    {"flagged scan", bits_call_scan_flagged, bits_scan_flagged, GP_SUM, T_OP_COUNT, exact_op, true,
     false, true},
    {"reduce", bits_call_reduce, bits_reduce, GP_SUM, T_OP_COUNT, exact_op, true, false, false},
    {"differences", bits_call_difference, bits_difference, 0, 0, integer, true, false, false},
    {"segmented reduce", bits_call_reduce_segments, bits_reduce_segments, GP_SUM, T_OP_COUNT,
     exact_op, true, false, false},
    {"argmin, argmax of segments", bits_call_arg_segments, bits_arg_segments, 0, 1, any, true,
     false, false},
    {"argmin, argmax", bits_call_arg, bits_arg, 0, 1, any, true, false, false},
    {"compact", bits_call_compact, bits_compact, 0, 0, any, true, false, false},
    {"partition", bits_call_partition, bits_partition, 0, 0, any, true, false, false},
    {"partition into two", bits_call_partition_into, bits_partition_into, 0, 0, any, true, false,
     false},
    {"partition by a range", bits_call_partition_range, bits_partition_range, 0, 0, any, true,
     false, false},
    {"multisplit", bits_call_multisplit, bits_multisplit, 0, 1, any, true, false, false},
    {"compact indices", bits_call_compact_indices, bits_compact_indices, 0, 0, any, true, false,
     false},
    {"compact if", bits_call_compact_if, bits_compact_if, GP_EQ, GP_GE, any, true, false, false},
    {"unique", bits_call_unique, bits_unique, 0, 0, any, true, false, false},
    {"lengths of runs", bits_call_run_lengths, bits_run_lengths, 0, 0, any, true, false, false},
    {"reduce by key", bits_call_reduce_by_key, bits_reduce_by_key, GP_SUM, T_OP_COUNT, exact_op,
     true, false, false},
    {"group by", bits_call_group_by, bits_group_by, 0, 0, any, true, false, false},
    {"sort", bits_call_sort, bits_sort, GP_ASCENDING, GP_DESCENDING, any, true, true, false},
    {"sort of pairs", bits_call_sort_pairs, bits_sort_pairs, GP_ASCENDING, GP_DESCENDING, any, true,
     false, false},
    {"argsort", bits_call_argsort, bits_order_of, GP_ASCENDING, GP_DESCENDING, any, true, false,
     false},
    {"segmented sort", bits_call_sort_segments, bits_sort_segments, GP_ASCENDING, GP_DESCENDING,
     any, false, false, false},
    {"merge", bits_call_merge, bits_merge, 0, 0, any, false, false, false},
    {"merge of runs", bits_call_merge_runs, bits_merge_runs, 0, 1, any, false, false, false},
    {"top k", bits_call_top_k, bits_top_k, GP_ASCENDING, GP_DESCENDING, any, true, false, false},
    {"bounds", bits_call_bounds, bits_bounds, 0, 1, any, false, false, false},
    {"lexsort", bits_call_lexsort, bits_lexsort, 0, 0, index_dtype, false, false, false},
    {"lexsort by parts", bits_call_lexsort_by, bits_lexsort_by, GP_ASCENDING, GP_DESCENDING, any,
     true, false, false},
    {"record sort", bits_call_record_sort, bits_record_sort, GP_ASCENDING, GP_DESCENDING, any, true,
     false, false},
    {"gather", bits_call_gather, bits_gather, 0, 0, any, false, false, false},
    {"scatter", bits_call_scatter, bits_scatter, 0, 0, any, false, false, false},
    {"intervals", bits_call_intervals, bits_intervals, 0, 0, any, true, false, false},
    {"fill", bits_call_fill, bits_fill, 0, 0, any, true, false, false},
    {"iota", bits_call_iota, bits_iota, 0, 0, any, true, false, false},
    {"expand", bits_call_expand, bits_expand, 0, 0, any, false, false, false},
    {"even histogram", bits_call_histogram_even, bits_histogram_even, 0, 0, any, true, false,
     false},
    {"histogram of edges", bits_call_histogram_edges, bits_histogram_edges, 0, 0, any, true, false,
     false},
    {"bincount", bits_call_bincount, bits_bincount, 0, 0, integer, true, false, false},
    {"CSR from COO", bits_call_from_coo, bits_from_coo, GP_DUPLICATES_SUM, GP_DUPLICATES_KEEP,
     exact_policy, false, false, false},
    {"transpose", bits_call_transpose, bits_transpose, 0, 0, any, false, false, false},
    {"filter of CSR", bits_call_csr_filter, bits_csr_filter, GP_ENTRIES_LOWER,
     GP_ENTRIES_OFF_DIAGONAL, any, false, false, false},
    {"filter of COO", bits_call_coo_filter, bits_coo_filter, GP_ENTRIES_UPPER, GP_ENTRIES_DIAGONAL,
     any, false, false, false},
    {"sorted columns", bits_call_sort_columns, bits_sort_columns, 0, 0, any, false, false, false},
    {"SpMV, SpMM", bits_call_spmv, bits_spmv, 0, 1, single_or_double, false, false, false},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- comparison ------------------------------------------------------------------------------ */

/* The outputs of a call, one behind the other. */
static struct bits_output outputs_of(gp_context *ctx, const struct row *row,
                                     const struct bits_input *d, int which)
{
    struct bits_output all = {NULL, 0, 0};
    struct bits_run r = {.ctx = ctx, .d = d, .which = which};
    row->call(&r);
    for (int k = 0; k < r.outputs; k++) {
        char *host = t_host(r.out_bytes[k]);
        T_OK(gp_copy(ctx, r.out[k], r.out_bytes[k], host));
        T_OK(gp_context_synchronize(ctx));
        bits_put(&all, host, r.out_bytes[k]);
        T_OK(gp_free(ctx, r.out[k]));
        free(host);
    }
    for (int k = 0; k < r.inputs; k++)
        T_OK(gp_free(ctx, r.in[k]));
    return all;
}

/* Of the CPU, if cpu is not NULL, or of the serial loops. */
static void compare(gp_context *cpu, const struct row *row, const struct bits_input *d, int which)
{
    char name[120];
    struct bits_output actual = outputs_of(t_ctx(), row, d, which), expected = {NULL, 0, 0};
    if (cpu)
        expected = outputs_of(cpu, row, d, which);
    else
        row->expect(d, which, &expected);
    snprintf(name, sizeof name, "%s %d of %s, n %zu", row->name, which, gp_dtype_string(d->dtype),
             d->n);
    ck_assert_msg(actual.size == expected.size, "%s: %zu bytes, expected %zu", name, actual.size,
                  expected.size);
    if (row->canonical) {
        bits_canonical(d->dtype, actual.bytes, d->n);
        bits_canonical(d->dtype, expected.bytes, d->n);
    }
    if (row->scans && which == GP_MIN) {
        bits_one_nan(d->dtype, actual.bytes, d->n);
        bits_one_nan(d->dtype, expected.bytes, d->n);
    }
    t_same_bytes(name, expected.bytes, actual.bytes, actual.size);
    free(actual.bytes);
    free(expected.bytes);
}

static gp_context *cpu_context(void)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    o.backend = GP_BACKEND_CPU;
    o.threads = 2;
    T_OK(gp_context_create(&ctx, &o));
    return ctx;
}

/* From one item to arrays of several blocks of the CPU, and on a GPU of 8 MB and more, which have
 * kernels of their own. */
static size_t size_of(int s, gp_dtype dtype)
{
    static const size_t sizes[] = {1, 37, 300, 9001};
    if (s < 4)
        return sizes[s];
    return t_is_cuda() ? ((size_t)8 << 20) / gp_dtype_bytes(dtype) + 4097 : 40001;
}

START_TEST(test_backends_give_the_same_bits)
{
    gp_dtype dtype = t_dtypes[_i / 5];
    size_t n = t_at_most(size_of(_i % 5, dtype));
    bool is_long = _i % 5 == 4;
    gp_context *cpu = t_is_cuda() ? cpu_context() : NULL;
    struct bits_input d = bits_input_new(dtype, n, t_seed() + (uint64_t)_i);
    for (const struct row *row = rows; row < rows + ROWS; row++)
        for (int which = row->first; which <= row->last; which++)
            if (row->allowed(dtype, which) && (row->long_too || !is_long))
                compare(cpu, row, &d, which);
    bits_input_free(&d);
    gp_context_destroy(cpu);
}
END_TEST

/* Nothing but NaNs, of which the last few are a chunk of the CPU, shorter than its loops take. */
START_TEST(test_backends_fold_nans_alone)
{
    static const gp_dtype floats[] = {GP_F16, GP_BF16, GP_F32, GP_F64};
    gp_dtype dtype = floats[_i];
    size_t n = t_at_most(4616);
    gp_context *cpu = t_is_cuda() ? cpu_context() : NULL;
    struct bits_input d = bits_input_new(dtype, n, t_seed());
    memset(d.in, 0xff, n * d.item);
    for (const struct row *row = rows; row < rows + ROWS; row++)
        for (int op = row->first; row->allowed == exact_op && op <= row->last; op++)
            if (exact_op(dtype, op))
                compare(cpu, row, &d, op);
    bits_input_free(&d);
    gp_context_destroy(cpu);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("backends");
    TCase *c = t_case(s, "bits");
    tcase_add_loop_test(c, test_backends_give_the_same_bits, 0, 5 * T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_backends_fold_nans_alone, 0, 4);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
