/* SPDX-License-Identifier: MIT */
/* COO to CSR: pack keys, find runs, write columns. Merging is in csr_merge_kernels.cuh. */
#pragma once

#include "csr/csr_rows_kernels.cuh"

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

/* Report the first entry of this thread that is out of range. */
template <class I>
GPI_DEVICE void report_entry(const I *rows, const I *cols, uint64_t tile, const Shape &shape,
                             const gpi_reporter &of_rows, const gpi_reporter &of_cols)
{
    for (int k = 0; k < csr_tuning.items; k++) {
        const uint64_t i = csr_entry(tile, k);
        if (i >= shape.n)
            return;
        if (rows[i] >= shape.num_rows)
            return report(of_rows, GPI_RULE_BELOW, i, rows[i], shape.num_rows);
        if (of_cols.source.argument && cols[i] >= shape.num_cols)
            return report(of_cols, GPI_RULE_BELOW, i, cols[i], shape.num_cols);
    }
}

/* Whether a lane's key is below that of the entry before, which is the lane's before; by a whole
 * warp, whose first lane reads. */
template <class I>
GPI_DEVICE bool key_falls(const I *rows, const I *cols, const Shape &shape, uint64_t i,
                          uint64_t key)
{
    uint64_t before = shuffle_up(key, 1);
    if (lane_id() == 0 && i > 0 && i < shape.n)
        before = (uint64_t)rows[i - 1] << shape.col_bits | cols[i - 1];
    return i > 0 && i < shape.n && key < before;
}

/* keys[i] = row << col_bits | col; an entry out of range is taken for (0, 0) and reported.
 * *unsorted, if asked for, becomes n if keys fall. */
template <bool COUNTED, class I>
__global__
__launch_bounds__(csr_tuning.threads) void csr_pack_k(const I *rows, const I *cols, Shape shape,
                                                      uint64_t *keys, uint64_t *unsorted,
                                                      gpi_reporter of_rows, gpi_reporter of_cols)
{
    if constexpr (COUNTED)
        shape.take_counts();
    csr_tiles<COUNTED>(shape.n, [&](uint64_t tile) {
        bool bad = false, falls = false;
#pragma unroll
        for (int k = 0; k < csr_tuning.items; k++) {
            const uint64_t i = csr_entry(tile, k);
            uint64_t key = 0;
            if (i < shape.n) {
                uint64_t row = rows[i], col = cols[i];
                bool out = row >= shape.num_rows || col >= shape.num_cols;
                bad |= out;
                keys[i] = key = out ? 0 : row << shape.col_bits | col;
            }
            if (unsorted)
                falls |= key_falls(rows, cols, shape, i, key);
        }
        /* Read first: all would write. */
        if (unsorted && __any_sync(all_lanes, falls) && lane_id() == 0 && *unsorted == 0)
            *unsorted = shape.n;
        if (bad)
            report_entry(rows, cols, tile, shape, of_rows, of_cols);
    });
}

/* out[i] = in[i], of value_bytes, unless the entries were sorted. */
template <class I> /* or it would be one kernel of several units */
__global__ __launch_bounds__(csr_tuning.threads) void csr_copy_k(const char *in, Shape shape,
                                                                 const uint64_t *unsorted,
                                                                 uint32_t value_bytes, char *out)
{
    if (*unsorted)
        return;
    shape.take_counts();
    csr_tiles<true>(shape.n, [&](uint64_t tile) {
        for (int k = 0; k < csr_tuning.items; k++) {
            const uint64_t i = csr_entry(tile, k);
            if (i >= shape.n)
                break;
            if (value_bytes == 8)
                ((uint64_t *)out)[i] = ((const uint64_t *)in)[i];
            else if (value_bytes == 4)
                ((uint32_t *)out)[i] = ((const uint32_t *)in)[i];
            else if (value_bytes == 2)
                ((uint16_t *)out)[i] = ((const uint16_t *)in)[i];
            else
                out[i] = in[i];
        }
    });
}

struct SortedKeys {
    const uint64_t *keys, *rows, *cols;
    Unsorted unsorted;

    /* First of all: keys that came in order were not moved. */
    GPI_DEVICE void choose()
    {
        keys = unsorted.choose(keys);
    }

    GPI_DEVICE bool same(uint64_t i, uint64_t j) const
    {
        return keys ? keys[i] == keys[j] : rows[i] == rows[j] && cols[i] == cols[j];
    }

    GPI_DEVICE uint64_t col(uint64_t i, const Shape &shape) const
    {
        return keys ? keys[i] & ((1ull << shape.col_bits) - 1) : cols[i];
    }
};

/* flags[i] = whether entry i is the first of its run. */
template <bool COUNTED>
__global__ __launch_bounds__(csr_tuning.threads) void csr_heads_k(SortedKeys in, Shape shape,
                                                                  bool duplicates_are_errors,
                                                                  uint8_t *flags,
                                                                  gpi_reporter reporter)
{
    in.choose();
    if constexpr (COUNTED)
        shape.take_counts();
    csr_tiles<COUNTED>(shape.n, [&](uint64_t tile) {
#pragma unroll
        for (int k = 0; k < csr_tuning.items; k++) {
            uint64_t i = csr_entry(tile, k);
            if (i >= shape.n)
                break;
            bool head = i == 0 || !in.same(i, i - 1);
            if (duplicates_are_errors && !head)
                report(reporter, GPI_RULE_DUPLICATE, GPI_CSR_DUPLICATE_AT(i),
                       in.keys ? in.keys[i] >> shape.col_bits : in.rows[i], in.col(i, shape));
            flags[i] = head;
        }
    });
}

/* The column of every first entry goes to its place; without flags every entry is one. */
template <bool COUNTED, class I>
__global__ __launch_bounds__(csr_tuning.threads) void csr_cols_k(SortedKeys in, Shape shape,
                                                                 const uint8_t *flags,
                                                                 Positions positions, I *out_cols,
                                                                 uint64_t *out_nnz)
{
    in.choose();
    if constexpr (COUNTED)
        shape.take_counts();
    csr_tiles<COUNTED>(shape.n, [&](uint64_t tile) {
#pragma unroll
        for (int k = 0; k < csr_tuning.items; k++) {
            uint64_t i = csr_entry(tile, k);
            if (i >= shape.n)
                break;
            const I col = (I)in.col(i, shape);
            if (!flags)
                out_cols[i] = col;
            else if (flags[i])
                out_cols[positions[i]] = col;
        }
    });
    if (!flags && out_nnz && blockIdx.x == 0 && threadIdx.x == 0)
        *out_nnz = shape.n;
}

} // namespace GPI_SPACE
