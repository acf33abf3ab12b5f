/* SPDX-License-Identifier: MIT */
/* Compaction by flags of items of any size: a tile's items wait in shared memory. */
#include "compact/compact_kernels.cuh"
#include "tuning/compact_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

constexpr int warps = GPI_COMPACT_WARPS, threads = 32 * warps;
constexpr int groups_max = GPI_COMPACT_WIDE_TILE_MAX / 32;
static_assert(groups_max == 32, "one lane per group of 32 items");

struct WideShared {
    Launch launch;
    uint64_t n, total, prefix;
    uint32_t bits[groups_max], before[groups_max], next;
};

/* Items one after another, a warp each, in words of the size that divides them. */
template <class Word>
__device__ void wide_store(const CompactParams &p, const WideShared &s, const Word *stage,
                           uint64_t first, uint32_t count)
{
    const uint32_t words = p.a.item_bytes / sizeof(Word);
    for (uint32_t i = threadIdx.x / 32; i < count; i += warps) {
        const uint32_t group = s.bits[i / 32];
        const bool kept = group >> i % 32 & 1;
        uint64_t place = s.prefix + s.before[i / 32] + __popc(group & ((1u << i % 32) - 1));
        if (kept ? place >= p.a.capacity : !p.a.partition)
            continue;
        if (!kept)
            place = s.total + first + i - place;
        Word *out = (Word *)p.a.out + place * words;
        for (uint32_t w = lane_id(); w < words; w += 32)
            out[w] = stage[(uint64_t)i * words + w];
    }
}

/* By one warp: the tile's count and what is before it. */
__device__ void wide_count(const CompactParams &p, WideShared &s, CountAhead &ahead,
                           const TileState<uint32_t> &state, uint32_t tile, uint32_t tiles)
{
    const uint32_t kept = __popc(s.bits[lane_id()]);
    s.before[lane_id()] = warp_exclusive(kept);
    const uint32_t tile_kept = warp_sum(kept);
    if (lane_id() == 0) {
        order_in_place(p);
        state.publish(tile, tile_kept);
    }
    const uint64_t prefix = ahead.exclusive(state, tile);
    order_in_place(p);
    if (lane_id() == 0) {
        s.prefix = prefix;
        if (tile == tiles - 1)
            compact_finish(p, prefix + tile_kept);
        s.next = tile_next(p.state, tiles);
    }
}

/*
 * Grid: one block per tile, or fewer; 8 warps. Tile: tile_items, at most 1024, in dynamic shared
 * memory. Blocks claim tiles in order (device/epoch.cuh). After: all outputs and the count.
 */
template <class Word>
__global__ void __launch_bounds__(threads)
    compact_wide_k(const CompactParams p, const uint32_t tile_items)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ WideShared s;
    Word *stage = (Word *)memory;
    const uint32_t words = p.a.item_bytes / sizeof(Word);

    /* 1. Which tile. */
    if (threadIdx.x == 0) {
        s.n = item_count(p.a);
        s.launch = launch_begin(p.state, (uint32_t)((s.n + tile_items - 1) / tile_items));
        s.total = p.a.partition ? *p.a.out_count : 0;
    }
    __syncthreads();
    const uint64_t n = s.n;
    const uint32_t tiles = (uint32_t)((n + tile_items - 1) / tile_items);
    const TileState<uint32_t> state(p.state, s.launch.epoch);
    CountAhead ahead;
    if (threadIdx.x == 0 && s.launch.tile == 0) {
        state.retire_one(p.state, tiles);
        if (tiles == 0)
            compact_finish(p, 0);
    }

    for (uint32_t tile = s.launch.tile; tile < tiles; tile = s.next) {
        const uint64_t first = (uint64_t)tile * tile_items;
        const uint32_t count = n - first < tile_items ? (uint32_t)(n - first) : tile_items;

        /* 2. One bit per item; the items to the stage. */
        for (uint32_t g = threadIdx.x / 32; g < groups_max; g += warps) {
            const uint32_t i = 32 * g + lane_id();
            const uint32_t bits = __ballot_sync(all_lanes, i < count && p.a.keep[first + i]);
            if (lane_id() == 0)
                s.bits[g] = bits;
        }
        const Word *in = (const Word *)p.a.in + first * words;
        for (uint32_t w = threadIdx.x; w < count * words; w += threads)
            stage[w] = in[w];
        __syncthreads();

        /* 3. Publish the tile's count; add up those before it. */
        if (threadIdx.x < 32)
            wide_count(p, s, ahead, state, tile, tiles);
        __syncthreads();

        /* 4. Store. */
        stall(stall_store, s.launch.epoch, tile);
        wide_store(p, s, stage, first, count);
        __syncthreads();
    }
}

template <class Word> gp_status launch(gp_context *ctx, const char *function, CompactParams &p)
{
    static uint64_t allowed;
    const uint32_t tile_items = gpi_compact_tile_items(&p.a, ctx->sm_count);
    const uint64_t tiles = gpi_compact_tiles(&p.a, ctx->sm_count);
    const uint64_t most = (uint64_t)ctx->sm_count * compact_tuning.tile_blocks_per_sm;
    if (tiles > UINT32_MAX) /* 2^47 bytes of items, at least */
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                        "%s: more items of %u bytes than tiles have numbers", function,
                        p.a.item_bytes);
    auto kernel = compact_wide_k<Word>;
    GPI_TRY(shared_memory_allow(ctx, function, kernel, GPI_COMPACT_ITEM_MAX, &allowed));
    GPI_TRY(gpi_state_get(ctx, function, tiles, &p.state));
    LaunchList list;
    compact_count<0>(ctx, p, list);
    list.add(launch_of(kernel, (uint32_t)(tiles < most ? tiles : most), threads,
                       (int)(tile_items * p.a.item_bytes), p, tile_items));
    return list.queue(ctx, function);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_compact_wide)(gp_context *ctx, const char *function,
                                                    const gpi_compact_args *a)
{
    using namespace GPI_SPACE;
    CompactParams p = {*a, {}, gpi_reporter_of(ctx, nullptr, (gp_dtype)0)};
    return a->item_bytes % 4 == 0   ? launch<uint32_t>(ctx, function, p)
           : a->item_bytes % 2 == 0 ? launch<uint16_t>(ctx, function, p)
                                    : launch<uint8_t>(ctx, function, p);
}
