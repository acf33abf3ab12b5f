/* SPDX-License-Identifier: MIT */
/*
 * Calls of the C library that fail when a test asks for it: the k-th of the library's host
 * allocations, or every pthread_create() from the k-th on. Needs the dynamic linker to take these
 * functions from the test program, so it does nothing where a sanitizer has put its own in between.
 */
#ifndef FAILING_H
#define FAILING_H

#include <stdbool.h>

#if defined(__has_feature)
#define FAILING_SANITIZED __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAILING_SANITIZED 1
#else
#define FAILING_SANITIZED 0
#endif

/* Whether the functions below do anything in this build. */
bool failing_works(void);

/* Let the k-th allocation of this thread from now on fail, k from 0; negative: none. */
void failing_allocation(long k);
/* Allocations of this thread since then. */
long failing_allocations(void);

/* Let every thread fail to start from the k-th on; negative: none. */
void failing_threads(long k);
long failing_threads_started(void);

#endif
