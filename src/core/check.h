/* SPDX-License-Identifier: MIT */
/* Argument checks of the front doors. Each returns GP_OK or has written the error text. */
#ifndef GPI_CHECK_H
#define GPI_CHECK_H

#include "core/context.h"
#include "core/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* An array of bytes: not NULL unless empty, aligned, and memory that ctx can compute on. */
gp_status gpi_check_array(gp_context *ctx, const char *function, const char *argument,
                          const void *memory, uint64_t bytes, size_t alignment);

/* n is at most GPI_MAX_N items. */
gp_status gpi_check_n(gp_context *ctx, const char *function, const char *argument, uint64_t n);

gp_status gpi_check_dtype(gp_context *ctx, const char *function, const char *argument,
                          gp_dtype dtype);

/* algorithm is a gp_algorithm, otherwise GP_ERROR_ARGUMENT; it is one of the set (a bit
 * 1 << GP_ALGORITHM_.. for each), and the backend has it, otherwise GP_ERROR_UNSUPPORTED. */
gp_status gpi_check_algorithm(gp_context *ctx, const char *function, const char *argument,
                              gp_backend backend, gp_algorithm algorithm, unsigned set);

/* The target of a gp_<primitive>_workspace_bytes() call; *taken becomes it, or any machine if it is
 * NULL. */
gp_status gpi_check_target(const char *function, const gp_target *target, gp_target *taken);

/* Two arrays do not overlap; with same_allowed they may also start at the same address. */
gp_status gpi_check_overlap(gp_context *ctx, const char *function, const char *name_a,
                            const void *a, uint64_t bytes_a, const char *name_b, const void *b,
                            uint64_t bytes_b, bool same_allowed);

static inline bool gpi_dtype_is_float(gp_dtype d)
{
    return d >= GP_F16 && d <= GP_F64;
}

static inline bool gpi_dtype_is_signed(gp_dtype d)
{
    return d == GP_I8 || d == GP_I16 || d == GP_I32 || d == GP_I64;
}

#define GPI_MAX_N ((uint64_t)1 << 40)

#ifdef __cplusplus
}
#endif

#endif
