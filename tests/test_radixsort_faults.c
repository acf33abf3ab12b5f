/* SPDX-License-Identifier: MIT */
/*
 * Test builds only (option fault_injection): ranks of some items are swapped on purpose, and the
 * sort finds each tile in which that happened and puts it right.
 */
#include <inttypes.h>
#include <stdio.h>

#include "radixsort_distributions.h"

/* Of such a build; see src/radixsort/radixsort_tile.cuh. */
enum tile { IN_KEYS, IN_PAIRS, IN_LONG_TILES, IN_BUCKETS, IN_MAP, IN_LEVELS, TILES };
void gp_radix_sort_faults(gp_context *ctx, uint64_t counts[TILES][2]);

static const char *const tile_names[TILES] = {"keys",    "pairs",   "long tiles",
                                              "buckets", "the map", "levels"};

struct faults {
    uint64_t counts[TILES][2]; /* made, repaired */
};

static struct faults faults_now(void)
{
    struct faults f;
    T_OK(gp_context_synchronize(t_ctx()));
    gp_radix_sort_faults(t_ctx(), f.counts);
    return f;
}

static const gp_dtype dtypes[] = {GP_U8,  GP_I8,  GP_U16, GP_I16, GP_U32,
                                  GP_F32, GP_I32, GP_U64, GP_I64, GP_F64};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* Returns how many faults the sort had, in tiles of which kind, all of them repaired. */
static struct faults check_faults(gp_dtype dtype, enum kind kind, size_t n, bool pairs)
{
    struct faults before = faults_now();
    check_distribution(dtype, kind, n, pairs, false);
    struct faults f = faults_now();
    for (int t = 0; t < TILES; t++) {
        for (int what = 0; what < 2; what++)
            f.counts[t][what] -= before.counts[t][what];
        ck_assert_msg(f.counts[t][0] == f.counts[t][1],
                      "%s, spread %d, %zu %s: of %" PRIu64 " faults in tiles of %s %" PRIu64
                      " are repaired",
                      gp_dtype_string(dtype), (int)kind, n, pairs ? "pairs" : "keys",
                      f.counts[t][0], tile_names[t], f.counts[t][1]);
    }
    return f;
}

START_TEST(test_radix_sort_faults_are_repaired)
{
    /* few items, which have none, several splits' tiles, from here on with states of 64 bits, and
     * tiles of the larger shape, past what keys between splitters have no ranks for */
    static const size_t sizes[] = {700, 5000, 70001, 300007, (9 << 20) + 12345};
    const gp_dtype dtype = dtypes[_i / 2];
    const bool pairs = _i % 2;
    uint64_t made[TILES] = {0}, all = 0;
    for (size_t k = 0; k < 5; k++)
        for (int kind = 0; kind < KINDS; kind += k == 4 ? (int)MOST_EQUAL : 1) {
            const struct faults f = check_faults(dtype, (enum kind)kind, sizes[k], pairs);
            for (int t = 0; t < TILES; t++)
                made[t] += f.counts[t][0], all += f.counts[t][0];
        }
    printf("%s %s: %" PRIu64 " tiles with a fault, all repaired", gp_dtype_string(dtype),
           pairs ? "pairs" : "keys", all);
    for (int t = 0; t < TILES; t++)
        if (made[t])
            printf(", %" PRIu64 " of %s", made[t], tile_names[t]);
    printf("\n");
    /* Bytes alone are counted; integers of 8 bytes alone go into buckets whose order is free. */
    if (pairs || (gp_dtype_bytes(dtype) > 1 && dtype != GP_U64 && dtype != GP_I64))
        ck_assert_uint_gt(all, 0);
}
END_TEST

/* Every kind of tile has some. */
START_TEST(test_radix_sort_faults_are_in_all_tiles)
{
    enum { FEW = 300007, SOME = (3 << 20) + 70001, MANY = (9 << 20) + 12345 };
    static const struct {
        enum tile tile;
        gp_dtype dtype;
        enum kind kind;
        size_t n;
        bool pairs;
    } cases[] = {
        {IN_KEYS, GP_U16, EVEN, FEW, false},
        {IN_PAIRS, GP_U16, EVEN, FEW, true},
        {IN_KEYS, GP_U64, EDGES, SOME, false},
        {IN_KEYS, GP_I64, AROUND_ZERO, SOME, false},
        {IN_KEYS, GP_I32, AROUND_ZERO, SOME, false},
        {IN_LONG_TILES, GP_I32, AROUND_ZERO, SOME, true},
        {IN_PAIRS, GP_U32, TWO_VALUES, MANY, true},
        {IN_LONG_TILES, GP_U32, EVEN, MANY, true},
        {IN_LONG_TILES, GP_F32, HASHED, MANY, true},
        {IN_BUCKETS, GP_U32, EVEN, FEW, true},
        {IN_BUCKETS, GP_I32, EVEN, SOME, true},
        {IN_BUCKETS, GP_U64, EVEN, SOME, true},
        {IN_MAP, GP_U32, WIDE_BELL, SOME, true},
        {IN_MAP, GP_I32, WIDE_BELL, SOME, true},
        {IN_MAP, GP_U32, TWO_VALUES, SOME, true},
        {IN_MAP, GP_I32, FEW_VALUES, SOME, true},
        {IN_LEVELS, GP_U64, BELL, SOME, true},
        {IN_LEVELS, GP_F64, FEW_VALUES, MANY, true},
    };
    int missing = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct faults f =
            check_faults(cases[k].dtype, cases[k].kind, cases[k].n, cases[k].pairs);
        printf("%s, spread %d, %zu items:", gp_dtype_string(cases[k].dtype), (int)cases[k].kind,
               cases[k].n);
        for (int t = 0; t < TILES; t++)
            if (f.counts[t][0])
                printf(" %" PRIu64 " in tiles of %s", f.counts[t][0], tile_names[t]);
        const bool none = f.counts[cases[k].tile][0] == 0;
        printf("%s%s\n", none ? ", and none in tiles of " : "",
               none ? tile_names[cases[k].tile] : "");
        missing += none;
    }
    ck_assert_int_eq(missing, 0);
}
END_TEST

/* Tiles are chosen by their number, so a sort has the same faults each time. */
START_TEST(test_radix_sort_faults_are_known)
{
    for (int kind = 0; kind < KINDS; kind++) {
        const struct faults first = check_faults(GP_U32, (enum kind)kind, 70001, true);
        const struct faults again = check_faults(GP_U32, (enum kind)kind, 70001, true);
        for (int t = 0; t < TILES; t++)
            ck_assert_uint_eq(again.counts[t][0], first.counts[t][0]);
    }
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("radixsort_faults");
    TCase *c = t_case(s, "cuda");
    tcase_add_loop_test(c, test_radix_sort_faults_are_repaired, 0, 2 * DTYPES);
    tcase_add_test(c, test_radix_sort_faults_are_known);
    tcase_add_test(c, test_radix_sort_faults_are_in_all_tiles);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
