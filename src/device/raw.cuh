/* SPDX-License-Identifier: MIT */
/* Vectors: a lane's consecutive items, as they lie in memory, in 32-bit words. */
#pragma once

#include "device/ops.cuh"

namespace GPI_SPACE
{

template <int BYTES> struct Raw {
    static constexpr int words = (BYTES + 3) / 4;
    uint32_t w[words];
};

/* Item i of a vector; i must be a constant after unrolling. */
template <class T, int BYTES> GPI_DEVICE T raw_get(const Raw<BYTES> &r, int i)
{
    if constexpr (sizeof(T) == 1) {
        uint8_t b = (uint8_t)(r.w[i / 4] >> (i % 4 * 8));
        return (T)b;
    } else if constexpr (sizeof(T) == 2) {
        union {
            uint16_t bits;
            T value;
        } u;
        u.bits = (uint16_t)(r.w[i / 2] >> (i % 2 * 16));
        return u.value;
    } else {
        union Image {
            uint32_t w[sizeof(T) / 4];
            T value;
        } u;
#pragma unroll
        for (size_t j = 0; j < sizeof(T) / 4; j++)
            u.w[j] = r.w[i * (sizeof(T) / 4) + j];
        return u.value;
    }
}

/* Words must start as zero for items below 4 bytes. */
template <class T, int BYTES> GPI_DEVICE void raw_set(Raw<BYTES> &r, int i, T value)
{
    if constexpr (sizeof(T) == 1) {
        r.w[i / 4] |= (uint32_t)(uint8_t)value << (i % 4 * 8);
    } else if constexpr (sizeof(T) == 2) {
        union {
            T value;
            uint16_t bits;
        } u;
        u.value = value;
        r.w[i / 2] |= (uint32_t)u.bits << (i % 2 * 16);
    } else {
        union Image {
            T value;
            uint32_t w[sizeof(T) / 4];
        } u;
        u.value = value;
#pragma unroll
        for (size_t j = 0; j < sizeof(T) / 4; j++)
            r.w[i * (sizeof(T) / 4) + j] = u.w[j];
    }
}

/* The same items, last first. */
template <class T, int BYTES> GPI_DEVICE Raw<BYTES> raw_reversed(const Raw<BYTES> &r)
{
    constexpr int words = Raw<BYTES>::words;
    static_assert(BYTES % 4 == 0 || BYTES == 2, "whole words, or half of one");
    Raw<BYTES> to;
    if constexpr (sizeof(T) == BYTES) {
        to = r;
    } else if constexpr (BYTES == 2) {
        to.w[0] = __byte_perm(r.w[0], 0, 0x4401);
    } else if constexpr (sizeof(T) < 4) {
        constexpr uint32_t order = sizeof(T) == 1 ? 0x0123 : 0x1032;
#pragma unroll
        for (int i = 0; i < words; i++)
            to.w[i] = __byte_perm(r.w[words - 1 - i], 0, order);
    } else {
        constexpr int each = (int)sizeof(T) / 4;
#pragma unroll
        for (int i = 0; i < words; i++)
            to.w[i] = r.w[words - each - i / each * each + i % each];
    }
    return to;
}

/* ---- from accumulators ---- */

#if GPI_SM >= 80
GPI_DEVICE uint32_t narrow_two(f16_t, float low, float high)
{
    uint32_t both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

GPI_DEVICE uint32_t narrow_two(bf16_t, float low, float high)
{
    uint32_t both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
#endif

/* The vector of these items; of integers below 4 bytes by moving bytes, without a mask for each.
 * HIGH: they are in the high bits. */
template <class T, bool HIGH = false, class A, int N>
GPI_DEVICE Raw<N * sizeof(T)> raw_narrow(const A (&x)[N])
{
    constexpr bool half = std::is_same_v<T, f16_t> || std::is_same_v<T, bf16_t>;
    Raw<N * sizeof(T)> to = {};
    if constexpr (sizeof(T) == 1 && N % 4 == 0) {
        constexpr uint32_t bytes = HIGH ? 0x0073 : 0x0040;
#pragma unroll
        for (int i = 0; i < N; i += 4) {
            const uint32_t low = __byte_perm((uint32_t)x[i], (uint32_t)x[i + 1], bytes);
            const uint32_t high = __byte_perm((uint32_t)x[i + 2], (uint32_t)x[i + 3], bytes);
            to.w[i / 4] = __byte_perm(low, high, 0x5410);
        }
    } else if constexpr (sizeof(T) == 2 && !half && N % 2 == 0) {
        constexpr uint32_t bytes = HIGH ? 0x7632 : 0x5410;
#pragma unroll
        for (int i = 0; i < N; i += 2)
            to.w[i / 2] = __byte_perm((uint32_t)x[i], (uint32_t)x[i + 1], bytes);
#if GPI_SM >= 80
    } else if constexpr (half && N % 2 == 0) {
#pragma unroll
        for (int i = 0; i < N; i += 2)
            to.w[i / 2] = narrow_two(T(), x[i], x[i + 1]);
#endif
    } else {
        constexpr int up = HIGH ? 32 - (int)sizeof(T) * 8 : 0;
#pragma unroll
        for (int i = 0; i < N; i++)
            if constexpr (HIGH)
                raw_set<T>(to, i, narrow<T>(x[i] >> up));
            else
                raw_set<T>(to, i, narrow<T>(x[i]));
    }
    return to;
}

/* ---- choosing items ---- */

/* x << bits, for any bits: 0 and below leave x, 32 and above nothing of it. */
GPI_DEVICE uint32_t shifted_left(uint32_t x, int bits)
{
    return __funnelshift_lc(0, x, (uint32_t)(bits < 0 ? 0 : bits));
}

/* The first `first` items of a, the others of b. */
template <class T, int BYTES>
GPI_DEVICE Raw<BYTES> raw_joined(const Raw<BYTES> &a, const Raw<BYTES> &b, int first)
{
    constexpr int bits = (int)sizeof(T) * 8;
    Raw<BYTES> to;
#pragma unroll
    for (int i = 0; i < Raw<BYTES>::words; i++) {
        if constexpr (bits < 32) {
            const uint32_t later = shifted_left(~0u, first * bits - 32 * i);
            to.w[i] = (a.w[i] & ~later) | (b.w[i] & later);
        } else {
            to.w[i] = i / (bits / 32) < first ? a.w[i] : b.w[i];
        }
    }
    return to;
}

/* All items the same. */
template <class T, int BYTES> GPI_DEVICE Raw<BYTES> raw_filled(T value)
{
    Raw<BYTES> to = {};
#pragma unroll
    for (int i = 0; i < BYTES / (int)sizeof(T); i++)
        raw_set<T>(to, i, value);
    return to;
}

/* A vector's items one place on: x becomes the first, the last one is lost. */
template <class T, int BYTES> GPI_DEVICE Raw<BYTES> raw_moved(const Raw<BYTES> &r, T x)
{
    constexpr int bits = (int)sizeof(T) * 8;
    Raw<BYTES> first = {}, to;
    raw_set<T>(first, 0, x);
#pragma unroll
    for (int i = 0; i < Raw<BYTES>::words; i++) {
        if constexpr (bits < 32)
            to.w[i] = __funnelshift_l(i > 0 ? r.w[i - 1] : first.w[0] << (32 - bits), r.w[i], bits);
        else
            to.w[i] = i < bits / 32 ? first.w[i] : r.w[i - bits / 32];
    }
    return to;
}

/* Ones in the items whose bits are set, of the word's items the first ones. */
template <class T> GPI_DEVICE uint32_t items_mask(uint32_t set)
{
    if constexpr (sizeof(T) == 1)
        return ((set & 15) * 0x00204081u & 0x01010101u) * 255u;
    else
        return (set & 1) * 0xffffu | (set >> 1 & 1) * 0xffff0000u;
}

/* Item i of a where bit i is set, of b elsewhere. */
template <class T, int BYTES>
GPI_DEVICE Raw<BYTES> raw_chosen(uint32_t set, const Raw<BYTES> &a, const Raw<BYTES> &b)
{
    constexpr int per_word = sizeof(T) < 4 ? 4 / (int)sizeof(T) : 1;
    constexpr int words_each = sizeof(T) < 4 ? 1 : (int)sizeof(T) / 4;
    Raw<BYTES> to;
#pragma unroll
    for (int i = 0; i < Raw<BYTES>::words; i++) {
        const uint32_t bits = set >> i / words_each * per_word;
        if constexpr (sizeof(T) < 4) {
            const uint32_t mask = items_mask<T>(bits);
            to.w[i] = (a.w[i] & mask) | (b.w[i] & ~mask);
        } else {
            to.w[i] = bits & 1 ? a.w[i] : b.w[i];
        }
    }
    return to;
}

/* Item i becomes 0; none if there is no item i. */
template <class T, int BYTES> GPI_DEVICE Raw<BYTES> raw_dropped(const Raw<BYTES> &r, int i)
{
    const bool inside = (uint32_t)i < BYTES / sizeof(T);
    return raw_chosen<T>(inside ? 1u << i : 0, Raw<BYTES>{}, r);
}

} // namespace GPI_SPACE
