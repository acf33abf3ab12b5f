/* SPDX-License-Identifier: MIT */
/*
 * Calls that move items, past 2^32 of them: multisplit, partition into two arrays, flags, expand,
 * intervals, bounds, gather, scatter, fill. Inputs repeat a chunk, so that outputs do. The arrays
 * of the largest call have 43 GB.
 */
#include <stdlib.h>
#include <string.h>

#include <gp/balance.h>
#include <gp/compact.h>
#include <gp/fill.h>
#include <gp/gather.h>
#include <gp/multisplit.h>

#include "large.h"

enum { CHUNK = LARGE_CHUNK, REST = LARGE_REST, BUCKETS = 5 };
static const size_t chunks = LARGE_CHUNKS, n = LARGE_N;

/* Items of one byte, and of three, which take another way. */
START_TEST(test_multisplit_past_2_to_the_32)
{
    const size_t item = _i ? 3 : 1;
    char *chunk = t_host(item * CHUNK), *numbers = large_random_chunk(2, BUCKETS);
    char *own = t_host(item * CHUNK);
    uint64_t seed = t_seed();
    t_fill_bits(GP_U8, chunk, item * CHUNK, &seed);
    char *in = large_repeated(chunk, item * CHUNK, item * n), *out = large_new(item * n);
    char *to = large_repeated(numbers, CHUNK, n);
    uint64_t *offsets = (uint64_t *)(void *)large_new((BUCKETS + 1) * 8), got[BUCKETS + 1];
    T_OK(gp_multisplit(t_ctx(), item, in, to, n, BUCKETS, out, offsets));
    T_OK(gp_copy(t_ctx(), offsets, sizeof got, got));
    T_OK(gp_context_synchronize(t_ctx()));
    uint64_t begin = 0;
    for (int b = 0; b < BUCKETS; b++) {
        const size_t rest = large_pick(chunk, item, numbers, REST, b, own);
        const size_t each = large_pick(chunk, item, numbers, CHUNK, b, own);
        ck_assert_uint_eq(got[b], begin);
        begin += chunks * each + rest;
        large_repeats("bucket", out + item * got[b], item * (begin - got[b]), own, item * each);
    }
    ck_assert_uint_eq(got[BUCKETS], n);
    char *all[] = {in, to, out, (char *)offsets};
    large_free(all, 4);
    free(chunk);
    free(numbers);
    free(own);
}
END_TEST

START_TEST(test_partition_and_flags_past_2_to_the_32)
{
    char *chunk = large_random_chunk(3, 2), *ones = t_host(CHUNK), *zeros = t_host(CHUNK);
    char *in = large_repeated(chunk, CHUNK, n), *out = large_new(n), *rest = large_new(n);
    uint64_t *counts = (uint64_t *)(void *)large_new(16), got[2];
    const uint8_t one = 1;
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    const size_t each = large_pick(chunk, 1, chunk, CHUNK, 1, ones);
    const size_t last = large_pick(chunk, 1, chunk, REST, 1, ones);
    memset(ones, 1, CHUNK);
    memset(zeros, 0, CHUNK);
    T_OK(gp_partition_into(t_ctx(), 1, in, (const uint8_t *)in, n, out, rest, counts));
    T_OK(gp_copy(t_ctx(), counts, sizeof got, got));
    T_OK(gp_context_synchronize(t_ctx()));
    ck_assert_uint_eq(got[0], chunks * each + last);
    ck_assert_uint_eq(got[1], n - got[0]);
    large_repeats("front", out, got[0], ones, CHUNK);
    large_repeats("rest", rest, got[1], zeros, CHUNK);
    d.kind = GP_COMPACT_FLAGS;
    d.compare = GP_EQ;
    d.dtype = GP_U8;
    d.value = &one;
    T_OK(gp_compact_by(t_ctx(), &d, in, NULL, n, out, counts));
    large_repeats("flags", out, n, chunk, CHUNK);
    char *all[] = {in, out, rest, (char *)counts};
    large_free(all, 4);
    free(chunk);
    free(ones);
    free(zeros);
}
END_TEST

/* Three segments, or intervals, of which the second begins behind 2^31 and ends behind 2^32. */
START_TEST(test_expand_and_intervals_past_2_to_the_32)
{
    const uint64_t offsets[4] = {0, (uint64_t)1 << 31, ((uint64_t)1 << 32) + 77, n};
    const uint64_t starts[3] = {5 * (uint64_t)CHUNK, CHUNK, 0};
    char *chunk = large_random_chunk(4, 256), *in = large_repeated(chunk, CHUNK, n),
         *out = large_new(n), *turned;
    char *places = large_new(64);
    gp_interval_desc d = GP_INTERVAL_DESC_INIT;
    T_OK(gp_copy(t_ctx(), offsets, sizeof offsets, places));
    T_OK(gp_copy(t_ctx(), starts, sizeof starts, places + 32));
    T_OK(gp_expand(t_ctx(), 1, in, GP_U64, places, 3, n, out));
    turned = t_host(CHUNK);
    for (int s = 0; s < 3; s++) {
        memset(turned, chunk[s], CHUNK);
        large_repeats("segment", out + offsets[s], offsets[s + 1] - offsets[s], turned, CHUNK);
    }
    d.item_bytes = 1;
    d.offset_dtype = GP_U64;
    T_OK(gp_copy_intervals(t_ctx(), &d, in, places + 32, places, 3, n, NULL, out));
    for (int s = 0; s < 3; s++)
        large_repeats("interval", out + offsets[s], offsets[s + 1] - offsets[s], chunk, CHUNK);
    char *all[] = {in, out, places};
    large_free(all, 3);
    free(chunk);
    free(turned);
}
END_TEST

START_TEST(test_bounds_past_2_to_the_32)
{
    const uint8_t needles[4] = {0, 1, 2, 255};
    const uint64_t ones = n - ((size_t)1 << 32), expected[4] = {0, n - ones, n, n};
    char *chunk = t_host(CHUNK), *in, *places = large_new(64);
    memset(chunk, 0, CHUNK);
    in = large_repeated(chunk, CHUNK, n);
    T_OK(gp_context_synchronize(t_ctx()));
    memset(chunk, 1, CHUNK);
    for (size_t i = n - ones; i < n; i += CHUNK)
        T_OK(gp_copy(t_ctx(), chunk, n - i < CHUNK ? n - i : CHUNK, in + i));
    T_OK(gp_copy(t_ctx(), needles, sizeof needles, places));
    T_OK(gp_lower_bound(t_ctx(), GP_U8, in, n, places, 4, GP_U64, places + 16));
    large_same("places", places + 16, sizeof expected, (const char *)expected);
    T_OK(gp_free(t_ctx(), in));
    T_OK(gp_free(t_ctx(), places));
    free(chunk);
}
END_TEST

/* By descending indices of 8 bytes: an array from its end. */
START_TEST(test_gather_and_scatter_past_2_to_the_32)
{
    const uint64_t last = n - 1, step = (uint64_t)-1;
    char *chunk = large_random_chunk(5, 256), *turned = t_host(CHUNK);
    char *in = large_repeated(chunk, CHUNK, n), *out = large_new(n), *index = large_new(8 * n);
    for (size_t i = 0; i < CHUNK; i++)
        turned[i] = chunk[CHUNK - 1 - i];
    T_OK(gp_iota(t_ctx(), GP_U64, &last, &step, n, index));
    T_OK(gp_gather(t_ctx(), 1, in, GP_U64, index, n, out));
    large_same("gathered", out, REST, turned + CHUNK - REST);
    large_repeats("gathered", out + REST, n - REST, turned, CHUNK);
    T_OK(gp_fill(t_ctx(), 1, chunk, n, out));
    T_OK(gp_scatter(t_ctx(), 1, in, GP_U64, index, n, out));
    large_same("scattered", out, REST, turned + CHUNK - REST);
    large_repeats("scattered", out + REST, n - REST, turned, CHUNK);
    char *all[] = {in, out, index};
    large_free(all, 3);
    free(chunk);
    free(turned);
}
END_TEST

START_TEST(test_fill_and_iota_past_2_to_the_32)
{
    const uint64_t first = 7, step = 3;
    const size_t about = (size_t)1 << 32;
    char *chunk = t_host(3 * CHUNK), *out = large_new(8 * n);
    uint64_t expected[64];
    for (size_t i = 0; i < 3 * CHUNK; i++)
        chunk[i] = (char)(11 + i % 3);
    T_OK(gp_fill(t_ctx(), 3, chunk, n, out));
    large_repeats("filled", out, 3 * n, chunk, 3 * CHUNK);
    T_OK(gp_iota(t_ctx(), GP_U64, &first, &step, n, out));
    const size_t places[] = {0, about - 32, n - 64};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        for (size_t i = 0; i < 64; i++)
            expected[i] = first + step * (places[k] + i);
        large_same("sequence", out + 8 * places[k], sizeof expected, expected);
    }
    T_OK(gp_free(t_ctx(), out));
    free(chunk);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("moves_large");
    TCase *c = t_case(s, "large");
    tcase_add_loop_test(c, test_multisplit_past_2_to_the_32, 0, 2);
    tcase_add_test(c, test_partition_and_flags_past_2_to_the_32);
    tcase_add_test(c, test_expand_and_intervals_past_2_to_the_32);
    tcase_add_test(c, test_bounds_past_2_to_the_32);
    tcase_add_test(c, test_gather_and_scatter_past_2_to_the_32);
    tcase_add_test(c, test_fill_and_iota_past_2_to_the_32);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
