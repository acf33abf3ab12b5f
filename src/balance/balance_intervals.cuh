/* SPDX-License-Identifier: MIT */
/*
 * Copies of intervals, by walks along the merge path of their lengths (balance_walk.cuh).
 *
 * A tile's intervals are pieces; each takes as many slots as its output has bytes in aligned words
 * of memory, wherever it begins. Neighbouring threads take neighbouring slots, whatever the size of
 * an item and the length of an interval: a bit tells where a piece's slots begin, and the set bits
 * up to a slot number its piece. What lies in memory is read as whole words that have a byte of the
 * piece, and shifted to its place in the output.
 */
#pragma once

#include "balance/balance_kernels.cuh"
#include "device/block.cuh"

namespace GPI_SPACE::balance
{

constexpr uint32_t thread_pieces = 2, pieces_max = thread_pieces * workers; /* at a time */
constexpr uint32_t slots_max = 4096;                                        /* at a time */
static_assert(slots_max % 32 == 0 && slots_max / 32 <= workers, "a thread per word of bits");

/* What intervals are copied by, and between. */
template <class Offset> struct intervals {
    const Offset *in_starts, *out_starts; /* NULL: one behind the other */
    const char *in;
    char *out;
    uint32_t item_bytes;
};

/* Of `bytes` bytes. Slot k has the word at `to` + WORD k; the piece begins in the low bits of `to`
 * bytes behind the first one, and ends behind `end` bytes of it. */
struct piece {
    uint64_t to;     /* as if slot 0 were the first one */
    uint64_t behind; /* how far from an output's byte its input is, modulo 2^64 */
    uint32_t first, end;
};

struct piece_stage {
    path_ends path;
    piece pieces[pieces_max]; /* those that have slots */
    uint32_t bits[slots_max / 32], before[slots_max / 32];
    uint64_t sums[warps];
    uint32_t passed;
};

/* Whether a piece has slots, in the high bits; and how many. */
GPI_DEVICE uint64_t piece_counts(uint64_t slots)
{
    return slots ? slots | 1ull << 48 : 0;
}

/* The part of segment s that is between items i0 and i1: slots of it, and the piece. */
template <uint32_t WORD, class Offset>
GPI_DEVICE uint32_t piece_of(const segments<Offset> &g, const intervals<Offset> &v, uint64_t s,
                             uint64_t i0, uint64_t i1, piece &p)
{
    const uint64_t begin = g.at(s), first = max(begin, i0), end = min(g.at(s + 1), i1);
    if (first >= end)
        return 0;
    const uint64_t in = v.in_starts ? (uint64_t)__ldg(v.in_starts + s) + (first - begin) : first;
    const uint64_t out = v.out_starts ? (uint64_t)__ldg(v.out_starts + s) + (first - begin) : first;
    const uint64_t to = (uint64_t)(uintptr_t)v.out + out * v.item_bytes;
    p.to = to;
    p.behind = (uint64_t)(uintptr_t)v.in + in * v.item_bytes - to;
    p.end = (uint32_t)(to % WORD + (end - first) * v.item_bytes);
    return (p.end + WORD - 1) / WORD;
}

/* Fetch into the L2 cache where segments s0 to s1 lie, by one warp. */
template <class Offset>
GPI_DEVICE void prefetch_starts(const intervals<Offset> &v, uint64_t s0, uint64_t s1)
{
    if (v.in_starts)
        prefetch_values((const char *)v.in_starts, s0 * sizeof(Offset), s1 * sizeof(Offset));
    if (v.out_starts)
        prefetch_values((const char *)v.out_starts, s0 * sizeof(Offset), s1 * sizeof(Offset));
}

/* The sum of all workers' values before a thread's own, and of all. */
GPI_DEVICE uint64_t workers_exclusive(uint64_t own, uint64_t (&sums)[warps], uint64_t &all)
{
    uint64_t before = own;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        const uint64_t left = shuffle_up(before, d);
        before += lane_id() >= d ? left : 0;
    }
    if (lane_id() == 31)
        sums[threadIdx.x / 32] = before;
    workers_sync();
    before -= own;
    all = 0;
#pragma unroll
    for (int w = 0; w < warps; w++) {
        before += w < (int)threadIdx.x / 32 ? sums[w] : 0;
        all += sums[w];
    }
    return before;
}

/* Bits of the slots from `from` on, where pieces begin. */
GPI_DEVICE void stage_bits(const uint32_t (&first)[thread_pieces],
                           const bool (&there)[thread_pieces], uint32_t from, piece_stage &s)
{
    if (threadIdx.x < slots_max / 32)
        s.bits[threadIdx.x] = 0;
    workers_sync();
#pragma unroll
    for (uint32_t k = 0; k < thread_pieces; k++)
        if (there[k] && first[k] - from < slots_max)
            atomicOr(&s.bits[(first[k] - from) / 32], 1u << first[k] % 32);
    workers_sync();
    if (threadIdx.x < 32) {
        constexpr uint32_t each = slots_max / 32 / 32;
        uint32_t own[each], sum = 0;
#pragma unroll
        for (uint32_t k = 0; k < each; k++) {
            own[k] = sum;
            sum += __popc(s.bits[each * lane_id() + k]);
        }
        const uint32_t before = warp_exclusive(sum) + s.passed;
#pragma unroll
        for (uint32_t k = 0; k < each; k++)
            s.before[each * lane_id() + k] = before + own[k];
        __syncwarp();
        if (lane_id() == 31)
            s.passed = before + sum;
    }
    workers_sync();
}

/* One word of the output: bytes [low, high) of it. */
template <uint32_t WORD> struct slot {
    static constexpr int words = WORD / 4;
    char *to;
    uint32_t low, high, shift, w[words + 1];

    /* Slot k, and the words of memory that have its bytes. */
    GPI_DEVICE void read(const piece_stage &s, uint32_t from, uint32_t k)
    {
        const uint32_t at = k - from, bits = s.bits[at / 32] & ((2u << at % 32) - 1);
        const piece p = s.pieces[s.before[at / 32] + __popc(bits) - 1];
        const uint32_t place = (k - p.first) * WORD, begin = (uint32_t)p.to % WORD;
        const uint64_t word = p.to - begin + place, source = word + p.behind;
        const uint32_t *in = (const uint32_t *)(uintptr_t)(source & ~(uint64_t)3);
        to = (char *)(uintptr_t)word;
        low = begin > place ? begin - place : 0;
        high = min(p.end - place, WORD);
        shift = (uint32_t)source % 4;
        if (WORD == 16 && low == 0 && high == WORD && source % 16 == 0) {
            const uint4 v = *(const uint4 *)in;
            w[0] = v.x, w[words > 1 ? 1 : 0] = v.y, w[words > 2 ? 2 : 0] = v.z,
            w[words > 3 ? 3 : 0] = v.w;
            return;
        }
#pragma unroll
        for (int j = 0; j <= words; j++)
            w[j] = shift + low < 4 * (j + 1) && shift + high > 4 * j ? in[j] : 0;
    }

    GPI_DEVICE void write() const
    {
        uint32_t x[words];
#pragma unroll
        for (int j = 0; j < words; j++)
            x[j] = __funnelshift_r(w[j], w[j + 1], shift * 8);
        if (low == 0 && high == WORD) {
            if constexpr (WORD == 16)
                *(uint4 *)to = make_uint4(x[0], x[1], x[2], x[3]);
            else
                *(uint32_t *)to = x[0];
            return;
        }
#pragma unroll
        for (int j = 0; j < words; j++)
            if (words > 1 && low <= 4 * j && high >= 4 * (j + 1))
                ((uint32_t *)to)[j] = x[j];
            else
#pragma unroll
                for (uint32_t b = 4 * j; b < 4 * (j + 1); b++)
                    if (b >= low && b < high)
                        to[b] = (char)(x[j] >> b % 4 * 8);
    }
};

/* Slots [from, end) of those that have bits, by all workers: of several of a thread all are read
 * before any is written. */
template <uint32_t WORD>
GPI_DEVICE void copy_slots(const piece_stage &s, uint32_t from, uint32_t end)
{
    constexpr uint32_t batch = 2;
    for (uint32_t first = from + threadIdx.x; first < end; first += batch * workers) {
        slot<WORD> own[batch];
#pragma unroll
        for (uint32_t b = 0; b < batch; b++)
            own[b].read(s, from, min(first + b * workers, end - 1));
#pragma unroll
        for (uint32_t b = 0; b < batch; b++)
            if (first + b * workers < end)
                own[b].write();
    }
}

/*
 * Copy intervals of items of any size and alignment, in words of WORD bytes, 4 or 16. Grid as
 * expand_k, with units steps per tile: less than 2^32 bytes. After: the items of all intervals, up
 * to limit of them.
 */
template <uint32_t WORD, class Offset>
__global__ void __launch_bounds__(threads, resident(WORD == 4 ? 5 : 4))
    intervals_k(const Offset *__restrict__ offsets, walk_size size, uint32_t units,
                const intervals<Offset> v, gpi_reporter reporter)
{
    __shared__ piece_stage s;
    walk_path<1, false>(
        offsets, size, units, s.path,
        [=](uint64_t count, uint64_t limit, uint64_t total) {
            settle_total(count, limit, total, size.may_cover_less, false, nullptr, reporter);
        },
        [=](uint64_t s1, uint64_t s2) { prefetch_starts(v, s1, s2); },
        [&](const segments<Offset> &g, uint64_t s0, uint64_t s1, uint64_t d0, uint64_t d1) {
            const uint64_t i0 = d0 - s0, i1 = d1 - s1;
            const uint64_t end = min(s1 + 1, g.num_segments);
            for (uint64_t begin = s0; begin < end && i0 < i1; begin += pieces_max) {
                /* 1. The pieces of neighbouring segments of a thread, and their slots. */
                piece own[thread_pieces];
                uint32_t first[thread_pieces];
                bool there[thread_pieces];
                uint64_t sum = 0, all;
#pragma unroll
                for (uint32_t k = 0; k < thread_pieces; k++) {
                    const uint64_t segment = begin + thread_pieces * threadIdx.x + k;
                    first[k] = segment < end ? piece_of<WORD>(g, v, segment, i0, i1, own[k]) : 0;
                    there[k] = first[k] > 0;
                    sum += piece_counts(first[k]);
                }
                uint64_t before = workers_exclusive(sum, s.sums, all);
#pragma unroll
                for (uint32_t k = 0; k < thread_pieces; k++) {
                    const uint64_t counts = piece_counts(first[k]);
                    own[k].first = first[k] = (uint32_t)before;
                    if (there[k])
                        s.pieces[before >> 48] = own[k];
                    before += counts;
                }
                if (threadIdx.x == 0)
                    s.passed = 0;
                /* 2. The slots, as many at a time as have bits. */
                const uint32_t slots = (uint32_t)all;
                for (uint32_t from = 0; from < slots; from += slots_max) {
                    stage_bits(first, there, from, s);
                    copy_slots<WORD>(s, from, min(from + slots_max, slots));
                    workers_sync();
                }
                if (slots == 0) /* sums are free again */
                    workers_sync();
            }
        });
}

} // namespace GPI_SPACE::balance
