/* SPDX-License-Identifier: MIT */
/* From the limits of a call to struct gpi_binning. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "histogram/histogram_internal.h"

/* One integer of the dtype, extended to 64 bits by its sign. */
static uint64_t read_integer(gp_dtype dtype, const void *value)
{
    const size_t bytes = gpi_dtype_bytes(dtype), unused = 64 - 8 * bytes;
    uint64_t bits = 0;
    memcpy(&bits, value, bytes); /* little-endian */
    return gpi_dtype_is_signed(dtype) ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

static double read_float(gp_dtype dtype, const void *value)
{
    double d;
    float f;
    if (dtype == GP_F64) {
        memcpy(&d, value, sizeof d);
        return d;
    }
    memcpy(&f, value, sizeof f);
    return (double)f;
}

/* The next 32 bits of r 2^32 / range; *r becomes the remainder. r < range < 2^32. */
static uint64_t divide_word(uint64_t *r, uint64_t range)
{
    const uint64_t dividend = *r << 32;
    *r = dividend % range;
    return dividend / range;
}

/* The next 64 bits of r 2^64 / range; *r becomes the remainder. r < range. */
static uint64_t divide_step(uint64_t *r, uint64_t range)
{
    uint64_t quotient = 0, rest = *r;
    if (range <= UINT32_MAX) {
        quotient = divide_word(r, range) << 32;
        return quotient | divide_word(r, range);
    }
    for (int bit = 0; bit < 64; bit++) {
        bool carry = rest >> 63;
        rest <<= 1;
        quotient <<= 1;
        if (carry || rest >= range) {
            rest -= range;
            quotient |= 1;
        }
    }
    *r = rest;
    return quotient;
}

/* See struct gpi_binning. bins < range < 2^32. */
static void short_factor(uint64_t range, uint64_t bins, struct gpi_binning *b)
{
    unsigned shift = 0;
    while (bins << (shift + 1) < range)
        shift++;
    uint64_t scaled = bins << (32 + shift), m = (scaled + range - 1) / range;
    if (range * (m * range - scaled) >= (uint64_t)1 << (32 + shift))
        return;
    b->m_short = (uint32_t)m;
    b->shift = shift;
}

/* Even bins over range values from lo. */
static void integer_bins(uint64_t lo, uint64_t range, size_t bins, struct gpi_binning *b)
{
    uint64_t rest = bins % range;
    *b = (struct gpi_binning){
        .bins = (uint32_t)bins, .none = (uint32_t)bins, .lo = lo, .last = range - 1};
    b->q = bins / range;
    b->kind = range > UINT32_MAX ? GPI_BINNING_WIDE : GPI_BINNING_NARROW;
    if (rest == 0)
        return;
    if (b->kind == GPI_BINNING_NARROW && b->q == 0)
        short_factor(range, bins, b);
    b->m_hi = divide_step(&rest, range);
    if (b->kind == GPI_BINNING_NARROW) {
        b->m_hi++;
        return;
    }
    b->m_lo = divide_step(&rest, range) + 1;
    b->m_hi += b->m_lo == 0;
}

static gp_status even_integers(gp_context *ctx, const char *f, gp_dtype dtype, const void *lo,
                               const void *hi, size_t bins, struct gpi_binning *binning)
{
    uint64_t from = read_integer(dtype, lo), to = read_integer(dtype, hi);
    if (gpi_dtype_is_signed(dtype) && (int64_t)from >= (int64_t)to)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: lo is %" PRId64 " and hi is %" PRId64 ", expected lo < hi", f,
                        (int64_t)from, (int64_t)to);
    if (!gpi_dtype_is_signed(dtype) && from >= to)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: lo is %" PRIu64 " and hi is %" PRIu64 ", expected lo < hi", f, from,
                        to);
    integer_bins(from, to - from, bins, binning);
    return GP_OK;
}

static gp_status even_floats(gp_context *ctx, const char *f, gp_dtype dtype, const void *lo,
                             const void *hi, size_t bins, struct gpi_binning *binning)
{
    double from = read_float(dtype, lo), to = read_float(dtype, hi);
    double scale = (double)bins / (to - from);
    if (!isfinite(from) || !isfinite(to) || from >= to)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: lo is %g and hi is %g, expected finite lo < hi", f, from, to);
    if (!isfinite(to - from) || !isfinite(scale))
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: lo is %g and hi is %g, expected hi - lo and bins / (hi - lo) finite",
                        f, from, to);
    *binning = (struct gpi_binning){.kind = GPI_BINNING_SCALE,
                                    .bins = (uint32_t)bins,
                                    .none = (uint32_t)bins,
                                    .from = from,
                                    .to = to,
                                    .scale = scale};
    return GP_OK;
}

gp_status gpi_binning_even(gp_context *ctx, const char *function, gp_dtype dtype, const void *lo,
                           const void *hi, size_t bins, struct gpi_binning *binning)
{
    if (!lo || !hi)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: %s is NULL", function, lo ? "hi" : "lo");
    return gpi_dtype_is_float(dtype) ? even_floats(ctx, function, dtype, lo, hi, bins, binning)
                                     : even_integers(ctx, function, dtype, lo, hi, bins, binning);
}

/* Bin v for v: even bins over [0, bins), ended by the largest value of the dtype. */
void gpi_binning_whole(gp_dtype dtype, size_t bins, struct gpi_binning *binning)
{
    int bits = (int)gpi_dtype_bytes(dtype) * 8 - gpi_dtype_is_signed(dtype);
    uint64_t values = bits < 32 ? (uint64_t)1 << bits : UINT64_MAX;
    *binning = (struct gpi_binning){.kind = GPI_BINNING_NARROW, .bins = (uint32_t)bins, .q = 1};
    binning->last = (bins < values ? bins : values) - 1;
    binning->none = (uint32_t)binning->last + 1;
}

void gpi_binning_edges(gp_dtype dtype, const void *edges, size_t bins, struct gpi_binning *binning)
{
    *binning = (struct gpi_binning){
        .kind = GPI_BINNING_EDGES, .bins = (uint32_t)bins, .none = (uint32_t)bins, .edges = edges};
    if (gpi_dtype_is_signed(dtype))
        binning->flip = (uint64_t)1 << (gpi_dtype_bytes(dtype) * 8 - 1);
}
