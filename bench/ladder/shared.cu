/* SPDX-License-Identifier: MIT */
/* Steps that scan a block in shared memory; scan_then_fan.cuh has what surrounds them. */
#include "scan_then_fan.cuh"

namespace
{
// All threads of the block, log2(1024) steps with two barriers each: between reading and writing,
// and between writing and reading.
struct shared_scan {
    static constexpr int shared_items = block_items;

    static __device__ item scan(item v, item *s)
    {
        int t = int(threadIdx.x);
        s[t] = v;
        __syncthreads();
        for (int d = 1; d < block_items; d *= 2) {
            item left = t >= d ? s[t - d] : 0;
            __syncthreads();
            s[t] += left;
            __syncthreads();
        }
        return s[t];
    }
};

// A warp's scan as a tree: up, every second node takes its left neighbour's sum; down, the sums go
// to the nodes between. 57 additions, but 9 steps in which most lanes are idle.
struct tree_warp {
    static constexpr int row_items = 32;

    static __device__ item scan(item v, item *row, int lane)
    {
        row[lane] = v;
        __syncwarp();
        for (int d = 1; d < 32; d *= 2) {
            if ((lane + 1) % (2 * d) == 0)
                row[lane] += row[lane - d];
            __syncwarp();
        }
        for (int d = 8; d >= 1; d /= 2) {
            if ((lane + 1) % (2 * d) == 0 && lane + d < 32)
                row[lane + d] += row[lane];
            __syncwarp();
        }
        v = row[lane];
        __syncwarp(); // the row may be used again
        return v;
    }
};

// More additions, 129, in 5 steps: idle lanes cost as much as adding ones.
struct kogge_stone_warp {
    static constexpr int row_items = 32;

    static __device__ item scan(item v, item *row, int lane)
    {
        row[lane] = v;
        __syncwarp();
        for (int d = 1; d < 32; d *= 2) {
            item left = 0;
            if (lane >= d)
                left = row[lane - d];
            __syncwarp();
            row[lane] = v += left;
            __syncwarp();
        }
        return v;
    }
};

// 16 zeros lie before a warp's row: the first lanes read those, and the branch goes.
struct zero_padded_warp {
    static constexpr int padding = 16, row_items = padding + 32;

    static __device__ item scan(item v, item *row, int lane)
    {
        if (lane < padding)
            row[lane] = 0;
        row[padding + lane] = v;
        __syncwarp();
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            item left = row[padding + lane - d];
            __syncwarp();
            row[padding + lane] = v += left;
            __syncwarp();
        }
        return v;
    }
};
} // namespace

// New: the threads of a block work together in shared memory, by the same algorithm as the step
// before; memory sees each item twice instead of log2(n) times. Harris, Sengupta and Owens 2007.
extern "C" int ladder_shared(struct bench *b, const struct bench_args *a)
{
    return scan_then_fan<shared_scan>(b, a, sums_by::one_block);
}

// New: organised by warps, which need no barrier of the block; a tree within each.
// Brent and Kung 1982; Dotsenko et al. 2008.
extern "C" int ladder_warps(struct bench *b, const struct bench_args *a)
{
    return scan_then_fan<by_warps<tree_warp>>(b, a, sums_by::one_block);
}

// New: within a warp fewer steps instead of fewer additions. Kogge and Stone 1973.
extern "C" int ladder_kogge_stone(struct bench *b, const struct bench_args *a)
{
    return scan_then_fan<by_warps<kogge_stone_warp>>(b, a, sums_by::one_block);
}

// New: zeros before each warp's row instead of a bounds check. Merrill and Grimshaw 2009.
extern "C" int ladder_zero_padding(struct bench *b, const struct bench_args *a)
{
    return scan_then_fan<by_warps<zero_padded_warp>>(b, a, sums_by::one_block);
}

// New: the blocks' sums are scanned by all multiprocessors, in the same way as the items, instead
// of by one block. Sengupta et al. 2007.
extern "C" int ladder_recursion(struct bench *b, const struct bench_args *a)
{
    return scan_then_fan<by_warps<zero_padded_warp>>(b, a, sums_by::recursion);
}
