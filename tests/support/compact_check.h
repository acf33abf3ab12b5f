/* SPDX-License-Identifier: MIT */
/* What every compaction test shares: the dumbest serial loop, and calls compared with it. */
#ifndef GP_TEST_COMPACT_CHECK_H
#define GP_TEST_COMPACT_CHECK_H

#include <gp/compact.h>

#include "gp_test.h"

/* Offsets of the arrays, in items, bytes and outputs. */
struct compact_places {
    size_t in, keep, out;
    bool in_place;
};

bool compact_selected(const gp_compact_desc *d, const void *in, const uint8_t *keep, size_t i);
size_t compact_item_bytes(const gp_compact_desc *d);
size_t compact_out_bytes(const gp_compact_desc *d);

/* Fills out (room for n) and returns how many are selected. */
size_t compact_oracle(const gp_compact_desc *d, const void *in, const uint8_t *keep, size_t n,
                      void *out);

/* The first count outputs are as expected, the guards untouched. */
void compact_check_outputs(const gp_compact_desc *d, const t_array *out, const void *expected,
                           size_t count, const char *name);

/* One call with room for exactly the result; the input must stay as it is. */
void compact_check_at(const gp_compact_desc *d, const void *in, const uint8_t *keep, size_t n,
                      struct compact_places at);

/* The same on aligned arrays, and in place where that is allowed. */
void compact_check(const gp_compact_desc *d, const void *in, const uint8_t *keep, size_t n);

/* The items that a test keeps. */
enum compact_pattern {
    KEEP_NONE,
    KEEP_ALL,
    KEEP_EVERY_SECOND,
    KEEP_LAST,
    KEEP_RUNS, /* of up to 300 items */
    KEEP_1_PERCENT,
    KEEP_10_PERCENT,
    KEEP_50_PERCENT,
    KEEP_90_PERCENT,
    COMPACT_PATTERNS
};
uint8_t *compact_flags(enum compact_pattern pattern, size_t n, uint64_t *seed);

/* Items whose bytes tell their position. */
char *compact_items(size_t item_bytes, size_t n);

/* Values where comparisons turn: extremes, zeros, infinities,
 * the first and last NaN of each sign. */
enum { COMPACT_SPECIALS = 18 };
void compact_specials(gp_dtype dtype, void *out);

/* Bytes of an item; those that kernels move directly come first. */
enum { COMPACT_WIDTHS = 12, COMPACT_DIRECT_WIDTHS = 5 };
extern const size_t compact_widths[COMPACT_WIDTHS];

gp_compact_desc compact_desc(gp_compact_kind kind, size_t item_bytes);

#endif
