/* SPDX-License-Identifier: MIT */
/* A loop whose rounds run on several threads. */
#ifndef EXAMPLE_PARALLEL_H
#define EXAMPLE_PARALLEL_H

#include <stddef.h>

/* body(arg, i) for each i below n, in any order; this thread takes part. threads 0: as many as
 * there are processors; with fewer where the system refuses one. */
void parallel(int threads, size_t n, void (*body)(void *arg, size_t i), void *arg);

#endif
