/* SPDX-License-Identifier: MIT */
/* Segmented sorts: shapes of segments, dtypes, values, in place, workspace, graphs. What is refused
 * is in test_segsort_errors.c. */
#include <gp/segsort.h>

#include "segsort_check.h"

/* ---- shapes ---------------------------------------------------------------------------------- */

START_TEST(test_segments_of_every_shape)
{
    static const size_t counts[] = {1, 2, 37, 5000};
    static const gp_dtype dtypes[] = {GP_U32, GP_F32, GP_U64, GP_I8, GP_F16};
    for (size_t k = 0; k < 4; k++) {
        struct t_segments g = t_segments_new((enum t_layout)_i, counts[k]);
        struct case_ c = {.sort = {.dtype = dtypes[(k + (size_t)_i) % 5]}};
        c.offset_dtype = t_index_dtypes[k];
        c.sort.descending = k & 1;
        check_case(&c, &g, 0);
        c.sort.value_bytes = k & 1 ? 8 : 4;
        check_case(&c, &g, 7);
        free(g.offsets);
    }
}
END_TEST

/* Segments of 0 to 300 items in turn: around what is sorted by comparing, and by digits. */
START_TEST(test_segments_of_every_length)
{
    enum { LONGEST = 300 };
    struct t_segments g = {t_host((LONGEST + 2) * 8), LONGEST + 1, 0};
    struct case_ c = {.sort = {.dtype = t_dtypes[_i]}, .offset_dtype = GP_U32, .base = 77};
    g.offsets[0] = 0;
    for (size_t s = 0; s <= LONGEST; s++)
        g.offsets[s + 1] = g.offsets[s] + s;
    g.items = (size_t)g.offsets[LONGEST + 1];
    for (int k = 0; k < 4; k++) {
        c.sort.descending = k & 1;
        c.sort.value_bytes = k & 2 ? 4 : 0;
        check_case(&c, &g, PATTERN_BITS);
        check_case(&c, &g, PATTERN_NARROW);
        check_case(&c, &g, PATTERN_SPECIAL);
    }
    free(g.offsets);
}
END_TEST

/* Long segments among short ones: long enough for all threads, and for buckets. */
START_TEST(test_segments_with_long_ones)
{
    static const gp_dtype dtypes[] = {GP_U8, GP_U16, GP_F32, GP_U64};
    enum { COUNT = 2000, LONG = 100000 };
    struct t_segments g = {t_host((COUNT + 1) * 8), COUNT, 0};
    struct case_ c = {.sort = {.dtype = dtypes[_i]}, .offset_dtype = GP_I64};
    for (size_t s = 0; s < COUNT; s++) {
        g.offsets[s] = g.items;
        g.items += s == 700 ? LONG : s == 900 ? 2 * LONG : s % 20;
    }
    g.offsets[COUNT] = g.items;
    check_case(&c, &g, 0);
    c.sort.value_bytes = 4;
    c.sort.keys_in_place = true;
    check_case(&c, &g, 5);
    c.sort.cub = t_has_cub();
    check_case(&c, &g, 0);
    c.sort.value_bytes = 0;
    check_case(&c, &g, 7);
    free(g.offsets);
}
END_TEST

/* Keys that vary in the lowest `bits` bits of a segment, of every seventh one in all of them. */
static void *near_keys(const struct t_segments *g, size_t bytes, unsigned bits, uint64_t *seed)
{
    char *keys = t_host(g->items * bytes);
    for (size_t s = 0; s < g->count; s++) {
        const uint64_t low = s % 7 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
        const uint64_t high = t_random(seed);
        for (size_t i = (size_t)g->offsets[s]; i < g->offsets[s + 1]; i++) {
            const uint64_t key = (high & ~low) | (t_random(seed) & low);
            memcpy(keys + i * bytes, &key, bytes);
        }
    }
    return keys;
}

/* Around the lengths of vectors and of what is sorted in them, and around the bits that words of a
 * key and a position have; segments of a few items, which share vectors, among longer ones. */
START_TEST(test_segments_of_near_keys)
{
    static const gp_dtype dtypes[] = {GP_U32, GP_I32, GP_U64, GP_I64};
    static const unsigned bits[] = {3, 20, 22, 24, 25, 28, 29};
    static const uint64_t lengths[] = {0,  1,  2,  3,  4,   7,    8,    15,  16,
                                       17, 32, 33, 64, 100, 2048, 2049, 6000};
    enum { COUNT = 700 };
    uint64_t seed = t_seed() + (uint64_t)_i;
    struct t_segments g = {t_host((COUNT + 1) * 8), COUNT, 0};
    struct case_ c = {.sort = {.dtype = dtypes[_i % 4]},
                      .offset_dtype = t_index_dtypes[_i / 4 % 4]};
    const size_t key_bytes = gp_dtype_bytes(c.sort.dtype);
    for (size_t s = 0; s < COUNT; s++) {
        const uint64_t r = t_random(&seed) >> 20;
        g.offsets[s] = g.items;
        g.items += r % 16 ? lengths[r / 16 % (r / 1024 % 4 ? 6 : 14)] : r / 16 % 40;
        g.items += s % 300 == 299 ? lengths[14 + r % 3] : 0;
    }
    g.offsets[COUNT] = g.items;
    for (int k = 0; k < 8; k++) {
        c.sort.descending = k & 1;
        c.sort.value_bytes = k & 2 ? 8 : 4;
        c.sort.keys_in_place = k & 4;
        c.sort.values_in_place = k & 4 || k == 3;
        check_sort_of(&c, &g, near_keys(&g, key_bytes, bits[(_i + k) % 7], &seed));
    }
    free(g.offsets);
}
END_TEST

/* ---- values, bits, in place ------------------------------------------------------------------ */

START_TEST(test_segments_value_sizes_and_in_place)
{
    static const size_t sizes[] = {1, 2, 4, 8, 16, 3, 12, 24, 100};
    static const gp_dtype dtypes[] = {GP_U8, GP_BF16, GP_I32, GP_F64};
    struct t_segments g = t_segments_new(T_POWER_LAW, 300);
    for (int k = 0; k < 8; k++) {
        struct case_ c = {.sort = {.dtype = dtypes[k / 2]}, .offset_dtype = GP_U64, .base = 5};
        c.sort.value_bytes = sizes[_i];
        c.sort.keys_in_place = k & 1;
        c.sort.values_in_place = k & 2;
        c.sort.descending = k & 4;
        check_case(&c, &g, k & 1 ? 7 : 4);
    }
    free(g.offsets);
}
END_TEST

START_TEST(test_segments_bit_ranges)
{
    static const int ranges[][2] = {{0, 1}, {3, 11}, {5, 5}, {2, 21}, {31, 32}, {8, 32}};
    static const gp_dtype dtypes[] = {GP_U32, GP_F32, GP_I64};
    struct t_segments g = t_segments_new(T_POWER_LAW, 150);
    for (int k = 0; k < 6; k++) {
        struct case_ c = {.sort = {.dtype = dtypes[k / 2]}, .offset_dtype = GP_I32};
        c.sort.begin = ranges[_i][0];
        c.sort.end = ranges[_i][1];
        c.sort.value_bytes = k & 1 ? 4 : 0;
        c.sort.descending = k & 2;
        check_case(&c, &g, 0);
    }
    free(g.offsets);
}
END_TEST

/* So many items that a sort by segment and key is planned, on CUDA by the bits that vary: all of
 * them, few, and such that many items of a segment agree in the highest. */
START_TEST(test_segments_of_many_items)
{
    static const gp_dtype dtypes[] = {GP_U64, GP_F64, GP_I64, GP_U32};
    static const enum pattern patterns[] = {PATTERN_BITS, PATTERN_NARROW, PATTERN_THREE_VALUES};
    enum { LENGTH = 3000, COUNT = (1 << 21) / LENGTH + 2 };
    struct t_segments g = {t_host((COUNT + 1) * 8), COUNT, (size_t)COUNT * LENGTH};
    struct case_ c = {.sort = {.dtype = dtypes[_i / 3]}, .offset_dtype = GP_U32};
    for (size_t s = 0; s <= COUNT; s++)
        g.offsets[s] = s * LENGTH;
    c.sort.value_bytes = _i % 2 ? 4 : 0;
    c.sort.keys_in_place = c.sort.values_in_place = _i % 2;
    void *keys = pattern_new(patterns[_i % 3], c.sort.dtype, g.items);
    for (size_t i = 0; c.sort.dtype == GP_I64 && i < g.items; i++)
        ((int64_t *)keys)[i] = (int64_t)(i % 5 << 60 | ((uint64_t *)keys)[i] >> 55);
    check_sort_of(&c, &g, keys);
    free(g.offsets);
}
END_TEST

/* The largest first offset that the dtype allows. */
START_TEST(test_segments_far_from_zero)
{
    struct t_segments g = t_segments_new(T_RANDOM, 100);
    struct case_ c = {.sort = {.dtype = GP_U32}, .offset_dtype = t_index_dtypes[_i]};
    c.base = t_largest_base(c.offset_dtype, g.items);
    check_case(&c, &g, 0);
    free(g.offsets);
}
END_TEST

/* Equal keys everywhere: only a stable sort keeps the positions. */
START_TEST(test_segments_stable)
{
    struct t_segments g = t_segments_new((enum t_layout)_i, 400);
    struct case_ c = {.sort = {.dtype = GP_F32, .value_bytes = 8}, .offset_dtype = GP_U32};
    check_case(&c, &g, 4);
    c.sort.descending = true;
    check_case(&c, &g, 1);
    free(g.offsets);
}
END_TEST

/* ---- workspace, graphs ----------------------------------------------------------------------- */

/* A context whose workspace cannot grow past what was reserved. */
struct limited {
    int calls;
};

static void *limited_allocate(void *user, size_t bytes, size_t alignment, gp_stream stream)
{
    void *memory = NULL;
    (void)alignment, (void)stream;
    ((struct limited *)user)->calls++;
    if (gp_malloc(t_ctx(), bytes, &memory) != GP_OK)
        return NULL;
    gp_context_synchronize(t_ctx());
    return memory;
}

static void limited_release(void *user, void *memory, size_t bytes, gp_stream stream)
{
    (void)user, (void)bytes, (void)stream;
    gp_free(t_ctx(), memory);
}

START_TEST(test_segmented_workspace_bytes_is_enough)
{
    static const size_t values[] = {0, 4, 24};
    struct limited l = {0};
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    struct t_segments g = t_segments_new(T_POWER_LAW, 500);
    size_t n = g.items, value = values[_i % 3], bytes;
    gp_dtype dtype = t_dtypes[_i / 3];
    void *keys = pattern_new(PATTERN_BITS, dtype, n), *payload = values_new(n, value);
    t_array k = t_new_from(keys, n * gp_dtype_bytes(dtype), 0),
            v = t_new_from(payload, n * value, 0);
    t_array offsets = t_offsets_put(&g, GP_U32, 0, 0);
    o.backend = gp_context_backend(t_ctx());
    o.allocator = (gp_allocator){&l, limited_allocate, limited_release};
    T_OK(gp_context_create(&ctx, &o));
    T_OK(gp_radix_sort_segmented_workspace_bytes(NULL, dtype, value, n, g.count, NULL, &bytes));
    T_OK(gp_context_reserve(ctx, bytes));
    int before = l.calls;
    if (value)
        T_OK(gp_radix_sort_segmented_pairs(ctx, dtype, k.data, value, v.data, n, GP_U32,
                                           offsets.data, g.count, k.data, v.data, NULL));
    else
        T_OK(gp_radix_sort_segmented(ctx, dtype, k.data, n, GP_U32, offsets.data, g.count, k.data,
                                     NULL));
    ck_assert_int_eq(l.calls, before);
    T_OK(gp_context_synchronize(ctx));
    gp_context_destroy(ctx);
    t_free(&k), t_free(&v), t_free(&offsets);
    free(keys), free(payload), free(g.offsets);
}
END_TEST

/* A replay follows the offsets and the keys of its time. */
START_TEST(test_segmented_captured_and_replayed)
{
    struct case_ c = {.sort = {.dtype = GP_F32, .value_bytes = 4}, .offset_dtype = GP_U32};
    struct t_segments g = t_segments_new(T_RANDOM, 300);
    size_t bytes, n = c.sort.n = g.items;
    void *keys = pattern_new(PATTERN_BITS, GP_F32, n), *values = values_new(n, 4);
    struct arrays a = arrays_new(&c.sort, keys, values);
    t_array offsets = t_offsets_put(&g, GP_U32, 0, 0);
    a.k = &a.ko;
    a.v = &a.vo;
    T_OK(gp_radix_sort_segmented_workspace_bytes(NULL, GP_F32, 4, n, g.count, NULL, &bytes));
    T_OK(gp_context_reserve(t_ctx(), bytes));
    if (t_capture_begin()) {
        call(&c, &g, &a, &offsets);
        t_capture_end();
        for (enum pattern pattern = 0; pattern < PATTERN_COUNT; pattern++) {
            uint32_t moved[301];
            for (size_t s = 0; s <= g.count; s++) {
                if (s && s < g.count && pattern)
                    g.offsets[s] = g.offsets[s - 1] + (g.offsets[s + 1] - g.offsets[s - 1]) / 3;
                moved[s] = (uint32_t)g.offsets[s];
            }
            t_put(&offsets, moved, sizeof moved);
            fill_pattern(pattern, GP_F32, keys, n);
            t_put(&a.ki, keys, n * 4);
            t_replay();
            compare(&c, &g, &a, keys, values);
        }
        t_capture_free();
    }
    t_free(&a.ki), t_free(&a.ko), t_free(&a.vi), t_free(&a.vo), t_free(&offsets);
    free(keys), free(values), free(g.offsets);
}
END_TEST

static void add_cases(Suite *s)
{
    TCase *c = t_case(s, "shapes");
    tcase_add_loop_test(c, test_segments_of_every_shape, 0, T_LAYOUT_COUNT);
    tcase_add_loop_test(c, test_segments_of_every_length, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_segments_with_long_ones, 0, 4);
    tcase_add_loop_test(c, test_segments_of_many_items, 0, 12);
    tcase_add_loop_test(c, test_segments_far_from_zero, 0, 4);
    tcase_add_loop_test(c, test_segments_of_near_keys, 0, 14);
    c = t_case(s, "values");
    tcase_add_loop_test(c, test_segments_value_sizes_and_in_place, 0, 9);
    tcase_add_loop_test(c, test_segments_bit_ranges, 0, 6);
    tcase_add_loop_test(c, test_segments_stable, 0, T_LAYOUT_COUNT);
    c = t_case(s, "workspace");
    tcase_add_loop_test(c, test_segmented_workspace_bytes_is_enough, 0, T_DTYPE_COUNT * 3);
    c = t_case(s, "cuda");
    tcase_add_test(c, test_segmented_captured_and_replayed);
}

int main(int argc, char **argv)
{
    Suite *s = suite_create("segsort");
    add_cases(s);
    return t_main(argc, argv, s);
}
