/* SPDX-License-Identifier: MIT */
/* Compaction, indices and partition against a serial loop. */
#include "gp_test.h"

#include <gp/compact.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the oracle ------------------------------------------------------------------------------ */

/* -1, 0, 1: item i of a against the value, NaN last and equal to itself. */
static int order(gp_dtype dtype, const void *a, size_t i, const void *value)
{
    if (dtype == GP_I64) {
        int64_t x = ((const int64_t *)a)[i], y = *(const int64_t *)value;
        return (x > y) - (x < y);
    }
    if (dtype == GP_U64) {
        uint64_t x = ((const uint64_t *)a)[i], y = *(const uint64_t *)value;
        return (x > y) - (x < y);
    }
    double x = t_value(dtype, a, i), y = t_value(dtype, value, 0);
    if (isnan(x) || isnan(y))
        return !!isnan(x) - !!isnan(y);
    return (x > y) - (x < y);
}

static bool selected(const gp_compact_desc *d, const void *in, const uint8_t *keep, size_t i)
{
    switch ((int)d->compare) {
    case 0:
        return keep[i] != 0;
    case GP_EQ:
        return order(d->dtype, in, i, d->value) == 0;
    case GP_NE:
        return order(d->dtype, in, i, d->value) != 0;
    case GP_LT:
        return order(d->dtype, in, i, d->value) < 0;
    case GP_LE:
        return order(d->dtype, in, i, d->value) <= 0;
    case GP_GT:
        return order(d->dtype, in, i, d->value) > 0;
    default:
        return order(d->dtype, in, i, d->value) >= 0;
    }
}

static size_t item_bytes_of(const gp_compact_desc *d)
{
    return d->compare ? gp_dtype_bytes(d->dtype) : d->item_bytes;
}

static size_t out_bytes_of(const gp_compact_desc *d)
{
    return d->kind == GP_COMPACT_INDICES ? gp_dtype_bytes(d->index_dtype) : item_bytes_of(d);
}

static void oracle_put(const gp_compact_desc *d, const char *in, size_t i, char *out, size_t place)
{
    size_t bytes = out_bytes_of(d);
    uint64_t index = i;
    if (d->kind == GP_COMPACT_INDICES)
        memcpy(out + place * bytes, &index, bytes); /* little-endian */
    else
        memcpy(out + place * bytes, in + i * bytes, bytes);
}

/* Fills out (room for n) and returns how many are selected. */
static size_t oracle(const gp_compact_desc *d, const void *in, const uint8_t *keep, size_t n,
                     void *out)
{
    size_t kept = 0, others = 0;
    for (size_t i = 0; i < n; i++)
        if (selected(d, in, keep, i))
            oracle_put(d, in, i, out, kept++);
    if (d->kind == GP_COMPACT_PARTITION)
        for (size_t i = 0; i < n; i++)
            if (!selected(d, in, keep, i))
                oracle_put(d, in, i, out, kept + others++);
    return kept;
}

/* ---- one call, checked ----------------------------------------------------------------------- */

struct places {
    size_t in, keep, out; /* offsets in items, bytes, outputs */
    bool in_place;
};

static void check_outputs(const gp_compact_desc *d, const t_array *out, const void *expected,
                          size_t count, const char *name)
{
    size_t bytes = count * out_bytes_of(d);
    char *actual = t_host(bytes);
    t_get(out, actual, bytes);
    t_same_bytes(name, expected, actual, bytes);
    t_check_guards(out);
    free(actual);
}

static void check_at(const gp_compact_desc *d, const void *in, const uint8_t *keep, size_t n,
                     struct places at)
{
    size_t item = item_bytes_of(d), out_item = out_bytes_of(d);
    char name[96];
    snprintf(name, sizeof name, "kind %d, item %zu, compare %d %s, n %zu%s", (int)d->kind, item,
             (int)d->compare, d->compare ? gp_dtype_string(d->dtype) : "", n,
             at.in_place ? ", in place" : "");
    char *expected = t_host(n * out_item);
    size_t kept = oracle(d, in, keep, n, expected);
    size_t outputs = d->kind == GP_COMPACT_PARTITION ? n : kept;
    t_array in_d = t_new_from(in, n * item, at.in * item);
    t_array keep_d = t_new_from(keep, keep ? n : 0, at.keep), count_d = t_new(8, 0);
    /* Room for exactly the result, so that one item too many hits the guard. */
    gp_compact_desc exact = *d;
    if (!at.in_place && d->kind != GP_COMPACT_PARTITION)
        exact.capacity = outputs ? outputs : 1;
    t_array out_d = t_new((at.in_place      ? 0
                           : exact.capacity ? exact.capacity
                                            : n) *
                              out_item,
                          at.out * out_item);
    T_OK(gp_compact_by(t_ctx(), &exact, item ? in_d.data : NULL, keep ? keep_d.data : NULL, n,
                       at.in_place ? in_d.data : out_d.data, count_d.data));
    ck_assert_uint_eq(t_get_u64(&count_d), kept);
    t_check_guards(&count_d);
    check_outputs(d, at.in_place ? &in_d : &out_d, expected, outputs, name);
    if (outputs == 0)
        t_check_untouched(&out_d);
    if (!at.in_place && n > 0 && item > 0)
        check_outputs(&(gp_compact_desc){.kind = GP_COMPACT_ITEMS, .item_bytes = item}, &in_d, in,
                      n, "the input is untouched");
    t_free(&in_d);
    t_free(&keep_d);
    t_free(&out_d);
    t_free(&count_d);
    free(expected);
}

static void check(const gp_compact_desc *d, const void *in, const uint8_t *keep, size_t n)
{
    check_at(d, in, keep, n, (struct places){0, 0, 0, false});
    if (d->kind == GP_COMPACT_ITEMS)
        check_at(d, in, keep, n, (struct places){0, 0, 0, true});
}

/* ---- inputs ---------------------------------------------------------------------------------- */

enum { PATTERNS = 9 };

static uint8_t *flags_new(int pattern, size_t n, uint64_t *seed)
{
    uint8_t *keep = t_host(n);
    size_t run = 0;
    uint8_t value = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t r = t_random(seed);
        static const unsigned percent[] = {1, 10, 50, 90};
        if (run-- == 0) {
            run = (size_t)(r >> 40) % 300;
            value = !value;
        }
        bool set = pattern == 0   ? false
                   : pattern == 1 ? true
                   : pattern == 2 ? i & 1
                   : pattern == 3 ? i + 1 == n
                   : pattern == 4 ? value /* runs of up to 300 */
                                  : (r >> 8) % 100 < percent[pattern - 5];
        keep[i] = (uint8_t)(set ? 1 + (r >> 20) % 255 : 0);
    }
    return keep;
}

/* Items whose bytes tell their position. */
static char *items_new(size_t item_bytes, size_t n)
{
    char *in = t_host(n * item_bytes);
    for (size_t i = 0; i < n * item_bytes; i++)
        in[i] = (char)((i * 0x9e3779b1u >> 13) ^ (i / item_bytes));
    return in;
}

static const size_t widths[] = {1, 2, 4, 8, 16, 12, 24, 40, 3, 7, 1000, 65536};
enum { WIDTHS = sizeof widths / sizeof widths[0], DIRECT_WIDTHS = 5 };

static gp_compact_desc desc_of(gp_compact_kind kind, size_t item_bytes)
{
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.kind = kind;
    d.item_bytes = item_bytes;
    d.index_dtype = GP_U32;
    return d;
}

/* ---- values ---------------------------------------------------------------------------------- */

START_TEST(test_compact_flag_patterns)
{
    size_t width = widths[_i], n = width > 1000 ? 67 : width > 16 ? 4003 : 40003;
    uint64_t seed = t_seed() + (uint64_t)_i;
    char *in = items_new(width, n);
    for (int p = 0; p < PATTERNS; p++) {
        uint8_t *keep = flags_new(p, n, &seed);
        gp_compact_desc items = desc_of(GP_COMPACT_ITEMS, width);
        gp_compact_desc partition = desc_of(GP_COMPACT_PARTITION, width);
        check(&items, in, keep, n);
        check(&partition, in, keep, n);
        free(keep);
    }
    free(in);
}
END_TEST

START_TEST(test_compact_indices_of_flags)
{
    enum { N = 40003 };
    uint64_t seed = t_seed();
    for (int p = 0; p < PATTERNS; p++) {
        uint8_t *keep = flags_new(p, N, &seed);
        gp_compact_desc d = desc_of(GP_COMPACT_INDICES, 0);
        check(&d, NULL, keep, N);
        d.index_dtype = GP_U64;
        check(&d, NULL, keep, N);
        free(keep);
    }
}
END_TEST

enum { FLOAT_SPECIALS = 12, SPECIALS = 18 };

/* The bits of +infinity. */
static uint64_t infinity_of(gp_dtype dtype)
{
    uint64_t bits = 0;
    t_set(dtype, &bits, 0, INFINITY);
    return bits;
}

/* Values where comparisons turn: extremes, zeros, infinities, the first and last NaN of each sign.
 */
static void specials_fill(gp_dtype dtype, void *out)
{
    static const double floats[FLOAT_SPECIALS] = {
        0.0, -0.0, 1, -1, INFINITY, -INFINITY, 65504.0, -65504.0, 1e-7, -1e-7, 0.5, 2};
    const size_t bytes = gp_dtype_bytes(dtype);
    const uint64_t top = (uint64_t)1 << (8 * bytes - 1);
    const uint64_t nan = t_is_float(dtype) ? infinity_of(dtype) + 1 : 3;
    const uint64_t words[SPECIALS] = {0,       1,       2,     5,     top / 2,   ~top / 3,
                                      top + 1, top - 2, 0x7f,  0x80,  0x7fff,    0x8000,
                                      nan,     top,     ~0ull, ~1ull, top + nan, top - 1};
    for (size_t i = 0; i < SPECIALS; i++) {
        memcpy((char *)out + i * bytes, &words[i], bytes);
        if (t_is_float(dtype) && i < FLOAT_SPECIALS)
            t_set(dtype, out, i, floats[i]);
    }
}

START_TEST(test_compact_comparisons_of_special_values)
{
    enum { N = 700 };
    gp_dtype dtype = t_dtypes[_i];
    size_t bytes = gp_dtype_bytes(dtype);
    uint64_t seed = t_seed();
    uint64_t specials[SPECIALS];
    char in[N * sizeof(uint64_t)];
    specials_fill(dtype, specials);
    t_fill_bits(dtype, in, N, &seed);
    for (size_t i = 0; i < N; i += 2)
        memcpy(in + i * bytes, (char *)specials + i / 2 % SPECIALS * bytes, bytes);
    for (size_t v = 0; v < SPECIALS; v++)
        for (int c = GP_EQ; c <= GP_GE; c++) {
            gp_compact_desc d = desc_of(GP_COMPACT_ITEMS, 0);
            d.dtype = dtype;
            d.compare = (gp_compare)c;
            d.value = (char *)specials + v * bytes;
            check_at(&d, in, NULL, N, (struct places){0, 0, 0, v & 1});
        }
}
END_TEST

START_TEST(test_compact_comparisons_of_many)
{
    enum { N = 40003 };
    gp_dtype dtype = t_dtypes[_i];
    uint64_t seed = t_seed();
    char *in = t_host(N * sizeof(uint64_t));
    uint64_t value = 0;
    t_fill_random(dtype, in, N, &seed);
    memcpy(&value, in + 77 * gp_dtype_bytes(dtype), gp_dtype_bytes(dtype));
    for (int kind = GP_COMPACT_ITEMS; kind <= GP_COMPACT_PARTITION; kind++)
        for (int c = GP_EQ; c <= GP_GE; c++) {
            gp_compact_desc d = desc_of((gp_compact_kind)kind, 0);
            d.dtype = dtype;
            d.compare = (gp_compare)c;
            d.value = &value;
            d.index_dtype = c & 1 ? GP_U32 : GP_U64;
            check(&d, in, NULL, N);
        }
    free(in);
}
END_TEST

START_TEST(test_compact_simple_calls)
{
    const uint32_t in[6] = {10, 11, 12, 13, 14, 15}, bound = 12;
    const uint8_t keep[6] = {1, 0, 0, 255, 0, 2};
    const uint32_t flagged[] = {10, 13, 15}, below[] = {10, 11}, split[] = {10, 13, 15, 11, 12, 14};
    const uint64_t where[] = {0, 3, 5};
    t_array in_d = t_new_from(in, sizeof in, 0), keep_d = t_new_from(keep, sizeof keep, 1);
    t_array out = t_new(48, 0), count = t_new(8, 0);
    char host[48];
    T_OK(gp_compact(t_ctx(), 4, in_d.data, keep_d.data, 6, out.data, count.data));
    ck_assert_uint_eq(t_get_u64(&count), 3);
    t_get(&out, host, sizeof host);
    t_same_bytes("gp_compact", flagged, host, sizeof flagged);
    T_OK(gp_compact_if(t_ctx(), GP_U32, GP_LT, &bound, in_d.data, 6, out.data, count.data));
    ck_assert_uint_eq(t_get_u64(&count), 2);
    t_get(&out, host, sizeof host);
    t_same_bytes("gp_compact_if", below, host, sizeof below);
    T_OK(gp_compact_indices(t_ctx(), GP_U64, keep_d.data, 6, out.data, count.data));
    ck_assert_uint_eq(t_get_u64(&count), 3);
    t_get(&out, host, sizeof host);
    t_same_bytes("gp_compact_indices", where, host, sizeof where);
    T_OK(gp_partition(t_ctx(), 4, in_d.data, keep_d.data, 6, out.data, count.data));
    ck_assert_uint_eq(t_get_u64(&count), 3);
    t_get(&out, host, sizeof host);
    t_same_bytes("gp_partition", split, host, sizeof split);
    t_free(&in_d);
    t_free(&keep_d);
    t_free(&out);
    t_free(&count);
}
END_TEST

/* ---- sizes and places ------------------------------------------------------------------------ */

START_TEST(test_compact_every_size)
{
    enum { N = 8193 };
    uint64_t seed = t_seed();
    uint8_t *keep = flags_new(7, N, &seed);
    uint32_t in[N], expected[N], actual[N];
    t_fill_bits(GP_U32, in, N, &seed);
    t_array in_d = t_new_from(in, sizeof in, 0), keep_d = t_new_from(keep, N, 0);
    t_array out = t_new(sizeof in, 0), count = t_new(8, 0);
    gp_compact_desc d = desc_of(GP_COMPACT_ITEMS, 4);
    for (size_t n = 0; n <= N; n++) {
        size_t kept = oracle(&d, in, keep, n, expected);
        T_OK(gp_compact(t_ctx(), 4, in_d.data, keep_d.data, n, out.data, count.data));
        T_OK(gp_copy(t_ctx(), out.data, kept * 4, actual));
        ck_assert_uint_eq(t_get_u64(&count), kept);
        t_same_bytes("every size", expected, actual, kept * 4);
    }
    t_check_guards(&out);
    t_free(&in_d);
    t_free(&keep_d);
    t_free(&out);
    t_free(&count);
    free(keep);
}
END_TEST

START_TEST(test_compact_sizes)
{
    size_t n = t_sizes[_i];
    uint64_t seed = t_seed() + n;
    uint8_t *keep = flags_new(7, n, &seed);
    for (size_t w = 0; w < DIRECT_WIDTHS; w++) {
        /* The CPU's blocks are smaller than these sizes: one width tells it all. */
        if (n > 200000 && widths[w] != 4 && !t_is_cuda())
            continue;
        char *in = items_new(widths[w], n);
        gp_compact_desc d = desc_of(GP_COMPACT_ITEMS, widths[w]);
        check(&d, in, keep, n);
        free(in);
    }
    free(keep);
}
END_TEST

START_TEST(test_compact_sizes_of_other_kinds)
{
    size_t n = t_sizes[_i];
    uint64_t seed = t_seed() + n;
    if (n > 300000 && !t_is_cuda())
        return;
    uint8_t *keep = flags_new(7, n, &seed);
    char *in = items_new(12, n);
    uint32_t value = 1u << 31;
    gp_compact_desc partition = desc_of(GP_COMPACT_PARTITION, 4),
                    wide = desc_of(GP_COMPACT_ITEMS, 12);
    gp_compact_desc indices = desc_of(GP_COMPACT_INDICES, 0);
    check(&partition, in, keep, n);
    check(&wide, in, keep, n);
    check(&indices, NULL, keep, n);
    indices.compare = GP_LT;
    indices.dtype = GP_U32;
    indices.value = &value;
    check(&indices, in, NULL, n);
    free(in);
    free(keep);
}
END_TEST

START_TEST(test_compact_offsets)
{
    enum { N = 5000 };
    uint64_t seed = t_seed();
    uint8_t *keep = flags_new(7, N, &seed);
    for (size_t w = 0; w < WIDTHS - 2; w++) {
        char *in = items_new(widths[w], N);
        gp_compact_desc items = desc_of(GP_COMPACT_ITEMS, widths[w]);
        gp_compact_desc partition = desc_of(GP_COMPACT_PARTITION, widths[w]);
        size_t k = (size_t)_i;
        check_at(&items, in, keep, N, (struct places){k, k * 3 % 17, k * 5 % 17, false});
        check_at(&items, in, keep, N, (struct places){k, k * 7 % 17, 0, true});
        check_at(&partition, in, keep, N, (struct places){k, k * 7 % 17, k * 3 % 17, false});
        free(in);
    }
    free(keep);
}
END_TEST

/* Sizes past the one where GPUs change to their kernel for large arrays, at every kind of place. */
START_TEST(test_compact_long_arrays)
{
    static const struct places places[] = {
        {0, 0, 0, false}, {1, 3, 2, false}, {3, 13, 1, true}, {2, 16, 5, false}};
    size_t width = widths[_i], n = ((size_t)9 << 20) / (width + 1) + 4099;
    uint64_t seed = t_seed();
    if (!t_is_cuda())
        return;
    uint8_t *keep = flags_new(4 + _i, n, &seed);
    char *in = items_new(width, n);
    uint64_t value = 0x4040404040404040;
    static const gp_dtype by_width[] = {GP_I8, GP_F16, GP_F32, GP_I64, (gp_dtype)0};
    for (int c = 0; c < 4; c++) {
        gp_compact_desc d = desc_of(GP_COMPACT_ITEMS, width);
        check_at(&d, in, keep, n, places[c]);
        d.dtype = by_width[_i];
        d.compare = d.dtype ? (gp_compare)(GP_LT + c) : (gp_compare)0;
        d.value = &value;
        check_at(&d, in, d.dtype ? NULL : keep, n, places[c]);
        d.kind = GP_COMPACT_INDICES;
        d.index_dtype = c & 1 ? GP_U64 : GP_U32;
        check_at(&d, in, d.dtype ? NULL : keep, n,
                 (struct places){(size_t)c, (size_t)c, (size_t)c, false});
        d = desc_of(GP_COMPACT_PARTITION, width);
        check_at(&d, in, keep, n, (struct places){(size_t)c, 5 * (size_t)c, (size_t)c, false});
    }
    gp_compact_desc indices = desc_of(GP_COMPACT_INDICES, 0);
    free(keep);
    n = 9000001;
    keep = flags_new(7, n, &seed);
    check_at(&indices, NULL, keep, n, (struct places){0, 7, 1, false});
    free(keep);
    free(in);
}
END_TEST

START_TEST(test_compact_threads_agree)
{
    enum { N = 500001 };
    uint64_t seed = t_seed(), count = 0;
    uint8_t *keep = flags_new(4 + _i % 5, N, &seed);
    char *in = items_new(8, N), *expected = t_host(N * 8), *actual = t_host(N * 8);
    gp_compact_desc d = desc_of(_i & 1 ? GP_COMPACT_PARTITION : GP_COMPACT_ITEMS, 8);
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    o.backend = GP_BACKEND_CPU;
    o.threads = 1 + _i;
    size_t kept = oracle(&d, in, keep, N, expected);
    T_OK(gp_context_create(&ctx, &o));
    T_OK(gp_compact_by(ctx, &d, in, keep, N, actual, &count));
    ck_assert_uint_eq(count, kept);
    t_same_bytes("threads", expected, actual, (_i & 1 ? N : kept) * 8);
    gp_context_destroy(ctx);
    free(keep);
    free(in);
    free(expected);
    free(actual);
}
END_TEST

/* ---- capacity and device_n ------------------------------------------------------------------- */

/* in, keep: on the device; expected: the uncapped result. */
static void check_capacity(gp_compact_desc d, const t_array *in, const t_array *keep, size_t n,
                           const void *expected, size_t kept)
{
    const size_t fits = d.capacity < kept ? (size_t)d.capacity : kept, bytes = fits * d.item_bytes;
    t_array out = t_new(d.capacity * d.item_bytes, 0), count = t_new(8, 0);
    char *actual = t_host(bytes);
    T_OK(gp_compact_by(t_ctx(), &d, in->data, keep->data, n, out.data, count.data));
    T_STATUS(d.capacity < kept ? GP_ERROR_CAPACITY : GP_OK, gp_context_synchronize(t_ctx()));
    T_OK(gp_context_synchronize(t_ctx())); /* cleared by the first */
    ck_assert_uint_eq(t_get_u64(&count), kept);
    t_get(&out, actual, bytes);
    t_same_bytes("what fits", expected, actual, bytes);
    t_check_guards(&out);
    t_free(&out);
    t_free(&count);
    free(actual);
}

/* Single items, all, and runs: room may end anywhere in a copy of several. */
START_TEST(test_compact_past_capacity_writes_what_fits)
{
    enum { N = 30000 };
    static const uint64_t capacities[] = {1, 31, 32, 5000, 14999, 15000, 15001};
    static const int patterns[] = {2, 1, 4};
    uint64_t seed = t_seed();
    size_t width = widths[_i];
    char *in = items_new(width, N), *expected = t_host(N * width);
    t_array in_d = t_new_from(in, N * width, 0);
    for (int p = 0; p < 3; p++) {
        uint8_t *keep = flags_new(patterns[p], N, &seed);
        gp_compact_desc d = desc_of(GP_COMPACT_ITEMS, width);
        t_array keep_d = t_new_from(keep, N, 0);
        size_t kept = oracle(&d, in, keep, N, expected);
        for (size_t c = 0; c < sizeof capacities / sizeof capacities[0]; c++) {
            d.capacity = capacities[c];
            check_capacity(d, &in_d, &keep_d, N, expected, kept);
        }
        t_free(&keep_d);
        free(keep);
    }
    t_free(&in_d);
    free(in);
    free(expected);
}
END_TEST

START_TEST(test_compact_device_n)
{
    enum { N = 20000 };
    static const uint64_t values[] = {0, 1, 8191, 19999, 20000, 1ull << 40};
    uint64_t seed = t_seed(), n = values[_i];
    size_t real = n < N ? (size_t)n : N;
    uint8_t *keep = flags_new(7, N, &seed);
    uint16_t in[N], expected[N], actual[N];
    t_fill_bits(GP_U16, in, N, &seed);
    t_array n_d = t_new_from(&n, 8, 0), count = t_new(8, 0);
    t_array in_d = t_new_from(in, sizeof in, 0), keep_d = t_new_from(keep, N, 0);
    for (int kind = GP_COMPACT_ITEMS; kind <= GP_COMPACT_PARTITION; kind += 2) {
        gp_compact_desc d = desc_of((gp_compact_kind)kind, 2);
        size_t kept = oracle(&d, in, keep, real, expected);
        size_t outputs = kind == GP_COMPACT_PARTITION ? real : kept;
        t_array out = t_new(sizeof in, 0);
        d.device_n = n_d.data;
        T_OK(gp_compact_by(t_ctx(), &d, in_d.data, keep_d.data, N, out.data, count.data));
        ck_assert_uint_eq(t_get_u64(&count), kept);
        t_get(&out, actual, sizeof actual);
        t_same_bytes("device_n", expected, actual, outputs * 2);
        t_free(&out);
    }
    t_free(&in_d);
    t_free(&keep_d);
    t_free(&n_d);
    t_free(&count);
    free(keep);
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

struct call {
    gp_compact_desc desc;
    t_array in, keep, out, count;
    uint32_t value;
};

static struct call call_new(void)
{
    static const char zeros[64];
    struct call c = {desc_of(GP_COMPACT_ITEMS, 4),
                     t_new_from(zeros, 64, 0),
                     t_new_from(zeros, 64, 0),
                     t_new(64, 0),
                     t_new(8, 0),
                     7};
    return c;
}

static void call_end(struct call *c)
{
    t_check_untouched(&c->out);
    t_check_untouched(&c->count);
    t_free(&c->in);
    t_free(&c->keep);
    t_free(&c->out);
    t_free(&c->count);
}

static gp_status call_by(struct call *c)
{
    return gp_compact_by(t_ctx(), &c->desc, c->in.data, c->desc.compare ? NULL : c->keep.data, 16,
                         c->out.data, c->count.data);
}

START_TEST(test_compact_errors_of_descriptors)
{
    struct call c = call_new();
    const gp_compact_desc good = c.desc;
#define REFUSED(status, change)                                                                    \
    do {                                                                                           \
        c.desc = good;                                                                             \
        change;                                                                                    \
        T_STATUS(status, call_by(&c));                                                             \
    } while (0)
    REFUSED(GP_ERROR_ARGUMENT, c.desc.size--);
    REFUSED(GP_ERROR_ARGUMENT, c.desc.kind = (gp_compact_kind)0);
    REFUSED(GP_ERROR_ARGUMENT, c.desc.kind = (gp_compact_kind)4);
    REFUSED(GP_ERROR_ARGUMENT, c.desc.item_bytes = 0);
    REFUSED(GP_ERROR_ARGUMENT, c.desc.item_bytes = 65537);
    REFUSED(GP_ERROR_ARGUMENT, c.desc.compare = (gp_compare)-1);
    REFUSED(GP_ERROR_ARGUMENT, c.desc.compare = (gp_compare)7);
    REFUSED(GP_ERROR_ARGUMENT, c.desc.algorithm = (gp_algorithm)8);
    REFUSED(GP_ERROR_ARGUMENT, (c.desc.kind = GP_COMPACT_PARTITION, c.desc.capacity = 15));
    REFUSED(GP_ERROR_ARGUMENT,
            (c.desc.compare = GP_EQ, c.desc.dtype = GP_U64, c.desc.value = &c.value));
    REFUSED(GP_ERROR_DTYPE,
            (c.desc.compare = GP_EQ, c.desc.dtype = (gp_dtype)13, c.desc.value = &c.value));
    REFUSED(GP_ERROR_DTYPE, (c.desc.kind = GP_COMPACT_INDICES, c.desc.index_dtype = GP_I32));
    REFUSED(GP_ERROR_DTYPE, (c.desc.kind = GP_COMPACT_INDICES, c.desc.index_dtype = (gp_dtype)0));
    REFUSED(GP_ERROR_POINTER, (c.desc.compare = GP_EQ, c.desc.dtype = GP_U32));
    REFUSED(GP_ERROR_UNSUPPORTED, c.desc.algorithm = GP_ALGORITHM_FENWICK);
    REFUSED(GP_ERROR_UNSUPPORTED, (c.desc.algorithm = GP_ALGORITHM_CUB, c.desc.capacity = 3));
    REFUSED(GP_ERROR_UNSUPPORTED,
            (c.desc.algorithm = GP_ALGORITHM_CUB, c.desc.kind = GP_COMPACT_PARTITION));
    if (!t_is_cuda())
        REFUSED(GP_ERROR_UNSUPPORTED, c.desc.algorithm = GP_ALGORITHM_CUB);
#undef REFUSED
    call_end(&c);
}
END_TEST

START_TEST(test_compact_errors_of_arrays)
{
    struct call c = call_new();
    gp_context *ctx = t_ctx();
    char *in = c.in.data, *out = c.out.data, *keep = c.keep.data;
    const uint8_t *flags = c.keep.data;
    void *count = c.count.data;
    T_STATUS(GP_ERROR_POINTER, gp_compact(NULL, 4, in, flags, 16, out, count));
    T_STATUS(GP_ERROR_POINTER, gp_compact_by(ctx, NULL, in, flags, 16, out, count));
    T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 4, NULL, flags, 16, out, count));
    T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 4, in, NULL, 16, out, count));
    T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 4, in, flags, 16, NULL, count));
    T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 4, in, flags, 16, out, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 4, in, flags, 0, out, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 4, in + 2, flags, 15, out, count));
    T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 4, in, flags, 15, out + 1, count));
    T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 24, in + 4, flags, 2, out, count));
    T_STATUS(GP_ERROR_POINTER,
             gp_compact(ctx, 4, in, flags, 16, out, (uint64_t *)(void *)((char *)count + 4)));
    T_STATUS(GP_ERROR_ARGUMENT, gp_compact(ctx, 4, in, flags, ((size_t)1 << 40) + 1, out, count));
    T_STATUS(GP_ERROR_ARGUMENT, gp_compact(ctx, 0, in, flags, 16, out, count));
    T_STATUS(GP_ERROR_ARGUMENT, gp_partition(ctx, 0, in, flags, 16, out, count));
    T_STATUS(GP_ERROR_DTYPE, gp_compact_indices(ctx, GP_F32, flags, 16, out, count));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_compact_indices(ctx, GP_U32, flags, ((size_t)1 << 32) + 1, out, count));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_compact_if(ctx, GP_U32, (gp_compare)0, &c.value, in, 16, out, count));
    T_STATUS(GP_ERROR_DTYPE, gp_compact_if(ctx, (gp_dtype)0, GP_EQ, &c.value, in, 16, out, count));
    T_STATUS(GP_ERROR_POINTER, gp_compact_if(ctx, GP_U32, GP_EQ, NULL, in, 16, out, count));
    T_STATUS(GP_ERROR_OVERLAP, gp_compact(ctx, 4, in, flags, 15, in + 4, count));
    T_STATUS(GP_ERROR_OVERLAP, gp_partition(ctx, 4, in, flags, 16, in, count));
    T_STATUS(GP_ERROR_OVERLAP, gp_compact(ctx, 4, in, flags, 4, keep, count));
    T_STATUS(GP_ERROR_OVERLAP, gp_compact_indices(ctx, GP_U32, flags, 16, keep, count));
    T_STATUS(GP_ERROR_OVERLAP, gp_compact(ctx, 4, in, flags, 16, out, (uint64_t *)(void *)out));
    T_STATUS(GP_ERROR_OVERLAP, gp_compact(ctx, 4, in, flags, 16, out, (uint64_t *)(void *)in));
    c.desc.device_n = count;
    T_STATUS(GP_ERROR_OVERLAP, call_by(&c));
    c.desc = desc_of(GP_COMPACT_ITEMS, 4);
    c.desc.compare = GP_EQ;
    c.desc.dtype = GP_U32;
    c.desc.value = &c.value;
    T_STATUS(GP_ERROR_POINTER, gp_compact_by(ctx, &c.desc, in, flags, 16, out, count));
    if (t_is_cuda())
        T_STATUS(GP_ERROR_POINTER, gp_compact(ctx, 4, &c, flags, 4, out, count));
    call_end(&c);
}
END_TEST

START_TEST(test_compact_nothing_to_do)
{
    t_array count = t_new(8, 0);
    T_OK(gp_compact(t_ctx(), 4, NULL, NULL, 0, NULL, count.data));
    ck_assert_uint_eq(t_get_u64(&count), 0);
    t_poison(&count);
    T_OK(gp_partition(t_ctx(), 12, NULL, NULL, 0, NULL, count.data));
    ck_assert_uint_eq(t_get_u64(&count), 0);
    t_poison(&count);
    T_OK(gp_compact_indices(t_ctx(), GP_U64, NULL, 0, NULL, count.data));
    ck_assert_uint_eq(t_get_u64(&count), 0);
    t_check_guards(&count);
    t_free(&count);
}
END_TEST

START_TEST(test_compact_workspace_bytes)
{
    gp_target target = GP_TARGET_INIT;
    gp_compact_desc d = desc_of(GP_COMPACT_ITEMS, 4);
    size_t any, one = 0;
    T_STATUS(GP_ERROR_POINTER, gp_compact_workspace_bytes(NULL, NULL, 1, &any));
    T_STATUS(GP_ERROR_POINTER, gp_compact_workspace_bytes(NULL, &d, 1, NULL));
    target.size--;
    T_STATUS(GP_ERROR_ARGUMENT, gp_compact_workspace_bytes(&target, &d, 1, &any));
    target.size++;
    T_OK(gp_compact_workspace_bytes(NULL, &d, 1 << 24, &any));
    for (int backend = GP_BACKEND_CPU; backend <= GP_BACKEND_CUDA; backend++)
        for (int threads = 0; threads < 5; threads++) {
            target.backend = (gp_backend)backend;
            target.threads = threads;
            target.sm_count = threads * 33;
            T_OK(gp_compact_workspace_bytes(&target, &d, 1 << 24, &one));
            ck_assert_uint_le(one, any);
        }
    d.kind = (gp_compact_kind)9;
    T_STATUS(GP_ERROR_ARGUMENT, gp_compact_workspace_bytes(NULL, &d, 1, &any));
    d = desc_of(GP_COMPACT_INDICES, 0);
    d.index_dtype = GP_F64;
    T_STATUS(GP_ERROR_DTYPE, gp_compact_workspace_bytes(NULL, &d, 1, &any));
}
END_TEST

/* ---- CUDA only ------------------------------------------------------------------------------- */

/* Two calls in one graph, replayed with other data and another n. */
START_TEST(test_compact_capture_and_replay)
{
    enum { N = 300000 };
    uint64_t seed = t_seed(), n = N;
    size_t bytes = 0;
    gp_compact_desc items = desc_of(GP_COMPACT_ITEMS, 4), split = desc_of(GP_COMPACT_PARTITION, 4);
    uint32_t *in = t_host(N * 4), *expected = t_host(N * 4), *actual = t_host(N * 4);
    t_array in_d = t_new(N * 4, 0), keep_d = t_new(N, 0), n_d = t_new(8, 0);
    t_array out = t_new(N * 4, 0), out2 = t_new(N * 4, 0), count = t_new(8, 0),
            count2 = t_new(8, 0);
    T_OK(gp_compact_workspace_bytes(NULL, &items, N, &bytes));
    T_OK(gp_context_reserve(t_ctx(), bytes));
    items.device_n = split.device_n = n_d.data;
    if (t_capture_begin()) {
        T_OK(gp_compact_by(t_ctx(), &items, in_d.data, keep_d.data, N, out.data, count.data));
        T_OK(gp_compact_by(t_ctx(), &split, in_d.data, keep_d.data, N, out2.data, count2.data));
        t_capture_end();
        for (int round = 0; round < 5; round++) {
            uint8_t *keep = flags_new(4 + round, N, &seed);
            n = round == 3 ? 0 : N - t_random_below(&seed, N / 2);
            t_fill_bits(GP_U32, in, N, &seed);
            t_put(&in_d, in, N * 4);
            t_put(&keep_d, keep, N);
            t_put(&n_d, &n, 8);
            t_replay();
            size_t kept = oracle(&items, in, keep, n, expected);
            ck_assert_uint_eq(t_get_u64(&count), kept);
            t_get(&out, actual, kept * 4);
            t_same_bytes("compact", expected, actual, kept * 4);
            ck_assert_uint_eq(t_get_u64(&count2), oracle(&split, in, keep, n, expected));
            t_get(&out2, actual, n * 4);
            t_same_bytes("partition", expected, actual, n * 4);
            free(keep);
        }
        t_capture_free();
    }
    t_array *all[] = {&in_d, &keep_d, &n_d, &out, &out2, &count, &count2};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        t_free(all[i]);
    free(in);
    free(expected);
    free(actual);
}
END_TEST

START_TEST(test_compact_cub_agrees)
{
    enum { N = 100003 };
    uint64_t seed = t_seed(), value = 0x4000000040004040;
    size_t width = widths[_i];
    uint8_t *keep = flags_new(7, N, &seed);
    char *in = items_new(width, N);
    t_array in_d = t_new_from(in, N * width, 0), keep_d = t_new_from(keep, N, 0);
    t_array out = t_new(N * width, 0), count = t_new(8, 0);
    char *expected = t_host(N * width), *actual = t_host(N * width);
    for (int c = 0; c <= (width < 16 ? GP_GE : 0) && t_is_cuda(); c++) {
        static const gp_dtype by_width[] = {GP_I8, GP_BF16, GP_F32, GP_U64};
        gp_compact_desc d = desc_of(GP_COMPACT_ITEMS, width);
        d.algorithm = GP_ALGORITHM_CUB;
        d.compare = (gp_compare)c;
        d.dtype = c ? by_width[_i] : (gp_dtype)0;
        d.value = &value;
        size_t kept = oracle(&d, in, keep, N, expected);
        T_OK(
            gp_compact_by(t_ctx(), &d, in_d.data, c ? NULL : keep_d.data, N, out.data, count.data));
        ck_assert_uint_eq(t_get_u64(&count), kept);
        t_get(&out, actual, kept * width);
        t_same_bytes("CUB", expected, actual, kept * width);
    }
    t_free(&in_d);
    t_free(&keep_d);
    t_free(&out);
    t_free(&count);
    free(keep);
    free(in);
    free(expected);
    free(actual);
}
END_TEST

/* More than 2^32 bytes that repeat one chunk, compacted by themselves as flags. */
START_TEST(test_compact_large)
{
    enum { CHUNK = 1 << 20 };
    const size_t n = ((size_t)1 << 32) + 3 * CHUNK + 12345;
    uint64_t seed = t_seed();
    uint8_t *chunk = flags_new(7, CHUNK, &seed), *kept = t_host(CHUNK), *actual = t_host(CHUNK);
    gp_compact_desc d = desc_of(GP_COMPACT_ITEMS, 1);
    void *in, *out, *count;
    uint64_t total;
    T_OK(gp_malloc(t_ctx(), n, &in));
    T_OK(gp_malloc(t_ctx(), n, &out));
    T_OK(gp_malloc(t_ctx(), 8, &count));
    for (size_t i = 0; i < n; i += CHUNK)
        T_OK(gp_copy(t_ctx(), chunk, n - i < CHUNK ? n - i : CHUNK, (char *)in + i));
    size_t per_chunk = oracle(&d, chunk, chunk, CHUNK, kept);
    size_t rest = oracle(&d, chunk, chunk, n % CHUNK, actual);
    T_OK(gp_compact(t_ctx(), 1, in, in, n, out, count));
    T_OK(gp_copy(t_ctx(), count, 8, &total));
    T_OK(gp_context_synchronize(t_ctx()));
    ck_assert_uint_eq(total, n / CHUNK * per_chunk + rest);
    for (size_t i = 0; i < total; i += per_chunk) {
        size_t bytes = total - i < per_chunk ? total - i : per_chunk;
        T_OK(gp_copy(t_ctx(), (char *)out + i, bytes, actual));
        T_OK(gp_context_synchronize(t_ctx()));
        t_same_bytes("a chunk", kept, actual, bytes);
    }
    T_OK(gp_free(t_ctx(), in));
    T_OK(gp_free(t_ctx(), out));
    T_OK(gp_free(t_ctx(), count));
    free(chunk);
    free(kept);
    free(actual);
}
END_TEST

/* Few set flags, some past 2^32: their 64-bit positions. */
START_TEST(test_compact_large_indices)
{
    enum { CHUNK = 1 << 24, SET = 6 };
    const uint64_t set[SET] = {5, 4294967295, 4294967296, 4294967299, 4299161600, 4299161700};
    const size_t n = set[SET - 1] + 1;
    const uint8_t one = 1;
    char *zeros = t_host(CHUNK);
    void *keep;
    uint64_t actual[SET];
    t_array out = t_new(sizeof actual, 0), count = t_new(8, 0);
    gp_compact_desc d = desc_of(GP_COMPACT_INDICES, 0);
    memset(zeros, 0, CHUNK);
    d.index_dtype = GP_U64;
    d.capacity = SET;
    T_OK(gp_malloc(t_ctx(), n, &keep));
    for (size_t i = 0; i < n; i += CHUNK)
        T_OK(gp_copy(t_ctx(), zeros, n - i < CHUNK ? n - i : CHUNK, (char *)keep + i));
    for (int i = 0; i < SET; i++)
        T_OK(gp_copy(t_ctx(), &one, 1, (char *)keep + set[i]));
    T_OK(gp_compact_by(t_ctx(), &d, NULL, keep, n, out.data, count.data));
    ck_assert_uint_eq(t_get_u64(&count), SET);
    t_get(&out, actual, sizeof actual);
    t_same_bytes("positions", set, actual, sizeof set);
    t_check_guards(&out);
    T_OK(gp_free(t_ctx(), keep));
    t_free(&out);
    t_free(&count);
    free(zeros);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("compact");
    TCase *c = t_case(s, "values");
    tcase_add_test(c, test_compact_simple_calls);
    tcase_add_loop_test(c, test_compact_flag_patterns, 0, WIDTHS);
    tcase_add_test(c, test_compact_indices_of_flags);
    tcase_add_loop_test(c, test_compact_comparisons_of_special_values, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_compact_comparisons_of_many, 0, T_DTYPE_COUNT);
    c = t_case(s, "sizes");
    tcase_add_test(c, test_compact_nothing_to_do);
    tcase_add_test(c, test_compact_every_size);
    tcase_add_loop_test(c, test_compact_sizes, 0, T_SIZE_COUNT);
    tcase_add_loop_test(c, test_compact_sizes_of_other_kinds, 0, T_SIZE_COUNT);
    c = t_case(s, "places");
    tcase_add_loop_test(c, test_compact_offsets, 0, 17);
    tcase_add_loop_test(c, test_compact_past_capacity_writes_what_fits, 0, WIDTHS - 2);
    tcase_add_loop_test(c, test_compact_device_n, 0, 6);
    c = t_case(s, "determinism");
    tcase_add_loop_test(c, test_compact_threads_agree, 0, 10);
    c = t_case(s, "errors");
    tcase_add_test(c, test_compact_errors_of_descriptors);
    tcase_add_test(c, test_compact_errors_of_arrays);
    tcase_add_test(c, test_compact_workspace_bytes);
    c = t_case(s, "cuda");
    tcase_add_loop_test(c, test_compact_long_arrays, 0, DIRECT_WIDTHS);
    tcase_add_test(c, test_compact_capture_and_replay);
    tcase_add_loop_test(c, test_compact_cub_agrees, 0, DIRECT_WIDTHS);
    c = t_case(s, "large");
    tcase_add_test(c, test_compact_large);
    tcase_add_test(c, test_compact_large_indices);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
