/* SPDX-License-Identifier: MIT */
/*
 * Inputs of every element type whose scans are exact, and the rule that ties each output of a scan
 * to the output before it: out[i] = out[i - 1] op in[i]. It holds for every item if and only if the
 * scan is right, so results of any length are checked where they lie, without a reference.
 */
#ifndef GP_BENCH_RULE_H
#define GP_BENCH_RULE_H

#include "../bench_spread.h"

/* A scan, or a reduction, for its input and its check. */
struct bench_rule {
    gp_dtype in_dtype, out_dtype;
    gp_op op;
    gp_scan_kind kind;
    bool backward;
    bool small;            /* sums of integers stay below 101 */
    size_t length;         /* of a segment; 0: one for all items */
    const uint64_t *total; /* 8 bytes, or NULL */
};

/* An item as computed: integers in the low bits of a word, floats as double; the pair operators
 * have up to four scalars. */
struct bench_item {
    union {
        uint64_t bits[4];
        double real[4];
    };
};

BENCH_INLINE bool bench_is_real(gp_dtype d)
{
    return d == GP_F16 || d == GP_BF16 || d == GP_F32 || d == GP_F64;
}

BENCH_INLINE bool bench_is_signed(gp_dtype d)
{
    return d == GP_I8 || d == GP_I16 || d == GP_I32 || d == GP_I64;
}

BENCH_INLINE unsigned bench_dtype_bytes(gp_dtype d)
{
    return d == GP_I8 || d == GP_U8                                    ? 1
           : d == GP_I16 || d == GP_U16 || d == GP_F16 || d == GP_BF16 ? 2
           : d == GP_I32 || d == GP_U32 || d == GP_F32                 ? 4
                                                                       : 8;
}

BENCH_INLINE unsigned bench_scalars(gp_op op)
{
    return op == GP_MAT2 ? 4 : op == GP_AFFINE ? 2 : 1;
}

/* Integers of up to 256, which both half precisions have, and back. */
BENCH_INLINE uint16_t bench_half_of(gp_dtype d, float value)
{
    union {
        float value;
        uint32_t bits;
    } u = {value};
    if (d == GP_BF16 || u.bits << 1 == 0)
        return (uint16_t)(u.bits >> 16);
    return (uint16_t)((u.bits >> 16 & 0x8000u) | ((u.bits >> 13 & 0x3ffffu) - (112u << 10)));
}

BENCH_INLINE double bench_real_of(gp_dtype d, uint16_t half)
{
    union {
        uint32_t bits;
        float value;
    } u = {(uint32_t)half << 16};
    if (d == GP_F16 && (half & 0x7fffu))
        u.bits =
            (uint32_t)(half & 0x8000u) << 16 | (((uint32_t)(half & 0x7fffu) << 13) + (112u << 23));
    return u.value;
}

BENCH_INLINE struct bench_item bench_item_load(const void *from, size_t i, gp_dtype d,
                                               unsigned scalars)
{
    struct bench_item item;
    for (unsigned k = 0; k < scalars; k++) {
        const size_t at = i * scalars + k;
        if (d == GP_F64)
            item.real[k] = ((const double *)from)[at];
        else if (d == GP_F32)
            item.real[k] = ((const float *)from)[at];
        else if (bench_is_real(d))
            item.real[k] = bench_real_of(d, ((const uint16_t *)from)[at]);
        else if (d == GP_I8)
            item.bits[k] = (uint64_t)((const int8_t *)from)[at];
        else if (d == GP_I16)
            item.bits[k] = (uint64_t)((const int16_t *)from)[at];
        else if (d == GP_I32)
            item.bits[k] = (uint64_t)((const int32_t *)from)[at];
        else if (d == GP_U8)
            item.bits[k] = ((const uint8_t *)from)[at];
        else if (d == GP_U16)
            item.bits[k] = ((const uint16_t *)from)[at];
        else if (d == GP_U32)
            item.bits[k] = ((const uint32_t *)from)[at];
        else
            item.bits[k] = ((const uint64_t *)from)[at];
    }
    return item;
}

BENCH_INLINE bool bench_precedes(const struct bench_rule *r, struct bench_item a,
                                 struct bench_item b)
{
    if (bench_is_real(r->in_dtype))
        return a.real[0] < b.real[0];
    if (bench_is_signed(r->in_dtype))
        return (int64_t)a.bits[0] < (int64_t)b.bits[0];
    return a.bits[0] < b.bits[0];
}

BENCH_INLINE struct bench_item bench_apply_real(gp_op op, struct bench_item l, struct bench_item r)
{
    struct bench_item item = r;
    if (op == GP_AFFINE) {
        item.real[0] = r.real[0] * l.real[0];
        item.real[1] = r.real[0] * l.real[1] + r.real[1];
    } else if (op == GP_MAT2) {
        for (int k = 0; k < 4; k++)
            item.real[k] =
                l.real[k & 2] * r.real[k & 1] + l.real[(k & 2) + 1] * r.real[(k & 1) + 2];
    } else {
        item.real[0] = op == GP_SUM ? l.real[0] + r.real[0] : l.real[0] * r.real[0];
    }
    return item;
}

BENCH_INLINE struct bench_item bench_apply(const struct bench_rule *rule, struct bench_item l,
                                           struct bench_item r)
{
    struct bench_item item = {{{0}}};
    if (rule->op == GP_MIN)
        return bench_precedes(rule, r, l) ? r : l;
    if (rule->op == GP_MAX)
        return bench_precedes(rule, l, r) ? r : l;
    if (bench_is_real(rule->out_dtype))
        return bench_apply_real(rule->op, l, r);
    item.bits[0] = rule->op == GP_SUM       ? l.bits[0] + r.bits[0]
                   : rule->op == GP_PRODUCT ? l.bits[0] * r.bits[0]
                   : rule->op == GP_AND     ? (l.bits[0] & r.bits[0])
                   : rule->op == GP_OR      ? (l.bits[0] | r.bits[0])
                                            : (l.bits[0] ^ r.bits[0]);
    return item;
}

/* Integers agree if the bits that are stored do. */
BENCH_INLINE bool bench_same(const struct bench_rule *r, struct bench_item a, struct bench_item b)
{
    const unsigned scalars = bench_scalars(r->op);
    if (!bench_is_real(r->out_dtype))
        return (a.bits[0] ^ b.bits[0]) << (64 - 8 * bench_dtype_bytes(r->out_dtype)) == 0;
    for (unsigned k = 0; k < scalars; k++)
        if (!(a.real[k] == b.real[k]))
            return false;
    return true;
}

/* ---- input ----------------------------------------------------------------------------------- */

/* Sums of floats go up and down between 0 and 1, products between -1 and 1. */
BENCH_INLINE double bench_exact_real(const struct bench_rule *r, size_t i, uint64_t hash)
{
    if (r->op == GP_MIN || r->op == GP_MAX)
        return (double)(hash % 201) - 100;
    return r->op == GP_PRODUCT ? (hash & 1 ? 1 : -1) : i % 2 ? -1 : 1;
}

BENCH_INLINE void bench_exact_store(const struct bench_rule *r, void *out, size_t i, size_t n,
                                    uint64_t hash)
{
    const double real = bench_exact_real(r, i, hash);
    const uint64_t bits = r->small ? i % (n / 100 + 1) == 0 : hash;
    if (r->in_dtype == GP_F64)
        ((double *)out)[i] = real;
    else if (r->in_dtype == GP_F32)
        ((float *)out)[i] = (float)real;
    else if (bench_is_real(r->in_dtype))
        ((uint16_t *)out)[i] = bench_half_of(r->in_dtype, (float)real);
    else if (bench_dtype_bytes(r->in_dtype) == 1)
        ((uint8_t *)out)[i] = (uint8_t)bits;
    else if (bench_dtype_bytes(r->in_dtype) == 2)
        ((uint16_t *)out)[i] = (uint16_t)bits;
    else if (bench_dtype_bytes(r->in_dtype) == 4)
        ((uint32_t *)out)[i] = (uint32_t)bits;
    else
        ((uint64_t *)out)[i] = bits;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Whether the total is what the scan of all n items leads to. */
BENCH_INLINE bool bench_total_is(const struct bench_rule *r, struct bench_item all)
{
    union {
        uint64_t bits;
        double real;
    } total = {*r->total};
    if (bench_is_real(r->out_dtype))
        return total.real == all.real[0];
    return total.bits == all.bits[0];
}

/* Step i of a scan of n items: whether its output follows from the one before. */
BENCH_INLINE bool bench_follows(const struct bench_rule *r, const void *in, const void *out,
                                size_t i, size_t n)
{
    const unsigned scalars = bench_scalars(r->op);
    const bool inclusive = r->kind == GP_SCAN_INCLUSIVE,
               first = r->length ? i % r->length == 0 : i == 0;
    const size_t at = r->backward ? n - 1 - i : i, before = r->backward ? at + 1 : at - 1;
    const struct bench_item own = bench_item_load(in, at, r->in_dtype, scalars);
    const struct bench_item result = bench_item_load(out, at, r->out_dtype, scalars);
    struct bench_item expected = {{{0}}}; /* an exclusive sum begins with 0, the bits of +0 too */
    bool right = true;
    if (first && inclusive)
        expected = own;
    else if (!first)
        expected = bench_apply(r, bench_item_load(out, before, r->out_dtype, scalars),
                               inclusive ? own : bench_item_load(in, before, r->in_dtype, scalars));
    if (i == n - 1 && !inclusive) {
        const struct bench_item all = bench_apply(r, result, own);
        if (r->kind == GP_SCAN_ROW_POINTERS)
            right = bench_same(r, all, bench_item_load(out, n, r->out_dtype, scalars));
        if (r->total)
            right = right && bench_total_is(r, all);
    }
    return right && bench_same(r, expected, result);
}

/* Item i against the one that was found, for the first of the smallest (GP_MIN) or largest. */
BENCH_INLINE bool bench_not_before(const struct bench_rule *r, const void *in, size_t i,
                                   uint64_t found)
{
    const struct bench_item own = bench_item_load(in, i, r->in_dtype, 1);
    const struct bench_item best = bench_item_load(in, found, r->in_dtype, 1);
    const bool better =
        r->op == GP_MIN ? bench_precedes(r, own, best) : bench_precedes(r, best, own);
    const bool worse =
        r->op == GP_MIN ? bench_precedes(r, best, own) : bench_precedes(r, own, best);
    return worse || (!better && i >= found);
}

#endif
