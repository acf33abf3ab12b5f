/* SPDX-License-Identifier: MIT */
/* The passes of one call on CUDA. */
#include "core/check.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "group/group_internal.h"

/* Several moves beside the first take the bits that the first pass leaves, and so do folds; keys of
 * other sizes are bits from the start. */
static bool needs_bits(const struct gpi_group_args *a)
{
    return gpi_group_width(a->key_bytes) < 0 || a->fold_count > 0 || a->move_count > 1;
}

static size_t bits_bytes(const struct gpi_group_args *a)
{
    return needs_bits(a) ? gpi_piece((size_t)(a->n / 8) + GPI_GROUP_TILE_MAX / 8 + 64) : 0;
}

/* What tiles exchange has 16 bytes, of pair operators up to 48, and sums of groups of tiles. */
static uint64_t state_slots(const struct gpi_group_args *a)
{
    uint64_t slots = (a->n / GPI_GROUP_TILE_MIN + 1) * 2;
    for (int i = 0; i < a->fold_count; i++)
        if (gpi_op_scalars(a->folds[i].op) > 1)
            slots =
                (a->n / GPI_GROUP_PAIR_TILE_MIN + 1 + a->n / GPI_GROUP_PAIR_TILE_MIN / 64 + 1) * 6;
    return slots;
}

size_t gpi_group_cuda_bytes(const struct gpi_group_args *a)
{
    return a->n ? gpi_state_bytes(state_slots(a)) + bits_bytes(a) : 0;
}

static gpi_group_launch *fold_of(const struct gpi_group_cuda *cuda,
                                 const struct gpi_group_fold *fold)
{
    if (gpi_op_scalars(fold->op) > 1)
        return cuda->pair;
    if (gpi_dtype_is_float(fold->out_dtype))
        return fold->out_dtype == GP_F64 ? cuda->f64 : cuda->f32;
    return gpi_dtype_bytes(fold->out_dtype) == 8 ? cuda->u64 : cuda->u32;
}

static bool is_short(const struct gpi_group_args *a)
{
    return a->n <= GPI_GROUP_SHORT && gpi_group_width(a->key_bytes) >= 0 && a->fold_count > 0 &&
           a->move_count == 0 && !a->heads && !a->lengths;
}

static gp_status run_short(gp_context *ctx, const struct gpi_group_cuda *cuda,
                           struct gpi_group_pass *pass)
{
    const struct gpi_group_args *a = pass->a;
    pass->only_bits = true;
    GPI_TRY(cuda->by_width[gpi_group_width(a->key_bytes)](ctx, pass));
    for (int i = 0; i < a->fold_count; i++) {
        pass->fold = &a->folds[i];
        pass->with_keys = i == 0;
        GPI_TRY(fold_of(cuda, pass->fold)(ctx, pass));
    }
    return cuda->flush(ctx, pass->function, pass->queue);
}

static gp_status run_passes(gp_context *ctx, const struct gpi_group_cuda *cuda,
                            struct gpi_group_pass *pass)
{
    const struct gpi_group_args *a = pass->a;
    const int width = gpi_group_width(a->key_bytes);
    const struct gpi_group_move key = {a->keys, a->keys_out, a->key_bytes, false};
    int done = 0;
    if (width < 0)
        GPI_TRY(cuda->wide(ctx, pass));
    if (width < 0 && a->keys_out)
        pass->move = &key;
    else if (a->move_count)
        pass->move = &a->moves[done++];
    GPI_TRY(cuda->by_width[width < 0 ? 4 : width](ctx, pass));
    pass->again = true;
    while (done < a->move_count) {
        pass->move = &a->moves[done++];
        GPI_TRY(cuda->by_width[4](ctx, pass));
    }
    for (int i = 0; i < a->fold_count; i++) {
        pass->fold = &a->folds[i];
        GPI_TRY(fold_of(cuda, pass->fold)(ctx, pass));
    }
    return cuda->flush(ctx, pass->function, pass->queue);
}

gp_status gpi_group_cuda(gp_context *ctx, const char *function, const struct gpi_group_args *a)
{
    const struct gpi_group_cuda *cuda = gpi_group_cuda_for(ctx->sm_row);
    struct gpi_group_queue queue;
    struct gpi_state state;
    if (!cuda->wide)
        return gpi_fail_sm(ctx, function);
    if (a->n == 0)
        return gpi_cuda_fill(ctx, a->out_count, 0, sizeof *a->out_count);
    GPI_TRY(gpi_state_get(ctx, function, state_slots(a), &state));
    GPI_FRAME(frame, ctx, function, bits_bytes(a));
    struct gpi_group_pass pass = {.a = a, .function = function, .queue = &queue};
    queue.count = 0;
    if (needs_bits(a))
        pass.bits = gpi_frame_take(&frame, bits_bytes(a));
    return is_short(a) ? run_short(ctx, cuda, &pass) : run_passes(ctx, cuda, &pass);
}
