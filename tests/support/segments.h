/* SPDX-License-Identifier: MIT */
/* Segments of many shapes, and arrays of indices, for the tests of balance.h. */
#ifndef GP_TEST_SEGMENTS_H
#define GP_TEST_SEGMENTS_H

#include "gp_test.h"

/* A tile of the CUDA backend takes this many items and segments together. */
enum { T_BALANCE_TILE = 8176 };

/* The dtypes of indices and offsets. */
extern const gp_dtype t_index_dtypes[4];

struct t_segments {
    uint64_t *offsets; /* count + 1, from 0 */
    size_t count, items;
};

enum t_layout {
    T_EVEN,
    T_RANDOM,
    T_SINGLE,
    T_ALL_EMPTY,
    T_ONE_HUGE,
    T_LEADING_EMPTY,
    T_TRAILING_EMPTY,
    T_HUGE_AMONG_EMPTY,
    T_MOSTLY_EMPTY,
    T_POWER_LAW,
    T_LAYOUT_COUNT
};

/* The shape with that many segments. */
struct t_segments t_segments_new(enum t_layout layout, size_t count);

/* Element i of an array of a dtype of 4 or 8 bytes. */
void t_store(gp_dtype dtype, void *array, size_t i, uint64_t value);

/* The numbers plus base in the context's memory, shift elements past an aligned address. */
t_array t_numbers_put(const uint64_t *numbers, size_t n, gp_dtype dtype, uint64_t base,
                      size_t shift);
t_array t_offsets_put(const struct t_segments *g, gp_dtype dtype, uint64_t base, size_t shift);

/* The largest first offset with which the last one is still a number of dtype. */
uint64_t t_largest_base(gp_dtype dtype, size_t items);

/* Compare an array of the context with the numbers expected; the guards too. */
void t_numbers_check(const char *name, const uint64_t *expected, gp_dtype dtype,
                     const t_array *array, size_t n);

#endif
