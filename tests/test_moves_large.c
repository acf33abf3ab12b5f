/* SPDX-License-Identifier: MIT */
/*
 * Calls that move items, past 2^32 of them: multisplit, partition into two arrays, flags, expand,
 * intervals, bounds. Inputs repeat a chunk, so that outputs do. Items have one byte; the arrays of
 * the largest call have 13 GB.
 */
#include <stdlib.h>
#include <string.h>

#include <gp/balance.h>
#include <gp/compact.h>
#include <gp/multisplit.h>

#include "gp_test.h"

enum { CHUNK = 1 << 20, REST = 12345, BUCKETS = 5 };
static const size_t chunks = ((size_t)1 << 12) + 3;
static const size_t n = (((size_t)1 << 12) + 3) * CHUNK + REST;

static char *device(size_t bytes)
{
    void *memory;
    T_OK(gp_malloc(t_ctx(), bytes, &memory));
    return memory;
}

/* An array of n bytes: the chunk over and over. */
static char *repeated(const char *chunk)
{
    char *memory = device(n);
    for (size_t i = 0; i < n; i += CHUNK)
        T_OK(gp_copy(t_ctx(), chunk, n - i < CHUNK ? n - i : CHUNK, memory + i));
    return memory;
}

static void same_at(const char *what, const char *actual, size_t bytes, const char *expected)
{
    char *host = t_host(bytes ? bytes : 1);
    T_OK(gp_copy(t_ctx(), actual, bytes, host));
    T_OK(gp_context_synchronize(t_ctx()));
    t_same_bytes(what, expected, host, bytes);
    free(host);
}

/* Of an output that repeats `each` bytes: the first, the last, and those about 2^32. */
static void repeats(const char *what, const char *actual, size_t bytes, const char *expected,
                    size_t each)
{
    const size_t full = bytes / each, about = ((size_t)1 << 32) / each;
    for (size_t k = 0; k < full; k++)
        if (k < 2 || k + 2 > full || (k + 2 > about && k < about + 2) || k % 509 == 0)
            same_at(what, actual + k * each, each, expected);
    same_at(what, actual + full * each, bytes - full * each, expected);
}

static char *random_chunk(uint64_t seed, unsigned below)
{
    char *chunk = t_host(CHUNK);
    for (size_t i = 0; i < CHUNK; i++)
        chunk[i] = (char)t_random_below(&seed, below);
    return chunk;
}

/* The items of a chunk, or of its first `items`, that have a number; returns how many. */
static size_t pick(const char *chunk, const char *numbers, size_t items, int number, char *out)
{
    size_t count = 0;
    for (size_t i = 0; i < items; i++)
        if (numbers[i] == number)
            out[count++] = chunk[i];
    return count;
}

START_TEST(test_multisplit_past_2_to_the_32)
{
    char *chunk = random_chunk(1, 256), *numbers = random_chunk(2, BUCKETS), *own = t_host(CHUNK);
    char *in = repeated(chunk), *to = repeated(numbers), *out = device(n);
    uint64_t *offsets = (uint64_t *)(void *)device((BUCKETS + 1) * 8), got[BUCKETS + 1];
    T_OK(gp_multisplit(t_ctx(), 1, in, to, n, BUCKETS, out, offsets));
    T_OK(gp_copy(t_ctx(), offsets, sizeof got, got));
    T_OK(gp_context_synchronize(t_ctx()));
    uint64_t begin = 0;
    for (int b = 0; b < BUCKETS; b++) {
        const size_t rest = pick(chunk, numbers, REST, b, own);
        const size_t each = pick(chunk, numbers, CHUNK, b, own);
        ck_assert_uint_eq(got[b], begin);
        begin += chunks * each + rest;
        repeats("bucket", out + got[b], begin - got[b], own, each);
    }
    ck_assert_uint_eq(got[BUCKETS], n);
    char *all[] = {in, to, out, (char *)offsets};
    for (int i = 0; i < 4; i++)
        T_OK(gp_free(t_ctx(), all[i]));
    free(chunk);
    free(numbers);
    free(own);
}
END_TEST

START_TEST(test_partition_and_flags_past_2_to_the_32)
{
    char *chunk = random_chunk(3, 2), *ones = t_host(CHUNK), *zeros = t_host(CHUNK);
    char *in = repeated(chunk), *out = device(n), *rest = device(n);
    uint64_t *counts = (uint64_t *)(void *)device(16), got[2];
    const uint8_t one = 1;
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    const size_t each = pick(chunk, chunk, CHUNK, 1, ones);
    const size_t last = pick(chunk, chunk, REST, 1, ones);
    memset(ones, 1, CHUNK);
    memset(zeros, 0, CHUNK);
    T_OK(gp_partition_into(t_ctx(), 1, in, (const uint8_t *)in, n, out, rest, counts));
    T_OK(gp_copy(t_ctx(), counts, sizeof got, got));
    T_OK(gp_context_synchronize(t_ctx()));
    ck_assert_uint_eq(got[0], chunks * each + last);
    ck_assert_uint_eq(got[1], n - got[0]);
    repeats("front", out, got[0], ones, CHUNK);
    repeats("rest", rest, got[1], zeros, CHUNK);
    d.kind = GP_COMPACT_FLAGS;
    d.compare = GP_EQ;
    d.dtype = GP_U8;
    d.value = &one;
    T_OK(gp_compact_by(t_ctx(), &d, in, NULL, n, out, counts));
    repeats("flags", out, n, chunk, CHUNK);
    char *all[] = {in, out, rest, (char *)counts};
    for (int i = 0; i < 4; i++)
        T_OK(gp_free(t_ctx(), all[i]));
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
    char *chunk = random_chunk(4, 256), *in = repeated(chunk), *out = device(n), *turned;
    char *places = device(64);
    gp_interval_desc d = GP_INTERVAL_DESC_INIT;
    T_OK(gp_copy(t_ctx(), offsets, sizeof offsets, places));
    T_OK(gp_copy(t_ctx(), starts, sizeof starts, places + 32));
    T_OK(gp_expand(t_ctx(), 1, in, GP_U64, places, 3, n, out));
    turned = t_host(CHUNK);
    for (int s = 0; s < 3; s++) {
        memset(turned, chunk[s], CHUNK);
        repeats("segment", out + offsets[s], offsets[s + 1] - offsets[s], turned, CHUNK);
    }
    d.item_bytes = 1;
    d.offset_dtype = GP_U64;
    T_OK(gp_copy_intervals(t_ctx(), &d, in, places + 32, places, 3, n, NULL, out));
    for (int s = 0; s < 3; s++)
        repeats("interval", out + offsets[s], offsets[s + 1] - offsets[s], chunk, CHUNK);
    char *all[] = {in, out, places};
    for (int i = 0; i < 3; i++)
        T_OK(gp_free(t_ctx(), all[i]));
    free(chunk);
    free(turned);
}
END_TEST

START_TEST(test_bounds_past_2_to_the_32)
{
    const uint8_t needles[4] = {0, 1, 2, 255};
    const uint64_t ones = n - ((size_t)1 << 32), expected[4] = {0, n - ones, n, n};
    char *chunk = t_host(CHUNK), *in, *places = device(64);
    memset(chunk, 0, CHUNK);
    in = repeated(chunk);
    T_OK(gp_context_synchronize(t_ctx()));
    memset(chunk, 1, CHUNK);
    for (size_t i = n - ones; i < n; i += CHUNK)
        T_OK(gp_copy(t_ctx(), chunk, n - i < CHUNK ? n - i : CHUNK, in + i));
    T_OK(gp_copy(t_ctx(), needles, sizeof needles, places));
    T_OK(gp_lower_bound(t_ctx(), GP_U8, in, n, places, 4, GP_U64, places + 16));
    same_at("places", places + 16, sizeof expected, (const char *)expected);
    T_OK(gp_free(t_ctx(), in));
    T_OK(gp_free(t_ctx(), places));
    free(chunk);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("moves_large");
    TCase *c = t_case(s, "large");
    tcase_add_test(c, test_multisplit_past_2_to_the_32);
    tcase_add_test(c, test_partition_and_flags_past_2_to_the_32);
    tcase_add_test(c, test_expand_and_intervals_past_2_to_the_32);
    tcase_add_test(c, test_bounds_past_2_to_the_32);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
