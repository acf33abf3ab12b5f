/* SPDX-License-Identifier: MIT */
/*
 * Sorting from the top where keys are so skewed that buckets by highest bits are too large: a map
 * of words to buckets is learned (radixsort_map_learn.cuh), its buckets are counted, and one or two
 * partition passes by their numbers move the items there. radixsort_bucket_k.cuh then sorts the
 * buckets that have more than one word. Where buckets of the map are too large, too, nothing is
 * moved by it and LSD passes follow.
 */
#pragma once

#include "device/grid.cuh"
#include "radixsort/radixsort_map_learn.cuh"
#include "radixsort/radixsort_partition_k.cuh"

namespace GPI_SPACE
{

/* From the counts of a map's buckets: where these begin, the ranges of their words, and whether
 * blocks can sort them. */
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

/* The policy of a partition pass by some bits of the numbers of a map's buckets. */
template <class K, class G, int ITEMS> struct PartitionByMap : PartitionByBits<K, G, ITEMS> {
    using Base = PartitionByBits<K, G, ITEMS>;
    using Digit = DigitOfMap<K>;
    using typename Base::Shared;
    const RadixMap<K> &map;

    GPI_DEVICE PartitionByMap(const RadixKeys<K> &job, const PartitionPass &pass, Shared &s,
                              const RadixMap<K> &map_)
        : Base(job, pass, s), map(map_)
    {
    }

    GPI_DEVICE Digit digit() const
    {
        return {this->pass.shift + (int)map.bucket_shift, (1u << this->pass.bits) - 1, &map,
                this->job.compared()};
    }

    static GPI_DEVICE gpi_radix_fault_tile fault_tile()
    {
        return gpi_radix_fault_in_map;
    }
};

template <class K, bool FLOAT, int VB, int T, int I> struct MapKernel {
    using V = typename Payload<VB>::type;
    static constexpr int groups = radix_tile_groups(sizeof(K), VB);
    static constexpr int tile_items = T / groups * I;
    using G = Group<T / groups>;
    using Policy = PartitionByMap<K, G, tile_items>;
    using Partitions = Partitioner<K, FLOAT, VB, false, T, I, Policy>;
    struct Shared {
        RadixMap<K> map; /* while it is learned, it has all of the memory */
        alignas(16) typename Partitions::Tile::OfGroup tile[groups];
        typename Policy::Shared policy[groups];
    };
    static constexpr int shared_bytes = std::max(
        (int)sizeof(Shared), map_learn_bytes<K>(radix_bucket_shape(sizeof(K), VB).all_items()));

    const RadixJob<K, V> &job;
    Shared &s;

    GPI_DEVICE uint64_t tiles() const
    {
        return (job.items() + tile_items - 1) / tile_items;
    }

    GPI_DEVICE PartitionPass pass_of(int step) const
    {
        const int bits = map_bucket_bits(s.map.buckets),
                  second = map_second_bits(bits, job.in_place);
        PartitionPass pass = {};
        pass.ticket = &job.plan->map_tickets[step];
        pass.segment_starts = job.map.starts;
        pass.states = job.states[step];
        pass.from = step ? gpi_radix_tmp : gpi_radix_in;
        pass.to = step || second == 0 ? gpi_radix_out : gpi_radix_tmp;
        pass.shift = step ? 0 : second;
        pass.bits = step ? second : bits - second;
        pass.below = step ? 0 : second;
        pass.segmented = step;
        pass.cursors = step || second == 0 ? job.map.cursors : job.map.cursors + (1u << bits);
        if (step == 0 && second && VB > 0) {
            pass.clear = job.states[1];
            pass.clear_rows = tiles() + GPI_RADIX_SEGMENTS;
        }
        return pass;
    }

    /* False, and nothing is moved, if blocks could not sort the buckets. */
    GPI_DEVICE bool run()
    {
        __shared__ uint32_t sums[T / 32];
        if (VB > 0)
            job.template clear_states<T>(tiles());
        GridBarrier learned = {&job.plan->map_arrived, 0};
        learn_map<T, FLOAT, K>(job, s.map, sums, learned);
        if (!MapBuckets<T, K>{job, s.map, sums}.finish(learned, tile_items))
            return false;
        Partitions::init();
        GridBarrier barrier = {&job.plan->map_passed, 0};
        const bool all = s.map.buckets <= job.entries;
        const uint32_t entries = all ? s.map.buckets : __ldcg(&job.plan->entries);
        for (uint32_t i = blockIdx.x * T + threadIdx.x; i < entries; i += gridDim.x * T) {
            uint32_t &first = job.lists.entries[i].first; /* the number of a bucket until then */
            first = job.map.starts[first];
        }
        auto &tile = s.tile[G::number()];
        const int steps = map_second_bits(map_bucket_bits(s.map.buckets), job.in_place) ? 2 : 1;
#pragma unroll 1
        for (int step = 0; step < steps; step++) {
            __syncthreads();
            if (G::thread() == 0)
                tile.pass = pass_of(step);
            __syncthreads();
            const Policy policy(job, tile.pass, s.policy[G::number()], s.map);
            Partitions(job, tile, policy).run();
            if (step + 1 < steps)
                barrier.wait();
        }
        if (blockIdx.x == 0 && threadIdx.x == 0)
            job.plan->entries = entries;
        return true;
    }
};

/* True if the items are in buckets then, with entries for radixsort_bucket_k.cuh. A call, as its
 * code between the lines of passes would cost those microseconds; the job is copied to shared
 * memory, as parameters of a kernel are read slowly by address, and copies of threads fill the L1:
 * skew-23 in docs/tuning. */
template <class Work, class Job, int T> __device__ __noinline__ bool sort_by_map(const Job &job)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ Job here;
    static_assert(sizeof(Job) % sizeof(uint32_t) == 0, "whole words");
    for (uint32_t i = threadIdx.x; i < sizeof(Job) / sizeof(uint32_t); i += T)
        ((uint32_t *)&here)[i] = ((const uint32_t *)&job)[i];
    __syncthreads();
    return Work{here, *(typename Work::Shared *)memory}.run();
}

/* Grid: cooperative, a block per multiprocessor. Tile: T x I items by a map, T x PASS_ITEMS in
 * passes. After: entries for radixsort_bucket_k.cuh, or the sorted array; if that is the route. */
template <class K, bool FLOAT, int VB, int T, int I, int PASS_ITEMS>
__global__ void __launch_bounds__(T, 1) radix_map_k(const __grid_constant__ RadixJobOf<K, VB> job)
{
    extern __shared__ __align__(16) char memory[];
    if (job.plan->route != gpi_radix_route_levels_or_map)
        return;
    job.take_items();
    for (int i = blockIdx.x * T + threadIdx.x; i < (int)sizeof(K) * radix_bins; i += gridDim.x * T)
        job.starts[i] = 0; /* where digits were counted before the sample spoke for a map */
    if (sort_by_map<MapKernel<K, FLOAT, VB, T, I>, RadixJobOf<K, VB>, T>(job))
        return;
    using Work = PartitionKernel<K, FLOAT, VB, T, PASS_ITEMS, true>;
    Work kernel = {job, memory, {&job.plan->level_arrived, 0}};
    Work::Passes::init();
    if constexpr (Work::has_long)
        Work::LongPasses::init();
    kernel.count_passes();
    kernel.template partitions<typename Work::Passes>(false);
    kernel.finish();
}

} // namespace GPI_SPACE
