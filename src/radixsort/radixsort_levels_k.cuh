/* SPDX-License-Identifier: MIT */
/*
 * Sorting from the top digit when keys are distributed so unevenly that buckets of equal ranges
 * are too large: between splitters, by levels.
 *
 * A segment (at first the whole array) is split into up to 256 buckets between words of a sorted
 * sample (radixsort_split_learn.cuh): its items are counted, and one pass brings them into their
 * buckets, stably unless keys are alone. Buckets that a block can sort are left to
 * radixsort_bucket_k.cuh as entries of a list, the others are the segments of the next level; a
 * bucket of one word is done. So a level costs a read and a pass, and two are enough for any keys
 * but for the few buckets of which the sample was wrong.
 */
#pragma once

#include "radixsort/radixsort_segments.cuh"
#include "radixsort/radixsort_split_learn.cuh"

namespace GPI_SPACE
{

/* The bucket of a word: how many splitters are not above it. */
template <class K> struct DigitInSegment {
    static constexpr bool kept = true;
    int shift;
    uint32_t mask; /* the last bucket */
    K compared;
    const SplitSearch<K> *search;

    template <int N> GPI_DEVICE void all(const K (&word)[N], uint32_t (&digit)[N]) const
    {
        if (search->in_cells()) {
            all_in_cells(word, digit);
        } else {
            const DigitOfSplit<K> in_tree = {0, mask, search->words, compared, levels_of(mask + 1)};
            in_tree.all(word, digit);
        }
    }

    /* Of several words: a step of all searches before the next one of any. */
    template <int N> GPI_DEVICE void all_in_cells(const K (&word)[N], uint32_t (&digit)[N]) const
    {
        const uint32_t base = shared_address(search->words);
        const uint32_t cells = shared_address(search->cells), steps = search->steps;
        const CellsOf<K> cell = search->cell;
        if (cell.has_gap()) {
#pragma unroll
            for (int i = 0; i < N; i++)
                digit[i] = cells + cell((K)(word[i] & compared));
        } else {
#pragma unroll
            for (int i = 0; i < N; i++)
                digit[i] = cells + cell.without_gap((K)(word[i] & compared));
        }
#pragma unroll
        for (int i = 0; i < N; i++)
            digit[i] = shared_byte(digit[i]);
        if (steps == 0)
            return;
#pragma unroll
        for (int i = 0; i < N; i++)
            digit[i] = base + sizeof(K) * digit[i];
#pragma unroll 1
        for (uint32_t step = sizeof(K) << steps >> 1; step >= sizeof(K); step /= 2) {
            K splitter[N];
#pragma unroll
            for (int i = 0; i < N; i++)
                splitter[i] = shared_word<K>(digit[i] + step);
#pragma unroll
            for (int i = 0; i < N; i++)
                digit[i] += splitter[i] <= (K)(word[i] & compared) ? step : 0;
        }
#pragma unroll
        for (int i = 0; i < N; i++)
            digit[i] = min((digit[i] - base) / (uint32_t)sizeof(K), mask);
    }

    GPI_DEVICE uint32_t operator()(K word) const
    {
        const K words[1] = {word};
        uint32_t digits[1];
        all(words, digits);
        return digits[0];
    }
};

/* The pass by the splitters of segments. */
template <class K, class G, int ITEMS> struct PartitionOfSegments : SegmentTiles<K, G, ITEMS> {
    using Base = SegmentTiles<K, G, ITEMS>;
    using Base::job, Base::segments, Base::tiles;
    using Digit = DigitInSegment<K>;
    struct Shared : Base::Shared {
        SplitSearch<K> search;
    };
    struct TileClaim : Base::TileClaim {
        K word; /* and cells, for this thread */
        uint32_t cells;
    };

    Shared &s;

    GPI_DEVICE Digit digit() const
    {
        return {0, radix_bins - 1, job.compared(), &s.search};
    }

    static GPI_DEVICE gpi_radix_fault_tile fault_tile()
    {
        return gpi_radix_fault_in_levels;
    }

    /* By one thread. */
    GPI_DEVICE void set(uint32_t tile) const
    {
        s.tile = tile;
        const gpi_radix_segment &d = s.description;
        if (tile >= tiles || (tile - d.tile) * (uint64_t)ITEMS < d.count)
            return;
        s.segment = job.adaptive.segment_of[tile];
        s.description = segments[s.segment];
    }

    GPI_DEVICE TileClaim claimed() const
    {
        TileClaim claim = {Base::claimed(s), 0, 0};
        if (claim.tile < tiles && G::thread() < radix_bins) {
            const SplitTable<K> table(job.adaptive, claim.segment);
            claim.word = table.search[G::thread()];
            claim.cells = table.cells()[G::thread()];
        }
        return claim;
    }

    GPI_DEVICE void enter(const TileClaim &d, Digit &digit) const
    {
        digit.mask = s.description.buckets - 1;
        if (G::thread() < radix_bins)
            s.search.set((uint32_t)G::thread(), d.word, d.cells);
        if (G::thread() == 0)
            s.search.set(s.description);
    }

    GPI_DEVICE uint64_t start(const TileClaim &d, uint32_t digit) const
    {
        return *cursor(d, digit);
    }

    /* Of keys alone. */
    GPI_DEVICE uint32_t *cursor(const TileClaim &d, uint32_t digit) const
    {
        return SplitTable<K>(job.adaptive, d.segment).counts() + digit;
    }
};

/* Starts of the buckets of a segment, and what becomes of them. By a block. */
template <int T, class K>
GPI_DEVICE void place_buckets(const SegmentParts &parts, const gpi_radix_segment &segment,
                              const SplitTable<K> &table, uint32_t *sums)
{
    const uint32_t b = threadIdx.x, buckets = segment.buckets;
    const uint32_t count = b < buckets ? table.counts()[b] : 0;
    const uint32_t first = segment.first + block_sums<T>(count, sums).x;
    if (b < buckets)
        table.counts()[b] = first;
    if (count)
        parts.add(first, count, b ? (uint64_t)table.words[b] : segment.base,
                  b + 1 < buckets ? (uint64_t)table.words[b + 1] - 1 : segment.end);
    __syncthreads();
}

template <class K, bool FLOAT, int VB, int T, int I>
struct LevelsKernel
    : SegmentsKernel<LevelsKernel<K, FLOAT, VB, T, I>, K, FLOAT, VB, T, I, PartitionOfSegments> {
    using Base =
        SegmentsKernel<LevelsKernel<K, FLOAT, VB, T, I>, K, FLOAT, VB, T, I, PartitionOfSegments>;
    using Base::job, Base::memory, Base::segments, Base::from, Base::to, Base::barrier;
    using Base::list, Base::segment, Base::tiles_of, Base::word;
    using typename Base::G;
    using typename Base::Partitions;
    using Shared = typename Base::TileShared;
    struct Counting {
        SplitSearch<K> search;
        uint32_t counts[radix_bins];
    };
    using Learner = SplitLearner<K, T>;
    using Learning = typename Learner::Shared;
    static constexpr int shared_bytes =
        (int)(sizeof(Shared) > sizeof(Learning) ? sizeof(Shared) : sizeof(Learning));
    static_assert(sizeof(Counting) <= sizeof(Learning), "they share it");

    GPI_DEVICE gpi_radix_segment first_segment() const
    {
        gpi_radix_segment whole = {};
        whole.end = (uint64_t)job.compared();
        whole.count = (uint32_t)job.items();
        return whole;
    }

    /* By one block for a segment: its splitters, and which tiles are its. */
    GPI_DEVICE void prepare() const
    {
        for (uint32_t i = blockIdx.x; i < segments; i += gridDim.x) {
            const gpi_radix_segment now = *segment(i);
            const K *keys = job.keys[from] + now.first;
            for (uint32_t t = threadIdx.x; t < tiles_of(now.count); t += T)
                list().segment_of[now.tile + t] = i;
            const Learner learner = {*(Learning *)memory};
            learner.run(*segment(i), level_mean(job.bucket_max, job.n), SplitTable<K>(list(), i),
                        [&](uint32_t at) { return word(keys[at]); });
        }
    }

    /* Count the buckets of items [first, first + count) of a segment. */
    GPI_DEVICE void count_run(uint32_t index, uint64_t first, uint32_t count) const
    {
        constexpr int batch = 64 / sizeof(K);
        Counting &s = *(Counting *)memory;
        const SplitTable<K> table(list(), index);
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

    GPI_DEVICE void count_level()
    {
        this->count();
        barrier.wait();
    }

    GPI_DEVICE void plan_parts() const
    {
        const SegmentParts parts = this->parts();
        for (uint32_t i = blockIdx.x; i < segments; i += gridDim.x)
            place_buckets<T>(parts, *segment(i), SplitTable<K>(list(), i), (uint32_t *)memory);
    }

    GPI_DEVICE void partition() const
    {
        Shared &shared = *(Shared *)memory;
        const typename Base::Policy policy = {this->begin_tiles(shared),
                                              shared.policy[G::number()]};
        Partitions(job, shared.tile[G::number()], policy).run();
    }
};

/* Grid: cooperative, a block per multiprocessor. Tile: T x I items. After: entries for
 * radixsort_bucket_k.cuh, if that is the route. */
template <class K, bool FLOAT, int VB, int T, int I>
__global__ void __launch_bounds__(T, 1)
    radix_levels_k(const __grid_constant__ RadixJobOf<K, VB> job)
{
    extern __shared__ __align__(16) char memory[];
    if (job.plan->route != gpi_radix_route_adaptive)
        return;
    job.take_items();
    using Work = LevelsKernel<K, FLOAT, VB, T, I>;
    Work levels = {{job, memory, {&job.plan->adaptive_arrived, 0}}};
    Work::Partitions::init();
    /* To the output: buckets of one word are there then, and those of the second level come back to
     * it while they are sorted. */
    levels.run(job.in_place ? gpi_radix_tmp : gpi_radix_out);
}

} // namespace GPI_SPACE
