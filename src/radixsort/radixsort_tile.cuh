/* SPDX-License-Identifier: MIT */
/*
 * Splitting a tile by a digit inside a block.
 *
 * Items are ranked with returned shared-memory additions: a warp's counters grow row by row.
 * Hardware serves the lanes of one addition in lane order, but nobody promises that, so each stable
 * tile checks it: an item carries its position, and where two neighbours in digit order have the
 * same digit, positions must rise. A tile that fails the check is ranked again by ballots.
 *
 * The threads of a block form groups with tiles of their own, so that one ranks while another
 * writes.
 */
#pragma once

#include "radixsort/radixsort_fault.cuh"
#include "radixsort/radixsort_split.cuh"

namespace GPI_SPACE
{

/*
 * One tile of a split by a digit. Stable: counters per warp, and items carry their position.
 * Otherwise items of a digit may come in any order: one set of counters.
 */
template <class K, bool FLOAT, int VB, bool STABLE, int T, int I, class Digit = DigitOf<K>>
struct RadixTile {
    using V = typename Payload<VB>::type;
    static constexpr int groups = radix_tile_groups(sizeof(K), VB), threads = T / groups;
    using G = Group<threads>;
    static constexpr int warps = threads / 32, items = threads * I, counters = STABLE ? warps : 1;
    static_assert(threads >= radix_bins, "a bin is a thread's");
    static_assert(I % 2 == 0 && I >= radix_probe_rows, "rows are probed, and ranked in pairs");
    static_assert(items <= 1 << 16, "places in a tile are held in halves of words");

    struct OfGroup {
        Split split; /* registers are for keys */
        union {      /* in digit order, one after the other */
            K keys[items];
            SharedArray<V, VB ? items : 0> values;
        };
        char *place[1 + (VB > 0)][radix_bins]; /* where position 0 of the tile would go, by digit */
        alignas(16) uint32_t counts[counters][radix_bins];
        uint32_t warp_total[8];
        SharedArray<uint16_t, STABLE ? items : 0> source;
        SharedArray<uint8_t, VB ? items : 0> digits; /* in digit order, for the values */
    };
    OfGroup &s;
    const RadixJob<K, V> &job;
    Digit digit_of;

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
        return G::thread() / 32 * I * 32 + lane_id();
    }

    static GPI_DEVICE int warp()
    {
        return STABLE ? G::thread() / 32 : 0;
    }

    /* Whether row i of the thread's items is in the tile. Past its end there are pads: items of the
     * highest digit, which come last in digit order and are not written. */
    static GPI_DEVICE bool has(const Span &span, int i)
    {
        return first_item() + i * 32 < span.count;
    }

    /* Only if ranks are stable are pads the last of their digit. */
    static GPI_DEVICE bool takes_part(const Span &span, int i)
    {
        return STABLE || has(span, i);
    }

    GPI_DEVICE K pad() const
    {
        return job.order.template key<FLOAT>((K) ~(K)0);
    }

    /* Equal words of floats have no key with all bits set, and units not the highest digit. */
    GPI_DEVICE uint32_t digit_in_row(const Span &span, int i, K held) const
    {
        if (((FLOAT && VB) || !Digit::of_bits) && !has(span, i))
            return digit_of.mask;
        return digit(held);
    }

    /* The compiler is not to keep the digits of a thread's items: registers are for keys. */
    GPI_DEVICE void forget_digits()
    {
        asm volatile("" : "+r"(digit_of.shift));
    }

    template <class X>
    GPI_DEVICE void load(const X *from, const Span &span, X pad, X (&item)[I]) const
    {
        from += span.first + first_item();
        asm volatile("" : "+l"(from)); /* one address, not one per row */
        if (span.count == items) {
#pragma unroll
            for (int i = 0; i < I; i++)
                item[i] = __ldcs(from + i * 32);
        } else {
#pragma unroll
            for (int i = 0; i < I; i++)
                item[i] = has(span, i) ? __ldcs(from + i * 32) : pad;
        }
    }

    /* For a warp's own counters no barrier is needed. */
    GPI_DEVICE void clear_counts()
    {
        uint4 *c = (uint4 *)&s.counts[warp()][0];
        constexpr int step = STABLE ? 32 : threads;
        for (int i = STABLE ? lane_id() : G::thread(); i < radix_bins / 4; i += step)
            c[i] = make_uint4(0, 0, 0, 0);
        if constexpr (STABLE)
            __syncwarp();
    }

    static GPI_DEVICE void set(uint32_t (&places)[I / 2], int i, uint32_t to)
    {
        places[i / 2] = i % 2 ? places[i / 2] | to << 16 : to;
    }

    static GPI_DEVICE uint32_t get(const uint32_t (&places)[I / 2], int i)
    {
        return i % 2 ? places[i / 2] >> 16 : places[i / 2] & 0xffff;
    }

    /* ranks: among the items of the digit in the warp. */
    GPI_DEVICE void rank(const Span &span, K (&key)[I], uint32_t (&ranks)[I / 2])
    {
        constexpr int probe = STABLE ? radix_probe_rows : 0;
        uint32_t *counts = s.counts[warp()];
        uint32_t d = 0, most = 0;
#pragma unroll
        for (int i = 0; i < probe; i++) {
            key[i] = order().hold(key[i]);
            d = digit_in_row(span, i, key[i]);
            most = atomicAdd(&counts[d], 1u);
            set(ranks, i, most);
        }
        if constexpr (STABLE) {
            const uint32_t crowd = __ballot_sync(all_lanes, most >= radix_crowd_most);
            if (crowd) {
                rank_crowds(span, key, ranks, __shfl_sync(all_lanes, d, __ffs(crowd) - 1), d, most);
                return;
            }
        }
#pragma unroll
        for (int i = probe; i < I; i++) {
            key[i] = order().hold(key[i]);
            const uint32_t at = digit_in_row(span, i, key[i]);
            set(ranks, i, takes_part(span, i) ? atomicAdd(&counts[at], 1u) : 0);
        }
    }

    /* The other rows where a digit crowds: an addition would serve its lanes one after the other.
     * This digit and perhaps a second one are counted by ballots. d, most: the lane's digit and
     * rank in the row before. */
    GPI_DEVICE void rank_crowds(const Span &span, K (&key)[I], uint32_t (&ranks)[I / 2],
                                uint32_t first, uint32_t d, uint32_t most)
    {
        uint32_t *counts = s.counts[warp()];
        const uint32_t more = __ballot_sync(all_lanes, most >= radix_crowd_most / 2 && d != first);
        const uint32_t second =
            more ? __shfl_sync(all_lanes, d, __ffs(more) - 1) : (uint32_t)radix_bins;
        const uint32_t below = (1u << lane_id()) - 1;
        __syncwarp();
        uint32_t firsts = counts[first], seconds = more ? counts[second] : 0;
        __syncwarp();
        forget_digits();
#pragma unroll
        for (int i = radix_probe_rows; i < I; i++) {
            key[i] = order().hold(key[i]);
            d = digit_in_row(span, i, key[i]);
            const uint32_t a = __ballot_sync(all_lanes, d == first);
            const uint32_t b = __ballot_sync(all_lanes, d == second);
            uint32_t rank = d == first ? firsts + __popc(a & below) : seconds + __popc(b & below);
            if (d != first && d != second)
                rank = atomicAdd(&counts[d], 1u);
            set(ranks, i, rank);
            firsts += __popc(a);
            seconds += __popc(b);
        }
        if (lane_id() == 0) {
            counts[first] = firsts;
            if (more)
                counts[second] = seconds;
        }
    }

    /* Ranks of a tile, for radixsort_fault.cuh. */
    struct FaultItems {
        const RadixTile &tile;
        const Span &span;
        const K (&key)[I];
        uint32_t (&ranks)[I / 2];

        GPI_DEVICE FaultRow row(int i) const
        {
            return {has(span, i), tile.digit_in_row(span, i, key[i]), get(ranks, i),
                    (uint64_t)lane_id()};
        }

        GPI_DEVICE void set(int i, uint32_t to) const
        {
            ranks[i / 2] =
                i % 2 ? (ranks[i / 2] & 0xffff) | to << 16 : (ranks[i / 2] & 0xffff0000) | to;
        }
    };

    /* Exclusive sum over the digits; every thread calls. */
    GPI_DEVICE uint32_t sum_before(uint32_t value)
    {
        uint32_t upto = value;
#pragma unroll
        for (int d = 1; d < 32; d <<= 1) {
            uint32_t left = __shfl_up_sync(all_lanes, upto, d);
            if (lane_id() >= d)
                upto += left;
        }
        if (G::thread() < radix_bins && lane_id() == 31)
            s.warp_total[G::thread() / 32] = upto;
        G::sync();
        uint32_t before = upto - value;
        if (G::thread() < radix_bins)
            for (int w = 0; w < G::thread() / 32; w++)
                before += s.warp_total[w];
        return before;
    }

    /* counts[w][d] becomes where warp w's items of digit d start in digit order. Returns the count
     * of the thread's digit and the position where it starts. */
    GPI_DEVICE uint2 sum_counts()
    {
        const int d = G::thread();
        uint32_t count[counters], total = 0;
#pragma unroll
        for (int w = 0; w < counters; w++) {
            count[w] = d < radix_bins ? s.counts[w][d] : 0;
            total += count[w];
        }
        const uint32_t begin = sum_before(total);
        if (d < radix_bins) {
            uint32_t at = begin;
#pragma unroll
            for (int w = 0; w < counters; w++) {
                s.counts[w][d] = at;
                at += count[w];
            }
        }
        return make_uint2(total, begin);
    }

    /* Keys into digit order; ranks become places in the tile. */
    GPI_DEVICE void exchange(const Span &span, const K (&key)[I], uint32_t (&ranks)[I / 2])
    {
        const uint32_t *counts = s.counts[warp()];
        forget_digits();
#pragma unroll
        for (int i = 0; i < I; i++) {
            const uint32_t at = counts[digit_in_row(span, i, key[i])] + get(ranks, i);
            if (takes_part(span, i))
                s.keys[at] = key[i];
            if constexpr (STABLE)
                s.source[at] = (uint16_t)(first_item() + i * 32);
            if constexpr (VB > 0)
                ranks[i / 2] =
                    i % 2 ? (ranks[i / 2] & 0xffff) | at << 16 : (ranks[i / 2] & 0xffff0000) | at;
        }
    }

    GPI_DEVICE void exchange_values(const V (&value)[I], const uint32_t (&places)[I / 2])
    {
        if constexpr (VB > 0) {
#pragma unroll
            for (int i = 0; i < I; i++)
                s.values[get(places, i)] = value[i];
        }
    }

    /* Position 0 of the tile, were all its items of the thread's digit. */
    GPI_DEVICE void set_place(uint64_t item)
    {
        s.place[0][G::thread()] = (char *)(job.keys[s.split.to] + item);
        if constexpr (VB > 0)
            s.place[1][G::thread()] = (char *)(job.values[s.split.to] + item);
    }

    GPI_DEVICE bool has_values() const
    {
        return VB > 0 && job.values[s.split.from];
    }

    /* To where position p of the tile goes, if its digit is d: global, as the compiler cannot know.
     */
    template <class X> GPI_DEVICE void store(int of_values, uint32_t d, uint32_t p, X x) const
    {
        X *to = (X *)(s.place[of_values][d] + p * (uint64_t)sizeof(X));
        __builtin_assume(__isGlobal(to));
        *to = x;
    }

    GPI_DEVICE uint32_t rise(uint32_t p) const
    {
        if constexpr (STABLE)
            return digit(s.keys[p]) << 16 | s.source[p];
        else
            return digit(s.keys[p]) << 16;
    }

    /* Rows of places p, p + 32, .., loads of all of them before stores of any. */
    template <int ROWS> GPI_DEVICE bool write_key_rows(uint32_t p, uint32_t end, uint32_t &wrap)
    {
        K key[ROWS];
        uint32_t mine[ROWS];
        const bool valid = ROWS > 1 || p < end;
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            key[i] = s.keys[p + i * 32];
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            mine[i] = rise(p + i * 32);
        const bool ordered = STABLE ? rising(mine, valid, wrap) : true;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            if (valid && !s.split.leave_keys)
                store(0, mine[i] >> 16, p + i * 32, order().key(key[i]));
            if constexpr (VB > 0)
                s.digits[p + i * 32] = (uint8_t)(mine[i] >> 16);
        }
        return ordered;
    }

    template <int ROWS> GPI_DEVICE void write_value_rows(uint32_t p, uint32_t end) const
    {
        if constexpr (VB > 0) {
            V value[ROWS];
            uint32_t d[ROWS];
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                d[i] = s.digits[p + i * 32];
                value[i] = s.values[p + i * 32];
            }
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                if (ROWS > 1 || p < end)
                    store(1, d[i], p + i * 32, value[i]);
        }
    }

    template <int ROWS>
    GPI_DEVICE void write_position_rows(const Span &span, uint32_t p, uint32_t end) const
    {
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            if (ROWS > 1 || p < end) {
                const uint32_t mine = rise(p + i * 32);
                store(VB > 0, mine >> 16, p + i * 32, position(span, mine & 0xffff));
            }
    }

    /* f(rows, p) for the warp's stretch of the tile in digit order: batches of rows, then rows that
     * reach over the end of the tile. */
    template <class F> GPI_DEVICE void for_rows(const Span &span, F f) const
    {
        uint32_t p = first_item();
        const uint32_t end = p - lane_id() + I * 32, most = min(end, (uint32_t)span.count);
        constexpr int batch = sizeof(K) == 8 ? radix_write_rows / 2 : radix_write_rows;
#pragma unroll 1
        for (; p - lane_id() + batch * 32 <= most; p += batch * 32)
            f(Rows<batch>(), p);
#pragma unroll 1
        for (; p - lane_id() < most; p += 32)
            f(Rows<1>(), p);
    }

    /* Write the keys; false if they are not in digit and source order. */
    GPI_DEVICE bool write_keys(const Span &span)
    {
        bool ordered = true;
        uint32_t wrap = 0;
        if (STABLE && lane_id() == 0 && first_item() > 0 && first_item() < span.count)
            wrap = rise(first_item() - 1);
        for_rows(span, [&](auto rows, uint32_t p) {
            ordered = write_key_rows<decltype(rows)::count>(p, span.count, wrap) && ordered;
        });
        return ordered;
    }

    GPI_DEVICE void write_values(const Span &span) const
    {
        for_rows(span, [&](auto rows, uint32_t p) {
            write_value_rows<decltype(rows)::count>(p, span.count);
        });
    }

    GPI_DEVICE void write_positions(const Span &span) const
    {
        for_rows(span, [&](auto rows, uint32_t p) {
            write_position_rows<decltype(rows)::count>(span, p, span.count);
        });
    }

    static GPI_DEVICE V position(const Span &span, uint32_t source)
    {
        if constexpr (VB == 4 || VB == 8)
            return (V)(span.first + source);
        else
            return V();
    }

    /* The tile once more, straight to where it goes, with nothing left to the order in which lanes
     * are served. */
    static __device__ __noinline__ void repair(RadixTile t, Span span)
    {
        uint32_t *counts = t.s.counts[warp()];
        const K *from = t.job.keys[t.s.split.from] + span.first;
        const int begin = first_item(), end = begin + 32 * I;
        t.clear_counts();
        for (int i = begin; i < end; i += 32)
            atomicAdd(&counts[i < span.count ? t.digit(t.order().hold(from[i])) : t.digit_of.mask],
                      1u);
        G::sync();
        t.sum_counts();
        G::sync();
        for (int i = begin; i < end; i += 32) {
            const bool valid = i < span.count;
            const K key = valid ? t.order().hold(from[i]) : (K)0;
            const uint32_t d = valid ? t.digit(key) : t.digit_of.mask, peers = lanes_with(d);
            const uint32_t at = counts[d] + __popc(peers & ((1u << lane_id()) - 1));
            __syncwarp();
            if (peers >> lane_id() == 1)
                counts[d] = at + 1;
            __syncwarp();
            if (!valid)
                continue;
            if (!t.s.split.leave_keys)
                t.store(0, d, at, t.order().key(key));
            if constexpr (VB > 0) {
                const V *values = t.job.values[t.s.split.from];
                t.store(1, d, at, values ? values[span.first + i] : position(span, i));
            }
        }
        G::sync();
    }
};

} // namespace GPI_SPACE
