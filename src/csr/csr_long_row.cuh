/* SPDX-License-Identifier: MIT */
/* Rows that fill several tiles of SpMV or SpMM: the pieces of their sums. */
#pragma once

#include "csr/csr_spmv_starts.cuh"
#include "device/grid.cuh"
#include "device/ops.cuh"

namespace GPI_SPACE
{

/* The lanes of a warp by columns: a lane of a group has N of them. Of SpMV each lane is a group. */
struct SpmvLanes {
    static constexpr int N = 1;

    GPI_DEVICE uint32_t columns() const
    {
        return 1;
    }
    GPI_DEVICE uint32_t column(int) const
    {
        return 0;
    }
    GPI_DEVICE uint32_t group() const
    {
        return lane_id();
    }
    GPI_DEVICE uint32_t size() const
    {
        return 1;
    }
};

/* The pieces of a long row, in groups of 512, and then the groups: the same order whichever warp is
 * the last one. V: what has pieces, columns() numbers each, and stores a row. */
template <class V, class Lanes> struct SpmvLongRow {
    using A = typename V::A;
    static constexpr uint32_t each = 512;
    static constexpr int N = Lanes::N, ahead = 8 / N; /* loads that are on their way together */
    const SpmvTiles &a;
    const V &v;
    const Lanes lanes;
    uint64_t row;
    uint32_t first, last; /* tiles */

    GPI_DEVICE SpmvLongRow(const SpmvTiles &a_, const V &v_, const Lanes &lanes_, uint64_t row_)
        : a(a_), v(v_), lanes(lanes_), row(min(row_, a_.num_rows - 1))
    {
        first = (uint32_t)a.tile_of(a.pointer(row) + row);
        last = (uint32_t)a.tile_of(a.pointer(row + 1) + row);
    }

    /* A tile of this row alone, which has the counter and the sum of a group. */
    GPI_DEVICE uint32_t tile_of(uint32_t g) const
    {
        return g ? first + g * each - 1 : first + 1;
    }

    /* f(a column's place among those of the lane, its number in the piece at slot). */
    template <class F> GPI_DEVICE void for_columns(uint64_t slot, F f) const
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            if (lanes.column(k) < lanes.columns())
                f(k, v.pieces + slot * lanes.columns() + lanes.column(k));
    }

    /* How many have counted before. A counter is 0 before the first one. If it is a tile state, it
     * may also be what another call has left there: a word whose tag is not all ones, or, after row
     * pointers that fell, a number with those of a call before. */
    GPI_DEVICE uint32_t count(uint64_t *counter) const
    {
        if (a.starts)
            return (uint32_t)add_one(counter);
        auto *const word = (unsigned long long *)counter;
        const unsigned long long own = ~0ull << 32 | (uint64_t)a.call * spmv_counts;
        atomicMax(word, own);
        for (;;) {
            const uint64_t before = add_one(counter);
            if (before - own < spmv_counts)
                return (uint32_t)(before - own);
            atomicCAS(word, before + 1, own);
        }
    }

    /* Who sees the sum sees what the warp wrote before. Unlike a fence this leaves the first-level
     * cache as it is, which many pieces would empty all the time. */
    static GPI_DEVICE uint64_t add_one(uint64_t *counter)
    {
        uint64_t before;
        asm volatile("atom.release.gpu.global.add.u64 %0, [%1], 1;"
                     : "=l"(before)
                     : "l"(counter)
                     : "memory");
        return before;
    }

    /* Leave sums, of the first group's lanes, at slot and count: whether that was the last of
     * `all`. By a warp. */
    GPI_DEVICE bool leave(uint64_t slot, const A (&sum)[N], uint64_t *counter, uint32_t all) const
    {
        uint32_t before = 0;
        if (lanes.group() == 0)
            for_columns(slot, [&](int k, A *piece) { *piece = sum[k]; });
        __syncwarp();
        if (lane_id() == 0)
            before = count(counter);
        if (shuffle(before, 0) + 1 != all)
            return false;
        __threadfence(); /* sees the sums of those that have counted */
        if (lane_id() == 0)
            *counter = 0; /* for the next call */
        return true;
    }

    /* sum = slot_of(0) + .. + slot_of(n - 1). */
    template <class F> GPI_DEVICE void total(uint32_t n, F slot_of, A (&sum)[N]) const
    {
        const uint32_t groups = 32 / lanes.size();
#pragma unroll
        for (int k = 0; k < N; k++)
            sum[k] = 0;
#pragma unroll 4
        for (uint32_t i = lanes.group(); i < n; i += groups)
            for_columns(slot_of(i), [&](int k, const A *piece) { sum[k] += __ldcg(piece); });
        for (uint32_t d = lanes.size(); d < 32; d *= 2)
#pragma unroll
            for (int k = 0; k < N; k++)
                sum[k] += __shfl_xor_sync(all_lanes, sum[k], d);
    }

    /* sum, the tile's piece, is no longer that. */
    GPI_DEVICE void leave_piece(uint32_t tile, A (&sum)[N]) const
    {
        if (first > tile || tile > last || last - first < 2 || last >= a.tiles)
            return;  /* row pointers fall */
        grid_wait(); /* the counters are zeros */
        const uint32_t g = (tile - first) / each, groups = (last - first) / each + 1;
        const uint32_t from = first + g * each, pieces = min(last - from + 1, each);
#pragma unroll 1
        for (bool upper = false;; upper = true) { /* pieces, groups */
            const uint32_t n = upper ? groups : pieces;
            auto slot_of = [&](uint32_t k) {
                const uint32_t of = upper ? tile_of(k) : from + k;
                return 2 * (uint64_t)of + (upper || of == last);
            };
            if (!leave(slot_of(upper ? g : tile - from), sum,
                       a.left + (upper ? first + 2 : tile_of(g)), n))
                return;
            total(n, slot_of, sum);
            if (upper || groups == 1)
                break;
        }
        if (lanes.group() == 0)
            v.store(row, lanes, sum);
    }
};

} // namespace GPI_SPACE
