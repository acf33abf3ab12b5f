/* SPDX-License-Identifier: MIT */
/* COO to CSR: what a run of duplicates becomes. The CPU side is csr_merge.c. */
#pragma once

#include "csr/csr_kernels.cuh"
#include "device/ops.cuh"

namespace GPI_SPACE
{

struct Runs {
    uint64_t n;
    const uint64_t *device_n; /* NULL, or n is its bound */
    const uint8_t *flags;
    Positions positions;
    Unsorted unsorted; /* the values */

    /* Whether i continues a run. */
    GPI_DEVICE bool inside(uint64_t i) const
    {
        return i < n && !flags[i];
    }
};

struct Add {
    template <class A> static GPI_DEVICE A apply(A a, A b)
    {
        return a + b;
    }
};

/* Half precision as it is stored, in a word that can be shuffled:
 * what is selected keeps its bits. */
template <class S> struct Half {
    uint32_t bits;

    Half() = default;
    explicit GPI_DEVICE Half(S s) : bits(s.bits)
    {
    }
    explicit GPI_DEVICE operator S() const
    {
        return S{(uint16_t)bits};
    }
};

template <class A> GPI_DEVICE bool ordered_before(A a, A b)
{
    return less(a, b);
}
template <class S> GPI_DEVICE bool ordered_before(Half<S> a, Half<S> b)
{
    return less(widen<float>((S)a), widen<float>((S)b));
}

struct Smaller {
    template <class A> static GPI_DEVICE A apply(A a, A b)
    {
        return ordered_before(b, a) ? b : a;
    }
};

struct Larger {
    template <class A> static GPI_DEVICE A apply(A a, A b)
    {
        return ordered_before(a, b) ? b : a;
    }
};

constexpr uint64_t sum_block = GPI_CSR_SUM_BLOCK;

/* Fold up to 32 entries from i on; *end is where it stopped: at the end of the run, or after 32. */
template <class Op, class A, class S>
GPI_DEVICE A fold_block(const S *values, const Runs &runs, uint64_t i, uint64_t *end)
{
    A a = widen<A>(values[i]);
    uint64_t j = i + 1;
    for (; j < i + sum_block && runs.inside(j); j++)
        a = Op::apply(a, widen<A>(values[j]));
    *end = j;
    return a;
}

/*
 * The rest of a run whose first block is folded to a: a warp takes 32 blocks at once, one per lane,
 * and folds the blocks in order. All lanes call with the same i and a; all get the result.
 */
template <class Op, class A, class S>
GPI_DEVICE A fold_long(const S *values, const Runs &runs, uint64_t i, A a)
{
    for (;; i += 32 * sum_block) {
        uint64_t begin = i + lane_id() * sum_block, end = begin;
        A block = a;
        if (runs.inside(begin))
            block = fold_block<Op, A>(values, runs, begin, &end);
        uint32_t ended = __ballot_sync(all_lanes, end < begin + sum_block);
        uint32_t some = __ballot_sync(all_lanes, end > begin);
        /* What lies behind the first block that ended is of other runs. */
        int last = ended ? __ffs(ended) - 1 : 31;
        for (int lane = 0; lane <= last; lane++) {
            A next = shuffle(block, lane);
            if (some >> lane & 1)
                a = Op::apply(a, next);
        }
        if (ended)
            return a;
    }
}

/* The value of every run at its place. Lanes fold runs up to 32;
 * longer ones are left to the warp. */
template <class Op, class A, class S>
__global__ __launch_bounds__(csr_tuning.threads) void csr_merge_k(const S *values, Runs runs,
                                                                  S *out)
{
    runs.n = item_count(runs);
    values = runs.unsorted.choose(values);
    if ((uint64_t)blockIdx.x * csr_tile >= runs.n)
        return;
    for (int k = 0; k < csr_tuning.items; k++) {
        uint64_t i = csr_entry(blockIdx.x, k), end = i;
        bool head = i < runs.n && runs.flags[i];
        A a = A();
        if (head)
            a = fold_block<Op, A>(values, runs, i, &end);
        uint32_t todo = __ballot_sync(all_lanes, head && end == i + sum_block && runs.inside(end));
        while (todo) {
            int leader = __ffs(todo) - 1;
            A whole = fold_long<Op>(values, runs, shuffle(end, leader), shuffle(a, leader));
            if (lane_id() == leader)
                a = whole;
            todo &= todo - 1;
        }
        if (head) /* a single value keeps its bits */
            out[runs.positions[i]] = end == i + 1 ? values[i] : narrow<S>(a);
    }
}

/* The first or the last value of every run at its place. */
template <class S>
__global__ __launch_bounds__(csr_tuning.threads) void csr_pick_k(const S *values, Runs runs,
                                                                 bool last, S *out)
{
    runs.n = item_count(runs);
    values = runs.unsorted.choose(values);
    for (int k = 0; k < csr_tuning.items; k++) {
        uint64_t i = csr_entry(blockIdx.x, k);
        if (i >= runs.n)
            return;
        uint8_t head = runs.flags[i];
        if (last ? !runs.inside(i + 1) : head)
            out[runs.positions[i] + head - 1] = values[i];
    }
}

} // namespace GPI_SPACE
