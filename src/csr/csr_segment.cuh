/* SPDX-License-Identifier: MIT */
/* Entries in order in the registers of a warp: where they come from, which of them begin a run or a
 * row, and columns and row pointers out of that. */
#pragma once

#include "csr/csr_coo_kernels.cuh"
#include "device/warp.cuh"

namespace GPI_SPACE
{

/* Ask the L2 for line `number` of the items from `begin` on, if they reach it. */
template <class T>
GPI_DEVICE void prefetch_line(const T *items, uint64_t begin, uint64_t n, uint32_t number)
{
    const uint64_t i = begin + number * (128 / sizeof(T));
    if (i < n)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(items + i));
}

/* ---- where entries come from ----------------------------------------------------------------- */

/* As they were given: their order and range are not known. */
template <class I> struct GivenEntries {
    static constexpr bool given = true;
    const I *rows, *cols;

    GPI_DEVICE void load(uint64_t i, I &row, I &col) const
    {
        row = rows[i];
        col = cols[i];
    }

    GPI_DEVICE uint64_t row(uint64_t i) const
    {
        return rows[i];
    }

    /* Of `count` entries, by as many threads as there are lines. */
    GPI_DEVICE void prefetch(uint64_t begin, uint64_t n, uint32_t count) const
    {
        const uint32_t lines = count * sizeof(I) / 128;
        for (uint32_t line = threadIdx.x; line < 2 * lines; line += blockDim.x)
            prefetch_line(line < lines ? rows : cols, begin, n, line % lines);
    }
};

/* Sorted keys, of rows with part << shift cells each. */
template <class I> struct PackedEntries {
    static constexpr bool given = false;
    const uint64_t *keys;
    uint32_t shift, part;
    uint32_t inverse; /* (2^32 - 1) / part; 0: part is 1 */

    GPI_DEVICE void load(uint64_t i, I &row, I &col) const
    {
        const uint64_t key = keys[i], low = key & ((1ull << shift) - 1);
        if (inverse == 0) {
            row = (I)(key >> shift);
            col = (I)low;
            return;
        }
        const uint32_t parts = (uint32_t)(key >> shift);
        uint32_t of = __umulhi(parts, inverse), rest = parts - of * part;
        if (rest >= part) { /* the product is too small by 1 at most */
            of++;
            rest -= part;
        }
        row = of;
        col = (I)((uint64_t)rest << shift | low);
    }

    GPI_DEVICE uint64_t row(uint64_t i) const
    {
        I row, col;
        load(i, row, col);
        return row;
    }

    GPI_DEVICE void prefetch(uint64_t begin, uint64_t n, uint32_t count) const
    {
        for (uint32_t line = threadIdx.x; line < count / 16; line += blockDim.x)
            prefetch_line(keys, begin, n, line);
    }
};

/* Sorted, with keys of more than 64 bits. */
template <class I> struct WideEntries : GivenEntries<I> {
    static constexpr bool given = false;
};

/* ---- a segment, by a warp -------------------------------------------------------------------- */

/* A gap that a lane fills by itself. */
constexpr uint32_t pointers_short = 8;

/* out[first + t] = value for t < length, of each lane. */
template <class O>
GPI_DEVICE void write_gaps(O *out, uint64_t first, uint64_t length, uint64_t value)
{
    if (length <= pointers_short)
#pragma unroll 1
        for (uint32_t t = 0; t < (uint32_t)length; t++)
            out[first + t] = (O)value;
    for (uint32_t todo = __ballot_sync(all_lanes, length > pointers_short); todo;
         todo &= todo - 1) {
        const int leader = __ffs(todo) - 1;
        const uint64_t from = shuffle(first, leader), to = from + shuffle(length, leader);
        const O same = (O)shuffle(value, leader);
#pragma unroll 1
        for (uint64_t p = from + lane_id(); p < to; p += 32)
            out[p] = same;
    }
}

/*
 * Entries from `begin` on, a step of 32 lanes after the other. Entry n stands for the end: it has
 * the pointers behind the last entry's row. Lane k keeps of step k which entries begin a run, and
 * which have pointers. More than pointer_block pointers, or as many of the end, are left to the
 * kernel behind the pass.
 */
template <class I> struct EntrySegment {
    static constexpr int steps = sizeof(I) == 4 ? 16 : 8;
    static constexpr uint32_t entries = 32 * steps;
    static constexpr uint64_t block = csr_tuning.pointer_block;

    uint64_t begin;
    uint32_t count; /* of the entries that there are */
    bool has_end;
    I row[steps], col[steps], row_before = 0, col_before = 0;
    uint32_t heads = 0, edges = 0;
    bool cols_fall = false; /* in a row; given entries */

    template <class Source>
    GPI_DEVICE EntrySegment(const Source &in, uint64_t first, uint64_t n)
        : begin(first), count(first < n ? (uint32_t)min(n - first, (uint64_t)entries) : 0),
          has_end(first + count == n && count < entries)
    {
        if (begin > 0 && count)
            in.load(begin - 1, row_before, col_before);
#pragma unroll
        for (int k = 0; k < steps; k++) {
            row[k] = col[k] = 0;
            if (is_there(k))
                in.load(begin + lane_id() + 32 * k, row[k], col[k]);
        }
    }

    GPI_DEVICE bool is_there(int k) const
    {
        return 32 * k < (int)count - lane_id();
    }

    /* Of the step that this lane keeps, a bit for each entry. */
    GPI_DEVICE uint32_t kept() const
    {
        const int rest = (int)count - 32 * lane_id();
        return rest >= 32 ? ~0u : rest > 0 ? (1u << rest) - 1 : 0;
    }

    /* Heads and edges. GIVEN: whether rows fall, or an entry is out of range, and cols_fall. */
    template <bool GIVEN> GPI_DEVICE bool find(const Shape &shape, bool merged)
    {
        const int left = (lane_id() + 31) % 32;
        const bool first = begin == 0 && lane_id() == 0;
        const I row_max = (I)(shape.num_rows - 1), col_max = (I)(shape.num_cols - 1);
        I last_row = row_before, last_col = col_before;
        bool wrong = GIVEN && count && (shape.num_rows == 0 || shape.num_cols == 0);
#pragma unroll
        for (int k = 0; k < steps; k++) {
            const I left_row = shuffle(row[k], left), left_col = shuffle(col[k], left);
            const I r = lane_id() ? left_row : last_row, c = lane_id() ? left_col : last_col;
            const bool there = is_there(k), begins = k == 0 && first;
            const bool other_row = row[k] != r || begins;
            if (GIVEN && there) {
                wrong |= (row[k] < r && !begins) || row[k] > row_max || col[k] > col_max;
                cols_fall |= row[k] == r && col[k] < c && !begins;
            }
            const uint32_t own =
                __ballot_sync(all_lanes, there && (other_row || col[k] != c || !merged));
            const uint32_t own_edges = __ballot_sync(all_lanes, there && other_row);
            heads = lane_id() == k ? own : heads;
            edges = lane_id() == k ? own_edges : edges;
            last_row = left_row; /* of the first lane */
            last_col = left_col;
        }
        if (has_end && lane_id() == (int)(count / 32))
            edges |= 1u << count % 32;
        return wrong;
    }

    /* Columns to places from `at` on, `before` those of the step that this lane keeps. */
    GPI_DEVICE void write_cols(uint64_t at, uint32_t before, I *out) const
    {
        if (__all_sync(all_lanes, heads == (lane_id() < steps ? ~0u : 0))) {
#pragma unroll
            for (int k = 0; k < steps; k++)
                __stcs(out + at + lane_id() + 32 * k, col[k]);
            return;
        }
#pragma unroll
        for (int k = 0; k < steps; k++) {
            const uint32_t bits = shuffle(heads, k), left = bits & ((1u << lane_id()) - 1);
            const uint64_t place = at + shuffle(before, k) + __popc(left);
            if (bits >> lane_id() & 1)
                __stcs(out + place, col[k]);
        }
    }

    /* Whether its pointers, without those of the end, are left. */
    template <class Source> GPI_DEVICE bool is_long(const Source &in) const
    {
        const uint64_t first = begin ? (uint64_t)row_before + 1 : 0;
        return count && in.row(begin + count - 1) + 1 - first > block;
    }

    /* Each lane has a part of the entries, and takes its edges one by one; their rows are read
     * once more, as registers have no numbers. */
    template <class Source, class O>
    GPI_DEVICE void write_pointers(const Source &in, uint64_t at, uint32_t before,
                                   uint64_t num_rows, O *out) const
    {
        constexpr uint32_t part = entries / 32;
        const uint32_t own = lane_id() * part, shift = own % 32;
        const uint32_t own_heads = shuffle(heads, (int)(own / 32));
        uint32_t bits = shuffle(edges, (int)(own / 32)) >> shift & ((1u << part) - 1);
        const bool left_out = is_long(in);
        at += shuffle(before, (int)(own / 32));
        while (__any_sync(all_lanes, bits)) {
            uint64_t first = 0, length = 0, place = 0;
            if (bits) {
                const uint32_t b = __ffs(bits) - 1;
                const uint64_t i = begin + own + b;
                const bool is_end = has_end && own + b == count;
                first = i ? in.row(i - 1) + 1 : 0;
                length = (is_end ? num_rows : in.row(i)) + 1 - first;
                if (is_end ? length > block : left_out)
                    length = 0;
                place = at + __popc(own_heads & ((1u << (shift + b)) - 1));
            }
            bits &= bits - 1;
            write_gaps(out, first, length, place);
        }
    }
};

} // namespace GPI_SPACE
