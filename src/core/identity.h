/* SPDX-License-Identifier: MIT */
/* What is neutral to an operator on scalars, as numbers of the host; by its kind in operators.h. */
#ifndef GPI_IDENTITY_H
#define GPI_IDENTITY_H

#include <math.h>
#include <stdbool.h>

#include <gp/core.h>

#include "core/operators.h"

enum gpi_neutral {
    GPI_NEUTRAL_NOTHING,
    GPI_NEUTRAL_ZERO,
    GPI_NEUTRAL_ONE,
    GPI_NEUTRAL_ONES,
    GPI_NEUTRAL_GREATEST,
    GPI_NEUTRAL_LEAST
};

static inline enum gpi_neutral gpi_neutral_of(gp_op op)
{
    switch (op) {
#define NEUTRAL_CASE(NAME, Name, class, neutral, result)                                           \
    case GP_##NAME:                                                                                \
        return GPI_NEUTRAL_##neutral;
        GPI_SCALAR_OPERATORS(NEUTRAL_CASE)
#undef NEUTRAL_CASE
    default:
        __builtin_unreachable();
    }
}

/* Of integers of `bits` bits; the rest of the word is 0. */
static inline uint64_t gpi_integer_identity(gp_op op, int bits, bool is_signed)
{
    const uint64_t ones = ~(uint64_t)0 >> (64 - bits), sign = is_signed ? ones ^ ones >> 1 : 0;
    switch (gpi_neutral_of(op)) {
    case GPI_NEUTRAL_ONE:
        return 1;
    case GPI_NEUTRAL_ONES:
        return ones;
    case GPI_NEUTRAL_GREATEST:
        return ones ^ sign;
    case GPI_NEUTRAL_LEAST:
        return sign;
    default:
        return 0;
    }
}

/* Exact as a float; there are no bits to fill. */
static inline double gpi_float_identity(gp_op op)
{
    switch (gpi_neutral_of(op)) {
    case GPI_NEUTRAL_ONE:
        return 1;
    case GPI_NEUTRAL_GREATEST:
        return NAN;
    case GPI_NEUTRAL_LEAST:
        return -INFINITY;
    default:
        return -0.0;
    }
}

#endif
