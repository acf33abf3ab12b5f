/* SPDX-License-Identifier: MIT */
/* Top-k: the first k of the stable order, for every k, dtype and distribution; errors, graphs. */
#include <gp/topk.h>

#include <pthread.h>

#include "radixsort_check.h"

static void expect(gp_dtype dtype, const void *keys, const size_t *order, size_t k,
                   const t_array *keys_out, gp_dtype index_dtype, const t_array *indices_out)
{
    size_t bytes = gp_dtype_bytes(dtype), index_bytes = gp_dtype_bytes(index_dtype);
    void *ke = oracle_pick(keys, bytes, order, k), *host = t_host(k * 8);
    void *ie = t_host(k * 8);
    for (size_t i = 0; i < k; i++)
        if (index_dtype == GP_U32)
            ((uint32_t *)ie)[i] = (uint32_t)order[i];
        else
            ((uint64_t *)ie)[i] = order[i];
    if (keys_out) {
        t_get(keys_out, host, k * bytes);
        t_same_bytes("keys", ke, host, k * bytes);
        t_check_guards(keys_out);
    }
    if (indices_out) {
        t_get(indices_out, host, k * index_bytes);
        t_same("indices", index_dtype, ie, host, k);
        t_check_guards(indices_out);
    }
    free(ke), free(ie), free(host);
}

/* Both outputs, and each alone; keys lie at a boundary of 16 bytes if k is even, otherwise not. */
static void check_top_k(gp_dtype dtype, const void *keys, size_t n, size_t k, bool descending,
                        gp_dtype index_dtype)
{
    size_t bytes = gp_dtype_bytes(dtype), index_bytes = gp_dtype_bytes(index_dtype);
    gp_order order = descending ? GP_DESCENDING : GP_ASCENDING;
    size_t *expected = oracle_argsort(dtype, keys, n, descending, 0, 0);
    t_array in = t_new_from(keys, n * bytes, k & 1 ? bytes : 0);
    t_array ko = t_new(k * bytes, bytes), io = t_new(k * index_bytes, index_bytes);
    T_OK(gp_top_k(t_ctx(), dtype, order, in.data, n, k, ko.data, index_dtype, io.data));
    expect(dtype, keys, expected, k, &ko, index_dtype, &io);
    t_poison(&ko);
    t_poison(&io);
    T_OK(gp_top_k(t_ctx(), dtype, order, in.data, n, k, ko.data, (gp_dtype)0, NULL));
    expect(dtype, keys, expected, k, &ko, index_dtype, NULL);
    T_OK(gp_top_k(t_ctx(), dtype, order, in.data, n, k, NULL, index_dtype, io.data));
    expect(dtype, keys, expected, k, NULL, index_dtype, &io);
    t_free(&in), t_free(&ko), t_free(&io);
    free(expected);
}

/* ---- values ---------------------------------------------------------------------------------- */

START_TEST(test_top_k_every_k_of_small_arrays)
{
    gp_dtype dtype = t_dtypes[_i];
    for (size_t n = 0; n <= 12; n++)
        for (size_t k = 0; k <= n; k++) {
            void *keys = pattern_new(n & 1 ? PATTERN_THREE_VALUES : PATTERN_SPECIAL, dtype, n);
            check_top_k(dtype, keys, n, k, k & 1, n & 2 ? GP_U32 : GP_U64);
            free(keys);
        }
}
END_TEST

START_TEST(test_top_k_patterns_and_dtypes)
{
    static const size_t ks[] = {1, 2, 100, 2999, 5000, 9001};
    gp_dtype dtype = t_dtypes[_i / PATTERN_COUNT];
    void *keys = pattern_new((enum pattern)(_i % PATTERN_COUNT), dtype, 9001);
    for (size_t k = 0; k < 6; k++)
        check_top_k(dtype, keys, 9001, ks[k], (k + (size_t)_i) & 1, k & 1 ? GP_U32 : GP_U64);
    free(keys);
}
END_TEST

/* Many chunks; where the k-th key is one of many equal ones, those with low indices win. */
START_TEST(test_top_k_many_chunks_and_ties)
{
    static const gp_dtype dtypes[] = {GP_U32, GP_F32, GP_U8, GP_I64};
    size_t n = 140007;
    gp_dtype dtype = dtypes[_i / 3];
    void *keys = t_host(n * 8);
    uint64_t state = t_seed();
    if (_i % 3 == 0)
        t_fill_small(dtype, keys, n, 5, &state);
    else
        fill_pattern(_i % 3 == 1 ? PATTERN_BITS : PATTERN_CONSTANT, dtype, keys, n);
    check_top_k(dtype, keys, n, 37777, _i & 1, GP_U32);
    /* keys that end where the indices begin in the scratch: one too many shows */
    check_top_k(dtype, keys, n, 1024, !(_i & 1), GP_U64);
    free(keys);
}
END_TEST

START_TEST(test_top_k_same_whatever_the_threads)
{
    size_t n = 200001, k = 50001, bytes = k * 8;
    void *keys = pattern_new(PATTERN_THREE_VALUES, GP_F64, n), *first = t_host(bytes),
         *again = t_host(bytes);
    t_array in = t_new_from(keys, n * 8, 0), out = t_new(bytes, 0);
    for (int t = 1; t <= 3; t++) {
        gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
        gp_context *ctx;
        o.backend = gp_context_backend(t_ctx());
        o.threads = t_is_cuda() ? 0 : t;
        T_OK(gp_context_create(&ctx, &o));
        T_OK(gp_top_k(ctx, GP_F64, GP_DESCENDING, in.data, n, k, NULL, GP_U64, out.data));
        T_OK(gp_context_synchronize(ctx));
        t_get(&out, t > 1 ? again : first, bytes);
        if (t > 1)
            t_same_bytes("indices", first, again, bytes);
        gp_context_destroy(ctx);
    }
    t_free(&in), t_free(&out);
    free(keys), free(first), free(again);
}
END_TEST

/* ---- workspace, graphs ----------------------------------------------------------------------- */

/* The sort inside finds room in the frame, or the call fails. */
START_TEST(test_top_k_workspace_bytes_is_enough)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_dtype dtype = t_dtypes[_i];
    size_t n = 40000, bytes;
    void *keys = pattern_new(PATTERN_BITS, dtype, n);
    t_array in = t_new_from(keys, n * gp_dtype_bytes(dtype), 0), out = t_new(n * 8, 0);
    o.backend = gp_context_backend(t_ctx());
    for (size_t k = 1; k <= n; k = k * 200 > n && k < n ? n : k * 200) {
        gp_context *ctx;
        T_OK(gp_top_k_workspace_bytes(NULL, dtype, n, k, &bytes));
        o.workspace_bytes = bytes;
        T_OK(gp_context_create(&ctx, &o));
        T_OK(gp_top_k(ctx, dtype, GP_ASCENDING, in.data, n, k, NULL, GP_U64, out.data));
        T_OK(gp_top_k(ctx, dtype, GP_DESCENDING, in.data, n, k, out.data, GP_U32, NULL));
        T_OK(gp_context_synchronize(ctx));
        gp_context_destroy(ctx);
    }
    t_free(&in), t_free(&out);
    free(keys);
}
END_TEST

START_TEST(test_top_k_captured_and_replayed)
{
    size_t n = 50000, k = 1234, bytes;
    T_OK(gp_top_k_workspace_bytes(NULL, GP_F32, n, k, &bytes));
    T_OK(gp_context_reserve(t_ctx(), bytes));
    t_array in = t_new(n * 4, 0), ko = t_new(k * 4, 0), io = t_new(k * 4, 0);
    if (t_capture_begin()) {
        T_OK(gp_top_k(t_ctx(), GP_F32, GP_DESCENDING, in.data, n, k, ko.data, GP_U32, io.data));
        t_capture_end();
        for (enum pattern pattern = 0; pattern < PATTERN_COUNT; pattern++) {
            void *keys = pattern_new(pattern, GP_F32, n);
            size_t *order = oracle_argsort(GP_F32, keys, n, true, 0, 0);
            t_put(&in, keys, n * 4);
            t_replay();
            expect(GP_F32, keys, order, k, &ko, GP_U32, &io);
            free(keys), free(order);
        }
        t_capture_free();
    }
    t_free(&in), t_free(&ko), t_free(&io);
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

START_TEST(test_top_k_errors)
{
    t_array a = t_new(2048, 0);
    char *in = a.data, *ko = in + 512, *io = in + 1024;
    gp_context *c = t_ctx();
    const gp_order up = GP_ASCENDING;
    size_t big = ((size_t)1 << 40) + 1, wide = (size_t)1 << 32;
#define TOP gp_top_k
    T_STATUS(GP_ERROR_POINTER, TOP(NULL, GP_U32, up, in, 8, 3, ko, GP_U32, io));
    T_STATUS(GP_ERROR_DTYPE, TOP(c, (gp_dtype)0, up, in, 8, 3, ko, GP_U32, io));
    T_STATUS(GP_ERROR_ARGUMENT, TOP(c, GP_U32, (gp_order)2, in, 8, 3, ko, GP_U32, io));
    T_STATUS(GP_ERROR_POINTER, TOP(c, GP_U32, up, NULL, 8, 3, ko, GP_U32, io));
    T_STATUS(GP_ERROR_POINTER, TOP(c, GP_U32, up, in + 2, 8, 3, ko, GP_U32, io));
    T_STATUS(GP_ERROR_ARGUMENT, TOP(c, GP_U8, up, in, big, 3, ko, GP_U64, io));
    T_STATUS(GP_ERROR_ARGUMENT, TOP(c, GP_U32, up, in, 8, 9, ko, GP_U32, io));
    T_STATUS(GP_ERROR_POINTER, TOP(c, GP_U32, up, in, 8, 3, NULL, GP_U32, NULL));
    T_STATUS(GP_ERROR_POINTER, TOP(c, GP_U32, up, in, 8, 3, ko + 1, GP_U32, io));
    T_STATUS(GP_ERROR_DTYPE, TOP(c, GP_U32, up, in, 8, 3, ko, GP_I32, io));
    T_STATUS(GP_ERROR_ARGUMENT, TOP(c, GP_U8, up, in, wide, 3, ko, GP_U32, io));
    T_STATUS(GP_ERROR_POINTER, TOP(c, GP_U32, up, in, 8, 3, ko, GP_U64, io + 4));
    T_STATUS(GP_ERROR_OVERLAP, TOP(c, GP_U32, up, in, 8, 3, in, GP_U32, io));
    T_STATUS(GP_ERROR_OVERLAP, TOP(c, GP_U32, up, in, 8, 3, ko, GP_U32, in + 28));
    T_STATUS(GP_ERROR_OVERLAP, TOP(c, GP_U32, up, in, 8, 3, ko, GP_U32, ko + 8));
#undef TOP
    T_OK(gp_top_k(c, GP_U32, up, NULL, 0, 0, NULL, GP_U32, NULL));
    T_OK(gp_top_k(c, GP_U32, up, in, 8, 0, ko, GP_U32, io));
    t_check_untouched(&a);
    t_free(&a);
}
END_TEST

/* With a descriptor: the same keys and indices, whichever are wanted. */
START_TEST(test_top_k_by_is_top_k)
{
    enum { N = 20000, K = 700 };
    const gp_dtype dtype = t_dtypes[_i];
    const size_t key = gp_dtype_bytes(dtype);
    uint64_t state = t_seed(), keys[2][K], indices[2][K];
    char *host = t_host(N * key);
    t_fill_bits(dtype, host, N, &state);
    t_array in = t_new_from(host, N * key, 0), ko = t_new(K * key, 0), io = t_new(K * 8, 0);
    for (int way = 0; way < 12; way++) {
        gp_top_k_desc d = GP_TOP_K_DESC_INIT;
        void *k = way % 3 == 1 ? NULL : ko.data, *i = way % 3 == 2 ? NULL : io.data;
        d.dtype = dtype;
        d.order = way & 1 ? GP_DESCENDING : GP_ASCENDING;
        d.index_dtype = !i ? (gp_dtype)0 : way < 6 ? GP_U32 : GP_U64;
        for (int by = 0; by < 2; by++) {
            t_poison(&ko), t_poison(&io);
            T_OK(by ? gp_top_k_by(t_ctx(), &d, in.data, N, K, k, i)
                    : gp_top_k(t_ctx(), dtype, d.order, in.data, N, K, k, d.index_dtype, i));
            t_get(&ko, keys[by], K * key);
            t_get(&io, indices[by], K * 8);
        }
        t_same_bytes("keys", keys[0], keys[1], K * key);
        t_same_bytes("indices", indices[0], indices[1], K * 8);
    }
    t_check_guards(&ko);
    t_check_guards(&io);
    t_free(&in), t_free(&ko), t_free(&io);
    free(host);
}
END_TEST

static void expect_text(gp_status expected, gp_status actual, const char *text)
{
    ck_assert_int_eq(actual, expected);
    ck_assert_str_eq(gp_last_error(t_ctx()), text);
}

START_TEST(test_top_k_by_names_members)
{
    t_array a = t_new(2048, 0);
    char *in = a.data, *ko = in + 512, *io = in + 1024;
    const size_t wide = (size_t)1 << 32;
    gp_context *c = t_ctx();
    gp_top_k_desc d = GP_TOP_K_DESC_INIT;
    expect_text(GP_ERROR_POINTER, gp_top_k_by(c, NULL, in, 8, 3, ko, io),
                "gp_top_k_by: desc is NULL");
    d.size = 8;
    expect_text(GP_ERROR_ARGUMENT, gp_top_k_by(c, &d, in, 8, 3, ko, io),
                "gp_top_k_by: desc->size is 8, expected 40: start from its initializer macro");
    d.size = sizeof d;
    expect_text(GP_ERROR_DTYPE, gp_top_k_by(c, &d, NULL, 8, 3, ko, io),
                "gp_top_k_by: desc->dtype is 0, expected a gp_dtype");
    d.dtype = GP_U8;
    d.order = (gp_order)-1;
    expect_text(GP_ERROR_ARGUMENT, gp_top_k_by(c, &d, NULL, 8, 3, ko, io),
                "gp_top_k_by: desc->order is -1, expected GP_ASCENDING or GP_DESCENDING");
    d.order = GP_ASCENDING;
    d.index_dtype = GP_I32;
    expect_text(GP_ERROR_DTYPE, gp_top_k_by(c, &d, NULL, 8, 3, ko, io),
                "gp_top_k_by: desc->index_dtype is i32, expected u32 or u64");
    expect_text(GP_ERROR_POINTER, gp_top_k_by(c, &d, NULL, 8, 3, ko, NULL),
                "gp_top_k_by: keys_in is NULL");
    expect_text(GP_ERROR_POINTER, gp_top_k(c, GP_U8, d.order, NULL, 8, 3, ko, GP_I32, io),
                "gp_top_k: keys_in is NULL");
    expect_text(GP_ERROR_DTYPE, gp_top_k(c, GP_U8, d.order, in, 8, 3, ko, GP_I32, io),
                "gp_top_k: index_dtype is i32, expected u32 or u64");
    d.index_dtype = GP_U32;
    expect_text(GP_ERROR_ARGUMENT, gp_top_k_by(c, &d, in, wide, 3, ko, io),
                "gp_top_k_by: n is 4294967296, expected less than 2^32 with desc->index_dtype u32");
    expect_text(GP_ERROR_ARGUMENT, gp_top_k(c, GP_U8, d.order, in, wide, 3, ko, GP_U32, io),
                "gp_top_k: n is 4294967296, expected less than 2^32 with index_dtype u32");
    expect_text(GP_ERROR_ARGUMENT, gp_top_k_by(c, &d, in, 8, 9, ko, io),
                "gp_top_k_by: k is 9, expected 0 to n = 8");
    expect_text(GP_ERROR_POINTER, gp_top_k_by(c, &d, in, 8, 3, NULL, NULL),
                "gp_top_k_by: keys_out and indices_out are both NULL");
    T_STATUS(GP_ERROR_OVERLAP, gp_top_k_by(c, &d, in, 8, 3, in, io));
    t_check_untouched(&a);
    t_free(&a);
}
END_TEST

START_TEST(test_top_k_workspace_bytes_errors)
{
    gp_target bad = GP_TARGET_INIT;
    size_t bytes = 77;
    bad.size = 2;
    T_STATUS(GP_ERROR_ARGUMENT, gp_top_k_workspace_bytes(&bad, GP_U32, 8, 2, &bytes));
    T_STATUS(GP_ERROR_DTYPE, gp_top_k_workspace_bytes(NULL, (gp_dtype)0, 8, 2, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_top_k_workspace_bytes(NULL, GP_U32, ((size_t)1 << 40) + 1, 2, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, gp_top_k_workspace_bytes(NULL, GP_U32, 8, 9, &bytes));
    T_STATUS(GP_ERROR_POINTER, gp_top_k_workspace_bytes(NULL, GP_U32, 8, 2, NULL));
    ck_assert_uint_eq(bytes, 77);
}
END_TEST

/* ---- keys that change ------------------------------------------------------------------------ */

#if defined(__has_feature)
#define RACES_ARE_REPORTED __has_feature(thread_sanitizer)
#elif defined(__SANITIZE_THREAD__)
#define RACES_ARE_REPORTED 1
#else
#define RACES_ARE_REPORTED 0
#endif

struct changing {
    volatile uint64_t *keys;
    size_t n;
    volatile int stop;
};

/* All keys are large, then small, and so on: what one pass counts is not there in the next. */
static void *change_keys(void *arg)
{
    struct changing *c = arg;
    for (uint64_t round = 0; !c->stop; round++)
        for (size_t i = 0; i < c->n; i++)
            c->keys[i] = round % 2 ? UINT64_MAX - i : i;
    return NULL;
}

/* The result is anything then, but nothing outside the arrays is read or written. */
START_TEST(test_top_k_of_keys_that_change_stays_in_its_arrays)
{
    enum { N = 200000, K = 5000 };
    pthread_t thread;
    if (t_is_cuda() || RACES_ARE_REPORTED)
        return; /* its memory is not the host's; and the race is this test's own */
    t_array keys = t_new(N * 8, 0), keys_out = t_new(K * 8, 0), indices = t_new(K * 4, 0);
    struct changing c = {keys.data, N, 0};
    ck_assert_int_eq(pthread_create(&thread, NULL, change_keys, &c), 0);
    for (int round = 0; round < 25; round++)
        T_OK(gp_top_k(t_ctx(), GP_U64, round % 2 ? GP_ASCENDING : GP_DESCENDING, keys.data, N, K,
                      keys_out.data, GP_U32, indices.data));
    c.stop = 1;
    pthread_join(thread, NULL);
    t_check_guards(&keys);
    t_check_guards(&keys_out);
    t_check_guards(&indices);
    t_free(&keys);
    t_free(&keys_out);
    t_free(&indices);
}
END_TEST

static void add_cases(Suite *s)
{
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_top_k_every_k_of_small_arrays, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_top_k_patterns_and_dtypes, 0, T_DTYPE_COUNT * PATTERN_COUNT);
    tcase_add_loop_test(c, test_top_k_many_chunks_and_ties, 0, 12);
    tcase_add_loop_test(c, test_top_k_by_is_top_k, 0, T_DTYPE_COUNT);
    c = t_case(s, "determinism");
    tcase_add_test(c, test_top_k_same_whatever_the_threads);
    c = t_case(s, "workspace");
    tcase_add_loop_test(c, test_top_k_workspace_bytes_is_enough, 0, T_DTYPE_COUNT);
    c = t_case(s, "cuda");
    tcase_add_test(c, test_top_k_captured_and_replayed);
    c = t_case(s, "changing");
    tcase_add_test(c, test_top_k_of_keys_that_change_stays_in_its_arrays);
    c = t_case(s, "errors");
    tcase_add_test(c, test_top_k_errors);
    tcase_add_test(c, test_top_k_by_names_members);
    tcase_add_test(c, test_top_k_workspace_bytes_errors);
}

int main(int argc, char **argv)
{
    Suite *s = suite_create("topk");
    add_cases(s);
    return t_main(argc, argv, s);
}
