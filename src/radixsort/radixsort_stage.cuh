/* SPDX-License-Identifier: MIT */
/*
 * A tile on its way from global to shared memory, without a stop in registers and without a
 * thread that waits for it.
 */
#pragma once

#include "device/bulk.cuh"
#include "radixsort/radixsort_split.cuh"

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

    GPI_DEVICE void copy_ends(void *stage) const
    {
        const bool behind = lane_id() >= 16;
        const uint32_t at = (behind ? end : first) + lane_id() % 16 * (uint32_t)sizeof(X);
        if (at < (behind ? last : min(begin, last)))
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

/* The keys and values of a group's tile. */
template <class G, class K, class V, int ITEMS> struct TileStage {
    Stage<K, ITEMS> keys;
    Stage<V, ITEMS> values;
    uint64_t landed;

    /* By one thread; then the block synchronizes. */
    GPI_DEVICE void init()
    {
        barrier_init(&landed, 32); /* each lane, for what it copied itself */
        barrier_init_done();
    }

    /* By one thread: the memory is free. */
    GPI_DEVICE void end()
    {
        barrier_end(&landed);
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
        const Piece<K> k(key, count);
        k.copy_ends(keys.item);
        const Piece<V> v(value, value ? count : 0);
        v.copy_ends(values.item);
        if (lane_id() == 0) {
            barrier_expect(&landed, k.bulk_bytes() + v.bulk_bytes());
            v.copy_bulk(values.item, &landed);
            k.copy_bulk(keys.item, &landed);
        } else {
            barrier_arrive(&landed);
        }
        __syncwarp();
    }

    /* parity: whether an odd number of tiles has landed before. */
    GPI_DEVICE void wait(uint32_t parity)
    {
        barrier_wait(&landed, parity);
    }
};

#else

template <class G, class K, class V, int ITEMS> struct TileStage {
    Stage<K, ITEMS> keys;
    Stage<V, ITEMS> values;

    GPI_DEVICE void init()
    {
    }

    GPI_DEVICE void end()
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

    GPI_DEVICE void wait(uint32_t)
    {
        copy_async_wait();
        G::sync();
    }
};

#endif

} // namespace GPI_SPACE
