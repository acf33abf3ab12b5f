/* SPDX-License-Identifier: MIT */
/*
 * A few vectors of order words put in order in registers.
 * Included by radixsort_cpu_tmpl.c.
 *
 * Rows of LANES words are sorted column by column, which compares whole vectors (Batcher
 * 1968, odd-even merges). Then neighbouring columns, pairs of columns and so on are merged,
 * one of each two turned round: a bitonic sequence, put in order by halves. A word's rank is
 * column * rows + row up to the end, so that the halves below a column are whole vectors
 * again; only the few halves of columns have to move words between lanes. A last rotation of
 * the index bits puts ranks side by side.
 */
enum { NETWORK_ITEMS = ROWS_MAX * LANES };

/* The words that row i has of n. */
static INLINE size_t row_words(size_t n, int i)
{
    size_t begin = (size_t)i * LANES, left = n > begin ? n - begin : 0;
    return left < LANES ? left : LANES;
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

/* Compares items of a bitonic sequence at a distance of columns. */
static INLINE void halve_columns(lanes *v, int rows, int distance)
{
    UNROLL
    for (int i = 0; i < rows; i++)
        v[i] = larger_with(distance, v[i], turned(v[i], distance));
}

/* The same at a distance of rows. */
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
    if (rows == 1)
        v[0] = larger_with(columns, v[0], turned(v[0], turn));
    UNROLL
    for (int i = 0; i < rows / 2; i++) {
        lanes a = v[i], b = v[rows - 1 - i];
        v[i] = larger_with(columns, a, turned(b, turn));
        v[rows - 1 - i] = larger_with(columns, b, turned(a, turn));
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
    if (LANES > 4)
        merge_columns(v, rows, 4);
    if (LANES > 8)
        merge_columns(v, rows, 8);
}

/* Rotate the bits of (row, lane) by one: words of two rows take turns. */
static INLINE void interleave(lanes *v, int rows)
{
    lanes to[ROWS_MAX];
    UNROLL
    for (int i = 0; i < rows / 2; i++)
        interleave_two(v[i], v[i + rows / 2], &to[2 * i], &to[2 * i + 1]);
    UNROLL
    for (int i = 0; i < rows; i++)
        v[i] = to[i];
}
