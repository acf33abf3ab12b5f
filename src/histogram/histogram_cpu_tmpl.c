/* SPDX-License-Identifier: MIT */
/*
 * Binning on the CPU, compiled per unit and instruction set. The build gives GPI_UNIT, GPI_STORED
 * (how a value is stored), GPI_VALUE (how it is compared), GPI_LOAD (stored to value), GPI_WIDE (an
 * unsigned integer of 32 or 64 bits that has room for a value's bits) and GPI_IS_FLOAT. The loops
 * are written for the compiler's vectoriser: no branches, no calls.
 */
#include <stdint.h>

#include "histogram/histogram_half.h"
#include "histogram/histogram_internal.h"
#include "histogram/histogram_multiply.h"

#define PASTE_(a, b, c) a##_##b##_##c
#define PASTE(a, b, c) PASTE_(a, b, c)

typedef GPI_STORED stored;
typedef GPI_VALUE value;

enum { BLOCK = GPI_BINNING_BLOCK };

#if GPI_IS_FLOAT

/* Limits of f16, bf16 and f32 are floats, so values are compared as such. What is outside goes
 * through the conversion too, and is kept in its range: the result is not used. */
static void bin_scale(const struct gpi_binning *b, const stored *in, size_t count, uint32_t *index)
{
    const double from = b->from, scale = b->scale, top = (double)(b->bins - 1);
    const value first = (value)b->from, end = (value)b->to;
    const uint32_t none = b->none;
    for (size_t i = 0; i < count; i++) {
        value x = (value)GPI_LOAD(in[i]);
        value above = x > first ? x : first;
        double t = ((double)above - from) * scale;
        t = t < top ? t : top;
        uint32_t bin = (uint32_t)(int32_t)t;
        index[i] = ((x >= first) & (x < end)) ? bin : none;
    }
}

#else

/* index[i] = min(in[i] - lo, R); values below lo are far above it. */
static void distances(const struct gpi_binning *b, const stored *in, size_t count, uint32_t *index)
{
    const value lo = (value)b->lo;
    const GPI_WIDE range = (GPI_WIDE)b->last + 1;
    for (size_t i = 0; i < count; i++) {
        GPI_WIDE d = (value)(in[i] - lo);
        index[i] = (uint32_t)(d < range ? d : range);
    }
}

static void bin_narrow(const struct gpi_binning *b, const stored *in, size_t count, uint32_t *index)
{
    struct gpi_multiply f = {.lo = (uint32_t)b->lo, .range = (uint32_t)b->last + 1};
    const void *from = in;
    const size_t item = sizeof *in < 4 ? sizeof *in : 4;
    f.q = (uint32_t)b->q;
    f.high = b->m_short ? b->m_short : (uint32_t)(b->m_hi >> 32);
    f.low = (uint32_t)b->m_hi;
    if (sizeof *in == 8 || b->m_hi == 0) {
        distances(b, in, count, index);
        from = index;
        f.lo = 0;
        f.range = UINT32_MAX;
    }
    if (b->m_short)
        gpi_multiply_short(&f, b->shift, from, item, count, index);
    else if (b->m_hi != 0)
        gpi_multiply_long(&f, from, item, count, index);
    else if (f.q != 1)
        for (size_t i = 0; i < count; i++)
            index[i] *= f.q;
}

/* The high 64 bits of a product. */
static inline uint64_t multiply_high(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 u128;
    return (uint64_t)((u128)a * b >> 64);
#else
    uint64_t a_lo = (uint32_t)a, a_hi = a >> 32, b_lo = (uint32_t)b, b_hi = b >> 32;
    uint64_t middle = a_hi * b_lo + (a_lo * b_lo >> 32);
    uint64_t other = a_lo * b_hi + (uint32_t)middle;
    return a_hi * b_hi + (middle >> 32) + (other >> 32);
#endif
}

/* hi - lo >= 2^32, so bins < hi - lo and q is 0. */
static void bin_wide(const struct gpi_binning *b, const stored *in, size_t count, uint32_t *index)
{
    const uint64_t lo = b->lo, last = b->last, m_hi = b->m_hi, m_lo = b->m_lo;
    const uint32_t none = b->none;
    for (size_t i = 0; i < count; i++) {
        uint64_t d = in[i] - lo;
        uint64_t middle = d * m_hi;
        uint64_t carry = multiply_high(d, m_lo) > ~middle;
        uint32_t bin = (uint32_t)(multiply_high(d, m_hi) + carry);
        index[i] = d <= last ? bin : none;
    }
}

#endif

/* ---- edges ---- */

#if GPI_IS_FLOAT

static inline value order(stored x, uint64_t flip)
{
    (void)flip;
    return (value)GPI_LOAD(x);
}

#else

/* A value whose unsigned order is the order of the dtype. */
static inline value order(stored x, uint64_t flip)
{
    return (value)(x ^ (value)flip);
}

#endif

/* The last edge, the final one left out, that is not above x: one step for the whole block at a
 * time, so that the searches overlap. Positions stay below bins whatever the edges are. */
static void bin_edges(const struct gpi_binning *b, const stored *in, size_t count, uint32_t *index)
{
    const stored *edges = b->edges;
    const uint32_t none = b->bins;
    const uint64_t flip = b->flip;
    const value first = order(edges[0], flip), end = order(edges[none], flip);
    value x[BLOCK];
    int32_t position[BLOCK]; /* signed, as vectors index memory */
    for (size_t i = 0; i < count; i++) {
        x[i] = order(in[i], flip);
        position[i] = 0;
    }
    for (uint32_t rest = none; rest > 1; rest -= rest / 2) {
        const stored *middle = edges + rest / 2;
        const int32_t half = (int32_t)(rest / 2);
        for (size_t i = 0; i < count; i++)
            position[i] += order(middle[position[i]], flip) <= x[i] ? half : 0;
    }
    for (size_t i = 0; i < count; i++)
        index[i] = ((x[i] >= first) & (x[i] < end)) ? (uint32_t)position[i] : none;
}

/* ---- */

void PASTE(gpi_binning, GPI_UNIT, GPI_ISA_SUFFIX)(const struct gpi_binning *binning, const void *in,
                                                  size_t count, uint32_t *index);

void PASTE(gpi_binning, GPI_UNIT, GPI_ISA_SUFFIX)(const struct gpi_binning *binning, const void *in,
                                                  size_t count, uint32_t *index)
{
    switch (binning->kind) {
#if GPI_IS_FLOAT
    case GPI_BINNING_SCALE:
        bin_scale(binning, in, count, index);
        return;
#else
    case GPI_BINNING_NARROW:
        bin_narrow(binning, in, count, index);
        return;
    case GPI_BINNING_WIDE:
        bin_wide(binning, in, count, index);
        return;
#endif
    default:
        bin_edges(binning, in, count, index);
    }
}
