/* SPDX-License-Identifier: MIT */
#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "vector/vector_internal.h"

static gp_status check_flag(gp_context *ctx, const char *f, bool has, const char *member, int flag)
{
    if (!has)
        return gpi_check_unused(ctx, f, member, (uint64_t)flag);
    if (flag != 0 && flag != 1)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: %s is %d, expected 0 or 1", f, member, flag);
    return GP_OK;
}

static gp_status take_desc(gp_context *ctx, const char *f, enum gpi_vector_kind kind,
                           const gp_vector_desc *given, gp_vector_desc *d)
{
    const bool beta = kind == GPI_VECTOR_AXPBY, alpha = beta || kind == GPI_VECTOR_SCALE;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_vector_desc)));
    if (!gpi_dtype_is_float(d->dtype))
        return gpi_fail_dtype(ctx, f, "desc->dtype", d->dtype, "f16, bf16, f32 or f64");
    GPI_TRY(check_flag(ctx, f, alpha, "desc->device_alpha", d->device_alpha));
    GPI_TRY(check_flag(ctx, f, beta, "desc->device_beta", d->device_beta));
    return gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d->reserved);
}

/* An output may be an input, item for item, but not overlap it otherwise. */
static const void *unless_same(const void *in, const void *out)
{
    return in == out ? NULL : in;
}

static gp_status check_vectors(gp_context *ctx, const struct gpi_vector_args *a)
{
    const size_t item = gpi_dtype_bytes(a->dtype);
    const size_t scalar = gpi_dtype_bytes(gpi_vector_scalar(a->dtype)), bytes = a->n * item;
    const bool sum = a->kind <= GPI_VECTOR_NORM, over = a->kind == GPI_VECTOR_AXPBY;
    const bool two = a->kind == GPI_VECTOR_DOT || a->kind >= GPI_VECTOR_MULTIPLY;
    const void *const x = sum || over ? a->x : unless_same(a->x, a->out);
    const void *const y = sum ? a->y : unless_same(a->y, a->out);
    const bool need_x = sum || over || a->x != a->out, need_y = two && (sum || a->y != a->out);
    const struct gpi_array arrays[] = {
        GPI_COUNT("desc->device_n", a->n ? a->device_n : NULL),
        GPI_READ_IF("alpha", a->device_alpha, scalar, scalar),
        need_x ? GPI_READ("x", x, bytes, item) : GPI_READ_IF("x", x, bytes, item),
        GPI_READ_IF("beta", a->device_beta, scalar, scalar),
        need_y ? GPI_READ("y", y, bytes, item) : GPI_READ_IF("y", y, bytes, item),
        GPI_WRITE(over ? "y" : "out", a->out, sum ? scalar : bytes, sum ? scalar : item),
    };
    GPI_TRY(gpi_check_n(ctx, a->function, "n", a->n));
    return gpi_check_arrays(ctx, a->function, arrays, (int)(sizeof arrays / sizeof *arrays));
}

static double scalar_of(gp_dtype dtype, const void *value)
{
    if (!value)
        return 1;
    return dtype == GP_F64 ? *(const double *)value : (double)*(const float *)value;
}

static size_t sums_bytes(gp_backend backend, const struct gpi_vector_args *a)
{
    const uint64_t blocks = backend == GP_BACKEND_CUDA
                                ? gpi_vector_blocks(a->n, gpi_dtype_bytes(a->dtype))
                                : (a->n + GPI_VECTOR_BLOCK_CPU - 1) / GPI_VECTOR_BLOCK_CPU;
    return gpi_piece((size_t)blocks * gpi_dtype_bytes(gpi_vector_scalar(a->dtype)));
}

static gp_status run(gp_context *ctx, gpi_vector_fn vector, struct gpi_vector_args *a)
{
    const size_t bytes = a->kind <= GPI_VECTOR_NORM ? sums_bytes(ctx->backend, a) : 0;
    GPI_FRAME(frame, ctx, a->function, bytes);
    a->sums = bytes ? gpi_frame_take(&frame, bytes) : NULL;
    return vector(ctx, a);
}

/* args: what the caller gave; the rest is filled in from the descriptor. */
static gp_status vector_call(gp_context *ctx, const gp_vector_desc *given,
                             const struct gpi_vector_args *args, const void *alpha,
                             const void *beta)
{
    struct gpi_vector_args a = *args;
    gp_vector_desc d;
    GPI_CALL(ctx, a.function);
    GPI_TRY(take_desc(ctx, a.function, a.kind, given, &d));
    a.dtype = d.dtype;
    a.device_n = d.device_n;
    a.device_alpha = d.device_alpha ? alpha : NULL;
    a.device_beta = d.device_beta ? beta : NULL;
    GPI_TRY(check_vectors(ctx, &a));
    a.n = gpi_count_now(ctx, &a.device_n, a.n);
    if (a.n == 0 && a.kind > GPI_VECTOR_NORM)
        return GP_OK;
    gpi_vector_fn vector = gpi_vector_find(ctx);
    if (!vector)
        return gpi_fail_sm(ctx, a.function);
    const bool cuda = ctx->backend == GP_BACKEND_CUDA; /* the CPU reads all scalars here */
    a.alpha = scalar_of(a.dtype, cuda && d.device_alpha ? NULL : alpha);
    a.beta = scalar_of(a.dtype, cuda && d.device_beta ? NULL : beta);
    GPI_ON_DEVICE(ctx);
    return run(ctx, vector, &a);
}

gp_status gp_vector_dot(gp_context *ctx, const gp_vector_desc *desc, const void *x, const void *y,
                        size_t n, void *out)
{
    const struct gpi_vector_args a = {
        .function = "gp_vector_dot", .kind = GPI_VECTOR_DOT, .x = x, .y = y, .n = n, .out = out};
    return vector_call(ctx, desc, &a, NULL, NULL);
}

gp_status gp_vector_norm(gp_context *ctx, const gp_vector_desc *desc, const void *x, size_t n,
                         void *out)
{
    const struct gpi_vector_args a = {
        .function = "gp_vector_norm", .kind = GPI_VECTOR_NORM, .x = x, .n = n, .out = out};
    return vector_call(ctx, desc, &a, NULL, NULL);
}

gp_status gp_vector_axpby(gp_context *ctx, const gp_vector_desc *desc, const void *alpha,
                          const void *x, const void *beta, void *y, size_t n)
{
    const struct gpi_vector_args a = {
        .function = "gp_vector_axpby", .kind = GPI_VECTOR_AXPBY, .x = x, .y = y, .n = n, .out = y};
    return vector_call(ctx, desc, &a, alpha, beta);
}

gp_status gp_vector_scale(gp_context *ctx, const gp_vector_desc *desc, const void *alpha,
                          const void *x, size_t n, void *out)
{
    const struct gpi_vector_args a = {
        .function = "gp_vector_scale", .kind = GPI_VECTOR_SCALE, .x = x, .n = n, .out = out};
    return vector_call(ctx, desc, &a, alpha, NULL);
}

gp_status gp_vector_multiply(gp_context *ctx, const gp_vector_desc *desc, const void *x,
                             const void *y, size_t n, void *out)
{
    const struct gpi_vector_args a = {.function = "gp_vector_multiply",
                                      .kind = GPI_VECTOR_MULTIPLY,
                                      .x = x,
                                      .y = y,
                                      .n = n,
                                      .out = out};
    return vector_call(ctx, desc, &a, NULL, NULL);
}

gp_status gp_vector_divide(gp_context *ctx, const gp_vector_desc *desc, const void *x,
                           const void *y, size_t n, void *out)
{
    const struct gpi_vector_args a = {.function = "gp_vector_divide",
                                      .kind = GPI_VECTOR_DIVIDE,
                                      .x = x,
                                      .y = y,
                                      .n = n,
                                      .out = out};
    return vector_call(ctx, desc, &a, NULL, NULL);
}

gp_status gp_vector_dot_workspace_bytes(const gp_target *target, const gp_vector_desc *desc,
                                        size_t n, size_t *bytes)
{
    static const char f[] = "gp_vector_dot_workspace_bytes";
    gp_target t;
    gp_vector_desc d;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(take_desc(NULL, f, GPI_VECTOR_DOT, desc, &d));
    GPI_TRY(gpi_check_n(NULL, f, "n", n));
    GPI_TRY(gpi_check_figure(f, bytes));
    const struct gpi_vector_args a = {.dtype = d.dtype, .n = n};
    *bytes = gpi_target_bytes(&t, sums_bytes(GP_BACKEND_CPU, &a), sums_bytes(GP_BACKEND_CUDA, &a));
    return GP_OK;
}
