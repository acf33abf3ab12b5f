/* SPDX-License-Identifier: MIT */
/* Shapes of the multisplit kernels. A row needs its provenance: GPU, date, measured ratio. */
#pragma once

#include "device/gpu.cuh"

namespace GPI_SPACE
{

struct MultisplitTuning {
    int least_sm, shared_bytes; /* of the blocks that share a multiprocessor */
};

/* By what the architectures have, and not by measurement. */
constexpr MultisplitTuning multisplit_rows[] = {
    {75, 63 * 1024}, {80, 98 * 1024}, {80, 162 * 1024}, {90, 226 * 1024}};
constexpr MultisplitTuning multisplit_tuning = row_for(multisplit_rows);

} // namespace GPI_SPACE
