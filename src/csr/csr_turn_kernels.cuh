/* SPDX-License-Identifier: MIT */
/*
 * Transposes out of the buckets of a sort by new rows that is not finished.
 *
 * A bucket has all entries of a range of rows, in the order in which they were given. A block
 * brings their pairs, of column and value, into shared memory, and puts their numbers in the order
 * of rows by stable passes there, of one or two digits as a rule. Then columns and values leave for
 * their arrays, and an entry whose row differs from the one before writes the pointers between the
 * two. So sorted rows and pairs are never written.
 *
 * Ranks among the entries of a warp are what additions in shared memory return, which serve lanes
 * in their order. As that is not documented, the order is looked at while entries are written, and
 * a bucket that is not in order is done once more, lane by lane.
 *
 * One bucket that shared memory does not hold leaves all to the sort.
 */
#pragma once

extern "C" {
#include "csr/csr_turn.h"
}
#include "csr/csr_kernels.cuh"
#include "device/grid.cuh"
#include "radixsort/radixsort_buckets_internal.h"

namespace GPI_SPACE
{

constexpr int turn_threads = 512, turn_items = 18, turn_warps = turn_threads / 32;
constexpr uint32_t turn_max = turn_threads * turn_items;
constexpr int turn_digit = 9; /* bits at most: a thread sums the counts of one digit */
constexpr uint32_t turn_digits = 1 << turn_digit;
constexpr uint32_t turn_bits = 16; /* of rows in a bucket, at most */
static_assert(turn_digits == turn_threads, "one for each thread");

struct TurnArgs {
    RadixBuckets buckets;
    uint64_t num_rows;
    uint32_t compared; /* bits of a row */
    uint64_t *left;
    void *pointers, *cols, *values;
    bool wide_pointers, wide_cols;
    uint32_t value_bytes;
};

/* One block. Whether all buckets fit; if they do, nothing is left to the sort. */
__global__ __launch_bounds__(1024) void csr_turn_check_k(const __grid_constant__ TurnArgs a)
{
    const RadixBuckets &b = a.buckets;
    bool fits = b.any() && b.shift() <= turn_bits;
    const uint32_t *starts = b.starts(), count = fits ? b.count() : 0;
    for (uint32_t i = threadIdx.x; i < count; i += 1024)
        fits &= starts[i + 1] - starts[i] <= turn_max;
    fits = __syncthreads_and(fits);
    if (threadIdx.x > 0)
        return;
    a.left[0] = fits ? 0 : item_count(b);
    a.left[1] = fits ? 0 : a.num_rows;
    if (fits)
        b.done();
}

struct TurnShared {
    uint64_t pairs[turn_max]; /* columns in the low halves */
    uint16_t low[turn_max];   /* bits of rows */
    union {
        uint32_t counts[turn_warps / 2][turn_digits]; /* of two warps each */
        uint16_t from[turn_max];                      /* entries in the order of rows */
    };
    uint32_t sums[turn_warps];
};

/* A bucket: entries from `first` on, rows from `base` on. */
struct TurnBucket {
    const TurnArgs &a;
    TurnShared &s;
    uint32_t first, count, bits;
    uint64_t base;
    bool sure; /* ranks lane by lane */

    /* Entries of a warp, one behind the other, in steps of 32. */
    GPI_DEVICE int steps() const
    {
        return (int)((count + turn_threads - 1) / turn_threads);
    }

    /* Of this lane in the first step. */
    GPI_DEVICE uint32_t own() const
    {
        return threadIdx.x / 32 * steps() * 32 + lane_id();
    }

    template <class F> GPI_DEVICE static void for_steps(int n, F f)
    {
#pragma unroll
        for (int i = 0; i < turn_items; i++)
            if (i < n)
                f(i);
    }

    /* Pairs are on their way; places without an entry have all bits. */
    GPI_DEVICE void load() const
    {
        uint32_t row[turn_items];
        const uint32_t place = a.buckets.place(), item = own();
        const int n = steps(), left = (int)count - (int)item; /* from item on */
        const uint32_t *rows = (const uint32_t *)a.buckets.keys[place] + first + item;
        const char *pairs = a.buckets.values[place];
        const uint32_t mask = (1u << bits) - 1;
        for_steps(n, [&](int i) {
            row[i] = ~0u;
            if (i * 32 < left)
                row[i] = __ldcs(rows + i * 32);
        });
        for_steps(n, [&](int i) {
            const uint64_t from = (uint64_t)first + item + i * 32;
            if (i * 32 >= left)
                return;
            if (a.value_bytes)
                copy_async(s.pairs + item + i * 32, (const uint64_t *)pairs + from);
            else
                copy_async((uint32_t *)(s.pairs + item + i * 32), (const uint32_t *)pairs + from);
        });
        for_steps(n, [&](int i) {
            s.low[item + i * 32] = (uint16_t)(i * 32 < left ? row[i] & mask : ~0u);
        });
    }

    /* The count of a digit is a half of a word, the other one that of another warp. */
    GPI_DEVICE static uint32_t half()
    {
        return threadIdx.x / 32 % 2;
    }

    GPI_DEVICE uint32_t *words() const
    {
        return s.counts[threadIdx.x / 64];
    }

    GPI_DEVICE uint16_t *count_of(uint32_t digit) const
    {
        return (uint16_t *)(words() + digit) + half();
    }

    /* How many of the digit this warp has had before this lane. */
    GPI_DEVICE uint32_t rank(uint32_t digit) const
    {
        return atomicAdd(words() + digit, half() ? 1u << 16 : 1u) >> half() * 16 & 0xffff;
    }

    /* The same with lanes one after the other. */
    GPI_DEVICE uint32_t rank_sure(uint32_t digit) const
    {
        uint32_t own = 0;
#pragma unroll 1
        for (int lane = 0; lane < 32; lane++) {
            if (lane_id() == lane)
                own = rank(digit);
            __syncwarp();
        }
        return own;
    }

    /* at[i] |= the rank of digit(at[i]), in the high half. */
    template <class F> GPI_DEVICE void add_ranks(int n, uint32_t (&at)[turn_items], F digit) const
    {
        if (sure)
            for_steps(n, [&](int i) { at[i] |= rank_sure(digit(at[i])) << 16; });
        else
            for_steps(n, [&](int i) { at[i] |= rank(digit(at[i])) << 16; });
    }

    GPI_DEVICE void clear() const
    {
#pragma unroll
        for (int w = 0; w < turn_warps / 2; w++)
            s.counts[w][threadIdx.x] = 0;
        __syncthreads();
    }

    /* Counts become the places where the entries of a warp with that digit begin. */
    GPI_DEVICE void sum() const
    {
        uint32_t count[turn_warps / 2], total = 0;
        __syncthreads();
#pragma unroll
        for (int w = 0; w < turn_warps / 2; w++) {
            count[w] = s.counts[w][threadIdx.x];
            total += (count[w] & 0xffff) + (count[w] >> 16);
        }
        uint32_t at = block_sums<turn_threads>(total, s.sums).x;
#pragma unroll
        for (int w = 0; w < turn_warps / 2; w++) {
            const uint32_t next = at + (count[w] & 0xffff);
            s.counts[w][threadIdx.x] = at | next << 16;
            at = next + (count[w] >> 16);
        }
        __syncthreads();
    }

    /* A stable pass by the digit at `shift`; the first one takes entries as they came. */
    GPI_DEVICE void pass(uint32_t shift, uint32_t mask) const
    {
        const int n = steps();
        const uint32_t item = own();
        uint32_t at[turn_items]; /* an entry, and in the high half a rank, then the place */
        const auto digit = [&](uint32_t entry) { return s.low[entry] >> shift & mask; };
        for_steps(n, [&](int i) { at[i] = shift ? s.from[item + i * 32] : item + i * 32; });
        __syncthreads(); /* counts take their place */
        clear();
        add_ranks(n, at, digit);
        sum();
        for_steps(n, [&](int i) { at[i] += (uint32_t)*count_of(digit(at[i] & 0xffff)) << 16; });
        __syncthreads();
        for_steps(n, [&](int i) { s.from[at[i] >> 16] = (uint16_t)at[i]; });
        __syncthreads();
    }

    /* As if lanes had not been served in their order: see radixsort_tile.cuh. */
    GPI_DEVICE void disturb() const
    {
#ifdef GPI_FAULT
        if (threadIdx.x == 0 && !sure && count > 1 && count % 7 < 5) {
            const uint16_t entry = s.from[0];
            s.from[0] = s.from[count / 2], s.from[count / 2] = entry;
        }
        __syncthreads();
#endif
    }

    GPI_DEVICE void sort() const
    {
        const uint32_t passes = bits <= turn_digit ? 1 : (bits + turn_digit - 1) / turn_digit;
        const uint32_t each = (bits + passes - 1) / passes, mask = (1u << each) - 1;
#pragma unroll 1
        for (uint32_t p = 0; p < passes; p++)
            pass(p * each, mask);
        disturb();
    }

    /* Pointers of rows [begin, end) to an entry, of each lane its own. */
    template <class O>
    GPI_DEVICE static void write_pointers(O *pointers, uint32_t begin, uint32_t end, uint32_t entry)
    {
        constexpr uint32_t few = 4;
#pragma unroll 1
        for (uint32_t low = begin; low < min(end, begin + few); low++)
            pointers[low] = entry;
        const bool many = end > begin + few;
        for (uint32_t todo = __ballot_sync(all_lanes, many); todo; todo &= todo - 1) {
            const int lane = __ffs(todo) - 1;
            const uint32_t to = shuffle(end, lane), theirs = shuffle(entry, lane);
#pragma unroll 1
            for (uint32_t low = shuffle(begin, lane) + few + lane_id(); low < to; low += 32)
                pointers[low] = theirs;
        }
    }

    template <class C> GPI_DEVICE void write_pair(uint64_t i, uint64_t pair) const
    {
        __stcs((C *)a.cols + i, (C)(uint32_t)pair);
        const uint32_t value = (uint32_t)(pair >> 32);
        if (a.value_bytes == 4)
            __stcs((uint32_t *)a.values + i, value);
        else if (a.value_bytes == 2)
            ((uint16_t *)a.values)[i] = (uint16_t)value;
        else if (a.value_bytes == 1)
            ((uint8_t *)a.values)[i] = (uint8_t)value;
    }

    /* An entry with its row above its number. */
    GPI_DEVICE uint32_t key_at(uint32_t p) const
    {
        const uint32_t entry = s.from[p];
        return (uint32_t)s.low[entry] << 16 | entry;
    }

    /* Whether entries were in order: by row, and those of a row as they came. */
    template <class C, class O> GPI_DEVICE bool write() const
    {
        O *pointers = (O *)a.pointers + base;
        const uint64_t behind = a.num_rows + 1; /* all pointers */
        const uint32_t all = base < behind ? (uint32_t)min(behind - base, (uint64_t)1 << bits) : 0;
        const uint32_t begin = own(), end = min(begin + steps() * 32, count + lane_id());
        uint32_t last = begin > lane_id() ? key_at(begin - lane_id() - 1) : 0;
        bool ordered = true;
#pragma unroll 2
        for (uint32_t p = begin; p < end; p += 32) {
            const bool is = p < count;
            const uint32_t key = key_at(p), low = key >> 16, entry = key & 0xffff;
            const uint32_t up = shuffle_up(key, 1), left = lane_id() ? up : last;
            const uint32_t row = (left >> 16) + (p > 0); /* the first without a pointer */
            last = shuffle(key, 31);
            ordered = ordered && left <= key && is == (entry < count);
            if (is && row == low && low < all)
                pointers[low] = first + p;
            if (__any_sync(all_lanes, is && row < low))
                write_pointers(pointers, row, is && row < low ? min(low + 1, all) : 0, first + p);
            if (is)
                write_pair<C>((uint64_t)first + p, s.pairs[entry]);
        }
        return ordered;
    }

    template <class O> GPI_DEVICE void write_end() const
    {
        const uint32_t rest = count ? s.low[s.from[count - 1]] + 1 : 0;
        O *pointers = (O *)a.pointers;
        for (uint64_t row = base + rest + threadIdx.x;
             row < base + (1u << bits) && row <= a.num_rows; row += turn_threads)
            pointers[row] = first + count;
    }

    GPI_DEVICE bool write_all() const
    {
        const bool ordered = a.wide_cols       ? write<uint64_t, uint64_t>()
                             : a.wide_pointers ? write<uint32_t, uint64_t>()
                                               : write<uint32_t, uint32_t>();
        if (a.wide_pointers)
            write_end<uint64_t>();
        else
            write_end<uint32_t>();
        return __syncthreads_and(ordered);
    }

    /* False: lanes were not served in their order. */
    GPI_DEVICE bool turn() const
    {
        if (count) {
            load();
            sort();
            copy_async_wait();
            __syncthreads();
        }
        return write_all();
    }
};

/* Pointers of rows outside of [begin, end), where all entries are; by all threads. */
template <class O> GPI_DEVICE void point_outside(const TurnArgs &a, uint64_t begin, uint64_t end)
{
    const uint64_t thread = (uint64_t)blockIdx.x * turn_threads + threadIdx.x;
    const uint64_t threads = (uint64_t)gridDim.x * turn_threads;
    O *pointers = (O *)a.pointers;
    for (uint64_t r = thread; r < begin; r += threads)
        pointers[r] = 0;
    for (uint64_t r = end + thread; r <= a.num_rows; r += threads)
        pointers[r] = (O)a.buckets.starts()[a.buckets.count()];
}

/* Grid: any; a block takes every gridDim.x-th bucket. Shared memory: a TurnShared. After: the
 * transpose, or, if the check said that buckets do not fit, nothing. */
__global__ __launch_bounds__(turn_threads, 2) void csr_turn_k(const __grid_constant__ TurnArgs a)
{
    extern __shared__ __align__(16) char memory[];
    grid_wait();
    if (a.left[1])
        return;
    const RadixBuckets &b = a.buckets;
    const uint32_t shift = b.shift(), buckets = b.count(), top = shift + b.plan->bits;
    const uint32_t *starts = b.starts();
    const uint32_t row = *(const uint32_t *)b.keys[b.place()] & a.compared;
    const uint64_t base = (uint64_t)row >> top << top, end = base + ((uint64_t)buckets << shift);
    if (a.wide_pointers)
        point_outside<uint64_t>(a, min(base, a.num_rows + 1), end);
    else
        point_outside<uint32_t>(a, min(base, a.num_rows + 1), end);
    for (uint32_t i = blockIdx.x; i < buckets; i += gridDim.x) {
        const uint32_t first = starts[i];
        TurnBucket bucket = {a,     *(TurnShared *)memory,         first, starts[i + 1] - first,
                             shift, base + ((uint64_t)i << shift), false};
        while (!bucket.turn())
            bucket.sure = true;
    }
}

} // namespace GPI_SPACE
