/* SPDX-License-Identifier: MIT */
/*
 * Histogram kernels: binning functors, the loop over the input, counting in shared memory, counting
 * in global memory. A functor turns a stored value into its bin, or no_bin.
 */
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/ops.cuh"
#include "tuning/histogram_tuning.cuh"
#include "histogram/histogram_internal.h"

namespace GPI_SPACE
{

constexpr uint32_t no_bin = 0xffffffffu;

/* ---- binning; the arithmetic is explained at struct gpi_binning ---- */

template <class U> struct BinNarrow {
    using Stored = U;
    U lo, last;
    uint32_t q, m_hi, m_lo;

    GPI_DEVICE uint32_t operator()(U x) const
    {
        U d = (U)(x - lo);
        uint32_t e = (uint32_t)d;
        uint64_t product = (uint64_t)e * m_hi + __umulhi(e, m_lo);
        uint32_t bin = e * q + (uint32_t)(product >> 32);
        return d <= last ? bin : no_bin;
    }
};

struct BinWide {
    using Stored = uint64_t;
    uint64_t lo, last, m_hi, m_lo;

    GPI_DEVICE uint32_t operator()(uint64_t x) const
    {
        uint64_t d = x - lo;
        uint64_t middle = d * m_hi;
        uint32_t carry = __umul64hi(d, m_lo) > ~middle;
        uint32_t bin = (uint32_t)__umul64hi(d, m_hi) + carry;
        return d <= last ? bin : no_bin;
    }
};

/* S: stored, V: computed in. Rounds the difference and the product by themselves, never fused. */
template <class S, class V> struct BinScale {
    using Stored = S;
    double from, to, scale;
    uint32_t top;

    GPI_DEVICE uint32_t operator()(S stored) const
    {
        double x = (double)widen<V>(stored);
        uint32_t bin = __double2uint_rz(__dmul_rn(__dsub_rn(x, from), scale));
        return x >= from && x < to ? (bin < top ? bin : top) : no_bin;
    }
};

/* A value in the order of its dtype. flip: the sign bit of signed integers. */
template <class V, class S> GPI_DEVICE V edge_order(S stored, uint64_t flip)
{
    if constexpr (std::is_integral<V>::value)
        return (V)(stored ^ (S)flip);
    else
        return widen<V>(stored);
}

template <class S, class V> struct BinEdges {
    using Stored = S;
    const S *edges; /* global or shared memory */
    uint64_t flip;
    uint32_t bins;

    /* The last edge, the final one left out, that is not above x.
     * Stays inside whatever edges holds. */
    GPI_DEVICE uint32_t operator()(S stored) const
    {
        V x = edge_order<V>(stored, flip);
        uint32_t bin = 0;
        for (uint32_t rest = bins; rest > 1; rest -= rest / 2)
            if (edge_order<V>(edges[bin + rest / 2], flip) <= x)
                bin += rest / 2;
        bool inside = edge_order<V>(edges[0], flip) <= x && x < edge_order<V>(edges[bins], flip);
        return inside ? bin : no_bin;
    }
};

/* Copies the edges to shared memory and makes the functor read them there; others have none. */
template <class Bin> GPI_DEVICE void stage_edges(Bin &, void *)
{
}

template <class S, class V> GPI_DEVICE void stage_edges(BinEdges<S, V> &bin, void *s_memory)
{
    S *s_edges = static_cast<S *>(s_memory);
    for (uint32_t i = threadIdx.x; i <= bin.bins; i += blockDim.x)
        s_edges[i] = bin.edges[i];
    bin.edges = s_edges;
}

/* ---- the loop over the input ---- */

template <class S> union Vector {
    uint4 whole;
    S item[16 / sizeof(S)];
};

/* Where the 16-byte aligned middle of an array begins and how long it is. */
template <class S> struct Middle {
    const S *in;
    uint64_t head; /* items before it, fewer than a vector */
    uint64_t count;
    uint64_t tail; /* items after it, fewer than a vector */

    GPI_DEVICE Middle(const S *in_, uint64_t n) : in(in_)
    {
        constexpr uint32_t per = 16 / sizeof(S);
        uint32_t to_boundary = (uint32_t)(0 - reinterpret_cast<uintptr_t>(in)) % 16 / sizeof(S);
        head = to_boundary < n ? to_boundary : n;
        count = (n - head) / per;
        tail = (n - head) % per;
    }

    GPI_DEVICE const uint4 *vectors() const
    {
        return reinterpret_cast<const uint4 *>(in + head);
    }
};

template <class S>
GPI_DEVICE void load_vectors(const Middle<S> &middle, uint64_t first, uint64_t stride,
                             Vector<S> (&v)[histogram_tuning.vectors])
{
#pragma unroll
    for (int k = 0; k < histogram_tuning.vectors; k++)
        if (first + k * stride < middle.count)
            v[k].whole = __ldcs(middle.vectors() + first + k * stride);
}

/*
 * Call f(value) for every item, each by one thread of the grid. The next vectors are on their way
 * while the current ones are used. f must not synchronise: threads leave at different times.
 */
template <class S, class F> GPI_DEVICE void for_each_item(const S *in, uint64_t n, F f)
{
    constexpr int per = 16 / sizeof(S);
    const Middle<S> middle(in, n);
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t step = stride * histogram_tuning.vectors;
    Vector<S> current[histogram_tuning.vectors], next[histogram_tuning.vectors];
    uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

    if (first < middle.head)
        f(in[first]);
    if (first < middle.tail)
        f(in[n - 1 - first]);
    load_vectors(middle, first, stride, current);
    for (; first < middle.count; first += step) {
        load_vectors(middle, first + step, stride, next);
#pragma unroll
        for (int k = 0; k < histogram_tuning.vectors; k++) {
            if (first + k * stride < middle.count) {
#pragma unroll
                for (int i = 0; i < per; i++)
                    f(current[k].item[i]);
            }
        }
#pragma unroll
        for (int k = 0; k < histogram_tuning.vectors; k++)
            current[k] = next[k];
    }
}

/* ---- counters ---- */

/* What both kernels write. outside holds n before; blocks take off what they counted. */
struct HistogramOut {
    void *counts;
    unsigned long long *outside; /* or nullptr */
    uint64_t n;                  /* items of this launch */
    const uint64_t *device_n;    /* of all launches; NULL, or n is a bound */
    uint64_t begin;              /* items of the launches before */
    uint32_t bins;
    bool wide;  /* uint64_t counters */
    bool store; /* one block alone, into memory that holds nothing: write instead of adding */
};

/* The count on the device, if there is one, to be taken when it is needed: */
GPI_DEVICE uint64_t ask_count(const HistogramOut &out)
{
    return out.device_n ? *out.device_n : ~(uint64_t)0;
}

/* what it leaves for a launch. */
GPI_DEVICE void take_count(HistogramOut &out, uint64_t all)
{
    out.n = all > out.begin ? min(out.n, all - out.begin) : 0;
}

GPI_DEVICE void add_count(const HistogramOut &out, uint32_t bin, uint32_t count)
{
    if (out.wide)
        atomicAdd(static_cast<unsigned long long *>(out.counts) + bin, (unsigned long long)count);
    else
        atomicAdd(static_cast<uint32_t *>(out.counts) + bin, count);
}

GPI_DEVICE void put_count(const HistogramOut &out, uint32_t bin, uint32_t count)
{
    if (!out.store) {
        if (count)
            add_count(out, bin, count);
    } else if (out.wide) {
        static_cast<uint64_t *>(out.counts)[bin] = count;
    } else {
        static_cast<uint32_t *>(out.counts)[bin] = count;
    }
}

/* Write how many items are in no bin, given how many each thread knows to be in one. Block-wide. */
GPI_DEVICE void put_outside(const HistogramOut &out, uint64_t inside)
{
    __shared__ unsigned long long s_inside;
    if (!out.outside)
        return;
    if (threadIdx.x == 0)
        s_inside = 0;
    __syncthreads();
    if (inside)
        atomicAdd(&s_inside, (unsigned long long)inside);
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    /* Modulo 2^64 the sum is right in any order: block 0 adds n, every block takes off its own. */
    unsigned long long rest = (blockIdx.x == 0 ? out.n : 0) - s_inside;
    if (out.store)
        *out.outside = rest;
    else
        atomicAdd(out.outside, rest);
}

/* ---- counting in shared memory ---- */

/* The table of a block: rows of 2^column_bits counters, one row per bin. A lane counts in
 * the column of its number, so with 32 columns no two lanes of a warp meet in a bank. With
 * fewer the rows are permuted within 32 words, so that bins a power of two apart do not all
 * meet in one bank. */
struct SharedTable {
    uint32_t *s_counts;
    uint32_t column_bits;
    uint32_t mask; /* word bits that the permutation may change */

    GPI_DEVICE SharedTable(uint32_t *memory, uint32_t bits)
        : s_counts(memory), column_bits(bits), mask(31u >> bits << bits)
    {
    }

    GPI_DEVICE uint32_t &at(uint32_t row, uint32_t column) const
    {
        uint32_t word = (row << column_bits) + column;
        return s_counts[word ^ ((word >> 5) & mask)];
    }

    GPI_DEVICE uint32_t row_sum(uint32_t row) const
    {
        uint32_t sum = 0;
        /* Begin at different columns, or all lanes would read the same bank. */
        for (uint32_t c = 0; c < 1u << column_bits; c++)
            sum += at(row, (c + threadIdx.x) & ((1u << column_bits) - 1));
        return sum;
    }
};

/* How the shared memory of a block is laid out: table, then edges. */
struct SharedShape {
    uint32_t column_bits;
    uint32_t table_words; /* a multiple of 32 */
    bool edges;           /* the edges are staged behind the table */
};

/*
 * Count in shared memory, then add the table to the result.
 *
 * Grid: at most one block per multiprocessor, histogram_tuning.threads each. Dynamic shared memory:
 * table_words counters, and the edges if they are staged. A block sees fewer than 2^32 items, so
 * its counters do not wrap. by_value: rows are the 256 values of an 8-bit dtype, binned at the end;
 * otherwise rows are bins. After: out.counts and out.outside hold or have got the counts of [0, n).
 */
template <bool by_value, class Bin>
__global__ void __launch_bounds__(histogram_tuning.threads, 1)
    count_shared_k(Bin bin, const typename Bin::Stored *in, SharedShape shape, HistogramOut out)
{
    extern __shared__ __align__(16) uint32_t s_memory[];
    const SharedTable table(s_memory, shape.column_bits);
    const uint32_t column = threadIdx.x & ((1u << shape.column_bits) - 1);
    const uint64_t asked = ask_count(out);

    /* 1. Clear the table. */
    for (uint32_t i = threadIdx.x; i < shape.table_words; i += blockDim.x)
        s_memory[i] = 0;
    if (shape.edges)
        stage_edges(bin, s_memory + shape.table_words);
    __syncthreads();
    take_count(out, asked);

    /* 2. Count. The hardware merges lanes that add to one address. */
    for_each_item(in, out.n, [&](typename Bin::Stored x) {
        if constexpr (by_value) {
            atomicAdd(&table.at((uint32_t)x, column), 1u);
        } else {
            uint32_t b = bin(x);
            if (b != no_bin)
                atomicAdd(&table.at(b, column), 1u);
        }
    });
    __syncthreads();

    /* 3. Add the rows to the result. */
    uint64_t inside = 0;
    const uint32_t rows = by_value ? 256 : out.bins;
    for (uint32_t row = threadIdx.x; row < rows; row += blockDim.x) {
        uint32_t count = table.row_sum(row);
        uint32_t b = row;
        if constexpr (by_value)
            b = bin((typename Bin::Stored)row);
        if (b == no_bin)
            continue;
        inside += count;
        put_count(out, b, count);
    }
    put_outside(out, inside);
}

/* ---- counting in global memory ---- */

/*
 * Count by global atomics.
 *
 * Grid: any, histogram_tuning.threads each. A thread adds up runs of equal bins first, so constant
 * and sorted input does not serialise on one counter. out.store must not be set. The input is
 * read past the cache's normal order (streaming loads), so that the counters stay in L2.
 * After: as count_shared_k.
 */
template <class Bin>
__global__ void __launch_bounds__(histogram_tuning.threads, 1)
    count_global_k(Bin bin, const typename Bin::Stored *in, HistogramOut out)
{
    uint32_t open = no_bin, run = 0;
    uint64_t inside = 0;
    take_count(out, ask_count(out));

    /* 1. Count, one atomic per run. */
    for_each_item(in, out.n, [&](typename Bin::Stored x) {
        uint32_t b = bin(x);
        if (b != open) {
            if (run)
                add_count(out, open, run);
            open = b;
            run = 0;
        }
        run += b != no_bin;
        inside += b != no_bin;
    });
    if (run)
        add_count(out, open, run);

    /* 2. What is left is in no bin. */
    put_outside(out, inside);
}

} // namespace GPI_SPACE
