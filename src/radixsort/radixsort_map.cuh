/* SPDX-License-Identifier: MIT */
/*
 * A map from words to the numbers of buckets that have about as many items each, whatever the keys
 * are: it ascends, so buckets are in order.
 *
 * It is a distribution function learned from a sample, in straight pieces. The range of the sample
 * is divided into equal cells; each of them has a row, which says between which two positions its
 * words lie. The highest bits of a position are the row of the next level, the others how far into
 * it. So a level has rows where the sample has words, and a few levels are enough for words that
 * lie close together. The positions of the last level are numbers of buckets, with a fraction.
 *
 * Words that have a good part of a bucket or more may have one of their own, one word in a row of
 * the last level: the row is a bucket longer for it, and another one for the words above it.
 */
#pragma once

#include "radixsort/radixsort_splitters.cuh"

namespace GPI_SPACE
{

/* Of the cells; of the rows of a level; levels of rows at most. */
constexpr int map_cell_bits = radix_tuning.map_cell_bits, map_row_bits = radix_tuning.map_row_bits;
constexpr int map_cells = 1 << map_cell_bits, map_rows = 1 << map_row_bits, map_levels = 3;

/* A sample has parts, whose ends say where its range ends; a few outermost ones are left out. */
constexpr uint32_t map_ends = 64, map_ends_apart = 3;

/* A row: the first position of its words, of 16 bits, and how many there are. */
GPI_DEVICE uint32_t map_row(uint32_t base, uint32_t width)
{
    return base << 16 | width;
}

/* Words that have a bucket of their own: are not looked at; have it; have no position. */
enum class MapMarks { none, apart, left_out };

/* In shared memory. */
template <class K> struct RadixMap {
    K low, range;          /* words outside of it are in the first or the last cell */
    int up;                /* the highest bit of a range that is shifted by so much is set */
    uint32_t levels;       /* of rows */
    uint32_t bucket_shift; /* of the positions of the last */
    uint32_t buckets;
    uint32_t marked; /* whether there are marks */
    uint32_t cells[map_cells];
    uint32_t rows[map_levels + 1][map_rows];

    /* From low or a little less to high: the first cell begins at a multiple of its size, as the
     * exponents of floats do. */
    GPI_DEVICE void set_range(K from, K to)
    {
        constexpr int bits = 8 * (int)sizeof(K) - map_cell_bits;
        low = from;
        for (int i = 0; i < 3; i++) { /* each time cells may become larger */
            range = to > low ? (K)(to - low) : (K)0;
            up = sizeof(K) == 8 ? __clzll((long long)(range | 1)) : __clz((int)(range | 1));
            const int size = max(bits - up, 0);
            low = i < 2 ? (K)(low >> size << size) : low;
        }
    }

    /* The cell of a word, and how far into it the word is. */
    GPI_DEVICE uint32_t cell_of(K word, uint32_t &fraction) const
    {
        constexpr int bits = 8 * (int)sizeof(K) - map_cell_bits;
        const K x = (K)(min((K)(max(word, low) - low), range) << up);
        if constexpr (sizeof(K) == 8)
            fraction = (uint32_t)(x >> (bits - 32));
        else
            fraction = (uint32_t)(x << map_cell_bits);
        return (uint32_t)(x >> bits);
    }

    /* Positions of several words after a number of levels, a step of all before the next. */
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

    /* Behind the rows of the last level, for each of them: a word that has a bucket of its own. */
    GPI_DEVICE K *marks(uint32_t level)
    {
        static_assert(sizeof(K) == sizeof(uint32_t) && map_cells <= 2 * map_rows, "there is room");
        return (K *)rows[level];
    }

    /* The same in the last rows. */
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

    /* The least word whose bucket is not before b; after all of them if there is none. */
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
        K at = 0; /* the bucket of the word that is so far from there is before b */
#pragma unroll 1
        for (K step = (K)((K)1 << (31 - __clz((int)(words | 1)))); step > 0; step >>= 1)
            if (step <= words - at && bucket((K)(from + at + step)) < b)
                at += step;
        return (uint64_t)from + at + 1;
    }
};

/* Bits of the bucket of a word. */
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
