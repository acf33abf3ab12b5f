/* SPDX-License-Identifier: MIT */
/* Shapes of the reduce kernels that do not change results; the tiles are in reduce_internal.h. */
#pragma once

#include "device/gpu.cuh"

namespace GPI_SPACE
{

struct ReduceTuning {
    int least_sm, shared_bytes;
    int blocks_per_sm; /* of 256 threads with 4 vectors each in flight */
};

/* H200, 2026-11-21: reduce-01 in docs/tuning. */
constexpr ReduceTuning reduce_rows[] = {{75, 0, 4}};
constexpr ReduceTuning reduce_tuning = row_for(reduce_rows);

} // namespace GPI_SPACE
