/* SPDX-License-Identifier: MIT */
/* The suite breadth: every call over the arguments that users choose. */
#ifndef GP_BENCH_BREADTH_H
#define GP_BENCH_BREADTH_H

#include "../bench.h"
#include "../bench_task.h"

enum { BREADTH_NAME = 48 };

/* One choice of arguments. */
struct breadth_call {
    char name[BREADTH_NAME];
    struct bench_rule rule;
    bench_run run;
    bool (*check)(struct bench *b, const struct bench_case *c);
    bool reads_only;
    /* Makes what describes the segments; returns the bytes that the call reads of it. */
    double (*describe)(struct bench *b, const struct breadth_call *call, struct bench_args *a);
    size_t key_bytes;
};

/* Measure a choice at every size asked for. */
void breadth_measure(struct bench *b, const struct breadth_call *call);

/* The choices of one group of calls. */
void breadth_scans(struct bench *b);
void breadth_reductions(struct bench *b);
void breadth_segments(struct bench *b);
void breadth_segreduce(struct bench *b);
void breadth_filters(struct bench *b);
void breadth_moves(struct bench *b);
void breadth_runs(struct bench *b);
void breadth_selects(struct bench *b);
void breadth_splits(struct bench *b);
void breadth_sparse(struct bench *b);
void breadth_products(struct bench *b);

/* For the table at the end. */
void breadth_keep(const struct bench_case *c, const struct bench_row *row);

/* Of the larger of a call's arrays, unless --n says something else. */
size_t breadth_bytes(const struct bench *b);

/* Whether every output of a scan follows from the one before. */
bool breadth_scan_is_right(struct bench *b, const struct bench_case *c);

enum { BREADTH_DTYPES = 12, BREADTH_OPS = 7 };
extern const gp_dtype breadth_dtypes[BREADTH_DTYPES];
extern const gp_op breadth_ops[BREADTH_OPS]; /* those of one scalar */
bool breadth_has_op(gp_dtype dtype, gp_op op);

/* Dtypes that sums may be widened to. */
struct breadth_pair {
    gp_dtype in, out;
};
enum { BREADTH_PAIRS = 13 };
extern const struct breadth_pair breadth_pairs[BREADTH_PAIRS];

#endif
