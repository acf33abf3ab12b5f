/* SPDX-License-Identifier: MIT */
/* What dtypes and operators are, for the library's own use: the public calls without the call. */
#ifndef GPI_DTYPE_H
#define GPI_DTYPE_H

#include <stdbool.h>

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* gp_dtype_bytes(). */
static inline size_t gpi_dtype_bytes(gp_dtype dtype)
{
    switch (dtype) {
#define DTYPE_CASE(name, number, bytes, text)                                                      \
    case GP_##name:                                                                                \
        return bytes;
        GP_DTYPE_MAP(DTYPE_CASE)
#undef DTYPE_CASE
    }
    return 0;
}

/* gp_op_scalars(). */
static inline size_t gpi_op_scalars(gp_op op)
{
    switch (op) {
#define OP_CASE(name, number, scalars, text)                                                       \
    case GP_##name:                                                                                \
        return scalars;
        GP_OP_MAP(OP_CASE)
#undef OP_CASE
    }
    return 0;
}

static inline bool gpi_dtype_is_float(gp_dtype d)
{
    return d >= GP_F16 && d <= GP_F64;
}

static inline bool gpi_dtype_is_signed(gp_dtype d)
{
    return d == GP_I8 || d == GP_I16 || d == GP_I32 || d == GP_I64;
}

/* The unsigned integers of as many bits; other dtypes as they are. */
static inline gp_dtype gpi_dtype_unsigned(gp_dtype d)
{
    switch (d) {
    case GP_I8:
        return GP_U8;
    case GP_I16:
        return GP_U16;
    case GP_I32:
        return GP_U32;
    case GP_I64:
        return GP_U64;
    default:
        return d;
    }
}

#ifdef __cplusplus
}
#endif

#endif
