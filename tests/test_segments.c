/* SPDX-License-Identifier: MIT */
/* Segmented scan: values, shapes of segments, sizes, placement, capture.
 * Errors are in test_segments_errors.c. */
#include <stdlib.h>
#include <string.h>

#include <gp/segments.h>

#include "oracle.h"
#include "segments_check.h"

/* ---- every description, dtype and operator --------------------------------------------------- */

START_TEST(test_segments_of_every_shape)
{
    static const size_t counts[] = {1, 2, 40, 3000};
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int c = 0; c < 8; c++) {
        struct t_segments g = t_segments_new((enum t_layout)_i, counts[c / 2]);
        gp_scan_desc desc =
            t_scan_desc(c % 2 ? GP_SCAN_EXCLUSIVE : GP_SCAN_INCLUSIVE, GP_I32, (gp_dtype)0, GP_SUM);
        struct problem p = problem_new(&desc, &g, &state);
        for (int k = 0; k < DESCRIPTIONS; k++)
            problem_check(&p, &g, (enum description)k, (struct scan_layout){0, 0, false});
        problem_free(&p);
        free(g.offsets);
    }
}
END_TEST

START_TEST(test_segments_every_operator)
{
    gp_op op = t_ops[_i / T_DTYPE_COUNT];
    gp_dtype dtype = t_dtypes[_i % T_DTYPE_COUNT];
    uint64_t state = t_seed() + (uint64_t)_i;
    if (!t_op_allowed(dtype, op))
        return;
    for (int c = 0; c < 4; c++) {
        struct t_segments g = t_segments_new(c < 2 ? T_POWER_LAW : T_ONE_HUGE, 700);
        gp_scan_desc desc =
            t_scan_desc(c % 2 ? GP_SCAN_EXCLUSIVE : GP_SCAN_INCLUSIVE, dtype, dtype, op);
        void *init = oracle_scan_input(dtype, op, 1, &state);
        desc.init = c < 2 ? init : NULL;
        desc.algorithm = c % 2 ? GP_ALGORITHM_LOOKAHEAD : GP_ALGORITHM_AUTO;
        struct problem p = problem_new(&desc, &g, &state);
        problem_check(&p, &g, (enum description)((_i + c) % DESCRIPTIONS),
                      (struct scan_layout){(size_t)c, 1, c == 3});
        problem_free(&p);
        free(init);
        free(g.offsets);
    }
}
END_TEST

/* Again and again a segment of 1 to 23 items, then 70 items in segments of one or two: a vector in
 * which some lanes have a head just before them, and the first of them none. */
START_TEST(test_segments_short_behind_long)
{
    gp_op op = t_ops[_i / T_DTYPE_COUNT];
    gp_dtype dtype = t_dtypes[_i % T_DTYPE_COUNT];
    uint64_t state = t_seed() + (uint64_t)_i;
    if (!t_op_allowed(dtype, op))
        return;
    struct t_segments g = {t_host(9000 * sizeof(uint64_t)), 0, 0};
    for (size_t k = 0; g.items < 8000; k++) {
        size_t lengths[71] = {1 + k * 7 % 23}, items = 0;
        for (int i = 1; items < 70; items += lengths[i++])
            lengths[i] = k % 3 == 1 && i % 2 && items < 69 ? 2 : 1;
        for (int i = 0; i < 71 && lengths[i]; i++) {
            g.offsets[g.count++] = g.items;
            g.items += lengths[i];
        }
    }
    g.offsets[g.count] = g.items;
    gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, dtype, dtype, op);
    struct problem p = problem_new(&desc, &g, &state);
    problem_check(&p, &g, (enum description)(_i % DESCRIPTIONS), (struct scan_layout){0, 0, false});
    problem_free(&p);
    free(g.offsets);
}
END_TEST

/* Sizes for the kernel that streams; on the CPU, where one path serves all, less will do. */
static size_t large(size_t n)
{
    return t_is_cuda() ? n : n / 32;
}

/* n items in segments of mean length, all of one length if even. */
static struct t_segments segments_to(size_t n, size_t mean, bool even, uint64_t *state)
{
    struct t_segments g = {t_host((n + 2) * sizeof(uint64_t)), 0, n};
    g.offsets[0] = 0;
    while (g.offsets[g.count] < n) {
        uint64_t length = even ? mean : 1 + t_random_below(state, 2 * mean - 1);
        uint64_t left = n - g.offsets[g.count];
        g.offsets[g.count + 1] = g.offsets[g.count] + (length < left ? length : left);
        g.count++;
    }
    return g;
}

/* Arrays large enough for the kernel that streams. */
START_TEST(test_segments_every_operator_streams)
{
    static const size_t means[] = {1, 3, 100, 9000, (size_t)1 << 40};
    gp_op op = t_ops[_i / T_DTYPE_COUNT];
    gp_dtype dtype = t_dtypes[_i % T_DTYPE_COUNT];
    uint64_t state = t_seed() + (uint64_t)_i;
    size_t item = gp_dtype_bytes(dtype) * gp_op_scalars(op);
    if (!t_op_allowed(dtype, op) || (item == 1 && _i % 3))
        return; /* bytes take the serial oracle long */
    struct t_segments g = segments_to(large((size_t)8 << 20) / item + 4321, means[_i % 5],
                                      _i % 2 || _i % 5 > 3, &state);
    gp_scan_desc desc =
        t_scan_desc(_i % 3 ? GP_SCAN_INCLUSIVE : GP_SCAN_EXCLUSIVE, dtype, dtype, op);
    struct problem p = problem_new(&desc, &g, &state);
    problem_check(&p, &g, (enum description)(_i % DESCRIPTIONS), (struct scan_layout){0, 0, false});
    problem_check(&p, &g, (enum description)((_i + 1) % DESCRIPTIONS),
                  (struct scan_layout){1, 3, false});
    problem_free(&p);
    free(g.offsets);
}
END_TEST

/* Every density of heads through the kernel that streams. */
START_TEST(test_segments_of_every_length_stream)
{
    static const size_t means[] = {1, 2, 16, 31, 1000, 6144, 100000, (size_t)1 << 40};
    uint64_t state = t_seed() + (uint64_t)_i;
    struct t_segments g =
        segments_to(large((size_t)2 << 20) + 6143, means[_i / 2], _i % 2 || _i > 13, &state);
    gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, GP_U32, GP_U32, GP_SUM);
    struct problem p = problem_new(&desc, &g, &state);
    for (int k = _i; k < _i + 3; k++)
        problem_check(&p, &g, (enum description)(k % DESCRIPTIONS),
                      (struct scan_layout){0, 0, k % 2});
    problem_free(&p);
    free(g.offsets);
}
END_TEST

/* ---- rows ------------------------------------------------------------------------------------ */

static void check_rows(const gp_scan_desc *desc, size_t num_rows, size_t length, bool in_place,
                       uint64_t *state)
{
    size_t n = num_rows * length, scalars = gp_op_scalars(desc->op);
    size_t item = gp_dtype_bytes(desc->in_dtype) * scalars;
    struct t_segments g = {t_host((num_rows + 1) * sizeof(uint64_t)), num_rows, n};
    for (size_t r = 0; r <= num_rows; r++)
        g.offsets[r] = r * length;
    struct problem p = problem_new(desc, &g, state);
    char *actual = t_host(n * item);
    t_array in = t_new_from(p.in, n * item, 0), out = t_new(n * item, 0);
    void *to = in_place ? in.data : out.data;
    T_OK(gp_scan_rows(t_ctx(), desc, in.data, num_rows, length, to));
    t_get(in_place ? &in : &out, actual, n * item);
    t_same("rows", desc->in_dtype, p.expected, actual, n * scalars);
    t_check_guards(&in);
    t_check_guards(&out);
    t_free(&in);
    t_free(&out);
    problem_free(&p);
    free(actual);
    free(g.offsets);
}

START_TEST(test_rows_of_every_length)
{
    uint64_t state = t_seed();
    for (size_t length = (size_t)_i; length < 70; length += 7)
        for (int k = 0; k < 2; k++) {
            gp_scan_desc desc =
                t_scan_desc(k ? GP_SCAN_EXCLUSIVE : GP_SCAN_INCLUSIVE, GP_I32, GP_I32, GP_SUM);
            check_rows(&desc, length ? 9000 / length : 5, length, k, &state);
        }
}
END_TEST

START_TEST(test_rows_around_words_tiles_and_steps)
{
    static const size_t lengths[] = {127,  128,  129,  1000, 1023, 1024,
                                     1025, 4095, 4096, 4097, 8193, 70000};
    gp_dtype dtype = t_dtypes[_i];
    uint64_t state = t_seed() + (uint64_t)_i;
    gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, dtype, dtype, GP_MAX);
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        check_rows(&desc, (t_is_cuda() ? 80000 : 20000) / lengths[k] + 1, lengths[k], k % 2,
                   &state);
}
END_TEST

START_TEST(test_rows_stream)
{
    static const size_t lengths[] = {1, 3, 32, 33, 1000, 1024, 6144, 6145, 123456, 2200000};
    uint64_t state = t_seed();
    gp_scan_desc desc = t_scan_desc(_i % 2 ? GP_SCAN_EXCLUSIVE : GP_SCAN_INCLUSIVE, GP_U32, GP_U32,
                                    _i % 3 ? GP_SUM : GP_XOR);
    check_rows(&desc, large(2200000) / lengths[_i] + 1, lengths[_i], _i % 4 == 1, &state);
}
END_TEST

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Outputs of all items serve every beginning of them. */
START_TEST(test_segments_of_every_size)
{
    enum { END = 2 * 4096 + 2, PARTS = 12 };
    uint64_t state = t_seed();
    struct t_segments g = segments_to(END, 20, false, &state);
    gp_scan_desc desc = t_scan_desc(GP_SCAN_EXCLUSIVE, GP_U32, GP_U32, GP_SUM);
    struct problem p = problem_new(&desc, &g, &state);
    t_array in = t_new_from(p.in, END * 4, 0), heads = t_new_from(p.heads, END, 0);
    t_array keys = t_new_from(p.keys, END * 8, 0);
    uint32_t *actual = t_host(END * 4);
    for (size_t n = (size_t)_i; n < END; n += t_step(PARTS)) {
        t_array out = t_new(n * 4, 4);
        if (n / PARTS % 2)
            T_OK(gp_scan_flagged(t_ctx(), &desc, in.data, heads.data, n, out.data));
        else
            T_OK(gp_scan_by_key(t_ctx(), &desc, 8, keys.data, in.data, n, out.data));
        t_get(&out, actual, n * 4);
        t_same("exclusive sum", GP_U32, p.expected, actual, n);
        t_check_guards(&out);
        t_free(&out);
    }
    t_free(&in);
    t_free(&heads);
    t_free(&keys);
    problem_free(&p);
    free(actual);
    free(g.offsets);
}
END_TEST

/* ---- placement ------------------------------------------------------------------------------- */

START_TEST(test_segments_at_every_alignment)
{
    static const gp_dtype dtypes[] = {GP_U8, GP_I16, GP_F32, GP_F64};
    gp_dtype dtype = dtypes[_i / 4];
    uint64_t state = t_seed() + (uint64_t)_i;
    size_t n = _i % 4 < 2 ? 5000 : ((size_t)8 << 20) / gp_dtype_bytes(dtype) + 5;
    if (!t_is_cuda() && _i % 4 >= 2)
        return;
    struct t_segments g = segments_to(n, 50, false, &state);
    gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, dtype, dtype, GP_SUM);
    struct problem p = problem_new(&desc, &g, &state);
    for (size_t shift = 0; shift < 16; shift += _i % 4 < 2 ? 1 : 5) {
        p.shift = (shift * 7 + 1) % 16;
        struct scan_layout layout = {shift, (shift * 5 + (size_t)_i) % 16, false};
        problem_check(&p, &g, (enum description)((shift + (size_t)_i) % DESCRIPTIONS), layout);
    }
    problem_free(&p);
    free(g.offsets);
}
END_TEST

/* Millions of empty segments at one place, before, between and behind the items. */
START_TEST(test_segments_empty_by_the_million)
{
    enum { N = 10000 };
    size_t empty = t_is_cuda() ? 3000000 : 300000;
    uint64_t state = t_seed();
    struct t_segments g = {t_host((empty + N + 1) * sizeof(uint64_t)), empty + N, N};
    size_t at = _i == 0 ? 0 : _i == 1 ? N / 2 : N;
    for (size_t s = 0; s <= empty + N; s++)
        g.offsets[s] = s <= at ? s : s <= at + empty ? at : s - empty;
    gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, GP_I64, GP_I64, GP_SUM);
    struct problem p = problem_new(&desc, &g, &state);
    problem_check(&p, &g, OFFSETS_32, (struct scan_layout){0, 0, false});
    problem_check(&p, &g, OFFSETS_64, (struct scan_layout){0, 0, false});
    problem_free(&p);
    free(g.offsets);
}
END_TEST

/* ---- floats ---------------------------------------------------------------------------------- */

/* Sums that round: the same bits whatever the alignment, the run,
 * the threads and the multiprocessors. */
START_TEST(test_segments_float_bits_are_reproducible)
{
    gp_dtype dtype = _i % 2 ? GP_F64 : GP_F32;
    size_t n = _i / 2 ? large(3000017) : 20011, bytes = gp_dtype_bytes(dtype);
    uint64_t state = t_seed();
    struct t_segments g = segments_to(n, 7000, false, &state);
    gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, dtype, dtype, GP_SUM);
    char *host = t_host(n * bytes), *first = t_host(n * bytes), *again = t_host(n * bytes);
    t_fill_random(dtype, host, n, &state);
    t_array offsets = t_offsets_put(&g, GP_U32, 0, 0);
    for (int run = 0; run < 6; run++) {
        gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
        gp_context *ctx;
        o.backend = gp_context_backend(t_ctx());
        o.threads = t_is_cuda() ? 0 : 1 + run;
        o.multiprocessors = run % 3 * 37;
        T_OK(gp_context_create(&ctx, &o));
        t_array in = t_new_from(host, n * bytes, (size_t)run % 3 * bytes),
                out = t_new(n * bytes, 0);
        T_OK(gp_scan_segmented(ctx, &desc, in.data, n, GP_U32, offsets.data, g.count, out.data));
        T_OK(gp_context_synchronize(ctx));
        t_get(&out, run ? again : first, n * bytes);
        if (run)
            t_same_bytes("the same sums", first, again, n * bytes);
        gp_context_destroy(ctx);
        t_free(&in);
        t_free(&out);
    }
    t_free(&offsets);
    free(host);
    free(first);
    free(again);
    free(g.offsets);
}
END_TEST

/* An exclusive sum begins with +0, an inclusive one keeps a -0. */
START_TEST(test_segments_signs_of_zero)
{
    static const uint8_t heads[4] = {1, 0, 1, 0};
    static const float in[4] = {-0.0f, -0.0f, -0.0f, 1}, exclusive[4] = {0, 0, 0, 0};
    static const float inclusive[4] = {-0.0f, -0.0f, -0.0f, 1};
    float actual[4];
    t_array a = t_new_from(in, 16, 0), h = t_new_from(heads, 4, 0), out = t_new(16, 0);
    gp_scan_desc desc = t_scan_desc(GP_SCAN_EXCLUSIVE, GP_F32, GP_F32, GP_SUM);
    T_OK(gp_scan_flagged(t_ctx(), &desc, a.data, h.data, 4, out.data));
    t_get(&out, actual, 16);
    t_same_bytes("exclusive", exclusive, actual, 16);
    desc.kind = GP_SCAN_INCLUSIVE;
    T_OK(gp_scan_flagged(t_ctx(), &desc, a.data, h.data, 4, out.data));
    t_get(&out, actual, 16);
    t_same_bytes("inclusive", inclusive, actual, 16);
    t_free(&a);
    t_free(&h);
    t_free(&out);
}
END_TEST

/* ---- capture --------------------------------------------------------------------------------- */

/* The workspace functions are enough for a fresh context, and a graph runs with other data. */
START_TEST(test_segments_captured_and_replayed)
{
    size_t n = _i ? 2500000 : 30000, most = 0, bytes;
    uint64_t state = t_seed();
    gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, GP_U32, GP_U32, GP_SUM);
    t_ctx_drop();
    for (int k = 0; k < 4; k++) {
        T_OK(k == 0   ? gp_scan_segmented_workspace_bytes(NULL, &desc, n, &bytes)
             : k == 1 ? gp_scan_flagged_workspace_bytes(NULL, &desc, n, &bytes)
             : k == 2 ? gp_scan_by_key_workspace_bytes(NULL, &desc, n, &bytes)
                      : gp_scan_rows_workspace_bytes(NULL, &desc, 100, n / 100, &bytes));
        most = bytes > most ? bytes : most;
    }
    T_OK(gp_context_reserve(t_ctx(), most));
    t_array in = t_new(n * 4, 0), offsets = t_new((n + 1) * 4, 0), heads = t_new(n, 0);
    t_array keys = t_new(n * 4, 0), out[3] = {t_new(n * 4, 0), t_new(n * 4, 0), t_new(n * 4, 0)};
    size_t count = n / 10;
    if (!t_capture_begin())
        goto done;
    T_OK(gp_scan_segmented(t_ctx(), &desc, in.data, n, GP_U32, offsets.data, count, out[0].data));
    T_OK(gp_scan_flagged(t_ctx(), &desc, in.data, heads.data, n, out[1].data));
    T_OK(gp_scan_by_key(t_ctx(), &desc, 4, keys.data, in.data, n, out[2].data));
    T_OK(gp_scan_rows(t_ctx(), &desc, in.data, n / 100, 100, in.data));
    t_capture_end();
    uint32_t *actual = t_host(n * 4);
    for (int run = 0; run < 4; run++) {
        struct t_segments g = segments_to(n, 5 + 300 * (size_t)run, false, &state);
        for (size_t s = g.count + 1; s <= count; s++) /* the rest are empty */
            g.offsets[s] = n;
        if (g.count > count) /* the last takes what is left */
            g.offsets[count] = n;
        g.count = count;
        struct problem p = problem_new(&desc, &g, &state);
        t_array fresh = t_offsets_put(&g, GP_U32, 0, 0);
        T_OK(gp_copy(t_ctx(), fresh.data, (count + 1) * 4, offsets.data));
        t_put(&in, p.in, n * 4);
        t_put(&heads, p.heads, n);
        for (size_t i = 0; i < n; i++)
            actual[i] = (uint32_t)p.keys[i];
        t_put(&keys, actual, n * 4);
        t_replay();
        for (int k = 0; k < 3; k++) {
            t_get(&out[k], actual, n * 4);
            t_same("replayed", GP_U32, p.expected, actual, n);
        }
        t_free(&fresh);
        problem_free(&p);
        free(g.offsets);
    }
    t_capture_free();
    free(actual);
done:
    t_free(&in);
    t_free(&offsets);
    t_free(&heads);
    t_free(&keys);
    for (int k = 0; k < 3; k++)
        t_free(&out[k]);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("scan_segments");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_segments_of_every_shape, 0, T_LAYOUT_COUNT);
    tcase_add_loop_test(c, test_segments_every_operator, 0, T_OP_COUNT * T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_segments_short_behind_long, 0, T_OP_COUNT * T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_segments_signs_of_zero, 0, 1);
    c = t_case(s, "streams");
    tcase_add_loop_test(c, test_segments_every_operator_streams, 0, T_OP_COUNT * T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_segments_of_every_length_stream, 0, 16);
    tcase_add_loop_test(c, test_rows_stream, 0, 10);
    c = t_case(s, "rows");
    tcase_add_loop_test(c, test_rows_of_every_length, 0, 7);
    tcase_add_loop_test(c, test_rows_around_words_tiles_and_steps, 0, T_DTYPE_COUNT);
    c = t_case(s, "sizes");
    tcase_add_loop_test(c, test_segments_of_every_size, 0, 12);
    c = t_case(s, "placement");
    tcase_add_loop_test(c, test_segments_at_every_alignment, 0, 16);
    tcase_add_loop_test(c, test_segments_empty_by_the_million, 0, 3);
    c = t_case(s, "determinism");
    tcase_add_loop_test(c, test_segments_float_bits_are_reproducible, 0, 4);
    c = t_case(s, "capture");
    tcase_add_loop_test(c, test_segments_captured_and_replayed, 0, 2);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
