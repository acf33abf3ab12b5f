/* SPDX-License-Identifier: MIT */
#include "core/dtype.h"

#include "core/operators.h"

#define COUNT(...) +1
_Static_assert((0 GP_OP_MAP(COUNT)) == (0 GPI_SCALAR_OPERATORS(COUNT) GPI_PAIR_OPERATORS(COUNT)),
               "an operator of GP_OP_MAP is not in core/operators.h");
#undef COUNT

size_t gp_dtype_bytes(gp_dtype dtype)
{
    return gpi_dtype_bytes(dtype);
}

const char *gp_dtype_string(gp_dtype dtype)
{
    switch (dtype) {
#define DTYPE_CASE(name, number, bytes, text)                                                      \
    case GP_##name:                                                                                \
        return text;
        GP_DTYPE_MAP(DTYPE_CASE)
#undef DTYPE_CASE
    }
    return "?";
}

const char *gp_op_string(gp_op op)
{
    switch (op) {
#define OP_CASE(name, number, scalars, text)                                                       \
    case GP_##name:                                                                                \
        return text;
        GP_OP_MAP(OP_CASE)
#undef OP_CASE
    }
    return "?";
}

size_t gp_op_scalars(gp_op op)
{
    return gpi_op_scalars(op);
}
