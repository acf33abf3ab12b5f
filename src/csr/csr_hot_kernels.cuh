/* SPDX-License-Identifier: MIT */
/*
 * SpMV by a plan whose matrix has hot columns: few that many entries have, as graphs do. The L2
 * gives out a value of x for each entry, however often it has done so, and that bounds all products
 * whose columns are anywhere. So a block keeps x of the hot columns in shared memory, as many as
 * fit it, and goes through many tiles:
 *
 *     spmv_pack_k    x of the hot columns, one behind the other
 *     spmv_hot_k     the tiles, by as many blocks as run at once
 */
#pragma once

#include "csr/csr_plan_kernels.cuh"

namespace GPI_SPACE
{

/* One block of a multiprocessor, with registers for all of its threads. */
template <class V> constexpr int spmv_hot_threads = sizeof(V) == 8 ? 640 : 1024;
template <class V>
constexpr int
    spmv_hot_bytes = SpmvHotX<V>::owned * sizeof(V) + spmv_hot_threads<V> / 32 *
                                                          sizeof(SpmvChunk<typename SpmvSum<V>::A>);

/* ---- which columns ---- */

/* columns[k] are those that k entries of the sample have; grid: any. */
static __global__ __launch_bounds__(csr_tuning.threads) void spmv_hot_bins_k(gpi_csr_hot hot,
                                                                             uint64_t num_cols)
{
    __shared__ uint32_t s_bins[GPI_CSR_HOT_BINS];
    for (uint32_t i = threadIdx.x; i < GPI_CSR_HOT_BINS; i += csr_tuning.threads)
        s_bins[i] = 0;
    __syncthreads();
    const uint64_t stride = (uint64_t)gridDim.x * csr_tuning.threads;
    for (uint64_t c = (uint64_t)blockIdx.x * csr_tuning.threads + threadIdx.x; c < num_cols;
         c += stride)
        if (const uint32_t n = hot.place[c])
            atomicAdd(s_bins + min(n, (uint32_t)GPI_CSR_HOT_BINS - 1), 1u);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < GPI_CSR_HOT_BINS; i += csr_tuning.threads)
        if (s_bins[i])
            atomicAdd(hot.bins + i, s_bins[i]);
}

/* How many entries a column has at least that is among the first GPI_CSR_HOT_F64, and among all,
 * and whether these are worth it; one thread. */
static __global__ void spmv_hot_limits_k(gpi_csr_hot hot, gpi_csr_plan *plan, uint64_t sample)
{
    uint32_t columns = 0, at = GPI_CSR_HOT_BINS;
    uint64_t entries = 0;
    plan->hot_first[0] = 0;
    for (int group = 0; group < 2; group++) {
        const uint32_t most = group ? GPI_CSR_HOT : GPI_CSR_HOT_F64;
        while (at > 1 && columns + hot.bins[at - 1] <= most) {
            at--;
            columns += hot.bins[at];
            entries += (uint64_t)hot.bins[at] * at;
        }
        plan->hot_limits[group] = at;
        if (group == 0)
            plan->hot_first[1] = columns;
    }
    const bool is_worth = entries * GPI_CSR_HOT_SHARE >= sample;
    plan->hot = is_worth && !spmv_near_is_worth(plan) ? columns : 0;
}

/* The places of the hot columns, in any order within their group; grid: any. */
static __global__ __launch_bounds__(csr_tuning.threads) void spmv_hot_places_k(gpi_csr_hot hot,
                                                                               uint64_t num_cols,
                                                                               gpi_csr_plan *plan)
{
    const uint64_t stride = (uint64_t)gridDim.x * csr_tuning.threads;
    if (!plan->hot)
        return;
    const uint32_t limits[] = {plan->hot_limits[0], plan->hot_limits[1]};
    for (uint64_t c = (uint64_t)blockIdx.x * csr_tuning.threads + threadIdx.x; c < num_cols;
         c += stride) {
        const uint32_t n = min(hot.place[c], (uint32_t)GPI_CSR_HOT_BINS - 1);
        uint32_t place = (uint32_t)c;
        if (n >= limits[1]) {
            const uint32_t at = atomicAdd(plan->hot_first + (n < limits[0]), 1u);
            hot.columns[at] = (uint32_t)c;
            place = at | GPI_CSR_HOT_BIT;
        }
        hot.place[c] = place;
    }
}

/* ---- the product ---- */

/* Grid: a thread for each of GPI_CSR_HOT. After: next_tile is 0, too. */
template <class V>
__global__ __launch_bounds__(csr_tuning.threads) void spmv_pack_k(gpi_csr_hot hot,
                                                                  gpi_csr_plan *plan, const V *x)
{
    const uint32_t i = blockIdx.x * csr_tuning.threads + threadIdx.x;
    grid_release();
    if (i == 0)
        plan->next_tile = 0;
    if (i < plan->hot)
        ((V *)hot.x)[i] = load_kept(x + hot.columns[i]);
}

/* Grid: as many blocks as run at once; a warp takes one tile after the other. Shared: x of the
 * first hot columns, and a SpmvChunk per warp. After: y, if the plan has hot columns. */
template <class V>
__global__ __launch_bounds__(spmv_hot_threads<V>,
                             1) void spmv_hot_k(const __grid_constant__ SpmvTiles a,
                                                const __grid_constant__ gpi_csr_hot hot,
                                                gpi_csr_plan *plan,
                                                const __grid_constant__ SpmvVectors<V> v)
{
    using Chunk = SpmvChunk<typename SpmvSum<V>::A>;
    extern __shared__ __align__(16) char s_memory[];
    V *const s_x = (V *)s_memory;
    Chunk *const s_chunk =
        (Chunk *)(s_memory + SpmvHotX<V>::owned * sizeof(V)) + warp_max(threadIdx.x / 32);
    grid_release();
    const uint32_t n = min(plan->hot, SpmvHotX<V>::owned);
    if (n == 0)
        return;
    grid_wait();
    for (uint32_t i = threadIdx.x; i * 16 < n * sizeof(V); i += spmv_hot_threads<V>)
        ((uint4 *)s_x)[i] = ((const uint4 *)hot.x)[i];
    __syncthreads();
    const NearColumns<uint32_t> none = {};
    const gpi_csr_start all = a.end();
    auto take = [=] { return lane_id() == 0 ? atomicAdd(&plan->next_tile, 1u) : 0; };
    uint32_t tile = warp_max(take());
    while ((uint64_t)tile * a.units < all.row + all.entry) {
        const uint32_t next = take();
        SpmvShare share(a, SpmvBounds::known(a, tile, all), all);
        if (share.is_there) {
            share.make_uniform();
            spmv_tile<SPMV_HOT, uint32_t, V>(a, v, tile, share, *s_chunk, hot.cols, none, false,
                                             {s_x, (const V *)hot.x}, {});
        }
        __syncwarp();
        tile = warp_max(next);
    }
}

} // namespace GPI_SPACE
