/* SPDX-License-Identifier: MIT */
/* Shapes of the segmented reduction. Steps and shares decide how float sums are associated. */
#pragma once

#include "device/gpu.cuh"

namespace GPI_SPACE
{

struct SegreduceTuning {
    int least_sm, shared_bytes;
    int warps;         /* that fold; each has 2 KB of a chunk of items */
    int item_stages;   /* chunks of items on their way or in use */
    int offset_stages; /* the same of offsets */
    int offset_bytes;  /* of a chunk of offsets */
    int blocks_per_sm;
};

constexpr SegreduceTuning segreduce_rows[] = {
    {75, 62 * 1024, 4, 2, 2, 4096, 1},
    {80, 98 * 1024, 4, 3, 2, 8192, 1},
    {90, 113 * 1024, 8, 3, 2, 8192, 2},
};
constexpr SegreduceTuning segreduce_tuning = row_for(segreduce_rows);

} // namespace GPI_SPACE
