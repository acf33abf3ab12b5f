/* SPDX-License-Identifier: MIT */
/*
 * Large sorts, made and checked where the data lies: keys of 32 bits spread as the benchmark's
 * suite `distributions` spreads them, and beside each its position.
 */
#ifndef GP_TEST_ORDER_CHECK_H
#define GP_TEST_ORDER_CHECK_H

#include <gp/core.h>

#include "../../bench/bench_spread.h"

/* What a stable sort by the keys must give, item by item, is that
 *   - each position is of the key beside it, and
 *   - of two neighbours the key rises, or it stays and the position rises.
 * Then no position is there twice: equal positions have equal keys, and among those they rise. So n
 * positions below n are all of them, and the keys are those of the input. */
BENCH_INLINE int t_order_wrong(const uint32_t *before, const uint32_t *keys,
                               const uint32_t *positions, uint64_t i, uint64_t n)
{
    if (positions[i] >= n || before[positions[i]] != keys[i])
        return 1;
    return i > 0 &&
           (keys[i] < keys[i - 1] || (keys[i] == keys[i - 1] && positions[i] <= positions[i - 1]));
}

#ifdef __cplusplus
extern "C" {
#endif

/* In memory of the run's context: n keys and their positions. */
void t_order_fill(enum bench_spread spread, uint64_t n, uint32_t *keys, uint32_t *positions);

/* How many items are wrong, of arrays in memory of the run's context. */
uint64_t t_order_count_wrong(const uint32_t *before, const uint32_t *keys,
                             const uint32_t *positions, uint64_t n);

/* The same on the device of the current CUDA context, in order with the stream. */
void t_order_fill_cuda(gp_stream stream, enum bench_spread spread, uint64_t seed, uint64_t n,
                       uint32_t *keys, uint32_t *positions);
uint64_t t_order_count_wrong_cuda(gp_stream stream, const uint32_t *before, const uint32_t *keys,
                                  const uint32_t *positions, uint64_t n);

#ifdef __cplusplus
}
#endif
#endif
