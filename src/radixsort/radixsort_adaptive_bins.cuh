/* SPDX-License-Identifier: MIT */
/*
 * Cells of words of equal ranges, and the bins that they are joined in:
 * the digits of the passes of radixsort_adaptive_k.cuh.
 */
#pragma once

#include "radixsort/radixsort_histogram.cuh"
#include "radixsort/radixsort_segments.cuh"
#include "radixsort/radixsort_sample.cuh"

namespace GPI_SPACE
{

/* A segment's counts of cells. When they are summed, in their place the bins of cells, and where
 * bins begin. */
struct SegmentTable {
    static_assert(GPI_RADIX_CELLS / 4 + radix_bins <= GPI_RADIX_CELLS, "both fit");
    uint32_t *counts;

    GPI_DEVICE SegmentTable(const gpi_radix_adaptive &list, uint32_t segment)
        : counts(list.tables + (uint64_t)segment * GPI_RADIX_CELLS)
    {
    }

    GPI_DEVICE uint32_t *bins() const
    {
        return counts; /* a byte each */
    }

    GPI_DEVICE uint32_t *starts() const
    {
        return counts + GPI_RADIX_CELLS / 4;
    }
};

/* The digit of a word is its cell's bin. */
template <class K> struct DigitOfCell {
    static constexpr bool kept = false;
    int shift;
    uint32_t mask;
    const uint8_t *bins; /* of cells */
    Zoom<K> zoom;
    K compared; /* bits of a word */

    GPI_DEVICE uint32_t operator()(K word) const
    {
        return bins[zoom((K)(word & compared))];
    }
};

/* The pass by the cells of segments. */
template <class K, class G, int ITEMS> struct PartitionByCells : SegmentTiles<K, G, ITEMS> {
    using Base = SegmentTiles<K, G, ITEMS>;
    using Base::job, Base::segments, Base::tiles, Base::ticket, Base::claim;
    using Digit = DigitOfCell<K>;
    struct Shared : Base::Shared {
        alignas(16) uint8_t bins[GPI_RADIX_CELLS];
    };
    struct TileClaim : Base::TileClaim {
        Zoom<K> zoom;
        uint32_t bins; /* of four cells, for this thread */
    };

    Shared &s;
    const uint8_t *first_bins; /* in shared memory; NULL: not the first level */

    GPI_DEVICE Digit digit() const
    {
        return {0, radix_bins - 1, first_bins ? first_bins : s.bins, {}, job.compared()};
    }

    static GPI_DEVICE gpi_radix_fault_tile fault_tile()
    {
        return gpi_radix_fault_in_cells;
    }

    static GPI_DEVICE uint32_t tiles_of(const gpi_radix_segment &d)
    {
        return (d.count + ITEMS - 1) / ITEMS;
    }

    /* By one thread; segments without cells are passed over. */
    GPI_DEVICE void set(uint32_t tile) const
    {
        for (;; tile = claim()) {
            s.tile = tile;
            if (tile >= tiles || tile - s.description.tile < tiles_of(s.description))
                return;
            const uint32_t segment = job.adaptive.segment_of[tile];
            const gpi_radix_segment d = segments[segment];
            if (d.cells) {
                s.segment = segment;
                s.description = d;
                return;
            }
            atomicMax(ticket, d.tile + tiles_of(d));
        }
    }

    /* Bins of the first segment stay, those of later ones come with each tile. */
    GPI_DEVICE bool carries() const
    {
        return !first_bins && G::thread() < GPI_RADIX_CELLS / 4;
    }

    GPI_DEVICE TileClaim claimed() const
    {
        TileClaim claim = {Base::claimed(s), Zoom<K>::of(s.description), 0};
        if (claim.tile < tiles && carries())
            claim.bins = SegmentTable(job.adaptive, claim.segment).bins()[G::thread()];
        return claim;
    }

    GPI_DEVICE void enter(const TileClaim &d, Digit &digit) const
    {
        digit.zoom = d.zoom;
        if (carries())
            ((uint32_t *)s.bins)[G::thread()] = d.bins;
    }

    GPI_DEVICE uint64_t start(const TileClaim &d, uint32_t digit) const
    {
        return *cursor(d, digit);
    }

    /* Of keys alone. */
    GPI_DEVICE uint32_t *cursor(const TileClaim &d, uint32_t digit) const
    {
        return SegmentTable(job.adaptive, d.segment).starts() + digit;
    }
};

/* One level of bins of a segment, by a block. Each thread has a run of cells. */
template <class K, int T> struct AdaptivePlan {
    static constexpr uint32_t bins_max = radix_bins - radix_tuning.hot_share;
    static constexpr uint32_t cells_max = 1 << radix_tuning.bucket_bits;
    struct Shared {
        uint32_t sums[32];
        uint32_t cell[radix_bins + 1], start[radix_bins + 1]; /* of each bin */
        uint32_t counts[cells_max + T];
    };

    SegmentParts parts;
    Shared &s;

    /* A thread's run of cells; runs are a word further apart than they are long, so that threads
     * read different banks. */
    struct Run {
        const uint32_t *counts;
        uint32_t begin, end, hot, before; /* items before the run */
        bool begins_first;                /* its first cell begins a bin */
        bool apart; /* all cells are single words, and few enough for a bin each */
        float scale;

        GPI_DEVICE uint32_t part(uint32_t start) const
        {
            const uint32_t part = (uint32_t)((float)start * scale);
            return part < bins_max ? part : bins_max - 1;
        }

        /* f(cell, items before it) for each cell at which a bin begins; g(cell) for each. */
        template <class F, class G> GPI_DEVICE void for_bins(F f, G g) const
        {
            uint32_t at = before;
            bool begins = begins_first || begin == 0;
            for (uint32_t u = begin; u < end; u++) {
                const uint32_t count = counts[u - begin];
                if (apart || begins || count > hot)
                    f(u, at);
                g(u);
                begins = count > hot || part(at) != part(at + count);
                at += count;
            }
        }
    };

    GPI_DEVICE void load(const gpi_radix_segment &segment, const uint32_t *counts,
                         uint32_t each) const
    {
        __syncthreads();
        for (uint32_t u = threadIdx.x; u < segment.cells; u += T)
            s.counts[u + u / each] = counts[u];
        __syncthreads();
    }

    /* Whether each cell has one word. */
    GPI_DEVICE bool is_word(const gpi_radix_segment &segment, uint32_t cell) const
    {
        return parts.is_one(Zoom<K>::lowest(segment, cell), Zoom<K>::highest(segment, cell));
    }

    /* All cells with items are single words, and few enough for a bin each. */
    GPI_DEVICE bool are_apart(const gpi_radix_segment &segment, uint32_t each) const
    {
        const uint32_t last_cell = segment.cells - 1;
        return segment.shift == 0 && segment.cells <= radix_bins &&
               (s.counts[0] == 0 || is_word(segment, 0)) &&
               (s.counts[last_cell + last_cell / each] == 0 || is_word(segment, last_cell));
    }

    /* All items are in one cell of one word. */
    GPI_DEVICE bool are_equal(const gpi_radix_segment &segment, uint32_t each) const
    {
        bool all = false;
        for (uint32_t u = threadIdx.x; u < segment.cells; u += T)
            all = all || (s.counts[u + u / each] == segment.count && is_word(segment, u));
        return __syncthreads_or(all);
    }

    GPI_DEVICE Run run_of(const gpi_radix_segment &segment, uint32_t each) const
    {
        const uint32_t cell = segment.count / segment.cells, bucket_max = parts.bucket_max;
        const uint32_t fit = bucket_max - bucket_max / 16 - min(cell, bucket_max / 2);
        const uint32_t wanted = segment.count / fit + 1;
        const uint32_t joined = wanted < bins_max ? wanted : bins_max;
        Run run;
        run.begin = min(threadIdx.x * each, segment.cells);
        run.end = min(run.begin + each, segment.cells);
        run.counts = s.counts + run.begin + threadIdx.x;
        run.apart = are_apart(segment, each);
        run.hot = max(segment.count, parts.large_max()) / (uint32_t)radix_tuning.hot_share;
        run.scale = (float)joined / (float)segment.count;
        uint32_t sum = 0;
        for (uint32_t u = run.begin; u < run.end; u++)
            sum += run.counts[u - run.begin];
        run.before = block_sums<T>(sum, s.sums).x;
        const uint32_t last = run.begin > 0 && run.begin < run.end ? run.counts[-2] : 0;
        run.begins_first = last > run.hot || run.part(run.before - last) != run.part(run.before);
        return run;
    }

    /* from: where the items are. */
    GPI_DEVICE void run(gpi_radix_segment &listed, const uint32_t *counts, uint32_t from,
                        uint8_t *bins, uint32_t *starts) const
    {
        const gpi_radix_segment segment = listed;
        const uint32_t each = (segment.cells + T - 1) / T;
        load(segment, counts, each);
        const Run run = run_of(segment, each);
        uint32_t begun = 0;
        run.for_bins([&](uint32_t, uint32_t) { begun++; }, [](uint32_t) {});
        const uint2 bin = block_sums<T>(begun, s.sums);
        uint32_t next = bin.x;
        run.for_bins(
            [&](uint32_t cell, uint32_t start) {
                s.cell[next] = cell;
                s.start[next++] = start;
            },
            [&](uint32_t cell) { bins[cell] = (uint8_t)(next - 1); });
        const bool equal = are_equal(segment, each);
        if (threadIdx.x == 0) {
            s.cell[bin.y] = segment.cells;
            s.start[bin.y] = segment.count;
            if (equal) {
                listed.cells = 0;
                parts.add_copies(segment.first, segment.count, from);
            } else if (run.apart) {
                /* the pass leaves it in order */
                parts.add_copies(segment.first, segment.count, parts.to);
            }
        }
        __syncthreads();
        if (threadIdx.x < bin.y) {
            const uint32_t b = threadIdx.x, first = segment.first + s.start[b];
            const uint32_t count = s.start[b + 1] - s.start[b];
            starts[b] = first;
            if (count && !run.apart && !equal)
                parts.add(first, count, Zoom<K>::lowest(segment, s.cell[b]),
                          Zoom<K>::highest(segment, s.cell[b + 1] - 1));
        }
        __syncthreads();
    }
};

} // namespace GPI_SPACE
