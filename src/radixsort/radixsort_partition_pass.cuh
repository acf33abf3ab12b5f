/* SPDX-License-Identifier: MIT */
/*
 * One split of everything by a digit, read once and written once: a tile counts its digits,
 * learns where the items of each go, and writes them there in digit order. If the split is stable
 * it looks back at the tiles before; where order does not matter it takes its places from one
 * cursor per bin.
 */
#pragma once

#include "radixsort/radixsort_look_back.cuh"
#include "radixsort/radixsort_partition_pairs.cuh"
#include "radixsort/radixsort_partition_keys.cuh"

namespace GPI_SPACE
{

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

    /* By one thread: the next tile, */
    GPI_DEVICE uint32_t draw() const
    {
        return atomicAdd(split.ticket, 1u);
    }

    GPI_DEVICE uint32_t segment_of(uint32_t tile) const
    {
        uint32_t segment = 0;
        if (split.segmented)
#pragma unroll
            for (uint32_t step = GPI_RADIX_SEGMENTS / 2; step; step /= 2)
                if (s.segment_tile[segment + step] <= tile)
                    segment += step;
        return segment;
    }

    /* and what the group is to know of it. */
    GPI_DEVICE void set(uint32_t tile) const
    {
        s.tile = tile;
        s.segment = segment_of(tile);
    }

    /* Whether asking the L2 for a tile pays: writes of a split into buckets need it all. */
    GPI_DEVICE bool asks_early() const
    {
        return !split.segment_starts;
    }

    /* What some group will draw soon: the tile that comes as many later as there are groups. */
    GPI_DEVICE Span soon(const Draw &now) const
    {
        return at(now.tile + G::in_grid(), 0).span;
    }

    GPI_DEVICE Draw drawn() const
    {
        return at(s.tile, s.segment);
    }

    GPI_DEVICE Draw at(uint32_t tile, uint32_t segment) const
    {
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

/* Groups take tiles in rising order, so that no tile waits for one that nobody has. */
template <class G, class Way> GPI_DEVICE void take(const Way &way)
{
    if (G::thread() == 0)
        way.set(way.draw());
}

/* What splits of pairs and of keys share; look-backs read BYTES at a time, or the order is any. */
template <class K, class Tile_, class Way_, int BYTES> struct GroupSplit {
    using Tile = Tile_;
    using Way = Way_;
    using G = typename Tile::G;
    using Draw = typename Way::Draw;

    Tile t;
    Way way;

    /* The group's split is in its shared memory. */
    template <class Job>
    GPI_DEVICE GroupSplit(const Job &job, typename Tile::OfGroup &s, const Way &way_)
        : t{s, job, way_.digit()}, way(way_)
    {
    }

    GPI_DEVICE bool has_bin() const
    {
        return G::thread() < 1 << t.s.split.bits;
    }

    GPI_DEVICE StablePlaces<K, Way, BYTES> places() const
    {
        return {t.job, t.s.split, way, G::thread()};
    }

    /* Count, start in the tile of the thread's bin. If the split is stable, others are told, and
     * pads, which are at the end of the last bin, are not counted. */
    GPI_DEVICE uint2 count(const Draw &draw) const
    {
        const uint32_t pads =
            BYTES > 0 && G::thread() == (int)t.digit_of.mask ? Tile::items - draw.span.count : 0;
        uint2 bin = t.s.counts.sum([&](uint32_t count) {
            if constexpr (BYTES > 0)
                if (has_bin())
                    places().publish(draw, count - pads);
        });
        bin.x -= pads;
        G::sync();
        return bin;
    }
};

template <class K, bool FLOAT, int VB, int T, int I, class Way>
using PairSplit = GroupSplit<K, PairTile<K, FLOAT, VB, T, I, typename Way::Digit>, Way,
                             radix_tuning.look_back_bytes>;

/* Splits of pairs by a group, tile after tile. */
template <class K, bool FLOAT, int VB, int T, int I, class Way>
struct PairSplitter : PairSplit<K, FLOAT, VB, T, I, Way> {
    using Base = PairSplit<K, FLOAT, VB, T, I, Way>;
    using Base::count, Base::has_bin, Base::places, Base::t, Base::way;
    using typename Base::Draw;
    using typename Base::G;
    using typename Base::Tile;

    uint32_t parity; /* of the tiles that have landed */

    using Base::Base;

    GPI_DEVICE bool write(const Span &span) const
    {
        return t.has_values() ? t.template write<true>(span) : t.template write<false>(span);
    }

    /* Split a tile that is on its way; returns the next, which then is on its way. */
    GPI_DEVICE Draw split_tile(const Draw &now)
    {
        /* 1. Rank. */
        typename Tile::Ranks ranks;
        way.enter(now, t.digit_of);
        if constexpr (Way::enters)
            G::sync();
        t.s.stage.wait_keys(parity);
        t.read_digits(now.span, ranks);
        __syncwarp(); /* ranks rely on warps that are together */
        t.rank(ranks);
        fault_swap<I>(now.tile, G::thread() / 32, Tile::warps,
                      typename Tile::FaultItems{now.span, ranks});
        G::sync();

        /* 2. Go into digit order, and find the places. */
        const uint2 bin = count(now);
        t.exchange(ranks);
        if (has_bin())
            t.set_place(places().find(now, bin.x) - bin.y);
        G::sync();

        /* 3. Write. The next tile is drawn late: others wait for it from then on. */
        if (way.asks_early() && G::thread() == 0)
            t.prefetch(way.soon(now));
        t.s.stage.wait_values(parity);
        parity ^= 1;
        const bool ordered = write(now.span);
        if (G::thread() == 0)
            way.set(way.draw());
        if (G::any(!ordered)) {
            fault_count(fault_repaired, G::thread());
            Tile::repair(t, now.span);
        }
        const Draw next = way.drawn();
        t.load(next.span);
        t.s.counts.clear();
        return next;
    }

    /* Once in a kernel, by all threads; then the block synchronizes. */
    static GPI_DEVICE void init()
    {
        decltype(Tile::OfGroup::stage)::init();
    }

    GPI_DEVICE void run()
    {
        __syncthreads();
        take<G>(way);
        t.s.counts.clear();
        parity = t.s.stage.begin();
        __syncthreads();
        Draw now = way.drawn();
        G::sync();
        t.load(now.span);
        while (now.tile < way.tiles)
            now = split_tile(now);
        t.s.stage.wait_keys(parity);
        t.s.stage.wait_values(parity);
        G::sync();
        if (G::thread() == 0)
            t.s.stage.end(parity ^ 1);
    }
};

template <class K, bool FLOAT, bool STABLE, int T, int I, class Way>
using KeySplit = GroupSplit<K, KeyTile<K, FLOAT, STABLE, T, I, typename Way::Digit>, Way,
                            STABLE ? radix_tuning.look_back_bytes : 0>;

/* Splits of keys by a group, tile after tile. */
template <class K, bool FLOAT, bool STABLE, int T, int I, class Way>
struct KeySplitter : KeySplit<K, FLOAT, STABLE, T, I, Way> {
    using Base = KeySplit<K, FLOAT, STABLE, T, I, Way>;
    using Base::count, Base::has_bin, Base::places, Base::t, Base::way;
    using typename Base::Draw;
    using typename Base::G;
    using typename Base::Tile;

    K key[I];
    uint32_t ranks[I / 2];

    using Base::Base;

    /* Where the items of the thread's bin go. */
    GPI_DEVICE void place(const Draw &now, uint2 bin)
    {
        if constexpr (STABLE) {
            t.set_place(places().find(now, bin.x) - bin.y);
        } else {
            const uint32_t start = bin.x ? atomicAdd(way.cursor(now, G::thread()), bin.x) : 0;
            t.set_place((uint64_t)start - bin.y);
        }
    }

    GPI_DEVICE void write(const Draw &now)
    {
        const bool ordered = t.write(now.span);
        if constexpr (STABLE) {
            if (G::any(!ordered)) {
                fault_count(fault_repaired, G::thread());
                Tile::repair(t, now.span);
            }
        }
        t.s.counts.clear();
        if constexpr (!STABLE && Way::enters)
            G::sync();
    }

    /* Split a tile whose keys are in registers; returns the next, with its keys on their way. */
    GPI_DEVICE Draw split_tile(const Draw &now)
    {
        /* 1. Rank. */
        way.enter(now, t.digit_of);
        if constexpr (Way::enters)
            G::sync();
        take<G>(way);
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
        t.load(next.span, key);
        if (has_bin())
            place(now, bin);
        G::sync();

        /* 4. Write. */
        write(now);
        return next;
    }

    static GPI_DEVICE void init()
    {
    }

    GPI_DEVICE void run()
    {
        __syncthreads();
        take<G>(way);
        t.s.counts.clear();
        __syncthreads();
        Draw now = way.drawn();
        G::sync();
        t.load(now.span, key);
        while (now.tile < way.tiles)
            now = split_tile(now);
    }
};

/* STABLE, or for keys alone in any order. */
template <class K, bool FLOAT, int VB, bool STABLE, int T, int I, class Way> struct SplitterOf {
    using type = PairSplitter<K, FLOAT, VB, T, I, Way>;
};
template <class K, bool FLOAT, bool STABLE, int T, int I, class Way>
struct SplitterOf<K, FLOAT, 0, STABLE, T, I, Way> {
    using type = KeySplitter<K, FLOAT, STABLE, T, I, Way>;
};
template <class K, bool FLOAT, int VB, bool STABLE, int T, int I, class Way>
using Splitter = typename SplitterOf<K, FLOAT, VB, STABLE, T, I, Way>::type;

} // namespace GPI_SPACE
