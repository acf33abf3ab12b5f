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

/* CSR of the transposed matrix, with magnitudes for values (-0 stays). */
bool oracle_transpose(const struct csr *a, struct csr *t);

enum { ORACLE_DEGREE_BINS = 33 };

/* Entries per row, and how many rows have 0, 1, 2 or 3, 4 to 7 .. of them. */
struct oracle_degrees {
    uint32_t *degree; /* the caller's to free */
    uint64_t bins[ORACLE_DEGREE_BINS];
    uint32_t most, first_with_most;
};

bool oracle_degrees(const struct csr *a, struct oracle_degrees *d);

/* y = A x, and size[r] = the sum of |a x| in row r, which bounds what rounding can do to y[r]. */
void oracle_spmv(const struct csr *a, const double *x, double *y, double *size);

/* Each value's magnitude by the sum of those of its column; 0 where that is 0. */
bool oracle_scale_columns(const struct csr *a, double *values);

/*
 * PageRank by power iteration: rank = damping (P rank + lost / n) + (1 - damping) / n, where lost
 * is the rank of the columns without entries, until the ranks change by less than tolerance in all.
 * Gives the number of iterations.
 */
bool oracle_pagerank(const struct csr *p, double damping, double tolerance, double *rank,
                     int *iterations, coo_progress *progress, void *arg);

/* Steps from source along the entries of rows; UINT32_MAX: not reached. */
bool oracle_bfs(const struct csr *links, uint32_t source, uint32_t *level);

/* The smallest vertex that is connected with each, by entries in either direction. */
bool oracle_components(const struct csr *a, uint32_t *component);

/* Triangles of entries in either direction, without those on the diagonal; t is the transpose. */
bool oracle_triangles(const struct csr *a, const struct csr *t, uint64_t *triangles,
                      coo_progress *progress, void *arg);

#endif
