/* SPDX-License-Identifier: MIT */
#include "segments.h"

#include <stdlib.h>

const gp_dtype t_index_dtypes[4] = {GP_U32, GP_I32, GP_U64, GP_I64};

static uint64_t length_of(enum t_layout layout, size_t s, size_t count, uint64_t *state)
{
    switch (layout) {
    case T_EVEN:
        return 16;
    case T_RANDOM:
        return t_random_below(state, 40);
    case T_SINGLE:
        return 1;
    case T_ONE_HUGE:
        return s == 0 ? 3 * T_BALANCE_TILE + 5 : t_random_below(state, 3);
    case T_LEADING_EMPTY:
        return s < count / 2 ? 0 : 5;
    case T_TRAILING_EMPTY:
        return s < count / 2 ? 5 : 0;
    case T_HUGE_AMONG_EMPTY:
        return s == count / 2 ? 2 * T_BALANCE_TILE + 1 : 0;
    case T_MOSTLY_EMPTY:
        return t_random_below(state, 50) == 0 ? t_random_below(state, 9) : 0;
    case T_POWER_LAW:
        return (uint64_t)1 << (t_random(state) % 64 < 60 ? t_random_below(state, 5)
                                                         : t_random_below(state, 13));
    default:
        return 0;
    }
}

struct t_segments t_segments_new(enum t_layout layout, size_t count)
{
    struct t_segments g = {t_host((count + 1) * sizeof(uint64_t)), count, 0};
    uint64_t state = t_seed() + count;
    g.offsets[0] = 0;
    for (size_t s = 0; s < count; s++)
        g.offsets[s + 1] = g.offsets[s] + length_of(layout, s, count, &state);
    g.items = (size_t)g.offsets[count];
    return g;
}

void t_store(gp_dtype dtype, void *array, size_t i, uint64_t value)
{
    if (gp_dtype_bytes(dtype) == 8)
        ((uint64_t *)array)[i] = value;
    else
        ((uint32_t *)array)[i] = (uint32_t)value;
}

t_array t_numbers_put(const uint64_t *numbers, size_t n, gp_dtype dtype, uint64_t base,
                      size_t shift)
{
    size_t bytes = gp_dtype_bytes(dtype);
    void *host = t_host(n * bytes);
    for (size_t i = 0; i < n; i++)
        t_store(dtype, host, i, numbers[i] + base);
    t_array a = t_new_from(host, n * bytes, shift * bytes);
    free(host);
    return a;
}

t_array t_offsets_put(const struct t_segments *g, gp_dtype dtype, uint64_t base, size_t shift)
{
    return t_numbers_put(g->offsets, g->count + 1, dtype, base, shift);
}

uint64_t t_largest_base(gp_dtype dtype, size_t items)
{
    return (dtype == GP_I32   ? INT32_MAX
            : dtype == GP_U32 ? UINT32_MAX
            : dtype == GP_I64 ? INT64_MAX
                              : UINT64_MAX) -
           items;
}

void t_numbers_check(const char *name, const uint64_t *expected, gp_dtype dtype,
                     const t_array *array, size_t n)
{
    size_t bytes = gp_dtype_bytes(dtype);
    void *want = t_host(n * bytes), *got = t_host(n * bytes);
    for (size_t i = 0; i < n; i++)
        t_store(dtype, want, i, expected[i]);
    t_get(array, got, n * bytes);
    t_same(name, dtype, want, got, n);
    t_check_guards(array);
    free(want);
    free(got);
}
