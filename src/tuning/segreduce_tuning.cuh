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

struct SegreduceShape {
    int teams;                   /* that take tiles in turn */
    SegreduceRoles sums, places; /* results of places take longer to store; as many warps in all */
    int slices;                  /* of a tile, each of which a warp folds: about 2 KB of items */
    int rounds;                  /* tiles between the first mark and the last store */
};

struct SegreduceTuning {
    int least_sm, shared_bytes;
    int load_warps;
    int stages_max;                  /* tiles on their way or in use */
    SegreduceShape two_four, others; /* items of 2 and 4 bytes, and of other sizes */
};

constexpr SegreduceShape segreduce_99kb = {2, {3, 5, 2}, {3, 4, 3}, 5, 2};
constexpr SegreduceShape segreduce_turing = {2, {2, 3, 2}, {2, 2, 3}, 3, 2};
constexpr SegreduceShape segreduce_ampere = {2, {4, 6, 2}, {3, 5, 4}, 8, 2};

/* H200 and H100: segreduce-10 and segreduce-15 in docs/tuning; the others by count. */
constexpr SegreduceTuning segreduce_rows[] = {
    {75, 62 * 1024, 4, 8, segreduce_turing, segreduce_turing},
    {80, 98 * 1024, loader_warps(4), 8, segreduce_99kb, segreduce_99kb},
    {80, 160 * 1024, loader_warps(4), 10, segreduce_ampere, segreduce_ampere},
    {90,
     222 * 1024,
     loader_warps(4),
     10,
     {1, {8, 12, 4}, {4, 12, 8}, 12, 3},
     {2, {4, 6, 2}, {3, 5, 4}, 8, 4}},
};
constexpr SegreduceTuning segreduce_tuning = row_for(segreduce_rows);

template <class Fold>
constexpr SegreduceShape segreduce_shape = sizeof(typename Fold::T) == 2 ||
                                                   sizeof(typename Fold::T) == 4
                                               ? segreduce_tuning.two_four
                                               : segreduce_tuning.others;

} // namespace GPI_SPACE
