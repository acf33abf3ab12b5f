/* SPDX-License-Identifier: MIT */
/* Arithmetic sequences in loops for vectors, compiled per instruction set. */
#include "core/half_cpu.h"
#include "core/paste.h"
#include "fill/fill_internal.h"

#define FUNCTION PASTE(gpi_iota_items_, GPI_ISA_SUFFIX)
gpi_iota_fn FUNCTION;

/*
 * A double with as many bits as a float has, the last of them set if others were lost. Rounded to
 * fewer bits it becomes what x does, where two roundings to the nearest would not. That it may be
 * too small for all bits of a float does not matter: sums of halves have no bits below a half's.
 */
static inline float odd_float(double x)
{
    const uint64_t below = (1 << 29) - 1;
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    u = (u & ~below) | (((u & below) + below) & (below + 1));
    memcpy(&x, &u, sizeof x);
    return (float)x;
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

#define DEFINE_HALVES(name, round_all)                                                             \
    static void name(const struct gpi_iota_args *a, uint64_t begin, size_t count, uint16_t *to)    \
    {                                                                                              \
        float block[PIECE];                                                                        \
        for (size_t k = 0; k < count; k += PIECE) {                                                \
            const size_t items = count - k < PIECE ? count - k : PIECE;                            \
            odd_floats(a, begin + k, items, block);                                                \
            round_all(block, items, to + k);                                                       \
        }                                                                                          \
    }

enum { PIECE = 256 };

#define F32(x) ((float)(x))
#define F64(x) (x)

DEFINE_INTEGERS(bytes, uint8_t, uint32_t)
DEFINE_INTEGERS(shorts, uint16_t, uint32_t)
DEFINE_INTEGERS(words, uint32_t, uint32_t)
DEFINE_INTEGERS(longs, uint64_t, uint64_t)
DEFINE_FLOATS(odd_floats, float, odd_float)
DEFINE_HALVES(f16s, gpi_floats_to_f16s)
DEFINE_HALVES(bf16s, gpi_floats_to_bf16s)
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
