/* SPDX-License-Identifier: MIT */
/* What a sort must give: an order that follows from values, and the C library's qsort. */
#ifndef GP_RADIXSORT_ORACLE_H
#define GP_RADIXSORT_ORACLE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gp_test.h"

int oracle_compare_values(gp_dtype d, const void *keys, size_t a, size_t b);

/* The order word as the header tells it, one key at a time. */
uint64_t oracle_word(gp_dtype d, const void *keys, size_t i);

/* The stable order of n keys as indices, for free(). begin 0 and end 0: all bits. */
size_t *oracle_argsort(gp_dtype dtype, const void *keys, size_t n, bool descending, int begin,
                       int end);

/* Items in an order. */
void *oracle_pick(const void *items, size_t item_bytes, const size_t *order, size_t n);

/* The same keys bit for bit, whatever their order. */
void oracle_check_permutation(gp_dtype dtype, const void *expected, const void *actual, size_t n);

#endif
