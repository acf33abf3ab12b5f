/* SPDX-License-Identifier: MIT */
/* Arrays of more than 2^32 items on a GPU, which repeat a chunk, so that outputs do. */
#ifndef GP_TEST_LARGE_H
#define GP_TEST_LARGE_H

#include "gp_test.h"

enum { LARGE_CHUNK = 1 << 20, LARGE_REST = 12345 }; /* items */
#define LARGE_CHUNKS (((size_t)1 << 12) + 3)
#define LARGE_N (LARGE_CHUNKS * LARGE_CHUNK + LARGE_REST)

char *large_new(size_t bytes);
void large_free(char **arrays, int count);

/* An array of a length in bytes: a chunk of `each` bytes over and over. */
char *large_repeated(const void *chunk, size_t each, size_t bytes);

/* bytes of an array, all of them. */
void large_same(const char *what, const char *actual, size_t bytes, const void *expected);

/* Of an array that repeats `each` bytes: the first, the last, those about 2^32, and some. */
void large_repeats(const char *what, const char *actual, size_t bytes, const void *expected,
                   size_t each);

/* Random bytes below a bound. */
char *large_random_chunk(uint64_t seed, unsigned below);

/* The items of a chunk, or of its first `items`, that have a number; returns how many. */
size_t large_pick(const char *chunk, size_t item_bytes, const char *numbers, size_t items,
                  int number, char *out);

#endif
