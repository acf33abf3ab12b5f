/* SPDX-License-Identifier: MIT */
/* gp_copy_intervals: shapes of intervals, sides with starts, sizes and places of items, errors. */
#include <gp/balance.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gp_test.h"
#include "values.h"

/* Lengths of intervals. */
enum shape { SHORT, EMPTY, FIXED, MIXED, GIANT, POWER_LAW, LONG, ONE, SHAPES };
enum side { GATHER = 1, SCATTER = 2, MOVE = 3 }; /* bits: starts of the input, of the output */

struct copy {
    enum shape shape;
    int sides; /* enum side, or 0: neither has starts */
    size_t item, segments;
    gp_dtype dtype;
    uint64_t base; /* offsets[0] */
    size_t in_offset, out_offset;
    /* made of these: */
    uint64_t *offsets, *in_starts, *out_starts;
    size_t n, in_items, out_items;
};

static size_t length_of(enum shape shape, size_t s, size_t segments, size_t most, uint64_t *state)
{
    const uint64_t random = t_random(state);
    switch (shape) {
    case SHORT:
        return random % 8;
    case EMPTY:
        return s % 1000 == 999 ? 5 : 0;
    case FIXED:
        return 16;
    case MIXED:
        return random % 5 ? random % 20 : random % 3000;
    case GIANT:
        return s == segments / 2 ? most : s % 2;
    case POWER_LAW:
        return (size_t)(most / 8 / (1 + random % 3000));
    case LONG:
        return 300 + random % 900;
    default:
        return most;
    }
}

/* Starts of intervals in a random order, with gaps; of the input they may also overlap. */
static uint64_t *starts_new(struct copy *c, bool overlap, size_t *items, uint64_t *state)
{
    uint64_t *starts = t_host(c->segments * 8), at = 0;
    size_t *order = t_host(c->segments * sizeof *order);
    for (size_t s = 0; s < c->segments; s++)
        order[s] = s;
    for (size_t s = c->segments; s > 1; s--) {
        const size_t other = t_random_below(state, s), swap = order[s - 1];
        order[s - 1] = order[other];
        order[other] = swap;
    }
    for (size_t k = 0; k < c->segments; k++) {
        const size_t s = order[k], length = c->offsets[s + 1] - c->offsets[s];
        starts[s] = at;
        at += overlap ? length / 2 : length + t_random_below(state, 3);
        *items = starts[s] + length > *items ? starts[s] + length : *items;
        if (length == 0 && s % 3 == 0)
            starts[s] = 1 << 30; /* is not used */
    }
    free(order);
    return starts;
}

static void copy_make(struct copy *c, uint64_t *state)
{
    const size_t most = t_at_most(((size_t)1 << 20) / c->item) + 1;
    c->offsets = t_host((c->segments + 1) * 8);
    c->offsets[0] = c->base;
    for (size_t s = 0; s < c->segments; s++) {
        const size_t left = 3 * most - (c->offsets[s] - c->base);
        const size_t length = length_of(c->shape, s, c->segments, most, state);
        c->offsets[s + 1] = c->offsets[s] + (length < left ? length : left);
    }
    c->n = c->offsets[c->segments] - c->base;
    c->in_items = c->sides & GATHER ? 0 : c->n;
    c->out_items = c->sides & SCATTER ? 0 : c->n;
    c->in_starts = c->sides & GATHER ? starts_new(c, c->segments % 2, &c->in_items, state) : NULL;
    c->out_starts = c->sides & SCATTER ? starts_new(c, false, &c->out_items, state) : NULL;
}

static t_array numbers_put(const struct copy *c, const uint64_t *numbers, size_t n)
{
    const size_t bytes = gp_dtype_bytes(c->dtype);
    char *host = t_host(n * bytes);
    for (size_t i = 0; numbers && i < n; i++)
        memcpy(host + i * bytes, &numbers[i], bytes);
    t_array a = t_new_from(host, n * bytes, 0);
    free(host);
    return a;
}

static gp_interval_desc desc_of(const struct copy *c, bool counted)
{
    gp_interval_desc d = GP_INTERVAL_DESC_INIT;
    d.item_bytes = c->item;
    d.offset_dtype = c->dtype;
    d.in_items = counted ? c->in_items : 0;
    d.out_items = counted ? c->out_items : 0;
    return d;
}

static void copy_expect(const struct copy *c, const char *in, char *out)
{
    for (size_t s = 0; s < c->segments; s++)
        for (uint64_t k = c->offsets[s]; k < c->offsets[s + 1]; k++) {
            const uint64_t from =
                c->in_starts ? c->in_starts[s] + (k - c->offsets[s]) : k - c->base;
            const uint64_t to =
                c->out_starts ? c->out_starts[s] + (k - c->offsets[s]) : k - c->base;
            memcpy(out + to * c->item, in + from * c->item, c->item);
        }
}

static void check_copy(struct copy c)
{
    uint64_t state = t_seed() + (uint64_t)c.shape;
    copy_make(&c, &state);
    const size_t in_bytes = c.in_items * c.item, out_bytes = c.out_items * c.item;
    char *in = t_host(in_bytes), *expected = t_host(out_bytes), *actual = t_host(out_bytes);
    t_fill_bits(GP_U8, in, in_bytes, &state);
    t_fill_bits(GP_U8, expected, out_bytes, &state);
    t_array in_d = t_new_from(in, in_bytes, c.in_offset);
    t_array out_d = t_new_from(expected, out_bytes, c.out_offset);
    t_array offsets = numbers_put(&c, c.offsets, c.segments + 1);
    t_array from = numbers_put(&c, c.in_starts, c.segments);
    t_array to = numbers_put(&c, c.out_starts, c.segments);
    const gp_interval_desc d = desc_of(&c, c.segments % 2);
    copy_expect(&c, in, expected);
    T_OK(gp_copy_intervals(t_ctx(), &d, in_d.data, c.in_starts ? from.data : NULL, offsets.data,
                           c.segments, c.n, c.out_starts ? to.data : NULL, out_d.data));
    T_OK(gp_context_synchronize(t_ctx()));
    t_get(&out_d, actual, out_bytes);
    t_same_bytes("output", expected, actual, out_bytes);
    t_check_guards(&out_d);
    t_free(&in_d), t_free(&out_d), t_free(&offsets), t_free(&from), t_free(&to);
    free(in), free(expected), free(actual);
    free(c.offsets), free(c.in_starts), free(c.out_starts);
}

static const gp_dtype dtypes[] = {GP_U32, GP_I32, GP_U64, GP_I64};
static const size_t item_sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 20, 48, 100, 1000, 65536};
enum { ITEM_SIZES = sizeof item_sizes / sizeof item_sizes[0] };

START_TEST(test_copy_intervals_shapes)
{
    static const size_t counts[] = {0, 1, 2, 100, 5003, 40000};
    for (int sides = 0; sides <= MOVE; sides++)
        for (size_t k = 0; k < 6; k++) {
            struct copy c = {.shape = (enum shape)(_i % SHAPES), .sides = sides, .item = 4};
            c.item = _i < SHAPES ? 4 : _i < 2 * SHAPES ? 1 : 12;
            c.segments = t_at_most(counts[k]);
            c.dtype = dtypes[k % 4];
            c.base = k % 2 ? 77 : 0;
            check_copy(c);
        }
}
END_TEST

START_TEST(test_copy_intervals_of_items_of_any_size)
{
    for (int shape = 0; shape < SHAPES; shape++)
        for (int sides = 0; sides <= MOVE; sides++) {
            struct copy c = {.shape = (enum shape)shape, .sides = sides, .item = item_sizes[_i]};
            c.segments = c.item > 1000 ? 11 : 1001;
            c.dtype = dtypes[shape % 4];
            check_copy(c);
        }
}
END_TEST

/* Inputs and outputs begin anywhere. */
START_TEST(test_copy_intervals_of_any_alignment)
{
    static const enum shape shapes[] = {SHORT, LONG, MIXED};
    static const size_t sizes[] = {1, 2, 3, 4, 16};
    for (size_t s = 0; s < 3; s++)
        for (size_t k = 0; k < 5; k++) {
            struct copy c = {.shape = shapes[s], .sides = (int)(_i + k) % 4, .item = sizes[k]};
            c.segments = 333;
            c.dtype = GP_U32;
            c.in_offset = (size_t)_i;
            c.out_offset = (size_t)(_i * 7 + (int)s) % 17;
            check_copy(c);
        }
}
END_TEST

/* Past the cache of a CPU. */
START_TEST(test_copy_intervals_of_large_outputs)
{
    enum { N = 3 << 20, LENGTH = 3000 };
    const size_t n = t_at_most(N) / LENGTH * LENGTH, segments = n / LENGTH;
    gp_interval_desc d = GP_INTERVAL_DESC_INIT;
    uint32_t *in = t_host(n * 4), *expected = t_host(n * 4), *actual = t_host(n * 4);
    uint64_t *offsets = t_host((segments + 1) * 8), *starts = t_host(segments * 8);
    for (size_t s = 0; s <= segments; s++)
        offsets[s] = s * LENGTH;
    for (size_t s = 0; s < segments; s++)
        starts[s] = (segments - 1 - s) * LENGTH;
    for (size_t i = 0; i < n; i++)
        in[i] = (uint32_t)i * 2654435761u;
    for (size_t s = 0; s < segments; s++)
        memcpy(expected + starts[s], in + offsets[s], LENGTH * 4);
    t_array in_d = t_new_from(in, n * 4, 0), out_d = t_new(n * 4, (size_t)_i);
    t_array offsets_d = t_new_from(offsets, (segments + 1) * 8, 0);
    t_array starts_d = t_new_from(starts, segments * 8, 0);
    d.item_bytes = 4;
    d.offset_dtype = GP_U64;
    T_OK(gp_copy_intervals(t_ctx(), &d, in_d.data, _i % 2 ? starts_d.data : NULL, offsets_d.data,
                           segments, n, _i % 2 ? NULL : starts_d.data, out_d.data));
    t_get(&out_d, actual, n * 4);
    t_same_bytes("output", expected, actual, n * 4);
    t_check_guards(&out_d);
    t_free(&in_d), t_free(&out_d), t_free(&offsets_d), t_free(&starts_d);
    free(in), free(expected), free(actual), free(offsets), free(starts);
}
END_TEST

/* Results are the same for any number of threads, and a wrong num_items is reported. */
START_TEST(test_copy_intervals_reports_num_items)
{
    const uint32_t offsets[] = {0, 3, 3, 10}, in[10] = {0};
    gp_interval_desc d = GP_INTERVAL_DESC_INIT;
    t_array offsets_d = t_new_from(offsets, sizeof offsets, 0), in_d = t_new_from(in, sizeof in, 0);
    t_array out_d = t_new(48, 0);
    d.item_bytes = 4;
    d.offset_dtype = GP_U32;
    T_OK(gp_copy_intervals(t_ctx(), &d, in_d.data, NULL, offsets_d.data, 3, 9, NULL, out_d.data));
    ck_assert_int_eq(gp_context_synchronize(t_ctx()), GP_ERROR_DATA);
    ck_assert_str_eq(gp_last_error(t_ctx()),
                     "gp_copy_intervals: offsets[3] - offsets[0] is 10, expected 9");
    t_check_guards(&out_d);
    t_free(&offsets_d), t_free(&in_d), t_free(&out_d);
}
END_TEST

/* Segments behind *device_num_segments are not looked at. */
START_TEST(test_copy_intervals_device_num_segments)
{
    enum { SEGMENTS = 900, LENGTH = 7, N = SEGMENTS * LENGTH };
    static const uint64_t counts[] = {0, 1, 500, 899, 900, 1ull << 40};
    const uint64_t count = counts[_i % 6], used = count < SEGMENTS ? count : SEGMENTS;
    uint32_t offsets[SEGMENTS + 1], starts[SEGMENTS], in[N], expected[N], actual[N];
    gp_context *ctx = _i < 6 ? t_ctx() : t_validating();
    gp_interval_desc d = GP_INTERVAL_DESC_INIT;
    memset(expected, 0x5a, sizeof expected);
    for (uint32_t i = 0; i < N; i++)
        in[i] = i * 2654435761u;
    for (uint32_t s = 0; s <= SEGMENTS; s++)
        offsets[s] = s * LENGTH + 3;
    for (uint32_t s = 0; s < SEGMENTS; s++) {
        starts[s] = s < used ? (SEGMENTS - 1 - s) * LENGTH : 5000;
        if (s < used)
            memcpy(expected + s * LENGTH, in + starts[s], LENGTH * 4);
        else if (s > used)
            offsets[s] = 0; /* those behind the last end */
    }
    t_array in_d = t_new_from(in, sizeof in, 0), out_d = t_new(sizeof in, 0);
    t_array offsets_d = t_new_from(offsets, sizeof offsets, 0);
    t_array starts_d = t_new_from(starts, sizeof starts, 0), count_d = t_new_from(&count, 8, 0);
    memset(actual, 0x5a, sizeof actual);
    t_put(&out_d, actual, sizeof actual);
    d.item_bytes = 4;
    d.in_items = N;
    d.offset_dtype = GP_U32;
    d.device_num_segments = count_d.data;
    T_OK(gp_copy_intervals(ctx, &d, in_d.data, starts_d.data, offsets_d.data, SEGMENTS, N, NULL,
                           out_d.data));
    ck_assert_msg(gp_context_synchronize(ctx) == GP_OK, "%s", gp_last_error(ctx));
    t_get(&out_d, actual, sizeof actual);
    t_same_bytes("output", expected, actual, sizeof actual);
    t_check_guards(&out_d);
    if (used > 1) { /* more than there is room for */
        T_OK(gp_copy_intervals(t_ctx(), &d, in_d.data, starts_d.data, offsets_d.data, SEGMENTS, 6,
                               NULL, out_d.data));
        ck_assert_int_eq(gp_context_synchronize(t_ctx()), GP_ERROR_DATA);
    }
    t_free(&in_d), t_free(&out_d), t_free(&offsets_d), t_free(&starts_d), t_free(&count_d);
    if (_i >= 6)
        gp_context_destroy(ctx);
}
END_TEST

static void expect_text(gp_status expected, gp_status actual, const char *text)
{
    ck_assert_int_eq(actual, expected);
    ck_assert_str_eq(gp_last_error(t_ctx()), text);
}

/* Rules of both sides: an interval that ends where its array does is fine. */
START_TEST(test_copy_intervals_that_validate_look_at_starts)
{
    gp_context *checked = t_validating();
    const bool out_side = _i % 2, wide = _i >= 2;
    const uint64_t offsets[] = {5, 8, 8, 15};
    uint64_t starts[] = {7, 99, 0};
    const uint32_t narrow_offsets[] = {5, 8, 8, 15}, narrow[] = {7, 99, 0};
    gp_interval_desc d = GP_INTERVAL_DESC_INIT;
    t_array o = wide ? t_new_from(offsets, sizeof offsets, 0) : t_new_from(narrow_offsets, 16, 0);
    t_array s = wide ? t_new_from(starts, sizeof starts, 0) : t_new_from(narrow, 12, 0);
    t_array a = t_new(10, 0), b = t_new(10, 0);
    char text[100];
    d.item_bytes = 1;
    d.offset_dtype = wide ? GP_I64 : GP_U32;
    d.in_items = d.out_items = 10;
    void *const from = out_side ? NULL : s.data, *const to = out_side ? s.data : NULL;
    T_OK(gp_copy_intervals(checked, &d, a.data, from, o.data, 3, 10, to, b.data));
    T_OK(gp_context_synchronize(checked));
    t_poison(&b);
    memcpy(starts, (uint64_t[]){8, 99, 0}, sizeof starts);
    if (wide)
        t_put(&s, starts, sizeof starts);
    else
        t_put(&s, (uint32_t[]){8, 99, 0}, 12);
    snprintf(text, sizeof text, "gp_copy_intervals: %s_starts[0] is 8, expected below 8",
             out_side ? "out" : "in");
    t_refused(checked, gp_copy_intervals(checked, &d, a.data, from, o.data, 3, 10, to, b.data),
              text);
    t_check_untouched(&b);
    t_free(&o), t_free(&s), t_free(&a), t_free(&b);
    gp_context_destroy(checked);
}
END_TEST

START_TEST(test_copy_intervals_errors)
{
    t_array a = t_new(2048, 0);
    char *in = a.data, *starts = in + 256, *offsets = in + 512, *out = in + 1024;
    gp_context *c = t_ctx();
    gp_interval_desc d = GP_INTERVAL_DESC_INIT;
#define RUN(in, in_starts, offsets, s, n, out_starts, out)                                         \
    gp_copy_intervals(c, &d, in, in_starts, offsets, s, n, out_starts, out)
    T_STATUS(GP_ERROR_POINTER, gp_copy_intervals(NULL, &d, in, NULL, offsets, 2, 8, NULL, out));
    expect_text(GP_ERROR_POINTER, gp_copy_intervals(c, NULL, in, NULL, offsets, 2, 8, NULL, out),
                "gp_copy_intervals: desc is NULL");
    expect_text(GP_ERROR_ARGUMENT, RUN(in, NULL, offsets, 2, 8, NULL, out),
                "gp_copy_intervals: desc->item_bytes is 0, expected 1 to 65536");
    d.item_bytes = 4;
    d.in_items = SIZE_MAX;
    T_STATUS(GP_ERROR_ARGUMENT, RUN(in, NULL, offsets, 2, 8, NULL, out));
    d.in_items = 0;
    d.out_items = SIZE_MAX;
    T_STATUS(GP_ERROR_ARGUMENT, RUN(in, NULL, offsets, 2, 8, NULL, out));
    d.out_items = 7;
    T_STATUS(GP_ERROR_DTYPE, RUN(in, NULL, offsets, 2, 8, NULL, out));
    d.offset_dtype = GP_U32;
    expect_text(GP_ERROR_ARGUMENT, RUN(in, NULL, offsets, 2, 8, NULL, out),
                "gp_copy_intervals: num_items is 8, above desc->out_items, 7");
    d.out_items = 0;
    d.reserved = 1;
    T_STATUS(GP_ERROR_ARGUMENT, RUN(in, NULL, offsets, 2, 8, NULL, out));
    d.reserved = 0;
    T_STATUS(GP_ERROR_ARGUMENT, RUN(in, NULL, offsets, SIZE_MAX, 8, NULL, out));
    T_STATUS(GP_ERROR_ARGUMENT, RUN(in, NULL, offsets, 2, SIZE_MAX, NULL, out));
    T_STATUS(GP_ERROR_POINTER, RUN(NULL, NULL, offsets, 2, 8, NULL, out));
    T_STATUS(GP_ERROR_POINTER, RUN(in, starts + 2, offsets, 2, 8, NULL, out));
    T_STATUS(GP_ERROR_POINTER, RUN(in, NULL, NULL, 2, 8, NULL, out));
    T_STATUS(GP_ERROR_POINTER, RUN(in, NULL, offsets, 2, 8, starts + 2, out));
    T_STATUS(GP_ERROR_POINTER, RUN(in, NULL, offsets, 2, 8, NULL, NULL));
    d.device_num_segments = (const uint64_t *)(void *)(in + 4);
    T_STATUS(GP_ERROR_POINTER, RUN(in, NULL, offsets, 2, 8, NULL, out));
    d.device_num_segments = (const uint64_t *)(void *)(out + 24);
    T_STATUS(GP_ERROR_OVERLAP, RUN(in, NULL, offsets, 2, 8, NULL, out));
    d.device_num_segments = NULL;
    T_STATUS(GP_ERROR_OVERLAP, RUN(in, NULL, offsets, 2, 8, NULL, in + 31));
    T_STATUS(GP_ERROR_OVERLAP, RUN(in, NULL, offsets, 2, 8, NULL, offsets + 11));
    T_STATUS(GP_ERROR_OVERLAP, RUN(in, starts, offsets, 2, 8, NULL, starts + 7));
    T_STATUS(GP_ERROR_OVERLAP, RUN(in, NULL, offsets, 2, 8, starts, starts + 7));
#undef RUN
    t_check_untouched(&a);
    t_free(&a);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("balance_intervals");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_copy_intervals_shapes, 0, 3 * SHAPES);
    tcase_add_loop_test(c, test_copy_intervals_of_items_of_any_size, 0, ITEM_SIZES);
    tcase_add_loop_test(c, test_copy_intervals_of_any_alignment, 0, 17);
    tcase_add_loop_test(c, test_copy_intervals_of_large_outputs, 0, 4);
    c = t_case(s, "counts");
    tcase_add_loop_test(c, test_copy_intervals_device_num_segments, 0, 12);
    c = t_case(s, "errors");
    tcase_add_test(c, test_copy_intervals_reports_num_items);
    tcase_add_loop_test(c, test_copy_intervals_that_validate_look_at_starts, 0, 4);
    tcase_add_test(c, test_copy_intervals_errors);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
