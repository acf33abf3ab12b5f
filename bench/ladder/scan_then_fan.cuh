/* SPDX-License-Identifier: MIT */
/*
 * Scan, then fan: scan every block, scan the blocks' sums, add them. What differs between the steps
 * from "shared" to "predicated" is the scan of a block alone, the parameter BlockScan:
 * scan(v, shared) gives each of the block_items threads the sum of the v of all threads up to it,
 * and must be called by all. Sengupta, Harris, Zhang and Owens 2007.
 */
#pragma once

#include "ladder.cuh"

namespace
{
// Grid: a block per block_items items. sums[b]: the sum of block b.
template <class BlockScan>
__global__ void __launch_bounds__(block_items)
    scan_blocks_k(const item *in, size_t n, item *out, item *sums)
{
    __shared__ item s[BlockScan::shared_items];
    size_t i = size_t(blockIdx.x) * block_items + threadIdx.x;
    item v = BlockScan::scan(i < n ? in[i] : 0, s);
    if (i < n)
        out[i] = v;
    if (threadIdx.x == block_items - 1)
        sums[blockIdx.x] = v;
}

// Grid: one block, which walks over all sums.
template <class BlockScan>
__global__ void __launch_bounds__(block_items) scan_sums_k(item *sums, size_t n)
{
    __shared__ item s[BlockScan::shared_items];
    __shared__ item s_before;
    item before = 0;
    for (size_t first = 0; first < n; first += block_items) {
        size_t i = first + threadIdx.x;
        item v = before + BlockScan::scan(i < n ? sums[i] : 0, s);
        if (i < n)
            sums[i] = v;
        if (threadIdx.x == block_items - 1)
            s_before = v;
        __syncthreads();
        before = s_before;
    }
}

// Grid: a block per block_items items but the first.
__global__ void __launch_bounds__(block_items) add_sums_k(item *out, size_t n, const item *sums)
{
    size_t i = (size_t(blockIdx.x) + 1) * block_items + threadIdx.x;
    if (i < n)
        out[i] += sums[blockIdx.x];
}

enum class sums_by { one_block, recursion };

template <class BlockScan> void scan_level(const scan_call &c, item *sums, sums_by how)
{
    unsigned blocks = unsigned(divide_up(c.n, block_items));
    scan_blocks_k<BlockScan><<<blocks, block_items, 0, c.stream>>>(c.in, c.n, c.out, sums);
    if (blocks == 1)
        return;
    if (how == sums_by::recursion)
        scan_level<BlockScan>({sums, sums, blocks, c.stream}, sums + blocks, how);
    else
        scan_sums_k<BlockScan><<<1, block_items, 0, c.stream>>>(sums, blocks);
    add_sums_k<<<blocks - 1, block_items, 0, c.stream>>>(c.out, c.n, sums);
}

template <class BlockScan>
int scan_then_fan(struct bench *b, const struct bench_args *a, sums_by how)
{
    scan_call c = call_of(b, a);
    // The sums of all levels: fewer than twice those of the first, and one at least at each.
    item *sums = temp_items(b, 2 * divide_up(c.n, block_items) + 8);
    scan_level<BlockScan>(c, sums, how);
    return ladder_result();
}

// A block scan organised by warps: each warp scans its 32 items, one warp the 32 sums of warps.
// Warp::scan(v, row, lane) does so for a warp; row is shared memory of its own, Warp::row_items.
// Two barriers of the block instead of twenty. Dotsenko et al. 2008.
template <class Warp> struct by_warps {
    static constexpr int warps = block_items / 32;
    static constexpr int shared_items = warps * Warp::row_items + warps;
    static_assert(warps == 32, "the sums of the warps are scanned by one warp");

    static __device__ item scan(item v, item *s)
    {
        int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
        item *row = s + warp * Warp::row_items, *sums = s + warps * Warp::row_items;
        v = Warp::scan(v, row, lane);
        if (lane == 31)
            sums[warp] = v;
        __syncthreads();
        if (warp == 0)
            sums[lane] = Warp::scan(sums[lane], row, lane);
        __syncthreads();
        return warp ? v + sums[warp - 1] : v;
    }
};
} // namespace
