/* SPDX-License-Identifier: MIT */
/*
 * SpMM: the tiles of SpMV, where they begin found as for SpMV, a warp each. The lanes of a warp are
 * groups of 8, 16 or 32, a lane for each column of X and Y; a group walks an equal share of the
 * tile's row ends and entries. A row that ends in one share and began before is put together by
 * the warp; what a long row has in a tile is a piece, as in SpMV.
 */
#pragma once

#include "csr/csr_long_row.cuh"
#include "csr/csr_vectors.cuh"

namespace GPI_SPACE
{

constexpr int spmm_threads = csr_tuning.spmm_threads;

/* Groups of 2^log lanes. */
struct SpmmLanes {
    uint32_t n; /* columns */
    int log;

    GPI_DEVICE uint32_t columns() const
    {
        return n;
    }
    GPI_DEVICE uint32_t column() const
    {
        return lane_id() & (size() - 1);
    }
    GPI_DEVICE uint32_t group() const
    {
        return (uint32_t)lane_id() >> log;
    }
    GPI_DEVICE uint32_t size() const
    {
        return 1u << log;
    }
    GPI_DEVICE uint32_t groups() const
    {
        return 32u >> log;
    }
};

template <class V_> struct SpmmMatrices {
    using V = V_;
    using A = typename SpmvSum<V>::A;
    const V *values, *x;
    V *y;
    gpi_csr_dense x_at, y_at;
    SpmvScalar<A> alpha, beta;
    A *pieces; /* as those of SpmvVectors, a number for each column */

    GPI_DEVICE void store(uint64_t row, uint32_t column, A sum) const
    {
        spmv_store(y + row * y_at.row + column * y_at.column, alpha.get(), sum, beta.get());
    }
};

/* A warp's tile: row ends and entries from row and entry on. */
template <class I, class O, class V> struct SpmmTile {
    using A = typename SpmvSum<V>::A;
    static constexpr int K = 8; /* entries whose rows of X are on their way together */
    const SpmvTiles<O> &a;
    const SpmmMatrices<V> &v;
    const I *cols;
    SpmmLanes lanes;
    uint64_t tile, row, entry;
    uint32_t rows, entries;
    bool comes_in, goes_on; /* the first row is a long one; so is the one behind them */

    GPI_DEVICE uint32_t end_of(uint32_t r) const
    {
        return (uint32_t)(__ldg(a.pointers + row + r + 1) - (O)entry);
    }

    /* How many of the first d units of the tile are row ends; each group asks for its own d. */
    GPI_DEVICE uint32_t rows_before(uint32_t d) const
    {
        const uint32_t members = (uint32_t)(((uint64_t)1 << lanes.size()) - 1)
                                 << (lanes.group() << lanes.log);
        uint32_t low = d > entries ? d - entries : 0, high = min(rows, d);
        while (__any_sync(all_lanes, low < high)) {
            const uint32_t step = (high - low + lanes.size()) / (lanes.size() + 1);
            const uint32_t probe = low + (lanes.column() + 1) * step - 1;
            const bool passes = probe < high && end_of(probe) + probe < d;
            const uint32_t passed = __popc(__ballot_sync(all_lanes, passes) & members);
            const uint32_t from = low;
            low = min(from + passed * step, high);
            if (passed < lanes.size())
                high = min(high, from + (passed + 1) * step - 1);
        }
        return low;
    }

    /* Products of this lane's column with up to K entries at `at`, 0 from `to` on. */
    GPI_DEVICE void products(uint32_t at, uint32_t to, A (&product)[K]) const
    {
        const uint32_t lane = lane_id(), first = lane & ~(lanes.size() - 1);
        const uint32_t own = at + lane % K;
        const bool has_column = lanes.column() < lanes.columns();
        const V *const x = v.x + lanes.column() * v.x_at.column;
        I col = 0;
        V value, of_x[K];
        if (own < to) {
            col = load_passing(cols + entry + own);
            value = load_passing(v.values + entry + own);
        }
        const A wide = own < to ? widen<A>(value) : (A)0;
#pragma unroll
        for (int k = 0; k < K; k++) {
            const I c = __shfl_sync(all_lanes, col, first + k);
            if (has_column && at + k < to)
                of_x[k] = load_kept(x + c * v.x_at.row);
        }
#pragma unroll
        for (int k = 0; k < K; k++) {
            const A w = __shfl_sync(all_lanes, wide, first + k);
            product[k] = has_column && at + k < to ? w * widen<A>(of_x[k]) : (A)0;
        }
    }

    GPI_DEVICE void store(uint32_t r, A sum) const
    {
        if (lanes.column() < lanes.columns())
            v.store(row + r, lanes.column(), sum);
    }

    GPI_DEVICE SpmvLongRow<O, SpmmMatrices<V>, SpmmLanes> long_row(uint64_t of) const
    {
        return {a, v, lanes, of};
    }

    /* The first row that ends in a share has what the shares before have left, which is sum: of
     * shares without a row end all, otherwise that behind the last one. */
    GPI_DEVICE void put_together(uint32_t first, bool ended, A head, A sum) const
    {
        uint32_t has_end = ended;
        for (int d = (int)lanes.size(); d < 32; d *= 2) {
            const A left = shuffle_up(sum, d);
            const uint32_t left_has = __shfl_up_sync(all_lanes, has_end, d);
            if (lane_id() >= d) {
                sum = has_end ? sum : left + sum;
                has_end |= left_has;
            }
        }
        const A before = shuffle_up(sum, (int)lanes.size());
        head += lanes.group() ? before : (A)0;
        if (ended && !(comes_in && first == 0))
            store(first, head);
        if (comes_in) { /* its end is in the first share that has one */
            const uint32_t from = __ffs(__ballot_sync(all_lanes, ended)) - 1;
            long_row(row).leave_piece(tile, __shfl_sync(all_lanes, head, from + lanes.column()));
        }
        if (goes_on)
            long_row(row + rows)
                .leave_piece(tile, __shfl_sync(all_lanes, sum, 32 - lanes.size() + lanes.column()));
    }

    GPI_DEVICE void all() const
    {
        const uint32_t units = rows + entries;
        const uint32_t share = (units + lanes.groups() - 1) / lanes.groups();
        const uint32_t from = min(lanes.group() * share, units), upto = min(from + share, units);
        const uint32_t first = rows_before(from), last = rows_before(upto), to = upto - last;
        uint32_t r = first, end = r < last ? end_of(r) : ~0u;
        A head = 0, sum = 0;
        auto close = [&] {
            if (r == first)
                head = sum;
            else
                store(r, sum);
            sum = 0;
            r++;
            end = r < last ? end_of(r) : ~0u;
        };
#pragma unroll 1
        for (uint32_t at = from - first; __any_sync(all_lanes, at < to); at += K) {
            A product[K];
            products(at, to, product);
#pragma unroll
            for (int k = 0; k < K; k++) {
                while (end <= at + k)
                    close();
                sum += product[k];
            }
            __syncwarp();
        }
        while (r < last)
            close();
        __syncwarp();
        put_together(first, first < last, head, sum);
    }
};

/* A warp per tile. After: Y, whatever the row pointers are. */
template <class I, class O, class V>
__global__ __launch_bounds__(spmm_threads) void spmm_tiles_k(
    const __grid_constant__ SpmvTiles<O> a, const I *cols,
    const __grid_constant__ SpmmMatrices<V> v, SpmmLanes lanes)
{
    const uint64_t tile = (uint64_t)blockIdx.x * (spmm_threads / 32) + threadIdx.x / 32;
    gpi_csr_start to = a.end();
    const uint64_t units = to.row + to.entry;
    grid_wait();
    if (tile << a.log >= units)
        return;
    const gpi_csr_start from = a.starts[tile];
    if ((tile + 1) << a.log < units)
        to = a.starts[tile + 1];
    const bool comes_in = to.row > from.row && from.entry > __ldg(a.pointers + from.row);
    const bool goes_on = to.entry > __ldg(a.pointers + to.row);
    const SpmmTile<I, O, V> t = {a,
                                 v,
                                 cols,
                                 lanes,
                                 tile,
                                 from.row,
                                 from.entry,
                                 (uint32_t)(to.row - from.row),
                                 (uint32_t)(to.entry - from.entry),
                                 comes_in,
                                 goes_on};
    if (t.rows || goes_on)
        t.all();
}

} // namespace GPI_SPACE
