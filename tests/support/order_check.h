/* SPDX-License-Identifier: MIT */
/*
 * Large sorts, made and checked where the data lies: keys of 32 bits spread as the benchmark's
 * suite `distributions` spreads them, and beside each its position.
 */
#ifndef GP_TEST_ORDER_CHECK_H
#define GP_TEST_ORDER_CHECK_H

#include <gp/core.h>

#include "../../bench/bench_spread.h"

/* What is to be a stable sort of n keys, in memory of the run's context. */
struct t_order {
    const uint32_t *before, *keys;
    const void *positions;
    size_t position_bytes; /* 4 or 8 */
    uint64_t n;
};

BENCH_INLINE uint64_t t_order_position(const struct t_order *o, uint64_t i)
{
    return o->position_bytes == 4 ? ((const uint32_t *)o->positions)[i]
                                  : ((const uint64_t *)o->positions)[i];
}

/* What a stable sort by the keys must give, item by item, is that
 *   - each position is of the key beside it, and
 *   - of two neighbours the key rises, or it stays and the position rises.
 * Then no position is there twice: equal positions have equal keys, and among those they rise. So n
 * positions below n are all of them, and the keys are those of the input. */
BENCH_INLINE int t_order_wrong(const struct t_order *o, uint64_t i)
{
    const uint64_t at = t_order_position(o, i);
    const uint32_t key = o->keys[i];
    if (at >= o->n || o->before[at] != key)
        return 1;
    return i > 0 &&
           (key < o->keys[i - 1] || (key == o->keys[i - 1] && at <= t_order_position(o, i - 1)));
}

#ifdef __cplusplus
extern "C" {
#endif

/* In memory of the run's context: n keys and, unless NULL, their positions. */
void t_order_fill(enum bench_spread spread, uint64_t n, uint32_t *keys, uint32_t *positions);

/* How many items are wrong. */
uint64_t t_order_count_wrong(const struct t_order *order);

/* The same on the device of the current CUDA context, in order with the stream. */
void t_order_fill_cuda(gp_stream stream, enum bench_spread spread, uint64_t seed, uint64_t n,
                       uint32_t *keys, uint32_t *positions);
uint64_t t_order_count_wrong_cuda(gp_stream stream, const struct t_order *order);

#ifdef __cplusplus
}
#endif
#endif
