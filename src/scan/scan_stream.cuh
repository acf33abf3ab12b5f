/* SPDX-License-Identifier: MIT */
/* Scan of large arrays at the rate of a copy: a persistent block per multiprocessor
 * (sm_90 and newer). */
#pragma once

#include "device/bulk_span.cuh"
#include "device/ring.cuh"
#include "scan/scan_run_part.cuh"
#include "tuning/scan_tuning.cuh"

#if GPI_SM >= 90

namespace GPI_SPACE
{

template <class Types, class Op, int K, bool BACKWARD, bool RUNS> struct PartOf {
    using type = WarpPart<Types, Op, K, BACKWARD>;
    static constexpr int scratch_bytes = 16;
};
template <class Types, class Op, int K> struct PartOf<Types, Op, K, false, true> {
    using type = RunPart<Types, Op, K>;
    static constexpr int scratch_bytes = type::scratch_bytes;
};

/*
 * Shared memory of the kernel. A stage holds one tile as it lies in memory, from the 16-byte
 * boundary at or before its first byte, so that bulk copies fit at any alignment. Backward,
 * tiles and the warps' parts of them are counted from the end, and the last tile may begin
 * before the array.
 */
template <class Types, class Op, int W, int R, int K, int S, bool BACKWARD = false> struct Stream {
    using A = typename Types::A;
    using In = typename Types::In;
    static constexpr bool runs = !Types::scalar && !BACKWARD;
    using Part = typename PartOf<Types, Op, K, BACKWARD, runs>::type;
    static constexpr int scratch_bytes = PartOf<Types, Op, K, BACKWARD, runs>::scratch_bytes;
    static constexpr int tile_items = W * Part::items;
    static constexpr int tile_bytes = tile_items * (int)sizeof(In);
    static constexpr int stage_bytes = tile_bytes + 128;
    static constexpr int threads = (W + R + 2) * 32;
    static constexpr int groups_at_once = Types::scalar && sizeof(A) == 8 ? 5 : 4; /* looked at */

    struct Shared {
        alignas(16) char scratch[W][scratch_bytes];           /* of a warp that stores runs */
        uint64_t loaded[S], summed[S], resolved[S], freed[S]; /* see device/ring.cuh */
        A warp_sum[S][W];
        A prefix[S];
        uint32_t tile[S];
        Launch launch;
        uint64_t n;
    };
    static constexpr int shared_bytes = S * stage_bytes + (int)sizeof(Shared);

    using Turn = RingTurn<S>;

    const ScanParams<A> &p;
    Shared &s;
    char *ring;
    uint32_t tiles;

    GPI_DEVICE char *stage(int i) const
    {
        return ring + i * stage_bytes;
    }

    /* Where a warp's part of a tile lies in a stage. */
    GPI_DEVICE const char *part_of(int stage_index, int warp) const
    {
        const char *from = BACKWARD ? p.in + s.n * sizeof(In) : p.in;
        const int place = BACKWARD ? W - 1 - warp : warp;
        return stage(stage_index) + misalignment(from) + place * Part::items * sizeof(In);
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
                                            narrow<In>(Op::identity()));
    }

    GPI_DEVICE void load_forward(uint32_t tile, int stage_index, uint64_t policy)
    {
        const char *from = p.in + (uint64_t)tile * tile_bytes;
        const uint64_t rest = s.n - (uint64_t)tile * tile_items;
        const int count = rest < tile_items ? (int)rest : tile_items;
        const uint32_t shift = misalignment(from), bytes = count * (uint32_t)sizeof(In);
        char *to = stage(stage_index);
        const BulkSpan span = bulk_span(to, from, bytes, tile == 0, rest * sizeof(In));
        const uint32_t begin = span.begin, end = span.end;
        if (count < tile_items)
            pad(to + shift, count);
        if (lane_id() != 0) {
            barrier_arrive(&s.loaded[stage_index]);
        } else {
            barrier_expect(&s.loaded[stage_index], end - begin);
            if (end > begin)
                bulk_load(to + begin, from - shift + begin, end - begin, &s.loaded[stage_index],
                          policy);
        }
        __syncwarp();
    }

    /* The same with tiles from the end; data is bytes [begin, end) of the stage. */
    GPI_DEVICE void load_backward(uint32_t tile, int stage_index, uint64_t policy)
    {
        const uint64_t rest = s.n - (uint64_t)tile * tile_items;
        const int count = rest < tile_items ? (int)rest : tile_items;
        const uint32_t data_end = misalignment(p.in + rest * sizeof(In)) + tile_bytes;
        const uint32_t data_begin = data_end - count * (uint32_t)sizeof(In);
        const char *from = p.in + rest * sizeof(In) - data_end; /* of the stage's first byte */
        char *to = stage(stage_index);
        uint32_t begin = data_begin & ~15u, end = (data_end + 15) & ~15u; /* of the bulk copy */
        if (rest <= tile_items && begin < data_begin) {
            begin += 16;
            copy_bytes(to + data_begin, from + data_begin,
                       (begin < data_end ? begin : data_end) - data_begin);
        }
        if (tile == 0 && end > begin && end > data_end) {
            end -= 16;
            copy_bytes(to + end, from + end, data_end - end);
        }
        for (int i = lane_id(); i < tile_items - count; i += 32)
            item_store<In, Types::piece_in>(to + data_end - tile_bytes + i * sizeof(In),
                                            narrow<In>(Op::identity()));
        if (lane_id() != 0) {
            barrier_arrive(&s.loaded[stage_index]);
        } else {
            barrier_expect(&s.loaded[stage_index], end > begin ? end - begin : 0);
            if (end > begin)
                bulk_load(to + begin, from + begin, end - begin, &s.loaded[stage_index], policy);
        }
        __syncwarp();
    }

    GPI_DEVICE void load_tile(uint32_t tile, int stage_index, uint64_t policy)
    {
        if constexpr (BACKWARD)
            load_backward(tile, stage_index, policy);
        else
            load_forward(tile, stage_index, policy);
    }

    /* ---- reduce warps: sums early, so that later tiles need not wait for this one's scan ---- */

    GPI_DEVICE A reduce_part(const char *from) const
    {
        Part part;
        part.load(from);
        if constexpr (runs)
            return warp_reduce<Op>(part.total());
        A sum = vector_total<Types, Op>(part.raw[0]);
        if constexpr (Op::commutes) {
#pragma unroll
            for (int k = 1; k < K; k++)
                sum = Op::apply(sum, vector_total<Types, Op>(part.raw[k]));
            return warp_reduce<Op>(sum);
        } else {
            sum = warp_reduce<Op>(sum);
#pragma unroll
            for (int k = 1; k < K; k++)
                sum = Op::apply(sum, warp_reduce<Op>(vector_total<Types, Op>(part.raw[k])));
            return sum;
        }
    }

    GPI_DEVICE A tile_sum(int stage_index) const
    {
        A sum = s.warp_sum[stage_index][0];
#pragma unroll
        for (int w = 1; w < W; w++)
            sum = Op::apply(sum, s.warp_sum[stage_index][w]);
        return sum;
    }

    GPI_DEVICE void reduce(int warp, const TileState<A> &state)
    {
        uint32_t tile;
        for (Turn turn; ring_wait(*this, turn, tile); turn.next()) {
            for (int w = warp; w < W; w += R) {
                A sum = reduce_part(part_of(turn.stage, w));
                if (lane_id() == 0)
                    s.warp_sum[turn.stage][w] = sum;
            }
            asm volatile("bar.sync 1, %0;" ::"n"(R * 32) : "memory");
            if (warp == 0 && lane_id() == 0)
                state.publish(tile, tile_sum(turn.stage));
            if (lane_id() == 0)
                barrier_arrive(&s.summed[turn.stage]);
            barrier_arrive(&s.freed[turn.stage]);
        }
    }

    /* ---- look-ahead warp ---- */

    GPI_DEVICE void look_ahead(const TileState<A> &state)
    {
        Lookahead<Op, A, groups_at_once, 16> ahead(scan_start<Op>(p));
        uint32_t tile;
        for (Turn turn; ring_wait(*this, turn, tile); turn.next()) {
            A prefix = ahead.exclusive(state, tile);
            if (tile == tiles - 1) {
                barrier_wait(&s.summed[turn.stage], turn.parity);
                if (lane_id() == 0)
                    scan_finish<Types>(p, s.n, Op::apply(prefix, tile_sum(turn.stage)));
            }
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
        bool overflow = false;
        uint32_t tile;
        for (Turn turn; ring_wait(*this, turn, tile); turn.next()) {
            Part part;
            part.load(part_of(turn.stage, warp));
            part.scan();
            barrier_wait(&s.summed[turn.stage], turn.parity);
            barrier_wait(&s.resolved[turn.stage], turn.parity);
            A prefix = s.prefix[turn.stage];
            for (int w = 0; w < warp; w++)
                prefix = Op::apply(prefix, s.warp_sum[turn.stage][w]);
            barrier_arrive(&s.freed[turn.stage]);
            store(part, tile, warp, prefix, overflow);
        }
        if (Types::wide && overflow)
            atomicOr(p.state.sticky, sticky_overflow);
    }

    GPI_DEVICE void store(const Part &part, uint32_t tile, int warp, A prefix, bool &overflow) const
    {
        stall(stall_store, s.launch.epoch, tile * W + warp);
        const uint64_t first = (uint64_t)tile * tile_items + (uint64_t)warp * Part::items;
        const bool before = p.kind != inclusive;
        const uint64_t place = BACKWARD ? s.n - first - Part::items : first; /* modulo 2^64 */
        char *out = p.out + place * sizeof(typename Types::Out);
        const bool whole = (uint64_t)(tile + 1) * tile_items <= s.n;
        if (!whole && first >= s.n)
            return;
        const int count = whole || s.n - first >= Part::items ? Part::items : (int)(s.n - first);
        if constexpr (runs) {
            if (whole)
                part.store(out, prefix, before, s.scratch[warp]);
            else
                part.store_partial(out, prefix, before, count, s.scratch[warp]);
        } else {
            if (whole)
                part.store(out, prefix, before, overflow);
            else
                part.store_partial(out, prefix, before, count, overflow);
        }
    }
};

/*
 * Grid: one block per multiprocessor; W scan warps, R reduce warps, a loader and a look-ahead warp.
 * Tile: W x 32 x K vectors, S stages in shared memory. After: all outputs, total, row pointer n.
 */
template <class Types, class Op, int W, int R, int K, int S, bool BACKWARD = false>
__global__ void __launch_bounds__((W + R + 2) * 32, 1)
    scan_stream_k(const __grid_constant__ ScanParams<typename Types::A> p)
{
    using Roles = Stream<Types, Op, W, R, K, S, BACKWARD>;
    extern __shared__ __align__(128) char memory[];
    typename Roles::Shared &s = *(typename Roles::Shared *)(memory + S * Roles::stage_bytes);
    Roles roles = {p, s, memory, 0};
    if (threadIdx.x == 0) {
        s.n = scan_n(p);
        s.launch = launch_begin(p.state, tiles_of<Roles::tile_items>(s.n));
    } else if (threadIdx.x == 32) {
        roles.init_barriers();
    }
    /* Some block takes the tile of this block's number first:
     * fetch it while the numbers are drawn. */
    if constexpr (BACKWARD) {
        const uint64_t bytes = p.n * sizeof(typename Types::In);
        const uint64_t behind = (uint64_t)(blockIdx.x + 1) * Roles::tile_bytes;
        if (behind <= bytes)
            prefetch_tile(p.in + (bytes - behind), Roles::tile_bytes, 0, Roles::tile_bytes);
    } else {
        prefetch_tile(p.in, p.n * sizeof(typename Types::In), blockIdx.x, Roles::tile_bytes);
    }
    __syncthreads();
    roles.tiles = tiles_of<Roles::tile_items>(s.n);
    const TileState<typename Types::A> state(p.state, s.launch.epoch);
    if (threadIdx.x == 0 && s.launch.tile == 0) {
        state.retire_one(p.state, roles.tiles);
        if (roles.tiles == 0)
            scan_finish<Types>(p, s.n, scan_start<Op>(p));
    }
    const int warp = threadIdx.x / 32;
    if (warp < W)
        roles.scan(warp);
    else if (warp < W + R)
        roles.reduce(warp - W, state);
    else if (warp == W + R)
        ring_load<S>(roles, l2_policy(s.n * sizeof(typename Types::In) >= stream_keep_bytes));
    else
        roles.look_ahead(state);
}

} // namespace GPI_SPACE

#endif
