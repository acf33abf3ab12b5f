/* SPDX-License-Identifier: MIT */
/* Items of one and two bytes in the order of outputs, in shared memory, from where they leave. */
#pragma once

#include "compact/compact_bytes.cuh"
#include "device/barrier.cuh"

namespace GPI_SPACE
{

/* As __byte_perm(), which masks the order, where that is in the low 16 bits of a word. */
GPI_DEVICE uint32_t bytes_ordered(uint32_t x, uint32_t y, uint32_t order)
{
    uint32_t bytes;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(x), "r"(y), "r"(order));
    return bytes;
}

/*
 * What brings four neighbouring items into the order of outputs: the kept ones, with THREE those
 * below, and the others. By the bits of the kept ones, and with THREE four bits of those below; of
 * bytes in three by a byte of BoundBits.
 */
template <class Item, bool THREE> struct PackTable {
    static constexpr uint32_t size = sizeof(Item), entries = THREE ? 256 : 16;

    /* For __byte_perm, by word of the four items; in the highest bits of the first word the bytes
     * of kept ones, and of those with the ones below. */
    struct Entry {
        uint32_t order[size];

        GPI_DEVICE uint32_t kept() const
        {
            return THREE ? __byte_perm(order[0], 0, 0x4442) : order[0] >> 16;
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
                of[i] = THREE && size == 1 ? entry(i & i >> 4, ~i & 15) : entry(i & 15, i >> 4);
    }

  private:
    static GPI_DEVICE Entry entry(uint32_t kept, uint32_t below)
    {
        const uint32_t others = 15 & ~(kept | below);
        const uint32_t first_below = __popc(kept), first_other = first_below + __popc(below);
        Entry e = {};
        e.order[0] = size * (first_below << 16 | (THREE ? first_other << 24 : 0));
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

/* A word to shared memory if `bits` are not 0: a predicate, where the compiler might branch. */
GPI_DEVICE void shared_store_if(uint32_t bits, uint32_t address, uint32_t word)
{
    asm volatile("{\n.reg .pred store;\n"
                 "setp.ne.u32 store, %0, 0;\n"
                 "@store st.shared.u32 [%1], %2;\n}" ::"r"(bits),
                 "r"(address), "r"(word)
                 : "memory");
}

/*
 * What a lane appends to an output in shared memory. A word is stored when all of it is there: what
 * lies in its first word before its first byte is then wrong, until the lanes before finish, and
 * what is left of its last one it stores byte by byte.
 */
struct LaneBytes {
    uint32_t first, end; /* addresses: where the bytes begin, and where the next one goes */
    uint32_t latest;     /* the last four bytes, the last one highest */

    GPI_DEVICE explicit LaneBytes(uint32_t address) : first(address), end(address), latest(0)
    {
    }

    /* The lowest `bytes` of four. */
    GPI_DEVICE void append(uint32_t four, uint32_t bytes)
    {
        go_to(end + bytes, four);
        latest = __funnelshift_rc(latest, four, 8 * bytes);
    }

    /* The highest 4 - `without` of four. */
    GPI_DEVICE void append_others(uint32_t four, uint32_t without)
    {
        const uint32_t others = __funnelshift_rc(four, 0, 8 * without);
        go_to(end + 4 - without, others);
        latest = __funnelshift_lc(latest, others, 8 * without);
    }

    /* When all lanes have appended. */
    GPI_DEVICE void finish() const
    {
        const uint32_t rest = __funnelshift_l(latest, 0, 8 * end), word = end & ~3u;
#pragma unroll
        for (uint32_t i = 0; i < 3; i++)
            if (word + i >= first && word + i < end)
                *(char *)__cvta_shared_to_generic(word + i) = (char)(rest >> 8 * i);
    }

  private:
    GPI_DEVICE void go_to(uint32_t next, uint32_t four)
    {
        shared_store_if((next ^ end) & 4, end & ~3u, __funnelshift_l(latest, four, 8 * end));
        end = next;
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

    /* The same of bytes. ALL: or the kept ones alone. bits: of the lane's run, with THREE both
     * words of BoundBits; in: the array of the items. */
    template <bool ALL>
    GPI_DEVICE void put_bytes(const Table &table, const Item *items, const void *in,
                              const uint32_t (&bits)[2], uint32_t before,
                              const uint32_t (&begin)[outputs])
    {
        static_assert(GROUPS == 32, "a run for each lane");
        constexpr uint32_t fours_of_run = 8, batch = THREE ? 8 : 1;
        const uint32_t lane = lane_id(), front = THREE ? before & 0xffff : before;
        const uint32_t less = THREE ? before >> 16 : 0, to = shared_address(vector);
        const Raw<32> run = run_load(items + 32 * lane, in);
        LaneBytes out[outputs] = {LaneBytes(to + begin[0] + front), LaneBytes(to + begin[1] + less),
                                  LaneBytes(to + begin[1 + THREE] + 32 * lane - front - less)};
#pragma unroll
        for (uint32_t first = 0; first < fours_of_run; first += batch) {
            typename Table::Entry e[batch]; /* read before anything is stored */
#pragma unroll
            for (uint32_t k = 0; k < batch; k++) {
                const uint32_t i = first + k;
                e[k] = table.of[THREE ? __byte_perm(bits[i / 4], 0, 0x4440 + i % 4)
                                      : bits[0] >> 4 * i & 15];
            }
#pragma unroll
            for (uint32_t k = 0; k < batch; k++) {
                const uint32_t four = bytes_ordered(run.w[first + k], 0, e[k].order[0]);
                const uint32_t own = e[k].kept(), low = THREE ? e[k].kept_and_below() : own;
                out[0].append(four, own);
                if constexpr (THREE)
                    out[1].append(__funnelshift_rc(four, 0, 8 * own), low - own);
                if constexpr (ALL)
                    out[2].append_others(four, low);
            }
        }
        __syncwarp();
#pragma unroll
        for (uint32_t k = 0; k < outputs; k++)
            if (k == 0 || (k == 1 ? THREE : ALL))
                out[k].finish();
    }

    /* count bytes, which begin at byte `begin` of these, to where their output is. */
    GPI_DEVICE void store(uint32_t begin, char *to, uint32_t count) const
    {
        constexpr uint32_t most = GROUPS * 32 * size; /* of whole vectors */
        const uint32_t shift = begin % 16, end = shift + count, last = end & ~15u;
        const uint32_t first = 16 * lane_id() + (shift ? 16 : 0);
        const char *from = (const char *)vector + (begin - shift);
        char *base = to - shift;
        __builtin_assume(__isGlobal(base));
#pragma unroll
        for (uint32_t k = 0; k < most; k += 512)
            if (first + k < last)
                *(uint4 *)(base + first + k) = *(const uint4 *)(from + first + k);
        /* What is before the first whole vector, and behind the last one. */
        const bool behind = lane_id() >= 16;
        const uint32_t at = (behind ? last : 0) + lane_id() % 16;
        if (at >= shift && at < end && (behind || shift))
            base[at] = from[at];
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
