/* SPDX-License-Identifier: MIT */
/*
 * Compaction and partition on a GPU, past 2^32 items, of each of its kernels: bytes, shorts, words
 * and items of 3 bytes; by flags, bits and comparisons. Inputs repeat a chunk, so that outputs do.
 * The arrays of the largest call have 39 GB.
 */
#include <stdlib.h>
#include <string.h>

#include <gp/compact.h>
#include <gp/fill.h>

#include "large.h"

enum { CHUNK = LARGE_CHUNK, REST = LARGE_REST };
static const size_t chunks = LARGE_CHUNKS, n = LARGE_N;

/* A chunk of items of some bytes, and where each goes: the items of one output repeat in it. */
struct pattern {
    size_t item;
    char *chunk, *numbers, *own;
};

static struct pattern pattern_new(size_t item)
{
    struct pattern p = {item, t_host(item * CHUNK), t_host(CHUNK), t_host(item * CHUNK)};
    uint64_t seed = t_seed();
    t_fill_bits(GP_U8, p.chunk, item * CHUNK, &seed);
    memset(p.numbers, 0, CHUNK);
    return p;
}

static void pattern_free(struct pattern *p)
{
    free(p->chunk);
    free(p->numbers);
    free(p->own);
}

static char *pattern_items(const struct pattern *p)
{
    return large_repeated(p->chunk, p->item * CHUNK, p->item * n);
}

/* Items with this number, of the whole array. */
static uint64_t pattern_count(const struct pattern *p, int number)
{
    const size_t rest = large_pick(p->chunk, p->item, p->numbers, REST, number, p->own);
    return rest + chunks * large_pick(p->chunk, p->item, p->numbers, CHUNK, number, p->own);
}

/* out has the first `count` of them. */
static void pattern_check(const struct pattern *p, const char *what, int number, const char *out,
                          uint64_t count)
{
    const size_t each = large_pick(p->chunk, p->item, p->numbers, CHUNK, number, p->own);
    large_repeats(what, out, p->item * count, p->own, p->item * each);
}

static uint64_t read_count(const char *counts, int k)
{
    uint64_t count;
    T_OK(gp_copy(t_ctx(), counts + 8 * k, 8, &count));
    T_OK(gp_context_synchronize(t_ctx()));
    return count;
}

/* Random bits, or numbers of which one in 4096 is below 100, one above 199, and the others
 * between, so that more than 2^32 are; numbers: 1 between, 0 below, 2 above. */
static struct pattern range_pattern(size_t item)
{
    struct pattern p = pattern_new(item);
    uint64_t seed = t_seed() + item;
    for (size_t i = 0; i < CHUNK; i++) {
        const uint64_t r = t_random_below(&seed, 8192);
        const uint16_t value = (uint16_t)(r == 0 ? 7 : r == 1 ? 250 : 100 + r % 100);
        memcpy(p.chunk + item * i, &value, item); /* little-endian */
        p.numbers[i] = r == 0 ? 0 : r == 1 ? 2 : 1;
    }
    return p;
}

static const gp_dtype range_dtypes[] = {GP_U8, GP_U16};

START_TEST(test_range_in_three_past_2_to_the_32)
{
    struct pattern p = range_pattern(_i + 1);
    const uint16_t least = 100, most = 199;
    const uint64_t short_of = ((uint64_t)1 << 32) + 77;
    const uint8_t poison = T_POISON;
    char *in = pattern_items(&p), *out = large_new(p.item * n), *below = large_new(p.item * n);
    char *above = large_new(p.item * n), *counts = large_new(24);
    uint64_t count[3];
    T_OK(gp_partition_range(t_ctx(), range_dtypes[_i], &least, &most, in, n, out, below, above,
                            (uint64_t *)(void *)counts));
    for (int k = 0; k < 3; k++)
        count[k] = read_count(counts, k);
    ck_assert_uint_eq(count[0], pattern_count(&p, 1));
    ck_assert_uint_eq(count[1], pattern_count(&p, 0));
    ck_assert_uint_eq(count[2], pattern_count(&p, 2));
    ck_assert_uint_gt(count[0], (uint64_t)1 << 32);
    pattern_check(&p, "inside", 1, out, count[0]);
    pattern_check(&p, "below", 0, below, count[1]);
    pattern_check(&p, "above", 2, above, count[2]);
    /* Room for some more than 2^32. */
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.kind = GP_COMPACT_ITEMS;
    d.compare = GP_BETWEEN;
    d.dtype = range_dtypes[_i];
    d.value = &least;
    d.upper = &most;
    d.capacity = short_of;
    T_OK(gp_fill(t_ctx(), 1, &poison, p.item * n, out));
    T_OK(gp_compact_by(t_ctx(), &d, in, NULL, n, out, (uint64_t *)(void *)counts));
    T_STATUS(GP_ERROR_CAPACITY, gp_context_synchronize(t_ctx()));
    ck_assert_uint_eq(read_count(counts, 0), count[0]);
    pattern_check(&p, "inside", 1, out, short_of);
    memset(p.own, T_POISON, CHUNK);
    large_repeats("behind the room", out + p.item * short_of, p.item * (n - short_of), p.own,
                  CHUNK);
    char *all[] = {in, out, below, above, counts};
    large_free(all, 5);
    pattern_free(&p);
}
END_TEST

/* Kept items, in an array of their own and in place, and before the others. */
START_TEST(test_comparisons_past_2_to_the_32)
{
    struct pattern p = range_pattern(_i + 1);
    const uint16_t least = 100;
    for (size_t i = 0; i < CHUNK; i++)
        p.numbers[i] = p.numbers[i] != 0;
    char *in = pattern_items(&p), *out = large_new(p.item * n), *counts = large_new(8);
    uint64_t *count = (uint64_t *)(void *)counts;
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.kind = GP_COMPACT_PARTITION;
    d.compare = GP_GE;
    d.dtype = range_dtypes[_i];
    d.value = &least;
    T_OK(gp_compact_by(t_ctx(), &d, in, NULL, n, out, count));
    const uint64_t kept = read_count(counts, 0);
    ck_assert_uint_eq(kept, pattern_count(&p, 1));
    ck_assert_uint_gt(kept, (uint64_t)1 << 32);
    pattern_check(&p, "kept", 1, out, kept);
    pattern_check(&p, "others", 0, out + p.item * kept, n - kept);
    T_OK(gp_compact_if(t_ctx(), range_dtypes[_i], GP_LT, &least, in, n, out, count));
    ck_assert_uint_eq(read_count(counts, 0), n - kept);
    pattern_check(&p, "few", 0, out, n - kept);
    T_OK(gp_compact_if(t_ctx(), range_dtypes[_i], GP_GE, &least, in, n, in, count));
    ck_assert_uint_eq(read_count(counts, 0), kept);
    pattern_check(&p, "in place", 1, in, kept);
    char *all[] = {in, out, counts};
    large_free(all, 3);
    pattern_free(&p);
}
END_TEST

/* Items of 1 to 4 bytes, half of them kept. */
START_TEST(test_flags_past_2_to_the_32)
{
    struct pattern p = pattern_new(_i + 1);
    uint64_t seed = t_seed();
    for (size_t i = 0; i < CHUNK; i++)
        p.numbers[i] = (char)t_random_below(&seed, 2);
    char *in = pattern_items(&p), *out = large_new(p.item * n);
    char *keep = large_repeated(p.numbers, CHUNK, n), *counts = large_new(8);
    uint64_t *count = (uint64_t *)(void *)counts;
    T_OK(gp_partition(t_ctx(), p.item, in, (const uint8_t *)keep, n, out, count));
    const uint64_t kept = read_count(counts, 0);
    ck_assert_uint_eq(kept, pattern_count(&p, 1));
    pattern_check(&p, "kept", 1, out, kept);
    pattern_check(&p, "others", 0, out + p.item * kept, n - kept);
    T_OK(gp_compact(t_ctx(), p.item, in, (const uint8_t *)keep, n, in, count));
    ck_assert_uint_eq(read_count(counts, 0), kept);
    pattern_check(&p, "in place", 1, in, kept);
    char *all[] = {in, out, keep, counts};
    large_free(all, 4);
    pattern_free(&p);
}
END_TEST

/* Positions of a chunk's set flags, k chunks on. */
static void check_positions(const struct pattern *p, const char *out, uint64_t kept)
{
    uint64_t *expected = t_host(CHUNK * sizeof *expected);
    const size_t each = large_pick(p->chunk, p->item, p->numbers, CHUNK, 1, p->own);
    for (uint64_t first = 0; first < kept; first += 37 * each) {
        size_t count = 0;
        for (size_t i = 0; i < CHUNK; i++)
            if (p->numbers[i])
                expected[count++] = first / each * CHUNK + i;
        count = kept - first < each ? (size_t)(kept - first) : each;
        large_same("positions", out + 8 * first, 8 * count, expected);
    }
    free(expected);
}

/* Flags as bytes; and as bits, with the items. */
START_TEST(test_positions_past_2_to_the_32)
{
    struct pattern p = pattern_new(1);
    uint64_t seed = t_seed();
    uint32_t *bits = t_host(CHUNK / 8);
    memset(bits, 0, CHUNK / 8);
    for (size_t i = 0; i < CHUNK; i++) {
        p.numbers[i] = (char)t_random_below(&seed, 2);
        bits[i / 32] |= (uint32_t)p.numbers[i] << i % 32;
    }
    const uint64_t kept = pattern_count(&p, 1);
    char *keep = large_repeated(p.numbers, CHUNK, n), *counts = large_new(8);
    char *positions = large_new(8 * kept);
    uint64_t *count = (uint64_t *)(void *)counts;
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.kind = GP_COMPACT_INDICES;
    d.index_dtype = GP_U64;
    d.capacity = kept;
    T_OK(gp_compact_by(t_ctx(), &d, NULL, keep, n, positions, count));
    ck_assert_uint_eq(read_count(counts, 0), kept);
    check_positions(&p, positions, kept);
    char *in = pattern_items(&p), *out = large_new(kept);
    char *words = large_repeated(bits, CHUNK / 8, (n + 31) / 32 * 4);
    d.kind = GP_COMPACT_ITEMS;
    d.item_bytes = 1;
    d.flags = GP_FLAGS_BITS;
    d.indices = positions;
    T_OK(gp_fill(t_ctx(), 1, p.numbers, 8 * kept, positions));
    T_OK(gp_compact_by(t_ctx(), &d, in, words, n, out, count));
    ck_assert_uint_eq(read_count(counts, 0), kept);
    pattern_check(&p, "items", 1, out, kept);
    check_positions(&p, positions, kept);
    char *all[] = {keep, counts, positions, in, out, words};
    large_free(all, 6);
    free(bits);
    pattern_free(&p);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("compact_large");
    TCase *c = t_case(s, "large");
    tcase_add_loop_test(c, test_range_in_three_past_2_to_the_32, 0, 2);
    tcase_add_loop_test(c, test_comparisons_past_2_to_the_32, 0, 2);
    tcase_add_loop_test(c, test_flags_past_2_to_the_32, 0, 4);
    tcase_add_test(c, test_positions_past_2_to_the_32);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
