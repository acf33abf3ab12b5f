/* SPDX-License-Identifier: MIT */
/* The context as rooms see it: where to compute, how to report, where to put scratch. */
#ifndef GPI_CONTEXT_H
#define GPI_CONTEXT_H

#include <stdbool.h>

#include <gp/core.h>

#include "core/state.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GPI_ERROR_TEXT = 384, GPI_ALIGN = 256 };

/* Memory that a capture may have seen stays until the context dies. */
struct gpi_retired {
    struct gpi_retired *next;
    void *memory;
    size_t bytes;
};

/* One grow-only block. Frames carve it from the bottom up, nested frames above their callers'. */
struct gpi_block {
    char *memory;
    size_t bytes;
    bool captured; /* a capture has seen it */
};

/* Memory that was given to the caller, with its bytes, see core/memory.c. */
struct gpi_given {
    struct gpi_gift *slots;
    size_t capacity, count;
};

struct gp_context {
    gp_backend backend;
    int device;   /* CUDA ordinal, -1 on the CPU */
    int sm;       /* compute capability, major * 10 + minor; 0 on the CPU */
    int sm_row;   /* index into the compiled SMs (GPI_SMS): the newest not newer than the device */
    int sm_count; /* multiprocessors to give work to */
    int threads;  /* of the CPU backend */
    int isa;      /* enum gpi_isa of the CPU backend */
    gp_stream stream;
    gp_stream own_stream; /* made at creation unless one was given */
    gp_stream outside;    /* inside a gate (core/gate.h): what stream was outside; otherwise NULL */
    struct gpi_gate *gate; /* NULL: the context does not validate, or is the CPU's */
    bool validate;         /* check contents of arrays, see validate/validate_internal.h */
    gp_allocator allocator;
    struct gpi_block scratch; /* contents lost between calls */
    size_t scratch_used;      /* by the open frames */
    struct gpi_block state;   /* tile states, see core/state.h; zeroed when made */
    struct gpi_retired *retired;
    struct gpi_launch_graphs *graphs; /* of launches, see core/launch.h; NULL: none */
    void *pointer_query;              /* the driver's cuPointerGetAttributes(); NULL: without */
    struct gpi_sticky *sticky;        /* in the context's memory */
    const char *function;             /* the public call that it is in, or was in last */
    uint32_t calls;                   /* how many there were, from 1 on */
    bool broken;                      /* CUDA failed: refuse work until reset */
    uint32_t forks;                   /* of the process when the context was made */
    struct gpi_given given;           /* memory that gp_malloc() gave */
    char error[GPI_ERROR_TEXT];
};

/* The stream that memory is taken and given back on. */
static inline gp_stream gpi_home(const gp_context *ctx)
{
    return ctx->outside ? ctx->outside : ctx->stream;
}

/* Write the last-error text (of ctx, or of this thread when ctx is NULL) and return status. */
gp_status gpi_fail(gp_context *ctx, gp_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A GPU's context that fork() has copied into a child: its device objects are the parent's. */
bool gpi_context_is_orphan(const gp_context *ctx);

/* Forget the memory that gp_malloc() gave; it stays with the caller. */
void gpi_given_drop(gp_context *ctx);

#ifdef __cplusplus
}
#endif

#endif
