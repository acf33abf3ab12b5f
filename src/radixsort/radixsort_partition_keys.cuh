/* SPDX-License-Identifier: MIT */
/*
 * A partition of a tile of keys by a digit inside a block, stable or in any order within a digit.
 * Keys are in registers and go into digit order in shared memory, in a stable pass beside the
 * positions that they came from. The threads of a block form groups with tiles of their own, so
 * that one ranks while another writes.
 */
#pragma once

#include "radixsort/radixsort_places.cuh"

namespace GPI_SPACE
{

/* STABLE, or items of a digit come in any order. */
template <class K, bool FLOAT, bool STABLE, int T, int I, class Digit>
struct KeyTile : TileRows<Group<T / radix_tile_groups(sizeof(K), 0)>, I> {
    using G = Group<T / radix_tile_groups(sizeof(K), 0)>;
    using Rows = TileRows<G, I>;
    using Rows::first_item, Rows::has, Rows::items;

    struct OfGroup {
        PartitionPass pass;   /* registers are for keys */
        K keys[items];        /* in digit order */
        K *place[radix_bins]; /* where position 0 of the tile would go, by digit */
        TileCounts<G, STABLE ? radix_bins : radix_bins + 4> counts;
        SharedArray<uint16_t, STABLE ? items : 0> source;
        SharedArray<uint8_t, Digit::kept ? items : 0> digits; /* in digit order */
    };
    OfGroup &s;
    const RadixKeys<K> &job;
    Digit digit_of;

    /* Those of a thread. */
    struct Items {
        K key[I]; /* as its word once it has a rank */
        TileRanks<I> ranks;
        TileDigits<Digit::kept ? I : 0> digits;
    };

    GPI_DEVICE KeyCodec<K, FLOAT, 0> codec() const
    {
        return {job.order};
    }

    /* If the pass is stable pads are items of the highest digit, which come last in digit order and
     * are not written; otherwise they have a digit of their own, and go nowhere. */
    static GPI_DEVICE bool takes_part(const Span &span, int i)
    {
        return STABLE || has(span, i);
    }

    GPI_DEVICE uint32_t digit(const Span &span, int i, const Items &r) const
    {
        if constexpr (Digit::kept)
            return takes_part(span, i) ? r.digits[i] : (uint32_t)radix_bins;
        else
            return takes_part(span, i) ? digit_of(r.key[i]) : (uint32_t)radix_bins;
    }

    /* Keys become words. */
    GPI_DEVICE void find_digits(Items &r) const
    {
        constexpr int batch = I % 8 == 0 ? 8 : 4;
        static_assert(I % batch == 0, "whole batches");
#pragma unroll
        for (int i = 0; i < I; i += batch) {
            K word[batch];
            uint32_t digit[batch];
#pragma unroll
            for (int j = 0; j < batch; j++)
                word[j] = r.key[i + j] = codec().encode(r.key[i + j]);
            digit_of.all(word, digit);
#pragma unroll
            for (int j = 0; j < batch; j++)
                r.digits.set(i + j, digit[j]);
        }
    }

    GPI_DEVICE void load(const Span &span, K (&key)[I]) const
    {
        const K *from = job.keys[s.pass.from] + span.first + first_item();
        asm volatile("" : "+l"(from)); /* one address, not one per row */
        if (span.count == items) {
#pragma unroll
            for (int i = 0; i < I; i++)
                key[i] = __ldcs(from + i * 32);
        } else {
            const K pad = job.order.template key<FLOAT>((K) ~(K)0);
#pragma unroll
            for (int i = 0; i < I; i++)
                key[i] = has(span, i) ? __ldcs(from + i * 32) : pad;
        }
    }

    /* Keys become words. */
    GPI_DEVICE void rank(const Span &span, Items &r) const
    {
        if constexpr (Digit::kept)
            find_digits(r);
        auto digit_of_row = [&](int i) {
            if constexpr (!Digit::kept)
                r.key[i] = codec().encode(r.key[i]);
            return digit(span, i, r);
        };
        rank_rows<I>(s.counts, digit_of_row, [&](int i, uint32_t rank) { r.ranks.set(i, rank); });
    }

    /* Keys into digit order; in batches, as the compiler does not know that shared memory that is
     * written is not what is read next. */
    GPI_DEVICE void exchange(const Span &span, const Items &r)
    {
        const uint32_t *counts = s.counts.own();
        constexpr int batch = 4;
        static_assert(I % batch == 0, "whole batches");
        /* So that no digit is kept since it was ranked: registers are for keys. */
        asm volatile("" : "+r"(digit_of.shift));
#pragma unroll
        for (int i = 0; i < I; i += batch) {
            uint32_t at[batch];
#pragma unroll
            for (int j = 0; j < batch; j++)
                at[j] = counts[digit(span, i + j, r)] + r.ranks[i + j];
#pragma unroll
            for (int j = 0; j < batch; j++) {
                if (takes_part(span, i + j))
                    s.keys[at[j]] = r.key[i + j];
                if constexpr (STABLE)
                    s.source[at[j]] = (uint16_t)(first_item() + (i + j) * 32);
                if constexpr (Digit::kept)
                    if (takes_part(span, i + j))
                        s.digits[at[j]] = (uint8_t)r.digits[i + j];
            }
        }
    }

    /* Position 0 of the tile, were all its items of the thread's digit. */
    GPI_DEVICE void set_place(uint64_t item)
    {
        s.place[G::thread()] = job.keys[s.pass.to] + item;
    }

    /* Global, as the compiler cannot know. */
    static GPI_DEVICE void store(K *to, K key)
    {
        __builtin_assume(__isGlobal(to));
        *to = key;
    }

    GPI_DEVICE uint32_t ascending_key(uint32_t p) const
    {
        uint32_t digit;
        if constexpr (Digit::kept)
            digit = s.digits[p];
        else
            digit = digit_of(s.keys[p]);
        if constexpr (STABLE)
            return digit << 16 | s.source[p];
        else
            return digit << 16;
    }

    /* Rows of places p, p + 32, .., loads of all of them before stores of any. */
    template <int ROWS>
    GPI_DEVICE bool write_rows(const Span &span, uint32_t p, uint32_t &wrap) const
    {
        K key[ROWS];
        uint32_t mine[ROWS];
        const bool valid = ROWS > 1 || p < (uint32_t)span.count;
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            key[i] = s.keys[p + i * 32];
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            mine[i] = ascending_key(p + i * 32);
        const bool pad = STABLE && ROWS == 1 && valid && (mine[0] & 0xffff) >= (uint32_t)span.count;
        const bool ordered = STABLE ? rising(mine, valid, wrap) && !pad : true;
        K *to[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            to[i] = s.place[mine[i] >> 16] + p + i * 32;
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            if (valid)
                store(to[i], codec().decode(key[i]));
        return ordered;
    }

    /* False if it is not in order. */
    GPI_DEVICE bool write(const Span &span) const
    {
        constexpr int batch =
            sizeof(K) == 8 ? radix_tuning.batch_rows / 2 : radix_tuning.batch_rows;
        return Rows::template write_stretch<batch, STABLE>(
            span, [&](uint32_t p) { return ascending_key(p); },
            [&](auto rows, uint32_t p, uint32_t &wrap) {
                return write_rows<decltype(rows)::value>(span, p, wrap);
            });
    }

    /* The tile once more, straight to where it goes. */
    static __device__ __noinline__ void repair(KeyTile t, Span span)
    {
        const K *from = t.job.keys[t.s.pass.from] + span.first;
        Rows::repair_rows(
            t.s.counts, span, [&](int i) { return from[i]; },
            [&](K key) { return t.digit_of(t.codec().encode(key)); }, t.digit_of.mask,
            [&](int, K key, uint32_t d, uint32_t at) { store(t.s.place[d] + at, key); });
    }
};

} // namespace GPI_SPACE
