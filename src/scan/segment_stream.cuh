/* SPDX-License-Identifier: MIT */
/* Segmented scan of large arrays: a persistent block per multiprocessor (sm_90 and newer). */
#pragma once

#include "device/bulk_span.cuh"
#include "device/ring.cuh"
#include "scan/segment_kernels.cuh"

#if GPI_SM >= 90

namespace GPI_SPACE
{

/*
 * The stream of the plain scan (scan_stream.cuh) with heads in every stage: behind the items, which
 * lie as in memory from the 16-byte boundary at or before the first, a bit for each of them.
 */
template <class Types, class Op, int W, int R, int K, int S> struct SegmentStream {
    using A = typename Types::A;
    using In = typename Types::In;
    using Part = SegmentPart<Types, Op, K>;
    using Fold = FoldSegments<A, Op>;
    static constexpr int tile_items = W * Part::items;
    static constexpr int tile_bytes = tile_items * (int)sizeof(In);
    static constexpr int items_bytes = tile_bytes + 128, heads_bytes = tile_items / 8;
    static constexpr int stage_bytes = items_bytes + heads_bytes;
    static constexpr int threads = (W + R + 2) * 32;
    static_assert(heads_bytes % 16 == 0, "bulk copies take 16 bytes at a time");

    struct Shared {
        uint64_t loaded[S], summed[S], resolved[S], freed[S]; /* see device/ring.cuh */
        Folded<A> warp_fold[S][W];
        A prefix[S];
        uint32_t tile[S];
        Launch launch;
    };
    static constexpr int shared_bytes = S * stage_bytes + (int)sizeof(Shared);

    using Turn = RingTurn<S>;

    const SegmentParams<A, Op> &p;
    Shared &s;
    char *ring;
    uint32_t tiles;

    GPI_DEVICE char *stage(int i) const
    {
        return ring + i * stage_bytes;
    }

    GPI_DEVICE const char *items(int stage_index, int warp) const
    {
        return stage(stage_index) + misalignment(p.in) + warp * Part::items * sizeof(In);
    }

    GPI_DEVICE uint32_t *heads(int stage_index, int warp = 0) const
    {
        return (uint32_t *)(stage(stage_index) + items_bytes) + warp * (Part::items / 32);
    }

    /* racecheck does not know a lane that arrives for its warp: so each lane that has read a stage
     * arrives itself, at barriers that nobody waits for long. */
    GPI_DEVICE void init_barriers()
    {
        ring_init<S>(s, R, (W + R + 1) * 32);
    }

    /* ---- loader warp ---- */

    /* Identities after the last item, so that the other warps need no special case. */
    GPI_DEVICE void pad(char *tile_start, int count)
    {
        for (int i = count + lane_id(); i < tile_items; i += 32)
            item_store<In, Types::piece_in>(tile_start + i * sizeof(In),
                                            narrow<In>(p.op.identity()));
    }

    GPI_DEVICE void load_tile(uint32_t tile, int stage_index)
    {
        const char *from = p.in + (uint64_t)tile * tile_bytes;
        const uint64_t first = (uint64_t)tile * tile_items, rest = p.n - first;
        const int count = rest < tile_items ? (int)rest : tile_items;
        const uint32_t shift = misalignment(from), bytes = count * (uint32_t)sizeof(In);
        char *to = stage(stage_index);
        const BulkSpan span = bulk_span(to, from, bytes, tile == 0, rest * sizeof(In));
        const uint32_t begin = span.begin, end = span.end;
        if (count < tile_items)
            pad(to + shift, count);
        if (!p.heads)
            row_heads(p, first, tile_items / 32, heads(stage_index));
        if (lane_id() != 0) {
            barrier_arrive(&s.loaded[stage_index]);
        } else {
            uint64_t *loaded = &s.loaded[stage_index];
            barrier_expect(loaded, end - begin + (p.heads ? heads_bytes : 0));
            if (end > begin)
                bulk_load(to + begin, from - shift + begin, end - begin, loaded);
            if (p.heads)
                bulk_load(heads(stage_index), p.heads + first / 32, heads_bytes, loaded);
        }
        __syncwarp();
    }

    /* ---- reduce warps: folds early, so that later tiles need not wait for this one's scan ---- */

    GPI_DEVICE Folded<A> tile_fold(int stage_index) const
    {
        const Fold fold = {p.op};
        Folded<A> sum = s.warp_fold[stage_index][0];
#pragma unroll
        for (int w = 1; w < W; w++)
            sum = fold.apply(sum, s.warp_fold[stage_index][w]);
        return sum;
    }

    GPI_DEVICE void reduce(int warp, const TileState<Folded<A>> &state)
    {
        uint32_t tile;
        for (Turn turn; ring_wait(*this, turn, tile); turn.next()) {
            for (int w = warp; w < W; w += R) {
                Part part;
                part.in.load(items(turn.stage, w));
                part.load_heads(heads(turn.stage, w));
                const Folded<A> sum = part.reduce(p);
                if (lane_id() == 0)
                    s.warp_fold[turn.stage][w] = sum;
            }
            asm volatile("bar.sync 1, %0;" ::"n"(R * 32) : "memory");
            if (warp == 0 && lane_id() == 0)
                state.publish(tile, tile_fold(turn.stage));
            if (lane_id() == 0)
                barrier_arrive(&s.summed[turn.stage]);
            barrier_arrive(&s.freed[turn.stage]);
        }
    }

    /* ---- look-ahead warp ---- */

    GPI_DEVICE void look_ahead(const TileState<Folded<A>> &state)
    {
        const Fold fold = {p.op};
        Lookahead<Fold, Folded<A>, 4, 16> ahead(fold.identity(), fold);
        uint32_t tile;
        for (Turn turn; ring_wait(*this, turn, tile); turn.next()) {
            const A prefix = ahead.exclusive(state, tile).value;
            if (lane_id() == 0) {
                s.prefix[turn.stage] = prefix;
                barrier_arrive(&s.resolved[turn.stage]);
            }
            barrier_arrive(&s.freed[turn.stage]);
        }
    }

    /* ---- scan warps ---- */

    GPI_DEVICE void scan(int warp)
    {
        uint32_t tile;
        for (Turn turn; ring_wait(*this, turn, tile); turn.next()) {
            Part part;
            part.in.load(items(turn.stage, warp));
            part.load_heads(heads(turn.stage, warp));
            part.scan(p);
            barrier_wait(&s.summed[turn.stage], turn.parity);
            barrier_wait(&s.resolved[turn.stage], turn.parity);
            Folded<A> prefix = {s.prefix[turn.stage], 0};
            for (int w = 0; w < warp; w++)
                prefix = Fold{p.op}.apply(prefix, s.warp_fold[turn.stage][w]);
            barrier_arrive(&s.freed[turn.stage]);
            store(part, tile, warp, prefix.value);
        }
    }

    GPI_DEVICE void store(const Part &part, uint32_t tile, int warp, A prefix) const
    {
        const uint64_t first = (uint64_t)tile * tile_items + (uint64_t)warp * Part::items;
        if (first < p.n)
            part.store(p.out + first * sizeof(typename Types::Out), prefix,
                       p.n - first < Part::items ? (int)(p.n - first) : Part::items, p);
    }
};

/*
 * Grid: one block per multiprocessor; W scan warps, R reduce warps, a loader and a look-ahead warp.
 * Tile: W x 32 x K vectors, S stages in shared memory. After: all outputs.
 */
template <class Types, class Op, int W, int R, int K, int S>
__global__ void __launch_bounds__((W + R + 2) * 32, 1)
    segment_stream_k(const __grid_constant__ SegmentParams<typename Types::A, Op> p)
{
    using Roles = SegmentStream<Types, Op, W, R, K, S>;
    extern __shared__ __align__(128) char memory[];
    typename Roles::Shared &s = *(typename Roles::Shared *)(memory + S * Roles::stage_bytes);
    Roles roles = {p, s, memory, 0};
    roles.tiles = tiles_of<Roles::tile_items>(p.n);
    if (threadIdx.x == 0)
        s.launch = launch_begin(p.state, roles.tiles);
    else if (threadIdx.x == 32)
        roles.init_barriers();
    /* Some block takes the tile of this block's number first:
     * fetch it while the numbers are drawn. */
    prefetch_tile(p.in, p.n * sizeof(typename Types::In), blockIdx.x, Roles::tile_bytes);
    __syncthreads();
    const TileState<Folded<typename Types::A>> state(p.state, s.launch.epoch);
    if (threadIdx.x == 0 && s.launch.tile == 0)
        state.retire_one(p.state, roles.tiles);
    const int warp = threadIdx.x / 32;
    if (warp < W)
        roles.scan(warp);
    else if (warp < W + R)
        roles.reduce(warp - W, state);
    else if (warp == W + R)
        ring_load<S>(roles);
    else
        roles.look_ahead(state);
}

} // namespace GPI_SPACE

#endif
