/* SPDX-License-Identifier: MIT */
/*
 * One level of radixsort_levels_k.cuh: the splitters of a segment from a sample of it, the pass by
 * them, and what becomes of its buckets.
 */
#pragma once

#include "radixsort/radixsort_partition_pass.cuh"
#include "radixsort/radixsort_segment_parts.cuh"
#include "radixsort/radixsort_zoom.cuh"

namespace GPI_SPACE
{

/* Of a segment at least. */
constexpr uint32_t level_buckets_min = 16;

/* Words of the sample of a segment for each of its buckets, and in all. */
constexpr uint32_t level_sample = 32, level_sample_max = 8192;

/* Items that a bucket has on the average, so that nearly all fit a block: buckets between every
 * 32nd word of a sample vary by a fifth. */
__host__ __device__ constexpr uint32_t level_mean(uint32_t bucket_max)
{
    return bucket_max / 8 * 5;
}

/* Where the search for a word begins: cells of equal ranges between the first and the last
 * splitter. Of evenly distributed words a cell has a splitter at most. */
constexpr uint32_t split_cells = 1024;

/* Of a segment: splitters in ascending order, from number 1 on, and as they are searched; how many
 * items are in each bucket, and when these are summed, where it begins; the bucket of the lowest
 * word of each cell. */
template <class K> struct SplitTable {
    static constexpr size_t bytes = radix_bins * (2 * sizeof(K) + sizeof(uint32_t)) + split_cells;
    K *words, *search;

    GPI_DEVICE SplitTable(const gpi_radix_adaptive &list, uint32_t segment)
        : words((K *)((char *)list.tables + segment * bytes)), search(words + radix_bins)
    {
    }

    GPI_DEVICE uint32_t *counts() const
    {
        return (uint32_t *)(search + radix_bins);
    }

    /* Four in a word. */
    GPI_DEVICE uint32_t *cells() const
    {
        return counts() + radix_bins;
    }
};

/* The same in shared memory. Behind the splitters are highest words: what counts them, too, is in
 * the last bucket. Where some cells have many splitters, these are searched as a tree and cells
 * are not used. */
template <class K> struct SplitSearch {
    K words[2 * radix_bins];
    uint32_t cells[split_cells / 4];
    K low;
    uint32_t shift, steps;

    GPI_DEVICE void set(const gpi_radix_segment &s)
    {
        low = (K)s.low;
        shift = s.shift;
        steps = s.steps;
    }

    static GPI_DEVICE bool in_cells(uint32_t steps)
    {
        return steps <= 2;
    }

    GPI_DEVICE bool in_cells() const
    {
        return in_cells(steps);
    }

    GPI_DEVICE void set(uint32_t i, K word, uint32_t four_cells)
    {
        words[i] = word;
        words[radix_bins + i] = Splitters<K>::highest();
        cells[i] = four_cells;
    }
};
static_assert(split_cells / 4 == radix_bins, "a thread has as many words as words of cells");

/* The bucket of a word: how many splitters are not above it. */
template <class K> struct DigitInSegment {
    static constexpr bool kept = true;
    int shift;
    uint32_t mask; /* the last bucket */
    K compared;
    const SplitSearch<K> *search;

    static GPI_DEVICE uint32_t cell(K word, K low, uint32_t shift)
    {
        const K above = (K)(word > low ? word - low : (K)0) >> shift;
        return above < (K)(split_cells - 1) ? (uint32_t)above : split_cells - 1;
    }

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
        const uint32_t cells = shared_address(search->cells), by = search->shift;
        const K low = search->low;
#pragma unroll
        for (int i = 0; i < N; i++)
            digit[i] = cells + cell((K)(word[i] & compared), low, by);
#pragma unroll
        for (int i = 0; i < N; i++)
            digit[i] = base + sizeof(K) * shared_byte(digit[i]);
#pragma unroll 1
        for (uint32_t step = sizeof(K) << search->steps >> 1; step >= sizeof(K); step /= 2) {
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

/* As many buckets as the segments of the next level are split into, if one level is not
 * enough; and enough of them that a word with much of the segment is a splitter twice. */
GPI_DEVICE uint32_t level_buckets(uint32_t count, uint32_t mean)
{
    const uint32_t all = count / mean + 1;
    const uint32_t root = (uint32_t)sqrtf((float)all) + 1;
    return max(all <= radix_bins ? all : min(root, (uint32_t)radix_bins), level_buckets_min);
}

/* How many of 2^n ascending words are less, or not more. */
template <bool EQUAL, class K>
GPI_DEVICE uint32_t rank_among(const K *words, uint32_t count, K word)
{
    uint32_t rank = 0;
#pragma unroll 1
    for (uint32_t step = count / 2; step; step /= 2)
        rank += EQUAL                           ? words[rank + step - 1] <= word ? step : 0
                : words[rank + step - 1] < word ? step
                                                : 0;
    return rank + (EQUAL ? words[rank] <= word : words[rank] < word);
}

/* Sorted words of a sample, by a block: runs of warps, which are merged by ranks. Their number is
 * a power of two from 32 on; returns where they are, in one half of twice as many. */
template <int T, class K> GPI_DEVICE const K *sort_sample(K *from, uint32_t count)
{
    K *to = from + count;
    for (uint32_t i = threadIdx.x; i < count; i += T)
        from[i] = warp_sorted(from[i]);
    __syncthreads();
#pragma unroll 1
    for (uint32_t run = 32; run < count; run *= 2) {
        for (uint32_t i = threadIdx.x; i < count; i += T) {
            const uint32_t own = i & (run - 1), pair = i & ~(2 * run - 1);
            const uint32_t rank = i & run ? rank_among<true>(from + pair, run, from[i])
                                          : rank_among<false>(from + pair + run, run, from[i]);
            to[pair + own + rank] = from[i];
        }
        __syncthreads();
        K *const other = from;
        from = to;
        to = other;
    }
    return from;
}

/* How a block learns the splitters of a segment. */
template <class K, int T> struct SplitLearner {
    struct Shared {
        K sample[2 * level_sample_max];
        K words[radix_bins];
        uint8_t cells[split_cells];
        uint32_t steps;
    };
    Shared &s;

    /* word(i): of item i. */
    template <class F>
    GPI_DEVICE void run(gpi_radix_segment &to, uint32_t mean, const SplitTable<K> &table,
                        F word) const
    {
        const gpi_radix_segment now = to;
        const uint32_t buckets = level_buckets(now.count, mean);
        const int bits = levels_of(min(buckets * level_sample, level_sample_max));
        for (uint32_t i = threadIdx.x; i < 1u << bits; i += T) {
            const uint32_t first = (uint32_t)((uint64_t)now.count * i >> bits);
            const uint32_t end = (uint32_t)((uint64_t)now.count * (i + 1) >> bits);
            s.sample[i] = word(first + __umulhi(i * 0x9e3779b1u, end - first));
        }
        if (threadIdx.x == 0)
            s.steps = 0;
        __syncthreads();
        choose(sort_sample<T>(s.sample, 1u << bits), bits, buckets);
        set_cells(to, buckets);
        for (uint32_t i = threadIdx.x; i < radix_bins; i += T) {
            table.words[i] = s.words[i];
            table.search[i] = s.words[SplitSearch<K>::in_cells(s.steps) ? i : node(i, buckets)];
            table.counts()[i] = 0;
        }
        for (uint32_t i = threadIdx.x; i < split_cells / 4; i += T)
            table.cells()[i] = ((const uint32_t *)s.cells)[i];
        __syncthreads();
    }

    GPI_DEVICE void choose(const K *sample, int bits, uint32_t buckets) const
    {
        auto raw = [&](uint32_t b) { return sample[(b << bits) / buckets]; };
        for (uint32_t b = threadIdx.x; b < radix_bins; b += T)
            s.words[b] = b == 0        ? (K)0
                         : b < buckets ? Splitters<K>::after(raw(b), b > 1 && raw(b - 1) == raw(b))
                                       : Splitters<K>::highest();
        __syncthreads();
    }

    /* The splitter at a node of the tree; nodes that none is left for have a highest word. */
    static GPI_DEVICE uint32_t node(uint32_t i, uint32_t buckets)
    {
        const int levels = levels_of(buckets);
        return i > 0 && i < 1u << levels ? Splitters<K>::in_order(i, levels) : radix_bins - 1;
    }

    /* The bucket of a word. */
    GPI_DEVICE uint32_t bucket(K word, uint32_t buckets) const
    {
        return min(rank_among<true>(s.words, radix_bins, word) - 1, buckets - 1);
    }

    /* The cells, and how many steps from the first bucket of a cell lead to any other of it. */
    GPI_DEVICE void set_cells(gpi_radix_segment &to, uint32_t buckets) const
    {
        const K low = s.words[1], range = (K)(s.words[buckets - 1] - low);
        const int bits = 64 - __clzll((long long)(uint64_t)range), fit = levels_of(split_cells);
        const int shift = bits > fit ? bits - fit : 0;
        auto first = [&](uint32_t cell) {
            const uint64_t above = (uint64_t)cell << shift;
            return cell == 0                 ? 0
                   : above > (uint64_t)range ? buckets - 1
                                             : bucket((K)(low + (K)above), buckets);
        };
        for (uint32_t c = threadIdx.x; c < split_cells; c += T) {
            const uint32_t begin = first(c), end = c + 1 < split_cells ? first(c + 1) : buckets - 1;
            s.cells[c] = (uint8_t)begin;
            atomicMax(&s.steps, 32 - __clz((int)(end - begin)));
        }
        __syncthreads();
        if (threadIdx.x > 0)
            return;
        to.low = low;
        to.shift = (uint32_t)shift;
        to.steps = s.steps;
        to.buckets = buckets;
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
    uint32_t tiles;

    GPI_DEVICE Digit digit() const
    {
        return {0, radix_bins - 1, job.compared(), &s.search};
    }

    GPI_DEVICE uint32_t claim() const
    {
        return atomicAdd(&job.plan->adaptive_ticket, 1u);
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
