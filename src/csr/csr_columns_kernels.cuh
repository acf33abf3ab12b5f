/* SPDX-License-Identifier: MIT */
/*
 * Columns sorted within rows, of rows that fit the shared memory of a block.
 *
 * A tile has a number of steps of the merge path of row ends and entries, and sorts the rows of up
 * to 256 entries that end in it. Lanes that are a power of two take a row, 8 entries each: sorted
 * in registers, lane by lane by a network, and between lanes by bitonic merges (Batcher 1968). So
 * rows of one class are sorted by a warp at a time, and the classes of a tile one after the other.
 * A word is a column and the place of its entry in the row: all words differ, and equal columns
 * keep their order. Longer rows go to lists, for a second kernel (csr_columns_long.cuh); if there
 * is one that does not fit a block, a word in memory says so.
 */
#pragma once

#include "csr/csr_columns_long.cuh"
#include "device/search.cuh"

namespace GPI_SPACE
{

/* Where a piece begins, and how long it is. */
GPI_DEVICE uint32_t piece_of(uint32_t begin, uint32_t length)
{
    return begin | length << 16;
}

/* The pieces of a tile, by class: of class c take 8 << c entries at most. */
template <class I> struct PieceLists {
    static constexpr uint32_t most = TileShape<I>::most, ones = TileShape<I>::steps;
    static constexpr uint32_t room = most / piece_lane;
    uint32_t pieces[ones + (piece_classes - 1) * room];

    GPI_DEVICE uint32_t *of(int c)
    {
        return c ? pieces + ones + (c - 1) * room : pieces;
    }

    GPI_DEVICE static uint32_t room_of(int c)
    {
        return c ? room : ones;
    }
};

constexpr uint32_t long_rows_of_tile = 8; /* at least as many as are longer than a piece */

template <class I> struct ColumnsTile {
    using Side = ColumnsSide<I, TileShape<I>::most>;
    Side side;
    PieceLists<I> lists;
    uint64_t wrong;               /* of the block: see sort_pieces() */
    uint64_t begin, row, row_end; /* of the entries and rows of the tile */
    uint32_t total;               /* entries */
    uint32_t count[piece_classes];
    uint32_t long_count, long_rows[long_rows_of_tile];
};

/* ---- output ---------------------------------------------------------------------------------- */

constexpr uint32_t not_here = 0xffff; /* the place of an entry of a long row, in a tile */

/* Columns, and the values of V that were with them, or none. */
template <int THREADS, class V, class I, class Side>
GPI_DEVICE void write_sorted(const ColumnsArgs<I> &a, Side &side, uint64_t begin, uint32_t total)
{
    constexpr int each = 4;
    constexpr bool has_values = !std::is_void_v<V>;
    using Value = std::conditional_t<has_values, V, char>;
    const Value *values = (const Value *)a.values + begin;
    Value *out = (Value *)a.out_values + begin;
    I *cols = a.out_cols + begin;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < total; i += each * THREADS) {
        Value value[each] = {};
        I col[each] = {};
        uint32_t from[each] = {};
#pragma unroll
        for (int k = 0; k < each; k++)
            if (i + k * THREADS < total) {
                const uint32_t at = Side::at(i + k * THREADS);
                col[k] = side.cols[at];
                from[k] = side.places[at];
                if (has_values) /* wrong row pointers leave places that are not written */
                    value[k] = values[min(from[k], total - 1)];
            }
#pragma unroll
        for (int k = 0; k < each; k++)
            if (i + k * THREADS < total && from[k] != not_here) {
                __stcs(cols + i + k * THREADS, col[k]);
                if (has_values)
                    __stcs(out + i + k * THREADS, value[k]);
            }
    }
}

template <int THREADS, class I, class Side>
GPI_DEVICE void write_columns(const ColumnsArgs<I> &a, Side &side, uint64_t begin, uint32_t total)
{
    const uint32_t bytes = a.value_bytes;
    if (bytes == 4)
        return write_sorted<THREADS, uint32_t>(a, side, begin, total);
    if (bytes == 8)
        return write_sorted<THREADS, uint64_t>(a, side, begin, total);
    write_sorted<THREADS, void>(a, side, begin, total);
    const char *values = (const char *)a.values + begin * bytes;
    char *out = (char *)a.out_values + begin * bytes;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < total * bytes; i += THREADS) {
        const uint32_t from = side.places[Side::at(i / bytes)];
        if (from != not_here)
            out[i] = values[min(from, total - 1) * bytes + i % bytes];
    }
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* The rows that end in a tile; by the warps 0 and 1, soonest where rows are alike. The first may
 * begin long before it. */
template <class I>
GPI_DEVICE void find_tile(const ColumnsArgs<I> &a, uint64_t tile, ColumnsTile<I> &s)
{
    const uint64_t step = (tile + threadIdx.x / 32) * TileShape<I>::steps, rows = a.shape.num_rows;
    const float part = (float)step / (float)(a.shape.n + rows);
    const uint64_t row = partition_point_near(rows, min((uint64_t)(part * (float)rows), rows),
                                              [&](uint64_t r) { return a.at(r + 1) + r < step; });
    if (lane_id())
        return;
    if (threadIdx.x) {
        s.row_end = row;
        return;
    }
    s.row = row;
    s.begin = a.at(row);
    s.long_count = 0;
    if (row < a.shape.num_rows) {
        const uint64_t end = a.at(row + 1);
        if (end > s.begin + TileShape<I>::steps && end + row < step + TileShape<I>::steps) {
            leave_row(a, row, end - s.begin);
            s.row = row + 1;
            s.begin = end;
        }
    }
}

/* Row r of a tile to the lists; wrong row pointers give rows that are no part of it. */
template <class I>
GPI_DEVICE void list_row(const ColumnsArgs<I> &a, ColumnsTile<I> &s, uint64_t r, uint32_t begin,
                         uint32_t length)
{
    if (length > piece_max) {
        const uint32_t at = atomicAdd(&s.long_count, 1u);
        if (at < long_rows_of_tile)
            s.long_rows[at] = piece_of(begin, length);
        return leave_row(a, r, length);
    }
    const uint32_t lanes = (length + piece_lane - 1) / piece_lane;
    const int c = lanes > 1 ? 32 - __clz(lanes - 1) : 0;
    const uint32_t at = atomicAdd(&s.count[c], 1u);
    if (at < PieceLists<I>::room_of(c))
        s.lists.of(c)[at] = piece_of(begin, length);
}

template <class I> GPI_DEVICE void list_rows(const ColumnsArgs<I> &a, ColumnsTile<I> &s)
{
    const uint64_t begin = s.begin, row_end = s.row_end;
    /* Before it is known how many there are. */
    const uint64_t line = begin + threadIdx.x * (128 / sizeof(I));
    if (threadIdx.x * 128 < TileShape<I>::steps * sizeof(I) && line < a.shape.n)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(a.cols + line));
#pragma unroll 1
    for (uint64_t r = s.row + threadIdx.x; r < row_end; r += TileShape<I>::threads) {
        const uint64_t from = a.at(r) - begin, to = a.at(r + 1) - begin;
        if (from < to && to <= TileShape<I>::most)
            list_row(a, s, r, (uint32_t)from, (uint32_t)(to - from));
    }
    const uint64_t end = a.at(row_end);
    const uint32_t total =
        end > begin ? (uint32_t)min(end - begin, (uint64_t)TileShape<I>::most) : 0;
    if (threadIdx.x == 0)
        s.total = total;
    /* Values are needed when columns are sorted. */
    const char *values = (const char *)a.values + begin * a.value_bytes;
    if (threadIdx.x * 128 < total * a.value_bytes)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(values + threadIdx.x * 128));
}

/* The classes of a tile that have pieces, as bits. */
template <class I> GPI_DEVICE uint32_t classes_of(const ColumnsTile<I> &s)
{
    return __ballot_sync(all_lanes, lane_id() < piece_classes && s.count[lane_id()]);
}

template <class I>
GPI_DEVICE void sort_tile(const ColumnsArgs<I> &a, ColumnsTile<I> &s, uint32_t classes)
{
    constexpr uint32_t warps = TileShape<I>::threads / 32;
    uint32_t next = threadIdx.x / 32; /* of the pieces of this class */
#pragma unroll 1
    while (classes) {
        const int c = 31 - __clz(classes);
        classes ^= 1u << c;
        const uint32_t count = min(s.count[c], PieceLists<I>::room_of(c)), each = 32u >> c;
        const uint32_t tasks = (count + each - 1) / each;
#pragma unroll 1
        for (; next < tasks; next += warps) {
            const uint32_t at = next * each + (lane_id() >> c);
            const uint32_t piece = at < count ? s.lists.of(c)[at] : 0, begin = piece & 0xffff;
            sort_pieces(a,
                        RowPiece<I, typename ColumnsTile<I>::Side>{a.cols + s.begin + begin, s.side,
                                                                   begin, piece >> 16, c},
                        s.wrong);
        }
        next -= tasks;
    }
}

/* The entries of long rows are not written. */
template <class I> GPI_DEVICE void leave_out_long(ColumnsTile<I> &s)
{
    const uint32_t count = min(s.long_count, long_rows_of_tile);
#pragma unroll 1
    for (uint32_t r = 0; r < count; r++) {
        const uint32_t begin = s.long_rows[r] & 0xffff, end = begin + (s.long_rows[r] >> 16);
#pragma unroll 1
        for (uint32_t i = begin + threadIdx.x; i < end; i += TileShape<I>::threads)
            s.side.places[ColumnsTile<I>::Side::at(i)] = not_here;
    }
}

/* Grid: any. After: the rows of up to a tile's steps are sorted; the others are listed, or
 * *a.unsorted says that all have to be sorted in another way. */
template <class I>
__global__ __launch_bounds__(TileShape<I>::threads,
                             TileShape<I>::blocks) void csr_columns_k(ColumnsArgs<I> a)
{
    extern __shared__ uint64_t memory[];
    ColumnsTile<I> &s = *reinterpret_cast<ColumnsTile<I> *>(memory);
    grid_wait();
    a.shape.take_counts();
    if (threadIdx.x == 0)
        s.wrong = none_wrong;
    if (__syncthreads_or(threadIdx.x == 0 && *(volatile uint64_t *)a.unsorted))
        return;
    const uint64_t steps = a.shape.n + a.shape.num_rows;
    for (uint64_t tile = blockIdx.x; tile * TileShape<I>::steps < steps; tile += gridDim.x) {
        if (threadIdx.x < 64)
            find_tile(a, tile, s);
        else if (threadIdx.x < 64 + piece_classes)
            s.count[threadIdx.x - 64] = 0;
        __syncthreads();
        if (s.row < s.row_end) {
            list_rows(a, s);
            __syncthreads();
            const uint32_t classes = classes_of(s);
            if (classes) {
                sort_tile(a, s, classes);
                leave_out_long(s);
                __syncthreads();
                write_columns<TileShape<I>::threads>(a, s.side, s.begin, s.total);
            }
        }
        __syncthreads(); /* what is shared is read */
    }
    if (threadIdx.x == 0)
        report_column(a, s.wrong);
    if (blockIdx.x == 0 && threadIdx.x == 0 && a.of_pointers.source.argument)
        check_total(a);
}

} // namespace GPI_SPACE
