/* SPDX-License-Identifier: MIT */
/*
 * Vectors of words, for partitions and networks. Included by radixsort_cpu_tmpl.c.
 *
 * Each of the two files below has
 *   load_some, store_first        its first n words; the other lanes get a given one, or stay
 *   ordered                       to what the next three compare, and back
 *   exchange                      *a gets the smaller words, *b the larger ones
 *   turned                        lane i gets the word of lane i ^ turn
 *   larger_with                   the larger words in lanes whose number has a bit, the smaller
 *                                 ones elsewhere
 *   interleave_two                words of a and b take turns
 *   part_lanes                    words of a partition, to both ends
 *   split_by                      digits[i] = the splitters that are not above word i, of
 *                                 step * SPLIT_FEW - 1 ascending ones; there is room for whole
 *                                 vectors
 */
#include <immintrin.h>

/* Arrays of vectors stay in registers only where loops and calls are gone. */
#define INLINE __attribute__((always_inline)) inline
#define UNROLL _Pragma("GCC unroll 16")

/* Names of functions for words of this width. */
#define EPI(name) PASTE(PASTE(name, _epi), GPI_KEY_BITS)
#define GATHER(name) EPI(PASTE4(name, _i, GPI_KEY_BITS, gather))

#if defined(__AVX512F__)
typedef __m512i lanes;
#else
typedef __m256i lanes;
#endif

enum {
    LANES = sizeof(lanes) / KEY_BYTES,
    ROWS_MAX = 16 /* vectors in a network; with AVX2 to spill some costs less than a partition */
};

/* A vector as words, for the operators of the language. */
typedef KEY lane_words __attribute__((vector_size(sizeof(lanes))));

static INLINE lane_words lane_numbers(void)
{
    lane_words numbers = {0};
    UNROLL
    for (int i = 0; i < LANES; i++)
        numbers[i] = (KEY)i;
    return numbers;
}

static INLINE lanes all_lanes(KEY word)
{
    return (lanes)((lane_words){0} + word);
}

/* At any address. */
static INLINE lanes load_lanes(const KEY *words)
{
    lanes v;
    memcpy(&v, words, sizeof v);
    return v;
}

static INLINE void store_lanes(KEY *words, lanes v)
{
    memcpy(words, &v, sizeof v);
}

/* What a partition has still to read is [left_read, right_read); what it has written is all before
 * left and from right on. */
struct partition {
    KEY *left, *left_read, *right_read, *right;
    KEY pivot;
    bool equal_left; /* words like the pivot go left */
};

#if defined(__AVX512F__)
#include "radixsort/radixsort_cpu_vector_avx512.h"
#else
#include "radixsort/radixsort_cpu_vector_avx2.h"
#endif
