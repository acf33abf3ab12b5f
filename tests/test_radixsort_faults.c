/* SPDX-License-Identifier: MIT */
/*
 * Test builds only (option fault_injection): ranks of some items are swapped on purpose, and the
 * sort finds each tile in which that happened and puts it right.
 */
#include <inttypes.h>
#include <stdio.h>

#include "radixsort_distributions.h"

/* Of such a build; see src/radixsort/radixsort_tile.cuh. */
void gp_radix_sort_faults(gp_context *ctx, uint64_t counts[2]);

struct faults {
    uint64_t made, repaired;
};

static struct faults faults_now(void)
{
    uint64_t counts[2];
    T_OK(gp_context_synchronize(t_ctx()));
    gp_radix_sort_faults(t_ctx(), counts);
    return (struct faults){counts[0], counts[1]};
}

static const gp_dtype dtypes[] = {GP_U8,  GP_I8,  GP_U16, GP_I16, GP_U32,
                                  GP_F32, GP_I32, GP_U64, GP_I64, GP_F64};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* Returns how many faults the sort had, all of them repaired. */
static uint64_t check_faults(gp_dtype dtype, enum kind kind, size_t n, bool pairs)
{
    struct faults before = faults_now();
    check_distribution(dtype, kind, n, pairs, false);
    struct faults after = faults_now();
    ck_assert_uint_eq(after.made - before.made, after.repaired - before.repaired);
    return after.made - before.made;
}

START_TEST(test_radix_sort_faults_are_repaired)
{
    /* few items, which have none, several splits' tiles, from here on with states of 64 bits, and
     * tiles of the larger shape, past what keys between splitters have no ranks for */
    static const size_t sizes[] = {700, 5000, 70001, 300007, (9 << 20) + 12345};
    const gp_dtype dtype = dtypes[_i / 2];
    const bool pairs = _i % 2;
    uint64_t made = 0;
    for (size_t k = 0; k < 5; k++)
        for (int kind = 0; kind < KINDS; kind += k == 4 ? (int)MOST_EQUAL : 1)
            made += check_faults(dtype, (enum kind)kind, sizes[k], pairs);
    printf("%s %s: %" PRIu64 " tiles with a fault, all repaired\n", gp_dtype_string(dtype),
           pairs ? "pairs" : "keys", made);
    /* Bytes alone are counted; integers of 8 bytes alone go into buckets whose order is free. */
    if (pairs || (gp_dtype_bytes(dtype) > 1 && dtype != GP_U64 && dtype != GP_I64))
        ck_assert_uint_gt(made, 0);
}
END_TEST

/* Tiles are chosen by their number, so a sort has the same faults each time. */
START_TEST(test_radix_sort_faults_are_known)
{
    for (int kind = 0; kind < KINDS; kind++) {
        uint64_t made = check_faults(GP_U32, (enum kind)kind, 70001, true);
        ck_assert_uint_eq(check_faults(GP_U32, (enum kind)kind, 70001, true), made);
    }
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("radixsort_faults");
    TCase *c = t_case(s, "cuda");
    tcase_add_loop_test(c, test_radix_sort_faults_are_repaired, 0, 2 * DTYPES);
    tcase_add_test(c, test_radix_sort_faults_are_known);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
