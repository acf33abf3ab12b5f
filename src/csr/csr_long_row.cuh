/* SPDX-License-Identifier: MIT */
/* Rows that fill several tiles of SpMV or SpMM: the pieces of their sums. */
#pragma once

#include "csr/csr_spmv_starts.cuh"
#include "device/ops.cuh"

namespace GPI_SPACE
{

/* The lanes of a warp by columns: lane k of a group has column k. Of SpMV each lane is a group. */
struct SpmvLanes {
    GPI_DEVICE uint32_t columns() const
    {
        return 1;
    }
    GPI_DEVICE uint32_t column() const
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

    GPI_DEVICE A *piece(uint64_t slot) const
    {
        return v.pieces + slot * lanes.columns() + lanes.column();
    }

    GPI_DEVICE bool has_column() const
    {
        return lanes.column() < lanes.columns();
    }

    /* Leave sum, of the first group's lanes, at slot and count: whether that was the last of
     * `all`. By a warp. */
    GPI_DEVICE bool leave(uint64_t slot, A sum, uint32_t *counter, uint64_t all) const
    {
        uint32_t before = 0;
        if (lanes.group() == 0 && has_column()) {
            *piece(slot) = sum;
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

    /* slot_of(0) + .. + slot_of(n - 1). */
    template <class F> GPI_DEVICE A total(uint64_t n, F slot_of) const
    {
        A sum = 0;
        const uint32_t groups = 32 / lanes.size();
        if (has_column()) {
#pragma unroll 4
            for (uint64_t k = lanes.group(); k < n; k += groups)
                sum += __ldcg(piece(slot_of(k)));
        }
        for (uint32_t d = lanes.size(); d < 32; d *= 2)
            sum += __shfl_xor_sync(all_lanes, sum, d);
        return sum;
    }

    GPI_DEVICE void leave_piece(uint64_t tile, A sum) const
    {
        const uint64_t g = (tile - first) / each, from = first + g * each;
        const uint64_t groups = (last - first) / each + 1;
        const uint64_t pieces = last - from + 1 < each ? last - from + 1 : each;
        if (!leave(2 * tile + (tile == last), sum, a.left + tile_of(g), pieces))
            return;
        sum = total(pieces, [&](uint64_t k) { return 2 * (from + k) + (from + k == last); });
        if (groups > 1) {
            if (!leave(2 * tile_of(g) + 1, sum, a.left + first + 2, groups))
                return;
            sum = total(groups, [&](uint64_t k) { return 2 * tile_of(k) + 1; });
        }
        if (lanes.group() == 0 && has_column())
            v.store(row, lanes.column(), sum);
    }
};

} // namespace GPI_SPACE
