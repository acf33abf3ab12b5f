/* SPDX-License-Identifier: MIT */
/* Arithmetic sequences in loops for vectors, compiled per instruction set. */
#include "core/half.h"
#include "core/paste.h"
#include "fill/fill_internal.h"

#define FUNCTION PASTE(gpi_iota_items_, GPI_ISA_SUFFIX)
gpi_iota_fn FUNCTION;

/*
 * The float next to x towards 0, or x itself, with the last bit set if it is not x: rounded to
 * fewer bits it becomes what x does. Two roundings to the nearest would not.
 */
static inline float odd_float(double x)
{
    const float nearest = (float)x;
    const uint32_t away =
        (double)gpi_float_of_bits(gpi_bits_of_float(nearest) & 0x7fffffffu) > (x < 0 ? -x : x);
    const float toward = gpi_float_of_bits(gpi_bits_of_float(nearest) - away);
    return gpi_float_of_bits(gpi_bits_of_float(toward) | (uint32_t)((double)toward != x));
}

/* W: what integers are computed in, without sign, so that they wrap. */
#define DEFINE_INTEGERS(name, T, W)                                                                \
    static void name(const struct gpi_iota_args *a, uint64_t begin, size_t count, T *to)           \
    {                                                                                              \
        const W step = (W)a->step, first = (W)a->first + (W)begin * step;                          \
        for (size_t k = 0; k < count; k++)                                                         \
            to[k] = (T)(first + (W)k * step);                                                      \
    }

/* Numbers of items are exact as doubles. */
#define DEFINE_FLOATS(name, T, ROUNDED)                                                            \
    static void name(const struct gpi_iota_args *a, uint64_t begin, size_t count, T *to)           \
    {                                                                                              \
        const double first = a->real_first, step = a->real_step, base = (double)begin;             \
        for (size_t k = 0; k < count; k++)                                                         \
            to[k] = ROUNDED(first + (base + (double)(int32_t)k) * step);                           \
    }

#define F16(x) gpi_float_to_f16(odd_float(x))
#define BF16(x) gpi_float_to_bf16(odd_float(x))
#define F32(x) ((float)(x))
#define F64(x) (x)

DEFINE_INTEGERS(bytes, uint8_t, uint32_t)
DEFINE_INTEGERS(shorts, uint16_t, uint32_t)
DEFINE_INTEGERS(words, uint32_t, uint32_t)
DEFINE_INTEGERS(longs, uint64_t, uint64_t)
DEFINE_FLOATS(f16s, uint16_t, F16)
DEFINE_FLOATS(bf16s, uint16_t, BF16)
DEFINE_FLOATS(floats, float, F32)
DEFINE_FLOATS(doubles, double, F64)

void FUNCTION(const struct gpi_iota_args *a, uint64_t begin, size_t count, void *to)
{
    switch (a->kind) {
    case GPI_IOTA_8:
        bytes(a, begin, count, to);
        break;
    case GPI_IOTA_16:
        shorts(a, begin, count, to);
        break;
    case GPI_IOTA_32:
        words(a, begin, count, to);
        break;
    case GPI_IOTA_64:
        longs(a, begin, count, to);
        break;
    case GPI_IOTA_F16:
        f16s(a, begin, count, to);
        break;
    case GPI_IOTA_BF16:
        bf16s(a, begin, count, to);
        break;
    case GPI_IOTA_F32:
        floats(a, begin, count, to);
        break;
    default:
        doubles(a, begin, count, to);
    }
}
