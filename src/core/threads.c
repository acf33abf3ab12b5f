/* SPDX-License-Identifier: MIT */
/*
 * One pool of worker threads for the whole process.
 *
 * A worker belongs to the pool while it is idle, and to one loop from when gpi_parallel_loop()
 * borrows it until that returns. The caller offers its loop to the workers it has borrowed and
 * works on it too. Each has a range of the indices, the same one when a loop of as many is run
 * again, so that it finds in its caches what it has read and written before; who has ended claims
 * indices of the others. When none is left the caller takes back the offers that no worker has come
 * to yet, so that it never waits for a thread that has not started, and waits for the others to
 * finish the index that they are at.
 *
 *     IDLE -> OFFERED (caller) -> WORKING (worker) -> IDLE (worker)
 *             OFFERED -> IDLE (caller takes it back)
 *     IDLE -> QUIT (the last context ends)
 *
 * States change under the lock of the worker; reading one without the lock only tells a thread when
 * to look. models/pool.pml is a model of this for the checker spin.
 *
 * Workers are made when a loop finds too few idle ones. A thread that cannot be made means fewer,
 * never an error. A child process after fork() has none of them and makes its own.
 */
#include "core/relax.h"
#include "core/threads.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "core/registry.h"
#include "core/threads_internal.h"

#if defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

enum {
    STACK_BYTES = SANITIZED ? 2 << 20 : 128 << 10,
    SPINS = 128,       /* a few microseconds */
    AWAKE_NS = 50000,  /* about as long as a thread that sleeps takes to come */
    WAIT_NS = 1000000, /* most that a caller looks for the end of its loop before it sleeps */
    SEND_NS = 250000,  /* least between two times that a worker is sent away */
    LINE = 64
};

/* ---- workers --------------------------------------------------------------------------------- */

struct range {
    _Alignas(LINE) size_t next; /* index to be claimed */
    size_t end;
};

struct loop {
    struct range own; /* of the caller */
    _Alignas(LINE) void (*body)(void *arg, size_t i);
    void *arg;
    struct worker *lent; /* that the loop is offered to */
};

enum state { IDLE, OFFERED, WORKING, QUIT };

struct worker {
    _Alignas(LINE) pthread_mutex_t lock;
    pthread_cond_t offered;  /* for the worker */
    pthread_cond_t finished; /* for the caller */
    enum state state;
    struct loop *loop;
    struct range range; /* of the loop */
    int cpu;            /* where it has last looked at its state; -1: it sleeps */
    int64_t sent;       /* when it was sent to another processor */
    pthread_t thread;
    struct worker *next;  /* in the list of the idle, of those without a thread, or of a loop */
    struct worker *older; /* in the list of all */
};

static bool claim(struct range *r, size_t *i)
{
    return (*i = __atomic_fetch_add(&r->next, 1, __ATOMIC_RELAXED)) < r->end;
}

/* What a worker does, or the caller, NULL: its own range, then what is left of those behind it. */
static void loop_run(struct loop *l, struct worker *self)
{
    struct worker *w = self;
    size_t i;
    do {
        while (claim(w ? &w->range : &l->own, &i))
            l->body(l->arg, i);
        w = w ? w->next : l->lent;
    } while (w != self);
}

/* Look for another state for some time, in which other threads may run. */
static void state_watch(struct worker *w, enum state state, int64_t ns)
{
    const int64_t end = gpi_now_ns() + ns;
    do {
        if (state == IDLE)
            __atomic_store_n(&w->cpu, gpi_processor_here(), __ATOMIC_RELAXED);
        for (int i = 0; i < SPINS; i++) {
            if (__atomic_load_n(&w->state, __ATOMIC_RELAXED) != state)
                return;
            gpi_relax();
        }
        sched_yield();
    } while (gpi_now_ns() < end);
}

/* Go from one state to another if it is the one; returns what the state was. */
static enum state state_change(struct worker *w, enum state from, enum state to)
{
    pthread_mutex_lock(&w->lock);
    enum state was = w->state;
    if (was == from) {
        __atomic_store_n(&w->state, to, __ATOMIC_RELAXED);
        pthread_cond_signal(to == IDLE ? &w->finished : &w->offered);
    }
    pthread_mutex_unlock(&w->lock);
    return was;
}

/* Wait for the end of what a worker is at. */
static void worker_await(struct worker *w, int64_t awake_ns)
{
    state_watch(w, WORKING, awake_ns);
    pthread_mutex_lock(&w->lock);
    while (w->state == WORKING)
        pthread_cond_wait(&w->finished, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

int gpi_workers_awake;

/* Wait for an offer; one that was taken back meanwhile is a reason to look for the next one. */
static void worker_idle(struct worker *w)
{
    state_watch(w, IDLE, AWAKE_NS);
    pthread_mutex_lock(&w->lock);
    if (w->state == IDLE) {
        __atomic_store_n(&w->cpu, -1, __ATOMIC_RELAXED);
        __atomic_fetch_sub(&gpi_workers_awake, 1, __ATOMIC_RELAXED);
        pthread_cond_wait(&w->offered, &w->lock);
        __atomic_fetch_add(&gpi_workers_awake, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&w->lock);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    __atomic_fetch_add(&gpi_workers_awake, 1, __ATOMIC_RELAXED);
    for (;;) {
        worker_idle(w);
        enum state offer = state_change(w, OFFERED, WORKING);
        if (offer == QUIT) {
            __atomic_fetch_sub(&gpi_workers_awake, 1, __ATOMIC_RELAXED);
            return NULL;
        }
        if (offer == OFFERED) {
            loop_run(w->loop, w);
            state_change(w, WORKING, IDLE);
        }
    }
}

/* ---- the pool -------------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    struct worker *all, *idle;
    struct worker *spare; /* without a thread */
    int contexts;
    int workers; /* with a thread */
    int workers_max;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct worker *pop(struct worker **list)
{
    struct worker *w = *list;
    if (w)
        *list = w->next;
    return w;
}

static void push(struct worker **list, struct worker *w)
{
    w->next = *list;
    *list = w;
}

static struct worker *worker_new(void)
{
    struct worker *w = pop(&pool.spare);
    if (w)
        return w;
    w = aligned_alloc(LINE, (sizeof *w + LINE - 1) / LINE * LINE);
    if (w) {
        w->older = pool.all;
        pool.all = w;
    }
    return w;
}

/* A small stack is enough, unless the program's thread-local variables, which lie on it, leave no
 * room; then the system's default. Signals are for the program's own threads. */
static bool thread_start(struct worker *w)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool made = false;
    if (pthread_attr_init(&attributes) == 0) {
        made = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
               pthread_create(&w->thread, &attributes, worker_main, w) == 0;
        pthread_attr_destroy(&attributes);
    }
    if (!made)
        made = pthread_create(&w->thread, NULL, worker_main, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return made;
}

static void worker_close(struct worker *w)
{
    pthread_cond_destroy(&w->finished);
    pthread_cond_destroy(&w->offered);
    pthread_mutex_destroy(&w->lock);
}

/* NULL if there can be none; the next attempt is made when another context begins. */
static struct worker *worker_start(void)
{
    struct worker *w = worker_new();
    if (w) {
        pthread_mutex_init(&w->lock, NULL);
        pthread_cond_init(&w->offered, NULL);
        pthread_cond_init(&w->finished, NULL);
        w->state = IDLE;
        w->cpu = -1;
        w->sent = 0;
        if (thread_start(w)) {
            pool.workers++;
            return w;
        }
        worker_close(w);
        push(&pool.spare, w);
    }
    pool.workers_max = pool.workers;
    return NULL;
}

/* Up to `count` workers, as a list. */
static struct worker *borrow(int count)
{
    struct worker *lent = NULL;
    pthread_mutex_lock(&pool.lock);
    for (; count > 0; count--) {
        struct worker *w = pop(&pool.idle);
        if (!w && pool.workers < pool.workers_max)
            w = worker_start();
        if (!w)
            break;
        push(&lent, w);
    }
    pthread_mutex_unlock(&pool.lock);
    return lent;
}

static void give_back(struct worker *lent)
{
    struct worker *w;
    pthread_mutex_lock(&pool.lock);
    while ((w = pop(&lent)))
        push(&pool.idle, w);
    pthread_mutex_unlock(&pool.lock);
}

/* The system may have put a worker behind the caller on one processor and leave it there. */
static void worker_send_away(struct worker *w, int here, int64_t now)
{
    if (now - w->sent > SEND_NS) {
        w->sent = now;
        gpi_thread_send_away(w->thread, here);
    }
}

/* A worker looks at the loop once its state says so, and at the ranges of all others. */
static void loop_offer(struct loop *l, size_t count, int64_t now)
{
    const int here = gpi_processor_here();
    size_t parts = 1, part = 0;
    for (const struct worker *w = l->lent; w; w = w->next)
        parts++;
    l->own.end = gpi_part_begin(count, parts, 1);
    for (struct worker *w = l->lent; w; w = w->next) {
        w->loop = l;
        w->range.next = gpi_part_begin(count, parts, ++part);
        w->range.end = gpi_part_begin(count, parts, part + 1);
    }
    for (struct worker *w = l->lent; w; w = w->next) {
        const bool behind = here >= 0 && __atomic_load_n(&w->cpu, __ATOMIC_RELAXED) == here;
        state_change(w, IDLE, OFFERED);
        if (behind)
            worker_send_away(w, here, now);
    }
}

/* The caller's range. A worker that has not come in good time is sent for, once. */
static void own_run(struct loop *l, int64_t start)
{
    int64_t now = start;
    size_t i;
    while (claim(&l->own, &i)) {
        l->body(l->arg, i);
        if (now - start > AWAKE_NS)
            continue;
        now = gpi_now_ns();
        if (now - start > AWAKE_NS && __atomic_load_n(&l->lent->state, __ATOMIC_RELAXED) == OFFERED)
            worker_send_away(l->lent, gpi_processor_here(), now);
    }
}

void gpi_parallel_loop(int threads, size_t count, void (*body)(void *arg, size_t i), void *arg)
{
    if ((size_t)threads > count)
        threads = (int)count;
    struct loop loop = {.body = body, .arg = arg, .lent = borrow(threads - 1)};
    if (!loop.lent) {
        for (size_t i = 0; i < count; i++)
            body(arg, i);
        return;
    }
    const int64_t start = gpi_now_ns();
    loop_offer(&loop, count, start);
    own_run(&loop, start);
    loop_run(&loop, NULL);
    /* Who is at an index still ends it about as soon; to sleep and to be woken takes longer. */
    const int64_t worked = gpi_now_ns() - start;
    for (struct worker *w = loop.lent; w; w = w->next)
        if (state_change(w, OFFERED, IDLE) == WORKING)
            worker_await(w, worked < WAIT_NS ? worked + AWAKE_NS : WAIT_NS);
    give_back(loop.lent);
}

/* ---- contexts, fork, unloading --------------------------------------------------------------- */

static void before_fork(void)
{
    gpi_registry_lock();
    pthread_mutex_lock(&pool.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&pool.lock);
    gpi_registry_unlock();
}

/* The child has one thread; workers and those that used them are gone. */
static void after_fork_in_child(void)
{
    pool.idle = pool.spare = NULL;
    pool.workers = gpi_workers_awake = 0;
    for (struct worker *w = pool.all; w; w = w->older)
        push(&pool.spare, w);
    gpi_registry_forked();
    after_fork();
}

static bool fork_handled;

static void handle_fork(void)
{
    fork_handled = pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
}

bool gpi_pool_enter(int threads)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, handle_fork);
    if (!fork_handled)
        return false;
    pthread_mutex_lock(&pool.lock);
    pool.contexts++;
    if (pool.workers_max < threads - 1)
        pool.workers_max = threads - 1;
    pthread_mutex_unlock(&pool.lock);
    return true;
}

/* The idle workers leave the pool. Called under its lock. */
static struct worker *idle_take(void)
{
    struct worker *idle = pool.idle;
    for (struct worker *w = idle; w; w = w->next)
        pool.workers--;
    pool.idle = NULL;
    pool.workers_max = 0;
    return idle;
}

static void workers_end(struct worker *list)
{
    for (struct worker *w = list; w; w = w->next) {
        state_change(w, IDLE, QUIT);
        pthread_join(w->thread, NULL);
        worker_close(w);
    }
    pthread_mutex_lock(&pool.lock);
    for (struct worker *w; (w = pop(&list));)
        push(&pool.spare, w);
    pthread_mutex_unlock(&pool.lock);
}

void gpi_pool_leave(void)
{
    pthread_mutex_lock(&pool.lock);
    struct worker *idle = --pool.contexts == 0 ? idle_take() : NULL;
    pthread_mutex_unlock(&pool.lock);
    workers_end(idle);
}

/* When the library is unloaded, whatever contexts the program has forgotten. */
__attribute__((destructor)) static void pool_end(void)
{
    pthread_mutex_lock(&pool.lock);
    struct worker *idle = idle_take();
    pthread_mutex_unlock(&pool.lock);
    workers_end(idle);
    if (pool.workers > 0)
        return; /* another thread is still in a call */
    while (pool.all) {
        struct worker *w = pool.all;
        pool.all = w->older;
        free(w);
    }
    pool.spare = NULL;
}
