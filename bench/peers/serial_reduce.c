/* SPDX-License-Identifier: MIT */
/* Reductions by the plain loop of one thread. */
#include "../bench.h"

#define SUM(name, type)                                                                            \
    static int name(struct bench *b, const struct bench_args *a)                                   \
    {                                                                                              \
        const type *in = (const type *)a->in;                                                      \
        type sum = 0;                                                                              \
        (void)b;                                                                                   \
        for (size_t i = 0; i < a->n; i++)                                                          \
            sum = (type)(sum + in[i]);                                                             \
        *(type *)a->out = sum;                                                                     \
        return BENCH_OK;                                                                           \
    }

SUM(sum_8, uint8_t)
SUM(sum_16, uint16_t)
SUM(sum_32, uint32_t)
SUM(sum_64, uint64_t)
SUM(sum_f32, float)
SUM(sum_f64, double)

#define MAX(name, type)                                                                            \
    static int name(struct bench *b, const struct bench_args *a)                                   \
    {                                                                                              \
        const type *in = (const type *)a->in;                                                      \
        type max = in[0];                                                                          \
        (void)b;                                                                                   \
        for (size_t i = 1; i < a->n; i++)                                                          \
            max = in[i] > max ? in[i] : max;                                                       \
        *(type *)a->out = max;                                                                     \
        return BENCH_OK;                                                                           \
    }

MAX(max_i32, int32_t)
MAX(max_f32, float)

#define ARGMIN(name, type)                                                                         \
    static int name(struct bench *b, const struct bench_args *a)                                   \
    {                                                                                              \
        const type *in = (const type *)a->in;                                                      \
        size_t best = 0;                                                                           \
        (void)b;                                                                                   \
        for (size_t i = 1; i < a->n; i++)                                                          \
            if (in[i] < in[best])                                                                  \
                best = i;                                                                          \
        *(type *)a->out = in[best];                                                                \
        *a->count = best;                                                                          \
        return BENCH_OK;                                                                           \
    }

ARGMIN(argmin_i32, int32_t)
ARGMIN(argmin_f32, float)

const struct bench_peer bench_serial_reduce_peers[] = {
    {"serial", "reduce", "reduce_sum", GP_I8, NULL, sum_8, false},
    {"serial", "reduce", "reduce_sum", GP_I16, NULL, sum_16, false},
    {"serial", "reduce", "reduce_sum", GP_I32, NULL, sum_32, false},
    {"serial", "reduce", "reduce_sum", GP_I64, NULL, sum_64, false},
    {"serial", "reduce", "reduce_sum", GP_F32, NULL, sum_f32, false},
    {"serial", "reduce", "reduce_sum", GP_F64, NULL, sum_f64, false},
    {"serial", "reduce", "unaligned_sum", GP_I32, NULL, sum_32, false},
    {"serial", "reduce", "reduce_max", GP_I32, NULL, max_i32, false},
    {"serial", "reduce", "reduce_max", GP_F32, NULL, max_f32, false},
    {"serial", "reduce", "argmin", GP_I32, NULL, argmin_i32, false},
    {"serial", "reduce", "argmin", GP_F32, NULL, argmin_f32, false},
    {NULL, NULL, NULL, (gp_dtype)0, NULL, NULL, false},
};
