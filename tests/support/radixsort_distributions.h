/* SPDX-License-Identifier: MIT */
/*
 * Keys distributed in every way that decides how they are sorted: evenly, over few bits, over the
 * highest or the lowest ones, in one place with a few elsewhere. And a check in linear time: keys
 * rise, equal ones keep their order, none is lost.
 */
#ifndef GP_RADIXSORT_DISTRIBUTIONS_H
#define GP_RADIXSORT_DISTRIBUTIONS_H

#include <string.h>

#include "gp_test.h"
#include "radixsort_check.h"

enum kind {
    EVEN,
    LOW_BITS,
    HIGH_BITS,
    EQUAL,
    TWO_VALUES,
    SORTED,
    REVERSED,
    MOST_EQUAL,
    EQUAL_HEADS, /* many keys agree in all but their lowest bits */
    FEW_VALUES,
    ONE_LARGE,          /* even but for some 12000 keys that agree in their highest bits */
    CLUSTERS,           /* of clusters, three deep */
    SOMEWHAT_TOO_LARGE, /* 450 of 512 equal ranges have all keys */
    PART_OF_RANGE,      /* even in 5/16 of the range, on both sides of the middle */
    BELL,               /* around the middle of the range, a millionth of it wide */
    NUMBER_PAIRS,       /* two small numbers in the halves of a key, the first one uneven */
    FAR_APART,          /* eight ranges of some thousand keys */
    HASHED,             /* hashes of numbers below 2^16, the smaller the more frequent */
    COUNTS,             /* below 97, the smaller the more frequent */
    AROUND_ZERO,        /* as signed numbers, from -1000 to 1000 */
    CROSSING,           /* even, on both sides of a power of two */
    WIDE_BELL,          /* a bell there */
    ONE_BELOW,          /* the even ones, and one far below them that hardly a sample has */
    SOME_APART,         /* a quarter are of 40 words, of which two are the ends of the range */
    EDGES,              /* two numbers in the halves of a key, whose bits are rarely set */
    EDGE_BEYOND,        /* the same, and two words of another bit, which hardly a sample has */
    EDGES_BEYOND,       /* the same, and two words of any bits */
    KINDS
};

void *keys_new(enum kind kind, size_t n, int width);

/* Of n items at which kernels change, a quarter on the CPU, where most of the time goes to keys and
 * comparisons; still more than its caches hold, if n is. */
size_t close_items(size_t n);

/* Same keys, and rising. */
void check_keys_alone(gp_dtype dtype, const void *before, const void *after, size_t n);

/* Each index once, beside its key, rising within equal keys. */
void check_pairs(gp_dtype dtype, const void *before, const void *after, const uint32_t *index,
                 size_t n);

/* One sort, its values the positions. */
void check_distribution(gp_dtype dtype, enum kind kind, size_t n, bool pairs, bool in_place);

#endif
