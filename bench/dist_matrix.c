/* SPDX-License-Identifier: MIT */
/* Matrices over ranks: from coordinates in any order, and times a vector. */
#include "dist.h"

#include <stdio.h>
#include <stdlib.h>

enum { CHUNK = 1 << 20, STENCIL = 7, PER_ROW = 16 };

struct matrix {
    size_t num_rows, nnz, room;
    void *rows, *cols, *values, *offsets, *out_cols, *out_values, *x, *y;
    gp_dist_halo *halo;
};

static void *room_for(struct rank *r, size_t bytes)
{
    void *memory;
    need(r->ctx, gp_malloc(r->ctx, bytes + 256, &memory));
    return memory;
}

static struct matrix *matrix_new(struct rank *r)
{
    struct matrix *m = calloc(1, sizeof *m);
    if (!m)
        exit(1);
    r->matrix = m;
    return m;
}

/* out[i] = next(state, first + i) */
static void fill(struct rank *r, size_t n, uint64_t first, uint64_t state,
                 uint32_t (*next)(uint64_t state, uint64_t i), void *out)
{
    uint32_t *chunk = malloc(CHUNK * sizeof *chunk);
    for (size_t at = 0; chunk && at < n; at += CHUNK) {
        const size_t count = n - at < CHUNK ? n - at : CHUNK;
        for (size_t i = 0; i < count; i++)
            chunk[i] = next(state, first + at + i);
        need(r->ctx, gp_copy(r->ctx, chunk, 4 * count, (char *)out + 4 * at));
        need(r->ctx, gp_context_synchronize(r->ctx));
    }
    free(chunk);
}

static void fill_ones(struct rank *r, size_t n, void *out)
{
    const float one = 1, zero = 0;
    need(r->ctx, gp_iota(r->ctx, GP_F32, &one, &zero, n, out));
}

/* ---- from coordinates ------------------------------------------------------------------------ */

/* state: the number of rows, and of columns. */
static uint32_t any_index(uint64_t state, uint64_t i)
{
    i = (i ^ i >> 29) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(((i ^ i >> 31) * 0xbf58476d1ce4e5b9u >> 32) * state >> 32);
}

static void prepare_list(struct rank *r, size_t num_rows)
{
    struct matrix *m = matrix_new(r);
    const uint64_t first = (uint64_t)r->number * r->n;
    m->num_rows = num_rows;
    m->nnz = r->n;
    m->room = r->ranks > 1 ? r->n + r->n / 4 + CHUNK : r->n;
    m->rows = room_for(r, 4 * r->n);
    m->cols = room_for(r, 4 * r->n);
    m->values = room_for(r, 4 * r->n);
    m->offsets = room_for(r, 4 * m->num_rows);
    m->out_cols = room_for(r, 4 * m->room);
    m->out_values = room_for(r, 4 * m->room);
    fill(r, r->n, first, m->num_rows, any_index, m->rows);
    fill(r, r->n, ~first, m->num_rows, any_index, m->cols);
    fill_ones(r, r->n, m->values);
}

/* As many rows and columns as fill no range of bits, and a power of two. */
void coo_prepare(struct rank *r)
{
    prepare_list(r, r->n * (size_t)r->ranks / PER_ROW + 1);
}

void coo_prepare_even(struct rank *r)
{
    prepare_list(r, r->n * (size_t)r->ranks / PER_ROW);
}

gp_status coo_run(struct rank *r)
{
    struct matrix *m = r->matrix;
    const gp_coo_desc d = GP_COO_DESC_INIT;
    if (!r->comm)
        return gp_csr_from_coo(r->ctx, &d, m->num_rows, m->num_rows, m->rows, m->cols, m->values,
                               m->nnz, m->offsets, m->out_cols, m->out_values, r->counts);
    return gp_dist_csr_from_coo(r->comm, &d, m->num_rows, m->num_rows, m->rows, m->cols, m->values,
                                m->nnz, r->counts + 1, m->num_rows, m->offsets, m->room,
                                m->out_cols, m->out_values, r->counts);
}

/* ---- times a vector -------------------------------------------------------------------------- */

/* Entry i of a 3-D Laplacian on a torus of that many points. */
static uint32_t stencil_col(uint64_t points, uint64_t i)
{
    const int bits = points > 1 ? 63 - __builtin_clzll(points) : 0;
    const uint64_t row = i / STENCIL, side = 1ull << bits / 3,
                   plane = side << (bits - bits / 3) / 2;
    const uint64_t up[STENCIL] = {0, 1, side, plane, points - 1, points - side, points - plane};
    const uint64_t col = row + up[i % STENCIL];
    return (uint32_t)(col < points ? col : col - points);
}

static gp_csr_desc product_desc(void)
{
    gp_csr_desc d = GP_CSR_DESC_INIT;
    d.index_dtype = d.offset_dtype = GP_U32;
    d.value_dtype = GP_F32;
    return d;
}

void product_prepare(struct rank *r)
{
    struct matrix *m = matrix_new(r);
    const gp_csr_desc d = product_desc();
    const uint32_t zero = 0, step = STENCIL;
    const uint64_t rows = (uint64_t)r->n * (uint64_t)r->ranks;
    uint64_t col_first[RANKS_MAX + 1];
    for (int i = 0; i <= r->ranks; i++)
        col_first[i] = (uint64_t)i * r->n;
    m->num_rows = r->n;
    m->nnz = STENCIL * r->n;
    m->offsets = room_for(r, 4 * (r->n + 1));
    m->cols = room_for(r, 4 * m->nnz);
    m->values = room_for(r, 4 * m->nnz);
    need(r->ctx, gp_iota(r->ctx, GP_U32, &zero, &step, r->n + 1, m->offsets));
    fill(r, m->nnz, m->nnz * (uint64_t)r->number, rows, stencil_col, m->cols);
    fill_ones(r, m->nnz, m->values);
    need(r->ctx, gp_copy(r->ctx, col_first, sizeof col_first, r->counts));
    if (r->comm)
        need(r->ctx, gp_dist_halo_create(r->comm, &d, r->counts, m->num_rows, m->nnz, m->offsets,
                                         m->cols, &m->halo));
    m->x = room_for(r, 4 * (r->n + (size_t)gp_dist_halo_items(m->halo)));
    m->y = room_for(r, 4 * r->n);
    fill_ones(r, r->n, m->x);
}

gp_status product_run(struct rank *r)
{
    struct matrix *m = r->matrix;
    const gp_csr_desc d = product_desc();
    const float alpha = 1, beta = 0;
    if (m->halo)
        return gp_dist_spmv(m->halo, m->values, &alpha, m->x, &beta, m->y);
    return gp_spmv_by(r->ctx, &d, m->num_rows, m->num_rows, m->nnz, m->offsets, m->cols, m->values,
                      &alpha, m->x, &beta, m->y);
}

void matrix_clear(struct rank *r)
{
    struct matrix *m = r->matrix;
    if (!m)
        return;
    void *const all[] = {m->rows,     m->cols,       m->values, m->offsets,
                         m->out_cols, m->out_values, m->x,      m->y};
    gp_dist_halo_destroy(m->halo);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i])
            gp_free(r->ctx, all[i]);
    free(m);
}
