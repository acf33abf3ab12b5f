/* SPDX-License-Identifier: MIT */
#include "core/check.h"

#include <inttypes.h>
#include <string.h>

#include "core/cuda.h"

/* Texts about a context that is not this thread's go to the thread. */
gp_status gpi_call_claim(struct gpi_call *call, gp_context *ctx, const char *function)
{
    if (!ctx)
        return gpi_fail(NULL, GP_ERROR_POINTER, "%s: ctx is NULL", function);
    switch (gpi_registry_claim(ctx, &call->entry)) {
    case GPI_UNKNOWN:
        return gpi_fail(NULL, GP_ERROR_POINTER,
                        "%s: ctx is %p, not a context, or one that was destroyed", function,
                        (void *)ctx);
    case GPI_BUSY:
        return gpi_fail(NULL, GP_ERROR_BUSY,
                        "%s: ctx is in use by another thread; make a context for each", function);
    default:
        return GP_OK;
    }
}

void gpi_call_end(struct gpi_call *call)
{
    if (call->entry)
        gpi_registry_release(call->entry);
}

gp_status gpi_check_not_orphan(gp_context *ctx, const char *function)
{
    if (gpi_context_is_orphan(ctx))
        return gpi_fail(
            ctx, GP_ERROR_DEVICE,
            "%s: ctx was made before fork(), and a child process does not inherit a GPU", function);
    return GP_OK;
}

gp_status gpi_call_begin(struct gpi_call *call, gp_context *ctx, const char *function)
{
    GPI_TRY(gpi_call_claim(call, ctx, function));
    GPI_TRY(gpi_check_not_orphan(ctx, function));
    if (ctx->broken)
        return gpi_fail(ctx, GP_ERROR_CUDA,
                        "%s: ctx has reported a CUDA error; call gp_context_reset() first",
                        function);
    if (call->entry) {
        ctx->function = function;
        ctx->calls++;
    }
    return GP_OK;
}

gp_status gpi_named(gp_context *ctx, const char *function, gp_status status)
{
    char text[GPI_ERROR_TEXT];
    size_t length = strlen(function);
    if (status == GP_OK ||
        (strncmp(ctx->error, function, length) == 0 && ctx->error[length] == ':'))
        return status;
    memcpy(text, ctx->error, sizeof text);
    return gpi_fail(ctx, status, "%s: %s", function, text);
}

gp_status gpi_check_array_slow(gp_context *ctx, const char *function, const char *argument,
                               const void *memory, uint64_t bytes, size_t alignment)
{
    const char *what = NULL;
    if (bytes == 0)
        return GP_OK;
    if (!memory)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: %s is NULL", function, argument);
    if ((uintptr_t)memory % alignment)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: %s is %p, not aligned to %zu bytes", function,
                        argument, memory, alignment);
    if (ctx && ctx->backend == GP_BACKEND_CUDA && !gpi_cuda_accessible(ctx, memory, &what))
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: %s is %p, %s; this context computes on a GPU",
                        function, argument, memory, what);
    return GP_OK;
}

gp_status gpi_fail_sm(gp_context *ctx, const char *function)
{
    return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: this build has no code for sm_%d", function,
                    ctx->sm);
}

gp_status gpi_fail_n(gp_context *ctx, const char *function, const char *argument, uint64_t n)
{
    return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: %s is %" PRIu64 ", more than 2^40", function,
                    argument, n);
}

gp_status gpi_fail_dtype(gp_context *ctx, const char *function, const char *argument,
                         gp_dtype dtype, const char *expected)
{
    if (gpi_dtype_bytes(dtype))
        return gpi_fail(ctx, GP_ERROR_DTYPE, "%s: %s is %s, expected %s", function, argument,
                        gp_dtype_string(dtype), expected);
    return gpi_fail(ctx, GP_ERROR_DTYPE, "%s: %s is %d, expected %s", function, argument,
                    (int)dtype, expected);
}

gp_status gpi_fail_overlap(gp_context *ctx, const char *function, const char *name_a, const void *a,
                           uint64_t bytes_a, const char *name_b, const void *b, uint64_t bytes_b)
{
    return gpi_fail(ctx, GP_ERROR_OVERLAP,
                    "%s: %s (%p, %" PRIu64 " bytes) overlaps %s (%p, %" PRIu64 " bytes)", function,
                    name_a, a, bytes_a, name_b, b, bytes_b);
}

gp_status gpi_check_item_bytes(gp_context *ctx, const char *function, const char *argument,
                               size_t bytes)
{
    if (bytes == 0 || bytes > GPI_ITEM_BYTES_MAX)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: %s is %zu, expected 1 to %d", function,
                        argument, bytes, (int)GPI_ITEM_BYTES_MAX);
    return GP_OK;
}

gp_status gpi_check_index_dtype(gp_context *ctx, const char *function, const char *argument,
                                gp_dtype dtype)
{
    if (dtype != GP_U32 && dtype != GP_I32 && dtype != GP_U64 && dtype != GP_I64)
        return gpi_fail_dtype(ctx, function, argument, dtype, "u32, i32, u64 or i64");
    return GP_OK;
}

gp_status gpi_check_index_value(gp_context *ctx, const char *function, const char *argument,
                                uint64_t value, const char *dtype_argument, gp_dtype dtype)
{
    uint64_t largest = dtype == GP_U32 ? UINT32_MAX : dtype == GP_I32 ? INT32_MAX : UINT64_MAX;
    GPI_TRY(gpi_check_n(ctx, function, argument, value));
    if (value > largest)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: %s is %" PRIu64 ", more than %s %s can hold",
                        function, argument, value, dtype_argument, gp_dtype_string(dtype));
    return GP_OK;
}

gp_status gpi_check_unsigned_index(gp_context *ctx, const char *function, const char *argument,
                                   gp_dtype dtype)
{
    if (dtype != GP_U32 && dtype != GP_U64)
        return gpi_fail_dtype(ctx, function, argument, dtype, "u32 or u64");
    return GP_OK;
}

gp_status gpi_check_index_range(gp_context *ctx, const char *function, size_t n,
                                const char *argument, gp_dtype dtype)
{
    if (dtype == GP_U32 && n > UINT32_MAX)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: n is %zu, expected less than 2^32 with %s u32",
                        function, n, argument);
    return GP_OK;
}

gp_status gpi_check_keys(gp_context *ctx, const char *function, gp_dtype dtype, const void *keys_in,
                         size_t n)
{
    size_t bytes = gpi_dtype_bytes(dtype);
    GPI_TRY(gpi_check_dtype(ctx, function, "dtype", dtype));
    GPI_TRY(gpi_check_n(ctx, function, "n", n));
    return gpi_check_array(ctx, function, "keys_in", keys_in, (uint64_t)n * bytes, bytes);
}

gp_status gpi_check_unused_dtype(gp_context *ctx, const char *function, const char *argument,
                                 gp_dtype dtype)
{
    if (dtype)
        return gpi_fail_dtype(ctx, function, argument, dtype, "0: not of this call");
    return GP_OK;
}

gp_status gpi_check_unused(gp_context *ctx, const char *function, const char *argument,
                           uint64_t value)
{
    if (value)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: %s is %" PRId64 ", expected 0: not of this call", function, argument,
                        (int64_t)value);
    return GP_OK;
}

gp_status gpi_check_order(gp_context *ctx, const char *function, const char *argument,
                          gp_order order)
{
    if (order != GP_ASCENDING && order != GP_DESCENDING)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: %s is %d, expected GP_ASCENDING or GP_DESCENDING", function, argument,
                        (int)order);
    return GP_OK;
}

gp_status gpi_check_algorithm(gp_context *ctx, const char *function, const char *argument,
                              gp_backend backend, gp_algorithm algorithm, unsigned set)
{
    if ((int)algorithm < GP_ALGORITHM_AUTO || algorithm > GP_ALGORITHM_SERIAL)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: %s is %d, not a gp_algorithm", function,
                        argument, (int)algorithm);
    if (!(set >> algorithm & 1))
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: %s is %d, which this call does not have",
                        function, argument, (int)algorithm);
    if (algorithm == GP_ALGORITHM_CUB && backend == GP_BACKEND_CPU)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                        "%s: %s is GP_ALGORITHM_CUB, which the CPU does not have", function,
                        argument);
    if (algorithm == GP_ALGORITHM_SERIAL && backend == GP_BACKEND_CUDA)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                        "%s: %s is GP_ALGORITHM_SERIAL, which CUDA does not have", function,
                        argument);
    return GP_OK;
}

static gp_status check_target_number(const char *function, const char *member, int value)
{
    if (value < 0)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT, "%s: target->%s is %d, expected 0 or more",
                        function, member, value);
    return GP_OK;
}

gp_status gpi_check_target(const char *function, const gp_target *target, gp_target *taken)
{
    static const gp_target any = GP_TARGET_INIT;
    *taken = any;
    if (!target)
        return GP_OK;
    GPI_TRY(gpi_take_struct(NULL, function, "target", target, taken, GPI_FORM(gp_target)));
    if ((int)taken->backend < GP_BACKEND_AUTO || taken->backend > GP_BACKEND_CUDA)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT, "%s: target->backend is %d, not a gp_backend",
                        function, (int)taken->backend);
    GPI_TRY(check_target_number(function, "sm", taken->sm));
    GPI_TRY(check_target_number(function, "sm_count", taken->sm_count));
    return check_target_number(function, "threads", taken->threads);
}

gp_status gpi_check_figure(const char *function, const size_t *bytes)
{
    return bytes ? GP_OK : gpi_fail(NULL, GP_ERROR_POINTER, "%s: bytes is NULL", function);
}
