/* SPDX-License-Identifier: MIT */
/* Shape of the kernel that checks contents. */
#pragma once

#include "device/gpu.cuh"

namespace GPI_SPACE
{

struct ValidateTuning {
    int least_sm, shared_bytes;
    int threads, blocks_per_sm;
};

/* By count and not by measurement. */
constexpr ValidateTuning validate_rows[] = {{75, 0, 256, 16}};
constexpr ValidateTuning validate_tuning = row_for(validate_rows);

} // namespace GPI_SPACE
