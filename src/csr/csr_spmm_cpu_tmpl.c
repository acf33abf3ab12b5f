/* SPDX-License-Identifier: MIT */
/* CPU: SpMM, by the tiles of SpMV; a tile is walked once per 8 columns. One unit per value type and
 * instruction set, of any widths: an entry has so much work that asking for its width is free. */
#include "balance/balance_internal.h"
#include "core/half.h"
#include "core/threads.h"
#include "core/words.h"
#include "csr/csr_internal.h"

#define NAME(what) PASTE4(gpi_csr_##what##_, GPI_UNIT, _, GPI_ISA_SUFFIX)

typedef GPI_VALUE value_t;
typedef GPI_SUM sum_t;

enum { LANES = 8 };
typedef sum_t lanes __attribute__((vector_size(LANES * sizeof(sum_t))));

#if defined(GPI_VALUE_IS_f16)
#define WIDEN gpi_f16_to_float
#define NARROW gpi_float_to_f16
#elif defined(GPI_VALUE_IS_bf16)
#define WIDEN gpi_bf16_to_float
#define NARROW gpi_float_to_bf16
#else
#define WIDEN
#define NARROW
#endif

gp_status NAME(spmm)(gp_context *ctx, const struct gpi_csr_spmv *args);

static inline uint64_t number_at(const void *numbers, size_t bytes, uint64_t i)
{
    return bytes == 8 ? ((const uint64_t *)numbers)[i] : ((const uint32_t *)numbers)[i];
}

/* The columns from `first` on, as many as `width`. */
struct block {
    const struct gpi_csr_spmv *s;
    uint32_t first, width;
};

/* Row `row` of X; lanes without a column get 0. The unit is compiled without vectors of loops,
 * which would make the few columns here larger and no faster. */
static inline void load(const struct block *b, uint64_t row, lanes *to)
{
    const struct gpi_csr_dense at = b->s->x_at;
    const value_t *x = (const value_t *)b->s->x + row * at.row + b->first * at.column;
    lanes v = {0};
    if (b->width == LANES && at.column == 1)
        for (int k = 0; k < LANES; k++)
            v[k] = WIDEN(x[k]);
    else
        for (uint32_t k = 0; k < b->width; k++)
            v[k] = WIDEN(x[k * at.column]);
    *to = v;
}

/* sums of entries [i, end): those at even and at odd distances from i apart, so that additions
 * overlap. One copy of it is enough. */
static __attribute__((noinline)) void dot(const struct block *b, uint64_t i, uint64_t end,
                                          sum_t sums[LANES])
{
    const void *cols = b->s->a.cols;
    const size_t bytes = b->s->index_bytes;
    const value_t *values = b->s->values;
    lanes now = {0}, then = {0};
    for (; i < end; i++) {
        lanes x;
        load(b, number_at(cols, bytes, i), &x);
        x = now + x * (sum_t)WIDEN(values[i]);
        now = then;
        then = x;
    }
    now += then;
    memcpy(sums, &now, sizeof now);
}

static __attribute__((noinline)) void store(const struct block *b, uint64_t row,
                                            const sum_t sums[LANES])
{
    const struct gpi_csr_dense at = b->s->y_at;
    const sum_t alpha = (sum_t)b->s->alpha, beta = (sum_t)b->s->beta;
    value_t *y = (value_t *)b->s->y + row * at.row + b->first * at.column;
    for (uint32_t k = 0; k < b->width; k++) {
        const sum_t sum = sums[k] * alpha;
        y[k * at.column] = NARROW(beta != 0 ? sum + beta * WIDEN(y[k * at.column]) : sum);
    }
}

static uint64_t rows_before(const struct gpi_csr_spmv *s, uint64_t d)
{
    const struct gpi_csr_matrix *a = &s->a;
    return gpi_merge_path_search(a->row_pointers, s->pointer_bytes, 0, a->num_rows, a->nnz, d);
}

static uint64_t pointer(const struct gpi_csr_spmv *s, uint64_t row)
{
    return number_at(s->a.row_pointers, s->pointer_bytes, row);
}

/* A tile's part of a row, which it shares with others. */
static sum_t *part(const struct block *b, uint64_t t, int which)
{
    return (sum_t *)b->s->parts + (2 * t + (uint64_t)which) * b->s->columns + b->first;
}

/* Rows that lie in one tile are stored; of others parts are left for add_parts(). */
static void tile(void *arg, size_t t)
{
    const struct gpi_csr_spmv *s = arg;
    const struct gpi_csr_matrix *a = &s->a;
    const uint64_t begin = (uint64_t)t * GPI_CSR_SPMV_TILE_CPU;
    const uint64_t end = gpi_min(begin + GPI_CSR_SPMV_TILE_CPU, a->num_rows + a->nnz);
    const uint64_t first = rows_before(s, begin), row_end = rows_before(s, end);
    const bool came_in = first < row_end && begin - first > pointer(s, first);
    s->came_in[t] = came_in ? first : UINT64_MAX;
    for (uint32_t c = 0; c < s->columns; c += LANES) {
        const struct block b = {s, c, s->columns - c < LANES ? s->columns - c : LANES};
        sum_t sums[LANES];
        uint64_t i = begin - first;
        const uint64_t i_end = end - row_end;
        for (uint64_t row = first; row <= row_end; row++) {
            /* within the tile, were the pointers to fall */
            const uint64_t row_ends = row < row_end ? gpi_min(pointer(s, row + 1), i_end) : i_end;
            dot(&b, i, row_ends, sums);
            if (row == row_end || (row == first && came_in))
                memcpy(part(&b, t, row == row_end), sums, b.width * sizeof(sum_t));
            else
                store(&b, row, sums);
            i = row_ends;
        }
    }
}

/* Few: two parts per tile. */
static void add_parts(const struct block *b)
{
    sum_t sums[LANES] = {0};
    for (uint64_t t = 0; t < b->s->tiles; t++) {
        const uint64_t row = b->s->came_in[t];
        const sum_t *in = part(b, t, 0), *out = part(b, t, 1);
        for (uint32_t k = 0; row != UINT64_MAX && k < b->width; k++)
            sums[k] += in[k];
        if (row != UINT64_MAX)
            store(b, row, sums);
        for (uint32_t k = 0; k < b->width; k++)
            sums[k] = (row == UINT64_MAX ? sums[k] : 0) + out[k];
    }
}

gp_status NAME(spmm)(gp_context *ctx, const struct gpi_csr_spmv *args)
{
    struct gpi_csr_spmv s = *args;
    const uint64_t work = (s.a.nnz + s.a.num_rows) * ((s.columns + LANES - 1) / LANES);
    gpi_parallel_for(gpi_threads_for(ctx->threads, work), (size_t)s.tiles, tile, &s);
    for (uint32_t c = 0; c < s.columns; c += LANES) {
        const struct block b = {&s, c, s.columns - c < LANES ? s.columns - c : LANES};
        add_parts(&b);
    }
    return GP_OK;
}
