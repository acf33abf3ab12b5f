/* SPDX-License-Identifier: MIT */
/* The steps of the ladder, from the first to the last before the library's own scan. */
#include "../bench.h"

#define STEPS(X)                                                                                   \
    X("one-thread", ladder_one_thread)                                                             \
    X("thread-per-block", ladder_thread_per_block)                                                 \
    X("thread-per-item", ladder_thread_per_item)                                                   \
    X("shared", ladder_shared)                                                                     \
    X("warps", ladder_warps)                                                                       \
    X("kogge-stone", ladder_kogge_stone)                                                           \
    X("zero-padding", ladder_zero_padding)                                                         \
    X("recursion", ladder_recursion)                                                               \
    X("shuffle", ladder_shuffle)                                                                   \
    X("predicated", ladder_predicated)                                                             \
    X("items", ladder_items)                                                                       \
    X("reduce-then-scan", ladder_reduce_then_scan)                                                 \
    X("two-pass", ladder_two_pass)                                                                 \
    X("fenwick", ladder_fenwick)                                                                   \
    X("chained", ladder_chained)                                                                   \
    X("lookback", ladder_lookback)

#define DECLARE(impl, run) int run(struct bench *b, const struct bench_args *a);
STEPS(DECLARE)
#undef DECLARE

#define ENTRY(impl, run) {impl, "ladder", "inclusive_sum", GP_I32, NULL, run, false},
const struct bench_peer bench_ladder_peers[] = {
    STEPS(ENTRY){NULL, NULL, NULL, (gp_dtype)0, NULL, NULL, false},
};
#undef ENTRY
