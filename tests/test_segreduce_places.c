/* SPDX-License-Identifier: MIT */
/* Places of extremes in segments; reductions of counts on the device, captured ones; refusals. */
#include "segreduce_check.h"

/* ---- places ---------------------------------------------------------------------------------- */

/* a comes before b in gp's order; ties are neither. */
static bool before(gp_dtype dtype, const void *in, size_t a, size_t b)
{
    if (dtype == GP_U64)
        return ((const uint64_t *)in)[a] < ((const uint64_t *)in)[b];
    if (dtype == GP_I64)
        return ((const int64_t *)in)[a] < ((const int64_t *)in)[b];
    double x = t_value(dtype, in, a), y = t_value(dtype, in, b);
    return !isnan(x) && (isnan(y) || x < y);
}

static size_t best_of(gp_dtype dtype, bool largest, const void *in, size_t begin, size_t end)
{
    size_t best = begin;
    for (size_t i = begin + 1; i < end; i++)
        if (largest ? before(dtype, in, best, i) : before(dtype, in, i, best))
            best = i;
    return best;
}

/* Of host data in segments; values of segments without items are those of gp_argmin(). */
static void check_places(gp_dtype dtype, bool largest, const char *in, const struct t_segments *g,
                         gp_dtype offset_dtype, size_t shift)
{
    const size_t item = gp_dtype_bytes(dtype), n = g->count;
    uint64_t *expected = t_host(n * 8), *actual = t_host(n * 8);
    char *values = t_host(n * item), *got = t_host(n * item);
    t_array nothing = t_new(item, 0), index = t_new(8, 0);
    T_OK((largest ? gp_argmax : gp_argmin)(t_ctx(), dtype, NULL, 0, nothing.data, index.data));
    t_get(&nothing, got, item);
    for (size_t s = 0; s < n; s++) {
        const size_t begin = (size_t)g->offsets[s], end = (size_t)g->offsets[s + 1];
        const size_t best = best_of(dtype, largest, in, begin, end);
        expected[s] = end > begin ? best - begin : UINT64_MAX;
        memcpy(values + s * item, end > begin ? in + best * item : got, item);
    }
    gp_reduce_segmented_desc desc = segmented_desc(dtype, (gp_dtype)0, GP_SUM, offset_dtype);
    t_array offsets = t_offsets_put(g, offset_dtype, shift, shift);
    t_array source = t_new_from(in, g->items * item, shift * item);
    t_array out = t_new(n * item, shift % 3 * item), places = t_new(n * 8, 0);
    void *wanted = shift == 3 ? NULL : out.data;
    T_OK((largest ? gp_argmax_segmented : gp_argmin_segmented)(
        t_ctx(), &desc, source.data, g->items, offsets.data, n, wanted, places.data));
    t_get(&places, actual, n * 8);
    t_same("places", GP_U64, expected, actual, n);
    if (wanted) {
        t_get(&out, got, n * item);
        t_same_bytes("values", values, got, n * item);
    } else {
        t_check_untouched(&out);
    }
    t_check_guards(&out);
    t_check_guards(&places);
    t_free(&offsets);
    t_free(&source);
    t_free(&out);
    t_free(&places);
    t_free(&nothing);
    t_free(&index);
    free(expected);
    free(actual);
    free(values);
    free(got);
}

START_TEST(test_argmin_segmented_of_every_dtype)
{
    static const enum t_layout layouts[] = {T_POWER_LAW, T_ONE_HUGE, T_MOSTLY_EMPTY, T_RANDOM};
    gp_dtype dtype = t_dtypes[_i];
    uint64_t state = t_seed() + (uint64_t)_i;
    for (size_t k = 0; k < 8; k++) {
        struct t_segments g = t_segments_new(layouts[k / 2], 900);
        char *in = t_host(g.items * gp_dtype_bytes(dtype));
        if (k % 4 < 2)
            t_fill_special(dtype, in, g.items, &state);
        else
            t_fill_small(dtype, in, g.items, 5, &state);
        check_places(dtype, k % 2, in, &g, t_index_dtypes[k % 4], k % 4);
        free(in);
        free(g.offsets);
    }
}
END_TEST

START_TEST(test_argmin_segmented_over_many_shares)
{
    static const size_t means[] = {1, 9, 700, 50000, (size_t)1 << 40};
    static const gp_dtype dtypes[] = {GP_I8, GP_F16, GP_F32, GP_I64};
    gp_dtype dtype = dtypes[_i / 5];
    uint64_t state = t_seed() + (uint64_t)_i;
    size_t n = t_at_most(t_is_cuda() ? 900000 : 90000);
    struct t_segments g = lengths_to(n, means[_i % 5], _i % 5 > 3, 1 + (size_t)_i % 2 * 3, &state);
    char *in = t_host(n * gp_dtype_bytes(dtype));
    t_fill_special(dtype, in, n, &state);
    for (size_t k = 0; k < 4; k++)
        check_places(dtype, k % 2, in, &g, GP_U32, k);
    free(in);
    free(g.offsets);
}
END_TEST

/* Items enough for long segments to go a way of their own; few of them are the best. */
START_TEST(test_argmin_segmented_of_long_segments)
{
    const gp_dtype dtype = _i < 2 ? GP_U8 : _i < 4 ? GP_F16 : GP_F64;
    const size_t item = gp_dtype_bytes(dtype);
    const size_t n = t_at_most(t_is_cuda() ? ((size_t)257 << 20) / item + 12345 : 90000);
    uint64_t offsets[] = {0, n / 3, n / 2, n / 2, n}, state = t_seed() + (uint64_t)_i;
    struct t_segments g = {.offsets = offsets, .count = 4, .items = n};
    char *in = t_host(n * item);
    memset(in, 2, n * item);
    for (int k = 0; k < 40; k++)
        memset(in + t_random_below(&state, n) * item, k % 2 ? 3 : 1, item);
    check_places(dtype, _i % 2, in, &g, GP_U32, (size_t)_i % 2);
    free(in);
}
END_TEST

/* ---- counts on the device -------------------------------------------------------------------- */

START_TEST(test_segreduce_counts_on_the_device)
{
    enum { COUNT = 3000 };
    uint64_t state = t_seed() + (uint64_t)_i;
    struct t_segments g = t_segments_new(T_POWER_LAW, COUNT);
    const uint64_t counts[] = {0, 1, 700, COUNT, COUNT + 5};
    uint64_t count = counts[_i] < COUNT ? counts[_i] : COUNT, items = g.offsets[count];
    if (_i == 4)
        items += 99; /* above the bound */
    gp_reduce_segmented_desc desc = segmented_desc(GP_U16, GP_U32, GP_SUM, GP_U32);
    struct sums s = sums_new(&desc, &g, &state);
    uint32_t *actual = t_host(COUNT * 4);
    t_array offsets = t_offsets_put(&g, GP_U32, 0, 0), in = t_new_from(s.in, g.items * 2, 0);
    t_array n = t_new_from(&items, 8, 0), num = t_new_from(&counts[_i], 8, 0);
    t_array out = t_new(COUNT * 4, 0), rest = t_new(COUNT * 4, 0);
    s.desc.device_n = n.data;
    s.desc.device_num_segments = num.data;
    T_OK(gp_reduce_segmented(t_ctx(), &s.desc, in.data, g.items, offsets.data, COUNT, out.data));
    t_get(&out, actual, COUNT * 4);
    t_same("sums", GP_U32, s.expected, actual, count);
    t_get(&rest, s.expected, COUNT * 4);
    t_same_bytes("what is behind", s.expected, actual + count, (COUNT - count) * 4);
    t_check_guards(&out);
    t_free(&offsets);
    t_free(&in);
    t_free(&n);
    t_free(&num);
    t_free(&out);
    t_free(&rest);
    sums_free(&s);
    free(actual);
    free(g.offsets);
}
END_TEST

START_TEST(test_reduce_rows_counts_on_the_device)
{
    enum { ROWS = 500, LENGTH = 33 };
    const uint64_t counts[] = {0, 1, 77, ROWS, ROWS + 9};
    const uint64_t count = counts[_i] < ROWS ? counts[_i] : ROWS;
    uint32_t *in = t_host(ROWS * LENGTH * 4), expected[ROWS], actual[ROWS];
    t_array out = t_new(sizeof expected, 0), num = t_new_from(&counts[_i], 8, 0);
    t_get(&out, expected, sizeof expected);
    for (size_t i = 0; i < ROWS * LENGTH; i++)
        in[i] = (uint32_t)(i * i);
    for (size_t r = 0; r < count; r++) {
        expected[r] = 0;
        for (size_t i = 0; i < LENGTH; i++)
            expected[r] += in[r * LENGTH + i];
    }
    t_array source = t_new_from(in, ROWS * LENGTH * 4, 4);
    gp_reduce_segmented_desc desc = segmented_desc(GP_U32, GP_U32, GP_SUM, (gp_dtype)0);
    desc.device_num_segments = num.data;
    T_OK(gp_reduce_rows(t_ctx(), &desc, source.data, ROWS, LENGTH, out.data));
    t_get(&out, actual, sizeof actual);
    t_same_bytes("sums of rows", expected, actual, sizeof actual);
    t_free(&source);
    t_free(&out);
    t_free(&num);
    free(in);
}
END_TEST

/* ---- capture --------------------------------------------------------------------------------- */

START_TEST(test_segreduce_captured_and_replayed)
{
    enum { COUNT = 2000, MOST = 200000 };
    uint64_t state = t_seed();
    t_array in = t_new(MOST * 4, 0), offsets = t_new((COUNT + 1) * 4, 0), out = t_new(COUNT * 4, 0);
    t_array n = t_new(8, 0);
    uint32_t *actual = t_host(COUNT * 4);
    gp_reduce_segmented_desc desc = segmented_desc(GP_F32, GP_F32, GP_SUM, GP_U32);
    size_t bytes;
    desc.device_n = n.data;
    T_OK(gp_reduce_segmented_workspace_bytes(NULL, &desc, MOST, COUNT, &bytes));
    T_OK(gp_context_reserve(t_ctx(), bytes));
    if (!t_capture_begin())
        goto done;
    T_OK(gp_reduce_segmented(t_ctx(), &desc, in.data, MOST, offsets.data, COUNT, out.data));
    t_capture_end();
    for (int k = 0; k < 4; k++) {
        struct t_segments g = t_segments_new(k % 2 ? T_RANDOM : T_MOSTLY_EMPTY, COUNT);
        uint64_t items = g.items;
        struct sums s = sums_new(&desc, &g, &state);
        t_array fresh = t_offsets_put(&g, GP_U32, 0, 0);
        T_OK(gp_copy(t_ctx(), fresh.data, (COUNT + 1) * 4, offsets.data));
        T_OK(gp_copy(t_ctx(), s.in, g.items * 4, in.data));
        T_OK(gp_copy(t_ctx(), &items, 8, n.data));
        t_replay();
        t_get(&out, actual, COUNT * 4);
        t_same("replayed", GP_F32, s.expected, actual, COUNT);
        t_free(&fresh);
        sums_free(&s);
        free(g.offsets);
    }
    t_capture_free();
done:
    free(actual);
    t_free(&in);
    t_free(&offsets);
    t_free(&out);
    t_free(&n);
}
END_TEST

/* ---- what is refused ------------------------------------------------------------------------- */

enum { N = 64 };

/* Arrays of N items, and a good descriptor; the tests change one thing at a time. */
static struct fixture {
    t_array in, out, offsets;
    gp_reduce_segmented_desc desc;
} f;

static void setup(void)
{
    uint32_t offsets[3] = {0, 10, N};
    f.in = t_new(N * 8 + 8, 0);
    f.out = t_new(N * 8 + 8, 0);
    f.offsets = t_new_from(offsets, sizeof offsets, 0);
    f.desc = segmented_desc(GP_I32, (gp_dtype)0, GP_SUM, GP_U32);
}

static void teardown(void)
{
    t_free(&f.in);
    t_free(&f.out);
    t_free(&f.offsets);
}

/* Of the calls with offsets; of places too, if they take such a descriptor otherwise. */
static void refuse_desc(gp_status expected, const gp_reduce_segmented_desc *d, bool places)
{
    size_t bytes;
    T_STATUS(expected,
             gp_reduce_segmented(t_ctx(), d, f.in.data, N, f.offsets.data, 2, f.out.data));
    T_STATUS(expected, gp_reduce_segmented_workspace_bytes(NULL, d, N, 2, &bytes));
    if (places) {
        T_STATUS(expected, gp_argmin_segmented(t_ctx(), d, f.in.data, N, f.offsets.data, 2, NULL,
                                               f.out.data));
        T_STATUS(expected, gp_argmax_segmented(t_ctx(), d, f.in.data, N, f.offsets.data, 2, NULL,
                                               f.out.data));
    }
    t_check_untouched(&f.out);
}

static void refuse_rows(gp_status expected, const gp_reduce_segmented_desc *d)
{
    size_t bytes;
    T_STATUS(expected, gp_reduce_rows(t_ctx(), d, f.in.data, 8, 8, f.out.data));
    T_STATUS(expected, gp_reduce_rows_workspace_bytes(NULL, d, 8, 8, &bytes));
    t_check_untouched(&f.out);
}

static void refuse_places(gp_status expected, const gp_reduce_segmented_desc *d)
{
    T_STATUS(expected,
             gp_argmin_segmented(t_ctx(), d, f.in.data, N, f.offsets.data, 2, NULL, f.out.data));
    T_STATUS(expected,
             gp_argmax_segmented(t_ctx(), d, f.in.data, N, f.offsets.data, 2, NULL, f.out.data));
    t_check_untouched(&f.out);
}

START_TEST(test_segreduce_refuses_descriptors)
{
    const gp_reduce_segmented_desc good = f.desc;
    gp_reduce_segmented_desc d = good;
    uint64_t word = 0;
    refuse_desc(GP_ERROR_POINTER, NULL, true);
    refuse_rows(GP_ERROR_POINTER, NULL);
    d.size--;
    refuse_desc(GP_ERROR_ARGUMENT, &d, true);
    d = good, d.in_dtype = (gp_dtype)99;
    refuse_desc(GP_ERROR_DTYPE, &d, true);
    d = good, d.out_dtype = GP_I16;
    refuse_desc(GP_ERROR_DTYPE, &d, true);
    d = good, d.op = (gp_op)0;
    refuse_desc(GP_ERROR_OP, &d, true);
    d = good, d.op = GP_AFFINE;
    refuse_desc(GP_ERROR_OP, &d, true);
    d = good, d.in_dtype = GP_F32, d.op = GP_XOR;
    refuse_desc(GP_ERROR_OP, &d, true);
    d = good, d.op = GP_MIN, d.out_dtype = GP_I64;
    refuse_desc(GP_ERROR_DTYPE, &d, false);
    d = good, d.offset_dtype = GP_U16;
    refuse_desc(GP_ERROR_DTYPE, &d, true);
    d = good, d.offset_dtype = (gp_dtype)0;
    refuse_desc(GP_ERROR_DTYPE, &d, true);
    refuse_rows(GP_ERROR_DTYPE, &good);
    d = good, d.offset_dtype = (gp_dtype)0, d.device_n = &word;
    refuse_rows(GP_ERROR_ARGUMENT, &d);
    d = good, d.op = GP_MIN;
    refuse_places(GP_ERROR_OP, &d);
    d = good, d.out_dtype = GP_I32;
    refuse_places(GP_ERROR_DTYPE, &d);
    d = good, d.init = &word;
    refuse_places(GP_ERROR_ARGUMENT, &d);
}
END_TEST

/* gp_reduce_segmented with one argument in another way. */
#define SEGMENTED(in, n, offsets, count, out)                                                      \
    gp_reduce_segmented(t_ctx(), &f.desc, in, n, offsets, count, out)
#define PLACES(values, indices)                                                                    \
    gp_argmin_segmented(t_ctx(), &f.desc, f.in.data, N, f.offsets.data, 2, values, indices)

START_TEST(test_segreduce_refuses_arguments)
{
    char *in = f.in.data, *out = f.out.data, *offsets = f.offsets.data;
    const size_t most = (size_t)1 << 40;
    T_STATUS(GP_ERROR_POINTER, gp_reduce_segmented(NULL, &f.desc, in, N, offsets, 2, out));
    T_STATUS(GP_ERROR_POINTER, SEGMENTED(NULL, N, offsets, 2, out));
    T_STATUS(GP_ERROR_POINTER, SEGMENTED(in + 1, N, offsets, 2, out));
    T_STATUS(GP_ERROR_ARGUMENT, SEGMENTED(in, (size_t)1 << 32, offsets, 2, out));
    T_STATUS(GP_ERROR_ARGUMENT, SEGMENTED(in, most + 1, offsets, 2, out));
    T_STATUS(GP_ERROR_POINTER, SEGMENTED(in, N, NULL, 2, out));
    T_STATUS(GP_ERROR_POINTER, SEGMENTED(in, N, offsets + 2, 2, out));
    T_STATUS(GP_ERROR_ARGUMENT, SEGMENTED(in, N, offsets, most + 1, out));
    T_STATUS(GP_ERROR_POINTER, SEGMENTED(in, N, offsets, 2, NULL));
    T_STATUS(GP_ERROR_POINTER, SEGMENTED(in, N, offsets, 2, out + 2));
    T_STATUS(GP_ERROR_OVERLAP, SEGMENTED(in, N, offsets, 2, in + 4));
    T_STATUS(GP_ERROR_OVERLAP, SEGMENTED(in, N, offsets, 2, offsets));
    T_STATUS(GP_ERROR_POINTER, PLACES(out, NULL));
    T_STATUS(GP_ERROR_POINTER, PLACES(out, (uint64_t *)(void *)(out + 4)));
    T_STATUS(GP_ERROR_POINTER, PLACES(out + 1, (uint64_t *)(void *)(out + 64)));
    T_STATUS(GP_ERROR_OVERLAP, PLACES(out, (uint64_t *)(void *)out));
    T_OK(SEGMENTED(NULL, 0, offsets, 0, NULL));
    f.desc.offset_dtype = (gp_dtype)0;
    T_STATUS(GP_ERROR_POINTER, gp_reduce_rows(NULL, &f.desc, in, 8, 8, out));
    T_STATUS(GP_ERROR_POINTER, gp_reduce_rows(t_ctx(), &f.desc, NULL, 8, 8, out));
    T_STATUS(GP_ERROR_POINTER, gp_reduce_rows(t_ctx(), &f.desc, in, 8, 8, NULL));
    T_STATUS(GP_ERROR_ARGUMENT, gp_reduce_rows(t_ctx(), &f.desc, in, most + 1, 1, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_reduce_rows(t_ctx(), &f.desc, in, 1, most + 1, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_reduce_rows(t_ctx(), &f.desc, in, (size_t)1 << 39, 3, out));
    T_STATUS(GP_ERROR_OVERLAP, gp_reduce_rows(t_ctx(), &f.desc, in, 8, 8, in + 4));
    T_OK(gp_reduce_rows(t_ctx(), &f.desc, NULL, 0, 5, NULL));
    t_check_untouched(&f.out);
}
END_TEST

START_TEST(test_segreduce_workspace)
{
    gp_target target = GP_TARGET_INIT;
    size_t any, cuda, cpu;
    T_OK(gp_reduce_segmented_workspace_bytes(NULL, &f.desc, 1000000, 1000, &any));
    target.backend = GP_BACKEND_CUDA;
    T_OK(gp_reduce_segmented_workspace_bytes(&target, &f.desc, 1000000, 1000, &cuda));
    target.backend = GP_BACKEND_CPU;
    T_OK(gp_reduce_segmented_workspace_bytes(&target, &f.desc, 1000000, 1000, &cpu));
    ck_assert_uint_eq(any, cuda > cpu ? cuda : cpu);
    T_STATUS(GP_ERROR_POINTER, gp_reduce_segmented_workspace_bytes(NULL, &f.desc, 1, 1, NULL));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_reduce_segmented_workspace_bytes(NULL, &f.desc, ((size_t)1 << 40) + 1, 1, &any));
    f.desc.offset_dtype = (gp_dtype)0;
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_reduce_rows_workspace_bytes(NULL, &f.desc, (size_t)1 << 39, 3, &any));
    target.size = 0;
    T_STATUS(GP_ERROR_ARGUMENT, gp_reduce_rows_workspace_bytes(&target, &f.desc, 1, 1, &any));
}
END_TEST

/* Offsets of any bits: nothing outside of the arrays is touched. */
START_TEST(test_segreduce_offsets_of_garbage)
{
    enum { MOST = 300000 };
    const size_t segments = t_at_most(MOST), items = 2 * segments;
    uint64_t *offsets = t_host((segments + 1) * sizeof *offsets), state = t_seed();
    int32_t *host = t_host(items * 4);
    memset(host, 1, items * 4);
    t_array in = t_new_from(host, items * 4, 0), out = t_new(segments * 4, 0);
    for (int k = 0; k < 6; k++) {
        gp_dtype dtype = k % 2 ? GP_U64 : GP_U32;
        for (size_t s = 0; s <= segments; s++)
            offsets[s] = k < 2 ? 2 * s : k < 4 ? t_random(&state) : t_random_below(&state, items);
        if (k < 2)
            offsets[segments / 3] = 0;
        t_array o = t_numbers_put(offsets, segments + 1, dtype, 0, 0);
        f.desc.offset_dtype = dtype;
        gp_status s =
            gp_reduce_segmented(t_ctx(), &f.desc, in.data, items, o.data, segments, out.data);
        ck_assert_int_eq(s, t_is_cuda() ? GP_OK : GP_ERROR_DATA);
        if (t_is_cuda())
            T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
        else
            t_check_untouched(&out);
        T_OK(gp_context_synchronize(t_ctx()));
        t_check_guards(&out);
        t_check_guards(&o);
        t_free(&o);
    }
    t_free(&in);
    t_free(&out);
    free(host);
    free(offsets);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("segreduce_places");
    TCase *c = t_case(s, "places");
    tcase_add_loop_test(c, test_argmin_segmented_of_every_dtype, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_argmin_segmented_over_many_shares, 0, 20);
    tcase_add_loop_test(c, test_argmin_segmented_of_long_segments, 0, 6);
    c = t_case(s, "counts");
    tcase_add_loop_test(c, test_segreduce_counts_on_the_device, 0, 5);
    tcase_add_loop_test(c, test_reduce_rows_counts_on_the_device, 0, 5);
    c = t_case(s, "capture");
    tcase_add_test(c, test_segreduce_captured_and_replayed);
    c = t_case(s, "errors");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, test_segreduce_refuses_descriptors);
    tcase_add_test(c, test_segreduce_refuses_arguments);
    tcase_add_test(c, test_segreduce_workspace);
    tcase_add_test(c, test_segreduce_offsets_of_garbage);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
