/* SPDX-License-Identifier: MIT */
/*
 * How a launch learns its epoch, and how its blocks share the tiles.
 *
 * A captured graph freezes kernel arguments, so the epoch cannot come from the host: one
 * counter holds the epoch in its high half and the next tile in its low half. Every block
 * claims numbers from it until it gets one past the last tile; the last of these claims moves
 * the counter on to the next epoch. Nothing has to be reset between launches, and grids may
 * differ from launch to launch.
 *
 * That one counter gives out all numbers, in order, is also what makes waiting safe: when a block
 * holds a tile, every lower tile has been claimed by a block that is running (or finished), however
 * few of the launch's blocks have started. A block works on its tiles in the order it claimed them.
 */
#pragma once

#include "core/state.h"
#include "device/space.cuh"
#include "device/stall.cuh"

namespace GPI_SPACE
{

constexpr uint32_t max_grid = 65535;

struct Launch {
    uint64_t epoch;
    uint32_t tile; /* the first of this block; from `tiles` on: none */
};

/* Not more tiles than blocks: then each block claims once. */
GPI_DEVICE bool launch_claims_once(uint32_t tiles)
{
    return tiles <= gridDim.x;
}

/* A claim in two steps, so that other work can hide the trip to the counter; by lane 0 of a warp.
 * Where lanes add the same number the compiler makes one addition of theirs and hands out parts of
 * its result, for which all wait at once: so this one's number differs from other lanes'. */
GPI_DEVICE uint64_t counter_claim(const gpi_state &s)
{
    uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return atomicAdd((unsigned long long *)&s.ctrl->counter, 1ull + lane);
}

/* A number of a launch whose blocks make that number of claims in all. */
GPI_DEVICE Launch launch_numbered(const gpi_state &s, uint32_t claims, uint64_t number)
{
    const Launch l = {number >> 32, (uint32_t)number};
    if (l.tile == claims - 1)
        atomicAdd((unsigned long long *)&s.ctrl->counter, (1ull << 32) - claims);
    if (l.tile >= claims)
        atomicOr(&s.sticky->misuse, 1u); /* two launches at once on one state */
    return l;
}

GPI_DEVICE Launch launch_claimed(const gpi_state &s, uint32_t tiles, uint64_t number)
{
    return launch_numbered(s, launch_claims_once(tiles) ? gridDim.x : tiles + gridDim.x, number);
}

GPI_DEVICE Launch launch_claim(const gpi_state &s, uint32_t tiles)
{
    return launch_claimed(s, tiles, counter_claim(s));
}

/* By one thread of each block, once, before any use of tile states; number: that of its claim. */
GPI_DEVICE Launch launch_begin(const gpi_state &s, uint32_t tiles, uint64_t number)
{
    const Launch l = launch_claimed(s, tiles, number);
    stall(stall_start, l.epoch, l.tile);
    return l;
}

GPI_DEVICE Launch launch_begin(const gpi_state &s, uint32_t tiles)
{
    return launch_begin(s, tiles, counter_claim(s));
}

/* The next tile of a block that holds one; from `tiles` on: no more. */
GPI_DEVICE uint32_t tile_next(const gpi_state &s, uint32_t tiles)
{
    if (launch_claims_once(tiles))
        return tiles;
    const Launch l = launch_claim(s, tiles);
    stall(stall_load, l.epoch, l.tile);
    return l.tile;
}

} // namespace GPI_SPACE
