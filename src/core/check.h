/* SPDX-License-Identifier: MIT */
/* Argument checks of the front doors. Each returns GP_OK or has written the error text. */
#ifndef GPI_CHECK_H
#define GPI_CHECK_H

#include "core/context.h"
#include "core/dtype.h"
#include "core/registry.h"
#include "core/structs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most items of an array. */
#define GPI_MAX_N ((uint64_t)1 << 40)
/* The most bytes of one. */
enum { GPI_ITEM_BYTES_MAX = 65536 };

/* Leave the calling function with the status of an expression that is not GP_OK. */
#define GPI_TRY(expression)                                                                        \
    do {                                                                                           \
        gp_status gpi_try_ = (expression);                                                         \
        if (gpi_try_ != GP_OK)                                                                     \
            return gpi_try_;                                                                       \
    } while (0)

/* How the error text of a call names a member of its desc: "desc->name" if the caller filled one in
 * (by), "name" in the short form of the call, whose parameter it is. */
#define GPI_MEMBER(by, name) (("desc->" name) + ((by) ? 0 : 6))

/* The context of a public call, from its first line to wherever it returns. */
struct gpi_call {
    struct gpi_entry *entry; /* NULL inside a call of the library's own */
};

/* ctx is alive, not in use by another thread, not of a parent process's GPU, and not broken. It
 * is what findings are reported of, unless it is part of another call. */
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

/* The status of a part of the call function, whose error text begins with that name then: parts
 * that are public calls have written their own. */
gp_status gpi_named(gp_context *ctx, const char *function, gp_status status);

/* The slow part of the checks below, where a comparison or two do not prove that all is well. */
gp_status gpi_check_array_slow(gp_context *ctx, const char *function, const char *argument,
                               const void *memory, uint64_t bytes, size_t alignment);
/* This build has no code for the GPU of ctx. */
gp_status gpi_fail_sm(gp_context *ctx, const char *function);
gp_status gpi_fail_n(gp_context *ctx, const char *function, const char *argument, uint64_t n);
/* expected: such as "u32 or u64". The one way in which texts show a dtype: by its name, or what is
 * none by its number. */
gp_status gpi_fail_dtype(gp_context *ctx, const char *function, const char *argument,
                         gp_dtype dtype, const char *expected);
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

/* The largest power of two, up to 16, that divides the bytes of an item. */
static inline size_t gpi_item_alignment(size_t bytes)
{
    const size_t power = bytes & (~bytes + 1);
    return power < 16 ? power : 16;
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
    return gpi_dtype_bytes(dtype) ? GP_OK
                                  : gpi_fail_dtype(ctx, function, argument, dtype, "a gp_dtype");
}

/* algorithm is a gp_algorithm, otherwise GP_ERROR_ARGUMENT; it is one of the set (a bit
 * 1 << GP_ALGORITHM_.. for each), and the backend has it, otherwise GP_ERROR_UNSUPPORTED. */
gp_status gpi_check_algorithm(gp_context *ctx, const char *function, const char *argument,
                              gp_backend backend, gp_algorithm algorithm, unsigned set);

/* An item, or the value of a pair, has 1 to GPI_ITEM_BYTES_MAX bytes. */
gp_status gpi_check_item_bytes(gp_context *ctx, const char *function, const char *argument,
                               size_t bytes);

/* An integer dtype of 4 or 8 bytes; GP_U32 or GP_U64. */
gp_status gpi_check_index_dtype(gp_context *ctx, const char *function, const char *argument,
                                gp_dtype dtype);
gp_status gpi_check_unsigned_index(gp_context *ctx, const char *function, const char *argument,
                                   gp_dtype dtype);
/* value is at most 2^40 and a number of dtype. */
gp_status gpi_check_index_value(gp_context *ctx, const char *function, const char *argument,
                                uint64_t value, const char *dtype_argument, gp_dtype dtype);
/* n is less than 2^32 with GP_U32 as the dtype of indices, the argument. */
gp_status gpi_check_index_range(gp_context *ctx, const char *function, size_t n,
                                const char *argument, gp_dtype dtype);

/* A member of a descriptor that the call has no use for is 0: a dtype, or another number. */
gp_status gpi_check_unused_dtype(gp_context *ctx, const char *function, const char *argument,
                                 gp_dtype dtype);
gp_status gpi_check_unused(gp_context *ctx, const char *function, const char *argument,
                           uint64_t value);

/* GP_ASCENDING or GP_DESCENDING. */
gp_status gpi_check_order(gp_context *ctx, const char *function, const char *argument,
                          gp_order order);

/* The keys of a sort: dtype, keys_in and n, in parameter order. */
gp_status gpi_check_keys(gp_context *ctx, const char *function, gp_dtype dtype, const void *keys_in,
                         size_t n);

/* The target of a gp_<primitive>_workspace_bytes() call; *taken becomes it,
 * or any machine if it is NULL. */
gp_status gpi_check_target(const char *function, const gp_target *target, gp_target *taken);

/* Where such a call puts its figure. */
gp_status gpi_check_figure(const char *function, const size_t *bytes);

/* The figure of a target: that of its backend, or the larger one where either will do. */
static inline size_t gpi_target_bytes(const gp_target *target, size_t cpu, size_t cuda)
{
    if (target->backend == GP_BACKEND_AUTO)
        return cpu > cuda ? cpu : cuda;
    return target->backend == GP_BACKEND_CPU ? cpu : cuda;
}

#ifndef __cplusplus /* front doors are C */

/* The target that a context is. */
static inline gp_target gpi_target_of(const gp_context *ctx)
{
    return (gp_target){sizeof(gp_target), ctx->backend, ctx->sm, ctx->sm_count, ctx->threads};
}

/* An array of a call. */
struct gpi_array {
    const char *name;
    const void *memory;
    uint64_t bytes; /* 0: not used, memory can be anything */
    size_t alignment;
    bool written, optional; /* optional: may be NULL */
    int in_place;           /* how far before it in the list the array is that it may be; 0: none */
};

/* From name, memory, bytes and alignment: one that is read; one that is written; either, if it is
 * not NULL; one that is written and may be the array in_place places before it. */
#define GPI_READ(...) ((struct gpi_array){__VA_ARGS__, false, false, 0})
#define GPI_WRITE(...) ((struct gpi_array){__VA_ARGS__, true, false, 0})
#define GPI_READ_IF(...) ((struct gpi_array){__VA_ARGS__, false, true, 0})
#define GPI_WRITE_IF(...) ((struct gpi_array){__VA_ARGS__, true, true, 0})
#define GPI_WRITE_OVER(before, ...) ((struct gpi_array){__VA_ARGS__, true, false, before})

/* Each array of a list in turn, as gpi_check_array(). */
static inline gp_status gpi_check_memory(gp_context *ctx, const char *function,
                                         const struct gpi_array *arrays, int count)
{
#pragma GCC unroll 8 /* so that a list of constants leaves nothing but comparisons */
    for (int i = 0; i < count; i++)
        if (arrays[i].memory || !arrays[i].optional)
            GPI_TRY(gpi_check_array(ctx, function, arrays[i].name, arrays[i].memory,
                                    arrays[i].bytes, arrays[i].alignment));
    return GP_OK;
}

/* Arrays i < j of a list: they do not overlap if one of them is written. */
static inline gp_status gpi_check_pair(gp_context *ctx, const char *function,
                                       const struct gpi_array *arrays, int i, int j)
{
    const struct gpi_array *a = &arrays[i], *b = &arrays[j];
    const uintptr_t pa = (uintptr_t)a->memory, pb = (uintptr_t)b->memory;
    if (!(a->written || b->written) || pa >= pb + b->bytes || pb >= pa + a->bytes ||
        a->bytes == 0 || b->bytes == 0 || !pa || !pb || (pa == pb && i == j - b->in_place))
        return GP_OK;
    return gpi_fail_overlap(ctx, function, a->name, a->memory, a->bytes, b->name, b->memory,
                            b->bytes);
}

/* Arrays [first, count) of a list in turn, each against all before it. */
static inline gp_status gpi_check_apart(gp_context *ctx, const char *function,
                                        const struct gpi_array *arrays, int first, int count)
{
#pragma GCC unroll 8
    for (int j = first; j < count; j++)
        for (int i = 0; i < j; i++)
            GPI_TRY(gpi_check_pair(ctx, function, arrays, i, j));
    return GP_OK;
}

/* The same, each after its own gpi_check_memory(). */
static inline gp_status gpi_check_outputs(gp_context *ctx, const char *function,
                                          const struct gpi_array *arrays, int first, int count)
{
    for (int j = first; j < count; j++) {
        GPI_TRY(gpi_check_memory(ctx, function, arrays + j, 1));
        GPI_TRY(gpi_check_apart(ctx, function, arrays, j, j + 1));
    }
    return GP_OK;
}

/* The arrays of a call, in the order of its parameters: all are valid, and none that is written
 * overlaps another. */
static inline gp_status gpi_check_arrays(gp_context *ctx, const char *function,
                                         const struct gpi_array *arrays, int count)
{
    GPI_TRY(gpi_check_memory(ctx, function, arrays, count));
    return gpi_check_apart(ctx, function, arrays, 0, count);
}

#endif

#ifdef __cplusplus
}
#endif

#endif
