/* SPDX-License-Identifier: MIT */
/*
 * The contexts that are alive in this process, and which thread is in a call with each.
 *
 * Every public call asks here before it looks into its context, so that one that was destroyed, or
 * never was one, is found without reading its memory.
 */
#ifndef GPI_REGISTRY_H
#define GPI_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* false: out of memory. */
bool gpi_registry_add(gp_context *ctx);

enum gpi_claim {
    GPI_CLAIMED, /* now in use by this thread */
    GPI_NESTED,  /* was so before */
    GPI_BUSY,    /* in use by another thread */
    GPI_UNKNOWN  /* not a context that is alive */
};

struct gpi_entry;

/* Take a context for this thread. *entry is what to release; NULL unless GPI_CLAIMED. */
enum gpi_claim gpi_registry_claim(const gp_context *ctx, struct gpi_entry **entry);
void gpi_registry_release(struct gpi_entry *entry);

/* End a context that this thread has claimed: no thread finds it any more. */
void gpi_registry_remove(struct gpi_entry *entry);

bool gpi_registry_alive(const gp_context *ctx);

/* How often this process has come out of fork() as the child, or its parents have. */
uint32_t gpi_registry_forks(void);

/* Around fork(), see threads.c. */
void gpi_registry_lock(void);
void gpi_registry_unlock(void);
void gpi_registry_forked(void);

#ifdef __cplusplus
}
#endif

#endif
