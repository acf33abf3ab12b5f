/* SPDX-License-Identifier: MIT */
/* The scratch of the sort on CUDA, by architecture, as a test without a GPU sees it. */
#ifndef RADIXSORT_LAYOUT_H
#define RADIXSORT_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

enum { SORT_PIECES_MAX = 24 };

struct sort_piece {
    size_t at, bytes;
    size_t least; /* what kernels write there, as far as that follows from the other figures */
};

struct sort_layout {
    int num_pieces;
    struct sort_piece pieces[SORT_PIECES_MAX];
    size_t zeroed, bytes;
    size_t zeroed_end; /* where what has to be zero ends, by the pieces */
};

/* Of architecture number `gpu` of TUNING_ARCHITECTURES. */
void sort_layout_of(int gpu, size_t key_bytes, size_t value_bytes, uint64_t n,
                    struct sort_layout *layout);

#endif
