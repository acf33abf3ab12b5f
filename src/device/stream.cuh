/* SPDX-License-Identifier: MIT */
/*
 * The single pass over a large array at the rate of a copy: a persistent block per multiprocessor,
 * tiles in a ring of shared memory, warps by role.
 *
 *     loaders      claim tiles and bring them (device/stage_load.cuh), as many ahead as the ring
 *                  has stages: one warp, or several where data comes through registers
 *     sum warps    sum up the parts of a tile and publish its sum, before any warp stores it
 *     look-ahead   finds the prefix of a tile, out of the sums of all before it
 *     store warps  one for each part: outputs, from the prefix and the part's items
 *
 * Sums are published long before other blocks need them, so waits are short. The policy says what
 * is summed up and stored: a struct, derived from StreamPolicy, whose first members are the
 * parameters (with a member state, which the launch fills), the block's shared memory, its stages
 * and the number of tiles that there are,
 *
 *     const Params &p; StreamShared<Policy> &s; char *ring; uint32_t tiles;
 *
 * and that has
 *
 *     store_warps, sum_warps, load_warps, stages, tile_items
 *     stage_bytes             a multiple of 128; alignment takes 16 more than a tile's bytes
 *     Sum, Prefix, Part       a tile publishes a Sum; a Part is what a store warp knows before the
 *                             prefix is there
 *     part_is_copy            a Part needs its stage no more
 *     items()                 of the array, by one thread
 *     load_tile(tile, stage, loader)   by the loaders; ends with loader.load(&s.loaded[stage], ..)
 *     part_sum(tile, stage, w)         by a warp, for the part of store warp w
 *     add(Sum, Sum), after(Prefix, Sum)
 *     start()                 the prefix of the first tile
 *     look_ahead()            the object that finds the others: exclusive(state, tile)
 *     load_part(part, tile, stage, w)  by store warps, when the tile has landed
 *     join_part(part, stage, w)        when its sum is there, too, and so is what part_sum() left
 *     store_part(part, tile, stage, w, prefix)
 *
 * The last tile may be short: load_tile() fills it up, or the others ask how many items there are;
 * its last parts may be empty, and all lanes take part in them.
 */
#pragma once

#include "device/host.cuh"
#include "device/lookahead.cuh"
#include "device/ring.cuh"
#include "device/stage_load.cuh"
#include "device/gpu.cuh"

namespace GPI_SPACE
{

/* What a policy need not have. */
struct StreamPolicy {
    struct Own { /* shared memory */
    };
    static constexpr bool sums_add = false; /* a Sum is a uint32_t, and add() is + */
    /* Of a group whose prefix look_ahead() publishes, behind the sums; 0: none. */
    static constexpr uint32_t prefix_tiles = 0;
    GPI_DEVICE void wait() const /* before the first claim: for a kernel that claims tiles, too */
    {
    }
    GPI_DEVICE void begin() const /* first of all, by one thread */
    {
    }
    /* Whether a block's tiles are known from the first: where all are held until every tile is
     * loaded, a block must not claim more than its ring has room for. */
    GPI_DEVICE bool are_dealt() const
    {
        return false;
    }
    /* (tile, thread, threads): ask the L2 for a tile, if there is one of that number. */
    GPI_DEVICE void prefetch(uint64_t, uint32_t, uint32_t) const
    {
    }
    /* Ask for every tile when the one a grid before it is loaded, whichever block takes it: for
     * where few loads are in flight. */
    static constexpr bool prefetches_all = GPI_SM < 80;
    GPI_DEVICE void reads_done() const /* before the sum of a tile is published */
    {
    }
    GPI_DEVICE void writes_begin() const /* after the sums of all tiles before have been seen */
    {
    }
    template <class Prefix> GPI_DEVICE void finish(const Prefix &) const /* by one thread, once */
    {
    }
    template <class Part> GPI_DEVICE void join_part(Part &, int, int) const
    {
    }
    GPI_DEVICE void end() const /* of a store warp */
    {
    }
};

template <class Policy> struct StreamShared {
    static constexpr int S = Policy::stages;
    alignas(16) typename Policy::Own own;
    uint64_t loaded[S], summed[S], resolved[S], freed[S]; /* see device/ring.cuh */
    typename Policy::Sum part_sum[S][Policy::store_warps];
    typename Policy::Prefix prefix[S];
    uint32_t tile[S];
    Launch launch;
    uint64_t n;
};

template <class Policy>
constexpr int stream_threads = (Policy::store_warps + Policy::sum_warps + Policy::load_warps + 1) *
                               32;
template <class Policy>
constexpr int stream_shared_bytes = Policy::stages *Policy::stage_bytes +
                                    (int)sizeof(StreamShared<Policy>);

template <class Policy> GPI_DEVICE uint32_t stream_tiles(uint64_t n)
{
    return (uint32_t)((n + Policy::tile_items - 1) / Policy::tile_items);
}

/* What these tiles publish. */
template <class Policy> __host__ __device__ __forceinline__ uint64_t stream_words(uint64_t tiles)
{
    if constexpr (Policy::prefix_tiles == 0)
        return tiles;
    else
        return tiles + tiles / Policy::prefix_tiles + 1;
}

template <class Policy>
GPI_DEVICE typename Policy::Sum stream_tile_sum(const Policy &policy, int stage)
{
    typename Policy::Sum sum = policy.s.part_sum[stage][0];
#pragma unroll
    for (int w = 1; w < Policy::store_warps; w++)
        sum = policy.add(sum, policy.s.part_sum[stage][w]);
    return sum;
}

template <class Policy>
GPI_DEVICE void stream_sum(Policy &policy, int warp, const TileState<typename Policy::Sum> &state)
{
    auto &s = policy.s;
    uint32_t tile;
    for (RingTurn<Policy::stages> turn; ring_wait(policy, turn, tile); turn.next()) {
        for (int w = warp; w < Policy::store_warps; w += Policy::sum_warps) {
            const typename Policy::Sum sum = policy.part_sum(tile, turn.stage, w);
            if (lane_id() == 0)
                s.part_sum[turn.stage][w] = sum;
        }
        asm volatile("bar.sync 1, %0;" ::"n"(Policy::sum_warps * 32) : "memory");
        if (warp == 0 && lane_id() == 0) {
            policy.reads_done();
            state.publish(tile, stream_tile_sum(policy, turn.stage));
        }
        barrier_arrive(&s.summed[turn.stage]);
    }
}

/* The last tile is the end of the way round the ring, so what comes after it is not in the loop,
 * where it would cost every tile registers. */
template <class Policy>
GPI_DEVICE void stream_look_ahead(Policy &policy, const TileState<typename Policy::Sum> &state)
{
    auto &s = policy.s;
    auto ahead = policy.look_ahead();
    typename Policy::Prefix prefix = policy.start();
    RingTurn<Policy::stages> turn;
    uint32_t tile;
    bool last = false;
    for (; ring_wait(policy, turn, tile); turn.next()) {
        prefix = ahead.exclusive(state, tile);
        policy.writes_begin();
        __syncwarp();
        if (lane_id() == 0) {
            s.prefix[turn.stage] = prefix;
            barrier_arrive_one(&s.resolved[turn.stage]);
        }
        last = tile == policy.tiles - 1;
        if (last)
            break;
    }
    if (!last)
        return;
    barrier_wait(&s.summed[turn.stage], turn.parity);
    if (lane_id() == 0)
        policy.finish(policy.after(prefix, stream_tile_sum(policy, turn.stage)));
}

/* All lanes have what they take from the stage before outputs pass through it; of all W store
 * warps, if an output's place may be another warp's. */
template <int W> GPI_DEVICE void stage_taken(bool by_all)
{
    if (by_all)
        asm volatile("bar.sync 3, %0;" ::"n"(W * 32) : "memory");
    else
        __syncwarp();
}

template <class Policy> GPI_DEVICE void stream_store(Policy &policy, int warp)
{
    auto &s = policy.s;
    uint32_t tile;
    for (RingTurn<Policy::stages> turn; ring_wait(policy, turn, tile); turn.next()) {
        typename Policy::Part part;
        policy.load_part(part, tile, turn.stage, warp);
        barrier_wait(&s.summed[turn.stage], turn.parity);
        policy.join_part(part, turn.stage, warp);
        barrier_wait(&s.resolved[turn.stage], turn.parity);
        typename Policy::Prefix prefix = s.prefix[turn.stage];
        if constexpr (Policy::sums_add)
            prefix = policy.after(
                prefix,
                warp_sum(lane_id() < (uint32_t)warp ? s.part_sum[turn.stage][lane_id()] : 0));
        else
            for (int w = 0; w < warp; w++)
                prefix = policy.after(prefix, s.part_sum[turn.stage][w]);
        if constexpr (Policy::part_is_copy)
            barrier_arrive(&s.freed[turn.stage]);
        stall(stall_store, s.launch.epoch, tile * Policy::store_warps + warp);
        policy.store_part(part, tile, turn.stage, warp, prefix);
        if constexpr (!Policy::part_is_copy)
            barrier_arrive(&s.freed[turn.stage]);
    }
    policy.end();
}

/* Grid: at most one block per multiprocessor. After: all outputs. */
template <class Policy>
__global__ void __launch_bounds__(stream_threads<Policy>, 1)
    stream_k(const __grid_constant__ typename Policy::Params p)
{
    constexpr int W = Policy::store_warps, R = Policy::sum_warps, L = Policy::load_warps;
    constexpr int S = Policy::stages;
    extern __shared__ __align__(128) char memory[];
    auto &s = *(StreamShared<Policy> *)(memory + S * Policy::stage_bytes);
    Policy policy = {{}, p, s, memory, 0};
    if (threadIdx.x == 0) {
        policy.wait();
        const uint64_t number = counter_claim(p.state); /* beside a trip to the number of items */
        s.n = policy.items();
        const uint32_t claimed = policy.are_dealt() ? gridDim.x : stream_tiles<Policy>(s.n);
        s.launch = launch_begin(p.state, claimed, number);
        policy.begin();
    } else if (threadIdx.x == 32) {
        ring_init<S>(s, L, R, W);
    }
    policy.prefetch(blockIdx.x, threadIdx.x, blockDim.x); /* some block takes it first */
    __syncthreads();
    policy.tiles = stream_tiles<Policy>(s.n);
    const TileState<typename Policy::Sum> state(p.state, s.launch.epoch);
    if (threadIdx.x == 0 && s.launch.tile == 0) {
        state.retire_one(p.state, (uint32_t)stream_words<Policy>(policy.tiles));
        if (policy.tiles == 0)
            policy.finish(policy.start());
    }
    const int warp = warp_id();
    if (warp < W)
        stream_store(policy, warp);
    else if (warp < W + R)
        stream_sum(policy, warp - W, state);
    else if (warp < W + R + L)
        ring_load<S, L>(policy, policy.loader());
    else
        stream_look_ahead(policy, state);
}

/* The kernel for n items; p gets its tile states and stays where it is. Dependent: its loaders wait
 * for the kernel before (grid_wait()). */
template <class Policy>
gp_status stream_add(gp_context *ctx, const char *function, typename Policy::Params &p, uint64_t n,
                     LaunchList &list, bool dependent = false)
{
    constexpr int shared = stream_shared_bytes<Policy>;
    static_assert(shared <= gpu.block_shared_bytes && stream_threads<Policy> <= gpu_block_threads,
                  "the row of this room needs more than the GPU has");
    static uint64_t allowed;
    const uint64_t tiles = (n + Policy::tile_items - 1) / Policy::tile_items;
    const uint64_t most = (uint64_t)ctx->sm_count;
    const uint32_t grid = (uint32_t)(tiles < 1 ? 1 : tiles < most ? tiles : most);
    GPI_TRY(shared_memory_allow(ctx, function, stream_k<Policy>, shared, &allowed));
    GPI_TRY(gpi_state_get(ctx, function,
                          stream_words<Policy>(tiles) * TileState<typename Policy::Sum>::pieces,
                          &p.state));
    list.add(
        launch_dependent(stream_k<Policy>, dependent, grid, stream_threads<Policy>, shared, p));
    return GP_OK;
}

/* The same alone. */
template <class Policy>
gp_status stream_launch(gp_context *ctx, const char *function, typename Policy::Params &p,
                        uint64_t n)
{
    LaunchList list;
    GPI_TRY(stream_add<Policy>(ctx, function, p, n, list));
    return list.queue(ctx, function);
}

} // namespace GPI_SPACE
