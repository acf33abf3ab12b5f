/* SPDX-License-Identifier: MIT */
/*
 * Inputs full of special values for every call, and what comes out of it, bit by bit, by serial
 * loops. For test_backends.c.
 */
#ifndef GP_TEST_BITS_H
#define GP_TEST_BITS_H

#include <gp/gp.h>

#include "gp_test.h"

enum { BITS_SIDE = 5, BITS_EDGES = 9, BITS_NEEDLES = 300, BITS_SORTED = 100000 };

struct bits_input {
    gp_dtype dtype;
    size_t item, n;
    char *in, *other;             /* n special items each */
    char *sorted, *sorted_other;  /* the same, ascending and stable; up to BITS_SORTED */
    char *small;                  /* n whole numbers below 8 */
    char init[8];                 /* a special item */
    char *edges;                  /* BITS_EDGES ascending items, no NaN */
    char *indices, *more_indices; /* n numbers below BITS_SIDE in this dtype */
    uint8_t *keep;                /* n flags */
    uint32_t *keys;               /* n, in runs */
    uint32_t *counts;             /* n numbers below 4 */
    uint32_t *positions;          /* 0, 1, 2, .. */
    uint32_t *rows, *cols;        /* n indices below BITS_SIDE */
    uint32_t *offsets;            /* segments + 1 ascending ones, the last n */
    size_t segments;
};

struct bits_input bits_input_new(gp_dtype dtype, size_t n, uint64_t seed);
void bits_input_free(struct bits_input *d);

/* Arrays, one behind the other. */
struct bits_output {
    char *bytes;
    size_t size, room;
};

void bits_put(struct bits_output *out, const void *array, size_t bytes);
void bits_put_count(struct bits_output *out, uint64_t count);
/* *carry = carry op item; a tie keeps the carry, and what is selected its bits. */
void bits_fold(gp_dtype dtype, int op, char *carry, const char *item);
/* items[index[0]], items[index[1]], .. */
void bits_put_picked(const void *items, size_t item, const size_t *index, size_t n,
                     struct bits_output *out);

/* -1, 0 or 1 as a comes before, with or after b in gp's order. */
int bits_order(gp_dtype dtype, const void *a, const void *b);
/* The stable order of n items; which 1: descending. */
size_t *bits_argsort(gp_dtype dtype, const void *items, size_t n, int which);
/* The items, ascending in each segment; for free(). */
char *bits_runs(const struct bits_input *d);
/* Zeros and NaNs of floats become one of each: where their order is not specified. */
void bits_canonical(gp_dtype dtype, void *items, size_t n);
/* The same for NaNs alone. */
void bits_one_nan(gp_dtype dtype, void *items, size_t n);

/* The results of calls; what `which` chooses stands beside each. */
typedef void bits_expect(const struct bits_input *d, int which, struct bits_output *out);
bits_expect bits_scan_inclusive, bits_scan_exclusive, bits_scan_backward, bits_scan_by_key,
    bits_scan_flagged, bits_reduce, bits_reduce_segments; /* the gp_op */
bits_expect bits_difference;
bits_expect bits_arg, bits_arg_segments; /* 0: argmin, 1: argmax */
bits_expect bits_compact, bits_partition, bits_compact_indices;
bits_expect bits_compact_if; /* the gp_compare */
bits_expect bits_unique, bits_run_lengths, bits_group_by;
bits_expect bits_reduce_by_key; /* the gp_op */
bits_expect bits_partition_into, bits_partition_range;
bits_expect bits_multisplit;                                               /* 0: flags, 1: rows */
bits_expect bits_sort, bits_sort_pairs, bits_order_of, bits_sort_segments; /* the gp_order */
bits_expect bits_merge;
bits_expect bits_merge_runs; /* 0: keys, 1: with positions */
bits_expect bits_top_k;      /* the gp_order */
bits_expect bits_gather, bits_scatter, bits_expand, bits_fill, bits_iota, bits_intervals;
bits_expect bits_bounds; /* 0: lower, 1: upper */
bits_expect bits_histogram_even, bits_histogram_edges, bits_bincount;
bits_expect bits_from_coo; /* the gp_duplicates */
bits_expect bits_transpose, bits_csr_filter, bits_coo_filter, bits_sort_columns, bits_lexsort,
    bits_spmv;
bits_expect bits_lexsort_by, bits_record_sort; /* the gp_order of the first part */

/* Numbers of a sequence: sums of them are exact as float, unless they wrap. */
void bits_sequence(gp_dtype dtype, void *first, void *step);

/* Even bins of histograms, in the dtype, or in float for halves. */
enum { BITS_BINS = 7 };
void bits_limits(gp_dtype dtype, char lo[8], char hi[8]);

/* One call on one context. */
enum { BITS_INPUTS = 8, BITS_OUTPUTS = 4 };

struct bits_run {
    gp_context *ctx;
    const struct bits_input *d;
    int which;
    void *in[BITS_INPUTS], *out[BITS_OUTPUTS];
    size_t out_bytes[BITS_OUTPUTS]; /* of them that the result has */
    int inputs, outputs;
};

typedef void bits_call(struct bits_run *r);
bits_call bits_call_scan_inclusive, bits_call_scan_exclusive, bits_call_scan_backward,
    bits_call_scan_by_key, bits_call_scan_flagged, bits_call_reduce, bits_call_arg,
    bits_call_partition_into, bits_call_partition_range, bits_call_multisplit, bits_call_difference,
    bits_call_reduce_segments, bits_call_arg_segments, bits_call_compact, bits_call_partition,
    bits_call_compact_indices, bits_call_compact_if, bits_call_unique, bits_call_run_lengths,
    bits_call_reduce_by_key, bits_call_group_by, bits_call_sort, bits_call_sort_pairs,
    bits_call_argsort, bits_call_sort_segments, bits_call_merge, bits_call_merge_runs,
    bits_call_top_k, bits_call_bounds, bits_call_lexsort, bits_call_lexsort_by,
    bits_call_record_sort, bits_call_gather, bits_call_scatter, bits_call_expand, bits_call_fill,
    bits_call_iota, bits_call_intervals, bits_call_histogram_even, bits_call_histogram_edges,
    bits_call_bincount, bits_call_from_coo, bits_call_transpose, bits_call_csr_filter,
    bits_call_coo_filter, bits_call_sort_columns, bits_call_spmv;

#endif
