/* SPDX-License-Identifier: MIT */
/* Histograms: edges that break the contract, capture and replay, workspace, and every error of
 * every call. */
#include <gp/histogram.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gp_test.h"

/* Edges that are not ascending: any counts, but no access outside the arrays and none lost. */
START_TEST(test_edges_not_ascending_stay_in_memory)
{
    enum { N = 4000, BINS = 300 };
    uint64_t state = t_seed(), sum = 0;
    double in[N], edges[BINS + 1];
    uint32_t counts[BINS];
    gp_histogram_options o = GP_HISTOGRAM_OPTIONS_INIT;
    const gp_dtype dtype = t_dtypes[_i];
    t_fill_bits(dtype, in, N, &state);
    t_fill_bits(dtype, edges, BINS + 1, &state);
    t_array d_in = t_new_from(in, N * gp_dtype_bytes(dtype), 0), d_outside = t_new(8, 0);
    t_array d_edges = t_new_from(edges, (BINS + 1) * gp_dtype_bytes(dtype), 0);
    t_array d_counts = t_new(sizeof counts, 0);
    o.outside = d_outside.data;
    T_OK(gp_histogram_edges(t_ctx(), dtype, d_in.data, N, d_edges.data, BINS, GP_U32, d_counts.data,
                            &o));
    t_get(&d_counts, counts, sizeof counts);
    for (size_t b = 0; b < BINS; b++)
        sum += counts[b];
    ck_assert_uint_eq(sum + t_get_u64(&d_outside), N);
    t_check_guards(&d_counts);
    t_free(&d_in);
    t_free(&d_outside);
    t_free(&d_edges);
    t_free(&d_counts);
}
END_TEST

/* ---- streams and workspace ---- */

START_TEST(test_captured_call_replays_with_other_data)
{
    static const size_t bins[] = {500, 90000};
    enum { N = 70000 };
    uint64_t state = t_seed();
    const uint32_t n_bins = (uint32_t)bins[_i];
    uint32_t *in = t_host(N * 4), *expected = t_host(n_bins * 4), *actual = t_host(n_bins * 4);
    t_array d_in = t_new(N * 4, 0), d_counts = t_new(n_bins * 4, 0), d_outside = t_new(8, 0);
    gp_histogram_options o = GP_HISTOGRAM_OPTIONS_INIT;
    o.outside = d_outside.data;
    if (t_capture_begin()) {
        T_OK(gp_bincount(t_ctx(), GP_U32, d_in.data, N, n_bins, GP_U32, d_counts.data, &o));
        t_capture_end();
        for (int round = 0; round < 3; round++) {
            uint64_t outside = 0;
            memset(expected, 0, n_bins * 4);
            t_fill_small(GP_U32, in, N, n_bins + 100, &state);
            for (size_t i = 0; i < N; i++)
                in[i] < n_bins ? (void)expected[in[i]]++ : (void)outside++;
            t_put(&d_in, in, N * 4);
            t_replay();
            t_get(&d_counts, actual, n_bins * 4);
            t_same("counts", GP_U32, expected, actual, n_bins);
            ck_assert_uint_eq(t_get_u64(&d_outside), outside);
        }
        t_capture_free();
    }
    t_free(&d_in);
    t_free(&d_counts);
    t_free(&d_outside);
    free(in);
    free(expected);
    free(actual);
}
END_TEST

static void *allocate_counting(void *user, size_t bytes, size_t alignment, gp_stream stream)
{
    (void)stream;
    ++*(int *)user;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release_counting(void *user, void *memory, size_t bytes, gp_stream stream)
{
    (void)user, (void)bytes, (void)stream;
    free(memory);
}

static void *allocate_nothing(void *user, size_t bytes, size_t alignment, gp_stream stream)
{
    (void)user, (void)bytes, (void)alignment, (void)stream;
    return NULL;
}

static gp_context *cpu_context(int threads, gp_allocator allocator)
{
    gp_context *ctx;
    gp_context_options options = GP_CONTEXT_OPTIONS_INIT;
    options.backend = GP_BACKEND_CPU;
    options.threads = threads;
    options.allocator = allocator;
    T_OK(gp_context_create(&ctx, &options));
    return ctx;
}

START_TEST(test_threads_do_not_change_counts)
{
    static const size_t sizes[][2] = {{200000, 3000}, {1200000, 4500000}, {300000, 900000}};
    const size_t n = sizes[_i][0], bins = sizes[_i][1];
    uint64_t state = t_seed();
    uint32_t *in = t_host(n * 4), *first = t_host(bins * 4), *other = t_host(bins * 4);
    const uint32_t lo = 1000, hi = 4000000000u;
    t_fill_random(GP_U32, in, n, &state);
    for (int threads = 1; threads <= 7; threads++) {
        gp_context *ctx = cpu_context(threads, (gp_allocator){NULL, NULL, NULL});
        T_OK(gp_histogram_even(ctx, GP_U32, in, n, &lo, &hi, bins, GP_U32,
                               threads == 1 ? first : other, NULL));
        if (threads > 1)
            t_same("counts", GP_U32, first, other, bins);
        gp_context_destroy(ctx);
    }
    free(in);
    free(first);
    free(other);
}
END_TEST

/* Every way of counting and of searching edges. */
START_TEST(test_workspace_bytes_are_enough)
{
    static const size_t bins[] = {1, 256, 2048, 2049, 20000, 200000, (1 << 22) + 1};
    enum { N = 1100000, BINS_MAX = (1 << 22) + 1 };
    const gp_dtype dtype = t_dtypes[_i];
    void *in = calloc(N, 8), *edges = calloc(BINS_MAX + 1, 8), *counts = t_host(BINS_MAX * 8);
    for (size_t k = 0; k < 7 * 3; k++)
        for (int threads = 1; threads <= 3; threads++) {
            int calls = 0;
            size_t bytes = 0, any = 0, n = N >> (k / 7 * 5), b = bins[k % 7];
            gp_context *ctx =
                cpu_context(threads, (gp_allocator){&calls, allocate_counting, release_counting});
            gp_target target = GP_TARGET_INIT;
            target.backend = GP_BACKEND_CPU;
            target.threads = threads;
            T_OK(gp_histogram_workspace_bytes(&target, dtype, n, b, GP_U64, NULL, &bytes));
            T_OK(gp_histogram_workspace_bytes(NULL, dtype, n, b, GP_U64, NULL, &any));
            ck_assert_uint_le(bytes, any);
            T_OK(gp_context_reserve(ctx, bytes));
            int reserved = calls;
            if (!t_is_float(dtype))
                T_OK(gp_bincount(ctx, dtype, in, n, b, GP_U64, counts, NULL));
            T_OK(gp_histogram_edges(ctx, dtype, in, n, edges, b, GP_U64, counts, NULL));
            ck_assert_int_eq(calls, reserved);
            gp_context_destroy(ctx);
        }
    free(in);
    free(edges);
    free(counts);
}
END_TEST

START_TEST(test_no_memory_leaves_outputs)
{
    enum { N = 100000 };
    uint32_t *in = calloc(N, 4), counts[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    gp_context *ctx = cpu_context(2, (gp_allocator){NULL, allocate_nothing, release_counting});
    ck_assert_int_eq(gp_bincount(ctx, GP_U32, in, N, 8, GP_U32, counts, NULL), GP_ERROR_MEMORY);
    ck_assert_str_ne(gp_last_error(ctx), "");
    for (uint32_t i = 0; i < 8; i++)
        ck_assert_uint_eq(counts[i], i + 1);
    gp_context_destroy(ctx);
    free(in);
}
END_TEST

/* ---- errors ---- */

enum kind { EVEN, EDGES, WHOLE };

/* One call. Limits are on the host; those of f16 and bf16 are floats. */
struct spec {
    enum kind kind;
    gp_dtype dtype;
    size_t n, bins;
    unsigned char lo[8], hi[8];
    gp_algorithm algorithm;
};

static gp_status call(const struct spec *s, const void *in, const void *edges, void *counts,
                      uint64_t *outside)
{
    gp_histogram_options o = GP_HISTOGRAM_OPTIONS_INIT;
    const gp_dtype counter = GP_U32;
    o.algorithm = s->algorithm;
    o.outside = outside;
    if (s->kind == EVEN)
        return gp_histogram_even(t_ctx(), s->dtype, in, s->n, s->lo, s->hi, s->bins, counter,
                                 counts, &o);
    if (s->kind == EDGES)
        return gp_histogram_edges(t_ctx(), s->dtype, in, s->n, edges, s->bins, counter, counts, &o);
    return gp_bincount(t_ctx(), s->dtype, in, s->n, s->bins, counter, counts, &o);
}

static void set_limits(struct spec *s, double lo, double hi)
{
    gp_dtype d = s->dtype == GP_F16 || s->dtype == GP_BF16 ? GP_F32 : s->dtype;
    t_set(d, s->lo, 0, lo);
    t_set(d, s->hi, 0, hi);
}

struct arrays {
    t_array in, edges, counts, outside;
};

static struct arrays arrays_new(void)
{
    struct arrays a = {t_new(64 * 4, 0), t_new(9 * 4, 0), t_new(8 * 4, 0), t_new(8, 0)};
    return a;
}

/* Nothing was written. */
static void arrays_check(struct arrays *a)
{
    t_check_untouched(&a->counts);
    t_check_untouched(&a->outside);
    t_free(&a->in);
    t_free(&a->edges);
    t_free(&a->counts);
    t_free(&a->outside);
}

/* A good call with one argument changed by each row; the three functions share most checks. */
START_TEST(test_errors_shared_by_all)
{
    struct arrays a = arrays_new();
    char *in = a.in.data, *edges = a.edges.data, *counts = a.counts.data;
    uint64_t *outside = a.outside.data;
    const struct spec good = {
        .kind = (enum kind)_i, .dtype = GP_I32, .n = 64, .bins = 8, .hi = {8}};
    struct spec s = good;
    s.dtype = (gp_dtype)0;
    T_STATUS(GP_ERROR_DTYPE, call(&s, in, edges, counts, outside));
    s.dtype = (gp_dtype)13;
    T_STATUS(GP_ERROR_DTYPE, call(&s, in, edges, counts, outside));
    s = good;
    T_STATUS(GP_ERROR_POINTER, call(&s, NULL, edges, counts, outside));
    T_STATUS(GP_ERROR_POINTER, call(&s, in + 1, edges, counts, outside));
    T_STATUS(GP_ERROR_POINTER, call(&s, in, edges, NULL, outside));
    T_STATUS(GP_ERROR_POINTER, call(&s, in, edges, counts + 2, outside));
    T_STATUS(GP_ERROR_POINTER, call(&s, in, edges, counts, (uint64_t *)(void *)(counts + 4)));
    T_STATUS(GP_ERROR_OVERLAP, call(&s, in, edges, in + 4, outside));
    T_STATUS(GP_ERROR_OVERLAP, call(&s, in, edges, counts, (uint64_t *)(void *)(in + 8)));
    T_STATUS(GP_ERROR_OVERLAP, call(&s, in, edges, counts, (uint64_t *)(void *)(counts + 8)));
    s.n = ((size_t)1 << 40) + 1;
    T_STATUS(GP_ERROR_ARGUMENT, call(&s, in, edges, counts, outside));
    s = good;
    s.bins = 0;
    T_STATUS(GP_ERROR_ARGUMENT, call(&s, in, edges, counts, outside));
    s.bins = GP_HISTOGRAM_BINS_MAX + 1;
    T_STATUS(GP_ERROR_ARGUMENT, call(&s, in, edges, counts, outside));
    s = good;
    for (int other = GP_ALGORITHM_LOOKAHEAD; other <= GP_ALGORITHM_SERIAL; other++) {
        s.algorithm = (gp_algorithm)other;
        T_STATUS(GP_ERROR_UNSUPPORTED, call(&s, in, edges, counts, outside));
    }
    s.algorithm = (gp_algorithm)-1;
    T_STATUS(GP_ERROR_ARGUMENT, call(&s, in, edges, counts, outside));
    s.algorithm = (gp_algorithm)(GP_ALGORITHM_SERIAL + 1);
    T_STATUS(GP_ERROR_ARGUMENT, call(&s, in, edges, counts, outside));
    s.algorithm = GP_ALGORITHM_CUB;
    T_STATUS(GP_ERROR_UNSUPPORTED, call(&s, in, edges, counts, outside));
    arrays_check(&a);
}
END_TEST

START_TEST(test_errors_of_single_arguments)
{
    struct arrays a = arrays_new();
    void *in = a.in.data, *edges = a.edges.data, *counts = a.counts.data;
    gp_histogram_options o = GP_HISTOGRAM_OPTIONS_INIT;
    const int32_t lo = 0, hi = 8;
    gp_context *ctx = t_ctx();
    o.size--;
#define EVEN_(c, lo, hi, counter, o)                                                               \
    gp_histogram_even(c, GP_I32, in, 64, lo, hi, 8, counter, counts, o)
    T_STATUS(GP_ERROR_ARGUMENT, EVEN_(ctx, &lo, &hi, GP_U32, &o));
    T_STATUS(GP_ERROR_POINTER, EVEN_(ctx, NULL, &hi, GP_U32, NULL));
    T_STATUS(GP_ERROR_POINTER, EVEN_(ctx, &lo, NULL, GP_U32, NULL));
    T_STATUS(GP_ERROR_ARGUMENT, EVEN_(ctx, &hi, &lo, GP_U32, NULL));
    T_STATUS(GP_ERROR_ARGUMENT, EVEN_(ctx, &lo, &lo, GP_U32, NULL));
    T_STATUS(GP_ERROR_DTYPE, EVEN_(ctx, &lo, &hi, GP_I32, NULL));
    T_STATUS(GP_ERROR_DTYPE, EVEN_(ctx, &lo, &hi, (gp_dtype)77, NULL));
    T_STATUS(GP_ERROR_POINTER, EVEN_(NULL, &lo, &hi, GP_U32, NULL));
#undef EVEN_
#define EDGES_(c, e, n, counter, o) gp_histogram_edges(c, GP_I32, in, n, e, 8, counter, counts, o)
    T_STATUS(GP_ERROR_POINTER, EDGES_(NULL, edges, 64, GP_U32, NULL));
    T_STATUS(GP_ERROR_POINTER, EDGES_(ctx, NULL, 64, GP_U32, NULL));
    T_STATUS(GP_ERROR_POINTER, EDGES_(ctx, (char *)edges + 2, 64, GP_U32, NULL));
    T_STATUS(GP_ERROR_OVERLAP, EDGES_(ctx, (char *)counts + 28, 64, GP_U32, NULL));
    T_STATUS(GP_ERROR_DTYPE, EDGES_(ctx, edges, 64, GP_F32, NULL));
    T_STATUS(GP_ERROR_ARGUMENT, EDGES_(ctx, edges, 64, GP_U32, &o));
#undef EDGES_
    T_STATUS(GP_ERROR_POINTER, gp_bincount(NULL, GP_I32, in, 64, 8, GP_U32, counts, NULL));
    T_STATUS(GP_ERROR_DTYPE, gp_bincount(ctx, GP_F32, in, 64, 8, GP_U32, counts, NULL));
    T_STATUS(GP_ERROR_DTYPE, gp_bincount(ctx, GP_I32, in, 64, 8, GP_F64, counts, NULL));
    T_STATUS(GP_ERROR_ARGUMENT, gp_bincount(ctx, GP_I32, in, 64, 8, GP_U32, counts, &o));
    o.size++;
    o.outside = edges;
    T_STATUS(GP_ERROR_OVERLAP,
             gp_histogram_edges(ctx, GP_I32, in, 64, edges, 8, GP_U32, counts, &o));
    arrays_check(&a);
}
END_TEST

START_TEST(test_errors_of_float_limits)
{
    static const double limits[][2] = {
        {1, 1},     {2, 1}, {NAN, 1}, {0, NAN}, {-INFINITY, 1}, {0, INFINITY}, {-1.7e308, 1.7e308},
        {0, 5e-324}};
    struct arrays a = arrays_new();
    struct spec s = {.kind = EVEN, .dtype = t_dtypes[_i], .n = 8, .bins = 4};
    if (t_is_float(s.dtype))
        for (size_t k = 0; k < (s.dtype == GP_F64 ? 8 : 6); k++) {
            set_limits(&s, limits[k][0], limits[k][1]);
            T_STATUS(GP_ERROR_ARGUMENT, call(&s, a.in.data, NULL, a.counts.data, a.outside.data));
        }
    arrays_check(&a);
}
END_TEST

START_TEST(test_errors_of_workspace_bytes)
{
    gp_target target = GP_TARGET_INIT;
    gp_histogram_options o = GP_HISTOGRAM_OPTIONS_INIT;
    size_t bytes = 0;
#define BYTES_(target, dtype, n, bins, counter, o, bytes)                                          \
    gp_histogram_workspace_bytes(target, dtype, n, bins, counter, o, bytes)
    T_OK(BYTES_(&target, GP_U8, 9, 9, GP_U32, &o, &bytes));
    T_STATUS(GP_ERROR_DTYPE, BYTES_(NULL, (gp_dtype)0, 9, 9, GP_U32, NULL, &bytes));
    T_STATUS(GP_ERROR_DTYPE, BYTES_(NULL, GP_U8, 9, 9, GP_I64, NULL, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, BYTES_(NULL, GP_U8, (size_t)1 << 41, 9, GP_U32, NULL, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, BYTES_(NULL, GP_U8, 9, 0, GP_U32, NULL, &bytes));
    T_STATUS(GP_ERROR_POINTER, BYTES_(NULL, GP_U8, 9, 9, GP_U32, NULL, NULL));
    o.algorithm = (gp_algorithm)99;
    T_STATUS(GP_ERROR_ARGUMENT, BYTES_(NULL, GP_U8, 9, 9, GP_U32, &o, &bytes));
    o.algorithm = GP_ALGORITHM_FENWICK;
    T_STATUS(GP_ERROR_UNSUPPORTED, BYTES_(NULL, GP_U8, 9, 9, GP_U32, &o, &bytes));
    o.algorithm = GP_ALGORITHM_CUB;
    T_OK(BYTES_(NULL, GP_U8, 9, 9, GP_U32, &o, &bytes));
    target.backend = GP_BACKEND_CPU;
    T_STATUS(GP_ERROR_UNSUPPORTED, BYTES_(&target, GP_U8, 9, 9, GP_U32, &o, &bytes));
    o.size = 0;
    T_STATUS(GP_ERROR_ARGUMENT, BYTES_(NULL, GP_U8, 9, 9, GP_U32, &o, &bytes));
    target.size = 0;
    T_STATUS(GP_ERROR_ARGUMENT, BYTES_(&target, GP_U8, 9, 9, GP_U32, NULL, &bytes));
#undef BYTES_
}
END_TEST

/* A number in memory may be any that is smaller, where another method counts. */
START_TEST(test_workspace_bytes_are_enough_for_fewer)
{
    static const size_t counts[] = {1, 100, 2000, 2047, 2048, 2295, 40000, (size_t)1 << 20};
    static const size_t bins[] = {1, 2, 255, 280, 4096, (size_t)1 << 22};
    for (int b = 0; b < 6; b++) {
        size_t before = 0, bytes;
        for (int i = 0; i < 8; i++, before = bytes) {
            T_OK(gp_histogram_workspace_bytes(NULL, (gp_dtype)(GP_I8 + _i), counts[i], bins[b],
                                              GP_U32, NULL, &bytes));
            ck_assert_uint_le(before, bytes);
        }
    }
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("histogram_desc");
    TCase *values = t_case(s, "values");
    TCase *streams = t_case(s, "streams"), *errors = t_case(s, "errors");
    tcase_add_loop_test(values, test_edges_not_ascending_stay_in_memory, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(t_case(s, "cuda"), test_captured_call_replays_with_other_data, 0, 2);
    tcase_add_loop_test(streams, test_workspace_bytes_are_enough, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(streams, test_workspace_bytes_are_enough_for_fewer, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(streams, test_threads_do_not_change_counts, 0, 3);
    tcase_add_test(streams, test_no_memory_leaves_outputs);
    tcase_add_loop_test(errors, test_errors_shared_by_all, 0, 3);
    tcase_add_test(errors, test_errors_of_single_arguments);
    tcase_add_loop_test(errors, test_errors_of_float_limits, 0, T_DTYPE_COUNT);
    tcase_add_test(errors, test_errors_of_workspace_bytes);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
