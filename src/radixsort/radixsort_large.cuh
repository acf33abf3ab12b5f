/* SPDX-License-Identifier: MIT */
/*
 * A bucket that is too large for shared memory, sorted by one block through memory: stable passes
 * from the lowest digit, to and fro between the output and the temporary array. Where a few buckets
 * are too large, the others need not be sorted by passes for that.
 */
#pragma once

#include "radixsort/radixsort_plan.cuh"

namespace GPI_SPACE
{

template <class K, bool FLOAT, int VB, int T> struct LargeBucket {
    using V = typename Payload<VB>::type;
    static constexpr int warps = T / 32;

    struct Shared {
        uint32_t counts[warps][radix_bins];
        uint32_t warp_total[8];
    };

    const RadixJob<K, V> &job;
    Shared &s;
    uint64_t first, count;

    /* The items of this warp. */
    GPI_DEVICE uint64_t warp_begin(uint32_t warp) const
    {
        const uint64_t each = (count + 32 * warps - 1) / (32 * warps) * 32;
        return warp * each < count ? warp * each : count;
    }

    GPI_DEVICE uint32_t digit(const DigitOf<K> &digit_of, K key) const
    {
        const Held<K, FLOAT, VB> order = {job.order};
        return digit_of(order.word(order.hold(key)));
    }

    /* counts[w][d] becomes where warp w's items of digit d go. */
    GPI_DEVICE void count_digits(const K *keys, const DigitOf<K> &digit_of)
    {
        const uint32_t warp = threadIdx.x / 32;
        for (int i = threadIdx.x; i < warps * radix_bins; i += T)
            s.counts[i / radix_bins][i % radix_bins] = 0;
        __syncthreads();
        const uint64_t end = warp_begin(warp + 1);
        for (uint64_t i = warp_begin(warp) + lane_id(); i < end; i += 32)
            atomicAdd(&s.counts[warp][digit(digit_of, keys[i])], 1u);
        __syncthreads();
        uint32_t total = 0;
        if (threadIdx.x < radix_bins)
            for (int w = 0; w < warps; w++)
                total += s.counts[w][threadIdx.x];
        uint32_t at = sum_before_bin(total, s.warp_total);
        if (threadIdx.x < radix_bins)
            for (int w = 0; w < warps; w++) {
                const uint32_t own = s.counts[w][threadIdx.x];
                s.counts[w][threadIdx.x] = at;
                at += own;
            }
        __syncthreads();
    }

    /* Lanes with the digit of this one; of those that have an item. */
    static GPI_DEVICE uint32_t peers_of(uint32_t digit, bool valid)
    {
        uint32_t peers = __ballot_sync(all_lanes, valid);
        for (int b = 0; b < radix_bits; b++) {
            const uint32_t set = __ballot_sync(all_lanes, digit >> b & 1);
            peers &= digit >> b & 1 ? set : ~set;
        }
        return peers;
    }

    GPI_DEVICE void pass(uint32_t from, uint32_t to, const DigitOf<K> &digit_of)
    {
        const K *keys = job.keys[from] + first;
        uint32_t *counts = s.counts[threadIdx.x / 32];
        count_digits(keys, digit_of);
        const uint64_t end = warp_begin(threadIdx.x / 32 + 1);
        for (uint64_t row = warp_begin(threadIdx.x / 32); row < end; row += 32) {
            const uint64_t i = row + lane_id();
            const bool valid = i < end;
            const K key = valid ? keys[i] : (K)0;
            const uint32_t d = digit(digit_of, key), peers = peers_of(d, valid);
            const uint32_t start = counts[d];
            __syncwarp();
            if (valid) {
                const uint64_t at = first + start + __popc(peers & ((1u << lane_id()) - 1));
                job.keys[to][at] = key;
                if constexpr (VB > 0)
                    job.values[to][at] = job.values[from][first + i];
                if (peers >> lane_id() == 1)
                    counts[d] = start + __popc(peers);
            }
            __syncwarp();
        }
        __syncthreads();
    }

    /* By bits [begin, begin + bits) of the words, from one of the two arrays into the output. */
    static __device__ __noinline__ void sort(LargeBucket bucket, uint32_t from, int bits)
    {
        const RadixJob<K, V> &job = bucket.job;
        for (int at = 0; at < bits; at += radix_bits) {
            const int width = bits - at < radix_bits ? bits - at : radix_bits;
            const uint32_t to = from == gpi_radix_out ? gpi_radix_tmp : gpi_radix_out;
            bucket.pass(from, to, {job.begin + at, (1u << width) - 1});
            from = to;
        }
        if (from == gpi_radix_out)
            return;
        for (uint64_t i = threadIdx.x; i < bucket.count; i += T) {
            job.keys[gpi_radix_out][bucket.first + i] = job.keys[from][bucket.first + i];
            if constexpr (VB > 0)
                job.values[gpi_radix_out][bucket.first + i] = job.values[from][bucket.first + i];
        }
    }
};

} // namespace GPI_SPACE
