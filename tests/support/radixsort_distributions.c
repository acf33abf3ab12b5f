/* SPDX-License-Identifier: MIT */
/* Keys of many distributions, and a check of their sorts in linear time. */
#include "radixsort_distributions.h"

/* The sum of four numbers, less its mean; below twice the limit, or as far below zero. */
static uint64_t bell(uint64_t random, uint64_t limit)
{
    uint64_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (random >> 16 * i & 0xffff) * (limit / 0x10000 + 1);
    return sum - 2 * 0x10000 * (limit / 0x10000 + 1);
}

static uint64_t key_of(enum kind kind, size_t i, size_t n, int width, uint64_t random)
{
    uint64_t top = (uint64_t)1 << (width - 1), all = top | (top - 1);
    switch (kind) {
    case LOW_BITS:
        return random & 0xfffff & all;
    case HIGH_BITS:
        return random & all & ~((uint64_t)0xff);
    case EQUAL:
        return 0x5a5a5a5a5a5a5a5a & all;
    case TWO_VALUES:
        return random & 1 ? all - 1 : 1;
    case SORTED:
        return (uint64_t)i * (all / n);
    case REVERSED:
        return (uint64_t)(n - i) * (all / n);
    case MOST_EQUAL:
        return random % 50 ? 0x1234567 & all : (random >> 8) & all;
    case EQUAL_HEADS:
        return ((random % 6007) << (width > 13 ? width - 13 : 0) | (random >> 32) % 4093) & all;
    case FEW_VALUES:
        return (random % 97) * (all / 97);
    case CLUSTERS:
        return ((random % 5) << (width - 3) | ((random >> 8) % 7) << 13 | (random >> 32 & 7)) & all;
    case SOMEWHAT_TOO_LARGE:
        return ((random % 450) << (width - 9) ^ (random >> 32) % ((top >> 8) | 1)) & all;
    case PART_OF_RANGE:
        return all / 16 * 7 + random % (all / 16 * 5);
    case ONE_LARGE:
        return random % (n / 12000 + 1) ? random & all : (all / 3 ^ (random >> 32) % 0xfffff) & all;
    case BELL:
        return (top + bell(random, top >> 20 | 0x3ff)) & all;
    case NUMBER_PAIRS:
        return (random % 300 * (random >> 32 & 0xff) << width / 2 | (random >> 40 & 0xfff)) & all;
    case HASHED:
        return ((random >> 8 & 0xffff) >> random % 16) * 0x9e3779b97f4a7c15u >> (64 - width);
    case COUNTS:
        return random % 97 * (random >> 32 & 0xff) >> 8;
    case AROUND_ZERO:
        return ((random >> 8) % 2001 - 1000) & all;
    case ONE_BELOW:
        if (i == n / 2 + 7)
            return 3;
        /* fall through */
    case CROSSING:
        return (top / 2 + (random >> 8) % 5000017 - 2500003) & all;
    case WIDE_BELL:
        return (top / 2 + bell(random, 1 << 23)) & all;
    case FAR_APART:
        return ((random % 8) * (all / 11) + (random >> 32) % 5000) & all;
    case EDGE_BEYOND:
    case EDGES_BEYOND:
        if (i % (n / 2 + 1) == n / 3)
            return kind == EDGE_BEYOND ? top : random & all;
        /* fall through */
    case EDGES:
        return ((random & random >> 16 & 0xffff) << width / 2 |
                (random >> 32 & random >> 48 & 0xffff)) &
               all;
    case SOME_APART:
        return random % 4           ? random & all
               : (random >> 2) % 20 ? ((random >> 8) % 40 * 0x9e3779b97f4a7c15u) >> (64 - width)
                                    : (random >> 8 & 1) * all;
    default:
        return random & all;
    }
}

void *keys_new(enum kind kind, size_t n, int width)
{
    char *keys = t_host(n * (size_t)width / 8);
    uint64_t state = t_seed() + (uint64_t)kind;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = key_of(kind, i, n, width, t_random(&state));
        memcpy(keys + i * (size_t)width / 8, &key, (size_t)width / 8);
    }
    return keys;
}

size_t close_items(size_t n)
{
    return t_at_most(t_is_cuda() ? n : n / 4);
}

static uint64_t key_at(const void *keys, size_t i, int width)
{
    uint64_t key = 0;
    memcpy(&key, (const char *)keys + i * (size_t)width / 8, (size_t)width / 8);
    return key;
}

/* The order word; see gp/radixsort.h. NaNs and zeros share theirs. */
static uint64_t word_of(gp_dtype dtype, uint64_t key, int width)
{
    uint64_t sign = (uint64_t)1 << (width - 1), all = sign | (sign - 1);
    if (!t_is_float(dtype))
        return t_is_signed(dtype) ? key ^ sign : key;
    uint64_t inf = dtype == GP_F32 ? 0x7f800000 : (uint64_t)0x7ff << 52;
    if ((key & ~sign) > inf)
        return all;
    if ((key & ~sign) == 0)
        return sign;
    return key & sign ? ~key & all : key | sign;
}

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 31) * 0x7fb5d329728ea185;
    x = (x ^ x >> 27) * 0x81dadef4bc2dd44d;
    return x ^ x >> 33;
}

void check_keys_alone(gp_dtype dtype, const void *before, const void *after, size_t n)
{
    int width = 8 * (int)gp_dtype_bytes(dtype);
    uint64_t lost = 0, falls = 0, last = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t word = word_of(dtype, key_at(after, i, width), width);
        lost += mixed(key_at(before, i, width)) - mixed(key_at(after, i, width));
        falls += i && word < last;
        last = word;
    }
    ck_assert_uint_eq(falls, 0);
    ck_assert_uint_eq(lost, 0);
}

void check_pairs(gp_dtype dtype, const void *before, const void *after, const uint32_t *index,
                 size_t n)
{
    int width = 8 * (int)gp_dtype_bytes(dtype);
    uint64_t wrong = 0, last = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = key_at(after, i, width), word = word_of(dtype, key, width);
        wrong += index[i] >= n || key_at(before, index[i], width) != key;
        wrong += i && (word < last || (word == last && index[i] <= index[i - 1]));
        last = word;
    }
    ck_assert_uint_eq(wrong, 0);
}

void check_distribution(gp_dtype dtype, enum kind kind, size_t n, bool pairs, bool in_place)
{
    n = t_at_most(n);
    size_t key = gp_dtype_bytes(dtype), bytes = n * key;
    void *keys = keys_new(kind, n, 8 * (int)key), *sorted = t_host(bytes);
    uint32_t *index = t_host(n * 4);
    for (size_t i = 0; i < n; i++)
        index[i] = (uint32_t)i;
    t_array ki = t_new_from(keys, bytes, key), vi = t_new_from(index, n * 4, 4);
    t_array ko = t_new(bytes, 3 * key), vo = t_new(n * 4, 12);
    t_array *k = in_place ? &ki : &ko, *v = in_place ? &vi : &vo;
    if (pairs)
        T_OK(gp_radix_sort_pairs(t_ctx(), dtype, ki.data, 4, vi.data, n, k->data, v->data, NULL));
    else
        T_OK(gp_radix_sort(t_ctx(), dtype, ki.data, n, k->data, NULL));
    t_get(k, sorted, bytes);
    t_get(v, index, n * 4);
    if (pairs)
        check_pairs(dtype, keys, sorted, index, n);
    else
        check_keys_alone(dtype, keys, sorted, n);
    t_check_guards(k);
    t_check_guards(v);
    t_free(&ki), t_free(&vi), t_free(&ko), t_free(&vo);
    free(keys), free(sorted), free(index);
}
