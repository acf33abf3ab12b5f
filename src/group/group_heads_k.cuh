/* SPDX-License-Identifier: MIT */
/* Where runs begin, a bit per item, without an order of tiles: of short arrays. */
#pragma once

#include "group/group_runs.cuh"

namespace GPI_SPACE
{

constexpr int heads_threads = 256, heads_each = 4, heads_items = heads_threads * heads_each;

/* Grid: any; 256 threads. After: p.bits, of whole words; bits behind the last key are 0. */
template <class Key>
__global__ void __launch_bounds__(heads_threads) group_heads_k(const __grid_constant__ RunsParams p)
{
    grid_release();
    const uint64_t n = item_count(p), stride = (uint64_t)gridDim.x * heads_items;
    const Key *keys = (const Key *)p.keys;
    const KeyDiffers<Key> differ = {(Key)p.sign, (Key)p.inf};
    for (uint64_t first = blockIdx.x * (uint64_t)heads_items + warp_id() * 32 * heads_each;
         first < n; first += stride) {
        Key own[heads_each], before[heads_each];
#pragma unroll
        for (int k = 0; k < heads_each; k++) {
            const uint64_t i = first + 32 * k + lane_id();
            own[k] = i < n ? keys[i] : Key();
            before[k] = i < n && i > 0 ? keys[i - 1] : own[k];
        }
#pragma unroll
        for (int k = 0; k < heads_each; k++) {
            const uint64_t i = first + 32 * k;
            const uint32_t word =
                __ballot_sync(all_lanes, differ(own[k], before[k])) | (uint32_t)(i == 0);
            if (lane_id() == 0 && i < n)
                p.bits[i / 32] = word;
        }
    }
}

} // namespace GPI_SPACE
