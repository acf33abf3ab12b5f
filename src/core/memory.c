/* SPDX-License-Identifier: MIT */
/*
 * Memory for callers. Allocators want the size back when memory is released, so the context keeps a
 * table of what it gave; what is not in there was not given by this context, or is free already.
 *
 * The table is a hash table with linear probing, at most half full. Removing an entry moves those
 * behind it that would no longer be found.
 */
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "core/cuda.h"
#include "core/workspace.h"

struct gpi_gift {
    void *memory; /* NULL: a free slot */
    size_t bytes;
};

enum { CAPACITY_MIN = 64 };

static size_t slot_of(const struct gpi_given *g, const void *memory)
{
    return (size_t)(((uintptr_t)memory / GPI_ALIGN * UINT64_C(0x9e3779b97f4a7c15)) >> 32) %
           g->capacity;
}

/* The slot of memory, or a free one where it could go. */
static struct gpi_gift *find(const struct gpi_given *g, const void *memory)
{
    size_t slot = slot_of(g, memory);
    while (g->slots[slot].memory && g->slots[slot].memory != memory)
        slot = (slot + 1) % g->capacity;
    return &g->slots[slot];
}

/* Make sure that one more fits. */
static bool make_room(struct gpi_given *g)
{
    if (2 * (g->count + 1) <= g->capacity)
        return true;
    struct gpi_given larger = {.capacity = g->capacity ? 2 * g->capacity : CAPACITY_MIN,
                               .count = g->count};
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < g->capacity; i++)
        if (g->slots[i].memory)
            *find(&larger, g->slots[i].memory) = g->slots[i];
    free(g->slots);
    *g = larger;
    return true;
}

static void remove_slot(struct gpi_given *g, struct gpi_gift *gift)
{
    size_t slot = (size_t)(gift - g->slots);
    g->slots[slot].memory = NULL;
    g->count--;
    while (g->slots[slot = (slot + 1) % g->capacity].memory) {
        struct gpi_gift moved = g->slots[slot];
        g->slots[slot].memory = NULL;
        *find(g, moved.memory) = moved;
    }
}

void gpi_given_drop(gp_context *ctx)
{
    free(ctx->given.slots);
    ctx->given = (struct gpi_given){NULL, 0, 0};
}

gp_status gp_malloc(gp_context *ctx, size_t bytes, void **memory)
{
    static const char f[] = "gp_malloc";
    if (memory)
        *memory = NULL;
    GPI_CALL(ctx, f);
    if (!memory)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: memory is NULL", f);
    if (bytes == 0)
        return GP_OK;
    if (!make_room(&ctx->given))
        return gpi_fail(ctx, GP_ERROR_MEMORY, "%s: out of host memory", f);
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_allocate(ctx, f, bytes, memory));
    *find(&ctx->given, *memory) = (struct gpi_gift){*memory, bytes};
    ctx->given.count++;
    return GP_OK;
}

/* Also of a context that is broken: memory must be given back all the same. */
gp_status gp_free(gp_context *ctx, void *memory)
{
    static const char f[] = "gp_free";
    __attribute__((cleanup(gpi_call_end))) struct gpi_call call = {NULL};
    GPI_TRY(gpi_call_claim(&call, ctx, f));
    if (!memory)
        return GP_OK;
    GPI_TRY(gpi_check_not_orphan(ctx, f));
    struct gpi_gift *gift = ctx->given.count ? find(&ctx->given, memory) : NULL;
    if (!gift || !gift->memory)
        return gpi_fail(ctx, GP_ERROR_POINTER,
                        "%s: memory is %p, which gp_malloc() of this context did not give, or "
                        "which is free already",
                        f, memory);
    size_t bytes = gift->bytes;
    remove_slot(&ctx->given, gift);
    GPI_ON_DEVICE(ctx);
    gpi_release(ctx, memory, bytes);
    return GP_OK;
}

gp_status gp_copy(gp_context *ctx, const void *source, size_t bytes, void *destination)
{
    static const char f[] = "gp_copy";
    GPI_CALL(ctx, f);
    if (bytes == 0)
        return GP_OK;
    if (!source || !destination)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: %s is NULL", f,
                        source ? "destination" : "source");
    const struct gpi_array ranges[] = {GPI_READ("source", source, bytes, 1),
                                       GPI_WRITE_OVER(1, "destination", destination, bytes, 1)};
    GPI_TRY(gpi_check_apart(ctx, f, ranges, 0, 2));
    if (source == destination)
        return GP_OK;
    if (ctx->backend == GP_BACKEND_CPU) {
        memcpy(destination, source, bytes);
        return GP_OK;
    }
    GPI_ON_DEVICE(ctx);
    return gpi_cuda_copy(ctx, source, bytes, destination);
}
