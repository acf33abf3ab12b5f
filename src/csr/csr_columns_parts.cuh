/* SPDX-License-Identifier: MIT */
/*
 * Rows of more entries than a block has room for, by all blocks.
 *
 * A row is in parts of up to 8192 entries, and has one or two buckets for each, between columns of
 * a sample (Frazer and McKellar 1970, samplesort). Entries of the same column differ by their place
 * in the row, so buckets divide these as well. Blocks count the entries of each part by bucket,
 * then move them, in order, to where those of the part begin in their bucket, and then sort buckets
 * by bins, as other rows. These are three rounds of tasks, which blocks take by a counter. A task
 * waits until all of the round before are done, whose blocks run already; so blocks need not all
 * run at once. A bucket whose columns repeat often, and one that fits no block either, as the
 * sample was a bad one, is sorted digit by digit.
 */
#pragma once

#include "csr/csr_columns_split.cuh"

namespace GPI_SPACE
{

/* ---- tasks ----------------------------------------------------------------------------------- */

/* A task that no block has taken. */
template <class I> GPI_DEVICE uint64_t take_task(const ColumnsArgs<I> &a, const Team &team)
{
    if (threadIdx.x == 0)
        team.shared.high[0][0] = atomicAdd((unsigned long long *)a.long_rows + parts_taken, 1ull);
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

/* ---- a part ---------------------------------------------------------------------------------- */

constexpr uint32_t part_sample = 32; /* entries of a part in the sample of its row */

/* Part k of a row, or bucket k. */
template <class I> struct RowPart {
    const ColumnsArgs<I> &a;
    const Team &team;
    char *memory; /* shared */
    PartShared<I> &s;
    uint64_t begin; /* of the row */
    uint32_t length, buckets, k;
    uint32_t *begins; /* of the row's buckets */
    uint16_t *counts; /* of each part, by bucket */

    GPI_DEVICE uint32_t first() const
    {
        return k * a.part_size();
    }

    GPI_DEVICE uint32_t count() const
    {
        return min(length - first(), a.part_size());
    }

    /* The buckets of the part's entries, for the second round, where the output will be. */
    GPI_DEVICE uint16_t *known() const
    {
        return (uint16_t *)(a.out_cols + begin + first());
    }

    GPI_DEVICE PartMove<I> moves(bool back) const
    {
        const uint64_t bytes = a.value_bytes;
        char *out = (char *)a.out_values + begin * bytes;
        char *spare = (char *)a.spare_values + begin * bytes;
        if (back)
            return {a.spare_cols + begin, spare, a.out_cols + begin, out, a.value_bytes};
        return {a.cols + begin, (const char *)a.values + begin * bytes, a.spare_cols + begin, spare,
                a.value_bytes};
    }

    /* Of this number of entries one is in the sample, */
    GPI_DEVICE uint32_t sample_step() const
    {
        return a.part_size() / part_sample;
    }

    /* at a place that has nothing to do with columns. */
    GPI_DEVICE uint32_t sampled(uint32_t i) const
    {
        return i * sample_step() + (i * 2654435761u >> 24) % sample_step();
    }

    GPI_DEVICE void find_splitters() const
    {
        TeamSide<I> sides[] = {LongRows<I>::side(memory, team, LongRows<I>::most, 0),
                               LongRows<I>::side(memory, team, LongRows<I>::most, 1)};
        const uint32_t count = length / sample_step(), rank = threadIdx.x;
        static_assert(LongRows<I>::most < GPI_CSR_PARTS_ROOM ||
                          GPI_CSR_PARTS_MOST * part_sample <= LongRows<I>::most,
                      "the sample has room");
        I *cols = sides[1].cols, col = 0;
        uint32_t place = 0;
        for (uint32_t i = rank; i < count; i += LongShape<I>::threads)
            cols[i] = a.cols[begin + sampled(i)];
        __syncthreads(); /* all of it is there */
        merge_pieces(a, team, cols, count, sides, team.shared.ignored);
        if (rank < buckets) {
            const uint32_t at =
                TeamSide<I>::at((rank + 1) * count / buckets - (rank + 1 == buckets));
            col = sides[0].cols[at];
            place = sampled(sides[0].places[at]);
        }
        __syncthreads();
        if (rank < buckets)
            s.cols[rank] = col, s.at[rank] = place, s.base[rank] = 0;
        __syncthreads();
    }

    /* How many buckets begin with no more than that. */
    GPI_DEVICE uint32_t bucket_of(I col, uint32_t place) const
    {
        uint32_t low = 0, high = buckets - 1;
        while (low < high) {
            const uint32_t at = (low + high) / 2;
            if (s.cols[at] < col || (s.cols[at] == col && s.at[at] <= place))
                low = at + 1;
            else
                high = at;
        }
        return low;
    }

    GPI_DEVICE void count_buckets(uint64_t &wrong) const
    {
        bool is_wrong = false;
        find_splitters();
        for (uint32_t i = threadIdx.x; i < count(); i += LongShape<I>::threads) {
            const I col = a.cols[begin + first() + i];
            const uint32_t b = bucket_of(col, first() + i);
            is_wrong |= col >= a.shape.num_cols;
            known()[i] = (uint16_t)b;
            atomicAdd(&s.base[b], 1u);
        }
        if (is_wrong)
            atomicMin((unsigned long long *)&wrong, (unsigned long long)(begin + first()));
        __syncthreads();
        if (threadIdx.x < buckets)
            counts[k * buckets + threadIdx.x] = (uint16_t)s.base[threadIdx.x];
    }

    /* Entries start to start + n to their buckets, once, or from the spare arrays to the output and
     * back by an odd number of digits of what is above the least column: by the highest one twice,
     * if need be. No entry goes to `limit` or further. */
    GPI_DEVICE void split_all(bool digits, uint32_t start, uint32_t n, uint32_t limit, I least,
                              uint32_t bits) const
    {
        const uint32_t last = (max(bits, 1u) - 1) / part_digit;
        const uint32_t turns = digits ? (last + 1) / 2 * 2 + 1 : 1;
        PartMove<I> m = moves(digits);
#pragma unroll 1
        for (uint32_t d = 0; d < turns; d++) {
            const PartBuckets<I> b = {digits ? nullptr : known() - first(), m.cols, least,
                                      min(d, last) * part_digit};
            if (digits)
                find_bases(b, start, n);
#pragma unroll 1
            for (uint32_t i = 0; i < n; i += split_max)
                split_part(s, team, m, b, start + i, min(n - i, split_max), limit);
            __syncthreads();
            m = {m.to_cols, m.to_values, (I *)m.cols, (char *)m.values, m.value_bytes};
        }
    }

    /* Where entries of each digit begin. */
    GPI_DEVICE void find_bases(const PartBuckets<I> &digit, uint32_t start, uint32_t n) const
    {
        const uint32_t rank = threadIdx.x;
        if (rank < buckets_max)
            s.base[rank] = 0;
        __syncthreads();
#pragma unroll 1
        for (uint32_t i = rank; i < n; i += LongShape<I>::threads)
            atomicAdd(&s.base[digit.of(start + i)], 1u);
        __syncthreads();
        const uint32_t before = team.before(rank < buckets_max ? s.base[rank] : 0);
        __syncthreads();
        if (rank < buckets_max)
            s.base[rank] = start + before;
        __syncthreads();
    }

    /* Where the part's entries of each bucket go. */
    GPI_DEVICE void find_places() const
    {
        const uint32_t rank = threadIdx.x;
        if (rank < buckets)
            s.base[rank] = 0, s.total[rank] = 0;
        __syncthreads();
#pragma unroll 4
        for (uint32_t i = rank; i < a.parts_of(length) * buckets; i += LongShape<I>::threads) {
            const uint32_t count = __ldcg(counts + i), part = i / buckets, b = i % buckets;
            atomicAdd(&s.total[b], count);
            if (part < k)
                atomicAdd(&s.base[b], count);
        }
        __syncthreads();
        const uint32_t start = team.before(rank < buckets ? s.total[rank] : 0);
        if (rank < buckets)
            s.base[rank] += start;
        if (rank < buckets && k == 0)
            begins[rank] = start;
        __syncthreads();
    }

    /* The bucket is sorted, and is output then, or what is needed to do so is found. */
    GPI_DEVICE bool sort_spread(uint32_t start, uint32_t n, I &least, uint32_t &bits) const
    {
        if (n < spread_least || n > LongRows<I>::most)
            return n == 0;
        ColumnsArgs<I> moved = a;
        moved.cols = a.spare_cols;
        moved.values = a.spare_values;
        TeamSide<I> sides[] = {LongRows<I>::side(memory, team, LongRows<I>::most, 0),
                               LongRows<I>::side(memory, team, LongRows<I>::most, 1)};
        RowSpread<I, true> row(moved, team, sides, begin + start, n);
        const bool done = row.sort(team.shared.ignored);
        least = row.least, bits = row.bits();
        return done;
    }

    /* The second round, of a part, and the third one, of a bucket. */
    GPI_DEVICE void move(bool sorts) const
    {
        uint32_t start = first(), n = sorts ? 0 : count(), bits = a.shape.col_bits;
        I least = 0;
        if (sorts) {
            start = min(__ldcg(begins + k), length);
            const uint32_t end = k + 1 < buckets ? min(__ldcg(begins + k + 1), length) : length;
            n = max(end, start) - start;
            if (sort_spread(start, n, least, bits))
                return;
        } else {
            find_places();
        }
        split_all(sorts, start, n, sorts ? start + n : length, least, bits);
    }
};

/* Rows that are in parts. */
template <class I>
GPI_DEVICE void sort_parts(const ColumnsArgs<I> &a, const Team &team, void *memory, uint64_t &wrong)
{
    const uint64_t *lists = a.long_rows + GPI_CSR_LEFT_COUNTERS;
    const uint64_t *words = lists + LongShape<I>::classes * a.long_room;
    uint32_t *begins = (uint32_t *)(lists + GPI_CSR_LEFT_CLASSES * a.long_room);
    uint16_t *counts = (uint16_t *)(begins + a.part_room * part_buckets<I>);
    const uint32_t count =
        (uint32_t)min(a.long_rows[LongShape<I>::classes], min(a.long_room, (uint64_t)a.part_room));
#pragma unroll 1
    for (;;) {
        const uint64_t task = take_task(a, team);
        if (task >= (2 + part_buckets<I>)*(uint64_t)count)
            return;
        const uint32_t round = min((uint32_t)task / count, 2u);
        const uint32_t each = round == 2 ? part_buckets<I> : 1; /* tasks of a part */
        const uint32_t left = (uint32_t)task - round * count, at = left / each;
        const uint64_t word = words[at], row = word >> word_bits;
        const uint64_t begin = a.at(row), end = max(a.at(row + 1), begin);
        const uint32_t parts = a.parts_of(end - begin), k = word & ((1 << word_bits) - 1);
        const uint32_t first = at - k; /* of the row's tasks */
        wait_for_tasks(a, (uint64_t)round * count);
        const RowPart<I> part = {a,
                                 team,
                                 (char *)memory,
                                 *(PartShared<I> *)((char *)memory + LongRows<I>::head),
                                 begin,
                                 (uint32_t)(end - begin),
                                 parts * part_buckets<I>,
                                 k * each + left % each,
                                 begins + first * part_buckets<I>,
                                 counts + (uint64_t)first * buckets_max};
        /* Rows that overlap, as they are wrong, may have more parts than there is room. */
        if (k <= at && first + parts <= count) {
            if (round == 0)
                part.count_buckets(wrong);
            else
                part.move(round == 2);
        }
        end_task(a);
    }
}

/* Whether the kernel has a form without parts, for which it has more registers: columns of 8 bytes
 * gain nothing by it (csr-47). */
template <class I> constexpr bool has_short_form = sizeof(I) == 4;

/* Grid: any. After: rows that were listed are sorted; PARTS: those in parts, too. */
template <class I, bool PARTS>
__global__ __launch_bounds__(LongShape<I>::threads) void csr_long_columns_k(ColumnsArgs<I> a)
{
    extern __shared__ uint64_t memory[];
    TeamShared &shared = *(TeamShared *)memory;
    uint64_t &wrong = *(uint64_t *)((char *)memory + sizeof(TeamShared));
    static_assert(LongRows<I>::head + sizeof(PartShared<I>) <= LongRows<I>::bytes, "both fit");
    grid_wait();
    a.shape.take_counts();
    if (threadIdx.x == 0)
        wrong = none_wrong;
    const bool mine = lane_id() <= LongShape<I>::classes && a.long_rows[lane_id()];
    const uint32_t classes = *a.unsorted ? 0 : __ballot_sync(all_lanes, mine);
    if (!classes) /* here, as most matrices have none: code behind is not fetched */
        return;
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
    if (PARTS && classes >> LongShape<I>::classes & 1)
        sort_parts(a, Team{shared, LongShape<I>::threads}, memory, wrong);
    if (threadIdx.x == 0)
        report_column(a, wrong);
}

} // namespace GPI_SPACE
