/* SPDX-License-Identifier: MIT */
/* Reduction of an array: sizes, dtypes, operators, alignment, determinism, graphs. See
 * test_reduce_desc.c for descriptors and errors, test_reduce_argmin.c for places of extremes. */
#include "reduce_check.h"

#include <math.h>
#include <stdlib.h>

#include "oracle.h"

/* Of a tile; twice as many in arrays of REDUCE_LONG_BYTES. */
enum { ROUND_BYTES = 16384 };

/* ---- values ---------------------------------------------------------------------------------- */

START_TEST(test_reduce_every_size_matches_serial)
{
    enum { END = 2 * ROUND_BYTES / 4 + 2 };
    uint64_t state = t_seed();
    size_t skip = (size_t)_i, step = t_step(1);
    uint32_t *in = t_host((END + 4) * sizeof *in), actual[2], sum = 0;
    t_fill_bits(GP_U32, in, END + 4, &state);
    t_array source = t_new_from(in, (END + 4) * sizeof *in, 0), target = t_new(8, 4);
    for (size_t n = 0; n < END; sum += in[skip + n++]) {
        const uint32_t *items = (const uint32_t *)source.data + skip;
        if (n % step)
            continue;
        T_OK(gp_reduce(t_ctx(), GP_I32, GP_SUM, items, n, target.data));
        t_get(&target, actual, 4);
        if (actual[0] != sum)
            ck_abort_msg("sum of %zu items from item %zu on: %u, expected %u", n, skip, actual[0],
                         sum);
    }
    t_check_guards(&target);
    t_free(&source);
    t_free(&target);
    free(in);
}
END_TEST

START_TEST(test_reduce_every_dtype_at_all_sizes)
{
    gp_dtype dtype = t_dtypes[_i];
    uint64_t state = t_seed() + (uint64_t)_i;
    size_t most = t_sizes[t_is_cuda() ? T_SIZE_COUNT - 1 : T_SIZE_SMALL_COUNT - 1];
    size_t bytes = gp_dtype_bytes(dtype);
    char *in = oracle_scan_input(dtype, GP_SUM, most, &state);
    gp_scan_desc scan = t_scan_desc(GP_SCAN_ROW_POINTERS, dtype, dtype, GP_SUM);
    char *sums = oracle_scan(&scan, in, most);
    gp_reduce_desc desc = reduce_desc(dtype, (gp_dtype)0, GP_SUM);
    for (size_t s = 0; s < (t_is_cuda() ? T_SIZE_COUNT : T_SIZE_SMALL_COUNT); s++)
        reduce_check(&desc, in, t_sizes[s], s % 5, sums + t_sizes[s] * bytes);
    free(in);
    free(sums);
}
END_TEST

START_TEST(test_reduce_every_operator)
{
    static const size_t sizes[] = {0, 1, 2, 33, 1000, 20001};
    gp_op op = t_ops[_i / T_DTYPE_COUNT];
    gp_dtype dtype = t_dtypes[_i % T_DTYPE_COUNT];
    uint64_t state = t_seed() + (uint64_t)_i;
    if (!t_op_allowed(dtype, op))
        return;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        char *in = oracle_scan_input(dtype, op, sizes[s], &state), expected[32];
        gp_reduce_desc desc = reduce_desc(dtype, dtype, op);
        reduce_oracle(&desc, in, sizes[s], expected);
        reduce_check(&desc, in, sizes[s], 0, expected);
        reduce_check(&desc, in, sizes[s], 1 + s, expected);
        free(in);
    }
}
END_TEST

/* More tiles than blocks. */
START_TEST(test_reduce_many_tiles)
{
    gp_op op = t_ops[_i / T_DTYPE_COUNT];
    gp_dtype dtype = t_dtypes[_i % T_DTYPE_COUNT];
    uint64_t state = t_seed() + (uint64_t)_i;
    size_t item = gp_dtype_bytes(dtype) * gp_op_scalars(op);
    size_t n = (t_is_cuda() ? (size_t)9 << 20 : (size_t)300 << 10) / item + 77;
    if (!t_op_allowed(dtype, op) || (item < 4 && op != GP_SUM && op != GP_MAX))
        return;
    char *in = oracle_scan_input(dtype, op, n, &state), expected[32];
    gp_reduce_desc desc = reduce_desc(dtype, dtype, op);
    reduce_oracle(&desc, in, n, expected);
    reduce_check(&desc, in, n, 0, expected);
    reduce_check(&desc, in, n, 3, expected);
    free(in);
}
END_TEST

START_TEST(test_reduce_sizes_around_longer_tiles)
{
    size_t border = (t_is_cuda() ? REDUCE_LONG_BYTES : REDUCE_LONG_BYTES / 32) / 4,
           most = border + 20000;
    size_t sizes[] = {border - 1, border, border + 1, most};
    uint32_t *in = t_host(most * 4), sum = 0, actual;
    uint64_t state = t_seed();
    t_fill_bits(GP_U32, in, most, &state);
    t_array source = t_new_from(in, most * 4, 4), target = t_new(4, 0);
    for (size_t s = 0, i = 0; s < 4; s++) {
        for (; i < sizes[s]; i++)
            sum += in[i];
        T_OK(gp_reduce(t_ctx(), GP_U32, GP_SUM, source.data, sizes[s], target.data));
        t_get(&target, &actual, 4);
        ck_assert_uint_eq(actual, sum);
    }
    t_free(&source);
    t_free(&target);
    free(in);
}
END_TEST

/* NaN, infinities and both zeros among few values: which zero shows, too. */
START_TEST(test_reduce_min_max_follow_the_order_of_floats)
{
    static const gp_dtype floats[] = {GP_F16, GP_BF16, GP_F32, GP_F64};
    static const double values[] = {0.0, -0.0, 1, 2, INFINITY, NAN, -1, -INFINITY};
    gp_dtype dtype = floats[_i / 2];
    gp_op op = _i % 2 ? GP_MAX : GP_MIN;
    uint64_t state = t_seed() + (uint64_t)_i;
    static const size_t sizes[] = {1, 2, 7, 40, 700, 5000, 30000};
    for (size_t s = 0; s < 56; s++) {
        size_t n = sizes[s % 7], kinds = 1 + s / 7;
        char *in = t_host(n * gp_dtype_bytes(dtype)), *out, actual[8], expected[8];
        for (size_t i = 0; i < n; i++) {
            double v = values[t_random_below(&state, kinds)];
            t_set(dtype, in, i, op == GP_MAX && !isnan(v) ? -v : v);
        }
        gp_scan_desc scan = t_scan_desc(GP_SCAN_INCLUSIVE, dtype, dtype, op);
        out = oracle_scan(&scan, in, n);
        t_set(dtype, expected, 0, t_value(dtype, out, n - 1));
        t_array source = t_new_from(in, n * gp_dtype_bytes(dtype), 0), target = t_new(8, 0);
        T_OK(gp_reduce(t_ctx(), dtype, op, source.data, n, target.data));
        t_get(&target, actual, gp_dtype_bytes(dtype));
        if (isnan(t_value(dtype, expected, 0)))
            t_same("NaN", dtype, expected, actual, 1);
        else
            t_same_bytes("min or max", expected, actual, gp_dtype_bytes(dtype));
        t_free(&source);
        t_free(&target);
        free(in);
        free(out);
    }
}
END_TEST

/* Random floats: the error is bounded by the sum of the terms' absolute values. */
/* Of NaNs the first, or the initial value, with all its bits. */
START_TEST(test_reduce_of_nans_keeps_the_bits_of_the_first)
{
    static const gp_dtype floats[] = {GP_F16, GP_BF16, GP_F32, GP_F64};
    static const uint64_t nans[] = {0xfc00, 0xff80, 0xff800000, 0xfff0000000000000};
    static const size_t sizes[] = {0, 1, 5, 5000, 70001};
    gp_dtype dtype = floats[_i / 5];
    size_t n = sizes[_i % 5], item = gp_dtype_bytes(dtype);
    char *in = t_host(n * item), actual[8], init[8];
    for (size_t i = 0; i < n; i++) {
        uint64_t nan = nans[_i / 5] | (i % 100 + 21); /* negative, with a payload */
        memcpy(in + i * item, &nan, item);
    }
    memcpy(init, &(uint64_t){nans[_i / 5] | 5}, item);
    t_array source = t_new_from(in, n * item, 0), target = t_new(8, 0);
    for (int k = 0; k < 4; k++) {
        gp_reduce_desc desc = reduce_desc(dtype, dtype, k % 2 ? GP_MIN : GP_MAX);
        desc.init = k < 2 ? init : NULL;
        if (n == 0 && !desc.init)
            continue;
        T_OK(gp_reduce_by(t_ctx(), &desc, source.data, n, target.data));
        t_get(&target, actual, item);
        t_same_bytes("the first NaN", desc.init ? init : in, actual, item);
    }
    t_free(&source);
    t_free(&target);
    free(in);
}
END_TEST

START_TEST(test_reduce_float_sums_are_accurate)
{
    static const gp_dtype floats[] = {GP_F16, GP_BF16, GP_F32, GP_F64};
    gp_dtype dtype = floats[_i], computed = dtype == GP_F64 ? GP_F64 : GP_F32;
    size_t n = ((size_t)1 << 21) + 4567, bytes = n * gp_dtype_bytes(dtype);
    uint64_t state = t_seed();
    char *in = t_host(bytes), actual[8];
    t_fill_random(dtype, in, n, &state);
    long double sum = 0;
    double magnitude = 0;
    for (size_t i = 0; i < n; i++) {
        sum += t_value(dtype, in, i);
        magnitude += fabs(t_value(dtype, in, i));
    }
    double expected = (double)sum;
    t_array source = t_new_from(in, bytes, 0), target = t_new(8, 0);
    T_OK(gp_reduce(t_ctx(), dtype, GP_SUM, source.data, n, target.data));
    t_get(&target, actual, gp_dtype_bytes(dtype));
    t_close_to("float sum", dtype, &expected, &magnitude, actual, 1,
               16 * t_epsilon(computed) + t_epsilon(dtype));
    t_free(&source);
    t_free(&target);
    free(in);
}
END_TEST

START_TEST(test_reduce_any_alignment)
{
    gp_op op = _i / T_DTYPE_COUNT ? GP_MAX : GP_SUM;
    gp_dtype dtype = t_dtypes[_i % T_DTYPE_COUNT];
    uint64_t state = t_seed() + (uint64_t)_i;
    static const size_t sizes[] = {1, 15, 33, 1000, 4099};
    gp_reduce_desc desc = reduce_desc(dtype, dtype, op);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        char *in = oracle_scan_input(dtype, op, sizes[s], &state), expected[8];
        reduce_oracle(&desc, in, sizes[s], expected);
        for (size_t offset = 0; offset <= 17; offset++)
            reduce_check(&desc, in, sizes[s], offset, expected);
        free(in);
    }
}
END_TEST

/* ---- determinism, graphs --------------------------------------------------------------------- */

/* Sums whose rounding depends on the association: any other one would show. */
START_TEST(test_reduce_float_sums_are_the_same_bits)
{
    static const gp_dtype floats[] = {GP_F16, GP_BF16, GP_F32, GP_F64};
    static const size_t sizes[] = {100, 4096, 30011, 700001, 6000001};
    gp_dtype dtype = floats[_i];
    uint64_t state = t_seed();
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t n = sizes[s], item = gp_dtype_bytes(dtype);
        char *in = t_host(n * item), first[8], again[8];
        gp_reduce_desc desc = reduce_desc(dtype, item == 2 ? GP_F32 : dtype, GP_SUM);
        size_t out_bytes = gp_dtype_bytes(desc.out_dtype);
        t_fill_random(dtype, in, n, &state);
        for (size_t repeat = 0; repeat < 6; repeat++) {
            gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
            gp_context *other;
            o.backend = gp_context_backend(t_ctx());
            o.threads = (int)repeat + 1;
            T_OK(gp_context_create(&other, &o));
            t_array source = t_new_from(in, n * item, repeat * item), target = t_new(8, 0);
            T_OK(gp_reduce_by(other, &desc, source.data, n, target.data));
            T_OK(gp_context_synchronize(other));
            t_get(&target, repeat ? again : first, out_bytes);
            if (repeat)
                t_same_bytes("float sum again", first, again, out_bytes);
            t_free(&source);
            t_free(&target);
            gp_context_destroy(other);
        }
        free(in);
    }
}
END_TEST

START_TEST(test_reduce_captured_and_replayed_with_other_data)
{
    size_t n = _i == 0 ? 3000 : _i == 1 ? 300000 : 6000000, bytes = n * sizeof(int32_t), need;
    uint64_t state = t_seed();
    gp_reduce_desc desc = reduce_desc(GP_I32, GP_I32, GP_SUM);
    t_array source = t_new(bytes, 4), target = t_new(8, 0);
    T_OK(gp_reduce_workspace_bytes(NULL, &desc, n, &need));
    T_OK(gp_context_reserve(t_ctx(), need));
    t_capture_begin();
    T_OK(gp_reduce_by(t_ctx(), &desc, source.data, n, target.data));
    T_OK(gp_reduce_by(t_ctx(), &desc, source.data, n / 2, (char *)target.data + 4));
    t_capture_end();
    ck_assert_uint_eq(t_captured_nodes(), 2); /* whatever the length: one kernel each */
    for (int round = 0; round < 5; round++) {
        uint32_t *in = t_host(bytes), expected[2] = {0, 0}, actual[2];
        t_fill_bits(GP_U32, in, n, &state);
        for (size_t i = 0; i < n; i++) {
            expected[0] += in[i];
            expected[1] += i < n / 2 ? in[i] : 0;
        }
        t_put(&source, in, bytes);
        if (round == 3) /* work in between must not matter */
            T_OK(gp_reduce(t_ctx(), GP_U8, GP_MAX, source.data, n / 3, target.data));
        t_replay();
        t_get(&target, actual, 8);
        t_same("replayed sums", GP_U32, expected, actual, 2);
        free(in);
    }
    t_capture_free();
    t_free(&source);
    t_free(&target);
}
END_TEST

/* ---- past 2^32 items ------------------------------------------------------------------------- */

START_TEST(test_reduce_past_32_bits)
{
    enum { PIECE = 64 << 20 };
    size_t n = ((size_t)1 << 32) + 12345, done = PIECE;
    uint8_t *piece = t_host(PIECE);
    uint64_t state = t_seed(), of_piece = 0, rest = 0;
    t_fill_bits(GP_U8, piece, PIECE, &state);
    for (size_t i = 0; i < PIECE; i++) {
        of_piece += piece[i];
        rest += i < n % PIECE ? piece[i] : 0;
    }
    t_array source = t_new(n, 0), target = t_new(8, 0);
    t_put(&source, piece, PIECE);
    for (; done < n; done += PIECE)
        T_OK(gp_copy(t_ctx(), source.data, n - done < PIECE ? n - done : PIECE,
                     (char *)source.data + done));
    gp_reduce_desc desc = reduce_desc(GP_U8, GP_U64, GP_SUM);
    T_OK(gp_reduce_by(t_ctx(), &desc, source.data, n, target.data));
    ck_assert_uint_eq(t_get_u64(&target), of_piece * (n / PIECE) + rest);
    t_free(&source);
    t_free(&target);
    free(piece);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("reduce");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_reduce_every_size_matches_serial, 0, 2);
    tcase_add_loop_test(c, test_reduce_every_dtype_at_all_sizes, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_reduce_every_operator, 0, T_OP_COUNT * T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_reduce_many_tiles, 0, T_OP_COUNT * T_DTYPE_COUNT);
    tcase_add_test(c, test_reduce_sizes_around_longer_tiles);
    tcase_add_loop_test(c, test_reduce_min_max_follow_the_order_of_floats, 0, 8);
    tcase_add_loop_test(c, test_reduce_of_nans_keeps_the_bits_of_the_first, 0, 20);
    tcase_add_loop_test(c, test_reduce_float_sums_are_accurate, 0, 4);
    c = t_case(s, "alignment");
    tcase_add_loop_test(c, test_reduce_any_alignment, 0, 2 * T_DTYPE_COUNT);
    c = t_case(s, "determinism");
    tcase_add_loop_test(c, test_reduce_float_sums_are_the_same_bits, 0, 4);
    c = t_case(s, "graphs on cuda");
    tcase_add_loop_test(c, test_reduce_captured_and_replayed_with_other_data, 0, 3);
    c = t_case(s, "large");
    tcase_add_test(c, test_reduce_past_32_bits);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
