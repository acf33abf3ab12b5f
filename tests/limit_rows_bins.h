/* SPDX-License-Identifier: MIT */
/* Limits of histograms: numbers of bins, widths of the range, values beyond 32 bits. */
#ifndef GP_TEST_LIMITS_BINS_H
#define GP_TEST_LIMITS_BINS_H

#include "histogram_check.h"
#include "limit_rows.h"

enum { BIN_ITEMS = 20000, BIN_ITEMS_OF_EDGES = 4000 };

/* One call on room for few bins, with another number if it should refuse that. */
static gp_status bins_refused(struct histogram_spec s)
{
    const unsigned char none[64] = {0};
    t_array in = t_new_from(none, sizeof none, 0), edges = t_new_from(none, sizeof none, 0);
    t_array counts = t_new(sizeof none, 0), outside = t_new(8, 0);
    s.n = 4;
    gp_status status = histogram_call(&s, in.data, edges.data, counts.data, outside.data);
    t_check_untouched(&counts);
    t_check_untouched(&outside);
    t_free(&in), t_free(&edges), t_free(&counts), t_free(&outside);
    return status;
}

/* Values that are in bins, on their borders and beside them, and such as are in none, whatever the
 * bits are that a comparison forgets. with: enum histogram_kind. */
static gp_status run_bins(const struct limit *l, uint64_t value)
{
    struct histogram_spec s = {.kind = (enum histogram_kind)l->with, .dtype = l->dtype};
    size_t bytes = gp_dtype_bytes(l->dtype);
    uint64_t state = t_seed() + value, span = value + 3;
    s.bins = value;
    s.n = l->with == HISTOGRAM_EDGES ? BIN_ITEMS_OF_EDGES : BIN_ITEMS;
    histogram_set_limits(&s, 0, bytes == 1 ? 100 : bytes == 2 ? 30000 : 1 << 24);
    if (!limit_allows(l, value))
        return bins_refused(s);
    char *in = t_host(BIN_ITEMS * bytes), *edges = t_host((value + 1) * bytes);
    t_fill_bits(l->dtype, in, BIN_ITEMS, &state);
    for (size_t i = 0; i < BIN_ITEMS; i += 2) {
        uint64_t x = l->with == HISTOGRAM_EVEN ? t_random_below(&state, 1 << 24)
                                               : t_random_below(&state, span);
        x |= i % 64 == 0 && bytes == 8 ? (uint64_t)1 << (32 + i % 31) : 0;
        if (t_is_float(l->dtype))
            t_set(l->dtype, in, i, (double)x);
        else
            memcpy(in + i * bytes, &x, bytes);
    }
    for (uint64_t b = 0; b <= value; b++)
        t_set(l->dtype, edges, b, (double)(b + b / 7));
    s.edges = edges;
    s.wide = value % 2;
    histogram_check(&s, in);
    free(in), free(edges);
    return GP_OK;
}

/* Values anywhere, inside the range, and at the beginning of a bin or right before it, of the last
 * bins too: there a quotient is largest, and an error of rounding with it. */
static uint64_t *range_values(uint64_t lo, uint64_t range, uint64_t bins)
{
    uint64_t state = t_seed() + bins, *in = t_host(BIN_ITEMS * sizeof *in);
    for (size_t i = 0; i < BIN_ITEMS; i++) {
        uint64_t bin = i < 200 && i < bins ? bins - 1 - i / 4 : t_random_below(&state, bins);
        i128 begin = ((i128)bin * range + bins - 1) / bins;
        in[i] = i % 8 == 0   ? t_random(&state)
                : i % 2 == 0 ? lo + t_random_below(&state, range)
                             : lo + (uint64_t)begin - (i % 4 == 1);
    }
    in[0] = lo, in[2] = lo - 1, in[4] = lo + range - 1, in[6] = lo + range;
    return in;
}

/* The value is the bits of hi - lo: 2^value, one less and one more. with: the bins. */
static gp_status run_range_bits(const struct limit *l, uint64_t value)
{
    for (int more = -1; more <= (value < 64 ? 1 : -1); more++) {
        struct histogram_spec s = {.kind = HISTOGRAM_EVEN, .dtype = l->dtype, .bins = l->with};
        uint64_t lo = t_is_signed(l->dtype) ? (uint64_t)INT64_MIN + 5 : 5;
        uint64_t range = (value < 64 ? (uint64_t)1 << value : 0) + (uint64_t)(int64_t)more;
        lo -= value == 64 ? 5 : 0;
        uint64_t hi = lo + range, *in = range_values(lo, range, l->with);
        memcpy(s.lo, &lo, sizeof lo);
        memcpy(s.hi, &hi, sizeof hi);
        s.n = BIN_ITEMS;
        histogram_check(&s, in);
        free(in);
    }
    return GP_OK;
}

#endif
