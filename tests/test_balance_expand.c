/* SPDX-License-Identifier: MIT */
/* Repeating items by offsets and by counts. */
#include <stdlib.h>
#include <string.h>

#include <gp/balance.h>

#include "segments.h"

/* ---- expand -------------------------------------------------------------------------------- */

static void *expand_oracle(const struct t_segments *g, size_t bytes, const char *in)
{
    char *out = t_host(g->items * bytes);
    for (size_t s = 0; s < g->count; s++)
        for (uint64_t i = g->offsets[s]; i < g->offsets[s + 1]; i++)
            memcpy(out + i * bytes, in + s * bytes, bytes);
    return out;
}

static void expand_check(const struct t_segments *g, size_t bytes, gp_dtype offset_dtype,
                         size_t in_shift, size_t out_shift)
{
    uint64_t state = t_seed();
    char *in = t_host(g->count * bytes), *got = t_host(g->items * bytes);
    t_fill_random(GP_U8, in, g->count * bytes, &state);
    void *expected = expand_oracle(g, bytes, in);
    t_array offsets = t_offsets_put(g, offset_dtype, t_largest_base(offset_dtype, g->items), 0);
    t_array d_in = t_new_from(in, g->count * bytes, in_shift);
    t_array out = t_new(g->items * bytes, out_shift);
    T_OK(gp_expand(t_ctx(), bytes, d_in.data, offset_dtype, offsets.data, g->count, g->items,
                   out.data));
    t_get(&out, got, g->items * bytes);
    t_same_bytes("expanded", expected, got, g->items * bytes);
    t_check_guards(&out);
    t_free(&offsets);
    t_free(&d_in);
    t_free(&out);
    free(in);
    free(got);
    free(expected);
}

static const size_t item_sizes[] = {1, 2, 4, 8, 16, 3, 5, 6, 7, 12, 17, 20, 24, 100, 1000};
enum { ITEM_SIZES = sizeof item_sizes / sizeof item_sizes[0] };

START_TEST(test_expand_layouts_every_item_size)
{
    size_t bytes = item_sizes[_i];
    for (int layout = 0; layout < T_LAYOUT_COUNT; layout++) {
        size_t counts[] = {0, 1, 33, bytes > 16 ? 500 : 9000};
        for (int c = 0; c < 4; c++) {
            struct t_segments g = t_segments_new((enum t_layout)layout, counts[c]);
            expand_check(&g, bytes, t_index_dtypes[(layout + c) % 4], 0, 0);
            free(g.offsets);
        }
    }
}
END_TEST

START_TEST(test_expand_alignments)
{
    struct t_segments g = t_segments_new(T_RANDOM, 1200);
    size_t bytes = item_sizes[_i];
    if (bytes <= 24)
        for (size_t shift = 0; shift < 17; shift++) {
            expand_check(&g, bytes, GP_U32, 0, shift);
            expand_check(&g, bytes, GP_U64, 16 - shift, shift);
        }
    free(g.offsets);
}
END_TEST

/* Tiles of all their steps, on the largest GPU too, with more segments than threads keep. */
START_TEST(test_expand_long_arrays)
{
    static const size_t sizes[] = {1, 3, 8};
    struct t_segments g = t_segments_new(_i % 2 ? T_RANDOM : T_SINGLE, _i % 2 ? 1000000 : 3000000);
    expand_check(&g, sizes[_i / 2], _i % 2 ? GP_U64 : GP_U32, 0, 0);
    free(g.offsets);
}
END_TEST

START_TEST(test_expand_largest_item)
{
    struct t_segments g = t_segments_new(T_RANDOM, 40);
    expand_check(&g, 65536, GP_U32, 0, 0);
    expand_check(&g, 65535, GP_I64, 1, 3);
    free(g.offsets);
}
END_TEST

START_TEST(test_expand_wrong_num_items_is_a_data_error)
{
    enum { MORE = 100, LESS = 10 };
    uint64_t numbers[] = {0, 20, 20, 50};
    uint32_t in[] = {7, 8, 9}, got[MORE], expected[MORE];
    struct t_segments g = {numbers, 3, 50};
    t_array offsets = t_offsets_put(&g, GP_U32, 0, 0), d_in = t_new_from(in, sizeof in, 0);
    t_array out = t_new(sizeof got, 0);
    memset(expected, T_POISON, sizeof expected);
    size_t n = _i ? MORE : LESS;
    for (size_t i = 0; i < 50 && i < n; i++)
        expected[i] = i < 20 ? 7 : 9;
    T_OK(gp_expand(t_ctx(), 4, d_in.data, GP_U32, offsets.data, 3, n, out.data));
    T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
    t_get(&out, got, sizeof got);
    t_same("expanded", GP_U32, expected, got, MORE);
    t_free(&offsets);
    t_free(&d_in);
    t_free(&out);
}
END_TEST

/* ---- expand by counts ---------------------------------------------------------------------- */

static void counts_check(const struct t_segments *g, size_t bytes, gp_dtype count_dtype,
                         size_t capacity)
{
    uint64_t state = t_seed(), *counts = t_host(g->count * 8);
    size_t kept = capacity < g->items ? capacity : g->items;
    char *in = t_host(g->count * bytes), *got = t_host(capacity * bytes);
    for (size_t s = 0; s < g->count; s++)
        counts[s] = g->offsets[s + 1] - g->offsets[s];
    t_fill_random(GP_U8, in, g->count * bytes, &state);
    char *expected = expand_oracle(g, bytes, in);
    char *untouched = t_host(capacity * bytes);
    memset(untouched, T_POISON, capacity * bytes);
    t_array d_counts = t_numbers_put(counts, g->count, count_dtype, 0, 0);
    t_array d_in = t_new_from(in, g->count * bytes, 0), out = t_new(capacity * bytes, bytes);
    t_array total = t_new(8, 8);
    T_OK(gp_expand_counts(t_ctx(), bytes, d_in.data, count_dtype, d_counts.data, g->count, capacity,
                          out.data, total.data));
    T_STATUS(capacity < g->items ? GP_ERROR_CAPACITY : GP_OK, gp_context_synchronize(t_ctx()));
    ck_assert_uint_eq(t_get_u64(&total), g->items);
    t_get(&out, got, capacity * bytes);
    t_same_bytes("expanded", expected, got, kept * bytes);
    t_same_bytes("past the count", untouched, got + kept * bytes, (capacity - kept) * bytes);
    t_check_guards(&out);
    t_check_guards(&total);
    t_free(&d_counts);
    t_free(&d_in);
    t_free(&out);
    t_free(&total);
    free(counts);
    free(in);
    free(got);
    free(expected);
    free(untouched);
}

START_TEST(test_expand_counts_layouts_and_capacities)
{
    static const size_t counts[] = {0, 1, 100, 20000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        struct t_segments g = t_segments_new((enum t_layout)_i, counts[c]);
        counts_check(&g, 4, GP_U32, g.items);
        counts_check(&g, 1, GP_U64, g.items + 100);
        counts_check(&g, 12, GP_U32, g.items / 2);
        counts_check(&g, 8, GP_U64, 0);
        free(g.offsets);
    }
}
END_TEST

/* A sum past 2^32 of U32 counts, and one of U64, with little room. */
START_TEST(test_expand_counts_sum_past_32_bits)
{
    uint64_t numbers[] = {0, 3, 4000000003u, 8000000003u, 9000000007u};
    struct t_segments g = {numbers, 4, 9000000007u};
    uint64_t counts[] = {3, 4000000000u, 4000000000u, 1000000004};
    uint32_t in[] = {1, 2, 3, 4}, expected[1000], got[1000];
    gp_dtype dtype = _i ? GP_U64 : GP_U32;
    for (int i = 0; i < 1000; i++)
        expected[i] = i < 3 ? 1 : 2;
    t_array d_counts = t_numbers_put(counts, g.count, dtype, 0, 0);
    t_array d_in = t_new_from(in, sizeof in, 0), out = t_new(sizeof got, 0), total = t_new(8, 0);
    T_OK(gp_expand_counts(t_ctx(), 4, d_in.data, dtype, d_counts.data, 4, 1000, out.data,
                          total.data));
    T_STATUS(GP_ERROR_CAPACITY, gp_context_synchronize(t_ctx()));
    ck_assert_uint_eq(t_get_u64(&total), g.items);
    t_get(&out, got, sizeof got);
    t_same("expanded", GP_U32, expected, got, 1000);
    t_check_guards(&out);
    t_free(&d_counts);
    t_free(&d_in);
    t_free(&out);
    t_free(&total);
}
END_TEST

/* ---- graphs -------------------------------------------------------------------------------- */

/* Captured with one set of counts, replayed with another; CUDA alone. */
START_TEST(test_expand_counts_replayed_with_other_counts)
{
    enum { SEGMENTS = 3000, CAPACITY = 200000 };
    uint64_t state = t_seed();
    uint32_t *counts = t_host(SEGMENTS * 4), *values = t_host(SEGMENTS * 4);
    uint32_t *expected = t_host(CAPACITY * 4), *got = t_host(CAPACITY * 4);
    size_t bytes = 0, n = 0;
    t_fill_small(GP_U32, counts, SEGMENTS, 20, &state);
    t_fill_bits(GP_U32, values, SEGMENTS, &state);
    t_array d_counts = t_new_from(counts, SEGMENTS * 4, 0), out = t_new(CAPACITY * 4, 0);
    t_array in = t_new_from(values, SEGMENTS * 4, 0), total = t_new(8, 0);
    T_OK(gp_expand_counts_workspace_bytes(NULL, GP_U32, SEGMENTS, &bytes));
    T_OK(gp_context_reserve(t_ctx(), bytes));
    if (t_capture_begin()) {
        T_OK(gp_expand_counts(t_ctx(), 4, in.data, GP_U32, d_counts.data, SEGMENTS, CAPACITY,
                              out.data, total.data));
        t_capture_end();
        t_fill_small(GP_U32, counts, SEGMENTS, 60, &state);
        t_put(&d_counts, counts, SEGMENTS * 4);
        for (int round = 0; round < 2; round++)
            t_replay();
        for (size_t s = 0; s < SEGMENTS; s++)
            for (uint32_t c = 0; c < counts[s]; c++)
                expected[n++] = values[s];
        t_get(&out, got, n * 4);
        t_same("expanded", GP_U32, expected, got, n);
        ck_assert_uint_eq(t_get_u64(&total), n);
        t_capture_free();
    }
    t_free(&d_counts);
    t_free(&in);
    t_free(&out);
    t_free(&total);
    free(counts);
    free(values);
    free(expected);
    free(got);
}
END_TEST

/* ---- run ----------------------------------------------------------------------------------- */

static Suite *suite(void)
{
    Suite *s = suite_create("expand");
    TCase *c = t_case(s, "expand");
    tcase_add_loop_test(c, test_expand_layouts_every_item_size, 0, ITEM_SIZES);
    tcase_add_loop_test(c, test_expand_alignments, 0, ITEM_SIZES);
    tcase_add_test(c, test_expand_largest_item);
    tcase_add_loop_test(c, test_expand_long_arrays, 0, 6);
    tcase_add_loop_test(c, test_expand_wrong_num_items_is_a_data_error, 0, 2);
    c = t_case(s, "counts");
    tcase_add_loop_test(c, test_expand_counts_layouts_and_capacities, 0, T_LAYOUT_COUNT);
    tcase_add_loop_test(c, test_expand_counts_sum_past_32_bits, 0, 2);
    c = t_case(s, "cuda");
    tcase_add_test(c, test_expand_counts_replayed_with_other_counts);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
