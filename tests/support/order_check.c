/* SPDX-License-Identifier: MIT */
#include "order_check.h"

#include "gp_test.h"

void t_order_fill(enum bench_spread spread, uint64_t n, uint32_t *keys, uint32_t *positions)
{
    if (t_is_cuda()) {
        t_order_fill_cuda(gp_context_stream(t_ctx()), spread, t_seed(), n, keys, positions);
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        keys[i] = bench_spread_bits(spread, i, n, bench_hash(t_seed(), i));
        positions[i] = (uint32_t)i;
    }
}

uint64_t t_order_count_wrong(const uint32_t *before, const uint32_t *keys,
                             const uint32_t *positions, uint64_t n)
{
    uint64_t wrong = 0;
    if (t_is_cuda())
        return t_order_count_wrong_cuda(gp_context_stream(t_ctx()), before, keys, positions, n);
    for (uint64_t i = 0; i < n; i++)
        wrong += (uint64_t)t_order_wrong(before, keys, positions, i, n);
    return wrong;
}
