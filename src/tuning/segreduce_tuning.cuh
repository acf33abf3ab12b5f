/* SPDX-License-Identifier: MIT */
/* Shapes of the segmented reduction. Steps and shares decide how float sums are associated. */
#pragma once

#include "device/gpu.cuh"

namespace GPI_SPACE
{

struct SegreduceShape {
    int warps;       /* that fold; each has 2 KB of a chunk of items */
    int item_stages; /* chunks of items on their way or in use */
    int blocks_per_sm;
};

struct SegreduceTuning {
    int least_sm, shared_bytes;
    SegreduceShape narrow, wide; /* of accumulators up to 4 bytes, and of larger ones */
    int offset_stages;           /* chunks of offsets */
    int offset_bytes;            /* of one */
};

/* H100: segreduce-06 in docs/tuning. */
constexpr SegreduceTuning segreduce_rows[] = {
    {75, 62 * 1024, {4, 2, 1}, {4, 2, 1}, 2, 4096},
    {80, 98 * 1024, {4, 3, 1}, {4, 3, 1}, 2, 8192},
    {90, 113 * 1024, {4, 2, 4}, {8, 3, 2}, 2, 8192},
};
constexpr SegreduceTuning segreduce_tuning = row_for(segreduce_rows);

} // namespace GPI_SPACE
