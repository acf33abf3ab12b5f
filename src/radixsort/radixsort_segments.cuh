/* SPDX-License-Identifier: MIT */
/* Parts of radixsort_levels_k.cuh: what becomes of the buckets of a segment, the search for the
 * bucket of a word, and the policy of its partition pass. */
#pragma once

#include "radixsort/radixsort_partition_pass.cuh"
#include "radixsort/radixsort_split_learn.cuh"
#include "tuning/radixsort_tuning.cuh"

namespace GPI_SPACE
{

/* Lists the buckets of segments: as entries for radixsort_bucket_k.cuh, as copies, or as segments
 * of the next level. */
struct SegmentParts {
    const gpi_radix_lists &list;
    gpi_radix_plan &plan;
    uint32_t level, to, entries, bucket_max;
    int begin; /* the lowest bit that is compared */

    /* Items for a block of the bucket kernel, if they fit one and one is left; or else to be sorted
     * through memory. */
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

    /* Items that are in order go to the output, in pieces for several blocks. */
    GPI_DEVICE void add_copies(uint32_t first, uint32_t count, uint32_t place) const
    {
        if (place == gpi_radix_out)
            return;
        const uint32_t pieces = (count + GPI_RADIX_COPIED - 1) / GPI_RADIX_COPIED;
        gpi_radix_entry *entry = list.large + atomicAdd(&plan.large, pieces);
        for (uint32_t at = 0; at < count; at += GPI_RADIX_COPIED)
            *entry++ = {0, first + at, min(count - at, (uint32_t)GPI_RADIX_COPIED), 0, place};
    }

    /* Items whose words are in [base, end]. */
    GPI_DEVICE void add(uint32_t first, uint32_t count, uint64_t base, uint64_t end) const
    {
        /* One word, as bits below the compared ones are zero. */
        if (end >> begin <= (base + ((1ull << begin) - 1)) >> begin) {
            add_copies(first, count, to);
            return;
        }
        const bool last = level + 1 == GPI_RADIX_LEVELS;
        /* One that a block could sort through memory is a segment only if the list has room. */
        if (count <= bucket_max || last ||
            (count <= radix_large_segment(bucket_max) &&
             atomicAdd(&plan.others, 1u) >= list.others_max)) {
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

/* The bucket of a word: the number of splitters that are not above it. */
template <class K> struct DigitInSegment {
    static constexpr bool kept = true;
    int shift;
    uint32_t mask; /* the last bucket */
    K compared;
    const SplitSearch<K> *search;

    template <int N> GPI_DEVICE void all(const K (&word)[N], uint32_t (&digit)[N]) const
    {
        if (SplitSearch<K>::in_cells(search->steps)) {
            all_in_cells(word, digit);
        } else {
            const DigitOfSplit<K> in_tree = {0, mask, search->words, compared, levels_of(mask + 1)};
            in_tree.all(word, digit);
        }
    }

    /* Step by step for all words, so that their loads overlap. */
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

/* The policy of a partition pass (radixsort_partition_pass.cuh) by the splitters of the segments of
 * a level. */
template <class K, class G, int ITEMS> struct PartitionOfSegments {
    using Threads = G;
    using Digit = DigitInSegment<K>;
    static constexpr bool enters = true, may_prefetch = false;
    struct Shared {
        uint32_t tile, segment;
        gpi_radix_segment description; /* of the tile claimed last; without items: none */
        SplitSearch<K> search;
    };
    struct TileClaim {
        uint32_t tile, segment;
        Span span;
        uint32_t first_tile;
        K word;         /* this thread's splitter, */
        uint32_t cells; /* and its cells */
    };

    const RadixKeys<K> &job;
    const gpi_radix_segment *segments;
    uint32_t tiles, *ticket;
    Shared &s;

    GPI_DEVICE Digit digit() const
    {
        return {0, radix_bins - 1, job.compared(), &s.search};
    }

    static GPI_DEVICE gpi_radix_fault_tile fault_tile()
    {
        return gpi_radix_fault_in_levels;
    }

    /* By one thread: the next tile and its segment for the group. */
    GPI_DEVICE void claim() const
    {
        const uint32_t tile = atomicAdd(ticket, 1u);
        s.tile = tile;
        const gpi_radix_segment &d = s.description;
        if (tile >= tiles || (tile - d.tile) * (uint64_t)ITEMS < d.count)
            return;
        s.segment = job.lists.segment_of[tile];
        s.description = segments[s.segment];
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
            const SplitTable<K> table(job.lists, claim.segment);
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

    GPI_DEVICE uint32_t first_tile(const TileClaim &d) const
    {
        return d.first_tile;
    }

    /* Of keys alone. */
    GPI_DEVICE uint32_t *cursor(const TileClaim &d, uint32_t digit) const
    {
        return SplitTable<K>(job.lists, d.segment).counts() + digit;
    }
};

} // namespace GPI_SPACE
