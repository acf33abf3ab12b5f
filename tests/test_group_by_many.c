/* SPDX-License-Identifier: MIT */
/* Group-by of many items with few groups, which CUDA folds without a sort (group_few_k.cuh), with
 * more, in its buckets (group_bucket_k.cuh), or with too many for that. */
#include <stdlib.h>
#include <string.h>

#include <gp/group.h>

#include "gp_test.h"

/* Items of large arrays, which repeat themselves. */
enum {
    FEW = (1 << 18) + 77,
    MANY = (1 << 22) + 77,
    FOLDED = (1 << 26) + 77,
    REPEAT = (1 << 20) - 3
};

/* Enough for folds without a sort; folded: in buckets. */
static size_t many_items(bool folded)
{
    return t_at_most(!t_is_cuda() ? FEW : folded ? FOLDED : MANY);
}

static const struct many {
    gp_dtype key, in, out;
    gp_op op;
    uint32_t groups;
    bool sparse;   /* keys of all bits */
    bool folded;   /* see many_items() */
    uint32_t rare; /* keys that are close to each other, and hardly in the array */
    bool skewed;   /* few keys have most items */
} many[] = {
    {GP_U32, GP_F32, GP_F32, GP_SUM, 100000, false, true, 0, false},
    {GP_U32, GP_F32, GP_F64, GP_SUM, 60000, true, true, 0, false},
    {GP_I64, GP_I32, GP_I64, GP_SUM, 20000, true, true, 0, false},
    {GP_F32, GP_I64, GP_I64, GP_MIN, 3000, false, true, 0, false},
    {GP_U64, GP_I32, GP_I32, GP_MAX, 2, true, true, 0, false},
    {GP_U32, GP_U32, GP_U32, GP_XOR, 1000, false, false, 0, false},
    {GP_I32, GP_F64, GP_F64, GP_MAX, 70, true, true, 0, false},
    {GP_U32, GP_F32, GP_F32, GP_SUM, 3000000, false, true, 0, false},
    {GP_F64, GP_U64, GP_U64, GP_OR, 5000, false, false, 0, false},
    {GP_U32, GP_F32, GP_F32, GP_SUM, 1000, true, true, 0, false},
    {GP_U64, GP_F64, GP_F64, GP_SUM, 30000, true, true, 0, false},
    {GP_U32, GP_F32, GP_F32, GP_SUM, 30000, true, true, 100, false},
    {GP_U64, GP_I32, GP_I64, GP_SUM, 1000, true, true, 200, false},
    {GP_I64, GP_F64, GP_F64, GP_SUM, 9000, true, true, 0, true},
    {GP_U32, GP_U32, GP_U64, GP_SUM, 90000, false, true, 0, true},
    {GP_F32, GP_F32, GP_F32, GP_MAX, 20000, false, true, 0, true},
    {GP_F64, GP_F32, GP_F64, GP_SUM, 1024, false, false, 0, false},
    {GP_U64, GP_F64, GP_F64, GP_SUM, 1025, true, false, 0, false},
    {GP_U32, GP_I32, GP_I32, GP_MIN, 1025, false, false, 0, true},
    {GP_I32, GP_U64, GP_U64, GP_SUM, 1024, true, false, 300, false},
    {GP_F32, GP_F32, GP_F32, GP_MIN, 1, false, false, 0, false},
    {GP_I32, GP_F32, GP_F32, GP_SUM, 60000, false, true, 0, false}, /* around zero */
    {GP_I64, GP_I32, GP_I64, GP_SUM, 300000, false, false, 0, false},
};
enum { MANY_CASES = sizeof many / sizeof many[0] };

static int by_number(const void *a, const void *b)
{
    const int64_t l = *(const int64_t *)a, r = *(const int64_t *)b;
    return l < r ? -1 : l > r;
}

/* Rising keys, without some that came out equal; returns how many. */
static size_t many_keys(const struct many *m, int64_t *keys, uint64_t *seed)
{
    const bool wide = gp_dtype_bytes(m->key) == 8;
    size_t count = 0;
    for (size_t g = 0; g < m->groups; g++)
        keys[g] = !m->sparse                ? (int64_t)g - (t_is_signed(m->key) ? m->groups / 2 : 0)
                  : g < m->groups - m->rare ? (int64_t)(t_random(seed) >> (wide ? 2 : 33))
                                            : ((int64_t)1 << (wide ? 62 : 31)) - 1 - (int64_t)g;
    qsort(keys, m->groups, sizeof *keys, by_number);
    for (size_t g = 0; g < m->groups; g++)
        if (count == 0 || keys[g] != keys[count - 1])
            keys[count++] = keys[g];
    return count;
}

/* Of the keys that there are. */
static uint32_t many_pick(const struct many *m, size_t groups, uint64_t *seed)
{
    if (m->rare && t_random_below(seed, 1 << 13) == 0)
        return (uint32_t)(groups - 1 - t_random_below(seed, m->rare));
    uint64_t below = groups - m->rare;
    for (int i = 0; m->skewed && i < 3; i++)
        below = 1 + t_random_below(seed, below);
    return (uint32_t)t_random_below(seed, below);
}

/* Whole numbers in every dtype; of 32 bits and more. */
static void many_set(gp_dtype dtype, void *array, size_t i, int64_t x)
{
    if (t_is_float(dtype))
        t_set(dtype, array, i, (double)x);
    else if (gp_dtype_bytes(dtype) == 8)
        ((int64_t *)array)[i] = x;
    else
        ((int32_t *)array)[i] = (int32_t)x;
}

static int64_t many_folded(gp_op op, int64_t a, int64_t b)
{
    return op == GP_SUM   ? a + b
           : op == GP_MIN ? (b < a ? b : a)
           : op == GP_MAX ? (b > a ? b : a)
           : op == GP_XOR ? (int64_t)((uint64_t)a ^ (uint64_t)b)
                          : (int64_t)((uint64_t)a | (uint64_t)b);
}

/* Arrays of a case, and its groups: the numbers of keys, folds and counts. */
struct many_arrays {
    size_t n, groups;
    char *keys, *values;
    int64_t *numbers, *folds;
    uint64_t *counts;
};

static struct many_arrays many_new(const struct many *m, uint64_t seed)
{
    struct many_arrays a = {.n = many_items(m->folded)};
    uint32_t *picks = t_host(REPEAT * sizeof *picks);
    a.numbers = t_host(m->groups * 8), a.folds = t_host(m->groups * 8);
    a.counts = t_host(m->groups * 8);
    a.groups = many_keys(m, a.numbers, &seed);
    a.keys = t_host((a.n + 1) * gp_dtype_bytes(m->key));
    a.values = t_host((a.n + 1) * gp_dtype_bytes(m->in));
    memset(a.counts, 0, m->groups * 8);
    for (size_t i = 0; i < a.n; i++) {
        if (i < REPEAT)
            picks[i] = many_pick(m, a.groups, &seed);
        const size_t g = picks[i % REPEAT];
        const int64_t x = (int64_t)(i * 7 % 13) - (t_is_signed(m->in) || t_is_float(m->in) ? 6 : 0);
        many_set(m->key, a.keys, i, a.numbers[g]);
        many_set(m->in, a.values, i, x);
        a.folds[g] = a.counts[g]++ ? many_folded(m->op, a.folds[g], x) : x;
    }
    size_t there = 0;
    for (size_t g = 0; g < a.groups; g++)
        if (a.counts[g]) {
            a.numbers[there] = a.numbers[g], a.folds[there] = a.folds[g];
            a.counts[there++] = a.counts[g];
        }
    a.groups = there;
    free(picks);
    return a;
}

static void many_free(struct many_arrays *a)
{
    free(a->keys), free(a->values), free(a->numbers), free(a->folds), free(a->counts);
}

/* An output has the first of these numbers. */
static void many_check(const char *name, gp_dtype dtype, const int64_t *numbers, t_array *out)
{
    const size_t count = out->bytes / gp_dtype_bytes(dtype);
    char *expected = t_host(out->bytes), *actual = t_host(out->bytes);
    for (size_t i = 0; i < count; i++)
        many_set(dtype, expected, i, numbers[i]);
    t_get(out, actual, out->bytes);
    t_same(name, dtype, expected, actual, count);
    t_check_guards(out);
    t_free(out);
    free(expected), free(actual);
}

static gp_aggregate aggregate_of(gp_op op, gp_dtype in, gp_dtype out)
{
    gp_aggregate g = GP_AGGREGATE_INIT;
    g.op = op, g.in_dtype = in, g.out_dtype = out;
    return g;
}

START_TEST(test_group_by_many_items)
{
    const struct many *m = &many[_i];
    const size_t key = gp_dtype_bytes(m->key), in = gp_dtype_bytes(m->in);
    struct many_arrays a = many_new(m, t_seed() + (uint64_t)_i);
    const uint64_t items = a.n, behind = _i % 2,
                   capacity = _i == 1 && a.groups > 1 ? a.groups / 2 : a.groups;
    t_array keys = t_new_from(a.keys, (a.n + 1) * key, 0), number = t_new_from(&items, 8, 0),
            values = t_new_from(a.values, (a.n + 1) * in, 0), groups = t_new(8, 0),
            keys_out = t_new(capacity * key, 0), counts = t_new(capacity * 8, 0),
            folds = t_new(capacity * gp_dtype_bytes(m->out), 0);
    gp_aggregate of[] = {aggregate_of(m->op, m->in, m->out),
                         aggregate_of((gp_op)0, (gp_dtype)0, GP_U64)};
    gp_group_by_desc d = GP_GROUP_BY_DESC_INIT;
    of[1].kind = GP_AGGREGATE_COUNT;
    of[0].values = values.data, of[0].out = folds.data, of[1].out = counts.data;
    d.key_dtype = m->key, d.num_aggregates = 2, d.aggregates = of, d.capacity = capacity;
    d.device_n = behind ? number.data : NULL;
    T_OK(gp_group_by(t_ctx(), &d, keys.data, a.n + behind, keys_out.data, groups.data));
    T_STATUS(capacity < a.groups ? GP_ERROR_CAPACITY : GP_OK, gp_context_synchronize(t_ctx()));
    ck_assert_uint_eq(t_get_u64(&groups), a.groups);
    many_check("keys", m->key, a.numbers, &keys_out);
    many_check("folds", m->out, a.folds, &folds);
    many_check("counts", GP_U64, (const int64_t *)a.counts, &counts);
    t_free(&keys), t_free(&number), t_free(&values), t_free(&groups);
    many_free(&a);
}
END_TEST

/* Sums of floats that round: the same bits twice, on as many multiprocessors as there may be. Zeros
 * of both signs are one group, whose key is the first of them. */
static const uint32_t float_groups[] = {50000, 700};

START_TEST(test_group_by_many_floats)
{
    gp_context *contexts[] = {t_context_with(0), t_context_with(5)};
    const size_t n = many_items(_i == 0), some = n < REPEAT ? n : REPEAT;
    uint64_t seed = t_seed();
    float *keys = t_host(n * 4), *values = t_host(n * 4), *sums[2], first;
    t_fill_random(GP_F32, values, some, &seed);
    for (size_t i = some; i < n; i++)
        values[i] = values[i - some];
    t_array values_d = t_new_from(values, n * 4, 0), keys_out = t_new(n * 4, 0),
            out = t_new(n * 4, 0), groups = t_new(8, 0), keys_d = t_new(n * 4, 0);
    gp_aggregate a = aggregate_of(GP_SUM, GP_F32, 0);
    gp_group_by_desc d = GP_GROUP_BY_DESC_INIT;
    a.values = values_d.data, a.out = out.data;
    d.key_dtype = GP_F32, d.num_aggregates = 1, d.aggregates = &a;
    for (int signs = 0; signs < 2; signs++) {
        for (size_t i = 0; i < n; i++)
            keys[i] = i == 0     ? 0.0f
                      : i < some ? (float)t_random_below(&seed, float_groups[_i])
                                 : keys[i - some];
        for (size_t i = 1; signs && i < n; i++)
            keys[i] = keys[i] == 0 ? -0.0f : keys[i];
        t_put(&keys_d, keys, n * 4);
        for (int k = 0; k < 2; k++) {
            T_OK(gp_group_by(contexts[k], &d, keys_d.data, n, keys_out.data, groups.data));
            T_OK(gp_context_synchronize(contexts[k]));
            sums[k] = t_host(n * 4);
            t_get(&out, sums[k], t_get_u64(&groups) * 4);
        }
        t_same_bytes("sums", sums[0], sums[1], t_get_u64(&groups) * 4);
        t_get(&keys_out, &first, 4);
        t_same_bytes("zero", keys, &first, 4);
        free(sums[0]), free(sums[1]);
    }
    t_free(&values_d), t_free(&keys_out), t_free(&out), t_free(&groups), t_free(&keys_d);
    for (int k = 0; k < 2; k++)
        gp_context_destroy(contexts[k]);
    free(keys), free(values);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("group_by_many");
    TCase *c = t_case(s, "many");
    tcase_add_loop_test(c, test_group_by_many_items, 0, MANY_CASES);
    tcase_add_loop_test(c, test_group_by_many_floats, 0, 2);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
