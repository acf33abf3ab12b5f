/* SPDX-License-Identifier: MIT */
/* Front door: SpMV. */
#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "csr/csr_internal.h"
#include "validate/validate_internal.h"

struct call {
    gp_dtype index, offset;
    struct gpi_csr_spmv args;
    bool planned;
};

static gp_status check_sizes(gp_context *ctx, const char *f, bool by, const struct call *c)
{
    const struct gpi_csr_matrix *a = &c->args.a;
    GPI_TRY(gpi_csr_check_pair(ctx, f, by, c->index, c->offset));
    GPI_TRY(gpi_csr_check_value_dtype(ctx, f, by, c->args.dtype));
    GPI_TRY(gpi_csr_check_count(ctx, f, by, "num_rows", a->num_rows, c->index));
    GPI_TRY(gpi_csr_check_count(ctx, f, by, "num_cols", a->num_cols, c->index));
    return gpi_csr_check_nnz(ctx, f, by, a->nnz, c->offset);
}

static uint64_t tile_count(const struct gpi_csr_matrix *a, uint64_t tile)
{
    return (a->num_rows + a->nnz + tile - 1) / tile;
}

static size_t frame_bytes_cpu(const struct call *c)
{
    size_t tiles = (size_t)tile_count(&c->args.a, GPI_CSR_SPMV_TILE_CPU);
    return gpi_piece(tiles * sizeof(uint64_t)) +
           gpi_piece(2 * tiles * gpi_dtype_bytes(gpi_csr_sum_dtype(c->args.dtype)));
}

static uint64_t tiles_cuda(const struct gpi_csr_matrix *a, int *log)
{
    *log = gpi_csr_tile_log(a->num_rows + a->nnz);
    return tile_count(a, (uint64_t)1 << *log);
}

static size_t frame_bytes_cuda(const struct call *c)
{
    int log;
    size_t tiles = (size_t)tiles_cuda(&c->args.a, &log);
    return gpi_piece(tiles * sizeof(struct gpi_csr_start)) + gpi_piece(tiles * sizeof(uint32_t)) +
           gpi_piece(2 * tiles * gpi_dtype_bytes(gpi_csr_sum_dtype(c->args.dtype)));
}

/* ---- plans ---- */

static size_t plan_piece(size_t bytes)
{
    return (bytes + GPI_CSR_PLAN_ALIGN - 1) / GPI_CSR_PLAN_ALIGN * GPI_CSR_PLAN_ALIGN;
}

static uint64_t column_blocks(const struct gpi_csr_matrix *a)
{
    return (a->nnz + GPI_CSR_NEAR - 1) / GPI_CSR_NEAR;
}

static size_t plan_bytes(const struct call *c, gp_backend backend)
{
    const struct gpi_csr_matrix *a = &c->args.a;
    int log;
    const size_t tiles = (size_t)tiles_cuda(a, &log), header = plan_piece(sizeof *c->args.plan);
    if (backend == GP_BACKEND_CPU)
        return header;
    return header + plan_piece(tiles * sizeof *c->args.starts) +
           plan_piece(tiles * sizeof *c->args.left) +
           plan_piece((size_t)column_blocks(a) * gpi_dtype_bytes(c->index)) +
           plan_piece((size_t)a->nnz * sizeof *c->args.above);
}

/* Where the arrays of a plan lie; CUDA. */
static void open_plan(struct call *c)
{
    struct gpi_csr_spmv *s = &c->args;
    char *at = (char *)s->plan + plan_piece(sizeof *s->plan);
    s->tiles = tiles_cuda(&s->a, &s->tile_log);
    s->starts = (struct gpi_csr_start *)(void *)at;
    at += plan_piece((size_t)s->tiles * sizeof *s->starts);
    s->left = (uint32_t *)(void *)at;
    at += plan_piece((size_t)s->tiles * sizeof *s->left);
    s->least = at;
    at += plan_piece((size_t)column_blocks(&s->a) * gpi_dtype_bytes(c->index));
    s->above = (uint16_t *)(void *)at;
}

static struct gpi_csr_plan header_of(const struct call *c)
{
    const struct gpi_csr_matrix *a = &c->args.a;
    return (struct gpi_csr_plan){.num_rows = a->num_rows,
                                 .num_cols = a->num_cols,
                                 .nnz = a->nnz,
                                 .widths =
                                     gpi_dtype_bytes(c->index) << 8 | gpi_dtype_bytes(c->offset),
                                 .blocks = column_blocks(a)};
}

static uint64_t hash_of(const void *numbers, size_t bytes, uint64_t n, uint64_t hash)
{
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t x =
            bytes == 8 ? ((const uint64_t *)numbers)[i] : (uint64_t)((const uint32_t *)numbers)[i];
        hash = (hash ^ x) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* CPU. */
static uint64_t pattern_of(const struct call *c)
{
    const struct gpi_csr_matrix *a = &c->args.a;
    const size_t ib = gpi_dtype_bytes(c->index), ob = gpi_dtype_bytes(c->offset);
    return hash_of(a->cols, ib, a->nnz, hash_of(a->row_pointers, ob, a->num_rows + 1, 1));
}

static const struct gpi_csr_plan_ops *plan_ops(const gp_context *ctx, const struct call *c)
{
    return gpi_csr_plan_find(ctx, gpi_dtype_bytes(c->index), gpi_dtype_bytes(c->offset));
}

/* In a context that validates: CPU: whether the plan is of this pattern. CUDA: words[2], in memory,
 * becomes 1 if it is not; words[0 .. 1] are the hash of the pattern. */
static gp_status check_pattern(gp_context *ctx, const char *f, const struct call *c,
                               uint32_t *words)
{
    const struct gpi_csr_plan *plan = c->args.plan;
    struct gpi_csr_plan want = header_of(c);
    if (ctx->backend == GP_BACKEND_CUDA) {
        uint64_t *sum = (uint64_t *)(void *)words;
        GPI_TRY(plan_ops(ctx, c)->pattern(ctx, &c->args.a, sum));
        return plan_ops(ctx, c)->differs(ctx, plan, sum, &want, words + 2);
    }
    if (plan->num_rows != want.num_rows || plan->num_cols != want.num_cols ||
        plan->nnz != want.nnz || plan->widths != want.widths || plan->pattern != pattern_of(c))
        return gpi_fail(ctx, GP_ERROR_DATA, "%s: plan is of another pattern", f);
    return GP_OK;
}

/* ---- the call ---- */

/* Scalars in memory are arrays of the call. */
static gp_status check_call(gp_context *ctx, const char *f, bool by, const struct call *c)
{
    const struct gpi_csr_spmv *s = &c->args;
    const struct gpi_csr_matrix *a = &s->a;
    GPI_TRY(check_sizes(ctx, f, by, c));
    size_t ib = gpi_dtype_bytes(c->index), ob = gpi_dtype_bytes(c->offset);
    size_t vb = gpi_dtype_bytes(s->dtype), sb = gpi_dtype_bytes(gpi_csr_sum_dtype(s->dtype));
    const struct gpi_array arrays[] = {
        GPI_CSR_COUNTS(s),
        GPI_READ("row_pointers", a->row_pointers, (a->num_rows + 1) * ob, ob),
        GPI_READ("cols", a->cols, a->nnz * ib, ib),
        c->planned ? GPI_WRITE("plan", s->plan, plan_bytes(c, ctx->backend), GPI_CSR_PLAN_ALIGN)
                   : GPI_READ_IF("plan", NULL, 0, 1),
        GPI_READ("values", s->values, a->nnz * vb, vb),
        GPI_READ_IF("alpha", s->device_alpha, sb, sb),
        GPI_READ("x", s->x, a->nnz ? a->num_cols * vb : 0, vb),
        GPI_READ_IF("beta", s->device_beta, sb, sb),
        GPI_WRITE("y", s->y, a->num_rows * vb, vb),
    };
    return gpi_check_arrays(ctx, f, arrays, (int)(sizeof arrays / sizeof *arrays));
}

static double scalar(gp_dtype dtype, const void *value, double missing)
{
    if (!value)
        return missing;
    return dtype == GP_F64 ? *(const double *)value : (double)*(const float *)value;
}

static size_t frame_bytes(const gp_context *ctx, const struct call *c)
{
    return ctx->backend == GP_BACKEND_CUDA ? frame_bytes_cuda(c) : frame_bytes_cpu(c);
}

static gp_status multiply(gp_context *ctx, struct call *c, struct gpi_frame *frame)
{
    struct gpi_csr_spmv *s = &c->args;
    const size_t sum = gpi_dtype_bytes(gpi_csr_sum_dtype(s->dtype));
    if (ctx->backend == GP_BACKEND_CPU) {
        s->tiles = tile_count(&s->a, GPI_CSR_SPMV_TILE_CPU);
        s->came_in = gpi_frame_take(frame, (size_t)s->tiles * sizeof *s->came_in);
        s->parts = gpi_frame_take(frame, 2 * (size_t)s->tiles * sum);
    } else if (c->planned) {
        open_plan(c);
        s->pieces = gpi_frame_take(frame, 2 * (size_t)s->tiles * sum);
    } else {
        s->tiles = tiles_cuda(&s->a, &s->tile_log);
        s->starts = gpi_frame_take(frame, (size_t)s->tiles * sizeof *s->starts);
        s->left = gpi_frame_take(frame, (size_t)s->tiles * sizeof *s->left);
        s->pieces = gpi_frame_take(frame, 2 * (size_t)s->tiles * sum);
    }
    return gpi_csr_spmv_find(ctx, gpi_dtype_bytes(c->index), gpi_dtype_bytes(c->offset),
                             s->dtype)(ctx, s);
}

/* The rules of the contents, those of a plan before, around multiply(). */
static gp_status checked(gp_context *ctx, const char *f, struct call *c)
{
    struct gpi_csr_matrix *const a = &c->args.a;
    GPI_ON_DEVICE(ctx);
    GPI_FRAME(frame, ctx, f, frame_bytes(ctx, c));
    const bool cuda = ctx->backend == GP_BACKEND_CUDA;
    uint32_t *words = NULL;
    struct gpi_content rules[] = {
        GPI_ROW_POINTERS("row_pointers", a->row_pointers, a->num_rows, c->offset, a->nnz),
        GPI_BELOW("cols", a->cols, a->nnz, c->index, a->num_cols),
        GPI_BELOW("plan", NULL, 1, GP_U32, 1)};
    rules[0].device_n = c->args.device_num_rows;
    rules[0].device_bound = rules[1].device_n = c->args.device_nnz;
    const bool pattern = c->planned && ctx->validate;
    if (pattern && cuda)
        words = gpi_frame_take(&frame, 3 * sizeof *words);
    if (pattern)
        GPI_TRY(check_pattern(ctx, f, c, words));
    rules[2].items = words ? words + 2 : NULL;
    GPI_TRY(gpi_validate_begin(ctx, f, rules, words ? 3 : 2));
    return gpi_validate_end(ctx, f, gpi_named(ctx, f, multiply(ctx, c, &frame)));
}

/* A plan is of numbers that the host knows. */
static gp_status check_known(gp_context *ctx, const char *f, const gp_csr_desc *d)
{
    const char *member = d->device_nnz ? "device_nnz" : "device_num_rows";
    if (d->device_nnz || d->device_num_rows)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->%s is not NULL: not with a plan", f,
                        member);
    return GP_OK;
}

/* args: what the caller gave; dtype, alpha and beta are filled in. */
static gp_status spmv(gp_context *ctx, const char *f, bool by, const gp_csr_desc *given,
                      const struct gpi_csr_spmv *args, bool planned, const void *alpha,
                      const void *beta)
{
    gp_csr_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_csr_take_desc(ctx, f, by, true, given, &d));
    if (planned)
        GPI_TRY(check_known(ctx, f, &d));
    struct call c = {d.index_dtype, d.offset_dtype, *args, planned};
    c.args.dtype = d.value_dtype;
    c.args.device_nnz = d.device_nnz;
    c.args.device_num_rows = d.device_num_rows;
    c.args.device_alpha = d.device_alpha ? alpha : NULL;
    c.args.device_beta = d.device_beta ? beta : NULL;
    GPI_TRY(check_call(ctx, f, by, &c));
    struct gpi_csr_matrix *const a = &c.args.a;
    a->nnz = gpi_count_now(ctx, &c.args.device_nnz, a->nnz);
    a->num_rows = gpi_count_now(ctx, &c.args.device_num_rows, a->num_rows);
    if (a->num_rows == 0)
        return GP_OK;
    const bool here = ctx->backend == GP_BACKEND_CPU; /* all memory is */
    c.args.alpha = scalar(d.value_dtype, d.device_alpha && !here ? NULL : alpha, 1);
    c.args.beta = scalar(d.value_dtype, d.device_beta && !here ? NULL : beta, 0);
    return checked(ctx, f, &c);
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

static gp_status make(gp_context *ctx, const char *f, struct call *c)
{
    const struct gpi_csr_matrix *a = &c->args.a;
    const struct gpi_content rules[] = {
        GPI_ROW_POINTERS("row_pointers", a->row_pointers, a->num_rows, c->offset, a->nnz),
        GPI_BELOW("cols", a->cols, a->nnz, c->index, a->num_cols)};
    struct gpi_csr_plan header = header_of(c);
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, rules, 2));
    if (ctx->backend == GP_BACKEND_CPU) {
        header.pattern = pattern_of(c);
        *c->args.plan = header;
        return gpi_validate_end(ctx, f, GP_OK);
    }
    open_plan(c);
    gp_status s = plan_ops(ctx, c)->make(ctx, &c->args, &header);
    if (s == GP_OK)
        s = plan_ops(ctx, c)->pattern(ctx, a, &c->args.plan->pattern);
    return gpi_validate_end(ctx, f, gpi_named(ctx, f, s));
}

gp_status gp_spmv_plan(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows, size_t num_cols,
                       size_t nnz, const void *row_pointers, const void *cols, void *plan)
{
    static const char f[] = "gp_spmv_plan";
    gp_csr_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_csr_take_desc(ctx, f, true, true, desc, &d));
    GPI_TRY(check_known(ctx, f, &d));
    struct call c = {
        d.index_dtype,
        d.offset_dtype,
        {.a = {num_rows, num_cols, nnz, row_pointers, cols}, .dtype = d.value_dtype, .plan = plan},
        true};
    GPI_TRY(check_sizes(ctx, f, true, &c));
    const size_t ib = gpi_dtype_bytes(c.index), ob = gpi_dtype_bytes(c.offset);
    const struct gpi_array arrays[] = {
        GPI_READ("row_pointers", row_pointers, (num_rows + 1) * ob, ob),
        GPI_READ("cols", cols, nnz * ib, ib),
        GPI_WRITE("plan", plan, plan_bytes(&c, ctx->backend), GPI_CSR_PLAN_ALIGN)};
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 3));
    return num_rows ? make(ctx, f, &c) : GP_OK;
}

gp_status gp_spmv_plan_bytes(const gp_target *target, const gp_csr_desc *desc, size_t num_rows,
                             size_t num_cols, size_t nnz, size_t *bytes)
{
    static const char f[] = "gp_spmv_plan_bytes";
    gp_target t;
    gp_csr_desc d;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_csr_take_desc(NULL, f, true, true, desc, &d));
    const struct call c = {d.index_dtype,
                           d.offset_dtype,
                           {.a = {num_rows, num_cols, nnz, NULL, NULL}, .dtype = d.value_dtype},
                           true};
    GPI_TRY(check_sizes(NULL, f, true, &c));
    GPI_TRY(gpi_check_figure(f, bytes));
    *bytes = gpi_target_bytes(&t, plan_bytes(&c, GP_BACKEND_CPU), plan_bytes(&c, GP_BACKEND_CUDA));
    return GP_OK;
}

gp_status gp_spmv_workspace_bytes(const gp_target *target, gp_dtype index_dtype,
                                  gp_dtype offset_dtype, gp_dtype value_dtype, size_t num_rows,
                                  size_t num_cols, size_t nnz, size_t *bytes)
{
    static const char f[] = "gp_spmv_workspace_bytes";
    gp_target t;
    struct call c = {.index = index_dtype,
                     .offset = offset_dtype,
                     .args = {.a = {num_rows, num_cols, nnz, NULL, NULL}, .dtype = value_dtype}};
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(check_sizes(NULL, f, false, &c));
    *bytes = gpi_target_bytes(&t, frame_bytes_cpu(&c), frame_bytes_cuda(&c));
    return GP_OK;
}
