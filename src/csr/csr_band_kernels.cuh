/* SPDX-License-Identifier: MIT */
/*
 * SpMV of f64 by a plan whose columns are spread over more of x than a multiprocessor finds in the
 * L2: the half that is next to it holds copies of what is read, and x of more than that comes from
 * memory, a sector for each entry. Then entries are read several times instead, and x of one band
 * of the columns at a time:
 *
 *     spmv_spread_k    of a plan: how many sectors of x a sample of entries finds
 *     spmv_tiles_k     the product of the first band
 *     spmv_band_k      that of another one, which is added
 *
 * Where few columns have many entries the L2 has these, and there is one product, of all columns.
 */
#pragma once

#include "csr/csr_plan_kernels.cuh"

namespace GPI_SPACE
{

/* How many bands there are, if columns are spread and no hot ones are looked for. Rows are short
 * where y, of which each band reads and writes all, is much of what there is to read. */
inline uint32_t spmv_bands(const gpi_csr_spmv *s)
{
    const uint64_t bytes = s->a.num_cols * sizeof(double), each = csr_tuning.band_bytes;
    const uint64_t bands = each ? (bytes + each - 1) / each : 1;
    const bool may = s->plan && !s->hot.cols && gpi_csr_sectors(s->a.num_cols, s->a.nnz);
    const bool are_short = s->a.nnz / 8 < s->a.num_rows;
    return may && !are_short && bands <= csr_tuning.bands ? (uint32_t)bands : 1;
}

/* spread_left falls by the sectors that a sample of entries finds. bits are 0 before. Grid: any. */
template <class I>
__global__ __launch_bounds__(csr_tuning.threads) void spmv_spread_k(const I *cols, uint64_t nnz,
                                                                    uint64_t num_cols,
                                                                    uint64_t sample, uint32_t *bits,
                                                                    gpi_csr_plan *plan)
{
    const uint64_t step = nnz / sample, stride = (uint64_t)gridDim.x * csr_tuning.threads;
    uint32_t found = 0;
    if (spmv_near_is_worth(plan))
        return;
    for (uint64_t i = (uint64_t)blockIdx.x * csr_tuning.threads + threadIdx.x; i < sample;
         i += stride) {
        const I col = cols[i * step + (uint32_t)i * 0x9E3779B9u % step]; /* no stride of rows */
        const uint64_t sector = col / GPI_CSR_SECTOR;
        const uint32_t bit = 1u << sector % 32;
        if (col < num_cols)
            found += !(atomicOr(bits + sector / 32, bit) & bit);
    }
    __syncwarp();
    found = warp_sum(found);
    if (lane_id() == 0)
        atomicAdd((unsigned long long *)&plan->spread_left, -(unsigned long long)found);
}

/* Grid: as many blocks as run at once; warps take tiles with the stride of the grid, as each has
 * about the same work. Shared: a SpmvChunk per warp. v: of which beta is 1. After: y, to which the
 * product of the band is added, if columns are spread. */
template <class I>
__global__ __launch_bounds__(spmv_threads, spmv_blocks<double>) void spmv_band_k(
    const __grid_constant__ SpmvTiles a, const I *cols, const __grid_constant__ NearColumns<I> near,
    const __grid_constant__ SpmvVectors<double> v)
{
    __shared__ SpmvChunk<double> s_chunks[spmv_threads / 32];
    const uint32_t warp = warp_max(threadIdx.x / 32);
    const gpi_csr_start all = a.end();
    grid_wait();
    if (spmv_worth(near.plan) || !spmv_has_bands(near))
        return;
    for (uint32_t tile = blockIdx.x * (spmv_threads / 32) + warp;
         (uint64_t)tile * a.units < all.row + all.entry; tile += gridDim.x * (spmv_threads / 32)) {
        SpmvShare share(a, SpmvBounds::known(a, tile, all), all);
        if (share.is_there) {
            share.make_uniform();
            spmv_tile<SPMV_FAR, I, double>(a, v, tile, share, s_chunks[warp], cols, near, false, {},
                                           near.band);
        }
        __syncwarp();
    }
}

} // namespace GPI_SPACE
