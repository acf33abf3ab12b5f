/* SPDX-License-Identifier: MIT */
/*
 * The heads of segments as bits: one kernel, before that of the scan. The bits are a 64th of the
 * traffic of a scan of 4-byte items, and what a segment's description costs does not meet the scan:
 * millions of empty segments are a few more loads here, spread over all blocks.
 */
extern "C" {
#include "scan/segment_internal.h"
}
#include "device/host.cuh"
#include "device/tile_io.cuh"
#include "device/warp.cuh"

namespace GPI_SPACE
{
namespace
{

constexpr int threads = 256;
constexpr int rounds = 8; /* loads of a lane in flight */

/* ---- flags and keys: an item per bit ---- */

struct Flags {
    const uint8_t *flags;
    GPI_DEVICE bool head(uint64_t i) const
    {
        return i == 0 || __ldg(flags + i) != 0;
    }
};

template <class Key> struct Keys {
    const Key *keys;
    GPI_DEVICE bool head(uint64_t i) const
    {
        return i == 0 || __ldg(keys + i) != __ldg(keys + i - 1);
    }
};

/* Grid: any; 256 threads. A warp makes 32 words at a time, a ballot for each. After: heads[w] for
 * all w < ceil(n / 32); bits from n on are 0. */
template <class Marks>
__global__ void __launch_bounds__(threads)
    segment_marks_k(const Marks marks, uint64_t n, uint32_t *heads)
{
    const uint64_t words = (n + 31) / 32, warps = (uint64_t)gridDim.x * (threads / 32);
    const uint64_t warp = ((uint64_t)blockIdx.x * threads + threadIdx.x) / 32;
    for (uint64_t w0 = warp * 32; w0 < words; w0 += warps * 32) {
        uint32_t mine = 0;
        for (int r0 = 0; r0 < 32; r0 += rounds) {
            bool head[rounds];
#pragma unroll
            for (int r = 0; r < rounds; r++) {
                const uint64_t i = (w0 + r0 + r) * 32 + lane_id();
                head[r] = i < n && marks.head(i);
            }
#pragma unroll
            for (int r = 0; r < rounds; r++) {
                const uint32_t word = __ballot_sync(all_lanes, head[r]);
                if (lane_id() == r0 + r)
                    mine = word;
            }
        }
        if (w0 + lane_id() < words)
            heads[w0 + lane_id()] = mine;
    }
}

/* Bit j: byte j of four is not 0. */
GPI_DEVICE uint32_t bytes_set(uint32_t four)
{
    const uint32_t high = ((four & 0x7f7f7f7fu) + 0x7f7f7f7fu | four) & 0x80808080u;
    return (high >> 7) * 0x10204080u >> 28;
}

/*
 * Flags at a 16-byte boundary: 16 of them per lane and load. Grid: any; 256 threads.
 * After: the bits of the first n / 16 groups of 16 items; the last, partial word by the last
 * thread.
 */
__global__ void __launch_bounds__(threads)
    segment_flags_k(const uint8_t *flags, uint64_t n, uint32_t *heads)
{
    const uint64_t groups = n / 16, all = (uint64_t)gridDim.x * threads;
    const uint64_t thread = (uint64_t)blockIdx.x * threads + threadIdx.x;
    uint16_t *to = (uint16_t *)heads;
    for (uint64_t g0 = thread; g0 < groups; g0 += 4 * all) {
        uint4 v[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (g0 + j * all < groups)
                v[j] = __ldcs((const uint4 *)flags + g0 + j * all);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const uint64_t g = g0 + j * all;
            if (g < groups)
                to[g] = (uint16_t)(bytes_set(v[j].x) | bytes_set(v[j].y) << 4 |
                                   bytes_set(v[j].z) << 8 | bytes_set(v[j].w) << 12 | (g == 0));
        }
    }
    if (thread == all - 1 && n % 16) {
        uint32_t rest = groups == 0;
        for (uint64_t i = groups * 16; i < n; i++)
            rest |= (uint32_t)(flags[i] != 0) << i % 16;
        to[groups] = (uint16_t)rest;
    }
}

/* ---- offsets: a segment per bit ---- */

/* Set the bits of one word; a lane's words are those of the lanes beside it, or near. */
GPI_DEVICE void heads_or(uint32_t *heads, uint64_t word, uint32_t bits)
{
    if (bits)
        atomicOr(heads + word, bits);
}

/* The bits of neighbouring lanes that have one word, by the last of these lanes. */
GPI_DEVICE void heads_or_together(uint32_t *heads, uint64_t word, uint32_t bits)
{
    const uint64_t before = __shfl_up_sync(all_lanes, word, 1);
    const uint32_t firsts = __ballot_sync(all_lanes, lane_id() == 0 || word != before);
    const uint32_t upto = firsts & 0xffffffffu >> 31 - lane_id();
    const int reach = lane_id() - (31 - __clz(upto));
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        const uint32_t left = __shfl_up_sync(all_lanes, bits, d);
        if (reach >= d)
            bits |= left;
    }
    if (lane_id() == 31 || firsts >> lane_id() + 1 & 1)
        heads_or(heads, word, bits);
}

/*
 * Grid: any; 256 threads; heads are zeroed before. A lane takes 4 offsets side by side. After: a
 * bit where a segment starts, and at 0; offsets from n on are left out, so nothing outside the
 * array is written whatever the offsets hold. Sets the sticky word if they fall or do not end at n.
 */
template <class Offset>
__global__ void __launch_bounds__(threads)
    segment_offsets_k(const Offset *__restrict__ offsets, uint64_t num_segments, uint64_t n,
                      uint32_t *heads, uint32_t *sticky)
{
    constexpr int V = 4;
    const Offset base = __ldg(offsets);
    const uint64_t thread = (uint64_t)blockIdx.x * threads + threadIdx.x;
    const uint64_t all = (uint64_t)gridDim.x * threads;
    bool bad = false;
    if (thread == 0) {
        bad = (Offset)(__ldg(offsets + num_segments) - base) != n;
        atomicOr(heads, 1u);
    }
    for (uint64_t s0 = (thread - lane_id()) * V; s0 < num_segments; s0 += all * V) {
        const uint64_t s = s0 + lane_id() * V;
        uint64_t at[V + 1];
#pragma unroll
        for (int j = 0; j <= V; j++)
            at[j] = s + j <= num_segments ? (Offset)(__ldg(offsets + s + j) - base) : n;
        uint32_t bits[V];
        bool one_word = true;
#pragma unroll
        for (int j = 0; j < V; j++) {
            bad = bad || at[j] > at[j + 1];
            bits[j] = at[j] < n && at[j] != at[j + 1] ? 1u << at[j] % 32 : 0;
            one_word = one_word && at[j] / 32 == at[0] / 32;
        }
        if (__all_sync(all_lanes, one_word)) {
            uint32_t together = 0;
#pragma unroll
            for (int j = 0; j < V; j++)
                together |= bits[j];
            heads_or_together(heads, at[0] / 32, together);
            continue;
        }
#pragma unroll
        for (int j = 0; j + 1 < V; j++) {
            const bool same = at[j] / 32 == at[j + 1] / 32;
            bits[j + 1] |= same ? bits[j] : 0;
            heads_or(heads, at[j] / 32, same ? 0 : bits[j]);
        }
        heads_or(heads, at[V - 1] / 32, bits[V - 1]);
    }
    if (bad)
        atomicOr(sticky, GPI_STICKY_DATA);
}

/* ---- launches ---- */

/* Enough blocks for work pieces, each piece of one thread; several waves, so that they even out. */
uint32_t grid_of(const gp_context *ctx, uint64_t pieces)
{
    const uint64_t blocks = (pieces + threads - 1) / threads, most = (uint64_t)ctx->sm_count * 32;
    return (uint32_t)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

template <class Marks>
void launch_marks(gp_context *ctx, const Marks &marks, uint64_t n, uint32_t *heads)
{
    segment_marks_k<<<grid_of(ctx, (n + 31) / 32), threads, 0, ctx->stream>>>(marks, n, heads);
}

void launch_flags(gp_context *ctx, const uint8_t *flags, uint64_t n, uint32_t *heads)
{
    if ((uintptr_t)flags % 16)
        launch_marks(ctx, Flags{flags}, n, heads);
    else
        segment_flags_k<<<grid_of(ctx, n / 64), threads, 0, ctx->stream>>>(flags, n, heads);
}

void launch_keys(gp_context *ctx, const gpi_segments *g, uint64_t n, uint32_t *heads)
{
    if (g->item_bytes == 1)
        launch_marks(ctx, Keys<uint8_t>{(const uint8_t *)g->array}, n, heads);
    else if (g->item_bytes == 2)
        launch_marks(ctx, Keys<uint16_t>{(const uint16_t *)g->array}, n, heads);
    else if (g->item_bytes == 4)
        launch_marks(ctx, Keys<uint32_t>{(const uint32_t *)g->array}, n, heads);
    else
        launch_marks(ctx, Keys<uint64_t>{(const uint64_t *)g->array}, n, heads);
}

template <class Offset>
void launch_offsets(gp_context *ctx, const gpi_segments *g, uint64_t n, uint32_t *heads)
{
    segment_offsets_k<<<grid_of(ctx, g->count / 4), threads, 0, ctx->stream>>>(
        (const Offset *)g->array, g->count, n, heads, ctx->sticky);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_segment_heads)(gp_context *ctx, const gpi_segment_args *args,
                                                     uint32_t *heads)
{
    using namespace GPI_SPACE;
    const gpi_segments *g = &args->segments;
    if (g->source == GPI_SEGMENT_FLAGS)
        launch_flags(ctx, (const uint8_t *)g->array, args->n, heads);
    else if (g->source == GPI_SEGMENT_KEYS)
        launch_keys(ctx, g, args->n, heads);
    else if (g->item_bytes == 4)
        launch_offsets<uint32_t>(ctx, g, args->n, heads);
    else
        launch_offsets<uint64_t>(ctx, g, args->n, heads);
    return gpi_cuda_launched(ctx, args->function);
}
