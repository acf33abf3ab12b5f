/* SPDX-License-Identifier: MIT */
/*
 * What the walks along the merge path write: repeated items, parts. Segments and ranks of items are
 * in balance_search.cuh.
 *
 * Items belong to the last non-zero number of the stage at or before them (see balance_walk.cuh);
 * as numbers rise with their places, one ballot and one shuffle per warp find it, without a scan.
 */
#pragma once

#include "balance/balance_walk.cuh"

namespace GPI_SPACE::balance
{

/* Blocks on a multiprocessor for which the compiler saves registers. */
constexpr int resident(int blocks)
{
    return blocks * threads <= gpu.threads ? blocks : gpu.threads / threads;
}

/* The count, and whether it is what was said, by one thread of the launch. */
template <class Offset>
GPI_DEVICE void settle_count(const segments<Offset> &g, uint64_t limit, bool may_cover_less,
                             bool capped, uint64_t *out_count, gpi_reporter reporter)
{
    if (blockIdx.x != 0 || threadIdx.x != 0)
        return;
    uint64_t total = g.total();
    if (capped || may_cover_less ? total > limit : total != limit)
        report_alone(reporter, capped ? GPI_RULE_CAPACITY : GPI_RULE_SPAN,
                     capped ? GPI_NO_INDEX : g.num_segments, total, limit);
    if (out_count)
        *out_count = total;
}

/* The segments that there are, up to the limit of their items; size becomes that of this call. */
template <bool COUNTED, class Offset>
GPI_DEVICE segments<Offset> settle_segments(const Offset *offsets, walk_size &size, uint32_t units,
                                            bool capped, uint64_t *out_count, gpi_reporter reporter)
{
    if constexpr (COUNTED)
        size.take_counts();
    segments<Offset> g(offsets, size.num_segments);
    g.num_items = min(size.limit, g.total());
    settle_count(g, size.limit, COUNTED && size.may_cover_less, capped, out_count, reporter);
    if (COUNTED && size.is_counted())
        size.cut(g.num_segments + g.num_items, units);
    return g;
}

template <bool places> GPI_DEVICE uint32_t head_of(uint32_t distance, uint32_t place)
{
    return places ? head_make(distance, place) : distance;
}

/* V staged numbers, loaded at once. */
template <int V> struct alignas(2 * V) numbers {
    uint16_t at[V];
};

/*
 * Call write(place, numbers, head before place) for every V places of the tile, lanes side by side.
 * Heads have their places if places is true, otherwise they are distances alone.
 */
template <int V, bool places, class Write>
GPI_DEVICE void emit(const tile &t, const stage &s, Write write)
{
    const uint32_t warp = threadIdx.x / 32, lane = lane_id();
    const uint32_t end = t.pad + (uint32_t)(t.i1 - t.i0);
    const uint32_t lanes_below = (1u << lane) - 1;
    const bool one_segment = t.s0 == t.s1;
    uint32_t carry = one_segment ? 0 : places ? s.carry[warp] : head_distance(s.carry[warp]);
#pragma unroll 4
    for (uint32_t round = 0; round < slice_items / (32 * V); round++) {
        const uint32_t first = warp * slice_items + round * 32 * V;
        const uint32_t place = first + lane * V;
        numbers<V> n = {};
        if (first >= end)
            break;
        uint32_t before = 0;
        if (!one_segment) {
            n = *reinterpret_cast<const numbers<V> *>(&s.heads[place]);
            uint32_t last = 0;
#pragma unroll
            for (int j = 0; j < V; j++)
                last = n.at[j] ? head_of<places>(n.at[j], place + j) : last;
            uint32_t any = __ballot_sync(all_lanes, last != 0);
            uint32_t left = any & lanes_below;
            uint32_t nearest = __shfl_sync(all_lanes, last, left ? 31 - __clz(left) : 0);
            before = left ? nearest : carry;
            uint32_t top = __shfl_sync(all_lanes, last, any ? 31 - __clz(any) : 0);
            carry = any ? top : carry;
        }
        write(place, n, before);
    }
}

/* Store V values at a place of the tile: as one vector if all are items of the tile. PASSING: ahead
 * of others, the L2 gives them up. */
template <int V, bool PASSING = false, class Item>
GPI_DEVICE void store_values(const tile &t, uint32_t place, const Item (&values)[V], Item *out,
                             bool aligned)
{
    const uint32_t end = t.pad + (uint32_t)(t.i1 - t.i0);
    Item *to = out + ((int64_t)t.i0 - (int64_t)t.pad + (int64_t)place);
    if (aligned && place >= t.pad && place + V <= end) {
        union {
            uint4 vector;
            Item value[V];
        } u;
#pragma unroll
        for (int j = 0; j < V; j++)
            u.value[j] = values[j];
        if constexpr (PASSING)
            __stcs(reinterpret_cast<uint4 *>(to), u.vector);
        else
            *reinterpret_cast<uint4 *>(to) = u.vector;
        return;
    }
#pragma unroll
    for (int j = 0; j < V; j++)
        if (place + j >= t.pad && place + j < end)
            to[j] = values[j];
}

/* Places by which out + i misses the vector boundary before it. */
template <class Item> GPI_DEVICE uint32_t misalignment(const Item *out, uint64_t i)
{
    return (uint32_t)(((uintptr_t)out / sizeof(Item) + i) % (16 / sizeof(Item)));
}

/* Segments that a tile may read: first, and up to last more. Offsets that do not ascend end
 * up here too. */
struct sources {
    uint64_t first;
    uint32_t last;
};

GPI_DEVICE sources sources_of(const tile &t, uint64_t num_segments)
{
    uint64_t first = min(t.s0, num_segments - 1);
    return {first, (uint32_t)min(num_segments - 1 - first, (uint64_t)balance_tuning.stage_items)};
}

/* Every item's distance in place of the heads: a lane overwrites what it alone has read. */
GPI_DEVICE void stage_distances(const tile &t, stage &s)
{
    constexpr int V = 8;
    emit<V, false>(t, s, [&](uint32_t place, const numbers<V> &n, uint32_t head) {
        numbers<V> filled;
        uint32_t distance = head;
#pragma unroll
        for (int j = 0; j < V; j++) {
            distance = n.at[j] ? n.at[j] : distance;
            filled.at[j] = (uint16_t)distance;
        }
        *reinterpret_cast<numbers<V> *>(&s.heads[place]) = filled;
    });
    workers_sync();
}

/* Copy the items of a tile word by word, the stage holding the segment's distance
 * for every item. */
template <class Word>
GPI_DEVICE void copy_words(const tile &t, const stage &s, uint32_t item_bytes,
                           const sources &source, const char *in, char *out)
{
    const uint32_t words = item_bytes / sizeof(Word);
    const uint32_t count = (uint32_t)(t.i1 - t.i0) * words;
    const Word *from = reinterpret_cast<const Word *>(in + source.first * item_bytes);
    Word *to = reinterpret_cast<Word *>(out + t.i0 * item_bytes);
    for (uint32_t k = threadIdx.x; k < count; k += workers) {
        uint32_t item = k / words;
        uint32_t distance = min((uint32_t)s.heads[item], source.last);
        to[k] = from[(uint64_t)distance * words + (k - item * words)];
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
 * addresses. Grid as expand_k, 16.1 KiB of shared memory, with units steps per tile: at most 2^32
 * words of output. After: out[i] for all i < min(limit, what the offsets cover).
 */
template <bool COUNTED, class Offset>
__global__ void __launch_bounds__(threads, resident(5))
    expand_bytes_k(const Offset *__restrict__ offsets, walk_size size, bool capped, uint32_t units,
                   uint32_t item_bytes, uint32_t word_bytes, const char *__restrict__ in,
                   char *__restrict__ out, uint64_t *out_count, gpi_reporter reporter)
{
    __shared__ stage s;
    const segments<Offset> g =
        settle_segments<COUNTED>(offsets, size, units, capped, out_count, reporter);
    walk_tiles(
        g, units, size.tiles_per_block, s, [](uint64_t) { return 0u; },
        [&](const tile &t) {
            /* 1. Whose each item is. */
            stage_distances(t, s);
            /* 2. The words. */
            const sources source = sources_of(t, g.num_segments);
            with_item_word(word_bytes, [&](auto word) {
                copy_words<decltype(word)>(t, s, item_bytes, source, in, out);
            });
        });
}

/*
 * Where every part of a merge path begins. Grid: any; 288 threads; no shared memory.
 * After: row_starts[p] and nnz_starts[p] for all p <= parts.
 */
template <class Offset>
__global__ void __launch_bounds__(threads)
    partition_k(const Offset *__restrict__ offsets, walk_size size, uint64_t parts,
                Offset *__restrict__ row_starts, Offset *__restrict__ nnz_starts,
                gpi_reporter reporter)
{
    size.take_counts();
    const segments<Offset> g(offsets, size.num_segments);
    settle_count(g, size.limit, size.may_cover_less, false, nullptr, reporter);
    const uint64_t num_rows = g.num_segments;
    const uint64_t nnz = size.may_cover_less ? min(size.limit, g.total()) : size.limit;
    const uint64_t share = (num_rows + nnz + parts - 1) / parts;
    for (uint64_t p = (uint64_t)blockIdx.x * threads + threadIdx.x; p <= parts;
         p += (uint64_t)gridDim.x * threads) {
        uint64_t d = min(p * share, num_rows + nnz);
        uint64_t row = merge_path_search(offsets, g.base, num_rows, nnz, d);
        row_starts[p] = (Offset)row;
        nnz_starts[p] = (Offset)(d - row);
    }
}

/* Grid: any. */
template <class Offset>
__global__ void __launch_bounds__(threads)
    plan_k(const Offset *__restrict__ offsets, uint64_t num_segments, uint64_t num_items,
           gpi_balance_plan *plan)
{
    const uint64_t begins = (num_segments + num_items) / GPI_BALANCE_PLAN_STEPS + 1;
    const Offset base = offsets[0];
    for (uint64_t k = (uint64_t)blockIdx.x * threads + threadIdx.x; k < begins;
         k += (uint64_t)gridDim.x * threads)
        plan->begins[k] =
            merge_path_search(offsets, base, num_segments, num_items, k * GPI_BALANCE_PLAN_STEPS);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        plan->num_segments = num_segments;
        plan->num_items = num_items;
    }
}

} // namespace GPI_SPACE::balance
