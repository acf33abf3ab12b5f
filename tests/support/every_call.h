/* SPDX-License-Identifier: MIT */
/*
 * Every public call that computes, as a table: for tests of what must hold whatever the call is,
 * such as a context that is busy, an allocation that fails, a thread with a small stack.
 */
#ifndef EVERY_CALL_H
#define EVERY_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gp/gp.h>

/* Inputs of all calls for n items, and room for their outputs, in the memory of a context. */
struct every {
    size_t n, segments;
    uint32_t *keys, *sorted, *rows, *cols, *offsets, *counts, *edges;
    float *floats;
    uint8_t *flags;
    char *out[3];
    uint64_t *count;
    size_t out_bytes; /* of each */
    char *poison;     /* what outputs are filled with, out_bytes of the host */
    uint64_t *host;   /* where they are read to: by one thread at a time */
};
typedef struct every every;

enum { EVERY_CALLS = 116, EVERY_SEGMENT = 64, EVERY_BINS = 300 };

const char *every_name(int call);
/* Whether a call begins with an input in its output. */
bool every_in_place(int call);

/* Fails the test if memory is short. */
every every_new(gp_context *ctx, size_t n);
void every_free(gp_context *ctx, every *e);

/* One call; its outputs are in out and count. */
gp_status every_run(gp_context *ctx, const every *e, int call);

/* Fill all outputs; read them into a hash. */
gp_status every_fill(gp_context *ctx, const every *e);
gp_status every_read(gp_context *ctx, const every *e, uint64_t *hash);

/* The same, and a hash of all outputs, which are filled before. Fails no test by itself. */
gp_status every_hash(gp_context *ctx, const every *e, int call, uint64_t *hash);

#endif
