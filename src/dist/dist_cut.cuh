/* SPDX-License-Identifier: MIT */
/* Where the part of a rank lies in what all have sorted: one block finds it in their memory. */
#pragma once

#include "device/search.cuh"
#include "dist/dist_integers.cuh"

extern "C" {
#include "dist/dist_kernels_internal.h"
}

namespace GPI_SPACE
{

/* Threads that look for one of the two borders of a part. */
constexpr int cut_threads = 512;

struct CutShared {
    uint64_t at[cut_threads]; /* keys of a rank below a word: [rank][word] */
    uint64_t low[GPI_DIST_CUT_RANKS], high[GPI_DIST_CUT_RANKS];
    int chosen;
};

/* The word of the key at a place of all ranks' keys in order, found by some of its bits after the
 * other: a thread for each rank and each value of these. Ends with the keys of each rank before
 * that place in s.low. Both borders by halves of the block, which wait together. */
struct CutSearch {
    const gpi_dist_cutting &c;
    const gpi_radix_order &order;
    size_t bytes;
    CutShared &s;
    int thread;
    uint64_t place;

    GPI_DEVICE uint64_t below(int rank, uint64_t word) const
    {
        const uint64_t low = s.low[rank];
        return low + partition_point(s.high[rank] - low, [&](uint64_t i) {
                   const uint64_t key = integer_at(bytes, c.keys[rank], low + i);
                   return GPI_DIST_WORD(&order, bytes, key) < word;
               });
    }

    GPI_DEVICE uint64_t sum_below(int words, int i) const
    {
        uint64_t sum = 0;
#pragma unroll 1
        for (int r = 0; r < c.ranks; r++)
            sum += s.at[r * words + i];
        return sum;
    }

    /* Keys equal to the word go by rank. */
    GPI_DEVICE void share_equal() const
    {
        uint64_t left = place;
#pragma unroll 1
        for (int r = 0; r < c.ranks; r++)
            left -= s.low[r];
#pragma unroll 1
        for (int r = 0; r < c.ranks; r++) {
            const uint64_t equal = min(s.high[r] - s.low[r], left);
            s.low[r] += equal;
            left -= equal;
        }
    }

    GPI_DEVICE void run() const
    {
        const int step = 9 - (32 - __clz(c.ranks - 1)), words = 1 << step;
        const int r = thread >> step, i = thread & (words - 1);
        static_assert(cut_threads == 1 << 9 && GPI_DIST_CUT_RANKS <= 256, "at least a bit a round");
        uint64_t word = 0;
        if (i == 0 && r < c.ranks) {
            s.low[r] = 0;
            s.high[r] = c.n[r];
        }
        __syncthreads();
#pragma unroll 1
        for (int bits = 8 * (int)bytes; bits > 0; bits -= step) {
            const int shift = max(bits - step, 0), used = 1 << (bits - shift);
            if (r < c.ranks)
                s.at[thread] = i == 0     ? s.low[r]
                               : i < used ? below(r, word + ((uint64_t)i << shift))
                                          : s.high[r];
            __syncthreads();
            /* The highest word with at most as many keys below it as there are before the place. */
            if (thread < used && sum_below(words, thread) <= place &&
                (thread == used - 1 || sum_below(words, thread + 1) > place))
                s.chosen = thread;
            __syncthreads();
            word += (uint64_t)s.chosen << shift;
            if (i == 0 && r < c.ranks) {
                s.low[r] = s.at[r * words + s.chosen];
                s.high[r] = s.chosen + 1 < used ? s.at[r * words + s.chosen + 1] : s.high[r];
            }
            __syncthreads();
        }
        if (thread == 0)
            share_equal();
    }
};

/* One block of twice cut_threads; 10 KB of shared memory. After: see struct gpi_dist_kernel. */
__global__ void __launch_bounds__(2 * cut_threads)
    dist_cut_k(const __grid_constant__ gpi_dist_cutting c, gpi_radix_order order, size_t bytes,
               uint64_t *first)
{
    __shared__ CutShared s[2];
    const int side = (int)threadIdx.x / cut_threads;
    uint64_t *offsets = first + c.ranks + 1, place = 0;
    CutSearch{c, order, bytes, s[side], (int)threadIdx.x % cut_threads, side ? c.end : c.begin}
        .run();
    __syncthreads();
    if (threadIdx.x)
        return;
#pragma unroll 1
    for (int r = 0; r < c.ranks; r++) {
        first[r] = s[0].low[r];
        offsets[r] = place;
        place += s[1].low[r] - s[0].low[r];
    }
    first[c.ranks] = 0;
    offsets[c.ranks] = place;
}

} // namespace GPI_SPACE
