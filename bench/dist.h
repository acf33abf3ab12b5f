/* SPDX-License-Identifier: MIT */
/* What the files of gp-dist-bench share. */
#ifndef BENCH_DIST_H
#define BENCH_DIST_H

#include <gp/gp.h>

#include <stdbool.h>
#include <stdint.h>

enum { RANKS_MAX = 16 };

/* What a rank has: room for n words of 8 bytes in each array, and for some bins. */
struct rank {
    gp_context *ctx;
    gp_comm *comm; /* NULL: the call of one rank */
    bool cuda;
    int number, ranks;
    size_t n;
    void *in, *values, *out, *values_out;
    uint64_t *counts; /* 64: a place for one, and from the eighth on what goes to each rank */
    void *matrix;     /* of dist_matrix.c, or NULL */
};

/* How the keys of all ranks are distributed. */
enum spread {
    SPREAD_EVEN,
    SPREAD_SORTED,
    SPREAD_REVERSED,
    SPREAD_EQUAL,
    SPREAD_ZIPF,   /* the k-th most frequent of 2^20 values, as often as 1/k */
    SPREAD_ONE,    /* even, but all of them on rank 0 */
    SPREAD_LIKE_4, /* as many belong to another rank as if there were 4 of them, */
    SPREAD_LIKE_8  /* or 8 */
};

/* The program ends if a call did not work. */
void need(gp_context *ctx, gp_status s);
/* Keys of 4 bytes, or even ones of 8, to r->in. */
void fill_keys(struct rank *r, enum spread spread, bool wide);

/* dist_matrix.c; the arrays of a rank are its own. */
void coo_prepare(struct rank *r);
void coo_prepare_even(struct rank *r);
gp_status coo_run(struct rank *r);
void product_prepare(struct rank *r);
gp_status product_run(struct rank *r);
void matrix_clear(struct rank *r);

/* dist_peer.c: keys of 4 bytes. */
gp_status sample_sort(struct rank *r);

#endif
