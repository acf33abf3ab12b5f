/* SPDX-License-Identifier: MIT */
/* Row pointers, counts of rows, the deep check. */
#pragma once

#include "csr/csr_internal.h"
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

/* ---- row pointers ---- */

/* Pointers are filled in blocks of this many where a gap covers the block. */
constexpr uint64_t pointer_block = csr_tuning.pointer_block;

/* Rows as the caller gave them: entry i is element i of the result. */
template <class I> struct PlainRows {
    const I *rows;

    GPI_DEVICE uint64_t row(uint64_t i) const
    {
        return rows[i];
    }
    GPI_DEVICE uint64_t place(uint64_t i, uint64_t) const
    {
        return i;
    }
    /* By a thread one of whose entries is out of range, or below the one before it. */
    GPI_DEVICE void report_first(uint64_t tile, uint64_t n, uint64_t num_rows,
                                 const gpi_reporter &reporter) const
    {
        for (int k = 0; k < csr_tuning.items; k++) {
            const uint64_t i = csr_entry(tile, k);
            if (i < n && i > 0 && rows[i] < rows[i - 1])
                return report(reporter, GPI_RULE_FALLS, i, rows[i], rows[i - 1]);
            if (i < n && rows[i] >= num_rows)
                return report(reporter, GPI_RULE_BELOW, i, rows[i], num_rows);
        }
    }
};

/* Where the first entry of a run goes. */
struct Positions {
    const void *at;
    bool wide;

    GPI_DEVICE uint64_t operator[](uint64_t i) const
    {
        return wide ? ((const uint64_t *)at)[i] : ((const uint32_t *)at)[i];
    }
};

/* Rows of sorted keys whose duplicates were merged. The first entry of a row is first
 * of its run. */
struct SortedRows {
    const uint64_t *keys, *rows;
    uint32_t col_bits;
    Positions positions;     /* at NULL: nothing was merged */
    const uint64_t *out_nnz; /* entries after merging */

    GPI_DEVICE uint64_t row(uint64_t i) const
    {
        return keys ? keys[i] >> col_bits : rows[i];
    }
    GPI_DEVICE uint64_t place(uint64_t i, uint64_t n) const
    {
        return !positions.at ? i : i < n ? positions[i] : *out_nnz;
    }
    GPI_DEVICE void report_first(uint64_t, uint64_t, uint64_t, const gpi_reporter &) const
    {
    }
};

/* out[first .. last] = value for every lane's own range; long ranges by the whole warp. */
template <class O> GPI_DEVICE void fill_ranges(O *out, uint64_t first, uint64_t end, uint64_t value)
{
    uint64_t length = end > first ? end - first : 0;
    bool is_long = length > 8;
    if (!is_long)
        for (uint64_t p = first; p < end; p++)
            out[p] = (O)value;
    uint32_t todo = __ballot_sync(all_lanes, is_long);
    while (todo) {
        int leader = __ffs(todo) - 1;
        uint64_t from = shuffle(first, leader), to = shuffle(end, leader);
        O v = (O)shuffle(value, leader);
        for (uint64_t p = from + lane_id(); p < to; p += 32)
            out[p] = v;
        todo &= todo - 1;
    }
}

/* Entry i in [0, n]; entry n stands for the end, in row num_rows. Every lane of the warp calls. */
template <class O, class Rows>
GPI_DEVICE bool pointers_of_entry(const Rows &in, uint64_t i, uint64_t n, uint64_t num_rows, O *out)
{
    uint64_t first = 0, end = 0, place = 0;
    bool bad = false;
    if (i <= n) {
        uint64_t row = i < n ? in.row(i) : num_rows;
        uint64_t before = i > 0 ? in.row(i - 1) : 0;
        bad = i < n && (row >= num_rows || (i > 0 && row < before));
        first = i > 0 ? (before < num_rows ? before : num_rows) + 1 : 0;
        end = (row < num_rows ? row : num_rows) + 1;
        if (end > first)
            place = in.place(i, n);
    }
    /* Blocks of pointers that lie wholly inside are filled by fill_gap(). */
    uint64_t inner = (first + pointer_block - 1) / pointer_block * pointer_block;
    uint64_t inner_end = end / pointer_block * pointer_block;
    bool skip = inner < inner_end;
    fill_ranges(out, first, skip ? inner : end, place);
    if (__any_sync(all_lanes, skip))
        fill_ranges(out, skip ? inner_end : end, end, place);
    return bad;
}

/* One warp per whole block of pointers: fill it if it lies in one gap. */
template <class O, class Rows>
GPI_DEVICE void fill_gap(const Rows &in, uint64_t block, uint64_t n, uint64_t num_rows, O *out)
{
    uint64_t first = block * pointer_block, end = first + pointer_block;
    if (end > num_rows + 1)
        return;
    uint64_t low = 0, high = n;
    while (low < high) { /* the first entry of row first or later */
        uint64_t mid = low + (high - low) / 2;
        if (in.row(mid) < first)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < n && in.row(low) + 1 < end)
        return;
    O place = (O)in.place(low, n);
    for (uint64_t p = first + lane_id(); p < end; p += 32)
        out[p] = place;
}

/*
 * Blocks below entry_blocks: a tile of entries each, n + 1 entries in all. The others: a block of
 * pointers per warp. Every pointer has one writer as long as rows ascend and are in range;
 * otherwise pointers are unspecified, and nothing outside them is written.
 */
template <bool COUNTED, class O, class Rows>
__global__ __launch_bounds__(csr_tuning.threads) void csr_pointers_k(Rows in, ItemCount entries,
                                                                     ItemCount rows, O *out,
                                                                     uint64_t entry_blocks,
                                                                     gpi_reporter reporter)
{
    const uint64_t n = COUNTED ? item_count(entries) : entries.n;
    const uint64_t num_rows = COUNTED ? item_count(rows) : rows.n;
    if (blockIdx.x >= entry_blocks) {
        constexpr uint64_t warps = csr_tuning.threads / 32;
        uint64_t block = (blockIdx.x - entry_blocks) * warps + threadIdx.x / 32;
        if constexpr (COUNTED)
            for (; block * pointer_block <= num_rows; block += (gridDim.x - entry_blocks) * warps)
                fill_gap(in, block, n, num_rows, out);
        else
            fill_gap(in, block, n, num_rows, out);
        return;
    }
    const auto pointers_of_tile = [&](uint64_t tile) {
        bool bad = false;
#pragma unroll
        for (int k = 0; k < csr_tuning.items; k++)
            bad |= pointers_of_entry(in, csr_entry(tile, k), n, num_rows, out);
        if (bad)
            in.report_first(tile, n, num_rows, reporter);
    };
    if constexpr (COUNTED)
        for (uint64_t tile = blockIdx.x; tile * csr_tile <= n; tile += entry_blocks)
            pointers_of_tile(tile);
    else
        pointers_of_tile(blockIdx.x);
}

GPI_DEVICE void count_one(uint32_t *count)
{
    atomicAdd(count, 1u);
}

GPI_DEVICE void count_one(uint64_t *count)
{
    atomicAdd((unsigned long long *)count, 1ull);
}

/* counts[rows[i]]++; counts start at 0. */
template <bool COUNTED, class I, class O>
__global__ __launch_bounds__(csr_tuning.threads) void csr_count_k(const I *rows, ItemCount entries,
                                                                  ItemCount all_rows, O *counts,
                                                                  gpi_reporter reporter)
{
    const uint64_t n = COUNTED ? item_count(entries) : entries.n;
    const uint64_t num_rows = COUNTED ? item_count(all_rows) : all_rows.n;
    csr_tiles<COUNTED>(n, [&](uint64_t tile) {
#pragma unroll
        for (int k = 0; k < csr_tuning.items; k++) {
            uint64_t i = csr_entry(tile, k);
            if (i >= n)
                break;
            uint64_t row = rows[i];
            if (row < num_rows)
                count_one(counts + row);
            else
                report(reporter, GPI_RULE_BELOW, i, row, num_rows);
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

} // namespace GPI_SPACE
