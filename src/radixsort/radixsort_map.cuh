/* SPDX-License-Identifier: MIT */
/*
 * A learned map from order words to buckets of nearly equal size, for keys of any distribution: a
 * piecewise linear approximation of the distribution function of a sample. It never descends, so
 * the buckets are in order.
 *
 * The range of the sample is divided into equal cells. Each cell has a row: an interval of 16-bit
 * positions, over which its words are interpolated. The upper bits of a position select a row of
 * the next level, the lower bits and the fraction are interpolated there. So each level has rows
 * where the sample has words, and few levels suffice for words that are close together. On the last
 * level the upper bits of a position are the number of the bucket.
 *
 * A word that fills a good part of a bucket, its row's mark, may have a bucket of its own, one for
 * each row of the last level. Words of the row above the mark are in the bucket behind it.
 */
#pragma once

#include "radixsort/radixsort_splitters.cuh"

namespace GPI_SPACE
{

/* Bits of the number of a cell, and of a row in its level; levels of rows at most. */
constexpr int map_cell_bits = radix_tuning.map_cell_bits, map_row_bits = radix_tuning.map_row_bits;
constexpr int map_cells = 1 << map_cell_bits, map_rows = 1 << map_row_bits, map_levels = 3;

/* The ends of the range are those of parts of the sample, without a few outermost ones. */
constexpr uint32_t map_ends = 64, map_ends_apart = 3;

/* What words with a bucket of their own get: they are not looked for; that bucket; none. */
enum class MapMarks { none, apart, left_out };

/* In shared memory. */
template <class K> struct RadixMap {
    static constexpr int bits = 8 * (int)sizeof(K) - map_cell_bits; /* of a word, below its cell */

    K low, range;          /* words outside of it are in the first or the last cell */
    int up;                /* leading zeros of the range */
    uint32_t levels;       /* of rows, besides the cells */
    uint32_t bucket_shift; /* of a position of the last level */
    uint32_t buckets;
    uint32_t marked; /* whether there are marks */
    /* A row: its first position in the upper half, the number of positions in the lower half. */
    uint32_t cells[map_cells];
    uint32_t rows[map_levels + 1][map_rows];

    /* [from, to], or from a little below: the first cell begins at a multiple of the size of a
     * cell, as the exponents of floats do. */
    GPI_DEVICE void set_range(K from, K to)
    {
        low = from;
        for (int i = 0; i < 3; i++) { /* a lower begin may make cells larger */
            range = to > low ? (K)(to - low) : (K)0;
            up = sizeof(K) == 8 ? __clzll((long long)(range | 1)) : __clz((int)(range | 1));
            const int size = max(bits - up, 0);
            low = i < 2 ? (K)(low >> size << size) : low;
        }
    }

    /* The cell of a word; fraction: where in the cell, in units of 2^-32. */
    GPI_DEVICE uint32_t cell_of(K word, uint32_t &fraction) const
    {
        const K x = (K)(min((K)(max(word, low) - low), range) << up);
        if constexpr (sizeof(K) == 8)
            fraction = (uint32_t)(x >> (bits - 32));
        else
            fraction = (uint32_t)(x << map_cell_bits);
        return (uint32_t)(x >> bits);
    }

    /* The positions of several words `steps` levels below the cells, level by level, so that the
     * loads of a level overlap. */
    template <MapMarks MARKS = MapMarks::none, int N>
    GPI_DEVICE void positions(const K (&word)[N], uint32_t steps, uint32_t (&position)[N]) const
    {
        constexpr uint32_t word_bytes = sizeof(uint32_t);
        uint32_t fraction[N], base = shared_address(cells);
#pragma unroll
        for (int i = 0; i < N; i++)
            position[i] = base + cell_of(word[i], fraction[i]) * word_bytes;
        base = shared_address(rows);
#pragma unroll 1
        for (;; steps--) {
            uint32_t row[N];
#pragma unroll
            for (int i = 0; i < N; i++)
                row[i] = shared_word<uint32_t>(position[i]);
            if (steps == 0) {
                if (MARKS != MapMarks::none && marked) {
                    by_marks<MARKS>(word, row, fraction, position);
                    return;
                }
#pragma unroll
                for (int i = 0; i < N; i++)
                    position[i] = (row[i] >> 16) + __umulhi(fraction[i], row[i] & 0xffff);
                return;
            }
#pragma unroll
            for (int i = 0; i < N; i++) {
                const uint64_t into = (uint64_t)fraction[i] * (row[i] & 0xffff);
                const uint32_t at = (row[i] >> 16) + (uint32_t)(into >> 32);
                position[i] = base + (at >> (16 - map_row_bits)) * word_bytes;
                fraction[i] = __funnelshift_l((uint32_t)into, at, 16 + map_row_bits);
            }
            base += (uint32_t)sizeof(rows[0]);
        }
    }

    /* The mark of each row of the last level, behind these rows; ~0: none. */
    GPI_DEVICE K *marks(uint32_t level)
    {
        static_assert(sizeof(K) == sizeof(uint32_t) && map_cells <= 2 * map_rows, "there is room");
        return (K *)rows[level];
    }

    /* positions(), from the rows of the last level on, where there are marks. */
    template <MapMarks MARKS, int N>
    GPI_DEVICE void by_marks(const K (&word)[N], const uint32_t (&row)[N],
                             const uint32_t (&fraction)[N], uint32_t (&position)[N]) const
    {
        const uint32_t to_mark = levels ? (uint32_t)sizeof(rows[0]) : (uint32_t)sizeof(cells);
#pragma unroll
        for (int i = 0; i < N; i++) {
            const K mark = shared_word<K>(position[i] + to_mark);
            const uint32_t over = (word[i] >= mark) + (word[i] > mark);
            position[i] = (row[i] >> 16) + __umulhi(fraction[i], row[i] & 0xffff);
            position[i] += over << bucket_shift;
            if (MARKS == MapMarks::left_out && word[i] == mark)
                position[i] = ~0u;
        }
    }

    /* The bucket of a word. */
    GPI_DEVICE uint32_t bucket(K word) const
    {
        const K words[1] = {word};
        uint32_t position[1];
        positions<MapMarks::apart>(words, levels, position);
        return position[0] >> bucket_shift;
    }

    /* The least word whose bucket is b or a later one; the number of words if there is none. */
    GPI_DEVICE uint64_t least_from(uint32_t b) const
    {
        const K high = (K)(low + range), all = (K) ~(K)0;
        if (bucket(0) >= b)
            return 0;
        if (bucket(all) < b)
            return (uint64_t)all + 1;
        const bool before = bucket(low) >= b, within = bucket(high) >= b;
        const K from = before ? (K)0 : within ? low : high;
        const K words = before ? low : within ? range : (K)(all - high);
        K at = 0; /* the bucket of from + at is before b */
#pragma unroll 1
        for (K step = (K)((K)1 << (31 - __clz((int)(words | 1)))); step > 0; step >>= 1)
            if (step <= words - at && bucket((K)(from + at + step)) < b)
                at += step;
        return (uint64_t)from + at + 1;
    }
};

/* Some bits of the number of a word's bucket. */
template <class K> struct DigitOfMap {
    static constexpr bool kept = true;
    int shift; /* of a position */
    uint32_t mask;
    const RadixMap<K> *map; /* in shared memory */
    K compared;

    template <int N> GPI_DEVICE void all(const K (&word)[N], uint32_t (&digit)[N]) const
    {
        K masked[N];
#pragma unroll
        for (int i = 0; i < N; i++)
            masked[i] = (K)(word[i] & compared);
        map->template positions<MapMarks::apart>(masked, map->levels, digit);
#pragma unroll
        for (int i = 0; i < N; i++)
            digit[i] = digit[i] >> shift & mask;
    }

    GPI_DEVICE uint32_t operator()(K word) const
    {
        const K words[1] = {word};
        uint32_t digits[1];
        all(words, digits);
        return digits[0];
    }
};

} // namespace GPI_SPACE
