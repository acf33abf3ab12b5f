/* SPDX-License-Identifier: MIT */
#include <gp/radixsort.h>

#include "radixsort_oracle.h"

/* ---- the oracle ------------------------------------------------------------------------------ */

/* Its order words compare as the values do. */
START_TEST(test_oracle_words_follow_values)
{
    enum { N = 400 };
    gp_dtype dtype = t_dtypes[_i];
    uint64_t keys[2 * N], state = t_seed(), wrong = 0;
    t_fill_bits(dtype, keys, N, &state);
    t_fill_small(dtype, (char *)keys + N * gp_dtype_bytes(dtype), N / 2, 3, &state);
    t_fill_random(dtype, (char *)keys + 3 * N / 2 * gp_dtype_bytes(dtype), N / 2, &state);
    for (size_t a = 0; a < 2 * N; a++)
        for (size_t b = 0; b < 2 * N; b++) {
            uint64_t x = oracle_word(dtype, keys, a), y = oracle_word(dtype, keys, b);
            wrong += oracle_compare_values(dtype, keys, a, b) != (x > y) - (x < y);
        }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* ---- one checked call ------------------------------------------------------------------------ */

struct spec {
    gp_dtype dtype;
    size_t n;
    size_t value_bytes; /* 0: keys only */
    bool descending;
    int begin, end; /* 0, 0: all bits */
    bool keys_in_place, values_in_place;
    size_t offset; /* of every array from a 256-byte boundary, in elements */
};

static gp_radix_sort_options options_of(const struct spec *s)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.order = s->descending ? GP_DESCENDING : GP_ASCENDING;
    o.begin_bit = s->begin;
    o.end_bit = s->end;
    return o;
}

/* Bytes that differ from value to value. */
static void *values_new(size_t n, size_t value_bytes)
{
    unsigned char *values = t_host(n * value_bytes);
    uint64_t state = t_seed() + value_bytes;
    for (size_t i = 0; i < n * value_bytes; i++)
        values[i] = (unsigned char)t_random(&state);
    return values;
}

/* Run the call of a spec on arrays that are there. */
static void call_sort(const struct spec *s, const void *ki, const void *vi, void *ko, void *vo)
{
    gp_radix_sort_options o = options_of(s);
    if (s->value_bytes)
        T_OK(gp_radix_sort_pairs(t_ctx(), s->dtype, ki, s->value_bytes, vi, s->n, ko, vo, &o));
    else
        T_OK(gp_radix_sort(t_ctx(), s->dtype, ki, s->n, ko, &o));
}

/* Keys alone may order equal floats as they like, but must be the same keys. */
static void check_keys(const struct spec *s, const void *keys, const void *expected,
                       const void *actual)
{
    size_t bytes = s->n * gp_dtype_bytes(s->dtype);
    if (s->value_bytes == 0 && t_is_float(s->dtype) && s->begin == 0 && s->end == 0) {
        t_same("keys", s->dtype, expected, actual, s->n);
        oracle_check_permutation(s->dtype, keys, actual, s->n);
    } else {
        t_same_bytes("keys", expected, actual, bytes);
    }
}

/* Arrays of a spec: inputs, outputs, and the names under which the call gets the outputs. */
struct arrays {
    t_array ki, ko, vi, vo, *k, *v;
};

static struct arrays arrays_new(const struct spec *s, const void *keys, const void *values)
{
    struct arrays a;
    size_t key = gp_dtype_bytes(s->dtype), value = s->value_bytes;
    a.ki = t_new_from(keys, s->n * key, s->offset * key);
    a.vi = t_new_from(values, s->n * value, s->offset * value);
    a.ko = t_new(s->n * key, s->offset * key);
    a.vo = t_new(s->n * value, s->offset * value);
    return a;
}

static void arrays_check(const struct spec *s, struct arrays *a, const void *keys,
                         const void *values)
{
    size_t kb = s->n * gp_dtype_bytes(s->dtype), vb = s->n * s->value_bytes;
    void *host = t_host(kb > vb ? kb : vb);
    size_t *order = oracle_argsort(s->dtype, keys, s->n, s->descending, s->begin, s->end);
    void *ke = oracle_pick(keys, gp_dtype_bytes(s->dtype), order, s->n);
    void *ve = oracle_pick(values, s->value_bytes, order, s->n);
    t_get(a->k, host, kb);
    check_keys(s, keys, ke, host);
    t_get(a->v, host, vb);
    t_same_bytes("values", ve, host, vb);
    if (!s->keys_in_place) {
        t_get(&a->ki, host, kb);
        t_same_bytes("input keys", keys, host, kb);
    }
    if (!s->values_in_place) {
        t_get(&a->vi, host, vb);
        t_same_bytes("input values", values, host, vb);
    }
    t_check_guards(a->k);
    t_check_guards(a->v);
    free(host);
    free(order);
    free(ke);
    free(ve);
}

static void check_sort(const struct spec *s, const void *keys)
{
    void *values = values_new(s->n, s->value_bytes);
    struct arrays a = arrays_new(s, keys, values);
    a.k = s->keys_in_place ? &a.ki : &a.ko;
    a.v = s->values_in_place ? &a.vi : &a.vo;
    call_sort(s, a.ki.data, a.vi.data, a.k->data, a.v->data);
    arrays_check(s, &a, keys, values);
    t_free(&a.ki);
    t_free(&a.ko);
    t_free(&a.vi);
    t_free(&a.vo);
    free(values);
}

static void check_argsort(gp_dtype dtype, const void *keys, size_t n, gp_dtype index_dtype,
                          const gp_radix_sort_options *o)
{
    size_t bytes = n * gp_dtype_bytes(index_dtype);
    t_array ki = t_new_from(keys, n * gp_dtype_bytes(dtype), gp_dtype_bytes(dtype));
    t_array out = t_new(bytes, gp_dtype_bytes(index_dtype));
    size_t *order = oracle_argsort(dtype, keys, n, o && o->order == GP_DESCENDING,
                                   o ? o->begin_bit : 0, o ? o->end_bit : 0);
    void *expected = t_host(bytes), *actual = t_host(bytes);
    for (size_t i = 0; i < n; i++)
        if (index_dtype == GP_U32)
            ((uint32_t *)expected)[i] = (uint32_t)order[i];
        else
            ((uint64_t *)expected)[i] = order[i];
    T_OK(gp_argsort(t_ctx(), dtype, ki.data, n, index_dtype, out.data, o));
    t_get(&out, actual, bytes);
    t_same("indices", index_dtype, expected, actual, n);
    t_check_guards(&out);
    t_free(&ki);
    t_free(&out);
    free(order);
    free(expected);
    free(actual);
}

/* ---- keys ------------------------------------------------------------------------------------ */

enum { PATTERN_COUNT = 8 };

static void fill_pattern(int pattern, gp_dtype dtype, void *keys, size_t n)
{
    static const double special[] = {0.0, -0.0, NAN, -INFINITY, INFINITY, 1.0, -1.0, 0.0};
    size_t bytes = gp_dtype_bytes(dtype);
    uint64_t state = t_seed() + (uint64_t)pattern;
    t_fill_bits(dtype, keys, n, &state);
    if (pattern == 1) /* constant */
        for (size_t i = 1; i < n; i++)
            memcpy((char *)keys + i * bytes, keys, bytes);
    if (pattern == 2 || pattern == 3) { /* sorted, reversed */
        size_t *order = oracle_argsort(dtype, keys, n, pattern == 3, 0, 0);
        void *sorted = oracle_pick(keys, bytes, order, n);
        memcpy(keys, sorted, n * bytes);
        free(sorted);
        free(order);
    }
    if (pattern == 4)
        t_fill_small(dtype, keys, n, 3, &state);
    if (pattern == 5)
        t_fill_small(dtype, keys, n, bytes == 1 ? 100 : bytes == 2 ? 2000 : 1 << 20, &state);
    if (pattern == 6)
        t_fill_random(dtype, keys, n, &state);
    if (pattern == 7) /* floats: zeros of both signs, NaN with payloads, infinities */
        for (size_t i = 0; i < n; i++) {
            uint64_t pick = t_random_below(&state, 10);
            if (pick < 8 && t_is_float(dtype))
                t_set(dtype, keys, i, special[pick]);
            else if (!t_is_float(dtype)) /* extremes */
                memset((char *)keys + i * bytes, pick & 1 ? 0xff : 0, bytes);
        }
}

static void *pattern_new(int pattern, gp_dtype dtype, size_t n)
{
    void *keys = t_host(n * gp_dtype_bytes(dtype));
    fill_pattern(pattern, dtype, keys, n);
    return keys;
}

/* One call per size on arrays that are made once; what follows the n keys must stay as it was. */
START_TEST(test_radix_sort_every_size)
{
    enum { MAX = 2 * 1024 + 1, TAIL = 32 };
    uint32_t *keys = pattern_new(0, GP_U32, MAX), sorted[MAX + TAIL], before[MAX + TAIL];
    t_array in = t_new_from(keys, MAX * 4, 0), out = t_new((MAX + TAIL) * 4, 4);
    for (size_t n = 0; n <= MAX; n++) {
        size_t *order = oracle_argsort(GP_U32, keys, n, false, 0, 0);
        uint32_t *expected = oracle_pick(keys, 4, order, n);
        t_get(&out, before, sizeof before);
        memcpy(before, expected, n * 4);
        T_OK(gp_radix_sort(t_ctx(), GP_U32, in.data, n, out.data, NULL));
        t_get(&out, sorted, sizeof sorted);
        t_same("keys and tail", GP_U32, before, sorted, MAX + TAIL);
        free(order);
        free(expected);
    }
    t_check_guards(&out);
    t_free(&in);
    t_free(&out);
    free(keys);
}
END_TEST

START_TEST(test_radix_sort_sizes_and_dtypes)
{
    int step = t_sizes[_i] < 4096 ? 1 : 5; /* the big ones take turns */
    for (int d = step > 1 ? _i % step : 0; d < T_DTYPE_COUNT; d += step) {
        struct spec s = {.dtype = t_dtypes[d], .n = t_sizes[_i]};
        void *keys = pattern_new(0, s.dtype, s.n);
        s.descending = d % 2;
        check_sort(&s, keys);
        s.descending = !s.descending;
        s.value_bytes = 4;
        check_sort(&s, keys);
        free(keys);
    }
}
END_TEST

START_TEST(test_radix_sort_patterns_both_orders)
{
    gp_dtype dtype = t_dtypes[_i / PATTERN_COUNT];
    for (int k = 0; k < 6; k++) {
        struct spec s = {.dtype = dtype, .n = k == 1 + 4 * (_i & 1) ? 33001 : 1999};
        s.value_bytes = k % 3 == 2 ? 8 : 0;
        s.descending = k >= 3;
        void *keys = pattern_new(_i % PATTERN_COUNT, dtype, s.n);
        check_sort(&s, keys);
        free(keys);
    }
}
END_TEST

/* Big enough for several parts and for stores past the caches. */
START_TEST(test_radix_sort_pairs_big)
{
    size_t n = ((size_t)3 << 20) + 7;
    uint32_t *keys = pattern_new(0, GP_U32, n), *index = t_host(n * 4);
    for (size_t i = 0; i < n; i++)
        index[i] = (uint32_t)i;
    t_array k = t_new_from(keys, n * 4, 4), v = t_new_from(index, n * 4, 20);
    t_array ko = t_new(n * 4, 12), vo = t_new(n * 4, 12 + (size_t)_i * 8);
    uint32_t *sorted = t_host(n * 4);
    T_OK(gp_radix_sort_pairs(t_ctx(), GP_U32, k.data, 4, v.data, n, ko.data, vo.data, NULL));
    t_get(&ko, sorted, n * 4);
    t_get(&vo, index, n * 4);
    size_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        bad += index[i] >= n || keys[index[i]] != sorted[i];
        /* strictly ascending (key, index) pairs: stable, and nothing twice */
        bad += i && (sorted[i - 1] > sorted[i] ||
                     (sorted[i - 1] == sorted[i] && index[i - 1] >= index[i]));
    }
    ck_assert_uint_eq(bad, 0);
    t_check_guards(&ko);
    t_check_guards(&vo);
    t_free(&k), t_free(&v), t_free(&ko), t_free(&vo);
    free(keys), free(index), free(sorted);
}
END_TEST

/* ---- values ---------------------------------------------------------------------------------- */

static const size_t value_sizes[] = {1, 2, 4, 8, 16, 3, 12, 24, 100};
enum { VALUE_SIZE_COUNT = sizeof value_sizes / sizeof *value_sizes };

START_TEST(test_radix_sort_pairs_value_sizes_and_in_place)
{
    static const gp_dtype dtypes[] = {GP_U8, GP_I16, GP_F16, GP_U32, GP_F32, GP_I64};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int k = 0; k < 5; k++) {
            struct spec s = {.dtype = dtypes[d], .n = k < 4 ? 777 : 33001};
            if (k >= 4 && value_sizes[_i] > 16)
                s.n = 4000;
            s.value_bytes = value_sizes[_i];
            s.keys_in_place = k & 1;
            s.values_in_place = k & 2;
            s.descending = d & 1;
            void *keys = pattern_new(k & 1 ? 0 : 7, s.dtype, s.n);
            check_sort(&s, keys);
            free(keys);
        }
}
END_TEST

START_TEST(test_radix_sort_in_place)
{
    static const size_t sizes[] = {1, 1000, 33001};
    gp_dtype dtype = t_dtypes[_i];
    for (size_t k = 0; k < 9; k++) { /* pattern 5: fewer passes, odd for 20 bits */
        struct spec s = {.dtype = dtype, .n = sizes[k % 3], .keys_in_place = true};
        void *keys = pattern_new(k < 3 ? 0 : k < 6 ? 5 : 1, dtype, s.n);
        check_sort(&s, keys);
        s.value_bytes = 4;
        s.values_in_place = true;
        check_sort(&s, keys);
        free(keys);
    }
}
END_TEST

START_TEST(test_radix_sort_alignment_offsets)
{
    static const gp_dtype dtypes[] = {GP_U8, GP_U16, GP_U32, GP_U64};
    struct spec s = {.dtype = dtypes[_i % 4], .n = 33001, .offset = (size_t)_i / 4};
    void *keys = pattern_new(0, s.dtype, s.n);
    check_sort(&s, keys);
    s.value_bytes = value_sizes[(size_t)_i % 5];
    check_sort(&s, keys);
    free(keys);
}
END_TEST

/* ---- bits ------------------------------------------------------------------------------------ */

START_TEST(test_radix_sort_every_bit_range)
{
    static const gp_dtype dtypes[] = {GP_U8, GP_I8, GP_U16, GP_F16};
    gp_dtype dtype = dtypes[_i];
    int width = 8 * (int)gp_dtype_bytes(dtype);
    size_t n = 500;
    void *keys = pattern_new(0, dtype, n);
    for (int begin = 0; begin <= width; begin++)
        for (int end = begin ? begin : 1; end <= width; end++) {
            struct spec s = {.dtype = dtype, .n = n, .begin = begin, .end = end};
            s.descending = (begin + end) & 1;
            s.value_bytes = (begin + end) & 2;
            check_sort(&s, keys);
        }
    free(keys);
}
END_TEST

START_TEST(test_radix_sort_bit_ranges_of_wide_keys)
{
    static const int ranges[][2] = {{0, 1},   {0, 20},  {5, 13}, {8, 16},  {3, 32},
                                    {31, 32}, {12, 12}, {0, 40}, {20, 64}, {63, 64}};
    static const gp_dtype dtypes[] = {GP_U32, GP_I32, GP_F32, GP_U64, GP_I64, GP_F64};
    gp_dtype dtype = dtypes[_i];
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (int k = 0; k < 4; k++) {
            struct spec s = {.dtype = dtype, .n = k & 1 ? 33001 : 999};
            s.begin = ranges[r][0];
            s.end = ranges[r][1];
            s.descending = r & 1;
            s.value_bytes = k & 2 ? 4 : 0;
            if (s.end > 8 * (int)gp_dtype_bytes(dtype))
                continue;
            void *keys = pattern_new(r & 1 ? 0 : 7, dtype, s.n);
            check_sort(&s, keys);
            free(keys);
        }
}
END_TEST

/* begin_bit at the width with the default end compares nothing. */
START_TEST(test_radix_sort_no_bits_copies)
{
    for (int k = 0; k < 4; k++) {
        struct spec s = {.dtype = GP_F32, .n = 1234, .begin = 32, .value_bytes = k & 1 ? 12 : 0};
        s.descending = k & 2;
        void *keys = pattern_new(7, s.dtype, s.n);
        gp_radix_sort_options o = options_of(&s);
        s.end = 32;
        check_sort(&s, keys);
        s.keys_in_place = s.values_in_place = true;
        check_sort(&s, keys);
        check_argsort(s.dtype, keys, s.n, GP_U32, &o);
        free(keys);
    }
}
END_TEST

/* ---- indices --------------------------------------------------------------------------------- */

START_TEST(test_argsort_dtypes_and_sizes)
{
    static const size_t sizes[] = {0, 1, 2, 255, 1025, 9001};
    gp_dtype dtype = t_dtypes[_i];
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    for (size_t k = 0; k < 24; k++) {
        size_t n = sizes[k % 6];
        void *keys = pattern_new(k / 6 % 2 ? 0 : 7, dtype, n);
        o.order = k < 12 ? GP_ASCENDING : GP_DESCENDING;
        check_argsort(dtype, keys, n, k % 2 ? GP_U32 : GP_U64, k < 6 ? NULL : &o);
        free(keys);
    }
}
END_TEST

START_TEST(test_gather_sizes)
{
    static const size_t item_sizes[] = {1, 2, 4, 8, 16, 3, 12, 24, 100};
    size_t bytes = item_sizes[_i % 9], inputs = 501;
    static const size_t counts[] = {0, 1, 500, 20001};
    bool wide = _i >= 9;
    uint64_t state = t_seed();
    void *items = values_new(inputs, bytes);
    for (size_t k = 0; k < 4; k++) {
        size_t n = counts[k], index_bytes = wide ? 8 : 4, *order = t_host(n * sizeof *order);
        uint32_t *narrow = t_host(n * 4);
        for (size_t i = 0; i < n; i++) {
            order[i] = t_random_below(&state, inputs);
            narrow[i] = (uint32_t)order[i];
        }
        t_array in = t_new_from(items, inputs * bytes, bytes), out = t_new(n * bytes, bytes);
        t_array idx = t_new_from(wide ? (void *)order : narrow, n * index_bytes, index_bytes);
        void *expected = oracle_pick(items, bytes, order, n), *actual = t_host(n * bytes);
        T_OK(gp_gather(t_ctx(), bytes, in.data, wide ? GP_U64 : GP_U32, idx.data, n, out.data));
        t_get(&out, actual, n * bytes);
        t_same_bytes("items", expected, actual, n * bytes);
        t_check_guards(&out);
        t_free(&in), t_free(&out), t_free(&idx);
        free(order), free(narrow), free(expected), free(actual);
    }
    free(items);
}
END_TEST

/* ---- workspace, threads, graphs -------------------------------------------------------------- */

/* Memory for a context's workspace from the run's context; counts, and fails after a number of
 * calls. */
struct counter {
    int calls, allowed;
};

static void *counter_allocate(void *user, size_t bytes, size_t alignment, gp_stream stream)
{
    struct counter *c = user;
    void *memory = NULL;
    (void)alignment;
    (void)stream;
    if (c->calls++ >= c->allowed || gp_malloc(t_ctx(), bytes, &memory) != GP_OK)
        return NULL;
    gp_context_synchronize(t_ctx());
    return memory;
}

static void counter_release(void *user, void *memory, size_t bytes, gp_stream stream)
{
    (void)user;
    (void)bytes;
    (void)stream;
    gp_free(t_ctx(), memory);
}

static gp_context *context_new(struct counter *c, int threads)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    o.backend = gp_context_backend(t_ctx());
    o.threads = threads;
    if (c)
        o.allocator = (gp_allocator){c, counter_allocate, counter_release};
    T_OK(gp_context_create(&ctx, &o));
    return ctx;
}

/* In place with a big value, which takes most. */
START_TEST(test_workspace_bytes_is_enough)
{
    static const size_t values[] = {0, 4, 16, 24};
    gp_target target = GP_TARGET_INIT;
    gp_dtype dtype = t_dtypes[_i / 4];
    size_t n = 33001, key = gp_dtype_bytes(dtype), value = values[_i % 4], bytes, index_bytes;
    struct counter c = {0, 1000};
    gp_context *ctx = context_new(&c, 2);
    void *keys = pattern_new(0, dtype, n), *payload = values_new(n, value);
    t_array k = t_new_from(keys, n * key, 0), v = t_new_from(payload, n * value, 0);
    t_array indices = t_new(n * 8, 0);
    target.backend = _i & 1 ? gp_context_backend(ctx) : GP_BACKEND_AUTO;
    T_OK(gp_radix_sort_workspace_bytes(&target, dtype, value, n, NULL, &bytes));
    T_OK(gp_argsort_workspace_bytes(&target, dtype, n, GP_U64, NULL, &index_bytes));
    T_OK(gp_context_reserve(ctx, bytes > index_bytes ? bytes : index_bytes));
    int before = c.calls;
    if (value)
        T_OK(gp_radix_sort_pairs(ctx, dtype, k.data, value, v.data, n, k.data, v.data, NULL));
    else
        T_OK(gp_radix_sort(ctx, dtype, k.data, n, k.data, NULL));
    T_OK(gp_argsort(ctx, dtype, k.data, n, GP_U64, indices.data, NULL));
    ck_assert_int_eq(c.calls, before);
    T_OK(gp_context_synchronize(ctx));
    gp_context_destroy(ctx);
    t_free(&k), t_free(&v), t_free(&indices);
    free(keys), free(payload);
}
END_TEST

START_TEST(test_radix_sort_without_memory_leaves_outputs)
{
    struct counter c = {0, 0};
    gp_context *ctx = context_new(&c, 2);
    size_t n = 70000;
    void *keys = pattern_new(0, GP_U32, n);
    t_array in = t_new_from(keys, n * 4, 0), out = t_new(n * 4, 0), indices = t_new(n * 4, 0);
    ck_assert_int_eq(gp_radix_sort(ctx, GP_U32, in.data, n, out.data, NULL), GP_ERROR_MEMORY);
    ck_assert_int_eq(gp_argsort(ctx, GP_U32, in.data, n, GP_U32, indices.data, NULL),
                     GP_ERROR_MEMORY);
    ck_assert_ptr_nonnull(strstr(gp_last_error(ctx), "gp_argsort"));
    t_check_untouched(&out);
    t_check_untouched(&indices);
    c.allowed = 1000;
    ck_assert_int_eq(gp_radix_sort(ctx, GP_U32, in.data, n, out.data, NULL), GP_OK);
    ck_assert_int_eq(gp_context_synchronize(ctx), GP_OK);
    gp_context_destroy(ctx);
    t_free(&in), t_free(&out), t_free(&indices);
    free(keys);
}
END_TEST

/* Also where the order among equal keys is free. */
START_TEST(test_radix_sort_same_bits_whatever_the_threads)
{
    static const int threads[] = {1, 2, 3, 8};
    gp_dtype dtype = t_dtypes[_i];
    size_t n = 300001, bytes = n * gp_dtype_bytes(dtype);
    void *keys = pattern_new(0, dtype, n), *first = t_host(bytes), *again = t_host(bytes);
    t_array in = t_new_from(keys, bytes, 0), out = t_new(bytes, 0);
    for (int k = 0; k < (t_is_cuda() ? 2 : 4); k++) {
        gp_context *ctx = context_new(NULL, t_is_cuda() ? 0 : threads[k]);
        T_OK(gp_radix_sort(ctx, dtype, in.data, n, out.data, NULL));
        T_OK(gp_context_synchronize(ctx));
        t_get(&out, k ? again : first, bytes);
        if (k)
            t_same_bytes("keys", first, again, bytes);
        gp_context_destroy(ctx);
    }
    t_free(&in), t_free(&out);
    free(keys), free(first), free(again);
}
END_TEST

/* A captured call sorts what its inputs hold when it is replayed. */
START_TEST(test_radix_sort_captured_and_replayed)
{
    static const gp_dtype dtypes[] = {GP_U32, GP_F32, GP_I64, GP_F16};
    struct spec s = {.dtype = dtypes[_i / 2], .n = 50000, .value_bytes = _i % 2 ? 8 : 0};
    size_t bytes;
    void *keys = pattern_new(0, s.dtype, s.n), *values = values_new(s.n, s.value_bytes);
    struct arrays a = arrays_new(&s, keys, values);
    a.k = &a.ko;
    a.v = &a.vo;
    T_OK(gp_radix_sort_workspace_bytes(NULL, s.dtype, s.value_bytes, s.n, NULL, &bytes));
    T_OK(gp_context_reserve(t_ctx(), bytes));
    if (t_capture_begin()) {
        call_sort(&s, a.ki.data, a.vi.data, a.ko.data, a.vo.data);
        t_capture_end();
        for (int pattern = 0; pattern < PATTERN_COUNT; pattern++) {
            fill_pattern(pattern, s.dtype, keys, s.n);
            t_put(&a.ki, keys, s.n * gp_dtype_bytes(s.dtype));
            t_replay();
            arrays_check(&s, &a, keys, values);
        }
        t_capture_free();
    }
    t_free(&a.ki), t_free(&a.ko), t_free(&a.vi), t_free(&a.vo);
    free(keys), free(values);
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

enum { ERROR_N = 64 };

START_TEST(test_radix_sort_errors)
{
    t_array k = t_new(ERROR_N * 8, 0), o = t_new(ERROR_N * 8, 0);
    char *in = k.data, *out = o.data;
    gp_context *c = t_ctx();
    T_STATUS(GP_ERROR_POINTER, gp_radix_sort(NULL, GP_U32, in, 8, out, NULL));
    T_STATUS(GP_ERROR_DTYPE, gp_radix_sort(c, (gp_dtype)0, in, 8, out, NULL));
    T_STATUS(GP_ERROR_DTYPE, gp_radix_sort(c, (gp_dtype)13, in, 8, out, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_radix_sort(c, GP_U32, NULL, 8, out, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_radix_sort(c, GP_U32, in + 1, 8, out, NULL));
    T_STATUS(GP_ERROR_ARGUMENT, gp_radix_sort(c, GP_U32, in, ((size_t)1 << 40) + 1, out, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_radix_sort(c, GP_U32, in, 8, NULL, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_radix_sort(c, GP_U64, in, 8, out + 4, NULL));
    T_STATUS(GP_ERROR_OVERLAP, gp_radix_sort(c, GP_U32, in, 8, in + 4, NULL));
    T_STATUS(GP_ERROR_OVERLAP, gp_radix_sort(c, GP_U32, out + 28, 8, out, NULL));
    T_OK(gp_radix_sort(c, GP_U32, NULL, 0, NULL, NULL));
    if (t_is_cuda())
        T_STATUS(GP_ERROR_POINTER, gp_radix_sort(c, GP_U8, (char[8]){0}, 8, out, NULL));
    t_check_untouched(&o);
    t_check_untouched(&k);
    t_free(&k), t_free(&o);
}
END_TEST

START_TEST(test_radix_sort_option_errors)
{
    static const struct {
        gp_status status;
        gp_radix_sort_options options;
    } cases[] = {
        {GP_ERROR_ARGUMENT, {0, GP_ASCENDING, 0, 0, GP_ALGORITHM_AUTO}},
        {GP_ERROR_ARGUMENT, {sizeof(gp_radix_sort_options), (gp_order)2, 0, 0, GP_ALGORITHM_AUTO}},
        {GP_ERROR_ARGUMENT, {sizeof(gp_radix_sort_options), (gp_order)-1, 0, 0, GP_ALGORITHM_AUTO}},
        {GP_ERROR_ARGUMENT,
         {sizeof(gp_radix_sort_options), GP_ASCENDING, -1, 0, GP_ALGORITHM_AUTO}},
        {GP_ERROR_ARGUMENT,
         {sizeof(gp_radix_sort_options), GP_ASCENDING, 33, 0, GP_ALGORITHM_AUTO}},
        {GP_ERROR_ARGUMENT, {sizeof(gp_radix_sort_options), GP_ASCENDING, 9, 8, GP_ALGORITHM_AUTO}},
        {GP_ERROR_ARGUMENT,
         {sizeof(gp_radix_sort_options), GP_ASCENDING, 0, -1, GP_ALGORITHM_AUTO}},
        {GP_ERROR_ARGUMENT,
         {sizeof(gp_radix_sort_options), GP_ASCENDING, 0, 33, GP_ALGORITHM_AUTO}},
        {GP_ERROR_ARGUMENT, {sizeof(gp_radix_sort_options), GP_ASCENDING, 0, 0, (gp_algorithm)99}},
        {GP_ERROR_UNSUPPORTED,
         {sizeof(gp_radix_sort_options), GP_ASCENDING, 0, 0, GP_ALGORITHM_LOOKBACK}},
    };
    t_array k = t_new(ERROR_N * 8, 0), o = t_new(ERROR_N * 8, 0), v = t_new(ERROR_N * 8, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gp_radix_sort_options *p = &cases[i].options;
        size_t bytes = 77;
        T_STATUS(cases[i].status, gp_radix_sort(t_ctx(), GP_U32, k.data, 8, o.data, p));
        T_STATUS(cases[i].status,
                 gp_radix_sort_pairs(t_ctx(), GP_U32, k.data, 4, k.data, 8, o.data, v.data, p));
        T_STATUS(cases[i].status, gp_argsort(t_ctx(), GP_F32, k.data, 8, GP_U32, o.data, p));
        T_STATUS(cases[i].status, gp_radix_sort_workspace_bytes(NULL, GP_U32, 0, 8, p, &bytes));
        T_STATUS(cases[i].status, gp_argsort_workspace_bytes(NULL, GP_U32, 8, GP_U32, p, &bytes));
        ck_assert_uint_eq(bytes, 77);
    }
    gp_radix_sort_options cub = GP_RADIX_SORT_OPTIONS_INIT;
    cub.algorithm = GP_ALGORITHM_CUB;
    T_STATUS(t_is_cuda() ? GP_OK : GP_ERROR_UNSUPPORTED,
             gp_radix_sort(t_ctx(), GP_U32, k.data, 0, o.data, &cub));
    t_check_untouched(&o);
    t_check_untouched(&v);
    t_free(&k), t_free(&o), t_free(&v);
}
END_TEST

START_TEST(test_radix_sort_pairs_errors)
{
    t_array a = t_new(ERROR_N * 32, 0);
    char *ki = a.data, *vi = ki + 512, *ko = ki + 1024, *vo = ki + 1536;
    gp_context *c = t_ctx();
    size_t n = 8;
#define PAIRS(...) gp_radix_sort_pairs(__VA_ARGS__, NULL)
    T_STATUS(GP_ERROR_POINTER, PAIRS(NULL, GP_U32, ki, 4, vi, n, ko, vo));
    T_STATUS(GP_ERROR_DTYPE, PAIRS(c, (gp_dtype)0, ki, 4, vi, n, ko, vo));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, NULL, 4, vi, n, ko, vo));
    T_STATUS(GP_ERROR_ARGUMENT, PAIRS(c, GP_U32, ki, 0, vi, n, ko, vo));
    T_STATUS(GP_ERROR_ARGUMENT, PAIRS(c, GP_U32, ki, 65537, vi, n, ko, vo));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, ki, 4, NULL, n, ko, vo));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, ki, 12, vi + 2, n, ko, vo));
    T_STATUS(GP_ERROR_ARGUMENT, PAIRS(c, GP_U32, ki, 4, vi, SIZE_MAX, ko, vo));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, ki, 4, vi, n, NULL, vo));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, ki, 4, vi, n, ko, NULL));
    T_STATUS(GP_ERROR_POINTER, PAIRS(c, GP_U32, ki, 16, vi, n, ko, vo + 8));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, ki, 4, vi, n, ki + 4, vo));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, ki, 4, vi, n, vi, vo));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, ki, 4, vi, n, ko, ki));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, ki, 4, vi, n, ko, vi + 8));
    T_STATUS(GP_ERROR_OVERLAP, PAIRS(c, GP_U32, ki, 4, vi, n, ko, ko));
#undef PAIRS
    T_OK(gp_radix_sort_pairs(c, GP_U32, NULL, 4, NULL, 0, NULL, NULL, NULL));
    t_check_untouched(&a);
    t_free(&a);
}
END_TEST

START_TEST(test_argsort_errors)
{
    t_array a = t_new(ERROR_N * 16, 0);
    char *k = a.data, *out = k + 512;
    gp_context *c = t_ctx();
    T_STATUS(GP_ERROR_POINTER, gp_argsort(NULL, GP_U32, k, 8, GP_U32, out, NULL));
    T_STATUS(GP_ERROR_DTYPE, gp_argsort(c, (gp_dtype)99, k, 8, GP_U32, out, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_argsort(c, GP_U32, NULL, 8, GP_U32, out, NULL));
    T_STATUS(GP_ERROR_ARGUMENT, gp_argsort(c, GP_U8, k, SIZE_MAX, GP_U64, out, NULL));
    T_STATUS(GP_ERROR_DTYPE, gp_argsort(c, GP_U32, k, 8, GP_I32, out, NULL));
    T_STATUS(GP_ERROR_ARGUMENT, gp_argsort(c, GP_U8, k, ((size_t)1 << 32) + 1, GP_U32, out, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_argsort(c, GP_U32, k, 8, GP_U32, NULL, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_argsort(c, GP_U32, k, 8, GP_U64, out + 4, NULL));
    T_STATUS(GP_ERROR_OVERLAP, gp_argsort(c, GP_U32, k, 8, GP_U32, k, NULL));
    T_STATUS(GP_ERROR_OVERLAP, gp_argsort(c, GP_U32, k, 8, GP_U32, k + 28, NULL));
    t_check_untouched(&a);
    t_free(&a);
}
END_TEST

START_TEST(test_gather_errors)
{
    t_array a = t_new(ERROR_N * 16, 0);
    char *in = a.data, *idx = in + 256, *out = in + 512;
    gp_context *c = t_ctx();
    T_STATUS(GP_ERROR_POINTER, gp_gather(NULL, 4, in, GP_U32, idx, 8, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_gather(c, 0, in, GP_U32, idx, 8, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_gather(c, 65537, in, GP_U32, idx, 8, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_gather(c, 4, in, GP_U32, idx, SIZE_MAX, out));
    T_STATUS(GP_ERROR_POINTER, gp_gather(c, 4, NULL, GP_U32, idx, 8, out));
    T_STATUS(GP_ERROR_POINTER, gp_gather(c, 8, in + 4, GP_U32, idx, 8, out));
    T_STATUS(GP_ERROR_DTYPE, gp_gather(c, 4, in, GP_F32, idx, 8, out));
    T_STATUS(GP_ERROR_POINTER, gp_gather(c, 4, in, GP_U32, NULL, 8, out));
    T_STATUS(GP_ERROR_POINTER, gp_gather(c, 4, in, GP_U64, idx + 4, 8, out));
    T_STATUS(GP_ERROR_POINTER, gp_gather(c, 4, in, GP_U32, idx, 8, NULL));
    T_STATUS(GP_ERROR_OVERLAP, gp_gather(c, 4, in, GP_U32, idx, 8, in));
    T_STATUS(GP_ERROR_OVERLAP, gp_gather(c, 4, in, GP_U32, idx, 8, idx + 4));
    T_OK(gp_gather(c, 4, NULL, GP_U32, NULL, 0, NULL));
    t_check_untouched(&a);
    t_free(&a);
}
END_TEST

START_TEST(test_workspace_bytes_errors)
{
    gp_target bad_size = GP_TARGET_INIT, bad_backend = GP_TARGET_INIT;
    size_t bytes = 77, big = ((size_t)1 << 40) + 1;
    bad_size.size = 1;
    bad_backend.backend = (gp_backend)9;
#define SORT_BYTES(...) gp_radix_sort_workspace_bytes(__VA_ARGS__)
#define INDEX_BYTES(...) gp_argsort_workspace_bytes(__VA_ARGS__)
    T_STATUS(GP_ERROR_ARGUMENT, SORT_BYTES(&bad_size, GP_U32, 0, 8, NULL, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, SORT_BYTES(&bad_backend, GP_U32, 0, 8, NULL, &bytes));
    T_STATUS(GP_ERROR_DTYPE, SORT_BYTES(NULL, (gp_dtype)0, 0, 8, NULL, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, SORT_BYTES(NULL, GP_U32, 65537, 8, NULL, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, SORT_BYTES(NULL, GP_U32, 0, big, NULL, &bytes));
    T_STATUS(GP_ERROR_POINTER, SORT_BYTES(NULL, GP_U32, 0, 8, NULL, NULL));
    T_STATUS(GP_ERROR_ARGUMENT, INDEX_BYTES(&bad_size, GP_U32, 8, GP_U32, NULL, &bytes));
    T_STATUS(GP_ERROR_DTYPE, INDEX_BYTES(NULL, (gp_dtype)0, 8, GP_U32, NULL, &bytes));
    T_STATUS(GP_ERROR_DTYPE, INDEX_BYTES(NULL, GP_U32, 8, GP_U16, NULL, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, INDEX_BYTES(NULL, GP_U32, big, GP_U64, NULL, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT, INDEX_BYTES(NULL, GP_U32, big / 2, GP_U32, NULL, &bytes));
    T_STATUS(GP_ERROR_POINTER, INDEX_BYTES(NULL, GP_U32, 8, GP_U32, NULL, NULL));
#undef SORT_BYTES
#undef INDEX_BYTES
    ck_assert_uint_eq(bytes, 77);
    T_OK(gp_radix_sort_workspace_bytes(NULL, GP_U32, 65536, (size_t)1 << 40, NULL, &bytes));
    ck_assert_uint_gt(bytes, (size_t)1 << 56);
}
END_TEST

static void add_cases(Suite *s)
{
    TCase *c = t_case(s, "oracle");
    tcase_add_loop_test(c, test_oracle_words_follow_values, 0, T_DTYPE_COUNT);
    c = t_case(s, "values");
    tcase_add_loop_test(c, test_radix_sort_patterns_both_orders, 0, T_DTYPE_COUNT * PATTERN_COUNT);
    tcase_add_loop_test(c, test_radix_sort_pairs_value_sizes_and_in_place, 0, VALUE_SIZE_COUNT);
    tcase_add_loop_test(c, test_radix_sort_pairs_big, 0, 2);
    tcase_add_loop_test(c, test_argsort_dtypes_and_sizes, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_gather_sizes, 0, 18);
    c = t_case(s, "sizes");
    tcase_add_test(c, test_radix_sort_every_size);
    tcase_add_loop_test(c, test_radix_sort_sizes_and_dtypes, 0, T_SIZE_SMALL_COUNT);
    c = t_case(s, "inplace");
    tcase_add_loop_test(c, test_radix_sort_in_place, 0, T_DTYPE_COUNT);
    c = t_case(s, "alignment");
    tcase_add_loop_test(c, test_radix_sort_alignment_offsets, 0, 4 * 17);
    c = t_case(s, "bits");
    tcase_add_loop_test(c, test_radix_sort_every_bit_range, 0, 4);
    tcase_add_loop_test(c, test_radix_sort_bit_ranges_of_wide_keys, 0, 6);
    tcase_add_test(c, test_radix_sort_no_bits_copies);
    c = t_case(s, "workspace");
    tcase_add_loop_test(c, test_workspace_bytes_is_enough, 0, T_DTYPE_COUNT * 4);
    tcase_add_test(c, test_radix_sort_without_memory_leaves_outputs);
    c = t_case(s, "determinism");
    tcase_add_loop_test(c, test_radix_sort_same_bits_whatever_the_threads, 0, T_DTYPE_COUNT);
    c = t_case(s, "graphs");
    tcase_add_loop_test(c, test_radix_sort_captured_and_replayed, 0, 8);
    c = t_case(s, "errors");
    tcase_add_test(c, test_radix_sort_errors);
    tcase_add_test(c, test_radix_sort_option_errors);
    tcase_add_test(c, test_radix_sort_pairs_errors);
    tcase_add_test(c, test_argsort_errors);
    tcase_add_test(c, test_gather_errors);
    tcase_add_test(c, test_workspace_bytes_errors);
}

int main(int argc, char **argv)
{
    Suite *s = suite_create("radixsort");
    add_cases(s);
    return t_main(argc, argv, s);
}
