/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "core/cuda.h"
#include "core/threads.h"
#include "core/workspace.h"

static const char create[] = "gp_context_create";

/* A whole number from the environment, from low to high; *value stays if it is not set. */
static gp_status number_from_environment(const char *name, const char *what, int low, int high,
                                         int *value)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !*text)
        return GP_OK;
    long v = strtol(text, &end, 10);
    if (*end || v < low || v > high)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT, "%s: %s is \"%.40s\", expected %s, %d to %d",
                        create, name, text, what, low, high);
    *value = (int)v;
    return GP_OK;
}

/* GP_BACKEND, GP_THREADS, GP_DEVICE and GP_MULTIPROCESSORS stand in for what the options leave
 * open, each where it has a meaning. */
static gp_status options_from_environment(gp_context_options *o)
{
    const char *backend = getenv("GP_BACKEND");
    if (o->backend == GP_BACKEND_AUTO && backend && *backend) {
        if (strcmp(backend, "cpu") == 0)
            o->backend = GP_BACKEND_CPU;
        else if (strcmp(backend, "cuda") == 0)
            o->backend = GP_BACKEND_CUDA;
        else
            return gpi_fail(NULL, GP_ERROR_ARGUMENT,
                            "%s: GP_BACKEND is \"%.40s\", expected cpu or cuda", create, backend);
    }
    if (o->backend != GP_BACKEND_CUDA && o->threads == 0)
        GPI_TRY(number_from_environment("GP_THREADS", "a number of threads", 1, GPI_THREADS_MAX,
                                        &o->threads));
    if (o->validate == 0)
        GPI_TRY(number_from_environment("GP_VALIDATE", "0 or 1", 0, 1, &o->validate));
    if (o->backend == GP_BACKEND_CPU)
        return GP_OK;
    if (o->device == -1)
        GPI_TRY(number_from_environment("GP_DEVICE", "a device number", 0, INT_MAX, &o->device));
    if (o->multiprocessors == 0)
        GPI_TRY(number_from_environment("GP_MULTIPROCESSORS", "a number of multiprocessors", 1,
                                        INT_MAX, &o->multiprocessors));
    return GP_OK;
}

static gp_status options_check(const gp_context_options *o)
{
    if ((int)o->backend < GP_BACKEND_AUTO || o->backend > GP_BACKEND_CUDA)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT, "%s: options->backend is %d", create,
                        (int)o->backend);
    if (o->device < -1)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT, "%s: options->device is %d", create, o->device);
    if (o->threads < 0 || o->threads > GPI_THREADS_MAX)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT, "%s: options->threads is %d, allowed 0 to %d",
                        create, o->threads, (int)GPI_THREADS_MAX);
    if (o->multiprocessors < 0)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT,
                        "%s: options->multiprocessors is %d, expected 0 or more", create,
                        o->multiprocessors);
    if (o->reserved_too)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT, "%s: options->reserved_too is %d, expected 0",
                        create, o->reserved_too);
    if (!o->allocator.allocate != !o->allocator.release)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT,
                        "%s: options->allocator has only one of allocate and release", create);
    return GP_OK;
}

static gp_status start_cpu(gp_context *ctx, const gp_context_options *o)
{
    ctx->backend = GP_BACKEND_CPU;
    ctx->device = -1;
    ctx->sm = ctx->sm_row = ctx->sm_count = 0;
    ctx->threads = o->threads ? o->threads : gpi_processors();
    ctx->isa = (int)gpi_isa_detect();
    if (o->stream)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: options->stream is set, but the context computes on the CPU", create);
    ctx->sticky = calloc(1, sizeof *ctx->sticky);
    return ctx->sticky ? GP_OK : gpi_fail(ctx, GP_ERROR_MEMORY, "%s: out of host memory", create);
}

static gp_status start_cuda(gp_context *ctx, const gp_context_options *o)
{
    ctx->backend = GP_BACKEND_CUDA;
    GPI_TRY(gpi_cuda_open(ctx, o->device));
    if (o->multiprocessors > 0 && o->multiprocessors < ctx->sm_count)
        ctx->sm_count = o->multiprocessors;
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_cuda_start(ctx));
    if (o->stream)
        ctx->stream = o->stream;
    return GP_OK;
}

/* Automatic means CUDA where it works, otherwise the CPU; a device that was named must be there. */
static gp_status start(gp_context *ctx, const gp_context_options *o)
{
    gp_status s;
    if (o->backend == GP_BACKEND_CPU)
        return start_cpu(ctx, o);
    s = start_cuda(ctx, o);
    if (s == GP_OK || o->backend == GP_BACKEND_CUDA || o->device >= 0 || o->stream ||
        (s != GP_ERROR_DEVICE && s != GP_ERROR_UNSUPPORTED))
        return s;
    return start_cpu(ctx, o);
}

/* Make the process know the context; or say why not. */
static gp_status enroll(gp_context *ctx)
{
    if (!gpi_pool_enter(ctx->threads))
        return gpi_fail(ctx, GP_ERROR_MEMORY, "%s: out of host memory", create);
    if (gpi_registry_add(ctx))
        return GP_OK;
    gpi_pool_leave();
    return gpi_fail(ctx, GP_ERROR_MEMORY, "%s: out of host memory", create);
}

/* Free a context that no other thread can find. */
static void dispose(gp_context *ctx)
{
    if (!gpi_context_is_orphan(ctx)) {
        GPI_ON_DEVICE(ctx);
        gpi_workspace_drop(ctx);
        if (ctx->backend == GP_BACKEND_CUDA)
            gpi_cuda_stop(ctx);
    }
    if (ctx->backend == GP_BACKEND_CPU)
        free(ctx->sticky);
    gpi_given_drop(ctx);
    free(ctx);
}

gp_status gp_context_create(gp_context **out, const gp_context_options *options)
{
    static const size_t older[] = {offsetof(gp_context_options, validate), 0};
    static const struct gpi_form form = {sizeof(gp_context_options), older,
                                         "GP_CONTEXT_OPTIONS_INIT"};
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    if (!out)
        return gpi_fail(NULL, GP_ERROR_POINTER, "%s: ctx is NULL", create);
    *out = NULL;
    if (options)
        GPI_TRY(gpi_take_struct(NULL, create, "options", options, &o, &form));
    GPI_TRY(options_check(&o));
    GPI_TRY(options_from_environment(&o));
    gp_context *ctx = calloc(1, sizeof *ctx);
    if (!ctx)
        return gpi_fail(NULL, GP_ERROR_MEMORY, "%s: out of host memory", create);
    ctx->allocator = o.allocator;
    ctx->validate = o.validate != 0;
    ctx->forks = gpi_registry_forks();
    gp_status s = start(ctx, &o);
    if (s == GP_OK && o.workspace_bytes)
        s = gpi_workspace_reserve(ctx, create, o.workspace_bytes);
    if (s == GP_OK)
        s = enroll(ctx);
    if (s != GP_OK) {
        gpi_fail(NULL, s, "%s", ctx->error);
        dispose(ctx);
        return s;
    }
    *out = ctx;
    return GP_OK;
}

void gp_context_destroy(gp_context *ctx)
{
    struct gpi_call call = {NULL};
    if (!ctx || gpi_call_claim(&call, ctx, "gp_context_destroy") != GP_OK || !call.entry)
        return;
    gpi_registry_remove(call.entry);
    dispose(ctx);
    gpi_pool_leave();
}

bool gpi_context_is_orphan(const gp_context *ctx)
{
    return ctx->backend == GP_BACKEND_CUDA && ctx->forks != gpi_registry_forks();
}

gp_status gp_context_synchronize(gp_context *ctx)
{
    struct gpi_sticky found = {0};
    GPI_CALL(ctx, "gp_context_synchronize");
    GPI_ON_DEVICE(ctx);
    if (ctx->backend == GP_BACKEND_CUDA) {
        GPI_TRY(gpi_cuda_synchronize(ctx, &found));
    } else if (ctx->sticky->rule) {
        found = *ctx->sticky;
        *ctx->sticky = (struct gpi_sticky){0};
    }
    return gpi_sticky_fail(ctx, &found);
}

gp_status gp_context_set_stream(gp_context *ctx, gp_stream stream)
{
    GPI_CALL(ctx, "gp_context_set_stream");
    if (ctx->backend == GP_BACKEND_CPU)
        return stream ? gpi_fail(ctx, GP_ERROR_ARGUMENT,
                                 "gp_context_set_stream: stream is %p, but the context computes "
                                 "on the CPU",
                                 (void *)stream)
                      : GP_OK;
    GPI_ON_DEVICE(ctx);
    return gpi_cuda_follow(ctx, stream ? stream : ctx->own_stream);
}

gp_stream gp_context_stream(const gp_context *ctx)
{
    return gpi_registry_alive(ctx) ? ctx->stream : NULL;
}

gp_backend gp_context_backend(const gp_context *ctx)
{
    return gpi_registry_alive(ctx) ? ctx->backend : GP_BACKEND_AUTO;
}

gp_status gp_context_reset(gp_context *ctx)
{
    static const char f[] = "gp_context_reset";
    __attribute__((cleanup(gpi_call_end))) struct gpi_call call = {NULL};
    gp_status s = GP_OK;
    GPI_TRY(gpi_call_claim(&call, ctx, f));
    GPI_TRY(gpi_check_not_orphan(ctx, f));
    ctx->broken = false;
    ctx->error[0] = '\0';
    GPI_ON_DEVICE(ctx);
    gpi_workspace_drop(ctx);
    if (ctx->backend == GP_BACKEND_CPU) {
        *ctx->sticky = (struct gpi_sticky){0};
    } else {
        gpi_cuda_stop(ctx);
        s = gpi_cuda_start(ctx);
    }
    ctx->broken = s != GP_OK;
    return s;
}

gp_status gp_context_describe(const gp_context *ctx, char *text, size_t bytes)
{
    static const char *const isa[GPI_ISA_COUNT] = {"baseline", "AVX2", "AVX-512"};
    if (!ctx || !text)
        return gpi_fail(NULL, GP_ERROR_POINTER, "gp_context_describe: %s is NULL",
                        ctx ? "text" : "ctx");
    if (!gpi_registry_alive(ctx))
        return gpi_fail(NULL, GP_ERROR_POINTER,
                        "gp_context_describe: ctx is %p, not a context, or one that was destroyed",
                        (const void *)ctx);
    if (bytes == 0)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT, "gp_context_describe: bytes is 0");
    if (ctx->backend == GP_BACKEND_CUDA)
        gpi_cuda_describe(ctx, text, bytes);
    else
        snprintf(text, bytes, "gp %d.%d.%d, cpu, %d thread%s, %s", GP_VERSION_MAJOR,
                 GP_VERSION_MINOR, GP_VERSION_PATCH, ctx->threads, ctx->threads == 1 ? "" : "s",
                 isa[ctx->isa]);
    return GP_OK;
}
