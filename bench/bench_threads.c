/* SPDX-License-Identifier: MIT */
/*
 * The bench's own threads. Between two loops they stay awake for some 0.1 ms, and then sleep. Who
 * waits gives its processor away: the one that it waits for may have been woken on the same.
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { TURNS = 500 }; /* of waiting awake */

static struct pool {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    atomic_ulong round; /* of the loop that runs */
    int num_workers;    /* that exist */
    int wanted;         /* that take part in the round */
    atomic_int busy;    /* that have not ended it */
    bench_share share;
    void *arg;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .begin = PTHREAD_COND_INITIALIZER,
          .end = PTHREAD_COND_INITIALIZER};

int bench_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more than a cpu_set_t has */
    return online > 0 ? (int)online : 1;
}

/* Wait for the round after seen, awake for a while; its number, and what it wants of worker i. */
static unsigned long wait_for_round(unsigned long seen, int i, bool *wanted)
{
    for (int k = 0; k < TURNS && atomic_load(&pool.round) == seen; k++)
        sched_yield();
    pthread_mutex_lock(&pool.lock);
    while (atomic_load(&pool.round) == seen)
        pthread_cond_wait(&pool.begin, &pool.lock);
    seen = atomic_load(&pool.round);
    *wanted = i < pool.wanted;
    pthread_mutex_unlock(&pool.lock);
    return seen;
}

/* Worker i takes share i + 1 of every round that has one. */
static void *work(void *number)
{
    const int i = (int)(intptr_t)number;
    unsigned long seen = 0;
    for (;;) {
        bool wanted;
        seen = wait_for_round(seen, i, &wanted);
        if (!wanted)
            continue;
        pool.share(pool.arg, i + 1);
        if (atomic_fetch_sub(&pool.busy, 1) == 1) {
            pthread_mutex_lock(&pool.lock);
            pthread_cond_signal(&pool.end);
            pthread_mutex_unlock(&pool.lock);
        }
    }
    return NULL;
}

/* They live as long as the program. A new one has missed rounds that did not want it. */
static void start_workers(int count)
{
    pthread_t thread;
    while (pool.num_workers < count) {
        int e = pthread_create(&thread, NULL, work, (void *)(intptr_t)pool.num_workers);
        if (e != 0)
            bench_die("cannot start a thread: %s", strerror(e));
        pthread_detach(thread);
        pool.num_workers++;
    }
}

static void begin_round(int workers, bench_share share, void *arg)
{
    start_workers(workers);
    pthread_mutex_lock(&pool.lock);
    pool.share = share;
    pool.arg = arg;
    pool.wanted = workers;
    atomic_store(&pool.busy, workers);
    atomic_fetch_add(&pool.round, 1);
    pthread_cond_broadcast(&pool.begin);
    pthread_mutex_unlock(&pool.lock);
}

/* Shares are of one size, so the others end soon, unless their processors have other work. */
static void end_round(void)
{
    for (int i = 0; i < TURNS; i++) {
        if (atomic_load(&pool.busy) == 0)
            return;
        sched_yield();
    }
    pthread_mutex_lock(&pool.lock);
    while (atomic_load(&pool.busy) > 0)
        pthread_cond_wait(&pool.end, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

void bench_parallel(int count, bench_share share, void *arg)
{
    if (count > 1)
        begin_round(count - 1, share, arg);
    share(arg, 0);
    if (count > 1)
        end_round();
}
