/* SPDX-License-Identifier: MIT */
/* Counts of rows in any order. */
#pragma once

#include "csr/csr_rows_kernels.cuh"

namespace GPI_SPACE
{

GPI_DEVICE void count_more(uint32_t *count, uint32_t more)
{
    atomicAdd(count, more);
}

GPI_DEVICE void count_more(uint64_t *count, uint32_t more)
{
    atomicAdd((unsigned long long *)count, (unsigned long long)more);
}

constexpr uint32_t count_near = 1024;

/* Counts of rows, a run of equal neighbours at a time. */
template <class I, class O> struct RowCounts {
    static constexpr int V = rows_vector<I>, K = rows_steps<I>;

    const PlainRows<I> &in;
    uint64_t n, num_rows;
    O *counts;
    I open;            /* the row of the run at the end of the last chunk */
    uint32_t seen = 0; /* its entries that are not counted yet */

    GPI_DEVICE RowCounts(const PlainRows<I> &rows, uint64_t entries, uint64_t row_count, O *out)
        : in(rows), n(entries), num_rows(row_count), counts(out)
    {
    }

    GPI_DEVICE void add(I row, uint32_t length) const
    {
        if (length && row < num_rows)
            count_more(counts + row, length);
    }

    /* The runs that end in step k; `begin` becomes where the last one begins, counted in entries
     * modulo 2^32, as lengths are below. */
    GPI_DEVICE void step(const RowChunk<PlainRows<I>> &c, int k, uint32_t &begin) const
    {
        const uint32_t at = (uint32_t)c.entry(k);
        uint32_t last = 0;
        bool any = false;
#pragma unroll
        for (int j = 0; j < V; j++) {
            const bool first = c.row[k][j] != (j ? c.row[k][j - 1] : c.before[k]);
            any |= first;
            last = first ? at + j : last;
        }
        const uint32_t lanes = __ballot_sync(all_lanes, any);
        if (!lanes)
            return;
        const uint32_t left = lanes & ((1u << lane_id()) - 1);
        const uint32_t nearest = __shfl_sync(all_lanes, last, left ? 31 - __clz(left) : 0);
        uint32_t from = left ? nearest : begin;
#pragma unroll
        for (int j = 0; j < V; j++) {
            const I before = j ? c.row[k][j - 1] : c.before[k];
            if (c.row[k][j] != before) {
                add(before, at + j - from);
                from = at + j;
            }
        }
        begin = __shfl_sync(all_lanes, last, 31 - __clz(lanes));
    }

    /* The next chunk of a warp. */
    GPI_DEVICE void add_chunk(uint64_t chunk, const gpi_reporter &reporter)
    {
        const RowChunk<PlainRows<I>> c(in, chunk, n);
        const int64_t first = shuffle(c.begin, 0);
        uint32_t begin = (first > 0 ? (uint32_t)first : 0) - seen;
        bool bad = false;
#pragma unroll
        for (int k = 0; k < K; k++) {
#pragma unroll
            for (int j = 0; j < V; j++)
                bad |= c.row[k][j] >= num_rows;
            step(c, k, begin);
        }
        seen = (uint32_t)min((uint64_t)(first + rows_chunk<I>), n) - begin;
        open = shuffle(c.row[K - 1][V - 1], 31);
        if (bad)
            report_row(in, chunk, n, num_rows, false, reporter);
    }

    /* After the last chunk of a warp, or before one that is not the next. */
    GPI_DEVICE void close()
    {
        if (seen && lane_id() == 0)
            add(open, seen);
        seen = 0;
    }
};

/* counts[row] += entries of the row; `each` chunks one behind the other for each warp. */
template <class I, class O>
GPI_DEVICE void count_chunks(const PlainRows<I> &in, uint64_t n, uint64_t num_rows, uint32_t each,
                             O *counts, const gpi_reporter &reporter)
{
    const uint64_t chunks = rows_chunks(in.words, n);
    const uint64_t warp = (uint64_t)blockIdx.x * rows_warps + threadIdx.x / 32;
    const uint64_t step = (uint64_t)gridDim.x * rows_warps * each;
    RowCounts<I, O> counted(in, n, num_rows, counts);
    for (uint64_t first = warp * each; first < chunks; first += step) {
        const uint64_t end = min(first + each, chunks);
        for (uint64_t c = first; c < end; c++)
            counted.add_chunk(c, reporter);
        counted.close();
    }
}

/* The same. NEAR: there are up to count_near rows, which a block counts by itself first, as many
 * additions to few places in memory wait for each other. */
template <bool NEAR, class I, class O>
__global__ __launch_bounds__(csr_tuning.threads) void csr_count_k(PlainRows<I> in,
                                                                  ItemCount entries, ItemCount rows,
                                                                  uint32_t each, O *counts,
                                                                  gpi_reporter reporter)
{
    const uint64_t n = item_count(entries), num_rows = item_count(rows);
    if constexpr (NEAR) {
        __shared__ uint32_t near[count_near];
        for (uint32_t r = threadIdx.x; r < num_rows; r += csr_tuning.threads)
            near[r] = 0;
        __syncthreads();
        count_chunks(in, n, num_rows, each, near, reporter);
        __syncthreads();
        for (uint32_t r = threadIdx.x; r < num_rows; r += csr_tuning.threads)
            if (near[r])
                count_more(counts + r, near[r]);
    } else {
        count_chunks(in, n, num_rows, each, counts, reporter);
    }
}

/* Where counts do not add up to the number of entries, those that are out of range; pointers are
 * what became of the counts. Grid: any. */
template <class I, class O>
__global__ __launch_bounds__(csr_tuning.threads) void csr_range_k(const I *rows, ItemCount entries,
                                                                  ItemCount row_count,
                                                                  const O *pointers,
                                                                  gpi_reporter reporter)
{
    grid_wait();
    const uint64_t n = item_count(entries), num_rows = item_count(row_count);
    if (n == 0 || pointers[num_rows] == n)
        return;
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        if (rows[i] >= num_rows)
            return report(reporter, GPI_RULE_BELOW, i, rows[i], num_rows);
}

} // namespace GPI_SPACE
