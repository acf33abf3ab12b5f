/* SPDX-License-Identifier: MIT */
/* Columns sorted within rows: pieces of rows, sorted in registers. See csr_columns_kernels.cuh. */
#pragma once

#include "csr/csr_coo_kernels.cuh"
#include "device/network.cuh"

namespace GPI_SPACE
{

constexpr int piece_lane = 8, piece_max = 32 * piece_lane, piece_classes = 6;

/* Of the kernel of tiles, steps are of a tile; both: `most` entries are in shared memory, of long
 * rows in that of a block. */
template <class I> struct TileShape {
    static constexpr int threads = 128, blocks = sizeof(I) == 4 ? 8 : 5;
    static constexpr uint32_t steps = 1024, most = 2 * steps;
};
constexpr uint32_t columns_max(uint32_t bytes) /* of an entry */
{
    uint32_t n = 18 * 1024;
    while ((n / 32 + 1) * 33 * bytes + 1024 > (uint32_t)gpu.block_shared_bytes)
        n -= 1024;
    return n;
}
/* Rows of a class have twice as many threads and entries as those of the class before. */
template <class I> struct LongShape {
    static constexpr int threads = gpu_block_threads, blocks = 1, classes = 4;
    static constexpr uint32_t most = columns_max(2 * sizeof(I) + 4);

    /* Class `classes` is of the parts of rows that are longer than that. */
    GPI_DEVICE static uint32_t most_of(int c)
    {
        return most >> (classes - 1 - c);
    }
};

/* ---- shared memory --------------------------------------------------------------------------- */

/* Columns, and the place of each in the input. A gap behind each line, so that lanes whose entries
 * are 8 apart use different banks. */
template <class I, uint32_t MOST> struct ColumnsSide {
    static constexpr uint32_t line = 128 / sizeof(I), size = MOST + MOST / line + 1;
    I cols[size];
    uint16_t places[size];

    /* Where entry i is. */
    GPI_DEVICE static uint32_t at(uint32_t i)
    {
        return i + i / line;
    }
};

/* The arrays of a call. */
template <class I> struct ColumnsArgs {
    Shape shape;
    const void *pointers;
    bool wide; /* these */
    const I *cols;
    const void *values;
    uint32_t value_bytes;
    I *out_cols;
    void *out_values;
    uint64_t *unsorted;  /* become the numbers of entries and rows if a row is too long */
    uint64_t *long_rows; /* how many of each class there are, counters, and which */
    uint64_t long_room;  /* of a class */
    uint32_t part_room;  /* of parts, whose counts are behind the lists */
    uint32_t part_bits;  /* of the number of entries of a part, a power of two */
    I *spare_cols;       /* NULL, or rows that are too long are sorted in parts */
    void *spare_values;
    gpi_reporter of_pointers, of_cols;

    GPI_DEVICE uint32_t part_size() const
    {
        return 1u << part_bits;
    }

    GPI_DEVICE uint32_t parts_of(uint64_t length) const
    {
        return (uint32_t)((length + part_size() - 1) >> part_bits);
    }

    GPI_DEVICE uint64_t at(uint64_t row) const
    {
        const uint64_t p =
            wide ? ((const uint64_t *)pointers)[row] : ((const uint32_t *)pointers)[row];
        return min(p, shape.n);
    }
};

constexpr uint64_t none_wrong = ~0ull;

/* Of a piece of a class: for the place of an entry in it. */
GPI_DEVICE int place_bits(int log)
{
    return 3 + log;
}

/* A piece with a column that is out of range begins at `entry`: the first one. */
template <class I> GPI_DEVICE void report_column(const ColumnsArgs<I> &a, uint64_t entry)
{
    if (entry == none_wrong)
        return;
    while (a.cols[entry] < a.shape.num_cols)
        entry++;
    report(a.of_cols, GPI_RULE_BELOW, entry, a.cols[entry], a.shape.num_cols);
}

/* A piece of each group of 1 << log lanes of a warp; entries of a group are 1 << log apart, or,
 * when they are sorted, neighbours. */
template <class I, class Side> struct RowPiece {
    const I *cols; /* in memory */
    Side &out;
    uint32_t begin, length; /* there */
    int log;

    GPI_DEVICE int bits() const
    {
        return place_bits(log);
    }

    GPI_DEVICE uint32_t lane() const
    {
        return lane_id() & ((1u << log) - 1);
    }

    GPI_DEVICE uint32_t apart(int k) const
    {
        return lane() + ((uint32_t)k << log);
    }

    GPI_DEVICE uint32_t near(int k) const
    {
        return lane() * piece_lane + k;
    }

    GPI_DEVICE uint16_t &place(uint32_t i) const
    {
        return out.places[Side::at(begin + i)];
    }

    /* The place of a word's entry among those that were sorted. */
    GPI_DEVICE uint32_t from(uint32_t word) const
    {
        return word & ((1u << bits()) - 1);
    }

    /* The columns of the lane's entries. */
    GPI_DEVICE void load(I (&col)[piece_lane]) const
    {
#pragma unroll
        for (int k = 0; k < piece_lane; k++)
            col[k] = apart(k) < length ? cols[apart(k)] : 0;
    }

    /* The least column, in all lanes, and how many bits others have above it. */
    GPI_DEVICE int find_range(const I (&col)[piece_lane], I &least) const
    {
        I most = 0;
        least = ~(I)0;
#pragma unroll
        for (int k = 0; k < piece_lane; k++) {
            least = apart(k) < length ? min(least, col[k]) : least;
            most = max(most, col[k]);
        }
#pragma unroll 1
        for (int lanes = 1; lanes < 1 << log; lanes *= 2) {
            least = min(least, shuffle_xor(least, lanes));
            most = max(most, shuffle_xor(most, lanes));
        }
        const I range = length ? most - least : 0;
        return sizeof(I) == 8 ? 64 - __clzll(range) : 32 - __clz((uint32_t)range);
    }

    /* A word of what a column has above the least one, as far as it fits, and a place. */
    GPI_DEVICE uint32_t word(I above, uint32_t i) const
    {
        return (uint32_t)above << bits() | i;
    }

    GPI_DEVICE void sort(uint32_t (&w)[piece_lane]) const
    {
        sort_thread(w);
#pragma unroll 1
        for (int lanes = 2; lanes <= 1 << log; lanes *= 2)
            merge_lanes(w, lanes);
    }

    /* Whether two neighbours have the same column in their words. */
    GPI_DEVICE bool have_equals(const uint32_t (&w)[piece_lane]) const
    {
        uint32_t left = shuffle_up(w[piece_lane - 1], 1);
        bool equal = false;
#pragma unroll
        for (int k = 0; k < piece_lane; k++) {
            equal |= near(k) && near(k) < length && left >> bits() == w[k] >> bits();
            left = w[k];
        }
        return equal;
    }

    GPI_DEVICE void store(int k, I col, uint32_t from) const
    {
        const uint32_t at = Side::at(begin + near(k));
        out.cols[at] = col;
        out.places[at] = (uint16_t)(begin + from);
    }

    GPI_DEVICE void store_first(const uint32_t (&w)[piece_lane], I least, int shift) const
    {
        const bool is_cut = __any_sync(all_lanes, shift);
#pragma unroll
        for (int k = 0; k < piece_lane; k++)
            if (!is_cut && near(k) < length)
                store(k, least + (I)(w[k] >> bits()), from(w[k]));
#pragma unroll
        for (int k = 0; k < piece_lane; k++)
            if (is_cut && near(k) < length)
                store(k, shift ? cols[from(w[k])] : least + (I)(w[k] >> bits()), from(w[k]));
    }

    /* The words of entries in their present order, from bit `shift` of what columns have above the
     * least one on. */
    GPI_DEVICE void load_again(uint32_t (&w)[piece_lane], I least, int shift) const
    {
        __syncwarp();
#pragma unroll
        for (int k = 0; k < piece_lane; k++) {
            const uint32_t i = apart(k), from = shift && i < length ? place(i) - begin : i;
            w[k] = i < length ? word((cols[from] - least) >> shift, i) : ~0u;
        }
    }

    GPI_DEVICE void store_again(uint32_t (&w)[piece_lane], int shift) const
    {
#pragma unroll
        for (int k = 0; k < piece_lane; k++)
            if (near(k) < length)
                w[k] = shift ? place(from(w[k])) - begin : from(w[k]);
        __syncwarp();
#pragma unroll
        for (int k = 0; k < piece_lane; k++)
            if (near(k) < length)
                store(k, cols[w[k]], w[k]);
    }
};

/*
 * Sort the pieces of a warp. A word has what a column is above the least of its piece, but for low
 * bits that do not fit. Only if columns are alike without these, the entries are sorted again, by
 * low bits first. wrong, which is shared: the first piece that has columns out of range.
 */
template <class I, class Side>
GPI_DEVICE void sort_pieces(const ColumnsArgs<I> &a, const RowPiece<I, Side> &p, uint64_t &wrong)
{
    I col[piece_lane], least = 0;
    uint32_t w[piece_lane];
    bool is_wrong = false;
    p.load(col);
#pragma unroll
    for (int k = 0; k < piece_lane; k++)
        is_wrong |= col[k] >= a.shape.num_cols;
    if (is_wrong)
        atomicMin((unsigned long long *)&wrong, (unsigned long long)(p.cols - a.cols));
    const int range_bits = (int)a.shape.col_bits <= 32 - p.bits() ? 0 : p.find_range(col, least);
    const int shift = max(range_bits - 32 + p.bits(), 0);
#pragma unroll
    for (int k = 0; k < piece_lane; k++)
        w[k] = p.apart(k) < p.length ? p.word((col[k] - least) >> shift, p.apart(k)) : ~0u;
    p.sort(w);
    if (!__any_sync(all_lanes, shift && p.have_equals(w)))
        return p.store_first(w, least, shift);
    const int widest = (int)warp_max((uint32_t)range_bits);
#pragma unroll 1
    for (int at = 0; at < widest; at += 32 - p.bits()) {
        p.load_again(w, least, at);
        p.sort(w);
        p.store_again(w, at);
    }
}

} // namespace GPI_SPACE
