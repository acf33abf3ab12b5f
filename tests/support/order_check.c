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
        keys[i] = (uint32_t)bench_spread_bits(spread, spread == BENCH_UNIT, 4, i, n,
                                              bench_hash(t_seed(), i));
        if (positions)
            positions[i] = (uint32_t)i;
    }
}

uint64_t t_order_count_wrong(const struct t_order *order)
{
    uint64_t wrong = 0;
    if (t_is_cuda())
        return t_order_count_wrong_cuda(gp_context_stream(t_ctx()), order);
    for (uint64_t i = 0; i < order->n; i++)
        wrong += (uint64_t)t_order_wrong(order, i);
    return wrong;
}
