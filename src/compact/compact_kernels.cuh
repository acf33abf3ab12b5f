/* SPDX-License-Identifier: MIT */
/* What the compaction kernels share: parameters, the selection, counts before a tile. */
#pragma once

#include "device/host.cuh"
#include "device/item_count.cuh"
#include "device/lookahead.cuh"
#include "device/ops.cuh"
#include "device/report.cuh"
#include "device/warp.cuh"

extern "C" {
#include "compact/compact_internal.h"
}

namespace GPI_SPACE
{

struct CompactParams {
    gpi_compact_args a;
    gpi_state state;
    gpi_reporter reporter;
};

/* Storage of one item; 0: no items are read. */
template <int BYTES>
using ItemOf = std::conditional_t<
    BYTES <= 1, uint8_t,
    std::conditional_t<
        BYTES == 2, uint16_t,
        std::conditional_t<BYTES == 4, uint32_t, std::conditional_t<BYTES == 8, uint64_t, uint4>>>>;

/* The comparison of gpi_compact_range in the item's own width. */
template <class T> struct Range {
    T flip, low, span, least, first;
    bool invert;

    __host__ __device__ explicit Range(const gpi_compact_range &r)
        : flip((T)r.flip), low((T)r.low), span((T)r.span), least((T)r.least), first((T)r.first),
          invert(r.invert != 0)
    {
    }

    GPI_DEVICE T word(T x) const
    {
        T negative = (T)(0 - (x >> (8 * sizeof(T) - 1)));
        return (T)(x ^ (negative & flip));
    }

    GPI_DEVICE bool operator()(T x) const
    {
        return ((T)(word(x) - low) <= span) != invert;
    }

    GPI_DEVICE bool below(T x) const
    {
        return (T)(word(x) - least) < first;
    }
};
template <> struct Range<uint4> {
    GPI_DEVICE explicit Range(const gpi_compact_range &)
    {
    }
};

/* ---- counts ---- */

/*
 * Of a tile, 32 bits: its kept items, and with THREE those below above them; a tile has less than
 * 2^16 items then.
 */
template <bool THREE> GPI_DEVICE uint32_t tile_counts(uint32_t kept, uint32_t below)
{
    return THREE ? kept | below << 16 : kept;
}

/* Items before a place. */
template <bool THREE> struct Before {
    uint64_t kept, below;

    GPI_DEVICE Before after(uint32_t counts) const
    {
        return THREE ? Before{kept + (counts & 0xffff), below + (counts >> 16)}
                     : Before{kept + counts, 0};
    }
};

/* By one thread, when all tiles are counted. Where the others follow the kept items, these have
 * been counted before. */
template <bool THREE> GPI_DEVICE void compact_finish(const CompactParams &p, Before<THREE> all)
{
    const uint64_t others = item_count(p.a) - all.kept;
    const uint64_t counts[3] = {all.kept, THREE ? all.below : others, others - all.below};
    if (!p.a.follows)
        *p.a.out_count = all.kept;
    if (all.kept > p.a.capacity)
        report(p.reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, all.kept, p.a.capacity);
#pragma unroll
    for (int k = 1; k < (THREE ? 3 : 2); k++) {
        if (p.a.counts <= k)
            break;
        p.a.out_count[k] = counts[k];
        if (counts[k] > p.a.side[k - 1].capacity)
            report(p.reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, counts[k],
                   p.a.side[k - 1].capacity);
    }
}

/*
 * Items before a tile. Each tile's counts have 32 bits, their sums 64. One warp owns the object
 * and asks for tiles in rising order.
 */
template <bool THREE> struct CountAhead {
    static constexpr uint32_t batch = 4; /* words that a lane reads at once */
    Before<THREE> before = {0, 0};       /* in the tiles [0, next) */
    uint32_t next = 0;

    GPI_DEVICE Before<THREE> exclusive(const TileState<uint32_t> &state, uint32_t tile)
    {
        while (next < tile) {
            uint32_t v[batch];
            poll_tiles<striped>(state, next, tile, Sum<uint32_t>(), v);
            const uint32_t sum = v[0] + v[1] + v[2] + v[3];
            before.kept += warp_sum(THREE ? sum & 0xffff : sum);
            if constexpr (THREE)
                before.below += warp_sum(sum >> 16);
            next = next + 32 * batch < tile ? next + 32 * batch : tile;
        }
        return before;
    }
};

/*
 * In place, a tile's outputs land on inputs of tiles before it (and of its own). Who publishes a
 * count has read its tile; who has seen the counts of all tiles before it may write there. The
 * words themselves are relaxed, so a fence on each side makes that order hold for the items.
 */
GPI_DEVICE void order_in_place(const CompactParams &p)
{
    if (p.a.in_place)
        __threadfence();
}

/* ---- flags ---- */

/* 32 flags from number `first` on, a multiple of 32, of which there are count. */
GPI_DEVICE uint32_t flag_word(const uint32_t *words, uint64_t first, uint32_t count)
{
    const uint32_t word = words[first / 32];
    return count < 32 ? word & ((1u << count) - 1) : word;
}

/* How many of a lane's 32 items there are, if its part has `count` and those of the lanes before
 * come first. */
GPI_DEVICE uint32_t lane_items(uint32_t count)
{
    const uint32_t before = 32 * lane_id();
    return count <= before ? 0 : count - before < 32 ? count - before : 32;
}

/* The lowest `count` of 32 bits. */
GPI_DEVICE uint32_t low_bits(uint32_t count)
{
    return count < 32 ? (1u << count) - 1 : ~0u;
}

/* ---- where outputs go ---- */

/* Where the others of a partition begin, by one thread, once. */
GPI_DEVICE char *others_begin(const gpi_compact_args &a)
{
    return a.follows ? (char *)a.out + *a.out_count * a.item_bytes : (char *)a.side[0].out;
}

/* What a part of a tile sends to one output: the items with a set bit, to places from base on. */
struct Outlet {
    uint32_t bits; /* lane k: of the part's items from 32 k on */
    void *out;
    uint64_t capacity, base;
};

/* Of a part whose items begin at index, and of which there are count. side 0: the kept items. */
template <bool THREE>
GPI_DEVICE Outlet outlet_of(const gpi_compact_args &a, uint32_t side, char *others, uint32_t kept,
                            uint32_t below, const Before<THREE> &base, uint64_t index,
                            uint32_t count)
{
    if (side == 0)
        return {kept, a.out, a.capacity, base.kept};
    if (THREE && side == 1)
        return {below, others, a.side[0].capacity, base.below};
    return {low_bits(lane_items(count)) & ~(kept | below), THREE ? a.side[1].out : others,
            a.side[THREE].capacity, index - base.kept - base.below};
}

GPI_DEVICE void store_index(const gpi_compact_args &a, uint64_t place, uint64_t index)
{
    if (a.index_bytes == 4)
        ((uint32_t *)a.indices)[place] = (uint32_t)index;
    else
        ((uint64_t *)a.indices)[place] = index;
}

/* ---- counting, and flags as outputs ---- */

/* Of this thread, 16 bytes at a time between the first and the last 16-byte boundary. */
template <class Item, class OfVector, class OfItem>
GPI_DEVICE uint64_t count_items(const Item *items, uint64_t n, uint64_t start, uint64_t stride,
                                const OfVector &of_vector, const OfItem &of_item)
{
    uint64_t head = ((0 - (uintptr_t)items) & 15) / sizeof(Item), count = 0;
    head = head < n ? head : n;
    constexpr int each = 16 / sizeof(Item);
    const uint64_t vectors = (n - head) / each, tail = head + each * vectors;
    const uint4 *in = (const uint4 *)(items + head);
    for (uint64_t i = start; i < vectors; i += stride)
        count += of_vector(in[i]);
    if (start < head)
        count += of_item(items[start]);
    if (start < n - tail)
        count += of_item(items[tail + start]);
    return count;
}

GPI_DEVICE uint64_t count_flags(const uint8_t *keep, uint64_t n, uint64_t start, uint64_t stride)
{
    return count_items(
        keep, n, start, stride,
        [](const uint4 &f) -> uint32_t {
            return (__popc(__vcmpne4(f.x, 0)) + __popc(__vcmpne4(f.y, 0)) +
                    __popc(__vcmpne4(f.z, 0)) + __popc(__vcmpne4(f.w, 0))) /
                   8;
        },
        [](uint8_t flag) -> uint32_t { return flag != 0; });
}

template <class Item>
GPI_DEVICE uint64_t count_range(const gpi_compact_args &a, uint64_t n, uint64_t start,
                                uint64_t stride)
{
    const Range<Item> range(a.range);
    const auto one = [=](Item x) -> uint32_t { return range(x); };
    return count_items((const Item *)a.in, n, start, stride,
                       [=](const uint4 &v) {
                           union {
                               uint4 whole;
                               Item item[16 / sizeof(Item)];
                           } u = {v};
                           uint32_t count = 0;
#pragma unroll
                           for (int k = 0; k < 16 / (int)sizeof(Item); k++)
                               count += one(u.item[k]);
                           return count;
                       },
                       one);
}

/* The same of bits. */
GPI_DEVICE uint64_t count_bits(const uint32_t *words, uint64_t n, uint64_t start, uint64_t stride)
{
    uint64_t count = 0;
    for (uint64_t w = start; 32 * w < n; w += stride)
        count += __popc(flag_word(words, 32 * w, n - 32 * w < 32 ? (uint32_t)(n - 32 * w) : 32));
    return count;
}

/* By comparison, and the flags to out. */
template <class Item>
GPI_DEVICE uint64_t write_flags(const gpi_compact_args &a, uint64_t n, uint64_t start,
                                uint64_t stride)
{
    constexpr int batch = 8; /* groups of 32 items that a warp loads at once */
    const Range<Item> range(a.range);
    uint64_t count = 0;
    for (uint64_t first = start / 32 * 32 * batch; first < n; first += stride * batch) {
        Item item[batch];
        uint32_t bits = 0;
#pragma unroll
        for (int k = 0; k < batch; k++)
            if (first + 32 * k + lane_id() < n)
                item[k] = ((const Item *)a.in)[first + 32 * k + lane_id()];
#pragma unroll
        for (int k = 0; k < batch; k++) {
            const uint64_t i = first + 32 * k + lane_id();
            const bool kept = i < n && range(item[k]);
            const uint32_t group = __ballot_sync(all_lanes, kept);
            bits = lane_id() == k ? group : bits;
            if (!a.bits && i < n)
                ((uint8_t *)a.out)[i] = kept;
        }
        if (a.bits && lane_id() < batch && first + 32 * lane_id() < n)
            ((uint32_t *)a.out)[first / 32 + lane_id()] = bits;
        count += __popc(bits);
    }
    return count;
}

/*
 * Grid: as many blocks as run at once; 256 threads. After: *out_count, zero before, has grown by
 * the number of selected items; with a.flags, out has all flags. BYTES 0: by flags.
 */
template <int BYTES> __global__ void __launch_bounds__(256) compact_count_k(const CompactParams p)
{
    const uint64_t n = item_count(p.a), stride = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t start = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t count;
    if constexpr (BYTES == 0)
        count = p.a.bits ? count_bits((const uint32_t *)p.a.keep, n, start, stride)
                         : count_flags((const uint8_t *)p.a.keep, n, start, stride);
    else
        count = p.a.flags ? write_flags<ItemOf<BYTES>>(p.a, n, start, stride)
                          : count_range<ItemOf<BYTES>>(p.a, n, start, stride);
    count = warp_fold(count, [](uint64_t a, uint64_t b) { return a + b; });
    if (lane_id() == 0 && count)
        atomicAdd((unsigned long long *)p.a.out_count, (unsigned long long)count);
}

/* The number of selected items, and flags; and before a partition in one array, so that its first
 * item that is not kept can find its place. */
template <int BYTES>
void compact_count(const gp_context *ctx, const CompactParams &p, LaunchList &list)
{
    const uint64_t blocks = (p.a.n + 4095) / 4096, most = (uint64_t)ctx->sm_count * 8;
    if (!p.a.follows && !p.a.flags)
        return;
    list.add(launch_zeros(p.a.out_count, sizeof *p.a.out_count));
    list.add(
        launch_of(compact_count_k<BYTES>, (uint32_t)(blocks < most ? blocks : most), 256, 0, p));
}

} // namespace GPI_SPACE
