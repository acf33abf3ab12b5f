/* SPDX-License-Identifier: MIT */
/*
 * How a launch learns its epoch, and how its blocks share the tiles.
 *
 * A captured graph freezes kernel arguments, so the epoch cannot come from the host: one counter
 * holds the epoch in its high half and the next tile in its low half. Every block draws numbers
 * from it until it gets one past the last tile; the last of these draws moves the counter on to the
 * next epoch. Nothing has to be reset between launches, and grids may differ from launch to launch.
 *
 * That one counter gives out all numbers, in order, is also what makes waiting safe: when a block
 * holds a tile, every lower tile has been drawn by a block that is running (or finished), however
 * few of the launch's blocks have started. A block works on its tiles in the order it drew them.
 */
#pragma once

#include "core/state.h"
#include "device/space.cuh"
#include "device/stall.cuh"

namespace GPI_SPACE
{

constexpr uint32_t max_grid = 65535;
constexpr uint32_t sticky_overflow = 1, sticky_capacity = 2, sticky_data = 4, sticky_misuse = 8;

struct Launch {
    uint64_t epoch;
    uint32_t tile; /* the first of this block; from `tiles` on: none */
};

/* Not more tiles than blocks: then each block draws once. */
GPI_DEVICE bool launch_draws_once(uint32_t tiles)
{
    return tiles <= gridDim.x;
}

GPI_DEVICE Launch launch_draw(const gpi_state &s, uint32_t tiles)
{
    unsigned long long *counter = (unsigned long long *)&s.ctrl->counter;
    const uint32_t draws = launch_draws_once(tiles) ? gridDim.x : tiles + gridDim.x;
    const unsigned long long a = atomicAdd(counter, 1ull);
    const Launch l = {a >> 32, (uint32_t)a};
    if (l.tile == draws - 1)
        atomicAdd(counter, (1ull << 32) - draws);
    if (l.tile >= draws)
        atomicOr(s.sticky, sticky_misuse); /* two launches at once on one state */
    return l;
}

/* By one thread of each block, once, before any use of tile states. */
GPI_DEVICE Launch launch_begin(const gpi_state &s, uint32_t tiles)
{
    const Launch l = launch_draw(s, tiles);
    stall(stall_start, l.epoch, l.tile);
    return l;
}

/* The next tile of a block that holds one; from `tiles` on: no more. */
GPI_DEVICE uint32_t tile_next(const gpi_state &s, uint32_t tiles)
{
    if (launch_draws_once(tiles))
        return tiles;
    const Launch l = launch_draw(s, tiles);
    stall(stall_load, l.epoch, l.tile);
    return l.tile;
}

} // namespace GPI_SPACE
