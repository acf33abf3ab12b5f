/* SPDX-License-Identifier: MIT */
/*
 * Columns sorted within rows of more than 256 entries; of all, if they have as many on average.
 *
 * Rows are of classes by length. A row of the last one has the block and its shared memory, one of
 * the class before it half of both, and so on. It is sorted by bins (csr_columns_spread.cuh); if
 * its columns are not spread evenly, pieces of 256 entries are sorted in registers and merged in
 * shared memory, each thread 8 entries at a time (merge path). A row that fits no block goes in
 * parts (csr_columns_parts.cuh).
 */
#pragma once

#include "csr/csr_columns_spread.cuh"
#include "device/search.cuh"

namespace GPI_SPACE
{

/* ---- lists ----------------------------------------------------------------------------------- */

constexpr uint32_t part_max = GPI_CSR_PARTS_ROOM; /* entries of a part; of few entries less */
/* Buckets for each part: there is room for some twice as many entries as one has on average. */
template <class I> constexpr uint32_t part_buckets = LongShape<I>::most >= 2 * part_max ? 1 : 2;
constexpr int word_bits = 16; /* of a word of the list of parts, behind the row */

/* Counters behind those of rows: tasks of parts that were taken, and that are done. */
constexpr int parts_taken = GPI_CSR_LEFT_CLASSES, parts_done = parts_taken + 1;
static_assert(parts_done < GPI_CSR_LEFT_COUNTERS, "all have room");

/* The class of a row, or LongShape<I>::classes: it goes in parts, or all in another way. */
template <class I> GPI_DEVICE int class_of(const ColumnsArgs<I> &a, uint64_t length)
{
    int c = 0;
    while (c < LongShape<I>::classes && length > LongShape<I>::most_of(c))
        c++;
    if (c == LongShape<I>::classes && !a.spare_cols) {
        a.unsorted[0] = a.shape.n;
        a.unsorted[1] = a.shape.num_rows;
    }
    return c;
}

/* Room for `count` rows of a class; returns where it begins. */
template <class I> GPI_DEVICE uint64_t room_for(const ColumnsArgs<I> &a, int c, uint32_t count)
{
    return atomicAdd((unsigned long long *)a.long_rows + c, (unsigned long long)count);
}

template <class I>
GPI_DEVICE void put_row(const ColumnsArgs<I> &a, int c, uint64_t at, uint64_t row)
{
    if (at < a.long_room)
        a.long_rows[GPI_CSR_LEFT_COUNTERS + c * a.long_room + at] = row;
}

/* A row that is too long for all classes. */
template <class I>
GPI_DEVICE void leave_parts(const ColumnsArgs<I> &a, uint64_t row, uint64_t length)
{
    const uint32_t parts = a.spare_cols ? a.parts_of(length) : 0;
    const uint64_t at = parts ? room_for(a, LongShape<I>::classes, parts) : 0;
#pragma unroll 1
    for (uint32_t k = 0; k < parts; k++)
        put_row(a, LongShape<I>::classes, at + k, row << word_bits | k);
}

/* A row to the list of its class. */
template <class I> GPI_DEVICE void leave_row(const ColumnsArgs<I> &a, uint64_t row, uint64_t length)
{
    const int c = class_of(a, length);
    if (c < LongShape<I>::classes)
        put_row(a, c, room_for(a, c, 1), row);
    else
        leave_parts(a, row, length);
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

/* Grid: any. After: all rows that are not empty are listed; for matrices whose rows are long. */
template <class I>
__global__ __launch_bounds__(csr_tuning.threads) void csr_list_columns_k(ColumnsArgs<I> a)
{
    grid_wait();
    a.shape.take_counts();
    if (*a.unsorted)
        return;
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    uint64_t r = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; r - lane_id() < a.shape.num_rows; r += step) {
        const bool is = r < a.shape.num_rows;
        const uint64_t begin = is ? a.at(r) : 0, end = is ? a.at(r + 1) : 0;
        const int c = begin < end ? class_of(a, end - begin) : LongShape<I>::classes;
        /* One addition for all lanes of a class: there are few classes, and many warps. */
        const uint32_t peers = __match_any_sync(all_lanes, c);
        const int first = __ffs(peers) - 1;
        uint64_t at = 0;
        if (lane_id() == first && c < LongShape<I>::classes)
            at = room_for(a, c, __popc(peers));
        at = shuffle(at, first) + __popc(peers & ((1u << lane_id()) - 1));
        if (c < LongShape<I>::classes)
            put_row(a, c, at, r);
        else if (begin < end)
            leave_parts(a, r, end - begin);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0 && a.of_pointers.source.argument)
        check_total(a);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Of two sorted runs that lie one behind the other in `from`, entries d to d + 7 of what they are
 * merged to. */
template <class Side>
GPI_DEVICE void merge_eight(Side &from, Side &to, uint32_t begin, uint32_t left, uint32_t right,
                            uint32_t d)
{
    const uint32_t middle = begin + left, count = min((uint32_t)piece_lane, left + right - d);
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
        const uint32_t at = Side::at(begin + d + k);
        to.cols[at] = takes_left ? a : b;
        to.places[at] = from.places[takes_left ? at_i : at_j];
        const uint32_t next = takes_left ? ++i : ++j, at_next = Side::at(min(next, end - 1));
        const auto col = from.cols[at_next];
        a = takes_left ? col : a, at_i = takes_left ? at_next : at_i;
        b = takes_left ? b : col, at_j = takes_left ? at_j : at_next;
    }
}

/* Shared memory: of the block, and two sides. */
template <class I> struct LongRows {
    static constexpr uint32_t line = ColumnsSide<I, 32>::line, most = LongShape<I>::most;
    static constexpr uint32_t room = most + most / line + 2 * LongShape<I>::threads / 128;
    static constexpr uint32_t head = sizeof(TeamShared) + sizeof(uint64_t);
    static constexpr uint32_t bytes = head + 2 * room * (sizeof(I) + sizeof(uint16_t));
    static_assert(bytes <= (uint32_t)gpu.block_shared_bytes, "a block may have that");

    /* Side s of a team whose rows have up to n entries. */
    GPI_DEVICE static TeamSide<I> side(void *memory, const Team &team, uint32_t n, uint32_t s)
    {
        I *cols = (I *)((char *)memory + head);
        const uint32_t at = s * room + team.number() * (n + n / line + 2);
        return {cols + at, (uint16_t *)(cols + 2 * room) + at};
    }
};

/* Columns, which may lie in sides[1], sorted by pieces and merged, to sides[0]. */
template <class I>
GPI_DEVICE void merge_pieces(const ColumnsArgs<I> &a, const Team &team, const I *cols,
                             uint32_t length, TeamSide<I> (&sides)[2], uint64_t &wrong)
{
    const uint32_t step = team.size * piece_lane;
#pragma unroll 1
    for (uint32_t i = team.rank() / 32 * piece_max; i < length; i += step)
        sort_pieces(a,
                    RowPiece<I, TeamSide<I>>{cols + i, sides[0], i,
                                             min((uint32_t)piece_max, length - i),
                                             piece_classes - 1},
                    wrong);
    team.sync();
#pragma unroll 1
    for (uint32_t run = piece_max; run < length; run *= 2) {
#pragma unroll 1
        for (uint32_t i = team.rank() * piece_lane; i < length; i += step) {
            const uint32_t begin = i & ~(2 * run - 1), left = min(run, length - begin);
            const uint32_t right = min(run, length - begin - left);
            merge_eight(sides[0], sides[1], begin, left, right, i - begin);
        }
        const TeamSide<I> merged = sides[1];
        sides[1] = sides[0], sides[0] = merged;
        team.sync();
    }
}

/* The row of a team that is not spread evenly. */
template <class I>
GPI_DEVICE void merge_row(const RowSpread<I> &row, TeamSide<I> (&sides)[2], uint64_t &wrong)
{
    const Team &team = row.team;
    merge_pieces(row.a, team, row.a.cols + row.begin, row.length, sides, wrong);
#pragma unroll 1
    for (uint32_t i = team.rank(); i < row.length; i += team.size) {
        const uint32_t at = TeamSide<I>::at(i), from = sides[0].places[at];
        row.store(i, sides[0].cols[at], from, row.value_of(from));
    }
}

/* Ask the L2 for a line of a row's columns. For 8 bytes registers do not suffice. */
template <class I> GPI_DEVICE void ask_for(const ColumnsArgs<I> &a, uint64_t begin, uint64_t end)
{
    if (sizeof(I) == 4 && begin < min(end, a.shape.n))
        asm volatile("prefetch.global.L2 [%0];" ::"l"(a.cols + begin));
}

/* The rows of a class, a team for each. */
template <class I>
GPI_DEVICE void sort_class(const ColumnsArgs<I> &a, const Team &team, int c, void *memory,
                           uint64_t &wrong)
{
    const uint32_t most = LongShape<I>::most_of(c), teams = LongShape<I>::threads / team.size;
    const uint64_t *rows = a.long_rows + GPI_CSR_LEFT_COUNTERS + c * a.long_room;
    const uint64_t count = min(a.long_rows[c], a.long_room);
    uint64_t r = team.number() * gridDim.x + blockIdx.x, begin = 0, end = 0;
    const auto find = [&]() {
        const uint64_t row = r < count ? rows[r] : 0;
        begin = r < count ? a.at(row) : 0;
        end = r < count ? a.at(row + 1) : 0;
    };
    find();
#pragma unroll 1
    while (r < count) {
        TeamSide<I> sides[] = {LongRows<I>::side(memory, team, most, 0),
                               LongRows<I>::side(memory, team, most, 1)};
        const uint32_t length = end > begin ? (uint32_t)min(end - begin, (uint64_t)most) : 0;
        RowSpread<I> row(a, team, sides, begin, length);
        r += teams * gridDim.x; /* of the next one, while this one is sorted */
        find();
        ask_for(a, begin + team.rank() * (128 / sizeof(I)), end);
        if (length && (length < spread_least || !row.sort(wrong)))
            merge_row(row, sides, wrong);
        team.sync(); /* what is shared is read */
    }
}

} // namespace GPI_SPACE
