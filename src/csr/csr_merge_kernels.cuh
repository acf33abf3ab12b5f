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
    gpi_csr_heads heads;
    Unsorted unsorted; /* the values */

    /* Whether i continues a run. */
    GPI_DEVICE bool inside(uint64_t i) const
    {
        return i < n && !is_head(heads, i);
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

/* Entries of a warp of a tile: as many steps as a thread has items, of 32 lanes. */
GPI_DEVICE uint64_t merge_entry(uint64_t tile, int k)
{
    const uint64_t warp = tile * (csr_tuning.threads / 32) + threadIdx.x / 32;
    return (warp * csr_tuning.items + k) * 32 + lane_id();
}

/* Of the steps of a warp: which entries begin a run, and which of these are alone in it; behind the
 * last entry runs seem to begin. The same in all lanes. */
struct MergeSteps {
    static constexpr int steps = csr_tuning.items;
    uint32_t heads[steps], alone[steps];
    bool open[steps]; /* the last run goes on in the next step */
    bool all;         /* entries are there, and alone */

    GPI_DEVICE MergeSteps(const Runs &runs, uint64_t tile)
    {
        const uint64_t first = merge_entry(tile, 0) / 32;
        uint32_t bits[steps + 1];
#pragma unroll
        for (int k = 0; k <= steps; k++) {
            const uint64_t begin = (first + k) * 32;
            bits[k] = begin < runs.n ? runs.heads.bits[first + k] : ~0u;
            if (begin < runs.n && runs.n - begin < 32)
                bits[k] |= ~0u << (uint32_t)(runs.n - begin);
        }
        all = (first + steps) * 32 <= runs.n;
#pragma unroll
        for (int k = 0; k < steps; k++) {
            heads[k] = bits[k];
            alone[k] = bits[k] & (bits[k] >> 1 | bits[k + 1] << 31);
            open[k] = !(bits[k + 1] & 1);
            all = all && alone[k] == ~0u;
        }
    }
};

/* A run that goes on behind its step, by the lane of its head. Lanes fold up to 32; longer ones are
 * left to the warp. */
template <class Op, class A, class S>
GPI_DEVICE A merge_open(const S *values, const Runs &runs, uint64_t i, bool head)
{
    uint64_t end = i;
    A a = A();
    if (head)
        a = fold_block<Op, A>(values, runs, i, &end);
    const uint32_t todo =
        __ballot_sync(all_lanes, head && end == i + sum_block && runs.inside(end));
    if (todo) {
        const int leader = __ffs(todo) - 1;
        a = fold_long<Op>(values, runs, shuffle(end, leader), shuffle(a, leader));
    }
    return a;
}

/* Steps with runs of several entries; a lane keeps what it says of the step of its number. */
struct SeveralSteps {
    uint32_t heads = 0, several = 0; /* which entries begin a run, and one of several */
    uint32_t before = 0;             /* runs of the steps before */
    bool open = false;               /* the last run goes on in the next step */

    /* The runs of step k that have several entries, by the lanes of their heads: the value of each
     * lane goes to the left, a place at a time, as long as a run has more. */
    template <class Op, class A, class S>
    GPI_DEVICE void merge(const S *values, const Runs &runs, uint64_t tile, int k, uint64_t first,
                          S *out) const
    {
        const uint32_t own = shuffle(several, k), all = shuffle(heads, k);
        const uint64_t i = merge_entry(tile, k);
        if (!own)
            return;
        const bool is_head = own >> lane_id() & 1;
        const uint32_t right = all >> lane_id() >> 1;
        const uint32_t length = right ? __ffs(right) : 32 - lane_id();
        const bool goes_on = shuffle((int)open, k) && !right;
        const uint32_t place = shuffle(before, k) + __popc(all & ((1u << lane_id()) - 1));
        const A value = i < runs.n ? widen<A>(values[i]) : A();
        A a = value;
        for (uint32_t t = 1; __any_sync(all_lanes, is_head && !goes_on && t < length); t++) {
            const A next = shuffle(value, (lane_id() + t) % 32);
            a = t < length ? Op::apply(a, next) : a;
        }
        if (__any_sync(all_lanes, is_head && goes_on)) {
            const A whole = merge_open<Op, A>(values, runs, i, is_head && goes_on);
            a = goes_on ? whole : a;
        }
        if (is_head)
            out[first + place] = narrow<S>(a);
    }
};

/* The value of every run at its place. A single value keeps its bits. */
template <class Op, class A, class S>
GPI_DEVICE void merge_tile(const S *values, const Runs &runs, uint64_t tile, S *out)
{
    constexpr int steps = MergeSteps::steps;
    S value[steps];
    if (merge_entry(tile, 0) - lane_id() >= runs.n)
        return;
#pragma unroll
    for (int k = 0; k < steps; k++)
        if (merge_entry(tile, k) < runs.n)
            value[k] = values[merge_entry(tile, k)];
    const MergeSteps step(runs, tile);
    const uint64_t first = heads_rank(runs.heads, merge_entry(tile, 0) / 32);
    if (step.all) {
#pragma unroll
        for (int k = 0; k < steps; k++)
            out[first + lane_id() + 32 * k] = value[k];
        return;
    }
    uint32_t before = 0;
    SeveralSteps several;
#pragma unroll
    for (int k = 0; k < steps; k++) {
        const uint32_t left = step.heads[k] & ((1u << lane_id()) - 1);
        if ((step.alone[k] >> lane_id() & 1) && merge_entry(tile, k) < runs.n)
            out[first + before + __popc(left)] = value[k];
        if (lane_id() == k)
            several = {step.heads[k], step.heads[k] & ~step.alone[k], before, step.open[k]};
        before += __popc(step.heads[k]);
    }
#pragma unroll 1
    for (int k = 0; k < steps; k++)
        several.merge<Op, A>(values, runs, tile, k, first, out);
}

/* Grid: any. */
template <class Op, class A, class S>
__global__ __launch_bounds__(csr_tuning.threads) void csr_merge_k(const S *values, Runs runs,
                                                                  S *out)
{
    grid_wait();
    if (runs.unsorted.is_done())
        return;
    runs.n = item_count(runs);
    values = runs.unsorted.choose(values);
#pragma unroll 1
    for (uint64_t tile = blockIdx.x; tile * csr_tile < runs.n; tile += gridDim.x)
        merge_tile<Op, A>(values, runs, tile, out);
}

/* The first or the last value of every run at its place. Grid: any. */
template <class S>
__global__ __launch_bounds__(csr_tuning.threads) void csr_pick_k(const S *values, Runs runs,
                                                                 bool last, S *out)
{
    grid_wait();
    if (runs.unsorted.is_done())
        return;
    runs.n = item_count(runs);
    values = runs.unsorted.choose(values);
    csr_tiles<true>(runs.n, [&](uint64_t tile) {
        for (int k = 0; k < csr_tuning.items; k++) {
            const uint64_t i = merge_entry(tile, k);
            if (i >= runs.n)
                break;
            const bool head = is_head(runs.heads, i);
            if (last ? !runs.inside(i + 1) : head)
                out[heads_before(runs.heads, i) + head - 1] = values[i];
        }
    });
}

} // namespace GPI_SPACE
