/* SPDX-License-Identifier: MIT */
/* What a few keys of large arrays say before all are counted, or meanwhile, and counts say anew. */
#pragma once

#include "radixsort/radixsort_look.cuh"

namespace GPI_SPACE
{

/* Counts of 2^bits buckets from those of 2^more as many. */
template <int T, class K>
GPI_DEVICE void join_buckets(const RadixKeys<K> &job, int more, int bits, uint32_t *counts)
{
    for (int i = blockIdx.x * T + threadIdx.x; i < 1 << bits; i += gridDim.x * T) {
        uint32_t sum = 0;
        for (int j = 0; j < 1 << more; j++)
            sum += job.buckets[(i << more) + j];
        counts[i] = sum;
    }
}

/* By one block: decides from the sample whether counting all keys is pointless, as buckets will not
 * fit; the limits are those of plan_buckets(), widened by the error of a sample. Levels, a map or
 * passes follow then. Before that plan.bits becomes how many bits more divide the buckets, which
 * have `bits_max` at most. */
template <int T, bool LARGE, class K>
__device__ __noinline__ void plan_sample(const RadixKeys<K> &job, Top t, int bits_max, bool ends,
                                         const uint32_t *counts, uint64_t sample_stride,
                                         uint32_t *shared)
{
    const int bits = t.bits;
    const uint32_t sample = (uint32_t)(job.items() / sample_stride);
    const uint32_t full = radix_by_splitters<K> ? radix_tuning.sample_full * (sample >> bits)
                                                : (uint32_t)(2 * job.bucket_max / sample_stride);
    __shared__ uint32_t most, excess[4], last, rest; /* excess if that many bits more divide them */
    if (threadIdx.x == 0)
        most = last = rest = excess[0] = excess[1] = excess[2] = excess[3] = 0;
    __syncthreads();
    uint32_t own_last = 0, own_rest = 0;
    for (uint32_t i = threadIdx.x; i < 1u << bits; i += T * plan_batch) {
        uint32_t count[plan_batch];
#pragma unroll
        for (uint32_t j = 0; j < plan_batch; j++)
            count[j] = i + j * T < 1u << bits ? counts[i + j * T] : 0;
#pragma unroll
        for (uint32_t j = 0; j < plan_batch; j++) {
            own_last = count[j] ? i + j * T : own_last;
            own_rest = count[j] ? max(own_rest, ~(i + j * T)) : own_rest;
            if (count[j] > full) {
                for (int more = 0; more < 4; more++)
                    if (count[j] > full << more)
                        atomicAdd(&excess[more], count[j]);
                atomicMax(&most, count[j]);
            }
        }
    }
    own_last = warp_max(own_last), own_rest = warp_max(own_rest);
    if (lane_id() == 0) {
        atomicMax(&last, own_last);
        atomicMax(&rest, own_rest);
    }
    __syncthreads();
    const int more = min(t.more(job, last + rest + 2, bits_max), 3);
    const bool uneven = excess[more] > sample / radix_tuning.sample_excess;
    const uint64_t share = job.items() / radix_tuning.large_share, twice = 2 * job.bucket_max;
    const bool unfit = !ends && (uneven || (most >> more) * sample_stride > 2 * max(share, twice));
    const int digits = varying_digits(job, job.plan->varying);
    UnevenWays ways = {};
    bool close = false;
    if (unfit)
        ways = uneven_ways<T, LARGE>(job, digits, shared);
    if constexpr (radix_has_reach<K>)
        close = unfit && !ways.few && digits > radix_tuning.digits_few &&
                are_close<T>(job, t.shift, bits, counts, shared);
    if (threadIdx.x > 0)
        return;
    job.plan->bits = more;
    if (splits_by_levels(job, job.plan->varying)) {
        const bool all_full = job.items() >> job.bucket_bits > bucket_mean_max(job.bucket_max);
        job.plan->skewed = all_full || uneven;
        job.plan->route =
            job.plan->skewed ? gpi_radix_route_levels_or_map : gpi_radix_route_undecided;
    } else if (unfit && digits > 0) {
        job.plan->skewed = close ? gpi_radix_close : gpi_radix_skewed;
        if (!close && ways.map) {
            job.plan->mapped = ways.map;
            job.plan->route = gpi_radix_route_levels_or_map;
        }
    }
}

/* By the first block: the others stop a count that is of no use. */
template <int T, class K> GPI_DEVICE void stop_others(const RadixKeys<K> &job, radix_stop what)
{
    for (uint32_t block = threadIdx.x; block < gridDim.x; block += T)
        *(volatile uint32_t *)stop_of_block(job, block) = what;
}

/* By the first block, while the others count buckets: what it sees, if they do so in vain, or 0. */
template <int T, bool FLOAT, class K>
__device__ __noinline__ uint32_t look_for_passes(const RadixKeys<K> &job)
{
    for (int j = 0; j < SampleOf<K>::each; j++) /* what a map is asked for lies in the L2 then */
        asm volatile("prefetch.global.L2 [%0];" ::"l"(sampled_key<T>(job, j)));
    const uint32_t seen = look<T, FLOAT, true, K>(job);
    if (!(seen >> 16 & 1))
        return 0;
    stop_others<T>(job, radix_stop_buckets);
    if (threadIdx.x == 0)
        job.plan->skewed = gpi_radix_looked + (seen >> 24 ? gpi_radix_close : gpi_radix_skewed);
    return seen;
}

/* Then, while they count digits for passes: whether a map is tried. Where words may be close
 * together the counts are asked first, unless there are few words. */
template <int T, class K>
__device__ __noinline__ void look_for_map(const RadixKeys<K> &job, uint32_t seen)
{
    extern __shared__ __align__(16) char memory[];
    const uint64_t vary = ~0ull >> (64 - (seen >> 8 & 0xff)) >> (seen & 0xff) << (seen & 0xff);
    const UnevenWays ways =
        uneven_ways<T, true>(job, varying_digits(job, vary), (uint32_t *)memory);
    if (!ways.map)
        return;
    if (threadIdx.x == 0)
        job.plan->mapped = ways.map;
    if (ways.few || !(seen >> 24))
        stop_others<T>(job, radix_stop_digits);
}

} // namespace GPI_SPACE
