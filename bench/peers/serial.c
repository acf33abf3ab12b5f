/* SPDX-License-Identifier: MIT */
/* The plain loops of one thread: what a program has without any library,
 * and the references on the CPU. */
#include "../bench.h"

#include <string.h>

/* One loop per type: sums wrap as the type does. */
#define SCAN(name, type)                                                                           \
    static int name(struct bench *b, const struct bench_args *a)                                   \
    {                                                                                              \
        const type *in = (const type *)a->in;                                                      \
        type *out = (type *)a->out;                                                                \
        type sum = 0;                                                                              \
        (void)b;                                                                                   \
        for (size_t i = 0; i < a->n; i++)                                                          \
            out[i] = sum = (type)(sum + in[i]);                                                    \
        return BENCH_OK;                                                                           \
    }

SCAN(scan_8, uint8_t)
SCAN(scan_16, uint16_t)
SCAN(scan_32, uint32_t)
SCAN(scan_64, uint64_t)
SCAN(scan_f32, float)
SCAN(scan_f64, double)

#define SCAN_BACKWARD(name, type)                                                                  \
    static int name(struct bench *b, const struct bench_args *a)                                   \
    {                                                                                              \
        const type *in = (const type *)a->in;                                                      \
        type *out = (type *)a->out;                                                                \
        type sum = 0;                                                                              \
        (void)b;                                                                                   \
        for (size_t i = a->n; i-- > 0;)                                                            \
            out[i] = sum = (type)(sum + in[i]);                                                    \
        return BENCH_OK;                                                                           \
    }

SCAN_BACKWARD(scan_32_backward, uint32_t)
SCAN_BACKWARD(scan_f32_backward, float)
SCAN_BACKWARD(scan_f64_backward, double)

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

static int scan_max(struct bench *b, const struct bench_args *a)
{
    const int32_t *in = a->in;
    int32_t *out = a->out, max = INT32_MIN;
    (void)b;
    for (size_t i = 0; i < a->n; i++)
        out[i] = max = in[i] > max ? in[i] : max;
    return BENCH_OK;
}

/* Sums that begin anew at another key. */
static int scan_by_key(struct bench *b, const struct bench_args *a)
{
    const uint32_t *in = a->in, *keys = a->rows;
    uint32_t *out = a->out, sum = 0;
    (void)b;
    for (size_t i = 0; i < a->n; i++)
        out[i] = sum = i > 0 && keys[i] == keys[i - 1] ? sum + in[i] : in[i];
    return BENCH_OK;
}

static int compact_flags(struct bench *b, const struct bench_args *a)
{
    const uint32_t *in = a->in;
    const uint8_t *flags = a->flags;
    uint32_t *out = a->out;
    size_t count = 0;
    (void)b;
    for (size_t i = 0; i < a->n; i++)
        if (flags[i])
            out[count++] = in[i];
    *a->count = count;
    return BENCH_OK;
}

static int compact_if(struct bench *b, const struct bench_args *a)
{
    const uint32_t *in = a->in, bound = (uint32_t)a->bound;
    uint32_t *out = a->out;
    size_t count = 0;
    (void)b;
    for (size_t i = 0; i < a->n; i++)
        if (in[i] < bound)
            out[count++] = in[i];
    *a->count = count;
    return BENCH_OK;
}

static int compact_records(struct bench *b, const struct bench_args *a)
{
    const char *in = a->in;
    const uint8_t *flags = a->flags;
    char *out = a->out;
    size_t count = 0;
    (void)b;
    for (size_t i = 0; i < a->n; i++)
        if (flags[i])
            memcpy(out + 12 * count++, in + 12 * i, 12);
    *a->count = count;
    return BENCH_OK;
}

static int compact_indices(struct bench *b, const struct bench_args *a)
{
    const uint8_t *flags = a->flags;
    uint32_t *out = a->out;
    size_t count = 0;
    (void)b;
    for (size_t i = 0; i < a->n; i++)
        if (flags[i])
            out[count++] = (uint32_t)i;
    *a->count = count;
    return BENCH_OK;
}

static int shift_of(uint64_t bound, size_t bins)
{
    int shift = 0;
    while ((uint64_t)bins << shift < bound)
        shift++;
    return shift;
}

/* Bins that are a power of two wide need a shift only. */
static int histogram_even(struct bench *b, const struct bench_args *a)
{
    const uint32_t *in = a->in;
    uint32_t *counts = a->out;
    int shift = shift_of(a->bound, a->bins);
    (void)b;
    memset(counts, 0, a->bins * sizeof *counts);
    if ((uint64_t)a->bins << shift == a->bound)
        for (size_t i = 0; i < a->n; i++)
            counts[in[i] >> shift]++;
    else
        for (size_t i = 0; i < a->n; i++)
            counts[(uint64_t)in[i] * a->bins / a->bound]++;
    return BENCH_OK;
}

static int bincount_8(struct bench *b, const struct bench_args *a)
{
    const uint8_t *in = a->in;
    uint32_t *counts = a->out;
    (void)b;
    memset(counts, 0, a->bins * sizeof *counts);
    for (size_t i = 0; i < a->n; i++)
        counts[in[i]]++;
    return BENCH_OK;
}

static int search(struct bench *b, const struct bench_args *a)
{
    const uint32_t *offsets = a->offsets;
    uint32_t *out = a->out;
    (void)b;
    for (size_t s = 0; s < a->num_rows; s++)
        for (size_t i = offsets[s]; i < offsets[s + 1]; i++)
            out[i] = (uint32_t)s;
    return BENCH_OK;
}

const struct bench_peer bench_serial_peers[] = {
    {"serial", "scan", "inclusive_sum", GP_I8, NULL, scan_8, false},
    {"serial", "scan", "inclusive_sum", GP_I16, NULL, scan_16, false},
    {"serial", "scan", "inclusive_sum", GP_I32, NULL, scan_32, false},
    {"serial", "scan", "inclusive_sum", GP_I64, NULL, scan_64, false},
    {"serial", "scan", "inclusive_sum", GP_F32, NULL, scan_f32, false},
    {"serial", "scan", "inclusive_sum", GP_F64, NULL, scan_f64, false},
    {"serial", "scan", "unaligned_sum", GP_I32, NULL, scan_32, false},
    {"serial", "scan", "algorithms", GP_I32, NULL, scan_32, false},
    {"serial", "ladder", "inclusive_sum", GP_I32, NULL, scan_32, false},
    {"serial", "reduce", "backward_sum", GP_I32, NULL, scan_32_backward, false},
    {"serial", "reduce", "backward_sum", GP_F32, NULL, scan_f32_backward, false},
    {"serial", "reduce", "backward_sum", GP_F64, NULL, scan_f64_backward, false},
    {"serial", "scan", "inclusive_max", GP_I32, NULL, scan_max, false},
    {"serial", "scan", "exclusive_sum", GP_I32, NULL, scan_32_exclusive, false},
    {"serial", "segments", NULL, GP_I32, NULL, scan_by_key, false},
    {"serial", "compact", "flags_10", GP_U32, NULL, compact_flags, false},
    {"serial", "compact", "flags_50", GP_U32, NULL, compact_flags, false},
    {"serial", "compact", "flags_90", GP_U32, NULL, compact_flags, false},
    {"serial", "compact", "if_50", GP_U32, NULL, compact_if, false},
    {"serial", "compact", "indices_50", GP_U32, NULL, compact_indices, false},
    {"serial", "compact", "records_12", GP_U32, NULL, compact_records, false},
    {"serial", "histogram", "bincount_256", GP_U8, NULL, bincount_8, false},
    {"serial", "histogram", NULL, GP_I32, NULL, histogram_even, false},
    {"serial", "histogram", "bincount_n", GP_U32, NULL, histogram_even, false},
    {"serial", "balance", NULL, GP_U32, NULL, search, false},
    {NULL, NULL, NULL, (gp_dtype)0, NULL, NULL, false},
};
