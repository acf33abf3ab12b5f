/* SPDX-License-Identifier: MIT */
/*
 * One call of every kind that takes a number of items, segments or rows from device memory: with
 * numbers of the host, or with bounds and the numbers in memory.
 */
#ifndef COUNTS_H
#define COUNTS_H

#include <gp/gp.h>

#include <stdbool.h>

enum {
    COUNTS_OUTPUTS = 4,
    COUNTS_COLUMNS = 500,
    COUNTS_ROW_LENGTH = 7,
    COUNTS_PARTS = 37,
    COUNTS_BINS = 300,
    COUNTS_ROOM = (1 << 19) + 4096
};

/* What the numbers of a call are, given one that runs from 0 to its bound. */
enum counts_kind {
    COUNTS_ITEMS,          /* n */
    COUNTS_TWICE,          /* n, and m is the same */
    COUNTS_HALF,           /* n, and m is half as many */
    COUNTS_ROWS,           /* n row indices, and m rows, of which the last ones are empty */
    COUNTS_SEGMENTS,       /* n segments */
    COUNTS_SEGMENTS_ITEMS, /* n segments, and m is what they cover */
    COUNTS_KINDS
};

/* The inputs: X(type, name, bytes). */
#define COUNTS_INPUTS(X)                                                                           \
    X(uint32_t, keys, 4 * c->items)           /* below 1000 */                                     \
    X(uint32_t, bits, 16 * c->items)          /* any */                                            \
    X(uint32_t, sorted, 4 * c->items)         /* ascending, runs of some 5 */                      \
    X(uint32_t, indices, 4 * c->items)        /* every place once */                               \
    X(uint32_t, rows, 4 * c->items)           /* below half of the segments */                     \
    X(uint32_t, sorted_rows, 4 * c->items)    /* the same, ascending */                            \
    X(uint32_t, cols, 4 * c->items)           /* below COUNTS_COLUMNS */                           \
    X(float, floats, 4 * c->items)            /* whole numbers below 1000 */                       \
    X(uint8_t, flags, c->items)               /* 0 and 1 */                                        \
    X(uint8_t, heads, c->items)               /* the same */                                       \
    X(uint32_t, offsets, 4 * c->segments + 4) /* of segments of up to 11 items; many are empty */  \
    X(uint32_t, repeats, 4 * c->segments)     /* below 4 */

/* Inputs and outputs, in the context's memory, and the numbers of one call. */
typedef struct counts {
    size_t items, segments; /* there are */
#define COUNTS_MEMBER(type, name, bytes) type *name;
    COUNTS_INPUTS(COUNTS_MEMBER)
#undef COUNTS_MEMBER
    char *out[COUNTS_OUTPUTS]; /* room for 24 bytes per item, and COUNTS_ROOM */
    size_t n, m;
    const uint64_t *device_n, *device_m; /* NULL: n and m are the numbers; otherwise bounds */
    bool any_algorithm; /* in place of one that the CPU may not have: the same results */
} counts;

typedef struct counts_row {
    const char *name;
    const char *calls; /* of the headers, which this is a row of */
    enum counts_kind kind;
    gp_status (*call)(gp_context *ctx, const counts *c);
} counts_row;

extern const counts_row counts_rows[];
extern const size_t counts_row_count;

/* Fill inputs on the host. */
void counts_make(const counts *host, uint64_t seed);

/* The numbers of a call whose first is n, and the bounds; offsets: on the host. */
void counts_numbers(const counts_row *row, const uint32_t *offsets, size_t n, counts *c);
void counts_bounds(const counts_row *row, const uint32_t *offsets, counts *c);

#endif
