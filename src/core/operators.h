/* SPDX-License-Identifier: MIT */
/*
 * The operators: what each computes and what is neutral to it. The implementations on both backends
 * are made from these lists, so an operator without an implementation does not compile.
 */
#ifndef GPI_OPERATORS_H
#define GPI_OPERATORS_H

/*
 * Operators on one scalar: OPERATOR(NAME, Name, class, neutral, result) of GP_NAME, which is Name
 * in device code.
 *
 * neutral  NOTHING: 0, of floats -0, which alone is neutral to the last bit; ZERO; ONE; ONES: all
 *          bits; GREATEST and LEAST in gp's order, whose greatest float is NaN
 * result   an expression in l and r, of which l comes first in the sequence. Where it is used,
 *          GPI_LESS(a, b) is gp's order and GPI_CHOOSE(condition, a, b) picks one of two.
 */

/* For every dtype; of integers the same bits whether they are signed or not. */
#define GPI_ARITHMETIC_OPERATORS(OPERATOR)                                                         \
    OPERATOR(SUM, Sum, ARITHMETIC, NOTHING, (l) + (r))                                             \
    OPERATOR(PRODUCT, Product, ARITHMETIC, ONE, (l) * (r))

/* For every dtype. */
#define GPI_ORDER_OPERATORS(OPERATOR)                                                              \
    OPERATOR(MIN, Min, ORDER, GREATEST, GPI_CHOOSE(GPI_LESS(r, l), r, l))                          \
    OPERATOR(MAX, Max, ORDER, LEAST, GPI_CHOOSE(GPI_LESS(l, r), r, l))

/* For integers. */
#define GPI_BITS_OPERATORS(OPERATOR)                                                               \
    OPERATOR(AND, And, BITS, ONES, (l) & (r))                                                      \
    OPERATOR(OR, Or, BITS, ZERO, (l) | (r))                                                        \
    OPERATOR(XOR, Xor, BITS, ZERO, (l) ^ (r))

#define GPI_FLOAT_OPERATORS(OPERATOR)                                                              \
    GPI_ARITHMETIC_OPERATORS(OPERATOR)                                                             \
    GPI_ORDER_OPERATORS(OPERATOR)

#define GPI_SCALAR_OPERATORS(OPERATOR)                                                             \
    GPI_FLOAT_OPERATORS(OPERATOR)                                                                  \
    GPI_BITS_OPERATORS(OPERATOR)

/*
 * Operators on items of several floats, which do not commute: OPERATOR(NAME, Name, scalars,
 * (neutral scalars), result scalars). GPI_L(i) and GPI_R(i) are scalars of the operands, and
 * GPI_DOT(a, b, c, d) is ab + cd: where multiplications and additions are fused, always ab with the
 * addition, whatever is around it.
 */
#define GPI_PAIR_OPERATORS(OPERATOR)                                                               \
    OPERATOR(AFFINE, Compose, 2, (1, 0), GPI_R(0) * GPI_L(0), GPI_R(0) * GPI_L(1) + GPI_R(1))      \
    OPERATOR(MAT2, Multiply2x2, 4, (1, 0, 0, 1), GPI_DOT(GPI_L(0), GPI_R(0), GPI_L(1), GPI_R(2)),  \
             GPI_DOT(GPI_L(0), GPI_R(1), GPI_L(1), GPI_R(3)),                                      \
             GPI_DOT(GPI_L(2), GPI_R(0), GPI_L(3), GPI_R(2)),                                      \
             GPI_DOT(GPI_L(2), GPI_R(1), GPI_L(3), GPI_R(3)))

/* What is in parentheses. */
#define GPI_WITHOUT_PARENTHESES(...) __VA_ARGS__

#endif
