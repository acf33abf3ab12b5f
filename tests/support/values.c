/* SPDX-License-Identifier: MIT */
/* Elements of every dtype: conversions, random inputs, sizes. */
#include "gp_test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const gp_dtype t_dtypes[] = {
#define DTYPE(name, number, bytes, text) GP_##name,
    GP_DTYPE_MAP(DTYPE)
#undef DTYPE
};
const gp_op t_ops[] = {
#define OP(name, number, scalars, text) GP_##name,
    GP_OP_MAP(OP)
#undef OP
};

#define AROUND(n) (n) - 1, (n), (n) + 1
const size_t t_sizes[] = {0, 1, 2, 3, 4, 5, 6, AROUND(8), AROUND(16), AROUND(32), AROUND(64), 96,
                          AROUND(128), AROUND(256), AROUND(384), AROUND(512), 1000, AROUND(1024),
                          AROUND(1536), AROUND(2048), AROUND(3072), AROUND(4096), AROUND(6144),
                          AROUND(8192), 10000, AROUND(12288), AROUND(16384), AROUND(24576),
                          AROUND(32768), AROUND(65536), 100003, AROUND(131072),
                          /* from here on not "small" */
                          AROUND(262144), AROUND(524288), AROUND(1048576), AROUND(2097152)};
_Static_assert(sizeof t_sizes / sizeof t_sizes[0] == T_SIZE_COUNT, "adapt T_SIZE_COUNT");

/* ---- halves ---------------------------------------------------------------------------------- */

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float t_f16_to_f32(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = half >> 10 & 31u;
    uint32_t fraction = half & 0x3ffu;
    if (exponent == 31)
        return float_of(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0)
        return (sign ? -1.0f : 1.0f) * ldexpf((float)fraction, -24);
    return float_of(sign | (exponent + 112) << 23 | fraction << 13);
}

uint16_t t_f32_to_f16(float value)
{
    uint32_t bits = bits_of(value);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    double size = fabs((double)value);
    if (isnan(value))
        return (uint16_t)(sign | 0x7e00u | (bits >> 13 & 0x3ffu));
    if (size >= 65520.0) /* halfway between the largest half and the next step */
        return (uint16_t)(sign | 0x7c00u);
    if (size < 0x1p-14) /* the step of denormals is 2^-24; 1024 steps are the smallest normal */
        return (uint16_t)(sign | (uint16_t)nearbyint(size * 0x1p24));
    int exponent = (int)(bits >> 23 & 255u) - 127;
    uint32_t steps = (uint32_t)nearbyint(ldexp(size, 10 - exponent)); /* 1024 to 2048 */
    return (uint16_t)(sign | (((uint32_t)(exponent + 14) << 10) + steps));
}

float t_bf16_to_f32(uint16_t half)
{
    return float_of((uint32_t)half << 16);
}

uint16_t t_f32_to_bf16(float value)
{
    uint32_t bits = bits_of(value);
    if (isnan(value))
        return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* ---- elements -------------------------------------------------------------------------------- */

bool t_is_float(gp_dtype dtype)
{
    return dtype == GP_F16 || dtype == GP_BF16 || dtype == GP_F32 || dtype == GP_F64;
}

bool t_is_signed(gp_dtype dtype)
{
    return dtype == GP_I8 || dtype == GP_I16 || dtype == GP_I32 || dtype == GP_I64;
}

double t_epsilon(gp_dtype dtype)
{
    if (dtype == GP_F16)
        return 0x1p-11;
    if (dtype == GP_BF16)
        return 0x1p-8;
    if (dtype == GP_F32)
        return 0x1p-24;
    return dtype == GP_F64 ? 0x1p-53 : 0;
}

double t_value(gp_dtype dtype, const void *array, size_t i)
{
    switch (dtype) {
    case GP_I8:
        return ((const int8_t *)array)[i];
    case GP_U8:
        return ((const uint8_t *)array)[i];
    case GP_I16:
        return ((const int16_t *)array)[i];
    case GP_U16:
        return ((const uint16_t *)array)[i];
    case GP_I32:
        return ((const int32_t *)array)[i];
    case GP_U32:
        return ((const uint32_t *)array)[i];
    case GP_I64:
        return (double)((const int64_t *)array)[i];
    case GP_U64:
        return (double)((const uint64_t *)array)[i];
    case GP_F16:
        return (double)t_f16_to_f32(((const uint16_t *)array)[i]);
    case GP_BF16:
        return (double)t_bf16_to_f32(((const uint16_t *)array)[i]);
    case GP_F32:
        return (double)((const float *)array)[i];
    case GP_F64:
        return ((const double *)array)[i];
    }
    return NAN;
}

void t_set(gp_dtype dtype, void *array, size_t i, double value)
{
    uint64_t bits = 0;
    if (dtype == GP_F64)
        ((double *)array)[i] = value;
    else if (dtype == GP_F32)
        ((float *)array)[i] = (float)value;
    else if (dtype == GP_F16)
        ((uint16_t *)array)[i] = t_f32_to_f16((float)value);
    else if (dtype == GP_BF16)
        ((uint16_t *)array)[i] = t_f32_to_bf16((float)value);
    else {
        size_t bytes = gp_dtype_bytes(dtype);
        bits = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
        memcpy((char *)array + i * bytes, &bits, bytes); /* little-endian */
    }
}

/* ---- random ---------------------------------------------------------------------------------- */

uint64_t t_seed(void)
{
    const char *text = getenv("GP_TEST_SEED");
    return text && *text ? strtoull(text, NULL, 0) : 20240229u;
}

uint64_t t_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

size_t t_at_most(size_t n)
{
    const char *items = getenv("GP_TEST_ITEMS");
    size_t most = items ? strtoul(items, NULL, 10) : 0;
    return most > 0 && most < n ? most : n;
}

size_t t_step(size_t step)
{
    const char *text = getenv("GP_TEST_STEP");
    size_t least = text ? strtoul(text, NULL, 10) : 0;
    return least > step ? least : step;
}

uint64_t t_random_below(uint64_t *state, uint64_t bound)
{
    return t_random(state) % bound;
}

void t_fill_bits(gp_dtype dtype, void *host, size_t n, uint64_t *state)
{
    char *p = host;
    size_t bytes = n * gp_dtype_bytes(dtype);
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t bits = t_random(state);
        memcpy(p + i, &bits, bytes - i < 8 ? bytes - i : 8);
    }
}

void t_fill_random(gp_dtype dtype, void *host, size_t n, uint64_t *state)
{
    if (!t_is_float(dtype)) {
        t_fill_bits(dtype, host, n, state);
        return;
    }
    for (size_t i = 0; i < n; i++)
        t_set(dtype, host, i, (double)(int64_t)t_random(state) * 0x1p-63);
}

/* exponent, fraction: bits of the dtype. */
static uint64_t special_float(unsigned exponent, unsigned fraction, uint64_t random)
{
    uint64_t inf = (((uint64_t)1 << exponent) - 1) << fraction,
             quiet = (uint64_t)1 << (fraction - 1);
    uint64_t one = (((uint64_t)1 << (exponent - 1)) - 1) << fraction;
    const uint64_t magnitudes[] = {0,
                                   0,
                                   1,                             /* the least denormal */
                                   ((uint64_t)1 << fraction) - 1, /* the greatest */
                                   (uint64_t)1 << fraction,       /* the least normal */
                                   one,
                                   one + 1,
                                   inf - 1,
                                   inf,
                                   inf | quiet,
                                   inf | quiet | (random >> 16 & (quiet - 1)), /* a payload */
                                   inf | 1 | (random >> 16 & (quiet - 1))};    /* signalling */
    uint64_t magnitude = magnitudes[random % (sizeof magnitudes / sizeof magnitudes[0])];
    return (random >> 8 & 1) << (exponent + fraction) | magnitude;
}

static uint64_t special_integer(unsigned bits, uint64_t random)
{
    uint64_t sign = (uint64_t)1 << (bits - 1);
    const uint64_t values[] = {0, 1, ~(uint64_t)0, sign, sign - 1, sign + 1, ~(uint64_t)1};
    return values[random % (sizeof values / sizeof values[0])];
}

void t_fill_special(gp_dtype dtype, void *host, size_t n, uint64_t *state)
{
    size_t bytes = gp_dtype_bytes(dtype);
    for (size_t i = 0; i < n; i++) {
        uint64_t random = t_random(state), value;
        if (dtype == GP_F16)
            value = special_float(5, 10, random);
        else if (dtype == GP_BF16)
            value = special_float(8, 7, random);
        else if (dtype == GP_F32)
            value = special_float(8, 23, random);
        else if (dtype == GP_F64)
            value = special_float(11, 52, random);
        else
            value = special_integer(8 * (unsigned)bytes, random);
        memcpy((char *)host + i * bytes, &value, bytes); /* little-endian */
    }
}

void t_fill_small(gp_dtype dtype, void *host, size_t n, uint64_t range, uint64_t *state)
{
    for (size_t i = 0; i < n; i++)
        t_set(dtype, host, i, (double)t_random_below(state, range));
}
