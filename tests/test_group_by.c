/* SPDX-License-Identifier: MIT */
/* Group-by against a serial sort and serial loops: keys of every dtype, aggregates of one and of
 * several arrays of values, capacities, errors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "group_check.h"
#include "oracle.h"

/* Items behind those that count, for calls whose number of items is in memory. */
enum { BEHIND = 700 };

/* Keys in any order, arrays of values beside them, and the same sorted. */
struct table {
    gp_dtype dtype;
    size_t n, key, *order;
    char *keys;
    group_keys sorted;
    t_array keys_d;
};

static struct table table_new(gp_dtype dtype, size_t n, size_t groups, uint64_t *seed)
{
    struct table t = {.dtype = dtype, .n = n, .key = gp_dtype_bytes(dtype)};
    t.keys = t_host(n * t.key);
    if (groups)
        t_fill_small(dtype, t.keys, n, groups, seed);
    else
        t_fill_special(dtype, t.keys, n, seed);
    t.order = bits_argsort(dtype, t.keys, n, GP_ASCENDING);
    char *sorted = group_picked(t.keys, t.key, t.order, n);
    t.sorted = group_keys_of(dtype, 0, sorted, n);
    t.keys_d = t_new((n + BEHIND) * t.key, 0);
    t_put(&t.keys_d, t.keys, n * t.key);
    free(sorted);
    return t;
}

static void table_free(struct table *t)
{
    t_free(&t->keys_d);
    group_keys_free(&t->sorted);
    free(t->order);
    free(t->keys);
}

/* One aggregate, its values and where it goes. */
struct column {
    gp_aggregate of;
    size_t bytes, out_bytes;
    char *values, *expected;
    t_array values_d, out;
};

/* What the groups of sorted values give. */
static char *expected_of(const struct table *t, const gp_aggregate *of, const char *sorted)
{
    const group_keys *k = &t->sorted;
    size_t *places = t_host((k->count + 1) * sizeof *places);
    for (size_t j = 0; j < k->count; j++)
        places[j] = of->kind == GP_AGGREGATE_LAST    ? k->heads[j + 1] - 1
                    : of->kind == GP_AGGREGATE_COUNT ? k->heads[j + 1] - k->heads[j]
                                                     : k->heads[j];
    const gp_dtype out = of->out_dtype ? of->out_dtype : of->in_dtype;
    char *expected;
    if (of->kind == GP_AGGREGATE_REDUCE) {
        expected = group_folded(of->op, of->in_dtype, out, sorted, k);
    } else if (of->kind == GP_AGGREGATE_COUNT) {
        expected = t_host(k->count * gp_dtype_bytes(out));
        for (size_t j = 0; j < k->count; j++)
            memcpy(expected + j * gp_dtype_bytes(out), &places[j], gp_dtype_bytes(out));
    } else {
        expected = group_picked(sorted, of->value_bytes, places, k->count);
    }
    free(places);
    return expected;
}

/* values: NULL for values of its own. */
static struct column column_new(const struct table *t, gp_aggregate of, const struct column *values,
                                uint64_t *seed)
{
    struct column c = {.of = of};
    const gp_dtype out = of.out_dtype ? of.out_dtype : of.in_dtype;
    const bool reduces = of.kind == GP_AGGREGATE_REDUCE, counts = of.kind == GP_AGGREGATE_COUNT;
    c.bytes = reduces ? gp_dtype_bytes(of.in_dtype) * gp_op_scalars(of.op) : of.value_bytes;
    c.bytes = counts ? 0 : c.bytes;
    c.out_bytes = reduces || counts ? gp_dtype_bytes(out) * gp_op_scalars(of.op) : of.value_bytes;
    if (values) {
        c.values = t_host(t->n * c.bytes);
        memcpy(c.values, values->values, t->n * c.bytes);
    } else if (reduces) {
        c.values = oracle_scan_input(of.in_dtype, of.op, t->n, seed);
    } else {
        c.values = t_host(t->n * c.bytes);
        t_fill_bits(GP_U8, c.values, t->n * c.bytes, seed);
    }
    char *sorted = group_picked(c.values, c.bytes, t->order, t->n);
    c.expected = expected_of(t, &of, sorted);
    free(sorted);
    c.values_d = t_new(values ? 0 : (t->n + BEHIND) * c.bytes, 0);
    t_put(&c.values_d, c.values, values ? 0 : t->n * c.bytes);
    c.out = t_new(t->sorted.count * c.out_bytes, 0);
    c.of.values = counts ? NULL : values ? values->values_d.data : c.values_d.data;
    c.of.out = c.out.data;
    return c;
}

static void column_check(struct column *c, size_t groups, int number)
{
    char name[40], *actual = t_host(c->out.bytes);
    snprintf(name, sizeof name, "aggregate %d", number);
    t_get(&c->out, actual, c->out.bytes);
    const gp_dtype dtype = c->of.kind != GP_AGGREGATE_REDUCE ? GP_U8
                           : c->of.out_dtype                 ? c->of.out_dtype
                                                             : c->of.in_dtype;
    t_same(name, dtype, c->expected, actual, groups * c->out_bytes / gp_dtype_bytes(dtype));
    t_check_guards(&c->out);
    t_free(&c->out);
    t_free(&c->values_d);
    free(actual), free(c->values), free(c->expected);
}

/* The call, and all that it writes; in turns with the number of items in memory. */
static void group_by(struct table *t, struct column *columns, int count)
{
    static int turn;
    const size_t bound = turn++ % 2 ? t->n + BEHIND : t->n;
    const uint64_t items = t->n;
    t_array number = t_new_from(&items, sizeof items, 0);
    gp_aggregate aggregates[GP_AGGREGATES_MAX];
    gp_group_by_desc d = GP_GROUP_BY_DESC_INIT;
    t_array out = t_new(t->sorted.count * t->key, 0), groups = t_new(8, 0);
    for (int i = 0; i < count; i++)
        aggregates[i] = columns[i].of;
    d.key_dtype = t->dtype, d.num_aggregates = (size_t)count, d.aggregates = aggregates;
    d.capacity = t->sorted.count;
    d.device_n = bound > t->n ? number.data : NULL;
    T_OK(gp_group_by(t_ctx(), &d, t->keys_d.data, bound, out.data, groups.data));
    ck_assert_uint_eq(t_get_u64(&groups), t->sorted.count);
    t_free(&number);
    char *actual = t_host(out.bytes);
    void *expected = group_picked(t->sorted.items, t->key, t->sorted.heads, t->sorted.count);
    t_get(&out, actual, out.bytes);
    t_same_bytes("keys", expected, actual, out.bytes);
    t_check_guards(&out);
    for (int i = 0; i < count; i++)
        column_check(&columns[i], t->sorted.count, i);
    t_free(&out);
    t_free(&groups);
    free(actual), free(expected);
}

static gp_aggregate reduce_of(gp_op op, gp_dtype in, gp_dtype out)
{
    gp_aggregate g = GP_AGGREGATE_INIT;
    g.op = op, g.in_dtype = in, g.out_dtype = out;
    return g;
}

static gp_aggregate pick_of(gp_aggregate_kind kind, size_t bytes)
{
    gp_aggregate g = GP_AGGREGATE_INIT;
    g.kind = kind, g.value_bytes = bytes;
    return g;
}

static gp_aggregate count_of(gp_dtype dtype)
{
    gp_aggregate g = GP_AGGREGATE_INIT;
    g.kind = GP_AGGREGATE_COUNT, g.out_dtype = dtype;
    return g;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const size_t group_counts[] = {1, 2, 100, 0}; /* 0: special values */

START_TEST(test_group_by_without_values)
{
    uint64_t seed = t_seed() + (uint64_t)_i;
    for (size_t g = 0; g < 4; g++) {
        struct table t = table_new(t_dtypes[_i], t_at_most(9001), group_counts[g], &seed);
        struct column both[] = {column_new(&t, count_of(GP_U32), NULL, &seed),
                                column_new(&t, count_of(GP_U64), NULL, &seed)};
        group_by(&t, NULL, 0);
        group_by(&t, both, 2);
        table_free(&t);
    }
}
END_TEST

START_TEST(test_group_by_one_array_of_values)
{
    uint64_t seed = t_seed() + (uint64_t)_i;
    for (size_t g = 0; g < 4; g++) {
        struct table t = table_new(t_dtypes[_i], t_at_most(9001), group_counts[g], &seed);
        struct column c[6];
        c[0] = column_new(&t, reduce_of(GP_SUM, GP_F32, 0), NULL, &seed);
        c[1] = column_new(&t, count_of(GP_U64), NULL, &seed);
        c[2] = column_new(&t, reduce_of(GP_SUM, GP_F32, GP_F64), &c[0], &seed);
        c[3] = column_new(&t, reduce_of(GP_MAX, GP_F32, 0), &c[0], &seed);
        c[4] = column_new(&t, pick_of(GP_AGGREGATE_FIRST, 4), &c[0], &seed);
        c[5] = column_new(&t, pick_of(GP_AGGREGATE_LAST, 4), &c[0], &seed);
        group_by(&t, c, 6);
        struct column wide[2];
        wide[0] = column_new(&t, pick_of(GP_AGGREGATE_LAST, 20), NULL, &seed);
        wide[1] = column_new(&t, pick_of(GP_AGGREGATE_FIRST, 20), &wide[0], &seed);
        group_by(&t, wide, 2);
        table_free(&t);
    }
}
END_TEST

START_TEST(test_group_by_several_arrays_of_values)
{
    uint64_t seed = t_seed() + (uint64_t)_i;
    for (size_t g = 0; g < 4; g++) {
        struct table t = table_new(t_dtypes[_i], t_at_most(5003), group_counts[g], &seed);
        struct column c[8];
        c[0] = column_new(&t, count_of(GP_U32), NULL, &seed);
        c[1] = column_new(&t, reduce_of(GP_SUM, GP_I8, GP_I64), NULL, &seed);
        c[2] = column_new(&t, reduce_of(GP_MIN, GP_F64, 0), NULL, &seed);
        c[3] = column_new(&t, pick_of(GP_AGGREGATE_LAST, 1), &c[1], &seed);
        c[4] = column_new(&t, pick_of(GP_AGGREGATE_FIRST, 100), NULL, &seed);
        c[5] = column_new(&t, reduce_of(GP_MAX, GP_F64, 0), &c[2], &seed);
        c[6] = column_new(&t, reduce_of(GP_MAT2, GP_F32, 0), NULL, &seed);
        c[7] = column_new(&t, count_of(GP_U64), NULL, &seed);
        group_by(&t, c, 8);
        table_free(&t);
    }
}
END_TEST

START_TEST(test_group_by_sizes)
{
    const size_t n = t_at_most(t_sizes[_i]);
    uint64_t seed = t_seed() + (uint64_t)_i;
    if (n == 0)
        return;
    struct table t = table_new(GP_U32, n, n / 3 + 1, &seed);
    struct column c[] = {column_new(&t, reduce_of(GP_SUM, GP_U32, GP_U64), NULL, &seed)};
    group_by(&t, c, 1);
    table_free(&t);
}
END_TEST

START_TEST(test_group_by_capacity_keeps_the_first_groups)
{
    enum { N = 5000, GROUPS = 70, ROOM = 33 };
    uint64_t seed = t_seed();
    struct table t = table_new(GP_I16, N, GROUPS, &seed);
    struct column c = column_new(&t, count_of(GP_U32), NULL, &seed);
    gp_group_by_desc d = GP_GROUP_BY_DESC_INIT;
    t_array out = t_new(ROOM * 2, 0), counts = t_new(ROOM * 4, 0), groups = t_new(8, 0);
    char actual[ROOM * 4];
    c.of.out = counts.data;
    d.key_dtype = GP_I16, d.num_aggregates = 1, d.aggregates = &c.of, d.capacity = ROOM;
    T_OK(gp_group_by(t_ctx(), &d, t.keys_d.data, N, out.data, groups.data));
    T_STATUS(GP_ERROR_CAPACITY, gp_context_synchronize(t_ctx()));
    ck_assert_ptr_nonnull(
        strstr(gp_last_error(t_ctx()), "gp_group_by: the result has 70 items, capacity is 33"));
    ck_assert_uint_eq(t_get_u64(&groups), GROUPS);
    t_get(&counts, actual, ROOM * 4);
    t_same_bytes("counts", c.expected, actual, ROOM * 4);
    t_check_guards(&counts);
    t_check_guards(&out);
    t_free(&out), t_free(&counts), t_free(&groups), t_free(&c.out), t_free(&c.values_d);
    free(c.values), free(c.expected);
    table_free(&t);
}
END_TEST

/* Counts of none, and of more than there are. */
START_TEST(test_group_by_device_n)
{
    enum { N = 300 };
    static const uint64_t given[] = {0, 1, N - 1, N, N + 1, UINT64_MAX};
    uint32_t keys[N], got[N];
    gp_group_by_desc d = GP_GROUP_BY_DESC_INIT;
    for (uint32_t i = 0; i < N; i++)
        keys[i] = i % 3 ? UINT32_MAX - i : 7;
    t_array in = t_new_from(keys, sizeof keys, 0);
    d.key_dtype = GP_U32;
    for (int i = 0; i < 6; i++) {
        const uint32_t n = given[i] < N ? (uint32_t)given[i] : N;
        t_array number = t_new_from(&given[i], 8, 0), out = t_new(sizeof keys, 0),
                groups = t_new(8, 0);
        d.device_n = number.data;
        T_OK(gp_group_by(t_ctx(), &d, in.data, N, out.data, groups.data));
        const uint64_t some = n > 0, others = n - (n + 2) / 3;
        ck_assert_uint_eq(t_get_u64(&groups), some + others);
        t_get(&out, got, sizeof got);
        if (some)
            ck_assert_uint_eq(got[0], 7);
        for (uint32_t last = UINT32_MAX, j = 0, k = 1; j < n; j++)
            if (j % 3 && k <= others) {
                last = got[others + 1 - k++];
                ck_assert_uint_eq(last, UINT32_MAX - j);
            }
        t_check_guards(&out);
        t_free(&number), t_free(&out), t_free(&groups);
    }
    t_free(&in);
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

START_TEST(test_group_by_errors)
{
    enum { N = 100 };
    t_array keys = t_new(N * 4, 0), out = t_new(N * 8, 0), more = t_new(N * 8, 0);
    t_array count = t_new(8, 0);
    gp_group_by_desc d = GP_GROUP_BY_DESC_INIT, e;
    gp_aggregate g[2] = {reduce_of(GP_SUM, GP_U32, 0), count_of(GP_U64)}, h[2];
    g[0].values = keys.data, g[0].out = more.data, g[1].out = out.data;
    d.key_dtype = GP_U32, d.num_aggregates = 2;
    uint32_t *k = keys.data;
    uint64_t *c = count.data;
#define REFUSED(status, change)                                                                    \
    do {                                                                                           \
        memcpy(h, g, sizeof h);                                                                    \
        e = d, e.aggregates = h;                                                                   \
        change;                                                                                    \
        T_STATUS(status, gp_group_by(t_ctx(), &e, k, N, NULL, c));                                 \
        t_check_untouched(&out);                                                                   \
        t_check_untouched(&more);                                                                  \
        t_check_untouched(&count);                                                                 \
    } while (0)
    REFUSED(GP_ERROR_DTYPE, e.key_dtype = 0);
    REFUSED(GP_ERROR_DTYPE, e.key_dtype = (gp_dtype)13);
    REFUSED(GP_ERROR_ARGUMENT, e.reserved = 1);
    REFUSED(GP_ERROR_ARGUMENT, e.size--);
    REFUSED(GP_ERROR_ARGUMENT, e.num_aggregates = GP_AGGREGATES_MAX + 1);
    REFUSED(GP_ERROR_POINTER, e.aggregates = NULL);
    REFUSED(GP_ERROR_ARGUMENT, h[0].size = 8);
    REFUSED(GP_ERROR_ARGUMENT, h[1].kind = (gp_aggregate_kind)0);
    REFUSED(GP_ERROR_ARGUMENT, h[1].kind = (gp_aggregate_kind)5);
    REFUSED(GP_ERROR_DTYPE, h[0].in_dtype = 0);
    REFUSED(GP_ERROR_DTYPE, h[0].out_dtype = GP_I64);
    REFUSED(GP_ERROR_DTYPE, h[1].out_dtype = GP_I64);
    REFUSED(GP_ERROR_OP, h[0].op = (gp_op)0);
    REFUSED(GP_ERROR_OP, h[0].op = GP_AFFINE);
    REFUSED(GP_ERROR_POINTER, h[0].values = NULL);
    REFUSED(GP_ERROR_POINTER, h[0].values = (char *)keys.data + 1);
    REFUSED(GP_ERROR_POINTER, h[1].out = NULL);
    REFUSED(GP_ERROR_OVERLAP, h[1].out = h[0].out);
    REFUSED(GP_ERROR_OVERLAP, h[1].out = keys.data);
    h[0] = pick_of(GP_AGGREGATE_LAST, 0);
    REFUSED(GP_ERROR_ARGUMENT, h[0] = pick_of(GP_AGGREGATE_LAST, 0));
    REFUSED(GP_ERROR_ARGUMENT, h[0] = pick_of(GP_AGGREGATE_FIRST, 65537));
    k = NULL;
    REFUSED(GP_ERROR_POINTER, e.size = sizeof e);
    k = keys.data, c = NULL;
    REFUSED(GP_ERROR_POINTER, e.size = sizeof e);
    c = count.data;
#undef REFUSED
    e = d, e.aggregates = g;
    T_STATUS(GP_ERROR_ARGUMENT, gp_group_by(t_ctx(), &e, k, ((size_t)1 << 40) + 1, NULL, c));
    T_STATUS(GP_ERROR_POINTER, gp_group_by(t_ctx(), NULL, k, N, NULL, c));
    T_OK(gp_group_by(t_ctx(), &e, NULL, 0, NULL, c));
    ck_assert_uint_eq(t_get_u64(&count), 0);
    t_check_untouched(&out);
    t_free(&keys), t_free(&out), t_free(&more), t_free(&count);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("group_by");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_group_by_without_values, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_group_by_one_array_of_values, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_group_by_several_arrays_of_values, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_group_by_sizes, 0, T_SIZE_SMALL_COUNT);
    tcase_add_test(c, test_group_by_capacity_keeps_the_first_groups);
    tcase_add_test(c, test_group_by_device_n);
    c = t_case(s, "errors");
    tcase_add_test(c, test_group_by_errors);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
