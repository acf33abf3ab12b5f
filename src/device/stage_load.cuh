/* SPDX-License-Identifier: MIT */
/*
 * How bytes of an array come into a stage of the ring (device/ring.cuh): by bulk copies (sm_90 and
 * newer), by asynchronous copies of 16 bytes (sm_80 to 89), or through registers (before).
 *
 * A stage holds the bytes as they lie in memory, from the 16-byte boundary at or before the first,
 * so that copies of 16 bytes fit at any alignment. Bytes at the ends of the array, outside of which
 * a copy of 16 would read, are copied one by one.
 */
#pragma once

#include "device/bulk.cuh"
#include "device/tile_io.cuh"

namespace GPI_SPACE
{

/* Bytes [begin, end) of a stage, both multiples of 16, come from the same offsets behind `from`,
 * which is aligned to 16. */
struct StageSpan {
    char *to;
    const char *from;
    uint32_t begin, end;
};

/* Whether bulk copies give the L2 a hint for the lines. */
enum class LoadHint { none, always, sometimes };

/* By L loader warps. */
template <int L, LoadHint HINT = LoadHint::none> struct StageLoader {
    static constexpr int threads = 32 * L;
    static_assert(L == 1 || GPI_SM < 90, "one lane starts bulk copies");

    uint64_t hint = 0;

    /* keep: the L2 keeps these lines longest. */
    static GPI_DEVICE StageLoader with_hint(bool keep)
    {
#if GPI_SM >= 90
        return {l2_policy(keep)};
#else
        return {};
#endif
    }

    /* first: the L2 gives these lines up before others. */
    static GPI_DEVICE StageLoader passing(bool first)
    {
#if GPI_SM >= 90
        return {first ? l2_policy_first() : 0};
#else
        return {};
#endif
    }

    /* The stage that is loaded next was written by other warps, before a barrier. */
    static GPI_DEVICE void follows_writes()
    {
#if GPI_SM >= 90
        bulk_follows_shared();
#endif
    }

    static GPI_DEVICE int thread()
    {
        return (int)(threadIdx.x % threads);
    }

    /* At the ends of the array, which a copy of 16 bytes would overrun. */
    static GPI_DEVICE void copy_bytes(char *to, const char *from, uint32_t bytes)
    {
        for (uint32_t i = thread(); i < bytes; i += threads)
            to[i] = from[i];
    }

    /* The span of the bytes of an array that begin at from, without those that are copied here.
     * first: they are the first of the array; rest: the bytes of the array from there on. */
    static GPI_DEVICE StageSpan span(char *to, const char *from, uint32_t bytes, bool first,
                                     uint64_t rest)
    {
        const uint32_t shift = misalignment(from);
        uint32_t begin = 0, end = (shift + bytes + 15) & ~15u;
        if (first && shift) {
            begin = 16;
            copy_bytes(to + shift, from, bytes < 16 - shift ? bytes : 16 - shift);
        }
        if (end > begin && end > shift + rest) {
            end -= 16;
            copy_bytes(to + end, from - shift + end, shift + bytes - end);
        }
        return {to, from - shift, begin, end};
    }

    /* Bring the spans; then, and when what this thread wrote to the stage itself is there, it has
     * arrived at the barrier. */
    template <class... Spans> GPI_DEVICE void load(uint64_t *loaded, const Spans &...spans) const
    {
#if GPI_SM >= 90
        if (thread() != 0) {
            barrier_arrive(loaded);
        } else {
            barrier_expect(loaded, (... + (spans.end - spans.begin)));
            (bring(spans, loaded), ...);
        }
        __syncwarp();
#else
#if GPI_SM >= 80
        (bring(spans), ...);
        asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(shared_address(loaded))
                     : "memory"); /* the phase waits for the copies, and for the arrival */
#else
        bring(spans...);
#endif
        barrier_arrive(loaded);
#endif
    }

  private:
#if GPI_SM >= 90
    GPI_DEVICE void bring(const StageSpan &s, uint64_t *loaded) const
    {
        if (s.end <= s.begin)
            return;
        if (HINT == LoadHint::always || (HINT == LoadHint::sometimes && hint))
            bulk_load(s.to + s.begin, s.from + s.begin, s.end - s.begin, loaded, hint);
        else
            bulk_load(s.to + s.begin, s.from + s.begin, s.end - s.begin, loaded);
    }
#elif GPI_SM >= 80
    static GPI_DEVICE void bring(const StageSpan &s)
    {
#pragma unroll 4
        for (uint32_t at = s.begin + 16 * thread(); at < s.end; at += 16 * threads)
            asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(
                             shared_address(s.to + at)),
                         "l"(s.from + at)
                         : "memory");
    }
#else
    static constexpr int in_flight = 8, beside = 2; /* copies of a thread */

    template <int N> static GPI_DEVICE void copy_in(const StageSpan &s, uint32_t at, uint4 (&v)[N])
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            if (at + 16 * threads * i < s.end)
                v[i] = __ldcs((const uint4 *)(s.from + at + 16 * threads * i));
    }

    template <int N>
    static GPI_DEVICE void copy_out(const StageSpan &s, uint32_t at, const uint4 (&v)[N])
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            if (at + 16 * threads * i < s.end)
                *(uint4 *)(s.to + at + 16 * threads * i) = v[i];
    }

    static GPI_DEVICE void bring(const StageSpan &s)
    {
        for (uint32_t at = s.begin + 16 * thread(); at < s.end; at += 16 * threads * in_flight) {
            uint4 v[in_flight];
            copy_in(s, at, v);
            copy_out(s, at, v);
        }
    }

    /* The second is short: its copies are on the way together with the first one's. */
    static GPI_DEVICE void bring(const StageSpan &s, const StageSpan &other)
    {
        const uint32_t at = other.begin + 16 * thread(), next = other.begin + 16 * threads * beside;
        uint4 v[beside];
        copy_in(other, at, v);
        bring(s);
        copy_out(other, at, v);
        bring(StageSpan{other.to, other.from, next, other.end});
    }

    static GPI_DEVICE void bring(const StageSpan &s, const StageSpan &other, const StageSpan &third)
    {
        bring(s, other);
        bring(third);
    }
#endif
};

} // namespace GPI_SPACE
