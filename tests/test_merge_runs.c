/* SPDX-License-Identifier: MIT */
/* Merges of many runs: order, stability, empty runs, offsets of every kind, errors, graphs. */
#include <gp/merge.h>

#include "radixsort_check.h"

/* One merge: runs of random lengths, some empty. */
struct runs {
    gp_dtype dtype, offset_dtype;
    size_t n, num_runs, value_bytes;
    bool descending;
    uint64_t first; /* the first offset */
    uint64_t *ends; /* num_runs + 1, from 0 on */
    char *keys, *values;
};

static uint64_t *ends_new(size_t n, size_t num_runs, uint64_t seed)
{
    uint64_t *ends = t_host((num_runs + 1) * sizeof *ends), state = t_seed() + seed;
    for (size_t r = 1; r < num_runs; r++)
        ends[r] = t_random_below(&state, 4) ? t_random_below(&state, n + 1) : n / 2;
    ends[0] = 0;
    ends[num_runs] = n;
    for (size_t r = 1; r < num_runs; r++) /* by insertion: they are few */
        for (size_t k = r; k > 1 && ends[k] < ends[k - 1]; k--) {
            const uint64_t x = ends[k];
            ends[k] = ends[k - 1];
            ends[k - 1] = x;
        }
    return ends;
}

/* Evenly long ones, where there are many. */
static uint64_t *even_ends_new(size_t n, size_t num_runs)
{
    uint64_t *ends = t_host((num_runs + 1) * sizeof *ends);
    for (size_t r = 0; r <= num_runs; r++)
        ends[r] = n * r / num_runs;
    return ends;
}

static void fill_runs(struct runs *r, enum pattern pattern, uint64_t seed)
{
    const size_t key = gp_dtype_bytes(r->dtype);
    r->ends =
        r->num_runs > 2000 ? even_ends_new(r->n, r->num_runs) : ends_new(r->n, r->num_runs, seed);
    r->keys = pattern_new(pattern, r->dtype, r->n);
    r->values = values_new(r->n, r->value_bytes);
    for (size_t k = 0; k < r->num_runs; k++) {
        char *begin = r->keys + r->ends[k] * key;
        const size_t length = r->ends[k + 1] - r->ends[k];
        size_t *order = oracle_argsort(r->dtype, begin, length, r->descending, 0, 0);
        void *sorted = oracle_pick(begin, key, order, length);
        memcpy(begin, sorted, length * key);
        free(order), free(sorted);
    }
}

static t_array offsets_of(const struct runs *r)
{
    const size_t bytes = gp_dtype_bytes(r->offset_dtype);
    char *host = t_host((r->num_runs + 1) * bytes);
    for (size_t k = 0; k <= r->num_runs; k++) {
        const uint64_t x = r->first + r->ends[k];
        memcpy(host + k * bytes, &x, bytes);
    }
    t_array a = t_new_from(host, (r->num_runs + 1) * bytes, bytes);
    free(host);
    return a;
}

static gp_merge_runs_desc desc_of(const struct runs *r)
{
    gp_merge_runs_desc d = GP_MERGE_RUNS_DESC_INIT;
    d.dtype = r->dtype;
    d.order = r->descending ? GP_DESCENDING : GP_ASCENDING;
    d.value_bytes = r->value_bytes;
    d.offset_dtype = r->offset_dtype;
    return d;
}

static void same(const char *name, const void *in, size_t item, const size_t *order, size_t n,
                 const t_array *out)
{
    void *expected = oracle_pick(in, item, order, n), *actual = t_host(n * item);
    t_get(out, actual, n * item);
    t_same_bytes(name, expected, actual, n * item);
    t_check_guards(out);
    free(expected), free(actual);
}

static void check_runs(struct runs *r, enum pattern pattern, uint64_t seed)
{
    const size_t key = gp_dtype_bytes(r->dtype), vb = r->n * r->value_bytes;
    gp_merge_runs_desc d = desc_of(r);
    fill_runs(r, pattern, seed);
    t_array keys = t_new_from(r->keys, r->n * key, key), values = t_new_from(r->values, vb, 0);
    t_array keys_out = t_new(r->n * key, 2 * key), values_out = t_new(vb, 16);
    t_array offsets = offsets_of(r);
    T_OK(gp_merge_runs(t_ctx(), &d, keys.data, values.data, r->n, offsets.data, r->num_runs,
                       keys_out.data, values_out.data));
    size_t *order = oracle_argsort(r->dtype, r->keys, r->n, r->descending, 0, 0);
    same("keys", r->keys, key, order, r->n, &keys_out);
    same("values", r->values, r->value_bytes, order, r->n, &values_out);
    t_free(&keys), t_free(&values), t_free(&keys_out), t_free(&values_out), t_free(&offsets);
    free(order), free(r->ends), free(r->keys), free(r->values);
}

/* ---- values ---------------------------------------------------------------------------------- */

static const gp_dtype offset_dtypes[] = {GP_U32, GP_I32, GP_U64, GP_I64};

START_TEST(test_merge_runs_dtypes_and_patterns)
{
    static const size_t sizes[] = {0, 1, 2, 100, 5003, 70001};
    static const size_t values[] = {0, 4, 0, 8, 1, 24};
    for (int k = 0; k < 6; k++) {
        struct runs r = {.dtype = t_dtypes[_i], .n = t_at_most(sizes[k])};
        r.num_runs = (size_t[]){1, 2, 3, 7, 16, 40}[(k + _i) % 6];
        r.value_bytes = values[(k + _i / 2) % 6];
        r.offset_dtype = offset_dtypes[(k + _i) % 4];
        r.first = k & 1 ? 1000 : 0;
        r.descending = (k + _i) & 1;
        check_runs(&r, (enum pattern)((k + _i) % PATTERN_COUNT), (uint64_t)k);
    }
}
END_TEST

/* Each number of runs has its own levels; equal keys of several runs, values of several sizes. */
START_TEST(test_merge_runs_numbers_of_runs)
{
    static const size_t numbers[] = {1, 2, 3, 4, 5, 8, 9, 15, 17, 33, 64, 65, 300, 2049, 60000};
    static const size_t values[] = {0, 1, 2, 3, 4, 8, 12, 16, 17, 100};
    struct runs r = {.dtype = _i & 1 ? GP_F32 : GP_U64, .n = t_at_most(150001)};
    r.num_runs = numbers[_i % 15];
    r.value_bytes = values[_i % 10];
    r.offset_dtype = GP_U32;
    r.descending = _i / 15;
    check_runs(&r, _i % 4 ? PATTERN_NARROW : PATTERN_SPECIAL, (uint64_t)_i);
}
END_TEST

/* Few runs of many items, which are merged on CUDA, too. */
START_TEST(test_merge_runs_few_long_runs)
{
    static const size_t values[] = {0, 16, 4};
    struct runs r = {.dtype = _i == 1 ? GP_F64 : GP_U32, .n = t_at_most(((size_t)1 << 20) + 5)};
    r.num_runs = 1 + (size_t)_i;
    r.value_bytes = values[_i];
    if (_i == 2 && t_is_cuda()) /* from where on three are merged */
        r.n = t_at_most(((size_t)1 << 23) + 5);
    r.offset_dtype = offset_dtypes[_i];
    r.first = 7;
    r.descending = _i & 2;
    check_runs(&r, _i == 1 ? PATTERN_SPECIAL : PATTERN_NARROW, (uint64_t)_i);
}
END_TEST

/* ---- workspace, graphs, contents ------------------------------------------------------------- */

START_TEST(test_merge_runs_workspace_bytes_is_enough)
{
    struct runs r = {.dtype = _i & 1 ? GP_F64 : GP_U32, .n = t_at_most(100000), .num_runs = 9};
    gp_context_options co = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    size_t bytes;
    r.value_bytes = (size_t[]){0, 2, 16, 40}[_i / 2];
    r.offset_dtype = GP_U32;
    r.ends = even_ends_new(r.n, r.num_runs);
    gp_merge_runs_desc d = desc_of(&r);
    t_array in = t_new(r.n * 8, 0), out = t_new(r.n * 8, 0), offsets = offsets_of(&r);
    t_array values = t_new(r.n * r.value_bytes, 0), values_out = t_new(r.n * r.value_bytes, 0);
    T_OK(gp_merge_runs_workspace_bytes(NULL, &d, r.n, r.num_runs, &bytes));
    co.backend = gp_context_backend(t_ctx());
    co.workspace_bytes = bytes;
    T_OK(gp_context_create(&ctx, &co));
    T_OK(gp_merge_runs(ctx, &d, in.data, values.data, r.n, offsets.data, r.num_runs, out.data,
                       values_out.data));
    T_OK(gp_context_synchronize(ctx));
    gp_context_destroy(ctx);
    t_free(&in), t_free(&out), t_free(&offsets), t_free(&values), t_free(&values_out);
    free(r.ends);
}
END_TEST

START_TEST(test_merge_runs_captured_and_replayed)
{
    struct runs r = {.dtype = GP_I32, .offset_dtype = GP_U64, .n = t_at_most(30000)};
    r.num_runs = 12;
    r.value_bytes = 4;
    gp_merge_runs_desc d = desc_of(&r);
    size_t bytes;
    T_OK(gp_merge_runs_workspace_bytes(NULL, &d, r.n, r.num_runs, &bytes));
    T_OK(gp_context_reserve(t_ctx(), bytes));
    t_array keys = t_new(r.n * 4, 0), values = t_new(r.n * 4, 0), ko = t_new(r.n * 4, 0);
    t_array vo = t_new(r.n * 4, 0), offsets = t_new((r.num_runs + 1) * 8, 0);
    if (t_capture_begin()) {
        T_OK(gp_merge_runs(t_ctx(), &d, keys.data, values.data, r.n, offsets.data, r.num_runs,
                           ko.data, vo.data));
        t_capture_end();
        for (uint64_t seed = 0; seed < 3; seed++) {
            fill_runs(&r, seed ? PATTERN_BITS : PATTERN_THREE_VALUES, seed);
            size_t *order = oracle_argsort(r.dtype, r.keys, r.n, false, 0, 0);
            t_put(&keys, r.keys, r.n * 4);
            t_put(&values, r.values, r.n * 4);
            t_put(&offsets, r.ends, (r.num_runs + 1) * 8);
            t_replay();
            same("keys", r.keys, 4, order, r.n, &ko);
            same("values", r.values, 4, order, r.n, &vo);
            free(order), free(r.ends), free(r.keys), free(r.values);
        }
        t_capture_free();
    }
    t_free(&keys), t_free(&values), t_free(&ko), t_free(&vo), t_free(&offsets);
}
END_TEST

START_TEST(test_merge_runs_contents)
{
    static const uint32_t keys[] = {1, 5, 9, 2, 3, 4, 0, 7}, offsets[] = {0, 3, 6, 6, 8};
    static const uint32_t wrong[][5] = {{0, 3, 2, 6, 8}, {0, 3, 6, 6, 7}, {1, 3, 6, 6, 8}};
    gp_merge_runs_desc d = GP_MERGE_RUNS_DESC_INIT;
    d.dtype = d.offset_dtype = GP_U32;
    t_array k = t_new_from(keys, sizeof keys, 0), out = t_new(sizeof keys, 0);
    t_array o = t_new_from(offsets, sizeof offsets, 0);
    gp_context *ctx = t_validating();
    T_OK(gp_merge_runs(ctx, &d, k.data, NULL, 8, o.data, 4, out.data, NULL));
    T_OK(gp_context_synchronize(ctx));
    t_poison(&out);
    t_put(&o, (uint32_t[]){0, 4, 6, 6, 8}, sizeof offsets); /* 2 follows 9 in the first run */
    t_refused(ctx, gp_merge_runs(ctx, &d, k.data, NULL, 8, o.data, 4, out.data, NULL),
              "gp_merge_runs: keys_in[3] is 2, below the 9 before it");
    t_check_untouched(&out);
    for (int i = 0; i < 3; i++) {
        t_put(&o, wrong[i], sizeof offsets);
        gp_status s = gp_merge_runs(ctx, &d, k.data, NULL, 8, o.data, 4, out.data, NULL);
        s = s == GP_OK ? gp_context_synchronize(ctx) : s;
        ck_assert_int_eq(s, GP_ERROR_DATA);
        t_check_untouched(&out);
    }
    gp_context_destroy(ctx);
    t_free(&k), t_free(&out), t_free(&o);
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

START_TEST(test_merge_runs_errors)
{
    t_array a = t_new(4096, 0);
    gp_merge_runs_desc good = GP_MERGE_RUNS_DESC_INIT;
    gp_context *c = t_ctx();
    char *k = a.data, *v = k + 512, *o = k + 1024, *ko = k + 1536, *vo = k + 2048;
    size_t bytes = 77, big = ((size_t)1 << 40) + 1;
    good.dtype = GP_F32;
    good.offset_dtype = GP_U64;
    good.value_bytes = 2;
#define BAD(status, change, what)                                                                  \
    do {                                                                                           \
        gp_merge_runs_desc d = good;                                                               \
        change;                                                                                    \
        T_STATUS(status, gp_merge_runs(c, &d, k, v, 8, o, 3, ko, vo));                             \
        ck_assert_msg(strstr(gp_last_error(c), what) != NULL, "%s", gp_last_error(c));             \
    } while (0)
    BAD(GP_ERROR_ARGUMENT, d.size = 3, "desc->size");
    BAD(GP_ERROR_DTYPE, d.dtype = (gp_dtype)0, "desc->dtype");
    BAD(GP_ERROR_ARGUMENT, d.order = (gp_order)2, "desc->order");
    BAD(GP_ERROR_ARGUMENT, d.value_bytes = 65537, "desc->value_bytes");
    BAD(GP_ERROR_DTYPE, d.offset_dtype = GP_F32, "desc->offset_dtype");
    BAD(GP_ERROR_ARGUMENT, d.reserved = 1, "desc->reserved");
    BAD(GP_ERROR_OVERLAP, d.device_n = (const uint64_t *)(void *)ko, "desc->device_n");
    BAD(GP_ERROR_POINTER, d.device_num_runs = (const uint64_t *)(void *)(o + 4), "num_runs");
#undef BAD
#define RUNS(...) gp_merge_runs(__VA_ARGS__)
    T_STATUS(GP_ERROR_POINTER, RUNS(NULL, &good, k, v, 8, o, 3, ko, vo));
    T_STATUS(GP_ERROR_POINTER, RUNS(c, NULL, k, v, 8, o, 3, ko, vo));
    T_STATUS(GP_ERROR_POINTER, RUNS(c, &good, NULL, v, 8, o, 3, ko, vo));
    T_STATUS(GP_ERROR_POINTER, RUNS(c, &good, k + 2, v, 8, o, 3, ko, vo));
    T_STATUS(GP_ERROR_POINTER, RUNS(c, &good, k, NULL, 8, o, 3, ko, vo));
    T_STATUS(GP_ERROR_ARGUMENT, RUNS(c, &good, k, v, big, o, 3, ko, vo));
    T_STATUS(GP_ERROR_POINTER, RUNS(c, &good, k, v, 8, NULL, 3, ko, vo));
    T_STATUS(GP_ERROR_ARGUMENT, RUNS(c, &good, k, v, 8, o, big, ko, vo));
    T_STATUS(GP_ERROR_ARGUMENT, RUNS(c, &good, k, v, 8, o, 0, ko, vo));
    T_STATUS(GP_ERROR_POINTER, RUNS(c, &good, k, v, 8, o, 3, NULL, vo));
    T_STATUS(GP_ERROR_POINTER, RUNS(c, &good, k, v, 8, o, 3, ko, NULL));
    T_STATUS(GP_ERROR_OVERLAP, RUNS(c, &good, k, v, 8, o, 3, k, vo));
    T_STATUS(GP_ERROR_OVERLAP, RUNS(c, &good, k, v, 8, o, 3, ko, v));
    T_STATUS(GP_ERROR_OVERLAP, RUNS(c, &good, k, v, 8, o, 3, ko, o + 8));
#undef RUNS
    T_STATUS(GP_ERROR_POINTER, gp_merge_runs_workspace_bytes(NULL, &good, 8, 3, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_merge_runs_workspace_bytes(NULL, NULL, 8, 3, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, gp_merge_runs_workspace_bytes(NULL, &good, big, 3, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, gp_merge_runs_workspace_bytes(NULL, &good, 8, big, &bytes));
    ck_assert_uint_eq(bytes, 77);
    t_check_untouched(&a);
    t_free(&a);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("merge_runs");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_merge_runs_dtypes_and_patterns, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_merge_runs_numbers_of_runs, 0, 30);
    tcase_add_loop_test(c, test_merge_runs_few_long_runs, 0, 3);
    c = t_case(s, "workspace");
    tcase_add_loop_test(c, test_merge_runs_workspace_bytes_is_enough, 0, 8);
    c = t_case(s, "cuda");
    tcase_add_test(c, test_merge_runs_captured_and_replayed);
    c = t_case(s, "errors");
    tcase_add_test(c, test_merge_runs_contents);
    tcase_add_test(c, test_merge_runs_errors);
    return t_main(argc, argv, s);
}
