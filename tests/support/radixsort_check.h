/* SPDX-License-Identifier: MIT */
/* One sort, called and checked: values, guards, inputs. And the keys to sort. */
#ifndef GP_RADIXSORT_CHECK_H
#define GP_RADIXSORT_CHECK_H

#include <gp/radixsort.h>

#include "radixsort_oracle.h"

/* ---- one checked call ------------------------------------------------------------------------ */

struct spec {
    gp_dtype dtype;
    size_t n;
    size_t value_bytes; /* 0: keys only */
    bool descending;
    int begin, end; /* 0, 0: all bits */
    bool keys_in_place, values_in_place;
    size_t offset; /* of every array from a 256-byte boundary, in elements */
    bool cub;
};

gp_radix_sort_options options_of(const struct spec *s);

/* Bytes that differ from value to value. */
void *values_new(size_t n, size_t value_bytes);

/* Run the call of a spec on arrays that are there. */
void call_sort(const struct spec *s, const void *ki, const void *vi, void *ko, void *vo);

/* Keys alone may order equal floats as they like, but must be the same keys. */
void check_keys(const struct spec *s, const void *keys, const void *expected, const void *actual);

/* Arrays of a spec: inputs, outputs, and the names under which the call gets the outputs. */
struct arrays {
    t_array ki, ko, vi, vo, *k, *v;
};

struct arrays arrays_new(const struct spec *s, const void *keys, const void *values);

void arrays_check(const struct spec *s, struct arrays *a, const void *keys, const void *values);
/* The same by an order of the items. */
void arrays_check_order(const struct spec *s, const struct arrays *a, const void *keys,
                        const void *values, const size_t *order);

void check_sort(const struct spec *wanted, const void *keys);

void check_argsort(gp_dtype dtype, const void *keys, size_t n, gp_dtype index_dtype,
                   const gp_radix_sort_options *o);

/* ---- keys ------------------------------------------------------------------------------------ */

/* The keys of a test, of any dtype. */
enum pattern {
    PATTERN_BITS,         /* any bits, so floats include NaN, infinities and denormals */
    PATTERN_CONSTANT,     /* one key n times */
    PATTERN_SORTED,       /* any bits, ascending */
    PATTERN_REVERSED,     /* any bits, descending */
    PATTERN_THREE_VALUES, /* 0, 1 and 2 */
    PATTERN_NARROW,       /* below 100, 2000 or 2^20, for keys of 1, 2 or more bytes */
    PATTERN_RANDOM,       /* integers: any; floats: from [-1, 1) */
    PATTERN_SPECIAL, /* floats: zeros of both signs, NaN, infinities; integers: 0 and all ones */
    PATTERN_COUNT
};

void fill_pattern(enum pattern pattern, gp_dtype dtype, void *keys, size_t n);

void *pattern_new(enum pattern pattern, gp_dtype dtype, size_t n);

#endif
