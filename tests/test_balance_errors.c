/* SPDX-License-Identifier: MIT */
/* The errors of everything in balance.h but copies of intervals. */
#include <stdlib.h>
#include <string.h>

#include <gp/balance.h>

#include "segments.h"

/* Arrays big enough for every call below; a call that fails leaves them as they are. */
struct arrays {
    t_array offsets, in, a, b;
};

static struct arrays arrays_new(void)
{
    uint32_t numbers[] = {0, 2, 4, 6, 8};
    struct arrays x = {t_new_from(numbers, sizeof numbers, 0), t_new(1024, 0), t_new(1024, 0),
                       t_new(1024, 0)};
    return x;
}

static void arrays_done(struct arrays *x)
{
    t_check_untouched(&x->a);
    t_check_untouched(&x->b);
    t_check_guards(&x->a);
    t_free(&x->offsets);
    t_free(&x->in);
    t_free(&x->a);
    t_free(&x->b);
}

static void *at(const t_array *array, size_t bytes)
{
    return (char *)array->data + bytes;
}

static const size_t too_many = ((size_t)1 << 40) + 1, above_u32 = (size_t)1 << 33;

START_TEST(test_search_errors)
{
    struct arrays x = arrays_new();
    void *o = x.offsets.data, *a = x.a.data, *b = x.b.data;
    gp_context *c = t_ctx();
    T_STATUS(GP_ERROR_POINTER, gp_balance_search(NULL, GP_U32, o, 4, 8, GP_U32, a, b));
    T_STATUS(GP_ERROR_DTYPE, gp_balance_search(c, GP_F32, o, 4, 8, GP_U32, a, b));
    T_STATUS(GP_ERROR_DTYPE, gp_balance_search(c, (gp_dtype)99, o, 4, 8, GP_U32, a, b));
    T_STATUS(GP_ERROR_DTYPE, gp_balance_search(c, GP_U32, o, 4, 8, GP_U16, a, b));
    T_STATUS(GP_ERROR_ARGUMENT, gp_balance_search(c, GP_U32, o, too_many, 8, GP_U64, a, b));
    T_STATUS(GP_ERROR_ARGUMENT, gp_balance_search(c, GP_U64, o, 4, too_many, GP_U64, a, b));
    T_STATUS(GP_ERROR_ARGUMENT, gp_balance_search(c, GP_I32, o, 4, 1u << 31, GP_U64, a, b));
    T_STATUS(GP_ERROR_POINTER, gp_balance_search(c, GP_U32, NULL, 4, 8, GP_U32, a, b));
    T_STATUS(GP_ERROR_POINTER, gp_balance_search(c, GP_U32, at(&x.offsets, 2), 3, 6, GP_U32, a, b));
    T_STATUS(GP_ERROR_POINTER, gp_balance_search(c, GP_U32, o, 4, 8, GP_U32, NULL, b));
    T_STATUS(GP_ERROR_POINTER, gp_balance_search(c, GP_U32, o, 4, 8, GP_U64, at(&x.a, 4), b));
    T_STATUS(GP_ERROR_POINTER, gp_balance_search(c, GP_U32, o, 4, 8, GP_U32, a, at(&x.b, 1)));
    T_STATUS(GP_ERROR_OVERLAP, gp_balance_search(c, GP_U32, o, 4, 8, GP_U32, o, b));
    T_STATUS(GP_ERROR_OVERLAP, gp_balance_search(c, GP_U32, o, 4, 8, GP_U32, a, o));
    T_STATUS(GP_ERROR_OVERLAP, gp_balance_search(c, GP_U32, o, 4, 8, GP_U32, a, at(&x.a, 28)));
    T_STATUS(GP_ERROR_OVERLAP, gp_balance_search(c, GP_U32, o, 4, 8, GP_U32, a, a));
    arrays_done(&x);
}
END_TEST

START_TEST(test_search_index_too_narrow)
{
    struct arrays x = arrays_new();
    void *o = x.offsets.data, *a = x.a.data;
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_balance_search(t_ctx(), GP_U64, o, above_u32, 8, GP_U32, a, NULL));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_balance_search(t_ctx(), GP_U64, o, 1u << 31, 8, GP_I32, a, NULL));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_balance_search(t_ctx(), GP_U64, o, 4, above_u32, GP_U32, a, NULL));
    arrays_done(&x);
}
END_TEST

START_TEST(test_expand_errors)
{
    struct arrays x = arrays_new();
    void *o = x.offsets.data, *i = x.in.data, *a = x.a.data;
    gp_context *c = t_ctx();
    T_STATUS(GP_ERROR_POINTER, gp_expand(NULL, 4, i, GP_U32, o, 4, 8, a));
    T_STATUS(GP_ERROR_ARGUMENT, gp_expand(c, 0, i, GP_U32, o, 4, 8, a));
    T_STATUS(GP_ERROR_ARGUMENT, gp_expand(c, 65537, i, GP_U32, o, 4, 8, a));
    T_STATUS(GP_ERROR_POINTER, gp_expand(c, 4, NULL, GP_U32, o, 4, 8, a));
    T_STATUS(GP_ERROR_DTYPE, gp_expand(c, 4, i, GP_F64, o, 4, 8, a));
    T_STATUS(GP_ERROR_POINTER, gp_expand(c, 4, i, GP_U32, NULL, 4, 8, a));
    T_STATUS(GP_ERROR_ARGUMENT, gp_expand(c, 4, i, GP_U32, o, too_many, 8, a));
    T_STATUS(GP_ERROR_ARGUMENT, gp_expand(c, 4, i, GP_U64, o, 4, too_many, a));
    T_STATUS(GP_ERROR_ARGUMENT, gp_expand(c, 4, i, GP_U32, o, 4, above_u32, a));
    T_STATUS(GP_ERROR_POINTER, gp_expand(c, 4, i, GP_U32, o, 4, 8, NULL));
    T_STATUS(GP_ERROR_OVERLAP, gp_expand(c, 4, i, GP_U32, o, 4, 8, i));
    T_STATUS(GP_ERROR_OVERLAP, gp_expand(c, 4, a, GP_U32, o, 4, 8, at(&x.a, 12)));
    T_STATUS(GP_ERROR_OVERLAP, gp_expand(c, 4, i, GP_U32, o, 4, 8, o));
    arrays_done(&x);
}
END_TEST

START_TEST(test_expand_counts_errors)
{
    struct arrays x = arrays_new();
    void *n = x.offsets.data, *i = x.in.data, *a = x.a.data;
    uint64_t *t = x.b.data;
    gp_context *c = t_ctx();
    T_STATUS(GP_ERROR_POINTER, gp_expand_counts(NULL, 4, i, GP_U32, n, 4, 8, a, t));
    T_STATUS(GP_ERROR_ARGUMENT, gp_expand_counts(c, 0, i, GP_U32, n, 4, 8, a, t));
    T_STATUS(GP_ERROR_ARGUMENT, gp_expand_counts(c, 4, i, GP_U32, n, too_many, 8, a, t));
    T_STATUS(GP_ERROR_POINTER, gp_expand_counts(c, 4, NULL, GP_U32, n, 4, 8, a, t));
    T_STATUS(GP_ERROR_DTYPE, gp_expand_counts(c, 4, i, GP_I32, n, 4, 8, a, t));
    T_STATUS(GP_ERROR_POINTER, gp_expand_counts(c, 4, i, GP_U32, NULL, 4, 8, a, t));
    T_STATUS(GP_ERROR_POINTER, gp_expand_counts(c, 4, i, GP_U64, at(&x.offsets, 4), 2, 8, a, t));
    T_STATUS(GP_ERROR_ARGUMENT, gp_expand_counts(c, 4, i, GP_U32, n, 4, too_many, a, t));
    T_STATUS(GP_ERROR_POINTER, gp_expand_counts(c, 4, i, GP_U32, n, 4, 8, NULL, t));
    T_STATUS(GP_ERROR_POINTER, gp_expand_counts(c, 4, i, GP_U32, n, 4, 8, a, NULL));
    T_STATUS(GP_ERROR_OVERLAP, gp_expand_counts(c, 4, i, GP_U32, n, 4, 8, i, t));
    T_STATUS(GP_ERROR_OVERLAP, gp_expand_counts(c, 4, i, GP_U32, n, 4, 8, n, t));
    T_STATUS(GP_ERROR_OVERLAP, gp_expand_counts(c, 4, i, GP_U32, n, 4, 8, a, a));
    T_STATUS(GP_ERROR_OVERLAP, gp_expand_counts(c, 4, i, GP_U32, n, 4, 8, a, i));
    T_STATUS(GP_ERROR_OVERLAP, gp_expand_counts(c, 4, i, GP_U32, n, 4, 8, a, n));
    arrays_done(&x);
}
END_TEST

START_TEST(test_workspace_errors)
{
    size_t bytes = 0, more = 0;
    gp_target wrong = GP_TARGET_INIT;
    wrong.size = 1;
    T_OK(gp_expand_counts_workspace_bytes(NULL, GP_U32, 1000, &bytes));
    T_OK(gp_expand_counts_workspace_bytes(NULL, GP_U64, 100000, &more));
    ck_assert_uint_ge(bytes, 8008);
    ck_assert_uint_gt(more, bytes);
    ck_assert_int_eq(gp_expand_counts_workspace_bytes(NULL, GP_F32, 1, &bytes), GP_ERROR_DTYPE);
    ck_assert_int_eq(gp_expand_counts_workspace_bytes(NULL, GP_U32, too_many, &bytes),
                     GP_ERROR_ARGUMENT);
    ck_assert_int_eq(gp_expand_counts_workspace_bytes(NULL, GP_U32, 1, NULL), GP_ERROR_POINTER);
    ck_assert_int_eq(gp_expand_counts_workspace_bytes(&wrong, GP_U32, 1, &bytes),
                     GP_ERROR_ARGUMENT);
    ck_assert(strstr(gp_last_error(NULL), "gp_expand_counts_workspace_bytes"));
}
END_TEST

START_TEST(test_partition_errors)
{
    struct arrays x = arrays_new();
    void *o = x.offsets.data, *a = x.a.data, *b = x.b.data;
    gp_context *c = t_ctx();
    T_STATUS(GP_ERROR_POINTER, gp_merge_path_partition(NULL, GP_U32, o, 4, 8, 2, a, b));
    T_STATUS(GP_ERROR_DTYPE, gp_merge_path_partition(c, GP_I16, o, 4, 8, 2, a, b));
    T_STATUS(GP_ERROR_ARGUMENT, gp_merge_path_partition(c, GP_U32, o, above_u32, 8, 2, a, b));
    T_STATUS(GP_ERROR_ARGUMENT, gp_merge_path_partition(c, GP_U64, o, 4, too_many, 2, a, b));
    T_STATUS(GP_ERROR_ARGUMENT, gp_merge_path_partition(c, GP_U32, o, 4, 8, 0, a, b));
    T_STATUS(GP_ERROR_ARGUMENT, gp_merge_path_partition(c, GP_U32, o, 4, 8, too_many, a, b));
    T_STATUS(GP_ERROR_POINTER, gp_merge_path_partition(c, GP_U32, NULL, 4, 8, 2, a, b));
    T_STATUS(GP_ERROR_POINTER, gp_merge_path_partition(c, GP_U32, o, 4, 8, 2, NULL, b));
    T_STATUS(GP_ERROR_POINTER, gp_merge_path_partition(c, GP_U32, o, 4, 8, 2, a, at(&x.b, 2)));
    T_STATUS(GP_ERROR_OVERLAP, gp_merge_path_partition(c, GP_U32, o, 4, 8, 2, o, b));
    T_STATUS(GP_ERROR_OVERLAP, gp_merge_path_partition(c, GP_U32, o, 4, 8, 2, a, o));
    T_STATUS(GP_ERROR_OVERLAP, gp_merge_path_partition(c, GP_U32, o, 4, 8, 2, a, at(&x.a, 8)));
    arrays_done(&x);
}
END_TEST

START_TEST(test_bound_errors)
{
    struct arrays x = arrays_new();
    void *s = x.offsets.data, *n = x.in.data, *a = x.a.data;
    gp_context *c = t_ctx();
    for (int k = 0; k < 2; k++) {
        gp_status (*f)(gp_context *, gp_dtype, const void *, size_t, const void *, size_t, gp_dtype,
                       void *) = k ? gp_upper_bound : gp_lower_bound;
        T_STATUS(GP_ERROR_POINTER, f(NULL, GP_U32, s, 4, n, 8, GP_U32, a));
        T_STATUS(GP_ERROR_DTYPE, f(c, (gp_dtype)0, s, 4, n, 8, GP_U32, a));
        T_STATUS(GP_ERROR_DTYPE, f(c, GP_U32, s, 4, n, 8, GP_F32, a));
        T_STATUS(GP_ERROR_POINTER, f(c, GP_U32, NULL, 4, n, 8, GP_U32, a));
        T_STATUS(GP_ERROR_ARGUMENT, f(c, GP_U8, s, too_many, n, 8, GP_U64, a));
        T_STATUS(GP_ERROR_ARGUMENT, f(c, GP_U8, s, above_u32, n, 8, GP_U32, a));
        T_STATUS(GP_ERROR_ARGUMENT, f(c, GP_U8, s, 4, n, too_many, GP_U32, a));
        T_STATUS(GP_ERROR_POINTER, f(c, GP_U32, s, 4, NULL, 8, GP_U32, a));
        T_STATUS(GP_ERROR_POINTER, f(c, GP_U32, s, 4, at(&x.in, 1), 8, GP_U32, a));
        T_STATUS(GP_ERROR_POINTER, f(c, GP_U32, s, 4, n, 8, GP_U32, NULL));
        T_STATUS(GP_ERROR_OVERLAP, f(c, GP_U32, s, 4, n, 8, GP_U32, s));
        T_STATUS(GP_ERROR_OVERLAP, f(c, GP_U32, s, 4, n, 8, GP_U32, at(&x.in, 4)));
        T_STATUS(GP_ERROR_OVERLAP, f(c, GP_U16, s, 4, n, 8, GP_U32, n));
    }
    arrays_done(&x);
}
END_TEST

START_TEST(test_check_offsets_errors)
{
    struct arrays x = arrays_new();
    void *o = x.offsets.data;
    T_STATUS(GP_ERROR_POINTER, gp_check_offsets(NULL, GP_U32, o, 4, 8));
    T_STATUS(GP_ERROR_DTYPE, gp_check_offsets(t_ctx(), GP_F32, o, 4, 8));
    T_STATUS(GP_ERROR_ARGUMENT, gp_check_offsets(t_ctx(), GP_U32, o, too_many, 8));
    T_STATUS(GP_ERROR_ARGUMENT, gp_check_offsets(t_ctx(), GP_U32, o, 4, above_u32));
    T_STATUS(GP_ERROR_POINTER, gp_check_offsets(t_ctx(), GP_U32, NULL, 4, 8));
    T_STATUS(GP_ERROR_POINTER, gp_check_offsets(t_ctx(), GP_U64, at(&x.offsets, 4), 1, 8));
    if (t_capture_begin()) {
        T_STATUS(GP_ERROR_ARGUMENT, gp_check_offsets(t_ctx(), GP_U32, o, 4, 8));
        t_capture_end();
        t_capture_free();
    }
    T_OK(gp_check_offsets(t_ctx(), GP_U32, o, 4, 8));
    arrays_done(&x);
}
END_TEST

/* ---- run ----------------------------------------------------------------------------------- */

static Suite *suite(void)
{
    Suite *s = suite_create("balance_errors");
    TCase *c = t_case(s, "errors");
    tcase_add_test(c, test_search_errors);
    tcase_add_test(c, test_search_index_too_narrow);
    tcase_add_test(c, test_expand_errors);
    tcase_add_test(c, test_expand_counts_errors);
    tcase_add_test(c, test_workspace_errors);
    tcase_add_test(c, test_partition_errors);
    tcase_add_test(c, test_bound_errors);
    tcase_add_test(c, test_check_offsets_errors);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
