/* SPDX-License-Identifier: MIT */
/* Sorts. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "radixsort_oracle.h"

/* Keys, and values of some size or none, in and out. */
struct sort {
    gp_radix_sort_options options;
    gp_dtype dtype;
    size_t n, item, value;
    fuzz_array *keys, *values, *keys_out, *values_out;
};

static gp_radix_sort_options options_of(fuzz *f, gp_dtype dtype)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    const int width = 8 * (int)gp_dtype_bytes(dtype);
    o.size = fuzz_struct(f, sizeof o);
    o.order = (gp_order)fuzz_enum(f, GP_ASCENDING, GP_DESCENDING, GP_ERROR_ARGUMENT);
    if (fuzz_flip(f) && width) {
        o.begin_bit = (int)fuzz_below(f, (uint64_t)width + 1);
        o.end_bit = o.begin_bit + (int)fuzz_below(f, (uint64_t)(width - o.begin_bit) + 1);
        o.end_bit += fuzz_fault(f, GP_ERROR_ARGUMENT) ? width + 1 : 0;
    }
    return o;
}

static void compare_segment(const struct sort *s, size_t first, size_t n)
{
    const gp_radix_sort_options *o = &s->options;
    size_t *order = oracle_argsort(s->dtype, s->keys->before + first * s->item, n,
                                   o->order == GP_DESCENDING, o->begin_bit, o->end_bit);
    char *keys = oracle_pick(s->keys->before + first * s->item, s->item, order, n);
    /* Without values the order of zeros is open; with some bits, what they hold is compared. */
    if (s->value)
        fuzz_same_bytes("keys", keys, s->keys_out->contents + first * s->item, n * s->item);
    else
        fuzz_same("keys", s->dtype, keys, s->keys_out->contents + first * s->item, n);
    free(keys);
    if (s->value) {
        char *values = oracle_pick(s->values->before + first * s->value, s->value, order, n);
        fuzz_same_bytes("values", values, s->values_out->contents + first * s->value, n * s->value);
        free(values);
    }
    free(order);
}

static struct sort sort_of(fuzz *f, bool pairs)
{
    struct sort s = {.dtype = fuzz_dtype(f, FUZZ_ALL)};
    s.item = gp_dtype_bytes(s.dtype);
    s.options = options_of(f, s.dtype);
    s.value = pairs ? fuzz_item_bytes(f) : 0;
    const size_t value = s.value <= 65536 && s.value ? s.value : 1, item = s.item ? s.item : 1;
    s.n = fuzz_count(f, value > s.item ? value : s.item);
    s.keys = fuzz_input(f, s.dtype, s.n);
    s.keys_out = fuzz_output_over(f, fuzz_product(s.n, s.item), item, s.keys);
    if (pairs) {
        const size_t bytes = fuzz_product(s.n, value), alignment = fuzz_alignment(value);
        s.values = fuzz_bytes(f, bytes, alignment);
        s.values_out = fuzz_output_over(f, bytes, alignment, s.values);
    }
    return s;
}

/* How many items there are, perhaps by a number in memory. */
static size_t counted_of(fuzz *f, struct sort *s)
{
    size_t n = s->n;
    s->options.device_n = fuzz_device_n(f, &n);
    return n;
}

static void sort(fuzz *f)
{
    size_t bytes;
    gp_target target;
    struct sort s = sort_of(f, false);
    const size_t counted = counted_of(f, &s);
    const bool usual = !f->must && fuzz_flip(f); /* no options */
    const gp_radix_sort_options standard = GP_RADIX_SORT_OPTIONS_INIT,
                                *o = usual ? NULL : &s.options;
    s.options = usual ? standard : s.options;
    fuzz_reserve(f,
                 gp_radix_sort_workspace_bytes(fuzz_target(f, &target), s.dtype, 0, s.n, o, &bytes),
                 &bytes);
    FUZZ_CALL(f, gp_radix_sort(f->ctx, s.dtype, s.keys->data, s.n, s.keys_out->data, o));
    compare_segment(&s, 0, usual ? s.n : counted);
}

static void sort_pairs(fuzz *f)
{
    size_t bytes;
    struct sort s = sort_of(f, true);
    const size_t counted = counted_of(f, &s);
    if (s.value) /* 0 is another call's */
        fuzz_reserve(f,
                     gp_radix_sort_workspace_bytes(NULL, s.dtype, s.value, s.n, &s.options, &bytes),
                     &bytes);
    FUZZ_CALL(f, gp_radix_sort_pairs(f->ctx, s.dtype, s.keys->data, s.value, s.values->data, s.n,
                                     s.keys_out->data, s.values_out->data, &s.options));
    compare_segment(&s, 0, counted);
}

static void argsort(fuzz *f)
{
    size_t bytes;
    struct sort s = {.dtype = fuzz_dtype(f, FUZZ_ALL)};
    s.item = gp_dtype_bytes(s.dtype);
    s.options = options_of(f, s.dtype);
    s.n = fuzz_count(f, 8);
    const gp_dtype dtype = fuzz_dtype(f, FUZZ_UNSIGNED);
    const size_t item = gp_dtype_bytes(dtype) ? gp_dtype_bytes(dtype) : 1;
    s.keys = fuzz_input(f, s.dtype, s.n);
    const size_t counted = counted_of(f, &s);
    fuzz_array *indices = fuzz_output_beside(f, fuzz_product(s.n, item), item, s.keys);
    fuzz_reserve(f, gp_argsort_workspace_bytes(NULL, s.dtype, s.n, dtype, &s.options, &bytes),
                 &bytes);
    FUZZ_CALL(f, gp_argsort(f->ctx, s.dtype, s.keys->data, s.n, dtype, indices->data, &s.options));
    size_t *order =
        oracle_argsort(s.dtype, s.keys->before, counted, s.options.order == GP_DESCENDING,
                       s.options.begin_bit, s.options.end_bit);
    for (size_t i = 0; i < counted; i++)
        FUZZ_CHECK(fuzz_index(dtype, indices->contents, i) == order[i], "index %zu", i);
    free(order);
}

static void sort_segments(fuzz *f)
{
    size_t bytes;
    const bool pairs = fuzz_flip(f);
    struct sort s = sort_of(f, pairs);
    const gp_dtype dtype = fuzz_dtype(f, FUZZ_INDICES);
    const size_t count = s.n ? 1 + fuzz_below(f, 512) : fuzz_below(f, 4);
    fuzz_array *offsets = fuzz_offsets(f, dtype, count, s.n, false);
    fuzz_strict_rule(f, fuzz_offsets_good(dtype, offsets, count, s.n, false));
    if (s.value || !pairs)
        fuzz_reserve(f,
                     gp_radix_sort_segmented_workspace_bytes(NULL, s.dtype, s.value, s.n, count,
                                                             &s.options, &bytes),
                     &bytes);
    if (pairs)
        FUZZ_CALL(f, gp_radix_sort_segmented_pairs(
                         f->ctx, s.dtype, s.keys->data, s.value, s.values->data, s.n, dtype,
                         offsets->data, count, s.keys_out->data, s.values_out->data, &s.options));
    else
        FUZZ_CALL(f, gp_radix_sort_segmented(f->ctx, s.dtype, s.keys->data, s.n, dtype,
                                             offsets->data, count, s.keys_out->data, &s.options));
    const uint64_t first = fuzz_index(dtype, offsets->before, 0);
    for (size_t k = 0; k < count; k++) {
        const uint64_t begin = fuzz_index(dtype, offsets->before, k);
        compare_segment(&s, begin - first, fuzz_index(dtype, offsets->before, k + 1) - begin);
    }
}

/* ---- pairs of indices ------------------------------------------------------------------------ */

struct pairs {
    gp_lexsort_options options;
    gp_dtype dtype;
    size_t n, item;
    fuzz_array *rows, *cols;
};

static struct pairs pairs_of(fuzz *f)
{
    struct pairs p = {.options = GP_LEXSORT_OPTIONS_INIT};
    p.options.size = fuzz_struct(f, sizeof p.options);
    p.options.order = (gp_order)fuzz_enum(f, GP_ASCENDING, GP_DESCENDING, GP_ERROR_ARGUMENT);
    p.dtype = fuzz_dtype(f, FUZZ_INDICES);
    p.item = gp_dtype_bytes(p.dtype);
    const int width = p.item ? 8 * (int)p.item : 8;
    p.options.row_bits = fuzz_enum(f, 0, width, GP_ERROR_ARGUMENT);
    p.options.col_bits = fuzz_enum(f, 0, width, GP_ERROR_ARGUMENT);
    p.n = fuzz_count(f, 16);
    const uint64_t bound = 1 + fuzz_below(f, 256);
    p.rows = fuzz_indices(f, p.dtype, p.n, bound);
    p.cols = fuzz_indices(f, p.dtype, p.n, bound);
    return p;
}

static bool fits(gp_dtype dtype, const fuzz_array *a, size_t n, int bits)
{
    const int width = 8 * (int)gp_dtype_bytes(dtype) - t_is_signed(dtype);
    const int used = bits == 0 || bits > width ? width : bits;
    return gp_dtype_bytes(dtype) == 0 || used <= 0 || used >= 64 ||
           fuzz_all_below(dtype, a, n, (uint64_t)1 << used);
}

static void rule_of(fuzz *f, const struct pairs *p)
{
    fuzz_rule(f, fits(p->dtype, p->rows, p->n, p->options.row_bits) &&
                     fits(p->dtype, p->cols, p->n, p->options.col_bits));
}

/* As pairs, stably: by columns, then by rows. */
static size_t *lexical_order(const struct pairs *p)
{
    const bool down = p->options.order == GP_DESCENDING;
    size_t *by_col = oracle_argsort(p->dtype, p->cols->before, p->n, down, 0, 0);
    char *rows = oracle_pick(p->rows->before, p->item, by_col, p->n);
    size_t *by_row = oracle_argsort(p->dtype, rows, p->n, down, 0, 0);
    for (size_t i = 0; i < p->n; i++)
        by_row[i] = by_col[by_row[i]];
    free(by_col);
    free(rows);
    return by_row;
}

static void lexsort(fuzz *f)
{
    size_t bytes;
    const struct pairs p = pairs_of(f);
    const gp_dtype dtype = fuzz_dtype(f, FUZZ_UNSIGNED);
    const size_t item = gp_dtype_bytes(dtype) ? gp_dtype_bytes(dtype) : 1;
    fuzz_array *indices = fuzz_output_beside(f, fuzz_product(p.n, item), item, p.rows);
    rule_of(f, &p);
    fuzz_reserve(f, gp_lexsort_workspace_bytes(NULL, p.dtype, 0, p.n, &p.options, &bytes), &bytes);
    FUZZ_CALL(f, gp_lexsort(f->ctx, p.dtype, p.rows->data, p.cols->data, p.n, dtype, indices->data,
                            &p.options));
    size_t *order = lexical_order(&p);
    for (size_t i = 0; i < p.n; i++)
        FUZZ_CHECK(fuzz_index(dtype, indices->contents, i) == order[i], "index %zu", i);
    free(order);
}

static void lexsort_pairs(fuzz *f)
{
    size_t bytes;
    const struct pairs p = pairs_of(f);
    const size_t value = fuzz_flip(f) ? 0 : 1 + fuzz_below(f, 20), item = p.item ? p.item : 1;
    const size_t alignment = value ? fuzz_alignment(value) : 1,
                 values_bytes = fuzz_product(p.n, value);
    fuzz_array *values = fuzz_bytes(f, values_bytes, alignment);
    fuzz_array *rows_out = fuzz_output_over(f, fuzz_product(p.n, item), item, p.rows);
    fuzz_array *cols_out = fuzz_output_over(f, fuzz_product(p.n, item), item, p.cols);
    fuzz_array *values_out = fuzz_output_over(f, values_bytes, alignment, values);
    rule_of(f, &p);
    fuzz_reserve(f, gp_lexsort_workspace_bytes(NULL, p.dtype, value, p.n, &p.options, &bytes),
                 &bytes);
    FUZZ_CALL(f,
              gp_lexsort_pairs(f->ctx, p.dtype, p.rows->data, p.cols->data, value, values->data,
                               p.n, rows_out->data, cols_out->data, values_out->data, &p.options));
    size_t *order = lexical_order(&p);
    fuzz_same_picked("rows", p.rows, p.item, order, p.n, rows_out);
    fuzz_same_picked("columns", p.cols, p.item, order, p.n, cols_out);
    fuzz_same_picked("values", values, value, order, p.n, values_out);
    free(order);
}

fuzz_call *const fuzz_sorts[] = {sort,    sort_pairs,    argsort, sort_segments,
                                 lexsort, lexsort_pairs, NULL};
