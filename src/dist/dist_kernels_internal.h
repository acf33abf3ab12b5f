/* SPDX-License-Identifier: MIT */
/* CUDA: the kernels of calls over several ranks (dist_cuda.cu), and what each of them is given. */
#ifndef GPI_DIST_KERNELS_INTERNAL_H
#define GPI_DIST_KERNELS_INTERNAL_H

#include "dist/dist_internal.h"

enum gpi_dist_task {
    GPI_DIST_PROBE,
    GPI_DIST_SAMPLE,
    GPI_DIST_COPY,
    GPI_DIST_MAIL,
    GPI_DIST_CUT,
    GPI_DIST_SHIFT,
    GPI_DIST_ADD_ROWS,
    GPI_DIST_RENUMBER,
    GPI_DIST_NUMBER_ROWS,
    GPI_DIST_COUNT,
    GPI_DIST_COPY_EACH
};

/* Which of n keys is number i of a sample of count: one from each of as many equal parts, at places
 * that do not follow each other evenly. n is at most 2^40. */
#define GPI_DIST_SAMPLED(n, count, i)                                                              \
    ((uint64_t)(i) * ((n) / (uint64_t)(count)) +                                                   \
     ((uint32_t)((uint32_t)(i)*0x9e3779b1u) * ((n) / (uint64_t)(count)) >> 32))

/* What the ranks' keys are cut by: sorted keys of each, and the places of a part in all of them. */
enum { GPI_DIST_CUT_RANKS = 32 };
struct gpi_dist_cutting {
    const void *keys[GPI_DIST_CUT_RANKS];
    uint64_t n[GPI_DIST_CUT_RANKS];
    int ranks;
    uint64_t begin, end;
};

struct gpi_dist_kernel {
    enum gpi_dist_task task;
    size_t in_bytes, out_bytes;
    const void *in;
    void *out;
    uint64_t n;
    uint64_t offset;                   /* SHIFT; RENUMBER: the first own column */
    uint64_t own, count;               /* RENUMBER: own columns, and those of the list at words */
    int rows;                          /* ADD_ROWS; how many words PROBE, SAMPLE and so on have */
    int bits, step;                    /* COUNT: of intervals, which begin at words */
    const void *words;                 /* PROBE; RENUMBER: the list; NUMBER_ROWS: limits; COUNT */
    struct gpi_radix_order order;      /* PROBE, SAMPLE, CUT */
    const struct gpi_mailing *mailing; /* MAIL, which has nothing else */
    /* CUT: to out, where the part begins in the keys of each rank, and 0; then how many of it come
     * before those of each rank, and all. */
    const struct gpi_dist_cutting *cutting; /* COPY_EACH: n integers of each rank */
};

/* The most bytes of an item of a reduction: four doubles. */
enum { GPI_DIST_ITEM_MAX = 32 };

/* A copy of a few items by a kernel, which begins sooner than CUDA's copies do. */
gp_status gpi_dist_copy_few(gp_comm *comm, const char *function, const void *from,
                            size_t item_bytes, uint64_t n, void *to);

/* The same of n items of every rank, one after the other. */
gp_status gpi_dist_copy_each(gp_comm *comm, const char *function,
                             const struct gpi_dist_cutting *from, size_t item_bytes, void *to);

typedef gp_status gpi_dist_launch_fn(gp_context *ctx, const char *function,
                                     const struct gpi_dist_kernel *kernel);
gpi_dist_launch_fn *gpi_dist_launch_get(int sm_row);
gp_status gpi_dist_launch(gp_comm *comm, const char *function,
                          const struct gpi_dist_kernel *kernel);

#endif
