/* SPDX-License-Identifier: MIT */
/*
 * Splitting a tile by a digit inside a block.
 *
 * Items are ranked with returned shared-memory additions: a warp's counters grow row by row.
 * Hardware serves the lanes of one addition in lane order, but nobody promises that, so each stable
 * tile checks it: an item carries its position, and where two neighbours in digit order have the
 * same digit, positions must rise. A tile that fails the check is ranked again by ballots.
 */
#pragma once

#include "radixsort/radixsort_fault.cuh"
#include "radixsort/radixsort_plan.cuh"

namespace GPI_SPACE
{

template <class T, int N> struct SharedArray {
    T item[N];
    GPI_DEVICE T &operator[](uint32_t i)
    {
        return item[i];
    }
    GPI_DEVICE T operator[](uint32_t i) const
    {
        return item[i];
    }
};
template <class T> struct SharedArray<T, 0> {
};

/* Global to shared memory without a stop in registers, until copy_async_wait(). */
template <class V> GPI_DEVICE void copy_async(V *to, const V *from)
{
#if GPI_SM >= 80
    if constexpr (sizeof(V) >= 4) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(
                         (uint32_t)__cvta_generic_to_shared(to)),
                     "l"(from), "n"(sizeof(V))
                     : "memory");
        return;
    }
#endif
    *to = *from;
}

GPI_DEVICE void copy_async_wait()
{
#if GPI_SM >= 80
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* What one split does. */
struct Split {
    uint32_t from, to; /* enum gpi_radix_place */
    int shift, bits;   /* its digit */
    uint32_t *ticket;
    bool leave_keys;        /* the last one need not write them */
    bool segmented;         /* each segment of the plan by itself, its bins in the buckets */
    const uint64_t *starts; /* of the bins, */
    const uint32_t *segment_starts; /* or of the buckets, 2^below to a bin */
    int below;
    uint32_t *cursors;        /* if not stable */
    uint64_t *states, *clear; /* if stable; what the next split needs cleared */
    uint64_t clear_rows;
};

/* A tile of a pass: which items it has. */
struct Span {
    uint64_t first;
    int count;
};

/*
 * One tile of a split by a digit. Stable: counters per warp, and items carry their position.
 * Otherwise items of a digit may come in any order: one set of counters.
 */
template <class K, bool FLOAT, int VB, bool STABLE, int T, int I> struct RadixTile {
    using V = typename Payload<VB>::type;
    static constexpr int warps = T / 32, items = T * I, counters = STABLE ? warps : 1;

    struct Shared {
        SharedArray<V, VB ? items : 0> values; /* in input order */
        K keys[items];                         /* in digit order, as source */
        char *place[1 + (VB > 0)][radix_bins]; /* where position 0 of the tile would go, by digit */
        alignas(16) uint32_t counts[counters][radix_bins];
        uint32_t warp_total[8];
        uint32_t tile, segment;
        uint32_t segment_tile[GPI_RADIX_SEGMENTS + 1];
        SharedArray<uint16_t, STABLE ? items : 0> source;
    };

    Shared &s;
    const RadixJob<K, V> &job;
    const Split &split; /* in shared memory: registers are for keys */
    DigitOf<K> digit_of;

    GPI_DEVICE Held<K, FLOAT, VB> order() const
    {
        return {job.order};
    }

    GPI_DEVICE uint32_t digit(K held) const
    {
        return digit_of(order().word(held));
    }

    /* Rows of 32 items; a warp's rows lie one after the other. */
    static GPI_DEVICE int first_item()
    {
        return (int)threadIdx.x / 32 * I * 32 + lane_id();
    }

    template <bool FULL> GPI_DEVICE static bool has(int i, int left)
    {
        return FULL || i * 32 < left;
    }

    template <bool FULL> GPI_DEVICE void load(const Span &span, K (&key)[I]) const
    {
        const K *from = job.keys[split.from] + span.first + first_item();
        const int left = span.count - first_item();
#pragma unroll
        for (int i = 0; i < I; i++)
            if (has<FULL>(i, left))
                key[i] = __ldcs(from + i * 32);
    }

    /* Ends with copy_async_wait(). */
    template <bool FULL> GPI_DEVICE void load_values(const Span &span) const
    {
        if constexpr (VB > 0) {
            const V *from = job.values[split.from] + span.first + first_item();
            const int left = span.count - first_item();
            if (job.values[split.from])
#pragma unroll
                for (int i = 0; i < I; i++)
                    if (has<FULL>(i, left))
                        copy_async(&s.values[first_item() + i * 32], from + i * 32);
        }
    }

    GPI_DEVICE void clear_counts()
    {
        uint4 *c = (uint4 *)&s.counts[0][0];
#pragma unroll
        for (int i = threadIdx.x; i < counters * radix_bins / 4; i += T)
            c[i] = make_uint4(0, 0, 0, 0);
    }

    /* ranks: the digit in the low 8 bits, above it the rank among those of its digit in the warp.
     */
    template <bool FULL> GPI_DEVICE void rank(const Span &span, K (&key)[I], uint32_t (&ranks)[I])
    {
        uint32_t *counts = s.counts[STABLE ? threadIdx.x / 32 : 0];
        const int left = span.count - first_item();
#pragma unroll
        for (int i = 0; i < I; i++)
            if (has<FULL>(i, left)) {
                key[i] = order().hold(key[i]);
                const uint32_t d = digit(key[i]);
                ranks[i] = atomicAdd(&counts[d], 1u) << radix_bits | d;
            }
    }

    /* counts[w][d] becomes where warp w's items of digit d start in digit order. Returns the count
     * of digit threadIdx.x and the position where it starts. */
    GPI_DEVICE uint2 sum_counts()
    {
        uint32_t total = 0;
        if (threadIdx.x < radix_bins) {
#pragma unroll 8
            for (int w = 0; w < counters; w++)
                total += s.counts[w][threadIdx.x];
        }
        const uint32_t begin = sum_before_bin(total, s.warp_total);
        if (threadIdx.x < radix_bins) {
            uint32_t at = begin;
#pragma unroll 8
            for (int w = 0; w < counters; w++) {
                const uint32_t count = s.counts[w][threadIdx.x];
                s.counts[w][threadIdx.x] = at;
                at += count;
            }
        }
        return make_uint2(total, begin);
    }

    template <bool FULL>
    GPI_DEVICE void exchange(const Span &span, const K (&key)[I], const uint32_t (&ranks)[I])
    {
        const uint32_t *counts = s.counts[STABLE ? threadIdx.x / 32 : 0];
        const int left = span.count - first_item();
#pragma unroll
        for (int i = 0; i < I; i++)
            if (has<FULL>(i, left)) {
                const uint32_t at = counts[ranks[i] % radix_bins] + (ranks[i] >> radix_bits);
                s.keys[at] = key[i];
                if constexpr (STABLE)
                    s.source[at] = (uint16_t)(first_item() + i * 32);
            }
    }

    /* Position 0 of the tile, were all its items of the digit threadIdx.x. */
    GPI_DEVICE void set_place(uint64_t item)
    {
        s.place[0][threadIdx.x] = (char *)(job.keys[split.to] + item);
        if constexpr (VB > 0)
            s.place[1][threadIdx.x] = (char *)(job.values[split.to] + item);
    }

    /* Write the tile; false if it is not in digit and source order. */
    template <bool FULL> GPI_DEVICE bool write(const Span &span) const
    {
        bool ordered = true;
        const bool keys_wanted = !split.leave_keys;
        const bool positions = VB > 0 && !job.values[split.from];
        uint32_t p = first_item(), wrap = 0;
        if (STABLE && lane_id() == 0 && p > 0 && p < span.count)
            wrap = rise(p - 1);
#pragma unroll 4
        for (int i = 0; i < I; i++, p += 32) {
            if (!FULL && (int)(p - lane_id()) >= span.count)
                break;
            const K key = s.keys[p];
            const uint32_t d = digit(key);
            uint32_t source = 0;
            if constexpr (STABLE) {
                source = s.source[p];
                const uint32_t mine = d << 16 | source;
                const uint32_t left = __shfl_sync(all_lanes, mine, (lane_id() + 31) & 31);
                const uint32_t before = lane_id() == 0 ? wrap : left;
                wrap = left;
                ordered = ordered && (before < mine || p == 0 || (!FULL && p >= span.count));
            }
            if (FULL || p < span.count) {
                if (keys_wanted)
                    *(K *)(s.place[0][d] + p * (uint64_t)sizeof(K)) = order().key(key);
                if constexpr (VB > 0)
                    *(V *)(s.place[1][d] + p * (uint64_t)sizeof(V)) =
                        positions ? position(span, source) : item_value(source);
            }
        }
        return ordered;
    }

    GPI_DEVICE uint32_t rise(uint32_t p) const
    {
        if constexpr (STABLE)
            return digit(s.keys[p]) << 16 | s.source[p];
        else
            return 0;
    }

    static GPI_DEVICE V position(const Span &span, uint32_t source)
    {
        if constexpr (VB == 4 || VB == 8)
            return (V)(span.first + source);
        else
            return V();
    }

    GPI_DEVICE V item_value(uint32_t source) const
    {
        if constexpr (VB > 0)
            return s.values[source];
        else
            return V();
    }

    /* The tile once more, with nothing left to the order in which lanes are served. Places are as
     * before. */
    static __device__ __noinline__ void repair(RadixTile t, Span span)
    {
        uint32_t *counts = t.s.counts[STABLE ? threadIdx.x / 32 : 0];
        const K *from = t.job.keys[t.split.from] + span.first;
        t.clear_counts();
        __syncthreads();
        for (int i = first_item(); i < span.count && i < first_item() + 32 * I; i += 32)
            atomicAdd(&counts[t.digit(t.order().hold(from[i]))], 1u);
        __syncthreads();
        t.sum_counts();
        __syncthreads();
        for (int i = first_item(); i < first_item() + 32 * I; i += 32) {
            const bool valid = i < span.count;
            const K key = valid ? t.order().hold(from[i]) : (K)0;
            const uint32_t d = t.digit(key);
            uint32_t peers = __ballot_sync(all_lanes, valid);
            for (int b = 0; b < radix_bits; b++) {
                const uint32_t set = __ballot_sync(all_lanes, d >> b & 1);
                peers &= d >> b & 1 ? set : ~set;
            }
            const uint32_t start = counts[d];
            __syncwarp();
            if (valid) {
                const uint32_t at = start + __popc(peers & ((1u << lane_id()) - 1));
                t.s.keys[at] = key;
                t.s.source[at] = (uint16_t)i;
                if (peers >> lane_id() == 1)
                    counts[d] = start + __popc(peers);
            }
            __syncwarp();
        }
        __syncthreads();
        t.template write<false>(span);
    }
};

} // namespace GPI_SPACE
