/* SPDX-License-Identifier: MIT */
/*
 * Sorting buckets, each inside one block by bins (radixsort_bucket_bins.cuh).
 *
 * The compiler orders functions that it does not inline by their mangled names, and allocates
 * registers in that order: renaming BucketGlobal, finish_large or the kernel can change its code.
 */
#pragma once

#include "device/grid.cuh"
#include "radixsort/radixsort_bucket_bins.cuh"
#include "radixsort/radixsort_bucket_global.cuh"

namespace GPI_SPACE
{

/* A bucket of equal keys, which may be of any size. */
template <int T, class K, class V>
GPI_DEVICE void copy_bucket(const RadixJob<K, V> &job, uint64_t first, uint64_t end)
{
    if (job.keys_wanted)
        copy_items<T>(job.keys[gpi_radix_tmp], first, end, job.keys[gpi_radix_out]);
    if constexpr (!std::is_same_v<V, Payload<0>::type>)
        copy_values<T>(job, gpi_radix_tmp, first, end);
}

GPI_DEVICE bool has_entries(const gpi_radix_plan &plan)
{
    return plan.route == gpi_radix_route_adaptive || plan.route == gpi_radix_route_splitters;
}

/* How many buckets there are. Everything may be one bucket of the input. */
template <class K> GPI_DEVICE uint32_t buckets_of(const RadixKeys<K> &job)
{
    if (!job.bucket_bits) {
        job.take_items();
        return job.is_one_bucket();
    }
    const gpi_radix_plan &plan = *job.plan;
    return plan.route == gpi_radix_route_one_bucket ? 1
           : has_entries(plan)                      ? min(plan.entries, job.entries)
           : plan.route == gpi_radix_route_buckets  ? 1u << plan.bits
                                                    : 0;
}

/* A bucket, of at most T x I items but for a few, by a whole block. */
template <class K, bool FLOAT, int VB, int T, int I>
GPI_DEVICE void sort_bucket(const RadixJob<K, typename Payload<VB>::type> &job, char *memory,
                            uint32_t number)
{
    uint64_t first = 0, end = 0;
    uint32_t from = gpi_radix_in;
    K base = 0;
    int bits = job.end - job.begin; /* that may vary in the bucket, from job.begin on */
    const K compared = job.compared();
    const gpi_radix_plan &plan = *job.plan;
    if (!job.bucket_bits || plan.route == gpi_radix_route_one_bucket) {
        end = item_count(job);
    } else if (has_entries(plan)) {
        const gpi_radix_entry e = job.adaptive.entries[number];
        first = e.first;
        end = first + e.count;
        from = e.from;
        base = (K)e.base;
        bits = (int)e.bits;
    } else {
        first = job.bucket_starts()[number];
        end = job.bucket_starts()[number + 1];
        from = plan.bits > radix_bits ? gpi_radix_out : gpi_radix_tmp;
        bits = (int)plan.shift - job.begin;
    }
    if (first == end)
        return;
    if (bits == 0) {
        if (from == gpi_radix_tmp)
            copy_bucket<T>(job, first, end);
        return;
    }
    const int count = (int)(end - first);
    using Narrow = BucketBins<K, FLOAT, VB, T, I>;
    using Global = BucketGlobal<K, FLOAT, VB, T>;
    if (end - first > T * I) {
        Global::sort({job, *(typename Global::Shared *)memory, first, end - first, base}, from,
                     bits);
        return;
    }
    const Narrow narrow = {job, *(typename Narrow::Shared *)memory, count, compared, base};
    BucketKeys<RadixWord<K>, I> keys;
    narrow.read(first, from, keys);
    if constexpr (VB > 0 && sizeof(K) == 4) {
        using Wide = BucketBins<K, FLOAT, VB, T, radix_tuning.wide_items, uint64_t>;
        const Wide wide = {job, *(typename Wide::Shared *)memory, count, compared, base};
        if (!narrow.fits(keys) && wide.fits(keys)) {
            __syncthreads();
            wide.clear_counts();
            __syncthreads();
            wide.sort(first, from, keys);
            return;
        }
    }
    narrow.sort(first, from, keys);
}

/*
 * Grid: a block per bucket, or, if they loop, fewer, which then claim others. After: the output, if
 * the route was one of buckets, or everything is one; if it was the adaptive one, all of the output
 * but what radix_bucket_global_k writes.
 */
template <class K, bool FLOAT, int VB, int T, int I, int BLOCKS>
__global__ void __launch_bounds__(T, BLOCKS)
    radix_bucket_k(const __grid_constant__ RadixJob<K, typename Payload<VB>::type> job)
{
    extern __shared__ __align__(16) char memory[];
    grid_wait();
    const uint32_t buckets = buckets_of(job);
    uint32_t number = blockIdx.x;
    if constexpr (radix_buckets_loop<sizeof(K), VB>) {
        __shared__ uint32_t next;
        while (number < buckets) {
            uint32_t claimed = buckets; /* while the bucket is sorted */
            if (threadIdx.x == 0 && buckets > gridDim.x)
                claimed = gridDim.x + atomicAdd(&job.plan->buckets_claimed, 1u);
            sort_bucket<K, FLOAT, VB, T, I>(job, memory, number);
            __syncthreads();
            if (threadIdx.x == 0)
                next = claimed;
            __syncthreads();
            number = next;
        }
    } else if (number < buckets) {
        sort_bucket<K, FLOAT, VB, T, I>(job, memory, number);
    }
}

} // namespace GPI_SPACE
