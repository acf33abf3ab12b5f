/* SPDX-License-Identifier: MIT */
/* Every error of unique keys, lengths of runs and reduction by key; what may be NULL; no items. */
#include <string.h>

#include "group_check.h"

enum { N = 100 };

/* Arrays of every call, and what they are called with. */
struct arrays {
    t_array keys, values, out, more, indices, count;
};

static struct arrays arrays_new(void)
{
    return (struct arrays){t_new(N * 4, 0), t_new(N * 8, 0), t_new(N * 8, 0),
                           t_new(N * 8, 0), t_new(N * 8, 0), t_new(8, 0)};
}

static void arrays_free(struct arrays *a)
{
    t_free(&a->keys), t_free(&a->values), t_free(&a->out);
    t_free(&a->more), t_free(&a->indices), t_free(&a->count);
}

static void untouched(const struct arrays *a)
{
    t_check_untouched(&a->out);
    t_check_untouched(&a->more);
    t_check_untouched(&a->indices);
    t_check_untouched(&a->count);
}

START_TEST(test_group_unique_errors)
{
    struct arrays a = arrays_new();
    gp_unique_desc d = GP_UNIQUE_DESC_INIT, e;
    void *k = a.keys.data, *v = a.values.data, *out = a.out.data, *more = a.more.data;
    void *at = a.indices.data;
    uint64_t *c = a.count.data;
    d.key_dtype = GP_U32, d.value_bytes = 8, d.index_dtype = GP_U64;
#define REFUSED(status, change, ...)                                                               \
    do {                                                                                           \
        e = d;                                                                                     \
        change;                                                                                    \
        T_STATUS(status, gp_unique_by(t_ctx(), &e, __VA_ARGS__));                                  \
        untouched(&a);                                                                             \
    } while (0)
#define DESC(status, change) REFUSED(status, change, k, v, N, out, more, at, c)
    DESC(GP_ERROR_ARGUMENT, e.size = 1);
    DESC(GP_ERROR_DTYPE, e.key_dtype = (gp_dtype)13);
    DESC(GP_ERROR_ARGUMENT, e.key_dtype = 0); /* and no key_bytes */
    DESC(GP_ERROR_ARGUMENT, e.key_bytes = 8);
    DESC(GP_ERROR_ARGUMENT, (e.key_dtype = 0, e.key_bytes = 65537));
    DESC(GP_ERROR_ARGUMENT, e.value_bytes = 65537);
    DESC(GP_ERROR_DTYPE, e.index_dtype = 0);
    DESC(GP_ERROR_DTYPE, e.index_dtype = GP_I32);
    DESC(GP_ERROR_POINTER, e.device_n = (const uint64_t *)(const void *)((char *)k + 4));
#define ARRAYS(status, ...) REFUSED(status, (void)0, __VA_ARGS__)
    ARRAYS(GP_ERROR_POINTER, NULL, v, N, out, more, at, c);
    ARRAYS(GP_ERROR_POINTER, (char *)k + 2, v, N, out, more, at, c);
    ARRAYS(GP_ERROR_POINTER, k, NULL, N, out, more, at, c);
    ARRAYS(GP_ERROR_POINTER, k, v, N, (char *)out + 1, more, at, c);
    ARRAYS(GP_ERROR_POINTER, k, v, N, out, NULL, at, c);
    ARRAYS(GP_ERROR_POINTER, k, v, N, out, more, (char *)at + 4, c);
    ARRAYS(GP_ERROR_POINTER, k, v, N, out, more, at, NULL);
    ARRAYS(GP_ERROR_ARGUMENT, k, v, ((size_t)1 << 40) + 1, out, more, at, c);
    REFUSED(GP_ERROR_ARGUMENT, e.index_dtype = GP_U32, k, v, (size_t)1 << 32, out, more, at, c);
    ARRAYS(GP_ERROR_OVERLAP, k, v, N, k, more, at, c);
    ARRAYS(GP_ERROR_OVERLAP, k, v, N, out, out, at, c);
    ARRAYS(GP_ERROR_OVERLAP, k, v, N, out, more, v, c);
    ARRAYS(GP_ERROR_OVERLAP, k, v, N, out, more, at, at);
    T_STATUS(GP_ERROR_POINTER, gp_unique_by(t_ctx(), NULL, k, v, N, out, more, at, c));
    T_STATUS(GP_ERROR_DTYPE, gp_unique(t_ctx(), 0, k, N, out, c));
    T_STATUS(GP_ERROR_POINTER, gp_unique(t_ctx(), GP_U32, k, N, NULL, c));
    untouched(&a);
    arrays_free(&a);
#undef REFUSED
#undef DESC
#undef ARRAYS
}
END_TEST

START_TEST(test_group_lengths_errors)
{
    struct arrays a = arrays_new();
    gp_run_length_desc d = GP_RUN_LENGTH_DESC_INIT, e;
    void *k = a.keys.data, *out = a.out.data, *more = a.more.data, *at = a.indices.data;
    uint64_t *c = a.count.data;
    d.key_dtype = GP_U32, d.index_dtype = GP_U64;
#define REFUSED(status, change, ...)                                                               \
    do {                                                                                           \
        e = d;                                                                                     \
        change;                                                                                    \
        T_STATUS(status, gp_run_length_encode_by(t_ctx(), &e, __VA_ARGS__));                       \
        untouched(&a);                                                                             \
    } while (0)
    REFUSED(GP_ERROR_ARGUMENT, e.size = 1, k, N, out, at, more, c);
    REFUSED(GP_ERROR_DTYPE, e.key_dtype = (gp_dtype)77, k, N, out, at, more, c);
    REFUSED(GP_ERROR_DTYPE, e.index_dtype = 0, k, N, out, at, more, c);
    REFUSED(GP_ERROR_ARGUMENT, e.reserved = 1, k, N, out, at, more, c);
    REFUSED(GP_ERROR_ARGUMENT, e.key_bytes = 3, k, N, out, at, more, c);
    REFUSED(GP_ERROR_POINTER, (void)0, NULL, N, out, at, more, c);
    REFUSED(GP_ERROR_POINTER, (void)0, k, N, out, at, (char *)more + 4, c);
    REFUSED(GP_ERROR_POINTER, (void)0, k, N, out, at, more, NULL);
    REFUSED(GP_ERROR_OVERLAP, (void)0, k, N, out, at, at, c);
    REFUSED(GP_ERROR_ARGUMENT, e.index_dtype = GP_U32, k, (size_t)1 << 32, out, at, more, c);
    T_STATUS(GP_ERROR_DTYPE, gp_run_length_encode(t_ctx(), GP_U32, k, N, GP_I64, out, more, c));
    T_STATUS(GP_ERROR_POINTER, gp_run_length_encode(t_ctx(), GP_U32, k, N, GP_U64, out, NULL, c));
    untouched(&a);
    arrays_free(&a);
#undef REFUSED
}
END_TEST

START_TEST(test_group_reduce_errors)
{
    struct arrays a = arrays_new();
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT, e;
    void *k = a.keys.data, *v = a.values.data, *out = a.out.data, *more = a.more.data;
    uint64_t *c = a.count.data;
    d.key_dtype = GP_U32, d.in_dtype = GP_F32;
#define REFUSED(status, change, ...)                                                               \
    do {                                                                                           \
        e = d;                                                                                     \
        change;                                                                                    \
        T_STATUS(status, gp_reduce_by_key(t_ctx(), &e, __VA_ARGS__));                              \
        untouched(&a);                                                                             \
    } while (0)
    REFUSED(GP_ERROR_ARGUMENT, e.size = 1, k, v, N, out, more, c);
    REFUSED(GP_ERROR_DTYPE, e.key_dtype = (gp_dtype)77, k, v, N, out, more, c);
    REFUSED(GP_ERROR_DTYPE, e.in_dtype = 0, k, v, N, out, more, c);
    REFUSED(GP_ERROR_DTYPE, e.out_dtype = GP_U32, k, v, N, out, more, c);
    REFUSED(GP_ERROR_OP, e.op = 0, k, v, N, out, more, c);
    REFUSED(GP_ERROR_OP, e.op = GP_XOR, k, v, N, out, more, c);
    REFUSED(GP_ERROR_POINTER, (void)0, k, NULL, N, out, more, c);
    REFUSED(GP_ERROR_POINTER, (void)0, k, (char *)v + 1, N, out, more, c);
    REFUSED(GP_ERROR_POINTER, (void)0, k, v, N, out, NULL, c);
    REFUSED(GP_ERROR_POINTER, (void)0, k, v, N, out, more, NULL);
    REFUSED(GP_ERROR_OVERLAP, (void)0, k, v, N, out, v, c);
    REFUSED(GP_ERROR_OVERLAP, (void)0, k, v, N, out, out, c);
    REFUSED(GP_ERROR_ARGUMENT, (void)0, k, v, ((size_t)1 << 40) + 1, out, more, c);
    arrays_free(&a);
#undef REFUSED
}
END_TEST

START_TEST(test_group_of_nothing_writes_zero_count)
{
    struct arrays a = arrays_new();
    gp_unique_desc u = GP_UNIQUE_DESC_INIT;
    gp_run_length_desc r = GP_RUN_LENGTH_DESC_INIT;
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    uint64_t *c = a.count.data;
    u.key_dtype = r.key_dtype = d.key_dtype = d.in_dtype = GP_U32, r.index_dtype = GP_U32;
    T_OK(gp_unique_by(t_ctx(), &u, NULL, NULL, 0, NULL, NULL, NULL, c));
    ck_assert_uint_eq(t_get_u64(&a.count), 0);
    t_poison(&a.count);
    T_OK(gp_run_length_encode_by(t_ctx(), &r, NULL, 0, NULL, NULL, NULL, c));
    ck_assert_uint_eq(t_get_u64(&a.count), 0);
    t_poison(&a.count);
    T_OK(gp_reduce_by_key(t_ctx(), &d, NULL, NULL, 0, a.out.data, a.more.data, c));
    ck_assert_uint_eq(t_get_u64(&a.count), 0);
    T_OK(gp_unique(t_ctx(), GP_U32, NULL, 0, NULL, c));
    t_check_untouched(&a.out);
    t_check_untouched(&a.more);
    arrays_free(&a);
}
END_TEST

/* Without an output the others are the same. */
START_TEST(test_group_outputs_may_be_null)
{
    const uint32_t keys[5] = {3, 3, 1, 1, 1}, lengths[2] = {2, 3};
    t_array in = t_new_from(keys, sizeof keys, 0), out = t_new(8, 0), count = t_new(8, 0);
    gp_run_length_desc r = GP_RUN_LENGTH_DESC_INIT;
    gp_unique_desc u = GP_UNIQUE_DESC_INIT;
    char actual[8];
    r.key_dtype = u.key_dtype = GP_U32, r.index_dtype = GP_U32;
    T_OK(gp_run_length_encode_by(t_ctx(), &r, in.data, 5, NULL, NULL, out.data, count.data));
    t_get(&out, actual, 8);
    t_same_bytes("lengths", lengths, actual, 8);
    T_OK(gp_unique_by(t_ctx(), &u, in.data, NULL, 5, NULL, NULL, NULL, count.data));
    ck_assert_uint_eq(t_get_u64(&count), 2);
    t_free(&in), t_free(&out), t_free(&count);
}
END_TEST

START_TEST(test_group_workspace_errors)
{
    gp_unique_desc u = GP_UNIQUE_DESC_INIT;
    gp_run_length_desc r = GP_RUN_LENGTH_DESC_INIT;
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    gp_group_by_desc g = GP_GROUP_BY_DESC_INIT;
    size_t bytes = 77;
    u.key_dtype = r.key_dtype = d.key_dtype = g.key_dtype = GP_U32;
    d.in_dtype = r.index_dtype = GP_U32;
    ck_assert_int_eq(gp_unique_workspace_bytes(NULL, &u, N, NULL), GP_ERROR_POINTER);
    ck_assert_int_eq(gp_run_length_encode_workspace_bytes(NULL, &r, N, NULL), GP_ERROR_POINTER);
    ck_assert_int_eq(gp_reduce_by_key_workspace_bytes(NULL, &d, N, NULL), GP_ERROR_POINTER);
    ck_assert_int_eq(gp_group_by_workspace_bytes(NULL, &g, N, NULL), GP_ERROR_POINTER);
    ck_assert_int_eq(gp_unique_workspace_bytes(NULL, NULL, N, &bytes), GP_ERROR_POINTER);
    u.key_bytes = 5, r.index_dtype = GP_F32, d.op = 0, g.key_dtype = 0;
    ck_assert_int_eq(gp_unique_workspace_bytes(NULL, &u, N, &bytes), GP_ERROR_ARGUMENT);
    ck_assert_int_eq(gp_run_length_encode_workspace_bytes(NULL, &r, N, &bytes), GP_ERROR_DTYPE);
    ck_assert_int_eq(gp_reduce_by_key_workspace_bytes(NULL, &d, N, &bytes), GP_ERROR_OP);
    ck_assert_int_eq(gp_group_by_workspace_bytes(NULL, &g, N, &bytes), GP_ERROR_DTYPE);
    ck_assert_uint_eq(bytes, 77);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("group_errors");
    TCase *c = t_case(s, "errors");
    tcase_add_test(c, test_group_unique_errors);
    tcase_add_test(c, test_group_lengths_errors);
    tcase_add_test(c, test_group_reduce_errors);
    tcase_add_test(c, test_group_workspace_errors);
    c = t_case(s, "edges");
    tcase_add_test(c, test_group_of_nothing_writes_zero_count);
    tcase_add_test(c, test_group_outputs_may_be_null);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
