/* SPDX-License-Identifier: MIT */
/* The calls of test_backends.c: inputs into a context's memory, the call, where its outputs are. */
#include <stdlib.h>
#include <string.h>

#include "bits_call.h"
#include "oracle.h"

/* The count in the last output: the number of items in the first. */
static void shorten(struct bits_run *r, size_t item)
{
    uint64_t count;
    T_OK(gp_copy(r->ctx, r->out[r->outputs - 1], sizeof count, &count));
    T_OK(gp_context_synchronize(r->ctx));
    r->out_bytes[0] = count * item;
}

static gp_scan_desc scan_desc(const struct bits_run *r, gp_scan_kind kind, bool init)
{
    gp_scan_desc desc = t_scan_desc(kind, D->dtype, D->dtype, (gp_op)r->which);
    desc.init = init ? D->init : NULL;
    return desc;
}

void bits_call_scan_inclusive(struct bits_run *r)
{
    void *out = result(r, D->n * D->item);
    T_OK(gp_scan_inclusive(r->ctx, D->dtype, (gp_op)r->which, items(r), D->n, out));
}

void bits_call_scan_exclusive(struct bits_run *r)
{
    void *out = result(r, D->n * D->item);
    T_OK(gp_scan_exclusive(r->ctx, D->dtype, (gp_op)r->which, items(r), D->n, D->init, out));
}

void bits_call_scan_backward(struct bits_run *r)
{
    gp_scan_desc desc = scan_desc(r, GP_SCAN_INCLUSIVE, true);
    void *out = result(r, D->n * D->item);
    desc.backward = 1;
    T_OK(gp_scan(r->ctx, &desc, items(r), D->n, out));
}

void bits_call_scan_by_key(struct bits_run *r)
{
    gp_scan_desc desc = scan_desc(r, GP_SCAN_INCLUSIVE, false);
    void *keys = given(r, D->keys, D->n * 4), *out = result(r, D->n * D->item);
    T_OK(gp_scan_by_key(r->ctx, &desc, 4, keys, items(r), D->n, out));
}

void bits_call_scan_flagged(struct bits_run *r)
{
    gp_scan_desc desc = scan_desc(r, GP_SCAN_EXCLUSIVE, true);
    void *heads = given(r, D->keep, D->n), *out = result(r, D->n * D->item);
    T_OK(gp_scan_flagged(r->ctx, &desc, items(r), heads, D->n, out));
}

void bits_call_reduce(struct bits_run *r)
{
    void *out = result(r, D->item);
    T_OK(gp_reduce(r->ctx, D->dtype, (gp_op)r->which, items(r), D->n, out));
}

void bits_call_difference(struct bits_run *r)
{
    T_OK(gp_adjacent_difference(r->ctx, D->dtype, items(r), D->n, result(r, D->n * D->item)));
}

void bits_call_reduce_segments(struct bits_run *r)
{
    gp_reduce_segmented_desc desc = GP_REDUCE_SEGMENTED_DESC_INIT;
    void *offsets = given(r, D->offsets, (D->segments + 1) * 4);
    desc.in_dtype = D->dtype;
    desc.op = (gp_op)r->which;
    desc.offset_dtype = GP_U32;
    T_OK(gp_reduce_segmented(r->ctx, &desc, items(r), D->n, offsets, D->segments,
                             result(r, D->segments * D->item)));
}

void bits_call_arg_segments(struct bits_run *r)
{
    gp_reduce_segmented_desc desc = GP_REDUCE_SEGMENTED_DESC_INIT;
    void *offsets = given(r, D->offsets, (D->segments + 1) * 4);
    void *values = result(r, D->segments * D->item), *indices = result(r, D->segments * 8);
    desc.in_dtype = D->dtype;
    desc.offset_dtype = GP_U32;
    T_OK((r->which ? gp_argmax_segmented : gp_argmin_segmented)(
        r->ctx, &desc, items(r), D->n, offsets, D->segments, values, indices));
}

void bits_call_arg(struct bits_run *r)
{
    void *value = result(r, D->item), *index = result(r, 8);
    T_OK((r->which ? gp_argmax : gp_argmin)(r->ctx, D->dtype, items(r), D->n, value, index));
}

void bits_call_compact(struct bits_run *r)
{
    void *keep = given(r, D->keep, D->n), *out = result(r, D->n * D->item);
    T_OK(gp_compact(r->ctx, D->item, items(r), keep, D->n, out, result(r, 8)));
    shorten(r, D->item);
}

void bits_call_partition(struct bits_run *r)
{
    void *keep = given(r, D->keep, D->n), *out = result(r, D->n * D->item);
    T_OK(gp_partition(r->ctx, D->item, items(r), keep, D->n, out, result(r, 8)));
}

void bits_call_partition_into(struct bits_run *r)
{
    void *keep = given(r, D->keep, D->n);
    void *front = result(r, D->n * D->item), *back = result(r, D->n * D->item);
    uint64_t *counts = result(r, 16), host[2];
    T_OK(gp_partition_into(r->ctx, D->item, items(r), keep, D->n, front, back, counts));
    T_OK(gp_copy(r->ctx, counts, sizeof host, host));
    T_OK(gp_context_synchronize(r->ctx));
    r->out_bytes[0] = host[0] * D->item;
    r->out_bytes[1] = host[1] * D->item;
}

/* From the initial value on to the first item. */
void bits_call_partition_range(struct bits_run *r)
{
    void *out[3];
    for (int k = 0; k < 3; k++)
        out[k] = result(r, D->n * D->item);
    uint64_t *counts = result(r, 24), host[3];
    T_OK(gp_partition_range(r->ctx, D->dtype, D->init, D->in, items(r), D->n, out[0], out[1],
                            out[2], counts));
    T_OK(gp_copy(r->ctx, counts, sizeof host, host));
    T_OK(gp_context_synchronize(r->ctx));
    for (int k = 0; k < 3; k++)
        r->out_bytes[k] = host[k] * D->item;
}

/* By the flags, or by the rows. */
void bits_call_multisplit(struct bits_run *r)
{
    const size_t buckets = r->which ? BITS_SIDE + 257 : 256;
    void *numbers = r->which ? given(r, D->rows, D->n * 4) : given(r, D->keep, D->n);
    void *out = result(r, D->n * D->item), *offsets = result(r, (buckets + 1) * 8);
    T_OK(gp_multisplit(r->ctx, D->item, items(r), numbers, D->n, buckets, out, offsets));
}

void bits_call_compact_indices(struct bits_run *r)
{
    void *keep = given(r, D->keep, D->n), *out = result(r, D->n * 4);
    T_OK(gp_compact_indices(r->ctx, GP_U32, keep, D->n, out, result(r, 8)));
    shorten(r, 4);
}

void bits_call_compact_if(struct bits_run *r)
{
    void *out = result(r, D->n * D->item);
    T_OK(gp_compact_if(r->ctx, D->dtype, (gp_compare)r->which, D->init, items(r), D->n, out,
                       result(r, 8)));
    shorten(r, D->item);
}

static gp_radix_sort_options sort_options(const struct bits_run *r)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.order = (gp_order)r->which;
    return o;
}

/* Items that have been sorted, and others in any order, are runs. */
void bits_call_unique(struct bits_run *r)
{
    gp_unique_desc desc = GP_UNIQUE_DESC_INIT;
    void *out = result(r, D->n * D->item), *values = given(r, D->positions, D->n * 4);
    void *first = result(r, D->n * 4), *heads = result(r, D->n * 4), *count = result(r, 8);
    uint64_t runs;
    desc.key_dtype = D->dtype, desc.value_bytes = 4, desc.index_dtype = GP_U32;
    T_OK(gp_unique_by(r->ctx, &desc, items(r), values, D->n, out, first, heads, count));
    shorten(r, D->item);
    runs = r->out_bytes[0] / D->item;
    r->out_bytes[1] = r->out_bytes[2] = runs * 4;
}

void bits_call_run_lengths(struct bits_run *r)
{
    void *out = result(r, D->n * D->item), *lengths = result(r, D->n * 8), *count = result(r, 8);
    T_OK(gp_run_length_encode(r->ctx, D->dtype, items(r), D->n, GP_U64, out, lengths, count));
    shorten(r, D->item);
    r->out_bytes[1] = r->out_bytes[0] / D->item * 8;
}

void bits_call_reduce_by_key(struct bits_run *r)
{
    gp_reduce_by_key_desc desc = GP_REDUCE_BY_KEY_DESC_INIT;
    void *keys = given(r, D->keys, D->n * 4), *out = result(r, D->n * D->item);
    void *count = result(r, 8);
    desc.key_dtype = GP_U32, desc.in_dtype = D->dtype, desc.op = (gp_op)r->which;
    T_OK(gp_reduce_by_key(r->ctx, &desc, keys, items(r), D->n, NULL, out, count));
    shorten(r, D->item);
}

void bits_call_group_by(struct bits_run *r)
{
    gp_group_by_desc desc = GP_GROUP_BY_DESC_INIT;
    gp_aggregate of[2] = {GP_AGGREGATE_INIT, GP_AGGREGATE_INIT};
    void *out = result(r, D->n * D->item), *count;
    of[0].kind = GP_AGGREGATE_LAST, of[0].value_bytes = 4;
    of[0].values = given(r, D->positions, D->n * 4), of[0].out = result(r, D->n * 4);
    of[1].op = GP_MAX, of[1].in_dtype = GP_U32;
    of[1].values = of[0].values, of[1].out = result(r, D->n * 4);
    count = result(r, 8);
    desc.key_dtype = D->dtype, desc.num_aggregates = 2, desc.aggregates = of;
    T_OK(gp_group_by(r->ctx, &desc, items(r), D->n, out, count));
    shorten(r, D->item);
    r->out_bytes[1] = r->out_bytes[2] = r->out_bytes[0] / D->item * 4;
}

void bits_call_sort(struct bits_run *r)
{
    gp_radix_sort_options o = sort_options(r);
    T_OK(gp_radix_sort(r->ctx, D->dtype, items(r), D->n, result(r, D->n * D->item), &o));
}

void bits_call_sort_pairs(struct bits_run *r)
{
    gp_radix_sort_options o = sort_options(r);
    void *values = given(r, D->positions, D->n * 4);
    void *keys_out = result(r, D->n * D->item), *values_out = result(r, D->n * 4);
    T_OK(
        gp_radix_sort_pairs(r->ctx, D->dtype, items(r), 4, values, D->n, keys_out, values_out, &o));
}

void bits_call_argsort(struct bits_run *r)
{
    gp_radix_sort_options o = sort_options(r);
    T_OK(gp_argsort(r->ctx, D->dtype, items(r), D->n, GP_U32, result(r, D->n * 4), &o));
}

void bits_call_sort_segments(struct bits_run *r)
{
    gp_radix_sort_options o = sort_options(r);
    void *values = given(r, D->positions, D->n * 4);
    void *offsets = given(r, D->offsets, (D->segments + 1) * 4);
    void *keys_out = result(r, D->n * D->item), *values_out = result(r, D->n * 4);
    T_OK(gp_radix_sort_segmented_pairs(r->ctx, D->dtype, items(r), 4, values, D->n, GP_U32, offsets,
                                       D->segments, keys_out, values_out, &o));
}

void bits_call_merge(struct bits_run *r)
{
    void *a = given(r, D->sorted, D->n * D->item), *b = given(r, D->sorted_other, D->n * D->item);
    void *values = given(r, D->positions, D->n * 4);
    void *keys_out = result(r, 2 * D->n * D->item), *values_out = result(r, 2 * D->n * 4);
    T_OK(gp_merge_pairs(r->ctx, D->dtype, GP_ASCENDING, 4, a, values, D->n, b, values, D->n,
                        keys_out, values_out));
}

void bits_call_merge_runs(struct bits_run *r)
{
    gp_merge_runs_desc d = GP_MERGE_RUNS_DESC_INIT;
    char *runs = bits_runs(D);
    void *keys = given(r, runs, D->n * D->item), *values = given(r, D->positions, D->n * 4);
    void *offsets = given(r, D->offsets, (D->segments + 1) * 4);
    void *keys_out = result(r, D->n * D->item), *values_out = r->which ? result(r, D->n * 4) : NULL;
    d.dtype = D->dtype;
    d.offset_dtype = GP_U32;
    d.value_bytes = r->which ? 4 : 0;
    T_OK(gp_merge_runs(r->ctx, &d, keys, values, D->n, offsets, D->segments, keys_out, values_out));
    T_OK(gp_context_synchronize(r->ctx));
    free(runs);
}

void bits_call_top_k(struct bits_run *r)
{
    size_t k = D->n / 3 + 1;
    void *keys_out = result(r, k * D->item), *indices_out = result(r, k * 4);
    T_OK(gp_top_k(r->ctx, D->dtype, (gp_order)r->which, items(r), D->n, k, keys_out, GP_U32,
                  indices_out));
}

void bits_call_bounds(struct bits_run *r)
{
    size_t m = D->n < BITS_NEEDLES ? D->n : BITS_NEEDLES;
    void *sorted = given(r, D->sorted, D->n * D->item), *out = result(r, m * 4);
    void *needles = given(r, D->other, m * D->item);
    T_OK((r->which ? gp_upper_bound : gp_lower_bound)(r->ctx, D->dtype, sorted, D->n, needles, m,
                                                      GP_U32, out));
}

void bits_call_lexsort(struct bits_run *r)
{
    size_t bytes = D->n * D->item;
    void *rows = given(r, D->indices, bytes), *cols = given(r, D->more_indices, bytes);
    void *rows_out = result(r, bytes), *cols_out = result(r, bytes), *values = result(r, bytes);
    T_OK(gp_lexsort_pairs(r->ctx, D->dtype, rows, cols, D->item, items(r), D->n, rows_out, cols_out,
                          values, NULL));
}

void bits_call_lexsort_by(struct bits_run *r)
{
    gp_lexsort_desc d = GP_LEXSORT_DESC_INIT;
    void *other = given(r, D->other, D->n * D->item), *out = result(r, D->n * 4);
    d.index_dtype = GP_U32;
    d.num_parts = 2;
    d.parts[0] = (gp_key_part){items(r), D->item, D->dtype, (gp_order)r->which};
    d.parts[1] = (gp_key_part){other, D->item, D->dtype, GP_ASCENDING};
    T_OK(gp_lexsort_by(r->ctx, &d, D->n, out));
}

void bits_call_record_sort(struct bits_run *r)
{
    const size_t bytes = 2 * D->item + 4;
    gp_record_sort_desc d = GP_RECORD_SORT_DESC_INIT;
    char *records = t_host(D->n * bytes);
    for (size_t i = 0; i < D->n; i++) {
        memcpy(records + i * bytes, D->in + i * D->item, D->item);
        memcpy(records + i * bytes + D->item, D->positions + i, 4);
        memcpy(records + i * bytes + D->item + 4, D->other + i * D->item, D->item);
    }
    d.record_bytes = bytes;
    d.num_fields = 2;
    d.fields[0] = (gp_record_field){0, D->dtype, (gp_order)r->which};
    d.fields[1] = (gp_record_field){D->item + 4, D->dtype, GP_ASCENDING};
    void *in = given(r, records, D->n * bytes), *out = result(r, D->n * bytes);
    T_OK(gp_record_sort(r->ctx, &d, in, D->n, out));
    T_OK(gp_context_synchronize(r->ctx));
    free(records);
}

void bits_call_gather(struct bits_run *r)
{
    uint32_t *index = t_host(D->n * 4);
    for (size_t i = 0; i < D->n; i++)
        index[i] = D->rows[i] < D->n ? D->rows[i] : 0;
    void *indices = given(r, index, D->n * 4), *out = result(r, D->n * D->item);
    T_OK(gp_gather(r->ctx, D->item, items(r), GP_U32, indices, D->n, out));
    T_OK(gp_context_synchronize(r->ctx));
    free(index);
}

/* Every index occurs once. */
void bits_call_scatter(struct bits_run *r)
{
    uint32_t *index = t_host(D->n * 4);
    for (size_t i = 0; i < D->n; i++)
        index[i] = (uint32_t)(D->n - 1 - i);
    void *indices = given(r, index, D->n * 4), *out = result(r, D->n * D->item);
    T_OK(gp_scatter(r->ctx, D->item, items(r), GP_U32, indices, D->n, out));
    T_OK(gp_context_synchronize(r->ctx));
    free(index);
}

void bits_call_fill(struct bits_run *r)
{
    T_OK(gp_fill(r->ctx, D->item, D->init, D->n, result(r, D->n * D->item)));
}

void bits_call_iota(struct bits_run *r)
{
    uint64_t first = 0, step = 0;
    bits_sequence(D->dtype, &first, &step);
    T_OK(gp_iota(r->ctx, D->dtype, &first, &step, D->n, result(r, D->n * D->item)));
}

void bits_call_expand(struct bits_run *r)
{
    void *counts = given(r, D->counts, D->n * 4), *out = result(r, 3 * D->n * D->item);
    T_OK(gp_expand_counts(r->ctx, D->item, items(r), GP_U32, counts, D->n, 3 * D->n, out,
                          result(r, 8)));
    shorten(r, D->item);
}

/* Segments in reverse. */
void bits_call_intervals(struct bits_run *r)
{
    gp_interval_desc desc = GP_INTERVAL_DESC_INIT;
    uint32_t *starts = t_host(D->segments * 4);
    desc.item_bytes = D->item;
    desc.offset_dtype = GP_U32;
    for (size_t s = 0; s < D->segments; s++)
        starts[s] = (uint32_t)D->n - D->offsets[s + 1];
    void *offsets = given(r, D->offsets, (D->segments + 1) * 4);
    void *to = given(r, starts, D->segments * 4), *out = result(r, D->n * D->item);
    T_OK(gp_copy_intervals(r->ctx, &desc, items(r), NULL, offsets, D->segments, D->n, to, out));
    T_OK(gp_context_synchronize(r->ctx));
    free(starts);
}

void bits_call_histogram_even(struct bits_run *r)
{
    char lo[8], hi[8];
    bits_limits(D->dtype, lo, hi);
    void *out = result(r, BITS_BINS * 4);
    T_OK(gp_histogram_even(r->ctx, D->dtype, items(r), D->n, lo, hi, BITS_BINS, GP_U32, out, NULL));
}

void bits_call_histogram_edges(struct bits_run *r)
{
    void *edges = given(r, D->edges, BITS_EDGES * D->item), *out = result(r, (BITS_EDGES - 1) * 4);
    T_OK(gp_histogram_edges(r->ctx, D->dtype, items(r), D->n, edges, BITS_EDGES - 1, GP_U32, out,
                            NULL));
}

void bits_call_bincount(struct bits_run *r)
{
    void *out = result(r, BITS_BINS * 4);
    T_OK(gp_bincount(r->ctx, D->dtype, items(r), D->n, BITS_BINS, GP_U32, out, NULL));
}
