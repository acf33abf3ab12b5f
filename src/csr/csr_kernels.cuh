/* SPDX-License-Identifier: MIT */
/* What the kernels of this room share, and the deep checks. */
#pragma once

extern "C" {
#include "csr/csr_by_row.h"
}
#include "device/epoch.cuh"
#include "device/item_count.cuh"
#include "device/warp.cuh"
#include "device/report.cuh"
#include "tuning/csr_tuning.cuh"

namespace GPI_SPACE
{

/* Most kernels of this room: blocks of 256 threads, a tile of 4 entries per thread, striped. */
constexpr int csr_tile = csr_tuning.threads * csr_tuning.items;

GPI_DEVICE uint64_t csr_entry(uint64_t tile, int k)
{
    return tile * csr_tile + (uint64_t)k * csr_tuning.threads + threadIdx.x;
}

/* Blocks where there is one for each tile, unless the number of tiles is on the device. */
inline uint32_t csr_blocks(const gp_context *ctx, const uint64_t *device_n, uint32_t tiles)
{
    const uint32_t most = (uint32_t)ctx->sm_count * csr_tuning.blocks_counted;
    return device_n && tiles > most ? most : tiles;
}

/*
 * Call f(tile) for the tiles of n entries that are this block's: one, or if their number is in
 * memory (COUNTED) several, as thousands of blocks without a tile would take longer than a few.
 * Kernels have both forms, since a number that is an argument takes no registers.
 */
template <bool COUNTED, class F> GPI_DEVICE void csr_tiles(uint64_t n, F f)
{
    if constexpr (COUNTED)
        for (uint64_t tile = blockIdx.x; tile * csr_tile < n; tile += gridDim.x)
            f(tile);
    else
        f(blockIdx.x);
}

GPI_DEVICE bool is_head(const gpi_csr_heads &h, uint64_t i)
{
    return h.bits[i / 32] >> i % 32 & 1;
}

/* Heads before those of a word. */
GPI_DEVICE uint64_t heads_rank(const gpi_csr_heads &h, uint64_t word)
{
    return h.wide ? ((const uint64_t *)h.ranks)[word] : ((const uint32_t *)h.ranks)[word];
}

/* Of entry i, a head: where its run goes. */
GPI_DEVICE uint64_t heads_before(const gpi_csr_heads &h, uint64_t i)
{
    return heads_rank(h, i / 32) + __popc(h.bits[i / 32] & ((1u << i % 32) - 1));
}

/* Values of entries that may have come in order: see struct gpi_csr_sorted. */
struct Unsorted {
    const uint64_t *words; /* NULL: they were moved */
    const void *given, *by_row;

    /* Whether they have been written. The L1 is to keep the words: every block begins with them. */
    GPI_DEVICE bool is_done() const
    {
        return words && !(word(0) | word(1) | word(2));
    }

    template <class T> GPI_DEVICE const T *choose(const T *moved) const
    {
        if (!words || word(0))
            return moved;
        return (const T *)(word(2) ? by_row : given);
    }

    GPI_DEVICE uint64_t word(int i) const
    {
        uint64_t w;
        asm("ld.global.nc.L1::evict_last.u64 %0, [%1];" : "=l"(w) : "l"(words + i));
        return w;
    }
};

/* ---- marks of a filter ---- */

/* A bit for each entry; see struct gpi_csr_marks. */
template <class I> __global__ __launch_bounds__(csr_tuning.threads) void csr_mark_k(gpi_csr_marks m)
{
    const uint64_t n = item_count(ItemCount{m.nnz, m.device_nnz});
    const I *rows = (const I *)m.rows, *cols = (const I *)m.cols;
    csr_tiles<true>(n, [&](uint64_t tile) {
#pragma unroll
        for (int k = 0; k < csr_tuning.items; k++) {
            const uint64_t i = csr_entry(tile, k);
            bool kept = false;
            if (i < n) {
                const int64_t distance = (int64_t)((uint64_t)cols[i] - (uint64_t)rows[i]);
                kept = (distance >= m.low && distance <= m.high) != m.invert;
            }
            const uint32_t bits = __ballot_sync(all_lanes, kept);
            if (lane_id() == 0 && i < n)
                ((uint32_t *)m.flags)[i / 32] = bits;
        }
    });
}

/* ---- deep check ---- */

GPI_DEVICE uint64_t offence(uint64_t row, int rule)
{
    return row << GPI_CSR_RULE_BITS | (uint64_t)rule;
}

/* The first rule that a row breaks; one warp, the same value in every lane. */
template <class I, class O>
GPI_DEVICE uint64_t check_row(const O *pointers, const I *cols, uint64_t r, uint64_t num_cols,
                              uint64_t nnz)
{
    uint64_t begin = pointers[r], end = pointers[r + 1];
    bool range = false, order = false;
    if (r == 0 && begin != 0)
        return offence(r, GPI_CSR_RULE_FIRST);
    if (end < begin)
        return offence(r, GPI_CSR_RULE_DESCENDS);
    if (end > nnz)
        return offence(r, GPI_CSR_RULE_PAST_END);
#pragma unroll 4
    for (uint64_t i = begin + lane_id(); i < end; i += 32) {
        I col = cols[i];
        range |= col >= num_cols;
        order |= i > begin && col <= cols[i - 1];
    }
    if (__any_sync(all_lanes, range))
        return offence(r, GPI_CSR_RULE_RANGE);
    return __any_sync(all_lanes, order) ? offence(r, GPI_CSR_RULE_ORDER) : GPI_CSR_VALID;
}

/* Grid: any; a warp takes 32 neighbouring rows at a time. *found starts as GPI_CSR_VALID. */
template <class I, class O>
__global__ __launch_bounds__(csr_tuning.threads) void csr_check_k(const O *pointers, const I *cols,
                                                                  uint64_t num_rows,
                                                                  uint64_t num_cols, uint64_t nnz,
                                                                  uint64_t *found)
{
    uint64_t warp = (uint64_t)blockIdx.x * (csr_tuning.threads / 32) + threadIdx.x / 32;
    const uint64_t step = (uint64_t)gridDim.x * csr_tuning.threads;
    uint64_t worst = GPI_CSR_VALID;
    for (uint64_t first = warp * 32; first < num_rows && worst == GPI_CSR_VALID; first += step) {
        const uint64_t end = first + 32 < num_rows ? first + 32 : num_rows;
        for (uint64_t r = first; r < end && worst == GPI_CSR_VALID; r++)
            worst = check_row(pointers, cols, r, num_cols, nnz);
    }
    if (warp == 0 && worst == GPI_CSR_VALID && num_rows == 0 && pointers[0] != 0)
        worst = offence(0, GPI_CSR_RULE_FIRST);
    if (warp == 0 && worst == GPI_CSR_VALID && pointers[num_rows] != nnz)
        worst = offence(num_rows, GPI_CSR_RULE_LAST);
    if (lane_id() == 0 && worst != GPI_CSR_VALID)
        atomicMin((unsigned long long *)found, (unsigned long long)worst);
}

/* The first rule that entry i breaks, or -1. */
template <class I>
GPI_DEVICE int list_rule(const gpi_csr_list &l, const I *rows, const I *cols, uint64_t i)
{
    const I row = rows[i], col = cols[i];
    if (row >= l.num_rows)
        return GPI_CSR_LIST_ROW;
    if (col >= l.num_cols)
        return GPI_CSR_LIST_COL;
    if (i == 0 || l.order < GP_COO_ROWS)
        return -1;
    const I row_before = rows[i - 1], col_before = cols[i - 1];
    if (row != row_before)
        return row < row_before ? GPI_CSR_LIST_ROW_FALLS : -1;
    if (l.order >= GP_COO_SORTED && col < col_before)
        return GPI_CSR_LIST_COL_FALLS;
    return l.order >= GP_COO_CANONICAL && col == col_before ? GPI_CSR_LIST_TWICE : -1;
}

/* Grid: any. *found starts as GPI_CSR_VALID. */
template <class I>
__global__ __launch_bounds__(csr_tuning.threads) void csr_check_list_k(gpi_csr_list l,
                                                                       uint64_t *found)
{
    uint64_t worst = GPI_CSR_VALID;
    csr_tiles<true>(l.nnz, [&](uint64_t tile) {
#pragma unroll
        for (int k = 0; k < csr_tuning.items; k++) {
            const uint64_t i = csr_entry(tile, k);
            const int rule = i < l.nnz ? list_rule(l, (const I *)l.rows, (const I *)l.cols, i) : -1;
            if (rule >= 0)
                worst = min(worst, offence(i, rule));
        }
    });
    if (worst != GPI_CSR_VALID)
        atomicMin((unsigned long long *)found, (unsigned long long)worst);
}

} // namespace GPI_SPACE
