/* SPDX-License-Identifier: MIT */
/* The CPU backend's threads and its choice of instruction set. */
#ifndef GPI_THREADS_H
#define GPI_THREADS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GPI_THREADS_MAX = 4096 };

/* Call body(arg, i) for every i in [0, count), spread over at most threads threads; returns when
 * all are done. Which thread runs which i is not defined, so results must not depend on it. */
void gpi_parallel_for(int threads, size_t count, void (*body)(void *arg, size_t i), void *arg);

/* Threads that a context gets when nothing was asked. */
int gpi_threads_default(void);

/* Instruction sets that templates are compiled for, in rising order. */
enum gpi_isa { GPI_ISA_BASE = 0, GPI_ISA_AVX2 = 1, GPI_ISA_AVX512 = 2, GPI_ISA_COUNT = 3 };

/* The best one that this machine runs and this build has. */
enum gpi_isa gpi_isa_detect(void);

#ifdef __cplusplus
}
#endif

#endif
