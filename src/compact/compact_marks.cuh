/* SPDX-License-Identifier: MIT */
/* Bits of the items that a warp will move: kept ones, and of a partition in three those below. */
#pragma once

#include "compact/compact_bytes.cuh"

namespace GPI_SPACE
{

/* Of a group of 32 items: bits, by sort, and how many of that sort the part has before. */
template <int SORTS> struct alignas(8 * SORTS) GroupMarks {
    struct {
        uint32_t bits, before;
    } of[SORTS];
};

/* The pointer in registers: otherwise it is put together for every store. */
template <class T> GPI_DEVICE T *kept_pointer(T *pointer)
{
    asm volatile("" : "+l"(pointer));
    __builtin_assume(__isGlobal(pointer));
    return pointer;
}

/* Lane k: of a part's items from 32 k on; of bytes in three both words of BoundBits. */
struct PartBits {
    uint32_t kept, below;
};

/* A part of GROUPS times 32 items in shared memory, of which the first `left` exist; BYTES, COMPARE
 * and THREE as in CompactStream. */
template <int BYTES, bool COMPARE, bool THREE, int GROUPS> struct CompactMarks {
    using Item = ItemOf<BYTES>;

    const gpi_compact_args &a;
    const Item *in;
    const uint8_t *keep; /* or words, if flags are bits */
    uint32_t left;

    GPI_DEVICE PartBits bits(uint32_t &counts) const
    {
        if constexpr (BYTES == 1 && THREE)
            return of_bounds(counts);
        const PartBits bits = of_items();
        counts = tile_counts<THREE>(__popc(bits.kept), __popc(bits.below));
        return bits;
    }

  private:
    GPI_DEVICE PartBits of_items() const
    {
        if (!COMPARE && a.bits)
            return {of_bits(), 0};
        if constexpr (!COMPARE && GROUPS > 8) /* or few lanes have a run */
            return {of_bytes(), 0};
        if constexpr (BYTES == 1)
            return of_run();
        if constexpr (BYTES == 2 && COMPARE)
            if (left >= 32 * GROUPS && (uintptr_t)a.in % 4 == 0)
                return of_pairs();
        return left >= 32 * GROUPS ? one_by_one<true>() : one_by_one<false>();
    }

    /* How many of a lane's 32 there are. */
    GPI_DEVICE uint32_t own() const
    {
        const uint32_t before = 32 * lane_id();
        return lane_id() < GROUPS && left > before ? left - before : 0;
    }

    /* WHOLE: all items are there. */
    template <bool WHOLE> GPI_DEVICE PartBits one_by_one() const
    {
        const Range<Item> range(a.range);
        PartBits bits = {0, 0};
#pragma unroll 8
        for (int k = 0; k < GROUPS; k++) {
            const uint32_t i = 32 * k + lane_id();
            const bool there = WHOLE || i < left;
            bool kept;
            if constexpr (COMPARE)
                kept = there && range(in[i]);
            else
                kept = there && keep[i];
            const uint32_t group = __ballot_sync(all_lanes, kept);
            bits.kept = lane_id() == k ? group : bits.kept;
            if constexpr (THREE) {
                const uint32_t below = __ballot_sync(all_lanes, there && range.below(in[i]));
                bits.below = lane_id() == k ? below : bits.below;
            }
        }
        return bits;
    }

    /* Of items of two bytes that are all there, and of which two make an aligned word. Even and odd
     * ones have words of bits of their own first. */
    GPI_DEVICE PartBits of_pairs() const
    {
        const RangeOfHigh range(a.range);
        const uint32_t *pairs = (const uint32_t *)in + lane_id();
        uint32_t kept[2] = {0, 0}, below[2] = {0, 0};
#pragma unroll 4
        for (int k = 0; k < GROUPS; k += 2) { /* lane k / 2: those of two groups */
            const uint32_t pair = pairs[16 * k];
#pragma unroll
            for (int odd = 0; odd < 2; odd++) {
                const uint32_t word = range.word(odd ? pair : pair << 16);
                const uint32_t bits = __ballot_sync(all_lanes, range(word));
                kept[odd] = lane_id() == k / 2 ? bits : kept[odd];
                if constexpr (THREE) {
                    const uint32_t less = __ballot_sync(all_lanes, range.below(word));
                    below[odd] = lane_id() == k / 2 ? less : below[odd];
                }
            }
        }
        return {joined(kept), THREE ? joined(below) : 0};
    }

    /* Lane k: of group k, from lane k / 2, which has those of even and of odd items. */
    static GPI_DEVICE uint32_t joined(const uint32_t (&bits)[2])
    {
        const uint32_t shift = lane_id() % 2 * 16;
        const uint32_t even = __shfl_sync(all_lanes, bits[0], lane_id() / 2) >> shift & 0xffff;
        const uint32_t odd = __shfl_sync(all_lanes, bits[1], lane_id() / 2) >> shift & 0xffff;
        return lane_id() < GROUPS ? bits_apart(even) | bits_apart(odd) << 1 : 0;
    }

    /* Where flags are bits. */
    GPI_DEVICE uint32_t of_bits() const
    {
        return own() ? flag_word((const uint32_t *)keep, 32 * lane_id(), own()) : 0;
    }

    /* Where they are bytes, four of them an instruction. */
    GPI_DEVICE uint32_t of_bytes() const
    {
        if (!own())
            return 0;
        return bits_of_words(run_load(keep + 32 * lane_id(), a.keep).w, bytes_set) &
               low_bits(own());
    }

    /* Of items of one byte. */
    GPI_DEVICE PartBits of_run() const
    {
        if (!own())
            return {0, 0};
        const Raw<32> run = run_load(in + 32 * lane_id(), a.in);
        return {bits_of_words(run.w, RangeOfBytes(a.range)) & low_bits(own()), 0};
    }

    /* The same in three. */
    GPI_DEVICE PartBits of_bounds(uint32_t &counts) const
    {
        const uint32_t there = own();
        BoundBits bits(run_load(in + 32 * lane_id(), a.in).w, BoundsOfBytes(a.range));
        if (there < 32)
            bits.end_at(there);
        counts = tile_counts<true>(bits.kept(), bits.below());
        return {bits.of[0], bits.of[1]};
    }
};

} // namespace GPI_SPACE
