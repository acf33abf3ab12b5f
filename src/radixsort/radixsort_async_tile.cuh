/* SPDX-License-Identifier: MIT */
/*
 * A tile on its way from global to shared memory, without a stop in registers and without a
 * thread that waits for it.
 */
#pragma once

#include "device/bulk.cuh"
#include "radixsort/radixsort_warp_rank.cuh"

namespace GPI_SPACE
{

/* Items as they lie in memory, from the 16-byte boundary at or before the first. */
template <class X, int ITEMS> struct Stage {
    static constexpr int items = ITEMS + 16 / sizeof(X);
    alignas(16) X item[items];

    GPI_DEVICE X *first(const X *from)
    {
        return item + (uintptr_t)from % 16 / sizeof(X);
    }
};

#if GPI_SM >= 90

/* Items that go to a stage: whole units of 16 bytes by a bulk copy, those before and after by the
 * lanes of a warp, so that nothing outside of the items is read. All in bytes of the stage. */
template <class X> struct Piece {
    const char *from;
    uint32_t first, begin, end, last;

    GPI_DEVICE Piece(const X *items, int count)
    {
        first = (uint32_t)((uintptr_t)items % 16);
        last = first + count * (uint32_t)sizeof(X);
        begin = first ? 16 : 0;
        end = max(last & ~15u, begin);
        from = (const char *)items - first;
    }

    GPI_DEVICE uint32_t bulk_bytes() const
    {
        return end - begin;
    }

    /* An end has 15 items at most: lane 0 has none. */
    GPI_DEVICE void copy_ends(void *stage) const
    {
        const bool behind = lane_id() >= 16;
        const int item = lane_id() % 16 - 1;
        const uint32_t at = (behind ? end : first) + item * (uint32_t)sizeof(X);
        if (item >= 0 && at < (behind ? last : min(begin, last)))
            *(X *)((char *)stage + at) = *(const X *)(from + at);
    }

    /* Ask the L2 for it. */
    GPI_DEVICE void prefetch() const
    {
        if (end > begin)
            bulk_prefetch(from + begin, end - begin);
    }

    GPI_DEVICE void copy_bulk(void *stage, uint64_t *landed) const
    {
        if (end > begin)
            bulk_load((char *)stage + begin, from + begin, end - begin, landed);
    }
};

/* What the threads of a group wait for until a tile has landed, of all passes of a kernel:
 * racecheck takes barriers that are made anew for ones that nobody has waited for. */
struct Landing {
    uint64_t keys, values;
    uint32_t parity; /* of the tiles that have landed, between passes */
};

/* The keys and values of a group's tile; keys come first, as they are needed first. */
template <class G, class K, class V, int ITEMS> struct TileStage {
    Stage<K, ITEMS> keys;
    Stage<V, ITEMS> values;

    static GPI_DEVICE Landing &landing()
    {
        __shared__ Landing of[radix_tuning.groups_max];
        return of[G::number()];
    }

    /* Once in a kernel; then the block synchronizes. */
    static GPI_DEVICE void init()
    {
        if (G::thread() > 0)
            return;
        barrier_init(&landing().keys, 32); /* each lane, for what it copied itself */
        barrier_init(&landing().values, 32);
        barrier_init_done();
        landing().parity = 0;
    }

    /* Before a pass, whose tiles others have written, and whose stage was used for something else;
     * returns the parity of the next to land. */
    static GPI_DEVICE uint32_t begin()
    {
        bulk_follows();
        return landing().parity;
    }

    /* By one thread, after a pass. */
    static GPI_DEVICE void end(uint32_t parity)
    {
        landing().parity = parity;
    }

    /* By one thread: what will be loaded. */
    static GPI_DEVICE void prefetch(const K *key, const V *value, int count)
    {
        Piece<K>(key, count).prefetch();
        if (value)
            Piece<V>(value, count).prefetch();
    }

    /* Every thread of the group calls, none reads the stage any more. without values: NULL. */
    GPI_DEVICE void load(const K *key, const V *value, int count)
    {
        if (G::thread() >= 32)
            return;
        copy(Piece<K>(key, count), keys.item, &landing().keys);
        copy(Piece<V>(value, value ? count : 0), values.item, &landing().values);
        __syncwarp();
    }

    /* parity: whether an odd number of tiles has landed before. */
    GPI_DEVICE void wait_keys(uint32_t parity)
    {
        barrier_wait(&landing().keys, parity);
    }

    GPI_DEVICE void wait_values(uint32_t parity)
    {
        barrier_wait(&landing().values, parity);
    }

  private:
    /* By a warp. */
    template <class X> static GPI_DEVICE void copy(const Piece<X> &piece, X *to, uint64_t *landed)
    {
        if (lane_id() == 0) {
            barrier_expect(landed, piece.bulk_bytes());
            piece.copy_bulk(to, landed);
        } else {
            piece.copy_ends(to);
            barrier_arrive(landed);
        }
    }
};

#else

template <class G, class K, class V, int ITEMS> struct TileStage {
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

    static GPI_DEVICE void prefetch(const K *, const V *, int)
    {
    }

    GPI_DEVICE void load(const K *key, const V *value, int count)
    {
        for (int i = G::thread(); i < count; i += G::threads)
            copy_async(keys.first(key) + i, key + i);
        for (int i = G::thread(); value && i < count; i += G::threads)
            copy_async(values.first(value) + i, value + i);
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
