/* SPDX-License-Identifier: MIT */
/*
 * Flags and items of one byte, four an instruction: a lane has a run of 32 of them, whose bits make
 * one word. Items of two bytes, of which a word has two. And both in the order of outputs.
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

/* A range between two bounds, and what is below it: two comparisons make both. */
struct BoundsOfBytes {
    uint32_t least, first, last; /* bounds as they count from the least value, which is 0 or 128 */

    GPI_DEVICE explicit BoundsOfBytes(const gpi_compact_range &r)
        : least(0x01010101u * (uint8_t)r.least), first(0x01010101u * (uint8_t)r.first),
          last(r.invert ? 0 : 0x01010101u * (uint8_t)(r.low - r.least + r.span))
    {
        /* inverted: an empty range, whose first value is not the least */
    }

    GPI_DEVICE void of(uint32_t x, uint32_t &kept, uint32_t &below) const
    {
        const uint32_t number = x ^ least, reach = bytes_reach(number, first);
        kept = reach & bytes_reach(last, number) & byte_highs;
        below = ~reach & byte_highs;
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

/* bits_of_words() of both. */
template <int N>
GPI_DEVICE void bounds_of_words(const uint32_t (&words)[N], const BoundsOfBytes &bounds,
                                uint32_t &kept, uint32_t &below)
{
    uint32_t k[N], b[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        bounds.of(words[i], k[i], b[i]);
    kept = bits_of_highs(k), below = bits_of_highs(b);
}

/* A run whose array begins at a place of 16 bytes as `array` does. */
GPI_DEVICE Raw<32> run_load(const void *run, const void *array)
{
    return misalignment(array) == 0 ? raw_load_aligned<32>((const char *)run)
                                    : raw_load_shifted<32, 1>((const char *)run);
}

/* ---- packing --------------------------------------------------------------------------------- */

/* As __byte_perm(), which masks the order, where that is in the low 16 bits of a word. */
GPI_DEVICE uint32_t bytes_ordered(uint32_t x, uint32_t y, uint32_t order)
{
    uint32_t bytes;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(x), "r"(y), "r"(order));
    return bytes;
}

/*
 * What brings four neighbouring items into the order of outputs: the kept ones, with THREE those
 * below, and the others. By the bits of the kept ones, and with THREE four bits of those below.
 */
template <class Item, bool THREE> struct PackTable {
    static constexpr uint32_t size = sizeof(Item), entries = THREE ? 256 : 16;

    /* For __byte_perm, by word of the four items; in the highest bits of the first word the size
     * of kept ones, and of those with the ones below: in bits, of items of two bytes in bytes. */
    static constexpr uint32_t unit = size == 1 ? 8 : size;
    struct Entry {
        uint32_t order[size];

        GPI_DEVICE uint32_t kept() const
        {
            return THREE ? order[0] >> 16 & 255 : order[0] >> 16;
        }

        GPI_DEVICE uint32_t kept_and_below() const
        {
            return order[0] >> 24;
        }
    };
    alignas(4 * size) Entry of[entries];

    /* By threads [first, threads) of a block. */
    GPI_DEVICE void fill(uint32_t thread, uint32_t first, uint32_t threads)
    {
        if (thread >= first)
            for (uint32_t i = thread - first; i < entries; i += threads - first)
                of[i] = entry(i & 15, i >> 4);
    }

  private:
    static GPI_DEVICE Entry entry(uint32_t kept, uint32_t below)
    {
        const uint32_t others = 15 & ~(kept | below);
        const uint32_t first_below = __popc(kept), first_other = first_below + __popc(below);
        Entry e = {};
        e.order[0] = unit * (first_below << 16 | (THREE ? first_other << 24 : 0));
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t under = (1u << i) - 1;
            const uint32_t place = kept >> i & 1    ? __popc(kept & under)
                                   : below >> i & 1 ? first_below + __popc(below & under)
                                                    : first_other + __popc(others & under);
            const uint32_t bytes = size == 1 ? i : 0x10 + 0x22 * i;
#pragma unroll
            for (uint32_t k = 0; k < size; k++)
                if (place * size / 4 == k)
                    e.order[k] |= bytes << place * size % 4 * 4;
        }
        return e;
    }
};

/*
 * What a lane appends to an output in shared memory. A word is stored when all of it is there: what
 * lies in its first word before its first byte is then wrong, until the lanes before finish, and
 * what is left of its last one it stores byte by byte.
 */
struct LaneBytes {
    uint32_t first, end; /* bits: where the bytes begin, and where the next one goes */
    uint32_t latest;     /* the last four bytes, the last one highest */

    GPI_DEVICE explicit LaneBytes(uint32_t byte) : first(8 * byte), end(8 * byte), latest(0)
    {
    }

    /* The lowest `bits` of four bytes. */
    GPI_DEVICE void append(char *to, uint32_t four, uint32_t bits)
    {
        const uint32_t word = __funnelshift_l(latest, four, end), next = end + bits;
        if ((next ^ end) & 32)
            *(uint32_t *)(to + end / 32 * 4) = word;
        latest = __funnelshift_rc(latest, four, bits);
        end = next;
    }

    /* When all lanes have appended. */
    GPI_DEVICE void finish(char *to) const
    {
        const uint32_t rest = __funnelshift_l(latest, 0, end), word = end & ~31;
#pragma unroll
        for (uint32_t i = 0; i < 24; i += 8)
            if (word + i >= first && word + i < end)
                to[(word + i) / 8] = (char)(rest >> i);
    }
};

/*
 * What a warp packs: 32 x GROUPS items of one or two bytes, those of each output together, where
 * they lie in 16 bytes of it. A lane orders four items by the table; no lane waits for another. Of
 * bytes it takes the run whose bits it has, and stores words; of larger items eight bytes at a
 * time, of rows of 256 side by side.
 */
template <class Item, bool THREE, int GROUPS> struct PackedItems {
    using Table = PackTable<Item, THREE>;
    static constexpr uint32_t size = sizeof(Item), outputs = 3;
    static constexpr uint32_t each = 8 / size, fours = each / 4; /* items of a lane in a row */
    static constexpr uint32_t rows = GROUPS / each;
    static_assert(GROUPS % each == 0, "whole rows");
    uint4 vector[GROUPS * 32 * size / 16 + 2 * outputs];

    /* Each item to its output. begin[k]: the byte where those of output k begin: the kept ones, the
     * others, or those below and the others. kept, below: bits of items 32 lane on; before:
     * tile_counts() before them. */
    GPI_DEVICE void put_all(const Table &table, const Item *items, uint32_t kept, uint32_t below,
                            uint32_t before, const uint32_t (&begin)[outputs])
    {
        constexpr uint32_t batch = rows % 4 == 0 ? 4 : rows % 3 == 0 ? 3 : 1;
        const uint32_t lowest = lane_id() * each % 32, under = (1u << lowest) - 1;
#pragma unroll
        for (uint32_t first = 0; first < rows; first += batch) {
            uint32_t words[batch][2], at[batch][outputs];
            Four four[batch][fours];
            load(items + first * 32 * each, words);
            /* All that is read, and then all that is stored: nothing of it is the same memory. */
#pragma unroll
            for (uint32_t b = 0; b < batch; b++) {
                const uint32_t row = first + b, group = row * each + lane_id() * each / 32;
                const uint32_t bits = __shfl_sync(all_lanes, kept, group);
                const uint32_t had = __shfl_sync(all_lanes, before, group);
                const uint32_t lower = THREE ? __shfl_sync(all_lanes, below, group) : 0;
                const uint32_t front = (THREE ? had & 0xffff : had) + __popc(bits & under);
                const uint32_t less = THREE ? (had >> 16) + __popc(lower & under) : 0;
                const uint32_t item = (32 * row + lane_id()) * each;
                at[b][0] = begin[0] + size * front;
                at[b][1] = begin[1] + size * less;
                at[b][2] = begin[1 + THREE] + size * (item - front - less);
#pragma unroll
                for (uint32_t k = 0; k < fours; k++)
                    four[b][k] = Four(table, words[b] + k, bits >> (lowest + 4 * k) & 15,
                                      lower >> (lowest + 4 * k) & 15);
            }
#pragma unroll
            for (uint32_t b = 0; b < batch; b++)
#pragma unroll
                for (uint32_t k = 0; k < fours; k++)
                    put_four(four[b][k], at[b]);
        }
    }

    /* The same of bytes. ALL: or the kept ones alone. */
    template <bool ALL>
    GPI_DEVICE void put_bytes(const Table &table, const Item *items, uint32_t kept, uint32_t below,
                              uint32_t before, const uint32_t (&begin)[outputs])
    {
        static_assert(GROUPS == 32, "a run for each lane");
        const uint32_t lane = lane_id(), front = THREE ? before & 0xffff : before;
        const uint32_t less = THREE ? before >> 16 : 0;
        const Raw<32> run = run_load(items + 32 * lane, items);
        char *to = (char *)vector;
        LaneBytes out[outputs] = {LaneBytes(begin[0] + front), LaneBytes(begin[1] + less),
                                  LaneBytes(begin[1 + THREE] + 32 * lane - front - less)};
#pragma unroll
        for (uint32_t i = 0; i < 8; i++) {
            const auto e =
                table.of[(kept >> 4 * i & 15) | (THREE ? (below >> 4 * i & 15) << 4 : 0)];
            const uint32_t four = bytes_ordered(run.w[i], 0, e.order[0]), own = e.kept();
            out[0].append(to, four, own);
            if constexpr (ALL) {
                const uint32_t low = THREE ? e.kept_and_below() : own;
                if constexpr (THREE)
                    out[1].append(to, __funnelshift_rc(four, 0, own), low - own);
                out[2].append(to, __funnelshift_rc(four, 0, low), 32 - low);
            }
        }
        __syncwarp();
#pragma unroll
        for (uint32_t k = 0; k < outputs; k++)
            if (k == 0 || (ALL && (THREE || k == 2)))
                out[k].finish(to);
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

  private:
    /* Four items in the order of outputs. */
    struct Four {
        uint32_t w[size], kept, low; /* bytes of the kept ones, and of those with the ones below */

        Four() = default;

        GPI_DEVICE Four(const Table &table, const uint32_t *words, uint32_t bits, uint32_t lower)
        {
            const typename Table::Entry e = table.of[bits | lower << 4];
#pragma unroll
            for (uint32_t k = 0; k < size; k++)
                w[k] = __byte_perm(words[0], words[size - 1], e.order[k]);
            kept = e.kept();
            low = THREE ? e.kept_and_below() : kept;
        }
    };

    /* A lane's words of rows one after another. */
    template <uint32_t ROWS>
    static GPI_DEVICE void load(const Item *items, uint32_t (&words)[ROWS][2])
    {
        const char *from = (const char *)(items + lane_id() * each);
        const uint32_t shift = (uint32_t)(uintptr_t)from % 4 * 8;
        if ((uintptr_t)from % 8 == 0) {
#pragma unroll
            for (uint32_t b = 0; b < ROWS; b++)
                *(uint2 *)words[b] = ((const uint2 *)from)[32 * b];
            return;
        }
        const uint32_t *whole = (const uint32_t *)(from - shift / 8);
#pragma unroll
        for (uint32_t b = 0; b < ROWS; b++) {
            const uint32_t middle = whole[64 * b + 1], last = shift ? whole[64 * b + 2] : 0;
            words[b][0] = __funnelshift_r(whole[64 * b], middle, shift);
            words[b][1] = __funnelshift_r(middle, last, shift);
        }
    }

    GPI_DEVICE void put_four(const Four &four, uint32_t (&at)[outputs])
    {
        const uint32_t less = at[1] - four.kept, rest = at[2] - four.low;
        char *to = (char *)vector;
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t own = i * size;
            const Item item = (Item)(four.w[own / 4] >> own % 4 * 8);
            if constexpr (THREE) {
                const uint32_t place = own < four.kept ? at[0] : own < four.low ? less : rest;
                *(Item *)(to + place + own) = item;
            } else if (own < four.kept) { /* two stores take no choice of an address */
                *(Item *)(to + at[0] + own) = item;
            } else {
                *(Item *)(to + rest + own) = item;
            }
        }
        at[0] += four.kept;
        at[1] = less + four.low;
        at[2] = rest + 4 * size;
    }
};

} // namespace GPI_SPACE
