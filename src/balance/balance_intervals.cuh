/* SPDX-License-Identifier: MIT */
/*
 * Copies of intervals, by walks along the merge path of their lengths (balance_walk.cuh).
 *
 * Where intervals are long, on average, a warp takes a part of a tile and copies its pieces one
 * after another, in words of 16 bytes of the output, whatever the alignment of the input. Where
 * they are short, the segment of each item is staged, and neighbouring threads take neighbouring
 * words of the items, as large as sizes and addresses allow.
 */
#pragma once

#include "balance/balance_kernels.cuh"

namespace GPI_SPACE::balance
{

constexpr uint32_t part_bytes = 2048; /* what a warp takes at once, or an item */
constexpr int interval_batch = 2;     /* words of a thread at once */
constexpr uint32_t shifts_max = 512;  /* intervals of which shared memory holds where they lie */

/* By how many items an interval lies behind where it would without starts, modulo 2^64. */
struct shift {
    uint64_t in, out;
};

/* What intervals are copied by, and between. */
template <class Offset> struct intervals {
    const Offset *in_starts, *out_starts; /* NULL: one behind the other */
    const char *in;
    char *out;
    uint32_t item_bytes, word_bytes;

    GPI_DEVICE shift shift_of(const segments<Offset> &g, uint64_t s) const
    {
        const uint64_t begin = g.at(s);
        return {in_starts ? (uint64_t)__ldg(in_starts + s) - begin : 0,
                out_starts ? (uint64_t)__ldg(out_starts + s) - begin : 0};
    }
};

/* ---- long ones ---- */

/* 16 bytes from any address. Reads whole words of memory, up to 3 bytes more at either end. */
GPI_DEVICE uint4 load_unaligned(const char *from)
{
    const uint32_t bits = (uint32_t)((uintptr_t)from & 3) * 8;
    const uint32_t *words = reinterpret_cast<const uint32_t *>(from - ((uintptr_t)from & 3));
    uint32_t w[5];
#pragma unroll
    for (int j = 0; j < 4; j++)
        w[j] = words[j];
    w[4] = bits ? words[4] : 0;
    return make_uint4(__funnelshift_r(w[0], w[1], bits), __funnelshift_r(w[1], w[2], bits),
                      __funnelshift_r(w[2], w[3], bits), __funnelshift_r(w[3], w[4], bits));
}

/* Copy bytes by a warp: words of 16 bytes of the output, and single bytes at its ends. */
GPI_DEVICE void copy_by_warp(const char *from, char *to, uint32_t bytes)
{
    const uint32_t lane = lane_id(), head = min((uint32_t)(0 - (uintptr_t)to) & 15, bytes);
    const bool aligned = (((uintptr_t)from ^ (uintptr_t)to) & 15) == 0;
    /* Of the last word that is put together nothing is read behind the input. */
    const uint32_t spare = aligned ? 0 : 3, left = bytes - head;
    const uint32_t words = left >= spare ? (left - spare) / 16 : 0, tail = head + 16 * words;
    if (lane < head)
        to[lane] = from[lane];
    if (tail + lane < bytes)
        to[tail + lane] = from[tail + lane];
    from += head;
    to += head;
    if (aligned)
#pragma unroll 4
        for (uint32_t w = lane; w < words; w += 32)
            reinterpret_cast<uint4 *>(to)[w] = reinterpret_cast<const uint4 *>(from)[w];
    else
#pragma unroll 2
        for (uint32_t w = lane; w < words; w += 32)
            reinterpret_cast<uint4 *>(to)[w] = load_unaligned(from + 16 * w);
}

/* Segments of a tile, some at a time: where they begin in it, and their shifts. */
struct piece_stage {
    path_ends path;
    uint32_t begins[shifts_max + 1];
    shift shifts[shifts_max];
};

/* Segments first to first + count - 1 of the tile that has the items i0 to i1 - 1. */
template <class Offset>
GPI_DEVICE void stage_pieces(const segments<Offset> &g, const intervals<Offset> &v, uint64_t first,
                             uint32_t count, uint64_t i0, uint64_t i1, piece_stage &s)
{
    for (uint32_t d = threadIdx.x; d <= count; d += workers) {
        const uint64_t begin = g.at(first + d);
        s.begins[d] = (uint32_t)(min(max(begin, i0), i1) - i0);
        if (d < count)
            s.shifts[d] = v.shift_of(g, first + d);
    }
}

/* Copy the items [i, end) of a tile by a warp; item 0 of it is item i0. */
template <class Offset>
GPI_DEVICE void copy_part(const intervals<Offset> &v, const piece_stage &s, uint32_t count,
                          uint64_t i0, uint32_t i, uint32_t end)
{
    uint32_t d = 0, above = count;
    while (above - d > 1) {
        const uint32_t middle = (d + above) / 2;
        if (s.begins[middle] <= i)
            d = middle;
        else
            above = middle;
    }
    for (; i < end && d < count; d++) {
        const uint32_t next = min(s.begins[d + 1], end);
        if (next <= i)
            continue;
        copy_by_warp(v.in + (i0 + i + s.shifts[d].in) * v.item_bytes,
                     v.out + (i0 + i + s.shifts[d].out) * v.item_bytes, (next - i) * v.item_bytes);
        i = next;
    }
}

/*
 * Copy intervals of items of any size and alignment, which are long on average.
 * Grid as expand_k, 10.2 KiB of shared memory, with units steps per tile: less than 2^32 bytes.
 * After: the items of all intervals, up to limit of them.
 */
template <class Offset>
__global__ void __launch_bounds__(threads, resident(5))
    long_intervals_k(const Offset *__restrict__ offsets, walk_size size, uint32_t units,
                     const intervals<Offset> v, gpi_reporter reporter)
{
    __shared__ piece_stage s;
    const uint32_t part = v.item_bytes < part_bytes ? part_bytes / v.item_bytes : 1;
    const segments<Offset> g =
        settle_segments<true>(offsets, size, units, false, nullptr, reporter);
    walk_path<1>(
        g, units, size.tiles_per_block, s.path, [](uint64_t, uint64_t) {},
        [&](uint64_t s0, uint64_t s1, uint64_t d0, uint64_t d1) {
            const uint64_t i0 = d0 - s0, i1 = d1 - s1;
            const uint64_t end = min(s1 + 1, g.num_segments);
            for (uint64_t first = s0; first < end && i0 < i1; first += shifts_max) {
                const uint32_t count = (uint32_t)min(end - first, (uint64_t)shifts_max);
                stage_pieces(g, v, first, count, i0, i1, s);
                workers_sync();
                const uint32_t last = s.begins[count];
                for (uint32_t i = s.begins[0] + threadIdx.x / 32 * part; i < last;
                     i += warps * part)
                    copy_part(v, s, count, i0, i, min(i + part, last));
                workers_sync();
            }
        });
}

/* ---- short ones ---- */

/* Words of an item, and what divides by their number without a division: places in a tile have 16
 * bits, so the quotient is exact. */
struct item_words {
    uint32_t count, reciprocal;

    GPI_DEVICE explicit item_words(uint32_t count)
        : count(count), reciprocal((uint32_t)(0x100000000u / count + 1))
    {
    }

    GPI_DEVICE uint32_t item_of(uint32_t place) const
    {
        return count == 1 ? place : __umulhi(place, reciprocal);
    }
};

/* The items of a tile, of which item 0 is item i0, word by word. shifts_at(items, shifts): by how
 * much items of the tile are moved. Of several words of a thread all are read before any is
 * written, and all that a step needs before the next step waits for it. */
template <class Word, class Offset, class ShiftsAt>
GPI_DEVICE void copy_items(const intervals<Offset> &v, uint64_t i0, uint32_t items,
                           ShiftsAt shifts_at)
{
    const item_words words(v.item_bytes / sizeof(Word));
    const Word *in = reinterpret_cast<const Word *>(v.in) + i0 * words.count;
    Word *out = reinterpret_cast<Word *>(v.out) + i0 * words.count;
    const uint32_t count = items * words.count;
    for (uint32_t first = threadIdx.x; first < count; first += interval_batch * workers) {
        uint32_t place[interval_batch], item[interval_batch];
        shift by[interval_batch];
        Word word[interval_batch];
#pragma unroll
        for (int b = 0; b < interval_batch; b++) {
            place[b] = min(first + b * workers, count - 1);
            item[b] = words.item_of(place[b]);
        }
        shifts_at(item, by);
#pragma unroll
        for (int b = 0; b < interval_batch; b++)
            word[b] = in[by[b].in * words.count + place[b]];
#pragma unroll
        for (int b = 0; b < interval_batch; b++)
            if (first + b * workers < count)
                out[by[b].out * words.count + place[b]] = word[b];
    }
}

struct interval_stage {
    stage walk;
    shift shifts[shifts_max];
};

/*
 * The same, for intervals that are short on average; word_bytes as in expand_bytes_k.
 * Grid as expand_k, 24.1 KiB of shared memory, with units steps per tile: less than 2^16 words.
 */
template <class Offset>
__global__ void __launch_bounds__(threads, resident(4))
    short_intervals_k(const Offset *__restrict__ offsets, walk_size size, uint32_t units,
                      const intervals<Offset> v, gpi_reporter reporter)
{
    __shared__ interval_stage s;
    const segments<Offset> g =
        settle_segments<true>(offsets, size, units, false, nullptr, reporter);
    walk_tiles(
        g, units, size.tiles_per_block, s.walk, [](uint64_t) { return 0u; },
        [&](const tile &t) {
            const sources source = sources_of(t, g.num_segments);
            const bool cached = t.s1 - t.s0 < shifts_max;
            const auto shifts_at = [&](const uint32_t(&item)[interval_batch],
                                       shift(&by)[interval_batch]) {
                uint32_t distance[interval_batch];
#pragma unroll
                for (int b = 0; b < interval_batch; b++)
                    distance[b] = min((uint32_t)s.walk.heads[item[b]], source.last);
                if (cached)
#pragma unroll
                    for (int b = 0; b < interval_batch; b++)
                        by[b] = s.shifts[distance[b]];
                else
#pragma unroll
                    for (int b = 0; b < interval_batch; b++)
                        by[b] = v.shift_of(g, source.first + distance[b]);
            };
            /* 1. Whose each item is, and where its interval lies. */
            const uint32_t most = (uint32_t)min((uint64_t)source.last, t.s1 - t.s0);
            for (uint32_t d = threadIdx.x; cached && d <= most; d += workers)
                s.shifts[d] = v.shift_of(g, source.first + d);
            stage_distances(t, s.walk);
            /* 2. The items. */
            const uint32_t items = (uint32_t)(t.i1 - t.i0);
            with_item_word(v.word_bytes, [&](auto word) {
                copy_items<decltype(word)>(v, t.i0, items, shifts_at);
            });
        });
}

} // namespace GPI_SPACE::balance
