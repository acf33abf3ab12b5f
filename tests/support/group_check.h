/* SPDX-License-Identifier: MIT */
/* What the tests of runs and groups share: keys in runs, serial loops, calls compared with them. */
#ifndef GP_TEST_GROUP_CHECK_H
#define GP_TEST_GROUP_CHECK_H

#include <gp/group.h>

#include "gp_test.h"

/* Keys: of a dtype, or (0) of that many bytes. */
struct group_keys {
    gp_dtype dtype;
    size_t bytes; /* of one */
    size_t n;
    char *items;
    /* Where runs begin, and how many there are. */
    size_t *heads, count;
};
typedef struct group_keys group_keys;

/* How long runs are. */
enum group_pattern {
    RUNS_OF_1,
    RUNS_OF_2,
    RUNS_OF_16,
    RUNS_OF_1000,
    RUNS_POWER_LAW,
    RUNS_MIXED, /* single items and pairs among runs of up to 100 */
    ONE_RUN,
    GROUP_PATTERNS
};

/* bytes 0: that of the dtype. */
group_keys group_keys_new(gp_dtype dtype, size_t bytes, enum group_pattern pattern, size_t n,
                          uint64_t *seed);
/* Given keys. */
group_keys group_keys_of(gp_dtype dtype, size_t bytes, const void *items, size_t n);
void group_keys_free(group_keys *keys);

/* Items at the places of an array. */
void *group_picked(const void *items, size_t bytes, const size_t *places, size_t count);
/* Item j is in[heads[j]] op .. op in[heads[j + 1] - 1], as out. For exact inputs. */
void *group_folded(gp_op op, gp_dtype in, gp_dtype out, const void *values, const group_keys *keys);

/* Each call on the keys, with arrays that begin `offset` items past a boundary, and room for
 * exactly the result. */
void group_check_unique(const group_keys *keys, size_t value_bytes, size_t offset);
void group_check_lengths(const group_keys *keys, gp_dtype index, int longer, size_t offset);
void group_check_reduce(const group_keys *keys, gp_op op, gp_dtype in, gp_dtype out, size_t offset,
                        uint64_t *seed);

/* Dtypes, then sizes in bytes. */
enum { GROUP_WIDTHS = 9 };
extern const size_t group_widths[GROUP_WIDTHS];

#endif
