/* SPDX-License-Identifier: MIT */
/*
 * A tile of 4096 items in the registers of 256 threads, for the steps from "items" on: four rows of
 * four neighbouring items a thread, so that a warp moves 512 consecutive bytes at a time. The
 * arrays are 16-byte aligned.
 */
#pragma once

#include "ladder.cuh"

namespace
{
constexpr int threads = 256, warps = threads / 32, rows = 4;
constexpr int row_items = threads * 4, tile_items = rows * row_items;
static_assert(rows * warps == 32, "the sums of all warps and rows are scanned by one warp");

struct tile {
    uint4 row[rows];
};

__device__ inline size_t row_position(size_t first, int r)
{
    return first + size_t(r) * row_items + threadIdx.x * 4;
}

// Zeros beyond n: the array's last tile may not be full.
__device__ inline tile load_tile(const item *in, size_t n, size_t first)
{
    tile t;
#pragma unroll
    for (int r = 0; r < rows; r++) {
        size_t i = row_position(first, r);
        t.row[r] = make_uint4(0, 0, 0, 0);
        if (i + 4 <= n) {
            t.row[r] = *reinterpret_cast<const uint4 *>(in + i);
        } else if (i < n) { // three items at most
            t.row[r].x = in[i];
            t.row[r].y = i + 1 < n ? in[i + 1] : 0;
            t.row[r].z = i + 2 < n ? in[i + 2] : 0;
        }
    }
    return t;
}

// Store all items plus before.
__device__ inline void store_tile(const tile &t, item before, item *out, size_t n, size_t first)
{
#pragma unroll
    for (int r = 0; r < rows; r++) {
        size_t i = row_position(first, r);
        uint4 v = t.row[r];
        v = make_uint4(v.x + before, v.y + before, v.z + before, v.w + before);
        if (i + 4 <= n) {
            *reinterpret_cast<uint4 *>(out + i) = v;
        } else if (i < n) {
            out[i] = v.x;
            if (i + 1 < n)
                out[i + 1] = v.y;
            if (i + 2 < n)
                out[i + 2] = v.z;
        }
    }
}

__device__ inline item warp_scan(item v, int lane)
{
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        item left = __shfl_up_sync(all_lanes, v, d);
        v += lane >= d ? left : 0;
    }
    return v;
}

__device__ inline item warp_sum(item v)
{
#pragma unroll
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(all_lanes, v, d);
    return v;
}

// Every thread gets the sum over the block.
// s: 32 items, free when all threads have passed the next barrier.
__device__ inline item block_sum(item v, item *s)
{
    int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    v = warp_sum(v);
    if (lane == 0)
        s[warp] = v;
    __syncthreads();
    return warp_sum(lane < warps ? s[lane] : 0);
}

// This thread's share of a tile's sum.
__device__ inline item thread_sum(const tile &t)
{
    item sum = 0;
#pragma unroll
    for (int r = 0; r < rows; r++)
        sum += t.row[r].x + t.row[r].y + t.row[r].z + t.row[r].w;
    return sum;
}

// Scan the tile in place and return its sum to every thread. s: as for block_sum.
__device__ inline item scan_tile(tile &t, item *s)
{
    int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    item left[rows]; // sum of the row's items in the lanes before
#pragma unroll
    for (int r = 0; r < rows; r++) {
        uint4 &v = t.row[r];
        v.y += v.x;
        v.z += v.y;
        v.w += v.z;
        item sum = warp_scan(v.w, lane);
        left[r] = sum - v.w;
        if (lane == 31)
            s[r * warps + warp] = sum;
    }
    __syncthreads();
    // Row after row, warp after warp: the order of the items in memory.
    // Each warp does it for itself.
    item sums = warp_scan(s[lane], lane);
#pragma unroll
    for (int r = 0; r < rows; r++) {
        int k = r * warps + warp;
        item before = __shfl_sync(all_lanes, sums, k ? k - 1 : 0);
        item add = left[r] + (k ? before : 0);
        uint4 &v = t.row[r];
        v = make_uint4(v.x + add, v.y + add, v.z + add, v.w + add);
    }
    return __shfl_sync(all_lanes, sums, 31);
}
} // namespace
