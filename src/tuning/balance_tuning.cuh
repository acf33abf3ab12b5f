/* SPDX-License-Identifier: MIT */
/*
 * Shapes of the balance kernels. A row needs its provenance: GPU, date, measured ratio to the row
 * it replaces. Results do not depend on them.
 */
#pragma once

#include <cstdint>

#include "device/space.cuh"

namespace GPI_SPACE::balance
{

/* First row, by count and not by measurement: 16 KiB of stage and 288 threads put seven blocks on a
 * multiprocessor of sm_80 and newer, enough to hide the reads at the start of a tile. */
constexpr int workers = 256;           /* threads of a block that write; one more warp searches */
constexpr uint32_t stage_items = 8192; /* items and segments of a tile, nearly */

/* Blocks per multiprocessor: several waves of what fits, so that uneven blocks even out. */
constexpr int blocks_per_sm = 64;

/* Items of any size: output bytes per tile, and the fewest steps that are worth a tile. */
constexpr uint32_t expand_tile_bytes = 1 << 17;
constexpr uint32_t expand_units_min = 8;

} // namespace GPI_SPACE::balance
