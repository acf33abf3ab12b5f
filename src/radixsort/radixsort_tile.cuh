/* SPDX-License-Identifier: MIT */
/*
 * The items of a tile of a partition pass: rows of a warp, with their digits and ranks; and tiles
 * that are copied asynchronously from global to shared memory: not through registers, and no thread
 * waits for one before it needs the items.
 */
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/bulk.cuh"
#include "device/copy_async.cuh"
#include "radixsort/radixsort_key_codec.cuh"

namespace GPI_SPACE
{

/* A tile of a pass: which items it has. */
struct Span {
    uint64_t first;
    int count;
};

/* Digits of a thread's items, if they are kept. */
template <int I> struct TileDigits {
    uint32_t of[I / 4];

    GPI_DEVICE uint32_t operator[](int i) const
    {
        return of[i / 4] >> i % 4 * 8 & 0xff;
    }

    GPI_DEVICE void set(int i, uint32_t to)
    {
        of[i / 4] = i % 4 ? of[i / 4] | to << i % 4 * 8 : to;
    }
};
template <> struct TileDigits<0> {
};

/* Ranks of a thread's items among those of their digit in the warp. */
template <int I> struct TileRanks {
    uint32_t of[I / 2];

    GPI_DEVICE uint32_t operator[](int i) const
    {
        return i % 2 ? of[i / 2] >> 16 : of[i / 2] & 0xffff;
    }

    /* In ascending order of i. */
    GPI_DEVICE void set(int i, uint32_t to)
    {
        of[i / 2] = i % 2 ? of[i / 2] | to << 16 : to;
    }

    GPI_DEVICE void replace(int i, uint32_t to)
    {
        of[i / 2] = i % 2 ? (of[i / 2] & 0xffff) | to << 16 : (of[i / 2] & 0xffff0000) | to;
    }
};

/* ---- faults ---- */

/* Of test builds (option fault_injection): the faults that TileRows::fault() made, and those that
 * passes repaired. */
enum RadixFault { fault_made, fault_repaired };

#ifdef GPI_FAULT
static __device__ unsigned long long radix_faults[GPI_RADIX_FAULT_TILES][2];
#endif

/* Every thread of a block or group calls, with its number in it. */
GPI_DEVICE void fault_count(gpi_radix_fault_tile tile, RadixFault which, int thread)
{
#ifdef GPI_FAULT
    if (thread == 0)
        atomicAdd(&radix_faults[tile][which], 1ull);
#endif
}

/* ---- rows ---- */

/*
 * The items of a tile in rows of 32; a warp's rows lie one after the other.
 *
 * Items are ranked by shared-memory additions that return the count before. Hardware serves the
 * lanes of one addition in lane order, but this is not guaranteed, so each tile of a stable pass
 * checks it: where two neighbours in digit order have the same digit, the places that they came
 * from must ascend. A tile that fails the check is ranked again by ballots.
 */
template <class G, int I> struct TileRows {
    static constexpr int warps = G::threads / 32, items = G::threads * I;
    static_assert(G::threads >= radix_bins, "a bin is a thread's");
    static_assert(I >= radix_tuning.probe_rows && I % 4 == 0, "rows are held in fours");
    static_assert(items <= 1 << 16, "places in a tile are held in halves of words");

    static GPI_DEVICE int first_item()
    {
        return G::thread() / 32 * I * 32 + lane_id();
    }

    /* Whether row i of the thread's items is in the tile. Past its end there are pads. */
    static GPI_DEVICE bool has(const Span &span, int i)
    {
        return first_item() + i * 32 < span.count;
    }

    /* In test builds: in one of seven tiles two items of one digit and one row swap ranks, as if
     * lanes had been served out of order. digit(i): that of row i. */
    template <class D>
    static GPI_DEVICE void fault(gpi_radix_fault_tile kind, uint32_t tile, const Span &span,
                                 TileRanks<I> &ranks, D digit)
    {
#ifdef GPI_FAULT
        if (tile % 7 != 5 || G::thread() / 32 != (int)(tile / 7) % warps)
            return;
#pragma unroll
        for (int i = 0; i < I; i++) {
            const uint32_t peers = match_digit(digit(i), __ballot_sync(all_lanes, has(span, i)));
            const uint32_t twins = __ballot_sync(all_lanes, has(span, i) && __popc(peers) > 1);
            if (!twins)
                continue;
            const int first = __ffs(twins) - 1;
            const int second = __ffs(__shfl_sync(all_lanes, peers, first) & ~(1u << first)) - 1;
            const int other = lane_id() == first ? second : first;
            const uint32_t rank = __shfl_sync(all_lanes, ranks[i], other);
            if (lane_id() == first || lane_id() == second)
                ranks.replace(i, rank);
            fault_count(kind, fault_made, lane_id());
            return;
        }
#endif
    }

    /* Writes the warp's stretch of the tile in digit order, n rows from item p on by each
     * rows(n, p, wrap); false if items are out of order. In a stable pass wrap is ascending_key()
     * of the item before. Lanes that are served out of order could put a pad before items of its
     * row, so near the end of the tile rows go one by one; never before items of other rows, as
     * ranks are added row by row (sort-67 in docs/tuning). */
    template <int BATCH, bool STABLE, class A, class W>
    static GPI_DEVICE bool write_stretch(const Span &span, A ascending_key, W rows)
    {
        uint32_t p = first_item(), wrap = 0;
        const uint32_t end = p - lane_id() + I * 32, most = min(end, (uint32_t)span.count);
        const bool whole = !STABLE || span.count == items;
        const uint32_t sure = whole ? most : min(end, (uint32_t)max(span.count, 32) - 32);
        bool ordered = true;
        if (STABLE && lane_id() == 0 && p > 0 && p < (uint32_t)span.count)
            wrap = ascending_key(p - 1);
#pragma unroll 1
        for (; p - lane_id() + BATCH * 32 <= sure; p += BATCH * 32)
            ordered = rows(std::integral_constant<int, BATCH>(), p, wrap) && ordered;
#pragma unroll 1
        for (; p - lane_id() < most; p += 32)
            ordered = rows(std::integral_constant<int, 1>(), p, wrap) && ordered;
        return ordered;
    }

    /* Ranks the tile once more, by ballots, which do not depend on the order in which lanes are
     * served. key(i): that of item i; digit(key); of_pad: the digit of pads; store(i, key, d, at):
     * item i, of digit d, is the at-th of the tile in digit order. */
    template <class C, class K, class D, class S>
    static GPI_DEVICE void repair_rows(C &counts, const Span &span, K key, D digit, uint32_t of_pad,
                                       S store)
    {
        uint32_t *own = counts.own();
        const int begin = first_item(), end = begin + 32 * I;
        counts.clear();
#pragma unroll 1 /* of little code, as it is rare */
        for (int i = begin; i < end; i += 32)
            atomicAdd(&own[i < span.count ? digit(key(i)) : of_pad], 1u);
        G::sync();
        counts.sum([](uint32_t) {});
        G::sync();
#pragma unroll 1
        for (int i = begin; i < end; i += 32) {
            const bool valid = i < span.count;
            const auto own_key = valid ? key(i) : decltype(key(i))();
            const uint32_t d = valid ? digit(own_key) : of_pad, at = rank_by_ballot(own, d);
            if (valid)
                store(i, own_key, d, at);
        }
        G::sync();
    }
};

/* ---- asynchronous copies ---- */

/* Items as they lie in memory, from the 16-byte boundary at or before the first. */
template <class X, int ITEMS> struct Stage {
    static constexpr int items = ITEMS + 16 / sizeof(X);
    alignas(16) X item[items];

    GPI_DEVICE X *first(const void *from)
    {
        return (X *)((char *)item + (uintptr_t)from % 16);
    }
};

#if GPI_SM >= 90

/* Items of an array that are copied to a stage: whole 16-byte units by a bulk copy, the ends
 * before and after them by the lanes of a warp, so that nothing outside of the items is read.
 * Offsets are bytes in the stage. */
struct BulkSpan {
    const char *from;
    uint32_t first, begin, end, last;

    GPI_DEVICE BulkSpan(const void *items, uint32_t bytes)
    {
        first = (uint32_t)((uintptr_t)items % 16);
        last = first + bytes;
        begin = first ? 16 : 0;
        end = max(last & ~15u, begin);
        from = (const char *)items - first;
    }

    /* An end has 15 bytes at most: lane 0 has none. */
    GPI_DEVICE void copy_ends(void *stage) const
    {
        const bool behind = lane_id() >= 16;
        const int byte = lane_id() % 16 - 1;
        const uint32_t at = (behind ? end : first) + byte;
        if (byte >= 0 && at < (behind ? last : min(begin, last)))
            ((char *)stage)[at] = from[at];
    }

    GPI_DEVICE void prefetch() const
    {
        if (end > begin)
            bulk_prefetch(from + begin, end - begin);
    }

    /* By one thread, which arrives. */
    GPI_DEVICE void copy_bulk(void *stage, uint64_t *arrived) const
    {
        barrier_expect(arrived, end - begin);
        if (end > begin)
            bulk_load((char *)stage + begin, from + begin, end - begin, arrived);
    }
};

/* Barriers on which the threads of a group wait until a tile is in shared memory. They serve all
 * passes of a kernel: racecheck reports barriers that are initialized again without a wait. */
struct AsyncBarriers {
    uint64_t keys, values;
    uint32_t parity; /* of the tiles loaded so far, between passes */
};

/* The keys and values of a group's tile; keys come first, as they are needed first. */
template <class G, class K, class V, int ITEMS> struct AsyncTile {
    Stage<K, ITEMS> keys;
    Stage<V, ITEMS> values;

    static GPI_DEVICE AsyncBarriers &barriers()
    {
        __shared__ AsyncBarriers of[radix_tuning.groups_max];
        return of[G::number()];
    }

    /* Once in a kernel; then the block synchronizes. */
    static GPI_DEVICE void init()
    {
        if (G::thread() > 0)
            return;
        barrier_init(&barriers().keys, 32); /* each lane, for what it copied itself */
        barrier_init(&barriers().values, 32);
        barrier_init_done();
        barriers().parity = 0;
    }

    /* Before a pass: other threads have written its tiles, and its stage had another use. Returns
     * the parity of the next tile. */
    static GPI_DEVICE uint32_t begin()
    {
        bulk_follows();
        return barriers().parity;
    }

    /* By one thread, after a pass. */
    static GPI_DEVICE void end(uint32_t parity)
    {
        barriers().parity = parity;
    }

    /* By one thread: what will be loaded. */
    static GPI_DEVICE void prefetch(const K *key, const ValueArray<V> &value, int count)
    {
        BulkSpan(key, count * sizeof(K)).prefetch();
        if (value)
            BulkSpan(value.at, count * value.bytes).prefetch();
    }

    /* Called by the whole group once no thread reads the stage any more. value may be NULL. */
    GPI_DEVICE void load(const K *key, const ValueArray<V> &value, int count)
    {
        if (G::thread() >= 32)
            return;
        copy(BulkSpan(key, count * sizeof(K)), keys.item, &barriers().keys);
        copy(BulkSpan(value.at, value ? count * value.bytes : 0), values.item, &barriers().values);
        __syncwarp();
    }

    /* parity: whether an odd number of tiles was loaded before. */
    GPI_DEVICE void wait_keys(uint32_t parity)
    {
        barrier_wait(&barriers().keys, parity);
    }

    GPI_DEVICE void wait_values(uint32_t parity)
    {
        barrier_wait(&barriers().values, parity);
    }

  private:
    /* By a warp. */
    static GPI_DEVICE void copy(const BulkSpan &span, void *to, uint64_t *arrived)
    {
        if (lane_id() == 0) {
            span.copy_bulk(to, arrived);
        } else {
            span.copy_ends(to);
            barrier_arrive(arrived);
        }
    }
};

#else

template <class G, class K, class V, int ITEMS> struct AsyncTile {
    Stage<K, ITEMS> keys;
    Stage<V, ITEMS> values;

    static GPI_DEVICE void init()
    {
    }

    static GPI_DEVICE uint32_t begin()
    {
        return 0;
    }

    static GPI_DEVICE void end(uint32_t)
    {
    }

    static GPI_DEVICE void prefetch(const K *, const ValueArray<V> &, int)
    {
    }

    GPI_DEVICE void load(const K *key, const ValueArray<V> &value, int count)
    {
        for (int i = G::thread(); i < count; i += G::threads)
            copy_async(keys.first(key) + i, key + i);
        const ValueArray<V> to = {values.first(value.at), value.bytes};
        for (int i = G::thread(); value && i < count; i += G::threads)
            if (value.is_narrow())
                to.store(i, value.load(i));
            else
                copy_async((V *)to.at + i, (const V *)value.at + i);
    }

    GPI_DEVICE void wait_keys(uint32_t)
    {
        copy_async_wait();
        G::sync();
    }

    GPI_DEVICE void wait_values(uint32_t)
    {
    }
};

#endif

} // namespace GPI_SPACE
