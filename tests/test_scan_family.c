/* SPDX-License-Identifier: MIT */
/* The scan algorithms beside the default one, with every way to scan a tile. */
#include <stdlib.h>
#include <string.h>

#include <gp/scan.h>

#include "scan_variants.h"

static const gp_scan_kind kinds[] = {GP_SCAN_INCLUSIVE, GP_SCAN_EXCLUSIVE, GP_SCAN_ROW_POINTERS};
static const struct scan_layout plain = {0, 0, false};

/* The tiles of the kernels have 2048 items, or 1024 of those from 16 bytes on. */
static const size_t sizes[] = {0,    1,    31,   32,   33,   255,  257,  1023,
                               1024, 1025, 2047, 2048, 2049, 5123, 8192, 10243};
enum { SIZES = sizeof sizes / sizeof sizes[0], LONGEST = 10243 };

static bool in_every_dtype(int i, gp_op *op, gp_dtype *dtype)
{
    *op = t_ops[i / T_DTYPE_COUNT];
    *dtype = t_dtypes[i % T_DTYPE_COUNT];
    return t_op_allowed(*dtype, *op);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Every variant, operator and dtype at every size; kinds, initial values, offsets and in place take
 * turns. The outputs of the longest input serve all its beginnings. */
START_TEST(test_scan_family_sizes)
{
    gp_op op;
    gp_dtype dtype;
    uint64_t state = t_seed() + (uint64_t)_i;
    if (!in_every_dtype(_i, &op, &dtype))
        return;
    void *in = oracle_scan_input(dtype, op, LONGEST, &state);
    void *init = oracle_scan_input(dtype, op, 1, &state), *expected[2][2];
    for (int e = 0; e < 4; e++) {
        gp_scan_desc desc = t_scan_desc(kinds[e / 2], dtype, dtype, op);
        desc.init = e % 2 ? init : NULL;
        expected[e / 2][e % 2] = oracle_scan(&desc, in, LONGEST);
    }
    for (int v = 0; v < SCAN_VARIANTS; v++)
        for (int s = 0; s < SIZES && scan_variant_available(scan_variant(v)); s++) {
            int turn = v + s, kind = turn % 2;
            gp_scan_desc desc = scan_variant_desc(scan_variant(v), kinds[kind], dtype, dtype, op);
            desc.init = turn % 3 ? NULL : init;
            t_check_scan_against(
                &desc, in, sizes[s],
                (struct scan_layout){(size_t)turn % 5, (size_t)turn % 7, turn % 4 == 3},
                expected[kind][turn % 3 == 0]);
        }
    for (int e = 0; e < 4; e++)
        free(expected[e / 2][e % 2]);
    free(in);
    free(init);
}
END_TEST

START_TEST(test_scan_family_row_pointers)
{
    gp_dtype dtype = t_dtypes[_i];
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int v = 0; v < SCAN_VARIANTS; v++)
        for (int s = v % 3; s < SIZES && scan_variant_available(scan_variant(v)); s += 3) {
            void *in = oracle_scan_input(dtype, GP_SUM, sizes[s], &state);
            gp_scan_desc desc =
                scan_variant_desc(scan_variant(v), GP_SCAN_ROW_POINTERS, dtype, dtype, GP_SUM);
            t_check_scan(&desc, in, sizes[s], (struct scan_layout){1, 3, s % 2 == 0});
            free(in);
        }
}
END_TEST

/* Two levels of recursion on the GPU, many parts and blocks on the CPU. */
START_TEST(test_scan_family_long)
{
    static const struct {
        gp_op op;
        gp_dtype dtype;
    } cases[] = {{GP_SUM, GP_I32}, {GP_SUM, GP_F16},    {GP_MAX, GP_I8},     {GP_SUM, GP_F64},
                 {GP_MIN, GP_U64}, {GP_AFFINE, GP_F32}, {GP_AFFINE, GP_F64}, {GP_MAT2, GP_F64}};
    gp_op op = cases[_i].op;
    gp_dtype dtype = cases[_i].dtype;
    uint64_t state = t_seed() + (uint64_t)_i;
    size_t n = 1000017;
    void *in = oracle_scan_input(dtype, op, n, &state);
    for (int k = 0; k < 3; k++) {
        gp_scan_desc plain_desc = t_scan_desc(kinds[k], dtype, dtype, op);
        void *expected = oracle_scan(&plain_desc, in, n);
        for (int v = k; v < SCAN_VARIANTS; v += t_is_cuda() ? 1 : 3) {
            gp_scan_desc desc = scan_variant_desc(scan_variant(v), kinds[k], dtype, dtype, op);
            if (scan_variant_available(scan_variant(v)))
                t_check_scan_against(&desc, in, n, (struct scan_layout){1, 1, v % 2 == 0},
                                     expected);
        }
        free(expected);
    }
    free(in);
}
END_TEST

/* More than tile^2 items: three levels on the GPU. */
START_TEST(test_scan_family_three_levels)
{
    size_t n = ((size_t)4 << 20) + 4099;
    uint64_t state = t_seed();
    if (!t_is_cuda())
        return;
    char *in = oracle_scan_input(GP_U8, GP_SUM, n, &state);
    gp_scan_desc plain_desc = t_scan_desc(GP_SCAN_INCLUSIVE, GP_U8, GP_U32, GP_SUM);
    void *expected = oracle_scan(&plain_desc, in, n);
    for (int v = 0; v < SCAN_VARIANTS; v++) {
        gp_scan_desc desc =
            scan_variant_desc(scan_variant(v), GP_SCAN_INCLUSIVE, GP_U8, GP_U32, GP_SUM);
        if (scan_variant_available(scan_variant(v)))
            t_check_scan_against(&desc, in, n, plain, expected);
    }
    free(expected);
    free(in);
}
END_TEST

START_TEST(test_scan_family_sum_widens)
{
    gp_dtype in_dtype = t_widening[_i][0], out_dtype = t_widening[_i][1];
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int v = 0; v < SCAN_VARIANTS; v++)
        for (int s = v % 4; s < SIZES && scan_variant_available(scan_variant(v)); s += 4) {
            void *in = oracle_scan_input(in_dtype, GP_SUM, sizes[s], &state);
            gp_scan_desc desc =
                scan_variant_desc(scan_variant(v), kinds[(v + s) % 3], in_dtype, out_dtype, GP_SUM);
            t_check_scan(&desc, in, sizes[s], (struct scan_layout){1, 3, false});
            free(in);
        }
}
END_TEST

/* ---- floats ---------------------------------------------------------------------------------- */

/* Sums that round: close to the exact ones, and where promised the same bits in every run, in
 * place, and at any alignment. */
START_TEST(test_scan_family_float_sums)
{
    struct scan_variant v = scan_variant(_i);
    bool promised =
        v.algorithm != GP_ALGORITHM_CUB && (v.algorithm != GP_ALGORITHM_LOOKBACK || !t_is_cuda());
    size_t n = 300007, bytes = n * sizeof(float);
    uint64_t state = t_seed();
    if (!scan_variant_available(v))
        return;
    float *in = t_host(bytes), *first = t_host(bytes), *again = t_host(bytes);
    double *exact = t_host(n * sizeof *exact), *magnitude = t_host(n * sizeof *magnitude);
    double sum = 0, size = 0;
    t_fill_random(GP_F32, in, n, &state);
    for (size_t i = 0; i < n; i++) {
        exact[i] = sum += (double)in[i];
        magnitude[i] = size += in[i] < 0 ? -(double)in[i] : (double)in[i];
    }
    gp_scan_desc desc = scan_variant_desc(v, GP_SCAN_INCLUSIVE, GP_F32, GP_F32, GP_SUM);
    for (size_t run = 0; run < 3; run++) {
        t_array source = t_new_from(in, bytes, run * 4), target = t_new(bytes, run * 12);
        t_array *out = run == 2 ? &source : &target;
        T_OK(gp_scan(t_ctx(), &desc, source.data, n, out->data));
        t_get(out, run == 0 ? first : again, bytes);
        if (promised && run > 0)
            t_same_bytes("another run", first, again, bytes);
        t_free(&source);
        t_free(&target);
    }
    /* the serial sum rounds at each of up to 64 Ki items of a block, at random */
    t_close_to("sums", GP_F32, exact, magnitude, first, n, 1e-5);
    free(in);
    free(first);
    free(again);
    free(exact);
    free(magnitude);
}
END_TEST

/* A sum of -0 is -0 in an inclusive scan; an exclusive one begins with +0. NaN is the greatest. */
START_TEST(test_scan_family_signed_zeros_and_nans)
{
    enum { N = 2100 };
    static const uint32_t minus = 0x80000000u;
    struct scan_variant v = scan_variant(_i);
    uint32_t in[N], actual[N], zeros[N] = {0};
    if (!scan_variant_available(v))
        return;
    for (int i = 0; i < N; i++)
        in[i] = minus;
    t_array source = t_new_from(in, sizeof in, 0), target = t_new(sizeof in, 0);
    gp_scan_desc desc = scan_variant_desc(v, GP_SCAN_INCLUSIVE, GP_F32, GP_F32, GP_SUM);
    T_OK(gp_scan(t_ctx(), &desc, source.data, N, target.data));
    t_get(&target, actual, sizeof actual);
    t_same("sums of -0", GP_U32, in, actual, N);
    desc.kind = GP_SCAN_EXCLUSIVE;
    T_OK(gp_scan(t_ctx(), &desc, source.data, N, target.data));
    t_get(&target, actual, sizeof actual);
    t_same("exclusive sums of -0", GP_F32, zeros, actual, N);
    ck_assert_uint_eq(actual[0], 0);
    in[5] = 0x7fc00000u;
    t_put(&source, in, sizeof in);
    desc.op = GP_MAX;
    desc.kind = GP_SCAN_INCLUSIVE;
    void *expected = oracle_scan(&desc, in, N);
    T_OK(gp_scan(t_ctx(), &desc, source.data, N, target.data));
    t_get(&target, actual, sizeof actual);
    t_same("maxima", GP_F32, expected, actual, N);
    free(expected);
    t_free(&source);
    t_free(&target);
}
END_TEST

/* ---- workspace, capture ---------------------------------------------------------------------- */

/* After reserving what the library asks for, a call can be captured; replays see new data. */
START_TEST(test_scan_family_captured)
{
    struct scan_variant v = scan_variant(_i);
    size_t n = 100003, bytes = n * 2, need;
    uint64_t state = t_seed() + (uint64_t)_i;
    gp_target target = GP_TARGET_INIT;
    if (!scan_variant_available(v))
        return;
    target.backend = gp_context_backend(t_ctx());
    gp_scan_desc desc = scan_variant_desc(v, GP_SCAN_INCLUSIVE, GP_F16, GP_F16, GP_SUM);
    t_ctx_drop();
    T_OK(gp_scan_workspace_bytes(&target, &desc, n, &need));
    T_OK(gp_context_reserve(t_ctx(), need));
    t_array in = t_new(bytes, 0), out = t_new(bytes, 0);
    char *actual = t_host(bytes);
    bool captures = t_capture_begin();
    T_OK(gp_scan(t_ctx(), &desc, in.data, n, out.data));
    if (captures)
        t_capture_end();
    for (int round = 0; round < 3 && captures; round++) {
        void *host = oracle_scan_input(GP_F16, GP_SUM, n, &state);
        void *expected = oracle_scan(&desc, host, n);
        t_put(&in, host, bytes);
        t_poison(&out);
        t_replay();
        t_get(&out, actual, bytes);
        t_same("replayed", GP_F16, expected, actual, n);
        free(host);
        free(expected);
    }
    if (captures)
        t_capture_free();
    t_free(&in);
    t_free(&out);
    free(actual);
}
END_TEST

START_TEST(test_scan_family_workspace_bytes)
{
    for (int v = 0; v < SCAN_VARIANTS; v++) {
        struct scan_variant var = scan_variant(v);
        gp_scan_desc desc = scan_variant_desc(var, GP_SCAN_INCLUSIVE, GP_F16, GP_F16, GP_SUM);
        gp_target target = GP_TARGET_INIT;
        size_t any, bytes;
        T_OK(gp_scan_workspace_bytes(NULL, &desc, 1 << 20, &any));
        for (int backend = GP_BACKEND_CPU; backend <= GP_BACKEND_CUDA; backend++) {
            gp_algorithm not_here =
                backend == GP_BACKEND_CPU ? GP_ALGORITHM_CUB : GP_ALGORITHM_SERIAL;
            target.backend = (gp_backend)backend;
            if (var.algorithm == not_here) {
                T_STATUS(GP_ERROR_UNSUPPORTED,
                         gp_scan_workspace_bytes(&target, &desc, 1 << 20, &bytes));
                continue;
            }
            T_OK(gp_scan_workspace_bytes(&target, &desc, 1 << 20, &bytes));
            ck_assert_uint_le(bytes, any);
        }
    }
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

START_TEST(test_scan_family_refusals_write_nothing)
{
    static const gp_algorithm untiled[] = {GP_ALGORITHM_AUTO, GP_ALGORITHM_LOOKAHEAD,
                                           GP_ALGORITHM_CUB, GP_ALGORITHM_SERIAL};
    t_array in = t_new(256, 0), out = t_new(256, 0);
    gp_context *ctx = t_ctx();
    gp_scan_desc good = t_scan_desc(GP_SCAN_INCLUSIVE, GP_I32, GP_I32, GP_SUM), d = good;
    d.algorithm = (gp_algorithm)10;
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan(ctx, &d, in.data, 64, out.data));
    d.algorithm = (gp_algorithm)-1;
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan(ctx, &d, in.data, 64, out.data));
    d.algorithm = t_is_cuda() ? GP_ALGORITHM_SERIAL : GP_ALGORITHM_CUB;
    T_STATUS(GP_ERROR_UNSUPPORTED, gp_scan(ctx, &d, in.data, 64, out.data));
    d.algorithm = GP_ALGORITHM_CUB;
    if (!t_has_cub())
        T_STATUS(GP_ERROR_UNSUPPORTED, gp_scan(ctx, &d, in.data, 64, out.data));
    d = good, d.algorithm = GP_ALGORITHM_CHAINED, d.tile = (gp_scan_tile)5;
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan(ctx, &d, in.data, 64, out.data));
    d.tile = (gp_scan_tile)-1;
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan(ctx, &d, in.data, 64, out.data));
    for (int k = 0; k < 4; k++) {
        d = good, d.algorithm = untiled[k], d.tile = GP_SCAN_TILE_BRENT_KUNG;
        T_STATUS(GP_ERROR_UNSUPPORTED, gp_scan(ctx, &d, in.data, 64, out.data));
    }
    for (int v = 0; v < SCAN_VARIANTS; v++) {
        d = scan_variant_desc(scan_variant(v), GP_SCAN_INCLUSIVE, GP_F32, GP_F32, GP_XOR);
        T_STATUS(GP_ERROR_OP, gp_scan(ctx, &d, in.data, 64, out.data));
    }
    T_OK(gp_context_synchronize(ctx));
    t_check_untouched(&out);
    t_free(&in);
    t_free(&out);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("scan_family");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_scan_family_sizes, 0, T_OP_COUNT * T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_scan_family_row_pointers, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_scan_family_long, 0, 8);
    tcase_add_test(c, test_scan_family_three_levels);
    tcase_add_loop_test(c, test_scan_family_sum_widens, 0, T_WIDENING_COUNT);
    c = t_case(s, "floats");
    tcase_add_loop_test(c, test_scan_family_float_sums, 0, SCAN_VARIANTS);
    tcase_add_loop_test(c, test_scan_family_signed_zeros_and_nans, 0, SCAN_VARIANTS);
    c = t_case(s, "workspace");
    tcase_add_loop_test(c, test_scan_family_captured, 0, SCAN_VARIANTS);
    tcase_add_test(c, test_scan_family_workspace_bytes);
    c = t_case(s, "errors");
    tcase_add_test(c, test_scan_family_refusals_write_nothing);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
