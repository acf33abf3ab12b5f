/* SPDX-License-Identifier: MIT */
/*
 * Moving items between memory and registers 16 bytes at a time, at any alignment: vectors
 * (device/raw.cuh) of 16 bytes, of 32 for 32-byte items, of less where the output is wider than the
 * input. Pointers are aligned to the item's scalar only. A
 * misaligned vector is read as the two aligned ones that contain it and shifted into place;
 * misaligned vectors are written as aligned ones whose front comes from the lane before, and the
 * two ends of a run piecewise.
 */
#pragma once

#include "device/raw.cuh"
#include "device/warp.cuh"

namespace GPI_SPACE
{

GPI_DEVICE uint32_t misalignment(const void *p)
{
    return (uint32_t)(uintptr_t)p & 15u;
}

/* p aligned to the vector (16 bytes at most). Streaming: the data is used once. */
template <int BYTES> GPI_DEVICE Raw<BYTES> raw_load_aligned(const char *p)
{
    Raw<BYTES> r;
    if constexpr (BYTES >= 16) {
#pragma unroll
        for (int i = 0; i < BYTES / 16; i++) {
            uint4 v = ((const uint4 *)p)[i];
            r.w[4 * i] = v.x, r.w[4 * i + 1] = v.y, r.w[4 * i + 2] = v.z, r.w[4 * i + 3] = v.w;
        }
    } else if constexpr (BYTES == 8) {
        uint2 v = *(const uint2 *)p;
        r.w[0] = v.x, r.w[1] = v.y;
    } else if constexpr (BYTES == 4) {
        r.w[0] = *(const uint32_t *)p;
    } else if constexpr (BYTES == 2) {
        r.w[0] = *(const uint16_t *)p;
    } else {
        r.w[0] = *(const uint8_t *)p;
    }
    return r;
}

/* A word at any alignment, of memory that is readable for a word behind it. */
GPI_DEVICE Raw<4> raw_word_at(const char *p)
{
    const uint32_t shift = (uint32_t)(uintptr_t)p & 3u;
    const uint32_t *words = (const uint32_t *)(p - shift);
    return {{__funnelshift_r(words[0], words[1], shift * 8)}};
}

/* The same, BYTES a multiple of 16, of global memory that the kernel does not write; the L1 does
 * not keep it. */
template <int BYTES> GPI_DEVICE Raw<BYTES> raw_load_passing(const char *p)
{
    Raw<BYTES> r;
#pragma unroll
    for (int i = 0; i < BYTES / 4; i += 4)
        asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r.w[i]), "=r"(r.w[i + 1]), "=r"(r.w[i + 2]), "=r"(r.w[i + 3])
                     : "l"(p + 4 * i));
    return r;
}

/* Ask the L2 for a tile of an array of bytes, if there is one; by thread `thread` of `threads`. */
GPI_DEVICE void prefetch_tile(const char *array, uint64_t bytes, uint64_t tile, uint32_t tile_bytes,
                              uint32_t thread, uint32_t threads)
{
    const uint64_t begin = tile * tile_bytes;
    for (uint64_t at = begin + thread * 128; at < begin + tile_bytes && at < bytes;
         at += threads * 128)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(array + at));
}

/* N words that start shift (0..15) bytes into c. */
template <int N> GPI_DEVICE void words_at(uint32_t (&c)[N + 4], uint32_t shift, uint32_t (&to)[N])
{
#pragma unroll
    for (int i = 0; i < N + 2; i++)
        c[i] = shift & 8 ? c[i + 2] : c[i];
#pragma unroll
    for (int i = 0; i < N + 1; i++)
        c[i] = shift & 4 ? c[i + 1] : c[i];
#pragma unroll
    for (int i = 0; i < N; i++)
        to[i] = __funnelshift_r(c[i], c[i + 1], shift % 4 * 8);
}

/* p aligned to PIECE bytes only; reads up to 15 bytes before and after the vector. */
template <int BYTES, int PIECE> GPI_DEVICE Raw<BYTES> raw_load_shifted(const char *p)
{
    Raw<BYTES> r;
    if constexpr (BYTES >= 16) {
        const uint4 *q = (const uint4 *)(p - misalignment(p));
        uint32_t c[Raw<BYTES>::words + 4];
#pragma unroll
        for (int i = 0; i < BYTES / 16 + 1; i++) {
            uint4 v = q[i];
            c[4 * i] = v.x, c[4 * i + 1] = v.y, c[4 * i + 2] = v.z, c[4 * i + 3] = v.w;
        }
        words_at<Raw<BYTES>::words>(c, misalignment(p), r.w);
    } else {
#pragma unroll
        for (int i = 0; i < Raw<BYTES>::words; i++)
            r.w[i] = 0;
#pragma unroll
        for (int i = 0; i < BYTES / PIECE; i++) {
            uint32_t v = PIECE == 1   ? *(const uint8_t *)(p + i)
                         : PIECE == 2 ? *(const uint16_t *)(p + 2 * i)
                                      : *(const uint32_t *)(p + 4 * i);
            r.w[i * PIECE / 4] |= v << (i * PIECE % 4 * 8);
        }
    }
    return r;
}

/* A scalar-aligned item, a scalar of PIECE bytes at a time. */
template <class T, int PIECE> GPI_DEVICE T item_load(const char *p)
{
    union Image {
        T value;
        char bytes[sizeof(T)];
    } u;
#pragma unroll
    for (size_t i = 0; i < sizeof(T) / PIECE; i++) {
        if constexpr (PIECE == 1)
            ((uint8_t *)u.bytes)[i] = ((const uint8_t *)p)[i];
        else if constexpr (PIECE == 2)
            ((uint16_t *)u.bytes)[i] = ((const uint16_t *)p)[i];
        else if constexpr (PIECE == 4)
            ((uint32_t *)u.bytes)[i] = ((const uint32_t *)p)[i];
        else
            ((uint64_t *)u.bytes)[i] = ((const uint64_t *)p)[i];
    }
    return u.value;
}

template <class T, int PIECE> GPI_DEVICE void item_store(char *p, T value)
{
    union Image {
        T value;
        char bytes[sizeof(T)];
    } u;
    u.value = value;
#pragma unroll
    for (size_t i = 0; i < sizeof(T) / PIECE; i++) {
        if constexpr (PIECE == 1)
            ((uint8_t *)p)[i] = ((const uint8_t *)u.bytes)[i];
        else if constexpr (PIECE == 2)
            ((uint16_t *)p)[i] = ((const uint16_t *)u.bytes)[i];
        else if constexpr (PIECE == 4)
            ((uint32_t *)p)[i] = ((const uint32_t *)u.bytes)[i];
        else
            ((uint64_t *)p)[i] = ((const uint64_t *)u.bytes)[i];
    }
}

template <int BYTES> GPI_DEVICE void raw_store_aligned(char *p, const Raw<BYTES> &r)
{
#pragma unroll
    for (int i = 0; i < BYTES / 16; i++)
        ((uint4 *)p)[i] = make_uint4(r.w[4 * i], r.w[4 * i + 1], r.w[4 * i + 2], r.w[4 * i + 3]);
}

/* Write bytes [from, to) of 16 bytes to p, PIECE at a time. */
template <int PIECE>
GPI_DEVICE void bytes_store(char *p, const uint32_t (&w)[4], uint32_t from, uint32_t to)
{
#pragma unroll
    for (uint32_t b = 0; b < 16; b += PIECE) {
        if (b < from || b >= to)
            continue;
        if constexpr (PIECE == 1)
            *(uint8_t *)(p + b) = (uint8_t)(w[b / 4] >> (b % 4 * 8));
        else if constexpr (PIECE == 2)
            *(uint16_t *)(p + b) = (uint16_t)(w[b / 4] >> (b % 4 * 8));
        else if constexpr (PIECE == 4)
            *(uint32_t *)(p + b) = w[b / 4];
        else
            *(uint2 *)(p + b) = make_uint2(w[b / 4], w[b / 4 + 1]);
    }
}

/*
 * A warp's run of consecutive vectors to a misaligned place: vector v of the run is given by lane v
 * % 32 of call v / 32. Owns nothing outside the run.
 */
template <int BYTES, int PIECE> struct ShiftedRun {
    static constexpr int words = BYTES / 4;
    uint32_t carry[4]; /* the end of lane 31's vector of the call before */

    GPI_DEVICE void put(char *p, const Raw<BYTES> &r, bool first, bool last)
    {
        uint32_t m = misalignment(p), c[words + 4], own_end[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            own_end[i] = r.w[words - 4 + i];
            uint32_t before = __shfl_sync(all_lanes, own_end[i], (lane_id() + 31) & 31);
            c[i] = lane_id() == 0 ? carry[i] : before;
            carry[i] = before;
        }
#pragma unroll
        for (int i = 0; i < words; i++)
            c[4 + i] = r.w[i];
        Raw<BYTES> shifted;
        words_at<words>(c, 16 - m, shifted.w);
        if (first && lane_id() == 0)
            store_head(p, r, shifted);
        else
            raw_store_aligned<BYTES>(p - m, shifted);
        if (last && lane_id() == 31)
            bytes_store<PIECE>(p + BYTES - 16, own_end, 16 - m, 16);
    }

  private:
    /* The first vector of the run: its first 16 - m bytes alone, then whole aligned pieces. */
    static GPI_DEVICE void store_head(char *p, const Raw<BYTES> &r, const Raw<BYTES> &shifted)
    {
        uint32_t m = misalignment(p);
        const uint32_t front[4] = {r.w[0], r.w[1], r.w[2], r.w[3]};
        bytes_store<PIECE>(p, front, 0, 16 - m);
        if constexpr (BYTES > 16)
            ((uint4 *)(p - m))[1] =
                make_uint4(shifted.w[4], shifted.w[5], shifted.w[6], shifted.w[7]);
    }
};

} // namespace GPI_SPACE
