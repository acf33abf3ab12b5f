/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "failing.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

static _Thread_local long allocations_left = -1, allocations;
static long threads_left = -1, threads;

bool failing_works(void)
{
    return !FAILING_SANITIZED;
}

void failing_allocation(long k)
{
    allocations_left = k;
    allocations = 0;
}

long failing_allocations(void)
{
    return allocations;
}

void failing_threads(long k)
{
    threads_left = k;
    threads = 0;
}

long failing_threads_started(void)
{
    return threads;
}

#if !FAILING_SANITIZED
/* glibc's own names, since dlsym() would allocate. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static bool allocation_fails(void)
{
    allocations++;
    if (allocations_left != 0)
        allocations_left -= allocations_left > 0;
    else {
        allocations_left = -1;
        errno = ENOMEM;
        return true;
    }
    return false;
}

void *malloc(size_t bytes)
{
    return allocation_fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return allocation_fails() ? NULL : __libc_calloc(count, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return allocation_fails() ? NULL : __libc_memalign(alignment, bytes);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *arg)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    threads++;
    if (threads_left == 0)
        return EAGAIN;
    threads_left -= threads_left > 0;
    return real(thread, attributes, start, arg);
}
#endif
