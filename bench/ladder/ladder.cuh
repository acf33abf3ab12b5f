/* SPDX-License-Identifier: MIT */
/*
 * What the steps of the ladder share on the host. Every step is an inclusive sum of n 32-bit items
 * in plain CUDA, readable on its own; docs/ladder.md walks through them in order.
 */
#pragma once

#include <cstdint>
#include <cstdio>

#include <cuda_runtime.h>

#include "../bench.h"

namespace
{
using item = uint32_t; // i32 sums wrap, which only unsigned arithmetic promises

// One thread per item from "shared" to "predicated" and in "fenwick".
constexpr int block_items = 1024;
constexpr unsigned all_lanes = 0xffffffff;

struct scan_call {
    const item *in;
    item *out;
    size_t n;
    cudaStream_t stream;
};

inline scan_call call_of(struct bench *b, const struct bench_args *a)
{
    return {static_cast<const item *>(a->in), static_cast<item *>(a->out), a->n,
            gp_context_stream(b->ctx)};
}

inline item *temp_items(struct bench *b, size_t n)
{
    return static_cast<item *>(bench_temp(b, n * sizeof(item)));
}

inline size_t divide_up(size_t n, size_t d)
{
    return (n + d - 1) / d;
}

// What a step returns: whether the last launches, or the call e, went well.
inline int ladder_result(cudaError_t e = cudaSuccess)
{
    if (e == cudaSuccess)
        e = cudaGetLastError();
    if (e == cudaSuccess)
        return BENCH_OK;
    printf("  FAILED: a kernel of the ladder: %s\n", cudaGetErrorString(e));
    return BENCH_FAIL;
}
} // namespace
