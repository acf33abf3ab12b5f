/* SPDX-License-Identifier: MIT */
/* Compaction at every size and alignment, in place, past its capacity, with n on the device. */
#include "compact_check.h"

#include <stdlib.h>

/* ---- sizes and places ------------------------------------------------------------------------ */

START_TEST(test_compact_every_size)
{
    enum { N = 8193 };
    uint64_t seed = t_seed();
    uint8_t *keep = compact_flags(KEEP_50_PERCENT, N, &seed);
    uint32_t in[N], expected[N], actual[N];
    t_fill_bits(GP_U32, in, N, &seed);
    t_array in_d = t_new_from(in, sizeof in, 0), keep_d = t_new_from(keep, N, 0);
    t_array out = t_new(sizeof in, 0), count = t_new(8, 0);
    gp_compact_desc d = compact_desc(GP_COMPACT_ITEMS, 4);
    for (size_t n = 0; n <= N; n += t_step(1)) {
        size_t kept = compact_oracle(&d, in, keep, n, expected);
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
    uint8_t *keep = compact_flags(KEEP_50_PERCENT, n, &seed);
    for (size_t w = 0; w < COMPACT_DIRECT_WIDTHS; w++) {
        /* The CPU's blocks are smaller than these sizes: one width tells it all. */
        if (n > 200000 && compact_widths[w] != 4 && !t_is_cuda())
            continue;
        char *in = compact_items(compact_widths[w], n);
        gp_compact_desc d = compact_desc(GP_COMPACT_ITEMS, compact_widths[w]);
        compact_check(&d, in, keep, n);
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
    uint8_t *keep = compact_flags(KEEP_50_PERCENT, n, &seed);
    char *in = compact_items(12, n);
    uint32_t value = 1u << 31;
    gp_compact_desc partition = compact_desc(GP_COMPACT_PARTITION, 4),
                    wide = compact_desc(GP_COMPACT_ITEMS, 12);
    gp_compact_desc indices = compact_desc(GP_COMPACT_INDICES, 0);
    compact_check(&partition, in, keep, n);
    compact_check(&wide, in, keep, n);
    compact_check(&indices, NULL, keep, n);
    indices.compare = GP_LT;
    indices.dtype = GP_U32;
    indices.value = &value;
    compact_check(&indices, in, NULL, n);
    free(in);
    free(keep);
}
END_TEST

START_TEST(test_compact_offsets)
{
    enum { N = 5000 };
    uint64_t seed = t_seed();
    uint8_t *keep = compact_flags(KEEP_50_PERCENT, N, &seed);
    for (size_t w = 0; w < COMPACT_WIDTHS - 2; w++) {
        char *in = compact_items(compact_widths[w], N);
        gp_compact_desc items = compact_desc(GP_COMPACT_ITEMS, compact_widths[w]);
        gp_compact_desc partition = compact_desc(GP_COMPACT_PARTITION, compact_widths[w]);
        size_t k = (size_t)_i;
        compact_check_at(&items, in, keep, N,
                         (struct compact_places){k, k * 3 % 17, k * 5 % 17, false});
        compact_check_at(&items, in, keep, N, (struct compact_places){k, k * 7 % 17, 0, true});
        compact_check_at(&partition, in, keep, N,
                         (struct compact_places){k, k * 7 % 17, k * 3 % 17, false});
        free(in);
    }
    free(keep);
}
END_TEST

/* Sizes past the one where GPUs change to their kernel for large arrays, at every kind of place. */
START_TEST(test_compact_long_arrays)
{
    static const struct compact_places compact_places[] = {
        {0, 0, 0, false}, {1, 3, 2, false}, {3, 13, 1, true}, {2, 16, 5, false}};
    size_t width = compact_widths[_i], n = ((size_t)9 << 20) / (width + 1) + 4099;
    uint64_t seed = t_seed();
    if (!t_is_cuda())
        return;
    uint8_t *keep = compact_flags(KEEP_RUNS + _i, n, &seed);
    char *in = compact_items(width, n);
    uint64_t value = 0x4040404040404040;
    static const gp_dtype by_width[] = {GP_I8, GP_F16, GP_F32, GP_I64, (gp_dtype)0};
    for (int c = 0; c < 4; c++) {
        gp_compact_desc d = compact_desc(GP_COMPACT_ITEMS, width);
        compact_check_at(&d, in, keep, n, compact_places[c]);
        d.dtype = by_width[_i];
        d.compare = d.dtype ? (gp_compare)(GP_LT + c) : (gp_compare)0;
        d.value = &value;
        compact_check_at(&d, in, d.dtype ? NULL : keep, n, compact_places[c]);
        d.kind = GP_COMPACT_INDICES;
        d.index_dtype = c & 1 ? GP_U64 : GP_U32;
        compact_check_at(&d, in, d.dtype ? NULL : keep, n,
                         (struct compact_places){(size_t)c, (size_t)c, (size_t)c, false});
        d = compact_desc(GP_COMPACT_PARTITION, width);
        compact_check_at(&d, in, keep, n,
                         (struct compact_places){(size_t)c, 5 * (size_t)c, (size_t)c, false});
    }
    gp_compact_desc indices = compact_desc(GP_COMPACT_INDICES, 0);
    free(keep);
    n = 9000001;
    keep = compact_flags(KEEP_50_PERCENT, n, &seed);
    compact_check_at(&indices, NULL, keep, n, (struct compact_places){0, 7, 1, false});
    free(keep);
    free(in);
}
END_TEST

START_TEST(test_compact_threads_agree)
{
    enum { N = 500001 };
    uint64_t seed = t_seed(), count = 0;
    uint8_t *keep = compact_flags(KEEP_RUNS + _i % 5, N, &seed);
    char *in = compact_items(8, N), *expected = t_host(N * 8), *actual = t_host(N * 8);
    gp_compact_desc d = compact_desc(_i & 1 ? GP_COMPACT_PARTITION : GP_COMPACT_ITEMS, 8);
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    o.backend = GP_BACKEND_CPU;
    o.threads = 1 + _i;
    size_t kept = compact_oracle(&d, in, keep, N, expected);
    T_OK(gp_context_create(&ctx, &o));
    T_OK(gp_compact_by(ctx, &d, in, keep, N, actual, &count));
    ck_assert_uint_eq(count, kept);
    t_same_bytes("threads", expected, actual, (_i & 1 ? N : kept) * 8);
    if (d.kind == GP_COMPACT_ITEMS) {
        T_OK(gp_compact_by(ctx, &d, in, keep, N, in, &count));
        ck_assert_uint_eq(count, kept);
        t_same_bytes("threads in place", expected, in, kept * 8);
    }
    gp_context_destroy(ctx);
    free(keep);
    free(in);
    free(expected);
    free(actual);
}
END_TEST

/* In place a block is written when all before it have been read, on all sides. */
START_TEST(test_sides_in_place_by_threads)
{
    enum { N = 700001 };
    const uint32_t low = 0x30000000, high = 0x60000000;
    uint64_t seed = t_seed(), expected[3], counts[3];
    uint32_t *in = t_host(N * 4), *sides[3], *rest = t_host(N * 4), *above = t_host(N * 4);
    gp_compact_desc d = compact_desc(GP_COMPACT_PARTITION, 0);
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    o.backend = GP_BACKEND_CPU;
    o.threads = 1 + _i;
    t_fill_bits(GP_U32, in, N, &seed);
    for (int k = 0; k < 3; k++)
        sides[k] = t_host(N * 4);
    d.dtype = GP_U32;
    d.compare = GP_BETWEEN;
    d.value = &low;
    d.upper = &high;
    d.rest = sides[1];
    d.above = sides[2];
    T_OK(gp_context_create(&ctx, &o));
    T_OK(gp_compact_by(ctx, &d, in, NULL, N, sides[0], expected));
    d.rest = rest;
    d.above = above;
    T_OK(gp_compact_by(ctx, &d, in, NULL, N, in, counts));
    t_same_bytes("counts", expected, counts, sizeof counts);
    t_same_bytes("kept", sides[0], in, expected[0] * 4);
    t_same_bytes("below", sides[1], rest, expected[1] * 4);
    t_same_bytes("above", sides[2], above, expected[2] * 4);
    gp_context_destroy(ctx);
    for (int k = 0; k < 3; k++)
        free(sides[k]);
    free(above);
    free(rest);
    free(in);
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
    static const enum compact_pattern patterns[] = {KEEP_EVERY_SECOND, KEEP_ALL, KEEP_RUNS};
    uint64_t seed = t_seed();
    size_t width = compact_widths[_i];
    char *in = compact_items(width, N), *expected = t_host(N * width);
    t_array in_d = t_new_from(in, N * width, 0);
    for (int p = 0; p < 3; p++) {
        uint8_t *keep = compact_flags(patterns[p], N, &seed);
        gp_compact_desc d = compact_desc(GP_COMPACT_ITEMS, width);
        t_array keep_d = t_new_from(keep, N, 0);
        size_t kept = compact_oracle(&d, in, keep, N, expected);
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
    uint8_t *keep = compact_flags(KEEP_50_PERCENT, N, &seed);
    uint16_t in[N], expected[N], actual[N];
    t_fill_bits(GP_U16, in, N, &seed);
    t_array n_d = t_new_from(&n, 8, 0), count = t_new(8, 0);
    t_array in_d = t_new_from(in, sizeof in, 0), keep_d = t_new_from(keep, N, 0);
    for (int kind = GP_COMPACT_ITEMS; kind <= GP_COMPACT_PARTITION; kind += 2) {
        gp_compact_desc d = compact_desc((gp_compact_kind)kind, 2);
        size_t kept = compact_oracle(&d, in, keep, real, expected);
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

static Suite *suite(void)
{
    Suite *s = suite_create("compact_places");
    TCase *c = t_case(s, "sizes");
    tcase_add_test(c, test_compact_every_size);
    tcase_add_loop_test(c, test_compact_sizes, 0, T_SIZE_COUNT);
    tcase_add_loop_test(c, test_compact_sizes_of_other_kinds, 0, T_SIZE_COUNT);
    c = t_case(s, "places");
    tcase_add_loop_test(c, test_compact_offsets, 0, 17);
    tcase_add_loop_test(c, test_compact_past_capacity_writes_what_fits, 0, COMPACT_WIDTHS - 2);
    tcase_add_loop_test(c, test_compact_device_n, 0, 6);
    c = t_case(s, "determinism");
    tcase_add_loop_test(c, test_compact_threads_agree, 0, 10);
    tcase_add_loop_test(c, test_sides_in_place_by_threads, 0, 8);
    c = t_case(s, "cuda");
    tcase_add_loop_test(c, test_compact_long_arrays, 0, COMPACT_DIRECT_WIDTHS);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
