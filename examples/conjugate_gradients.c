/* SPDX-License-Identifier: MIT */
/*
 * Conjugate gradients for Poisson's equation on a square, without a number that the host knows:
 * scalars stay in memory, and so does the test of convergence. It makes the number of rows of the
 * next iteration, which is 0 when the residual is small enough; then the calls find nothing to do.
 * On a GPU an iteration is captured once in a CUDA graph and replayed; the host waits at the end.
 */
#include <gp/gp.h>

#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#if EXAMPLE_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

enum { SIDE = 60, N = SIDE * SIDE, NNZ = 5 * N - 4 * SIDE, ITERATIONS_MAX = 400 };

static uint32_t row_pointers[N + 1], cols[NNZ];
static double values[NNZ], solution[N], b[N], found[N];
static gp_context *ctx;

static void need(int ok)
{
    if (ok)
        return;
    fprintf(stderr, "conjugate_gradients: %s\n", gp_last_error(ctx));
    exit(1);
}

/* Where the context computes. */
struct solver {
    void *row_pointers, *cols, *values, *x, *r, *p, *q;
    double *rr, *rr_new, *pq, *alpha, *minus_alpha, *beta, *iterations;
    double *tolerance;    /* of rr */
    uint32_t *goes_on;    /* 1, or 0: rr is small enough */
    uint64_t *rows, *one; /* N and 1, or 0 and 0 */
    uint64_t *choices;    /* 0, N, 0, 1 */
};

static void *device(size_t bytes, const void *host)
{
    void *memory;
    need(gp_malloc(ctx, bytes, &memory) == GP_OK);
    if (host)
        need(gp_copy(ctx, host, bytes, memory) == GP_OK);
    return memory;
}

/* ---- the matrix: five points ----------------------------------------------------------------- */

static uint32_t add(uint32_t at, int row, int col, double value)
{
    cols[at] = (uint32_t)col;
    values[at] = value;
    b[row] += value * solution[col];
    return at + 1;
}

static void make_problem(void)
{
    uint32_t at = 0;
    for (int i = 0; i < N; i++)
        solution[i] = sin(0.1 * i) + 0.01 * (i % 7);
    for (int i = 0; i < N; i++) {
        row_pointers[i] = at;
        if (i >= SIDE)
            at = add(at, i, i - SIDE, -1);
        if (i % SIDE > 0)
            at = add(at, i, i - 1, -1);
        at = add(at, i, i, 4);
        if (i % SIDE < SIDE - 1)
            at = add(at, i, i + 1, -1);
        if (i < N - SIDE)
            at = add(at, i, i + SIDE, -1);
    }
    row_pointers[N] = at;
}

/* ---- an iteration ---------------------------------------------------------------------------- */

/* Vectors have s->rows items, scalars s->one. */
static void queue(const struct solver *s)
{
    static const double minus = -1;
    gp_csr_desc matrix = GP_CSR_DESC_INIT;
    gp_vector_desc vector = GP_VECTOR_DESC_INIT, scalar = GP_VECTOR_DESC_INIT, scaled;
    gp_gather_desc choose = GP_GATHER_DESC_INIT;
    matrix.index_dtype = matrix.offset_dtype = GP_U32;
    matrix.value_dtype = vector.dtype = scalar.dtype = GP_F64;
    matrix.device_num_rows = vector.device_n = s->rows;
    scalar.device_n = s->one;
    choose.item_bytes = 8, choose.index_dtype = GP_U32, choose.in_items = 2;
    scaled = vector, scaled.device_alpha = 1;

    /* alpha = r r / p A p; x += alpha p; r -= alpha A p */
    need(gp_spmv_by(ctx, &matrix, N, N, NNZ, s->row_pointers, s->cols, s->values, NULL, s->p, NULL,
                    s->q) == GP_OK);
    need(gp_vector_dot(ctx, &vector, s->p, s->q, N, s->pq) == GP_OK);
    need(gp_vector_divide(ctx, &scalar, s->rr, s->pq, 1, s->alpha) == GP_OK);
    need(gp_vector_scale(ctx, &scalar, &minus, s->alpha, 1, s->minus_alpha) == GP_OK);
    need(gp_vector_axpby(ctx, &scaled, s->alpha, s->p, NULL, s->x, N) == GP_OK);
    need(gp_vector_axpby(ctx, &scaled, s->minus_alpha, s->q, NULL, s->r, N) == GP_OK);
    /* beta = the new r r / the old one; p = r + beta p */
    need(gp_vector_dot(ctx, &vector, s->r, s->r, N, s->rr_new) == GP_OK);
    need(gp_vector_divide(ctx, &scalar, s->rr_new, s->rr, 1, s->beta) == GP_OK);
    scaled.device_alpha = 0, scaled.device_beta = 1;
    need(gp_vector_axpby(ctx, &scaled, NULL, s->r, s->beta, s->p, N) == GP_OK);
    need(gp_vector_scale(ctx, &scalar, NULL, s->rr_new, 1, s->rr) == GP_OK);
    need(gp_vector_axpby(ctx, &scalar, NULL, s->tolerance + 1, NULL, s->iterations, 1) == GP_OK);
    /* is the tolerance below it? */
    need(gp_lower_bound(ctx, GP_F64, s->tolerance, 1, s->rr, 1, GP_U32, s->goes_on) == GP_OK);
    need(gp_gather_by(ctx, &choose, s->choices, s->goes_on, 1, s->rows) == GP_OK);
    need(gp_gather_by(ctx, &choose, s->choices + 2, s->goes_on, 1, s->one) == GP_OK);
}

/* The calls before have brought the workspace to its size: nothing may be allocated now. */
static void iterate(const struct solver *s, int times)
{
#if EXAMPLE_HAVE_CUDA
    if (gp_context_backend(ctx) == GP_BACKEND_CUDA) {
        cudaGraph_t captured;
        cudaGraphExec_t graph;
        const cudaStream_t stream = gp_context_stream(ctx);
        need(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
        queue(s);
        need(cudaStreamEndCapture(stream, &captured) == cudaSuccess);
        need(cudaGraphInstantiate(&graph, captured, 0) == cudaSuccess);
        for (int i = 0; i < times; i++)
            need(cudaGraphLaunch(graph, stream) == cudaSuccess);
        need(gp_context_synchronize(ctx) == GP_OK);
        cudaGraphExecDestroy(graph);
        cudaGraphDestroy(captured);
        return;
    }
#endif
    for (int i = 0; i < times; i++)
        queue(s);
}

static struct solver solver_new(void)
{
    static const double zeros[N];
    static const double tolerance[2] = {1e-20, 1};
    static const uint64_t choices[4] = {0, N, 0, 1}, none = 0;
    struct solver s = {.row_pointers = device(sizeof row_pointers, row_pointers),
                       .cols = device(sizeof cols, cols),
                       .values = device(sizeof values, values),
                       .x = device(sizeof zeros, zeros),
                       .r = device(sizeof b, b),
                       .p = device(sizeof b, b),
                       .q = device(sizeof b, NULL)};
    double **const scalars[] = {&s.rr,          &s.rr_new, &s.pq,        &s.alpha,
                                &s.minus_alpha, &s.beta,   &s.iterations};
    for (int i = 0; i < 7; i++)
        *scalars[i] = device(8, zeros);
    s.tolerance = device(sizeof tolerance, tolerance);
    s.goes_on = device(4, NULL);
    s.rows = device(8, &none);
    s.one = device(8, &none);
    s.choices = device(sizeof choices, choices);
    return s;
}

static void solver_free(struct solver *s)
{
    void *const memory[] = {
        s->row_pointers, s->cols,    s->values, s->x,     s->r,           s->p,    s->q,
        s->rr,           s->rr_new,  s->pq,     s->alpha, s->minus_alpha, s->beta, s->iterations,
        s->tolerance,    s->goes_on, s->rows,   s->one,   s->choices};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        gp_free(ctx, memory[i]);
}

int main(int argc, char **argv)
{
    double iterations, worst = 0;
    gp_vector_desc desc = GP_VECTOR_DESC_INIT;
    cli_alone("conjugate_gradients", "A linear system, solved without waiting, checked.", argc,
              argv);
    need(gp_context_create(&ctx, NULL) == GP_OK);
    make_problem();
    struct solver s = solver_new();
    queue(&s); /* takes the workspace, though there are no rows */
    desc.dtype = GP_F64;
    const uint64_t rows = N, one = 1;
    need(gp_copy(ctx, &rows, 8, s.rows) == GP_OK);
    need(gp_copy(ctx, &one, 8, s.one) == GP_OK);
    need(gp_vector_dot(ctx, &desc, s.r, s.r, N, s.rr) == GP_OK);
    iterate(&s, ITERATIONS_MAX);
    need(gp_copy(ctx, s.x, sizeof found, found) == GP_OK);
    need(gp_copy(ctx, s.iterations, sizeof iterations, &iterations) == GP_OK);
    need(gp_context_synchronize(ctx) == GP_OK);
    for (int i = 0; i < N; i++)
        worst = fabs(found[i] - solution[i]) > worst ? fabs(found[i] - solution[i]) : worst;
    printf("%d unknowns, %g iterations of at most %d, off by %.1e\n", N, iterations, ITERATIONS_MAX,
           worst);
    solver_free(&s);
    gp_context_destroy(ctx);
    return !(worst < 1e-8 && iterations < ITERATIONS_MAX);
}
