/* SPDX-License-Identifier: MIT */
/*
 * Columns sorted within rows, of rows that fit the shared memory of a block, in one pass.
 *
 * A tile has a number of steps of the merge path of row ends and entries, and sorts the rows that
 * end in it. A row is cut into pieces of up to 256 entries. Lanes that are a power of two take a
 * piece, 8 entries each: sorted in registers, lane by lane by a network, and between lanes by
 * bitonic merges (Batcher 1968). So pieces of one class are sorted by a warp at a time, and the
 * classes of a tile one after the other. A word is a column and the place of its entry in the
 * piece: all words differ, and equal columns keep their order. Longer rows then have their pieces
 * merged in shared memory, each thread 8 entries at a time (merge path). Rows that are longer than
 * a tile have a block each in a second kernel, and if there is one that does not fit that either, a
 * word in memory says so.
 */
#pragma once

#include "csr/csr_columns_piece.cuh"
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

constexpr uint32_t long_rows_of_tile = 32; /* at least as many as have more than a piece */

template <class I> struct ColumnsTile {
    using Side = ColumnsSide<I, TileShape<I>::most>;
    Side sides[2];
    uint64_t wrong;               /* of the block: see sort_pieces() */
    uint64_t begin, row, row_end; /* of the entries and rows of the tile */
    uint32_t total;               /* entries */
    uint32_t count[piece_classes];
    uint32_t long_count, longest;
    uint32_t long_rows[long_rows_of_tile];

    /* Needed until pieces are sorted, when nothing has been merged. */
    GPI_DEVICE PieceLists<I> &lists()
    {
        static_assert(sizeof(PieceLists<I>) <= sizeof(Side), "they are in its place");
        return *reinterpret_cast<PieceLists<I> *>(&sides[1]);
    }
};

template <class I> struct ColumnsLong {
    using Side = ColumnsSide<I, LongShape<I>::most>;
    Side sides[2];
    uint64_t wrong;
};
static_assert(sizeof(ColumnsLong<uint32_t>) <= gpu.block_shared_bytes, "a block may have that");
static_assert(sizeof(ColumnsLong<uint64_t>) <= gpu.block_shared_bytes, "a block may have that");

/* ---- merging in shared memory ---------------------------------------------------------------- */

/* Entries `first` to first + 7 of a row of `length` in `from`, sorted in runs of `run`, of the same
 * in runs of twice as many. */
template <class Side>
GPI_DEVICE void merge_eight(Side &from, Side &to, uint32_t row, uint32_t length, uint32_t run,
                            uint32_t first)
{
    const uint32_t window = first & ~(2 * run - 1), begin = row + window;
    const uint32_t left = min(run, length - window);
    const uint32_t right = min(run, length - window - left), middle = begin + left;
    const uint32_t d = first - window, count = min((uint32_t)piece_lane, length - first);
    uint32_t low = d > right ? d - right : 0, high = min(d, left);
    while (low < high) {
        const uint32_t at = (low + high) / 2;
        if (from.cols[Side::at(begin + at)] <= from.cols[Side::at(middle + d - 1 - at)])
            low = at + 1;
        else
            high = at;
    }
    const uint32_t end = middle + right;
    uint32_t i = begin + low, j = middle + d - low; /* the next of each run, and where they are */
    uint32_t at_i = Side::at(min(i, end - 1)), at_j = Side::at(min(j, end - 1));
    auto a = from.cols[at_i], b = from.cols[at_j];
#pragma unroll 2
    for (uint32_t k = 0; k < count; k++) {
        const bool takes_left = j >= end || (i < middle && a <= b);
        const uint32_t at = Side::at(row + first + k);
        to.cols[at] = takes_left ? a : b;
        to.places[at] = from.places[takes_left ? at_i : at_j];
        const uint32_t next = takes_left ? ++i : ++j, at_next = Side::at(min(next, end - 1));
        const auto col = from.cols[at_next];
        a = takes_left ? col : a, at_i = takes_left ? at_next : at_i;
        b = takes_left ? b : col, at_j = takes_left ? at_j : at_next;
    }
}

/* ---- output ---------------------------------------------------------------------------------- */

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
#pragma unroll
        for (int k = 0; k < each; k++)
            if (i + k * THREADS < total) {
                const uint32_t at = Side::at(i + k * THREADS);
                col[k] = side.cols[at];
                if (has_values) /* wrong row pointers leave places that are not written */
                    value[k] = values[min((uint32_t)side.places[at], total - 1)];
            }
#pragma unroll
        for (int k = 0; k < each; k++)
            if (i + k * THREADS < total) {
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
        out[i] = values[min(from, total - 1) * bytes + i % bytes];
    }
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* A row that is too long for a tile. */
template <class I> GPI_DEVICE void leave_row(const ColumnsArgs<I> &a, uint64_t row, uint64_t length)
{
    if (length > LongShape<I>::most) {
        a.unsorted[0] = a.shape.n;
        a.unsorted[1] = a.shape.num_rows;
        return;
    }
    const uint64_t at = atomicAdd((unsigned long long *)a.long_rows, 1ull);
    if (at < a.long_room)
        a.long_rows[1 + at] = row;
}

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
    s.long_count = s.longest = 0;
    if (row < a.shape.num_rows) {
        const uint64_t end = a.at(row + 1);
        if (end > s.begin + TileShape<I>::steps && end + row < step + TileShape<I>::steps) {
            leave_row(a, row, end - s.begin);
            s.row = row + 1;
            s.begin = end;
        }
    }
}

/* A row of a tile to the lists; wrong row pointers give rows that are no part of it. */
template <class I> GPI_DEVICE void list_row(ColumnsTile<I> &s, uint32_t begin, uint32_t length)
{
    const auto add = [&](int c, uint32_t first, uint32_t count) {
        const uint32_t at = atomicAdd(&s.count[c], 1u);
        if (at < PieceLists<I>::room_of(c))
            s.lists().of(c)[at] = piece_of(first, count);
    };
    if (length <= piece_max) {
        const uint32_t lanes = (length + piece_lane - 1) / piece_lane;
        add(lanes > 1 ? 32 - __clz(lanes - 1) : 0, begin, length);
        return;
    }
#pragma unroll 1
    for (uint32_t i = 0; i < length; i += piece_max)
        add(piece_classes - 1, begin + i, min((uint32_t)piece_max, length - i));
    const uint32_t at = atomicAdd(&s.long_count, 1u);
    if (at < long_rows_of_tile)
        s.long_rows[at] = piece_of(begin, length);
    atomicMax(&s.longest, length);
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
            list_row(s, (uint32_t)from, (uint32_t)(to - from));
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

template <class I> GPI_DEVICE void sort_tile(const ColumnsArgs<I> &a, ColumnsTile<I> &s)
{
    constexpr uint32_t warps = TileShape<I>::threads / 32;
    uint32_t next = threadIdx.x / 32; /* of the pieces of this class */
    uint32_t classes = __ballot_sync(all_lanes, lane_id() < piece_classes && s.count[lane_id()]);
#pragma unroll 1
    while (classes) {
        const int c = 31 - __clz(classes);
        classes ^= 1u << c;
        const uint32_t count = min(s.count[c], PieceLists<I>::room_of(c)), each = 32u >> c;
        const uint32_t tasks = (count + each - 1) / each;
#pragma unroll 1
        for (; next < tasks; next += warps) {
            const uint32_t at = next * each + (lane_id() >> c);
            const uint32_t piece = at < count ? s.lists().of(c)[at] : 0, begin = piece & 0xffff;
            sort_pieces(a,
                        RowPiece<I, typename ColumnsTile<I>::Side>{
                            a.cols + s.begin + begin, s.sides[0], begin, piece >> 16, c},
                        s.wrong);
        }
        next -= tasks;
    }
}

/* The rows of several pieces; returns the side on which they are. */
template <class I> GPI_DEVICE int merge_tile(ColumnsTile<I> &s)
{
    constexpr uint32_t threads = TileShape<I>::threads;
    const uint32_t count = min(s.long_count, long_rows_of_tile), longest = s.longest;
    int side = 0;
    for (uint32_t run = piece_max; run < longest; run *= 2, side ^= 1) {
        uint32_t first = threadIdx.x;
#pragma unroll 1
        for (uint32_t r = 0; r < count; r++) {
            const uint32_t begin = s.long_rows[r] & 0xffff, length = s.long_rows[r] >> 16;
            const uint32_t slots = (length + piece_lane - 1) / piece_lane;
#pragma unroll 1
            for (; first < slots; first += threads)
                merge_eight(s.sides[side], s.sides[side ^ 1], begin, length, run,
                            first * piece_lane);
            first -= slots;
        }
        __syncthreads();
    }
    return side;
}

/* The rows that were merged go back to where the others are. */
template <class I> GPI_DEVICE void merge_back(ColumnsTile<I> &s)
{
    const uint32_t count = min(s.long_count, long_rows_of_tile);
#pragma unroll 1
    for (uint32_t r = 0; r < count; r++) {
        const uint32_t begin = s.long_rows[r] & 0xffff, length = s.long_rows[r] >> 16;
#pragma unroll 1
        for (uint32_t i = begin + threadIdx.x; i < begin + length; i += TileShape<I>::threads) {
            const uint32_t at = ColumnsTile<I>::Side::at(i);
            s.sides[0].cols[at] = s.sides[1].cols[at];
            s.sides[0].places[at] = s.sides[1].places[at];
        }
    }
    __syncthreads();
}

template <class I> GPI_DEVICE void check_total(const ColumnsArgs<I> &a)
{
    const uint64_t rows = a.shape.num_rows;
    const uint64_t total =
        a.wide ? ((const uint64_t *)a.pointers)[rows] - ((const uint64_t *)a.pointers)[0]
               : ((const uint32_t *)a.pointers)[rows] - ((const uint32_t *)a.pointers)[0];
    if (total != a.shape.n)
        report_alone(a.of_pointers, GPI_RULE_SPAN, rows, total, a.shape.n);
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
        list_rows(a, s);
        __syncthreads();
        sort_tile(a, s);
        __syncthreads();
        if (s.long_count && merge_tile(s))
            merge_back(s);
        write_columns<TileShape<I>::threads>(a, s.sides[0], s.begin, s.total);
        __syncthreads(); /* what is shared is read */
    }
    if (threadIdx.x == 0)
        report_column(a, s.wrong);
    if (blockIdx.x == 0 && threadIdx.x == 0 && a.of_pointers.source.argument)
        check_total(a);
}

/* ---- long rows ------------------------------------------------------------------------------- */

/* Grid: any; a block sorts a row of the list. */
template <class I>
__global__ __launch_bounds__(LongShape<I>::threads) void csr_long_columns_k(ColumnsArgs<I> a)
{
    extern __shared__ uint64_t memory[];
    using Side = typename ColumnsLong<I>::Side;
    ColumnsLong<I> &s = *reinterpret_cast<ColumnsLong<I> *>(memory);
    grid_wait();
    a.shape.take_counts();
    if (threadIdx.x == 0)
        s.wrong = none_wrong;
    if (*a.unsorted)
        return;
    const uint64_t rows = min(*a.long_rows, a.long_room);
    for (uint64_t r = blockIdx.x; r < rows; r += gridDim.x) {
        const uint64_t begin = a.at(a.long_rows[1 + r]), end = a.at(a.long_rows[1 + r] + 1);
        const uint32_t length =
            end > begin ? (uint32_t)min(end - begin, (uint64_t)LongShape<I>::most) : 0;
#pragma unroll 1
        for (uint32_t i = threadIdx.x / 32 * piece_max; i < length; i += blockDim.x * piece_lane)
            sort_pieces(a,
                        RowPiece<I, Side>{a.cols + begin + i, s.sides[0], i,
                                          min((uint32_t)piece_max, length - i), piece_classes - 1},
                        s.wrong);
        int side = 0;
        __syncthreads();
        for (uint32_t run = piece_max; run < length; run *= 2, side ^= 1) {
#pragma unroll 1
            for (uint32_t i = threadIdx.x * piece_lane; i < length; i += blockDim.x * piece_lane)
                merge_eight(s.sides[side], s.sides[side ^ 1], 0, length, run, i);
            __syncthreads();
        }
        write_columns<LongShape<I>::threads>(a, s.sides[side], begin, length);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        report_column(a, s.wrong);
}

} // namespace GPI_SPACE
