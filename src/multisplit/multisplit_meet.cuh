/* SPDX-License-Identifier: MIT */
/*
 * A multisplit at once: every share is a tile, and has a block, all of which run at the same time.
 * So the counts of all say where the items of each go, and no kernels have to find that out before.
 */
#pragma once

#include "device/block.cuh"
#include "device/lasting_barrier.cuh"
#include "device/ops.cuh"

#include "multisplit/multisplit_count.cuh"

namespace GPI_SPACE
{

/* Counts have 16 bits, and lie by bucket: of eight shares in a vector, of 32 vectors a time. Behind
 * the last share are zeros up to a whole sector, which would come from memory otherwise. */
constexpr uint32_t meet_shares = 8 * 32;
static_assert(GPI_MULTISPLIT_MEET_SHARES / meet_shares * 4 * GPI_MULTISPLIT_TILE_MAX < 1 << 16,
              "a lane's sums have 16 bits, too");

/* Those of a word's two counts that belong to the first `count` of all. */
GPI_DEVICE uint32_t meet_mask(uint32_t first, uint32_t count)
{
    return first + 1 < count ? ~0u : first < count ? 0xffff : 0;
}

GPI_DEVICE uint32_t meet_sum(uint32_t pairs)
{
    return warp_sum((pairs & 0xffff) + (pairs >> 16));
}

/* of[b]: the items of bucket b, of shares before this block's (x) and of all (y). */
template <int WARPS> GPI_DEVICE void meet_count(const SplitParams &p, uint2 (&of)[split_buckets])
{
    constexpr int batch = 2; /* buckets of a warp whose counts are on their way together */
    const uint16_t *counts = (const uint16_t *)p.shares.counts;
    const uint32_t stride = p.shares.stride, warp = threadIdx.x / 32;
    for (uint32_t b = warp; b < p.a.num_buckets; b += batch * WARPS) {
        uint32_t before[batch] = {}, all[batch] = {};
        for (uint32_t first = 8 * lane_id(); first < p.shares.number; first += meet_shares) {
            uint4 v[batch];
#pragma unroll
            for (int j = 0; j < batch; j++) {
                const uint32_t bucket = min(b + j * WARPS, p.a.num_buckets - 1);
                v[j] = __ldcg((const uint4 *)(counts + bucket * stride + first));
            }
#pragma unroll
            for (int j = 0; j < batch; j++) {
                const uint32_t words[4] = {v[j].x, v[j].y, v[j].z, v[j].w};
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    all[j] += words[i];
                    before[j] += words[i] & meet_mask(first + 2 * i, blockIdx.x);
                }
            }
        }
#pragma unroll
        for (int j = 0; j < batch; j++) {
            const uint2 sums = make_uint2(meet_sum(before[j]), meet_sum(all[j]));
            if (lane_id() == 0 && b + j * WARPS < p.a.num_buckets)
                of[b + j * WARPS] = sums;
        }
    }
}

/* own: the share's items of bucket b, of thread b. Returns where the first of them goes; one block
 * writes the offsets. The arrays are the block's, and free before and after. */
template <int WARPS>
GPI_DEVICE uint64_t split_meet(const SplitParams &p, uint32_t own, uint2 (&of)[split_buckets],
                               uint32_t (&sums)[WARPS])
{
    const uint32_t b = threadIdx.x, warp = b / 32;
    const bool is_bucket = b < p.a.num_buckets;
    uint16_t *counts = (uint16_t *)p.shares.counts + b * p.shares.stride;
    if (is_bucket)
        counts[blockIdx.x] = (uint16_t)own;
    if (is_bucket && blockIdx.x == gridDim.x - 1)
        for (uint32_t k = gridDim.x; k < p.shares.stride; k++)
            counts[k] = 0;
    LastingBarrier{p.met}.wait(gridDim.x);
    meet_count<WARPS>(p, of);
    __syncthreads();
    const uint2 items = is_bucket ? of[b] : make_uint2(0, 0);
    uint32_t begin = warp_exclusive(items.y);
    share_warp_sum(sums, warp, begin + items.y, 31);
    __syncthreads();
    fold_warps_before<Sum<uint32_t>>(begin, sums, warp);
    __syncthreads();
    if (blockIdx.x == 0 && is_bucket)
        p.a.offsets[b] = begin;
    if (blockIdx.x == 0 && b == 0)
        p.a.offsets[p.a.num_buckets] = item_count(p.a);
    return begin + items.x;
}

} // namespace GPI_SPACE
