/* SPDX-License-Identifier: MIT */
/*
 * Bins of keys alone that are too large for exchanges (radixsort_bucket_order.cuh), each of them by
 * a warp. Keys that repeat make them, so the warp looks for the keys that its bin has, one after
 * the other from the least, and how often each is there, and writes the bin anew. Bins of few items
 * are sorted in registers, whatever they have; a large one of many different keys leaves the bucket
 * to radixsort_bucket_merge.cuh.
 */
#pragma once

#include "device/warp.cuh"
#include "radixsort/radixsort_zoom.cuh"

namespace GPI_SPACE
{

template <class Word> struct LargeBin {
    static constexpr uint32_t in_registers = 64, most_keys = 8, few_keys = 3;

    Word *words; /* in shared memory */
    uint32_t count;

    GPI_DEVICE bool is_small() const
    {
        return count <= in_registers;
    }

    /* Whether its first items have few keys. */
    GPI_DEVICE bool repeats() const
    {
        const uint32_t peers = __match_any_sync(all_lanes, words[lane_id()]);
        const bool first = __ffs((int)peers) - 1 == lane_id();
        return __popc(__ballot_sync(all_lanes, first)) <= few_keys;
    }

    /* Two runs in order rise and fall, when one of them is turned. */
    GPI_DEVICE void sort_in_registers() const
    {
        const uint32_t i = lane_id(), j = i + 32;
        Word low = warp_sorted(i < count ? words[i] : (Word) ~(Word)0);
        if (count > 32) {
            const Word rises = warp_sorted(j < count ? words[j] : (Word) ~(Word)0);
            const Word falls = __shfl_sync(all_lanes, rises, 31 - (int)i);
            Word high = max(low, falls);
            low = min(low, falls);
#pragma unroll
            for (int apart = 16; apart; apart /= 2) {
                const Word other_low = __shfl_xor_sync(all_lanes, low, apart);
                const Word other_high = __shfl_xor_sync(all_lanes, high, apart);
                low = i & apart ? max(low, other_low) : min(low, other_low);
                high = i & apart ? max(high, other_high) : min(high, other_high);
            }
            if (j < count)
                words[j] = high;
        }
        if (i < count)
            words[i] = low;
    }

    /* Lane d has key number d, and how many items have it. */
    GPI_DEVICE void write(uint32_t keys, Word own, uint32_t copies) const
    {
        const uint32_t starts = warp_running_sum(copies) - copies;
        __syncwarp();
        for (uint32_t d = 0; d < keys; d++) {
            const Word key = __shfl_sync(all_lanes, own, d);
            const uint32_t from = __shfl_sync(all_lanes, starts, d);
            const uint32_t end = from + __shfl_sync(all_lanes, copies, d);
            for (uint32_t i = from + lane_id(); i < end; i += 32)
                words[i] = key;
        }
    }

    /* False if the bin has too many keys. */
    GPI_DEVICE bool sort_keys() const
    {
        const auto least = [](Word a, Word b) { return min(a, b); };
        Word now = (Word) ~(Word)0, most = 0, own = 0;
        uint32_t keys = 0, copies = 0, done = 0;
#pragma unroll 4
        for (uint32_t i = lane_id(); i < count; i += 32) {
            now = min(now, words[i]);
            most = max(most, words[i]);
        }
        now = warp_fold(now, least);
        if (__all_sync(all_lanes, most <= now))
            return true;
        for (; done < count; keys++) {
            Word next = (Word) ~(Word)0;
            uint32_t same = 0;
            if (keys == most_keys)
                return false;
#pragma unroll 4
            for (uint32_t i = lane_id(); i < count; i += 32) {
                same += words[i] == now;
                next = words[i] > now ? min(next, words[i]) : next;
            }
            same = warp_sum(same);
            own = lane_id() == (int)keys ? now : own;
            copies = lane_id() == (int)keys ? same : copies;
            done += same;
            now = warp_fold(next, least);
        }
        write(keys, own, copies);
        return true;
    }
};

/* By a block of T threads: the bins of a bucket's words with more than `most` items. ends: of the
 * BINS bins, which are lost. A call, as it is rare. False if some bin is not in order. */
template <int T, int BINS, class Word>
__device__ __noinline__ bool order_large_bins(Word *words, uint32_t *ends, uint32_t most)
{
    constexpr uint32_t each = BINS / T;
    __shared__ uint32_t listed;
    uint32_t *const list = ends, large[each];
#pragma unroll
    for (uint32_t j = 0; j < each; j++) {
        const uint32_t i = j * T + threadIdx.x;
        const uint32_t begin = i ? ends[i - 1] : 0, count = ends[i] - begin;
        large[j] = count > most ? begin << 16 | count : 0;
    }
    if (threadIdx.x == 0)
        listed = 0;
    __syncthreads();
#pragma unroll
    for (uint32_t j = 0; j < each; j++)
        if (large[j])
            list[atomicAdd(&listed, 1u)] = large[j];
    __syncthreads();
    const auto for_bins = [&](auto f) {
        bool all = true;
        for (uint32_t i = threadIdx.x / 32; i < listed; i += T / 32)
            all = f(LargeBin<Word>{words + (list[i] >> 16), list[i] & 0xffff}) && all;
        return (bool)__syncthreads_and(all);
    };
    if (!for_bins([](const auto &bin) { return bin.is_small() || bin.repeats(); }))
        return false;
    return for_bins([](const auto &bin) {
        if (!bin.is_small())
            return bin.sort_keys();
        bin.sort_in_registers();
        return true;
    });
}

} // namespace GPI_SPACE
