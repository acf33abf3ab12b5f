/* SPDX-License-Identifier: MIT */
/* COO to CSR: pack keys, find runs, write columns. Merging is in csr_merge_kernels.cuh. */
#pragma once

#include "csr/csr_kernels.cuh"

namespace GPI_SPACE
{

struct Shape {
    uint64_t n, num_rows, num_cols;
    uint32_t col_bits;
};

/* keys[i] = row << col_bits | col; an entry out of range is taken for (0, 0) and reported. */
template <class I>
__global__ __launch_bounds__(csr_threads) void csr_pack_k(const I *rows, const I *cols, Shape shape,
                                                          uint64_t *keys, uint32_t *sticky)
{
    bool bad = false;
#pragma unroll
    for (int k = 0; k < csr_items; k++) {
        uint64_t i = csr_entry(k);
        if (i >= shape.n)
            break;
        uint64_t row = rows[i], col = cols[i];
        bool out = row >= shape.num_rows || col >= shape.num_cols;
        bad |= out;
        keys[i] = out ? 0 : row << shape.col_bits | col;
    }
    if (bad)
        atomicOr(sticky, sticky_data);
}

struct SortedKeys {
    const uint64_t *keys, *rows, *cols;

    GPI_DEVICE bool same(uint64_t i, uint64_t j) const
    {
        return keys ? keys[i] == keys[j] : rows[i] == rows[j] && cols[i] == cols[j];
    }
};

/* flags[i] = whether entry i is the first of its run. Packed keys were checked when
 * they were packed. */
static __global__ __launch_bounds__(csr_threads) void csr_heads_k(SortedKeys in, Shape shape,
                                                                  bool duplicates_are_errors,
                                                                  uint8_t *flags, uint32_t *sticky)
{
    bool bad = false;
#pragma unroll
    for (int k = 0; k < csr_items; k++) {
        uint64_t i = csr_entry(k);
        if (i >= shape.n)
            break;
        bool head = i == 0 || !in.same(i, i - 1);
        bad |= duplicates_are_errors && !head;
        if (!in.keys)
            bad |= in.rows[i] >= shape.num_rows || in.cols[i] >= shape.num_cols;
        flags[i] = head;
    }
    if (bad)
        atomicOr(sticky, sticky_data);
}

/* The column of every first entry goes to its place; without flags every entry is one. */
template <class I>
__global__ __launch_bounds__(csr_threads) void csr_cols_k(SortedKeys in, Shape shape,
                                                          const uint8_t *flags, Positions positions,
                                                          I *out_cols, uint64_t *out_nnz,
                                                          uint32_t *sticky)
{
    const uint64_t mask = (1ull << shape.col_bits) - 1;
    bool bad = false;
#pragma unroll
    for (int k = 0; k < csr_items; k++) {
        uint64_t i = csr_entry(k);
        if (i >= shape.n)
            break;
        uint64_t col = in.keys ? in.keys[i] & mask : in.cols[i];
        bad |= col >= shape.num_cols;
        if (!flags)
            out_cols[i] = (I)col;
        else if (flags[i])
            out_cols[positions[i]] = (I)col;
    }
    if (bad)
        atomicOr(sticky, sticky_data);
    if (!flags && out_nnz && blockIdx.x == 0 && threadIdx.x == 0)
        *out_nnz = shape.n;
}

static __global__ void csr_set_sticky_k(uint32_t *sticky, uint32_t bits)
{
    atomicOr(sticky, bits);
}

} // namespace GPI_SPACE
