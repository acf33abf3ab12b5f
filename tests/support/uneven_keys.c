/* SPDX-License-Identifier: MIT */
/*
 * Keys on which the partitions of the CPU sort go wrong: compiled for AVX-512 with GPI_KEY_BITS=32
 * and 64, together with the partitions themselves.
 *
 * Each word is its position until a pivot is chosen from it; then it becomes larger than all others
 * that are still positions (McIlroy 1999, "A killer adversary for quicksort"). So the pivots are
 * among the largest words each time, and next to nothing is cut off. Words that are positions went
 * left of every pivot, and so do the large ones that take their places afterwards, since those fall
 * from level to level.
 */
#include <stdlib.h>
#include <string.h>

#include "radixsort/radixsort_cpu_internal.h"
#include "radixsort/radixsort_cpu_words.h"

enum { KEY_BYTES = GPI_KEY_BITS / 8 };

#include "radixsort/radixsort_cpu_vector.h"

#include "radixsort/radixsort_cpu_network.h"

#include "radixsort/radixsort_cpu_quicksort.h"

#define UNEVEN PASTE(t_uneven_keys_, GPI_KEY_BITS)
bool UNEVEN(KEY *keys, size_t n);

/* Where pivot_of() looks: those words become the largest so far undecided ones. */
static void decide(KEY *words, size_t n, size_t count, KEY *keys, KEY *largest)
{
    const size_t step = (n - LANES) / 8;
    for (size_t i = 0; i < 9; i++)
        for (size_t lane = 0; lane < LANES; lane++) {
            KEY *word = words + (i / 3 + i % 3 * 3) * step + lane;
            if (*word >= count)
                continue;
            keys[*word] = *largest;
            *word = (*largest)--;
        }
}

/* True if the partitions give up on the keys. */
bool UNEVEN(KEY *keys, size_t n)
{
    KEY *words = malloc(n * KEY_BYTES), largest = (KEY)-2;
    size_t left = n;
    if (!words)
        return false;
    for (size_t i = 0; i < n; i++)
        keys[i] = words[i] = (KEY)i;
    for (int depth = depth_of(n); depth > 0 && left > NETWORK_ITEMS; depth--) {
        decide(words, left, n, keys, &largest);
        left = part_equal_left(words, left, pivot_of(words, left));
    }
    memcpy(words, keys, n * KEY_BYTES);
    bool sorted = quick_sort(words, n, depth_of(n));
    free(words);
    return !sorted;
}
