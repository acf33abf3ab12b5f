/* SPDX-License-Identifier: MIT */
/*
 * Columns sorted within rows of more than 256 entries; of all, if they have as many on average.
 *
 * Rows are of classes by length. A row of the last one has the block and its shared memory, one of
 * the class before it half of both, and so on. It is sorted by bins (csr_columns_spread.cuh); if
 * its columns are not spread evenly, pieces of 256 entries are sorted in registers and merged in
 * shared memory, each thread 8 entries at a time (merge path).
 */
#pragma once

#include "csr/csr_columns_spread.cuh"

namespace GPI_SPACE
{

/* ---- lists ----------------------------------------------------------------------------------- */

/* The class of a row, or LongShape<I>::classes: all have to be sorted in another way. */
template <class I> GPI_DEVICE int class_of(const ColumnsArgs<I> &a, uint64_t length)
{
    int c = 0;
    while (c < LongShape<I>::classes && length > LongShape<I>::most_of(c))
        c++;
    if (c == LongShape<I>::classes) {
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
        a.long_rows[LongShape<I>::classes + c * a.long_room + at] = row;
}

/* A row to the list of its class. */
template <class I> GPI_DEVICE void leave_row(const ColumnsArgs<I> &a, uint64_t row, uint64_t length)
{
    const int c = class_of(a, length);
    if (c < LongShape<I>::classes)
        put_row(a, c, room_for(a, c, 1), row);
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
    }
    if (blockIdx.x == 0 && threadIdx.x == 0 && a.of_pointers.source.argument)
        check_total(a);
}

/* ---- rows ------------------------------------------------------------------------------------ */

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

/* The row of a team that is not spread evenly: pieces, which are merged, and what comes out. */
template <class I>
GPI_DEVICE void merge_row(const RowSpread<I> &row, TeamSide<I> (&sides)[2], uint64_t &wrong)
{
    const Team &team = row.team;
    const uint32_t length = row.length, step = team.size * piece_lane;
#pragma unroll 1
    for (uint32_t i = team.rank() / 32 * piece_max; i < length; i += step)
        sort_pieces(row.a,
                    RowPiece<I, TeamSide<I>>{row.a.cols + row.begin + i, sides[0], i,
                                             min((uint32_t)piece_max, length - i),
                                             piece_classes - 1},
                    wrong);
    team.sync();
#pragma unroll 1
    for (uint32_t run = piece_max; run < length; run *= 2) {
#pragma unroll 1
        for (uint32_t i = team.rank() * piece_lane; i < length; i += step)
            merge_eight(sides[0], sides[1], 0, length, run, i);
        const TeamSide<I> merged = sides[1];
        sides[1] = sides[0], sides[0] = merged;
        team.sync();
    }
#pragma unroll 1
    for (uint32_t i = team.rank(); i < length; i += team.size) {
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
    const uint64_t *rows = a.long_rows + LongShape<I>::classes + c * a.long_room;
    const uint64_t count = min(a.long_rows[c], a.long_room);
    uint64_t r = team.number() * gridDim.x + blockIdx.x, begin = 0, end = 0;
    const auto find = [&]() {
        begin = r < count ? a.at(rows[r]) : 0;
        end = r < count ? a.at(rows[r] + 1) : 0;
    };
    find();
#pragma unroll 1
    while (r < count) {
        TeamSide<I> sides[] = {LongRows<I>::side(memory, team, most, 0),
                               LongRows<I>::side(memory, team, most, 1)};
        const uint32_t length = end > begin ? (uint32_t)min(end - begin, (uint64_t)most) : 0;
        RowSpread<I> row(a, team, sides, begin, length);
        r += teams * gridDim.x;
        find(); /* of the next one, while this one is sorted */
        ask_for(a, begin + team.rank() * (128 / sizeof(I)), end);
        if (length && (length < spread_least || !row.sort(wrong)))
            merge_row(row, sides, wrong);
        team.sync(); /* what is shared is read */
    }
}

/* Grid: any. After: rows that were listed are sorted. */
template <class I>
__global__ __launch_bounds__(LongShape<I>::threads) void csr_long_columns_k(ColumnsArgs<I> a)
{
    extern __shared__ uint64_t memory[];
    TeamShared &shared = *(TeamShared *)memory;
    uint64_t &wrong = *(uint64_t *)((char *)memory + sizeof(TeamShared));
    grid_wait();
    a.shape.take_counts();
    if (threadIdx.x == 0)
        wrong = none_wrong;
    const bool mine = lane_id() < LongShape<I>::classes && a.long_rows[lane_id()];
    const uint32_t classes = *a.unsorted ? 0 : __ballot_sync(all_lanes, mine);
    __syncthreads();
#pragma unroll 1
    for (int c = 0; c < LongShape<I>::classes; c++) {
        if (!(classes >> c & 1))
            continue;
        const Team team = {shared,
                           (uint32_t)LongShape<I>::threads >> (LongShape<I>::classes - 1 - c)};
        sort_class(a, team, c, memory, wrong);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        report_column(a, wrong);
}

} // namespace GPI_SPACE
