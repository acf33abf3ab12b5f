/* SPDX-License-Identifier: MIT */
/*
 * Columns sorted within rows, of rows that fit the shared memory of a block.
 *
 * A tile has a number of steps of the merge path of row ends and entries, and sorts the rows of up
 * to 256 entries that end in it. Lanes that are a power of two take a row, 8 entries each: sorted
 * in registers, lane by lane by a network, and between lanes by bitonic merges (Batcher 1968). So
 * rows of one class are sorted by a warp at a time, and the classes of a tile one after the other.
 * A word is a column and the place of its entry in the row: all words differ, and equal columns
 * keep their order. In tiles of short rows an entry is compared with all of its row in place of
 * that. Longer rows go to lists, for a second kernel (csr_columns_long.cuh); if there is one that
 * does not fit a block, a word in memory says so.
 */
#pragma once

#include "csr/csr_columns_parts.cuh"
#include "device/search.cuh"

namespace GPI_SPACE
{

/* Where a piece begins, and how long it is. */
GPI_DEVICE uint32_t piece_of(uint32_t begin, uint32_t length)
{
    return begin | length << 16;
}

/* The pieces of a tile, by class: of class c take 8 << c entries at most. */
template <class I> struct alignas(16) PieceLists {
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

/* Short are rows of up to short_max entries, in tiles whose mean is no more than short_mean. */
constexpr uint32_t short_max = 8, short_mean = 5;

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

    /* Of entries of short rows; of others 0. In place of the pieces of one lane, as which short
     * rows would be listed. */
    GPI_DEVICE uint8_t *codes()
    {
        static_assert(TileShape<I>::most <= sizeof(uint32_t) * PieceLists<I>::ones,
                      "there is room");
        static_assert(short_max == piece_lane, "no other rows are of one lane");
        return (uint8_t *)lists.of(0);
    }

    /* Whether its rows are short. */
    GPI_DEVICE bool has_short(const ColumnsArgs<I> &a) const
    {
        const uint32_t bytes = a.value_bytes;
        return (row_end - row) * (short_mean + 1) >= TileShape<I>::steps &&
               (bytes == 0 || bytes == 4 || bytes == 8);
    }
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

/* The code of entry k of a short row: not 0. */
GPI_DEVICE uint8_t code_of(uint32_t k, uint32_t length)
{
    return (uint8_t)(k | length << 4);
}

/* Row r of a tile to the lists; wrong row pointers give rows that are no part of it. */
template <class I>
GPI_DEVICE void list_row(const ColumnsArgs<I> &a, ColumnsTile<I> &s, uint64_t r, uint32_t begin,
                         uint32_t length, bool is_short)
{
    if (length > piece_max) {
        const uint32_t at = atomicAdd(&s.long_count, 1u);
        if (at < long_rows_of_tile)
            s.long_rows[at] = piece_of(begin, length);
        return leave_row(a, r, length);
    }
    if (is_short && length <= short_max) {
#pragma unroll 4
        for (uint32_t k = 0; k < length; k++)
            s.codes()[begin + k] = code_of(k, length);
        return;
    }
    const uint32_t lanes = (length + piece_lane - 1) / piece_lane;
    const int c = lanes > 1 ? 32 - __clz(lanes - 1) : 0;
    const uint32_t at = atomicAdd(&s.count[c], 1u);
    if (at < PieceLists<I>::room_of(c))
        s.lists.of(c)[at] = piece_of(begin, length);
}

template <class I>
GPI_DEVICE void list_rows(const ColumnsArgs<I> &a, ColumnsTile<I> &s, bool is_short)
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
            list_row(a, s, r, (uint32_t)from, (uint32_t)(to - from), is_short);
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

/* ---- tiles of short rows --------------------------------------------------------------------- */

/* How many entries come before the entry k, whose column this is, of a short row. */
template <class I>
GPI_DEVICE uint32_t before_in_row(const I *row, I col, uint32_t k, uint32_t length)
{
    uint32_t before = 0;
#pragma unroll
    for (uint32_t first = 0; first < short_max; first += short_max / 2) {
        if (first && !__any_sync(all_lanes, first < length))
            break;
#pragma unroll
        for (uint32_t j = first; j < first + short_max / 2; j++) {
            const I other = j < length ? row[j] : ~(I)0;
            before += other < col + (j < k); /* equal columns keep their order */
        }
    }
    return before;
}

/* The columns of a tile to shared memory. */
template <class I> GPI_DEVICE void load_short(const ColumnsArgs<I> &a, ColumnsTile<I> &s)
{
    constexpr uint32_t each = 4, threads = TileShape<I>::threads;
    const I *cols = a.cols + s.begin;
    const uint32_t total = s.total;
    bool is_wrong = false;
#pragma unroll 1
    for (uint32_t first = threadIdx.x; first < total; first += each * threads) {
        I col[each];
#pragma unroll
        for (uint32_t k = 0; k < each; k++)
            col[k] = first + k * threads < total ? cols[first + k * threads] : 0;
#pragma unroll
        for (uint32_t k = 0; k < each; k++) {
            is_wrong |= col[k] >= a.shape.num_cols;
            if (first + k * threads < total)
                s.side.cols[first + k * threads] = col[k];
        }
    }
    if (is_wrong)
        atomicMin((unsigned long long *)&s.wrong, (unsigned long long)s.begin);
    __syncthreads();
}

/* Each entry of a short row to its place, with its value of V, or without. */
template <class V, class I> GPI_DEVICE void write_short(const ColumnsArgs<I> &a, ColumnsTile<I> &s)
{
    constexpr uint32_t each = 4, threads = TileShape<I>::threads;
    constexpr bool has_values = !std::is_void_v<V>;
    using Value = std::conditional_t<has_values, V, char>;
    const Value *values = (const Value *)a.values + s.begin;
    Value *out = (Value *)a.out_values + s.begin;
    I *cols = a.out_cols + s.begin;
    const uint32_t total = s.total;
#pragma unroll 1
    for (uint32_t first = threadIdx.x; first - threadIdx.x < total; first += each * threads) {
        Value value[each] = {};
        uint32_t code[each];
#pragma unroll
        for (uint32_t k = 0; k < each; k++) {
            const uint32_t i = first + k * threads;
            code[k] = i < total ? s.codes()[i] : 0;
            if (has_values && code[k])
                value[k] = values[i];
        }
#pragma unroll
        for (uint32_t k = 0; k < each; k++) {
            const uint32_t i = first + k * threads, own = code[k] & 15, length = code[k] >> 4;
            const I col = length ? s.side.cols[i] : 0;
            const uint32_t to = i - own + before_in_row(s.side.cols + i - own, col, own, length);
            if (!length)
                continue;
            __stcs(cols + to, col);
            if (has_values)
                __stcs(out + to, value[k]);
        }
    }
}

/* The same to the places of the tile, which has other rows as well. */
template <class I> GPI_DEVICE void place_short(const ColumnsArgs<I> &a, ColumnsTile<I> &s)
{
    using Side = typename ColumnsTile<I>::Side;
    const I *cols = a.cols + s.begin;
    bool is_wrong = false;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i - lane_id() < s.total; i += TileShape<I>::threads) {
        const uint32_t code = i < s.total ? s.codes()[i] : 0, own = code & 15, length = code >> 4;
        const I col = length ? cols[i] : 0;
        const uint32_t at = Side::at(i - own + before_in_row(cols + i - own, col, own, length));
        is_wrong |= col >= a.shape.num_cols;
        if (length)
            s.side.cols[at] = col, s.side.places[at] = (uint16_t)i;
    }
    if (is_wrong)
        atomicMin((unsigned long long *)&s.wrong, (unsigned long long)s.begin);
}

template <class I> GPI_DEVICE void sort_short(const ColumnsArgs<I> &a, ColumnsTile<I> &s)
{
    load_short(a, s);
    if (a.value_bytes == 4)
        write_short<uint32_t>(a, s);
    else if (a.value_bytes == 8)
        write_short<uint64_t>(a, s);
    else
        write_short<void>(a, s);
}

template <class I> GPI_DEVICE void clear_codes(ColumnsTile<I> &s)
{
    uint4 *codes = (uint4 *)s.codes();
    for (uint32_t i = threadIdx.x; i < TileShape<I>::most / 16; i += TileShape<I>::threads)
        codes[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
}

/* ---- all tiles ------------------------------------------------------------------------------- */

/* The rows of a tile that has some. */
template <class I> GPI_DEVICE void sort_rows(const ColumnsArgs<I> &a, ColumnsTile<I> &s)
{
    const bool is_short = s.has_short(a);
    if (is_short)
        clear_codes(s);
    list_rows(a, s, is_short);
    __syncthreads();
    const uint32_t classes = classes_of(s);
    if (is_short && !classes)
        return sort_short(a, s);
    if (!classes)
        return;
    if (is_short)
        place_short(a, s);
    sort_tile(a, s, classes);
    leave_out_long(s);
    __syncthreads();
    write_columns<TileShape<I>::threads>(a, s.side, s.begin, s.total);
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
        if (s.row < s.row_end)
            sort_rows(a, s);
        __syncthreads(); /* what is shared is read */
    }
    if (threadIdx.x == 0)
        report_column(a, s.wrong);
    if (blockIdx.x == 0 && threadIdx.x == 0 && a.of_pointers.source.argument)
        check_total(a);
}

} // namespace GPI_SPACE
