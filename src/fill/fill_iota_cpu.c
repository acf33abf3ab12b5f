/* SPDX-License-Identifier: MIT */
/* Arithmetic sequences on the CPU, but for those of halves, in loops for vectors. */
#include "fill/fill_internal.h"

/* Items follow from those some vectors before: bytes are added in vectors by every instruction set,
 * but not multiplied. */
enum { BEFORE = 64 };

#define DEFINE_INTEGERS(name, T)                                                                   \
    static void name(const struct gpi_iota_args *a, uint64_t begin, size_t count, T *to)           \
    {                                                                                              \
        const T by = (T)(BEFORE * a->step);                                                        \
        for (size_t k = 0; k < count && k < BEFORE; k++)                                           \
            to[k] = (T)(a->first + (begin + k) * a->step);                                         \
        for (size_t k = BEFORE; k < count; k++)                                                    \
            to[k] = (T)(to[k - BEFORE] + by);                                                      \
    }

/* Numbers of items are exact as doubles. */
#define DEFINE_FLOATS(name, T)                                                                     \
    static void name(const struct gpi_iota_args *a, uint64_t begin, size_t count, T *to)           \
    {                                                                                              \
        const double first = a->real_first, step = a->real_step, base = (double)begin;             \
        for (size_t k = 0; k < count; k++)                                                         \
            to[k] = (T)(first + (base + (double)(int32_t)k) * step);                               \
    }

DEFINE_INTEGERS(bytes, uint8_t)
DEFINE_INTEGERS(shorts, uint16_t)
DEFINE_INTEGERS(words, uint32_t)
DEFINE_INTEGERS(longs, uint64_t)
DEFINE_FLOATS(floats, float)
DEFINE_FLOATS(doubles, double)

void gpi_iota_items(const struct gpi_iota_args *a, uint64_t begin, size_t count, void *to)
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
    case GPI_IOTA_F32:
        floats(a, begin, count, to);
        break;
    default:
        doubles(a, begin, count, to);
    }
}
