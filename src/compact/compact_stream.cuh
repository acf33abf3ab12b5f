/* SPDX-License-Identifier: MIT */
/* Compaction of large arrays at the rate of a copy: a persistent block per multiprocessor (sm_90
 * and newer). */
#pragma once

#include "compact/compact_kernels.cuh"
#include "device/bulk.cuh"
#include "device/ring.cuh"
#include "device/tile_io.cuh"

#if GPI_SM >= 90

namespace GPI_SPACE
{

/*
 * A ring of tiles in shared memory, and warps by role: one loads tiles by bulk copies, R mark items
 * (one bit each) and publish the tile's count, one adds up the counts before a tile, W store.
 * Marking runs ahead of storing, so that counts are out long before other blocks wait for them.
 *
 * A stage holds a tile's items and flags as they lie in memory, each from the 16-byte boundary at
 * or before its first byte. BYTES 0: flags only.
 */
template <int BYTES, bool COMPARE, bool INDICES, int W, int R, int GROUPS, int S>
struct CompactStream {
    using Item = typename ItemOf<BYTES>::type;
    static constexpr bool has_items = COMPARE || !INDICES, has_flags = !COMPARE;
    static constexpr int tile_items = W * 32 * GROUPS;
    static constexpr int items_bytes = has_items ? tile_items * BYTES + 16 : 0;
    static constexpr int flags_bytes = has_flags ? tile_items + 16 : 0;
    static constexpr int stage_bytes = (items_bytes + flags_bytes + 127) / 128 * 128;
    static constexpr int threads = (W + R + 2) * 32;
    static_assert(GROUPS <= 32, "a lane holds the bits of a group");

    struct Shared {
        uint64_t loaded[S], summed[S], resolved[S], freed[S]; /* see device/ring.cuh */
        uint64_t prefix[S];
        uint32_t bits[S][W][32];
        uint32_t kept[S][W];
        uint32_t tile[S];
        Launch launch;
        uint64_t n, total;
    };
    static constexpr int shared_bytes = S * stage_bytes + (int)sizeof(Shared);

    using Turn = RingTurn<S>;

    const CompactParams &p;
    Shared &s;
    char *ring;
    uint32_t tiles;

    GPI_DEVICE const Item *items(int stage) const
    {
        return (const Item *)(ring + stage * stage_bytes + misalignment(p.a.in));
    }

    GPI_DEVICE const uint8_t *flags(int stage) const
    {
        return (const uint8_t *)ring + stage * stage_bytes + items_bytes + misalignment(p.a.keep);
    }

    GPI_DEVICE uint32_t items_of(uint32_t tile) const
    {
        const uint64_t rest = s.n - (uint64_t)tile * tile_items;
        return rest < tile_items ? (uint32_t)rest : tile_items;
    }

    /* Each lane arrives for what it wrote or read itself. */
    GPI_DEVICE void init_barriers()
    {
        ring_init<S>(s, R * 32, W * 32);
    }

    /* ---- loader warp ---- */

    /* What of a tile a bulk copy brings: [begin, end) of the stage, from `from` + begin. */
    struct Bulk {
        const char *from;
        uint32_t begin, end;
    };

    /* Bytes at the ends of the array, which a bulk copy would overrun, are copied by the lanes. */
    static GPI_DEVICE Bulk load_ends(char *to, const void *array, uint64_t array_bytes, uint64_t at,
                                     uint32_t bytes)
    {
        const char *from = (const char *)array + at;
        const uint32_t shift = misalignment(from);
        Bulk b = {from - shift, 0, (shift + bytes + 15) & ~15u};
        if (at == 0 && shift) {
            b.begin = 16;
            for (uint32_t i = shift + lane_id(); i < 16 && i < shift + bytes; i += 32)
                to[i] = b.from[i];
        }
        if (b.end > b.begin && at + b.end > array_bytes + shift) {
            b.end -= 16;
            for (uint32_t i = b.end + lane_id(); i < shift + bytes; i += 32)
                to[i] = b.from[i];
        }
        return b;
    }

    GPI_DEVICE void load_tile(uint32_t tile, int stage)
    {
        const uint64_t first = (uint64_t)tile * tile_items;
        const uint32_t count = items_of(tile);
        char *to = ring + stage * stage_bytes;
        Bulk item = {NULL, 0, 0}, flag = {NULL, 0, 0};
        if constexpr (has_items)
            item = load_ends(to, p.a.in, s.n * BYTES, first * BYTES, count * BYTES);
        if constexpr (has_flags)
            flag = load_ends(to + items_bytes, p.a.keep, s.n, first, count);
        uint64_t *loaded = &s.loaded[stage];
        if (lane_id() != 0) {
            barrier_arrive(loaded);
            return;
        }
        barrier_expect(loaded, item.end - item.begin + flag.end - flag.begin);
        if (item.end > item.begin)
            bulk_load(to + item.begin, item.from + item.begin, item.end - item.begin, loaded);
        if (flag.end > flag.begin)
            bulk_load(to + items_bytes + flag.begin, flag.from + flag.begin, flag.end - flag.begin,
                      loaded);
    }

    /* ---- mark warps ---- */

    /* Bits of the groups that store warp w will move: lane k gets those of group k. */
    GPI_DEVICE uint32_t mark_part(int stage, int w, uint32_t count) const
    {
        const Range<Item> range(p.a.range);
        const uint32_t start = w * GROUPS * 32 + lane_id();
        uint32_t bits = 0;
#pragma unroll 8
        for (int k = 0; k < GROUPS; k++) {
            const uint32_t i = start + 32 * k;
            bool kept = i < count;
            if constexpr (COMPARE)
                kept = kept && range.selects(items(stage)[i]);
            else
                kept = kept && flags(stage)[i];
            const uint32_t group = __ballot_sync(all_lanes, kept);
            bits = lane_id() == k ? group : bits;
        }
        return bits;
    }

    GPI_DEVICE uint32_t tile_kept(int stage) const
    {
        uint32_t kept = 0;
#pragma unroll
        for (int w = 0; w < W; w++)
            kept += s.kept[stage][w];
        return kept;
    }

    GPI_DEVICE void mark(int warp, const TileState<uint32_t> &state)
    {
        uint32_t tile;
        for (Turn turn; ring_wait(*this, turn, tile); turn.next()) {
            for (int w = warp; w < W; w += R) {
                const uint32_t bits = mark_part(turn.stage, w, items_of(tile));
                const uint32_t kept = warp_sum(__popc(bits));
                s.bits[turn.stage][w][lane_id()] = bits;
                if (lane_id() == 0)
                    s.kept[turn.stage][w] = kept;
            }
            asm volatile("bar.sync 1, %0;" ::"n"(R * 32) : "memory");
            if (warp == 0 && lane_id() == 0) {
                order_reads_before_publishing(p);
                state.publish(tile, tile_kept(turn.stage));
            }
            barrier_arrive(&s.summed[turn.stage]);
        }
    }

    /* ---- look-ahead warp ---- */

    GPI_DEVICE void look_ahead(const TileState<uint32_t> &state)
    {
        CountAhead ahead;
        uint32_t tile;
        for (Turn turn; ring_wait(*this, turn, tile); turn.next()) {
            const uint64_t prefix = ahead.exclusive(state, tile);
            order_writes_after_counts(p);
            __syncwarp();
            if (tile == tiles - 1)
                barrier_wait(&s.summed[turn.stage], turn.parity);
            if (lane_id() == 0) {
                if (tile == tiles - 1)
                    compact_finish(p, prefix + tile_kept(turn.stage));
                s.prefix[turn.stage] = prefix;
                barrier_arrive(&s.resolved[turn.stage]);
            }
            __syncwarp();
        }
    }

    /* ---- store warps ---- */

    /* The kept ones of a warp's groups to out, as far as room goes. */
    GPI_DEVICE void store_kept(const Item *from, uint64_t index, uint32_t bits, uint32_t before,
                               uint64_t base, uint32_t room) const
    {
#pragma unroll 8
        for (int k = 0; k < GROUPS; k++) {
            const uint32_t group = __shfl_sync(all_lanes, bits, k);
            const uint32_t place =
                __shfl_sync(all_lanes, before, k) + __popc(group & ((1u << lane_id()) - 1));
            if (!(group >> lane_id() & 1) || place >= room)
                continue;
            if constexpr (INDICES)
                store_index(p.a, base + place, index + 32 * k + lane_id());
            else
                ((Item *)p.a.out + base)[place] = from[32 * k + lane_id()];
        }
    }

    /* The others of a warp's first `count` items, from place `base` on. */
    GPI_DEVICE void store_others(const Item *from, uint32_t count, uint32_t bits, uint32_t before,
                                 uint64_t base) const
    {
        for (int k = 0; k < GROUPS; k++) {
            const uint32_t group = __shfl_sync(all_lanes, bits, k), i = 32 * k + lane_id();
            const uint32_t left =
                __shfl_sync(all_lanes, before, k) + __popc(group & ((1u << lane_id()) - 1));
            if (i < count && !(group >> lane_id() & 1))
                ((Item *)p.a.out + base)[i - left] = from[i];
        }
    }

    GPI_DEVICE void store_part(uint32_t tile, int stage, int warp) const
    {
        constexpr int part_items = GROUPS * 32;
        const uint32_t bits = s.bits[stage][warp][lane_id()];
        const uint32_t before = warp_exclusive(__popc(bits));
        const uint64_t index = (uint64_t)tile * tile_items + warp * part_items;
        const Item *from = has_items ? items(stage) + warp * part_items : NULL;
        uint64_t base = s.prefix[stage];
        for (int w = 0; w < warp; w++)
            base += s.kept[stage][w];
        if (base < p.a.capacity) {
            const uint64_t room = p.a.capacity - base;
            store_kept(from, index, bits, before, base,
                       room < part_items ? (uint32_t)room : part_items);
        }
        if constexpr (!INDICES)
            if (p.a.partition && index < s.n) {
                const uint64_t rest = s.n - index;
                store_others(from, rest < part_items ? (uint32_t)rest : part_items, bits, before,
                             s.total + index - base);
            }
    }

    GPI_DEVICE void store(int warp)
    {
        uint32_t tile;
        for (Turn turn; ring_wait(*this, turn, tile); turn.next()) {
            barrier_wait(&s.summed[turn.stage], turn.parity);
            barrier_wait(&s.resolved[turn.stage], turn.parity);
            stall(stall_store, s.launch.epoch, tile * W + warp);
            store_part(tile, turn.stage, warp);
            barrier_arrive(&s.freed[turn.stage]);
        }
    }
};

/*
 * Grid: one block per multiprocessor; W store warps, R mark warps, a loader and a look-ahead warp.
 * Tile: W x 32 x GROUPS items, S stages in shared memory. After: all outputs and the count.
 */
template <int BYTES, bool COMPARE, bool INDICES, int W, int R, int GROUPS, int S>
__global__ void __launch_bounds__((W + R + 2) * 32, 1)
    compact_stream_k(const __grid_constant__ CompactParams p)
{
    using Roles = CompactStream<BYTES, COMPARE, INDICES, W, R, GROUPS, S>;
    extern __shared__ __align__(128) char memory[];
    typename Roles::Shared &s = *(typename Roles::Shared *)(memory + S * Roles::stage_bytes);
    Roles roles = {p, s, memory, 0};
    if (threadIdx.x == 0) {
        roles.init_barriers();
        s.n = compact_n(p.a);
        s.launch =
            launch_begin(p.state, (uint32_t)((s.n + Roles::tile_items - 1) / Roles::tile_items));
        s.total = p.a.partition ? *p.a.out_count : 0;
    }
    __syncthreads();
    roles.tiles = (uint32_t)((s.n + Roles::tile_items - 1) / Roles::tile_items);
    const TileState<uint32_t> state(p.state, s.launch.epoch);
    if (threadIdx.x == 0 && s.launch.tile == 0) {
        state.retire_one(p.state, roles.tiles);
        if (roles.tiles == 0)
            compact_finish(p, 0);
    }
    const int warp = threadIdx.x / 32;
    if (warp < W)
        roles.store(warp);
    else if (warp < W + R)
        roles.mark(warp - W, state);
    else if (warp == W + R)
        ring_load<S>(roles);
    else
        roles.look_ahead(state);
}

} // namespace GPI_SPACE

#endif
