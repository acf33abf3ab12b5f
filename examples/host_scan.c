/* SPDX-License-Identifier: MIT */
#include "host_scan.h"

#include <stdio.h>
#include <stdlib.h>

void need(gp_context *ctx, gp_status status)
{
    if (status == GP_OK)
        return;
    fprintf(stderr, "%s\n", gp_last_error(ctx));
    exit(1);
}

void host_scan(gp_context *ctx, const gp_scan_desc *desc, const void *in, size_t n, void *out)
{
    gp_dtype out_dtype = desc->out_dtype ? desc->out_dtype : desc->in_dtype;
    size_t scalars = gp_op_scalars(desc->op);
    size_t in_bytes = n * scalars * gp_dtype_bytes(desc->in_dtype);
    size_t outputs = n + (desc->kind == GP_SCAN_ROW_POINTERS);
    size_t out_bytes = outputs * scalars * gp_dtype_bytes(out_dtype);
    void *from = NULL, *to = NULL;
    need(ctx, gp_malloc(ctx, in_bytes, &from));
    need(ctx, gp_malloc(ctx, out_bytes, &to));
    need(ctx, gp_copy(ctx, in, in_bytes, from));
    need(ctx, gp_scan(ctx, desc, from, n, to));
    need(ctx, gp_copy(ctx, to, out_bytes, out));
    need(ctx, gp_context_synchronize(ctx));
    need(ctx, gp_free(ctx, from));
    need(ctx, gp_free(ctx, to));
}

void *host_memory(size_t bytes)
{
    void *memory = calloc(bytes ? bytes : 1, 1);
    if (memory)
        return memory;
    fprintf(stderr, "no memory for %zu bytes\n", bytes);
    exit(1);
}

double noise(size_t i)
{
    uint64_t x = (i + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9u;
    return (double)((x ^ (x >> 32)) >> 11) / 9007199254740992.0;
}
