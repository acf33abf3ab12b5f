/* SPDX-License-Identifier: MIT */
/*
 * A row whose columns are spread evenly, sorted in shared memory by a team of threads.
 *
 * It has nearly as many bins as entries, each for an equal part of the range of its columns.
 * Entries are counted by bin and moved to where theirs begins; there an entry's place is the number
 * of those of the bin that come before it, of which there are few (Dobosiewicz 1978, sorting by
 * distributive partitioning). If a bin has many the row stays as it was, for another way.
 */
#pragma once

#include "csr/csr_columns_piece.cuh"

namespace GPI_SPACE
{

constexpr uint32_t spread_max = 16, spread_least = 32; /* entries of a bin; of a row */

/* Of the warps of a block: folds and sums. */
struct TeamShared {
    uint64_t high[2][32];
    uint32_t sums[32], peaks[32];
    uint64_t ignored; /* the wrong columns of what was looked at before */
};

/* Warps of a block, a power of two and several. */
struct Team {
    TeamShared &shared;
    uint32_t size; /* threads */

    GPI_DEVICE uint32_t rank() const
    {
        return threadIdx.x & (size - 1);
    }

    GPI_DEVICE uint32_t number() const
    {
        return threadIdx.x / size;
    }

    /* Barrier 0 is that of all threads. */
    GPI_DEVICE void sync() const
    {
        if (size == gpu_block_threads)
            __syncthreads();
        else
            asm volatile("bar.sync %0, %1;" ::"r"(number() + 1), "r"(size) : "memory");
    }

    /* The largest of all threads; what they wrote before can be read. */
    template <class T> GPI_DEVICE T largest(T v, void *of_warps) const
    {
        const auto larger = [](T a, T b) { return a > b ? a : b; };
        T *each = (T *)of_warps;
        v = warp_fold(v, larger);
        if (lane_id() == 0)
            each[threadIdx.x / 32] = v;
        sync();
        const uint32_t warps = size / 32;
        return warp_fold(each[number() * warps + (lane_id() & (warps - 1))], larger);
    }

    /* The sum of those of threads before. */
    GPI_DEVICE uint32_t before(uint32_t v) const
    {
        const uint32_t running = warp_running_sum(v), warp = rank() / 32;
        if (lane_id() == 31)
            shared.sums[threadIdx.x / 32] = running;
        sync();
        const uint32_t *sums = shared.sums + number() * (size / 32);
        return running - v + warp_sum(lane_id() < warp ? sums[lane_id()] : 0);
    }
};

/* Columns and places of a team, as those of a tile. */
template <class I> struct TeamSide {
    I *cols;
    uint16_t *places;

    GPI_DEVICE static uint32_t at(uint32_t i)
    {
        return ColumnsSide<I, 32>::at(i);
    }
};

/* IS_NEW: other blocks of the kernel have written what it reads. */
template <class I, bool IS_NEW = false> struct RowSpread {
    const ColumnsArgs<I> &a;
    const Team &team;
    uint64_t begin; /* in memory */
    uint32_t length;
    I *given, *moved;     /* columns: as they came, by bin */
    uint16_t *places;     /* of those */
    uint32_t *bins;       /* two counts each, then where the bins end */
    uint32_t words, unit; /* of these, and of bins what 2^32 has */
    I least;
    int shift;

    /* One side has what was moved, the other one what was given, and the bins. */
    GPI_DEVICE RowSpread(const ColumnsArgs<I> &args, const Team &t, TeamSide<I> (&sides)[2],
                         uint64_t at, uint32_t n)
        : a(args), team(t), begin(at), length(n), given(sides[1].cols), moved(sides[0].cols),
          places(sides[0].places), bins((uint32_t *)sides[1].places), words((n - 1) / 2)
    {
    }

    template <int UNROLL, class F> GPI_DEVICE void for_all(uint32_t n, F f) const
    {
#pragma unroll UNROLL
        for (uint32_t i = team.rank(); i < n; i += team.size)
            f(i);
    }

    /* Of what columns differ by. */
    GPI_DEVICE uint32_t bits() const
    {
        return 8 * (uint32_t)sizeof(I) - shift;
    }

    GPI_DEVICE uint32_t bin(I col) const
    {
        const I above = (I)(col - least) << shift;
        const uint32_t high = sizeof(I) == 8 ? (uint32_t)((uint64_t)above >> 32) : (uint32_t)above;
        return min(__umulhi(high, unit), 2 * words - 1);
    }

    GPI_DEVICE uint32_t bin_end(uint32_t b) const
    {
        return ((const uint16_t *)bins)[b];
    }

    GPI_DEVICE uint32_t count_in(uint32_t b) const
    {
        return atomicAdd(bins + b / 2, b & 1 ? 1u << 16 : 1u) >> (b & 1) * 16 & 0xffff;
    }

    /* The columns of the row, and their range. */
    GPI_DEVICE void load(uint64_t &wrong)
    {
        I most = 0, below = 0; /* of the complements */
        for_all<4>(length, [&](uint32_t i) {
            const I col = IS_NEW ? __ldcg(a.cols + begin + i) : a.cols[begin + i];
            given[i] = col;
            most = max(most, col);
            below = max(below, (I)~col);
        });
        for_all<1>(words, [&](uint32_t w) { bins[w] = 0; });
        most = team.largest(most, team.shared.high[0]);
        least = ~team.largest(below, team.shared.high[1]);
        if (most >= a.shape.num_cols && team.rank() == 0)
            atomicMin((unsigned long long *)&wrong, (unsigned long long)begin);
        const I range = (most - least) | 1;
        shift = sizeof(I) == 8 ? __clzll(range) : __clz((uint32_t)range);
        const I above = range << shift;
        const float high = (float)(sizeof(I) == 8 ? (uint32_t)((uint64_t)above >> 32) : above);
        unit = (uint32_t)(2.0f * words * (4294967296.0f / high));
    }

    /* Counts become beginnings; returns how many the largest bin has. */
    GPI_DEVICE uint32_t add_up()
    {
        const uint32_t each = (words + team.size - 1) / team.size | 1; /* odd, for the banks */
        const uint32_t first = min(team.rank() * each, words), end = min(first + each, words);
        uint32_t sum = 0, peak = 0;
#pragma unroll 1
        for (uint32_t w = first; w < end; w++) {
            const uint32_t low = bins[w] & 0xffff, high = bins[w] >> 16;
            sum += low + high;
            peak = max(peak, max(low, high));
        }
        uint32_t at = team.before(sum);
#pragma unroll 1
        for (uint32_t w = first; w < end; w++) {
            const uint32_t low = bins[w] & 0xffff, high = bins[w] >> 16;
            bins[w] = at | (at + low) << 16;
            at += low + high;
        }
        return team.largest(peak, team.shared.peaks);
    }

    template <class V> GPI_DEVICE static V load(const V *p)
    {
        return IS_NEW ? __ldcg(p) : __ldg(p);
    }

    GPI_DEVICE uint64_t value_of(uint32_t from) const
    {
        if (a.value_bytes == 4)
            return load((const uint32_t *)a.values + begin + from);
        return a.value_bytes == 8 ? load((const uint64_t *)a.values + begin + from) : 0;
    }

    GPI_DEVICE void store(uint32_t place, I col, uint32_t from, uint64_t value) const
    {
        const uint64_t at = begin + place;
        __stcs(a.out_cols + at, col);
        if (a.value_bytes == 4)
            __stcs((uint32_t *)a.out_values + at, (uint32_t)value);
        else if (a.value_bytes == 8)
            __stcs((uint64_t *)a.out_values + at, value);
        else
#pragma unroll 1
            for (uint32_t k = 0; k < a.value_bytes; k++)
                ((char *)a.out_values)[at * a.value_bytes + k] =
                    ((const char *)a.values)[(begin + from) * a.value_bytes + k];
    }

    /* Entry i of those that were moved goes to where it belongs. */
    GPI_DEVICE void finish(uint32_t i) const
    {
        const I col = moved[i];
        const uint32_t from = places[i], b = bin(col);
        const uint64_t value = value_of(from);
        const uint32_t first = b ? bin_end(b - 1) : 0, end = bin_end(b);
        uint32_t place = first, equal = 0;
#pragma unroll 1
        for (uint32_t k = first; k < end; k++) {
            place += moved[k] < col;
            equal += moved[k] == col;
        }
        if (equal > 1)
#pragma unroll 1
            for (uint32_t k = first; k < end; k++)
                place += moved[k] == col && places[k] < from;
        store(place, col, from, value);
    }

    /* Write the row, sorted, or return false. */
    GPI_DEVICE bool sort(uint64_t &wrong)
    {
        load(wrong);
        /* So few columns that one has too many entries. */
        if (IS_NEW && bits() < 16 && length > spread_max << bits())
            return false;
        for_all<2>(length, [&](uint32_t i) { count_in(bin(given[i])); });
        team.sync();
        if (add_up() > spread_max)
            return false;
        for_all<2>(length, [&](uint32_t i) {
            const I col = given[i];
            const uint32_t at = count_in(bin(col));
            moved[at] = col;
            places[at] = (uint16_t)i;
        });
        team.sync();
        for_all<1>(length, [&](uint32_t i) { finish(i); });
        return true;
    }
};

} // namespace GPI_SPACE
