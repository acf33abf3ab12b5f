/* SPDX-License-Identifier: MIT */
/* Compactions with any outputs, compared with a serial loop. */
#ifndef GP_TEST_COMPACT_SIDES_H
#define GP_TEST_COMPACT_SIDES_H

#include "compact_check.h"

/* A call: outputs beside the descriptor's kind, where arrays lie, and how much room they have. */
struct sides {
    gp_compact_desc d;
    int outputs;  /* arrays of a partition; 0: none of its own */
    bool indices; /* of kept items, beside them */
    bool in_place;
    size_t at;        /* items and words before every array */
    uint64_t room[3]; /* 0: exactly the result */
};

struct sides sides_of(gp_compact_kind kind, size_t item_bytes);

/* One call. given: its n; if that is more than n, the number of items is on the device. */
void sides_check(struct sides w, const void *in, const uint8_t *keep, size_t n, size_t given);
/* Every way in which a call by flags or a comparison can be wanted. */
void sides_check_all(struct sides w, const void *in, const uint8_t *keep, size_t n);

#endif
