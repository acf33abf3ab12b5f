/* SPDX-License-Identifier: MIT */
/* Rows that fill several tiles of SpMV or SpMM: the pieces of their sums. */
#pragma once

#include "csr/csr_spmv_starts.cuh"
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

/* The pieces of a long row, in groups of 64, and then the groups: the same order whichever warp is
 * the last one. V: what has pieces, columns() numbers each, and stores a row. */
template <class O, class V, class Lanes> struct SpmvLongRow {
    using A = typename V::A;
    static constexpr uint64_t each = 64;
    static constexpr int N = Lanes::N;
    const SpmvTiles<O> &a;
    const V &v;
    const Lanes lanes;
    uint64_t row, first, last; /* tiles */

    GPI_DEVICE SpmvLongRow(const SpmvTiles<O> &a_, const V &v_, const Lanes &lanes_, uint64_t row_)
        : a(a_), v(v_), lanes(lanes_), row(row_)
    {
        first = (__ldg(a.pointers + row) + row) >> a.log;
        last = (__ldg(a.pointers + row + 1) + row) >> a.log;
    }

    /* A tile of this row alone, which has the counter and the sum of a group. */
    GPI_DEVICE uint64_t tile_of(uint64_t g) const
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

    /* Leave sums, of the first group's lanes, at slot and count: whether that was the last of
     * `all`. By a warp. */
    GPI_DEVICE bool leave(uint64_t slot, const A (&sum)[N], uint32_t *counter, uint64_t all) const
    {
        uint32_t before = 0;
        if (lanes.group() == 0) {
            for_columns(slot, [&](int k, A *piece) { *piece = sum[k]; });
            __threadfence(); /* who counts all of them sees the sums */
        }
        __syncwarp();
        if (lane_id() == 0) {
            before = atomicAdd(counter, 1u);
            __threadfence();
            if (before + 1 == all)
                *counter = 0; /* for the next call of a plan */
        }
        return shuffle(before, 0) + 1 == all;
    }

    /* sum = slot_of(0) + .. + slot_of(n - 1). */
    template <class F> GPI_DEVICE void total(uint64_t n, F slot_of, A (&sum)[N]) const
    {
        const uint32_t groups = 32 / lanes.size();
#pragma unroll
        for (int k = 0; k < N; k++)
            sum[k] = 0;
#pragma unroll 4
        for (uint64_t i = lanes.group(); i < n; i += groups)
            for_columns(slot_of(i), [&](int k, const A *piece) { sum[k] += __ldcg(piece); });
        for (uint32_t d = lanes.size(); d < 32; d *= 2)
#pragma unroll
            for (int k = 0; k < N; k++)
                sum[k] += __shfl_xor_sync(all_lanes, sum[k], d);
    }

    GPI_DEVICE void leave_piece(uint64_t tile, const A (&piece)[N]) const
    {
        const uint64_t g = (tile - first) / each, from = first + g * each;
        const uint64_t groups = (last - first) / each + 1;
        const uint64_t pieces = last - from + 1 < each ? last - from + 1 : each;
        A sum[N];
        if (!leave(2 * tile + (tile == last), piece, a.left + tile_of(g), pieces))
            return;
        total(
            pieces, [&](uint64_t k) { return 2 * (from + k) + (from + k == last); }, sum);
        if (groups > 1) {
            if (!leave(2 * tile_of(g) + 1, sum, a.left + first + 2, groups))
                return;
            total(
                groups, [&](uint64_t k) { return 2 * tile_of(k) + 1; }, sum);
        }
        if (lanes.group() == 0)
            v.store(row, lanes, sum);
    }
};

} // namespace GPI_SPACE
