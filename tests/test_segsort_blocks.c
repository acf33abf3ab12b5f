/* SPDX-License-Identifier: MIT */
/* Segmented sorts around what kernels sort in blocks. */
#include "segsort_check.h"

/* One segment after the other, of the lengths of a list; then a number of empty ones after each. */
static struct t_segments segments_of(const size_t *lengths, size_t count, size_t rounds,
                                     size_t empty)
{
    const size_t all = count * rounds * (1 + empty);
    struct t_segments g = {t_host((all + 1) * 8), 0, 0};
    for (size_t k = 0; k < count * rounds; k++)
        for (size_t e = 0; e <= empty; e++) {
            g.offsets[g.count++] = g.items;
            g.items += e ? 0 : lengths[k % count];
        }
    g.offsets[g.count] = g.items;
    return g;
}

/* Around the lengths at which kernels change their ways: items of a thread, of lanes, of a warp, of
 * a block; and what fits no block, among others or alone. */
START_TEST(test_segments_around_those_of_blocks)
{
    static const size_t lengths[] = {1,    2,    7,   8,   9,   15,   16,   17,   31,
                                     32,   33,   63,  64,  65,  127,  128,  129,  255,
                                     256,  257,  511, 512, 513, 1023, 1024, 1025, 2047,
                                     2048, 2049, 5,   17,  3,   3583, 3584, 3585};
    static const size_t alone[] = {3584, 3585, 4095, 4096, 4097, 16383, 16384};
    enum { COUNT = sizeof lengths / sizeof *lengths };
    static const gp_dtype dtypes[] = {GP_U32, GP_F32, GP_U64, GP_F64, GP_I16};
    struct case_ c = {.sort = {.dtype = dtypes[_i % 5]}, .offset_dtype = t_index_dtypes[_i % 4]};
    c.sort.value_bytes = (const size_t[]){0, 4, 16}[_i % 3];
    c.sort.keys_in_place = c.sort.values_in_place = _i / 5 % 2;
    c.sort.descending = _i / 10;
    for (size_t left_out = 0; left_out < 2; left_out++) {
        struct t_segments g = segments_of(lengths, COUNT - left_out, 2, 0);
        check_case(&c, &g, left_out ? PATTERN_BITS : PATTERN_THREE_VALUES);
        check_case(&c, &g, PATTERN_SPECIAL);
        free(g.offsets);
    }
    for (size_t k = 0; k < sizeof alone / sizeof *alone; k++) {
        struct t_segments g = segments_of(alone + k, 1, 1, k % 2);
        check_case(&c, &g, PATTERN_NARROW);
        free(g.offsets);
    }
}
END_TEST

/* Segments that fit no block, among short and empty ones, of even, skewed and equal keys. */
START_TEST(test_segments_that_fit_no_block)
{
    static const size_t lengths[] = {3585, 65536, 12, 30000, 4096, 5000, 700};
    static const gp_dtype dtypes[] = {GP_U32, GP_F32, GP_I32, GP_U16, GP_F16, GP_I8};
    struct case_ c = {.sort = {.dtype = dtypes[_i]}, .offset_dtype = t_index_dtypes[_i % 4]};
    struct t_segments g = segments_of(lengths, 7, 1, _i % 3);
    for (enum pattern pattern = 0; pattern < PATTERN_COUNT; pattern++) {
        c.sort.descending = pattern & 1;
        c.sort.keys_in_place = pattern & 2;
        check_case(&c, &g, pattern);
    }
    free(g.offsets);
}
END_TEST

/* Hundreds of thousands of empty segments between two that are not. */
START_TEST(test_segments_among_empty_ones)
{
    static const size_t lengths[] = {3, 1, 700, 20, 40};
    static const gp_dtype dtypes[] = {GP_U32, GP_I64};
    struct case_ c = {.sort = {.dtype = dtypes[_i % 2]}, .offset_dtype = t_index_dtypes[_i]};
    struct t_segments g = segments_of(lengths, 5, _i / 2 ? 1 : 30, _i / 2 ? 200000 : 2000);
    c.sort.value_bytes = _i % 2 ? 8 : 0;
    check_case(&c, &g, PATTERN_BITS);
    free(g.offsets);
}
END_TEST

/* Replays of which some have a segment that fits no block, and some such keys that are skewed. */
START_TEST(test_segmented_replayed_with_other_lengths)
{
    enum { COUNT = 2500, N = 40000 };
    const gp_dtype dtype = _i ? GP_F32 : GP_U64;
    const size_t value_bytes = _i ? 0 : 4;
    struct case_ c = {.sort = {.dtype = dtype, .value_bytes = value_bytes, .n = N},
                      .offset_dtype = GP_U32};
    struct t_segments g = {t_host((COUNT + 1) * 8), COUNT, N};
    size_t bytes;
    uint32_t moved[COUNT + 1] = {0};
    void *keys = pattern_new(PATTERN_BITS, dtype, N), *values = values_new(N, value_bytes);
    struct arrays a = arrays_new(&c.sort, keys, values);
    for (size_t s = 0; s <= COUNT; s++)
        g.offsets[s] = s * N / COUNT;
    t_array offsets = t_offsets_put(&g, GP_U32, 0, 0);
    a.k = &a.ko;
    a.v = &a.vo;
    T_OK(gp_radix_sort_segmented_workspace_bytes(NULL, dtype, value_bytes, N, COUNT, NULL, &bytes));
    T_OK(gp_context_reserve(t_ctx(), bytes));
    if (t_capture_begin()) {
        call(&c, &g, &a, &offsets);
        t_capture_end();
        for (size_t round = 0; round < 12; round++) {
            /* The first ones are empty, or shorter than the last one. */
            const size_t longest = (const size_t[]){16, 5000, 3584, 3585, N, 100}[round % 6];
            fill_pattern(round < 6 ? PATTERN_BITS : PATTERN_THREE_VALUES, dtype, keys, N);
            t_put(&a.ki, keys, N * gp_dtype_bytes(dtype));
            for (size_t s = 0; s < COUNT; s++)
                g.offsets[s] = s ? s * (N - longest) / COUNT : 0;
            for (size_t s = 0; s <= COUNT; s++)
                moved[s] = (uint32_t)g.offsets[s];
            t_put(&offsets, moved, sizeof moved);
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
    TCase *c = t_case(s, "lengths");
    tcase_add_loop_test(c, test_segments_around_those_of_blocks, 0, 20);
    tcase_add_loop_test(c, test_segments_among_empty_ones, 0, 4);
    tcase_add_loop_test(c, test_segments_that_fit_no_block, 0, 6);
    c = t_case(s, "cuda");
    tcase_add_loop_test(c, test_segmented_replayed_with_other_lengths, 0, 2);
}

int main(int argc, char **argv)
{
    Suite *s = suite_create("segsort_blocks");
    add_cases(s);
    return t_main(argc, argv, s);
}
