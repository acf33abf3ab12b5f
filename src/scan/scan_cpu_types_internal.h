/* SPDX-License-Identifier: MIT */
/*
 * What one unit of scan_cpu_tmpl.c, segments_cpu_tmpl.c or reduce_cpu_tmpl.c computes on: in_t and
 * out_t as stored, acc_t as computed, conversions between them, and the operators.
 * From GPI_IN, GPI_OUT, GPI_SCALARS as in scan_internal.h.
 */
#ifndef GPI_SCAN_CPU_TYPES_INTERNAL_H
#define GPI_SCAN_CPU_TYPES_INTERNAL_H

#include <string.h>

#include "core/half_cpu.h"
#include "core/order.h"
#include "core/paste.h"
#include "scan/scan_cpu_internal.h"
#include "scan/scan_internal.h"

/* Per dtype: its kind (1 unsigned, 2 signed, 3 float, 4 f16, 5 bf16), its bytes, its type as
 * stored, and the conversions from there and back. */
#define DTYPE_u8 1, 1, uint8_t, ,
#define DTYPE_u16 1, 2, uint16_t, ,
#define DTYPE_u32 1, 4, uint32_t, ,
#define DTYPE_u64 1, 8, uint64_t, ,
#define DTYPE_i8 2, 1, int8_t, ,
#define DTYPE_i16 2, 2, int16_t, ,
#define DTYPE_i32 2, 4, int32_t, ,
#define DTYPE_i64 2, 8, int64_t, ,
#define DTYPE_f32 3, 4, float, ,
#define DTYPE_f64 3, 8, double, ,
#define DTYPE_f16 4, 2, uint16_t, gpi_f16_to_float, gpi_float_to_f16
#define DTYPE_bf16 5, 2, uint16_t, gpi_bf16_to_float, gpi_float_to_bf16
#define KIND_OF(kind, bytes, type, widen, narrow) kind
#define BYTES_OF(kind, bytes, type, widen, narrow) bytes
#define TYPE_OF(kind, bytes, type, widen, narrow) type
#define WIDEN_OF(kind, bytes, type, widen, narrow) widen
#define NARROW_OF(kind, bytes, type, widen, narrow) narrow
#define DTYPE_(what, ...) what(__VA_ARGS__)
#define DTYPE(what, dtype) DTYPE_(what, PASTE(DTYPE_, dtype))

#define IN_KIND DTYPE(KIND_OF, GPI_IN)
#define OUT_KIND DTYPE(KIND_OF, GPI_OUT)
#define IN_BYTES DTYPE(BYTES_OF, GPI_IN)
#define OUT_BYTES DTYPE(BYTES_OF, GPI_OUT)
#define SAME_DTYPE (IN_KIND == OUT_KIND && IN_BYTES == OUT_BYTES)
#define ACC_IS_FLOAT (OUT_KIND >= 3)
/* Stored as computed: no conversion. */
#define OUT_IS_ACC (OUT_KIND <= 3)
#define IN_IS_ACC (OUT_IS_ACC && SAME_DTYPE)

/* Bytes of a vector, unless the user has chosen. */
#if defined(VECTOR)
#elif defined(__AVX512BW__)
#define VECTOR 64
#elif defined(__AVX2__)
#define VECTOR 32
#else
#define VECTOR 16
#endif
typedef uint64_t lanes64 __attribute__((vector_size(VECTOR)));

#if GPI_SCALARS > 1

#define ACC_BYTES OUT_BYTES
typedef DTYPE(TYPE_OF, GPI_OUT) scalar_t;
typedef struct {
    scalar_t v[GPI_SCALARS];
} acc_t;
typedef acc_t in_t;
typedef acc_t out_t;

#include "core/operators_cpu.h"

static inline acc_t widen_in(in_t v)
{
    return v;
}

static inline acc_t widen_out(out_t v)
{
    return v;
}

static inline out_t narrow(acc_t v)
{
    return v;
}

static inline void widen_all(const in_t *from, size_t n, acc_t *to)
{
    memcpy(to, from, n * sizeof *to);
}

static inline void narrow_all(const acc_t *from, size_t n, out_t *to)
{
    memcpy(to, from, n * sizeof *to);
}

#else /* one scalar */

#define GPI_FLOATS ACC_IS_FLOAT
#include "core/operators_cpu.h"

typedef DTYPE(TYPE_OF, GPI_IN) in_t;
typedef DTYPE(TYPE_OF, GPI_OUT) out_t;

#if ACC_IS_FLOAT
#define ACC_BYTES (OUT_BYTES < 4 ? 4 : OUT_BYTES)
#if OUT_BYTES == 8
typedef double acc_t;
#else
typedef float acc_t;
#endif
typedef acc_t uacc_t;
typedef acc_t math_t;
#else
#define ACC_BYTES OUT_BYTES
typedef out_t acc_t;
#if ACC_BYTES == 1
typedef uint8_t uacc_t;
#elif ACC_BYTES == 2
typedef uint16_t uacc_t;
#elif ACC_BYTES == 4
typedef uint32_t uacc_t;
#else
typedef uint64_t uacc_t;
#endif
/* Integers wrap: computed unsigned, in at least 32 bits so that nothing is promoted to int. */
#if ACC_BYTES == 8
typedef uint64_t math_t;
#else
typedef uint32_t math_t;
#endif
#endif

typedef acc_t scalar_t;

static inline acc_t widen_in(in_t v)
{
    return (acc_t)DTYPE(WIDEN_OF, GPI_IN)(v);
}

static inline acc_t widen_out(out_t v)
{
    return (acc_t)DTYPE(WIDEN_OF, GPI_OUT)(v);
}

static inline out_t narrow(acc_t v)
{
    return (out_t)DTYPE(NARROW_OF, GPI_OUT)(v);
}

/* Arrays of them. */
static inline void widen_all(const in_t *from, size_t n, acc_t *restrict to)
{
#if IN_KIND == 4
    gpi_f16s_to_floats(from, n, to);
#elif IN_KIND == 5
    gpi_bf16s_to_floats(from, n, to);
#else
    for (size_t i = 0; i < n; i++)
        to[i] = widen_in(from[i]);
#endif
}

static inline void narrow_all(const acc_t *from, size_t n, out_t *restrict to)
{
#if OUT_KIND == 4
    gpi_floats_to_f16s(from, n, to);
#elif OUT_KIND == 5
    gpi_floats_to_bf16s(from, n, to);
#else
    for (size_t i = 0; i < n; i++)
        to[i] = narrow(from[i]);
#endif
}

/* gp's order: NaN after everything. */
static inline bool less(acc_t a, acc_t b)
{
#if ACC_IS_FLOAT
    return GPI_FLOAT_LESS(a, b);
#else
    return a < b;
#endif
}

static inline acc_t identity(gp_op op)
{
#if ACC_IS_FLOAT
    return (acc_t)gpi_float_identity(op);
#else
    return (acc_t)gpi_integer_identity(op, 8 * ACC_BYTES, OUT_KIND == 2);
#endif
}

static inline acc_t apply(gp_op op, acc_t left, acc_t right)
{
#define GPI_LESS less
#define GPI_CHOOSE(condition, a, b) ((condition) ? (a) : (b))
    typedef math_t as_ARITHMETIC;
    typedef math_t as_BITS UNUSED;
    typedef acc_t as_ORDER;
    GPI_RETURN_RESULT(acc_t)
#undef GPI_LESS
#undef GPI_CHOOSE
}

#endif /* one scalar */

/* Of gpi_scan_form, of the unit's items. */
#if GPI_SCALARS == 1 && ACC_IS_FLOAT && ACC_BYTES == 4 && defined(GPI_HAVE_HALVES)
#define HAVE_HALVES 1
#define FORM(kind) ((kind) == 4 ? GPI_AS_F16 : (kind) == 5 ? GPI_AS_BF16 : GPI_AS_COMPUTED)
#else
#define HAVE_HALVES 0
#define FORM(kind) GPI_AS_COMPUTED
#endif

/* The chunk as accumulators: in itself where that is possible, otherwise in room, filled up to a
 * want items with what adds nothing. */
static inline const acc_t *chunk_load(gp_op op, const in_t *in, size_t n, size_t want, acc_t *room)
{
#if IN_IS_ACC
    if (n == want)
        return in;
#endif
    widen_all(in, n, room);
    for (size_t i = n; i < want; i++)
        room[i] = identity(op);
    return room;
}

#endif
