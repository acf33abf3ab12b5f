/* SPDX-License-Identifier: MIT */
/* What the recipes share: stop at the first error, and arrays where the context computes. */
#ifndef RECIPE_H
#define RECIPE_H

#include <gp/gp.h>
#include <stdio.h>
#include <stdlib.h>

static gp_context *ctx;

static inline void need(gp_status status)
{
    if (status == GP_OK)
        return;
    fprintf(stderr, "%s\n", gp_last_error(ctx));
    exit(1);
}

/* Memory where the context computes, with a copy of what is at host unless that is NULL. */
static inline void *device(size_t bytes, const void *host)
{
    void *memory;
    need(gp_malloc(ctx, bytes, &memory));
    if (host)
        need(gp_copy(ctx, host, bytes, memory));
    return memory;
}

/* Copy a result to the host and wait for it. */
static inline void fetch(const void *memory, size_t bytes, void *host)
{
    need(gp_copy(ctx, memory, bytes, host));
    need(gp_context_synchronize(ctx));
}

#endif
