/* SPDX-License-Identifier: MIT */
/* SpMV by merge path (Merrill and Garland 2016). */
#pragma once

#include "csr/csr_kernels.cuh"
#include "device/ops.cuh"
#include "device/search.cuh"

namespace GPI_SPACE
{

constexpr int spmv_threads = csr_tuning.spmv_threads,
              spmv_items = GPI_CSR_SPMV_TILE_CUDA / spmv_threads;

/* Row ends before unit d of a tile, whose row ends are in shared memory. */
GPI_DEVICE uint32_t path_in_tile(const uint32_t *s_ends, uint32_t rows, uint32_t entries,
                                 uint32_t d)
{
    uint32_t low = d > entries ? d - entries : 0, high = d < rows ? d : rows;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (s_ends[mid] + mid < d)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

template <class V> struct Spmv {
    uint64_t num_rows, nnz;
    const uint64_t *device_num_rows, *device_nnz; /* NULL, or those are bounds */
    const V *values, *x;
    V *y;
    V alpha, beta;
    const uint64_t *tile_rows;
    uint64_t *carry_rows;
    V *carry_values;

    GPI_DEVICE void take_counts()
    {
        num_rows = item_count(ItemCount{num_rows, device_num_rows});
        nnz = num_rows ? item_count(ItemCount{nnz, device_nnz}) : 0;
    }

    GPI_DEVICE void store(uint64_t row, V sum) const
    {
        V v = alpha * sum;
        y[row] = beta != 0 ? v + beta * y[row] : v;
    }
};

/* tile_rows[t] = row ends before tile t; one thread per tile, tiles + 1 of them. */
template <class O, class V>
__global__ __launch_bounds__(spmv_threads) void spmv_partition_k(const O *pointers, Spmv<V> a,
                                                                 uint64_t tiles,
                                                                 uint64_t *tile_rows)
{
    a.take_counts();
    uint64_t t = (uint64_t)blockIdx.x * spmv_threads + threadIdx.x;
    uint64_t d = t * GPI_CSR_SPMV_TILE_CUDA, units = a.num_rows + a.nnz;
    if (t <= tiles)
        tile_rows[t] = merge_path_search(pointers, (O)0, a.num_rows, a.nnz, d < units ? d : units);
}

/* Sum since the last row end, and whether there was one. */
template <class V> struct Carry {
    V sum;
    bool ended;
};

/* left, then right */
template <class V> GPI_DEVICE Carry<V> join(Carry<V> left, Carry<V> right)
{
    return Carry<V>{right.ended ? right.sum : left.sum + right.sum, left.ended || right.ended};
}

template <class V> GPI_DEVICE Carry<V> carry_from(Carry<V> c, int lane)
{
    bool ended = __shfl_sync(all_lanes, (int)c.ended, lane) != 0;
    return Carry<V>{shuffle(c.sum, lane), ended};
}

/*
 * Exclusive scan of the threads' carries in thread order; *total gets the carry of the block. Every
 * thread calls; s_warps has a carry per warp.
 */
template <class V>
GPI_DEVICE Carry<V> scan_carries(Carry<V> mine, Carry<V> *s_warps, Carry<V> *total)
{
    constexpr int warps = spmv_threads / 32;
    const int lane = lane_id(), warp = threadIdx.x / 32;
    Carry<V> c = mine;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        Carry<V> left = carry_from(c, lane - d);
        if (lane >= d)
            c = join(left, c);
    }
    if (lane == 31)
        s_warps[warp] = c;
    __syncthreads();
    Carry<V> before = {(V)0, false}, all = {(V)0, false};
#pragma unroll
    for (int w = 0; w < warps; w++) {
        if (w == warp)
            before = all;
        all = join(all, s_warps[w]);
    }
    *total = all;
    Carry<V> left = carry_from(c, lane - 1);
    return lane == 0 ? before : join(before, left);
}

/*
 * A tile of row ends and entries per block. Shared memory: the tile's products and row ends.
 * After it, y has every row that ends in a tile, without what earlier tiles hold of it; that is
 * in the carries.
 */
template <bool COUNTED, class I, class O, class V>
__global__ __launch_bounds__(spmv_threads) void spmv_tile_k(const O *ends, const I *cols, Spmv<V> a)
{
    __shared__ V s_products[GPI_CSR_SPMV_TILE_CUDA];
    __shared__ uint32_t s_ends[GPI_CSR_SPMV_TILE_CUDA];
    __shared__ Carry<V> s_warps[spmv_threads / 32];
    if constexpr (COUNTED)
        a.take_counts();
    const uint64_t tile = blockIdx.x, units = a.num_rows + a.nnz;
    const uint64_t begin = tile * GPI_CSR_SPMV_TILE_CUDA;
    if (COUNTED && begin >= units)
        return;
    const uint64_t end =
        begin + GPI_CSR_SPMV_TILE_CUDA < units ? begin + GPI_CSR_SPMV_TILE_CUDA : units;
    const uint64_t row = a.tile_rows[tile], row_end = a.tile_rows[tile + 1];
    const uint64_t first = begin - row;
    const uint32_t rows = (uint32_t)(row_end - row), entries = (uint32_t)(end - row_end - first);

    /* 1. Row ends relative to the tile, and products. */
    for (uint32_t r = threadIdx.x; r < rows; r += spmv_threads)
        s_ends[r] = (uint32_t)(ends[row + r] - first);
    for (uint32_t i = threadIdx.x; i < entries; i += spmv_threads)
        s_products[i] = a.values[first + i] * a.x[cols[first + i]];
    __syncthreads();

    /* 2. Every thread walks its units; its first row may have begun before it. */
    uint32_t d = threadIdx.x * spmv_items;
    d = d < rows + entries ? d : rows + entries;
    uint32_t d_end = d + spmv_items < rows + entries ? d + spmv_items : rows + entries;
    uint32_t r = path_in_tile(s_ends, rows, entries, d), i = d - r;
    const uint32_t r_first = r;
    Carry<V> carry = {(V)0, false};
    V first_sum = 0;
    for (; d < d_end; d++) {
        if (r < rows && s_ends[r] <= i) {
            if (carry.ended)
                a.store(row + r, carry.sum);
            else
                first_sum = carry.sum;
            carry = Carry<V>{(V)0, true};
            r++;
        } else {
            carry.sum += s_products[i++];
        }
    }

    /* 3. What earlier threads hold of the first row; what the tile leaves to later ones. */
    Carry<V> total;
    Carry<V> before = scan_carries(carry, s_warps, &total);
    if (carry.ended)
        a.store(row + r_first, before.sum + first_sum);
    if (threadIdx.x == 0) {
        bool open = rows ? s_ends[rows - 1] < entries : entries > 0;
        a.carry_rows[tile] = open ? row_end : UINT64_MAX;
        a.carry_values[tile] = a.alpha * total.sum;
    }
}

/*
 * Add the carries of each row, in tile order, to it. A thread per tile; the one of a row's first
 * carry adds up to 32 of them, its warp the rest.
 */
template <class V> __global__ __launch_bounds__(spmv_threads) void spmv_carries_k(Spmv<V> a)
{
    a.take_counts();
    const uint64_t *const rows = a.carry_rows;
    const V *const values = a.carry_values;
    const uint64_t tiles =
        (a.num_rows + a.nnz + GPI_CSR_SPMV_TILE_CUDA - 1) / GPI_CSR_SPMV_TILE_CUDA;
    V *const y = a.y;
    const uint64_t t = (uint64_t)blockIdx.x * spmv_threads + threadIdx.x;
    const uint64_t row = t < tiles ? rows[t] : UINT64_MAX;
    const bool head = row != UINT64_MAX && (t == 0 || rows[t - 1] != row);
    uint64_t end = t;
    V sum = 0;
    if (head)
        for (; end < tiles && end < t + 32 && rows[end] == row; end++)
            sum += values[end];
    uint32_t todo = __ballot_sync(all_lanes, head && end == t + 32 && end < tiles &&
                                                 rows[end < tiles ? end : t] == row);
    while (todo) {
        const int leader = __ffs(todo) - 1;
        const uint64_t its_row = shuffle(row, leader);
        V part = 0;
        bool inside = true;
        for (uint64_t i = shuffle(end, leader) + lane_id(); __all_sync(all_lanes, inside);
             i += 32) {
            inside = i < tiles && rows[i] == its_row;
            if (inside)
                part += values[i];
        }
        V rest = warp_reduce<Sum<V>>(part);
        if (lane_id() == leader)
            sum += rest;
        todo &= todo - 1;
    }
    if (head)
        y[row] += sum;
}

} // namespace GPI_SPACE
