/* SPDX-License-Identifier: MIT */
/* What the launchers of SpMV and SpMM share. */
#pragma once

#include "csr/csr_spmv_starts.cuh"
#include "device/host.cuh"

#define GPI_CSR_PARTS GPI_LAUNCHER(gpi_csr_parts)
extern "C" const gpi_csr_part_ops GPI_CSR_PARTS;

namespace GPI_SPACE
{

/* Rows whose pointers are read twice, rather than searched. */
constexpr uint64_t spmv_few_rows = 1 << 21;

inline uint32_t spmv_next_call()
{
    static uint32_t calls;
    return __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) % spmv_calls;
}

inline SpmvTiles spmv_tiles_of(const gpi_csr_spmv *s)
{
    return {(const char *)s->a.row_pointers,
            (uint32_t)s->pointer_bytes,
            (uint32_t)s->tiles,
            s->a.num_rows,
            s->a.nnz,
            s->device_num_rows,
            s->device_nnz,
            s->starts,
            s->left,
            UINT64_MAX / s->tile_units + 1,
            s->tile_units,
            GPI_CSR_LONG_TILES * (s->tile_units > GPI_CSR_CHUNK ? s->tile_units : GPI_CSR_CHUNK),
            s->starts ? 0 : spmv_next_call()};
}

/* Blocks of a warp per tile. */
template <int WARPS> uint32_t spmv_blocks_of(const gpi_csr_spmv *s)
{
    constexpr uint64_t most = 2 * GPI_MAX_N / GPI_CSR_LARGE_TILE; /* of rows and entries */
    return blocks_for<WARPS, most>(s->tiles);
}

inline gpi_launch spmv_starts_of(const gpi_csr_spmv *s, const SpmvTiles &tiles)
{
    const bool few = s->a.num_rows <= spmv_few_rows;
    const uint32_t blocks = few ? blocks_for<csr_tuning.threads, spmv_few_rows>(s->a.num_rows)
                                : spmv_blocks_of<csr_tuning.threads>(s);
    return {GPI_CSR_PARTS.starts[s->pointer_bytes == 8][few],
            {(void *)&tiles},
            blocks,
            (unsigned)csr_tuning.threads,
            0,
            false,
            false};
}

} // namespace GPI_SPACE
