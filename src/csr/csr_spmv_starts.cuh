/* SPDX-License-Identifier: MIT */
/* Where the tiles of SpMV begin on the merge of row ends and entries. */
#pragma once

#include "csr/csr_internal.h"
#include "device/grid.cuh"
#include "device/item_count.cuh"
#include "device/search.cuh"
#include "tuning/csr_tuning.cuh"

namespace GPI_SPACE
{

/* The matrix without its entries, and its tiles. */
template <class O> struct SpmvTiles {
    const O *pointers;
    uint64_t num_rows, nnz;
    const uint64_t *device_num_rows, *device_nnz; /* NULL, or those are bounds */
    gpi_csr_start *starts;
    uint32_t *left; /* of pieces, and later of groups of pieces */
    uint32_t tiles;
    int log; /* a tile has 2^log units */

    /* As they are in memory: the end of the merge. */
    GPI_DEVICE gpi_csr_start end() const
    {
        const uint64_t rows = item_count(ItemCount{num_rows, device_num_rows});
        return {rows ? item_count(ItemCount{nnz, device_nnz}) : 0, rows};
    }

    GPI_DEVICE bool is_long(uint64_t entries) const
    {
        return entries >> log >= GPI_CSR_LONG_TILES;
    }

    /* The tiles that begin at these units or between. */
    GPI_DEVICE uint64_t first(uint64_t unit) const
    {
        return (unit + (((uint64_t)1 << log) - 1)) >> log;
    }
    GPI_DEVICE uint64_t last(uint64_t unit) const
    {
        return min(unit >> log, (uint64_t)tiles - 1);
    }

    /* Where the part of a tile in a long row begins: behind the row's begin at a multiple of 32,
     * as the chunks of a tile do. */
    GPI_DEVICE uint64_t part(uint64_t tile, uint64_t row, uint64_t begin, uint64_t end) const
    {
        const uint64_t entry = (tile << log) - row;
        return entry == begin ? begin : min((entry + 31) & ~(uint64_t)31, end);
    }

    /* Of a tile that begins with row, or in it. */
    GPI_DEVICE gpi_csr_start start(uint64_t tile, uint64_t row, const gpi_csr_start &all) const
    {
        if (row == all.row)
            return all;
        const O begin = __ldg(pointers + row), end = __ldg(pointers + row + 1);
        const bool shared = is_long((O)(end - begin));
        return {shared ? part(tile, row, begin, end) : (uint64_t)begin, row};
    }
};

/*
 * Row ends before unit d, by one thread; high is at most d. Rounds of 8 probes that do not wait for
 * each other, the first around the place where it would be if all rows had the same length.
 */
template <class O>
GPI_DEVICE uint64_t spmv_search(const O *pointers, uint64_t low, uint64_t high, uint64_t d,
                                uint64_t guess)
{
    constexpr int P = 8;
    uint64_t step = (high - low) / 2048 + 1;
    uint64_t base = guess > low + P / 2 * step ? guess - P / 2 * step : low;
    while (low < high) {
        uint32_t passed = 0;
#pragma unroll
        for (int j = 0; j < P; j++) {
            const uint64_t probe = base + (j + 1) * step - 1;
            passed += probe < high && passes_before(pointers, (O)0, probe, d);
        }
        if (passed)
            low = base + passed * step;
        if (passed < P)
            high = min(high, base + (passed + 1) * step - 1);
        base = low = min(low, high);
        step = (high - low + P) / (P + 1);
    }
    return low;
}

/* The same by a warp, whose lanes probe one place each. */
template <class O>
GPI_DEVICE uint64_t spmv_search_warp(const O *pointers, uint64_t low, uint64_t high, uint64_t d,
                                     uint64_t guess)
{
    uint64_t step = (high - low) / 8192 + 1;
    uint64_t base = guess > low + 16 * step ? guess - 16 * step : low;
    while (low < high) {
        const uint64_t probe = base + (lane_id() + 1) * step - 1;
        const bool pass = probe < high && passes_before(pointers, (O)0, probe, d);
        const uint32_t passed = __popc(__ballot_sync(all_lanes, pass));
        if (passed)
            low = base + passed * step;
        if (passed < 32)
            high = min(high, base + (passed + 1) * step - 1);
        base = low = min(low, high);
        step = (high - low + 32) / 33;
    }
    return low;
}

/* Where unit d would lie among n rows of equal length. */
GPI_DEVICE uint64_t spmv_guess(uint64_t n, uint64_t d, uint64_t units)
{
    return units ? (uint64_t)((double)n * ((double)d / (double)units)) : 0;
}

/*
 * starts and left of all tiles, by searches: a thread per tile. The block finds the rows of its
 * first and last tile before. Shared: two numbers.
 */
template <class O>
__global__ __launch_bounds__(csr_tuning.threads) void spmv_search_k(SpmvTiles<O> a)
{
    __shared__ uint64_t s_rows[2];
    constexpr uint64_t T = csr_tuning.threads;
    grid_release();
    const gpi_csr_start all = a.end();
    const uint64_t units = all.row + all.entry, tile = blockIdx.x * T + threadIdx.x;
    const uint64_t first = min(blockIdx.x * T << a.log, units);
    const uint64_t last = min((blockIdx.x + 1) * T << a.log, units);
    if (threadIdx.x < 64) {
        const uint64_t d = threadIdx.x < 32 ? first : last;
        const uint64_t row =
            spmv_search_warp(a.pointers, merge_path_low(all.entry, d), merge_path_high(all.row, d),
                             d, spmv_guess(all.row, d, units));
        if (lane_id() == 0)
            s_rows[threadIdx.x / 32] = row;
    }
    __syncthreads();
    if (tile < a.tiles) {
        const uint64_t d = min(tile << a.log, units), low = s_rows[0], high = min(s_rows[1], d);
        const uint64_t guess = low + spmv_guess(high - low, d - first, last - first);
        a.starts[tile] = a.start(tile, spmv_search(a.pointers, low, high, d, guess), all);
        a.left[tile] = 0;
    }
}

/*
 * The same by a thread per row, which writes the starts of the tiles that begin in it; those of a
 * long row are left to a warp, or where the block has few to all of it. Faster where the row
 * pointers are few: nothing waits for a search.
 */
template <class O>
__global__ __launch_bounds__(csr_tuning.threads) void spmv_scatter_k(SpmvTiles<O> a)
{
    constexpr uint32_t T = csr_tuning.threads;
    __shared__ struct {
        uint64_t row, begin, end;
    } s_long[T];
    __shared__ uint32_t s_count;
    grid_release();
    const gpi_csr_start all = a.end();
    if (threadIdx.x == 0)
        s_count = 0;
    __syncthreads();
    const uint64_t row = (uint64_t)blockIdx.x * T + threadIdx.x;
    if (row < all.row) {
        const O begin = __ldg(a.pointers + row), end = __ldg(a.pointers + row + 1);
        if (a.is_long((O)(end - begin)))
            s_long[atomicAdd(&s_count, 1u)] = {row, begin, end};
        else
            for (uint64_t tile = a.first(begin + row); tile <= a.last(end + row); tile++)
                a.starts[tile] = {begin, row};
    }
    __syncthreads();
    const bool few = s_count < T / 32;
    const uint32_t thread = few ? threadIdx.x : lane_id(), threads = few ? T : 32;
    for (uint32_t k = few ? 0 : threadIdx.x / 32; k < s_count; k += few ? 1 : T / 32) {
        const uint64_t r = s_long[k].row, begin = s_long[k].begin, end = s_long[k].end;
        for (uint64_t tile = a.first(begin + r) + thread; tile <= a.last(end + r);
             tile += threads) {
            a.starts[tile] = {a.part(tile, r, begin, end), r};
            a.left[tile] = 0;
        }
    }
}

} // namespace GPI_SPACE
