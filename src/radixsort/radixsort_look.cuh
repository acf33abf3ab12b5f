/* SPDX-License-Identifier: MIT */
/* A look at a few words, before all are counted, that says how counts of buckets would be. */
#pragma once

#include "radixsort/radixsort_histogram.cuh"

namespace GPI_SPACE
{

/* More of T words than a bucket that fits should have of them. Of a small sort: a quarter more than
 * as many as a block can sort, and of even keys hardly a bucket has as many by chance. */
template <int T, bool LARGE, class K>
GPI_DEVICE uint32_t full_in_look(const RadixKeys<K> &job, int bits)
{
    if (LARGE)
        return max(radix_tuning.sample_full * T >> bits, 2u);
    return max(T * 5 / 4 * job.bucket_max / (uint32_t)job.items(), 2u + (2u * T >> bits));
}

/* Whether T words, one of each thread, are evenly in `used` buckets from the first one on: in no
 * sixteenth of these more than 13/8 of its share, and four for chance. */
template <int T> GPI_DEVICE bool are_even(uint32_t bucket, uint32_t first, uint32_t used)
{
    __shared__ uint32_t parts[16];
    if (threadIdx.x < 16)
        parts[threadIdx.x] = 0;
    __syncthreads();
    const uint32_t part = (bucket - first) * 16 / used;
    atomicAdd(&parts[part], 1u);
    __syncthreads();
    const uint32_t buckets = ((part + 1) * used + 15) / 16 - (part * used + 15) / 16;
    return !__syncthreads_or(parts[part] > T * 13 / 8 * buckets / used + 4);
}

/*
 * At a word for each thread, the same in all blocks, so that none waits: the bits that vary in
 * these, from byte 0 to byte 1 of what is returned; byte 2: whether buckets are so full that all
 * keys would be counted in vain, and levels, splitters, a map or passes follow, and from its fifth
 * bit on how many bits more divide buckets; byte 3: whether words are so close together that
 * passes are to follow in place of splitters, or may in place of a map. A call that is given no
 * more than the job and returns a number, as an object that a call is given the address of is in
 * memory for all that follows, in the loops over tiles, too.
 */
template <int T, bool FLOAT, bool LARGE, class K>
__device__ __noinline__ uint32_t look(const RadixKeys<K> &job)
{
    extern __shared__ __align__(16) char memory[];
    uint32_t *table = (uint32_t *)memory;
    __shared__ K varying[T / 32];
    __shared__ uint32_t ends[2]; /* the last bucket, and the first one's complement */
    const K *keys = job.keys[gpi_radix_in];
    const uint64_t n = job.items(), from = n * threadIdx.x / T;
    const uint32_t piece = (uint32_t)(n * (threadIdx.x + 1) / T - from);
    const K key = keys[from + __umulhi(threadIdx.x * 0x9e3779b1u, piece)], first = keys[0];
    for (int i = threadIdx.x; i < 1 << max(job.bucket_bits, job.bits_if_narrow); i += T)
        table[i] = 0;
    const K word = job.order.template word<FLOAT>(key);
    const K vary_in_warp = warp_or((K)(word ^ job.order.template word<FLOAT>(first)));
    if (lane_id() == 0)
        varying[threadIdx.x / 32] = vary_in_warp;
    if (threadIdx.x < 2)
        ends[threadIdx.x] = 0;
    __syncthreads();
    const K differ = warp_or(lane_id() < T / 32 ? varying[lane_id()] : (K)0);
    BitRange vary = varying_range(job, differ);
    if (vary.end == job.begin)
        vary = {job.begin, job.end};
    Top t = Top::of(job, vary);
    uint32_t bucket = DigitOf<K>{t.shift, (1u << t.bits) - 1}(word);
    atomicAdd(&table[bucket], 1u);
    int more = 0;
    if constexpr (LARGE) {
        const uint32_t last = warp_max(bucket), rest = warp_max(~bucket);
        if (lane_id() == 0) {
            atomicMax(&ends[0], last);
            atomicMax(&ends[1], rest);
        }
        __syncthreads();
        const uint32_t used = ends[0] + ends[1] + 2;
        more = t.more(job, used, min(job.bits_max, radix_tuning.bucket_bits));
        if (more && are_even<T>(bucket, ~ends[1], used)) {
            t = t.divided(more);
            bucket = DigitOf<K>{t.shift, (1u << t.bits) - 1}(word);
            for (int i = threadIdx.x; i < 1 << t.bits; i += T)
                table[i] = 0;
            __syncthreads();
            atomicAdd(&table[bucket], 1u);
        } else {
            more = 0;
        }
    }
    __syncthreads();
    const int excess = __syncthreads_count(table[bucket] > full_in_look<T, LARGE>(job, t.bits));
    const bool follows = LARGE && radix_by_splitters<K> ? splits_by_levels(job, differ)
                                                        : varying_digits(job, differ) > 1;
    const bool in_vain = excess > (int)(T / radix_tuning.sample_excess) && follows;
    bool close = false;
    const uint32_t range =
        job.levels_or_map ? 1u << radix_bits * radix_tuning.digits_close : job.close_range;
    if constexpr (radix_has_reach<K>)
        if (in_vain && range) {
            const uint32_t compared = (word & job.compared()) >> job.begin;
            const uint2 ends = block_ends(compared, compared, table);
            close = ends.y - ends.x < range;
        }
    if (in_vain && !close && blockIdx.x == 0 && threadIdx.x == 0 &&
        (!LARGE || radix_by_splitters<K> || job.split_bits))
        job.plan->route = LARGE && radix_by_splitters<K> ? gpi_radix_route_levels_or_map
                                                         : gpi_radix_route_splitters;
    return (uint32_t)vary.begin | (uint32_t)vary.end << 8 | (uint32_t)in_vain << 16 |
           (uint32_t)more << 20 | (uint32_t)close << 24;
}

/* Blocks of a sort that look while others count: one for each T / 32 runs of a sample. */
template <int T, class K> GPI_DEVICE uint32_t looking_blocks(const RadixKeys<K> &job)
{
    return max(Splitters<K>::of(job).sample_items() / (T / 32 * split_run), 1u);
}

/* By these: whether others count in vain, which the plan says in `skewed`; then also the sample. */
template <int T, bool FLOAT, bool LARGE, class K>
__device__ __noinline__ void look_ahead(const RadixKeys<K> &job)
{
    const uint32_t looked = look<T, FLOAT, LARGE, K>(job), seen = looked >> 16 & 1;
    const bool close = looked >> 24;
    if (seen && !close)
        take_sample<T>(job, blockIdx.x, looking_blocks<T>(job));
    if (seen && blockIdx.x == 0 && threadIdx.x == 0)
        job.plan->skewed = close ? gpi_radix_close : gpi_radix_sampled;
}

} // namespace GPI_SPACE
