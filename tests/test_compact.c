/* SPDX-License-Identifier: MIT */
/* Compaction, indices and partition against a serial loop: flags, comparisons, special values. */
#include "compact_check.h"

#include <stdlib.h>
#include <string.h>

/* ---- values ---------------------------------------------------------------------------------- */

START_TEST(test_compact_flag_patterns)
{
    const size_t width = compact_widths[_i];
    const size_t n = t_at_most(width > 1000 ? 67 : width > 16 ? 4003 : 40003);
    uint64_t seed = t_seed() + (uint64_t)_i;
    char *in = compact_items(width, n);
    for (int p = 0; p < COMPACT_PATTERNS; p++) {
        uint8_t *keep = compact_flags(p, n, &seed);
        gp_compact_desc items = compact_desc(GP_COMPACT_ITEMS, width);
        gp_compact_desc partition = compact_desc(GP_COMPACT_PARTITION, width);
        compact_check(&items, in, keep, n);
        compact_check(&partition, in, keep, n);
        free(keep);
    }
    free(in);
}
END_TEST

START_TEST(test_compact_indices_of_flags)
{
    const size_t n = t_at_most(40003);
    uint64_t seed = t_seed();
    for (int p = 0; p < COMPACT_PATTERNS; p++) {
        uint8_t *keep = compact_flags(p, n, &seed);
        gp_compact_desc d = compact_desc(GP_COMPACT_INDICES, 0);
        compact_check(&d, NULL, keep, n);
        d.index_dtype = GP_U64;
        compact_check(&d, NULL, keep, n);
        free(keep);
    }
}
END_TEST

/* Outputs that are too large for caches: the CPU stores them past these, a part at a time. */
START_TEST(test_compact_large_outputs)
{
    static const size_t widths[] = {4, 12, 100, 1000};
    enum { BYTES = 10 << 20, N = BYTES / 4 + 3 };
    uint64_t seed = t_seed();
    uint8_t *keep = t_host(N);
    gp_compact_desc indices = compact_desc(GP_COMPACT_INDICES, 0);
    for (size_t i = 0; i < N; i++)
        keep[i] = t_random_below(&seed, 2) != 0;
    indices.index_dtype = GP_U64;
    compact_check(&indices, NULL, keep, t_at_most(N));
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
        const size_t n = t_at_most(BYTES / widths[k] + 3);
        char *in = compact_items(widths[k], n);
        gp_compact_desc items = compact_desc(GP_COMPACT_ITEMS, widths[k]);
        gp_compact_desc partition = compact_desc(GP_COMPACT_PARTITION, widths[k]);
        compact_check(&items, in, keep, n);
        compact_check(&partition, in, keep, n);
        free(in);
    }
    free(keep);
}
END_TEST

START_TEST(test_compact_comparisons_of_special_values)
{
    enum { N = 700 };
    gp_dtype dtype = t_dtypes[_i];
    size_t bytes = gp_dtype_bytes(dtype);
    uint64_t seed = t_seed();
    uint64_t specials[COMPACT_SPECIALS];
    char in[N * sizeof(uint64_t)];
    compact_specials(dtype, specials);
    t_fill_bits(dtype, in, N, &seed);
    for (size_t i = 0; i < N; i += 2)
        memcpy(in + i * bytes, (char *)specials + i / 2 % COMPACT_SPECIALS * bytes, bytes);
    for (size_t v = 0; v < COMPACT_SPECIALS; v += t_step(1))
        for (int c = GP_EQ; c <= GP_GE; c++) {
            gp_compact_desc d = compact_desc(GP_COMPACT_ITEMS, 0);
            d.dtype = dtype;
            d.compare = (gp_compare)c;
            d.value = (char *)specials + v * bytes;
            compact_check_at(&d, in, NULL, N, (struct compact_places){0, 0, 0, v & 1});
        }
}
END_TEST

START_TEST(test_compact_comparisons_of_many)
{
    const size_t n = t_at_most(40003);
    gp_dtype dtype = t_dtypes[_i];
    uint64_t seed = t_seed();
    char *in = t_host(n * sizeof(uint64_t));
    uint64_t value = 0;
    t_fill_random(dtype, in, n, &seed);
    memcpy(&value, in + n / 2 * gp_dtype_bytes(dtype), gp_dtype_bytes(dtype));
    for (int kind = GP_COMPACT_ITEMS; kind <= GP_COMPACT_PARTITION; kind++)
        for (int c = GP_EQ; c <= GP_GE; c++) {
            gp_compact_desc d = compact_desc((gp_compact_kind)kind, 0);
            d.dtype = dtype;
            d.compare = (gp_compare)c;
            d.value = &value;
            d.index_dtype = c & 1 ? GP_U32 : GP_U64;
            compact_check(&d, in, NULL, n);
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

static Suite *suite(void)
{
    Suite *s = suite_create("compact");
    TCase *c = t_case(s, "values");
    tcase_add_test(c, test_compact_simple_calls);
    tcase_add_loop_test(c, test_compact_flag_patterns, 0, COMPACT_WIDTHS);
    tcase_add_test(c, test_compact_indices_of_flags);
    tcase_add_test(c, test_compact_large_outputs);
    tcase_add_loop_test(c, test_compact_comparisons_of_special_values, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_compact_comparisons_of_many, 0, T_DTYPE_COUNT);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
