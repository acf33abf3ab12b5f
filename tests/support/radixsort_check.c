/* SPDX-License-Identifier: MIT */
/* Checked sorts, and keys to sort. */
#include "radixsort_check.h"

gp_radix_sort_options options_of(const struct spec *s)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.order = s->descending ? GP_DESCENDING : GP_ASCENDING;
    o.begin_bit = s->begin;
    o.end_bit = s->end;
    o.algorithm = s->cub ? GP_ALGORITHM_CUB : GP_ALGORITHM_AUTO;
    return o;
}

void *values_new(size_t n, size_t value_bytes)
{
    unsigned char *values = t_host(n * value_bytes);
    uint64_t state = t_seed() + value_bytes;
    for (size_t i = 0; i < n * value_bytes; i++)
        values[i] = (unsigned char)t_random(&state);
    return values;
}

void call_sort(const struct spec *s, const void *ki, const void *vi, void *ko, void *vo)
{
    gp_radix_sort_options o = options_of(s);
    if (s->value_bytes)
        T_OK(gp_radix_sort_pairs(t_ctx(), s->dtype, ki, s->value_bytes, vi, s->n, ko, vo, &o));
    else
        T_OK(gp_radix_sort(t_ctx(), s->dtype, ki, s->n, ko, &o));
}

void check_keys(const struct spec *s, const void *keys, const void *expected, const void *actual)
{
    size_t bytes = s->n * gp_dtype_bytes(s->dtype);
    bool all_bits = s->begin == 0 && (s->end == 0 || s->end == 8 * (int)gp_dtype_bytes(s->dtype));
    if (s->value_bytes == 0 && t_is_float(s->dtype) && all_bits) {
        t_same("keys", s->dtype, expected, actual, s->n);
        oracle_check_permutation(s->dtype, keys, actual, s->n);
    } else {
        t_same_bytes("keys", expected, actual, bytes);
    }
}

struct arrays arrays_new(const struct spec *s, const void *keys, const void *values)
{
    struct arrays a;
    size_t key = gp_dtype_bytes(s->dtype), value = s->value_bytes;
    a.ki = t_new_from(keys, s->n * key, s->offset * key);
    a.vi = t_new_from(values, s->n * value, s->offset * value);
    a.ko = t_new(s->n * key, s->offset * key);
    a.vo = t_new(s->n * value, s->offset * value);
    return a;
}

void arrays_check_order(const struct spec *s, const struct arrays *a, const void *keys,
                        const void *values, const size_t *order)
{
    size_t kb = s->n * gp_dtype_bytes(s->dtype), vb = s->n * s->value_bytes;
    void *host = t_host(kb > vb ? kb : vb);
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
    free(ke);
    free(ve);
}

void arrays_check(const struct spec *s, struct arrays *a, const void *keys, const void *values)
{
    size_t *order = oracle_argsort(s->dtype, keys, s->n, s->descending, s->begin, s->end);
    arrays_check_order(s, a, keys, values, order);
    free(order);
}

void check_sort(const struct spec *wanted, const void *keys)
{
    struct spec s = *wanted;
    s.n = t_at_most(s.n);
    void *values = values_new(s.n, s.value_bytes);
    struct arrays a = arrays_new(&s, keys, values);
    a.k = s.keys_in_place ? &a.ki : &a.ko;
    a.v = s.values_in_place ? &a.vi : &a.vo;
    call_sort(&s, a.ki.data, a.vi.data, a.k->data, a.v->data);
    arrays_check(&s, &a, keys, values);
    t_free(&a.ki);
    t_free(&a.ko);
    t_free(&a.vi);
    t_free(&a.vo);
    free(values);
}

void check_argsort(gp_dtype dtype, const void *keys, size_t n, gp_dtype index_dtype,
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

void fill_pattern(enum pattern pattern, gp_dtype dtype, void *keys, size_t n)
{
    static const double special[] = {0.0, -0.0, NAN, -INFINITY, INFINITY, 1.0, -1.0, 0.0};
    size_t bytes = gp_dtype_bytes(dtype);
    uint64_t state = t_seed() + (uint64_t)pattern;
    t_fill_bits(dtype, keys, n, &state);
    if (pattern == PATTERN_CONSTANT)
        for (size_t i = 1; i < n; i++)
            memcpy((char *)keys + i * bytes, keys, bytes);
    if (pattern == PATTERN_SORTED || pattern == PATTERN_REVERSED) {
        size_t *order = oracle_argsort(dtype, keys, n, pattern == PATTERN_REVERSED, 0, 0);
        void *sorted = oracle_pick(keys, bytes, order, n);
        memcpy(keys, sorted, n * bytes);
        free(sorted);
        free(order);
    }
    if (pattern == PATTERN_THREE_VALUES)
        t_fill_small(dtype, keys, n, 3, &state);
    if (pattern == PATTERN_NARROW)
        t_fill_small(dtype, keys, n, bytes == 1 ? 100 : bytes == 2 ? 2000 : 1 << 20, &state);
    if (pattern == PATTERN_RANDOM)
        t_fill_random(dtype, keys, n, &state);
    if (pattern == PATTERN_SPECIAL)
        for (size_t i = 0; i < n; i++) {
            uint64_t pick = t_random_below(&state, 10);
            if (pick < 8 && t_is_float(dtype))
                t_set(dtype, keys, i, special[pick]);
            else if (!t_is_float(dtype))
                memset((char *)keys + i * bytes, pick & 1 ? 0xff : 0, bytes);
        }
}

void *pattern_new(enum pattern pattern, gp_dtype dtype, size_t n)
{
    void *keys = t_host(n * gp_dtype_bytes(dtype));
    fill_pattern(pattern, dtype, keys, n);
    return keys;
}
