/* SPDX-License-Identifier: MIT */
/* Shapes of the reduce kernels that do not change results; the tiles are in reduce_internal.h. */
#pragma once

#include "device/gpu.cuh"

namespace GPI_SPACE
{

struct ReduceTuning {
    int least_sm, shared_bytes;
    int blocks_per_sm; /* of 256 threads with 4 vectors each in flight */

    /* Bytes of input below which the L1 does not keep what is read. */
    uint64_t pass_below_bytes, sums_pass_from_bytes; /* the second of float sums alone */
};

/* H200: reduce-01, reduce-10 and reduce-12 in docs/tuning. */
constexpr ReduceTuning reduce_rows[] = {{75, 0, 4, 384 << 20, 8 << 20}};
constexpr ReduceTuning reduce_tuning = row_for(reduce_rows);

} // namespace GPI_SPACE
