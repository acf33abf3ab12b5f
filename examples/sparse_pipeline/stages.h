/* SPDX-License-Identifier: MIT */
/* The stages of sparse_pipeline and what they share. */
#ifndef EXAMPLE_STAGES_H
#define EXAMPLE_STAGES_H

#include <gp/gp.h>

#include "coo.h"
#include "oracle.h"
#include "report.h"

enum { EXIT_GOOD = 0, EXIT_ERROR = 1, EXIT_DIFFERENT = 3 }; /* 2: bad options */

/* Arrays in the context's memory. */
struct device_arrays {
    uint64_t *keys, *keys_sorted; /* row << col_bits | col of each entry */
    uint32_t *rows, *cols;
    double *values, *values_sorted;
    uint32_t *row_pointers, *csr_cols; /* of the result; nnz of it are in use */
    double *csr_values;
    uint64_t *csr_nnz;
    uint32_t *csr_rows, *row_pointers_again;
    double *x, *y;
    double *p_values, *rank, *next, *prefix, *teleport, *total; /* of PageRank */
};

struct pipeline {
    gp_context *ctx;
    const char *where; /* "cpu" or "cuda" */
    struct report report;
    double tolerance; /* of PageRank */
    struct coo m;
    int row_bits, col_bits;
    double *x;      /* on the host, num_cols */
    struct csr a;   /* the result, on the host */
    double *p;      /* a's values with each column scaled to sum 1 */
    int iterations; /* of PageRank; 0: not run */
    bool different; /* from the oracle */
    struct device_arrays d;
};

/* Each returns an EXIT_ code and has said on stderr what went wrong. */
int stages_upload(struct pipeline *p);   /* host to device */
int stages_csr(struct pipeline *p);      /* sort, merge duplicates, row pointers, SpMV */
int stages_download(struct pipeline *p); /* the CSR matrix, back to p->a */
int stages_pagerank(struct pipeline *p); /* of a square matrix */
int stages_check(struct pipeline *p);    /* all results against the oracle */
void stages_free(struct pipeline *p);

static const double stages_damping = 0.85; /* of PageRank */

/* Say on stderr that memory is short or what gp's last error was; EXIT_ERROR. */
int stages_no_memory(void);
int stages_fail(struct pipeline *p);

/* Copy from the context's memory to the host and wait. */
gp_status stages_fetch(struct pipeline *p, const void *from, size_t bytes, void *to);

#endif
