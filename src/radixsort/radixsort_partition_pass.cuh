/* SPDX-License-Identifier: MIT */
/*
 * A partition pass: every item is read once and written once, and the array is in the order of one
 * digit afterwards. A tile counts its digits, finds the places of its items, and writes them in
 * digit order. A stable pass finds the places by looking back at the tiles before; where the order
 * within a digit does not matter, they come from one cursor per bin.
 */
#pragma once

#include "radixsort/radixsort_places.cuh"
#include "radixsort/radixsort_partition_pairs.cuh"
#include "radixsort/radixsort_partition_keys.cuh"

namespace GPI_SPACE
{

/*
 * The tiles of a pass by bits, of everything or of each segment of the plan by itself, and where
 * their items go. For one group.
 */
template <class K, class G, int ITEMS> struct PartitionByBits {
    using Threads = G;
    using Digit = DigitOf<K>;
    static constexpr bool enters = false; /* digits are the same for all tiles */
    static constexpr bool may_prefetch = true;
    struct Shared {
        uint32_t tile, segment;
        uint32_t segment_tile[GPI_RADIX_SEGMENTS + 1];
    };
    struct TileClaim {
        uint32_t tile, segment;
        Span span; /* without items if no tile was left */
    };

    const RadixKeys<K> &job;
    const PartitionPass &pass;
    Shared &s;
    uint32_t tiles;

    GPI_DEVICE PartitionByBits(const RadixKeys<K> &job_, const PartitionPass &pass_, Shared &s_)
        : job(job_), pass(pass_), s(s_)
    {
        tiles = (uint32_t)((job.items() + ITEMS - 1) / ITEMS);
        if (!pass.segmented)
            return;
        for (int i = G::thread(); i <= GPI_RADIX_SEGMENTS; i += G::threads)
            s.segment_tile[i] = job.plan->segment_tile[i];
        tiles = job.plan->segment_tile[GPI_RADIX_SEGMENTS];
    }

    GPI_DEVICE Digit digit() const
    {
        return {pass.shift, (1u << pass.bits) - 1};
    }

    GPI_DEVICE gpi_radix_fault_tile fault_tile() const
    {
        return pass.segment_starts ? gpi_radix_fault_in_buckets : gpi_radix_fault_in_pairs;
    }

    /* By one thread: the next tile and its segment for the group. */
    GPI_DEVICE void claim() const
    {
        const uint32_t tile = atomicAdd(pass.ticket, 1u);
        s.tile = tile;
        uint32_t segment = 0;
        if (pass.segmented)
#pragma unroll
            for (uint32_t step = GPI_RADIX_SEGMENTS / 2; step; step /= 2)
                if (s.segment_tile[segment + step] <= tile)
                    segment += step;
        s.segment = segment;
    }

    /* The tile that some group will claim soon: one full wave of groups ahead. */
    GPI_DEVICE Span prefetch_candidate(const TileClaim &now) const
    {
        return at(now.tile + blockDim.x / G::threads * gridDim.x, 0).span;
    }

    GPI_DEVICE TileClaim claimed() const
    {
        return at(s.tile, s.segment);
    }

    GPI_DEVICE TileClaim at(uint32_t tile, uint32_t segment) const
    {
        if (tile >= tiles)
            return {tile, segment, {0, 0}};
        uint64_t first = (uint64_t)tile * ITEMS, end = job.items();
        if (pass.segmented) {
            first = pass.segment_starts[segment << pass.bits] +
                    (uint64_t)(tile - s.segment_tile[segment]) * ITEMS;
            end = pass.segment_starts[(segment + 1) << pass.bits];
        }
        return {tile, segment, {first, end - first < ITEMS ? (int)(end - first) : ITEMS}};
    }

    /* Where the items of a digit begin. */
    GPI_DEVICE uint64_t start(const TileClaim &d, uint32_t digit) const
    {
        return pass.segment_starts
                   ? pass.segment_starts[((d.segment << pass.bits) + digit) << pass.below]
                   : pass.starts[digit];
    }

    /* The tile before which there is nothing to look back at. */
    GPI_DEVICE uint32_t first_tile(const TileClaim &d) const
    {
        return pass.segmented ? s.segment_tile[d.segment] : 0;
    }

    GPI_DEVICE uint32_t *cursor(const TileClaim &d, uint32_t digit) const
    {
        return pass.cursors + ((d.segment << pass.bits) + digit);
    }
};

/* Groups claim tiles in ascending order, so every tile before a claimed one is claimed too. */
template <class G, class Policy> GPI_DEVICE void claim_tile(const Policy &policy)
{
    if (G::thread() == 0)
        policy.claim();
}

/* The shared part of passes over pairs and over keys. BYTES: read at a time by look-backs; 0: the
 * order is any. */
template <class K, class Tile_, class Policy_, int BYTES> struct GroupPass {
    using Tile = Tile_;
    using Policy = Policy_;
    using G = typename Tile::G;
    using TileClaim = typename Policy::TileClaim;

    Tile t;
    Policy policy;

    /* The group's pass is in its shared memory. */
    template <class Job>
    GPI_DEVICE GroupPass(const Job &job, typename Tile::OfGroup &s, const Policy &policy_)
        : t{{}, s, job, policy_.digit()}, policy(policy_)
    {
    }

    GPI_DEVICE bool has_bin() const
    {
        return G::thread() < 1 << t.s.pass.bits;
    }

    GPI_DEVICE StablePlaces<K, Policy, BYTES> places() const
    {
        return {t.job, t.s.pass, policy, G::thread()};
    }

    /* Returns the count of the thread's digit and its offset in the tile. A stable pass publishes
     * the count, without the padding at the end of the last digit. */
    GPI_DEVICE uint2 count(const TileClaim &claim) const
    {
        const uint32_t pads =
            BYTES > 0 && G::thread() == (int)t.digit_of.mask ? Tile::items - claim.span.count : 0;
        uint2 bin = t.s.counts.sum([&](uint32_t count) {
            if constexpr (BYTES > 0)
                if (has_bin())
                    places().publish(claim, count - pads);
        });
        bin.x -= pads;
        G::sync();
        return bin;
    }
};

template <class K, bool FLOAT, int VB, int I, class Policy>
using PairPass =
    GroupPass<K, PairTile<K, FLOAT, VB, typename Policy::Threads, I, typename Policy::Digit>,
              Policy, radix_tuning.look_back_bytes>;

/* Partition passes over pairs by a group, tile after tile. */
template <class K, bool FLOAT, int VB, int I, class Policy>
struct PairPartitioner : PairPass<K, FLOAT, VB, I, Policy> {
    using Base = PairPass<K, FLOAT, VB, I, Policy>;
    using Base::count, Base::has_bin, Base::places, Base::t, Base::policy;
    using typename Base::G;
    using typename Base::Tile;
    using typename Base::TileClaim;

    uint32_t parity; /* of the tiles loaded so far */

    using Base::Base;

    static constexpr int groups = radix_tile_groups(sizeof(K), VB);
    static constexpr bool is_long = groups > 1 && G::threads == radix_tuning.tile_threads;

    GPI_DEVICE gpi_radix_fault_tile fault_tile() const
    {
        return is_long ? gpi_radix_fault_in_long_tiles : policy.fault_tile();
    }

    GPI_DEVICE bool write(const Span &span) const
    {
        if (!t.has_values())
            return t.template write<ValueKind::positions>(span);
        if constexpr (VB == 4)
            if (t.job.value_bytes < VB)
                return t.template write<ValueKind::narrow>(span);
        return t.template write<ValueKind::whole>(span);
    }

    /* Partition a tile that is on its way; returns the next, which then is on its way. */
    GPI_DEVICE TileClaim partition_tile(const TileClaim &now)
    {
        /* 1. Rank. */
        typename Tile::Ranks ranks;
        if constexpr (Policy::enters) {
            policy.enter(now, t.digit_of);
            G::sync();
        }
        t.s.stage.wait_keys(parity);
        t.read_digits(now.span, ranks);
        __syncwarp(); /* ranks rely on warps that are together */
        t.rank(ranks);
        Tile::fault(fault_tile(), now.tile, now.span, ranks.ranks,
                    [&](int i) { return ranks.digits[i]; });
        G::sync();

        /* 2. Go into digit order, and find the places. */
        const uint2 bin = count(now);
        t.exchange(ranks);
        if (has_bin())
            t.set_place(places().find(now, bin.x) - bin.y);
        G::sync();

        /* 3. Write. The next tile is claimed late: others wait for it from then on. */
        if constexpr (Policy::may_prefetch)
            if (policy.pass.prefetches && G::thread() == 0)
                t.prefetch(policy.prefetch_candidate(now));
        t.s.stage.wait_values(parity);
        parity ^= 1;
        const bool ordered = write(now.span);
        claim_tile<G>(policy);
        if (G::any(!ordered)) {
            fault_count(fault_tile(), fault_repaired, G::thread());
            Tile::repair(t, now.span);
        }
        const TileClaim next = policy.claimed();
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
        claim_tile<G>(policy);
        t.s.counts.clear();
        parity = t.s.stage.begin();
        __syncthreads();
        TileClaim now = policy.claimed();
        G::sync();
        t.load(now.span);
        while (now.tile < policy.tiles)
            now = partition_tile(now);
        t.s.stage.wait_keys(parity);
        t.s.stage.wait_values(parity);
        G::sync();
        if (G::thread() == 0)
            t.s.stage.end(parity ^ 1);
    }
};

template <class K, bool FLOAT, bool STABLE, int T, int I, class Policy>
using KeyPass = GroupPass<K, KeyTile<K, FLOAT, STABLE, T, I, typename Policy::Digit>, Policy,
                          STABLE ? radix_tuning.look_back_bytes : 0>;

/* Partition passes over keys by a group, tile after tile. */
template <class K, bool FLOAT, bool STABLE, int T, int I, class Policy>
struct KeyPartitioner : KeyPass<K, FLOAT, STABLE, T, I, Policy> {
    using Base = KeyPass<K, FLOAT, STABLE, T, I, Policy>;
    using Base::count, Base::has_bin, Base::places, Base::t, Base::policy;
    using typename Base::G;
    using typename Base::Tile;
    using typename Base::TileClaim;

    typename Tile::Items items;

    using Base::Base;

    /* Where the items of the thread's bin go. */
    GPI_DEVICE void place(const TileClaim &now, uint2 bin)
    {
        if constexpr (STABLE) {
            t.set_place(places().find(now, bin.x) - bin.y);
        } else {
            const uint32_t place = bin.x ? atomicAdd(policy.cursor(now, G::thread()), bin.x) : 0;
            t.set_place((uint64_t)place - bin.y);
        }
    }

    GPI_DEVICE void write(const TileClaim &now)
    {
        const bool ordered = t.write(now.span);
        if constexpr (STABLE) {
            if (G::any(!ordered)) {
                fault_count(gpi_radix_fault_in_keys, fault_repaired, G::thread());
                Tile::repair(t, now.span);
            }
        }
        t.s.counts.clear();
        if constexpr (!STABLE && Policy::enters)
            G::sync();
    }

    /* Partition a tile whose keys are in registers; returns the next, with its keys on
     * their way. */
    GPI_DEVICE TileClaim partition_tile(const TileClaim &now)
    {
        /* 1. Rank. */
        if constexpr (Policy::enters) {
            policy.enter(now, t.digit_of);
            G::sync();
        }
        claim_tile<G>(policy);
        __syncwarp(); /* ranks rely on warps that are together */
        t.rank(now.span, items);
        if constexpr (STABLE)
            Tile::fault(gpi_radix_fault_in_keys, now.tile, now.span, items.ranks,
                        [&](int i) { return t.digit(now.span, i, items); });
        G::sync();
        const TileClaim next = policy.claimed();

        /* 2. Go into digit order. */
        const uint2 bin = count(now);
        t.exchange(now.span, items);

        /* 3. Find the places. */
        t.load(next.span, items.key);
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
        claim_tile<G>(policy);
        t.s.counts.clear();
        __syncthreads();
        TileClaim now = policy.claimed();
        G::sync();
        t.load(now.span, items.key);
        while (now.tile < policy.tiles)
            now = partition_tile(now);
    }
};

/* STABLE, or for keys alone in any order. */
template <class K, bool FLOAT, int VB, bool STABLE, int T, int I, class Policy>
using Partitioner = std::conditional_t<VB == 0, KeyPartitioner<K, FLOAT, STABLE, T, I, Policy>,
                                       PairPartitioner<K, FLOAT, VB, I, Policy>>;

} // namespace GPI_SPACE
