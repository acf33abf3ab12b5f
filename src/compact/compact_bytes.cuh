/* SPDX-License-Identifier: MIT */
/*
 * Flags and items of one byte, four an instruction. A lane has a run of 32 of them, whose bits make
 * one word.
 */
#pragma once

#include "compact/compact_kernels.cuh"
#include "device/tile_io.cuh"

namespace GPI_SPACE
{

constexpr uint32_t byte_highs = 0x80808080; /* the highest bit of each byte */

/* A bit per byte: those of word i are select(word) among byte_highs. */
template <int N, class Select>
GPI_DEVICE uint32_t bits_of_words(const uint32_t (&words)[N], const Select &select)
{
    uint32_t bits = 0;
#pragma unroll
    for (int i = N - 1; i >= 0; i--) /* the product's highest four bits are those of the word */
        bits = __funnelshift_l(select(words[i]) * 0x00204081, bits, 4);
    return bits;
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

/* Bytes of x that are not below those of y. */
GPI_DEVICE uint32_t bytes_reach(uint32_t x, uint32_t y)
{
    const uint32_t lows = (x | byte_highs) - (y & ~byte_highs);
    return ((x & ~y) | (~(x ^ y) & lows)) & byte_highs;
}

/* Range<uint8_t> for four items. No dtype of one byte is a float: nothing is flipped. */
struct RangeOfBytes {
    uint32_t low, span, least, first, invert;

    GPI_DEVICE explicit RangeOfBytes(const gpi_compact_range &r)
        : low(0x01010101u * (uint8_t)r.low), span(0x01010101u * (uint8_t)r.span),
          least(0x01010101u * (uint8_t)r.least), first(0x01010101u * (uint8_t)r.first),
          invert(r.invert ? byte_highs : 0)
    {
    }

    GPI_DEVICE uint32_t operator()(uint32_t x) const
    {
        return bytes_reach(span, bytes_minus(x, low)) ^ invert;
    }

    GPI_DEVICE uint32_t below(uint32_t x) const
    {
        return bytes_reach(bytes_minus(x, least), first) ^ byte_highs;
    }
};

/* A run whose array begins at a place of 16 bytes as `array` does. */
GPI_DEVICE Raw<32> run_load(const void *run, const void *array)
{
    return misalignment(array) == 0 ? raw_load_aligned<32>((const char *)run)
                                    : raw_load_shifted<32, 1>((const char *)run);
}

/* ---- packing --------------------------------------------------------------------------------- */

/*
 * By four bits: what __byte_perm brings the bytes that are set to the front with, zeros behind
 * them, and from bit 16 on how many bits they have.
 */
struct PackTable {
    uint32_t of[16];

    /* By one thread. */
    GPI_DEVICE void fill()
    {
#pragma unroll
        for (uint32_t bits = 0; bits < 16; bits++) {
            uint32_t order = 0, count = 0;
#pragma unroll
            for (uint32_t i = 0; i < 4; i++)
                if (bits >> i & 1)
                    order |= i << 4 * count++;
#pragma unroll
            for (uint32_t i = 0; i < 4; i++)
                if (i >= count)
                    order |= 4u << 4 * i;
            of[bits] = order | count * 8 << 16;
        }
    }
};

/* What a warp packs. */
struct PackedBytes {
    static constexpr uint32_t vectors = 32 * 32 / 16 + 1;
    uint4 vector[vectors];

    GPI_DEVICE char *bytes()
    {
        return (char *)vector;
    }

    GPI_DEVICE void clear()
    {
#pragma unroll
        for (uint32_t v = lane_id(); v < vectors; v += 32)
            vector[v] = make_uint4(0, 0, 0, 0);
    }

    /* Those of the lane's run with a set bit, from byte `at` on. The first word and the last one
     * may have bytes of other lanes, too. */
    GPI_DEVICE void pack(const PackTable &table, const Raw<32> &run, uint32_t bits, uint32_t at)
    {
        uint32_t *to = (uint32_t *)bytes() + at / 4;
        uint32_t filled = at % 4 * 8, word = 0;
        bool first = true;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const uint32_t entry = table.of[bits >> 4 * i & 15];
            const uint32_t some = __byte_perm(run.w[i], 0, entry);
            const uint32_t more = __funnelshift_l(some, 0, filled);
            word |= some << filled;
            filled += entry >> 16;
            if (filled >= 32) {
                if (first)
                    atomicOr(to, word);
                else
                    *to = word;
                first = false;
                to++;
                word = more;
                filled -= 32;
            }
        }
        if (word)
            atomicOr(to, word);
    }

    /* Bytes from the misalignment of `to` on, `count` of them, to there. */
    GPI_DEVICE void store(char *to, uint32_t count)
    {
        const uint32_t begin = misalignment(to), end = begin + count;
        const uint32_t first = (begin + 15) / 16, last = end / 16;
        char *base = to - begin;
        for (uint32_t v = first + lane_id(); v < last; v += 32)
            ((uint4 *)base)[v] = vector[v];
        /* What is before the first whole vector, and behind the last one. */
        const bool behind = lane_id() >= 16;
        const uint32_t head = first * 16 < end ? first * 16 : end;
        const uint32_t tail = last < first ? end : last * 16;
        const uint32_t at = (behind ? tail : begin) + lane_id() % 16;
        if (at < (behind ? end : head))
            base[at] = bytes()[at];
    }
};

} // namespace GPI_SPACE
