/* SPDX-License-Identifier: MIT */
/* CPU: SpMV. One unit per pair of widths, value type and instruction set: GPI_UNIT names it,
 * GPI_INDEX, GPI_OFFSET and GPI_VALUE are its types. */
#include "balance/balance_internal.h"
#include "core/threads.h"
#include "core/words.h"
#include "csr/csr_internal.h"

#define NAME(what) PASTE4(gpi_csr_##what##_, GPI_UNIT, _, GPI_ISA_SUFFIX)

typedef GPI_INDEX index_t;
typedef GPI_OFFSET offset_t;
typedef GPI_VALUE value_t;

gp_status NAME(spmv)(gp_context *ctx, const struct gpi_csr_spmv *args);

/* How many of the first d units of the merge of row ends and entries are row ends. */
static uint64_t rows_before(const struct gpi_csr_matrix *a, uint64_t d)
{
    return gpi_merge_path_search(a->row_pointers, sizeof(offset_t), 0, a->num_rows, a->nnz, d);
}

/* Sum of entries [i, end). Long runs have eight partial sums, so that additions overlap; which
 * entry goes to which depends on its distance from i alone. */
static value_t dot(const struct gpi_csr_spmv *s, uint64_t i, uint64_t end)
{
    enum { LANES = 8 };
    const index_t *cols = s->a.cols;
    const value_t *values = s->values, *x = s->x;
    value_t sum = 0;
    if (end - i >= 2 * LANES) {
        value_t part[LANES] = {0};
        for (; i + LANES <= end; i += LANES)
            for (int l = 0; l < LANES; l++)
                part[l] += values[i + l] * x[cols[i + l]];
        sum = ((part[0] + part[1]) + (part[2] + part[3])) +
              ((part[4] + part[5]) + (part[6] + part[7]));
    }
    for (; i < end; i++)
        sum += values[i] * x[cols[i]];
    return sum;
}

static void tile(void *arg, size_t t)
{
    const struct gpi_csr_spmv *s = arg;
    const struct gpi_csr_matrix *a = &s->a;
    const offset_t *ends = (const offset_t *)a->row_pointers + 1;
    value_t *y = s->y, *carries = s->carry_values;
    value_t alpha = (value_t)s->alpha, beta = (value_t)s->beta;
    uint64_t begin = (uint64_t)t * GPI_CSR_SPMV_TILE_CPU;
    uint64_t end = gpi_min(begin + GPI_CSR_SPMV_TILE_CPU, a->num_rows + a->nnz);
    uint64_t row = rows_before(a, begin), row_end = rows_before(a, end);
    uint64_t i = begin - row, i_end = end - row_end;
    for (; row < row_end; row++) {
        value_t sum = alpha * dot(s, i, ends[row]);
        y[row] = beta != 0 ? sum + beta * y[row] : sum;
        i = ends[row];
    }
    s->carry_rows[t] = i < i_end ? row_end : UINT64_MAX;
    carries[t] = i < i_end ? alpha * dot(s, i, i_end) : 0;
}

/* Few: one carry per tile. */
static void add_carries(const struct gpi_csr_spmv *s)
{
    const value_t *carries = s->carry_values;
    value_t *y = s->y;
    for (uint64_t t = 0; t < s->tiles; t++)
        if (s->carry_rows[t] != UINT64_MAX)
            y[s->carry_rows[t]] += carries[t];
}

gp_status NAME(spmv)(gp_context *ctx, const struct gpi_csr_spmv *args)
{
    struct gpi_csr_spmv s = *args;
    gpi_parallel_for(gpi_threads_for(ctx->threads, s.a.nnz + s.a.num_rows), (size_t)s.tiles, tile,
                     &s);
    add_carries(&s);
    return GP_OK;
}
