/* SPDX-License-Identifier: MIT */
/* A look at a few words of an array, before all are counted. */
#pragma once

#include "radixsort/radixsort_histogram.cuh"
#include "radixsort/radixsort_splitters.cuh"

namespace GPI_SPACE
{

/* Bits [shift, shift + bits) of a word are the number of its bucket: of those that vary,
 * the highest ones. */
struct Top {
    int shift, bits;

    template <class K> static GPI_DEVICE Top of(const RadixKeys<K> &job, BitRange vary)
    {
        const bool few = vary.end - job.bits_if_narrow - vary.begin <= job.narrow_limit;
        const int most = few ? job.bits_if_narrow : job.bucket_bits;
        const int bits = vary.end - job.begin < most ? vary.end - job.begin : most;
        return {vary.end - bits, bits};
    }
};

/* More of T words than a bucket that fits should have of them. Of a small sort: a quarter more than
 * as many as a block can sort, and of even keys hardly a bucket has as many by chance. */
template <int T, bool LARGE, class K>
GPI_DEVICE uint32_t full_in_look(const RadixKeys<K> &job, int bits)
{
    if (LARGE)
        return max(radix_tuning.sample_full * T >> bits, 2u);
    return max(T * 5 / 4 * job.bucket_max / (uint32_t)job.items(), 2u + (2u * T >> bits));
}

/*
 * At a word for each thread, the same in all blocks, so that none waits: the bits that vary in
 * these, from byte 0 to byte 1 of what is returned; byte 2: whether buckets are so full that all
 * keys would be counted in vain, and levels or splitters follow. A call that is given no more than
 * the job and returns a number, as an object that a call is given the address of is in memory for
 * all that follows, in the loops over tiles, too.
 */
template <int T, bool FLOAT, bool LARGE, class K>
__device__ __noinline__ uint32_t look(const RadixKeys<K> &job)
{
    extern __shared__ __align__(16) char memory[];
    uint32_t *table = (uint32_t *)memory;
    __shared__ unsigned long long differ;
    const K *keys = job.keys[gpi_radix_in];
    const uint64_t n = job.items(), from = n * threadIdx.x / T;
    const uint32_t piece = (uint32_t)(n * (threadIdx.x + 1) / T - from);
    const K word =
        job.order.template word<FLOAT>(keys[from + __umulhi(threadIdx.x * 0x9e3779b1u, piece)]);
    const K varying = warp_or((K)(word ^ job.order.template word<FLOAT>(keys[0])));
    if (threadIdx.x == 0)
        differ = 0;
    __syncthreads();
    if (lane_id() == 0)
        atomicOr(&differ, (unsigned long long)varying);
    __syncthreads();
    BitRange vary = varying_range(job, differ);
    if (vary.end == job.begin)
        vary = {job.begin, job.end};
    const Top t = Top::of(job, vary);
    for (int i = threadIdx.x; i < 1 << t.bits; i += T)
        table[i] = 0;
    __syncthreads();
    const uint32_t bucket = DigitOf<K>{t.shift, (1u << t.bits) - 1}(word);
    atomicAdd(&table[bucket], 1u);
    __syncthreads();
    const int excess = __syncthreads_count(table[bucket] > full_in_look<T, LARGE>(job, t.bits));
    const bool follows = LARGE && radix_by_splitters<K> ? splits_by_levels(job, differ)
                                                        : varying_digits(job, differ) > 1;
    const bool in_vain = excess > (int)(T / radix_tuning.sample_excess) && follows;
    if (in_vain && blockIdx.x == 0 && threadIdx.x == 0)
        job.plan->route =
            LARGE && radix_by_splitters<K> ? gpi_radix_route_adaptive : gpi_radix_route_splitters;
    return (uint32_t)vary.begin | (uint32_t)vary.end << 8 | (uint32_t)in_vain << 16;
}

/* By the first block, while the others count: whether they do so in vain, which the plan says in
 * `skewed`; then also the sample of splitters, if it has a run for each warp at most. */
template <int T, bool FLOAT, class K>
__device__ __noinline__ void look_ahead(const RadixKeys<K> &job)
{
    if (!(look<T, FLOAT, false, K>(job) >> 16))
        return;
    const bool sampled = Splitters<K>::of(job).sample_items() <= T / 32 * split_run;
    if (sampled)
        take_sample<T>(job, 0, 1);
    if (threadIdx.x == 0)
        job.plan->skewed = sampled ? gpi_radix_sampled : gpi_radix_skewed;
}

} // namespace GPI_SPACE
