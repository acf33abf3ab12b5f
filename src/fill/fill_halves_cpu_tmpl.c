/* SPDX-License-Identifier: MIT */
/* Arithmetic sequences of halves, compiled per instruction set: other items are stored as fast as
 * memory takes them by any. */
#include "core/half_cpu.h"
#include "core/paste.h"
#include "fill/fill_internal.h"

#define FUNCTION PASTE(gpi_iota_halves_, GPI_ISA_SUFFIX)
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

/* By way of floats, in two loops: vectors of doubles and of halves are not as long. */
void FUNCTION(const struct gpi_iota_args *a, uint64_t begin, size_t count, void *to)
{
    enum { PIECE = 256 };
    const double first = a->real_first, step = a->real_step;
    float block[PIECE];
    for (size_t k = 0; k < count; k += PIECE) {
        const size_t items = count - k < PIECE ? count - k : PIECE;
        const double base = (double)(begin + k);
        for (size_t i = 0; i < items; i++)
            block[i] = odd_float(first + (base + (double)(int32_t)i) * step);
        if (a->kind == GPI_IOTA_F16)
            gpi_floats_to_f16s(block, items, (uint16_t *)to + k);
        else
            gpi_floats_to_bf16s(block, items, (uint16_t *)to + k);
    }
}
