/* SPDX-License-Identifier: MIT */
/*
 * How a launch learns its epoch, and in which order its blocks started.
 *
 * A captured graph freezes kernel arguments, so the epoch cannot come from the host: every block
 * adds 1 to one counter; the high bits are the epoch, the low 16 the arrival index. The block that
 * sees the last index of its grid moves the counter on to the next epoch. Nothing has to be reset
 * between launches, and grids may differ from launch to launch.
 *
 * Arrival indices and tickets are also what makes waiting safe: a tile's number is handed out only
 * to a block that is already running, so every lower-numbered tile belongs to a running (or
 * finished) block.
 */
#pragma once

#include "core/state.h"
#include "device/space.cuh"

namespace GPI_SPACE
{

constexpr uint32_t max_grid = 65535; /* the arrival index has 16 bits */
constexpr uint32_t sticky_overflow = 1, sticky_capacity = 2, sticky_data = 4, sticky_misuse = 8;

struct Launch {
    uint64_t epoch;
    uint32_t index; /* 0 for the first block that started */
};

/* By one thread of each block, once: draw, and with what was drawn enter, before any use of tile
 * states or tickets. What lies between hides the trip to the counter. */
GPI_DEVICE uint64_t launch_draw(const gpi_state &s)
{
    return atomicAdd((unsigned long long *)&s.ctrl->arrival, 1ull);
}

GPI_DEVICE Launch launch_enter(const gpi_state &s, uint64_t drawn)
{
    unsigned long long *arrival = (unsigned long long *)&s.ctrl->arrival;
    Launch l = {drawn >> 16, (uint32_t)drawn & 0xffffu};
    if (l.index == gridDim.x - 1)
        atomicAdd(arrival, 65536ull - gridDim.x);
    if (l.index == 0)
        s.ctrl->tickets[(l.epoch + 1) & 1] = 0; /* its last user, the launch before, is over */
    if (l.index >= gridDim.x)
        atomicOr(s.sticky, sticky_misuse); /* two launches at once on one state */
    return l;
}

GPI_DEVICE Launch launch_begin(const gpi_state &s)
{
    return launch_enter(s, launch_draw(s));
}

/* The next tile after those that the arrival indices took. */
GPI_DEVICE uint32_t ticket_next(const gpi_state &s, const Launch &l)
{
    return gridDim.x + atomicAdd(&s.ctrl->tickets[l.epoch & 1], 1u);
}

} // namespace GPI_SPACE
