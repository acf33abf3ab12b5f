/* SPDX-License-Identifier: MIT */
/*
 * A tile that is copied asynchronously from global to shared memory: not through registers, and no
 * thread waits for it before it needs the items.
 */
#pragma once

#include "device/bulk.cuh"
#include "radixsort/radixsort_places.cuh"

namespace GPI_SPACE
{

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

/* Items of an array on their way to a stage: whole 16-byte units by a bulk copy, the ends before
 * and after them by the lanes of a warp, so that nothing outside of the items is read. Offsets are
 * bytes in the stage. */
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

    GPI_DEVICE uint32_t bulk_bytes() const
    {
        return end - begin;
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

    /* Ask the L2 for it. */
    GPI_DEVICE void prefetch() const
    {
        if (end > begin)
            bulk_prefetch(from + begin, end - begin);
    }

    GPI_DEVICE void copy_bulk(void *stage, uint64_t *arrived) const
    {
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
            barrier_expect(arrived, span.bulk_bytes());
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
