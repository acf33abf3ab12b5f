/* SPDX-License-Identifier: MIT */
/* The items of a block's bins in order, by exchanges of neighbours in registers (odd-even
 * transposition, Knuth volume 3, 5.3.4). Bins: a BucketBins. */
#pragma once

#include "device/warp.cuh"

namespace GPI_SPACE
{

template <class Word> GPI_DEVICE void compare_exchange(Word &a, Word &b)
{
    const Word low = a < b ? a : b;
    b = a < b ? b : a;
    a = low;
}

/* Put the items of each warp in order, in registers: of bins that are not too large. */
template <class Bins> GPI_DEVICE void odd_even_transposition(const Bins &b)
{
    using Word = typename Bins::BinWord;
    constexpr int I = Bins::items_of_thread;
    struct alignas(2 * sizeof(Word)) Two {
        Word a, b;
    };
    const int first = (int)threadIdx.x * I, end = ((int)threadIdx.x / 32 + 1) * 32 * I;
    const uint32_t rounds = min(b.s.largest[threadIdx.x / 32], (uint32_t)Bins::largest_bin);
    Two *mine = (Two *)(b.s.words + first);
    Word word[I];
#pragma unroll
    for (int i = 0; i < I; i += 2) {
        const Two two = mine[i / 2];
        word[i] = two.a;
        word[i + 1] = two.b;
    }
    if (end > b.count)
#pragma unroll
        for (int i = 0; i < I; i++)
            word[i] = first + i < b.count ? word[i] : (Word) ~(Word)0;
#pragma unroll 1
    for (uint32_t r = 0; r < rounds; r += 2) {
#pragma unroll
        for (int i = 0; i < I; i += 2)
            compare_exchange(word[i], word[i + 1]);
#pragma unroll
        for (int i = 1; i + 1 < I; i += 2)
            compare_exchange(word[i], word[i + 1]);
        Word next = __shfl_down_sync(all_lanes, word[0], 1);
        Word before = __shfl_up_sync(all_lanes, word[I - 1], 1);
        if (lane_id() < 31)
            compare_exchange(word[I - 1], next);
        if (lane_id() > 0)
            compare_exchange(before, word[0]);
    }
#pragma unroll
    for (int i = 0; i < I; i += 2)
        mine[i / 2] = {word[i], word[i + 1]};
    __syncthreads();
}

/* The bins that have items in two warps: a warp takes the items around its first one. */
template <class Bins> GPI_DEVICE void transposition_between_warps(const Bins &b)
{
    constexpr int I = Bins::items_of_thread;
    const int border = (int)threadIdx.x / 32 * 32 * I, p = border - Bins::largest_bin + lane_id();
    if (border > 0 && border < b.count) {
        const uint32_t rounds = min(b.s.largest[threadIdx.x / 32], (uint32_t)Bins::largest_bin);
        auto mine = b.s.words[p];
        for (uint32_t r = 0; r < rounds; r++) {
            const int other = (int)((lane_id() + r % 2) ^ 1) - (int)(r % 2);
            auto theirs = __shfl_sync(all_lanes, mine, other & 31);
            if (other < 0 || other > 31)
                continue;
            if (lane_id() < other)
                compare_exchange(mine, theirs);
            else
                compare_exchange(theirs, mine);
        }
        b.s.words[p] = mine;
    }
    __syncthreads();
}

} // namespace GPI_SPACE
