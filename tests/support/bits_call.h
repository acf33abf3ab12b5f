/* SPDX-License-Identifier: MIT */
/* What the calls of test_backends.c share: memory for their inputs and outputs. */
#ifndef GP_TEST_BITS_CALL_H
#define GP_TEST_BITS_CALL_H

#include "bits.h"

#define D (r->d)

/* Memory of the context with these contents. */
static inline void *given(struct bits_run *r, const void *host, size_t bytes)
{
    void *memory;
    T_OK(gp_malloc(r->ctx, bytes ? bytes : 1, &memory));
    T_OK(gp_copy(r->ctx, host, bytes, memory));
    r->in[r->inputs++] = memory;
    return memory;
}

static inline void *result(struct bits_run *r, size_t bytes)
{
    T_OK(gp_malloc(r->ctx, bytes ? bytes : 1, &r->out[r->outputs]));
    r->out_bytes[r->outputs] = bytes;
    return r->out[r->outputs++];
}

static inline void *items(struct bits_run *r)
{
    return given(r, r->d->in, r->d->n * r->d->item);
}

#endif
