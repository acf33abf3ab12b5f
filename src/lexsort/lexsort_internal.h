/* SPDX-License-Identifier: MIT */
/*
 * Lexicographic sort of (row, column).
 *
 * Up to 64 bits together: row and column become one word, row << col_bits | column, which is sorted
 * as unsigned and taken apart again. More: they are the two parts of a key, see
 * lexsort_parts_internal.h, which also serves the calls for other parts and records.
 *
 * Scratch, each piece 256-byte aligned:
 *   one word   [words n][words n][the sort's]
 *   parts      [indices n][those of the order by parts][copy of values]
 */
#ifndef GPI_LEXSORT_INTERNAL_H
#define GPI_LEXSORT_INTERNAL_H

#include "radixsort/radixsort_internal.h"

struct gpi_lex_job {
    size_t pair_bytes; /* 4 or 8 */
    gp_order order;
    int row_bits, col_bits; /* resolved: 1 to the width */
    size_t value_bytes;     /* 0: none */
    size_t n;
    const uint64_t *device_n; /* NULL, or n is its bound, on CUDA */
    const void *rows, *cols, *values;
    void *rows_out, *cols_out, *values_out; /* rows_out NULL: indices are wanted */
    gp_dtype index_dtype;
    void *indices_out;
};

/* Bytes of the word that holds both. */
static inline size_t gpi_lex_word_bytes(const struct gpi_lex_job *j)
{
    return j->row_bits + j->col_bits <= 32 ? 4 : 8;
}

struct gpi_lex_kernels {
    void (*pack)(gp_context *ctx, const struct gpi_lex_job *j, void *words);
    void (*unpack)(gp_context *ctx, const struct gpi_lex_job *j, const void *words);
};

extern const struct gpi_lex_kernels gpi_lex_kernels_cpu;

/* lexsort_table.c, on CUDA; NULL: this build has no code for the GPU. */
const struct gpi_lex_kernels *gpi_lex_kernels_get(int sm_row);

#endif
