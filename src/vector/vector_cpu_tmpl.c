/* SPDX-License-Identifier: MIT */
/* Vectors on the CPU, compiled per instruction set. */
#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "core/half_cpu.h"
#include "core/paste.h"
#include "core/threads.h"
#include "core/words.h"
#include "vector/vector_internal.h"

/* Items that halves are widened for at a time, and sums side by side. */
enum { CHUNK = 1024, LANES = 16 };

struct job {
    const struct gpi_vector_args *a;
    uint64_t n;
};

/* ---- loops over floats and doubles ----------------------------------------------------------- */

#define LOOPS(type)                                                                                \
    static type dot_##type(const type *x, const type *y, size_t n)                                 \
    {                                                                                              \
        type part[LANES] = {0}, sum = 0;                                                           \
        size_t i = 0;                                                                              \
        for (; i + LANES <= n; i += LANES)                                                         \
            for (int l = 0; l < LANES; l++)                                                        \
                part[l] += x[i + (size_t)l] * y[i + (size_t)l];                                    \
        for (int l = 0; i < n; i++, l++)                                                           \
            part[l] += x[i] * y[i];                                                                \
        for (int l = 0; l < LANES; l++)                                                            \
            sum += part[l];                                                                        \
        return sum;                                                                                \
    }                                                                                              \
                                                                                                   \
    /* out may be x or y */                                                                        \
    static void map_##type(const struct gpi_vector_args *a, const type *x, const type *y,          \
                           size_t n, type *out)                                                    \
    {                                                                                              \
        const type alpha = (type)a->alpha, beta = (type)a->beta;                                   \
        if (a->kind == GPI_VECTOR_AXPBY && beta != 0)                                              \
            for (size_t i = 0; i < n; i++)                                                         \
                out[i] = alpha * x[i] + beta * y[i];                                               \
        else if (a->kind <= GPI_VECTOR_SCALE)                                                      \
            for (size_t i = 0; i < n; i++)                                                         \
                out[i] = alpha * x[i];                                                             \
        else if (a->kind == GPI_VECTOR_MULTIPLY)                                                   \
            for (size_t i = 0; i < n; i++)                                                         \
                out[i] = x[i] * y[i];                                                              \
        else                                                                                       \
            for (size_t i = 0; i < n; i++)                                                         \
                out[i] = x[i] / y[i];                                                              \
    }
LOOPS(float)
LOOPS(double)

/* ---- halves ---------------------------------------------------------------------------------- */

static void widened(gp_dtype dtype, const uint16_t *from, size_t n, float *to)
{
    if (dtype == GP_F16)
        gpi_f16s_to_floats(from, n, to);
    else
        gpi_bf16s_to_floats(from, n, to);
}

static float dot_halves(gp_dtype dtype, const uint16_t *x, const uint16_t *y, size_t n)
{
    float a[CHUNK], b[CHUNK], sum = 0;
    for (size_t i = 0, m; i < n; i += m) {
        m = n - i < CHUNK ? n - i : CHUNK;
        widened(dtype, x + i, m, a);
        widened(dtype, y + i, m, b);
        sum += dot_float(a, b, m);
    }
    return sum;
}

static void map_halves(const struct gpi_vector_args *a, const uint16_t *x, const uint16_t *y,
                       size_t n, uint16_t *out)
{
    float u[CHUNK], v[CHUNK];
    for (size_t i = 0, m; i < n; i += m) {
        m = n - i < CHUNK ? n - i : CHUNK;
        widened(a->dtype, x + i, m, u);
        if (y)
            widened(a->dtype, y + i, m, v);
        map_float(a, u, v, m, u);
        if (a->dtype == GP_F16)
            gpi_floats_to_f16s(u, m, out + i);
        else
            gpi_floats_to_bf16s(u, m, out + i);
    }
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void sum_block(void *arg, size_t b)
{
    const struct job *job = arg;
    const struct gpi_vector_args *a = job->a;
    const uint64_t at = (uint64_t)b * GPI_VECTOR_BLOCK_CPU;
    const size_t n = (size_t)gpi_min(job->n - at, GPI_VECTOR_BLOCK_CPU);
    const void *y = a->y ? a->y : a->x;
    if (a->dtype == GP_F64)
        ((double *)a->sums)[b] = dot_double((const double *)a->x + at, (const double *)y + at, n);
    else if (a->dtype == GP_F32)
        ((float *)a->sums)[b] = dot_float((const float *)a->x + at, (const float *)y + at, n);
    else
        ((float *)a->sums)[b] =
            dot_halves(a->dtype, (const uint16_t *)a->x + at, (const uint16_t *)y + at, n);
}

static void map_block(void *arg, size_t b)
{
    const struct job *job = arg;
    const struct gpi_vector_args *a = job->a;
    const uint64_t at = (uint64_t)b * GPI_VECTOR_BLOCK_CPU;
    const size_t n = (size_t)gpi_min(job->n - at, GPI_VECTOR_BLOCK_CPU);
    const size_t first = (size_t)at * gpi_dtype_bytes(a->dtype);
    const void *x = (const char *)a->x + first, *y = a->y ? (const char *)a->y + first : NULL;
    void *out = (char *)a->out + first;
    if (a->dtype == GP_F64)
        map_double(a, x, y, n, out);
    else if (a->dtype == GP_F32)
        map_float(a, x, y, n, out);
    else
        map_halves(a, x, a->kind == GPI_VECTOR_AXPBY && a->beta == 0 ? NULL : y, n, out);
}

static void total(const struct gpi_vector_args *a, size_t blocks)
{
    const bool root = a->kind == GPI_VECTOR_NORM;
    if (a->dtype == GP_F64) {
        double sum = 0;
        for (size_t b = 0; b < blocks; b++)
            sum += ((const double *)a->sums)[b];
        *(double *)a->out = root ? sqrt(sum) : sum;
    } else {
        float sum = 0;
        for (size_t b = 0; b < blocks; b++)
            sum += ((const float *)a->sums)[b];
        *(float *)a->out = root ? sqrtf(sum) : sum;
    }
}

#define FUNCTION PASTE(gpi_vector_cpu_, GPI_ISA_SUFFIX)
gp_status FUNCTION(gp_context *ctx, const struct gpi_vector_args *a);

gp_status FUNCTION(gp_context *ctx, const struct gpi_vector_args *a)
{
    struct job job = {a, a->n};
    const bool sum = a->kind <= GPI_VECTOR_NORM;
    const size_t blocks = (size_t)((a->n + GPI_VECTOR_BLOCK_CPU - 1) / GPI_VECTOR_BLOCK_CPU);
    gpi_parallel_for(gpi_threads_for(ctx->threads, a->n / 2), blocks, sum ? sum_block : map_block,
                     &job);
    if (sum)
        total(a, blocks);
    return GP_OK;
}
