/* SPDX-License-Identifier: MIT */
/* What a plan of SpMV keeps of the columns, and the number that tells patterns apart. */
#pragma once

#include "csr/csr_spmv_kernels.cuh"

namespace GPI_SPACE
{

/* Blocks for a loop over n items with the stride of the grid. */
inline uint32_t plan_grid(const gp_context *ctx, uint64_t n)
{
    const uint64_t blocks = (n + csr_tuning.threads - 1) / csr_tuning.threads;
    const uint64_t most = (uint64_t)ctx->sm_count * 8;
    return (uint32_t)(blocks < most ? blocks : most);
}

/* A warp per 32 entries: the least column and 16 bits above it for each, or that one is too far.
 * Grid: any. far_blocks of the plan is 0 before. */
template <class I>
__global__ __launch_bounds__(csr_tuning.threads) void spmv_near_k(const I *cols, uint64_t nnz,
                                                                  I *least, uint16_t *above,
                                                                  gpi_csr_plan *plan)
{
    constexpr uint64_t T = csr_tuning.threads;
    uint32_t count = 0;
    for (uint64_t first = blockIdx.x * T; first < nnz; first += gridDim.x * T) {
        const uint64_t i = first + threadIdx.x;
        const bool inside = i < nnz;
        const I col = inside ? cols[i] : 0;
        const I low = warp_fold(inside ? col : (I) ~(I)0, [](I a, I b) { return a < b ? a : b; });
        const I high = warp_fold(col, [](I a, I b) { return a > b ? a : b; });
        const bool far = (I)(high - low) > 0xffff || low == (I) ~(I)0;
        if (inside)
            above[i] = (uint16_t)(col - low);
        if (inside && lane_id() == 0)
            least[i / GPI_CSR_NEAR] = far ? (I) ~(I)0 : low;
        count += inside && far;
    }
    if (lane_id() == 0 && count)
        atomicAdd((unsigned long long *)&plan->far_blocks, (unsigned long long)count);
}

/* counts[c] = how many of a sample of that many entries are of column c; 0 before. Passes over what
 * a transpose of bad columns left. Grid: any. */
template <class I>
__global__
__launch_bounds__(csr_tuning.threads) void spmv_sample_k(const I *cols, uint64_t nnz,
                                                         uint64_t sample, uint64_t num_cols,
                                                         uint32_t *counts, const gpi_csr_plan *plan)
{
    const uint64_t step = nnz / sample;
    if (spmv_near_is_worth(plan))
        return;
    for (uint32_t i = blockIdx.x * csr_tuning.threads + threadIdx.x; i < sample;
         i += gridDim.x * csr_tuning.threads) {
        const I col = cols[i * step + i * 0x9E3779B9u % step]; /* no stride of rows */
        if (col < num_cols)
            atomicAdd(counts + col, 1u);
    }
}

/* The columns of entries as gpi_csr_hot has them; grid: any. */
template <class I>
__global__ __launch_bounds__(csr_tuning.threads) void spmv_recode_k(const I *cols, uint64_t nnz,
                                                                    uint64_t num_cols,
                                                                    gpi_csr_hot hot,
                                                                    const gpi_csr_plan *plan)
{
    const uint64_t stride = (uint64_t)gridDim.x * csr_tuning.threads;
    if (!plan->hot)
        return;
    for (uint64_t i = (uint64_t)blockIdx.x * csr_tuning.threads + threadIdx.x; i < nnz; i += stride)
        hot.cols[i] = cols[i] < num_cols ? hot.place[cols[i]] : 0;
}

/* A sum that is the same whichever thread adds first. */
GPI_DEVICE uint64_t pattern_hash(uint64_t i, uint64_t value)
{
    uint64_t h = (i + 1) * 0x9E3779B97F4A7C15ull ^ (value + 0x7F4A7C15ull) * 0xD6E8FEB86659FD93ull;
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93ull;
    return h ^ h >> 32;
}

/* *sum += the hash of the row pointers and columns; grid: any. */
template <class I>
__global__ __launch_bounds__(csr_tuning.threads) void spmv_pattern_k(SpmvTiles a, const I *cols,
                                                                     uint64_t *sum)
{
    const uint64_t first = (uint64_t)blockIdx.x * csr_tuning.threads + threadIdx.x;
    const uint64_t stride = (uint64_t)gridDim.x * csr_tuning.threads;
    uint64_t hash = 0;
    for (uint64_t i = first; i <= a.num_rows; i += stride)
        hash += pattern_hash(i, a.pointer(i));
    for (uint64_t i = first; i < a.nnz; i += stride)
        hash += pattern_hash(i + ((uint64_t)1 << 41), cols[i]);
    hash = warp_fold(hash, [](uint64_t a, uint64_t b) { return a + b; });
    if (lane_id() == 0)
        atomicAdd((unsigned long long *)sum, (unsigned long long)hash);
}

/* *differs = whether the plan is of another pattern; one thread. sum: of this one. */
static __global__ void spmv_differs_k(const gpi_csr_plan *plan, const uint64_t *sum,
                                      gpi_csr_plan want, uint32_t *differs)
{
    *differs = plan->pattern != *sum || plan->num_rows != want.num_rows ||
               plan->num_cols != want.num_cols || plan->nnz != want.nnz ||
               ((plan->widths ^ want.widths) & ~want.ignored) != 0;
}

/* The plan's first words; one thread. */
static __global__ void spmv_header_k(gpi_csr_plan *plan, gpi_csr_plan given)
{
    *plan = given;
}

} // namespace GPI_SPACE
