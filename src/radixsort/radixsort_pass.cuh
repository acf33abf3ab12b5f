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

/* Items of a bin in tiles [first, tile); publishes the sum with this tile's own count. */
GPI_DEVICE uint64_t look_back(uint64_t *states, int bin, uint32_t first, uint32_t tile,
                              uint32_t own)
{
    constexpr int batch = radix_look_back_batch;
    uint64_t *mine = states + bin, before = 0;
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

/* A tile that a group has taken, and the segment that it belongs to. */
struct Draw {
    uint32_t tile, segment;
    Span span;
};

template <class K, bool FLOAT, int VB, bool STABLE, int T, int I> struct Splitter {
    using V = typename Payload<VB>::type;
    using Tile = RadixTile<K, FLOAT, VB, STABLE, T, I>;
    using G = typename Tile::G;

    const RadixJob<K, V> &job;
    Tile t;
    uint32_t tiles;
    K key[I];
    uint32_t ranks[I / 2];

    /* The group's split is in its shared memory. */
    GPI_DEVICE Splitter(const RadixJob<K, V> &job_, typename Tile::OfGroup &s)
        : job(job_), t{s, job_, {s.split.shift, (1u << s.split.bits) - 1}}
    {
        const Split &split = s.split;
        tiles = (uint32_t)((job.n + Tile::items - 1) / Tile::items);
        if (t.s.split.segmented) {
            for (int i = G::thread(); i <= GPI_RADIX_SEGMENTS; i += Tile::threads)
                t.s.segment_tile[i] = job.plan->segment_tile[i];
            tiles = job.plan->segment_tile[GPI_RADIX_SEGMENTS];
        }
    }

    /* Thread 0 draws the next tile, and finds the segment that it belongs to. */
    GPI_DEVICE void take()
    {
        if (G::thread() != 0)
            return;
        const uint32_t tile = atomicAdd(t.s.split.ticket, 1u);
        uint32_t segment = 0;
        if (t.s.split.segmented)
#pragma unroll
            for (uint32_t step = GPI_RADIX_SEGMENTS / 2; step; step /= 2)
                if (t.s.segment_tile[segment + step] <= tile)
                    segment += step;
        t.s.tile = tile;
        t.s.segment = segment;
    }

    /* The tile that was taken; without items if none was left. */
    GPI_DEVICE Draw drawn() const
    {
        const uint32_t tile = t.s.tile, segment = t.s.segment;
        if (tile >= tiles)
            return {tile, segment, {0, 0}};
        uint64_t first = (uint64_t)tile * Tile::items, end = job.n;
        if (t.s.split.segmented) {
            first = t.s.split.segment_starts[segment << t.s.split.bits] +
                    (uint64_t)(tile - t.s.segment_tile[segment]) * Tile::items;
            end = t.s.split.segment_starts[(segment + 1) << t.s.split.bits];
        }
        return {
            tile, segment, {first, end - first < Tile::items ? (int)(end - first) : Tile::items}};
    }

    /* Where the items of the thread's bin go; bin: its count, its start in the tile. */
    GPI_DEVICE void place(const Draw &now, uint2 bin)
    {
        const int d = G::thread();
        const uint32_t segment = now.segment;
        if constexpr (STABLE) {
            const uint64_t start =
                t.s.split.segment_starts
                    ? t.s.split.segment_starts[((segment << t.s.split.bits) + d) << t.s.split.below]
                    : t.s.split.starts[d];
            const uint32_t first = t.s.split.segmented ? t.s.segment_tile[segment] : 0;
            t.set_place(start + look_back(t.s.split.states, d, first, now.tile, bin.x) - bin.y);
        } else {
            uint32_t *cursor = t.s.split.cursors + ((segment << t.s.split.bits) + d);
            const uint32_t start = bin.x ? atomicAdd(cursor, bin.x) : 0;
            t.set_place((uint64_t)start - bin.y);
        }
    }

    GPI_DEVICE void publish(uint32_t tile, uint32_t count)
    {
        if constexpr (STABLE) {
            const int d = G::thread();
            state_write(t.s.split.states + (uint64_t)tile * radix_bins + d, state_own | count);
            for (uint64_t row = tile; row < t.s.split.clear_rows; row += tiles)
                t.s.split.clear[row * radix_bins + d] = 0;
        }
    }

    GPI_DEVICE void load_keys(const Draw &draw)
    {
        t.load(job.keys[t.s.split.from], draw.span, t.pad(), key);
    }

    /* Say how many of each digit there are: count, start in the tile of the thread's bin. Pads are
     * at the end of the last bin. */
    GPI_DEVICE uint2 count(const Draw &draw)
    {
        uint2 bin = t.sum_counts();
        if (STABLE && G::thread() == (int)t.digit_of.mask)
            bin.x -= Tile::items - draw.span.count;
        if (G::thread() < 1 << t.s.split.bits)
            publish(draw.tile, bin.x);
        G::sync();
        return bin;
    }

    /* Values by the way that the keys took. */
    GPI_DEVICE void exchange_values(const Span &span)
    {
        V value[I];
        t.load(job.values[t.s.split.from], span, V(), value);
        t.exchange_values(value, ranks);
        G::sync();
    }

    /* Split a tile whose keys are in registers; returns the next, with its keys on their way. */
    GPI_DEVICE Draw split_tile(const Draw &now)
    {
        /* 1. Rank. */
        take();
        __syncwarp(); /* ranks rely on warps that are together */
        t.rank(now.span, key, ranks);
        if constexpr (STABLE)
            fault_swap<I>(now.tile, G::thread() / 32, Tile::warps,
                          typename Tile::FaultItems{t, now.span, key, ranks});
        G::sync();
        const Draw next = drawn();

        /* 2. Go into digit order. */
        const uint2 bin = count(now);
        t.exchange(now.span, key, ranks);

        /* 3. Find the places. */
        if constexpr (VB == 0)
            load_keys(next);
        if (G::thread() < 1 << t.s.split.bits)
            place(now, bin);
        G::sync();

        /* 4. Write. */
        const bool ordered = t.write_keys(now.span);
        if (VB > 0 && !t.has_values())
            t.write_positions(now.span);
        const bool wrong = G::any(!ordered);
        if (STABLE && wrong) {
            fault_count(fault_repaired, G::thread());
            Tile::repair(t, now.span);
        } else if (t.has_values())
            exchange_values(now.span);
        if constexpr (VB > 0)
            load_keys(next);
        if (!wrong && t.has_values())
            t.write_values(now.span);
        t.clear_counts();
        if constexpr (!STABLE)
            G::sync();
        return next;
    }

    /* Groups take tiles in rising order, so that no tile waits for one that nobody has. */
    GPI_DEVICE void run()
    {
        __syncthreads();
        take();
        t.clear_counts();
        __syncthreads();
        Draw now = drawn();
        G::sync();
        load_keys(now);
        while (now.tile < tiles)
            now = split_tile(now);
    }
};

} // namespace GPI_SPACE
