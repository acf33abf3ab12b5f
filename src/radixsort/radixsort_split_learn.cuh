/* SPDX-License-Identifier: MIT */
/*
 * The splitters of a segment of radixsort_levels_k.cuh, from a sorted sample; and cells: equal
 * ranges of words, a table of which says where the search for a word's bucket begins.
 */
#pragma once

#include "radixsort/radixsort_splitters.cuh"
#include "radixsort/radixsort_sample.cuh"

namespace GPI_SPACE
{

/* Words of a segment's sample: for each of its buckets, and at most. */
constexpr uint32_t level_sample = 32, level_sample_max = 8192;

/* The cell of a word. Cells begin at word low, and leave out a range that has few words, as floats
 * around zero: the gap, from low + gap up to beyond, which is one cell. */
template <class K> struct CellsOf {
    K low, gap, beyond;
    uint32_t shift; /* a cell has 2^shift words */

    /* How far a word is from low, without the gap. */
    GPI_DEVICE K distance(K word) const
    {
        return min((K)(max(word, low) - low), gap) + (K)(max(word, beyond) - beyond);
    }

    /* The lowest word at a distance that is a multiple of a cell. */
    GPI_DEVICE K lowest(K distance) const
    {
        return distance > gap ? beyond + (K)(distance - gap) : low + distance;
    }

    static GPI_DEVICE uint32_t at_most_last(K cell)
    {
        return cell < (K)(split_cells - 1) ? (uint32_t)cell : split_cells - 1;
    }

    GPI_DEVICE uint32_t operator()(K word) const
    {
        return at_most_last(distance(word) >> shift);
    }

    GPI_DEVICE bool has_gap() const
    {
        return gap != Splitters<K>::highest();
    }

    /* operator() in fewer instructions, where there is no gap. */
    GPI_DEVICE uint32_t without_gap(K word) const
    {
        return at_most_last((K)(word > low ? word - low : (K)0) >> shift);
    }
};

/* Of a segment, in global memory: the splitters from number 1 on, in ascending order and in the
 * order of the search; the counts of its buckets, later their starts; for each cell the bucket of
 * its lowest word. */
template <class K> struct SplitTable {
    static constexpr size_t bytes = split_table_bytes(sizeof(K));
    K *words, *search;

    GPI_DEVICE SplitTable(const gpi_radix_lists &list, uint32_t segment)
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

/* What a search needs of it in shared memory. Behind the splitters there are highest words; a
 * search that counts some of these is clamped to the last bucket. If a cell has many splitters, all
 * are searched as a tree and the cells are not used. */
template <class K> struct SplitSearch {
    K words[2 * radix_bins];
    uint32_t cells[split_cells / 4];
    CellsOf<K> cell;
    uint32_t steps;

    GPI_DEVICE void set(const gpi_radix_segment &s)
    {
        cell = {(K)s.low, (K)s.gap, (K)s.beyond, s.shift};
        steps = s.steps;
    }

    static GPI_DEVICE bool in_cells(uint32_t steps)
    {
        return steps <= 2;
    }

    GPI_DEVICE void set(uint32_t i, K word, uint32_t four_cells)
    {
        words[i] = word;
        words[radix_bins + i] = Splitters<K>::highest();
        cells[i] = four_cells;
    }
};
static_assert(split_cells / 4 == radix_bins, "a thread has as many words as words of cells");

/* Buckets of a segment: the square root of all, if one level is not enough; and enough of them that
 * a word with a large share of the items is a splitter twice. */
GPI_DEVICE uint32_t level_buckets(uint32_t count, uint32_t mean)
{
    const uint32_t all = count / mean + 1;
    const uint32_t root = (uint32_t)sqrtf((float)all) + 1;
    return max(all <= radix_bins ? all : min(root, (uint32_t)radix_bins), level_buckets_min);
}

/* How many of 2^n ascending words are less than a word; EQUAL: or equal. */
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

/* By a block: sorts a sample of 2^n words, at least 32, by runs of warps, which are then
 * merged by ranks. There is room for twice as many words; returns the half with the sorted ones. */
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

/* Learns the splitters of a segment, by a block. */
template <class K, int T> struct SplitLearner {
    struct Shared {
        K sample[2 * level_sample_max];
        K words[radix_bins];
        uint8_t cells[split_cells];
        K gap;           /* the widest between two splitters, */
        uint32_t before; /* and the first of these */
        uint32_t steps;  /* of a search in cells */
        uint32_t rigid;  /* some splitters are too close together to be moved */
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
            s.steps = s.rigid = 0;
        __syncthreads();
        choose(sort_sample<T>(s.sample, 1u << bits), bits, buckets);
        find_gap(buckets);
        const CellsOf<K> cells = lay_cells(buckets);
        move_to_cells(cells, buckets);
        fill_cells(cells, buckets);
        if (threadIdx.x == 0) {
            to.low = cells.low, to.gap = cells.gap, to.beyond = cells.beyond;
            to.shift = cells.shift;
            to.steps = s.steps;
            to.buckets = buckets;
        }
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

    /* The number of the splitter at a node of the tree; of a highest word, if none is left. */
    static GPI_DEVICE uint32_t node(uint32_t i, uint32_t buckets)
    {
        const int levels = levels_of(buckets);
        return i > 0 && i < 1u << levels ? Splitters<K>::in_order(i, levels) : radix_bins - 1;
    }

    GPI_DEVICE uint32_t bucket(K word, uint32_t buckets) const
    {
        return min(rank_among<true>(s.words, radix_bins, word) - 1, buckets - 1);
    }

    /* By the first warp: the widest gap between two neighbouring splitters. */
    GPI_DEVICE void find_gap(uint32_t buckets) const
    {
        K gap = 0;
        uint32_t before = 1;
        auto take = [&](K other, uint32_t at) {
            const bool wider = other > gap || (other == gap && at < before);
            gap = wider ? other : gap;
            before = wider ? at : before;
        };
        if (threadIdx.x < 32) {
            for (uint32_t b = 1 + threadIdx.x; b + 1 < buckets; b += 32)
                take((K)(s.words[b + 1] - s.words[b]), b);
#pragma unroll
            for (int d = 16; d; d >>= 1) {
                const K other = __shfl_xor_sync(all_lanes, gap, d);
                take(other, __shfl_xor_sync(all_lanes, before, d));
            }
        }
        if (threadIdx.x == 0)
            s.gap = gap, s.before = before;
        __syncthreads();
    }

    /* Cells begin one before the first splitter. The widest gap is left out if it is more than half
     * of the range. */
    GPI_DEVICE CellsOf<K> lay_cells(uint32_t buckets) const
    {
        const K first = s.words[1], range = (K)(s.words[buckets - 1] - first), gap = s.gap;
        const bool cut = gap > 1 && gap > range / 2;
        const K all = cut ? range - gap : range;
        const int bits = 64 - __clzll((long long)(uint64_t)all), fit = levels_of(split_cells);
        int shift = bits > fit ? bits - fit : 0;
        shift += (all >> shift) + 4 > (K)split_cells;
        const K each = (K)1 << shift, low = first > each ? first - each : (K)0;
        const K highest = Splitters<K>::highest();
        if (!cut)
            return {low, highest, highest, (uint32_t)shift};
        const K lower = (K)((((s.words[s.before] - low) >> shift) + 1) << shift);
        return {low, lower, (K)(s.words[s.before + 1] - each), (uint32_t)shift};
    }

    /* If all buckets have at least four cells, splitters move to the begin of their cell: then the
     * cell of a word tells its bucket, without a search. */
    GPI_DEVICE void move_to_cells(const CellsOf<K> &cells, uint32_t buckets) const
    {
        const uint32_t b = threadIdx.x + 1;
        K moved = 0;
        if (b < buckets) {
            const K at = cells.distance(s.words[b]) >> cells.shift;
            const K next = b + 1 < buckets ? cells.distance(s.words[b + 1]) >> cells.shift : 0;
            const bool across = cells.has_gap() && b == s.before;
            if (at == 0 || (b + 1 < buckets && !across && next < at + 4))
                s.rigid = 1;
            moved = cells.lowest((K)(at << cells.shift));
        }
        __syncthreads();
        if (b < buckets && !s.rigid)
            s.words[b] = moved;
        __syncthreads();
    }

    /* The first bucket of each cell, and the steps of a binary search in the largest cell. */
    GPI_DEVICE void fill_cells(const CellsOf<K> &cells, uint32_t buckets) const
    {
        const uint32_t last = cells(s.words[buckets - 1]);
        auto lowest = [&](uint32_t c) { return cells.lowest((K)((K)c << cells.shift)); };
        for (uint32_t c = threadIdx.x; c < split_cells; c += T) {
            const uint32_t begin = c == 0 ? 0 : c > last ? buckets - 1 : bucket(lowest(c), buckets);
            const uint32_t end = c >= last ? buckets - 1 : bucket(lowest(c + 1) - 1, buckets);
            s.cells[c] = (uint8_t)begin;
            atomicMax(&s.steps, 32 - __clz((int)(end - begin)));
        }
        __syncthreads();
    }
};

} // namespace GPI_SPACE
