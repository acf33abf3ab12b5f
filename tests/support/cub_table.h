/* SPDX-License-Identifier: MIT */
/* The library's search for libgp_cub, and what it has found. */
#ifndef CUB_TABLE_H
#define CUB_TABLE_H

#include <stdbool.h>

struct cub_answer {
    const void *table;
    const char *why;
    bool complete; /* there is a table, and it has every function of every architecture */
};

struct cub_answer cub_answer(void);

#endif
