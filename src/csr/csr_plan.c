/* SPDX-License-Identifier: MIT */
/* Front doors: plans of products. */
#include <gp/gather.h>
#include <gp/spmm.h>

#include "core/check.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "csr/csr_product.h"
#include "validate/validate_internal.h"

/* The next array of a plan: its place, which *at passes; sizes are those of places from 0 on. */
static size_t take(size_t *at, uint64_t items, size_t item_bytes)
{
    const size_t place = *at, bytes = (size_t)items * item_bytes;
    *at += (bytes + GPI_CSR_PLAN_LINE - 1) / GPI_CSR_PLAN_LINE * GPI_CSR_PLAN_LINE;
    return place;
}

static uint64_t column_blocks(const struct gpi_csr_matrix *a)
{
    return (a->nnz + GPI_CSR_NEAR - 1) / GPI_CSR_NEAR;
}

/* Where the arrays of a plan begin, and how long it is. */
struct places {
    size_t starts[2], left, least, above; /* CUDA; starts of 4-byte sums and of f64 */
    size_t shape, shape_table, shape_hashes, sectors;
    size_t place, columns, x, bins;                    /* and of hot columns */
    size_t row_pointers, cols, values, numbers, bytes; /* of a transpose */
};

/* With the tiles of a dtype. */
static struct gpi_csr_product as_of(const struct gpi_csr_product *c, gp_dtype dtype)
{
    struct gpi_csr_product p = *c;
    p.args.dtype = dtype;
    gpi_csr_take_tiles(&p);
    return p;
}

/* Numbers of columns leave room for a bit. */
static bool may_be_hot(const struct gpi_csr_product *c)
{
    return c->wants_hot && c->args.a.num_cols < GPI_CSR_HOT_BIT &&
           c->args.a.nnz >= GPI_CSR_HOT_ENTRIES;
}

static struct places places_of(const struct gpi_csr_product *c, gp_backend backend)
{
    struct places p = {0};
    const struct gpi_csr_spmv *s = &c->args;
    const struct gpi_csr_matrix *a = &s->a;
    const uint64_t tiles = as_of(c, GP_F32).args.tiles, tiles_f64 = as_of(c, GP_F64).args.tiles;
    const size_t ib = gpi_dtype_bytes(c->index), ob = gpi_dtype_bytes(c->offset);
    take(&p.bytes, 1, sizeof *s->plan);
    if (backend != GP_BACKEND_CPU) {
        p.starts[0] = take(&p.bytes, tiles, sizeof *s->starts);
        p.starts[1] = take(&p.bytes, tiles_f64, sizeof *s->starts);
        p.left = take(&p.bytes, tiles > tiles_f64 ? tiles : tiles_f64, sizeof *s->left);
        p.least = take(&p.bytes, column_blocks(a), ib);
        p.above = take(&p.bytes, a->nnz, may_be_hot(c) ? 4 : sizeof *s->above);
        const uint32_t shapes = gpi_csr_shapes(a->nnz);
        p.shape = take(&p.bytes, shapes ? column_blocks(a) : 0, sizeof *s->shape);
        p.shape_table = take(&p.bytes, (uint64_t)shapes * GPI_CSR_NEAR, sizeof *s->shape_table);
        p.shape_hashes = take(&p.bytes, shapes, sizeof *s->shape_hashes);
        p.sectors =
            take(&p.bytes, (gpi_csr_sectors(a->num_cols, a->nnz) + 31) / 32, sizeof *s->sectors);
        if (may_be_hot(c)) {
            p.place = take(&p.bytes, a->num_cols, sizeof *s->hot.place);
            p.columns = take(&p.bytes, GPI_CSR_HOT, sizeof *s->hot.columns);
            p.x = take(&p.bytes, GPI_CSR_HOT, sizeof(double));
            p.bins = take(&p.bytes, GPI_CSR_HOT_BINS, sizeof *s->hot.bins);
        }
    }
    if (c->transposed) {
        p.row_pointers = take(&p.bytes, a->num_rows + 1, ob);
        p.cols = take(&p.bytes, a->nnz, ib);
        p.values = take(&p.bytes, a->nnz, gpi_dtype_bytes(s->dtype));
        p.numbers = take(&p.bytes, a->nnz, ob);
    }
    return p;
}

size_t gpi_csr_plan_bytes(const struct gpi_csr_product *c, gp_backend backend)
{
    return places_of(c, backend).bytes;
}

void gpi_csr_plan_open(struct gpi_csr_product *c, gp_backend backend)
{
    const struct places p = places_of(c, backend);
    struct gpi_csr_spmv *s = &c->args;
    char *plan = (char *)s->plan;
    if (backend != GP_BACKEND_CPU) {
        gpi_csr_take_tiles(c);
        s->starts = (struct gpi_csr_start *)(void *)(plan + p.starts[s->dtype == GP_F64]);
        s->left = (uint64_t *)(void *)(plan + p.left);
        s->least = plan + p.least;
        s->above = (uint16_t *)(void *)(plan + p.above);
        s->shape = (uint16_t *)(void *)(plan + p.shape);
        s->shape_table = (uint16_t *)(void *)(plan + p.shape_table);
        s->shape_hashes = (uint64_t *)(void *)(plan + p.shape_hashes);
        s->shapes = gpi_csr_shapes(s->a.nnz);
        s->sectors = (uint32_t *)(void *)(plan + p.sectors);
        if (may_be_hot(c))
            s->hot = (struct gpi_csr_hot){(uint32_t *)(void *)(plan + p.above),
                                          (uint32_t *)(void *)(plan + p.place),
                                          (uint32_t *)(void *)(plan + p.columns), plan + p.x,
                                          (uint32_t *)(void *)(plan + p.bins)};
    }
    if (c->transposed) {
        s->a.row_pointers = plan + p.row_pointers;
        s->a.cols = plan + p.cols;
        s->values = plan + p.values;
    }
}

/* ---- of which matrix a plan is ---- */

static struct gpi_csr_plan header_of(const struct gpi_csr_product *c)
{
    const struct gpi_csr_matrix *a = &c->args.a;
    const size_t held = c->transposed ? (size_t)c->args.dtype << 16 : 0; /* values */
    const uint64_t hot = (uint64_t)1 << 32;
    const int64_t most = (int64_t)(column_blocks(a) / 4);
    return (struct gpi_csr_plan){.num_rows = a->num_rows,
                                 .num_cols = a->num_cols,
                                 .nnz = a->nnz,
                                 .widths = (c->wants_hot ? hot : 0) | held |
                                           gpi_dtype_bytes(c->index) << 8 |
                                           gpi_dtype_bytes(c->offset),
                                 .ignored = c->args.columns ? hot : 0, /* SpMM */
                                 .far_left = most,
                                 .other_left = gpi_csr_shapes(a->nnz) ? most : -1,
                                 .spread_left = (int64_t)gpi_csr_sectors(a->num_cols, a->nnz) / 2};
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
static uint64_t pattern_of(const struct gpi_csr_product *c)
{
    const struct gpi_csr_matrix *a = &c->args.a;
    const size_t ib = gpi_dtype_bytes(c->index), ob = gpi_dtype_bytes(c->offset);
    return hash_of(a->cols, ib, a->nnz, hash_of(a->row_pointers, ob, a->num_rows + 1, 1));
}

static const struct gpi_csr_plan_ops *plan_ops(const gp_context *ctx,
                                               const struct gpi_csr_product *c)
{
    return gpi_csr_plan_find(ctx, gpi_dtype_bytes(c->index));
}

gp_status gpi_csr_plan_check(gp_context *ctx, const char *f, const struct gpi_csr_product *c,
                             uint32_t *words)
{
    struct gpi_csr_plan *const plan = c->args.plan;
    struct gpi_csr_plan want = header_of(c);
    if (ctx->backend == GP_BACKEND_CUDA) {
        uint64_t *sum = (uint64_t *)(void *)words;
        if (c->transposed) /* its pattern is what is in the plan */
            sum = &plan->pattern;
        else
            GPI_TRY(plan_ops(ctx, c)->pattern(ctx, &c->args, sum));
        return plan_ops(ctx, c)->differs(ctx, plan, sum, &want, words + 2);
    }
    if (plan->num_rows != want.num_rows || plan->num_cols != want.num_cols ||
        plan->nnz != want.nnz || ((plan->widths ^ want.widths) & ~want.ignored) ||
        (!c->transposed && plan->pattern != pattern_of(c)))
        return gpi_fail(ctx, GP_ERROR_DATA, "%s: plan is of another %s", f,
                        c->transposed ? "matrix" : "pattern");
    return GP_OK;
}

/* ---- making one ---- */

/* c's matrix is what the plan is of. */
static gp_status make(gp_context *ctx, struct gpi_csr_product *c)
{
    struct gpi_csr_plan header = header_of(c);
    if (ctx->backend == GP_BACKEND_CPU) {
        gpi_csr_plan_open(c, ctx->backend);
        header.pattern = c->transposed ? 0 : pattern_of(c);
        *c->args.plan = header;
        return GP_OK;
    }
    const struct gpi_csr_plan_ops *const ops = plan_ops(ctx, c);
    const gp_dtype dtypes[] = {GP_F32, GP_F64};
    for (int k = 0; k < 2; k++) {
        struct gpi_csr_product of = as_of(c, dtypes[k]);
        gpi_csr_plan_open(&of, ctx->backend);
        GPI_TRY(ops->starts(ctx, &of.args));
    }
    gpi_csr_plan_open(c, ctx->backend);
    GPI_TRY(ops->make(ctx, &c->args, &header));
    return c->transposed ? GP_OK : ops->pattern(ctx, &c->args, &c->args.plan->pattern);
}

/* Dtypes and sizes of a plan's matrix. */
static gp_status take_plan(gp_context *ctx, const char *f, const gp_csr_desc *desc,
                           const struct gpi_csr_matrix *a, struct gpi_csr_product *c)
{
    gp_csr_desc d;
    GPI_TRY(gpi_csr_take_desc(ctx, f, true, true, desc, &d));
    GPI_TRY(gpi_csr_plan_known(ctx, f, &d));
    *c = (struct gpi_csr_product){
        d.index_dtype, d.offset_dtype,     {.a = *a, .dtype = d.value_dtype},
        true,          d.hot_columns == 1, false};
    return gpi_csr_product_check(ctx, f, true, c);
}

static gp_status rules_of(gp_context *ctx, const char *f, const struct gpi_csr_product *c)
{
    const struct gpi_csr_matrix *a = &c->args.a;
    const struct gpi_content rules[] = {
        GPI_ROW_POINTERS("row_pointers", a->row_pointers, a->num_rows, c->offset, a->nnz),
        GPI_BELOW("cols", a->cols, a->nnz, c->index, a->num_cols)};
    return gpi_validate_begin(ctx, f, rules, 2);
}

gp_status gp_spmv_plan(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows, size_t num_cols,
                       size_t nnz, const void *row_pointers, const void *cols, void *plan)
{
    static const char f[] = "gp_spmv_plan";
    const struct gpi_csr_matrix a = {num_rows, num_cols, nnz, row_pointers, cols};
    struct gpi_csr_product c;
    GPI_CALL(ctx, f);
    GPI_TRY(take_plan(ctx, f, desc, &a, &c));
    const size_t ib = gpi_dtype_bytes(c.index), ob = gpi_dtype_bytes(c.offset);
    const struct gpi_array arrays[] = {
        GPI_READ("row_pointers", row_pointers, (num_rows + 1) * ob, ob),
        GPI_READ("cols", cols, nnz * ib, ib),
        GPI_WRITE("plan", plan, gpi_csr_plan_bytes(&c, ctx->backend), GPI_CSR_PLAN_ALIGN)};
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 3));
    if (num_rows == 0)
        return GP_OK;
    c.args.plan = plan;
    GPI_ON_DEVICE(ctx);
    GPI_TRY(rules_of(ctx, f, &c));
    return gpi_validate_end(ctx, f, gpi_named(ctx, f, make(ctx, &c)));
}

gp_status gp_spmv_plan_bytes(const gp_target *target, const gp_csr_desc *desc, size_t num_rows,
                             size_t num_cols, size_t nnz, size_t *bytes)
{
    static const char f[] = "gp_spmv_plan_bytes";
    const struct gpi_csr_matrix a = {num_rows, num_cols, nnz, NULL, NULL};
    gp_target t;
    struct gpi_csr_product c;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(take_plan(NULL, f, desc, &a, &c));
    GPI_TRY(gpi_check_figure(f, bytes));
    *bytes = gpi_target_bytes(&t, gpi_csr_plan_bytes(&c, GP_BACKEND_CPU),
                              gpi_csr_plan_bytes(&c, GP_BACKEND_CUDA));
    return GP_OK;
}

/* ---- of a transpose ---- */

/* The same of a plan that holds the transpose, which c's matrix becomes. */
static gp_status take_transposed(gp_context *ctx, const char *f, const gp_csr_desc *desc,
                                 const struct gpi_csr_matrix *a, struct gpi_csr_product *c)
{
    GPI_TRY(take_plan(ctx, f, desc, a, c));
    c->transposed = true;
    c->args.a = (struct gpi_csr_matrix){a->num_cols, a->num_rows, a->nnz, NULL, NULL};
    return GP_OK;
}

/* numbers: the place of the permutation. */
static gp_coo_desc coo_of(const struct gpi_csr_product *c, void *numbers)
{
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.index_dtype = c->index;
    d.offset_dtype = c->offset;
    d.value_dtype = c->args.dtype;
    d.permutation = numbers;
    return d;
}

static gp_status transpose_bytes(const gp_target *t, const struct gpi_csr_product *c, size_t *bytes)
{
    char numbers[8]; /* as if there were some */
    const struct gpi_csr_matrix *a = &c->args.a;
    const gp_coo_desc d = coo_of(c, numbers);
    return gp_csr_transpose_workspace_bytes(t, &d, (size_t)a->num_cols, (size_t)a->num_rows,
                                            (size_t)a->nnz, bytes);
}

static gp_status make_transposed(gp_context *ctx, const char *f, struct gpi_csr_product *c,
                                 const struct gpi_csr_matrix *a, const void *values)
{
    const gp_target t = gpi_target_of(ctx);
    const struct places p = places_of(c, ctx->backend);
    char *plan = (char *)c->args.plan;
    const gp_coo_desc d = coo_of(c, plan + p.numbers);
    size_t need;
    GPI_TRY(transpose_bytes(&t, c, &need));
    GPI_FRAME(frame, ctx, f, need);
    GPI_TRY(gp_csr_transpose(ctx, &d, (size_t)a->num_rows, (size_t)a->num_cols, (size_t)a->nnz,
                             a->row_pointers, a->cols, values, plan + p.row_pointers, plan + p.cols,
                             plan + p.values));
    return make(ctx, c);
}

gp_status gp_spmv_transposed_plan(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows,
                                  size_t num_cols, size_t nnz, const void *row_pointers,
                                  const void *cols, const void *values, void *plan)
{
    static const char f[] = "gp_spmv_transposed_plan";
    const struct gpi_csr_matrix a = {num_rows, num_cols, nnz, row_pointers, cols};
    struct gpi_csr_product c;
    GPI_CALL(ctx, f);
    GPI_TRY(take_transposed(ctx, f, desc, &a, &c));
    const size_t ib = gpi_dtype_bytes(c.index), ob = gpi_dtype_bytes(c.offset);
    const size_t vb = gpi_dtype_bytes(c.args.dtype);
    const struct gpi_array arrays[] = {
        GPI_READ("row_pointers", row_pointers, (num_rows + 1) * ob, ob),
        GPI_READ("cols", cols, nnz * ib, ib), GPI_READ("values", values, nnz * vb, vb),
        GPI_WRITE("plan", plan, gpi_csr_plan_bytes(&c, ctx->backend), GPI_CSR_PLAN_ALIGN)};
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 4));
    if (num_cols == 0)
        return GP_OK;
    struct gpi_csr_product given = c;
    given.args.a = a;
    c.args.plan = plan;
    GPI_ON_DEVICE(ctx);
    GPI_TRY(rules_of(ctx, f, &given));
    return gpi_validate_end(ctx, f, gpi_named(ctx, f, make_transposed(ctx, f, &c, &a, values)));
}

gp_status gp_spmv_transposed_plan_bytes(const gp_target *target, const gp_csr_desc *desc,
                                        size_t num_rows, size_t num_cols, size_t nnz, size_t *bytes)
{
    static const char f[] = "gp_spmv_transposed_plan_bytes";
    const struct gpi_csr_matrix a = {num_rows, num_cols, nnz, NULL, NULL};
    gp_target t;
    struct gpi_csr_product c;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(take_transposed(NULL, f, desc, &a, &c));
    GPI_TRY(gpi_check_figure(f, bytes));
    *bytes = gpi_target_bytes(&t, gpi_csr_plan_bytes(&c, GP_BACKEND_CPU),
                              gpi_csr_plan_bytes(&c, GP_BACKEND_CUDA));
    return GP_OK;
}

gp_status gp_spmv_transposed_plan_workspace_bytes(const gp_target *target, const gp_csr_desc *desc,
                                                  size_t num_rows, size_t num_cols, size_t nnz,
                                                  size_t *bytes)
{
    static const char f[] = "gp_spmv_transposed_plan_workspace_bytes";
    const struct gpi_csr_matrix a = {num_rows, num_cols, nnz, NULL, NULL};
    gp_target t;
    struct gpi_csr_product c;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(take_transposed(NULL, f, desc, &a, &c));
    GPI_TRY(gpi_check_figure(f, bytes));
    return transpose_bytes(&t, &c, bytes);
}

/* Those of the transpose, by the numbers that the plan has of them. */
static gp_status gather_values(gp_context *ctx, const struct gpi_csr_product *c, const void *values)
{
    const struct places p = places_of(c, ctx->backend);
    char *plan = (char *)c->args.plan;
    const size_t nnz = (size_t)c->args.a.nnz;
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    d.item_bytes = gpi_dtype_bytes(c->args.dtype);
    d.index_dtype = gpi_csr_unsigned(gpi_dtype_bytes(c->offset));
    d.in_items = nnz;
    return gp_gather_by(ctx, &d, values, plan + p.numbers, nnz, plan + p.values);
}

gp_status gp_spmv_transposed_values(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows,
                                    size_t num_cols, size_t nnz, const void *values, void *plan)
{
    static const char f[] = "gp_spmv_transposed_values";
    const struct gpi_csr_matrix a = {num_rows, num_cols, nnz, NULL, NULL};
    struct gpi_csr_product c;
    GPI_CALL(ctx, f);
    GPI_TRY(take_transposed(ctx, f, desc, &a, &c));
    const size_t vb = gpi_dtype_bytes(c.args.dtype);
    const struct gpi_array arrays[] = {
        GPI_READ("values", values, nnz * vb, vb),
        GPI_WRITE("plan", plan, gpi_csr_plan_bytes(&c, ctx->backend), GPI_CSR_PLAN_ALIGN)};
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 2));
    if (nnz == 0 || num_cols == 0)
        return GP_OK;
    c.args.plan = plan;
    GPI_ON_DEVICE(ctx);
    GPI_FRAME(frame, ctx, f, ctx->validate ? GPI_ALIGN : 0);
    uint32_t *const words =
        ctx->validate ? gpi_frame_take(&frame, 3 * sizeof(uint32_t)) : (uint32_t *)NULL;
    if (ctx->validate)
        GPI_TRY(gpi_csr_plan_check(ctx, f, &c, words));
    const bool cuda = ctx->backend == GP_BACKEND_CUDA;
    const struct gpi_content rule = GPI_BELOW("plan", words ? words + 2 : NULL, 1, GP_U32, 1);
    GPI_TRY(gpi_validate_begin(ctx, f, &rule, cuda ? 1 : 0));
    return gpi_validate_end(ctx, f, gpi_named(ctx, f, gather_values(ctx, &c, values)));
}
