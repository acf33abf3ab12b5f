/* SPDX-License-Identifier: MIT */
/*
 * The steps of sorting a bucket inside a block: its keys in registers, and the bits in which they
 * vary; sums of the counts of bins; odd-even transposition of small bins (Knuth volume 3, 5.3.4);
 * words that tie, as they lack the lowest bits of their keys, in the order of these; output. Bins:
 * a BucketBins, whose counts are starts before its items are in bins, and ends when they are.
 */
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/copy_async.cuh"
#include "device/undefined.cuh"
#include "device/warp.cuh"
#include "radixsort/radixsort_key_codec.cuh"

namespace GPI_SPACE
{

/* ---- keys ---- */

/* A key's bits as they are compared. */
template <class K>
using RadixWord = typename std::conditional<sizeof(K) == 8, uint64_t, uint32_t>::type;

/* A range of bits that do not vary between others that do, as between two small numbers that share
 * a key. Words are closed: without the hole, the highest bits vary. Only 8-byte words have one. */
template <class Word> struct BitHole {
    int at, bits;

    /* The longest one in [begin, end); if it is at begin, with the rest of it below. */
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

    /* A word without the hole, in which its bits are zero. */
    GPI_DEVICE Word close(Word word) const
    {
        return (word & below()) | (word >> bits & ~below());
    }

    /* The inverse. */
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
};

/* The keys of a bucket in a block's registers. */
template <class Word, int I> struct BucketKeys : BucketBits<Word> {
    Word word[I];
};

/* ---- bins ---- */

/* Exclusive sums of four counts; returns their sum. */
GPI_DEVICE uint32_t starts_of(uint4 &c, uint32_t &most)
{
    const uint32_t upto2 = c.x + c.y, upto3 = upto2 + c.z, sum = upto3 + c.w;
    most = max(max(most, max(c.x, c.y)), max(c.z, c.w));
    c = make_uint4(0, c.x, upto2, upto3);
    return sum;
}

/* Counts become starts; returns the largest count. */
template <class Bins> GPI_DEVICE uint32_t sum_bins(const Bins &b)
{
    constexpr int quads = Bins::quads, warps = Bins::warps;
    constexpr uint32_t items = 32 * Bins::items_of_thread; /* of a warp */
    const int warp = (int)threadIdx.x / 32;
    uint4 c[quads];
    uint32_t at[quads], most = 0, begin = 0;
#pragma unroll
    for (int i = 0; i < quads; i += 2) {
        uint32_t sum[2];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            c[i + j] = *b.quad(warp * quads + i + j);
            sum[j] = starts_of(c[i + j], most);
        }
        const uint32_t both = sum[0] | sum[1] << 16;
        const uint32_t upto = warp_running_sum(both), before = upto - both;
        const uint32_t all = __shfl_sync(all_lanes, upto, 31);
        at[i] = begin + (before & 0xffff);
        at[i + 1] = begin + (all & 0xffff) + (before >> 16);
        begin += (all & 0xffff) + (all >> 16);
    }
    most = warp_max(most);
    if (lane_id() == 0) {
        b.s.total[warp] = begin;
        b.s.fullest[warp] = most;
    }
    __syncthreads();
    const bool other = lane_id() < warps;
    const uint32_t before_warp = warp_sum(other && lane_id() < warp ? b.s.total[lane_id()] : 0);
#pragma unroll
    for (int i = 0; i < quads; i++) {
        const uint32_t a = at[i] + before_warp;
        *b.quad(warp * quads + i) = make_uint4(c[i].x + a, c[i].y + a, c[i].z + a, c[i].w + a);
    }
    if (lane_id() == 0 && begin > 0)
        for (uint32_t w = before_warp / items; w <= (before_warp + begin - 1) / items; w++)
            atomicMax(&b.s.largest[w], most);
    most = warp_max(other ? b.s.fullest[lane_id()] : 0);
    __syncthreads();
    return most;
}

/* ---- exchanges ---- */

/* With put_in_order() of device/network.cuh kernels of 8-byte keys spill more registers. */
template <class Word> GPI_DEVICE void compare_exchange(Word &a, Word &b)
{
    const Word low = a < b ? a : b;
    b = a < b ? b : a;
    a = low;
}

/* Sorts a warp's window in registers, in as many rounds as its largest bin has items. Windows lie
 * one after the other, or `before` items before that. */
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

/* Bins that have items in two windows: a warp sorts the 32 items around its first one. */
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

/* How many items bins have that are too large for that, and in two windows: for the second one of
 * these. Counts are ends. */
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

/* Sorts bins of up to `most` items. */
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

/* Sorts words that tie by their keys. By a whole block; they share a bin, so they are few. */
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

/* A call, so that with words of 4 bytes the code around it keeps its registers. */
template <class Bins, class K>
__device__ __noinline__ void call_order_ties(const Bins b, const K *keys_in)
{
    order_ties(b, keys_in);
}

/* ---- writing ---- */

/* Out of the stage into sorted order. */
template <class Bins, class X> GPI_DEVICE void write_staged(const Bins &b, X *to)
{
    copy_async_wait();
    __syncthreads();
    b.for_rows([&](int i) {
        __stcs(to + Bins::item(i), ((const X *)b.s.stage)[b.position(Bins::item(i))]);
    });
}

/* What does not fit the stage. A bucket may be sorted in place, so all of it is read before
 * anything is written. */
template <class Bins, class X> GPI_DEVICE void write_picked(const Bins &b, X *to, const X *from)
{
    X value[Bins::items_of_thread];
    leave_undefined<Bins::in_loop>(value);
    b.for_rows([&](int i) { value[i] = from[b.position(Bins::item(i))]; });
    __syncthreads();
    b.for_rows([&](int i) { __stcs(to + Bins::item(i), value[i]); });
}

template <class Bins, class V>
GPI_DEVICE void write_narrow(const Bins &b, const ValueArray<V> &to, const ValueArray<V> &from)
{
    V value[Bins::items_of_thread];
    leave_undefined<Bins::in_loop>(value);
    b.for_rows([&](int i) { value[i] = from.load_narrow(b.position(Bins::item(i))); });
    __syncthreads();
    b.for_rows([&](int i) { to.store_narrow(Bins::item(i), value[i]); });
}

} // namespace GPI_SPACE
