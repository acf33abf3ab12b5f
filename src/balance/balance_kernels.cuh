/* SPDX-License-Identifier: MIT */
/*
 * Walks along the merge path of segments and items, a tile per block at a time.
 *
 * A tile is tile_units steps of the path, so at most that many items and segments together. Its
 * items are staged in shared memory as 16-bit numbers: 0, or, where a segment starts, that
 * segment's distance from the tile's first one. Items then belong to the last non-zero number at or
 * before them; as numbers rise with their places, one ballot and one shuffle per warp find it,
 * without a scan.
 */
#pragma once

extern "C" {
#include "balance/balance_internal.h"
}
#include "device/search.cuh"
#include "device/space.cuh"
#include "device/warp.cuh"
#include "tuning/balance_tuning.cuh"

namespace GPI_SPACE::balance
{

constexpr int warps = workers / 32;
constexpr int threads = workers + 32; /* the last warp scouts: it finds where the next tile ends */
constexpr uint32_t slice_items = stage_items / warps; /* of one warp */
/* Less than the stage: the first item is staged up to 15 places in, where its output's vector is.
 */
constexpr uint32_t tile_units = stage_items - 16;

/* What all tiles of a launch share. */
template <class Offset> struct segments {
    const Offset *offsets;
    Offset base; /* offsets[0] */
    uint64_t num_segments;
    uint64_t num_items;

    GPI_DEVICE segments(const Offset *array, uint64_t count)
        : offsets(array), base(__ldg(array)), num_segments(count)
    {
    }

    GPI_DEVICE uint64_t at(uint64_t s) const
    {
        return offset_at(offsets, base, s);
    }

    GPI_DEVICE uint64_t total() const
    {
        return at(num_segments);
    }
};

struct stage {
    alignas(32) uint16_t heads[stage_items];
    uint32_t carry[warps]; /* the head before each slice */
    uint64_t first;        /* segment where the block's first tile begins */
    uint64_t ends[2];      /* segments where tiles end, in turn */
};

/* From segment s0 and item i0 up to segment s1 and item i1. */
struct tile {
    uint64_t s0, s1, i0, i1;
    uint32_t pad; /* place of i0 in the stage */
};

/* A head is the distance of its segment from s0 below its place in the stage; 0: segment s0 itself.
 */
GPI_DEVICE uint32_t head_make(uint32_t distance, uint32_t place)
{
    return distance | place << 16;
}

GPI_DEVICE uint32_t head_distance(uint32_t head)
{
    return head & 0xffff;
}

GPI_DEVICE uint32_t head_place(uint32_t head)
{
    return head >> 16;
}

/* The sticky word and the count, by one thread of the launch. */
template <class Offset>
GPI_DEVICE void settle_count(const segments<Offset> &g, uint64_t limit, bool capped,
                             uint64_t *out_count, uint32_t *sticky)
{
    if (blockIdx.x != 0 || threadIdx.x != 0)
        return;
    uint64_t total = g.total();
    if (capped ? total > limit : total != limit)
        atomicOr(sticky, capped ? GPI_STICKY_CAPACITY : GPI_STICKY_DATA);
    if (out_count)
        *out_count = total;
}

template <bool places> GPI_DEVICE uint32_t head_of(uint32_t distance, uint32_t place)
{
    return places ? head_make(distance, place) : distance;
}

/*
 * Write the heads of the tile's segments. Only non-empty segments have one, so every place has one
 * writer. Whoever covers the start of a slice leaves its head as the carry of that slice.
 */
template <class Offset>
GPI_DEVICE void stage_heads(const segments<Offset> &g, const tile &t, stage &s)
{
    const uint32_t distances = (uint32_t)(t.s1 - t.s0);
#pragma unroll 4
    for (uint32_t distance = 1 + threadIdx.x; distance <= distances; distance += workers) {
        uint64_t segment = t.s0 + distance;
        uint64_t begin = g.at(segment);
        /* Items past the last segment's end form a segment of their own. */
        uint64_t end = segment < g.num_segments ? g.at(segment + 1) : t.i1;
        end = min(end, t.i1);
        if (begin < t.i0 || begin >= end)
            continue;
        uint32_t place = (uint32_t)(begin - t.i0) + t.pad;
        uint32_t after = (uint32_t)(end - t.i0) + t.pad;
        s.heads[place] = (uint16_t)distance;
        for (uint32_t w = place / slice_items + 1; w * slice_items < after; w++)
            s.carry[w] = head_make(distance, place);
    }
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

/* Store V values at a place of the tile: as one vector if all are items of the tile. */
template <int V, class Item>
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

/* A barrier of the workers: the scout may still be searching. */
GPI_DEVICE void workers_sync()
{
    asm volatile("bar.sync 1, %0;" ::"n"(workers) : "memory");
}

/*
 * Where a tile of up to units steps ends that begins at segment s0 and step d0. The range keeps the
 * tile within units items and units segments even if the offsets do not ascend.
 */
template <class Offset>
GPI_DEVICE uint64_t tile_end(const segments<Offset> &g, uint64_t s0, uint64_t d0, uint64_t d1)
{
    const uint64_t high = min(g.num_segments, s0 + (d1 - d0));
    const uint64_t low = max(s0, merge_path_low(g.num_items, d1));
    return merge_path_search_warp(g.offsets, g.base, low, high, d1);
}

/* Fetch into the L2 cache what stage_heads() will read of segments s0 to s1, by one warp. */
template <class Offset>
GPI_DEVICE void prefetch_offsets(const segments<Offset> &g, uint64_t s0, uint64_t s1)
{
    constexpr uint64_t line = 128 / sizeof(Offset);
    for (uint64_t s = s0 + lane_id() * line; s <= s1; s += 32 * line)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(g.offsets + s));
}

/* Find where the first tile of the block begins and ends, by one warp. */
template <class Offset>
GPI_DEVICE void scout_first(const segments<Offset> &g, uint64_t d0, uint64_t d1, stage &s)
{
    const uint64_t first =
        merge_path_search_warp(g.offsets, g.base, merge_path_low(g.num_items, d0),
                               merge_path_high(g.num_segments, d0), d0);
    s.first = first;
    s.ends[1] = tile_end(g, first, d0, d1);
}

/* Stage a tile, then call work(tile): the part of the workers. */
template <class Offset, class Work>
GPI_DEVICE void work_on_tile(const segments<Offset> &g, const tile &t, stage &s, Work work)
{
    /* Nothing but empty segments. */
    if (t.i0 >= t.i1)
        return;
    for (uint32_t i = threadIdx.x; i < stage_items / 8; i += workers)
        reinterpret_cast<uint4 *>(s.heads)[i] = make_uint4(0, 0, 0, 0);
    if (threadIdx.x < warps)
        s.carry[threadIdx.x] = 0;
    workers_sync();
    if (t.s0 < t.s1)
        stage_heads(g, t, s);
    workers_sync();
    work(t);
}

/*
 * Take this block's tiles, one after another. pad_of(i) is where item i belongs in the stage when a
 * tile begins with it. While the workers are at a tile, the scout finds where the next one ends.
 */
template <class Offset, class PadOf, class Work>
GPI_DEVICE void walk_tiles(const segments<Offset> &g, uint32_t units, uint64_t tiles_per_block,
                           stage &s, PadOf pad_of, Work work)
{
    const uint64_t steps = g.num_segments + g.num_items;
    const bool scout = threadIdx.x >= workers;
    uint64_t d0 = blockIdx.x * tiles_per_block * units;
    if (d0 >= steps || g.num_items == 0)
        return;
    uint64_t d1 = min(d0 + units, steps);
    if (scout)
        scout_first(g, d0, d1, s);
    __syncthreads();
    uint64_t s0 = s.first, s1 = s.ends[1];
    for (uint64_t n = 0;; n++) {
        const bool more = n + 1 < tiles_per_block && d1 < steps;
        const uint64_t d2 = min(d1 + units, steps);
        if (!scout) {
            work_on_tile(g, tile{s0, s1, d0 - s0, d1 - s1, pad_of(d0 - s0)}, s, work);
        } else if (more) {
            const uint64_t s2 = tile_end(g, s1, d1, d2);
            s.ends[n & 1] = s2;
            prefetch_offsets(g, s1, s2);
        }
        if (!more)
            return;
        /* The workers are done with the stage, the scout with ends[n & 1]; ends[(n + 1) & 1] is
         * free. */
        __syncthreads();
        s0 = s1;
        s1 = s.ends[n & 1];
        d0 = d1;
        d1 = d2;
    }
}

/*
 * Segment, and with ranks place in it, of every item.
 * Grid: blocks that take tiles_per_block tiles each; 288 threads; 16.1 KiB of shared memory.
 * After: segments_out[i], and with ranks ranks_out[i], for all i < limit.
 */
template <class Offset, class Index, bool with_ranks>
__global__ void __launch_bounds__(threads)
    search_k(const Offset *__restrict__ offsets, uint64_t num_segments, uint64_t limit,
             uint64_t tiles_per_block, Index *__restrict__ segments_out,
             Index *__restrict__ ranks_out, uint32_t *sticky)
{
    constexpr int V = 16 / sizeof(Index);
    __shared__ stage s;
    segments<Offset> g(offsets, num_segments);
    g.num_items = limit;
    settle_count(g, limit, false, nullptr, sticky);
    const bool ranks_aligned = misalignment(segments_out, 0) == misalignment(ranks_out, 0);
    walk_tiles(
        g, tile_units, tiles_per_block, s,
        [=](uint64_t i) { return misalignment(segments_out, i); },
        [&](const tile &t) {
            /* Rank of place 0 of the stage, if segment s0 reaches there. */
            const Index start = with_ranks ? (Index)(t.i0 - g.at(t.s0) - t.pad) : 0;
            emit<V, with_ranks>(t, s, [&](uint32_t place, const numbers<V> &n, uint32_t head) {
                Index values[V], ranks[V];
#pragma unroll
                for (int j = 0; j < V; j++) {
                    head = n.at[j] ? head_of<with_ranks>(n.at[j], place + j) : head;
                    values[j] = (Index)t.s0 + (with_ranks ? head_distance(head) : head);
                    ranks[j] = place + j + (head ? (Index)0 - head_place(head) : start);
                }
                store_values<V>(t, place, values, segments_out, true);
                if (with_ranks)
                    store_values<V>(t, place, ranks, ranks_out, ranks_aligned);
            });
        });
}

/* Segments that a tile may read: first, and up to last more. Offsets that do not ascend end up here
 * too. */
struct sources {
    uint64_t first;
    uint32_t last;
};

GPI_DEVICE sources sources_of(const tile &t, uint64_t num_segments)
{
    uint64_t first = min(t.s0, num_segments - 1);
    return {first, (uint32_t)min(num_segments - 1 - first, (uint64_t)stage_items)};
}

/*
 * Repeat items of 1, 2, 4, 8 or 16 bytes, in and out aligned to them.
 * Grid and shared memory as search_k. After: out[i] for all i < min(limit, what the offsets cover).
 */
template <class Offset, class Item>
__global__ void __launch_bounds__(threads)
    expand_k(const Offset *__restrict__ offsets, uint64_t num_segments, uint64_t limit, bool capped,
             uint64_t tiles_per_block, const Item *__restrict__ in, Item *__restrict__ out,
             uint64_t *out_count, uint32_t *sticky)
{
    constexpr int V = 16 / sizeof(Item);
    __shared__ stage s;
    segments<Offset> g(offsets, num_segments);
    g.num_items = min(limit, g.total());
    settle_count(g, limit, capped, out_count, sticky);
    walk_tiles(
        g, tile_units, tiles_per_block, s, [=](uint64_t i) { return misalignment(out, i); },
        [&](const tile &t) {
            const sources source = sources_of(t, num_segments);
            const Item *from = in + source.first;
            const uint32_t last = source.last;
            emit<V, false>(t, s, [&](uint32_t place, const numbers<V> &n, uint32_t head) {
                /* Reading only at heads keeps it to one read per lane and one per segment. */
                Item values[V], value = from[min(head, last)];
#pragma unroll
                for (int j = 0; j < V; j++) {
                    if (n.at[j])
                        value = from[min((uint32_t)n.at[j], last)];
                    values[j] = value;
                }
                store_values<V>(t, place, values, out, true);
            });
        });
}

/* Copy the items of a tile word by word, the stage holding the segment's distance for every item.
 */
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

/*
 * Repeat items of any size and alignment; word_bytes (1, 2, 4, 8 or 16) divides item_bytes and both
 * addresses. Grid and shared memory as search_k, with units steps per tile: at most 2^32 words of
 * output. After: as expand_k.
 */
template <class Offset>
__global__ void __launch_bounds__(threads)
    expand_bytes_k(const Offset *__restrict__ offsets, uint64_t num_segments, uint64_t limit,
                   bool capped, uint32_t units, uint64_t tiles_per_block, uint32_t item_bytes,
                   uint32_t word_bytes, const char *__restrict__ in, char *__restrict__ out,
                   uint64_t *out_count, uint32_t *sticky)
{
    constexpr int V = 8;
    __shared__ stage s;
    segments<Offset> g(offsets, num_segments);
    g.num_items = min(limit, g.total());
    settle_count(g, limit, capped, out_count, sticky);
    walk_tiles(
        g, units, tiles_per_block, s, [](uint64_t) { return 0u; },
        [&](const tile &t) {
            /* 1. Every item's distance in place of the heads: a lane overwrites what it alone has
             * read. */
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
            /* 2. The words. */
            const sources source = sources_of(t, num_segments);
            if (word_bytes == 16)
                copy_words<uint4>(t, s, item_bytes, source, in, out);
            else if (word_bytes == 8)
                copy_words<uint64_t>(t, s, item_bytes, source, in, out);
            else if (word_bytes == 4)
                copy_words<uint32_t>(t, s, item_bytes, source, in, out);
            else if (word_bytes == 2)
                copy_words<uint16_t>(t, s, item_bytes, source, in, out);
            else
                copy_words<uint8_t>(t, s, item_bytes, source, in, out);
        });
}

/*
 * Where every part of a merge path begins. Grid: any; 288 threads; no shared memory.
 * After: row_starts[p] and nnz_starts[p] for all p <= parts.
 */
template <class Offset>
__global__ void __launch_bounds__(threads)
    partition_k(const Offset *__restrict__ offsets, uint64_t num_rows, uint64_t nnz, uint64_t parts,
                uint64_t share, Offset *__restrict__ row_starts, Offset *__restrict__ nnz_starts,
                uint32_t *sticky)
{
    segments<Offset> g(offsets, num_rows);
    settle_count(g, nnz, false, nullptr, sticky);
    for (uint64_t p = (uint64_t)blockIdx.x * threads + threadIdx.x; p <= parts;
         p += (uint64_t)gridDim.x * threads) {
        uint64_t d = min(p * share, num_rows + nnz);
        uint64_t row = merge_path_search(offsets, g.base, num_rows, nnz, d);
        row_starts[p] = (Offset)row;
        nnz_starts[p] = (Offset)(d - row);
    }
}

/*
 * The least s with offsets[s - 1] > offsets[s], compared after bias is xored in. Grid: any; 256
 * threads. After: *first_bad is that s, or as it was.
 */
template <class Offset>
__global__ void __launch_bounds__(threads)
    check_k(const Offset *__restrict__ offsets, uint64_t num_segments, Offset bias,
            unsigned long long *first_bad)
{
    for (uint64_t s = (uint64_t)blockIdx.x * threads + threadIdx.x; s < num_segments;
         s += (uint64_t)gridDim.x * threads) {
        if ((__ldg(offsets + s) ^ bias) > (__ldg(offsets + s + 1) ^ bias)) {
            atomicMin(first_bad, (unsigned long long)(s + 1));
            return;
        }
    }
}

} // namespace GPI_SPACE::balance
