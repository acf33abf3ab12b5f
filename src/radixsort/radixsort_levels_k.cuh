/* SPDX-License-Identifier: MIT */
/*
 * Sample sort by levels, for keys of 8 bytes that are so skewed that buckets by highest bits are
 * too large.
 *
 * A level splits each of its segments (at first the whole array) into up to 256 buckets between
 * splitters from a sorted sample (radixsort_split_learn.cuh): items are counted, and a partition
 * pass moves them into their buckets, stably if there are values. Buckets that fit a block become
 * entries of a list for radixsort_bucket_k.cuh, larger ones segments of the next level; a bucket of
 * one word is in order. So a level reads the array twice and writes it once, and two levels are
 * enough for any keys, but for the few buckets that the sample underestimates.
 */
#pragma once

#include <algorithm>

#include "device/grid.cuh"
#include "radixsort/radixsort_segments.cuh"
#include "radixsort/radixsort_split_array.cuh"

namespace GPI_SPACE
{

template <class K, bool FLOAT, int VB, int T, int I> struct LevelsKernel {
    using V = typename Payload<VB>::type;
    static constexpr int groups = radix_tile_groups(sizeof(K), VB);
    static constexpr int tile_items = T / groups * I;
    using G = Group<T / groups>;
    using Policy = PartitionOfSegments<K, G, tile_items>;
    using Partitions = Partitioner<K, FLOAT, VB, false, T, I, Policy>;
    struct Shared {
        typename Partitions::Tile::OfGroup tile[groups];
        typename Policy::Shared policy[groups];
    };
    struct Counting {
        SplitSearch<K> search;
        uint32_t counts[radix_bins];
    };
    using Learner = SplitLearner<K, T>;
    using Learning = typename Learner::Shared;
    static constexpr int shared_bytes = (int)std::max(sizeof(Shared), sizeof(Learning));
    static_assert(sizeof(Counting) <= sizeof(Learning), "they share it");

    const RadixJob<K, V> &job;
    char *memory;
    GridBarrier barrier;
    uint32_t level, segments, tiles, from, to;

    GPI_DEVICE gpi_radix_segment *segment(uint32_t i) const
    {
        return job.lists.segments[level % 2] + i;
    }

    GPI_DEVICE static uint32_t tiles_of(uint32_t count)
    {
        return (count + tile_items - 1) / tile_items;
    }

    /* By one block: numbers the tiles of the segments of level `at`. The partition of the level
     * before may still run, and uses nothing that is changed here. */
    GPI_DEVICE void lay_tiles(uint32_t at, uint32_t count) const
    {
        uint32_t *sums = (uint32_t *)memory, done = 0;
        gpi_radix_segment *of_level = job.lists.segments[at % 2];
        for (uint32_t i = threadIdx.x; i - threadIdx.x < count; i += T) {
            const uint2 sum = block_sums<T>(i < count ? tiles_of(of_level[i].count) : 0, sums);
            if (i < count)
                of_level[i].tile = done + sum.x;
            done += sum.y;
        }
        if (threadIdx.x == 0) {
            job.plan->tiles = done;
            job.plan->level_tickets[at % 2] = 0;
            job.plan->segments[(at + 1) % 2] = 0;
            job.plan->others = 0;
        }
        __syncthreads();
    }

    /* A block for each segment: learns the splitters, and writes down which tiles it has. */
    GPI_DEVICE void prepare() const
    {
        for (uint32_t i = blockIdx.x; i < segments; i += gridDim.x) {
            const gpi_radix_segment now = *segment(i);
            const K *keys = job.keys[from] + now.first;
            for (uint32_t t = threadIdx.x; t < tiles_of(now.count); t += T)
                job.lists.segment_of[now.tile + t] = i;
            const Learner learner = {*(Learning *)memory};
            learner.run(*segment(i), level_mean(job.bucket_max, job.n), SplitTable<K>(job.lists, i),
                        [&](uint32_t at) {
                            return (K)(job.order.template word<FLOAT>(keys[at]) & job.compared());
                        });
        }
    }

    /* Adds items [first, first + count) to the counts of their segment's buckets. */
    GPI_DEVICE void count_run(uint32_t index, uint64_t first, uint32_t count) const
    {
        constexpr int batch = 64 / sizeof(K);
        Counting &s = *(Counting *)memory;
        const SplitTable<K> table(job.lists, index);
        const DigitInSegment<K> digit = {0, segment(index)->buckets - 1, job.compared(), &s.search};
        for (int i = threadIdx.x; i < radix_bins; i += T) {
            s.search.set(i, table.search[i], table.cells()[i]);
            s.counts[i] = 0;
        }
        if (threadIdx.x == 0)
            s.search.set(*segment(index));
        __syncthreads();
        const K *keys = job.keys[from] + first;
        K next[batch];
        auto load = [&](uint32_t i) {
#pragma unroll
            for (int j = 0; j < batch; j++)
                next[j] = i + j * T < count ? __ldcs(keys + i + j * T) : (K)0;
        };
        load(threadIdx.x);
        for (uint32_t i = threadIdx.x; i < count; i += batch * T) {
            K words[batch];
            uint32_t digits[batch];
#pragma unroll
            for (int j = 0; j < batch; j++)
                words[j] = job.order.template word<FLOAT>(next[j]);
            load(i + batch * T);
            digit.all(words, digits);
#pragma unroll
            for (int j = 0; j < batch; j++)
                if (i + j * T < count)
                    atomicAdd(&s.counts[digits[j]], 1u);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < radix_bins; i += T)
            if (s.counts[i])
                atomicAdd(&table.counts()[i], s.counts[i]);
        __syncthreads();
    }

    /* Counts the buckets of all segments; each block has neighbouring tiles. */
    GPI_DEVICE void count() const
    {
        const uint32_t each = (tiles + gridDim.x - 1) / gridDim.x;
        uint32_t tile = min(blockIdx.x * each, tiles);
        const uint32_t end = min(tile + each, tiles);
        while (tile < end) {
            const uint32_t index = job.lists.segment_of[tile];
            const gpi_radix_segment now = *segment(index);
            const uint32_t after = min(now.tile + tiles_of(now.count), end);
            const uint32_t from_item = (tile - now.tile) * tile_items;
            const uint32_t to_item = min((after - now.tile) * tile_items, now.count);
            count_run(index, (uint64_t)now.first + from_item, to_item - from_item);
            tile = after;
        }
    }

    /* A block for each segment: counts become starts of buckets, and these are listed. */
    GPI_DEVICE void plan_buckets() const
    {
        const SegmentParts parts = {job.lists,   *job.plan,      level,    to,
                                    job.entries, job.bucket_max, job.begin};
        for (uint32_t i = blockIdx.x; i < segments; i += gridDim.x) {
            const gpi_radix_segment &now = *segment(i);
            const SplitTable<K> table(job.lists, i);
            const uint32_t b = threadIdx.x, buckets = now.buckets;
            const uint32_t count = b < buckets ? table.counts()[b] : 0;
            const uint32_t first = now.first + block_sums<T>(count, (uint32_t *)memory).x;
            if (b < buckets)
                table.counts()[b] = first;
            if (count)
                parts.add(first, count, b ? (uint64_t)table.words[b] : now.base,
                          b + 1 < buckets ? (uint64_t)table.words[b + 1] - 1 : now.end);
            __syncthreads();
        }
    }

    GPI_DEVICE void partition() const
    {
        Shared &shared = *(Shared *)memory;
        auto &tile = shared.tile[G::number()];
        auto &claimed = shared.policy[G::number()];
        G::sync();
        if (G::thread() == 0) {
            tile.pass = {};
            tile.pass.from = from;
            tile.pass.to = to;
            tile.pass.bits = radix_bits;
            tile.pass.states = job.states[0];
            claimed.description.count = 0;
        }
        G::sync();
        const Policy policy = {job, segment(0), tiles, &job.plan->level_tickets[level % 2],
                               claimed};
        Partitions(job, tile, policy).run();
    }

    GPI_DEVICE void run(uint32_t first_place)
    {
        from = gpi_radix_in;
        to = first_place;
        segments = 1;
        level = 0;
        if (blockIdx.x == 0) { /* which prepares it, too */
            if (threadIdx.x == 0) {
                gpi_radix_segment whole = {};
                whole.end = (uint64_t)job.compared();
                whole.count = (uint32_t)job.items();
                *segment(0) = whole;
            }
            __syncthreads();
            lay_tiles(0, 1);
        }
        for (;; level++) {
            prepare();
            barrier.wait();
            tiles = job.plan->tiles;
            count();
            barrier.wait();
            plan_buckets();
            if (VB > 0)
                job.template clear_states<T>(tiles);
            barrier.wait();
            segments = job.plan->segments[(level + 1) % 2];
            if (blockIdx.x == 0 && segments > 0)
                lay_tiles(level + 1, segments);
            partition();
            if (segments == 0)
                return;
            barrier.wait();
            from = to;
            to = from == gpi_radix_tmp ? gpi_radix_out : gpi_radix_tmp;
        }
    }
};

/* Grid: cooperative, a block per multiprocessor. Tile: T x I items. ROUNDS: one partition of the
 * array is tried before (radixsort_split_array.cuh). After: entries for radixsort_bucket_k.cuh, if
 * that is the route. */
template <class K, bool FLOAT, int VB, int T, int I, bool ROUNDS>
__global__ void __launch_bounds__(T, 1)
    radix_levels_k(const __grid_constant__ RadixJobOf<K, VB> job)
{
    extern __shared__ __align__(16) char memory[];
    if (job.plan->route != gpi_radix_route_levels_or_map)
        return;
    job.take_items();
    if constexpr (ROUNDS) /* a kernel of its own: beside this code levels take up to 1.05 as long */
        if (split_array<K, VB, T, true, true>(job))
            return;
    using Work = LevelsKernel<K, FLOAT, VB, T, I>;
    Work levels = {job, memory, {&job.plan->level_arrived, 0}};
    Work::Partitions::init();
    /* To the output: buckets of one word are there then, and those of the second level come back to
     * it while they are sorted. */
    levels.run(job.in_place ? gpi_radix_tmp : gpi_radix_out);
}

} // namespace GPI_SPACE
