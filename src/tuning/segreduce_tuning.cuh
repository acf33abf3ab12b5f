/* SPDX-License-Identifier: MIT */
/* Shapes of the segmented reduction. Slices and tiles decide how float sums are associated. */
#pragma once

#include "device/gpu.cuh"

namespace GPI_SPACE
{

/* Warps of a team. */
struct SegreduceRoles {
    int mark, fold, store;
};

struct SegreduceTuning {
    int least_sm, shared_bytes;
    int teams;                   /* that take tiles in turn */
    SegreduceRoles sums, places; /* results of places take longer to store; as many warps in all */
    int load_warps;
    int slices;     /* of a tile, each of which a warp folds: about 2 KB of items */
    int rounds;     /* tiles between the first mark and the last store */
    int stages_max; /* tiles on their way or in use */
};

/* H200: segreduce-10 in docs/tuning; the others by count. */
constexpr SegreduceTuning segreduce_rows[] = {
    {75, 62 * 1024, 2, {2, 3, 2}, {2, 2, 3}, 4, 3, 2, 8},
    {80, 98 * 1024, 2, {3, 5, 2}, {3, 4, 3}, loader_warps(4), 5, 2, 8},
    {80, 160 * 1024, 2, {4, 6, 2}, {3, 5, 4}, loader_warps(4), 8, 2, 10},
    {90, 222 * 1024, 1, {6, 12, 3}, {5, 12, 4}, loader_warps(4), 12, 3, 10},
};
constexpr SegreduceTuning segreduce_tuning = row_for(segreduce_rows);

} // namespace GPI_SPACE
