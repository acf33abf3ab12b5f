/* SPDX-License-Identifier: MIT */
/* CPU: SpMV. One unit per pair of widths, value type and instruction set: GPI_UNIT names it,
 * GPI_INDEX, GPI_OFFSET, GPI_VALUE and GPI_SUM are its types. */
#include "balance/balance_internal.h"
#include "core/half.h"
#include "core/threads.h"
#include "core/words.h"
#include "csr/csr_internal.h"

#define NAME(what) PASTE4(gpi_csr_##what##_, GPI_UNIT, _, GPI_ISA_SUFFIX)

typedef GPI_INDEX index_t;
typedef GPI_OFFSET offset_t;
typedef GPI_VALUE value_t;
typedef GPI_SUM sum_t;

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

gp_status NAME(spmv)(gp_context *ctx, const struct gpi_csr_spmv *args);

/* How many of the first d units of the merge of row ends and entries are row ends. */
static uint64_t rows_before(const struct gpi_csr_matrix *a, uint64_t d)
{
    return gpi_merge_path_search(a->row_pointers, sizeof(offset_t), 0, a->num_rows, a->nnz, d);
}

/* Sum of entries [i, end): four partial sums, so that additions overlap; which entry goes to which
 * depends on its distance from i alone. The unit is compiled without vectors, since the columns
 * would have to be gathered into them (spmv-07 in docs/tuning). */
static inline sum_t dot(const index_t *cols, const value_t *values, const value_t *x, uint64_t i,
                        uint64_t end)
{
    sum_t a = 0, b = 0, c = 0, d = 0;
#define PRODUCT(k) WIDEN(values[i + (k)]) * WIDEN(x[cols[i + (k)]])
    for (; i + 4 <= end; i += 4) {
        a += PRODUCT(0);
        b += PRODUCT(1);
        c += PRODUCT(2);
        d += PRODUCT(3);
    }
    if (i < end)
        a += PRODUCT(0);
    if (i + 1 < end)
        b += PRODUCT(1);
    if (i + 2 < end)
        c += PRODUCT(2);
#undef PRODUCT
    return (a + b) + (c + d);
}

static inline void store(value_t *y, sum_t sum, sum_t alpha, sum_t beta)
{
    sum *= alpha;
    *y = NARROW(beta != 0 ? sum + beta * WIDEN(*y) : sum);
}

/* Rows that lie in one tile are stored; of others parts are left for add_parts(). */
static void tile(void *arg, size_t t)
{
    const struct gpi_csr_spmv *s = arg;
    const struct gpi_csr_matrix *a = &s->a;
    const offset_t *const ends = (const offset_t *)a->row_pointers + 1;
    const index_t *const cols = a->cols;
    const value_t *const values = s->values, *const x = s->x;
    value_t *const y = s->y;
    const sum_t alpha = (sum_t)s->alpha, beta = (sum_t)s->beta; /* y may not be told from these */
    sum_t *parts = (sum_t *)s->parts + 2 * t;
    uint64_t begin = (uint64_t)t * GPI_CSR_SPMV_TILE_CPU;
    uint64_t end = gpi_min(begin + GPI_CSR_SPMV_TILE_CPU, a->num_rows + a->nnz);
    uint64_t row = rows_before(a, begin), row_end = rows_before(a, end);
    uint64_t i = begin - row, i_end = end - row_end;
    s->came_in[t] = UINT64_MAX;
    if (row < row_end && i > ends[(int64_t)row - 1]) {
        s->came_in[t] = row;
        const uint64_t row_ends = gpi_min(ends[row], i_end);
        parts[0] = dot(cols, values, x, i, row_ends);
        i = row_ends;
        row++;
    }
    for (; row < row_end; row++) {
        const uint64_t row_ends = ends[row];
        if (row_ends > i_end) /* row pointers fall */
            break;
        sum_t sum = 0;
        if (i < row_ends) /* empty rows often follow each other */
            sum = dot(cols, values, x, i, row_ends);
        store(y + row, sum, alpha, beta);
        i = row_ends;
    }
    parts[1] = dot(cols, values, x, i, i_end);
}

/* Few: two parts per tile. */
static void add_parts(const struct gpi_csr_spmv *s)
{
    const sum_t *parts = s->parts;
    sum_t sum = 0;
    for (uint64_t t = 0; t < s->tiles; t++) {
        const uint64_t row = s->came_in[t];
        if (row != UINT64_MAX) {
            store((value_t *)s->y + row, sum + parts[2 * t], (sum_t)s->alpha, (sum_t)s->beta);
            sum = 0;
        }
        sum += parts[2 * t + 1];
    }
}

gp_status NAME(spmv)(gp_context *ctx, const struct gpi_csr_spmv *args)
{
    struct gpi_csr_spmv s = *args;
    gpi_parallel_for(gpi_threads_for(ctx->threads, s.a.nnz + s.a.num_rows), (size_t)s.tiles, tile,
                     &s);
    add_parts(&s);
    return GP_OK;
}
