/* SPDX-License-Identifier: MIT */
/* Segmented reduction: values, shapes of segments, rows, placement, determinism. Places, counts on
 * the device, capture and errors are in test_segreduce_places.c. */
#include "segreduce_check.h"

/* ---- every shape, dtype and operator --------------------------------------------------------- */

START_TEST(test_segreduce_of_every_shape)
{
    static const size_t counts[] = {1, 2, 40, 3000};
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int c = 0; c < 8; c++) {
        struct t_segments g = t_segments_new((enum t_layout)_i, counts[c / 2]);
        gp_dtype offset_dtype = t_index_dtypes[c % 4];
        gp_reduce_segmented_desc desc =
            segmented_desc(GP_I32, (gp_dtype)0, c % 2 ? GP_MAX : GP_SUM, offset_dtype);
        struct sums s = sums_new(&desc, &g, &state);
        sums_check(&s, &g, 0, 0);
        sums_check(&s, &g, 1, c % 2 ? 77 : t_largest_base(offset_dtype, g.items));
        sums_free(&s);
        free(g.offsets);
    }
}
END_TEST

/* With an initial value or without. */
static void check_with_init(gp_reduce_segmented_desc *desc, const struct t_segments *g,
                            bool has_init, size_t shift, uint64_t *state)
{
    void *init = oracle_scan_input(desc->out_dtype, desc->op, 1, state);
    desc->init = has_init ? init : NULL;
    struct sums s = sums_new(desc, g, state);
    sums_check(&s, g, shift, 0);
    sums_free(&s);
    free(init);
}

START_TEST(test_segreduce_every_operator)
{
    gp_op op = t_ops[_i / T_DTYPE_COUNT];
    gp_dtype dtype = t_dtypes[_i % T_DTYPE_COUNT];
    uint64_t state = t_seed() + (uint64_t)_i;
    if (!t_op_allowed(dtype, op))
        return;
    for (int c = 0; c < 4; c++) {
        struct t_segments g = t_segments_new(c < 2 ? T_POWER_LAW : T_ONE_HUGE, 700);
        gp_reduce_segmented_desc desc = segmented_desc(dtype, dtype, op, t_index_dtypes[c]);
        check_with_init(&desc, &g, c % 2, (size_t)c, &state);
        free(g.offsets);
    }
}
END_TEST

START_TEST(test_segreduce_widening_sums)
{
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int c = 0; c < 4; c++) {
        struct t_segments g = t_segments_new(c < 2 ? T_POWER_LAW : T_ONE_HUGE, 400);
        gp_reduce_segmented_desc desc =
            segmented_desc(t_widening[_i][0], t_widening[_i][1], GP_SUM, GP_U32);
        check_with_init(&desc, &g, c % 2, (size_t)c, &state);
        free(g.offsets);
    }
}
END_TEST

/* Segments that end where blocks of 1024 items do, beside, and with empty ones there; many empty
 * ones among some. */
START_TEST(test_segreduce_around_blocks)
{
    static const gp_dtype dtypes[][2] = {{GP_U8, GP_U8},     {GP_I8, GP_I32},  {GP_I16, GP_I16},
                                         {GP_U16, GP_U32},   {GP_I32, GP_I32}, {GP_F16, GP_F16},
                                         {GP_BF16, GP_BF16}, {GP_F32, GP_F32}};
    static const uint64_t lengths[] = {1024, 0, 1023, 1, 0, 0, 512, 512, 1025, 1023, 3000, 0, 72};
    enum { COUNT = 2600 };
    uint64_t state = t_seed() + (uint64_t)_i;
    struct t_segments g = {t_host((COUNT + 1) * 8), COUNT, 0};
    for (size_t s = 0; s < COUNT; s++) {
        const size_t k = s % 130;
        g.offsets[s] = g.items;
        g.items += k < 13           ? lengths[k]
                   : s % 1300 < 650 ? k % 20 / 18 * 7
                                    : t_random_below(&state, 4);
    }
    g.offsets[COUNT] = g.items;
    for (int c = 0; c < 4; c++) {
        gp_reduce_segmented_desc desc =
            segmented_desc(dtypes[_i][0], dtypes[_i][1], GP_SUM, c % 2 ? GP_U64 : GP_I32);
        check_with_init(&desc, &g, c > 1, (size_t)c, &state);
    }
    free(g.offsets);
}
END_TEST

/* Many shares: segments of every length, also across several shares, and empty ones. */
START_TEST(test_segreduce_many_shares)
{
    static const size_t means[] = {1, 2, 5, 16, 31, 64, 1000, 9000, 100000, (size_t)1 << 40};
    static const gp_dtype dtypes[] = {GP_U8, GP_I16, GP_F32, GP_U64, GP_F64, GP_BF16};
    uint64_t state = t_seed() + (uint64_t)_i;
    gp_dtype dtype = dtypes[_i / 10];
    size_t mean = means[_i % 10], n = t_at_most((t_is_cuda() ? 3000000 : 300000) + 4321);
    for (int c = 0; c < 3; c++) {
        struct t_segments g =
            lengths_to(n, mean, c == 0 || mean > n, c == 2 && mean < 100000 ? 10 : 1, &state);
        gp_reduce_segmented_desc desc =
            segmented_desc(dtype, dtype, c == 1 ? GP_MIN : GP_SUM, c ? GP_I64 : GP_U32);
        struct sums s = sums_new(&desc, &g, &state);
        sums_check(&s, &g, (size_t)c, 0);
        sums_free(&s);
        free(g.offsets);
    }
}
END_TEST

/* One segment has three quarters of the items, between short ones whose mean length is above 32. */
START_TEST(test_segreduce_one_long_among_short)
{
    gp_dtype dtype = t_dtypes[_i / 3];
    size_t n = t_at_most((t_is_cuda() ? 1500000 : 150000) + 321), count = n / 64, at = _i % 3;
    uint64_t state = t_seed() + (uint64_t)_i;
    struct t_segments g = {t_host((count + 1) * sizeof(uint64_t)), count, n};
    at = at == 0 ? 0 : at == 1 ? count / 2 : count - 1;
    for (size_t s = 0; s <= count; s++)
        g.offsets[s] = s <= at ? s * 16 : n - (count - s) * 16;
    for (int c = 0; c < 2; c++) {
        gp_reduce_segmented_desc desc =
            segmented_desc(dtype, dtype, c ? GP_MAX : GP_SUM, c ? GP_I64 : GP_U32);
        struct sums s = sums_new(&desc, &g, &state);
        sums_check(&s, &g, (size_t)c, 3);
        sums_free(&s);
    }
    free(g.offsets);
}
END_TEST

/* Operators that do not commute, over many shares. */
START_TEST(test_segreduce_pairs_keep_the_order)
{
    static const size_t means[] = {1, 7, 300, 40000};
    uint64_t state = t_seed() + (uint64_t)_i;
    gp_dtype dtype = _i % 2 ? GP_F64 : GP_F32;
    gp_op op = _i / 2 % 2 ? GP_MAT2 : GP_AFFINE;
    struct t_segments g = lengths_to(t_at_most(t_is_cuda() ? 300000 : 60000), means[_i / 4], false,
                                     1 + (size_t)_i % 3, &state);
    gp_reduce_segmented_desc desc = segmented_desc(dtype, dtype, op, GP_U32);
    struct sums s = sums_new(&desc, &g, &state);
    for (size_t shift = 0; shift < 4; shift++)
        sums_check(&s, &g, shift, 5);
    sums_free(&s);
    free(g.offsets);
}
END_TEST

/* Millions of empty segments at one place, before, between and behind the items. */
START_TEST(test_segreduce_empty_by_the_million)
{
    enum { N = 10000 };
    size_t empty = t_at_most(t_is_cuda() ? 3000000 : 300000);
    uint64_t state = t_seed();
    struct t_segments g = {t_host((empty + N + 1) * sizeof(uint64_t)), empty + N, N};
    size_t at = _i == 0 ? 0 : _i == 1 ? N / 2 : N;
    for (size_t s = 0; s <= empty + N; s++)
        g.offsets[s] = s <= at ? s : s <= at + empty ? at : s - empty;
    gp_reduce_segmented_desc desc = segmented_desc(GP_I64, GP_I64, GP_SUM, GP_U32);
    struct sums s = sums_new(&desc, &g, &state);
    sums_check(&s, &g, 0, 0);
    sums_free(&s);
    free(g.offsets);
}
END_TEST

/* Which zero, which NaN; a sum of nothing is +0, one of -0 alone is -0. */
START_TEST(test_segreduce_signs_of_zero_and_nans)
{
    static const uint32_t in[8] = {0x80000000, 0x80000000, 0,          0x80000000,
                                   0xffc00123, 0x7fc00456, 0xff800000, 0x3f800000};
    static const uint32_t offsets[7] = {0, 0, 2, 4, 6, 8, 8};
    static const uint32_t sums[6] = {0, 0x80000000, 0, 0, 0xff800000, 0};
    static const uint32_t least[6] = {0x7fc00000, 0x80000000, 0,
                                      0xffc00123, 0xff800000, 0x7fc00000};
    static const uint32_t most[6] = {0xff800000, 0x80000000, 0, 0xffc00123, 0x3f800000, 0xff800000};
    uint32_t actual[6];
    t_array a = t_new_from(in, sizeof in, 4), o = t_new_from(offsets, sizeof offsets, 0);
    t_array out = t_new(24, 4);
    for (int k = 0; k < 3; k++) {
        static const gp_op ops[] = {GP_SUM, GP_MIN, GP_MAX};
        gp_reduce_segmented_desc desc = segmented_desc(GP_F32, GP_F32, ops[k], GP_U32);
        T_OK(gp_reduce_segmented(t_ctx(), &desc, a.data, 8, o.data, 6, out.data));
        t_get(&out, actual, 24);
        if (k == 0)
            actual[3] = 0; /* a NaN that arithmetic makes has any bits */
        t_same_bytes(gp_op_string(ops[k]), k == 0 ? sums : k == 1 ? least : most, actual, 24);
    }
    t_free(&a);
    t_free(&o);
    t_free(&out);
}
END_TEST

/* Of halves too: NaNs and zeros of both signs keep their bits. */
START_TEST(test_segreduce_extremes_of_halves_keep_bits)
{
    enum { N = 30000 };
    gp_dtype dtype = _i / 2 ? GP_BF16 : GP_F16;
    gp_op op = _i % 2 ? GP_MAX : GP_MIN;
    uint64_t state = t_seed() + (uint64_t)_i;
    uint16_t *in = t_host(N * 2), *expected = t_host(N * 2), *actual = t_host(N * 2);
    t_fill_special(dtype, in, N, &state);
    struct t_segments g = lengths_to(N, 6, false, 1, &state);
    for (size_t s = 0; s < g.count; s++) {
        size_t best = (size_t)g.offsets[s];
        for (size_t i = best + 1; i < g.offsets[s + 1]; i++) {
            double l = t_value(dtype, in, best), r = t_value(dtype, in, i);
            bool less =
                op == GP_MIN ? !isnan(r) && (isnan(l) || r < l) : !isnan(l) && (isnan(r) || l < r);
            best = less ? i : best;
        }
        expected[s] = in[best];
    }
    t_array a = t_new_from(in, N * 2, 2), o = t_offsets_put(&g, GP_U64, 0, 1);
    t_array out = t_new(g.count * 2, 0);
    gp_reduce_segmented_desc desc = segmented_desc(dtype, (gp_dtype)0, op, GP_U64);
    T_OK(gp_reduce_segmented(t_ctx(), &desc, a.data, N, o.data, g.count, out.data));
    t_get(&out, actual, g.count * 2);
    t_same_bytes("first extremes", expected, actual, g.count * 2);
    t_free(&a);
    t_free(&o);
    t_free(&out);
    free(in);
    free(expected);
    free(actual);
    free(g.offsets);
}
END_TEST

/* ---- rows ------------------------------------------------------------------------------------ */

static void check_rows(const gp_reduce_segmented_desc *desc, size_t rows, size_t length,
                       size_t shift, uint64_t *state)
{
    struct t_segments g = {t_host((rows + 1) * sizeof(uint64_t)), rows, rows * length};
    for (size_t r = 0; r <= rows; r++)
        g.offsets[r] = r * length;
    struct sums s = sums_new(desc, &g, state);
    char *actual = t_host(rows * s.result), name[64];
    t_array in = t_new_from(s.in, g.items * s.item, shift * gp_dtype_bytes(desc->in_dtype));
    t_array out = t_new(rows * s.result, 0);
    snprintf(name, sizeof name, "%zu rows of %zu", rows, length);
    T_OK(gp_reduce_rows(t_ctx(), desc, in.data, rows, length, out.data));
    t_get(&out, actual, rows * s.result);
    t_same(name, s.to, s.expected, actual, rows * s.scalars);
    t_check_guards(&out);
    t_free(&in);
    t_free(&out);
    sums_free(&s);
    free(actual);
    free(g.offsets);
}

START_TEST(test_reduce_rows_of_every_length)
{
    uint64_t state = t_seed();
    for (size_t length = (size_t)_i; length < 70; length += 7)
        for (size_t k = 0; k < 2; k++) {
            gp_reduce_segmented_desc desc =
                segmented_desc(GP_I32, GP_I32, k ? GP_XOR : GP_SUM, (gp_dtype)0);
            check_rows(&desc, length ? 9000 / length : 5, length, k, &state);
        }
}
END_TEST

START_TEST(test_reduce_rows_of_long_rows)
{
    static const size_t lengths[] = {127,  128,  129,  1000, 1023, 1024,  1025,
                                     2047, 2048, 2049, 8192, 8193, 70000, 400000};
    gp_dtype dtype = t_dtypes[_i];
    uint64_t state = t_seed() + (uint64_t)_i;
    gp_reduce_segmented_desc desc =
        segmented_desc(dtype, dtype, _i % 2 ? GP_MAX : GP_SUM, (gp_dtype)0);
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        check_rows(&desc, t_at_most(t_is_cuda() ? 80000 : 20000) / lengths[k] + 1, lengths[k],
                   k % 4, &state);
}
END_TEST

/* ---- sizes and placement --------------------------------------------------------------------- */

START_TEST(test_segreduce_of_every_size)
{
    enum { END = 4200, PARTS = 12 };
    uint64_t state = t_seed() + (uint64_t)_i;
    for (size_t n = (size_t)_i; n < END; n += t_step(PARTS)) {
        struct t_segments g = lengths_to(n, 20, false, 1 + n % 2, &state);
        gp_reduce_segmented_desc desc = segmented_desc(GP_U32, GP_U32, GP_SUM, GP_I32);
        struct sums s = sums_new(&desc, &g, &state);
        sums_check(&s, &g, n % 4, 3);
        sums_free(&s);
        free(g.offsets);
    }
}
END_TEST

START_TEST(test_segreduce_at_every_alignment)
{
    static const gp_dtype dtypes[] = {GP_U8, GP_I16, GP_F32, GP_F64};
    gp_dtype dtype = dtypes[_i / 2];
    uint64_t state = t_seed() + (uint64_t)_i;
    struct t_segments g = lengths_to(_i % 2 ? 5000 : t_at_most(90000), 50, false, 1, &state);
    gp_reduce_segmented_desc desc = segmented_desc(dtype, dtype, GP_SUM, _i % 2 ? GP_U32 : GP_U64);
    struct sums s = sums_new(&desc, &g, &state);
    for (size_t shift = 0; shift < 16; shift++)
        sums_check(&s, &g, shift, shift);
    sums_free(&s);
    free(g.offsets);
}
END_TEST

/* ---- floats ---------------------------------------------------------------------------------- */

/* Sums that round: the same bits whatever the alignment, the run, the threads and the
 * multiprocessors; and close to those in double. */
START_TEST(test_segreduce_float_bits_are_reproducible)
{
    static const size_t means[] = {3, 40, 7000, (size_t)1 << 40};
    gp_dtype dtype = _i % 2 ? GP_F64 : GP_F32;
    size_t n = t_at_most(t_is_cuda() ? 3000017 : 300017), bytes = gp_dtype_bytes(dtype);
    uint64_t state = t_seed();
    struct t_segments g = lengths_to(n, means[_i / 2], _i > 5, 1, &state);
    gp_reduce_segmented_desc desc = segmented_desc(dtype, dtype, GP_SUM, GP_U32);
    char *host = t_host(n * bytes), *first = t_host(g.count * bytes);
    char *again = t_host(g.count * bytes);
    double *expected = t_host(g.count * 8), *magnitude = t_host(g.count * 8);
    t_fill_random(dtype, host, n, &state);
    for (size_t s = 0; s < g.count; s++) {
        expected[s] = magnitude[s] = 0;
        for (size_t i = (size_t)g.offsets[s]; i < g.offsets[s + 1]; i++) {
            expected[s] += t_value(dtype, host, i);
            magnitude[s] += fabs(t_value(dtype, host, i));
        }
    }
    t_array offsets = t_offsets_put(&g, GP_U32, 0, 0);
    for (int run = 0; run < 6; run++) {
        gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
        gp_context *ctx;
        o.backend = gp_context_backend(t_ctx());
        o.threads = t_is_cuda() ? 0 : 1 + run;
        o.multiprocessors = run % 3 * 37;
        T_OK(gp_context_create(&ctx, &o));
        t_array in = t_new_from(host, n * bytes, (size_t)run % 5 * bytes),
                out = t_new(g.count * bytes, 0);
        T_OK(gp_reduce_segmented(ctx, &desc, in.data, n, offsets.data, g.count, out.data));
        T_OK(gp_context_synchronize(ctx));
        t_get(&out, run ? again : first, g.count * bytes);
        if (run)
            t_same_bytes("the same sums", first, again, g.count * bytes);
        gp_context_destroy(ctx);
        t_free(&in);
        t_free(&out);
    }
    t_close_to("sums", dtype, expected, magnitude, first, g.count, 40 * t_epsilon(dtype));
    t_free(&offsets);
    free(host);
    free(first);
    free(again);
    free(expected);
    free(magnitude);
    free(g.offsets);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("segreduce");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_segreduce_of_every_shape, 0, T_LAYOUT_COUNT);
    tcase_add_loop_test(c, test_segreduce_every_operator, 0, T_OP_COUNT * T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_segreduce_widening_sums, 0, T_WIDENING_COUNT);
    tcase_add_loop_test(c, test_segreduce_around_blocks, 0, 8);
    tcase_add_test(c, test_segreduce_signs_of_zero_and_nans);
    tcase_add_loop_test(c, test_segreduce_extremes_of_halves_keep_bits, 0, 4);
    c = t_case(s, "shares");
    tcase_add_loop_test(c, test_segreduce_many_shares, 0, 60);
    tcase_add_loop_test(c, test_segreduce_one_long_among_short, 0, 3 * T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_segreduce_pairs_keep_the_order, 0, 16);
    tcase_add_loop_test(c, test_segreduce_empty_by_the_million, 0, 3);
    c = t_case(s, "rows");
    tcase_add_loop_test(c, test_reduce_rows_of_every_length, 0, 7);
    tcase_add_loop_test(c, test_reduce_rows_of_long_rows, 0, T_DTYPE_COUNT);
    c = t_case(s, "sizes");
    tcase_add_loop_test(c, test_segreduce_of_every_size, 0, 12);
    c = t_case(s, "placement");
    tcase_add_loop_test(c, test_segreduce_at_every_alignment, 0, 8);
    c = t_case(s, "determinism");
    tcase_add_loop_test(c, test_segreduce_float_bits_are_reproducible, 0, 8);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
