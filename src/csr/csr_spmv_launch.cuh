/* SPDX-License-Identifier: MIT */
/* What the launchers of SpMV and SpMM share. */
#pragma once

#include "csr/csr_spmv_starts.cuh"
#include "device/host.cuh"

namespace GPI_SPACE
{

/* Rows whose pointers are read twice, rather than searched. */
constexpr uint64_t spmv_few_rows = 1 << 21;

template <class O> SpmvTiles<O> spmv_tiles_of(const gpi_csr_spmv *s)
{
    return {(const O *)s->a.row_pointers,
            s->a.num_rows,
            s->a.nnz,
            s->device_num_rows,
            s->device_nnz,
            s->starts,
            s->left,
            (uint32_t)s->tiles,
            s->tile_log};
}

/* Blocks of a warp per tile. */
template <int WARPS> uint32_t spmv_blocks_of(const gpi_csr_spmv *s)
{
    constexpr uint64_t most = 2 * GPI_MAX_N >> GPI_CSR_TILE_LOG_MAX; /* of rows and entries */
    return blocks_for<WARPS, most>(s->tiles);
}

template <class O> gpi_launch spmv_starts_of(const gpi_csr_spmv *s, const SpmvTiles<O> &tiles)
{
    const bool few = s->a.num_rows <= spmv_few_rows;
    const uint32_t blocks = few ? blocks_for<csr_tuning.threads, spmv_few_rows>(s->a.num_rows)
                                : spmv_blocks_of<csr_tuning.threads>(s);
    return launch_of(few ? spmv_scatter_k<O> : spmv_search_k<O>, blocks, csr_tuning.threads, 0,
                     tiles);
}

} // namespace GPI_SPACE
