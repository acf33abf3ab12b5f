/* SPDX-License-Identifier: MIT */
/* Merges of two sorted arrays: every size, dtypes, values, errors, graphs. */
#include <gp/merge.h>

#include <stdio.h>

#include "radixsort_check.h"

struct merge {
    gp_dtype dtype;
    size_t num_a, num_b, value_bytes;
    bool descending;
    size_t offset; /* of every array, in elements */
};

static gp_order order_of(const struct merge *m)
{
    return m->descending ? GP_DESCENDING : GP_ASCENDING;
}

/* The keys of a and then of b, each sorted; the stable order of all is the answer. */
static char *keys_new(const struct merge *m, enum pattern pattern)
{
    size_t bytes = gp_dtype_bytes(m->dtype), n = m->num_a + m->num_b;
    char *keys = pattern_new(pattern, m->dtype, n);
    size_t *a = oracle_argsort(m->dtype, keys, m->num_a, m->descending, 0, 0);
    size_t *b = oracle_argsort(m->dtype, keys + m->num_a * bytes, m->num_b, m->descending, 0, 0);
    char *sorted_a = oracle_pick(keys, bytes, a, m->num_a);
    char *sorted_b = oracle_pick(keys + m->num_a * bytes, bytes, b, m->num_b);
    memcpy(keys, sorted_a, m->num_a * bytes);
    memcpy(keys + m->num_a * bytes, sorted_b, m->num_b * bytes);
    free(a), free(b), free(sorted_a), free(sorted_b);
    return keys;
}

static void check_merge(const struct merge *m, enum pattern pattern)
{
    size_t key = gp_dtype_bytes(m->dtype), value = m->value_bytes, n = m->num_a + m->num_b;
    char *keys = keys_new(m, pattern), *values = values_new(n, value);
    size_t *order = oracle_argsort(m->dtype, keys, n, m->descending, 0, 0);
    void *ke = oracle_pick(keys, key, order, n), *ve = oracle_pick(values, value, order, n);
    void *host = t_host(n * (key > value ? key : value));
    t_array a = t_new_from(keys, m->num_a * key, m->offset * key);
    t_array b = t_new_from(keys + m->num_a * key, m->num_b * key, 2 * m->offset * key);
    t_array va = t_new_from(values, m->num_a * value, 16);
    t_array vb = t_new_from(values + m->num_a * value, m->num_b * value, 32);
    t_array out = t_new(n * key, m->offset * key), vo = t_new(n * value, 16);
    if (value)
        T_OK(gp_merge_pairs(t_ctx(), m->dtype, order_of(m), value, a.data, va.data, m->num_a,
                            b.data, vb.data, m->num_b, out.data, vo.data));
    else
        T_OK(
            gp_merge(t_ctx(), m->dtype, order_of(m), a.data, m->num_a, b.data, m->num_b, out.data));
    t_get(&out, host, n * key);
    t_same_bytes("keys", ke, host, n * key);
    t_get(&vo, host, n * value);
    t_same_bytes("values", ve, host, n * value);
    t_check_guards(&out);
    t_check_guards(&vo);
    t_free(&a), t_free(&b), t_free(&va), t_free(&vb), t_free(&out), t_free(&vo);
    free(keys), free(values), free(order), free(ke), free(ve), free(host);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* All cuts of small sizes, so that either may be empty or end anywhere in a thread's items. */
START_TEST(test_merge_every_small_size)
{
    for (size_t num_b = 0; num_b <= 40; num_b++) {
        struct merge m = {.dtype = t_dtypes[_i % T_DTYPE_COUNT], .num_a = (size_t)_i};
        m.num_b = num_b;
        m.descending = num_b & 1;
        m.value_bytes = num_b & 2 ? 4 : 0;
        check_merge(&m, num_b % 3 ? 4 : 7);
    }
}
END_TEST

/* Around tiles and shares; lengths that differ much. */
START_TEST(test_merge_sizes_dtypes_patterns)
{
    static const size_t sizes[][2] = {{0, 5000},    {5000, 0},   {3840, 3840}, {1, 9000},
                                      {17000, 1},   {16383, 2},  {4000, 4001}, {17000, 9000},
                                      {2815, 2817}, {4864, 9000}};
    gp_dtype dtype = t_dtypes[_i / PATTERN_COUNT];
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct merge m = {.dtype = dtype, .num_a = sizes[k][0], .num_b = sizes[k][1]};
        if (k % 4 != (size_t)_i % 4) /* they take turns */
            continue;
        m.descending = k & 1;
        check_merge(&m, _i % PATTERN_COUNT);
        m.value_bytes = 8;
        m.descending = !m.descending;
        check_merge(&m, _i % PATTERN_COUNT);
    }
}
END_TEST

START_TEST(test_merge_value_sizes_and_alignment)
{
    static const size_t sizes[] = {1, 2, 4, 8, 16, 3, 6, 12, 24, 100};
    static const gp_dtype dtypes[] = {GP_U8, GP_F16, GP_I32, GP_F64};
    for (size_t k = 0; k < 12; k++) {
        struct merge m = {.dtype = dtypes[k % 4], .num_a = 5001, .num_b = 3333, .offset = k};
        m.value_bytes = sizes[_i];
        m.descending = k & 4;
        check_merge(&m, k & 1 ? 4 : 7);
    }
}
END_TEST

/* Many shares on the CPU and tiles on CUDA; the values tell where each key came from. */
START_TEST(test_merge_big)
{
    size_t num_a = 700001, num_b = 1300003, n = num_a + num_b, bad = 0;
    uint32_t *keys = t_host(n * 4), *index = t_host(n * 4);
    uint64_t state = t_seed();
    for (size_t i = 0; i < n; i++) {
        uint32_t previous = i == 0 || i == num_a ? 0 : keys[i - 1];
        keys[i] = previous + (uint32_t)t_random_below(&state, i < num_a ? 5 : 3);
        index[i] = (uint32_t)i;
    }
    t_array a = t_new_from(keys, num_a * 4, 4), b = t_new_from(keys + num_a, num_b * 4, 8);
    t_array va = t_new_from(index, num_a * 4, 0), vb = t_new_from(index + num_a, num_b * 4, 4);
    t_array ko = t_new(n * 4, 12), vo = t_new(n * 4, 8);
    uint32_t *out = t_host(n * 4);
    T_OK(gp_merge_pairs(t_ctx(), GP_U32, GP_ASCENDING, 4, a.data, va.data, num_a, b.data, vb.data,
                        num_b, ko.data, vo.data));
    t_get(&ko, out, n * 4);
    t_get(&vo, index, n * 4);
    for (size_t i = 0; i < n; i++) {
        bad += index[i] >= n || keys[index[i]] != out[i];
        bad += i && (out[i - 1] > out[i] || (out[i - 1] == out[i] && index[i - 1] >= index[i]));
    }
    ck_assert_uint_eq(bad, 0);
    t_check_guards(&ko);
    t_check_guards(&vo);
    t_free(&a), t_free(&b), t_free(&va), t_free(&vb), t_free(&ko), t_free(&vo);
    free(keys), free(index), free(out);
}
END_TEST

/* Not sorted: any result, but nothing else is touched. */
START_TEST(test_merge_of_unsorted_keeps_to_its_arrays)
{
    size_t num_a = 30001, num_b = 22222;
    void *keys = pattern_new(PATTERN_BITS, GP_U32, num_a + num_b);
    t_array a = t_new_from(keys, num_a * 4, 4), b = t_new_from(keys, num_b * 4, 8);
    t_array out = t_new((num_a + num_b) * 4, 12);
    T_OK(gp_merge(t_ctx(), GP_U32, GP_ASCENDING, a.data, num_a, b.data, num_b, out.data));
    T_OK(gp_context_synchronize(t_ctx()));
    t_check_guards(&out);
    t_check_guards(&a);
    t_check_guards(&b);
    t_free(&a), t_free(&b), t_free(&out);
    free(keys);
}
END_TEST

START_TEST(test_merge_captured_and_replayed)
{
    struct merge m = {.dtype = GP_F32, .num_a = 20000, .num_b = 7000};
    size_t bytes, n = m.num_a + m.num_b;
    T_OK(gp_merge_workspace_bytes(NULL, m.dtype, n, &bytes));
    T_OK(gp_context_reserve(t_ctx(), bytes));
    t_array a = t_new(m.num_a * 4, 0), b = t_new(m.num_b * 4, 0), out = t_new(n * 4, 0);
    if (t_capture_begin()) {
        T_OK(gp_merge(t_ctx(), m.dtype, GP_ASCENDING, a.data, m.num_a, b.data, m.num_b, out.data));
        t_capture_end();
        for (enum pattern pattern = 0; pattern < PATTERN_COUNT; pattern++) {
            char *keys = keys_new(&m, pattern), *host = t_host(n * 4);
            size_t *order = oracle_argsort(m.dtype, keys, n, false, 0, 0);
            char *expected = oracle_pick(keys, 4, order, n);
            t_put(&a, keys, m.num_a * 4);
            t_put(&b, keys + m.num_a * 4, m.num_b * 4);
            t_replay();
            t_get(&out, host, n * 4);
            t_same_bytes("keys", expected, host, n * 4);
            free(keys), free(host), free(order), free(expected);
        }
        t_capture_free();
    }
    t_free(&a), t_free(&b), t_free(&out);
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

START_TEST(test_merge_errors)
{
    t_array m = t_new(4096, 0);
    char *a = m.data, *b = a + 256, *out = a + 512, *va = a + 1024, *vb = a + 1536, *vo = a + 2048;
    gp_context *c = t_ctx();
    const gp_order up = GP_ASCENDING;
    size_t big = ((size_t)1 << 40) + 1;
#define MERGE gp_merge
#define PAIRS gp_merge_pairs
    T_STATUS(GP_ERROR_POINTER, MERGE(NULL, GP_U32, up, a, 8, b, 8, out));
    T_STATUS(GP_ERROR_DTYPE, MERGE(c, (gp_dtype)0, up, a, 8, b, 8, out));
    T_STATUS(GP_ERROR_ARGUMENT, MERGE(c, GP_U32, (gp_order)2, a, 8, b, 8, out));
    T_STATUS(GP_ERROR_POINTER, MERGE(c, GP_U32, up, NULL, 8, b, 8, out));
    T_STATUS(GP_ERROR_POINTER, MERGE(c, GP_U32, up, a, 8, b + 1, 8, out));
    T_STATUS(GP_ERROR_ARGUMENT, MERGE(c, GP_U32, up, a, big, b, 8, out));
    T_STATUS(GP_ERROR_ARGUMENT, MERGE(c, GP_U32, up, a, 8, b, big, out));
    T_STATUS(GP_ERROR_ARGUMENT, MERGE(c, GP_U8, up, a, big - 2, b, 3, out));
    T_STATUS(GP_ERROR_POINTER, MERGE(c, GP_U32, up, a, 8, b, 8, NULL));
    T_STATUS(GP_ERROR_OVERLAP, MERGE(c, GP_U32, up, a, 8, b, 8, a));
    T_STATUS(GP_ERROR_OVERLAP, MERGE(c, GP_U32, up, a, 8, b, 8, b + 28));
    T_STATUS(GP_ERROR_POINTER, PAIRS(NULL, GP_U32, up, 4, a, va, 8, b, vb, 8, out, vo));
    T_STATUS(GP_ERROR_DTYPE, PAIRS(c, (gp_dtype)13, up, 4, a, va, 8, b, vb, 8, out, vo));
    T_STATUS(GP_ERROR_ARGUMENT, PAIRS(c, GP_U32, (gp_order)-1, 4, a, va, 8, b, vb, 8, out, vo));
    T_STATUS(GP_ERROR_ARGUMENT, PAIRS(c, GP_U32, up, 0, a, va, 8, b, vb, 8, out, vo));
    T_STATUS(GP_ERROR_ARGUMENT, PAIRS(c, GP_U32, up, 65537, a, va, 8, b, vb, 8, out, vo));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, up, 4, a, NULL, 8, b, vb, 8, out, vo));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, up, 4, a, va, 8, b, NULL, 8, out, vo));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, up, 8, a, va, 8, b, vb + 4, 8, out, vo));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, up, 4, a, va, 8, b, vb, 8, out, NULL));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, up, 4, a, va, 8, b, vb, 8, va, vo));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, up, 4, a, va, 8, b, vb, 8, vb, vo));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, up, 4, a, va, 8, b, vb, 8, out, out + 4));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, up, 4, a, va, 8, b, vb, 8, out, b));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, up, 4, a, va, 8, b, vb, 8, out, vb));
#undef MERGE
#undef PAIRS
    T_OK(gp_merge(c, GP_U32, up, NULL, 0, NULL, 0, NULL));
    t_check_untouched(&m);
    t_free(&m);
}
END_TEST

/* With a descriptor: what the short forms give, of which all other tests are. */
START_TEST(test_merge_by_is_merge)
{
    struct merge m = {.dtype = t_dtypes[_i], .num_a = 5001, .num_b = 3333};
    const size_t key = gp_dtype_bytes(m.dtype), n = m.num_a + m.num_b;
    for (int way = 0; way < 4; way++) {
        m.descending = way & 1;
        m.value_bytes = way & 2 ? 12 : 0;
        gp_merge_desc d = GP_MERGE_DESC_INIT;
        d.dtype = m.dtype;
        d.order = order_of(&m);
        d.value_bytes = m.value_bytes;
        char *keys = keys_new(&m, PATTERN_THREE_VALUES), *values = values_new(n, 12);
        char *b_keys = keys + m.num_a * key;
        size_t *order = oracle_argsort(m.dtype, keys, n, m.descending, 0, 0);
        char *ke = oracle_pick(keys, key, order, n), *ve = oracle_pick(values, 12, order, n);
        t_array a = t_new_from(keys, m.num_a * key, 0), b = t_new_from(b_keys, m.num_b * key, 0);
        t_array va = t_new_from(values, m.num_a * 12, 0);
        t_array vb = t_new_from(values + m.num_a * 12, m.num_b * 12, 0);
        t_array out = t_new(n * key, 0), vo = t_new(n * 12, 0);
        if (m.value_bytes)
            T_OK(gp_merge_pairs_by(t_ctx(), &d, a.data, va.data, m.num_a, b.data, vb.data, m.num_b,
                                   out.data, vo.data));
        else
            T_OK(gp_merge_by(t_ctx(), &d, a.data, m.num_a, b.data, m.num_b, out.data));
        t_get(&out, keys, n * key);
        t_same_bytes("keys", ke, keys, n * key);
        t_get(&vo, values, n * 12);
        if (m.value_bytes)
            t_same_bytes("values", ve, values, n * 12);
        t_check_guards(&out);
        t_check_guards(&vo);
        t_free(&a), t_free(&b), t_free(&va), t_free(&vb), t_free(&out), t_free(&vo);
        free(keys), free(values), free(order), free(ke), free(ve);
    }
}
END_TEST

static void expect_text(gp_status expected, gp_status actual, const char *text)
{
    ck_assert_int_eq(actual, expected);
    ck_assert_str_eq(gp_last_error(t_ctx()), text);
}

/* Of both calls; the descriptor is wrong. */
static void refuse_desc(gp_status expected, gp_merge_desc d, const char *said)
{
    t_array m = t_new(4096, 0);
    char *a = m.data, *b = a + 256, *out = a + 512, *va = a + 1024, *vb = a + 1536, *vo = a + 2048;
    char text[200];
    snprintf(text, sizeof text, "gp_merge_by: desc->%s", said);
    expect_text(expected, gp_merge_by(t_ctx(), &d, a, 8, b, 8, out), text);
    d.value_bytes = 4;
    snprintf(text, sizeof text, "gp_merge_pairs_by: desc->%s", said);
    expect_text(expected, gp_merge_pairs_by(t_ctx(), &d, a, va, 8, b, vb, 8, out, vo), text);
    t_check_untouched(&m);
    t_free(&m);
}

START_TEST(test_merge_by_names_members)
{
    t_array m = t_new(4096, 0);
    char *a = m.data, *b = a + 256, *out = a + 512, *va = a + 1024, *vb = a + 1536, *vo = a + 2048;
    gp_context *c = t_ctx();
    gp_merge_desc d = GP_MERGE_DESC_INIT;
    d.size = 16;
    refuse_desc(GP_ERROR_ARGUMENT, d, "size is 16, expected 40: start from its initializer macro");
    d.size = sizeof d;
    refuse_desc(GP_ERROR_DTYPE, d, "dtype is 0, expected a gp_dtype");
    d.dtype = GP_U32;
    d.order = (gp_order)2;
    refuse_desc(GP_ERROR_ARGUMENT, d, "order is 2, expected GP_ASCENDING or GP_DESCENDING");
    d.order = GP_DESCENDING;
    expect_text(GP_ERROR_POINTER, gp_merge_by(c, NULL, a, 8, b, 8, out),
                "gp_merge_by: desc is NULL");
    expect_text(GP_ERROR_POINTER, gp_merge_pairs_by(c, NULL, a, va, 8, b, vb, 8, out, vo),
                "gp_merge_pairs_by: desc is NULL");
    expect_text(GP_ERROR_ARGUMENT, gp_merge_pairs_by(c, &d, NULL, va, 8, b, vb, 8, out, vo),
                "gp_merge_pairs_by: desc->value_bytes is 0, expected 1 to 65536");
    expect_text(GP_ERROR_POINTER, gp_merge_by(c, &d, a, 8, NULL, 8, out), "gp_merge_by: b is NULL");
    d.value_bytes = 4;
    expect_text(GP_ERROR_ARGUMENT, gp_merge_by(c, &d, NULL, 8, b, 8, out),
                "gp_merge_by: desc->value_bytes is 4, expected 0");
    expect_text(GP_ERROR_POINTER, gp_merge_pairs_by(c, &d, a, va, 8, NULL, vb, 8, out, vo),
                "gp_merge_pairs_by: keys_b is NULL");
    expect_text(GP_ERROR_ARGUMENT, gp_merge(c, GP_U32, (gp_order)2, NULL, 8, b, 8, out),
                "gp_merge: order is 2, expected GP_ASCENDING or GP_DESCENDING");
    expect_text(GP_ERROR_ARGUMENT,
                gp_merge_pairs(c, GP_U32, GP_ASCENDING, 0, a, va, 8, b, vb, 8, out, vo),
                "gp_merge_pairs: value_bytes is 0, expected 1 to 65536");
    t_check_untouched(&m);
    t_free(&m);
}
END_TEST

START_TEST(test_merge_workspace_bytes_errors)
{
    gp_target bad = GP_TARGET_INIT;
    size_t bytes = 77;
    bad.backend = (gp_backend)5;
    T_STATUS(GP_ERROR_ARGUMENT, gp_merge_workspace_bytes(&bad, GP_U32, 8, &bytes));
    T_STATUS(GP_ERROR_DTYPE, gp_merge_workspace_bytes(NULL, (gp_dtype)0, 8, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_merge_workspace_bytes(NULL, GP_U32, ((size_t)1 << 40) + 1, &bytes));
    T_STATUS(GP_ERROR_POINTER, gp_merge_workspace_bytes(NULL, GP_U32, 8, NULL));
    ck_assert_uint_eq(bytes, 77);
}
END_TEST

static void add_cases(Suite *s)
{
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_merge_every_small_size, 0, 40);
    tcase_add_loop_test(c, test_merge_sizes_dtypes_patterns, 0, T_DTYPE_COUNT * PATTERN_COUNT);
    tcase_add_loop_test(c, test_merge_value_sizes_and_alignment, 0, 10);
    tcase_add_loop_test(c, test_merge_by_is_merge, 0, T_DTYPE_COUNT);
    tcase_add_test(c, test_merge_big);
    tcase_add_test(c, test_merge_of_unsorted_keeps_to_its_arrays);
    c = t_case(s, "cuda");
    tcase_add_test(c, test_merge_captured_and_replayed);
    c = t_case(s, "errors");
    tcase_add_test(c, test_merge_errors);
    tcase_add_test(c, test_merge_by_names_members);
    tcase_add_test(c, test_merge_workspace_bytes_errors);
}

int main(int argc, char **argv)
{
    Suite *s = suite_create("merge");
    add_cases(s);
    return t_main(argc, argv, s);
}
