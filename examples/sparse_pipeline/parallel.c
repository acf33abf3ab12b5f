/* SPDX-License-Identifier: MIT */
#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

struct loop {
    void (*body)(void *arg, size_t i);
    void *arg;
    size_t n;
    atomic_size_t next;
};

static void *work(void *arg)
{
    struct loop *loop = arg;
    for (size_t i; (i = atomic_fetch_add(&loop->next, 1)) < loop->n;)
        loop->body(loop->arg, i);
    return NULL;
}

void parallel(int threads, size_t n, void (*body)(void *arg, size_t i), void *arg)
{
    struct loop loop = {.body = body, .arg = arg, .n = n};
    pthread_t others[THREADS_MAX];
    int started = 0;
    long wanted = threads ? threads : sysconf(_SC_NPROCESSORS_ONLN);
    wanted = wanted < THREADS_MAX ? wanted : THREADS_MAX;
    wanted = (size_t)wanted < n ? wanted : (long)n;
    while (started + 1 < wanted && pthread_create(&others[started], NULL, work, &loop) == 0)
        started++;
    work(&loop);
    while (started > 0)
        pthread_join(others[--started], NULL);
}
