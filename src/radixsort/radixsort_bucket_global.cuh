/* SPDX-License-Identifier: MIT */
/*
 * A bucket that is too large for shared memory, sorted by one block through global memory: LSD
 * passes between the output and the temporary array, so that a few large buckets do not make the
 * whole sort one by passes. The same for entries that levels leave, and copies of sorted ones.
 */
#pragma once

#include "device/grid.cuh"
#include "device/undefined.cuh"
#include "radixsort/radixsort_places.cuh"

namespace GPI_SPACE
{

/* to[i] = from[i] by one block; all loads of a batch are on their way before the first store. */
template <int T, class X>
GPI_DEVICE void copy_items(const X *from, uint64_t first, uint64_t end, X *to)
{
    constexpr int batch = 8;
    uint64_t i = first + threadIdx.x;
    for (; i + (batch - 1) * T < end; i += batch * T) {
        X x[batch];
#pragma unroll
        for (int j = 0; j < batch; j++)
            x[j] = __ldcs(from + i + j * T);
#pragma unroll
        for (int j = 0; j < batch; j++)
            __stcs(to + i + j * T, x[j]);
    }
    for (; i < end; i += T)
        to[i] = from[i];
}

/* A bucket that is in order, to the output. */
template <int T, int VB, class K, class V>
GPI_DEVICE void copy_bucket(const RadixJob<K, V> &job, uint32_t from, uint64_t first, uint64_t end)
{
    const void *values = job.values[from];
    void *to = job.values[gpi_radix_out];
    if (job.keys_wanted)
        copy_items<T>(job.keys[from], first, end, job.keys[gpi_radix_out]);
    if (VB > 0 && job.values_at(from).is_narrow())
        copy_items<T>((const uint8_t *)values, first * job.value_bytes, end * job.value_bytes,
                      (uint8_t *)to);
    else if (VB > 0)
        copy_items<T>((const V *)values, first, end, (V *)to);
}

template <class K, bool FLOAT, int VB, int T> struct BucketGlobal {
    using V = typename Payload<VB>::type;
    static constexpr int warps = T / 32;
    static constexpr int batch = 8; /* rows whose loads are on their way at once */

    struct Block : WholeBlock {
        static constexpr int threads = T;
    };
    using Shared = TileCounts<Block, radix_bins>;

    const RadixJob<K, V> &job;
    Shared &s;
    uint64_t first, count;
    K base; /* no word is smaller */

    /* The items of this warp. */
    GPI_DEVICE uint64_t warp_begin(uint32_t warp) const
    {
        const uint64_t each = (count + 32 * warps - 1) / (32 * warps) * 32;
        return warp * each < count ? warp * each : count;
    }

    GPI_DEVICE uint32_t digit(const DigitOf<K> &digit_of, K key) const
    {
        const KeyCodec<K, FLOAT, VB> codec = {job.order};
        const K word = codec.word(codec.encode(key));
        const int up = 8 * (int)sizeof(K) - job.end; /* bits above those that are compared */
        return digit_of((K)((K)((K)(word << up) >> (job.begin + up)) - base));
    }

    /* A warp's counts of digits become the places where its items go. */
    GPI_DEVICE void count_digits(const K *keys, const DigitOf<K> &digit_of)
    {
        const uint32_t warp = threadIdx.x / 32;
        s.clear();
        const uint64_t end = warp_begin(warp + 1);
        for (uint64_t i = warp_begin(warp) + lane_id(); i < end; i += batch * 32) {
            K key[batch];
            leave_undefined<radix_buckets_loop<sizeof(K), VB>>(key);
#pragma unroll
            for (int b = 0; b < batch; b++)
                if (i + b * 32 < end)
                    key[b] = keys[i + b * 32];
#pragma unroll
            for (int b = 0; b < batch; b++)
                if (i + b * 32 < end)
                    atomicAdd(&s.own()[digit(digit_of, key[b])], 1u);
        }
        __syncthreads();
        s.sum([](uint32_t) {});
        __syncthreads();
    }

    GPI_DEVICE void pass(uint32_t from, uint32_t to, const DigitOf<K> &digit_of)
    {
        const K *keys = job.keys[from] + first;
        const ValueArray<V> values = job.values_at(from, first);
        uint32_t *counts = s.own();
        count_digits(keys, digit_of);
        const uint64_t end = warp_begin(threadIdx.x / 32 + 1);
        uint64_t row = warp_begin(threadIdx.x / 32);
        for (; row < end; row += batch * 32) {
            K key[batch];
            V value[batch];
            leave_undefined<radix_buckets_loop<sizeof(K), VB>>(key);
            leave_undefined<radix_buckets_loop<sizeof(K), VB>>(value);
            const uint64_t mine = row + lane_id();
#pragma unroll
            for (int b = 0; b < batch; b++)
                if (mine + b * 32 < end) {
                    key[b] = keys[mine + b * 32];
                    if constexpr (VB > 0)
                        value[b] = values.load(mine + b * 32);
                }
#pragma unroll
            for (int b = 0; b < batch; b++) {
                if (row + b * 32 >= end)
                    break;
                const bool valid = mine + b * 32 < end;
                const uint32_t d = valid ? digit(digit_of, key[b]) : 0;
                const uint32_t lanes = __ballot_sync(all_lanes, valid);
                const uint64_t at = first + rank_by_ballot(counts, d, lanes);
                if (valid) {
                    job.keys[to][at] = key[b];
                    if constexpr (VB > 0)
                        job.values_at(to).store(at, value[b]);
                }
            }
        }
        __syncthreads();
    }

    /* Sorts by the lowest `bits` bits of words less the base, from either array to the output. */
    static __device__ __noinline__ void sort(BucketGlobal bucket, uint32_t from, int bits)
    {
        const RadixJob<K, V> &job = bucket.job;
        for (int at = 0; at < bits; at += radix_bits) {
            const int width = bits - at < radix_bits ? bits - at : radix_bits;
            const uint32_t to = from == gpi_radix_out ? gpi_radix_tmp : gpi_radix_out;
            bucket.pass(from, to, {at, (1u << width) - 1});
            from = to;
        }
        if (from != gpi_radix_out)
            copy_bucket<T, VB>(job, from, bucket.first, bucket.first + bucket.count);
    }
};

/* Grid: any; blocks take the large entries of levels in turn. Those without bits are copied. */
template <class K, bool FLOAT, int VB, int T>
__global__ void __launch_bounds__(T, 2)
    radix_bucket_global_k(const __grid_constant__ RadixJobOf<K, VB> job)
{
    using Global = BucketGlobal<K, FLOAT, VB, T>;
    __shared__ typename Global::Shared shared;
    grid_wait();
    if (job.plan->route != gpi_radix_route_levels_or_map)
        return;
    for (uint32_t i = blockIdx.x; i < job.plan->large; i += gridDim.x) {
        const gpi_radix_entry e = job.lists.large[i];
        Global::sort({job, shared, e.first, e.count, (K)e.base}, e.from, (int)e.bits);
        __syncthreads();
    }
}

template <class K, int VB>
gpi_launch launch_bucket_global(const gp_context *ctx, const RadixJobOf<K, VB> &job)
{
    constexpr int T = radix_tuning.tile_threads, blocks_per_sm = 2;
    return launch_dependent(radix_bucket_global_k<K, true, VB, T>, job.device_n != nullptr,
                            blocks_per_sm * (unsigned)ctx->sm_count, T, 0, job);
}

} // namespace GPI_SPACE
