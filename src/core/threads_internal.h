/* SPDX-License-Identifier: MIT */
/* What the files of the thread pool share. */
#ifndef GPI_THREADS_INTERNAL_H
#define GPI_THREADS_INTERNAL_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

static inline int64_t gpi_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Workers that look for work, and those at work. */
extern int gpi_workers_awake;

/* The processor that this thread runs on; -1: not known. */
int gpi_processor_here(void);

/* Send a thread away from this processor, if it may run on another one. It stays as free as it was
 * to run on any. */
void gpi_thread_send_away(pthread_t thread, int here);

#endif
