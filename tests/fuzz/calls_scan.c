/* SPDX-License-Identifier: MIT */
/* Scans, segmented scans, reductions, places of extremes. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "oracle.h"

/* Whether every association gives the same: integers, selections, sums of few small numbers. */
static bool is_exact(gp_dtype dtype, gp_op op, const void *in, size_t n)
{
    if (gp_op_scalars(op) > 1)
        return false;
    if (!t_is_float(dtype) || op == GP_MIN || op == GP_MAX)
        return true;
    for (size_t i = 0; op == GP_SUM && i < n; i++) {
        const double v = t_value(dtype, in, i);
        if (!(v >= 0 && v < 256 && v == (double)(int)v && n < 60000))
            return false;
    }
    return op == GP_SUM;
}

/* A descriptor's members that scans share; *item is the size of one. */
static gp_scan_desc scan_desc(fuzz *f, int last_kind, size_t *item)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.size = fuzz_struct(f, sizeof d);
    d.kind = (gp_scan_kind)fuzz_enum(f, GP_SCAN_INCLUSIVE, last_kind, GP_ERROR_ARGUMENT);
    d.in_dtype = fuzz_dtype(f, FUZZ_ALL);
    d.op = fuzz_op(f, d.in_dtype);
    *item = gp_dtype_bytes(d.in_dtype) * gp_op_scalars(d.op);
    return d;
}

/* Host memory for an initial value, or NULL. */
static const void *initial(fuzz *f, gp_dtype dtype, gp_op op)
{
    return fuzz_below(f, 4) == 0 && gp_dtype_bytes(dtype) ? fuzz_host(f, dtype, gp_op_scalars(op))
                                                          : NULL;
}

static size_t scalar(gp_dtype dtype)
{
    const size_t bytes = gp_dtype_bytes(dtype);
    return bytes ? bytes : 1;
}

/* ---- scan ------------------------------------------------------------------------------------ */

/* The oracle of a segment that begins at item first, into expected. */
static void expect_segment(const gp_scan_desc *d, const char *in, size_t first, size_t n,
                           size_t item, char *expected)
{
    char *part = oracle_scan(d, in + first * item, n);
    memcpy(expected + first * item, part, n * item);
    free(part);
}

static void turn(char *items, size_t n, size_t item)
{
    char held[8];
    for (size_t i = 0; i < n / 2; i++) {
        memcpy(held, items + i * item, item);
        memcpy(items + i * item, items + (n - 1 - i) * item, item);
        memcpy(items + (n - 1 - i) * item, held, item);
    }
}

static void expect_scan(const gp_scan_desc *d, const fuzz_array *in, size_t n, const void *out)
{
    const size_t item = gp_dtype_bytes(d->in_dtype);
    if (!is_exact(d->in_dtype, d->op, in->before, n) || (d->init && t_is_float(d->in_dtype)))
        return;
    if (d->backward)
        turn(in->before, n, item);
    char *expected = oracle_scan(d, in->before, n);
    const gp_dtype dtype = d->out_dtype ? d->out_dtype : d->in_dtype;
    if (d->backward)
        turn(expected, n, gp_dtype_bytes(dtype));
    fuzz_same("scan", dtype, expected, out, n + (d->kind == GP_SCAN_ROW_POINTERS));
    free(expected);
}

/* Some algorithms the CPU has not, and beside a direction or a tile method none but one. */
static void choose_algorithm(fuzz *f, gp_scan_desc *d)
{
    if (fuzz_below(f, 4))
        return;
    d->algorithm =
        (gp_algorithm)fuzz_enum(f, GP_ALGORITHM_AUTO, GP_ALGORITHM_SERIAL, GP_ERROR_ARGUMENT);
    d->tile =
        (gp_scan_tile)fuzz_enum(f, GP_SCAN_TILE_AUTO, GP_SCAN_TILE_THREE_PHASE, GP_ERROR_ARGUMENT);
    f->may |= FUZZ_BIT(GP_ERROR_UNSUPPORTED);
}

/* The output's dtype. */
static gp_dtype widen(fuzz *f, gp_dtype *in, gp_op op)
{
    const uint64_t pair = fuzz_below(f, 4 * T_WIDENING_COUNT);
    if (op != GP_SUM || pair >= T_WIDENING_COUNT || gp_dtype_bytes(*in) == 0)
        return *in;
    *in = t_widening[pair][0];
    return t_widening[pair][1];
}

static void scan(fuzz *f)
{
    size_t item, bytes;
    gp_target target;
    gp_scan_desc d = scan_desc(f, GP_SCAN_ROW_POINTERS, &item);
    const bool pointers = d.kind == GP_SCAN_ROW_POINTERS;
    const gp_dtype out_dtype = d.out_dtype = widen(f, &d.in_dtype, d.op);
    const size_t scalars = gp_op_scalars(d.op), out_item = scalars * gp_dtype_bytes(out_dtype);
    const size_t n = fuzz_count(f, out_item);
    size_t counted = n;
    choose_algorithm(f, &d);
    d.init = initial(f, out_dtype, d.op);
    d.backward = !pointers && fuzz_below(f, 4) == 0;
    d.device_n = fuzz_device_n(f, &counted);
    d.total = scalars == 1 ? fuzz_output_if(f, 8, 8)->data : NULL;
    f->sticky |= d.total ? FUZZ_BIT(GP_ERROR_OVERFLOW) : 0;
    fuzz_array *in = fuzz_input(f, d.in_dtype, fuzz_product(n, scalars));
    fuzz_array *out = pointers ? fuzz_output(f, fuzz_product(n + 1, out_item), scalar(out_dtype))
                      : out_dtype != d.in_dtype
                          ? fuzz_output_beside(f, fuzz_product(n, out_item), scalar(out_dtype), in)
                          : fuzz_output_over(f, fuzz_product(n, out_item), scalar(out_dtype), in);
    fuzz_reserve(f, gp_scan_workspace_bytes(fuzz_target(f, &target), &d, n, &bytes), &bytes);
    FUZZ_CALL(f, gp_scan(f->ctx, &d, in->data, n, out->data));
    expect_scan(&d, in, counted, out->contents);
}

static void scan_short(fuzz *f)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = fuzz_dtype(f, FUZZ_ALL);
    d.op = fuzz_op(f, d.in_dtype);
    const size_t scalars = gp_op_scalars(d.op), item = scalars * gp_dtype_bytes(d.in_dtype);
    const size_t n = fuzz_count(f, item);
    fuzz_array *in = fuzz_input(f, d.in_dtype, fuzz_product(n, scalars));
    fuzz_array *out = fuzz_output_over(f, fuzz_product(n, item), scalar(d.in_dtype), in);
    if (fuzz_flip(f)) {
        d.kind = GP_SCAN_EXCLUSIVE;
        d.init = initial(f, d.in_dtype, d.op);
        FUZZ_CALL(f, gp_scan_exclusive(f->ctx, d.in_dtype, d.op, in->data, n, d.init, out->data));
    } else {
        FUZZ_CALL(f, gp_scan_inclusive(f->ctx, d.in_dtype, d.op, in->data, n, out->data));
    }
    expect_scan(&d, in, n, out->contents);
}

static void difference(fuzz *f)
{
    gp_difference_desc d = GP_DIFFERENCE_DESC_INIT;
    const bool by = fuzz_flip(f);
    if (by) {
        d.size = fuzz_struct(f, sizeof d);
        d.reserved = fuzz_unused(f);
    }
    const gp_dtype dtype = d.dtype = fuzz_dtype(f, FUZZ_ALL);
    const size_t item = gp_dtype_bytes(dtype), n = fuzz_count(f, item);
    fuzz_array *in = fuzz_input(f, dtype, n);
    fuzz_array *out = fuzz_output_beside(f, fuzz_product(n, item), scalar(dtype), in);
    size_t counted = n;
    if (by) {
        d.device_n = fuzz_device_n(f, &counted);
        FUZZ_CALL(f, gp_adjacent_difference_by(f->ctx, &d, in->data, n, out->data));
    } else {
        FUZZ_CALL(f, gp_adjacent_difference(f->ctx, dtype, in->data, n, out->data));
    }
    for (size_t i = 0; i < counted && !t_is_float(dtype); i++) {
        uint64_t x = 0, before = 0;
        memcpy(&x, in->before + i * item, item);
        if (i > 0)
            memcpy(&before, in->before + (i - 1) * item, item);
        x -= before;
        fuzz_same_bytes("difference", &x, out->contents + i * item, item);
    }
}

/* Items times two, which is exact but for infinities and subnormal halves, or times themselves. */
static void vector(fuzz *f)
{
    gp_vector_desc d = GP_VECTOR_DESC_INIT;
    d.size = fuzz_struct(f, sizeof d);
    d.reserved = fuzz_unused(f);
    const gp_dtype dtype = d.dtype = fuzz_dtype(f, FUZZ_FLOATS);
    const size_t item = gp_dtype_bytes(dtype), n = fuzz_count(f, item);
    fuzz_array *x = fuzz_input(f, dtype, n);
    fuzz_array *out = fuzz_output_over(f, fuzz_product(n, item), scalar(dtype), x);
    const bool doubled = fuzz_flip(f);
    const float two = 2;
    const double two_64 = 2;
    const void *alpha = dtype == GP_F64 ? (const void *)&two_64 : &two;
    size_t counted = n;
    d.device_n = fuzz_device_n(f, &counted);
    if (doubled)
        FUZZ_CALL(f, gp_vector_scale(f->ctx, &d, alpha, x->data, n, out->data));
    else
        FUZZ_CALL(f, gp_vector_multiply(f->ctx, &d, x->data, x->data, n, out->data));
    for (size_t i = 0; doubled && dtype == GP_F64 && i < counted; i++) {
        const double want = 2 * t_value(dtype, x->before, i),
                     got = t_value(dtype, out->contents, i);
        FUZZ_CHECK(want == got || (want != want && got != got), "vector: item %zu", i);
    }
}

/* ---- segments -------------------------------------------------------------------------------- */

struct segments {
    gp_scan_desc d;
    size_t n, item, scalars;
    fuzz_array *in, *out;
    char *expected; /* or NULL: nothing exact to compare with */
};

/* The items fill rows of that length. */
static struct segments segments_of(fuzz *f, size_t length)
{
    struct segments s = {0};
    s.d = scan_desc(f, GP_SCAN_EXCLUSIVE, &s.item);
    s.d.init = initial(f, s.d.in_dtype, s.d.op);
    s.scalars = gp_op_scalars(s.d.op);
    s.n = fuzz_count(f, s.item);
    s.n -= s.n > (size_t)1 << 40 ? 0 : s.n % length;
    s.in = fuzz_input(f, s.d.in_dtype, fuzz_product(s.n, s.scalars));
    s.out = fuzz_output_over(f, fuzz_product(s.n, s.item), scalar(s.d.in_dtype), s.in);
    return s;
}

/* After the call: whether there is something exact to compare with. */
static bool expect(struct segments *s)
{
    if (!is_exact(s->d.in_dtype, s->d.op, s->in->before, s->n) ||
        (s->d.init && t_is_float(s->d.in_dtype)))
        return false;
    s->expected = t_host(s->n * s->item);
    return true;
}

static void compare(struct segments *s)
{
    fuzz_same("segmented scan", s->d.in_dtype, s->expected, s->out->contents, s->n);
    free(s->expected);
}

static void scan_segmented(fuzz *f)
{
    size_t bytes;
    struct segments s = segments_of(f, 1);
    const gp_dtype dtype = fuzz_dtype(f, FUZZ_INDICES);
    const size_t count = s.n ? 1 + fuzz_below(f, 2 * (s.n < 4096 ? s.n : 4096)) : fuzz_below(f, 4);
    fuzz_array *offsets = fuzz_offsets(f, dtype, count, s.n, false);
    if (s.n)
        fuzz_strict_rule(f, fuzz_offsets_good(dtype, offsets, count, s.n, false));
    f->may |= s.n ? 0 : FUZZ_BIT(GP_ERROR_DATA);
    fuzz_reserve(f, gp_scan_segmented_workspace_bytes(NULL, &s.d, s.n, &bytes), &bytes);
    FUZZ_CALL(f, gp_scan_segmented(f->ctx, &s.d, s.in->data, s.n, dtype, offsets->data, count,
                                   s.out->data));
    if (!expect(&s))
        return;
    const uint64_t first = fuzz_index(dtype, offsets->before, 0);
    for (size_t k = 0; k < count && s.n; k++) {
        const uint64_t begin = fuzz_index(dtype, offsets->before, k) - first;
        expect_segment(&s.d, s.in->before, begin,
                       fuzz_index(dtype, offsets->before, k + 1) - first - begin, s.item,
                       s.expected);
    }
    compare(&s);
}

/* heads: where segments begin. */
static void compare_heads(struct segments *s, const char *heads)
{
    if (!expect(s))
        return;
    for (size_t i = 0, end; i < s->n; i = end) {
        for (end = i + 1; end < s->n && !heads[end];)
            end++;
        expect_segment(&s->d, s->in->before, i, end - i, s->item, s->expected);
    }
    compare(s);
}

static void scan_flagged(fuzz *f)
{
    size_t bytes;
    struct segments s = segments_of(f, 1);
    fuzz_array *heads = fuzz_bytes(f, s.n, 1);
    fuzz_reserve(f, gp_scan_flagged_workspace_bytes(NULL, &s.d, s.n, &bytes), &bytes);
    FUZZ_CALL(f, gp_scan_flagged(f->ctx, &s.d, s.in->data, heads->data, s.n, s.out->data));
    compare_heads(&s, heads->before);
}

static void scan_by_key(fuzz *f)
{
    static const size_t usual[] = {1, 2, 4, 8}, wrong[] = {0, 3, 16, SIZE_MAX};
    size_t bytes;
    struct segments s = segments_of(f, 1);
    const size_t pick = fuzz_below(f, 4);
    const size_t key = fuzz_fault(f, GP_ERROR_ARGUMENT) ? wrong[pick] : usual[pick];
    fuzz_array *keys = fuzz_bytes(f, fuzz_product(s.n, key), usual[pick]);
    fuzz_reserve(f, gp_scan_by_key_workspace_bytes(NULL, &s.d, s.n, &bytes), &bytes);
    FUZZ_CALL(f, gp_scan_by_key(f->ctx, &s.d, key, keys->data, s.in->data, s.n, s.out->data));
    char *heads = t_host(s.n);
    for (size_t i = 0; i < s.n; i++)
        heads[i] = i == 0 || memcmp(keys->before + i * key, keys->before + (i - 1) * key, key) != 0;
    compare_heads(&s, heads);
    free(heads);
}

static void scan_rows(fuzz *f)
{
    size_t bytes;
    const size_t length = 1 + fuzz_below(f, 256);
    struct segments s = segments_of(f, length);
    const size_t rows = s.n > (size_t)1 << 40 ? s.n : s.n / length;
    fuzz_reserve(f, gp_scan_rows_workspace_bytes(NULL, &s.d, rows, length, &bytes), &bytes);
    FUZZ_CALL(f, gp_scan_rows(f->ctx, &s.d, s.in->data, rows, length, s.out->data));
    char *heads = t_host(s.n);
    for (size_t i = 0; i < s.n; i++)
        heads[i] = i % length == 0;
    compare_heads(&s, heads);
    free(heads);
}

/* ---- reductions ------------------------------------------------------------------------------ */

static void expect_reduction(const gp_scan_desc *d, const fuzz_array *in, size_t n,
                             const fuzz_array *out)
{
    if (!is_exact(d->in_dtype, d->op, in->before, n) || (d->init && t_is_float(d->in_dtype)))
        return;
    char *expected = oracle_scan(d, in->before, n); /* the last row pointer is the result */
    fuzz_same("reduction", d->out_dtype, expected + n * gp_dtype_bytes(d->out_dtype), out->contents,
              1);
    free(expected);
}

static void reduce(fuzz *f)
{
    size_t bytes;
    gp_reduce_desc d = GP_REDUCE_DESC_INIT;
    d.size = fuzz_struct(f, sizeof d);
    d.in_dtype = fuzz_dtype(f, FUZZ_ALL);
    d.op = fuzz_op(f, d.in_dtype);
    const gp_dtype out_dtype = d.out_dtype = widen(f, &d.in_dtype, d.op);
    const size_t scalars = gp_op_scalars(d.op), item = scalars * gp_dtype_bytes(d.in_dtype);
    const size_t n = fuzz_count(f, item);
    size_t counted = n;
    d.init = initial(f, out_dtype, d.op);
    d.device_n = fuzz_device_n(f, &counted);
    d.total = scalars == 1 ? fuzz_output_if(f, 8, 8)->data : NULL;
    f->sticky |= d.total ? FUZZ_BIT(GP_ERROR_OVERFLOW) : 0;
    fuzz_array *in = fuzz_input(f, d.in_dtype, fuzz_product(n, scalars));
    fuzz_array *out =
        fuzz_output_beside(f, scalars * gp_dtype_bytes(out_dtype), scalar(out_dtype), in);
    const gp_scan_desc same = {.size = sizeof same,
                               .kind = GP_SCAN_ROW_POINTERS,
                               .in_dtype = d.in_dtype,
                               .out_dtype = out_dtype,
                               .op = d.op,
                               .init = d.init};
    fuzz_reserve(f, gp_reduce_workspace_bytes(NULL, &d, n, &bytes), &bytes);
    if (d.init || d.total || d.device_n || out_dtype != d.in_dtype || f->must || fuzz_flip(f))
        FUZZ_CALL(f, gp_reduce_by(f->ctx, &d, in->data, n, out->data));
    else
        FUZZ_CALL(f, gp_reduce(f->ctx, d.in_dtype, d.op, in->data, n, out->data));
    expect_reduction(&same, in, counted, out);
}

#include "calls_sums.h"

static void arg(fuzz *f)
{
    size_t bytes;
    gp_arg_desc d = {fuzz_struct(f, sizeof d), fuzz_dtype(f, FUZZ_ALL), fuzz_unused(f), NULL};
    const size_t item = gp_dtype_bytes(d.dtype), n = fuzz_count(f, item);
    const bool largest = fuzz_flip(f);
    fuzz_array *in = fuzz_input(f, d.dtype, n);
    size_t counted = n;
    d.device_n = fuzz_device_n(f, &counted);
    fuzz_array *value = fuzz_output_if(f, item, scalar(d.dtype));
    fuzz_array *index = fuzz_output_beside(f, 8, 8, in);
    uint64_t best = counted ? 0 : UINT64_MAX;
    fuzz_reserve(f, gp_argmin_workspace_bytes(NULL, d.dtype, n, &bytes), &bytes);
    if (d.device_n || f->must || fuzz_flip(f))
        FUZZ_CALL(f, (largest ? gp_argmax_by : gp_argmin_by)(f->ctx, &d, in->data, n, value->data,
                                                             index->data));
    else
        FUZZ_CALL(f, (largest ? gp_argmax : gp_argmin)(f->ctx, d.dtype, in->data, n, value->data,
                                                       index->data));
    for (size_t i = 1; i < counted; i++) {
        const int order = fuzz_order(d.dtype, in->before + i * item, in->before + best * item);
        best = (largest ? order > 0 : order < 0) ? i : best;
    }
    fuzz_same_bytes("index", &best, index->contents, 8);
    if (value->data && counted)
        fuzz_same_bytes("value", in->before + best * item, value->contents, item);
}

fuzz_call *const fuzz_scans[] = {
    scan,      scan_short, scan_segmented,   scan_flagged, scan_by_key,
    scan_rows, reduce,     reduce_segmented, reduce_rows,  arg_segmented,
    arg,       difference, vector,           NULL};
