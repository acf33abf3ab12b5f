/* SPDX-License-Identifier: MIT */
/* COO to CSR: keys of entries, and values that were not sorted. What comes behind the sort is in
 * csr_write_kernels.cuh, merging in csr_merge_kernels.cuh. */
#pragma once

#include "csr/csr_kernels.cuh"
#include "device/grid.cuh"

namespace GPI_SPACE
{

struct Shape {
    uint64_t n, num_rows, num_cols;
    uint32_t col_bits;
    const uint64_t *device_n, *device_num_rows; /* NULL, or those are bounds */

    GPI_DEVICE void take_counts()
    {
        n = item_count(*this);
        num_rows = item_count(ItemCount{num_rows, device_num_rows});
    }
};

/* ---- keys ------------------------------------------------------------------------------------ */

/* Report the first entry of this thread that is out of range. */
template <class I>
GPI_DEVICE void report_entry(const I *rows, const I *cols, uint64_t tile, const Shape &shape,
                             const gpi_reporter &of_rows, const gpi_reporter &of_cols)
{
    for (int k = 0; k < csr_tuning.items; k++) {
        const uint64_t i = csr_entry(tile, k);
        if (i >= shape.n)
            return;
        if (of_rows.source.argument && rows[i] >= shape.num_rows)
            return report(of_rows, GPI_RULE_BELOW, i, rows[i], shape.num_rows);
        if (of_cols.source.argument && cols[i] >= shape.num_cols)
            return report(of_cols, GPI_RULE_BELOW, i, cols[i], shape.num_cols);
    }
}

/* Grid: any. keys[i] = row * cells + col. An entry out of range is taken for (0, 0), and it is
 * reported, too. */
template <class I>
__global__
__launch_bounds__(csr_tuning.threads) void csr_pack_k(const I *rows, const I *cols, Shape shape,
                                                      uint64_t cells, uint64_t *keys,
                                                      gpi_reporter of_rows, gpi_reporter of_cols)
{
    grid_wait();
    shape.take_counts();
    csr_tiles<true>(shape.n, [&](uint64_t tile) {
        bool bad = false;
#pragma unroll
        for (int k = 0; k < csr_tuning.items; k++) {
            const uint64_t i = csr_entry(tile, k);
            if (i >= shape.n)
                break;
            uint64_t row = rows[i], col = cols[i];
            bool out = row >= shape.num_rows || col >= shape.num_cols;
            bad |= out;
            keys[i] = out ? 0 : row * cells + col;
        }
        if (bad)
            report_entry(rows, cols, tile, shape, of_rows, of_cols);
    });
}

/* ---- transposes by pairs --------------------------------------------------------------------- */

/* Item i of 1, 2 or 4 bytes, or of none. */
GPI_DEVICE uint32_t short_value(const void *values, uint32_t bytes, uint64_t i)
{
    return bytes == 4   ? ((const uint32_t *)values)[i]
           : bytes == 2 ? ((const uint16_t *)values)[i]
           : bytes == 1 ? ((const uint8_t *)values)[i]
                        : 0;
}

/* pairs[i] = col | value << 32, without values col alone; if keys is not NULL, keys[i] = row. An
 * entry out of range is reported, and if it can be taken for (0, 0). Grid: any. */
template <class I>
__global__ __launch_bounds__(csr_tuning.threads) void csr_join_k(
    const I *rows, const I *cols, const void *values, Shape shape, uint32_t value_bytes,
    uint32_t *keys, void *pairs, gpi_reporter of_rows, gpi_reporter of_cols)
{
    shape.take_counts();
    csr_tiles<true>(shape.n, [&](uint64_t tile) {
        bool bad = false;
#pragma unroll
        for (int k = 0; k < csr_tuning.items; k++) {
            const uint64_t i = csr_entry(tile, k);
            if (i >= shape.n)
                break;
            const uint64_t row = rows[i], col = cols[i];
            const bool out = row >= shape.num_rows || col >= shape.num_cols;
            bad |= out;
            if (keys)
                keys[i] = out ? 0 : (uint32_t)row;
            if (value_bytes)
                ((uint64_t *)pairs)[i] =
                    (uint32_t)col | (uint64_t)short_value(values, value_bytes, i) << 32;
            else
                ((uint32_t *)pairs)[i] = (uint32_t)col;
        }
        if (bad)
            report_entry(rows, cols, tile, shape, of_rows, of_cols);
    });
}

/* The columns and values of pairs. Grid: any. */
template <class I>
__global__ __launch_bounds__(csr_tuning.threads) void csr_part_k(const void *pairs, Shape shape,
                                                                 uint32_t value_bytes, I *cols,
                                                                 void *values)
{
    grid_wait();
    shape.take_counts();
    csr_tiles<true>(shape.n, [&](uint64_t tile) {
#pragma unroll
        for (int k = 0; k < csr_tuning.items; k++) {
            const uint64_t i = csr_entry(tile, k);
            if (i >= shape.n)
                break;
            const uint64_t pair =
                value_bytes ? ((const uint64_t *)pairs)[i] : ((const uint32_t *)pairs)[i];
            cols[i] = (I)(uint32_t)pair;
            if (value_bytes == 4)
                ((uint32_t *)values)[i] = (uint32_t)(pair >> 32);
            else if (value_bytes == 2)
                ((uint16_t *)values)[i] = (uint16_t)(pair >> 32);
            else if (value_bytes == 1)
                ((uint8_t *)values)[i] = (uint8_t)(pair >> 32);
        }
    });
}

} // namespace GPI_SPACE
