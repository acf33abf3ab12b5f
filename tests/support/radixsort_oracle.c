/* SPDX-License-Identifier: MIT */
/* The expected result of a sort. */
#include "radixsort_oracle.h"

static int64_t oracle_signed(gp_dtype d, const void *keys, size_t i)
{
    return d == GP_I8    ? ((const int8_t *)keys)[i]
           : d == GP_I16 ? ((const int16_t *)keys)[i]
           : d == GP_I32 ? ((const int32_t *)keys)[i]
                         : ((const int64_t *)keys)[i];
}

static uint64_t oracle_bits(gp_dtype d, const void *keys, size_t i)
{
    size_t bytes = gp_dtype_bytes(d);
    return bytes == 1   ? ((const uint8_t *)keys)[i]
           : bytes == 2 ? ((const uint16_t *)keys)[i]
           : bytes == 4 ? ((const uint32_t *)keys)[i]
                        : ((const uint64_t *)keys)[i];
}

int oracle_compare_values(gp_dtype d, const void *keys, size_t a, size_t b)
{
    if (t_is_float(d)) {
        double x = t_value(d, keys, a), y = t_value(d, keys, b);
        if (isnan(x) || isnan(y))
            return (isnan(x) != 0) - (isnan(y) != 0);
        return (x > y) - (x < y);
    }
    if (t_is_signed(d)) {
        int64_t x = oracle_signed(d, keys, a), y = oracle_signed(d, keys, b);
        return (x > y) - (x < y);
    }
    uint64_t x = oracle_bits(d, keys, a), y = oracle_bits(d, keys, b);
    return (x > y) - (x < y);
}

uint64_t oracle_word(gp_dtype d, const void *keys, size_t i)
{
    int width = 8 * (int)gp_dtype_bytes(d);
    uint64_t all = UINT64_MAX >> (64 - width), half = (uint64_t)1 << (width - 1);
    uint64_t bits = oracle_bits(d, keys, i);
    if (t_is_signed(d))
        return bits < half ? bits + half : bits - half;
    if (!t_is_float(d))
        return bits;
    double x = t_value(d, keys, i);
    if (isnan(x))
        return all;
    if (x == 0)
        return half;
    return x < 0 ? all - bits : bits + half;
}

struct oracle_entry {
    uint64_t word;
    size_t index;
};

static int oracle_compare_entries(const void *pa, const void *pb)
{
    const struct oracle_entry *a = pa, *b = pb;
    if (a->word != b->word)
        return a->word < b->word ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Sort by words, then by index, and keep the indices, for free(). */
static size_t *oracle_order(struct oracle_entry *entries, size_t n)
{
    size_t *order = t_host(n * sizeof *order);
    qsort(entries, n, sizeof *entries, oracle_compare_entries);
    for (size_t i = 0; i < n; i++)
        order[i] = entries[i].index;
    free(entries);
    return order;
}

size_t *oracle_argsort(gp_dtype dtype, const void *keys, size_t n, bool descending, int begin,
                       int end)
{
    struct oracle_entry *entries = t_host(n * sizeof *entries);
    int width = end > begin ? end - begin : begin == 0 && end == 0 ? 64 : 0;
    uint64_t mask = width ? UINT64_MAX >> (64 - width) : 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t word = (width ? oracle_word(dtype, keys, i) >> begin : 0) & mask;
        entries[i] = (struct oracle_entry){descending ? mask - word : word, i};
    }
    return oracle_order(entries, n);
}

void *oracle_pick(const void *items, size_t item_bytes, const size_t *order, size_t n)
{
    char *out = t_host(n * item_bytes);
    for (size_t i = 0; i < n; i++)
        memcpy(out + i * item_bytes, (const char *)items + order[i] * item_bytes, item_bytes);
    return out;
}

static size_t *oracle_bits_order(gp_dtype dtype, const void *keys, size_t n)
{
    struct oracle_entry *entries = t_host(n * sizeof *entries);
    for (size_t i = 0; i < n; i++)
        entries[i] = (struct oracle_entry){oracle_bits(dtype, keys, i), i};
    return oracle_order(entries, n);
}

void oracle_check_permutation(gp_dtype dtype, const void *expected, const void *actual, size_t n)
{
    size_t bytes = gp_dtype_bytes(dtype);
    size_t *order_e = oracle_bits_order(dtype, expected, n);
    size_t *order_a = oracle_bits_order(dtype, actual, n);
    void *e = oracle_pick(expected, bytes, order_e, n);
    void *a = oracle_pick(actual, bytes, order_a, n);
    t_same_bytes("keys by bits", e, a, n * bytes);
    free(order_e), free(order_a);
    free(e), free(a);
}
