/* SPDX-License-Identifier: MIT */
/*
 * A ring of tiles in shared memory, and warps by role around it.
 *
 * Loader warps claim tiles and load them into the stages of the ring, others sum up a tile and
 * publish its sum, one finds what is before it (resolves it), others store it. All of them go round
 * the ring in the order in which tiles were claimed; barriers, S of each, say how far a stage is:
 *
 *     loaded     the tile is in its stage
 *     summed     the sums of its parts are there, its own is published
 *     resolved   what is before it is there
 *     freed      the store warps are done with the stage
 *
 * A kernel has these, the number tile[S] of each stage's tile, and the block's Launch launch in a
 * struct s in shared memory, which its roles share, beside its parameters p and the number of
 * tiles that there are.
 */
#pragma once

#include "device/barrier.cuh"
#include "device/epoch.cuh"

namespace GPI_SPACE
{

/* The barriers of a block whose shared memory has them, by one thread before __syncthreads(), and
 * how many warps have a role. */
template <int S, class Shared>
GPI_DEVICE void ring_init(Shared &s, uint32_t loaders, uint32_t summers, uint32_t storers)
{
    for (int i = 0; i < S; i++) {
        barrier_init(&s.loaded[i], loaders * barrier_warp_arrivals);
        barrier_init(&s.summed[i], summers * barrier_warp_arrivals);
        barrier_init(&s.resolved[i], 1);
        barrier_init(&s.freed[i], storers * barrier_warp_arrivals);
    }
    barrier_init_done();
}

/* A role's way round the ring. */
template <int S> struct RingTurn {
    int stage = 0;
    uint32_t parity = 0;

    GPI_DEVICE void next()
    {
        if (++stage == S) {
            stage = 0;
            parity ^= 1;
        }
    }
};

/* What thread 0 of L loader warps has, for all of them. */
template <int L> GPI_DEVICE uint32_t ring_share(uint32_t value, int thread, int round)
{
    if constexpr (L == 1) {
        return shuffle(value, 0);
    } else {
        __shared__ uint32_t shared[2];
        if (thread == 0)
            shared[round & 1] = value; /* no thread still reads it: all were here since */
        asm volatile("bar.sync 2, %0;" ::"n"(32 * L) : "memory");
        return shared[round & 1];
    }
}

/* L loader warps: they claim tiles, which roles.load_tile(tile, stage, more..) begins to bring;
 * every warp arrives at their `loaded`. If roles.are_dealt(), a block claims its first tile, from
 * which the others follow. */
template <int S, int L, class Roles, class... More>
GPI_DEVICE void ring_load(Roles &roles, More... more)
{
    const int thread = (int)(threadIdx.x % (32 * L));
    uint32_t tile = roles.s.launch.tile, next = 0;
    RingTurn<S> turn;
    for (int round = 0;; round++, turn.next()) {
        if (round >= S)
            barrier_wait(&roles.s.freed[turn.stage], turn.parity ^ 1);
        if (thread == 0)
            roles.s.tile[turn.stage] = tile;
        if (tile >= roles.tiles)
            break;
        if (thread == 0)
            next = roles.are_dealt() ? tile + gridDim.x : tile_next(roles.p.state, roles.tiles);
        if constexpr (Roles::prefetches_all)
            roles.prefetch((uint64_t)tile + gridDim.x, thread, 32 * L);
        roles.load_tile(tile, turn.stage, more...);
        tile = ring_share<L>(next, thread, round);
    }
    barrier_arrive(&roles.s.loaded[turn.stage]);
}

/* Any other warp waits for its turn's tile; false: there are no more. */
template <int S, class Roles>
GPI_DEVICE bool ring_wait(const Roles &roles, const RingTurn<S> &turn, uint32_t &tile)
{
    barrier_wait(&roles.s.loaded[turn.stage], turn.parity);
    tile = roles.s.tile[turn.stage];
    return tile < roles.tiles;
}

} // namespace GPI_SPACE
