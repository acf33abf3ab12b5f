/* SPDX-License-Identifier: MIT */
/*
 * One level of radixsort_levels_k.cuh: the pass by the splitters of segments, and what becomes of
 * their buckets.
 */
#pragma once

#include "radixsort/radixsort_partition_pass.cuh"
#include "radixsort/radixsort_segment_parts.cuh"
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

/* Tiles of segments. For one group. */
template <class K, class G, int ITEMS> struct PartitionOfSegments {
    using Digit = DigitInSegment<K>;
    static constexpr bool enters = true;
    struct Shared {
        uint32_t tile, segment;
        gpi_radix_segment description; /* of the tile claimed last; without items: none */
        SplitSearch<K> search;
    };
    struct TileClaim {
        uint32_t tile, segment;
        Span span;
        uint32_t first_tile;
        K word; /* and cells, for this thread */
        uint32_t cells;
    };

    const RadixKeys<K> &job;
    const gpi_radix_segment *segments;
    Shared &s;
    uint32_t tiles, *ticket;

    GPI_DEVICE Digit digit() const
    {
        return {0, radix_bins - 1, job.compared(), &s.search};
    }

    GPI_DEVICE uint32_t claim() const
    {
        return atomicAdd(ticket, 1u);
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

    GPI_DEVICE bool prefetches() const
    {
        return false;
    }

    GPI_DEVICE Span prefetch_candidate(const TileClaim &) const
    {
        return {0, 0};
    }

    GPI_DEVICE TileClaim claimed() const
    {
        const gpi_radix_segment &d = s.description;
        TileClaim claim = {s.tile, s.segment, {0, 0}, d.tile, 0, 0};
        if (claim.tile >= tiles)
            return claim;
        const uint32_t before = (claim.tile - d.tile) * ITEMS, left = d.count - before;
        claim.span = {d.first + before, left < ITEMS ? (int)left : ITEMS};
        if (G::thread() < radix_bins) {
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
        return SplitTable<K>(job.adaptive, d.segment).counts()[digit];
    }

    GPI_DEVICE uint32_t first_tile(const TileClaim &d) const
    {
        return d.first_tile;
    }

    /* Of keys alone. */
    GPI_DEVICE uint32_t *cursor(const TileClaim &d, uint32_t digit) const
    {
        return SplitTable<K>(job.adaptive, d.segment).counts() + digit;
    }

    static GPI_DEVICE uint64_t cursor_start(const TileClaim &, uint32_t)
    {
        return 0;
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

} // namespace GPI_SPACE
