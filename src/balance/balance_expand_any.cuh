/* SPDX-License-Identifier: MIT */
/*
 * Repeated items of any size and alignment, word by word, by walks along the merge path.
 *
 * As in balance_expand.cuh a bit says where a segment begins that has items in the tile, and the
 * number of bits up to an item is the slot of its value. Here the size is known at run time only:
 * a list names the segment of each slot, values lie in shared memory one after another as they do
 * in the output, and word w of a tile is one of item w / words. Values of large items are read
 * where they lie: a warp reads neighbouring words of them anyway.
 */
#pragma once

#include "balance/balance_kernels.cuh"
#include "device/item_stage.cuh"

namespace GPI_SPACE::balance
{

constexpr uint32_t any_places = 4096;           /* steps of a tile, at most */
constexpr uint32_t any_marks = any_places / 32; /* a word of bits each */
static_assert(any_marks == 4 * 32, "four words for each lane");
/* A slot takes a step for its segment and one for an item: a tile has no more of them than half of
 * its steps, and that of the segment which began before. */
constexpr uint32_t any_slots = any_places / 2 + 1;
constexpr uint32_t any_value_bytes = balance_tuning.expand_staged_bytes / 2;
constexpr uint32_t any_staged = balance_tuning.expand_staged_bytes / 32; /* of larger items a tile
                                                                         * would have few */

struct any_stage {
    path_ends path;
    alignas(16) uint32_t bits[any_marks]; /* zero between tiles */
    alignas(16) uint2 marks[any_marks];   /* those, and how many are set before */
    uint32_t slots;
    uint16_t segment[any_slots]; /* its distance from the tile's first, by slot */
    alignas(16) char values[any_value_bytes + any_staged];

    GPI_DEVICE uint32_t slot_of(uint32_t item) const
    {
        const uint2 m = marks[item / 32];
        return m.y + __popc(m.x & ((2u << item % 32) - 1));
    }
};

/* Where in the tile segment s begins, or ~0 if none of its items are there. */
template <class Offset>
GPI_DEVICE uint32_t any_place(const segments<Offset> &g, const tile &t, uint64_t s)
{
    const uint64_t begin = g.at(s), end = min(g.at(s + 1), t.i1);
    return begin < t.i0 || begin >= end ? ~0u : (uint32_t)(begin - t.i0);
}

/* Bits set before each word, and the slots, by one warp. */
GPI_DEVICE void any_count(any_stage &s)
{
    const uint32_t lane = lane_id();
    const uint4 four = ((const uint4 *)s.bits)[lane];
    const uint32_t bits[4] = {four.x, four.y, four.z, four.w};
    uint32_t before[4], sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        before[k] = sum;
        sum += __popc(bits[k]);
    }
    const uint32_t lanes_before = warp_exclusive(sum);
#pragma unroll
    for (int k = 0; k < 4; k++)
        s.marks[4 * lane + k] = make_uint2(bits[k], lanes_before + before[k]);
    ((uint4 *)s.bits)[lane] = make_uint4(0, 0, 0, 0);
    if (lane == 31)
        s.slots = lanes_before + sum + 1;
}

/* The slots of a tile's segments. Slot 0 is that of segment t.s0, which has no bit. */
template <class Offset>
GPI_DEVICE void any_slots_of(const segments<Offset> &g, const tile &t, any_stage &s)
{
    const uint64_t end = min(t.s1 + 1, g.num_segments);
    const uint32_t count = (uint32_t)(end - min(end, t.s0 + 1)); /* behind t.s0 */
    for (uint32_t d = threadIdx.x; d < count; d += workers) {
        const uint32_t place = any_place(g, t, t.s0 + 1 + d);
        if (place != ~0u)
            atomicOr(&s.bits[place / 32], 1u << place % 32);
    }
    workers_sync();
    if (threadIdx.x < 32)
        any_count(s);
    workers_sync();
    for (uint32_t d = threadIdx.x; d < count; d += workers) {
        const uint32_t place = any_place(g, t, t.s0 + 1 + d);
        if (place != ~0u)
            s.segment[s.slot_of(place)] = (uint16_t)(d + 1);
    }
    if (threadIdx.x == 0)
        s.segment[0] = 0;
    workers_sync();
}

/* The values of all slots to shared memory. from: that of the tile's first segment. */
template <class Word>
GPI_DEVICE void any_load(any_stage &s, const Word *__restrict__ from, const ItemWords &words)
{
    constexpr uint32_t batch = 4;
    const uint32_t all = s.slots * words.count;
    for (uint32_t w = threadIdx.x; w < all; w += batch * workers) {
        Word word[batch];
#pragma unroll
        for (uint32_t k = 0; k < batch; k++) {
            const uint32_t at = min(w + k * workers, all - 1), slot = words.item_of(at);
            word[k] = from[(uint64_t)s.segment[slot] * words.count + (at - slot * words.count)];
        }
#pragma unroll
        for (uint32_t k = 0; k < batch; k++)
            if (w + k * workers < all)
                ((Word *)s.values)[w + k * workers] = word[k];
    }
    workers_sync();
}

template <class Word>
GPI_DEVICE void any_store(const any_stage &s, uint32_t items, const ItemWords &words,
                          Word *__restrict__ to)
{
#pragma unroll 4
    for (uint32_t w = threadIdx.x; w < items * words.count; w += workers) {
        const uint32_t item = words.item_of(w);
        to[w] = ((const Word *)s.values)[w - (item - s.slot_of(item)) * words.count];
    }
}

/* The same of values that are read where they lie. */
template <class Word>
GPI_DEVICE void any_copy(const any_stage &s, uint32_t items, uint32_t words,
                         const Word *__restrict__ from, Word *__restrict__ to)
{
#pragma unroll 4
    for (uint32_t w = threadIdx.x; w < items * words; w += workers) {
        const uint32_t item = w / words, rest = w - item * words;
        to[w] = from[(uint64_t)s.segment[s.slot_of(item)] * words + rest];
    }
}

/* f of the word that items are moved by. */
template <class F> GPI_DEVICE void with_item_word(uint32_t word_bytes, F f)
{
    if (word_bytes == 16)
        f(uint4());
    else if (word_bytes == 8)
        f(uint64_t());
    else if (word_bytes == 4)
        f(uint32_t());
    else if (word_bytes == 2)
        f(uint16_t());
    else
        f(uint8_t());
}

/*
 * Repeat items of any size and alignment; word_bytes (1, 2, 4, 8 or 16) divides item_bytes and both
 * addresses. Grid as expand_k, 23 KiB of shared memory, with units steps per tile: at most
 * any_places, and 2^32 words of output. After: out[i] for all i < min(limit, what offsets cover).
 */
template <class Offset>
__global__ void __launch_bounds__(threads, resident(6))
    expand_any_k(const Offset *__restrict__ offsets, walk_size size, bool capped, uint32_t units,
                 uint32_t item_bytes, uint32_t word_bytes, const char *__restrict__ in,
                 char *__restrict__ out, uint64_t *out_count, gpi_reporter reporter)
{
    __shared__ any_stage s;
    const ItemWords words(item_bytes / word_bytes);
    if (threadIdx.x < any_marks)
        s.bits[threadIdx.x] = 0;
    walk_path<4, true>(
        offsets, size, units, s.path,
        [=](uint64_t count, uint64_t limit, uint64_t total) {
            settle_total(count, limit, total, size.may_cover_less, capped, out_count, reporter);
        },
        [=](uint64_t s0, uint64_t s1) { prefetch_values(in, s0 * item_bytes, s1 * item_bytes); },
        [&](const segments<Offset> &g, uint64_t s0, uint64_t s1, uint64_t d0, uint64_t d1) {
            const tile t = {s0, s1, d0 - s0, d1 - s1, 0};
            if (t.i0 >= t.i1)
                return;
            any_slots_of(g, t, s);
            const uint32_t items = (uint32_t)(t.i1 - t.i0);
            const char *first = in + min(t.s0, g.num_segments - 1) * item_bytes;
            with_item_word(word_bytes, [&](auto word) {
                using Word = decltype(word);
                Word *to = (Word *)(out + t.i0 * item_bytes);
                if (item_bytes > any_staged)
                    return any_copy(s, items, words.count, (const Word *)first, to);
                any_load(s, (const Word *)first, words);
                any_store(s, items, words, to);
            });
        });
}

} // namespace GPI_SPACE::balance
