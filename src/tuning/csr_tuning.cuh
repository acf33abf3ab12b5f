/* SPDX-License-Identifier: MIT */
/* Shapes of the sparse-matrix kernels. A row needs its provenance: GPU, date, measured ratio. */
#pragma once

#include <cstdint>

#include "device/gpu.cuh"

namespace GPI_SPACE
{

struct CsrTuning {
    int least_sm, shared_bytes;
    int threads, items;     /* of a tile of entries, per thread */
    uint64_t pointer_block; /* row pointers of a row without entries that a warp fills */
    int spmv_threads;       /* a warp per tile */
    int spmv_blocks;        /* per multiprocessor, for which registers are to suffice; of f64: */
    int spmv_f64_blocks, spmv_f64_plan_blocks;
    uint32_t blocks_counted; /* per multiprocessor, where the number of tiles is on the device */
};

/* By count and not by measurement; those of SpMV: spmv-03 and spmv-09 in docs/tuning. */
constexpr CsrTuning csr_rows[] = {{75, 0, 256, 4, 1024, 128, 8, 6, 7, 32}};
constexpr CsrTuning csr_tuning = row_for(csr_rows);

} // namespace GPI_SPACE
