/* SPDX-License-Identifier: MIT */
/*
 * SpMM: the tiles of SpMV, where they begin found as for SpMV, a warp each. The lanes of a warp are
 * four groups of 8, whose lanes have a column of X and Y each or 4 beside each other; a group walks
 * an equal share of the tile's row ends and entries, or of even rows every fourth. A row that ends
 * in one share and began before is put together by the warp; what a long row has in a tile is a
 * piece, as in SpMV.
 */
#pragma once

#include "csr/csr_long_row.cuh"
#include "csr/csr_spmm_vectors.cuh"

namespace GPI_SPACE
{

constexpr int spmm_threads = csr_tuning.spmm_threads;

/* Of a multiprocessor, for which registers are to suffice. */
template <class V, int N> constexpr int spmm_blocks = sizeof(V) == 8 ? 5 : N > 1 ? 6 : 8;

/* A warp's tile: row ends and entries from row and entry on. */
template <class I, class V, int N> struct SpmmTile {
    using A = typename SpmvSum<V>::A;
    /* entries whose rows of X are on their way together, as far as there are registers */
    static constexpr int K = N > 1 && sizeof(V) == 8 ? 4 : 8;
    static constexpr uint32_t whole = 64; /* entries of a row that groups do not split, at most */
    const SpmvTiles &a;
    const SpmmMatrices<V, N> &v;
    const I *cols;
    SpmmLanes<N> lanes;
    uint64_t tile, row, entry;
    const char *ends; /* the pointer behind that of `row`: low words of pointers suffice */
    uint32_t rows, entries;
    bool comes_in, goes_on; /* the first row is a long one; so is the one behind them */
    const char *x_own;      /* the lane's numbers of the first row of X, or another's */
    SpmmRow<N> x_row;       /* bytes from row to row */

    GPI_DEVICE uint32_t end_of(uint32_t r) const
    {
        return __ldg((const uint32_t *)(ends + (uint64_t)r * a.pointer_bytes)) - (uint32_t)entry;
    }

    /* How many of the first d units of the tile are row ends; each group asks for its own d. */
    GPI_DEVICE uint32_t rows_before(uint32_t d) const
    {
        const uint32_t members = ((1u << lanes.size()) - 1) << lanes.group() * lanes.size();
        uint32_t low = d > entries ? d - entries : 0, high = min(rows, d);
        while (__any_sync(all_lanes, low < high)) {
            const uint32_t step = (high - low + lanes.size()) / (lanes.size() + 1);
            const uint32_t probe = low + (lanes.number() + 1) * step - 1;
            const bool passes = probe < high && end_of(probe) + probe < d;
            const uint32_t passed = __popc(__ballot_sync(all_lanes, passes) & members);
            if (low < high) { /* otherwise it is found, whatever the last row passes */
                const uint32_t from = low;
                low = min(from + passed * step, high);
                if (passed < lanes.size())
                    high = min(high, from + (passed + 1) * step - 1);
            }
        }
        return low;
    }

    /* Entry at + lane % K of the group's share, which ends at `to`: of K entries the lanes of a
     * group have one each. */
    struct Entry {
        I col;
        V value;
    };
    GPI_DEVICE Entry entry_of(uint32_t at, uint32_t to) const
    {
        Entry e = {};
        const uint32_t own = at + lane_id() % K;
        if (own < to) {
            e.col = load_passing(cols + entry + own);
            e.value = load_passing(v.values + entry + own);
        }
        return e;
    }

    /* What X has for K entries at `at`; 0 from `to` on. */
    GPI_DEVICE void load(const Entry &e, uint32_t at, uint32_t to, A (&x)[K][N]) const
    {
        const uint32_t first = lane_id() & ~(lanes.size() - 1);
        SpmmPack<V, N> packs[K];
        auto get = [&](int k, bool is_there) {
            const I c = __shfl_sync(all_lanes, e.col, first + k);
            if (is_there)
                packs[k] = spmm_load<V, N>(x_own + (uint64_t)c * x_row);
            else
                packs[k] = {};
        };
        /* of packs of f64 the two ways meet in other registers, which waits for the loads */
        if (sizeof packs[0] <= 16 && __all_sync(all_lanes, at + K <= to)) {
#pragma unroll
            for (int k = 0; k < K; k++)
                get(k, true);
        } else {
#pragma unroll
            for (int k = 0; k < K; k++)
                get(k, at + k < to);
        }
        spmv_with_type<V>(v.is_bf16, [&](auto type) {
#pragma unroll
            for (int k = 0; k < K; k++)
#pragma unroll
                for (int n = 0; n < N; n++)
                    x[k][n] = spmv_widen<decltype(type)>(packs[k].of[n]);
        });
    }

    /* The value of an entry, as sums are. */
    GPI_DEVICE A value_of(const Entry &e) const
    {
        A value;
        spmv_with_type<V>(v.is_bf16,
                          [&](auto type) { value = spmv_widen<decltype(type)>(e.value); });
        return value;
    }

    GPI_DEVICE SpmvLongRow<SpmmMatrices<V, N>, SpmmLanes<N>> long_row(uint64_t of) const
    {
        return {a, v, lanes, of};
    }

    /* The first row that ends in a share has what the shares before have left, which is sum: of
     * shares without a row end all, otherwise that behind the last one. */
    GPI_DEVICE void put_together(uint32_t first, bool ended, A (&head)[N], A (&sum)[N]) const
    {
        uint32_t has_end = ended;
        for (int d = (int)lanes.size(); d < 32; d *= 2) {
            const uint32_t left_has = __shfl_up_sync(all_lanes, has_end, d);
            const bool joins = lane_id() >= d && !has_end;
#pragma unroll
            for (int n = 0; n < N; n++) {
                const A left = shuffle_up(sum[n], d);
                sum[n] = joins ? left + sum[n] : sum[n];
            }
            if (lane_id() >= d)
                has_end |= left_has;
        }
#pragma unroll
        for (int n = 0; n < N; n++) {
            const A before = shuffle_up(sum[n], (int)lanes.size());
            head[n] += lanes.group() ? before : (A)0;
        }
        if (ended && !(comes_in && first == 0))
            v.store(row + first, lanes, head);
        const uint32_t with = __ballot_sync(all_lanes, ended); /* the first one has the end */
#pragma unroll 1
        for (int k = 0; k < 2; k++)
            if (k ? goes_on : comes_in) {
                const uint32_t from = k ? 32 - lanes.size() : __ffs(with) - 1;
                A piece[N];
#pragma unroll
                for (int n = 0; n < N; n++)
                    piece[n] = __shfl_sync(all_lanes, k ? sum[n] : head[n], from + lanes.number());
                long_row(k ? row + rows : row).leave_piece((uint32_t)tile, piece);
            }
    }

    /* The rows of a group's share, and what of a row is in it before its first end, and behind its
     * last one. */
    GPI_DEVICE void walk(uint32_t first, uint32_t last, uint32_t at, uint32_t to, A (&head)[N],
                         A (&sum)[N]) const
    {
        const A alpha = v.alpha.get(), beta = v.beta.get();
        const char *ahead = ends + (uint64_t)first * a.pointer_bytes;
        uint32_t r = first, end = r < last ? end_of(r) : ~0u, next;
        auto look_ahead = [&] { /* at the next end: nothing waits for that yet */
                                ahead += a.pointer_bytes;
                                next = (uint32_t)entry - 1;
                                if (r + 1 < last)
                                    next = __ldg((const uint32_t *)ahead);
        };
        look_ahead();
        V *y = v.y_of(lanes) + (row + r) * v.y_at.row;
        auto close = [&] {
            if (r != first && lanes.has_columns())
                spmm_store(y, sum, alpha, beta, v.is_bf16);
            y += v.y_at.row;
#pragma unroll
            for (int n = 0; n < N; n++) {
                head[n] = r == first ? sum[n] : head[n];
                sum[n] = 0;
            }
            r++;
            end = next - (uint32_t)entry;
            look_ahead();
        };
        const uint32_t group = lane_id() & ~(lanes.size() - 1);
        Entry e = entry_of(at, to);
#pragma unroll 1
        for (; __any_sync(all_lanes, at < to); at += K) {
            A x[K][N];
            load(e, at, to, x);
            const A own = value_of(e);
            e = entry_of(at + K, to);
            auto add = [&](int k) {
                const A value = __shfl_sync(all_lanes, own, group + k);
#pragma unroll
                for (int n = 0; n < N; n++)
                    sum[n] += value * x[k][n];
            };
            while (end <= at)
                close();
            __syncwarp();
            if (__all_sync(all_lanes, end >= at + K)) { /* no row ends between these */
#pragma unroll
                for (int k = 0; k < K; k++)
                    add(k);
            } else {
#pragma unroll
                for (int k = 0; k < K; k++) {
                    while (end <= at + k)
                        close();
                    __syncwarp();
                    add(k);
                }
            }
            __syncwarp();
        }
        while (r < last)
            close();
        __syncwarp();
    }

    /* Row ends and entries before the share of a group, about d in all: a short row is not split,
     * so that the rows of all groups end together where they have the same length. */
    GPI_DEVICE uint2 begin_of_share(uint32_t d) const
    {
        uint32_t r = rows_before(d), at = d - r;
        if (r < rows) {
            const uint32_t begin = r ? end_of(r - 1) : 0, end = end_of(r);
            if (end - begin <= whole) {
                const bool ended = at - begin > end - at;
                r += ended;
                at = min(ended ? end : begin, entries); /* pointers may fall */
            }
        }
        return make_uint2(r, at);
    }

    /* Whether groups take rows in turn: if all are short, and batches of entries that do not go on
     * in the next row are not much more. */
    GPI_DEVICE bool has_even_rows() const
    {
        uint32_t longest = 0, batched = 0;
        if (comes_in || goes_on || rows * K * 4 > entries * 5)
            return false;
        for (uint32_t r = lane_id(); r < rows; r += 32) {
            const uint32_t length = end_of(r) - (r ? end_of(r - 1) : 0);
            longest = max(longest, length);
            batched += max((length + K - 1) / K * K, (uint32_t)K);
        }
        return warp_max(longest) <= whole && warp_sum(batched) * 4 <= entries * 5;
    }

    /* Rows group(), group() + groups(), and so on: where rows beside each other have columns beside
     * each other, the groups of a warp read the same rows of X at about the same time. */
    GPI_DEVICE void walk_in_turn() const
    {
        const A alpha = v.alpha.get(), beta = v.beta.get();
        const uint32_t group = lane_id() & ~(lanes.size() - 1);
        auto entries_of = [&](uint32_t r) {
            uint2 of = make_uint2(0, 0);
            if (r < rows) /* pointers may fall */
                of = make_uint2(r ? min(end_of(r - 1), entries) : 0, min(end_of(r), entries));
            return of;
        };
        uint32_t r = lanes.group();
        uint2 now = entries_of(r), next = entries_of(r + lanes.groups());
        Entry e = entry_of(now.x, now.y);
        A sum[N] = {};
#pragma unroll 1
        while (__any_sync(all_lanes, r < rows)) {
            A x[K][N];
            load(e, now.x, now.y, x);
            const A own = value_of(e);
            const bool ends = now.x + K >= now.y;
            now.x += K;
            if (ends)
                now = next;
            e = entry_of(now.x, now.y);
            if (ends)
                next = entries_of(r + 2 * lanes.groups());
            __syncwarp();
#pragma unroll
            for (int k = 0; k < K; k++) {
                const A value = __shfl_sync(all_lanes, own, group + k);
#pragma unroll
                for (int n = 0; n < N; n++)
                    sum[n] += value * x[k][n];
            }
            if (ends) {
                if (r < rows && lanes.has_columns())
                    spmm_store(v.y_of(lanes) + (row + r) * v.y_at.row, sum, alpha, beta, v.is_bf16);
#pragma unroll
                for (int n = 0; n < N; n++)
                    sum[n] = 0;
                r += lanes.groups();
            }
            __syncwarp();
        }
    }

    GPI_DEVICE void all() const
    {
        if (has_even_rows()) {
            walk_in_turn();
            return;
        }
        const uint32_t units = rows + entries;
        const uint32_t share = (units + lanes.groups() - 1) / lanes.groups();
        const uint2 from = begin_of_share(min(lanes.group() * share, units));
        uint32_t last = __shfl_down_sync(all_lanes, from.x, lanes.size());
        uint32_t to = __shfl_down_sync(all_lanes, from.y, lanes.size());
        if (lanes.group() == lanes.groups() - 1) {
            last = rows;
            to = entries;
        }
        A head[N] = {}, sum[N] = {};
        walk(from.x, last, from.y, to, head, sum);
        put_together(from.x, from.x < last, head, sum);
    }
};

/* A warp per tile. After: Y, unless row pointers fall. */
template <class I, class V, int N>
__global__ __launch_bounds__(spmm_threads, spmm_blocks<V, N>) void spmm_tiles_k(
    const __grid_constant__ SpmvTiles a, const I *cols,
    const __grid_constant__ SpmmMatrices<V, N> v, SpmmLanes<N> lanes)
{
    const uint32_t tile = blockIdx.x * (spmm_threads / 32) + warp_max(threadIdx.x / 32);
    const gpi_csr_start all = a.end();
    const bool early = tile < a.early;
    if (!early)
        grid_wait();
    if ((uint64_t)tile * a.units >= all.row + all.entry)
        return;
    const SpmvBounds bounds =
        early ? SpmvSearch{a, (uint32_t)all.entry, (uint32_t)all.row}.bounds(tile)
              : SpmvBounds::known(a, tile, all);
    SpmvShare share(a, bounds, all);
    if (!share.is_there)
        return;
    share.make_uniform();
    const uint32_t column = lanes.has_columns() ? lanes.column(0) : 0;
    const char *x_own = (const char *)(v.x + column * v.x_at.column);
    asm volatile("" : "+l"(x_own)); /* which is not computed again for each entry */
    const SpmmTile<I, V, N> t = {a,
                                 v,
                                 cols,
                                 lanes,
                                 tile,
                                 share.row,
                                 share.entry,
                                 a.pointers + (share.row + 1) * a.pointer_bytes,
                                 share.rows,
                                 share.entries,
                                 share.comes_in,
                                 share.goes_on,
                                 x_own,
                                 (SpmmRow<N>)(v.x_at.row * sizeof(V))};
    t.all();
}

} // namespace GPI_SPACE
