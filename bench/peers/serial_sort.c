/* SPDX-License-Identifier: MIT */
/* A plain radix sort of one thread: stable, 8 bits a pass, the counts of all passes taken
 * in one read. */
#include "../bench.h"

#include <string.h>

enum { DIGITS = 256, PASSES_MAX = 8 };

static void offsets_from_counts(size_t *counts)
{
    size_t sum = 0;
    for (int d = 0; d < DIGITS; d++) {
        size_t count = counts[d];
        counts[d] = sum;
        sum += count;
    }
}

/* The order of floats as that of unsigned integers, and back:
 * negative numbers get all bits inverted. */
static uint32_t float_order(uint32_t bits)
{
    return bits ^ (bits >> 31 ? 0xFFFFFFFFu : 0x80000000u);
}

static uint32_t float_bits(uint32_t order)
{
    return order ^ (order >> 31 ? 0x80000000u : 0xFFFFFFFFu);
}

/* Sort n keys from in to out; scratch holds n more. With an even number of passes the last one ends
 * in out. */
#define SORT_KEYS(name, type)                                                                      \
    static void name(const type *in, type *out, type *scratch, size_t n)                           \
    {                                                                                              \
        static size_t at[PASSES_MAX][DIGITS];                                                      \
        int passes = (int)sizeof(type);                                                            \
        memset(at, 0, sizeof at);                                                                  \
        for (size_t i = 0; i < n; i++)                                                             \
            for (int p = 0; p < passes; p++)                                                       \
                at[p][in[i] >> (8 * p) & 255]++;                                                   \
        for (int p = 0; p < passes; p++) {                                                         \
            type *to = (passes - p) % 2 ? out : scratch;                                           \
            offsets_from_counts(at[p]);                                                            \
            for (size_t i = 0; i < n; i++)                                                         \
                to[at[p][in[i] >> (8 * p) & 255]++] = in[i];                                       \
            in = to;                                                                               \
        }                                                                                          \
    }

SORT_KEYS(sort_8, uint8_t)
SORT_KEYS(sort_16, uint16_t)
SORT_KEYS(sort_32, uint32_t)
SORT_KEYS(sort_64, uint64_t)

#define SORT_PAIRS(name, type, value)                                                              \
    static int name(struct bench *b, const struct bench_args *a)                                   \
    {                                                                                              \
        static size_t at[PASSES_MAX][DIGITS];                                                      \
        const type *in = (const type *)a->in;                                                      \
        const value *values = (const value *)a->values;                                            \
        value *scratch_values = bench_temp(b, a->n * (sizeof(type) + sizeof(value)));              \
        type *scratch = (type *)(void *)(scratch_values + a->n);                                   \
        int passes = (int)sizeof(type);                                                            \
        memset(at, 0, sizeof at);                                                                  \
        for (size_t i = 0; i < a->n; i++)                                                          \
            for (int p = 0; p < passes; p++)                                                       \
                at[p][in[i] >> (8 * p) & 255]++;                                                   \
        for (int p = 0; p < passes; p++) {                                                         \
            bool last = (passes - p) % 2;                                                          \
            type *to = last ? (type *)a->out : scratch;                                            \
            value *to_values = last ? (value *)a->out_values : scratch_values;                     \
            offsets_from_counts(at[p]);                                                            \
            for (size_t i = 0; i < a->n; i++) {                                                    \
                size_t place = at[p][in[i] >> (8 * p) & 255]++;                                    \
                to[place] = in[i];                                                                 \
                to_values[place] = values[i];                                                      \
            }                                                                                      \
            in = to;                                                                               \
            values = to_values;                                                                    \
        }                                                                                          \
        return BENCH_OK;                                                                           \
    }

/* 8-byte arrays first in the scratch: the others are aligned behind them. */
SORT_PAIRS(pairs_32_32, uint32_t, uint32_t)
SORT_PAIRS(pairs_32_64, uint32_t, uint64_t)
SORT_PAIRS(pairs_64_32, uint64_t, uint32_t)

static int keys_8(struct bench *b, const struct bench_args *a)
{
    sort_8(a->in, a->out, bench_temp(b, a->n), a->n);
    return BENCH_OK;
}

static int keys_16(struct bench *b, const struct bench_args *a)
{
    sort_16(a->in, a->out, bench_temp(b, a->n * 2), a->n);
    return BENCH_OK;
}

static int keys_32(struct bench *b, const struct bench_args *a)
{
    sort_32(a->in, a->out, bench_temp(b, a->n * 4), a->n);
    return BENCH_OK;
}

static int keys_64(struct bench *b, const struct bench_args *a)
{
    sort_64(a->in, a->out, bench_temp(b, a->n * 8), a->n);
    return BENCH_OK;
}

static int keys_f32(struct bench *b, const struct bench_args *a)
{
    uint32_t *scratch = bench_temp(b, a->n * 8), *ordered = scratch + a->n, *out = a->out;
    const uint32_t *in = a->in;
    for (size_t i = 0; i < a->n; i++)
        ordered[i] = float_order(in[i]);
    sort_32(ordered, out, scratch, a->n);
    for (size_t i = 0; i < a->n; i++)
        out[i] = float_bits(out[i]);
    return BENCH_OK;
}

/* The bits of a key as an unsigned number in the order of keys, or back; no key is a NaN. */
static uint64_t order_bits(gp_dtype dtype, uint64_t bits, bool back)
{
    const uint64_t sign = (uint64_t)1 << (8 * gp_dtype_bytes(dtype) - 1), all = sign | (sign - 1);
    if (dtype == GP_I32 || dtype == GP_I64)
        return bits ^ sign;
    if (dtype != GP_F32 && dtype != GP_F64)
        return bits;
    return !(bits & sign) == !back ? bits ^ sign : bits ^ all;
}

static void order_keys(gp_dtype dtype, const void *in, size_t n, bool back, void *out)
{
    if (gp_dtype_bytes(dtype) == 4)
        for (size_t i = 0; i < n; i++)
            ((uint32_t *)out)[i] = (uint32_t)order_bits(dtype, ((const uint32_t *)in)[i], back);
    else
        for (size_t i = 0; i < n; i++)
            ((uint64_t *)out)[i] = order_bits(dtype, ((const uint64_t *)in)[i], back);
}

/* A case of the suite distributions, with values of 4 bytes if any: by words. */
static int spread(struct bench *b, const struct bench_args *a)
{
    const bool wide = gp_dtype_bytes(a->dtype) == 8;
    if (a->values && a->value_bytes != 4)
        return BENCH_SKIP;
    struct bench_args words = *a;
    void *in = bench_buffer(b, BENCH_SLOT_8, a->n * gp_dtype_bytes(a->dtype));
    order_keys(a->dtype, a->in, a->n, false, in);
    words.in = in;
    if (a->values)
        wide ? pairs_64_32(b, &words) : pairs_32_32(b, &words);
    else
        wide ? keys_64(b, &words) : keys_32(b, &words);
    order_keys(a->dtype, a->out, a->n, true, a->out);
    return BENCH_OK;
}

const struct bench_peer bench_serial_sort_peers[] = {
    {"serial", "sort", "keys", GP_U8, NULL, keys_8, false},
    {"serial", "sort", "keys", GP_U16, NULL, keys_16, false},
    {"serial", "sort", "keys", GP_U32, NULL, keys_32, false},
    {"serial", "sort", "keys", GP_U64, NULL, keys_64, false},
    {"serial", "sort", "keys", GP_F32, NULL, keys_f32, false},
    {"serial", "sort", "argsort", GP_U32, NULL, pairs_32_32, false},
    {"serial", "sort", "pairs_u32", GP_U32, NULL, pairs_32_32, false},
    {"serial", "sort", "pairs_20_bits", GP_U32, NULL, pairs_32_32, false},
    {"serial", "sort", "pairs_u64", GP_U32, NULL, pairs_32_64, false},
    {"serial", "sort", "pairs_u32", GP_U64, NULL, pairs_64_32, false},
    {"serial", "distributions", NULL, (gp_dtype)0, NULL, spread, false},
    {NULL, NULL, NULL, (gp_dtype)0, NULL, NULL, false},
};
