/* SPDX-License-Identifier: MIT */
/* Sums of what tiles have counted, for passes that merge or leave out entries. */
#pragma once

#include "device/lookahead.cuh"
#include "device/ops.cuh"
#include "device/stall.cuh"

namespace GPI_SPACE
{

/* What the tiles before one have counted. A warp owns it and asks for tiles in rising order. */
struct CountsBefore {
    static constexpr uint32_t batch = 5; /* words of a lane: more tiles than multiprocessors */
    uint64_t sum = 0;
    uint32_t next = 0;

    GPI_DEVICE uint64_t exclusive(const TileState<uint32_t> &state, uint32_t tile)
    {
        stall(stall_resolve, state.epoch, tile);
        while (next < tile) {
            uint32_t v[batch];
            poll_tiles<striped>(state, next, tile, Sum<uint32_t>(), v);
            sum += warp_sum(v[0] + v[1] + v[2] + v[3] + v[4]);
            next = min(next + 32 * batch, tile);
        }
        return sum;
    }
};

} // namespace GPI_SPACE
