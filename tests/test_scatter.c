/* SPDX-License-Identifier: MIT */
/* Scatter, fields of records on either side, numbers of items in device memory, errors. */
#include <gp/gather.h>

#include <stdlib.h>
#include <string.h>

#include "gp_test.h"
#include "values.h"

/* One move of either kind, and what it is to give. */
struct move {
    bool scatter;
    size_t item, in_stride, out_stride; /* 0: packed */
    size_t n, far;                      /* far: items on the side of the indices */
    gp_dtype index_dtype;               /* 0: none */
    size_t in_offset, out_offset;       /* bytes of misalignment */
    const uint64_t *device_n;
    size_t reach; /* of a scatter: 0, or places lie so near the items' own, and a fourth is free */
};

static size_t stride_of(size_t stride, size_t item)
{
    return stride ? stride : item;
}

static size_t bytes_of(size_t n, size_t stride, size_t item)
{
    return n ? (n - 1) * stride_of(stride, item) + item : 0;
}

static gp_status run(gp_context *ctx, const struct move *m, const void *in, const void *indices,
                     void *out)
{
    gp_gather_desc g = GP_GATHER_DESC_INIT;
    gp_scatter_desc s = GP_SCATTER_DESC_INIT;
    g.item_bytes = s.item_bytes = m->item;
    g.in_items = s.out_items = m->far;
    g.index_dtype = s.index_dtype = m->index_dtype;
    g.in_stride = s.in_stride = m->in_stride;
    g.out_stride = s.out_stride = m->out_stride;
    g.device_n = s.device_n = m->device_n;
    return m->scatter ? gp_scatter_by(ctx, &s, in, indices, m->n, out)
                      : gp_gather_by(ctx, &g, in, indices, m->n, out);
}

/* n different numbers below far if it is a scatter, otherwise any. */
static uint64_t *indices_new(const struct move *m, uint64_t *state)
{
    uint64_t *index = t_host((m->far > m->n ? m->far : m->n) * 8);
    for (size_t i = 0; i < m->far; i++)
        index[i] = m->reach ? i + i / 3 : i;
    for (size_t i = 0; i < m->n; i++) {
        const size_t left = (m->reach ? m->n : m->far) - i;
        const size_t range = m->reach && m->reach < left ? m->reach : left;
        const size_t other = m->scatter ? i + t_random_below(state, range) : i;
        const uint64_t taken = m->scatter ? index[other] : t_random_below(state, m->far);
        index[other] = index[i];
        index[i] = taken;
    }
    return index;
}

static t_array indices_put(const struct move *m, const uint64_t *index)
{
    const size_t bytes = gp_dtype_bytes(m->index_dtype);
    char *host = t_host(m->n * bytes);
    for (size_t i = 0; i < m->n; i++)
        memcpy(host + i * bytes, &index[i], bytes);
    t_array a = t_new_from(host, m->n * bytes, 0);
    free(host);
    return a;
}

/* moved: how many of the n items are. Bytes between items keep what they were. */
static void check_move(const struct move *m, size_t moved)
{
    uint64_t state = t_seed(), *index = indices_new(m, &state);
    const size_t in_items = m->scatter ? m->n : m->far, out_items = m->scatter ? m->far : m->n;
    const size_t in_bytes = bytes_of(in_items, m->in_stride, m->item);
    const size_t out_bytes = bytes_of(out_items, m->out_stride, m->item);
    char *in = t_host(in_bytes), *expected = t_host(out_bytes), *actual = t_host(out_bytes);
    t_fill_bits(GP_U8, in, in_bytes, &state);
    t_fill_bits(GP_U8, expected, out_bytes, &state);
    t_array in_d = t_new_from(in, in_bytes, m->in_offset), index_d = indices_put(m, index);
    t_array out_d = t_new_from(expected, out_bytes, m->out_offset);
    for (size_t i = 0; i < moved; i++) {
        const size_t at = m->index_dtype ? index[i] : i;
        memcpy(expected + (m->scatter ? at : i) * stride_of(m->out_stride, m->item),
               in + (m->scatter ? i : at) * stride_of(m->in_stride, m->item), m->item);
    }
    T_OK(run(t_ctx(), m, in_d.data, m->index_dtype ? index_d.data : NULL, out_d.data));
    t_get(&out_d, actual, out_bytes);
    t_same_bytes("output", expected, actual, out_bytes);
    t_check_guards(&out_d);
    t_free(&in_d), t_free(&index_d), t_free(&out_d);
    free(in), free(expected), free(actual), free(index);
}

static const gp_dtype index_dtypes[] = {GP_U32, GP_U64, (gp_dtype)0};
static const size_t item_sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 20, 48, 100, 1000, 4097, 65536};
enum { ITEM_SIZES = sizeof item_sizes / sizeof item_sizes[0] };

START_TEST(test_scatter_moves_items)
{
    static const size_t counts[] = {0, 1, 500, 2048, 2049, 20001, 70000};
    const size_t item = item_sizes[_i / 2];
    for (size_t k = 0; k < 7; k++) {
        const size_t n = t_at_most(counts[k]), fit = ((size_t)4 << 20) / item;
        struct move m = {.scatter = true, .item = item, .index_dtype = index_dtypes[_i % 2]};
        m.n = n < fit ? n : fit;
        m.far = m.n + m.n / 3 + 1;
        check_move(&m, m.n);
    }
}
END_TEST

/* Places that lie close together, of arrays of any alignment, few and many. */
START_TEST(test_scatter_to_neighbours)
{
    static const size_t sizes[] = {5, 6, 12, 20, 48, 100, 254}, reaches[] = {1, 64, 5000};
    for (size_t k = 0; k < 6; k++) {
        struct move m = {.scatter = true, .item = sizes[_i]};
        m.index_dtype = index_dtypes[k / 2 % 2];
        m.in_stride = m.out_stride = m.item;
        m.n = t_at_most(k % 2 ? 7000000 / m.item : 700);
        m.far = m.n + m.n / 3 + 1;
        m.reach = reaches[k % 3];
        m.in_offset = k % 4 * 4;
        m.out_offset = k % 3 * 2;
        check_move(&m, m.n);
    }
}
END_TEST

/* The short form is the same. */
START_TEST(test_scatter_short_form)
{
    enum { N = 3001 };
    const bool wide = _i;
    uint64_t index[N];
    uint32_t narrow[N], in[N], expected[N], actual[N];
    for (uint32_t i = 0; i < N; i++) {
        in[i] = i * 7919;
        narrow[i] = (uint32_t)(index[i] = N - 1 - i);
        expected[N - 1 - i] = in[i];
    }
    t_array in_d = t_new_from(in, sizeof in, 0), out_d = t_new(sizeof in, 0);
    t_array at = wide ? t_new_from(index, sizeof index, 0) : t_new_from(narrow, sizeof narrow, 0);
    T_OK(gp_scatter(t_ctx(), 4, in_d.data, wide ? GP_U64 : GP_U32, at.data, N, out_d.data));
    t_get(&out_d, actual, sizeof actual);
    t_same_bytes("output", expected, actual, sizeof actual);
    t_check_guards(&out_d);
    t_free(&in_d), t_free(&out_d), t_free(&at);
}
END_TEST

/* Fields of records on either side or both, by index or all of them, of any alignment. */
START_TEST(test_fields_of_records)
{
    static const struct {
        size_t item, in_stride, out_stride, in_offset, out_offset;
    } shapes[] = {
        {4, 16, 0, 0, 0},   {4, 16, 0, 8, 0},      {4, 0, 12, 0, 4},      {8, 12, 0, 4, 0},
        {1, 3, 0, 1, 3},    {2, 7, 5, 1, 3},       {12, 16, 12, 0, 0},    {3, 0, 4, 0, 1},
        {16, 48, 32, 8, 0}, {100, 0, 128, 0, 0},   {5, 5, 5, 3, 2},       {1, 1, 9, 0, 0},
        {4, 4, 4, 1, 2},    {3000, 3001, 0, 1, 0}, {8, 1 << 12, 0, 0, 0},
    };
    enum { SHAPES = sizeof shapes / sizeof shapes[0] };
    for (size_t s = 0; s < SHAPES; s++)
        for (int d = 0; d < 3; d++) {
            struct move m = {.scatter = _i, .item = shapes[s].item};
            m.in_stride = shapes[s].in_stride;
            m.out_stride = shapes[s].out_stride;
            m.in_offset = shapes[s].in_offset;
            m.out_offset = shapes[s].out_offset;
            m.index_dtype = index_dtypes[d];
            m.n = m.item + m.in_stride > 1000 ? 301 : t_at_most(20011);
            m.far = m.n + 77;
            check_move(&m, m.n);
        }
}
END_TEST

/* Outputs that are too large for the caches of a CPU. */
START_TEST(test_gathers_of_large_outputs)
{
    static const size_t sizes[] = {4, 3, 100, 3000, 65536};
    struct move m = {.scatter = _i >= 5, .item = sizes[_i % 5], .index_dtype = GP_U32};
    m.n = t_at_most(((size_t)9 << 20) / m.item + 1);
    m.far = m.n + 5;
    check_move(&m, m.n);
    m.index_dtype = (gp_dtype)0;
    m.in_stride = m.item + 1;
    check_move(&m, m.n);
}
END_TEST

START_TEST(test_moves_device_n)
{
    enum { N = 20000 };
    static const uint64_t values[] = {0, 1, 2049, 19999, 20000, 1ull << 40};
    const uint64_t n = values[_i % 6];
    t_array n_d = t_new_from(&n, 8, 0);
    for (int d = 0; d < 3; d++) {
        struct move m = {.scatter = _i >= 6, .item = 4, .n = N, .far = N + 9};
        m.index_dtype = index_dtypes[d];
        m.device_n = n_d.data;
        check_move(&m, n < N ? (size_t)n : N);
    }
    t_free(&n_d);
}
END_TEST

/* What is behind *device_n is not looked at. */
START_TEST(test_moves_that_validate_look_at_indices)
{
    gp_context *checked = t_validating();
    uint32_t index[9] = {4, 3, 2, 1, 0, 5, 6, 99, 7}, in[9] = {0}, got[9];
    uint64_t counts[] = {8, 7};
    t_array in_d = t_new_from(in, sizeof in, 0), index_d = t_new_from(index, sizeof index, 0);
    t_array out_d = t_new(sizeof in, 0), n_d = t_new_from(counts, sizeof counts, 0);
    struct move m = {.scatter = _i, .item = 4, .n = 9, .far = 9, .index_dtype = GP_U32};
    const char *text = _i ? "gp_scatter_by: indices[7] is 99, expected below 9"
                          : "gp_gather_by: indices[7] is 99, expected below 9";
    t_refused(checked, run(checked, &m, in_d.data, index_d.data, out_d.data), text);
    m.device_n = n_d.data;
    t_refused(checked, run(checked, &m, in_d.data, index_d.data, out_d.data), text);
    t_check_untouched(&out_d);
    m.device_n++;
    T_OK(run(checked, &m, in_d.data, index_d.data, out_d.data));
    T_OK(gp_context_synchronize(checked));
    t_get(&out_d, got, sizeof got);
    ck_assert_uint_eq(got[6], 0);
    t_free(&in_d), t_free(&index_d), t_free(&out_d), t_free(&n_d);
    gp_context_destroy(checked);
}
END_TEST

static void expect_text(gp_status expected, gp_status actual, const char *text)
{
    ck_assert_int_eq(actual, expected);
    ck_assert_str_eq(gp_last_error(t_ctx()), text);
}

START_TEST(test_scatter_errors)
{
    t_array a = t_new(1024, 0);
    char *in = a.data, *idx = in + 256, *out = in + 512;
    gp_context *c = t_ctx();
    T_STATUS(GP_ERROR_POINTER, gp_scatter(NULL, 4, in, GP_U32, idx, 8, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_scatter(c, 0, in, GP_U32, idx, 8, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_scatter(c, 65537, in, GP_U32, idx, 8, out));
    T_STATUS(GP_ERROR_ARGUMENT, gp_scatter(c, 4, in, GP_U32, idx, SIZE_MAX, out));
    T_STATUS(GP_ERROR_POINTER, gp_scatter(c, 4, NULL, GP_U32, idx, 8, out));
    T_STATUS(GP_ERROR_POINTER, gp_scatter(c, 8, in + 4, GP_U32, idx, 8, out));
    T_STATUS(GP_ERROR_DTYPE, gp_scatter(c, 4, in, GP_F32, idx, 8, out));
    T_STATUS(GP_ERROR_DTYPE, gp_scatter(c, 4, in, (gp_dtype)0, NULL, 8, out));
    T_STATUS(GP_ERROR_POINTER, gp_scatter(c, 4, in, GP_U32, NULL, 8, out));
    T_STATUS(GP_ERROR_POINTER, gp_scatter(c, 4, in, GP_U64, idx + 4, 8, out));
    T_STATUS(GP_ERROR_POINTER, gp_scatter(c, 4, in, GP_U32, idx, 8, NULL));
    T_STATUS(GP_ERROR_OVERLAP, gp_scatter(c, 4, in, GP_U32, idx, 8, in + 28));
    T_STATUS(GP_ERROR_OVERLAP, gp_scatter(c, 4, in, GP_U32, idx, 8, idx + 4));
    T_OK(gp_scatter(c, 4, NULL, GP_U32, NULL, 0, NULL));
    t_check_untouched(&a);
    t_free(&a);
}
END_TEST

/* Names of members, in their order. */
START_TEST(test_scatter_by_names_members)
{
    t_array a = t_new(2048, 0);
    char *in = a.data, *idx = in + 1024, *out = in + 512;
    gp_context *c = t_ctx();
    gp_scatter_desc d = GP_SCATTER_DESC_INIT;
    expect_text(GP_ERROR_POINTER, gp_scatter_by(c, NULL, in, idx, 8, out),
                "gp_scatter_by: desc is NULL");
    expect_text(GP_ERROR_ARGUMENT, gp_scatter_by(c, &d, NULL, idx, 8, out),
                "gp_scatter_by: desc->item_bytes is 0, expected 1 to 65536");
    d.item_bytes = 4;
    d.out_items = SIZE_MAX;
    expect_text(GP_ERROR_ARGUMENT, gp_scatter_by(c, &d, NULL, idx, 8, out),
                "gp_scatter_by: desc->out_items is 18446744073709551615, more than 2^40");
    d.out_items = 7;
    expect_text(GP_ERROR_DTYPE, gp_scatter_by(c, &d, NULL, idx, 8, out),
                "gp_scatter_by: desc->index_dtype is 0, expected u32 or u64");
    expect_text(GP_ERROR_ARGUMENT, gp_scatter_by(c, &d, in, NULL, 8, out),
                "gp_scatter_by: n is 8, above desc->out_items, 7");
    d.index_dtype = GP_U32;
    d.in_stride = 3;
    expect_text(GP_ERROR_ARGUMENT, gp_scatter_by(c, &d, NULL, idx, 8, out),
                "gp_scatter_by: desc->in_stride is 3, expected 0 or from desc->item_bytes (4) to "
                "2^23");
    d.in_stride = 4;
    d.out_stride = (1 << 23) + 1;
    expect_text(GP_ERROR_ARGUMENT, gp_scatter_by(c, &d, NULL, idx, 8, out),
                "gp_scatter_by: desc->out_stride is 8388609, expected 0 or from desc->item_bytes "
                "(4) to 2^23");
    d.out_stride = 0;
    T_STATUS(GP_ERROR_POINTER, gp_scatter_by(c, &d, NULL, idx, 8, out));
    T_STATUS(GP_ERROR_POINTER, gp_scatter_by(c, &d, in, NULL, 8, out));
    d.device_n = (const uint64_t *)(void *)(in + 4);
    T_STATUS(GP_ERROR_POINTER, gp_scatter_by(c, &d, in, idx, 8, out));
    d.device_n = (const uint64_t *)(void *)out;
    T_STATUS(GP_ERROR_OVERLAP, gp_scatter_by(c, &d, in, idx, 8, out));
    d.device_n = NULL;
    T_STATUS(GP_ERROR_POINTER, gp_scatter_by(c, &d, in, idx, 8, out + 2)); /* it is packed */
    T_STATUS(GP_ERROR_OVERLAP, gp_scatter_by(c, &d, in, idx, 8, idx - 24));
    d.in_stride = 100;
    T_STATUS(GP_ERROR_OVERLAP, gp_scatter_by(c, &d, in, idx, 8, in + 700)); /* its last item */
    T_OK(gp_scatter_by(c, &d, NULL, NULL, 0, NULL));
    t_check_untouched(&a);
    t_free(&a);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("scatter");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_scatter_moves_items, 0, 2 * ITEM_SIZES);
    tcase_add_loop_test(c, test_scatter_to_neighbours, 0, 7);
    tcase_add_loop_test(c, test_scatter_short_form, 0, 2);
    c = t_case(s, "fields");
    tcase_add_loop_test(c, test_fields_of_records, 0, 2);
    c = t_case(s, "large");
    tcase_add_loop_test(c, test_gathers_of_large_outputs, 0, 10);
    c = t_case(s, "device_n");
    tcase_add_loop_test(c, test_moves_device_n, 0, 12);
    tcase_add_loop_test(c, test_moves_that_validate_look_at_indices, 0, 2);
    c = t_case(s, "errors");
    tcase_add_test(c, test_scatter_errors);
    tcase_add_test(c, test_scatter_by_names_members);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
