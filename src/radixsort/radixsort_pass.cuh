/* SPDX-License-Identifier: MIT */
/*
 * One split of everything by a digit, read once and written once.
 *
 * Stable (Adinets and Merrill 2022, "Onesweep"): a tile counts its digits, learns by looking back
 * how many of each come before it, and writes its items in digit order to where they belong. Where
 * order does not matter a tile takes its places from one cursor per bin instead.
 */
#pragma once

#include "radixsort/radixsort_tile.cuh"
#include "tuning/radixsort_tuning.cuh"

namespace GPI_SPACE
{

/* ---- what a tile tells the later ones: a count in 62 bits, and what it stands for ---- */

constexpr uint64_t state_own = 1ull << 62;  /* items of the tile */
constexpr uint64_t state_upto = 2ull << 62; /* items of all tiles up to this one */
constexpr uint64_t state_count = (1ull << 62) - 1;

GPI_DEVICE void state_write(uint64_t *word, uint64_t value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}

GPI_DEVICE uint64_t state_read(const uint64_t *word)
{
    uint64_t value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}

/* Items of bin threadIdx.x in tiles [first, tile); publishes the sum with this tile's own count. */
GPI_DEVICE uint64_t look_back(uint64_t *states, uint32_t first, uint32_t tile, uint32_t own)
{
    constexpr int batch = radix_look_back_batch;
    uint64_t *mine = states + threadIdx.x, before = 0;
    int64_t at = (int64_t)tile - 1;
    bool found = at < (int64_t)first;
    while (!found) {
        uint64_t word[batch];
#pragma unroll
        for (int i = 0; i < batch; i++)
            word[i] =
                at - i >= (int64_t)first ? state_read(mine + (at - i) * radix_bins) : state_upto;
#pragma unroll
        for (int i = 0; i < batch; i++) {
            if (found || !(word[i] >> 62))
                break;
            before += word[i] & state_count;
            found = word[i] >= state_upto;
            at--;
        }
    }
    state_write(mine + (uint64_t)tile * radix_bins, state_upto | (before + own));
    return before;
}

template <class K, bool FLOAT, int VB, bool STABLE, int T, int I> struct Splitter {
    using V = typename Payload<VB>::type;
    using Tile = RadixTile<K, FLOAT, VB, STABLE, T, I>;

    const RadixJob<K, V> &job;
    const Split &split;
    Tile t;
    uint32_t tiles;
    K key[I];
    uint32_t ranks[I];

    GPI_DEVICE Splitter(const RadixJob<K, V> &job_, const Split &split_, char *memory)
        : job(job_), split(split_), t{*(typename Tile::Shared *)memory,
                                      job_,
                                      split_,
                                      {split_.shift, (1u << split_.bits) - 1}}
    {
        tiles = (uint32_t)((job.n + Tile::items - 1) / Tile::items);
        if (split.segmented) {
            for (int i = threadIdx.x; i <= GPI_RADIX_SEGMENTS; i += T)
                t.s.segment_tile[i] = job.plan->segment_tile[i];
            tiles = job.plan->segment_tile[GPI_RADIX_SEGMENTS];
        }
    }

    /* Thread 0 draws the next tile, and finds the segment that it belongs to. */
    GPI_DEVICE void take()
    {
        if (threadIdx.x != 0)
            return;
        const uint32_t tile = atomicAdd(split.ticket, 1u);
        uint32_t segment = 0;
        if (split.segmented)
#pragma unroll
            for (uint32_t step = GPI_RADIX_SEGMENTS / 2; step; step /= 2)
                if (t.s.segment_tile[segment + step] <= tile)
                    segment += step;
        t.s.tile = tile;
        t.s.segment = segment;
    }

    GPI_DEVICE Span span_of(uint32_t tile, uint32_t segment) const
    {
        uint64_t first = (uint64_t)tile * Tile::items, end = job.n;
        if (split.segmented) {
            first = split.segment_starts[segment << split.bits] +
                    (uint64_t)(tile - t.s.segment_tile[segment]) * Tile::items;
            end = split.segment_starts[(segment + 1) << split.bits];
        }
        return {first, end - first < Tile::items ? (int)(end - first) : Tile::items};
    }

    GPI_DEVICE void load(const Span &span)
    {
        if (span.count == Tile::items)
            t.template load<true>(span, key);
        else
            t.template load<false>(span, key);
    }

    GPI_DEVICE void rank(const Span &span)
    {
        if (span.count == Tile::items)
            t.template rank<true>(span, key, ranks);
        else
            t.template rank<false>(span, key, ranks);
    }

    /* Where the items of bin threadIdx.x go; bin: its count, its start in the tile. */
    GPI_DEVICE void place(uint32_t tile, uint32_t segment, uint2 bin)
    {
        const uint32_t d = threadIdx.x;
        if constexpr (STABLE) {
            const uint64_t start =
                split.segment_starts
                    ? split.segment_starts[((segment << split.bits) + d) << split.below]
                    : split.starts[d];
            const uint32_t first = split.segmented ? t.s.segment_tile[segment] : 0;
            t.set_place(start + look_back(split.states, first, tile, bin.x) - bin.y);
        } else {
            uint32_t *cursor = split.cursors + ((segment << split.bits) + d);
            const uint32_t start = bin.x ? atomicAdd(cursor, bin.x) : 0;
            t.set_place((uint64_t)start - bin.y);
        }
    }

    GPI_DEVICE void publish(uint32_t tile, uint32_t count)
    {
        if constexpr (STABLE) {
            state_write(split.states + (uint64_t)tile * radix_bins + threadIdx.x,
                        state_own | count);
            for (uint64_t row = tile; row < split.clear_rows; row += tiles)
                split.clear[row * radix_bins + threadIdx.x] = 0;
        }
    }

    GPI_DEVICE void write(const Span &span)
    {
        const bool ordered = span.count == Tile::items ? t.template write<true>(span)
                                                       : t.template write<false>(span);
        if constexpr (STABLE) {
            if (__syncthreads_or(!ordered)) {
                fault_count(fault_repaired);
                Tile::repair(t, span);
            }
        }
    }

    /* Blocks take tiles in rising order, so that no tile waits for one that nobody has. */
    GPI_DEVICE void run()
    {
        const bool has_bin = threadIdx.x < 1u << split.bits;
        __syncthreads();
        take();
        __syncthreads();
        uint32_t tile = t.s.tile, segment = t.s.segment;
        Span span = {0, 0};
        if (tile < tiles) {
            span = span_of(tile, segment);
            load(span);
        }
        while (tile < tiles) {
            /* 1. Rank. */
            if (span.count == Tile::items)
                t.template load_values<true>(span);
            else
                t.template load_values<false>(span);
            t.clear_counts();
            __syncthreads();
            take();
            rank(span);
            if constexpr (STABLE)
                fault_swap<radix_bits>(tile, span.count - Tile::first_item(), ranks,
                                       [](int) { return (uint64_t)lane_id(); });
            __syncthreads();
            const uint32_t next = t.s.tile, next_segment = t.s.segment;

            /* 2. Say how many of each digit there are, and go into digit order. */
            const uint2 bin = t.sum_counts(); /* count, begin */
            if (has_bin)
                publish(tile, bin.x);
            __syncthreads();
            if (span.count == Tile::items)
                t.template exchange<true>(span, key, ranks);
            else
                t.template exchange<false>(span, key, ranks);

            /* 3. Find the places while the next tile's keys are on their way. */
            Span next_span = {0, 0};
            if (next < tiles) {
                next_span = span_of(next, next_segment);
                load(next_span);
            }
            if (has_bin)
                place(tile, segment, bin);
            if constexpr (VB > 0)
                copy_async_wait();
            __syncthreads();

            /* 4. Write. */
            write(span);
            __syncthreads();
            tile = next;
            segment = next_segment;
            span = next_span;
        }
    }
};

} // namespace GPI_SPACE
