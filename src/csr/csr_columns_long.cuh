/* SPDX-License-Identifier: MIT */
/*
 * Columns sorted within rows of more than 256 entries; of all, if they have as many on average.
 *
 * Rows are of classes by length. A row of the last one has the block and its shared memory, one of
 * the class before it half of both, and so on. It is sorted by bins (csr_columns_spread.cuh); if
 * its columns are not spread evenly, pieces of 256 entries are sorted in registers and merged in
 * shared memory, each thread 8 entries at a time (merge path). A row that fits no block is sorted
 * in parts, which are merged through memory in the same way.
 */
#pragma once

#include "csr/csr_columns_spread.cuh"
#include "device/search.cuh"

namespace GPI_SPACE
{

/* ---- lists ----------------------------------------------------------------------------------- */

constexpr uint32_t part_max = 8192; /* entries of a part */
constexpr int part_bits = 16;       /* of a word of its list, behind the row */

/* Counters behind those of rows: tasks that were taken, and that are done. */
constexpr int parts_taken = GPI_CSR_LEFT_CLASSES, merges_taken = parts_taken + 1,
              parts_done = parts_taken + 2;
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
    const uint32_t parts = a.spare_cols ? (uint32_t)((length + part_max - 1) / part_max) : 0;
    const uint64_t at = parts ? room_for(a, LongShape<I>::classes, parts) : 0;
#pragma unroll 1
    for (uint32_t k = 0; k < parts; k++)
        put_row(a, LongShape<I>::classes, at + k, row << part_bits | k);
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
        for (uint32_t i = team.rank() * piece_lane; i < length; i += step) {
            const uint32_t begin = i & ~(2 * run - 1), left = min(run, length - begin);
            const uint32_t right = min(run, length - begin - left);
            merge_eight(sides[0], sides[1], begin, left, right, i - begin);
        }
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

/* A task that no block has taken. */
template <class I>
GPI_DEVICE uint64_t take_task(const ColumnsArgs<I> &a, const Team &team, int counter)
{
    if (threadIdx.x == 0)
        team.shared.high[0][0] = atomicAdd((unsigned long long *)a.long_rows + counter, 1ull);
    __syncthreads();
    const uint64_t task = team.shared.high[0][0];
    __syncthreads();
    return task;
}

/* What the block wrote is seen by blocks that wait for the task; by all of its threads. */
template <class I> GPI_DEVICE void end_task(const ColumnsArgs<I> &a)
{
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("red.release.gpu.global.add.u64 [%0], 1;" ::"l"(a.long_rows + parts_done)
                     : "memory");
}

/* Until that number of tasks is done. */
template <class I> GPI_DEVICE void wait_for_tasks(const ColumnsArgs<I> &a, uint64_t count)
{
    uint64_t seen = threadIdx.x ? count : 0;
    while (seen < count)
        asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
                     : "=l"(seen)
                     : "l"(a.long_rows + parts_done)
                     : "memory");
    __syncthreads();
}

/* Of list entry `word` of class c, what has to be sorted. */
template <class I>
GPI_DEVICE void find_row(const ColumnsArgs<I> &a, int c, uint64_t word, uint64_t &begin,
                         uint64_t &end)
{
    const bool is_part = c == LongShape<I>::classes;
    const uint64_t row = is_part ? word >> part_bits : word;
    begin = a.at(row);
    end = a.at(row + 1);
    if (is_part) {
        begin = min(begin + (word & ((1 << part_bits) - 1)) * part_max, end);
        end = min(begin + part_max, end);
    }
}

/* The rows of a class, a team for each. */
template <class I>
GPI_DEVICE void sort_class(const ColumnsArgs<I> &a, const Team &team, int c, void *memory,
                           uint64_t &wrong)
{
    const uint32_t most = LongShape<I>::most_of(c), teams = LongShape<I>::threads / team.size;
    const uint64_t *rows = a.long_rows + GPI_CSR_LEFT_COUNTERS + c * a.long_room;
    const uint64_t count = min(a.long_rows[c], a.long_room);
    const bool is_part = c == LongShape<I>::classes;
    uint64_t r = is_part ? take_task(a, team, parts_taken)
                         : (uint64_t)(team.number() * gridDim.x + blockIdx.x);
    uint64_t begin = 0, end = 0;
    const auto find = [&]() {
        begin = end = 0;
        if (r < count)
            find_row(a, c, rows[r], begin, end);
    };
    find();
#pragma unroll 1
    while (r < count) {
        TeamSide<I> sides[] = {LongRows<I>::side(memory, team, most, 0),
                               LongRows<I>::side(memory, team, most, 1)};
        const uint32_t length = end > begin ? (uint32_t)min(end - begin, (uint64_t)most) : 0;
        RowSpread<I> row(a, team, sides, begin, length);
        /* Of the next one, while this one is sorted; a part is not kept from others that long. */
        r = is_part ? count : r + teams * gridDim.x;
        find();
        ask_for(a, begin + team.rank() * (128 / sizeof(I)), end);
        if (length && (length < spread_least || !row.sort(wrong)))
            merge_row(row, sides, wrong);
        team.sync(); /* what is shared is read */
        if (is_part) {
            end_task(a);
            r = take_task(a, team, parts_taken);
            find();
        }
    }
}

/* ---- rows in parts --------------------------------------------------------------------------- */

/* Rounds in which a row of that length is merged, an even number: from the output and back. */
GPI_DEVICE uint32_t part_rounds(uint64_t length)
{
    const uint32_t parts = length ? (uint32_t)((length - 1) / part_max) : 0;
    const uint32_t rounds = 32 - __clz(parts);
    return rounds + rounds % 2;
}

/* A value that another block may have written. */
GPI_DEVICE void copy_value(char *to, const char *from, uint32_t bytes)
{
    if (bytes == 4)
        *(uint32_t *)to = __ldcg((const uint32_t *)from);
    else if (bytes == 8)
        *(uint64_t *)to = __ldcg((const unsigned long long *)from);
    else
#pragma unroll 1
        for (uint32_t k = 0; k < bytes; k++)
            to[k] = __ldcg(from + k);
}

/* A part of two neighbouring runs, of part_max << round entries or, at the end, fewer. */
template <class I> struct PartMerge {
    const ColumnsArgs<I> &a;
    const I *cols;
    const char *values;
    I *to_cols;
    char *to_values;
    uint32_t left, right, d, count; /* of the runs; entries d to d + count are this part */

    GPI_DEVICE PartMerge(const ColumnsArgs<I> &args, uint64_t begin, uint64_t end, uint32_t part,
                         uint32_t round)
        : a(args)
    {
        const uint32_t length = (uint32_t)(end - begin), run = part_max << round;
        const uint32_t first = part * part_max, window = first & ~(2 * run - 1);
        const uint64_t at = begin + window, bytes = a.value_bytes;
        char *out = (char *)a.out_values, *spare = (char *)a.spare_values;
        left = min(run, length - window);
        right = min(run, length - window - left);
        d = first - window;
        count = min(part_max, length - first);
        cols = (round % 2 ? a.spare_cols : a.out_cols) + at;
        values = (round % 2 ? spare : out) + at * bytes;
        to_cols = (round % 2 ? a.out_cols : a.spare_cols) + at + d;
        to_values = (round % 2 ? out : spare) + (at + d) * bytes;
    }

    /* How many entries of the left run are among the first k; by a warp. */
    GPI_DEVICE uint32_t left_of(uint32_t k) const
    {
        const uint32_t low = k > right ? k - right : 0, high = min(k, left);
        return low + (uint32_t)partition_point_lanes((uint64_t)(high - low), [&](uint64_t i) {
                   const uint32_t at = low + (uint32_t)i;
                   return __ldcg(cols + at) <= __ldcg(cols + left + k - 1 - at);
               });
    }

    GPI_DEVICE void write(TeamSide<I> (&sides)[2], uint64_t *found) const
    {
        const uint32_t warp = threadIdx.x / 32, threads = LongShape<I>::threads;
        if (warp < 2) {
            const uint32_t before = left_of(d + warp * count);
            if (lane_id() == 0)
                found[warp] = before;
        }
        __syncthreads();
        /* Rows that overlap, as they are wrong, are not sorted. */
        const uint32_t skip = (uint32_t)found[0], next = (uint32_t)found[1];
        const uint32_t mine = min(next > skip ? next - skip : 0, count);
        const auto place = [&](uint32_t i) {
            return min(i < mine ? skip + i : left + d - skip + i - mine, left + right - 1);
        };
        for (uint32_t i = threadIdx.x; i < count; i += threads) {
            sides[0].cols[TeamSide<I>::at(i)] = __ldcg(cols + place(i));
            sides[0].places[TeamSide<I>::at(i)] = (uint16_t)i;
        }
        __syncthreads();
        for (uint32_t i = threadIdx.x * piece_lane; i < count; i += threads * piece_lane)
            merge_eight(sides[0], sides[1], 0, mine, count - mine, i);
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < count; i += threads) {
            const uint32_t from = place(sides[1].places[TeamSide<I>::at(i)]), n = a.value_bytes;
            to_cols[i] = sides[1].cols[TeamSide<I>::at(i)];
            copy_value(to_values + (uint64_t)i * n, values + (uint64_t)from * n, n);
        }
    }
};

/* Rows of which all parts are sorted, or will be by blocks that have taken these: a task waits for
 * all of the round before, whose blocks run already. */
template <class I>
GPI_DEVICE void merge_parts(const ColumnsArgs<I> &a, const Team &team, void *memory)
{
    const uint64_t *rows =
        a.long_rows + GPI_CSR_LEFT_COUNTERS + LongShape<I>::classes * a.long_room;
    const uint32_t count = (uint32_t)min(a.long_rows[LongShape<I>::classes], a.long_room);
    const uint32_t rounds = part_rounds(a.shape.n);
    static_assert(part_max <= LongShape<I>::most, "a block has room");
    TeamSide<I> sides[] = {LongRows<I>::side(memory, team, LongRows<I>::most, 0),
                           LongRows<I>::side(memory, team, LongRows<I>::most, 1)};
#pragma unroll 1
    for (;;) {
        const uint64_t task = take_task(a, team, merges_taken);
        if (task >= (uint64_t)count * rounds)
            return;
        const uint32_t round = (uint32_t)task / count;
        const uint64_t word = rows[(uint32_t)task % count], row = word >> part_bits;
        const uint64_t begin = a.at(row), end = a.at(row + 1);
        wait_for_tasks(a, (uint64_t)(round + 1) * count);
        if (round < part_rounds(end - begin))
            PartMerge<I>(a, begin, end, (uint32_t)word & ((1 << part_bits) - 1), round)
                .write(sides, team.shared.high[1]);
        end_task(a);
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
    const bool mine = lane_id() <= LongShape<I>::classes && a.long_rows[lane_id()];
    const uint32_t classes = *a.unsorted ? 0 : __ballot_sync(all_lanes, mine);
    __syncthreads();
#pragma unroll 1
    for (int c = 0; c <= LongShape<I>::classes; c++) {
        if (!(classes >> c & 1))
            continue;
        const Team team = {shared, (uint32_t)LongShape<I>::threads >>
                                       max(LongShape<I>::classes - 1 - c, 0)};
        sort_class(a, team, c, memory, wrong);
        __syncthreads();
    }
    if (classes >> LongShape<I>::classes & 1)
        merge_parts(a, Team{shared, LongShape<I>::threads}, memory);
    if (threadIdx.x == 0)
        report_column(a, wrong);
}

} // namespace GPI_SPACE
