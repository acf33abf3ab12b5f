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

/* Of 32 columns, a lane each: the least one, what each is above it, and whether one is too far. */
template <class I> struct NearBlock {
    I low;
    uint16_t above;
    bool far;

    GPI_DEVICE NearBlock(I col, bool inside)
    {
        low = warp_fold(inside ? col : (I) ~(I)0, [](I a, I b) { return a < b ? a : b; });
        const I high = warp_fold(inside ? col : 0, [](I a, I b) { return a > b ? a : b; });
        far = (I)(high - low) > 0xffff || low == (I) ~(I)0;
        above = inside ? (uint16_t)(col - low) : 0;
    }

    /* Not 0. */
    GPI_DEVICE uint64_t hash() const
    {
        const uint64_t own = ((uint64_t)above + 1) * (2 * lane_id() + 0x9E3779B97F4A7C15ull);
        const uint64_t mixed = (own ^ own >> 29) * 0xD6E8FEB86659FD93ull;
        return warp_fold(mixed ^ mixed >> 32, [](uint64_t a, uint64_t b) { return a + b; }) | 1;
    }
};

/* The shapes of a plan, and which one 32 entries have. */
struct SpmvShapes {
    uint16_t *above, *own, *table;
    uint64_t *hashes;
    uint32_t count; /* 0: there is no table */

    /* The place of a hash, which becomes its own if it is free; is_new: it was. None if the first
     * ones are taken: what is no longer 0 stays, so old copies of it are as good. */
    GPI_DEVICE uint32_t place(uint64_t hash, bool &is_new) const
    {
#pragma unroll 1
        for (uint32_t i = 0; i < GPI_CSR_SHAPE_TRIES; i++) {
            const uint32_t at = ((uint32_t)(hash >> 32) + i) & (count - 1);
            uint64_t there = hashes[at];
            if (there == 0)
                there = atomicCAS((unsigned long long *)hashes + at, 0ull, hash);
            is_new = there == 0;
            if (is_new || there == hash)
                return at;
        }
        return GPI_CSR_NO_SHAPE;
    }

    /* Of block `number`, by a warp. */
    template <class I> GPI_DEVICE void take(uint64_t number, const NearBlock<I> &block) const
    {
        const uint64_t hash = block.hash();
        bool is_new = false;
        uint32_t at = GPI_CSR_NO_SHAPE;
        if (lane_id() == 0 && !block.far)
            at = place(hash, is_new);
        if (lane_id() == 0)
            own[number] = (uint16_t)at;
        at = shuffle(at, 0);
        if (__any_sync(all_lanes, is_new))
            table[at * GPI_CSR_NEAR + lane_id()] = block.above;
    }
};

/* A warp per 32 entries: the least column and 16 bits above it for each, or that one is too far,
 * and their shape. Grid: any. The table's hashes are 0 before; far_left of the plan falls. */
template <class I>
__global__ __launch_bounds__(csr_tuning.threads) void spmv_near_k(const I *cols, uint64_t nnz,
                                                                  I *least, SpmvShapes shapes,
                                                                  gpi_csr_plan *plan)
{
    constexpr uint64_t T = csr_tuning.threads;
    uint32_t count = 0;
    for (uint64_t first = blockIdx.x * T; first < nnz; first += gridDim.x * T) {
        const uint64_t i = first + threadIdx.x;
        const bool inside = i < nnz;
        const NearBlock<I> block(inside ? cols[i] : 0, inside);
        if (inside)
            shapes.above[i] = block.above;
        if (inside && lane_id() == 0)
            least[i / GPI_CSR_NEAR] = block.far ? (I) ~(I)0 : block.low;
        if (shapes.count && i - lane_id() < nnz)
            shapes.take(i / GPI_CSR_NEAR, block);
        count += inside && block.far;
    }
    if (lane_id() == 0 && count)
        atomicAdd((unsigned long long *)&plan->far_left, -(unsigned long long)count);
}

/* Of blocks whose shape is not that of the table, as two have one hash, or none: no shape, and
 * other_left of the plan falls by them. Grid: any. */
static __global__ __launch_bounds__(csr_tuning.threads) void spmv_shapes_k(uint64_t nnz,
                                                                           SpmvShapes shapes,
                                                                           gpi_csr_plan *plan)
{
    constexpr uint64_t T = csr_tuning.threads;
    uint32_t count = 0;
    for (uint64_t first = blockIdx.x * T; first < nnz; first += gridDim.x * T) {
        const uint64_t i = first + threadIdx.x;
        const bool inside = i < nnz;
        const uint32_t own = i - lane_id() < nnz ? shapes.own[i / GPI_CSR_NEAR] : 0;
        bool differs = own == GPI_CSR_NO_SHAPE;
        if (inside && !differs)
            differs = shapes.table[own * GPI_CSR_NEAR + lane_id()] != shapes.above[i];
        if (__any_sync(all_lanes, differs)) {
            if (lane_id() == 0)
                shapes.own[i / GPI_CSR_NEAR] = GPI_CSR_NO_SHAPE;
            count++;
        }
    }
    if (lane_id() == 0 && count)
        atomicAdd((unsigned long long *)&plan->other_left, -(unsigned long long)count);
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
