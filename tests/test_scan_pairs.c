/* SPDX-License-Identifier: MIT */
/* Scan with the operators whose items are several scalars: GP_AFFINE and GP_MAT2. */
#include <math.h>
#include <stdlib.h>

#include <gp/scan.h>

#include "oracle.h"

static const gp_scan_kind kinds[] = {GP_SCAN_INCLUSIVE, GP_SCAN_EXCLUSIVE, GP_SCAN_ROW_POINTERS};

START_TEST(test_scan_any_alignment_of_pairs)
{
    gp_op op = _i % 2 ? GP_MAT2 : GP_AFFINE;
    gp_dtype dtype = _i / 2 ? GP_F64 : GP_F32;
    uint64_t state = t_seed() + (uint64_t)_i;
    size_t n = 5003;
    char *in = oracle_scan_input(dtype, op, n, &state);
    for (size_t offset = 0; offset < 9; offset++) { /* scalars, so items may begin at any of them */
        gp_scan_desc desc = t_scan_desc(kinds[offset % 3], dtype, dtype, op);
        t_check_scan(&desc, in, n, (struct scan_layout){offset, (offset * 5 + 1) % 9, false});
        t_check_scan(&desc, in, n, (struct scan_layout){offset, 0, true});
    }
    free(in);
}
END_TEST

/* Long enough for the kernel that streams, where lanes hold neighbouring items. */
START_TEST(test_scan_any_alignment_of_many_pairs)
{
    gp_op op = _i % 2 ? GP_MAT2 : GP_AFFINE;
    gp_dtype dtype = _i / 2 ? GP_F64 : GP_F32;
    uint64_t state = t_seed() + (uint64_t)_i;
    size_t n = (9 << 20) / (gp_op_scalars(op) * gp_dtype_bytes(dtype)) + 61;
    char *in = oracle_scan_input(dtype, op, n, &state);
    for (size_t i = 0; i < 3; i++) {
        gp_scan_desc desc = t_scan_desc(kinds[i], dtype, dtype, op);
        t_check_scan(&desc, in, n, (struct scan_layout){i, 2 * i, false});
        t_check_scan(&desc, in, n - 1000 * i, (struct scan_layout){1 - i % 2, 0, true});
    }
    free(in);
}
END_TEST

/* x_i = a_i x_(i-1) + b_i as a program would compute it, against the scan of the pairs. */
START_TEST(test_scan_affine_solves_a_recurrence)
{
    gp_dtype dtype = _i ? GP_F64 : GP_F32;
    size_t n = 100003, item = 2 * gp_dtype_bytes(dtype);
    uint64_t state = t_seed();
    double *expected = t_host(n * 2 * sizeof *expected),
           *magnitude = t_host(n * 2 * sizeof *magnitude);
    char *in = t_host(n * item);
    double a = 1, b = 0, size_b = 0;
    t_fill_random(dtype, in, 2 * n, &state);
    for (size_t i = 0; i < n; i++) {
        double ai = t_value(dtype, in, 2 * i), bi = t_value(dtype, in, 2 * i + 1);
        a = ai * a;
        b = ai * b + bi;
        size_b = fabs(ai) * size_b + fabs(bi);
        expected[2 * i] = a;
        expected[2 * i + 1] = b;
        magnitude[2 * i] = a;
        magnitude[2 * i + 1] = size_b;
    }
    t_array source = t_new_from(in, n * item, 0), target = t_new(n * item, 0);
    T_OK(gp_scan_inclusive(t_ctx(), dtype, GP_AFFINE, source.data, n, target.data));
    t_get(&target, in, n * item);
    t_close_to("recurrence", dtype, expected, magnitude, in, 2 * n, 200 * t_epsilon(dtype));
    t_free(&source);
    t_free(&target);
    free(in);
    free(expected);
    free(magnitude);
}
END_TEST

/* Products of rotations are rotations by the sum of the angles. */
START_TEST(test_scan_mat2_multiplies_rotations)
{
    gp_dtype dtype = _i ? GP_F64 : GP_F32;
    size_t n = 50021, item = 4 * gp_dtype_bytes(dtype);
    uint64_t state = t_seed();
    double *expected = t_host(n * 4 * sizeof *expected), *ones = t_host(n * 4 * sizeof *ones);
    char *in = t_host(n * item);
    double m[4] = {1, 0, 0, 1};
    for (size_t i = 0; i < n; i++) {
        double angle = (double)t_random_below(&state, 1000) / 200, c = cos(angle), s = sin(angle);
        const double r[4] = {c, -s, s, c};
        for (size_t k = 0; k < 4; k++)
            t_set(dtype, in, 4 * i + k, r[k]);
        double v[4]; /* from the rounded entries */
        for (size_t k = 0; k < 4; k++)
            v[k] = t_value(dtype, in, 4 * i + k);
        const double p[4] = {m[0] * v[0] + m[1] * v[2], m[0] * v[1] + m[1] * v[3],
                             m[2] * v[0] + m[3] * v[2], m[2] * v[1] + m[3] * v[3]};
        for (size_t k = 0; k < 4; k++) {
            m[k] = expected[4 * i + k] = p[k];
            ones[4 * i + k] = 1;
        }
    }
    t_array source = t_new_from(in, n * item, 0), target = t_new(n * item, 0);
    T_OK(gp_scan_inclusive(t_ctx(), dtype, GP_MAT2, source.data, n, target.data));
    t_get(&target, in, n * item);
    t_close_to("rotation", dtype, expected, ones, in, 4 * n, 2000 * t_epsilon(dtype));
    t_free(&source);
    t_free(&target);
    free(in);
    free(expected);
    free(ones);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("scan_pairs");
    TCase *c = t_case(s, "pairs");
    tcase_add_loop_test(c, test_scan_any_alignment_of_pairs, 0, 4);
    tcase_add_loop_test(c, test_scan_any_alignment_of_many_pairs, 0, 4);
    tcase_add_loop_test(c, test_scan_affine_solves_a_recurrence, 0, 2);
    tcase_add_loop_test(c, test_scan_mat2_multiplies_rotations, 0, 2);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
