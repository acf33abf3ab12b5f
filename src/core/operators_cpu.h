/* SPDX-License-Identifier: MIT */
/*
 * The operators of one unit of the CPU backend, whose code is compiled per type. Defined before:
 * GPI_SCALARS of an item; of one scalar also GPI_FLOATS, whether it is a float; acc_t.
 *
 * GPI_EACH_OPERATOR is CASE(NAME) for each operator of the unit; CASE is the user's.
 */
#ifndef GPI_OPERATORS_CPU_H
#define GPI_OPERATORS_CPU_H

#include <gp/core.h>

#include "core/identity.h"
#include "core/operators.h"

#define UNUSED __attribute__((unused))

#if GPI_SCALARS > 1

#define GPI_SCALARS_ARE_2(...)
#define GPI_SCALARS_ARE_4(...)
#if GPI_SCALARS == 2
#undef GPI_SCALARS_ARE_2
#define GPI_SCALARS_ARE_2(...) __VA_ARGS__
#else
#undef GPI_SCALARS_ARE_4
#define GPI_SCALARS_ARE_4(...) __VA_ARGS__
#endif

#define GPI_OPERATOR_CASE(NAME, Name, scalars, neutral, ...) GPI_SCALARS_ARE_##scalars(CASE(NAME))
#define GPI_EACH_OPERATOR GPI_PAIR_OPERATORS(GPI_OPERATOR_CASE)

static inline acc_t identity(gp_op op)
{
    switch (op) {
#define NEUTRAL(NAME, Name, scalars, neutral, ...)                                                 \
    GPI_SCALARS_ARE_##scalars(case GP_##NAME : return (acc_t){{GPI_WITHOUT_PARENTHESES neutral}};)
        GPI_PAIR_OPERATORS(NEUTRAL)
#undef NEUTRAL
    default:
        __builtin_unreachable();
    }
}

/* The body of a function of (gp_op op, T l, T r), whose scalars, or vectors of them, are l.v[i]. */
#define GPI_L(i) l.v[i]
#define GPI_R(i) r.v[i]
#define GPI_DOT(a, b, c, d) ((a) * (b) + (c) * (d))
#define GPI_RETURN_PAIR_RESULT(T)                                                                  \
    typedef T result_type;                                                                         \
    switch (op) {                                                                                  \
        GPI_PAIR_OPERATORS(GPI_PAIR_RESULT_CASE)                                                   \
    default:                                                                                       \
        __builtin_unreachable();                                                                   \
    }
#define GPI_PAIR_RESULT_CASE(NAME, Name, scalars, neutral, ...)                                    \
    GPI_SCALARS_ARE_##scalars(case GP_##NAME : return (result_type){{__VA_ARGS__}};)

static inline acc_t apply(gp_op op, acc_t l, acc_t r)
{
    GPI_RETURN_PAIR_RESULT(acc_t)
}

#else

#if GPI_FLOATS
#define GPI_UNIT_OPERATORS GPI_FLOAT_OPERATORS
#else
#define GPI_UNIT_OPERATORS GPI_SCALAR_OPERATORS
#endif

#define GPI_OPERATOR_CASE(NAME, Name, class, neutral, result) CASE(NAME)
#define GPI_EACH_OPERATOR GPI_UNIT_OPERATORS(GPI_OPERATOR_CASE)

/* The body of a function of (gp_op op, T left, T right). There are types as_ARITHMETIC, as_BITS and
 * as_ORDER, which operators of a class are computed in, and GPI_LESS and GPI_CHOOSE of as_ORDER. */
#define GPI_RETURN_RESULT(T)                                                                       \
    typedef T result_type;                                                                         \
    switch (op) {                                                                                  \
        GPI_UNIT_OPERATORS(GPI_RESULT_CASE)                                                        \
    default:                                                                                       \
        __builtin_unreachable();                                                                   \
    }
#define GPI_RESULT_CASE(NAME, Name, class, neutral, result)                                        \
    case GP_##NAME: {                                                                              \
        const as_##class l = (as_##class)left, r = (as_##class)right;                              \
        return (result_type)(result);                                                              \
    }

#endif
#endif
