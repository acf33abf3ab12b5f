/* SPDX-License-Identifier: MIT */
/*
 * Entries of a row moved to buckets, by a block, in their order: for csr_columns_parts.cuh.
 *
 * A warp counts those that it has of each bucket, by ballots. They are brought into the order of
 * buckets in shared memory, so that those of one leave side by side: entry by entry the L2 takes as
 * long for 4 bytes as for 32.
 */
#pragma once

#include "csr/csr_columns_long.cuh"

namespace GPI_SPACE
{

constexpr uint32_t buckets_max = GPI_CSR_BUCKETS; /* of a row; as many values has a digit, too */
constexpr int part_digit = 8;
static_assert(buckets_max == 1 << part_digit, "counts have room for both");
/* Entries that are in shared memory at a time while they are moved. */
constexpr uint32_t split_max = gpu.block_shared_bytes >= 200 << 10   ? part_max
                               : gpu.block_shared_bytes >= 160 << 10 ? part_max / 2
                                                                     : part_max / 4;

/* In place of columns and places. */
template <class I> struct PartShared {
    uint64_t values[split_max]; /* by bucket, so that they leave side by side */
    I by_bucket[split_max];
    uint8_t buckets[split_max];
    I cols[buckets_max];         /* what buckets begin with, but for the first, */
    uint32_t at[buckets_max];    /* and where in the row that is */
    uint32_t base[buckets_max];  /* counts, then where the next entries of a bucket go, */
    uint32_t total[buckets_max]; /* counts of the row, then where a bucket begins here */
    uint16_t counts[LongShape<I>::threads / 32][buckets_max]; /* of warps */
};

/* From where to where entries move. */
template <class I> struct PartMove {
    const I *cols;
    const char *values;
    I *to_cols;
    char *to_values;
    uint32_t value_bytes;

    /* A value that another block may have written. */
    GPI_DEVICE uint64_t value(uint32_t from) const
    {
        const char *in = values + (uint64_t)from * value_bytes;
        if (value_bytes == 4)
            return __ldcg((const uint32_t *)in);
        if (value_bytes == 8)
            return __ldcg((const unsigned long long *)in);
        uint64_t v = 0;
#pragma unroll 1
        for (uint32_t k = 0; k < value_bytes; k++)
            v |= (uint64_t)(uint8_t)__ldcg(in + k) << 8 * k;
        return v;
    }

    GPI_DEVICE void store(uint32_t to, I col, uint64_t v) const
    {
        char *out = to_values + (uint64_t)to * value_bytes;
        to_cols[to] = col;
        if (value_bytes == 4)
            *(uint32_t *)out = (uint32_t)v;
        else if (value_bytes == 8)
            *(uint64_t *)out = v;
        else
#pragma unroll 1
            for (uint32_t k = 0; k < value_bytes; k++)
                out[k] = (char)(v >> 8 * k);
    }
};

/* The bucket of an entry: in memory, or a digit of its column. */
template <class I> struct PartBuckets {
    const uint16_t *known;
    const I *cols;
    I least;
    uint32_t shift;

    GPI_DEVICE uint32_t of(uint32_t i) const
    {
        const uint64_t b = known ? __ldcg(known + i) : (I)(__ldcg(cols + i) - least) >> shift;
        return (uint32_t)b % buckets_max;
    }
};

/* A stable split of entries first to first + n, of which there is room for all, into buckets, whose
 * bases go on. No entry goes to `limit` or further. */
template <class I>
GPI_DEVICE void split_part(PartShared<I> &s, Team team, PartMove<I> m, PartBuckets<I> b,
                           uint32_t first, uint32_t n, uint32_t limit)
{
    constexpr int threads = LongShape<I>::threads, most = split_max / threads;
    const int each = (int)((n + threads - 1) / threads); /* of a lane, 32 apart */
    const uint32_t warp = threadIdx.x / 32, item = warp * each * 32 + lane_id();
    uint32_t own[most]; /* a bucket, and how many of it the warp has before */
    for (uint32_t i = threadIdx.x; i < sizeof s.counts / 4; i += threads)
        ((uint32_t *)s.counts)[i] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < most; k++) {
        const bool is = k < each && item + k * 32 < n;
        const uint32_t own_b = is ? b.of(first + item + k * 32) : buckets_max;
        const uint32_t peers = __match_any_sync(all_lanes, own_b);
        const uint32_t below = peers & ((1u << lane_id()) - 1);
        const uint32_t before = is ? s.counts[warp][own_b] : 0;
        __syncwarp();
        if (is && !below)
            s.counts[warp][own_b] = (uint16_t)(before + __popc(peers));
        __syncwarp();
        own[k] = own_b << 16 | (before + __popc(below));
    }
    __syncthreads();
    uint32_t sum = 0;
    if (threadIdx.x < buckets_max)
#pragma unroll 1
        for (int w = 0; w < threads / 32; w++) {
            const uint32_t count = s.counts[w][threadIdx.x];
            s.counts[w][threadIdx.x] = (uint16_t)sum;
            sum += count;
        }
    const uint32_t begin = team.before(sum);
    if (threadIdx.x < buckets_max)
        s.total[threadIdx.x] = begin;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < most; k++) {
        const uint32_t own_b = own[k] >> 16;
        if (own_b >= buckets_max)
            continue;
        const uint32_t at = s.total[own_b] + s.counts[warp][own_b] + (own[k] & 0xffff);
        s.by_bucket[at] = __ldcg(m.cols + first + item + k * 32);
        s.values[at] = m.value(first + item + k * 32);
        s.buckets[at] = (uint8_t)own_b;
    }
    __syncthreads();
#pragma unroll 2
    for (uint32_t i = threadIdx.x; i < n; i += threads) {
        const uint32_t own_b = s.buckets[i], to = s.base[own_b] + i - s.total[own_b];
        m.store(min(to, limit - 1), s.by_bucket[i], s.values[i]);
    }
    __syncthreads();
    if (threadIdx.x < buckets_max)
        s.base[threadIdx.x] += sum;
}

} // namespace GPI_SPACE
