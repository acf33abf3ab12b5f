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
    T flip, low, span;
    bool invert;

    __host__ __device__ explicit Range(const gpi_compact_range &r)
        : flip((T)r.flip), low((T)r.low), span((T)r.span), invert(r.invert != 0)
    {
    }

    GPI_DEVICE bool operator()(T x) const
    {
        T negative = (T)(0 - (x >> (8 * sizeof(T) - 1)));
        return ((T)((x ^ (negative & flip)) - low) <= span) != invert;
    }
};
template <> struct Range<uint4> {
    GPI_DEVICE explicit Range(const gpi_compact_range &)
    {
    }
};

/* A partition has been counted before. By one thread, when all tiles are counted. */
GPI_DEVICE void compact_finish(const CompactParams &p, uint64_t kept)
{
    if (!p.a.partition)
        *p.a.out_count = kept;
    if (kept > p.a.capacity)
        report(p.reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, kept, p.a.capacity);
}

/*
 * Kept items before a tile. Each tile's count has 32 bits, their sum 64. One warp owns the object
 * and asks for tiles in rising order.
 */
struct CountAhead {
    static constexpr uint32_t batch = 4; /* words that a lane reads at once */
    uint64_t before = 0;                 /* items kept in the tiles [0, next) */
    uint32_t next = 0;

    GPI_DEVICE uint64_t exclusive(const TileState<uint32_t> &state, uint32_t tile)
    {
        while (next < tile) {
            uint32_t v[batch];
            poll_tiles<striped>(state, next, tile, Sum<uint32_t>(), v);
            before += warp_sum(v[0] + v[1] + v[2] + v[3]);
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

/* ---- where outputs go ---- */

GPI_DEVICE void store_index(const gpi_compact_args &a, uint64_t place, uint64_t index)
{
    if (a.index_bytes == 4)
        ((uint32_t *)a.out)[place] = (uint32_t)index;
    else
        ((uint64_t *)a.out)[place] = index;
}

/*
 * Grid: as many blocks as run at once; 256 threads. After: *out_count, zero before, has grown by
 * the number of selected items. BYTES 0: by flags.
 */
template <int BYTES> __global__ void __launch_bounds__(256) compact_count_k(const CompactParams p)
{
    using Item = ItemOf<BYTES>;
    const uint64_t n = item_count(p.a), stride = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t start = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t count = 0;
    if constexpr (BYTES == 0) {
        /* sixteen flags at a time between the first and the last 16-byte boundary */
        uint64_t head = (0 - (uintptr_t)p.a.keep) & 15;
        head = head < n ? head : n;
        const uint64_t vectors = (n - head) / 16, tail = head + 16 * vectors;
        const uint4 *flags = (const uint4 *)(p.a.keep + head);
        for (uint64_t i = start; i < vectors; i += stride) {
            const uint4 f = flags[i];
            count += (__popc(__vcmpne4(f.x, 0)) + __popc(__vcmpne4(f.y, 0)) +
                      __popc(__vcmpne4(f.z, 0)) + __popc(__vcmpne4(f.w, 0))) /
                     8;
        }
        if (start < head)
            count += p.a.keep[start] != 0;
        if (start < n - tail)
            count += p.a.keep[tail + start] != 0;
    } else {
        const Range<Item> range(p.a.range);
        for (uint64_t i = start; i < n; i += stride)
            count += range(((const Item *)p.a.in)[i]);
    }
    count = warp_fold(count, [](uint64_t a, uint64_t b) { return a + b; });
    if (lane_id() == 0 && count)
        atomicAdd((unsigned long long *)p.a.out_count, (unsigned long long)count);
}

/* Partition: the total, before the first item that is not kept can find its place. */
template <int BYTES>
void compact_count(const gp_context *ctx, const CompactParams &p, LaunchList &list)
{
    const uint64_t blocks = (p.a.n + 4095) / 4096, most = (uint64_t)ctx->sm_count * 8;
    if (!p.a.partition)
        return;
    list.add(launch_zeros(p.a.out_count, sizeof *p.a.out_count));
    list.add(
        launch_of(compact_count_k<BYTES>, (uint32_t)(blocks < most ? blocks : most), 256, 0, p));
}

} // namespace GPI_SPACE
