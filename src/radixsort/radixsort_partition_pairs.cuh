/* SPDX-License-Identifier: MIT */
/*
 * A stable partition of a tile of pairs by a digit inside a block.
 *
 * Keys and values stay where they were loaded; the positions of the items go into digit order, and
 * items are fetched by position when the tile is written.
 */
#pragma once

#include "radixsort/radixsort_places.cuh"

namespace GPI_SPACE
{

template <class K, bool FLOAT, int VB, class Threads, int I, class Digit>
struct PairTile : TileRows<Threads, I> {
    using V = typename Payload<VB>::type;
    using G = Threads;
    using Rows = TileRows<G, I>;
    using Rows::first_item, Rows::has, Rows::items;

    struct OfGroup {
        PartitionPass pass; /* registers are for ranks */
        AsyncTile<G, K, V, items> stage;
        uint64_t place[radix_bins]; /* the item that position 0 of the tile would be, by digit */
        TileCounts<G, radix_bins> counts;
        uint16_t source[items]; /* in digit order: where in the tile an item came from */
        SharedArray<uint8_t, Digit::kept ? items : 0> digits; /* where items are */
    };
    OfGroup &s;
    const RadixJob<K, V> &job;
    Digit digit_of;

    struct Ranks {
        TileDigits<I> digits;
        TileRanks<I> ranks;
    };

    GPI_DEVICE uint32_t digit(K key) const
    {
        return digit_of(job.order.template word<FLOAT>(key));
    }

    /* Of an item of the tile. */
    GPI_DEVICE uint32_t digit(K key, uint32_t source) const
    {
        if constexpr (Digit::kept)
            return s.digits[source];
        else
            return digit(key);
    }

    GPI_DEVICE const K *keys(const Span &span) const
    {
        return s.stage.keys.first(job.keys[s.pass.from] + span.first);
    }

    GPI_DEVICE bool has_values() const
    {
        return job.values[s.pass.from];
    }

    GPI_DEVICE ValueArray<V> values_of(const Span &span) const
    {
        return job.values_at(s.pass.from, span.first);
    }

    /* Where they were staged. */
    GPI_DEVICE ValueArray<V> staged_values(const Span &span) const
    {
        const ValueArray<V> from = values_of(span);
        return {s.stage.values.first(from.at), from.bytes};
    }

    /* By one thread: what some group will load. */
    GPI_DEVICE void prefetch(const Span &span) const
    {
        s.stage.prefetch(job.keys[s.pass.from] + span.first, values_of(span), span.count);
    }

    /* Every thread calls; none reads the tile before any more. */
    GPI_DEVICE void load(const Span &span) const
    {
        s.stage.load(job.keys[s.pass.from] + span.first, values_of(span), span.count);
    }

    /* Rows are read and written in batches: the compiler does not know that shared memory that is
     * written is not what is read next. */
    static constexpr int batch =
        sizeof(K) + VB >= 12 ? radix_tuning.batch_rows / 2 : radix_tuning.batch_rows;

    /* Of rows i, i + 1, .., all at once. Pads have the highest digit: they come last in digit
     * order, and are not written. */
    GPI_DEVICE void set_digits(const Span &span, int i, K (&key)[batch], Ranks &r) const
    {
        uint32_t d[batch];
#pragma unroll
        for (int j = 0; j < batch; j++)
            key[j] = job.order.template word<FLOAT>(key[j]);
        digit_of.all(key, d);
#pragma unroll
        for (int j = 0; j < batch && i + j < I; j++) {
            r.digits.set(i + j, has(span, i + j) ? d[j] : digit_of.mask);
            s.digits[first_item() + (i + j) * 32] = (uint8_t)d[j];
        }
    }

    GPI_DEVICE void read_digits(const Span &span, Ranks &r) const
    {
        const K *key = keys(span) + first_item();
        const bool whole = span.count == items;
#pragma unroll
        for (int i = 0; i < I; i += batch) {
            K k[batch];
#pragma unroll
            for (int j = 0; j < batch && i + j < I; j++)
                k[j] = key[(i + j) * 32];
            if constexpr (Digit::kept) {
                set_digits(span, i, k, r);
            } else {
#pragma unroll
                for (int j = 0; j < batch && i + j < I; j++)
                    r.digits.set(i + j, whole || has(span, i + j) ? digit(k[j]) : digit_of.mask);
            }
        }
    }

    GPI_DEVICE void rank(Ranks &r) const
    {
        rank_rows<I>(
            s.counts, [&](int i) { return r.digits[i]; },
            [&](int i, uint32_t rank) { r.ranks.set(i, rank); });
    }

    /* The places that items came from, into digit order. */
    GPI_DEVICE void exchange(const Ranks &r) const
    {
        const uint32_t *counts = s.counts.own();
#pragma unroll
        for (int i = 0; i < I; i += batch) {
            uint32_t at[batch];
#pragma unroll
            for (int j = 0; j < batch && i + j < I; j++)
                at[j] = counts[r.digits[i + j]] + r.ranks[i + j];
#pragma unroll
            for (int j = 0; j < batch && i + j < I; j++)
                s.source[at[j]] = (uint16_t)(first_item() + (i + j) * 32);
        }
    }

    /* Position 0 of the tile, were all its items of the thread's digit. */
    GPI_DEVICE void set_place(uint64_t item) const
    {
        s.place[G::thread()] = item;
    }

    template <bool NARROW, int ROWS>
    GPI_DEVICE void store(const uint64_t (&at)[ROWS], const K (&key)[ROWS],
                          const V (&v)[ROWS]) const
    {
        K *keys = job.keys[s.pass.to];
        if (!s.pass.leave_keys)
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                keys[at[i]] = key[i];
        job.values_at(s.pass.to).template visit<NARROW>([&](auto *values) {
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                values[at[i]] = v[i];
        });
    }

    /* (digit, source): ascends from item to item of a sorted tile. */
    GPI_DEVICE uint32_t ascending_key(const K *keys, uint32_t p) const
    {
        const uint32_t source = s.source[p];
        return digit(keys[source], source) << 16 | source;
    }

    /* Rows of places p, p + 32, .., loads of all of them before stores of any. */
    template <ValueKind KIND, int ROWS>
    GPI_DEVICE bool write_rows(const Span &span, const K *keys, const ValueArray<V> &values,
                               uint32_t p, uint32_t &wrap) const
    {
        constexpr bool narrow = KIND == ValueKind::narrow;
        K key[ROWS];
        V v[ROWS];
        uint64_t at[ROWS];
        uint32_t mine[ROWS];
        const bool valid = ROWS > 1 || p < (uint32_t)span.count;
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            mine[i] = s.source[p + i * 32];
        const bool pad = ROWS == 1 && valid && mine[0] >= (uint32_t)span.count;
        if constexpr (KIND != ValueKind::positions)
            values.template visit<narrow>([&](const auto *staged) {
#pragma unroll
                for (int i = 0; i < ROWS; i++)
                    v[i] = staged[mine[i]];
            });
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            key[i] = keys[mine[i]];
            if constexpr (KIND == ValueKind::positions)
                v[i] = (V)(span.first + mine[i]);
            const uint32_t d = digit(key[i], mine[i]);
            at[i] = s.place[d];
            mine[i] |= d << 16;
        }
        const bool ordered = rising(mine, valid, wrap) && !pad;
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            at[i] += p + i * 32;
        if (valid && !pad)
            store<narrow>(at, key, v);
        return ordered;
    }

    /* False if it is not in order. */
    template <ValueKind KIND> GPI_DEVICE bool write(const Span &span) const
    {
        const K *keys = this->keys(span);
        const ValueArray<V> values = staged_values(span);
        return Rows::template write_stretch<batch, true>(
            span, [&](uint32_t p) { return ascending_key(keys, p); },
            [&](auto rows, uint32_t p, uint32_t &wrap) {
                return write_rows<KIND, decltype(rows)::value>(span, keys, values, p, wrap);
            });
    }

    /* The tile once more, straight to where it goes. */
    static __device__ __noinline__ void repair(PairTile t, Span span)
    {
        const K *keys = t.keys(span);
        const ValueArray<V> values = t.staged_values(span);
        Rows::repair_rows(
            t.s.counts, span, [&](int i) { return keys[i]; }, [&](K key) { return t.digit(key); },
            t.digit_of.mask,
            [&](int i, K own, uint32_t d, uint32_t at) {
                const K key[1] = {own};
                const V v[1] = {t.has_values() ? values.load(i) : (V)(span.first + i)};
                const uint64_t to[1] = {t.s.place[d] + at};
                if (values.is_narrow())
                    t.template store<true>(to, key, v);
                else
                    t.template store<false>(to, key, v);
            });
    }
};

} // namespace GPI_SPACE
