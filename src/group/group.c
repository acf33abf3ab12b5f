/* SPDX-License-Identifier: MIT */
/* The front door of the calls on runs. */
#include "core/check.h"
#include "core/cuda.h"
#include "core/order.h"
#include "group/group_internal.h"

gp_status gpi_group_run(gp_context *ctx, const char *function, const struct gpi_group_args *a)
{
    return ctx->backend == GP_BACKEND_CUDA ? gpi_group_cuda(ctx, function, a)
                                           : gpi_group_cpu(ctx, function, a);
}

size_t gpi_group_bytes(const gp_target *target, const struct gpi_group_args *a)
{
    return gpi_target_bytes(target, gpi_group_cpu_bytes(a, target->threads),
                            gpi_group_cuda_bytes(a));
}

void gpi_group_keys(struct gpi_group_args *a, gp_dtype dtype, size_t key_bytes)
{
    a->key_bytes = (uint32_t)(dtype ? gpi_dtype_bytes(dtype) : key_bytes);
    a->inf = gpi_infinity_bits(dtype);
    a->sign = a->inf ? (uint64_t)1 << (8 * a->key_bytes - 1) : 0;
}

/* ---- what the calls share -------------------------------------------------------------------- */

static gp_status check_keys(gp_context *ctx, const char *f, gp_dtype dtype, size_t key_bytes)
{
    if (dtype == 0)
        return gpi_check_item_bytes(ctx, f, "desc->key_bytes", key_bytes);
    GPI_TRY(gpi_check_dtype(ctx, f, "desc->key_dtype", dtype));
    if (key_bytes && key_bytes != gpi_dtype_bytes(dtype))
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: desc->key_bytes is %zu, expected 0 or the %zu of key_dtype %s", f,
                        key_bytes, gpi_dtype_bytes(dtype), gp_dtype_string(dtype));
    return GP_OK;
}

static gp_status check_index(gp_context *ctx, const char *f, const char *name, gp_dtype dtype,
                             uint64_t n)
{
    GPI_TRY(gpi_check_unsigned_index(ctx, f, name, dtype));
    return gpi_check_index_range(ctx, f, n, name, dtype);
}

static uint64_t capacity_of(uint64_t capacity, uint64_t n)
{
    return capacity && capacity < n ? capacity : n;
}

static struct gpi_array keys_in(const struct gpi_group_args *a)
{
    return GPI_READ("keys", a->keys, a->n * a->key_bytes, gpi_item_alignment(a->key_bytes));
}

static struct gpi_array keys_out(const struct gpi_group_args *a)
{
    return GPI_WRITE_IF("keys_out", a->keys_out, a->capacity * a->key_bytes,
                        gpi_item_alignment(a->key_bytes));
}

static struct gpi_array indices_out(const struct gpi_group_args *a, const char *name, void *array)
{
    return GPI_WRITE_IF(name, array, a->capacity * a->index_bytes, a->index_bytes);
}

static struct gpi_array count_out(const struct gpi_group_args *a)
{
    return GPI_WRITE("out_count", a->out_count, sizeof *a->out_count, 8);
}

static struct gpi_array device_n(const struct gpi_group_args *a)
{
    return GPI_READ_IF("desc->device_n", a->device_n, sizeof *a->device_n, 8);
}

static gp_status run(gp_context *ctx, const char *f, const struct gpi_group_args *a)
{
    GPI_ON_DEVICE(ctx);
    return gpi_group_run(ctx, f, a);
}

/* ---- unique ---------------------------------------------------------------------------------- */

/* *d becomes the full struct, *a what it and n say. */
static gp_status take_unique(gp_context *ctx, const char *f, const gp_unique_desc *given, size_t n,
                             bool heads, gp_unique_desc *d, struct gpi_group_args *a)
{
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_unique_desc)));
    GPI_TRY(check_keys(ctx, f, d->key_dtype, d->key_bytes));
    if (d->value_bytes)
        GPI_TRY(gpi_check_item_bytes(ctx, f, "desc->value_bytes", d->value_bytes));
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    if (heads || d->index_dtype)
        GPI_TRY(check_index(ctx, f, "desc->index_dtype", d->index_dtype, n));
    *a = (struct gpi_group_args){.n = n,
                                 .device_n = d->device_n,
                                 .capacity = capacity_of(d->capacity, n),
                                 .index_bytes = (uint32_t)gpi_dtype_bytes(d->index_dtype),
                                 .move_count = d->value_bytes > 0};
    gpi_group_keys(a, d->key_dtype, d->key_bytes);
    return GP_OK;
}

static gp_status unique(gp_context *ctx, const char *f, const gp_unique_desc *given,
                        const void *keys, const void *values, size_t n, void *out, void *values_out,
                        void *heads, uint64_t *out_count)
{
    gp_unique_desc d;
    struct gpi_group_args a;
    GPI_TRY(take_unique(ctx, f, given, n, heads != NULL, &d, &a));
    const struct gpi_group_move move = {values, values_out, (uint32_t)d.value_bytes, false};
    const size_t alignment = gpi_item_alignment(d.value_bytes ? d.value_bytes : 1);
    a.keys = keys, a.keys_out = out, a.heads = heads, a.out_count = out_count;
    a.moves = &move;
    const struct gpi_array arrays[] = {
        keys_in(&a),
        GPI_READ("values", values, n * d.value_bytes, alignment),
        keys_out(&a),
        GPI_WRITE("values_out", values_out, a.capacity * d.value_bytes, alignment),
        indices_out(&a, "heads", heads),
        count_out(&a),
        device_n(&a),
    };
    GPI_TRY(gpi_group_check_arrays(ctx, f, arrays, sizeof arrays / sizeof arrays[0]));
    return run(ctx, f, &a);
}

gp_status gp_unique_by(gp_context *ctx, const gp_unique_desc *desc, const void *keys,
                       const void *values, size_t n, void *keys_out, void *values_out, void *heads,
                       uint64_t *out_count)
{
    static const char f[] = "gp_unique_by";
    GPI_CALL(ctx, f);
    return unique(ctx, f, desc, keys, values, n, keys_out, values_out, heads, out_count);
}

/* An output that a short form has no use for NULL for. */
static gp_status check_given(gp_context *ctx, const char *f, const char *name, const void *array,
                             size_t n)
{
    return array || n == 0 ? GP_OK : gpi_fail(ctx, GP_ERROR_POINTER, "%s: %s is NULL", f, name);
}

gp_status gp_unique(gp_context *ctx, gp_dtype key_dtype, const void *keys, size_t n, void *out,
                    uint64_t *out_count)
{
    static const char f[] = "gp_unique";
    gp_unique_desc d = GP_UNIQUE_DESC_INIT;
    d.key_dtype = key_dtype;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_check_dtype(ctx, f, "key_dtype", key_dtype));
    GPI_TRY(check_given(ctx, f, "keys", keys, n));
    GPI_TRY(check_given(ctx, f, "keys_out", out, n));
    return unique(ctx, f, &d, keys, NULL, n, out, NULL, NULL, out_count);
}

/* ---- lengths of runs ------------------------------------------------------------------------- */

static gp_status take_lengths(gp_context *ctx, const char *f, bool by,
                              const gp_run_length_desc *given, size_t n, gp_run_length_desc *d,
                              struct gpi_group_args *a)
{
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_run_length_desc)));
    GPI_TRY(check_keys(ctx, f, d->key_dtype, d->key_bytes));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d->reserved));
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    GPI_TRY(check_index(ctx, f, GPI_MEMBER(by, "index_dtype"), d->index_dtype, n));
    *a = (struct gpi_group_args){.n = n,
                                 .device_n = d->device_n,
                                 .capacity = capacity_of(d->capacity, n),
                                 .index_bytes = (uint32_t)gpi_dtype_bytes(d->index_dtype),
                                 .longer = d->longer != 0};
    gpi_group_keys(a, d->key_dtype, d->key_bytes);
    return GP_OK;
}

static gp_status run_lengths(gp_context *ctx, const char *f, bool by,
                             const gp_run_length_desc *given, const void *keys, size_t n, void *out,
                             void *offsets, void *lengths, uint64_t *out_count)
{
    gp_run_length_desc d;
    struct gpi_group_args a;
    GPI_TRY(take_lengths(ctx, f, by, given, n, &d, &a));
    a.keys = keys, a.keys_out = out, a.heads = offsets, a.lengths = lengths;
    a.out_count = out_count;
    const struct gpi_array arrays[] = {
        keys_in(&a),
        keys_out(&a),
        indices_out(&a, "offsets", offsets),
        indices_out(&a, "lengths", lengths),
        count_out(&a),
        device_n(&a),
    };
    GPI_TRY(gpi_group_check_arrays(ctx, f, arrays, sizeof arrays / sizeof arrays[0]));
    return run(ctx, f, &a);
}

gp_status gp_run_length_encode_by(gp_context *ctx, const gp_run_length_desc *desc, const void *keys,
                                  size_t n, void *keys_out, void *offsets, void *lengths,
                                  uint64_t *out_count)
{
    static const char f[] = "gp_run_length_encode_by";
    GPI_CALL(ctx, f);
    return run_lengths(ctx, f, true, desc, keys, n, keys_out, offsets, lengths, out_count);
}

gp_status gp_run_length_encode(gp_context *ctx, gp_dtype key_dtype, const void *keys, size_t n,
                               gp_dtype index_dtype, void *out, void *lengths, uint64_t *out_count)
{
    static const char f[] = "gp_run_length_encode";
    gp_run_length_desc d = GP_RUN_LENGTH_DESC_INIT;
    d.key_dtype = key_dtype;
    d.index_dtype = index_dtype;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_check_dtype(ctx, f, "key_dtype", key_dtype));
    GPI_TRY(check_given(ctx, f, "keys", keys, n));
    GPI_TRY(check_given(ctx, f, "keys_out", out, n));
    GPI_TRY(check_given(ctx, f, "lengths", lengths, n));
    return run_lengths(ctx, f, false, &d, keys, n, out, NULL, lengths, out_count);
}

/* ---- reduction ------------------------------------------------------------------------------- */

static gp_status take_reduction(gp_context *ctx, const char *f, const gp_reduce_by_key_desc *given,
                                size_t n, gp_reduce_by_key_desc *d, struct gpi_group_fold *fold,
                                struct gpi_group_args *a)
{
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_reduce_by_key_desc)));
    GPI_TRY(check_keys(ctx, f, d->key_dtype, d->key_bytes));
    GPI_TRY(gpi_scan_check_types(ctx, f, d->in_dtype, d->out_dtype, d->op));
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    *fold = (struct gpi_group_fold){.in_dtype = d->in_dtype,
                                    .out_dtype = d->out_dtype ? d->out_dtype : d->in_dtype,
                                    .op = d->op};
    *a = (struct gpi_group_args){.n = n,
                                 .device_n = d->device_n,
                                 .capacity = capacity_of(d->capacity, n),
                                 .fold_count = 1,
                                 .folds = fold};
    gpi_group_keys(a, d->key_dtype, d->key_bytes);
    return GP_OK;
}

gp_status gp_reduce_by_key(gp_context *ctx, const gp_reduce_by_key_desc *desc, const void *keys,
                           const void *values, size_t n, void *out, void *values_out,
                           uint64_t *out_count)
{
    static const char f[] = "gp_reduce_by_key";
    gp_reduce_by_key_desc d;
    struct gpi_group_args a;
    struct gpi_group_fold fold;
    GPI_CALL(ctx, f);
    GPI_TRY(take_reduction(ctx, f, desc, n, &d, &fold, &a));
    const size_t scalars = gpi_op_scalars(d.op), in_bytes = gpi_dtype_bytes(fold.in_dtype),
                 out_bytes = gpi_dtype_bytes(fold.out_dtype);
    fold.values = values, fold.out = values_out;
    a.keys = keys, a.keys_out = out, a.out_count = out_count;
    const struct gpi_array arrays[] = {
        keys_in(&a),
        GPI_READ("values", values, n * scalars * in_bytes, in_bytes),
        keys_out(&a),
        GPI_WRITE("values_out", values_out, a.capacity * scalars * out_bytes, out_bytes),
        count_out(&a),
        device_n(&a),
    };
    GPI_TRY(gpi_group_check_arrays(ctx, f, arrays, sizeof arrays / sizeof arrays[0]));
    return run(ctx, f, &a);
}

/* ---- workspace ------------------------------------------------------------------------------- */

gp_status gp_unique_workspace_bytes(const gp_target *target, const gp_unique_desc *desc, size_t n,
                                    size_t *bytes)
{
    static const char f[] = "gp_unique_workspace_bytes";
    gp_target t;
    gp_unique_desc d;
    struct gpi_group_args a;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(take_unique(NULL, f, desc, n, false, &d, &a));
    GPI_TRY(gpi_check_figure(f, bytes));
    *bytes = gpi_group_bytes(&t, &a);
    return GP_OK;
}

gp_status gp_run_length_encode_workspace_bytes(const gp_target *target,
                                               const gp_run_length_desc *desc, size_t n,
                                               size_t *bytes)
{
    static const char f[] = "gp_run_length_encode_workspace_bytes";
    gp_target t;
    gp_run_length_desc d;
    struct gpi_group_args a;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(take_lengths(NULL, f, true, desc, n, &d, &a));
    GPI_TRY(gpi_check_figure(f, bytes));
    *bytes = gpi_group_bytes(&t, &a);
    return GP_OK;
}

gp_status gp_reduce_by_key_workspace_bytes(const gp_target *target,
                                           const gp_reduce_by_key_desc *desc, size_t n,
                                           size_t *bytes)
{
    static const char f[] = "gp_reduce_by_key_workspace_bytes";
    gp_target t;
    gp_reduce_by_key_desc d;
    struct gpi_group_args a;
    struct gpi_group_fold fold;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(take_reduction(NULL, f, desc, n, &d, &fold, &a));
    GPI_TRY(gpi_check_figure(f, bytes));
    *bytes = gpi_group_bytes(&t, &a);
    return GP_OK;
}
