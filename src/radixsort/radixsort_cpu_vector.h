/* SPDX-License-Identifier: MIT */
/*
 * Vectors of words, for partitions and networks. Included by radixsort_cpu_tmpl.c.
 *
 * Each of the two files below has LANES words in `lanes`, ROWS_MAX vectors in a network, AHEAD
 * vectors that a partition reads at a time, AHEAD_FAR that a long one does, and
 *   load_lanes, store_lanes       a whole vector, at any address
 *   load_some, store_first        its first n words; the other lanes get a given one, or stay
 *   ordered                       to what the next three compare, and back
 *   exchange                      *a gets the smaller words, *b the larger ones
 *   larger_with                   the larger words in lanes whose number has a bit, the smaller
 *                                 ones elsewhere
 *   turned                        lane i gets the word of lane i ^ turn
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
