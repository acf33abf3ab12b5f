/* SPDX-License-Identifier: MIT */
/*
 * Copies of intervals, by walks along the merge path of their lengths (balance_walk.cuh).
 *
 * Where the intervals of a tile are long, a warp takes a part of the tile and copies its pieces one
 * after another, in words of 16 bytes of the output, whatever the alignment of the input. Where
 * they are short, neighbouring threads take neighbouring words of the items, as large as sizes and
 * addresses allow.
 */
#pragma once

#include "balance/balance_kernels.cuh"

namespace GPI_SPACE::balance
{

constexpr uint32_t long_bytes = 256;    /* of the pieces of a tile, on average */
constexpr uint32_t part_bytes = 1024;   /* what a warp takes at once, or an item */
constexpr uint32_t shifts_cached = 512; /* intervals of a tile whose shifts are in shared memory */

/* By how many items an interval lies behind where it would without starts, modulo 2^64. */
struct shift {
    uint64_t in, out;
};

struct interval_stage {
    stage walk;
    shift shifts[shifts_cached];
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

/* 16 bytes from any address, of which the last four words of memory that they touch are read. */
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
    /* A word that is put together from five must not reach behind the input. */
    const uint32_t spare = aligned ? 0 : 3;
    const uint32_t words = bytes - head >= spare ? (bytes - head - spare) / 16 : 0;
    const uint32_t tail = head + 16 * words;
    if (lane < head)
        to[lane] = from[lane];
    if (tail + lane < bytes)
        to[tail + lane] = from[tail + lane];
#pragma unroll 2
    for (uint32_t w = lane; w < words; w += 32) {
        const char *at = from + head + 16 * w;
        *reinterpret_cast<uint4 *>(to + head + 16 * w) =
            aligned ? *reinterpret_cast<const uint4 *>(at) : load_unaligned(at);
    }
}

/* A tile of long pieces; shift_at(distance) gives the shift of a segment. */
template <class Offset, class ShiftAt>
GPI_DEVICE void copy_pieces(const segments<Offset> &g, const intervals<Offset> &v, const tile &t,
                            const stage &s, const sources &source, ShiftAt shift_at)
{
    const uint32_t count = (uint32_t)(t.i1 - t.i0);
    const uint32_t part = v.item_bytes < part_bytes ? part_bytes / v.item_bytes : 1;
    for (uint32_t first = threadIdx.x / 32 * part; first < count; first += warps * part) {
        const uint32_t last = min(first + part, count);
        for (uint32_t i = first; i < last;) {
            const uint32_t distance = min((uint32_t)s.heads[i], source.last);
            const uint64_t segment_end = g.at(source.first + distance + 1) - t.i0;
            /* Forward, whatever the offsets are. */
            const uint32_t end =
                segment_end > i && segment_end < last ? (uint32_t)segment_end : last;
            const shift by = shift_at(distance);
            copy_by_warp(v.in + (t.i0 + i + by.in) * v.item_bytes,
                         v.out + (t.i0 + i + by.out) * v.item_bytes, (end - i) * v.item_bytes);
            i = end;
        }
    }
}

/* A tile word by word. */
template <class Word, class Offset, class ShiftAt>
GPI_DEVICE void copy_items(const intervals<Offset> &v, const tile &t, const stage &s,
                           const sources &source, ShiftAt shift_at)
{
    constexpr int batch = sizeof(Word) == 16 ? 2 : 4; /* on their way at once */
    const uint32_t words = v.item_bytes / sizeof(Word);
    const uint32_t count = (uint32_t)(t.i1 - t.i0) * words;
    const Word *in = reinterpret_cast<const Word *>(v.in);
    Word *out = reinterpret_cast<Word *>(v.out);
    for (uint32_t k = threadIdx.x; k < count; k += batch * workers) {
        Word value[batch];
        uint64_t to[batch];
#pragma unroll
        for (int j = 0; j < batch; j++) {
            const uint32_t place = k + j * workers;
            if (place >= count)
                break;
            const uint32_t item = words == 1 ? place : place / words;
            const uint32_t part = place - item * words;
            const shift by = shift_at(min((uint32_t)s.heads[item], source.last));
            value[j] = in[(t.i0 + item + by.in) * words + part];
            to[j] = (t.i0 + item + by.out) * words + part;
        }
#pragma unroll
        for (int j = 0; j < batch; j++)
            if (k + j * workers < count)
                out[to[j]] = value[j];
    }
}

template <class Offset, class ShiftAt>
GPI_DEVICE void copy_tile(const segments<Offset> &g, const intervals<Offset> &v, const tile &t,
                          const stage &s, const sources &source, ShiftAt shift_at)
{
    const uint64_t bytes = (t.i1 - t.i0) * v.item_bytes;
    if ((t.s1 - t.s0 + 1) * long_bytes <= bytes)
        copy_pieces(g, v, t, s, source, shift_at);
    else if (v.word_bytes == 16)
        copy_items<uint4>(v, t, s, source, shift_at);
    else if (v.word_bytes == 8)
        copy_items<uint64_t>(v, t, s, source, shift_at);
    else if (v.word_bytes == 4)
        copy_items<uint32_t>(v, t, s, source, shift_at);
    else if (v.word_bytes == 2)
        copy_items<uint16_t>(v, t, s, source, shift_at);
    else
        copy_items<uint8_t>(v, t, s, source, shift_at);
}

/*
 * Copy intervals of items of any size and alignment; word_bytes as in expand_bytes_k.
 * Grid as search_k, 24.1 KiB of shared memory, with units steps per tile: at most 2^32 words.
 * After: the items of all intervals, up to limit of them.
 */
template <class Offset>
__global__ void __launch_bounds__(threads, 4)
    intervals_k(const Offset *__restrict__ offsets, uint64_t num_segments, uint64_t limit,
                uint32_t units, uint64_t tiles_per_block, const intervals<Offset> v,
                gpi_reporter reporter)
{
    __shared__ interval_stage s;
    segments<Offset> g(offsets, num_segments);
    g.num_items = min(limit, g.total());
    settle_count(g, limit, false, nullptr, reporter);
    walk_tiles(
        g, units, tiles_per_block, s.walk, [](uint64_t) { return 0u; },
        [&](const tile &t) {
            const sources source = sources_of(t, num_segments);
            const bool cached = t.s1 - t.s0 < shifts_cached;
            /* 1. Whose each item is, and where its interval lies. */
            const uint32_t most = (uint32_t)min((uint64_t)source.last, t.s1 - t.s0);
            for (uint32_t d = threadIdx.x; cached && d <= most; d += workers)
                s.shifts[d] = v.shift_of(g, source.first + d);
            stage_distances(t, s.walk);
            /* 2. The items. */
            copy_tile(g, v, t, s.walk, source, [&](uint32_t distance) {
                return cached ? s.shifts[distance] : v.shift_of(g, source.first + distance);
            });
        });
}

} // namespace GPI_SPACE::balance
