/* SPDX-License-Identifier: MIT */
/*
 * One item of a task. Written once and compiled for the CPU and for CUDA, so that both backends see
 * the same input and the same checks.
 */
#ifndef GP_BENCH_TASK_ITEM_H
#define GP_BENCH_TASK_ITEM_H

#include "bench_task.h"

/* The first position in [first, last) of an ascending array whose item is at least value;
 * last if none. */
BENCH_INLINE size_t bench_lower_bound(const uint32_t *in, size_t first, size_t last, uint64_t value)
{
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        if (in[middle] < value)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

/* The segment that position i lies in. */
BENCH_INLINE size_t bench_segment(const struct bench_args *a, size_t i)
{
    return bench_lower_bound((const uint32_t *)a->offsets, 0, a->num_rows + 1, i + 1) - 1;
}

/* Where the row pointers of the output say that a row lies, cut to the arrays. */
BENCH_INLINE void bench_output_row(const struct bench_args *a, size_t row, size_t *begin,
                                   size_t *end)
{
    const uint32_t *offsets = (const uint32_t *)a->out_offsets;
    *begin = offsets[row];
    *end = offsets[row + 1] < a->n ? offsets[row + 1] : a->n;
}

/* A slot of the row's own for each entry, so that they ascend without being sorted. */
BENCH_INLINE void bench_fill_column(const struct bench_task *t, size_t i, uint64_t hash)
{
    const uint32_t *offsets = (const uint32_t *)t->args.offsets;
    size_t row = bench_segment(&t->args, i);
    uint64_t length = offsets[row + 1] - offsets[row], j = i - offsets[row];
    uint64_t low = j * t->args.num_cols / length, high = (j + 1) * t->args.num_cols / length;
    ((uint32_t *)t->out)[i] = (uint32_t)(low + (high > low ? bench_below(hash, high - low) : 0));
}

/* Columns around the diagonal, one after another, or of the 27 neighbours in a cube; both wrap. */
BENCH_INLINE void bench_near_column(const struct bench_task *t, size_t i)
{
    const uint32_t *offsets = (const uint32_t *)t->args.offsets;
    const size_t row = bench_segment(&t->args, i), j = i - offsets[row], n = t->args.num_cols;
    const size_t length = offsets[row + 1] - offsets[row], side = t->limit;
    const size_t near = row + n - length / 2 + j;
    const size_t cubic = row + 2 * n + j % 3 + j / 3 % 3 * side + j / 9 * side * side;
    const size_t corner = 1 + side + side * side;
    ((uint32_t *)t->out)[i] = (uint32_t)((side ? cubic - corner : near) % n);
}

/* Of n / 27 rows, one of the 27 neighbours of all rows after another; columns wrap. */
BENCH_INLINE uint64_t bench_stencil(size_t i, size_t n, uint64_t side, bool column)
{
    const uint64_t rows = (n + 26) / 27, row = i % rows, j = i / rows;
    const uint64_t moved = row + 2 * rows + j % 3 + j / 3 % 3 * side + j / 9 * side * side;
    return column ? (moved - (1 + side + side * side)) % rows : row;
}

/* One of four quarters at each level, with 0.57, 0.19, 0.19 and 0.05. */
BENCH_INLINE uint64_t bench_rmat(uint64_t seed, size_t i, uint64_t limit, bool column)
{
    uint64_t at = 0;
    for (uint64_t half = limit / 2, level = 1; half; half /= 2, level++) {
        const uint64_t dice = bench_below(bench_hash(seed + level, i), 100);
        const bool right = (dice >= 57 && dice < 76) || dice >= 95, below = dice >= 76;
        at += (column ? right : below) ? half : 0;
    }
    return at;
}

BENCH_INLINE void bench_csr_canonical(const struct bench_task *t, size_t row)
{
    const uint32_t *offsets = (const uint32_t *)t->args.out_offsets;
    const uint32_t *cols = (const uint32_t *)t->args.out;
    size_t begin, end;
    uint64_t bad = offsets[row] > offsets[row + 1] || offsets[row + 1] > t->args.n;
    bad += row == 0 && offsets[0] != 0;
    bad += row + 1 == t->args.num_rows && offsets[row + 1] != *t->args.count;
    bench_output_row(&t->args, row, &begin, &end);
    for (size_t k = begin; k < end; k++)
        bad += cols[k] >= t->args.num_cols || (k > begin && cols[k - 1] >= cols[k]);
    bench_add(t->bad, bad);
}

BENCH_INLINE void bench_coo_take(const struct bench_task *t, size_t i)
{
    const uint32_t *cols = (const uint32_t *)t->args.out;
    uint32_t row = ((const uint32_t *)t->args.rows)[i], col = ((const uint32_t *)t->args.cols)[i];
    size_t begin, end;
    bench_output_row(&t->args, row, &begin, &end);
    size_t k = bench_lower_bound(cols, begin, end, col);
    if (begin < end && k < end && cols[k] == col)
        bench_add_u32((uint32_t *)t->a + k, (uint32_t)((const float *)t->args.values)[i]);
    else
        bench_add(t->bad, 1);
}

BENCH_INLINE void bench_coo_compare(const struct bench_task *t, size_t i)
{
    uint32_t sum = ((const uint32_t *)t->a)[i];
    bench_add(t->bad, sum == 0 || ((const float *)t->args.out_values)[i] != (float)sum);
}

/* The values are the positions of the entries in the input, which makes every entry known. */
BENCH_INLINE void bench_transposed(const struct bench_task *t, size_t col)
{
    const struct bench_args *a = &t->args;
    const uint32_t *offsets = (const uint32_t *)a->offsets, *rows = (const uint32_t *)a->out;
    const uint32_t *from = (const uint32_t *)a->out_values, *cols = (const uint32_t *)a->cols;
    const uint32_t *out_offsets = (const uint32_t *)a->out_offsets;
    size_t begin, end;
    uint64_t bad = out_offsets[col] > out_offsets[col + 1];
    bad += (col == 0 && out_offsets[0] != 0);
    bad += (col + 1 == a->num_cols && out_offsets[col + 1] != a->n);
    bench_output_row(a, col, &begin, &end);
    for (size_t k = begin; k < end; k++)
        bad += from[k] >= a->n || rows[k] >= a->num_rows || cols[from[k]] != col ||
               from[k] < offsets[rows[k]] || from[k] >= offsets[rows[k] + 1] ||
               (k > begin && from[k - 1] >= from[k]);
    bench_add(t->bad, bad);
}

/* Of width bytes; a segment without items has any result. limit: results are places in it. */
BENCH_INLINE bool bench_is_last(const struct bench_task *t, size_t segment)
{
    const unsigned width = t->args.key_bytes == 8 ? 8 : 4;
    const size_t begin = (size_t)bench_load(t->args.offsets, segment, width);
    const size_t end = (size_t)bench_load(t->args.offsets, segment + 1, width);
    const char *scan = (const char *)t->a + (end - 1) * t->width;
    const char *result = (const char *)t->out + segment * t->width;
    if (t->limit && begin < end)
        result =
            (const char *)t->args.in + (begin + ((const uint64_t *)t->out)[segment]) * t->width;
    for (unsigned i = 0; begin < end && i < t->width; i++)
        if (scan[i] != result[i])
            return false;
    return true;
}

BENCH_INLINE void bench_multiply(const struct bench_task *t, size_t row)
{
    const uint32_t *offsets = (const uint32_t *)t->args.offsets;
    const uint32_t *cols = (const uint32_t *)t->args.cols;
    double sum = 0;
    for (size_t k = offsets[row]; k < offsets[row + 1]; k++)
        sum += bench_load_real(t->args.values, k, t->width) *
               bench_load_real(t->args.x, cols[k], t->width);
    bench_store_real(t->out, row, t->width, sum);
}

/* Items have limit words of width bytes, places key_bytes. */
BENCH_INLINE void bench_gathered(const struct bench_task *t, size_t i)
{
    const uint64_t place = bench_load(t->args.rows, i / t->limit, (unsigned)t->args.key_bytes);
    const uint64_t word = bench_load(t->args.in, place * t->limit + i % t->limit, t->width);
    bench_add(t->bad, bench_load(t->out, i, t->width) != word);
}

BENCH_INLINE void bench_selected(const struct bench_task *t, size_t i)
{
    const uint64_t at = bench_load(t->out, i, t->width);
    bench_add(t->bad, at >= t->args.n || !((const uint8_t *)t->args.flags)[at] ||
                          (i > 0 && bench_load(t->out, i - 1, t->width) >= at));
}

BENCH_INLINE uint64_t bench_choice(gp_dtype dtype, bool chosen, uint64_t hash)
{
    const uint64_t bound = bench_choice_bound(dtype), some = hash % 64;
    return chosen ? bound - 1 - some : bound + some;
}

BENCH_INLINE uint64_t bench_neighbour(size_t i, size_t n, uint64_t limit)
{
    const uint64_t first = i / limit * limit;
    return first + limit > n ? i : first + (i * 37 + 11) % limit;
}

/* The same in any order: each step is a bijection of the numbers below limit. */
BENCH_INLINE uint64_t bench_shuffled(size_t i, size_t n, uint64_t limit)
{
    const uint64_t first = i / limit * limit;
    uint64_t x = i % limit;
    for (int k = 0; k < 4; k++) {
        x = (x * 0x9e3779b97f4a7c15 + 0x632be5ab) % limit;
        x ^= x >> 7;
    }
    return first + limit > n ? i : first + x;
}

/* Scalar i of affine maps x -> +-x + (-1, 0 or 1) or of 2x2 matrices that permute; negating ones
 * would make zeros whose sign depends on the order of the products. */
BENCH_INLINE double bench_map_scalar(const struct bench_task *t, size_t i)
{
    uint64_t hash = bench_hash(t->seed, i / t->limit);
    unsigned k = (unsigned)(i % t->limit);
    if (t->limit == 2)
        return k == 0 ? (hash & 1 ? 1 : -1) : (double)bench_below(hash, 3) - 1;
    return (k == 1 || k == 2 ? 1u : 0u) == (hash & 1) ? 1 : 0;
}

BENCH_INLINE void bench_task_item(const struct bench_task *t, size_t i)
{
    uint64_t hash = bench_hash(t->seed, i);
    switch (t->kind) {
    case BENCH_FILL_BITS:
        bench_store(t->out, i, t->width, hash >> t->limit);
        break;
    case BENCH_FILL_BELOW:
        bench_store(t->out, i, t->width, bench_below(hash, t->limit));
        break;
    case BENCH_FILL_ZIPF:
        bench_store(t->out, i, t->width, bench_zipf(hash) % t->limit);
        break;
    case BENCH_FILL_SPARSE:
        bench_store(t->out, i, t->width, bench_hash(3, bench_below(hash, t->limit)));
        break;
    case BENCH_FILL_IOTA:
        bench_store(t->out, i, t->width, t->seed + i * t->limit);
        break;
    case BENCH_FILL_STEPS:
        bench_store_real(t->out, i, t->width, (double)bench_below(hash, 3) - 1);
        break;
    case BENCH_FILL_MAPS:
        bench_store_real(t->out, i, t->width, bench_map_scalar(t, i));
        break;
    case BENCH_FILL_SMALL:
        bench_store_real(t->out, i, t->width, (double)bench_below(hash, 4) + 1);
        break;
    case BENCH_FILL_FINITE:
        bench_store(t->out, i, t->width, bench_finite(hash, t->width));
        break;
    case BENCH_FILL_SPREAD:
        bench_store(t->out, i, t->width,
                    bench_spread_bits((enum bench_spread)t->limit,
                                      t->args.dtype == GP_F32 || t->args.dtype == GP_F64, t->width,
                                      i, t->n, hash));
        break;
    case BENCH_FILL_FLAGS:
        bench_store(t->out, i, 1, hash >> 48 < t->limit);
        break;
    case BENCH_FILL_HEADS:
        bench_store(t->out, i, 1, i % t->limit == 0);
        break;
    case BENCH_FILL_CLUSTERS:
        bench_store(t->out, i, 1, bench_hash(t->seed, i / t->limit) >> 63);
        break;
    case BENCH_FILL_CHOICES:
        bench_store(t->out, i, t->width,
                    bench_choice(t->args.dtype, ((const uint8_t *)t->args.flags)[i], hash));
        break;
    case BENCH_FILL_NEIGHBOURS:
        bench_store(t->out, i, t->width, bench_neighbour(i, t->n, t->limit));
        break;
    case BENCH_FILL_SHUFFLED:
        bench_store(t->out, i, t->width, bench_shuffled(i, t->n, t->limit));
        break;
    case BENCH_OTHER_FLAGS:
        bench_store(t->out, i, 1, ((const uint8_t *)t->a)[i] == 0);
        break;
    case BENCH_FILL_COORDINATES:
        if (i % 16 ==
            15) /* which one must not depend on the seed: rows and columns repeat together */
            hash = bench_hash(t->seed, bench_below(bench_hash(77, i), t->n));
        bench_store(t->out, i, t->width, bench_below(hash, t->limit));
        break;
    case BENCH_FILL_COLUMNS:
        bench_fill_column(t, i, hash);
        break;
    case BENCH_FILL_NEAR:
        bench_near_column(t, i);
        break;
    case BENCH_FILL_RMAT:
        bench_store(t->out, i, t->width, bench_rmat(t->seed, i, t->limit, t->a != NULL));
        break;
    case BENCH_FILL_STENCIL:
        bench_store(t->out, i, t->width, bench_stencil(i, t->n, t->limit, t->a != NULL));
        break;
    case BENCH_FILL_WIDE:
        ((uint64_t *)t->out)[i] = ((const uint32_t *)t->a)[i];
        break;
    case BENCH_FILL_EXACT:
        bench_exact_store(&t->rule, t->out, i, t->n, hash);
        break;
    case BENCH_FILL_BLOCKS:
        bench_store(t->out, i, t->width, i / t->limit);
        break;
    case BENCH_FILL_TENS:
        bench_store(t->out, i, t->width,
                    (i + 9) / 10 * 10 < t->limit ? (i + 9) / 10 * 10 : t->limit);
        break;
    case BENCH_EXPAND:
        bench_store(t->out, i, t->width, bench_segment(&t->args, i));
        break;
    case BENCH_COUNT_BELOW:
        bench_add(t->bad, bench_load(t->out, i, t->width) < t->limit);
        break;
    case BENCH_EQUAL:
        bench_add(t->bad, bench_load(t->out, i, t->width) != bench_load(t->a, i, t->width));
        break;
    case BENCH_CSR_CANONICAL:
        bench_csr_canonical(t, i);
        break;
    case BENCH_COO_TAKE:
        bench_coo_take(t, i);
        break;
    case BENCH_COO_COMPARE:
        bench_coo_compare(t, i);
        break;
    case BENCH_GATHERED:
        bench_gathered(t, i);
        break;
    case BENCH_SELECTED:
        bench_selected(t, i);
        break;
    case BENCH_FOLLOWS:
        bench_add(t->bad, !bench_follows(&t->rule, t->a, t->out, i, t->n));
        break;
    case BENCH_NOT_BEFORE:
        bench_add(t->bad, !bench_not_before(&t->rule, t->a, i, t->args.bound));
        break;
    case BENCH_SEGMENT_LASTS:
        bench_add(t->bad, !bench_is_last(t, i));
        break;
    case BENCH_TRANSPOSED:
        bench_transposed(t, i);
        break;
    case BENCH_COUNT:
        bench_add_u32((uint32_t *)t->out + ((const uint32_t *)t->args.in)[i], 1);
        break;
    case BENCH_MULTIPLY:
        bench_multiply(t, i);
        break;
    }
}

#endif
