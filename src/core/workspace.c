/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* for madvise() */
#include "core/workspace.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/check.h"
#include "core/cuda.h"

enum { HUGE_PAGE = 2 << 20 };

/* Memory in which passes write hundreds of places at a time comes in huge pages if it may: else
 * each of these has a page of its own, more than the processor knows at once. */
static void *host_allocate(size_t bytes)
{
#if defined(MADV_HUGEPAGE)
    if (bytes >= 2 * (size_t)HUGE_PAGE && bytes <= PTRDIFF_MAX - HUGE_PAGE) {
        bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        void *memory = aligned_alloc(HUGE_PAGE, bytes);
        if (memory)
            (void)madvise(memory, bytes, MADV_HUGEPAGE);
        return memory;
    }
#endif
    return aligned_alloc(GPI_ALIGN, gpi_piece(bytes));
}

gp_status gpi_allocate(gp_context *ctx, const char *function, size_t bytes, void **memory)
{
    *memory = NULL;
    if (bytes > PTRDIFF_MAX - GPI_ALIGN)
        return gpi_fail(ctx, GP_ERROR_MEMORY, "%s: cannot allocate %zu bytes", function, bytes);
    if (ctx->allocator.allocate)
        *memory = ctx->allocator.allocate(ctx->allocator.user, bytes, GPI_ALIGN, gpi_home(ctx));
    else if (ctx->backend == GP_BACKEND_CUDA)
        *memory = gpi_cuda_allocate(ctx, bytes);
    else
        *memory = host_allocate(bytes);
    if (!*memory)
        return gpi_fail(ctx, GP_ERROR_MEMORY, "%s: cannot allocate %zu bytes", function, bytes);
    if ((uintptr_t)*memory % GPI_ALIGN == 0)
        return GP_OK;
    gpi_fail(ctx, GP_ERROR_POINTER,
             "%s: the context's allocator gave %p, which is not aligned to %d bytes", function,
             *memory, (int)GPI_ALIGN);
    gpi_release(ctx, *memory, bytes);
    *memory = NULL;
    return GP_ERROR_POINTER;
}

void gpi_release(gp_context *ctx, void *memory, size_t bytes)
{
    if (!memory)
        return;
    if (ctx->allocator.release)
        ctx->allocator.release(ctx->allocator.user, memory, bytes, gpi_home(ctx));
    else if (ctx->backend == GP_BACKEND_CUDA)
        gpi_cuda_release(ctx, memory);
    else
        free(memory);
}

/* Free a block that a larger one replaced, or keep it if a graph may hold its address: one that the
 * user captures, or that of the call which is being validated, whose kernels are queued later. */
static gp_status block_retire(gp_context *ctx, const struct gpi_block *block)
{
    if (!block->memory)
        return GP_OK;
    if (!block->captured && !ctx->outside) {
        gpi_release(ctx, block->memory, block->bytes);
        return GP_OK;
    }
    struct gpi_retired *r = malloc(sizeof *r);
    if (!r)
        return GP_ERROR_MEMORY;
    *r = (struct gpi_retired){ctx->retired, block->memory, block->bytes};
    ctx->retired = r;
    return GP_OK;
}

/* The old block stays as it is unless the new one is in place. */
static gp_status block_grow(gp_context *ctx, const char *function, struct gpi_block *block,
                            size_t bytes)
{
    struct gpi_block old = *block;
    void *memory;
    if (gpi_cuda_capturing(ctx))
        return gpi_fail(ctx, GP_ERROR_WORKSPACE,
                        "%s: needs %zu bytes of workspace, has %zu, and must not allocate while "
                        "the stream is captured: call gp_context_reserve() before",
                        function, bytes, old.bytes);
    GPI_TRY(gpi_allocate(ctx, function, bytes, &memory));
    if (block_retire(ctx, &old) != GP_OK) {
        gpi_release(ctx, memory, bytes);
        return gpi_fail(ctx, GP_ERROR_MEMORY, "%s: out of host memory", function);
    }
    *block = (struct gpi_block){memory, bytes, false};
    return GP_OK;
}

static size_t grown(size_t have, size_t need)
{
    size_t half_more = have + have / 2;
    return need > half_more ? need : half_more;
}

static gp_status scratch_ensure(gp_context *ctx, const char *function, size_t bytes)
{
    if (bytes <= ctx->scratch.bytes)
        return GP_OK;
    return block_grow(ctx, function, &ctx->scratch, grown(ctx->scratch.bytes, bytes));
}

gp_status gpi_frame_open(gp_context *ctx, const char *function, size_t need,
                         struct gpi_frame *frame)
{
    size_t begin = ctx->scratch_used;
    if (begin == 0) {
        GPI_TRY(scratch_ensure(ctx, function, need));
    } else if (need > ctx->scratch.bytes - begin) {
        return gpi_fail(ctx, GP_ERROR_INTERNAL,
                        "%s: needs %zu bytes inside a call that left %zu; please report this",
                        function, need, ctx->scratch.bytes - begin);
    }
    if (gpi_cuda_capturing(ctx))
        ctx->scratch.captured = true;
    *frame = (struct gpi_frame){ctx, begin, begin + need};
    return GP_OK;
}

void *gpi_frame_take(struct gpi_frame *frame, size_t bytes)
{
    gp_context *ctx = frame->ctx;
    char *memory = ctx->scratch.memory; /* NULL if nothing was ever needed */
    char *piece = memory ? memory + ctx->scratch_used : NULL;
    ctx->scratch_used += gpi_piece(bytes);
    assert(ctx->scratch_used <= frame->end && "a room took more than it asked for");
    return piece;
}

void gpi_frame_close(struct gpi_frame *frame)
{
    if (frame->ctx) /* was opened */
        frame->ctx->scratch_used = frame->begin;
}

/* Zero the block; the counter starts at epoch 1 (byte 4, little-endian). */
static gp_status state_make(gp_context *ctx, const char *function, uint64_t slots)
{
    GPI_TRY(block_grow(ctx, function, &ctx->state, gpi_state_bytes(slots)));
    GPI_TRY(gpi_cuda_fill_at_home(ctx, ctx->state.memory, 0, ctx->state.bytes));
    return gpi_cuda_fill_at_home(ctx, ctx->state.memory + 4, 1, 1);
}

gp_status gpi_state_get(gp_context *ctx, const char *function, uint64_t slots,
                        struct gpi_state *state)
{
    if (gpi_state_bytes(slots) > ctx->state.bytes) {
        uint64_t want = slots < GPI_STATE_SLOTS_MIN ? GPI_STATE_SLOTS_MIN : slots + slots / 2;
        GPI_TRY(state_make(ctx, function, want));
    }
    if (gpi_cuda_capturing(ctx))
        ctx->state.captured = true;
    char *base = ctx->state.memory;
    uint32_t have = (uint32_t)((ctx->state.bytes - GPI_CTRL_BYTES) / GPI_SLOT_BYTES);
    state->ctrl = (struct gpi_ctrl *)(void *)base;
    state->words8 = (uint64_t *)(void *)(base + GPI_CTRL_BYTES);
    have -= have % GPI_STATE_GROUP;
    state->words16 = state->words8 + have;
    state->slots = have;
    state->sticky = ctx->sticky;
    return GP_OK;
}

/* reserve() cannot know how a figure splits into scratch and state, so both get it; the state stops
 * at a size that covers the largest arrays of today's GPUs. */
enum { STATE_RESERVE_MAX = 256 << 20 };

gp_status gpi_workspace_reserve(gp_context *ctx, const char *function, size_t bytes)
{
    size_t state = bytes < STATE_RESERVE_MAX ? bytes : STATE_RESERVE_MAX;
    GPI_ON_DEVICE(ctx);
    if (bytes > ctx->scratch.bytes)
        GPI_TRY(block_grow(ctx, function, &ctx->scratch, bytes));
    if (ctx->backend == GP_BACKEND_CUDA && state > ctx->state.bytes)
        return state_make(ctx, function, state / GPI_SLOT_BYTES + 1);
    return GP_OK;
}

gp_status gp_context_reserve(gp_context *ctx, size_t bytes)
{
    static const char f[] = "gp_context_reserve";
    GPI_CALL(ctx, f);
    return gpi_workspace_reserve(ctx, f, bytes);
}

void gpi_workspace_drop(gp_context *ctx)
{
    gpi_release(ctx, ctx->scratch.memory, ctx->scratch.bytes);
    gpi_release(ctx, ctx->state.memory, ctx->state.bytes);
    while (ctx->retired) {
        struct gpi_retired *r = ctx->retired;
        ctx->retired = r->next;
        gpi_release(ctx, r->memory, r->bytes);
        free(r);
    }
    ctx->scratch = ctx->state = (struct gpi_block){NULL, 0, false};
    ctx->scratch_used = 0;
}
