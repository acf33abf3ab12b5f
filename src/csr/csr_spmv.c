/* SPDX-License-Identifier: MIT */
/* Front doors: SpMV and SpMM. */
#include <inttypes.h>

#include <gp/spmm.h>

#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "core/structs.h"
#include "core/workspace.h"
#include "csr/csr_product.h"
#include "validate/validate_internal.h"

gp_status gpi_csr_product_check(gp_context *ctx, const char *f, bool by,
                                const struct gpi_csr_product *c)
{
    const struct gpi_csr_matrix *a = &c->args.a;
    GPI_TRY(gpi_csr_check_pair(ctx, f, by, c->index, c->offset));
    GPI_TRY(gpi_csr_check_value_dtype(ctx, f, by, c->args.dtype));
    GPI_TRY(gpi_csr_check_count(ctx, f, by, "num_rows", a->num_rows, c->index));
    GPI_TRY(gpi_csr_check_count(ctx, f, by, "num_cols", a->num_cols, c->index));
    return gpi_csr_check_nnz(ctx, f, by, a->nnz, c->offset);
}

/* ---- workspace ---- */

static uint64_t tile_count(const struct gpi_csr_matrix *a, uint64_t tile)
{
    return (a->num_rows + a->nnz + tile - 1) / tile;
}

void gpi_csr_take_tiles(struct gpi_csr_product *c)
{
    struct gpi_csr_spmv *s = &c->args;
    s->index_bytes = gpi_dtype_bytes(c->index);
    s->pointer_bytes = gpi_dtype_bytes(c->offset);
    s->tile_units = gpi_csr_tile_units(s->a.num_rows, s->a.nnz, s->dtype);
    s->tiles = tile_count(&s->a, s->tile_units);
}

/* CUDA: a bound of the tiles of matrices that are no larger. */
static uint64_t tiles_max(const struct gpi_csr_spmv *s)
{
    const uint64_t large = tile_count(&s->a, GPI_CSR_LARGE_TILE);
    const uint64_t small = tile_count(&s->a, GPI_CSR_LEAST_TILE);
    const uint64_t wanted = gpi_csr_tiles_wanted(s->dtype);
    return large > wanted ? large : small < wanted ? small : wanted;
}

/* Two sums, or rows of sums, for each tile. */
static size_t sums_bytes(const struct gpi_csr_spmv *s, size_t tiles)
{
    return 2 * tiles * gpi_csr_sums(s) * gpi_dtype_bytes(gpi_csr_sum_dtype(s->dtype));
}

size_t gpi_csr_product_bytes(const struct gpi_csr_product *c, gp_backend backend)
{
    const struct gpi_csr_spmv *s = &c->args;
    size_t tiles = (size_t)tile_count(&s->a, GPI_CSR_SPMV_TILE_CPU);
    if (backend == GP_BACKEND_CPU)
        return gpi_piece(tiles * sizeof(uint64_t)) + gpi_piece(sums_bytes(s, tiles));
    tiles = (size_t)tiles_max(s);
    const size_t bytes = gpi_piece(tiles * sizeof(struct gpi_csr_start)) +
                         gpi_piece(tiles * sizeof *s->left) + gpi_piece(sums_bytes(s, tiles));
    const size_t state = gpi_state_bytes(tiles); /* in place of them, of few tiles */
    return bytes > state ? bytes : state;
}

/* CUDA, without a plan: the starts of few tiles are searched by the tiles themselves. */
static gp_status take_starts(gp_context *ctx, const char *f, struct gpi_csr_spmv *s,
                             struct gpi_frame *frame)
{
    struct gpi_state state;
    if (s->tiles <= gpi_csr_tiles_wanted(s->dtype)) {
        GPI_TRY(gpi_state_get(ctx, f, s->tiles, &state));
        s->left = state.words8;
        return GP_OK;
    }
    s->starts = gpi_frame_take(frame, (size_t)s->tiles * sizeof *s->starts);
    s->left = gpi_frame_take(frame, (size_t)s->tiles * sizeof *s->left);
    return GP_OK;
}

static gp_status take_workspace(gp_context *ctx, const char *f, struct gpi_csr_product *c,
                                struct gpi_frame *frame)
{
    struct gpi_csr_spmv *s = &c->args;
    if (ctx->backend == GP_BACKEND_CPU) {
        s->tiles = tile_count(&s->a, GPI_CSR_SPMV_TILE_CPU);
        s->came_in = gpi_frame_take(frame, (size_t)s->tiles * sizeof *s->came_in);
        s->parts = gpi_frame_take(frame, sums_bytes(s, (size_t)s->tiles));
        return GP_OK;
    }
    if (!c->planned)
        GPI_TRY(take_starts(ctx, f, s, frame));
    s->pieces = gpi_frame_take(frame, sums_bytes(s, (size_t)s->tiles));
    return GP_OK;
}

/* ---- the work ---- */

static gp_status multiply(gp_context *ctx, const char *f, struct gpi_csr_product *c,
                          struct gpi_frame *frame)
{
    if (c->planned)
        gpi_csr_plan_open(c, ctx->backend);
    GPI_TRY(take_workspace(ctx, f, c, frame));
    return gpi_csr_spmv_find(ctx, gpi_dtype_bytes(c->index), gpi_dtype_bytes(c->offset),
                             c->args.dtype, c->args.columns)(ctx, &c->args);
}

/* The rules of the contents, those of a plan before, around multiply(). */
gp_status gpi_csr_product_run(gp_context *ctx, const char *f, struct gpi_csr_product *c)
{
    struct gpi_csr_matrix *const a = &c->args.a;
    GPI_ON_DEVICE(ctx);
    GPI_FRAME(frame, ctx, f, gpi_csr_product_bytes(c, ctx->backend));
    const bool cuda = ctx->backend == GP_BACKEND_CUDA;
    gpi_csr_take_tiles(c);
    uint32_t *words = NULL;
    struct gpi_content rules[] = {
        GPI_BELOW("plan", NULL, 1, GP_U32, 1),
        GPI_ROW_POINTERS("row_pointers", a->row_pointers, a->num_rows, c->offset, a->nnz),
        GPI_BELOW("cols", a->cols, a->nnz, c->index, a->num_cols)};
    rules[1].device_n = c->args.device_num_rows;
    rules[1].device_bound = rules[2].device_n = c->args.device_nnz;
    rules[1].may_be_none = true; /* as of num_rows 0: no entry is read */
    const bool pattern = c->planned && ctx->validate;
    if (pattern && cuda)
        words = gpi_frame_take(&frame, 3 * sizeof *words);
    if (pattern)
        GPI_TRY(gpi_csr_plan_check(ctx, f, c, words));
    rules[0].items = words ? words + 2 : NULL;
    const int first = words ? 0 : 1, count = c->transposed ? 1 : 3; /* no rules of a plan's own */
    GPI_TRY(gpi_validate_begin(ctx, f, rules + first, count - first));
    return gpi_validate_end(ctx, f, gpi_named(ctx, f, multiply(ctx, f, c, &frame)));
}

double gpi_csr_scalar(gp_dtype dtype, const void *value, double missing)
{
    if (!value)
        return missing;
    return dtype == GP_F64 ? *(const double *)value : (double)*(const float *)value;
}

/* ---- the calls ---- */

/* Scalars in memory are arrays of the call; so is the plan, and of a transpose nothing but that.
 * x_items, y_items: those that X and Y span. */
static gp_status check_arrays(gp_context *ctx, const char *f, const struct gpi_csr_product *c,
                              uint64_t x_items, uint64_t y_items)
{
    const struct gpi_csr_spmv *s = &c->args;
    const struct gpi_csr_matrix *a = &s->a;
    const bool own = !c->transposed;
    size_t ib = gpi_dtype_bytes(c->index), ob = gpi_dtype_bytes(c->offset);
    size_t vb = gpi_dtype_bytes(s->dtype), sb = gpi_dtype_bytes(gpi_csr_sum_dtype(s->dtype));
    const struct gpi_array arrays[] = {
        GPI_CSR_COUNTS(s),
        GPI_READ("row_pointers", a->row_pointers, own ? (a->num_rows + 1) * ob : 0, ob),
        GPI_READ("cols", a->cols, own ? a->nnz * ib : 0, ib),
        c->planned
            ? GPI_WRITE("plan", s->plan, gpi_csr_plan_bytes(c, ctx->backend), GPI_CSR_PLAN_ALIGN)
            : GPI_READ_IF("plan", NULL, 0, 1),
        GPI_READ("values", s->values, own ? a->nnz * vb : 0, vb),
        GPI_READ_IF("alpha", s->device_alpha, sb, sb),
        GPI_READ("x", s->x, a->nnz ? x_items * vb : 0, vb),
        GPI_READ_IF("beta", s->device_beta, sb, sb),
        GPI_WRITE("y", s->y, y_items * vb, vb),
    };
    return gpi_check_arrays(ctx, f, arrays, (int)(sizeof arrays / sizeof *arrays));
}

gp_status gpi_csr_plan_known(gp_context *ctx, const char *f, const gp_csr_desc *d)
{
    const char *member = d->device_nnz ? "device_nnz" : "device_num_rows";
    if (d->device_nnz || d->device_num_rows)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->%s is not NULL: not with a plan", f,
                        member);
    return GP_OK;
}

/* What a descriptor says of a product, and where alpha and beta are. */
static void fill_in(struct gpi_csr_product *c, const gp_csr_desc *d, const void *alpha,
                    const void *beta)
{
    c->index = d->index_dtype;
    c->offset = d->offset_dtype;
    c->args.dtype = d->value_dtype;
    c->wants_hot = d->hot_columns == 1;
    c->args.device_nnz = d->device_nnz;
    c->args.device_num_rows = d->device_num_rows;
    c->args.device_alpha = d->device_alpha ? alpha : NULL;
    c->args.device_beta = d->device_beta ? beta : NULL;
}

/* Behind all checks. */
static gp_status run(gp_context *ctx, const char *f, struct gpi_csr_product *c, const void *alpha,
                     const void *beta)
{
    struct gpi_csr_spmv *const s = &c->args;
    s->a.nnz = gpi_count_now(ctx, &s->device_nnz, s->a.nnz);
    s->a.num_rows = gpi_count_now(ctx, &s->device_num_rows, s->a.num_rows);
    if (s->a.num_rows == 0)
        return GP_OK;
    const bool here = ctx->backend == GP_BACKEND_CPU; /* all memory is */
    s->alpha = gpi_csr_scalar(s->dtype, s->device_alpha && !here ? NULL : alpha, 1);
    s->beta = gpi_csr_scalar(s->dtype, s->device_beta && !here ? NULL : beta, 0);
    return gpi_csr_product_run(ctx, f, c);
}

/* args: what the caller gave. */
static gp_status spmv(gp_context *ctx, const char *f, bool by, const gp_csr_desc *given,
                      const struct gpi_csr_spmv *args, bool planned, const void *alpha,
                      const void *beta)
{
    gp_csr_desc d;
    struct gpi_csr_product c = {.args = *args, .planned = planned};
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_csr_take_desc(ctx, f, by, true, given, &d));
    if (planned)
        GPI_TRY(gpi_csr_plan_known(ctx, f, &d));
    fill_in(&c, &d, alpha, beta);
    GPI_TRY(gpi_csr_product_check(ctx, f, by, &c));
    GPI_TRY(check_arrays(ctx, f, &c, args->a.num_cols, args->a.num_rows));
    return run(ctx, f, &c, alpha, beta);
}

gp_status gp_spmv_by(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows, size_t num_cols,
                     size_t nnz, const void *row_pointers, const void *cols, const void *values,
                     const void *alpha, const void *x, const void *beta, void *y)
{
    const struct gpi_csr_spmv args = {
        .a = {num_rows, num_cols, nnz, row_pointers, cols}, .values = values, .x = x, .y = y};
    return spmv(ctx, "gp_spmv_by", true, desc, &args, false, alpha, beta);
}

gp_status gp_spmv(gp_context *ctx, gp_dtype index_dtype, gp_dtype offset_dtype,
                  gp_dtype value_dtype, size_t num_rows, size_t num_cols, size_t nnz,
                  const void *row_pointers, const void *cols, const void *values, const void *alpha,
                  const void *x, const void *beta, void *y)
{
    const struct gpi_csr_spmv args = {
        .a = {num_rows, num_cols, nnz, row_pointers, cols}, .values = values, .x = x, .y = y};
    gp_csr_desc desc = GP_CSR_DESC_INIT;
    desc.index_dtype = index_dtype;
    desc.offset_dtype = offset_dtype;
    desc.value_dtype = value_dtype;
    return spmv(ctx, "gp_spmv", false, &desc, &args, false, alpha, beta);
}

gp_status gp_spmv_planned(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows,
                          size_t num_cols, size_t nnz, const void *row_pointers, const void *cols,
                          void *plan, const void *values, const void *alpha, const void *x,
                          const void *beta, void *y)
{
    const struct gpi_csr_spmv args = {.a = {num_rows, num_cols, nnz, row_pointers, cols},
                                      .values = values,
                                      .x = x,
                                      .y = y,
                                      .plan = plan};
    return spmv(ctx, "gp_spmv_planned", true, desc, &args, true, alpha, beta);
}

gp_status gp_spmv_workspace_bytes(const gp_target *target, gp_dtype index_dtype,
                                  gp_dtype offset_dtype, gp_dtype value_dtype, size_t num_rows,
                                  size_t num_cols, size_t nnz, size_t *bytes)
{
    static const char f[] = "gp_spmv_workspace_bytes";
    gp_target t;
    const struct gpi_csr_product c = {
        .index = index_dtype,
        .offset = offset_dtype,
        .args = {.a = {num_rows, num_cols, nnz, NULL, NULL}, .dtype = value_dtype}};
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_csr_product_check(NULL, f, false, &c));
    *bytes = gpi_target_bytes(&t, gpi_csr_product_bytes(&c, GP_BACKEND_CPU),
                              gpi_csr_product_bytes(&c, GP_BACKEND_CUDA));
    return GP_OK;
}

gp_status gp_spmv_transposed(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows,
                             size_t num_cols, size_t nnz, void *plan, const void *alpha,
                             const void *x, const void *beta, void *y)
{
    static const char f[] = "gp_spmv_transposed";
    gp_csr_desc d;
    struct gpi_csr_product c = {.planned = true, .transposed = true};
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_csr_take_desc(ctx, f, true, true, desc, &d));
    GPI_TRY(gpi_csr_plan_known(ctx, f, &d));
    c.args = (struct gpi_csr_spmv){
        .a = {num_rows, num_cols, nnz, NULL, NULL}, .x = x, .y = y, .plan = plan};
    fill_in(&c, &d, alpha, beta);
    GPI_TRY(gpi_csr_product_check(ctx, f, true, &c));
    c.args.a = (struct gpi_csr_matrix){num_cols, num_rows, nnz, NULL, NULL};
    GPI_TRY(check_arrays(ctx, f, &c, num_rows, num_cols));
    return run(ctx, f, &c, alpha, beta);
}

/* ---- SpMM ---- */

static gp_status check_flag(gp_context *ctx, const char *f, const char *member, int flag)
{
    if (flag != 0 && flag != 1)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: %s is %d, expected 0 or 1", f, member, flag);
    return GP_OK;
}

static gp_status check_spmm_desc(gp_context *ctx, const char *f, const gp_spmm_desc *d)
{
    GPI_TRY(gpi_csr_check_pair(ctx, f, true, d->index_dtype, d->offset_dtype));
    GPI_TRY(gpi_csr_check_value_dtype(ctx, f, true, d->value_dtype));
    if (d->layout != GP_LAYOUT_ROWS && d->layout != GP_LAYOUT_COLUMNS)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->layout is %d, expected a gp_layout", f,
                        (int)d->layout);
    if (d->columns > GP_SPMM_COLUMNS_MAX)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->columns is %zu, expected at most %d", f,
                        d->columns, GP_SPMM_COLUMNS_MAX);
    GPI_TRY(check_flag(ctx, f, "desc->device_alpha", d->device_alpha));
    GPI_TRY(check_flag(ctx, f, "desc->device_beta", d->device_beta));
    const char *member = d->device_nnz ? "device_nnz" : "device_num_rows";
    if (d->plan && (d->device_nnz || d->device_num_rows))
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->%s is not NULL: not with a plan", f,
                        member);
    return GP_OK;
}

/* Strides of X or Y, which has that many rows, and *items that it spans; stride: the member. */
static gp_status take_dense(gp_context *ctx, const char *f, const gp_spmm_desc *d,
                            const char *member, uint64_t stride, uint64_t rows,
                            struct gpi_csr_dense *at, uint64_t *items)
{
    const bool by_rows = d->layout == GP_LAYOUT_ROWS;
    const uint64_t least = by_rows ? d->columns : rows, steps = by_rows ? rows : d->columns;
    uint64_t last;
    if (stride && stride < least)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: desc->%s is %" PRIu64 ", expected 0 or at least %" PRIu64, f, member,
                        stride, least);
    stride = stride ? stride : least;
    *at = by_rows ? (struct gpi_csr_dense){stride, 1} : (struct gpi_csr_dense){1, stride};
    *items = 0;
    if (least == 0 || steps == 0)
        return GP_OK;
    if (__builtin_mul_overflow(steps - 1, stride, &last) || last > GPI_MAX_N - least)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: desc->%s is %" PRIu64 ", which spans more than 2^40 items", f, member,
                        stride);
    *items = last + least;
    return GP_OK;
}

/* Everything but the arrays. */
static gp_status take_spmm(gp_context *ctx, const char *f, const gp_spmm_desc *given,
                           struct gpi_csr_product *c, uint64_t items[2])
{
    gp_spmm_desc d;
    struct gpi_csr_spmv *s = &c->args;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, &d, GPI_FORM(gp_spmm_desc)));
    GPI_TRY(check_spmm_desc(ctx, f, &d));
    c->index = d.index_dtype;
    c->offset = d.offset_dtype;
    c->planned = d.plan != NULL;
    s->plan = d.plan;
    s->dtype = d.value_dtype;
    s->columns = (uint32_t)d.columns;
    s->device_nnz = d.device_nnz;
    s->device_num_rows = d.device_num_rows;
    s->device_alpha = d.device_alpha ? s->device_alpha : NULL;
    s->device_beta = d.device_beta ? s->device_beta : NULL;
    GPI_TRY(gpi_csr_product_check(ctx, f, true, c));
    GPI_TRY(take_dense(ctx, f, &d, "x_stride", d.x_stride, s->a.num_cols, &s->x_at, items));
    return take_dense(ctx, f, &d, "y_stride", d.y_stride, s->a.num_rows, &s->y_at, items + 1);
}

gp_status gp_spmm(gp_context *ctx, const gp_spmm_desc *desc, size_t num_rows, size_t num_cols,
                  size_t nnz, const void *row_pointers, const void *cols, const void *values,
                  const void *alpha, const void *x, const void *beta, void *y)
{
    static const char f[] = "gp_spmm";
    uint64_t items[2];
    struct gpi_csr_product c = {.args = {.a = {num_rows, num_cols, nnz, row_pointers, cols},
                                         .values = values,
                                         .x = x,
                                         .y = y,
                                         .device_alpha = alpha,
                                         .device_beta = beta}};
    GPI_CALL(ctx, f);
    GPI_TRY(take_spmm(ctx, f, desc, &c, items));
    GPI_TRY(check_arrays(ctx, f, &c, items[0], items[1]));
    return c.args.columns ? run(ctx, f, &c, alpha, beta) : GP_OK;
}

gp_status gp_spmm_workspace_bytes(const gp_target *target, const gp_spmm_desc *desc,
                                  size_t num_rows, size_t num_cols, size_t nnz, size_t *bytes)
{
    static const char f[] = "gp_spmm_workspace_bytes";
    gp_target t;
    uint64_t items[2];
    struct gpi_csr_product c = {.args = {.a = {num_rows, num_cols, nnz, NULL, NULL}}};
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(take_spmm(NULL, f, desc, &c, items));
    GPI_TRY(gpi_check_figure(f, bytes));
    *bytes = gpi_target_bytes(&t, gpi_csr_product_bytes(&c, GP_BACKEND_CPU),
                              gpi_csr_product_bytes(&c, GP_BACKEND_CUDA));
    return GP_OK;
}
