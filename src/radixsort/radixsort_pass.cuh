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

/*
 * The tiles of a split by bits, of everything or of each segment of the plan by itself, and where
 * their items go. For one group.
 */
template <class K, class G, int ITEMS> struct SplitByBits {
    using Digit = DigitOf<K>;
    static constexpr bool enters = false;
    struct Shared {
        uint32_t tile, segment;
        uint32_t segment_tile[GPI_RADIX_SEGMENTS + 1];
    };
    struct Draw {
        uint32_t tile, segment;
        Span span; /* without items if no tile was left */
    };

    const RadixKeys<K> &job;
    const Split &split;
    Shared &s;
    uint32_t tiles;

    GPI_DEVICE SplitByBits(const RadixKeys<K> &job_, const Split &split_, Shared &s_)
        : job(job_), split(split_), s(s_)
    {
        tiles = (uint32_t)((job.n + ITEMS - 1) / ITEMS);
        if (!split.segmented)
            return;
        for (int i = G::thread(); i <= GPI_RADIX_SEGMENTS; i += G::threads)
            s.segment_tile[i] = job.plan->segment_tile[i];
        tiles = job.plan->segment_tile[GPI_RADIX_SEGMENTS];
    }

    GPI_DEVICE Digit digit() const
    {
        return {split.shift, (1u << split.bits) - 1};
    }

    /* By one thread: the next tile, and the segment that it belongs to. */
    GPI_DEVICE void take() const
    {
        const uint32_t tile = atomicAdd(split.ticket, 1u);
        uint32_t segment = 0;
        if (split.segmented)
#pragma unroll
            for (uint32_t step = GPI_RADIX_SEGMENTS / 2; step; step /= 2)
                if (s.segment_tile[segment + step] <= tile)
                    segment += step;
        s.tile = tile;
        s.segment = segment;
    }

    GPI_DEVICE Draw drawn() const
    {
        const uint32_t tile = s.tile, segment = s.segment;
        if (tile >= tiles)
            return {tile, segment, {0, 0}};
        uint64_t first = (uint64_t)tile * ITEMS, end = job.n;
        if (split.segmented) {
            first = split.segment_starts[segment << split.bits] +
                    (uint64_t)(tile - s.segment_tile[segment]) * ITEMS;
            end = split.segment_starts[(segment + 1) << split.bits];
        }
        return {tile, segment, {first, end - first < ITEMS ? (int)(end - first) : ITEMS}};
    }

    /* Digits are the same for all tiles. */
    GPI_DEVICE void enter(const Draw &, Digit &) const
    {
    }

    /* Where the items of a digit begin. */
    GPI_DEVICE uint64_t start(const Draw &d, uint32_t digit) const
    {
        return split.segment_starts
                   ? split.segment_starts[((d.segment << split.bits) + digit) << split.below]
                   : split.starts[digit];
    }

    /* The tile before which there is nothing to look back at. */
    GPI_DEVICE uint32_t first_tile(const Draw &d) const
    {
        return split.segmented ? s.segment_tile[d.segment] : 0;
    }

    GPI_DEVICE uint32_t *cursor(const Draw &d, uint32_t digit) const
    {
        return split.cursors + ((d.segment << split.bits) + digit);
    }
};

/* What the threads of a group have of a tile. */
template <class K, bool FLOAT, int VB, bool STABLE, int T, int I, class Way> struct Splitter {
    using V = typename Payload<VB>::type;
    using Tile = RadixTile<K, FLOAT, VB, STABLE, T, I, typename Way::Digit>;
    using G = typename Tile::G;
    using Draw = typename Way::Draw;

    const RadixJob<K, V> &job;
    Tile t;
    Way way;
    K key[I];
    uint32_t ranks[I / 2];

    /* The group's split is in its shared memory. */
    GPI_DEVICE Splitter(const RadixJob<K, V> &job_, typename Tile::OfGroup &s, const Way &way_)
        : job(job_), t{s, job_, way_.digit()}, way(way_)
    {
    }

    GPI_DEVICE void take() const
    {
        if (G::thread() == 0)
            way.take();
    }

    /* Where the items of the thread's bin go; bin: its count, its start in the tile. */
    GPI_DEVICE void place(const Draw &now, uint2 bin)
    {
        const int d = G::thread();
        if constexpr (STABLE) {
            const uint64_t before =
                look_back(t.s.split.states, d, way.first_tile(now), now.tile, bin.x);
            t.set_place(way.start(now, d) + before - bin.y);
        } else {
            const uint32_t start = bin.x ? atomicAdd(way.cursor(now, d), bin.x) : 0;
            t.set_place((uint64_t)start - bin.y);
        }
    }

    GPI_DEVICE void publish(uint32_t tile, uint32_t count)
    {
        if constexpr (STABLE) {
            const int d = G::thread();
            state_write(t.s.split.states + (uint64_t)tile * radix_bins + d, state_own | count);
            for (uint64_t row = tile; row < t.s.split.clear_rows; row += way.tiles)
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
        way.enter(now, t.digit_of);
        if constexpr (Way::enters)
            G::sync();
        take();
        __syncwarp(); /* ranks rely on warps that are together */
        t.rank(now.span, key, ranks);
        if constexpr (STABLE)
            fault_swap<I>(now.tile, G::thread() / 32, Tile::warps,
                          typename Tile::FaultItems{t, now.span, key, ranks});
        G::sync();
        const Draw next = way.drawn();

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
        Draw now = way.drawn();
        G::sync();
        load_keys(now);
        while (now.tile < way.tiles)
            now = split_tile(now);
    }
};

} // namespace GPI_SPACE
