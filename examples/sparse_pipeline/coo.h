/* SPDX-License-Identifier: MIT */
/* A sparse matrix as a list of entries, in host memory: what the readers and generators make. */
#ifndef EXAMPLE_COO_H
#define EXAMPLE_COO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Entry k is values[k] at (rows[k], cols[k]), counted from 0; entries of one place add up. */
struct coo {
    uint32_t num_rows, num_cols;
    size_t nnz;
    uint32_t *rows, *cols;
    double *values;
};

/* Arrays for nnz entries; false when memory is short. */
bool coo_allocate(struct coo *m, uint32_t num_rows, uint32_t num_cols, size_t nnz);
void coo_free(struct coo *m);

/* Called now and then by long loops; done and total in the same unit. May be NULL. */
typedef void coo_progress(void *arg, double done, double total);

#endif
