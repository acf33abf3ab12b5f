/* SPDX-License-Identifier: MIT */
/*
 * Flags and items of one byte, four an instruction: a lane has a run of 32 of them, whose bits make
 * one word. Items of two bytes, of which a word has two.
 */
#pragma once

#include "compact/compact_kernels.cuh"
#include "device/tile_io.cuh"

namespace GPI_SPACE
{

constexpr uint32_t byte_highs = 0x80808080; /* the highest bit of each byte */

/* A bit per byte, of those of word i, set in highs[i], which has no bits but byte_highs. By sums of
 * products, which take another pipe of the multiprocessor than shifts do. */
template <int N> GPI_DEVICE uint32_t bits_of_highs(const uint32_t (&highs)[N])
{
    static_assert(N % 2 == 0 && N <= 8, "eight bits of a sum");
    uint32_t bits = 0;
#pragma unroll
    for (int i = 0; i < N; i += 2) {
        const uint32_t low = __dp4a(highs[i], 0x08040201u, 0u);
        const uint32_t eight = __dp4a(highs[i + 1], 0x80402010u, low); /* times 128 */
        bits += i == 0 ? eight >> 7 : eight << (4 * i - 7);
    }
    return bits;
}

/* The same of select(word). */
template <int N, class Select>
GPI_DEVICE uint32_t bits_of_words(const uint32_t (&words)[N], const Select &select)
{
    uint32_t highs[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        highs[i] = select(words[i]);
    return bits_of_highs(highs);
}

/* Bytes that are not zero. */
GPI_DEVICE uint32_t bytes_set(uint32_t x)
{
    return (((x & ~byte_highs) + ~byte_highs) | x) & byte_highs;
}

GPI_DEVICE uint32_t bytes_minus(uint32_t x, uint32_t y)
{
    return ((x | byte_highs) - (y & ~byte_highs)) ^ ((x ^ ~y) & byte_highs);
}

/* Bytes of x that are not below those of y, in their highest bits; other bits mean nothing. In
 * assembly, as the compiler takes the choice among three words apart. */
GPI_DEVICE uint32_t bytes_reach(uint32_t x, uint32_t y)
{
    const uint32_t lows = (x | byte_highs) - (y & ~byte_highs);
    uint32_t reach; /* (x & ~y) | (~(x ^ y) & lows) */
    asm("lop3.b32 %0, %1, %2, %3, 0xb2;" : "=r"(reach) : "r"(x), "r"(y), "r"(lows));
    return reach;
}

/* Range<uint8_t> for four items. No dtype of one byte is a float: nothing is flipped. */
struct RangeOfBytes {
    uint32_t low, span, invert;

    GPI_DEVICE explicit RangeOfBytes(const gpi_compact_range &r)
        : low(0x01010101u * (uint8_t)r.low), span(0x01010101u * (uint8_t)r.span),
          invert(r.invert ? byte_highs : 0)
    {
    }

    GPI_DEVICE uint32_t operator()(uint32_t x) const
    {
        return (bytes_reach(span, bytes_minus(x, low)) ^ invert) & byte_highs;
    }
};

/* Two bits an item say where it lies to a range between two bounds. */
struct BoundsOfBytes {
    uint32_t least, first, last; /* bounds as they count from the least value, which is 0 or 128 */

    GPI_DEVICE explicit BoundsOfBytes(const gpi_compact_range &r)
        : least(0x01010101u * (uint8_t)r.least), first(0x01010101u * (uint8_t)r.first),
          last(r.invert ? 0 : 0x01010101u * (uint8_t)(r.low - r.least + r.span))
    {
        /* inverted: an empty range, whose first value is not the least */
    }

    /* Items that are not below the range, and those that are not above it. */
    GPI_DEVICE void of(uint32_t x, uint32_t &reach, uint32_t &within) const
    {
        const uint32_t number = x ^ least;
        reach = bytes_reach(number, first) & byte_highs;
        within = bytes_reach(last, number) & byte_highs;
    }
};

/* Both bits of 32 items, as tables are asked for four of them at a time: byte i has those of reach
 * of items 4 i on, and above them those of within. */
struct BoundBits {
    uint32_t of[2]; /* of 16 items each */
    static constexpr uint32_t lows = 0x0f0f0f0f;

    GPI_DEVICE BoundBits(const uint32_t (&words)[8], const BoundsOfBytes &bounds)
    {
#pragma unroll
        for (int i = 0; i < 8; i++) {
            uint32_t reach, within;
            bounds.of(words[i], reach, within);
            const uint32_t low = __dp4a(reach, 0x08040201u, 0u);
            const uint32_t eight = __dp4a(within, 0x80402010u, low); /* times 128 */
            uint32_t &to = of[i / 4];
            to = i % 4 == 0 ? eight >> 7 : to + (eight << (8 * (i % 4) - 7));
        }
    }

    /* The items from number `count` on are above the range. */
    GPI_DEVICE void end_at(uint32_t count)
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            uint32_t mask = low_bits(count) >> 16 * i & 0xffff;
            mask = (mask | mask << 8) & 0x00ff00ff;
            mask = (mask | mask << 4) & lows;
            of[i] = (of[i] & (mask | mask << 4)) | (lows & ~mask);
        }
    }

    GPI_DEVICE uint32_t kept() const
    {
        return __popc(of[0] & of[0] >> 4 & lows) + __popc(of[1] & of[1] >> 4 & lows);
    }

    GPI_DEVICE uint32_t below() const
    {
        return 32 - __popc(of[0] & lows) - __popc(of[1] & lows);
    }
};

/* Range<uint16_t> of an item in the high half of a word; what is below it does not matter. */
struct RangeOfHigh {
    uint32_t flip, low, span, least, first;
    bool invert, any;

    GPI_DEVICE explicit RangeOfHigh(const gpi_compact_range &r)
        : flip((uint32_t)r.flip << 16), low((uint32_t)r.low << 16),
          span((uint32_t)r.span << 16 | 0xffff), least((uint32_t)r.least << 16),
          first(((uint32_t)r.first << 16) - 1), invert(r.invert != 0), any((uint16_t)r.first != 0)
    {
    }

    GPI_DEVICE uint32_t word(uint32_t x) const
    {
        return x ^ ((uint32_t)((int32_t)x >> 31) & flip);
    }

    GPI_DEVICE bool operator()(uint32_t word) const
    {
        return (word - low <= span) != invert;
    }

    GPI_DEVICE bool below(uint32_t word) const
    {
        return any && word - least <= first;
    }
};

/* Bit i of 16 to bit 2 i. */
GPI_DEVICE uint32_t bits_apart(uint32_t x)
{
    x = (x | x << 8) & 0x00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f;
    x = (x | x << 2) & 0x33333333;
    return (x | x << 1) & 0x55555555;
}

/* A run whose array begins at a place of 16 bytes as `array` does. */
GPI_DEVICE Raw<32> run_load(const void *run, const void *array)
{
    return misalignment(array) == 0 ? raw_load_aligned<32>((const char *)run)
                                    : raw_load_shifted<32, 1>((const char *)run);
}

} // namespace GPI_SPACE
