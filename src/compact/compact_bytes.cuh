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

/* By four bits: what __byte_perm brings the bytes that are set to the front with. */
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
            of[bits] = order;
        }
    }
};

/*
 * What a warp packs: 1024 items at most, those of each output together, where they lie in 16 bytes
 * of it. A lane takes four neighbouring items at a time, of rows of 128 side by side; no lane waits
 * for another.
 */
struct PackedBytes {
    static constexpr uint32_t rows = 8, outputs = 3;
    static constexpr uint32_t vectors = rows * 128 / 16 + 2 * outputs;
    uint4 vector[vectors];

    /* Four items, of which those with a set bit go together, from byte `at` on. */
    GPI_DEVICE void put_kept(const PackTable &table, uint32_t word, uint32_t bits, uint32_t at)
    {
        const uint32_t packed = __byte_perm(word, 0, table.of[bits]), count = __popc(bits);
        uint8_t *to = (uint8_t *)vector + at;
#pragma unroll
        for (uint32_t i = 0; i < 4; i++)
            if (i < count)
                to[i] = (uint8_t)(packed >> 8 * i);
    }

    /* Four items, each of which goes to one of the outputs. */
    template <bool THREE>
    GPI_DEVICE void put_all(uint32_t word, uint32_t bits, uint32_t lower, uint32_t (&at)[outputs])
    {
        uint8_t *to = (uint8_t *)vector;
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
            const bool is_kept = bits >> i & 1, is_less = THREE && (lower >> i & 1);
            to[is_kept ? at[0] : is_less ? at[1] : at[2]] = (uint8_t)(word >> 8 * i);
            at[0] += is_kept;
            at[1] += is_less;
            at[2] += !is_kept && !is_less;
        }
    }

    /* begin[k]: the byte where those of output k begin: the kept ones, the others, or those below
     * and the others. kept, below: bits of items 32 lane on; before: tile_counts() before them. */
    template <bool THREE, bool PARTITION>
    GPI_DEVICE void put(const PackTable &table, const uint8_t *items, uint32_t kept, uint32_t below,
                        uint32_t before, const uint32_t (&begin)[outputs])
    {
        constexpr uint32_t batch = 4;
        const uint32_t shift = (uint32_t)(uintptr_t)items % 4 * 8, lane = lane_id();
        const uint32_t *words = (const uint32_t *)(items - shift / 8);
        const uint32_t lowest = lane % 8 * 4, under = (1u << lowest) - 1;
#pragma unroll
        for (uint32_t row = 0; row < rows; row += batch) {
            uint32_t word[batch];
#pragma unroll
            for (uint32_t b = 0; b < batch; b++) {
                const uint32_t w = 32 * (row + b) + lane;
                word[b] = __funnelshift_r(words[w], shift ? words[w + 1] : 0, shift);
            }
#pragma unroll
            for (uint32_t b = 0; b < batch; b++) {
                const uint32_t group = 4 * (row + b) + lane / 8, first = 128 * (row + b) + 4 * lane;
                const uint32_t bits = __shfl_sync(all_lanes, kept, group);
                const uint32_t had = __shfl_sync(all_lanes, before, group);
                const uint32_t lower = THREE ? __shfl_sync(all_lanes, below, group) : 0;
                const uint32_t front = (THREE ? had & 0xffff : had) + __popc(bits & under);
                const uint32_t less = THREE ? (had >> 16) + __popc(lower & under) : 0;
                uint32_t at[outputs] = {begin[0] + front, begin[1] + less,
                                        begin[1 + THREE] + first - front - less};
                if constexpr (PARTITION)
                    put_all<THREE>(word[b], bits >> lowest, lower >> lowest, at);
                else
                    put_kept(table, word[b], bits >> lowest & 15, at[0]);
            }
        }
    }

    /* The kept ones where they are few: each lane goes through its own, which go from `at` on. */
    GPI_DEVICE void put_few(const uint8_t *items, uint32_t kept, uint32_t at)
    {
        for (; kept; kept &= kept - 1)
            ((uint8_t *)vector)[at++] = items[32 * lane_id() + __ffs(kept) - 1];
    }

    /* count bytes, which begin in vector v of these, to where their output is. */
    GPI_DEVICE void store(uint32_t v, char *to, uint32_t count) const
    {
        const uint32_t begin = misalignment(to), end = begin + count;
        const uint32_t first = (begin + 15) / 16, last = end / 16;
        const uint4 *from = vector + v;
        char *base = to - begin;
        for (uint32_t w = first + lane_id(); w < last; w += 32)
            ((uint4 *)base)[w] = from[w];
        /* What is before the first whole vector, and behind the last one. */
        const bool behind = lane_id() >= 16;
        const uint32_t head = first * 16 < end ? first * 16 : end;
        const uint32_t tail = last < first ? end : last * 16;
        const uint32_t at = (behind ? tail : begin) + lane_id() % 16;
        if (at < (behind ? end : head))
            base[at] = ((const char *)from)[at];
    }
};

} // namespace GPI_SPACE
