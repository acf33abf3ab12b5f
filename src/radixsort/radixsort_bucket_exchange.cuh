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

/* Put the items of a warp's window in order, in registers, by as many rounds as its largest bin has
 * items. Windows lie one after the other, or some places before that. */
template <class Bins>
GPI_DEVICE void odd_even_transposition(const Bins &b, int before, uint32_t rounds)
{
    using Word = typename Bins::BinWord;
    constexpr int I = Bins::items_of_thread;
    struct alignas(2 * sizeof(Word)) Two {
        Word a, b;
    };
    const int first = (int)threadIdx.x * I - before;
    const int end = ((int)threadIdx.x / 32 + 1) * 32 * I - before;
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
        Word last = __shfl_up_sync(all_lanes, word[I - 1], 1);
        if (lane_id() < 31)
            compare_exchange(word[I - 1], next);
        if (lane_id() > 0)
            compare_exchange(last, word[0]);
    }
#pragma unroll
    for (int i = 0; i < I; i += 2)
        mine[i / 2] = {word[i], word[i + 1]};
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

/* The bins too large for that which have items in two warps: how many, for the second of the two.
 * Counts are ends. */
template <class Bins> __device__ __noinline__ void find_crossing(const Bins b)
{
    constexpr uint32_t window = 32 * Bins::items_of_thread;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < Bins::bins; i += Bins::warps * 32) {
        const uint32_t begin = i ? *b.count_of(i - 1) : 0, end = *b.count_of(i);
        if (end - begin > Bins::largest_bin && begin / window < (end - 1) / window)
            b.s.crossing[(end - 1) / window] = end - begin;
    }
    __syncthreads();
}

/* The items of bins that have up to `most` items in order. */
template <class Bins> GPI_DEVICE void exchange_neighbours(const Bins &b, uint32_t most)
{
    const uint32_t warp = threadIdx.x / 32;
    int before = 0;
    uint32_t rounds = min(b.s.largest[warp], most);
#pragma unroll 1
    for (;;) {
        if (rounds)
            odd_even_transposition(b, before, rounds);
        __syncthreads();
        if (before)
            return;
        transposition_between_warps(b);
        if (most <= Bins::largest_bin)
            return;
        before = 16 * Bins::items_of_thread;
        rounds = b.s.crossing[warp];
    }
}

} // namespace GPI_SPACE
