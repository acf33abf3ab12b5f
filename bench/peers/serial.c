/* SPDX-License-Identifier: MIT */
/* The plain loops of one thread: what a program has without any library, and the reference on the
 * CPU. */
#include "../bench.h"

/* One loop per type: the accumulator wraps as the type does. */
#define SCAN(name, type, sum_type)                                                                 \
    static int name##_inclusive(struct bench *b, const struct bench_args *a)                       \
    {                                                                                              \
        const type *in = (const type *)a->in;                                                      \
        type *out = (type *)a->out;                                                                \
        sum_type sum = 0;                                                                          \
        (void)b;                                                                                   \
        for (size_t i = 0; i < a->n; i++)                                                          \
            out[i] = (type)(sum = (sum_type)(sum + in[i]));                                        \
        return BENCH_OK;                                                                           \
    }

SCAN(scan_8, uint8_t, uint8_t)
SCAN(scan_16, uint16_t, uint16_t)
SCAN(scan_32, uint32_t, uint32_t)
SCAN(scan_64, uint64_t, uint64_t)
SCAN(scan_f32, float, float)
SCAN(scan_f64, double, double)

static int scan_32_exclusive(struct bench *b, const struct bench_args *a)
{
    const uint32_t *in = a->in;
    uint32_t *out = a->out, sum = 0;
    (void)b;
    for (size_t i = 0; i < a->n; i++) {
        out[i] = sum;
        sum += in[i];
    }
    return BENCH_OK;
}

const struct bench_peer bench_serial_peers[] = {
    {"serial", "scan", "inclusive_sum", GP_I8, NULL, scan_8_inclusive, false},
    {"serial", "scan", "inclusive_sum", GP_I16, NULL, scan_16_inclusive, false},
    {"serial", "scan", "inclusive_sum", GP_I32, NULL, scan_32_inclusive, false},
    {"serial", "scan", "inclusive_sum", GP_I64, NULL, scan_64_inclusive, false},
    {"serial", "scan", "inclusive_sum", GP_F32, NULL, scan_f32_inclusive, false},
    {"serial", "scan", "inclusive_sum", GP_F64, NULL, scan_f64_inclusive, false},
    {"serial", "scan", "exclusive_sum", GP_I32, NULL, scan_32_exclusive, false},
    {NULL, NULL, NULL, (gp_dtype)0, NULL, NULL, false},
};
