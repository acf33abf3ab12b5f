/* SPDX-License-Identifier: MIT */
/*
 * Bins of many items that have few keys, as where keys repeat: each bin is divided in as many parts
 * as it has items, by whether a key is less than one of the bin's keys, equal or greater, and in
 * each of the three by the item's position. Items are counted and moved by parts as they were by
 * bins; where a bin has one key, or two, they are in order then but for neighbours.
 */
#pragma once

#include "radixsort/radixsort_bucket_order.cuh"

namespace GPI_SPACE
{

/* Of a BucketBins of pairs, whose items are in bins. */
template <class Bins> struct BinParts {
    using Word = typename Bins::BinWord;
    static constexpr int I = Bins::items_of_thread, T = Bins::warps * 32;

    const Bins &b;
    int shift; /* of bins */

    GPI_DEVICE Word key(Word word) const
    {
        return word >> b.position_bits();
    }

    /* The middle one of three keys of a bin; all_differ: they do. */
    GPI_DEVICE Word pivot(uint32_t first, uint32_t count, bool &all_differ) const
    {
        const Word begin = key(b.s.words[first]), middle = key(b.s.words[first + count / 2]);
        const Word end = key(b.s.words[first + count - 1]);
        all_differ = begin != middle && middle != end && begin != end;
        return max(min(begin, middle), min(max(begin, middle), end));
    }

    struct Part {
        uint32_t number;
        bool large, many; /* its bin has many items, and many keys */
    };

    GPI_DEVICE Part part_of(Word word, uint32_t scale) const
    {
        const uint32_t number = b.number_of(word, shift);
        const uint32_t first = number ? *b.count_of(number - 1) : 0;
        const uint32_t count = *b.count_of(number) - first, quarter = count / 4;
        bool many;
        const Word middle = pivot(first, count, many), own = key(word);
        const uint32_t before = own < middle ? 0 : own == middle ? quarter : 3 * quarter;
        const uint32_t position = (uint32_t)word & ((1u << b.position_bits()) - 1);
        const uint32_t into = __umulhi(position * scale, own == middle ? count / 2 : quarter);
        return {first + before + into, count > (uint32_t)Bins::largest_bin, many};
    }

    GPI_DEVICE uint16_t *counts() const
    {
        return (uint16_t *)b.s.stage;
    }

    /* Counts become starts; the items of the largest part are noted for exchanges. */
    GPI_DEVICE void sum_parts() const
    {
        const int first = (int)threadIdx.x * I, end = min(first + I, b.count);
        uint32_t sum = 0, most = 0;
        for (int p = first; p < end; p++) {
            sum += counts()[p];
            most = max(most, (uint32_t)counts()[p]);
        }
        most = warp_max(most);
        if (lane_id() == 0)
            b.s.fullest[threadIdx.x / 32] = most;
        uint32_t at = block_sums<T>(sum, b.s.total).x;
        for (int p = first; p < end; p++) {
            const uint32_t count = counts()[p];
            counts()[p] = (uint16_t)at;
            at += count;
        }
        most = warp_max(lane_id() < Bins::warps ? b.s.fullest[lane_id()] : 0);
        if (lane_id() == 0)
            b.s.largest[threadIdx.x / 32] = most;
        __syncthreads();
    }

    /* f(i) for rows of which this thread may have an item: once, as it is long. */
    template <class F> GPI_DEVICE void for_groups(F f) const
    {
        constexpr int group = I % 3 == 0 ? 3 : 2;
#pragma unroll
        for (int i = 0; i < I; i += group) {
            if (i * T >= b.count)
                break;
#pragma unroll
            for (int j = 0; j < group; j++)
                f(i + j);
        }
    }

    /* Items of the block's first row in large bins, and those of them in bins of many keys. */
    GPI_DEVICE uint2 large_items() const
    {
        const bool mine = (int)threadIdx.x < b.count;
        const Part part = part_of(b.s.words[mine ? threadIdx.x : 0], 0);
        const uint32_t large = __syncthreads_count(mine && part.large);
        return make_uint2(large, __syncthreads_count(mine && part.large && part.many));
    }

    GPI_DEVICE void divide() const
    {
        const uint32_t scale = ~0u / (uint32_t)b.count;
        Word word[I];
        uint32_t at[I];
        leave_undefined<Bins::in_loop>(word);
        leave_undefined<Bins::in_loop>(at);
        for_groups([&](int i) {
            word[i] = b.s.words[min(Bins::item(i), b.count - 1)];
            at[i] = part_of(word[i], scale).number;
        });
        __syncthreads();
        for (int p = threadIdx.x; p < (b.count + 1) / 2; p += T)
            ((uint32_t *)counts())[p] = 0;
        __syncthreads();
        for_groups([&](int i) {
            const uint32_t up = at[i] % 2 * 16, one = Bins::item(i) < b.count ? 1u << up : 0;
            const uint32_t before = atomicAdd((uint32_t *)counts() + at[i] / 2, one);
            at[i] |= before >> up << 16;
        });
        __syncthreads();
        sum_parts();
        for_groups([&](int i) {
            if (Bins::item(i) < b.count)
                b.s.words[counts()[at[i] & 0xffff] + (at[i] >> 16)] = word[i];
        });
        __syncthreads();
    }
};

/* Where few large bins have many keys: neighbours in order, as equal keys nearly are; where most
 * items are in large bins, these are divided before. A call that floats and integers share. */
template <class Bins> __device__ __noinline__ void divide_bins(const Bins bins, int shift)
{
    extern __shared__ __align__(16) char memory[];
    const Bins b = {bins.job, *(typename Bins::Shared *)memory, bins.count, bins.compared,
                    bins.base};
    const BinParts<Bins> parts = {b, shift};
    const uint2 large = parts.large_items();
    if (8 * large.y > large.x)
        return;
    if (2 * (int)large.x >= min(b.count, BinParts<Bins>::T))
        parts.divide();
    exchange_neighbours(b, Bins::largest_bin);
}

} // namespace GPI_SPACE
