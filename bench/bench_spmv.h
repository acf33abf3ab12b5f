/* SPDX-License-Identifier: MIT */
/* Matrices of the suites of SpMV. */
#ifndef BENCH_SPMV_H
#define BENCH_SPMV_H

#include "bench.h"

struct bench_matrix {
    const char *name;
    /* its row pointers and columns, in slots 0 and 1, and how many they are */
    void (*make)(struct bench *b, const struct bench_matrix *m, struct bench_args *a);
    int kind; /* of those that are made */
    size_t n; /* about as many entries */
    const char *path;
};

/* The matrix of a list of a->n entries. */
void bench_matrix_of(struct bench *b, struct bench_args *a, const gp_coo_desc *desc,
                     const void *rows, const void *cols);

/* The product, and those by plans; wide: also with 64-bit indices. */
void bench_spmv_forms(struct bench *b, const struct bench_matrix *m, gp_dtype dtype, bool wide);

#endif
