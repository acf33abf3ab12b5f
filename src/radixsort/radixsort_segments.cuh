/* SPDX-License-Identifier: MIT */
/*
 * Sorting by levels: what splits between splitters (radixsort_levels_k.cuh) and by cells
 * (radixsort_adaptive_k.cuh) share. A segment, at first the whole array, is divided into parts, of
 * which some are sorted or copied, and the others are the segments of the next level.
 */
#pragma once

#include "device/grid.cuh"
#include "radixsort/radixsort_partition_pass.cuh"
#include "tuning/radixsort_tuning.cuh"

namespace GPI_SPACE
{

/* What becomes of the parts of a segment: entries for radixsort_bucket_k.cuh, copies, or segments
 * of the next level. */
struct SegmentParts {
    const gpi_radix_adaptive &list;
    gpi_radix_plan &plan;
    uint32_t level, to, entries, bucket_max;
    int begin; /* the lowest bit that is compared */

    GPI_DEVICE uint32_t large_max() const
    {
        return radix_adaptive_large(bucket_max);
    }

    /* Lists items to be sorted: by a block of the bucket kernel if they fit one and there is one
     * left, otherwise through memory. */
    GPI_DEVICE void add_entry(uint32_t first, uint32_t count, uint64_t base, uint64_t end) const
    {
        const uint64_t range = (end >> begin) - (base >> begin);
        const uint32_t bits = 64 - __clzll((long long)range);
        const gpi_radix_entry entry = {base >> begin, first, count, bits, to};
        if (count <= bucket_max) {
            const uint32_t at = atomicAdd(&plan.entries, 1u);
            if (at < entries) {
                list.entries[at] = entry;
                return;
            }
        }
        list.large[atomicAdd(&plan.large, 1u)] = entry;
    }

    /* Items that are in order in a place go to the output, in pieces for many blocks. */
    GPI_DEVICE void add_copies(uint32_t first, uint32_t count, uint32_t place) const
    {
        if (place == gpi_radix_out)
            return;
        const uint32_t pieces = (count + GPI_RADIX_COPIED - 1) / GPI_RADIX_COPIED;
        gpi_radix_entry *entry = list.large + atomicAdd(&plan.large, pieces);
        for (uint32_t at = 0; at < count; at += GPI_RADIX_COPIED)
            *entry++ = {0, first + at, min(count - at, (uint32_t)GPI_RADIX_COPIED), 0, place};
    }

    /* Whether the lists have room for a segment that a block could also sort through memory. */
    GPI_DEVICE bool has_room() const
    {
        return atomicAdd(&plan.others, 1u) < list.others_max;
    }

    /* Whether [base, end] has one word at most: bits below the compared ones are zero in words. */
    GPI_DEVICE bool is_one(uint64_t base, uint64_t end) const
    {
        return end >> begin <= (base + ((1ull << begin) - 1)) >> begin;
    }

    /* Items whose words are in [base, end]. */
    GPI_DEVICE void add(uint32_t first, uint32_t count, uint64_t base, uint64_t end) const
    {
        if (is_one(base, end)) {
            add_copies(first, count, to);
            return;
        }
        const bool last = level + 1 == GPI_RADIX_LEVELS;
        if (count <= bucket_max || last || (count <= large_max() && !has_room())) {
            add_entry(first, count, base, end);
            return;
        }
        gpi_radix_segment child = {};
        child.base = base;
        child.end = end;
        child.first = first;
        child.count = count;
        const uint32_t next = (level + 1) % 2;
        list.segments[next][atomicAdd(&plan.segments[next], 1u)] = child;
    }
};

/* The tiles of a level's segments, as one group claims them. Policies derive from it and add the
 * digits of a segment. */
template <class K, class G, int ITEMS> struct SegmentTiles {
    using Threads = G;
    static constexpr bool enters = true;
    struct Shared {
        uint32_t tile, segment;
        gpi_radix_segment description; /* of the tile claimed last; without items: none */
    };
    struct TileClaim {
        uint32_t tile, segment;
        Span span;
        uint32_t first_tile;
    };

    const RadixKeys<K> &job;
    const gpi_radix_segment *segments;
    uint32_t tiles, *ticket;

    GPI_DEVICE uint32_t claim() const
    {
        return atomicAdd(ticket, 1u);
    }

    GPI_DEVICE bool prefetches() const
    {
        return false;
    }

    GPI_DEVICE Span prefetch_candidate(const TileClaim &) const
    {
        return {0, 0};
    }

    GPI_DEVICE TileClaim claimed(const Shared &s) const
    {
        const gpi_radix_segment &d = s.description;
        TileClaim claim = {s.tile, s.segment, {0, 0}, d.tile};
        if (claim.tile >= tiles)
            return claim;
        const uint32_t before = (claim.tile - d.tile) * ITEMS, left = d.count - before;
        claim.span = {d.first + before, left < ITEMS ? (int)left : ITEMS};
        return claim;
    }

    GPI_DEVICE uint32_t first_tile(const TileClaim &d) const
    {
        return d.first_tile;
    }
};

/*
 * The levels of a sort by all blocks. Work, a kernel that is derived from this one, has
 * first_segment(); prepare(), which learns how each segment of a level is divided; count_run() of
 * some items of a segment, and count_level(), after which all blocks have counted; plan_parts();
 * and partition().
 */
template <class Work, class K, bool FLOAT, int VB, int T, int I,
          template <class, class, int> class PolicyOf>
struct SegmentsKernel {
    using V = typename Payload<VB>::type;
    static constexpr int groups = radix_tile_groups(sizeof(K), VB);
    static constexpr int tile_items = T / groups * I;
    using G = Group<T / groups>;
    using Policy = PolicyOf<K, G, tile_items>;
    using Partitions = Partitioner<K, FLOAT, VB, false, T, I, Policy>;
    struct TileShared {
        typename Partitions::Tile::OfGroup tile[groups];
        typename Policy::Shared policy[groups];
    };

    const RadixJob<K, V> &job;
    char *memory;
    GridBarrier barrier;
    uint32_t level, segments, tiles, from, to;

    GPI_DEVICE const gpi_radix_adaptive &list() const
    {
        return job.adaptive;
    }

    GPI_DEVICE gpi_radix_segment *segment(uint32_t i) const
    {
        return list().segments[level % 2] + i;
    }

    GPI_DEVICE static uint32_t tiles_of(uint32_t count)
    {
        return (count + tile_items - 1) / tile_items;
    }

    /* The compared bits of a key, where they are. */
    GPI_DEVICE K word(K key) const
    {
        return (K)(job.order.template word<FLOAT>(key) & job.compared());
    }

    /* By one block: where the tiles of each segment of a level begin. Changes nothing that the
     * partition of the level before uses. */
    GPI_DEVICE void lay_tiles(uint32_t at, uint32_t count) const
    {
        uint32_t *sums = (uint32_t *)memory, done = 0;
        gpi_radix_segment *of_level = list().segments[at % 2];
        for (uint32_t i = threadIdx.x; i - threadIdx.x < count; i += T) {
            const uint2 sum = block_sums<T>(i < count ? tiles_of(of_level[i].count) : 0, sums);
            if (i < count)
                of_level[i].tile = done + sum.x;
            done += sum.y;
        }
        if (threadIdx.x == 0) {
            job.plan->tiles = done;
            job.plan->adaptive_tickets[at % 2] = 0;
            job.plan->segments[(at + 1) % 2] = 0;
            job.plan->others = 0;
        }
        __syncthreads();
    }

    /* Each block has neighbouring tiles. */
    GPI_DEVICE void count() const
    {
        const Work &work = *(const Work *)this;
        const uint32_t each = (tiles + gridDim.x - 1) / gridDim.x;
        uint32_t tile = min(blockIdx.x * each, tiles);
        const uint32_t end = min(tile + each, tiles);
        while (tile < end) {
            const uint32_t index = list().segment_of[tile];
            const gpi_radix_segment now = *segment(index);
            const uint32_t after = min(now.tile + tiles_of(now.count), end);
            const uint32_t from_item = (tile - now.tile) * tile_items;
            const uint32_t to_item = min((after - now.tile) * tile_items, now.count);
            work.count_run(index, (uint64_t)now.first + from_item, to_item - from_item);
            tile = after;
        }
    }

    GPI_DEVICE SegmentParts parts() const
    {
        return {list(), *job.plan, level, to, job.entries, job.bucket_max, job.begin};
    }

    /* Before the tiles of a level; returns what the policy begins with. */
    GPI_DEVICE SegmentTiles<K, G, tile_items> begin_tiles(TileShared &shared) const
    {
        auto &tile = shared.tile[G::number()];
        G::sync();
        if (G::thread() == 0) {
            tile.pass = {};
            tile.pass.from = from;
            tile.pass.to = to;
            tile.pass.bits = radix_bits;
            tile.pass.states = job.states[0];
            shared.policy[G::number()].description.count = 0;
        }
        G::sync();
        return {job, segment(0), tiles, &job.plan->adaptive_tickets[level % 2]};
    }

    GPI_DEVICE void run(uint32_t first_place)
    {
        Work &work = *(Work *)this;
        from = gpi_radix_in;
        to = first_place;
        segments = 1;
        level = 0;
        if (blockIdx.x == 0) { /* which prepares it, too */
            if (threadIdx.x == 0)
                *segment(0) = work.first_segment();
            __syncthreads();
            lay_tiles(0, 1);
        }
        for (;; level++) {
            work.prepare();
            barrier.wait();
            tiles = job.plan->tiles;
            work.count_level();
            work.plan_parts();
            if (VB > 0)
                job.template clear_states<T>(tiles);
            barrier.wait();
            segments = job.plan->segments[(level + 1) % 2];
            if (blockIdx.x == 0 && segments > 0)
                lay_tiles(level + 1, segments);
            work.partition();
            if (segments == 0)
                return;
            barrier.wait();
            from = to;
            to = from == gpi_radix_tmp ? gpi_radix_out : gpi_radix_tmp;
        }
    }
};

} // namespace GPI_SPACE
