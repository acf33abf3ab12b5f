/* SPDX-License-Identifier: MIT */
/*
 * The heads of segments as bits, from offsets, a number per segment. Those of a warp's offsets are
 * made in shared memory where they lie near each other, and written side by side.
 */
#pragma once

extern "C" {
#include "segments/segments_internal.h"
}
#include "device/grid.cuh"
#include "device/item_count.cuh"
#include "device/report.cuh"
#include "device/warp.cuh"
#include "tuning/scan_tuning.cuh"

namespace GPI_SPACE
{

constexpr int side_by_side = scan_tuning.heads_offsets;
constexpr int span_vectors = scan_tuning.heads_span / 4;

/* A lane's offsets, side by side, and the one behind them. */
template <class Offset> struct Offsets {
    Offset at[side_by_side];
    Offset after; /* of the last lane */

    /* By a whole warp, whose first offset is s0; what stands behind the array is past_end. */
    GPI_DEVICE void load(const Offset *offsets, uint64_t num_segments, uint64_t s0, Offset past_end)
    {
        constexpr int V = side_by_side;
        const uint64_t s = s0 + lane_id() * V;
        const bool whole = s0 + 32 * V <= num_segments;
        after = past_end;
        if (whole && lane_id() == 31)
            after = __ldg(offsets + s + V);
        if ((uintptr_t)offsets % 16 == 0 && whole) {
            union {
                uint4 vector[V * sizeof(Offset) / 16];
                Offset at[V];
            } u;
#pragma unroll
            for (size_t j = 0; j < V * sizeof(Offset) / 16; j++)
                u.vector[j] = __ldcs((const uint4 *)(offsets + s) + j);
#pragma unroll
            for (int j = 0; j < V; j++)
                at[j] = u.at[j];
        } else {
#pragma unroll
            for (int j = 0; j < V; j++)
                at[j] = s + j <= num_segments ? __ldg(offsets + s + j) : past_end;
        }
    }

    /* The one behind it; after rebase(). */
    GPI_DEVICE Offset next(int j) const
    {
        return j + 1 < side_by_side ? at[j + 1] : after;
    }

    /* Relative to base; after: of every lane. */
    GPI_DEVICE void rebase(Offset base)
    {
#pragma unroll
        for (int j = 0; j < side_by_side; j++)
            at[j] -= base;
        const Offset of_next_lane = shuffle_down(at[0], 1);
        after = lane_id() == 31 ? (Offset)(after - base) : of_next_lane;
    }
};

/* The words that a warp's heads are in, which it makes in shared memory of its own: vectors of them
 * from word `first` on, at a 16-byte boundary; 0 where they lie too far apart. Those at begin and
 * last (from first) may be other warps' as well. */
template <class Offset> struct Span {
    uint32_t *words;
    Offset first;
    int vectors, begin, last;
    static_assert(span_vectors % 8 == 0, "vectors change places among 8");

    /* No heads, in the words between those of two offsets. */
    GPI_DEVICE Span(uint32_t *words_, Offset from, Offset to) : words(words_), first(from / 128 * 4)
    {
        const Offset end = to / 32;
        vectors = first <= end && end - first < span_vectors * 4 ? (int)(end - first) / 4 + 1 : 0;
        begin = (int)(from / 32 - first);
        last = (int)(end - first);
#pragma unroll 1
        for (int v = lane_id(); v < (vectors + 7) / 8 * 8; v += 32)
            ((uint4 *)words)[v] = {};
        __syncwarp();
    }

    /* SPREAD: the heads of segments of one length would meet in a few banks. */
    template <bool SPREAD> GPI_DEVICE uint32_t *at(int word) const
    {
        return words + (SPREAD ? word ^ (word >> 3 & 0x1c) : word);
    }

    template <bool SPREAD> GPI_DEVICE void mark(int word, uint32_t bits) const
    {
        if (bits && (uint32_t)word < vectors * 4)
            atomicOr(at<SPREAD>(word), bits);
    }

    template <bool SPREAD> GPI_DEVICE void write(uint32_t *heads) const
    {
        uint32_t *to = heads + first;
        __syncwarp();
#pragma unroll 2
        for (int v = 1 + lane_id(); v < vectors - 1; v += 32)
            ((uint4 *)to)[v] = *(const uint4 *)at<SPREAD>(4 * v);
        const int word = lane_id() < 4 ? lane_id() : (vectors - 2) * 4 + lane_id();
        if (lane_id() < (vectors > 1 ? 8 : vectors * 4)) {
            const uint32_t own = *at<SPREAD>(word);
            if (own && (word == begin || word == last))
                atomicOr(to + word, own);
            else if (own)
                to[word] = own;
        }
        __syncwarp();
    }
};

/* The heads of a warp whose lanes have theirs in two words each. */
template <class Offset>
GPI_DEVICE bool near_heads(uint32_t *heads, const Offsets<Offset> &own, const Span<Offset> &span)
{
    const Offset base = own.at[0];
    uint32_t window = 0;
    bool falls = false;
#pragma unroll
    for (int j = 0; j < side_by_side; j++) {
        falls = falls || own.at[j] > own.next(j);
        window |= __funnelshift_lc(0, 1, (uint32_t)(own.at[j] - base)); /* 0 from 32 on */
    }
    const int place = (int)(base / 32 - span.first), shift = (int)(base % 32);
    span.template mark<false>(place, window << shift);
    span.template mark<false>(place + 1, __funnelshift_l(window, 0, shift));
    span.template write<false>(heads);
    return falls;
}

template <class Offset>
GPI_DEVICE bool far_heads(uint32_t *heads, const Offsets<Offset> &own, Offset n,
                          const Span<Offset> &span)
{
    bool falls = false;
#pragma unroll
    for (int j = 0; j < side_by_side; j++) {
        const Offset at = own.at[j], next = own.next(j), place = at / 32 - span.first;
        falls = falls || at > next;
        if (at >= n || at == next)
            continue;
        if (span.vectors == 0)
            atomicOr(heads + at / 32, 1u << at % 32);
        else if (place < span_vectors * 4)
            span.template mark<true>((int)place, 1u << at % 32);
    }
    span.template write<true>(heads);
    return falls;
}

/*
 * The heads of a warp's offsets, relative to the first; those from n on are left out, but for one
 * at n, which stands behind all items. Those of offsets that fall may be left out. Returns whether
 * they fall.
 */
template <class Offset>
GPI_DEVICE bool heads_of(uint32_t *heads, const Offsets<Offset> &own, Offset n, uint32_t *words)
{
    const Offset end = shuffle(own.at[side_by_side - 1], 31);
    const Span<Offset> span(words, shuffle(own.at[0], 0), end < n ? end : n);
    const bool near = own.at[side_by_side - 1] - own.at[0] < 32;
    return __all_sync(all_lanes, span.vectors > 0 && near) ? near_heads(heads, own, span)
                                                           : far_heads(heads, own, n, span);
}

template <class Offset> GPI_DEVICE Offset sign_bit(const gpi_reporter &reporter)
{
    const bool is_signed = reporter.source.dtype == GP_I32 || reporter.source.dtype == GP_I64;
    return is_signed ? (Offset)1 << (8 * sizeof(Offset) - 1) : 0;
}

/* Whether offset s is above the next, as numbers of a dtype with the sign bit bias (0: none). */
template <class Offset> GPI_DEVICE bool falls_behind(const Offset *offsets, uint64_t s, Offset bias)
{
    return (Offset)(offsets[s] ^ bias) > (Offset)(offsets[s + 1] ^ bias);
}

/* Report what thread has met: that the first offset is negative or the last is not past_end (thread
 * 0), or the place where offsets fall. Where they have fallen below the first one, the thread has
 * met the place at which they come back. Not inlined, for the kernel's loop to stay as it is. */
template <class Offset>
__device__ __noinline__ void report_offsets(const Offset *offsets, uint64_t num_segments,
                                            Offset past_end, uint64_t thread, uint64_t step,
                                            const gpi_reporter &reporter)
{
    const Offset bias = sign_bit<Offset>(reporter), base = offsets[0];
    if (thread == 0 && offsets[num_segments] != past_end)
        report(reporter, GPI_RULE_LAST, num_segments, offsets[num_segments], past_end);
    if (thread == 0 && (base & bias))
        report(reporter, GPI_RULE_NEGATIVE, 0, base, 0);
    for (uint64_t first = thread * side_by_side; first < num_segments; first += step)
        for (uint64_t s = first; s < first + side_by_side && s < num_segments; s++) {
            if ((Offset)(offsets[s] - base) <= (Offset)(offsets[s + 1] - base))
                continue;
            while (s > 0 && !falls_behind(offsets, s, bias))
                s--;
            return report(reporter, GPI_RULE_FALLS, s + 1, offsets[s + 1], offsets[s]);
        }
}

/* Grid: any; 256 threads. After: no bits, up to the multiple of 128 after item n. */
__global__ void __launch_bounds__(scan_tuning.heads_threads)
    segment_no_heads_k(const __grid_constant__ gpi_segment_marks m)
{
    constexpr int threads = scan_tuning.heads_threads;
    uint4 *to = (uint4 *)m.heads;
    const uint64_t vectors = item_count(m) / 128 + 1, all = (uint64_t)gridDim.x * threads;
    grid_release();
    for (uint64_t v = (uint64_t)blockIdx.x * threads + threadIdx.x; v < vectors; v += all)
        to[v] = {};
}

/*
 * Grid: any; 256 threads; after segment_no_heads_k. After: a bit where a segment starts, and at 0.
 * Nothing outside the array is written whatever the offsets hold. Reports where they fall or that
 * they do not end at n.
 */
template <class Offset>
__global__ void __launch_bounds__(scan_tuning.heads_threads,
                                  sizeof(Offset) == 4 ? scan_tuning.heads_resident : 4)
    segment_offsets_k(const __grid_constant__ gpi_segment_marks m)
{
    constexpr int threads = scan_tuning.heads_threads;
    const Offset *__restrict__ offsets = (const Offset *)m.array;
    const uint64_t num_segments = item_count(ItemCount{m.count, m.device_count});
    const Offset n = (Offset)item_count(m);
    uint32_t *heads = m.heads;
    grid_release();
    alignas(16) __shared__ uint32_t spans[threads / 32][span_vectors * 4];
    const Offset base = __ldg(offsets), past_end = base + n;
    const uint64_t thread = (uint64_t)blockIdx.x * threads + threadIdx.x;
    const uint64_t step = (uint64_t)gridDim.x * threads * side_by_side;
    bool bad = false;
    if (thread == 0)
        bad = __ldg(offsets + num_segments) != past_end || (base & sign_bit<Offset>(m.reporter));
    uint64_t s0 = (thread - lane_id()) * side_by_side;
    Offsets<Offset> own, ahead; /* one round is read while the one before is worked on */
    if (s0 < num_segments)
        ahead.load(offsets, num_segments, s0, past_end);
    grid_wait(); /* for the zeros */
    if (thread == 0)
        atomicOr(heads, 1u);
    for (; s0 < num_segments; s0 += step) {
        own = ahead;
        own.rebase(base);
        if (s0 + step < num_segments)
            ahead.load(offsets, num_segments, s0 + step, past_end);
        bad = heads_of(heads, own, n, spans[threadIdx.x / 32]) || bad;
    }
    if (bad)
        report_offsets(offsets, num_segments, past_end, thread, step, m.reporter);
}

} // namespace GPI_SPACE
