/* SPDX-License-Identifier: MIT */
/* What sparse_pipeline's results are compared with: serial loops that are easy to believe. */
#ifndef EXAMPLE_ORACLE_H
#define EXAMPLE_ORACLE_H

#include "coo.h"

struct csr {
    uint32_t num_rows, num_cols;
    size_t nnz;
    uint32_t *row_pointers, *cols;
    double *values;
};

void csr_free(struct csr *a);

/* All return false when memory is short. */

/* The entries in the order of rows, then columns, then input. */
bool oracle_sort(const struct coo *m, struct coo *sorted);

/* CSR of sorted entries. Entries of one place are summed as gp_csr_from_coo() promises it: in
 * blocks of 32, then the sums of the blocks. */
bool oracle_merge(const struct coo *sorted, struct csr *a);

/* y = A x, and size[r] = the sum of |a x| in row r, which bounds what rounding can do to y[r]. */
void oracle_spmv(const struct csr *a, const double *x, double *y, double *size);

/*
 * PageRank by power iteration: rank = damping (P rank + lost / n) + (1 - damping) / n, where lost
 * is the rank of the columns without entries, until the ranks change by less than tolerance in all.
 * Gives the number of iterations.
 */
bool oracle_pagerank(const struct csr *p, double damping, double tolerance, double *rank,
                     int *iterations, coo_progress *progress, void *arg);

#endif
