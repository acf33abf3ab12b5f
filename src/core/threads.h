/* SPDX-License-Identifier: MIT */
/* The threads of the CPU backend, and its choice of instruction set. */
#ifndef GPI_THREADS_H
#define GPI_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GPI_THREADS_MAX = 4096 };

/* Work of one thread, in nanoseconds, that pays for asking another one that is awake. */
enum { GPI_THREAD_GRAIN_NS = 20000 };

/* gpi_threads_for() of work for more than one thread. */
int gpi_threads_worth(int threads, uint64_t work_ns);

/* How many of the threads are worth asking for work that takes one thread work_ns; fewer where they
 * sleep. Rooms estimate that from their arguments; half or twice as much does no harm. */
static inline int gpi_threads_for(int threads, uint64_t work_ns)
{
    return threads > 1 && work_ns >= 2 * GPI_THREAD_GRAIN_NS ? gpi_threads_worth(threads, work_ns)
                                                             : 1;
}

/* gpi_parallel_for() of more than one index by more than one thread. */
void gpi_parallel_loop(int threads, size_t count, void (*body)(void *arg, size_t i), void *arg);

/* Call body(arg, i) for every i in [0, count), spread over at most threads threads, the calling one
 * among them; returns when all are done. Which thread runs which i, and in which order, is not
 * defined, so results must not depend on it, nor may an index wait for one that has not begun. But
 * loops of as many indices give most of them to the same threads, which have in their caches what
 * they have read and written there before. */
static inline void gpi_parallel_for(int threads, size_t count, void (*body)(void *arg, size_t i),
                                    void *arg)
{
    if (threads > 1 && count > 1)
        gpi_parallel_loop(threads, count, body, arg);
    else
        for (size_t i = 0; i < count; i++)
            body(arg, i);
}

/* The first of n items that is in a part, of parts that are as long as each other, give or take
 * one item. */
static inline size_t gpi_part_begin(size_t n, size_t parts, size_t part)
{
    size_t longer = n % parts;
    return n / parts * part + (part < longer ? part : longer);
}

/* Wait until another thread that is running stores value into *word, with release. */
void gpi_wait_for(const uint64_t *word, uint64_t value);

/* A CPU context with this number of threads begins to exist. false: out of memory. */
bool gpi_pool_enter(int threads);
/* One ends; the last one ends the workers too. */
void gpi_pool_leave(void);

/* Threads that a context gets when nothing was asked: the processors that this process may use. */
int gpi_processors(void);

/* Instruction sets that templates are compiled for, in rising order. */
enum gpi_isa { GPI_ISA_BASE = 0, GPI_ISA_AVX2 = 1, GPI_ISA_AVX512 = 2, GPI_ISA_COUNT = 3 };

/* The best one that this machine runs and this build has. */
enum gpi_isa gpi_isa_detect(void);

#ifdef __cplusplus
}
#endif

#endif
