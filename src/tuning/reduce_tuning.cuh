/* SPDX-License-Identifier: MIT */
/* Shapes of the reduce kernels that do not change results; the tiles are in reduce_internal.h. */
#pragma once

#include "device/space.cuh"

namespace GPI_SPACE
{

/* Blocks per multiprocessor: of 256 threads with 4 vectors each in flight. */
constexpr int reduce_blocks_per_sm = 4;

} // namespace GPI_SPACE
