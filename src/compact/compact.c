/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "compact/compact_internal.h"
#include "core/check.h"
#include "core/cub.h"
#include "core/cuda.h"
#include "core/workspace.h"

/* What a call's outputs are named, and how many arrays it writes, unless its desc says that. */
struct form {
    uint32_t outputs;
    const char *out, *rest, *above, *count;
};

static const struct form form_by = {0, "out", "desc->rest", "desc->above", "out_count"},
                         form_into = {2, "front", "back", "above", "out_counts"},
                         form_range = {3, "inside", "below", "above", "out_counts"};

static bool two_sided(gp_compare compare)
{
    return compare == GP_BETWEEN || compare == GP_OUTSIDE;
}

static gp_status check_compare(gp_context *ctx, const char *f, const gp_compact_desc *d)
{
    if ((int)d->compare < 0 || d->compare > GP_OUTSIDE)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: compare is %d, not a gp_compare", f,
                        (int)d->compare);
    if (d->compare == 0 && d->kind == GP_COMPACT_FLAGS)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: compare is 0, but GP_COMPACT_FLAGS needs a comparison", f);
    if (d->compare == 0)
        return d->kind == GP_COMPACT_INDICES
                   ? GP_OK
                   : gpi_check_item_bytes(ctx, f, "item_bytes", d->item_bytes);
    GPI_TRY(gpi_check_dtype(ctx, f, "dtype", d->dtype));
    size_t bytes = gpi_dtype_bytes(d->dtype);
    if (d->item_bytes && d->item_bytes != bytes)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: item_bytes is %zu, expected 0 or the %zu of dtype %s", f,
                        d->item_bytes, bytes, gp_dtype_string(d->dtype));
    return GP_OK;
}

/* The positions of what is kept, if they are wanted. */
static gp_status check_indices(gp_context *ctx, const char *f, const gp_compact_desc *d, uint64_t n)
{
    if (d->kind != GP_COMPACT_INDICES && !d->indices)
        return GP_OK;
    GPI_TRY(gpi_check_unsigned_index(ctx, f, "index_dtype", d->index_dtype));
    if (d->index_dtype == GP_U32 && n > (uint64_t)1 << 32)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: n is %" PRIu64 ", too many for u32 indices: use u64", f, n);
    return GP_OK;
}

/* An array of the descriptor that the call would not write. */
static gp_status check_no_array(gp_context *ctx, const char *f, const char *name, const void *array)
{
    return array ? gpi_fail(ctx, GP_ERROR_POINTER, "%s: %s is %p, expected NULL in this call", f,
                            name, array)
                 : GP_OK;
}

/* The members behind device_n. */
static gp_status check_more(gp_context *ctx, const char *f, const gp_compact_desc *d)
{
    if (!two_sided(d->compare))
        GPI_TRY(check_no_array(ctx, f, "desc->upper", d->upper));
    if ((int)d->flags < 0 || d->flags > GP_FLAGS_BITS)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->flags is %d, not a gp_flags", f,
                        (int)d->flags);
    GPI_TRY(gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d->reserved));
    if (d->kind != GP_COMPACT_ITEMS)
        GPI_TRY(check_no_array(ctx, f, "desc->indices", d->indices));
    if (d->kind != GP_COMPACT_PARTITION)
        GPI_TRY(check_no_array(ctx, f, "desc->rest", d->rest));
    if (!d->rest || d->compare != GP_BETWEEN)
        GPI_TRY(check_no_array(ctx, f, "desc->above", d->above));
    if (!d->rest)
        GPI_TRY(gpi_check_unused(ctx, f, "desc->rest_capacity", d->rest_capacity));
    if (!d->above)
        GPI_TRY(gpi_check_unused(ctx, f, "desc->above_capacity", d->above_capacity));
    return GP_OK;
}

/* What does not need the arrays; also for the workspace question, which has no ctx. *d becomes the
 * full struct. */
static gp_status check_desc(gp_context *ctx, const char *f, gp_backend backend,
                            const struct form *form, const gp_compact_desc *given, uint64_t n,
                            gp_compact_desc *d)
{
    const unsigned set =
        1u << GP_ALGORITHM_AUTO | 1u << GP_ALGORITHM_LOOKAHEAD | 1u << GP_ALGORITHM_CUB;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_compact_desc)));
    if (d->kind < GP_COMPACT_ITEMS || d->kind > GP_COMPACT_FLAGS)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->kind is %d, not a gp_compact_kind", f,
                        (int)d->kind);
    GPI_TRY(check_compare(ctx, f, d));
    GPI_TRY(gpi_check_algorithm(ctx, f, "desc->algorithm", backend, d->algorithm, set));
    if (((d->kind == GP_COMPACT_PARTITION && !d->rest) || d->kind == GP_COMPACT_FLAGS) &&
        d->capacity && d->capacity < n)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: desc->capacity is %" PRIu64 ", but %s n = %" PRIu64 " outputs", f,
                        d->capacity, d->kind == GP_COMPACT_FLAGS ? "flags are" : "a partition has",
                        n);
    if (form == &form_by)
        GPI_TRY(check_more(ctx, f, d));
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    return check_indices(ctx, f, d, n);
}

static uint64_t room(uint64_t capacity, uint64_t n)
{
    return capacity && capacity < n ? capacity : n;
}

static struct gpi_compact_args args_of(const struct form *form, const gp_compact_desc *d,
                                       const void *in, const void *keep, uint64_t n, void *out,
                                       uint64_t *out_count)
{
    const bool indices = d->kind == GP_COMPACT_INDICES;
    const uint32_t outputs = form->outputs ? form->outputs : d->above ? 3 : d->rest ? 2 : 1;
    size_t item_bytes = d->compare ? gpi_dtype_bytes(d->dtype) : indices ? 0 : d->item_bytes;
    return (struct gpi_compact_args){
        .in = item_bytes ? in : NULL,
        .keep = keep,
        .n = n,
        .device_n = d->device_n,
        .out = indices ? NULL : out,
        .indices = indices ? out : d->indices,
        .out_count = out_count,
        .capacity = room(d->capacity, n),
        .side = {{d->rest, room(d->rest_capacity, n)}, {d->above, room(d->above_capacity, n)}},
        .sides = outputs > 1 ? outputs - 1 : d->kind == GP_COMPACT_PARTITION,
        .counts = outputs,
        .follows = outputs == 1 && d->kind == GP_COMPACT_PARTITION,
        .item_bytes = (uint32_t)item_bytes,
        .index_bytes = indices || d->indices ? (uint32_t)gpi_dtype_bytes(d->index_dtype) : 0,
        .bits = d->flags == GP_FLAGS_BITS,
        .flags = d->kind == GP_COMPACT_FLAGS,
        .in_place = in == out && !indices,
    };
}

static gp_status check_arrays(gp_context *ctx, const char *f, const struct form *form,
                              const gp_compact_desc *d, const struct gpi_compact_args *a,
                              const void *out)
{
    const size_t item = a->item_bytes, align = gpi_item_alignment(item),
                 flag_align = a->bits ? sizeof(uint32_t) : 1;
    const size_t out_item = d->kind == GP_COMPACT_INDICES ? a->index_bytes : item;
    const struct gpi_array arrays[] = {
        GPI_READ("in", a->in, a->n * item, align),
        GPI_READ("keep", a->keep, d->compare ? 0 : gpi_compact_flag_bytes(a->bits, a->n),
                 flag_align),
        GPI_WRITE_OVER(d->kind == GP_COMPACT_ITEMS || a->counts > 1 ? 2 : 0, form->out, out,
                       a->flags ? gpi_compact_flag_bytes(a->bits, a->n) : a->capacity * out_item,
                       a->flags ? flag_align : gpi_item_alignment(out_item)),
        GPI_WRITE(form->rest, a->side[0].out, a->counts > 1 ? a->side[0].capacity * item : 0,
                  align),
        GPI_WRITE(form->above, a->side[1].out, a->counts > 2 ? a->side[1].capacity * item : 0,
                  align),
        GPI_WRITE(form->count, a->out_count, a->counts * sizeof *a->out_count, 8),
        GPI_WRITE_IF("desc->indices", d->indices, a->capacity * a->index_bytes, a->index_bytes),
        GPI_READ_IF("desc->device_n", a->device_n, sizeof *a->device_n, 8),
    };
    if (d->compare && a->keep)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: keep is %p, expected NULL with a comparison", f,
                        a->keep);
    return gpi_check_arrays(ctx, f, arrays, sizeof arrays / sizeof arrays[0]);
}

/* CUB has no room limit, no count in device memory and an order of its own for partitions. */
static gp_status check_cub(gp_context *ctx, const char *f, const gp_compact_desc *d,
                           const struct gpi_compact_args *a)
{
    const char *what = NULL;
    if (d->algorithm != GP_ALGORITHM_CUB)
        return GP_OK;
    if (d->kind != GP_COMPACT_ITEMS)
        what = "another kind than GP_COMPACT_ITEMS";
    else if (gpi_compact_width(a->item_bytes) < 0)
        what = "items of this size";
    else if (d->capacity)
        what = "desc->capacity";
    else if (a->device_n)
        what = "desc->device_n";
    else if (a->in_place)
        what = "out equal to in";
    else if (a->indices)
        what = "desc->indices";
    else if (a->bits && a->keep)
        what = "flags in bits";
    return what ? gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                           "%s: desc->algorithm is GP_ALGORITHM_CUB, which does not support %s", f,
                           what)
                : GP_OK;
}

static gp_status run_cub(gp_context *ctx, const char *f, const struct gpi_compact_args *a)
{
    struct gpi_cub_call call = gpi_cub_call_of(ctx);
    const struct gpi_cub *cub;
    GPI_TRY(gpi_cub_find(ctx, f, &cub));
    if (cub->compact(&call, a) != 0)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: CUB refuses this call", f);
    GPI_FRAME(frame, ctx, f, gpi_piece(call.bytes));
    call.temporary = gpi_frame_take(&frame, call.bytes);
    return gpi_cuda_check(ctx, f, cub->compact(&call, a));
}

static gp_status run_cuda(gp_context *ctx, const char *f, const gp_compact_desc *d,
                          const struct gpi_compact_args *a)
{
    const struct gpi_compact_cuda *cuda = gpi_compact_cuda_for(ctx->sm_row);
    if (a->n == 0)
        return gpi_cuda_fill(ctx, a->out_count, 0, a->counts * sizeof *a->out_count);
    if (d->algorithm == GP_ALGORITHM_CUB)
        return run_cub(ctx, f, a);
    int width = gpi_compact_width(a->item_bytes);
    gpi_compact_launch *launch = a->item_bytes == 0 ? cuda->index
                                 : width < 0        ? cuda->list
                                                    : cuda->by_width[width];
    return launch(ctx, f, a);
}

static gp_status run(gp_context *ctx, const char *f, const struct form *form,
                     const gp_compact_desc *given, const void *in, const void *keep, size_t n,
                     void *out, uint64_t *out_count)
{
    gp_compact_desc desc, *const d = &desc;
    GPI_CALL(ctx, f);
    GPI_TRY(check_desc(ctx, f, ctx->backend, form, given, n, d));
    if (d->compare && !d->value)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: value is NULL", f);
    if (two_sided(d->compare) && !d->upper)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: upper is NULL", f);
    struct gpi_compact_args a = args_of(form, d, in, keep, n, out, out_count);
    GPI_ON_DEVICE(ctx);
    GPI_TRY(check_arrays(ctx, f, form, d, &a, out));
    GPI_TRY(check_cub(ctx, f, d, &a));
    if (d->compare)
        a.range = gpi_compact_range_of(d->dtype, d->compare, d->value, d->upper);
    return ctx->backend == GP_BACKEND_CUDA ? run_cuda(ctx, f, d, &a) : gpi_compact_cpu(ctx, f, &a);
}

gp_status gp_compact_by(gp_context *ctx, const gp_compact_desc *desc, const void *in,
                        const void *keep, size_t n, void *out, uint64_t *out_count)
{
    return run(ctx, "gp_compact_by", &form_by, desc, in, keep, n, out, out_count);
}

gp_status gp_compact(gp_context *ctx, size_t item_bytes, const void *in, const uint8_t *keep,
                     size_t n, void *out, uint64_t *out_count)
{
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.item_bytes = item_bytes;
    return run(ctx, "gp_compact", &form_by, &d, in, keep, n, out, out_count);
}

gp_status gp_compact_if(gp_context *ctx, gp_dtype dtype, gp_compare compare, const void *value,
                        const void *in, size_t n, void *out, uint64_t *out_count)
{
    static const char f[] = "gp_compact_if";
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.dtype = dtype;
    d.compare = compare;
    d.value = value;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_check_dtype(ctx, f, "dtype", dtype));
    if (compare == 0 || two_sided(compare))
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: compare is %d, expected one with one value", f,
                        (int)compare);
    return run(ctx, f, &form_by, &d, in, NULL, n, out, out_count);
}

gp_status gp_compact_indices(gp_context *ctx, gp_dtype index_dtype, const uint8_t *keep, size_t n,
                             void *out, uint64_t *out_count)
{
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.kind = GP_COMPACT_INDICES;
    d.index_dtype = index_dtype;
    return run(ctx, "gp_compact_indices", &form_by, &d, NULL, keep, n, out, out_count);
}

gp_status gp_partition(gp_context *ctx, size_t item_bytes, const void *in, const uint8_t *keep,
                       size_t n, void *out, uint64_t *out_count)
{
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.kind = GP_COMPACT_PARTITION;
    d.item_bytes = item_bytes;
    return run(ctx, "gp_partition", &form_by, &d, in, keep, n, out, out_count);
}

gp_status gp_partition_into(gp_context *ctx, size_t item_bytes, const void *in, const uint8_t *keep,
                            size_t n, void *front, void *back, uint64_t *out_counts)
{
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.kind = GP_COMPACT_PARTITION;
    d.item_bytes = item_bytes;
    d.rest = back;
    return run(ctx, "gp_partition_into", &form_into, &d, in, keep, n, front, out_counts);
}

gp_status gp_partition_range(gp_context *ctx, gp_dtype dtype, const void *value, const void *upper,
                             const void *in, size_t n, void *inside, void *below, void *above,
                             uint64_t *out_counts)
{
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.kind = GP_COMPACT_PARTITION;
    d.compare = GP_BETWEEN;
    d.dtype = dtype;
    d.value = value;
    d.upper = upper;
    d.rest = below;
    d.above = above;
    return run(ctx, "gp_partition_range", &form_range, &d, in, NULL, n, inside, out_counts);
}

/* CUB's own scratch: two words per tile, of at least 512 items, and room for alignment. */
static size_t cub_bytes_bound(uint64_t n)
{
    return (size_t)(n / 512 + 256) * 16 + 65536;
}

/* In place, if the call may be that; of a partition into any number of outputs. */
static size_t cpu_bytes(const struct gpi_compact_args *args, const gp_compact_desc *d, int threads)
{
    struct gpi_compact_args a = *args;
    size_t most = 0;
    for (a.counts = 1; a.counts <= (d->kind == GP_COMPACT_PARTITION ? 3 : 1); a.counts++) {
        a.sides = a.counts > 1 ? a.counts - 1 : args->sides > 0;
        a.follows = a.counts == 1 && a.sides;
        a.in_place = d->kind == GP_COMPACT_ITEMS || a.counts > 1;
        const size_t bytes = gpi_compact_cpu_bytes(&a, threads);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Of n items or fewer, whose tiles are smaller: those that are halved are about four times as many
 * as multiprocessors at most, of no less than 128 items. */
static uint64_t cuda_slots(const struct gpi_compact_args *a, int sm_count)
{
    const uint64_t slots = gpi_compact_slots(a, sm_count);
    const uint64_t halved = (uint64_t)sm_count * 5, all = a->n / 128 + 1;
    const uint64_t most = halved < all ? halved : all;
    return slots > most ? slots : most;
}

gp_status gp_compact_workspace_bytes(const gp_target *target, const gp_compact_desc *desc, size_t n,
                                     size_t *bytes)
{
    static const char f[] = "gp_compact_workspace_bytes";
    gp_target t;
    gp_compact_desc d;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(check_desc(NULL, f, t.backend, &form_by, desc, n, &d));
    GPI_TRY(gpi_check_figure(f, bytes));
    struct gpi_compact_args a = args_of(&form_by, &d, NULL, NULL, n, NULL, NULL);
    size_t cuda = 0;
    if (n) /* tiles are fewest items, so most tiles, on the largest device */
        cuda = gpi_state_bytes(cuda_slots(&a, t.sm_count ? t.sm_count : 1024));
    if (n && d.algorithm == GP_ALGORITHM_CUB)
        cuda += cub_bytes_bound(n);
    *bytes = gpi_target_bytes(&t, cpu_bytes(&a, &d, t.threads), cuda);
    return GP_OK;
}
