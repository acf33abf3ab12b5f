/* SPDX-License-Identifier: MIT */
/*
 * Scratch memory of one call.
 *
 *     GPI_FRAME(frame, ctx, "gp_radix_sort", need); // need: an upper bound in bytes
 *     uint32_t *counts = gpi_frame_take(&frame, bins * sizeof *counts); // 256-byte aligned
 *     ...queue work, call other rooms...
 *
 * The outermost frame grows the block if it must; need therefore includes what the rooms it calls
 * take (add their workspace_bytes). Nested frames only carve. Frames close in reverse order.
 * Closing needs no wait: the next call is ordered behind this one on the stream.
 */
#ifndef GPI_WORKSPACE_H
#define GPI_WORKSPACE_H

#include "core/check.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpi_frame {
    gp_context *ctx;
    size_t begin; /* scratch_used when the frame was opened */
    size_t end;   /* begin + need */
};

gp_status gpi_frame_open(gp_context *ctx, const char *function, size_t need,
                         struct gpi_frame *frame);
void *gpi_frame_take(struct gpi_frame *frame, size_t bytes);
void gpi_frame_close(struct gpi_frame *frame);

/* A frame to the end of its block; if it cannot be opened, the function returns why. */
#define GPI_FRAME(frame, ctx, function, need)                                                      \
    __attribute__((cleanup(gpi_frame_close))) struct gpi_frame frame = {NULL, 0, 0};               \
    GPI_TRY(gpi_frame_open(ctx, function, need, &frame))

/* The tile-state block with at least that many slots in each array. CUDA contexts only. */
gp_status gpi_state_get(gp_context *ctx, const char *function, uint64_t slots,
                        struct gpi_state *state);

/* Bytes that one piece of a frame takes; for sizes that can be allocated. */
static inline size_t gpi_piece(size_t bytes)
{
    return (bytes + GPI_ALIGN - 1) / GPI_ALIGN * GPI_ALIGN;
}

/* gp_context_reserve() as part of another call. */
gp_status gpi_workspace_reserve(gp_context *ctx, const char *function, size_t bytes);

/* Memory in the context's place, aligned to GPI_ALIGN: the caller's allocator, or ours. */
gp_status gpi_allocate(gp_context *ctx, const char *function, size_t bytes, void **memory);
void gpi_release(gp_context *ctx, void *memory, size_t bytes);
void gpi_workspace_drop(gp_context *ctx);

#ifdef __cplusplus
}
#endif

#endif
