/* SPDX-License-Identifier: MIT */
/* The library's search for libgp_cub, and what it has found. */
#ifndef CUB_TABLE_H
#define CUB_TABLE_H

#include <stdbool.h>

struct cub_answer {
    const void *table;
    const char *why;
    /* The table has every function of every architecture, and its kernels are registered. */
    bool complete;
};

struct cub_answer cub_answer(void);

/* Whether all of libgp_cub's kernels were registered, in their order, with libgp's CUDA runtime; or
 * none, with another toolkit than CUDA 13.0: it may bring its own (core/cub_runtime.h). */
bool cub_registered(void);

#endif
