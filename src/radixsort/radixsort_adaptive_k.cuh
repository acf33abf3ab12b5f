/* SPDX-License-Identifier: MIT */
/*
 * Sorting keys of 4 bytes from the top digit when they are distributed so unevenly that buckets of
 * equal ranges are too large; keys of 8 bytes are split by radixsort_levels_k.cuh.
 *
 * A segment (at first the whole array) is divided into cells of equal ranges of words, up to 2^15
 * or 2^10, between the lowest and the highest one of a sample (radixsort_sample.cuh), and their
 * items are counted. Neighbouring cells are joined in up to 255 bins of about as many items each, a
 * cell with many items gets a bin for itself, and one pass brings the items into their bins, stably
 * unless keys are alone: the digit of a word is looked up by its cell. Bins that a block can sort
 * are left to radixsort_bucket_k.cuh as entries of a list, the others are the segments of the next
 * level. A segment of equal keys is done. So a level costs a read and a pass of what is still too
 * large, and narrows its range by 2^10 or its size by about 15.
 *
 * Where words hardly repeat, but for some, a map (radixsort_map_k.cuh) is tried first.
 *
 * Choosing splitters by counts is what sample sorts do by samples (Frazer and McKellar 1970).
 */
#pragma once

#include "device/grid.cuh"
#include "radixsort/radixsort_adaptive_bins.cuh"
#include "radixsort/radixsort_map_k.cuh"

namespace GPI_SPACE
{

template <class K, bool FLOAT, int VB, int T, int I>
struct AdaptiveKernel
    : SegmentsKernel<AdaptiveKernel<K, FLOAT, VB, T, I>, K, FLOAT, VB, T, I, PartitionByCells> {
    using Base =
        SegmentsKernel<AdaptiveKernel<K, FLOAT, VB, T, I>, K, FLOAT, VB, T, I, PartitionByCells>;
    using Base::job, Base::memory, Base::segments, Base::from, Base::to, Base::barrier, Base::level;
    using Base::list, Base::segment, Base::tiles_of, Base::word;
    using typename Base::G;
    using typename Base::Partitions;
    using Plan = AdaptivePlan<K, T>;
    static constexpr int first_cells = 1 << radix_tuning.bucket_bits;
    struct Shared : Base::TileShared {
        alignas(16) uint8_t first_bins[first_cells];
    };
    static constexpr int tile_bytes = sizeof(Shared), plan_bytes = sizeof(typename Plan::Shared);
    static constexpr int count_bytes = first_cells * (int)sizeof(uint32_t);
    static constexpr int most_bytes = tile_bytes > plan_bytes ? tile_bytes : plan_bytes;
    static constexpr int cells_bytes = most_bytes > count_bytes ? most_bytes : count_bytes;
    static constexpr int map_bytes = MapOf<K, FLOAT, VB, T>::shared_bytes;
    static constexpr int shared_bytes = cells_bytes > map_bytes ? cells_bytes : map_bytes;

    /* The whole array, whose cells have been counted by radixsort_partition_k.cuh, or are counted
     * as if they were others. */
    GPI_DEVICE gpi_radix_segment first_segment() const
    {
        const gpi_radix_plan &plan = *job.plan;
        const int range = (int)(plan.shift + plan.bits);
        const uint64_t first = (uint64_t)word(job.keys[gpi_radix_in][0]);
        gpi_radix_segment whole = {};
        whole.base = range < 64 ? first >> range << range : 0;
        whole.end = whole.base + (range < 64 ? (1ull << range) - 1 : ~0ull);
        whole.low = whole.base;
        whole.count = (uint32_t)job.items();
        whole.cells = 1u << plan.bits;
        whole.shift = plan.shift;
        return whole;
    }

    /* Usually one or three levels are needed, so the first writes to the output. If one cell holds
     * most of the items, two are needed, and the first writes to the temporary array. */
    GPI_DEVICE uint32_t first_place() const
    {
        const uint32_t *counts = job.bucket_starts();
        bool most = false;
        for (uint32_t u = threadIdx.x; u < 1u << job.plan->bits; u += T)
            most = most || counts[u] > job.items() / 4 * 3;
        return __syncthreads_or(most) || job.in_place ? gpi_radix_tmp : gpi_radix_out;
    }

    GPI_DEVICE void prepare() const
    {
        const uint64_t thread = (uint64_t)blockIdx.x * T + threadIdx.x;
        const uint64_t threads = (uint64_t)gridDim.x * T;
        for (uint32_t i = blockIdx.x; i < segments; i += gridDim.x) {
            const uint32_t first = segment(i)->tile, tiles = tiles_of(segment(i)->count);
            for (uint32_t t = threadIdx.x; t < tiles; t += T)
                list().segment_of[first + t] = i;
        }
        if (level > 0)
            for (uint64_t i = thread; i < (uint64_t)segments * GPI_RADIX_CELLS; i += threads)
                list().tables[i] = 0;
        for (uint64_t i = thread / 32; i < segments; i += threads / 32)
            zoom(*segment(i));
    }

    /* By a warp: cells for a segment; of the first level only if they are much narrower than those
     * that are counted. */
    GPI_DEVICE void zoom(gpi_radix_segment &to) const
    {
        const gpi_radix_segment now = to;
        const K *keys = job.keys[from] + now.first;
        K low, high;
        learn_range([&](int at) { return word(keys[(uint64_t)at * now.count / zoom_sample]); }, low,
                    high);
        gpi_radix_segment next = now;
        set_cells(next, low, high, level > 0 ? GPI_RADIX_CELLS : now.cells);
        if (lane_id() > 0 || (level == 0 && next.shift + 4 >= now.shift))
            return;
        to.low = next.low;
        to.shift = next.shift;
        to.cells = next.cells;
        if (level == 0)
            job.plan->zoomed = 1;
    }

    /* Counts of the first level's cells; if they are zoomed, in the array that is not in use. */
    GPI_DEVICE uint32_t *first_counts() const
    {
        const bool second = job.plan->recounted != job.plan->zoomed;
        return second ? job.recount : job.buckets;
    }

    /* Count the cells of items [first, first + count) of a segment. */
    GPI_DEVICE void count_run(uint32_t index, uint64_t first, uint32_t count) const
    {
        uint32_t *table = (uint32_t *)memory;
        const gpi_radix_segment now = *segment(index);
        const Zoom<K> zoom = Zoom<K>::of(now);
        for (uint32_t i = threadIdx.x; i < now.cells; i += T)
            table[i] = 0;
        __syncthreads();
        for_each_key<T>(job.keys[from] + first, count, 0, 1,
                        [&](K key) { atomicAdd(&table[zoom(word(key))], 1u); });
        __syncthreads();
        uint32_t *counts = level ? SegmentTable(list(), index).counts : first_counts();
        for (uint32_t i = threadIdx.x; i < now.cells; i += T)
            if (table[i])
                atomicAdd(&counts[i], table[i]);
        __syncthreads();
    }

    GPI_DEVICE void plan_parts() const
    {
        const Plan plan = {this->parts(), *(typename Plan::Shared *)memory};
        for (uint32_t i = blockIdx.x; i < segments; i += gridDim.x) {
            const SegmentTable table(list(), i);
            plan.run(*segment(i), level ? table.counts : first_counts(), from,
                     level ? (uint8_t *)table.bins() : list().first_bins, table.starts());
        }
    }

    /* The zoomed cells of the first level have no counts yet. */
    GPI_DEVICE void clear_first_counts() const
    {
        uint32_t *counts = first_counts();
        for (uint32_t i = blockIdx.x * T + threadIdx.x; i < first_cells; i += gridDim.x * T)
            counts[i] = 0;
    }

    GPI_DEVICE void count_level()
    {
        if (level == 0 && job.plan->zoomed) {
            clear_first_counts();
            barrier.wait();
        }
        if (level > 0 || job.plan->zoomed) {
            this->count();
            barrier.wait();
        }
    }

    GPI_DEVICE void partition() const
    {
        Shared &shared = *(Shared *)memory;
        if (level == 0)
            for (int i = threadIdx.x; i < first_cells / 4; i += T)
                ((uint32_t *)shared.first_bins)[i] = ((const uint32_t *)list().first_bins)[i];
        const typename Base::Policy policy = {this->begin_tiles(shared), shared.policy[G::number()],
                                              level == 0 ? shared.first_bins : nullptr};
        Partitions(job, shared.tile[G::number()], policy).run();
    }
};

/* Grid: cooperative, a block per multiprocessor. Tile: T x I items. After: entries for
 * radixsort_bucket_k.cuh, if that is the route. */
template <class K, bool FLOAT, int VB, int T, int I>
__global__ void __launch_bounds__(T, 1)
    radix_adaptive_k(const __grid_constant__ RadixJobOf<K, VB> job)
{
    extern __shared__ __align__(16) char memory[];
    if (job.plan->route != gpi_radix_route_adaptive)
        return;
    job.take_items();
    if constexpr (radix_by_map<K>)
        if (job.plan->mapped && sort_by_map<K, FLOAT, VB, T>(job))
            return;
    using Work = AdaptiveKernel<K, FLOAT, VB, T, I>;
    Work adaptive = {{job, memory, {&job.plan->adaptive_arrived, 0}}};
    Work::Partitions::init();
    adaptive.run(adaptive.first_place());
}

} // namespace GPI_SPACE
