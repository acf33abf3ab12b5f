/* SPDX-License-Identifier: MIT */
/* Shapes of the histogram kernels. A row needs its provenance: GPU, date, measured ratio. */
#pragma once

#include "device/gpu.cuh"

namespace GPI_SPACE
{

struct HistogramTuning {
    int least_sm, shared_bytes; /* tables take what the device has */
    int threads;                /* of the one block of a multiprocessor */
    int vectors;                /* 16-byte loads in flight per thread, and as many in use */
};

/* H200, 2026-11-20; the suite histogram of bench/results/nvidia-h200/0.1.0.csv. */
constexpr HistogramTuning histogram_rows[] = {{75, 0, 1024, 4}};
constexpr HistogramTuning histogram_tuning = row_for(histogram_rows);

} // namespace GPI_SPACE
