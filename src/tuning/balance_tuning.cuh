/* SPDX-License-Identifier: MIT */
/*
 * Shapes of the balance kernels. A row needs its provenance: GPU, date, measured ratio to the row
 * it replaces. Results do not depend on them.
 */
#pragma once

#include <cstdint>

#include "device/gpu.cuh"

namespace GPI_SPACE::balance
{

struct BalanceTuning {
    int least_sm, shared_bytes;
    int workers;       /* threads of a block that write; one more warp searches */
    int blocks_per_sm; /* several waves of what fits, so that uneven blocks even out */

    /* Items of any size: output bytes per tile, fewer if values wait in shared memory, and the
     * fewest steps that are worth a tile. */
    uint32_t expand_tile_bytes, expand_staged_bytes, expand_units_min;
    uint32_t expand_tiles_per_sm; /* smaller tiles, if there would be fewer, */
    uint32_t expand_tile_bytes_min;
    /* Items whose values wait in shared memory: their bytes, and the fewest steps of a tile. */
    uint32_t expand_stage_bytes, expand_steps_min;
    /* Tiles of few items, for a multiprocessor; fewer, if these have no more steps and segments. */
    uint32_t expand_resident, expand_resident_few, expand_few_steps, expand_few_segments;

    int bound_threads; /* of a block that searches bounds */

    /* Segments of items: warps of a block; steps of the path for a warp, and those for one if
     * there are few for each multiprocessor. */
    int search_warps;
    uint32_t search_share, search_share_min, search_few;

    /* Intervals: bytes of one, on average, from which it is copied in words of 16 bytes and not of
     * 4; bytes of a tile of such, at most; tiles of few bytes on a multiprocessor. */
    uint32_t interval_wide_bytes, interval_tile_bytes, interval_tiles_per_sm;
};

/* By count and not by measurement, but for what the entries of docs/tuning/balance.md tell. */
constexpr BalanceTuning balance_rows[] = {
    {75, 33 * 1024, 256,  64,  1 << 17, 1 << 15, 8,    7,       1 << 14, 1 << 14, 512, 5,
     3,  4096,      1024, 256, 8,       2048,    1024, 1 << 16, 16,      1 << 15, 4}};
constexpr BalanceTuning balance_tuning = row_for(balance_rows);

} // namespace GPI_SPACE::balance
