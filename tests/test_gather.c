/* SPDX-License-Identifier: MIT */
/* Gather: sizes of items and indices, errors. */
#include <gp/gather.h>

#include "radixsort_check.h"

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

START_TEST(test_gather_errors)
{
    t_array a = t_new(1024, 0);
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

/* With a descriptor: the same items, whether it says how many there are or not. */
START_TEST(test_gather_by_is_gather)
{
    enum { INPUTS = 501, N = 20001 };
    static const size_t item_sizes[] = {1, 2, 4, 8, 16, 3, 100};
    const size_t bytes = item_sizes[_i];
    uint64_t state = t_seed(), *wide = t_host(N * 8);
    uint32_t *narrow = t_host(N * 4);
    char *items = values_new(INPUTS, bytes), *expected = t_host(N * bytes),
         *actual = t_host(N * bytes);
    for (size_t i = 0; i < N; i++)
        narrow[i] = (uint32_t)(wide[i] = t_random_below(&state, INPUTS));
    t_array in = t_new_from(items, INPUTS * bytes, 0), out = t_new(N * bytes, 0);
    t_array indices[] = {t_new_from(narrow, N * 4, 0), t_new_from(wide, N * 8, 0)};
    T_OK(gp_gather(t_ctx(), bytes, in.data, GP_U32, indices[0].data, N, out.data));
    t_get(&out, expected, N * bytes);
    for (int way = 0; way < 4; way++) {
        gp_gather_desc d = GP_GATHER_DESC_INIT;
        d.item_bytes = bytes;
        d.in_items = way & 1 ? INPUTS : 0;
        d.index_dtype = way & 2 ? GP_U64 : GP_U32;
        t_poison(&out);
        T_OK(gp_gather_by(t_ctx(), &d, in.data, indices[way / 2].data, N, out.data));
        t_get(&out, actual, N * bytes);
        t_same_bytes("items", expected, actual, N * bytes);
        t_check_guards(&out);
    }
    t_free(&in), t_free(&out), t_free(&indices[0]), t_free(&indices[1]);
    free(wide), free(narrow), free(items), free(expected), free(actual);
}
END_TEST

static void expect_text(gp_status expected, gp_status actual, const char *text)
{
    ck_assert_int_eq(actual, expected);
    ck_assert_str_eq(gp_last_error(t_ctx()), text);
}

/* The first that is wrong, members before the other parameters. */
START_TEST(test_gather_by_names_members)
{
    t_array a = t_new(2048, 0);
    char *in = a.data, *idx = in + 1024, *out = in + 512;
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    expect_text(GP_ERROR_POINTER, gp_gather_by(t_ctx(), NULL, in, idx, 8, out),
                "gp_gather_by: desc is NULL");
    d.size = 24;
    expect_text(GP_ERROR_ARGUMENT, gp_gather_by(t_ctx(), &d, in, idx, 8, out),
                "gp_gather_by: desc->size is 24, expected 56: start from its initializer macro");
    d.size = sizeof d;
    expect_text(GP_ERROR_ARGUMENT, gp_gather_by(t_ctx(), &d, NULL, idx, 8, out),
                "gp_gather_by: desc->item_bytes is 0, expected 1 to 65536");
    d.item_bytes = 4;
    d.in_items = SIZE_MAX;
    expect_text(GP_ERROR_ARGUMENT, gp_gather_by(t_ctx(), &d, NULL, idx, 8, out),
                "gp_gather_by: desc->in_items is 18446744073709551615, more than 2^40");
    d.in_items = 100;
    d.index_dtype = GP_I64;
    expect_text(GP_ERROR_DTYPE, gp_gather_by(t_ctx(), &d, NULL, idx, SIZE_MAX, out),
                "gp_gather_by: desc->index_dtype is i64, expected u32 or u64");
    expect_text(GP_ERROR_POINTER, gp_gather(t_ctx(), 4, NULL, GP_I64, idx, 8, out),
                "gp_gather: in is NULL");
    expect_text(GP_ERROR_DTYPE, gp_gather(t_ctx(), 4, in, GP_I64, NULL, 8, out),
                "gp_gather: index_dtype is i64, expected u32 or u64");
    d.index_dtype = GP_U32;
    T_STATUS(GP_ERROR_POINTER, gp_gather_by(t_ctx(), &d, NULL, idx, 8, out));
    T_STATUS(GP_ERROR_POINTER, gp_gather_by(t_ctx(), &d, in, NULL, 8, out));
    T_STATUS(GP_ERROR_POINTER, gp_gather_by(t_ctx(), &d, in, idx, 8, NULL));
    T_STATUS(GP_ERROR_ARGUMENT, gp_gather_by(t_ctx(), &d, in, idx, SIZE_MAX, out));
    T_OK(gp_gather_by(t_ctx(), &d, NULL, NULL, 0, NULL));
    t_check_untouched(&a);
    t_free(&a);
}
END_TEST

/* The whole input is where the output must not be, once its length is known. */
START_TEST(test_gather_by_sees_the_end_of_its_input)
{
    t_array a = t_new(2048, 0), indices = t_new_from(&(uint32_t){0}, 4, 0);
    char *in = a.data;
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    d.item_bytes = 4;
    d.index_dtype = GP_U32;
    d.in_items = 100;
    T_STATUS(GP_ERROR_OVERLAP, gp_gather_by(t_ctx(), &d, in, indices.data, 1, in + 396));
    t_check_untouched(&a);
    T_OK(gp_gather_by(t_ctx(), &d, in, indices.data, 1, in + 400));
    d.in_items = 99;
    T_OK(gp_gather_by(t_ctx(), &d, in, indices.data, 1, in + 396));
    d.in_items = 0;
    T_OK(gp_gather_by(t_ctx(), &d, in, indices.data, 1, in + 4));
    T_STATUS(GP_ERROR_OVERLAP, gp_gather_by(t_ctx(), &d, in, indices.data, 1, in));
    T_OK(gp_context_synchronize(t_ctx()));
    t_free(&a), t_free(&indices);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("gather");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_gather_sizes, 0, 18);
    tcase_add_loop_test(c, test_gather_by_is_gather, 0, 7);
    c = t_case(s, "errors");
    tcase_add_test(c, test_gather_errors);
    tcase_add_test(c, test_gather_by_names_members);
    tcase_add_test(c, test_gather_by_sees_the_end_of_its_input);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
