/* SPDX-License-Identifier: MIT */
/*
 * The keys of a bucket in registers: their words, and the bits in which these vary; and the items
 * of a block's bins in order. Bins: a BucketBins, whose counts are starts before its items are in
 * bins, and ends when they are. Small bins by exchanges of neighbours in registers (odd-even
 * transposition, Knuth volume 3, 5.3.4). Words that agree in all but their positions, after a
 * bucket was sorted by words without the lowest bits, go in the order of their keys.
 */
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/undefined.cuh"
#include "device/warp.cuh"
#include "radixsort/radixsort_key_codec.cuh"

namespace GPI_SPACE
{

/* ---- keys ---- */

/* A key's bits as they are compared. */
template <class K>
using RadixWord = typename std::conditional<sizeof(K) == 8, uint64_t, uint32_t>::type;

/* Bits of words that do not vary, between others that do, as between a high and a low number that
 * share a key. Without them the highest bits are those that vary. Narrow words have no holes. */
template <class Word> struct BitHole {
    int at, bits;

    /* The longest one above a bit, and what it has below that bit. */
    static GPI_DEVICE BitHole of(Word varying, int begin, int end)
    {
        BitHole hole = {0, 0};
        if constexpr (sizeof(Word) == 8) {
            for (int p = begin; p < end;) {
                const int change = __ffsll((long long)~(varying >> p)); /* 0: ones to the end */
                p += change ? change - 1 : 64;
                const int zeros = p < end ? __ffsll((long long)(varying >> p)) - 1 : 0;
                if (zeros > hole.bits)
                    hole = {p, zeros};
                p += zeros;
            }
            const int under = 64 - __clzll((long long)(varying & (((Word)1 << begin) - 1)));
            if (hole.bits && hole.at == begin)
                hole = {under, hole.bits + begin - under};
        }
        return hole;
    }

    GPI_DEVICE Word below() const
    {
        return ((Word)1 << at) - 1;
    }

    /* A word without the hole, in which it has no bits, */
    GPI_DEVICE Word close(Word word) const
    {
        return (word & below()) | (word >> bits & ~below());
    }

    /* and with it. */
    GPI_DEVICE Word open(Word word) const
    {
        return (word & below()) | (word & ~below()) << bits;
    }
};

/* Bits [low, high) of the keys of a bucket vary. */
template <class Word> struct BucketBits {
    Word same; /* the bits that do not vary */
    int low, high;
    BitHole<Word> hole; /* if there is one, words are closed and have none of the bits of same */
    bool of_words;      /* this thread's keys can be made of their words */

    GPI_DEVICE bool has_hole() const
    {
        return sizeof(Word) == 8 && hole.bits;
    }

    /* That vary. */
    GPI_DEVICE int bits() const
    {
        return has_hole() ? high - low - hole.bits : high - low;
    }

    /* What is the same in all words, but what they have lost with the hole. */
    GPI_DEVICE Word still_same() const
    {
        return has_hole() ? (Word)0 : same;
    }
};

/* The keys of a bucket in a block's registers. */
template <class Word, int I> struct BucketKeys : BucketBits<Word> {
    Word word[I];
};

/* ---- exchanges ---- */

template <class Word> GPI_DEVICE void compare_exchange(Word &a, Word &b)
{
    const Word low = a < b ? a : b;
    b = a < b ? b : a;
    a = low;
}

/* Put the items of a warp's window in order, in registers, by as many rounds as its largest bin has
 * items. Windows lie one after the other, or some places before that. */
template <class Bins>
GPI_DEVICE void odd_even_transposition(const Bins &b, int before, uint32_t rounds)
{
    using Word = typename Bins::BinWord;
    constexpr int I = Bins::items_of_thread;
    struct alignas(2 * sizeof(Word)) Two {
        Word a, b;
    };
    const int first = (int)threadIdx.x * I - before;
    const int end = ((int)threadIdx.x / 32 + 1) * 32 * I - before;
    Two *mine = (Two *)(b.s.words + first);
    Word word[I];
#pragma unroll
    for (int i = 0; i < I; i += 2) {
        const Two two = mine[i / 2];
        word[i] = two.a;
        word[i + 1] = two.b;
    }
    if (end > b.count)
#pragma unroll
        for (int i = 0; i < I; i++)
            word[i] = first + i < b.count ? word[i] : (Word) ~(Word)0;
#pragma unroll 1
    for (uint32_t r = 0; r < rounds; r += 2) {
#pragma unroll
        for (int i = 0; i < I; i += 2)
            compare_exchange(word[i], word[i + 1]);
#pragma unroll
        for (int i = 1; i + 1 < I; i += 2)
            compare_exchange(word[i], word[i + 1]);
        Word next = __shfl_down_sync(all_lanes, word[0], 1);
        Word last = __shfl_up_sync(all_lanes, word[I - 1], 1);
        if (lane_id() < 31)
            compare_exchange(word[I - 1], next);
        if (lane_id() > 0)
            compare_exchange(last, word[0]);
    }
#pragma unroll
    for (int i = 0; i < I; i += 2)
        mine[i / 2] = {word[i], word[i + 1]};
}

/* The bins that have items in two warps: a warp takes the items around its first one. */
template <class Bins> GPI_DEVICE void transposition_between_warps(const Bins &b)
{
    constexpr int I = Bins::items_of_thread;
    const int border = (int)threadIdx.x / 32 * 32 * I, p = border - Bins::largest_bin + lane_id();
    if (border > 0 && border < b.count) {
        const uint32_t rounds = min(b.s.largest[threadIdx.x / 32], (uint32_t)Bins::largest_bin);
        auto mine = b.s.words[p];
        for (uint32_t r = 0; r < rounds; r++) {
            const int other = (int)((lane_id() + r % 2) ^ 1) - (int)(r % 2);
            auto theirs = __shfl_sync(all_lanes, mine, other & 31);
            if (other < 0 || other > 31)
                continue;
            if (lane_id() < other)
                compare_exchange(mine, theirs);
            else
                compare_exchange(theirs, mine);
        }
        b.s.words[p] = mine;
    }
    __syncthreads();
}

/* The bins too large for that which have items in two warps: how many, for the second of the two.
 * Counts are ends. */
template <class Bins> __device__ __noinline__ void find_crossing(const Bins b)
{
    constexpr uint32_t window = 32 * Bins::items_of_thread;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < Bins::bins; i += Bins::warps * 32) {
        const uint32_t begin = i ? *b.count_of(i - 1) : 0, end = *b.count_of(i);
        if (end - begin > Bins::largest_bin && begin / window < (end - 1) / window)
            b.s.crossing[(end - 1) / window] = end - begin;
    }
    __syncthreads();
}

/* The items of bins that have up to `most` items in order. */
template <class Bins> GPI_DEVICE void exchange_neighbours(const Bins &b, uint32_t most)
{
    const uint32_t warp = threadIdx.x / 32;
    int before = 0;
    uint32_t rounds = min(b.s.largest[warp], most);
#pragma unroll 1
    for (;;) {
        if (rounds)
            odd_even_transposition(b, before, rounds);
        __syncthreads();
        if (before)
            return;
        transposition_between_warps(b);
        if (most <= Bins::largest_bin)
            return;
        before = 16 * Bins::items_of_thread;
        rounds = b.s.crossing[warp];
    }
}

/* ---- ties ---- */

/* How many words from p on agree; 0 if p is not the first of them. */
template <class Bins> GPI_DEVICE int ties_at(const Bins &b, int p)
{
    const int positions = b.position_bits();
    const auto own = b.s.words[p] >> positions;
    int end = p + 1;
    if (p > 0 && b.s.words[p - 1] >> positions == own)
        return 0;
    while (end < b.count && b.s.words[end] >> positions == own)
        end++;
    return end - p;
}

template <class Bins, class K>
GPI_DEVICE void insertion(const Bins &b, const K *keys_in, int begin, int end)
{
    const auto key = [&](int p) { return b.word_of(keys_in[b.position(p)]); };
    for (int i = begin + 1; i < end; i++)
        for (int j = i; j > begin && key(j) < key(j - 1); j--) {
            const auto word = b.s.words[j];
            b.s.words[j] = b.s.words[j - 1];
            b.s.words[j - 1] = word;
        }
}

/* By a whole block. They share a bin, so they are few. */
template <class Bins, class K> GPI_DEVICE void order_ties(const Bins &b, const K *keys_in)
{
    int ties[Bins::items_of_thread], most = 0;
    leave_undefined<Bins::in_loop>(ties);
    b.for_rows([&](int i) {
        ties[i] = ties_at(b, Bins::item(i));
        most = max(most, ties[i]);
    });
    if (!__syncthreads_or(most > 1))
        return;
    b.for_rows([&](int i) { insertion(b, keys_in, Bins::item(i), Bins::item(i) + ties[i]); });
    __syncthreads();
}

/* As a call, which leaves words of 4 bytes the registers for their other ways. */
template <class Bins, class K>
__device__ __noinline__ void call_order_ties(const Bins b, const K *keys_in)
{
    order_ties(b, keys_in);
}

/* ---- parts ---- */

/*
 * Bins of many items that have few keys, as where keys repeat: each bin is divided in as many parts
 * as it has items, by whether a key is less than one of the bin's keys, equal or greater, and in
 * each of the three by the item's position. Items are counted and moved by parts as they were by
 * bins; where a bin has one key, or two, they are in order then but for neighbours.
 */

/* Of a BucketBins of pairs, whose items are in bins. */
template <class Bins> struct BinParts {
    using Word = typename Bins::BinWord;
    static constexpr int I = Bins::items_of_thread, T = Bins::warps * 32;

    const Bins &b;
    int shift; /* of bins */

    GPI_DEVICE Word key(Word word) const
    {
        return word >> b.position_bits();
    }

    /* The middle one of three keys of a bin; all_differ: they do. */
    GPI_DEVICE Word pivot(uint32_t first, uint32_t count, bool &all_differ) const
    {
        const Word begin = key(b.s.words[first]), middle = key(b.s.words[first + count / 2]);
        const Word end = key(b.s.words[first + count - 1]);
        all_differ = begin != middle && middle != end && begin != end;
        return max(min(begin, middle), min(max(begin, middle), end));
    }

    struct Part {
        uint32_t number;
        bool large, many; /* its bin has many items, and many keys */
    };

    GPI_DEVICE Part part_of(Word word, uint32_t scale) const
    {
        const uint32_t number = b.number_of(word, shift);
        const uint32_t first = number ? *b.count_of(number - 1) : 0;
        const uint32_t count = *b.count_of(number) - first, quarter = count / 4;
        bool many;
        const Word middle = pivot(first, count, many), own = key(word);
        const uint32_t before = own < middle ? 0 : own == middle ? quarter : 3 * quarter;
        const uint32_t position = (uint32_t)word & ((1u << b.position_bits()) - 1);
        const uint32_t into = __umulhi(position * scale, own == middle ? count / 2 : quarter);
        return {first + before + into, count > (uint32_t)Bins::largest_bin, many};
    }

    GPI_DEVICE uint16_t *counts() const
    {
        return (uint16_t *)b.s.stage;
    }

    /* Counts become starts; the items of the largest part are noted for exchanges. */
    GPI_DEVICE void sum_parts() const
    {
        const int first = (int)threadIdx.x * I, end = min(first + I, b.count);
        uint32_t sum = 0, most = 0;
        for (int p = first; p < end; p++) {
            sum += counts()[p];
            most = max(most, (uint32_t)counts()[p]);
        }
        most = warp_max(most);
        if (lane_id() == 0)
            b.s.fullest[threadIdx.x / 32] = most;
        uint32_t at = block_sums<T>(sum, b.s.total).x;
        for (int p = first; p < end; p++) {
            const uint32_t count = counts()[p];
            counts()[p] = (uint16_t)at;
            at += count;
        }
        most = warp_max(lane_id() < Bins::warps ? b.s.fullest[lane_id()] : 0);
        if (lane_id() == 0)
            b.s.largest[threadIdx.x / 32] = most;
        __syncthreads();
    }

    /* f(i) for rows of which this thread may have an item: once, as it is long. */
    template <class F> GPI_DEVICE void for_groups(F f) const
    {
        constexpr int group = I % 3 == 0 ? 3 : 2;
#pragma unroll
        for (int i = 0; i < I; i += group) {
            if (i * T >= b.count)
                break;
#pragma unroll
            for (int j = 0; j < group; j++)
                f(i + j);
        }
    }

    /* Items of the block's first row in large bins, and those of them in bins of many keys. */
    GPI_DEVICE uint2 large_items() const
    {
        const bool mine = (int)threadIdx.x < b.count;
        const Part part = part_of(b.s.words[mine ? threadIdx.x : 0], 0);
        const uint32_t large = __syncthreads_count(mine && part.large);
        return make_uint2(large, __syncthreads_count(mine && part.large && part.many));
    }

    GPI_DEVICE void divide() const
    {
        const uint32_t scale = ~0u / (uint32_t)b.count;
        Word word[I];
        uint32_t at[I];
        leave_undefined<Bins::in_loop>(word);
        leave_undefined<Bins::in_loop>(at);
        for_groups([&](int i) {
            word[i] = b.s.words[min(Bins::item(i), b.count - 1)];
            at[i] = part_of(word[i], scale).number;
        });
        __syncthreads();
        for (int p = threadIdx.x; p < (b.count + 1) / 2; p += T)
            ((uint32_t *)counts())[p] = 0;
        __syncthreads();
        for_groups([&](int i) {
            const uint32_t up = at[i] % 2 * 16, one = Bins::item(i) < b.count ? 1u << up : 0;
            const uint32_t before = atomicAdd((uint32_t *)counts() + at[i] / 2, one);
            at[i] |= before >> up << 16;
        });
        __syncthreads();
        sum_parts();
        for_groups([&](int i) {
            if (Bins::item(i) < b.count)
                b.s.words[counts()[at[i] & 0xffff] + (at[i] >> 16)] = word[i];
        });
        __syncthreads();
    }
};

/* Where few large bins have many keys: neighbours in order, as equal keys nearly are; where most
 * items are in large bins, these are divided before. A call that floats and integers share. */
template <class Bins> __device__ __noinline__ void divide_bins(const Bins bins, int shift)
{
    extern __shared__ __align__(16) char memory[];
    const Bins b = {bins.job, *(typename Bins::Shared *)memory, bins.count, bins.compared,
                    bins.base};
    const BinParts<Bins> parts = {b, shift};
    const uint2 large = parts.large_items();
    if (8 * large.y > large.x)
        return;
    if (2 * (int)large.x >= min(b.count, BinParts<Bins>::T))
        parts.divide();
    exchange_neighbours(b, Bins::largest_bin);
}

} // namespace GPI_SPACE
