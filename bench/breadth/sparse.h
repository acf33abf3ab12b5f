/* SPDX-License-Identifier: MIT */
/* What rows of sparse matrices have in common. */
#ifndef GP_BENCH_BREADTH_SPARSE_H
#define GP_BENCH_BREADTH_SPARSE_H

#include "breadth.h"

/* Bytes of an index. */
unsigned sparse_width(const struct bench_args *a);
/* The output of a task, in a slot. */
void *sparse_made(struct bench *b, int slot, struct bench_task t);
/* Row pointers of rows that are alike, the last one shorter. */
void *sparse_pointers(struct bench *b, const struct bench_args *a, int slot, size_t length);
struct bench_case sparse_case(const char *name, bench_run run,
                              bool (*check)(struct bench *, const struct bench_case *));

/* Coordinates to CSR, filters, columns sorted within rows. */
void sparse_conversions(struct bench *b, gp_dtype dtype);

#endif
