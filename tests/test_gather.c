/* SPDX-License-Identifier: MIT */
/* Gather: sizes of items and indices, errors. */
#include <gp/radixsort.h>

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

static Suite *suite(void)
{
    Suite *s = suite_create("gather");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_gather_sizes, 0, 18);
    c = t_case(s, "errors");
    tcase_add_test(c, test_gather_errors);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
