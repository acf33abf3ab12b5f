/* SPDX-License-Identifier: MIT */
/* What the launchers of SpMV and SpMM share. */
#pragma once

#include "csr/csr_spmv_starts.cuh"
#include "device/host.cuh"

#define GPI_CSR_PARTS GPI_LAUNCHER(gpi_csr_parts)
extern "C" const gpi_csr_part_ops GPI_CSR_PARTS;

namespace GPI_SPACE
{

inline uint32_t spmv_next_call()
{
    static uint32_t calls;
    return __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) % spmv_calls;
}

/* Tiles that search for their own beginning: those that run at once, if the kernel that finds the
 * others' does not make them wait. */
inline uint32_t spmv_early_of(const gpi_csr_spmv *s, bool has_starts)
{
    if (has_starts || (s->starts && GPI_SM < 90) || s->a.num_rows + s->a.nnz > UINT32_MAX)
        return 0;
    return (uint32_t)gpi_csr_tiles_wanted(s->dtype);
}

/* has_starts: nothing is to look for them. */
inline SpmvTiles spmv_tiles_of(const gpi_csr_spmv *s, bool has_starts)
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
            s->starts ? 0 : spmv_next_call(),
            spmv_early_of(s, has_starts)};
}

/* Blocks of a warp per tile. */
template <int WARPS> uint32_t spmv_blocks_of(const gpi_csr_spmv *s)
{
    constexpr uint64_t most = 2 * GPI_MAX_N / GPI_CSR_LARGE_TILE; /* of rows and entries */
    return blocks_for<WARPS, most>(s->tiles);
}

inline gpi_launch spmv_starts_of(const gpi_csr_spmv *s, const SpmvTiles &tiles)
{
    return {GPI_CSR_PARTS.starts[s->pointer_bytes == 8],
            {(void *)&tiles},
            spmv_blocks_of<csr_tuning.threads>(s),
            (unsigned)csr_tuning.threads,
            0,
            false,
            false};
}

} // namespace GPI_SPACE
