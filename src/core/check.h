/* SPDX-License-Identifier: MIT */
/* Argument checks of the front doors. Each returns GP_OK or has written the error text. */
#ifndef GPI_CHECK_H
#define GPI_CHECK_H

#include "core/context.h"
#include "core/dtype.h"
#include "core/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most items of an array. */
#define GPI_MAX_N ((uint64_t)1 << 40)

/* Leave the calling function with the status of an expression that is not GP_OK. */
#define GPI_TRY(expression)                                                                        \
    do {                                                                                           \
        gp_status gpi_try_ = (expression);                                                         \
        if (gpi_try_ != GP_OK)                                                                     \
            return gpi_try_;                                                                       \
    } while (0)

/* The context of a public call, from its first line to wherever it returns. */
struct gpi_call {
    struct gpi_entry *entry; /* NULL inside a call of the library's own */
};

/* ctx is alive, not in use by another thread, not of a parent process's GPU, and not broken. Also
 * clears the last error text. */
gp_status gpi_call_begin(struct gpi_call *call, gp_context *ctx, const char *function);
void gpi_call_end(struct gpi_call *call);

/* The first statement of every public call that has a context. */
#define GPI_CALL(ctx, function)                                                                    \
    __attribute__((cleanup(gpi_call_end))) struct gpi_call gpi_call_ = {NULL};                     \
    GPI_TRY(gpi_call_begin(&gpi_call_, ctx, function))

/* As above, also for a context that is broken. */
gp_status gpi_call_claim(struct gpi_call *call, gp_context *ctx, const char *function);

/* ctx is not a GPU's context that fork() has copied. */
gp_status gpi_check_not_orphan(gp_context *ctx, const char *function);

/* A descriptor or options struct: not NULL, and its size member is the one of this header. */
gp_status gpi_check_struct(gp_context *ctx, const char *function, const char *argument,
                           const void *object, size_t size_member, size_t expected);

/* The status of a part of the call function, whose error text begins with that name then: parts
 * that are public calls have written their own. */
gp_status gpi_named(gp_context *ctx, const char *function, gp_status status);

/* What the checks below do where a comparison or two do not tell that all is well. */
gp_status gpi_check_array_slow(gp_context *ctx, const char *function, const char *argument,
                               const void *memory, uint64_t bytes, size_t alignment);
gp_status gpi_fail_n(gp_context *ctx, const char *function, const char *argument, uint64_t n);
gp_status gpi_fail_dtype(gp_context *ctx, const char *function, const char *argument,
                         gp_dtype dtype);
gp_status gpi_fail_overlap(gp_context *ctx, const char *function, const char *name_a, const void *a,
                           uint64_t bytes_a, const char *name_b, const void *b, uint64_t bytes_b);

/* An array of bytes: not NULL unless empty, aligned (to a power of two), and memory that ctx can
 * compute on. */
static inline gp_status gpi_check_array(gp_context *ctx, const char *function, const char *argument,
                                        const void *memory, uint64_t bytes, size_t alignment)
{
    const bool on_host = !ctx || ctx->backend != GP_BACKEND_CUDA;
    if (bytes == 0 || (on_host && memory && ((uintptr_t)memory & (alignment - 1)) == 0))
        return GP_OK;
    return gpi_check_array_slow(ctx, function, argument, memory, bytes, alignment);
}

/* n is at most GPI_MAX_N items. */
static inline gp_status gpi_check_n(gp_context *ctx, const char *function, const char *argument,
                                    uint64_t n)
{
    return n <= GPI_MAX_N ? GP_OK : gpi_fail_n(ctx, function, argument, n);
}

static inline gp_status gpi_check_dtype(gp_context *ctx, const char *function, const char *argument,
                                        gp_dtype dtype)
{
    return gpi_dtype_bytes(dtype) ? GP_OK : gpi_fail_dtype(ctx, function, argument, dtype);
}

/* algorithm is a gp_algorithm, otherwise GP_ERROR_ARGUMENT; it is one of the set (a bit
 * 1 << GP_ALGORITHM_.. for each), and the backend has it, otherwise GP_ERROR_UNSUPPORTED. */
gp_status gpi_check_algorithm(gp_context *ctx, const char *function, const char *argument,
                              gp_backend backend, gp_algorithm algorithm, unsigned set);

/* The target of a gp_<primitive>_workspace_bytes() call; *taken becomes it,
 * or any machine if it is NULL. */
gp_status gpi_check_target(const char *function, const gp_target *target, gp_target *taken);

/* Two arrays do not overlap; with same_allowed they may also start at the same address. */
static inline gp_status gpi_check_overlap(gp_context *ctx, const char *function, const char *name_a,
                                          const void *a, uint64_t bytes_a, const char *name_b,
                                          const void *b, uint64_t bytes_b, bool same_allowed)
{
    const uintptr_t pa = (uintptr_t)a, pb = (uintptr_t)b;
    if (pa >= pb + bytes_b || pb >= pa + bytes_a || bytes_a == 0 || bytes_b == 0 || !a || !b ||
        (pa == pb && same_allowed))
        return GP_OK;
    return gpi_fail_overlap(ctx, function, name_a, a, bytes_a, name_b, b, bytes_b);
}

#ifdef __cplusplus
}
#endif

#endif
