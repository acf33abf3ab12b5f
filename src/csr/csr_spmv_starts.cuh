/* SPDX-License-Identifier: MIT */
/* Where the tiles of SpMV begin on the merge of row ends and entries. */
#pragma once

#include "csr/csr_internal.h"
#include "device/grid.cuh"
#include "device/item_count.cuh"
#include "device/search.cuh"
#include "tuning/csr_tuning.cuh"

namespace GPI_SPACE
{

/* Of the entry of a gpi_csr_start: the tile begins in a row that several share, not with it. */
constexpr uint64_t spmv_inside = 1ull << 63;

/* Calls whose tiles find their own beginning have a number below the first; what counts their
 * pieces of long rows stays below the second. The two fit 32 bits. */
constexpr uint32_t spmv_calls = 1 << 22, spmv_counts = 1 << 10;

/* The matrix without its entries, and its tiles. */
struct SpmvTiles {
    const char *pointers;
    uint32_t pointer_bytes, tiles;
    uint64_t num_rows, nnz;
    const uint64_t *device_num_rows, *device_nnz; /* NULL, or those are bounds */
    gpi_csr_start *starts;                        /* NULL: a tile's warp searches for its own */
    uint64_t *left;                               /* of pieces, and later of groups of pieces */
    uint64_t inverse;                             /* 2^64 / units, rounded up */
    uint32_t units;                               /* of a tile */
    uint32_t long_entries;                        /* of a row that tiles share, at least */
    uint32_t call;                                /* without starts, of spmv_calls */
    uint32_t early; /* tiles that search for their own while the others' are being found */

    /* As they are in memory: the end of the merge. */
    GPI_DEVICE gpi_csr_start end() const
    {
        const uint64_t rows = item_count(ItemCount{num_rows, device_num_rows});
        return {rows ? item_count(ItemCount{nnz, device_nnz}) : 0, rows};
    }

    /* The pointer of a row; O: their type, where that is known. */
    template <class O> GPI_DEVICE uint64_t pointer_as(uint64_t row) const
    {
        return __ldg((const O *)pointers + row);
    }
    GPI_DEVICE uint64_t pointer(uint64_t row) const
    {
        return pointer_bytes == 8 ? pointer_as<uint64_t>(row) : pointer_as<uint32_t>(row);
    }

    GPI_DEVICE bool is_long(uint64_t entries) const
    {
        return entries >= long_entries;
    }

    /* The tile of a unit; units of a merge are below 2^42, and those of a tile below 2^20. */
    GPI_DEVICE uint64_t tile_of(uint64_t unit) const
    {
        return __umul64hi(unit, inverse);
    }

    /* The tiles that begin at these units or between. */
    GPI_DEVICE uint64_t first(uint64_t unit) const
    {
        return tile_of(unit + units - 1);
    }
    GPI_DEVICE uint64_t last(uint64_t unit) const
    {
        return min(tile_of(unit), (uint64_t)tiles - 1);
    }

    /* Where the part of a tile in a long row begins, which is at `entry` of the merge, as in
     * gpi_csr_start: behind the row's begin at a multiple of 32, as the chunks of a tile do. */
    GPI_DEVICE uint64_t part(uint64_t entry, uint64_t begin, uint64_t end) const
    {
        return entry == begin ? begin : min((entry + 31) & ~(uint64_t)31, end) | spmv_inside;
    }

    /* Of a tile that begins with row, or in it. */
    template <class O>
    GPI_DEVICE gpi_csr_start start(uint64_t tile, uint64_t row, const gpi_csr_start &all) const
    {
        if (row >= all.row)
            return all;
        const uint64_t begin = pointer_as<O>(row), end = pointer_as<O>(row + 1);
        return {is_long(end - begin) ? part(tile * units - row, begin, end) : begin, row};
    }

    /* Whether the end of row r comes before unit d, for r < d; true, then false, for rising r. A
     * sum instead of the difference would wrap with pointers near 2^64. */
    template <class O> GPI_DEVICE bool passes(uint64_t r, uint64_t d) const
    {
        return pointer_as<O>(r + 1) < d - r;
    }
};

/*
 * Row ends before unit d, by one thread; high is at most d. Rounds of 8 probes that do not wait for
 * each other, the first around the place where it would be if all rows had the same length: rows of
 * random lengths stray from it by about the root of their number.
 */
template <class O>
GPI_DEVICE uint64_t spmv_search(const SpmvTiles &a, uint64_t low, uint64_t high, uint64_t d,
                                uint64_t guess)
{
    constexpr int P = 8;
    uint64_t step = (uint64_t)(sqrtf((float)(high - low)) / (P / 2)) + 1;
    uint64_t base = guess > low + P / 2 * step ? guess - P / 2 * step : low;
    while (low < high) {
        uint32_t passed = 0;
#pragma unroll
        for (int j = 0; j < P; j++) {
            const uint64_t probe = base + (j + 1) * step - 1;
            passed += probe < high && a.passes<O>(probe, d);
        }
        if (passed)
            low = base + passed * step;
        if (passed < P)
            high = min(high, base + (passed + 1) * step - 1);
        base = low = min(low, high);
        step = (high - low + P) / (P + 1);
    }
    return low;
}

/* The same by a warp, whose lanes probe 4 places each. */
template <class O>
GPI_DEVICE uint64_t spmv_search_warp(const SpmvTiles &a, uint64_t low, uint64_t high, uint64_t d,
                                     uint64_t guess)
{
    constexpr uint32_t P = 128;
    uint64_t step = (uint64_t)(sqrtf((float)(high - low)) / 16) + 1;
    uint64_t base = guess > low + P / 2 * step ? guess - P / 2 * step : low;
    while (low < high) {
        uint32_t passed = 0;
#pragma unroll
        for (uint32_t j = 0; j < P; j += 32) {
            const uint64_t probe = base + (j + lane_id() + 1) * step - 1;
            passed += probe < high && a.passes<O>(probe, d);
        }
        passed = warp_sum(passed);
        if (passed)
            low = base + passed * step;
        if (passed < P)
            high = min(high, base + (passed + 1) * step - 1);
        base = low = min(low, high);
        step = (high - low + P) / (P + 1);
    }
    return low;
}

/* Where unit d would lie among n rows of equal length. */
GPI_DEVICE uint64_t spmv_guess(uint64_t n, uint64_t d, uint64_t units)
{
    return units ? (uint64_t)((double)n * ((double)d / (double)units)) : 0;
}

/* The starts of a tile and of the next one, or the merge's end. */
struct SpmvBounds {
    gpi_csr_start from, to;

    /* As they are in memory. */
    static GPI_DEVICE SpmvBounds known(const SpmvTiles &a, uint64_t tile, const gpi_csr_start &all)
    {
        gpi_csr_start to = all;
        if ((tile + 1) * a.units < all.row + all.entry)
            to = a.starts[tile + 1];
        return {a.starts[tile], to};
    }

    /* The same by one load of each: of two, one may be put off until it is used. */
    static GPI_DEVICE SpmvBounds whole(const SpmvTiles &a, uint64_t tile, const gpi_csr_start &all)
    {
        const ulonglong2 *const starts = (const ulonglong2 *)a.starts + tile;
        const ulonglong2 from = starts[0];
        gpi_csr_start to = all;
        if ((tile + 1) * a.units < all.row + all.entry)
            to = {starts[1].x, starts[1].y};
        return {{from.x, from.y}, to};
    }
};

/* What is between the bounds of a tile: rows that end there, and entries. */
struct SpmvShare {
    uint64_t row, entry; /* the first */
    uint32_t rows, entries;
    bool comes_in, goes_on; /* the first row is a long one; so is the one behind them */
    bool is_there;          /* something is, and no more than can be: row pointers do not fall */

    GPI_DEVICE SpmvShare(const SpmvTiles &a, const SpmvBounds &b, const gpi_csr_start &all)
    {
        /* a row that begins before the tile is not long, or the tile begins in it */
        const uint32_t most = a.long_entries + a.units + 32;
        const uint64_t end = b.to.entry & ~spmv_inside;
        row = b.from.row, entry = b.from.entry & ~spmv_inside;
        rows = (uint32_t)(b.to.row - row), entries = (uint32_t)(end - entry);
        comes_in = b.from.entry & spmv_inside && rows;
        goes_on = b.to.entry & spmv_inside;
        is_there = b.to.row <= all.row && end <= all.entry && b.to.row - row <= a.units &&
                   end - entry <= most && (rows || entries || goes_on);
    }

    /* It is the same for all lanes: now the compiler knows, keeps it in registers of the warp, and
     * what follows from it, too, so that lanes have registers left for what is on its way. */
    GPI_DEVICE void make_uniform()
    {
        const uint32_t high = warp_max((uint32_t)(entry >> 32) << 16 | (uint32_t)(row >> 32));
        const uint32_t bits = warp_max(rows << 2 | comes_in << 1 | goes_on);
        entry = (uint64_t)(high >> 16) << 32 | warp_max((uint32_t)entry);
        row = (uint64_t)(high & 0xffff) << 32 | warp_max((uint32_t)row);
        rows = bits >> 2, comes_in = bits >> 1 & 1, goes_on = bits & 1;
        entries = warp_max(entries);
    }
};

/*
 * The bounds of a tile by a warp: 16 lanes look for each. For matrices of few tiles, whose units
 * have numbers of 32 bits; of pointers the low words suffice.
 */
struct SpmvSearch {
    static constexpr uint32_t count = 32; /* probes of 16 lanes, twice in a round */
    const SpmvTiles &a;
    uint32_t entries, rows;

    GPI_DEVICE uint32_t pointer(uint32_t row) const
    {
        return __ldg((const uint32_t *)(a.pointers + (uint64_t)row * a.pointer_bytes));
    }

    /* How many of the probes at base + step - 1, base + 2 step - 1, .. have passed. */
    GPI_DEVICE uint32_t passed(uint32_t base, uint32_t step, uint32_t high, uint32_t d) const
    {
        uint32_t n = 0;
#pragma unroll
        for (uint32_t k = 1; k <= count; k += 16) {
            const uint32_t probe = base + (k + lane_id() % 16) * step - 1;
            n += probe < high && pointer(probe + 1) + probe < d;
        }
        return n;
    }

    static GPI_DEVICE void narrow(uint32_t base, uint32_t step, uint32_t n, uint32_t &low,
                                  uint32_t &high)
    {
        if (n)
            low = max(low, base + n * step);
        if (n < count)
            high = min(high, base + (n + 1) * step - 1);
    }

    /* Row ends before unit d. The first round has probes everywhere, and around the place where it
     * would be if rows had the same length; without luck four find it in a million rows. */
    GPI_DEVICE uint32_t rows_before(uint32_t d) const
    {
        uint32_t low = d > entries ? d - entries : 0, high = min(rows, d);
        const auto guess = (uint32_t)((float)rows * ((float)d / (float)(rows + entries)));
        uint32_t near = max(guess, low + count / 2) - count / 2, near_step = 1;
        uint32_t step = (high - low + count) / (count + 1);
        while (__any_sync(all_lanes, low < high)) {
            uint32_t both = passed(near, near_step, high, d) | passed(low, step, high, d) << 16;
#pragma unroll
            for (int i = 1; i < 16; i *= 2)
                both += __shfl_xor_sync(all_lanes, both, i);
            if (low < high) {
                const uint32_t base = low;
                narrow(near, near_step, both & 0xffff, low, high);
                narrow(base, step, both >> 16, low, high);
                low = min(low, high);
            }
            near_step = step = (high - low + 2 * count) / (2 * count + 1);
            near = low + count * step;
        }
        return low;
    }

    GPI_DEVICE SpmvBounds bounds(uint32_t tile) const
    {
        const uint32_t own = (tile + lane_id() / 16) * a.units, d = min(own, rows + entries);
        const uint32_t row = rows_before(d);
        uint64_t entry = entries;
        if (row < rows) {
            const uint32_t begin = pointer(row), end = pointer(row + 1);
            entry = a.is_long(end - begin) ? a.part(own - row, begin, end) : begin;
        }
        return {{shuffle(entry, 0), shuffle(row, 0)}, {shuffle(entry, 16), shuffle(row, 16)}};
    }
};

/* How many of the ascending s[0 .. N - 1] are below d; N is a power of two. */
template <uint32_t N> GPI_DEVICE uint32_t spmv_below(const uint64_t *s, uint64_t d)
{
    uint32_t n = 0;
#pragma unroll
    for (uint32_t step = N / 2; step; step /= 2)
        n += s[n + step - 1] < d ? step : 0;
    return n + (s[n] < d);
}

/* Row ends before unit d of all, by one thread, if a few rows around the place where it would be if
 * all rows had the same length say so; num_rows + 1 if not. */
template <class O>
GPI_DEVICE uint64_t spmv_guessed(const SpmvTiles &a, const gpi_csr_start &all, uint64_t d)
{
    constexpr uint64_t P = 8;
    const uint64_t guess = spmv_guess(all.row, d, all.row + all.entry);
    const uint64_t base = guess > P / 2 ? guess - P / 2 : 0, high = min(all.row, d);
    uint32_t passed = 0;
#pragma unroll
    for (uint64_t k = 0; k < P; k++)
        passed += base + k < high && a.passes<O>(base + k, d);
    const bool is_it = (passed || base == 0) && (passed < P || base + passed == high);
    return is_it ? base + passed : all.row + 1;
}

/*
 * starts and left of all tiles, by searches: a thread per tile. What a search reads lies in sectors
 * of its own, so there is to be little of it: the block finds the rows of its first and last tile,
 * then reads where T rows between them end, which are shared, and a thread searches between two. Of
 * rows of about the same length nothing has to be searched.
 */
template <class O> __global__ __launch_bounds__(csr_tuning.threads) void spmv_search_k(SpmvTiles a)
{
    constexpr uint64_t T = csr_tuning.threads;
    __shared__ uint64_t s_rows[2], s_ends[T]; /* units before the ends of rows */
    grid_release();
    const gpi_csr_start all = a.end();
    const uint64_t units = all.row + all.entry, tile = blockIdx.x * T + threadIdx.x;
    const uint64_t first = min(blockIdx.x * T * a.units, units);
    const uint64_t last = min((blockIdx.x + 1) * T * a.units, units);
    const uint64_t guessed = spmv_guessed<O>(a, all, min(tile * a.units, units));
    if (__syncthreads_and(guessed <= all.row || tile >= a.tiles)) {
        if (tile < a.tiles) {
            a.starts[tile] = a.start<O>(tile, guessed, all);
            a.left[tile] = 0;
        }
        return;
    }
    if (threadIdx.x < 64) {
        const uint64_t d = threadIdx.x < 32 ? first : last;
        const uint64_t row =
            spmv_search_warp<O>(a, merge_path_low(all.entry, d), merge_path_high(all.row, d), d,
                                spmv_guess(all.row, d, units));
        if (lane_id() == 0)
            s_rows[threadIdx.x / 32] = row;
    }
    __syncthreads();
    const uint64_t low = s_rows[0], rows = max(s_rows[1], low) - low;
    auto row_of = [=](uint64_t k) { return low + rows * k / T; };
    const uint64_t own = row_of(threadIdx.x);
    s_ends[threadIdx.x] = own < all.row ? a.pointer_as<O>(own + 1) + own : units;
    __syncthreads();
    if (tile < a.tiles) {
        const uint64_t d = min(tile * a.units, units);
        const uint32_t k = spmv_below<T>(s_ends, d);
        const uint64_t high = min(row_of(k), d), from = min(k ? row_of(k - 1) + 1 : low, high);
        const uint64_t begin = k ? s_ends[k - 1] : first, end = k < T ? s_ends[k] : last;
        const uint64_t guess =
            begin < d && d < end ? from + spmv_guess(high - from, d - begin, end - begin) : from;
        a.starts[tile] = a.start<O>(tile, spmv_search<O>(a, from, high, d, guess), all);
        a.left[tile] = 0;
    }
}

} // namespace GPI_SPACE
