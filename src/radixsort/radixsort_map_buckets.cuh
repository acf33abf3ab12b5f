/* SPDX-License-Identifier: MIT */
/*
 * From the counts of a map's buckets (radixsort_map_learn.cuh): where they begin, the ranges of
 * their words, and whether blocks can sort them.
 */
#pragma once

#include "device/grid.cuh"
#include "radixsort/radixsort_map.cuh"

namespace GPI_SPACE
{

template <int T, class K> struct MapBuckets {
    const RadixKeys<K> &job;
    const RadixMap<K> &map;
    uint32_t *sums;

    /* By one block: where buckets begin, and the tiles of each segment of the second pass. */
    GPI_DEVICE void set_starts(uint32_t tile_items) const
    {
        const int bits = map_bucket_bits(map.buckets);
        const int second = map_second_bits(bits, job.in_place);
        const uint32_t size = 1u << bits, segments = size >> second;
        uint32_t at = 0;
        for (uint32_t i = threadIdx.x; i - threadIdx.x < size; i += T) {
            const uint32_t count = i < size ? __ldcg(&job.map.counts[i]) : 0;
            const uint2 sum = block_sums<T>(count, sums);
            if (i < size)
                job.map.starts[i] = job.map.cursors[i] = at + sum.x;
            at += sum.y;
        }
        if (threadIdx.x == 0)
            job.map.starts[size] = at;
        __syncthreads();
        uint32_t tiles = 0;
        if (threadIdx.x < segments) {
            const uint32_t from = job.map.starts[threadIdx.x << second];
            const uint32_t to = job.map.starts[(threadIdx.x + 1) << second];
            tiles = (to - from + tile_items - 1) / tile_items;
            job.map.cursors[size + threadIdx.x] = from;
        }
        const uint32_t before = block_sums<T>(tiles, sums).x;
        if (threadIdx.x < radix_bins)
            job.plan->segment_tile[threadIdx.x] = before;
        if (threadIdx.x == radix_bins - 1)
            job.plan->segment_tile[radix_bins] = before + tiles;
    }

    /* By a warp: adds its lanes' entries, which have the number of the bucket in `first` for now.
     * Buckets of one word, without bits, have entries only if all buckets have. */
    GPI_DEVICE void add_entries(const gpi_radix_entry &entry) const
    {
        if (map.buckets <= job.entries) {
            if (entry.first < map.buckets)
                job.lists.entries[entry.first] = entry;
            return;
        }
        const uint32_t lanes = __ballot_sync(all_lanes, entry.bits > 0);
        uint32_t at = 0;
        if (lane_id() == 0 && lanes)
            at = atomicAdd(&job.plan->entries, (uint32_t)__popc(lanes));
        at = __shfl_sync(all_lanes, at, 0) + __popc(lanes & ((1u << lane_id()) - 1));
        if (entry.bits && at < job.entries)
            job.lists.entries[at] = entry;
    }

    /* Entries for radixsort_bucket_k.cuh, and the work of blocks that sort a bucket through memory.
     * Lanes have neighbouring buckets, and the next lane's begin is the end: a warp has 31. */
    GPI_DEVICE void describe_buckets(uint32_t block, uint32_t blocks) const
    {
        const uint32_t warp = (block * T + threadIdx.x) / 32, warps = blocks * (T / 32);
        for (uint32_t first = warp * 31; first < map.buckets; first += warps * 31) {
            const uint32_t b = first + lane_id();
            const uint64_t least = map.least_from(b);
            const uint64_t after = __shfl_down_sync(all_lanes, least, 1);
            const bool mine = b < map.buckets && lane_id() < 31;
            const uint32_t count = mine ? __ldcg(&job.map.counts[b]) : 0;
            const uint64_t base = (least + ((1ull << job.begin) - 1)) >> job.begin;
            const uint64_t end = min(after - 1, (uint64_t)job.compared()) >> job.begin;
            gpi_radix_entry entry = {base, mine ? b : ~0u, count, 0, gpi_radix_out};
            if (count && end > base)
                entry.bits = 64 - __clzll((long long)(end - base));
            add_entries(entry);
            if (count > job.bucket_max && entry.bits) {
                const uint32_t work = count / 4 * ((entry.bits + radix_bits - 1) / radix_bits);
                atomicMax(&job.plan->map_work_max, work);
                atomicAdd(&job.plan->map_work_all, work);
            }
        }
    }

    GPI_DEVICE bool fits() const
    {
        const uint64_t n = job.items(), share = n / radix_tuning.map_large_share;
        const uint64_t most = share > 4 * job.bucket_max ? share : 4 * job.bucket_max;
        return __ldcg(&job.plan->map_work_max) <= most / 4 &&
               __ldcg(&job.plan->map_work_all) <= n / 4 / radix_tuning.map_large_work &&
               __ldcg(&job.plan->entries) <= job.entries;
    }

    /* By all blocks; true if blocks can sort the buckets. */
    GPI_DEVICE bool finish(GridBarrier &barrier, uint32_t tile_items) const
    {
        const bool alone = gridDim.x == 1;
        if (blockIdx.x == 0)
            set_starts(tile_items);
        if (blockIdx.x > 0 || alone)
            describe_buckets(alone ? 0 : blockIdx.x - 1, alone ? 1 : gridDim.x - 1);
        barrier.wait();
        return fits();
    }
};

} // namespace GPI_SPACE
