/* SPDX-License-Identifier: MIT */
/* The grid of kernels that treat items one by one. A row needs its provenance: GPU, date,
 * measured ratio. */
#pragma once

#include "device/gpu.cuh"

namespace GPI_SPACE
{

struct ElementwiseTuning {
    int least_sm, shared_bytes;
    int blocks_per_sm;
    int blocks_counted; /* where the number of items is on the device: what fits */
};

/* By count and not by measurement. */
constexpr ElementwiseTuning elementwise_rows[] = {{75, 0, 32, 8}};
constexpr ElementwiseTuning elementwise_tuning = row_for(elementwise_rows);

} // namespace GPI_SPACE
