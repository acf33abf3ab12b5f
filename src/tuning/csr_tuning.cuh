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
    int row_steps;          /* of 16 bytes of rows of 4 bytes, per thread; half of rows of 8 */
    uint64_t pointer_block; /* the most row pointers that a warp writes for its entries */
    uint32_t count_chunks;  /* chunks of rows that a warp counts, at most */
    int spmv_threads;       /* a warp per tile */
    int spmv_blocks;        /* per multiprocessor, for which registers are to suffice; of f64: */
    int spmv_f64_blocks;
    int spmm_threads;        /* the same of SpMM */
    uint32_t blocks_counted; /* per multiprocessor, where the number of tiles is on the device */
    /* bytes of x that a multiprocessor finds in the L2; 0: no bands, of which there are at most */
    uint64_t band_bytes;
    uint32_t bands;
};

/* By count and not by measurement; row pointers: csr-04, SpMV: spmv-03, spmv-11 in docs/tuning. */
constexpr CsrTuning csr_rows[] = {
    {75, 0, 256, 4, 4, 16384, 16, 128, 9, 6, 128, 32, 0, 1},
    /* bands: H100, 2026-11-27, 0.62 to 0.97 of the time; spmv-52 */
    {90, 0, 256, 4, 4, 16384, 16, 128, 9, 6, 128, 32, 27 << 20, 4},
};
constexpr CsrTuning csr_tuning = row_for(csr_rows);

} // namespace GPI_SPACE
