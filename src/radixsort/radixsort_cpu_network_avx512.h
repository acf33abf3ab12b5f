/* SPDX-License-Identifier: MIT */
/*
 * A few vectors of order words put in order in registers (AVX-512).
 * Included by radixsort_cpu_tmpl.c.
 *
 * Rows of LANES words are sorted column by column, which compares whole vectors (Batcher
 * 1968, odd-even merges). Then neighbouring columns, pairs of columns and so on are merged,
 * one of each two turned round: a bitonic sequence, put in order by halves. A word's rank is
 * column * rows + row up to the end, so that the halves below a column are whole vectors
 * again; only the few halves of columns have to move words between lanes. A last rotation of
 * the index bits puts ranks side by side.
 */
#include <immintrin.h>

#define EPI(name) PASTE(PASTE(name, _epi), GPI_KEY_BITS)
#define EPU(name) PASTE(PASTE(name, _epu), GPI_KEY_BITS)
/* Arrays of vectors stay in registers only where loops and calls are gone. */
#define INLINE __attribute__((always_inline)) inline
#define UNROLL _Pragma("GCC unroll 16")
#if GPI_KEY_BITS == 32
#define LANE_BITS 4
#define LANE_MASK __mmask16
#else
#define LANE_BITS 3
#define LANE_MASK __mmask8
#endif

enum {
    LANES = LINE / KEY_BYTES,
    ROWS_MAX = 16, /* half of the registers */
    NETWORK_ITEMS = ROWS_MAX * LANES
};

typedef __m512i lanes;
typedef LANE_MASK lane_mask;

/* The first n lanes, of n <= LANES. */
static INLINE lane_mask first_lanes(size_t n)
{
    return (lane_mask)((1u << n) - 1);
}

/* The lanes of row i that hold some of n words. */
static INLINE lane_mask row_lanes(size_t n, int i)
{
    size_t begin = (size_t)i * LANES, left = n > begin ? n - begin : 0;
    return first_lanes(left < LANES ? left : LANES);
}

/* The number of each lane. */
static INLINE lanes lane_numbers(void)
{
#if GPI_KEY_BITS == 32
    return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
    return _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
#endif
}

static INLINE lanes all_lanes(KEY word)
{
#if GPI_KEY_BITS == 32
    return _mm512_set1_epi32((int)word);
#else
    return _mm512_set1_epi64((long long)word);
#endif
}

/* Lane i gets the word of lane i ^ turn. */
static INLINE lanes turned(lanes v, int turn)
{
    lanes from = _mm512_xor_si512(lane_numbers(), EPI(_mm512_set1)(turn));
    return EPI(_mm512_permutexvar)(from, v);
}

/* The lanes whose number has a bit. */
static INLINE lane_mask lanes_with(int bit)
{
    return (lane_mask)(bit == 1 ? 0xaaaa : bit == 2 ? 0xcccc : bit == 4 ? 0xf0f0 : 0xff00);
}

/* The larger words in the lanes of a mask, the smaller ones elsewhere. */
static INLINE lanes larger_in(lane_mask mask, lanes a, lanes b)
{
    return EPU(_mm512_mask_max)(EPU(_mm512_min)(a, b), mask, a, b);
}

static INLINE void exchange(lanes *a, lanes *b)
{
    lanes low = EPU(_mm512_min)(*a, *b);
    *b = EPU(_mm512_max)(*a, *b);
    *a = low;
}

/* The comparisons at a distance within Batcher's merge of two runs of rows. */
static INLINE void merge_step(lanes *v, int rows, int run, int distance)
{
    UNROLL
    for (int i = 0; i + distance < rows; i++) {
        int from = i - distance % run;
        bool first = from >= 0 && from / distance % 2 == 0;
        if (first && i / (2 * run) == (i + distance) / (2 * run))
            exchange(&v[i], &v[i + distance]);
    }
}

static INLINE void sort_columns(lanes *v, int rows)
{
    merge_step(v, rows, 1, 1);
    merge_step(v, rows, 2, 2);
    merge_step(v, rows, 2, 1);
    merge_step(v, rows, 4, 4);
    merge_step(v, rows, 4, 2);
    merge_step(v, rows, 4, 1);
    merge_step(v, rows, 8, 8);
    merge_step(v, rows, 8, 4);
    merge_step(v, rows, 8, 2);
    merge_step(v, rows, 8, 1);
}

/* Halves of a bitonic sequence: at a distance of columns, */
static INLINE void halve_columns(lanes *v, int rows, int distance)
{
    UNROLL
    for (int i = 0; i < rows; i++)
        v[i] = larger_in(lanes_with(distance), v[i], turned(v[i], distance));
}

/* and of rows. */
static INLINE void halve_rows(lanes *v, int rows, int distance)
{
    UNROLL
    for (int i = 0; i + distance < rows; i++)
        if (!(i & distance))
            exchange(&v[i], &v[i + distance]);
}

/* Merge runs of `columns` columns in pairs. */
static INLINE void merge_columns(lanes *v, int rows, int columns)
{
    const int turn = 2 * columns - 1;
    UNROLL
    for (int i = 0; i < rows / 2; i++) {
        lanes a = v[i], b = v[rows - 1 - i];
        v[i] = larger_in(lanes_with(columns), a, turned(b, turn));
        v[rows - 1 - i] = larger_in(lanes_with(columns), b, turned(a, turn));
    }
    if (columns > 4)
        halve_columns(v, rows, 4);
    if (columns > 2)
        halve_columns(v, rows, 2);
    if (columns > 1)
        halve_columns(v, rows, 1);
    halve_rows(v, rows, 8);
    halve_rows(v, rows, 4);
    halve_rows(v, rows, 2);
    halve_rows(v, rows, 1);
}

/* Afterwards the word in column c and row r has rank c * rows + r. */
static INLINE void order_lanes(lanes *v, int rows)
{
    sort_columns(v, rows);
    merge_columns(v, rows, 1);
    merge_columns(v, rows, 2);
    merge_columns(v, rows, 4);
    if (LANES > 8)
        merge_columns(v, rows, 8);
}

/* Rotate the bits of (row, lane) by one: words of two rows take turns. */
static INLINE void interleave(lanes *v, int rows)
{
    const lanes numbers = lane_numbers();
    const lanes half = EPI(_mm512_srli)(numbers, 1);
    const lanes odd = EPI(_mm512_slli)(_mm512_and_si512(numbers, EPI(_mm512_set1)(1)), LANE_BITS);
    const lanes low = _mm512_or_si512(half, odd);
    const lanes high = EPI(_mm512_add)(low, EPI(_mm512_set1)(LANES / 2));
    lanes to[ROWS_MAX];
    UNROLL
    for (int i = 0; i < rows / 2; i++) {
        to[2 * i] = EPI(_mm512_permutex2var)(v[i], low, v[i + rows / 2]);
        to[2 * i + 1] = EPI(_mm512_permutex2var)(v[i], high, v[i + rows / 2]);
    }
    UNROLL
    for (int i = 0; i < rows; i++)
        v[i] = to[i];
}

/* Sort n <= rows * LANES words, of which the first `full` rows are full; places without a word get
 * the largest one. */
static INLINE void sort_rows(KEY *words, size_t n, int rows, int full)
{
    lanes v[ROWS_MAX];
    UNROLL
    for (int i = 0; i < rows; i++)
        v[i] = EPI(_mm512_mask_loadu)(EPI(_mm512_set1)(-1),
                                      i < full ? first_lanes(LANES) : row_lanes(n, i),
                                      words + i * LANES);
    order_lanes(v, rows);
    UNROLL
    for (int r = 1; r < rows; r *= 2)
        interleave(v, rows);
    UNROLL
    for (int i = 0; i < rows; i++)
        EPI(_mm512_mask_storeu)
    (words + i * LANES, i < full ? first_lanes(LANES) : row_lanes(n, i), v[i]);
}

static void sort_network(KEY *words, size_t n)
{
    if (n <= 4 * LANES)
        sort_rows(words, n, 4, 0);
    else if (n <= 8 * LANES)
        sort_rows(words, n, 8, 4);
    else
        sort_rows(words, n, ROWS_MAX, ROWS_MAX / 2);
}
