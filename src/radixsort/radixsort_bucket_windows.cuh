/* SPDX-License-Identifier: MIT */
/*
 * The items of a block's bins in order, where bins have many, whatever they are. A warp takes a
 * window of 256 items into registers and sorts it by a network (Batcher 1968). Then windows lie
 * half a window further: each holds two runs in order, of which one merge makes one; and so on,
 * half a window there and back, until no item is less than the one before. An item moves by half a
 * window in a round. Where most windows still have items to move after some rounds, runs become
 * twice as long in each round instead: items that are far apart are exchanged in shared memory,
 * then windows are merged.
 */
#pragma once

#include <cstddef>
#include <cstdint>

#include "radixsort/radixsort_bucket_parts.cuh"

namespace GPI_SPACE
{

/* The items of a warp in registers. Sorted ones are neighbours in a lane, so that few steps are
 * between lanes; runs to be merged have number 32 i + lane in row i, as rows are read and written
 * without conflicts. APART: a word's source decides between equal words, and moves along. */
template <class Word, bool APART> struct Window {
    static constexpr int rows = 8, items = 32 * rows, half = items / 2;

    Word word[rows];
    uint32_t source[APART ? rows : 1];

    /* Whether an item is less than that of row i; without a branch, as items differ by lane. */
    GPI_DEVICE bool is_less(Word other, uint32_t other_source, int i) const
    {
        bool less = other < word[i];
        if constexpr (APART)
            less |= (other == word[i]) & (other_source < source[i]);
        return less;
    }

    /* The lesser item goes to row i. */
    GPI_DEVICE void exchange_rows(int i, int j)
    {
        const bool falls = is_less(word[j], source[APART ? j : 0], i);
        const Word low = falls ? word[j] : word[i];
        word[j] = falls ? word[i] : word[j];
        word[i] = low;
        if constexpr (APART) {
            const uint32_t from = falls ? source[j] : source[i];
            source[j] = falls ? source[i] : source[j];
            source[i] = from;
        }
    }

    /* Lanes whose numbers differ by mask; those with the bit keep the greater item. MIRRORED: row i
     * meets the i-th from the end. */
    template <bool MIRRORED = false> GPI_DEVICE void exchange_lanes(int mask, int bit)
    {
        const bool upper = lane_id() & bit;
        Word other[rows];
        uint32_t from[rows];
#pragma unroll
        for (int i = 0; i < rows; i++) {
            const int j = MIRRORED ? rows - 1 - i : i;
            other[i] = __shfl_xor_sync(all_lanes, word[j], mask);
            from[i] = APART ? __shfl_xor_sync(all_lanes, source[APART ? j : 0], mask) : 0;
        }
#pragma unroll
        for (int i = 0; i < rows; i++) {
            const bool takes = is_less(other[i], from[i], i) != upper;
            word[i] = takes ? other[i] : word[i];
            if constexpr (APART)
                source[i] = takes ? from[i] : source[i];
        }
    }

    GPI_DEVICE void turn(int i)
    {
        word[i] = __shfl_xor_sync(all_lanes, word[i], 31);
        if constexpr (APART)
            source[i] = __shfl_xor_sync(all_lanes, source[i], 31);
    }

    /* Lanes whose numbers differ by mask, then those that differ by half of the bit, and so on. */
    GPI_DEVICE void merge_lanes(int mask, int bit)
    {
#pragma unroll 1
        for (; bit; bit /= 2, mask = bit)
            exchange_lanes(mask, bit);
    }

    /* A lane's items: the halves of `size` rows rise, and then all of these. */
    template <int SIZE> GPI_DEVICE void merge_own()
    {
#pragma unroll
        for (int i = 0; i < rows; i++)
            if ((i & SIZE / 2) == 0)
                exchange_rows(i, i ^ (SIZE - 1));
        merge_bitonic<SIZE / 4>();
    }

    /* Rows that are so far from each other, and half of that, and so on. */
    template <int APART_BY> GPI_DEVICE void merge_bitonic()
    {
#pragma unroll
        for (int d = APART_BY; d; d /= 2)
#pragma unroll
            for (int i = 0; i < rows; i++)
                if ((i & d) == 0)
                    exchange_rows(i, i + d);
    }

    /* Then lane i has items 8 i and on. */
    GPI_DEVICE void sort()
    {
        merge_own<2>();
        merge_own<4>();
        merge_own<8>();
#pragma unroll 1
        for (int mask = 1; mask < 32; mask = 2 * mask + 1) {
            exchange_lanes<true>(mask, (mask + 1) / 2);
            if (mask > 1)
                merge_lanes((mask + 1) / 4, (mask + 1) / 4);
            merge_bitonic<rows / 2>();
        }
    }

    /* Two runs of half of the rows; bitonic: one rises and then falls, or the other way round. */
    GPI_DEVICE void merge(bool bitonic)
    {
        if (!bitonic)
#pragma unroll
            for (int i = rows / 2; i < rows; i++)
                turn(i);
#pragma unroll
        for (int i = 0; i < rows / 2; i++)
            if (bitonic)
                exchange_rows(i, i + rows / 2);
            else
                exchange_rows(i, rows - 1 - i);
        merge_bitonic<rows / 4>();
        merge_lanes(16, 16);
    }
};

template <class X> GPI_DEVICE void swap(X &a, X &b)
{
    const X other = a;
    a = b;
    b = other;
}

/* The items of a block of T threads in shared memory, which has room for whole windows. */
template <class Word, bool APART, int T> struct Windows {
    using OfWarp = Window<Word, APART>;
    static constexpr int items = OfWarp::items, half = OfWarp::half, rows = OfWarp::rows;
    static constexpr int first_look = 5; /* round before which it is asked how many are busy */

    Word *words;
    uint16_t *sources;
    int count;

    /* Whether item j is less than item i. */
    GPI_DEVICE bool falls_from(int i, int j) const
    {
        const Word own = words[i], next = words[j];
        bool falls = next < own;
        if constexpr (APART)
            falls |= (own == next) & (sources[j] < sources[i]);
        return falls;
    }

    /* Whether a window has an item that is less than the one before; of two runs in order. */
    GPI_DEVICE bool falls(int first, bool runs) const
    {
        bool some = runs && falls_from(first + half - 1, first + half);
        if (!runs)
#pragma unroll 1
            for (int p = first + lane_id(); p < first + items - 1; p += 32)
                some |= falls_from(p, p + 1);
        some = __any_sync(all_lanes, some);
        __syncwarp();
        return some;
    }

    /* runs: there are two in order. */
    GPI_DEVICE void sort(int first, bool runs, bool bitonic) const
    {
        OfWarp window;
#pragma unroll
        for (int i = 0; i < rows; i++) {
            window.word[i] = words[first + i * 32 + lane_id()];
            if constexpr (APART)
                window.source[i] = sources[first + i * 32 + lane_id()];
        }
        if (runs)
            window.merge(bitonic);
        else
            window.sort();
        __syncwarp();
        const int begin = runs ? lane_id() : lane_id() * rows, step = runs ? 32 : 1;
#pragma unroll
        for (int i = 0; i < rows; i++) {
            words[first + begin + i * step] = window.word[i];
            if constexpr (APART)
                sources[first + begin + i * step] = (uint16_t)window.source[i];
        }
    }

    /* f(first) for the windows of this warp from an item on; whether it is true for any. */
    template <class F> GPI_DEVICE bool for_windows(int from, int end, F f) const
    {
        /* The same in all lanes, which the compiler is to know. */
        const int warp = __shfl_sync(all_lanes, (int)threadIdx.x / 32, 0);
        bool any = false;
#pragma unroll 1
        for (int w = from + warp * items; w < end; w += T / 32 * items)
            any |= f(w);
        return any;
    }

    /* Whether most threads that have windows had something to do. */
    GPI_DEVICE bool is_majority(int busy) const
    {
        return 2 * busy > min((count + items - 1) / items * 32, T);
    }

    /* Items d apart, or mirrored in 2 d items: the lesser goes first. */
    GPI_DEVICE void exchange_apart(int d, bool mirrored) const
    {
        const int end = (count + items - 1) / items * items;
#pragma unroll 1
        for (int k = threadIdx.x;; k += T) {
            const int i = (k & -d) * 2 + (k & (d - 1)), j = mirrored ? i ^ (2 * d - 1) : i + d;
            if (i >= end)
                break;
            if (j >= end || !falls_from(i, j))
                continue;
            swap(words[i], words[j]);
            if constexpr (APART)
                swap(sources[i], sources[j]);
        }
        __syncthreads();
    }

    GPI_DEVICE void run() const
    {
        for (int p = count + (int)threadIdx.x; p < (count + items - 1) / items * items; p += T) {
            words[p] = (Word) ~(Word)0;
            if constexpr (APART)
                sources[p] = UINT16_MAX;
        }
        __syncthreads();
        int busy = 1; /* threads in whose windows something fell */
        int far = 0;  /* items of a run, when runs are doubled */
#pragma unroll 1
        for (int round = 0; busy; round++) {
            const bool runs = round > 0;
            if (!far && round >= first_look && round % 2 && is_majority(busy))
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

/* The items that a block has at the beginning of its shared memory, with sources or without. A call
 * that floats and integers share. */
template <class Word, bool APART, int T>
__device__ __noinline__ void sort_windows(int sources_at, int count)
{
    extern __shared__ __align__(16) char memory[];
    Windows<Word, APART, T>{(Word *)memory, (uint16_t *)(memory + sources_at), count}.run();
}

/* Items by positions, or these if there are no items. A bucket may be sorted where it lies, so all
 * are read before one is written. */
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

/* Whether bins have different keys, and not few of them; of a bucket in bins. */
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

/* A bucket whose bins have many items; if words lack bits of their keys, they become words of keys,
 * beside positions, and then positions alone. A call, as it is rare, of little code; it names the
 * shared memory, or would not know what it is. */
template <class Bins, class Word>
__device__ __noinline__ void finish_large(const Bins bins, uint64_t first, uint32_t from,
                                          const BucketBits<Word> bits, int shift, uint32_t largest)
{
    extern __shared__ __align__(16) char memory[];
    using OfIntegers = typename Bins::OfIntegers;
    constexpr int T = Bins::warps * 32;
    static_assert(Bins::items_max % Window<Word, false>::items == 0, "windows are whole");
    const Bins b = {bins.job, *(typename Bins::Shared *)memory, bins.count, bins.compared,
                    bins.base};
    const auto *const keys_in = b.job.keys[from] + first;
    const auto keys = b.job.keys[gpi_radix_out] + first;
    uint16_t *const sources = (uint16_t *)b.s.stage;
    const bool lacking = Bins::words_may_tie && b.left_out(bits);
    if constexpr (sizeof(Word) == 4) /* with keys of 8 bytes it costs even ones */
        divide_bins(
            OfIntegers{b.job, *(typename OfIntegers::Shared *)memory, b.count, b.compared, b.base},
            shift, largest);
    if constexpr (Bins::words_may_tie)
        if (lacking) {
#pragma unroll 4
            for (int p = threadIdx.x; p < b.count; p += T) {
                const uint32_t at = b.position(p);
                sources[p] = (uint16_t)at;
                b.s.words[p] = b.word_of(keys_in[at]);
            }
            if constexpr (sizeof(Word) == 4)
                sort_windows<Word, true, T>(offsetof(typename Bins::Shared, stage), b.count);
            else
                Windows<Word, true, T>{b.s.words, sources, b.count}.run();
#pragma unroll 4
            for (int p = threadIdx.x; p < b.count; p += T)
                b.s.words[p] = sources[p];
            __syncthreads();
        }
    /* Equal keys are nearly in order. */
    if constexpr (Bins::pairs && sizeof(Word) == 8)
        if (!lacking && !bins_are_mixed(b, shift))
            exchange_neighbours(b, Bins::largest_bin);
    if constexpr (sizeof(Word) == 4) {
        if (!lacking)
            sort_windows<typename Bins::BinWord, false, T>(0, b.count);
    } else if (!lacking) {
        Windows<typename Bins::BinWord, false, T>{b.s.words, nullptr, b.count}.run();
    }
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
