/* SPDX-License-Identifier: MIT */
/*
 * COO to CSR: the pass that makes a matrix of entries in order: where runs of equal entries begin,
 * columns, row pointers.
 *
 * Before they are sorted, entries are taken as they were given, in the hope that they are in order.
 * First in the hope that they need not be merged either, so that each goes where it is, with its
 * value, and no block waits for another (csr_ordered_kernels.cuh). The first that finds they are
 * not as hoped leaves a word in memory, which says what is to be done, and no other goes on.
 *
 * Where runs are merged, a tile counts its runs and publishes how many; where its first one goes is
 * known when all before it have. Tiles do not wait for each other but for that.
 */
#pragma once

#include "csr/csr_ahead.cuh"
#include "csr/csr_segment.cuh"
#include "device/grid.cuh"
#include "device/search.cuh"

namespace GPI_SPACE
{

/* ---- the pass -------------------------------------------------------------------------------- */

constexpr int write_warps = csr_tuning.threads / 32;
template <class I> constexpr uint32_t write_tile = EntrySegment<I>::entries *write_warps;
template <class I> constexpr int write_blocks = sizeof(I) == 4 ? 4 : 3; /* per multiprocessor */
static_assert(write_tile<uint64_t> >= GPI_CSR_WRITE_TILE, "the states are enough");

template <class I, class O> struct WriteArgs {
    Shape shape;
    gpi_csr_heads heads;
    I *out_cols;
    O *out_pointers;      /* NULL: not wanted */
    uint64_t *out_nnz;    /* NULL: not wanted */
    uint64_t *unsorted;   /* NULL, or words: see struct gpi_csr_sorted */
    const I *sorted_cols; /* NULL, or those of entries whose rows alone were in order */
    uint64_t longest_row; /* that is sorted for that */
    const char *values;   /* of entries that stay where they are */
    char *out_values;
    uint32_t value_bytes;
    bool merged, duplicates_are_errors;
    gpi_state state;
    gpi_reporter reporter;
};

/* What the warps of a block share. */
struct WriteShared {
    Launch launch;
    uint32_t next;
    uint32_t stop;
    uint64_t base;
    uint32_t runs[write_warps]; /* of the segments */
};

/* The next tile, and whether entries have turned out to be in another order; by one thread. */
template <bool GIVEN, class Args>
GPI_DEVICE void write_claim(const Args &a, uint32_t tile, uint32_t tiles, WriteShared &s)
{
    s.next = a.merged ? tile_next(a.state, tiles) : tile + gridDim.x;
    if constexpr (GIVEN)
        s.stop = *(volatile uint64_t *)a.unsorted != 0;
}

/* A tile whose runs are counted, from the segment of each warp. */
template <class Source, class I, class O>
GPI_DEVICE void write_out(const WriteArgs<I, O> &a, const Source &in, const EntrySegment<I> &e,
                          uint64_t at, uint32_t before)
{
    const uint64_t word = e.begin / 32 + lane_id();
    const bool keeps = lane_id() < EntrySegment<I>::steps;
    if (a.merged && keeps && (uint32_t)lane_id() * 32 < e.count) {
        a.heads.bits[word] = e.heads;
        if (a.heads.wide)
            ((uint64_t *)a.heads.ranks)[word] = at + before;
        else
            ((uint32_t *)a.heads.ranks)[word] = (uint32_t)(at + before);
    }
    if (e.has_end && a.out_nnz && lane_id() == 31)
        *a.out_nnz = at + before; /* all of them are before the lane */
    e.write_cols(at, before, a.out_cols);
    if (a.out_pointers)
        e.write_pointers(in, at, before, a.shape.num_rows, a.out_pointers);
}

/* The first entry of each step that repeats the one before. */
template <class Source, class I>
GPI_DEVICE void report_again(const Source &in, const EntrySegment<I> &e,
                             const gpi_reporter &reporter)
{
    const uint32_t again = e.heads ^ e.kept();
    if (lane_id() >= EntrySegment<I>::steps || !again)
        return;
    const uint64_t i = e.begin + 32 * lane_id() + __ffs(again) - 1;
    I row, col;
    in.load(i, row, col);
    report(reporter, GPI_RULE_DUPLICATE, GPI_CSR_DUPLICATE_AT(i), row, col);
}

/* Find the runs of a tile, whose numbers are shared, `before` of them in this segment before the
 * step that this lane keeps; whether its entries are in another order or wrong, for the block. */
template <class Source, class I, class O>
GPI_DEVICE bool write_count(const WriteArgs<I, O> &a, const Source &in, EntrySegment<I> &e,
                            WriteShared &s, uint32_t &before)
{
    bool wrong = e.template find<Source::given>(a.shape, a.merged) || e.cols_fall;
    if (a.duplicates_are_errors) {
        if (Source::given)
            wrong |= lane_id() < e.steps && e.heads != e.kept();
        else
            report_again(in, e, a.reporter);
    }
    const uint32_t own = __popc(e.heads);
    before = warp_exclusive(own);
    if (lane_id() == 31)
        s.runs[threadIdx.x / 32] = before + own;
    if constexpr (Source::given)
        return __syncthreads_or(wrong);
    __syncthreads();
    return false;
}

/*
 * Grid: any; a tile is a segment for each warp, and one has the end. After: out_cols, out_pointers
 * but for what is left to csr_fill_k, *out_nnz, and with `merged` the heads; or, of entries as they
 * were given, a.unsorted[0] is their number. Nothing is done to entries that were given unless some
 * are to be merged or their columns have been sorted, and to others if that was done.
 */
template <class Source, class I, class O>
__global__ __launch_bounds__(csr_tuning.threads,
                             write_blocks<I>) void csr_write_k(Source in, WriteArgs<I, O> a)
{
    __shared__ WriteShared s;
    const uint32_t warp = threadIdx.x / 32;
    grid_wait();
    a.shape.take_counts();
    bool nothing = !Source::given && a.unsorted && a.unsorted[0] == 0;
    if constexpr (Source::given) {
        nothing = a.unsorted[0] || !(a.unsorted[1] | a.unsorted[2]);
        if (a.unsorted[2])
            in.cols = a.sorted_cols;
    }
    const uint64_t n = a.shape.n;
    const uint32_t tiles = nothing ? 0 : (uint32_t)(n / write_tile<I> + 1);
    if (threadIdx.x == 0) {
        s.launch = a.merged ? launch_begin(a.state, tiles) : Launch{0, blockIdx.x};
        s.stop = Source::given && *(volatile uint64_t *)a.unsorted != 0;
    }
    __syncthreads();
    const TileState<uint32_t> state(a.state, s.launch.epoch);
    if (threadIdx.x == 0 && a.merged && s.launch.tile == 0)
        state.retire_one(a.state, tiles);
    CountsBefore runs;
    for (uint32_t tile = s.launch.tile; tile < tiles; tile = s.next) {
        if (s.stop) {
            __syncthreads();
            if (threadIdx.x == 0) {
                if (a.merged)
                    state.publish(tile, 0);
                write_claim<Source::given>(a, tile, tiles, s);
            }
            __syncthreads();
            continue;
        }
        EntrySegment<I> e(in, (uint64_t)tile * write_tile<I> + warp * e.entries, n);
        uint32_t before;
        const bool wrong = write_count(a, in, e, s, before);
        if (warp == 0) {
            const uint32_t all = warp_sum(lane_id() < write_warps ? s.runs[lane_id()] : 0);
            if (lane_id() == 0) {
                if (a.merged)
                    state.publish(tile, all);
                if (wrong)
                    *(volatile uint64_t *)a.unsorted = n;
                write_claim<Source::given>(a, tile, tiles, s);
            }
            const uint64_t base =
                a.merged && !wrong ? runs.exclusive(state, tile) : (uint64_t)tile * write_tile<I>;
            if (lane_id() == 0)
                s.base = base;
        }
        __syncthreads();
        if (!wrong && s.next < tiles)
            in.prefetch((uint64_t)s.next * write_tile<I>, n, write_tile<I>);
        uint64_t at = s.base;
        for (uint32_t w = 0; w < warp; w++)
            at += s.runs[w];
        if (!wrong)
            write_out(a, in, e, at, before);
        __syncthreads(); /* what is shared is read */
    }
}

/* ---- pointers that are left ------------------------------------------------------------------ */

/* See EntrySegment. Pointer p is of the segment with the first entry of row p or later, or of the
 * end, which counts as one more. What is left of pointer_block pointers is of the segments of the
 * first and of the last of them alone, as more are left of a segment than they are. */
template <class Source, class I, class O> struct LeftPointers {
    static constexpr uint64_t block = csr_tuning.pointer_block;
    static constexpr uint32_t entries = EntrySegment<I>::entries;

    Source in;
    gpi_csr_heads heads;
    const uint64_t *out_nnz;
    O *out;
    uint64_t n, num_rows, segments;

    GPI_DEVICE uint64_t end_of(uint64_t s) const
    {
        return in.row(min((s + 1) * entries, n) - 1) + 1;
    }

    GPI_DEVICE uint64_t begin_of(uint64_t s) const
    {
        return s == 0 ? 0 : end_of(s - 1);
    }

    /* The part in [low, high) of what a segment has left, by a warp. */
    GPI_DEVICE void take(uint64_t s, uint64_t low, uint64_t high) const
    {
        const uint64_t first = begin_of(s), end = s == segments ? num_rows + 1 : end_of(s);
        if (end - first <= block)
            return;
        if (s == segments) {
            const uint64_t from = max(first, low), total = heads.bits ? *out_nnz : n;
            for (uint64_t p = from + lane_id(); p < high; p += 32)
                out[p] = (O)total;
            return;
        }
        for (uint64_t i = s * entries + lane_id(); i - lane_id() < min((s + 1) * entries, n);
             i += 32) {
            uint64_t from = 0, to = 0;
            if (i < n) {
                from = max(i ? in.row(i - 1) + 1 : 0, low);
                to = min(in.row(i) + 1, high);
            }
            const bool any = to > from;
            write_gaps(out, from, any ? to - from : 0,
                       any && heads.bits ? heads_before(heads, i) : i);
        }
    }

    /* Of the pointers from `first` on, by a block. */
    GPI_DEVICE void fill(uint64_t first, uint64_t (&found)[2]) const
    {
        const uint64_t end = min(first + block, num_rows + 1);
        const uint32_t warp = threadIdx.x / 32;
        if (warp < 2) {
            const uint64_t p = warp ? end - 1 : first;
            found[warp] =
                partition_point_lanes(segments, [&](uint64_t s) { return end_of(s) <= p; });
        }
        __syncthreads();
        const uint64_t low = first + warp * (block / write_warps);
        const uint64_t high = min(low + block / write_warps, end);
        const int count = found[0] == found[1] ? 1 : 2;
#pragma unroll 1 /* one copy of what the loop has */
        for (int k = 0; k < count; k++)
            take(found[k], low, high);
        __syncthreads();
    }
};

/* Grid: any. a.unsorted, if not NULL: nothing is done unless it says that these are the entries. */
template <class Source, class I, class O>
__global__ __launch_bounds__(csr_tuning.threads) void csr_fill_k(Source in, WriteArgs<I, O> a)
{
    __shared__ uint64_t found[2];
    constexpr uint64_t block = csr_tuning.pointer_block;
    grid_wait();
    if (a.unsorted && (*a.unsorted == 0) != Source::given)
        return;
    a.shape.take_counts();
    const uint64_t n = a.shape.n, num_rows = a.shape.num_rows;
    if (Source::given && !(a.unsorted[1] | a.unsorted[2]))
        a.heads.bits = nullptr; /* nothing was merged */
    const LeftPointers<Source, I, O> left = {in,
                                             a.heads,
                                             a.out_nnz,
                                             a.out_pointers,
                                             n,
                                             num_rows,
                                             (n + EntrySegment<I>::entries - 1) /
                                                 EntrySegment<I>::entries};
    for (uint64_t b = blockIdx.x; b * block <= num_rows; b += gridDim.x)
        left.fill(b * block, found);
}

} // namespace GPI_SPACE
