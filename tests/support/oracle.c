/* SPDX-License-Identifier: MIT */
#include "oracle.h"

#include <math.h>
#include <string.h>

const gp_dtype t_widening[][2] = {
    {GP_I8, GP_I32},  {GP_I8, GP_I64},   {GP_I16, GP_I32}, {GP_I16, GP_I64}, {GP_I32, GP_I64},
    {GP_U8, GP_U32},  {GP_U8, GP_U64},   {GP_U16, GP_U32}, {GP_U16, GP_U64}, {GP_U32, GP_U64},
    {GP_F16, GP_F32}, {GP_BF16, GP_F32}, {GP_F32, GP_F64}};
_Static_assert(sizeof t_widening / sizeof t_widening[0] == T_WIDENING_COUNT, "adapt the count");

/* ---- operators ------------------------------------------------------------------------------- */

static uint64_t read_integer(gp_dtype dtype, const void *p)
{
    uint64_t bits = 0;
    size_t bytes = gp_dtype_bytes(dtype);
    memcpy(&bits, p, bytes);
    if (t_is_signed(dtype) && bits >> (8 * bytes - 1) & 1)
        bits |= ~(uint64_t)0 << (8 * bytes - 1);
    return bits;
}

/* Keeps the low bytes, so integers wrap. */
static void write_integer(gp_dtype dtype, uint64_t value, void *p)
{
    memcpy(p, &value, gp_dtype_bytes(dtype));
}

static bool integer_less(gp_dtype dtype, uint64_t a, uint64_t b)
{
    return t_is_signed(dtype) ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t integer_apply(gp_op op, gp_dtype dtype, uint64_t l, uint64_t r)
{
    switch (op) {
    case GP_SUM:
        return l + r;
    case GP_PRODUCT:
        return l * r;
    case GP_MIN:
        return integer_less(dtype, r, l) ? r : l;
    case GP_MAX:
        return integer_less(dtype, l, r) ? r : l;
    case GP_AND:
        return l & r;
    case GP_OR:
        return l | r;
    case GP_XOR:
        return l ^ r;
    default:
        ck_abort_msg("no such operator");
        return 0;
    }
}

/* -inf .. -0 = +0 .. +inf < NaN */
static bool float_less(double a, double b)
{
    if (isnan(a))
        return false;
    return isnan(b) || a < b;
}

static double float_apply(gp_op op, double l, double r)
{
    if (op == GP_SUM)
        return l + r;
    if (op == GP_PRODUCT)
        return l * r;
    if (op == GP_MIN)
        return float_less(r, l) ? r : l;
    if (op != GP_MAX)
        ck_abort_msg("no such operator");
    return float_less(l, r) ? r : l;
}

static void pair_apply(gp_op op, gp_dtype dtype, const void *left, const void *right, void *result)
{
    double l[4], r[4], v[4];
    size_t scalars = gp_op_scalars(op);
    for (size_t k = 0; k < scalars; k++) {
        l[k] = t_value(dtype, left, k);
        r[k] = t_value(dtype, right, k);
    }
    if (op == GP_AFFINE) {
        v[0] = r[0] * l[0];
        v[1] = r[0] * l[1] + r[1];
    } else {
        ck_assert_int_eq(op, GP_MAT2);
        v[0] = l[0] * r[0] + l[1] * r[2];
        v[1] = l[0] * r[1] + l[1] * r[3];
        v[2] = l[2] * r[0] + l[3] * r[2];
        v[3] = l[2] * r[1] + l[3] * r[3];
    }
    for (size_t k = 0; k < scalars; k++)
        t_set(dtype, result, k, v[k]);
}

void oracle_apply(gp_op op, gp_dtype dtype, const void *left, const void *right, void *result)
{
    if (gp_op_scalars(op) > 1)
        pair_apply(op, dtype, left, right, result);
    else if (t_is_float(dtype))
        t_set(dtype, result, 0, float_apply(op, t_value(dtype, left, 0), t_value(dtype, right, 0)));
    else
        write_integer(
            dtype, integer_apply(op, dtype, read_integer(dtype, left), read_integer(dtype, right)),
            result);
}

static uint64_t lowest_integer(gp_dtype dtype)
{
    return t_is_signed(dtype) ? (uint64_t)1 << (8 * gp_dtype_bytes(dtype) - 1) : 0;
}

void oracle_identity(gp_op op, gp_dtype dtype, void *item)
{
    static const double affine[] = {1, 0}, mat2[] = {1, 0, 0, 1};
    bool is_float = t_is_float(dtype);
    uint64_t lowest = is_float ? 0 : lowest_integer(dtype);
    double value = op == GP_PRODUCT ? 1 : op == GP_MIN ? NAN : op == GP_MAX ? -INFINITY : 0;
    uint64_t bits = op == GP_PRODUCT ? 1
                    : op == GP_MIN   ? ~lowest
                    : op == GP_MAX   ? lowest
                    : op == GP_AND   ? ~(uint64_t)0
                                     : 0;
    if (gp_op_scalars(op) > 1)
        for (size_t k = 0; k < gp_op_scalars(op); k++)
            t_set(dtype, item, k, op == GP_AFFINE ? affine[k] : mat2[k]);
    else if (is_float)
        t_set(dtype, item, 0, value);
    else
        write_integer(dtype, bits, item);
}

bool t_op_allowed(gp_dtype dtype, gp_op op)
{
    if (op == GP_AND || op == GP_OR || op == GP_XOR)
        return !t_is_float(dtype);
    return op != GP_AFFINE && op != GP_MAT2 ? true : dtype == GP_F32 || dtype == GP_F64;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* The symmetries of a square: they do not commute, and products are exact. */
static void symmetry(uint64_t random, double m[4])
{
    double a = random & 1 ? 1 : -1, b = random & 2 ? 1 : -1;
    bool swap = random & 4;
    m[0] = swap ? 0 : a;
    m[1] = swap ? a : 0;
    m[2] = swap ? b : 0;
    m[3] = swap ? 0 : b;
}

static void float_input(gp_dtype dtype, gp_op op, size_t i, uint64_t random, void *item)
{
    double sign = random & 1 ? 1 : -1, small = (double)((random >> 8) % 7) - 3;
    double m[4];
    /* 2 and 1/2 take turns, so no stretch has a product beyond 2 */
    double factor = i % 6 == 1 ? 2 : i % 6 == 4 ? 0.5 : 1;
    if (op == GP_AFFINE) {
        t_set(dtype, item, 0, sign);
        t_set(dtype, item, 1, small);
    } else if (op == GP_MAT2) {
        symmetry(random, m);
        for (size_t k = 0; k < 4; k++)
            t_set(dtype, item, k, m[k]);
    } else if (op == GP_PRODUCT) {
        t_set(dtype, item, 0, sign * factor);
    } else if (op == GP_SUM) {
        t_set(dtype, item, 0, small);
    } else {
        t_set(dtype, item, 0, (double)(int64_t)random * 0x1p-50);
    }
}

static uint64_t integer_input(gp_dtype dtype, gp_op op, size_t n, uint64_t random)
{
    unsigned bits = (unsigned)gp_dtype_bytes(dtype) * 8;
    uint64_t rare = random >> 8 & 0xffffff;
    uint64_t bit = rare * (n / bits + 1) < (uint64_t)1 << 24 ? (uint64_t)1 << random % bits : 0;
    if (op == GP_PRODUCT)
        return random | 1;
    if (op == GP_AND)
        return ~bit;
    return op == GP_OR ? bit : random;
}

void *oracle_scan_input(gp_dtype dtype, gp_op op, size_t n, uint64_t *state)
{
    size_t item = gp_dtype_bytes(dtype) * gp_op_scalars(op);
    char *host = t_host(n * item);
    for (size_t i = 0; i < n; i++) {
        uint64_t random = t_random(state);
        if (t_is_float(dtype))
            float_input(dtype, op, i, random, host + i * item);
        else
            write_integer(dtype, integer_input(dtype, op, n, random), host + i * item);
    }
    return host;
}

/* ---- scan ------------------------------------------------------------------------------------ */

gp_scan_desc t_scan_desc(gp_scan_kind kind, gp_dtype in, gp_dtype out, gp_op op)
{
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    desc.kind = kind;
    desc.in_dtype = in;
    desc.out_dtype = out;
    desc.op = op;
    return desc;
}

static gp_dtype out_dtype(const gp_scan_desc *desc)
{
    return desc->out_dtype ? desc->out_dtype : desc->in_dtype;
}

/* The accumulator: the output's dtype, but float for the halves. */
static gp_dtype accumulator(gp_dtype out)
{
    return out == GP_F16 || out == GP_BF16 ? GP_F32 : out;
}

static void convert(gp_dtype from, const void *source, gp_dtype to, void *item)
{
    if (from == to)
        memmove(item, source, gp_dtype_bytes(to));
    else if (t_is_float(from))
        t_set(to, item, 0, t_value(from, source, 0));
    else
        write_integer(to, read_integer(from, source), item);
}

static void convert_item(gp_dtype from, const void *source, gp_dtype to, size_t scalars, void *item)
{
    for (size_t k = 0; k < scalars; k++)
        convert(from, (const char *)source + k * gp_dtype_bytes(from), to,
                (char *)item + k * gp_dtype_bytes(to));
}

void *oracle_scan(const gp_scan_desc *desc, const void *in, size_t n)
{
    gp_dtype from = desc->in_dtype, to = out_dtype(desc), acc = accumulator(to);
    size_t scalars = gp_op_scalars(desc->op), in_item = scalars * gp_dtype_bytes(from);
    size_t out_item = scalars * gp_dtype_bytes(to);
    char *out = t_host((n + 1) * out_item);
    double carry[4], item[4];
    if (desc->init)
        convert_item(to, desc->init, acc, scalars, carry);
    else
        oracle_identity(desc->op, acc, carry);
    for (size_t i = 0; i < n; i++) {
        if (desc->kind != GP_SCAN_INCLUSIVE)
            convert_item(acc, carry, to, scalars, out + i * out_item);
        convert_item(from, (const char *)in + i * in_item, acc, scalars, item);
        oracle_apply(desc->op, acc, carry, item, carry);
        if (desc->kind == GP_SCAN_INCLUSIVE)
            convert_item(acc, carry, to, scalars, out + i * out_item);
    }
    if (desc->kind == GP_SCAN_ROW_POINTERS)
        convert_item(acc, carry, to, scalars, out + n * out_item);
    return out;
}
