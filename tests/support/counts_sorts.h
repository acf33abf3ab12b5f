/* SPDX-License-Identifier: MIT */
/* The rows of counts_calls.c that sort: a part of that file. */

static gp_radix_sort_options sort_of(C c)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.device_n = c->device_n;
    return o;
}

CALL(sort_u32)
{
    const gp_radix_sort_options o = sort_of(c);
    return gp_radix_sort(ctx, GP_U32, c->bits, c->n, c->out[0], &o);
}

CALL(sort_few)
{
    const gp_radix_sort_options o = sort_of(c);
    return gp_radix_sort(ctx, GP_I32, c->keys, c->n, c->out[0], &o);
}

CALL(sort_u64)
{
    gp_radix_sort_options o = sort_of(c);
    o.order = GP_DESCENDING;
    return gp_radix_sort(ctx, GP_U64, c->bits, c->n, c->out[0], &o);
}

CALL(sort_bytes)
{
    const gp_radix_sort_options o = sort_of(c);
    return gp_radix_sort(ctx, GP_I8, c->bits, c->n, c->out[0], &o);
}

CALL(sort_u16)
{
    const gp_radix_sort_options o = sort_of(c);
    return gp_radix_sort(ctx, GP_U16, c->bits, c->n, c->out[0], &o);
}

CALL(sort_floats_by_some_bits)
{
    gp_radix_sort_options o = sort_of(c);
    o.begin_bit = 13;
    return gp_radix_sort(ctx, GP_F32, c->floats, c->n, c->out[0], &o);
}

CALL(sort_by_no_bits)
{
    gp_radix_sort_options o = sort_of(c);
    o.begin_bit = o.end_bit = 5;
    return gp_radix_sort_pairs(ctx, GP_U32, c->bits, 6, c->bits, c->n, c->out[0], c->out[1], &o);
}

static gp_status sort_pairs(gp_context *ctx, C c, gp_dtype dtype, size_t value_bytes)
{
    const gp_radix_sort_options o = sort_of(c);
    return gp_radix_sort_pairs(ctx, dtype, c->bits, value_bytes, c->bits, c->n, c->out[0],
                               c->out[1], &o);
}

CALL(sort_pairs_4)
{
    return sort_pairs(ctx, c, GP_U32, 4);
}

CALL(sort_pairs_of_few)
{
    const gp_radix_sort_options o = sort_of(c);
    return gp_radix_sort_pairs(ctx, GP_U32, c->keys, 4, c->bits, c->n, c->out[0], c->out[1], &o);
}

CALL(sort_pairs_of_bytes)
{
    return sort_pairs(ctx, c, GP_U8, 4);
}

CALL(sort_pairs_of_u16)
{
    return sort_pairs(ctx, c, GP_U16, 8);
}

CALL(sort_pairs_by_position)
{
    return sort_pairs(ctx, c, GP_U64, 3);
}

/* Values without a kernel of their own are copied aside first. */
CALL(sort_pairs_in_place)
{
    const gp_radix_sort_options o = sort_of(c);
    const size_t all = c->items;
    gp_status s = gp_copy(ctx, c->bits, all * 4, c->out[0]);
    s = s ? s : gp_copy(ctx, c->bits, all * 8, c->out[1]);
    return s ? s
             : gp_radix_sort_pairs(ctx, GP_U32, c->out[0], 6, c->out[1], c->n, c->out[0], c->out[1],
                                   &o);
}

CALL(argsort)
{
    const gp_radix_sort_options o = sort_of(c);
    return gp_argsort(ctx, GP_U32, c->keys, c->n, GP_U32, c->out[0], &o);
}

CALL(argsort_by_no_bits)
{
    gp_radix_sort_options o = sort_of(c);
    o.begin_bit = o.end_bit = 32;
    return gp_argsort(ctx, GP_U32, c->keys, c->n, GP_U64, c->out[0], &o);
}

static gp_radix_sort_options segments_sort_of(C c)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.device_n = c->device_m;
    o.device_num_segments = c->device_n;
    return o;
}

CALL(sort_segmented)
{
    const gp_radix_sort_options o = segments_sort_of(c);
    return gp_radix_sort_segmented(ctx, GP_U32, c->bits, c->m, GP_U32, c->offsets, c->n, c->out[0],
                                   &o);
}

CALL(sort_segmented_pairs)
{
    const gp_radix_sort_options o = segments_sort_of(c);
    return gp_radix_sort_segmented_pairs(ctx, GP_U32, c->keys, 2, c->bits, c->m, GP_U32, c->offsets,
                                         c->n, c->out[0], c->out[1], &o);
}

/* One run, and the items of all segments in turn. */
static gp_merge_runs_desc runs_of(C c)
{
    gp_merge_runs_desc d = GP_MERGE_RUNS_DESC_INIT;
    d.dtype = d.offset_dtype = GP_U32;
    d.device_n = c->device_m;
    d.device_num_runs = c->device_n;
    return d;
}

CALL(merge_runs)
{
    gp_merge_runs_desc d = runs_of(c);
    return gp_merge_runs(ctx, &d, c->bits, NULL, c->m, c->offsets, c->n, c->out[0], NULL);
}

CALL(merge_runs_pairs)
{
    gp_merge_runs_desc d = runs_of(c);
    d.value_bytes = 2;
    return gp_merge_runs(ctx, &d, c->keys, c->bits, c->m, c->offsets, c->n, c->out[0], c->out[1]);
}

static gp_lexsort_options lex_of(C c, int bits)
{
    gp_lexsort_options o = GP_LEXSORT_OPTIONS_INIT;
    o.row_bits = o.col_bits = bits;
    o.device_n = c->device_n;
    return o;
}

CALL(lexsort)
{
    const gp_lexsort_options o = lex_of(c, 32);
    return gp_lexsort(ctx, GP_U32, c->rows, c->cols, c->n, GP_U32, c->out[0], &o);
}

CALL(lexsort_pairs)
{
    const gp_lexsort_options o = lex_of(c, 16);
    return gp_lexsort_pairs(ctx, GP_U32, c->rows, c->cols, 4, c->bits, c->n, c->out[0], c->out[1],
                            c->out[2], &o);
}

CALL(lexsort_pairs_wide)
{
    const gp_lexsort_options o = lex_of(c, 64);
    return gp_lexsort_pairs(ctx, GP_U64, c->bits, c->bits, 5, c->bits, c->n, c->out[0], c->out[1],
                            c->out[2], &o);
}

CALL(lexsort_by)
{
    gp_lexsort_desc d = GP_LEXSORT_DESC_INIT;
    d.index_dtype = GP_U64;
    d.num_parts = 2;
    d.parts[0] = (gp_key_part){c->keys, 4, GP_I32, GP_DESCENDING};
    d.parts[1] = (gp_key_part){c->bits, 8, GP_U64, GP_ASCENDING};
    d.device_n = c->device_n;
    return gp_lexsort_by(ctx, &d, c->n, c->out[0]);
}

CALL(record_sort)
{
    gp_record_sort_desc d = GP_RECORD_SORT_DESC_INIT;
    d.record_bytes = 8;
    d.num_fields = 1;
    d.fields[0] = (gp_record_field){5, GP_U16, GP_ASCENDING};
    d.device_n = c->device_n;
    return gp_record_sort(ctx, &d, c->bits, c->n, c->out[0]);
}

static gp_top_k_desc top_of(C c, gp_order order)
{
    gp_top_k_desc d = GP_TOP_K_DESC_INIT;
    d.dtype = d.index_dtype = GP_U32;
    d.order = order;
    d.device_n = c->device_n;
    return d;
}

CALL(top_k)
{
    gp_top_k_desc d = top_of(c, GP_DESCENDING);
    d.device_k = c->device_m;
    return gp_top_k_by(ctx, &d, c->bits, c->n, c->m, c->out[0], c->out[1]);
}

/* As many as there are, up to 100. */
CALL(top_100)
{
    const gp_top_k_desc d = top_of(c, GP_ASCENDING);
    return gp_top_k_by(ctx, &d, c->keys, c->n, c->n < 100 ? c->n : 100, c->out[0], c->out[1]);
}

#define COUNTS_SORTS                                                                               \
    ROW(sort_u32, "gp_radix_sort", COUNTS_ITEMS), ROW(sort_few, "gp_radix_sort", COUNTS_ITEMS),    \
        ROW(sort_u64, "gp_radix_sort", COUNTS_ITEMS),                                              \
        ROW(sort_bytes, "gp_radix_sort", COUNTS_ITEMS),                                            \
        ROW(sort_u16, "gp_radix_sort", COUNTS_ITEMS),                                              \
        ROW(sort_floats_by_some_bits, "gp_radix_sort", COUNTS_ITEMS),                              \
        ROW(sort_by_no_bits, "gp_radix_sort_pairs", COUNTS_ITEMS),                                 \
        ROW(sort_pairs_4, "gp_radix_sort_pairs", COUNTS_ITEMS),                                    \
        ROW(sort_pairs_of_few, "gp_radix_sort_pairs", COUNTS_ITEMS),                               \
        ROW(sort_pairs_of_bytes, "gp_radix_sort_pairs", COUNTS_ITEMS),                             \
        ROW(sort_pairs_of_u16, "gp_radix_sort_pairs", COUNTS_ITEMS),                               \
        ROW(sort_pairs_by_position, "gp_radix_sort_pairs", COUNTS_ITEMS),                          \
        ROW(sort_pairs_in_place, "gp_radix_sort_pairs", COUNTS_ITEMS),                             \
        ROW(argsort, "gp_argsort", COUNTS_ITEMS),                                                  \
        ROW(argsort_by_no_bits, "gp_argsort", COUNTS_ITEMS),                                       \
        ROW(sort_segmented, "gp_radix_sort_segmented", COUNTS_SEGMENTS_ITEMS),                     \
        ROW(sort_segmented_pairs, "gp_radix_sort_segmented_pairs", COUNTS_SEGMENTS_ITEMS),         \
        ROW(merge_runs, "gp_merge_runs", COUNTS_SEGMENTS_ITEMS),                                   \
        ROW(merge_runs_pairs, "gp_merge_runs", COUNTS_SEGMENTS_ITEMS),                             \
        ROW(lexsort, "gp_lexsort", COUNTS_ITEMS),                                                  \
        ROW(lexsort_pairs, "gp_lexsort_pairs", COUNTS_ITEMS),                                      \
        ROW(lexsort_pairs_wide, "gp_lexsort_pairs", COUNTS_ITEMS),                                 \
        ROW(lexsort_by, "gp_lexsort_by", COUNTS_ITEMS),                                            \
        ROW(record_sort, "gp_record_sort", COUNTS_ITEMS), ROW(top_k, "gp_top_k_by", COUNTS_HALF),  \
        ROW(top_100, "gp_top_k_by", COUNTS_ITEMS)
