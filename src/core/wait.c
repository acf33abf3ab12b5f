/* SPDX-License-Identifier: MIT */
/* Threads that take turns, and how many are worth asking. */
#include <time.h>

#include "core/relax.h"
#include "core/threads.h"
#include "core/threads_internal.h"

enum {
    SPINS = 2048,          /* some 50 us */
    NAP_NS = 50000,        /* of a thread that waits for one that the system has put to sleep */
    WAKE_WORTH_NS = 80000, /* work of one thread that pays for waking a thread that sleeps */
    ROW_NS = 200000        /* between calls in a row, which wake it for less */
};

void gpi_wait_for(const uint64_t *word, uint64_t value)
{
    const struct timespec nap = {0, NAP_NS};
    for (int i = 0; __atomic_load_n(word, __ATOMIC_ACQUIRE) != value; i++) {
        if (i < SPINS)
            gpi_relax();
        else
            nanosleep(&nap, NULL);
    }
}

/* Whether a call is one of several in a row that want more threads. */
static bool in_a_row(void)
{
    static int64_t before;
    const int64_t now = gpi_now_ns();
    return now - __atomic_exchange_n(&before, now, __ATOMIC_RELAXED) < ROW_NS;
}

int gpi_threads_worth(int threads, uint64_t work_ns)
{
    const uint64_t useful = work_ns / GPI_THREAD_GRAIN_NS;
    const bool awake = __atomic_load_n(&gpi_workers_awake, __ATOMIC_RELAXED) > 0;
    if (!awake && work_ns < WAKE_WORTH_NS && !in_a_row())
        return 1;
    return useful >= (uint64_t)threads ? threads : (int)useful;
}
