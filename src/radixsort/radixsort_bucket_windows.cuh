/* SPDX-License-Identifier: MIT */
/*
 * Sorts a bucket whose bins have many items. A warp takes a window of 256 items into registers and
 * sorts it (device/network.cuh). Then windows lie half a window further: each holds two sorted
 * runs, which are merged; and so on, half a window there and back, until no item is less than the
 * one before. An item moves by half a window in a round. If most windows still have items to move
 * after some rounds, runs become twice as long in each round instead (bitonic merges, Batcher
 * 1968): items that are far apart are exchanged in shared memory, those in a window in registers.
 */
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/network.cuh"
#include "radixsort/radixsort_bucket_parts.cuh"

namespace GPI_SPACE
{

/* A window: 256 items in the registers of a warp. */
constexpr int window_rows = 8, window_items = 32 * window_rows;

/* Sorts a window: lane i has items 8 i to 8 i + 7 then. */
template <class Item> GPI_DEVICE void sort_window(Item (&item)[window_rows])
{
    sort_thread(item);
#pragma unroll 1
    for (int lanes = 2; lanes <= 32; lanes *= 2)
        merge_lanes(item, lanes);
}

/* Merges the two runs that are the halves of a window; item 32 i + lane is in row i. bitonic: one
 * rises and the other falls; otherwise both rise, and the second one is reversed first. */
template <class Item> GPI_DEVICE void merge_window(Item (&item)[window_rows], bool bitonic)
{
    constexpr int half = window_rows / 2;
    if (!bitonic)
#pragma unroll
        for (int i = 0; i < half / 2; i++) {
            Item &a = item[half + i], &b = item[window_rows - 1 - i];
            const Item turned = shuffle_xor(a, 31);
            a = shuffle_xor(b, 31);
            b = turned;
        }
    merge_thread(item);
#pragma unroll 1
    for (int apart = 16; apart; apart /= 2)
        exchange_lanes(item, apart);
}

/* The items of a block of T threads in shared memory, which has room for whole windows. PLACED:
 * beside each word is the place it had, which decides between equal words. */
template <class Word, bool PLACED, int T> struct Windows {
    static constexpr int items = window_items, half = items / 2;
    static constexpr int first_look = 5; /* round from which on runs may be doubled */
    using WithPlace = std::conditional_t<sizeof(Word) == 4, uint64_t, PlacedKey>;
    using Item = std::conditional_t<PLACED, WithPlace, Word>; /* as it is compared */

    Word *words;
    uint16_t *places;
    int count;

    GPI_DEVICE Item item(int p) const
    {
        if constexpr (!PLACED)
            return words[p];
        else if constexpr (sizeof(Word) == 4)
            return (uint64_t)words[p] << 32 | places[p];
        else
            return {places[p], (uint32_t)words[p], (uint32_t)(words[p] >> 32)};
    }

    GPI_DEVICE void set(int p, const Item &to) const
    {
        if constexpr (!PLACED) {
            words[p] = to;
        } else if constexpr (sizeof(Word) == 4) {
            words[p] = (Word)(to >> 32);
            places[p] = (uint16_t)to;
        } else {
            words[p] = to.key();
            places[p] = (uint16_t)to.place;
        }
    }

    /* Whether a window, which may be two sorted runs, has an item less than the one before. */
    GPI_DEVICE bool falls(int first, bool runs) const
    {
        bool some = runs && item(first + half) < item(first + half - 1);
        if (!runs)
#pragma unroll 1
            for (int p = first + lane_id(); p < first + items - 1; p += 32)
                some |= item(p + 1) < item(p);
        some = __any_sync(all_lanes, some);
        __syncwarp();
        return some;
    }

    /* runs: merges the two that there are. */
    GPI_DEVICE void sort(int first, bool runs, bool bitonic) const
    {
        Item window[window_rows];
#pragma unroll
        for (int i = 0; i < window_rows; i++)
            window[i] = item(first + i * 32 + lane_id());
        if (runs)
            merge_window(window, bitonic);
        else
            sort_window(window);
        __syncwarp();
        const int begin = runs ? lane_id() : lane_id() * window_rows, step = runs ? 32 : 1;
#pragma unroll
        for (int i = 0; i < window_rows; i++)
            set(first + begin + i * step, window[i]);
    }

    /* f(first) for the windows of this warp in [from, end); whether it is true for any. */
    template <class F> GPI_DEVICE bool for_windows(int from, int end, F f) const
    {
        bool any = false;
#pragma unroll 1
        for (int w = from + (int)warp_id() * items; w < end; w += T / 32 * items)
            any |= f(w);
        return any;
    }

    /* With those that fill the last window. */
    GPI_DEVICE int padded() const
    {
        return (count + items - 1) / items * items;
    }

    /* Items d apart, or mirrored in 2 d items: the lesser goes first. */
    GPI_DEVICE void exchange_apart(int d, bool mirrored) const
    {
        const int end = padded();
#pragma unroll 1
        for (int k = threadIdx.x;; k += T) {
            const int i = (k & -d) * 2 + (k & (d - 1)), j = mirrored ? i ^ (2 * d - 1) : i + d;
            if (i >= end)
                break;
            if (j >= end)
                continue;
            const Item own = item(i), other = item(j);
            if (other < own) {
                set(i, other);
                set(j, own);
            }
        }
        __syncthreads();
    }

    GPI_DEVICE void run() const
    {
        for (int p = count + (int)threadIdx.x; p < padded(); p += T) {
            words[p] = (Word) ~(Word)0;
            if constexpr (PLACED)
                places[p] = UINT16_MAX;
        }
        __syncthreads();
        int busy = 1; /* threads in whose windows something fell */
        int far = 0;  /* items of a run once runs are doubled */
#pragma unroll 1
        for (int round = 0; busy; round++) {
            const bool runs = round > 0;
            const bool most_busy = 2 * busy > min(padded() / items * 32, T);
            if (!far && round >= first_look && round % 2 && most_busy)
                far = items;
            if (far >= count)
                return;
            for (int d = far; d >= items; d /= 2)
                exchange_apart(d, d == far);
            const bool shifted = !far && round % 2;
            const bool all = far || !runs;
            busy = __syncthreads_count(
                for_windows(shifted ? half : 0, all ? count : count - half, [&](int w) {
                    const bool some = far || falls(w, runs);
                    if (some)
                        sort(w, runs, far > 0);
                    return some || all;
                }));
            far *= 2;
        }
    }
};

/* The words that a block has at the beginning of its shared memory, with places or without. A call
 * that floats and integers share. */
template <class Word, bool PLACED, int T>
__device__ __noinline__ void sort_windows(int places_at, int count)
{
    extern __shared__ __align__(16) char memory[];
    Windows<Word, PLACED, T>{(Word *)memory, (uint16_t *)(memory + places_at), count}.run();
}

/* By that call beside keys of 4 bytes. */
template <class Word, bool PLACED, class Bins> GPI_DEVICE void sort_words(const Bins &b)
{
    constexpr int T = Bins::warps * 32;
    if constexpr (sizeof(typename Bins::KeyWord) == 4)
        sort_windows<Word, PLACED, T>(offsetof(typename Bins::Shared, stage), b.count);
    else
        Windows<Word, PLACED, T>{b.s.words, (uint16_t *)b.s.stage, b.count}.run();
}

/* Gathers items by the positions of words; no items: the positions themselves. A bucket may be
 * sorted in place, so all are read before one is written. */
template <class Bins, class X>
GPI_DEVICE void write_by_positions(const Bins &b, X *to, const X *from, uint64_t first)
{
    X item[Bins::items_of_thread];
    leave_undefined<Bins::in_loop>(item);
#pragma unroll
    for (int i = 0; i < Bins::items_of_thread; i++)
        if (const int p = Bins::item(i); p < b.count)
            item[i] = from ? from[b.position(p)] : (X)(first + b.position(p));
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Bins::items_of_thread; i++)
        if (const int p = Bins::item(i); p < b.count)
            to[p] = item[i];
}

/* Whether more than a quarter of the threads find different keys side by side in a bin. */
template <class Bins> GPI_DEVICE bool bins_are_mixed(const Bins &b, int shift)
{
    bool differ = false;
    const int positions = b.position_bits();
#pragma unroll 2
    for (int p = threadIdx.x; p + 1 < b.count; p += Bins::warps * 32) {
        const auto own = b.s.words[p], next = b.s.words[p + 1];
        differ |= (b.number_of(own, shift) == b.number_of(next, shift)) &
                  (own >> positions != next >> positions);
    }
    return 4 * __syncthreads_count(differ) > Bins::warps * 32;
}

/* The rest of a sort whose bins have many items. If words lack bits of their keys, whole words are
 * sorted beside their positions, and only these are left. A call of little code, as it is rare. */
template <class Bins, class Word>
__device__ __noinline__ void finish_large(const Bins bins, uint64_t first, uint32_t from,
                                          const BucketBits<Word> bits, int shift, uint32_t largest)
{
    constexpr int T = Bins::warps * 32;
    static_assert(Bins::items_max % window_items == 0, "windows are whole");
    const Bins b = in_shared_memory<Bins>(bins);
    const auto *const keys_in = b.job.keys[from] + first;
    const auto keys = b.job.keys[gpi_radix_out] + first;
    uint16_t *const places = (uint16_t *)b.s.stage;
    const bool lacking = Bins::words_may_tie && b.left_out(bits);
    if constexpr (sizeof(Word) == 4) /* with keys of 8 bytes it costs even ones */
        divide_bins(in_shared_memory<typename Bins::OfIntegers>(b), shift, largest);
    if constexpr (Bins::words_may_tie)
        if (lacking) {
#pragma unroll 4
            for (int p = threadIdx.x; p < b.count; p += T) {
                const uint32_t at = b.position(p);
                places[p] = (uint16_t)at;
                b.s.words[p] = b.word_of(keys_in[at]);
            }
            sort_words<Word, true>(b);
#pragma unroll 4
            for (int p = threadIdx.x; p < b.count; p += T)
                b.s.words[p] = places[p];
            __syncthreads();
        }
    /* Equal keys are nearly in order. */
    if constexpr (Bins::pairs && sizeof(Word) == 8)
        if (!lacking && !bins_are_mixed(b, shift))
            exchange_neighbours(b, Bins::largest_bin);
    if (!lacking)
        sort_words<typename Bins::BinWord, false>(b);
    if constexpr (Bins::pairs) {
        using V = typename Bins::V;
        const ValueArray<V> values_in = b.job.values_at(from, first);
        const ValueArray<V> values = b.job.values_at(gpi_radix_out, first);
        if (values_in && values_in.is_narrow())
            write_narrow(b, values, values_in);
        else
            write_by_positions(b, (V *)values.at, (const V *)values_in.at, first);
        if (b.job.keys_wanted)
            write_by_positions(b, keys, keys_in, 0);
    } else {
#pragma unroll 2
        for (int p = threadIdx.x; p < b.count; p += T) {
            const Word word = b.s.words[p];
            const Word open = bits.has_hole() ? bits.hole.open(word) | bits.same : word;
            keys[p] = b.codec().decode(open + b.base);
        }
    }
}

} // namespace GPI_SPACE
