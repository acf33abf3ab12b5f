/* SPDX-License-Identifier: MIT */
/* Stable passes from the lowest digit on: counts of all digits, the plan that follows, a copy. */
#pragma once

#include "radixsort/radixsort_histogram.cuh"

namespace GPI_SPACE
{

/* Columns of counters, so that lanes of a warp rarely meet: up to 128 KB of shared memory. */
template <class K> struct DigitCounts {
    static constexpr int passes = sizeof(K);
    static constexpr int one_column = passes * radix_bins * (int)sizeof(uint32_t);
    static constexpr int columns = 32 * one_column <= radix_tuning.shared_bytes   ? 32
                                   : 16 * one_column <= radix_tuning.shared_bytes ? 16
                                                                                  : 4;
    static constexpr int shared_bytes = columns * one_column;
};

/* starts[pass][bin] += the count of the bin. ENDS: and the plan knows the ends of words. LOOKS: if
 * it `looks`, the first block does not count, and the others stop when it says so. */
template <int T, bool FLOAT, bool ENDS, bool LOOKS, class K>
GPI_DEVICE void count_digits_of(const RadixKeys<K> &job, uint32_t *table, bool looks)
{
    using Shape = DigitCounts<K>;
    const bool idle = LOOKS && looks;
    if (idle && blockIdx.x == 0)
        return;
    const int bits = job.end - job.begin, passes = (bits + 7) / 8;
    const K mask = (K)((K) ~(K)0 >> (8 * (int)sizeof(K) - bits));
    for (int i = threadIdx.x; i < passes * radix_bins * Shape::columns / 4; i += T)
        ((uint4 *)table)[i] = uint4{};
    __syncthreads();
    uint32_t *column = table + lane_id() % Shape::columns;
    const KeyOrder<K> order = job.order;
    const int begin = job.begin;
    uint32_t least = ~0u, most = 0;
    auto count = [&](K key) {
        const K word = (K)((order.template word<FLOAT>(key) >> begin) & mask);
        if constexpr (ENDS) {
            least = min(least, word);
            most = max(most, word);
        }
        /* Digits that are not compared are counted, too: that is cheaper. */
#pragma unroll
        for (int p = 0; p < Shape::passes; p++) {
            const uint32_t digit = (uint32_t)(word >> 8 * p) & 255u;
            atomicAdd(column + p * radix_bins * Shape::columns + digit * Shape::columns, 1u);
        }
    };
    const K *const keys = job.keys[gpi_radix_in];
    if constexpr (LOOKS) {
        const volatile uint32_t *const stop = stop_of_block(job, blockIdx.x);
        auto stops = [&] { return looks && *stop == radix_stop_digits; };
        if (__syncthreads_or(!for_each_key<T>(keys, job.items(), blockIdx.x - idle,
                                              gridDim.x - idle, count, stops)))
            return;
    } else {
        for_each_key<T>(keys, job.items(), blockIdx.x, gridDim.x, count);
        __syncthreads();
    }
    for (int i = threadIdx.x; i < passes * radix_bins; i += T) {
        uint32_t sum = 0;
        for (int c = 0; c < Shape::columns; c++)
            sum += table[i * Shape::columns + (c + threadIdx.x) % Shape::columns];
        if (sum)
            atomicAdd((unsigned long long *)&job.starts[i], (unsigned long long)sum);
    }
    if constexpr (ENDS) {
        most = warp_max(most);
        const uint32_t rest = warp_max(~least);
        if (lane_id() == 0) {
            atomicMax(&job.plan->most, most);
            atomicMax(&job.plan->rest, rest);
        }
    }
}

/* The ends are asked for if words are close together; or if nothing else was to be had for uneven
 * keys, so that it is not known. */
template <int T, bool FLOAT, class K, bool LOOKS = false>
__device__ __noinline__ void count_digits(const RadixKeys<K> &job, uint32_t *table,
                                          bool looks = false)
{
    const bool known = job.split_bits || job.levels_or_map;
    if (radix_has_reach<K> && (!known || job.plan->skewed % gpi_radix_looked == gpi_radix_close))
        count_digits_of<T, FLOAT, radix_has_reach<K>, LOOKS, K>(job, table, looks);
    else
        count_digits_of<T, FLOAT, false, LOOKS, K>(job, table, looks);
}

/* After such a count: whether a map is tried, as the first block says whatever the counts are, or
 * if more digits tell words apart than passes should have. */
template <class K> GPI_DEVICE bool map_follows(const RadixKeys<K> &job)
{
    const gpi_radix_plan &plan = *job.plan;
    return plan.mapped && (*stop_of_block(job, blockIdx.x) == radix_stop_digits ||
                           Reach::of(~plan.rest, plan.most).digits > radix_tuning.digits_close);
}

/* By a warp: counts of one pass become exclusive sums, of which that of digit `first` is 0; returns
 * the largest count. */
GPI_DEVICE uint64_t starts_of_pass(uint64_t *counts, uint32_t first)
{
    constexpr int each = radix_bins / 32;
    const auto bin = [=](int i) { return (first + lane_id() * each + i) % radix_bins; };
    uint64_t count[each], sum = 0, most = 0;
#pragma unroll
    for (int i = 0; i < each; i++) {
        count[i] = counts[bin(i)];
        sum += count[i];
        most = max(most, count[i]);
    }
    uint64_t upto = sum;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        const uint64_t left = __shfl_up_sync(all_lanes, upto, d);
        upto += lane_id() >= d ? left : 0;
        most = max(most, __shfl_xor_sync(all_lanes, most, d));
    }
    uint64_t at = upto - sum;
#pragma unroll
    for (int i = 0; i < each; i++) {
        counts[bin(i)] = at;
        at += count[i];
    }
    return most;
}

/* By one block: the starts of all passes, and which of them there are. */
template <class K>
__device__ __noinline__ void plan_passes(const RadixKeys<K> &job, uint64_t *shared)
{
    const int bits = job.end - job.begin, warp = (int)threadIdx.x / 32;
    const uint64_t n = job.items();
    const uint32_t most = job.plan->most, rest = job.plan->rest;
    const Reach reach = (most | rest) ? Reach::of(~rest, most) : Reach{(bits + 7) / 8, 0};
    const int passes = reach.digits;
    if (warp < passes)
        shared[warp] =
            starts_of_pass(job.starts + warp * radix_bins, warp == passes - 1 ? reach.first : 0);
    __syncthreads();
    if (threadIdx.x >= 32)
        return;
    const int p = (int)lane_id();
    const bool active = p < passes && shared[p] < n;
    const uint32_t all = __ballot_sync(all_lanes, active), count = __popc(all);
    const uint32_t number = __popc(all & ((1u << p) - 1));
    /* An odd number of passes in place would overwrite what the first one reads. */
    const bool detour = job.in_place && count % 2;
    auto place_after = [&](uint32_t done) -> uint32_t {
        const bool even = (count - done) % 2 == 0;
        return done == 0 ? gpi_radix_in : even != detour ? gpi_radix_out : gpi_radix_tmp;
    };
    if (active) {
        gpi_radix_pass &pass = job.plan->pass[p];
        pass.active = shared[p] > n / radix_tuning.hot_digit ? gpi_radix_hot : gpi_radix_cold;
        pass.shift = job.begin + 8 * p;
        pass.bits = min(bits - 8 * p, 8);
        pass.from = place_after(number);
        pass.to = place_after(number + 1);
        pass.number = number;
        pass.last = number + 1 == count;
    }
    if (p == 0) {
        job.plan->result = place_after(count);
        job.plan->route = gpi_radix_route_lsd;
    }
}

/* By all threads of a launch of blocks of T: to[i] = from[i], or i; several loads of a thread are
 * on their way at once. */
template <int T, class X> GPI_DEVICE void copy_by_all(const X *from, uint64_t n, X *to)
{
    constexpr int batch = 8;
    const uint64_t threads = (uint64_t)gridDim.x * T;
    uint64_t i = (uint64_t)blockIdx.x * T + threadIdx.x;
    auto item = [=](uint64_t at) { return from ? __ldcs(from + at) : (X)at; };
    for (; i + (batch - 1) * threads < n; i += batch * threads) {
        X x[batch];
#pragma unroll
        for (int j = 0; j < batch; j++)
            x[j] = item(i + j * threads);
#pragma unroll
        for (int j = 0; j < batch; j++)
            __stcs(to + i + j * threads, x[j]);
    }
    for (; i < n; i += threads)
        to[i] = item(i);
}

} // namespace GPI_SPACE
