/* SPDX-License-Identifier: MIT */
#include "validate/validate_internal.h"

#include "core/check.h"
#include "core/cuda.h"
#include "core/variants.h"
#include "core/workspace.h"
#include "validate/validate_gate.h"
#include "validate/validate_rule.h"
#include "validate/validate_cpu.h"

#define DECLARE(sm) extern const struct gpi_validate_kernels gpi_validate_kernels_sm##sm;
#define ENTRY(sm) GPI_CUDA(&gpi_validate_kernels_sm##sm),

GPI_SMS(DECLARE)

const struct gpi_validate_kernels *gpi_validate_kernels_find(const gp_context *ctx)
{
    static const struct gpi_validate_kernels *const kernels[GPI_SM_COUNT] = {GPI_SMS(ENTRY)};
    return kernels[ctx->sm_row];
}

static gp_status queue(gp_context *ctx, const char *f, const struct gpi_content *c,
                       struct gpi_sticky *record, bool blocks)
{
    const struct gpi_content_rule rule = gpi_content_rule_of(c);
    struct gpi_reporter reporter = gpi_reporter_of(ctx, c->argument, c->dtype);
    reporter.sticky = record;
    return c->n ? gpi_validate_kernels_find(ctx)->check(ctx, f, &rule, &reporter, blocks) : GP_OK;
}

gp_status gpi_content_check(gp_context *ctx, const char *f, const struct gpi_content *c)
{
    struct gpi_content_rule rule = gpi_content_rule_of(c);
    const struct gpi_offence o = gpi_rule_first_offence(ctx, &rule);
    if (o.verdict.rule == GPI_RULE_NONE)
        return GP_OK;
    return gpi_rule_fail(ctx, f, c->argument, c->dtype, o.verdict.rule, o.index, o.value,
                         o.verdict.bound);
}

/* The CPU: what breaks the rule goes into a record. */
static void report_to(struct gpi_sticky *record, const gp_context *ctx, const struct gpi_content *c)
{
    struct gpi_content_rule rule = gpi_content_rule_of(c);
    struct gpi_reporter reporter = gpi_reporter_of(ctx, c->argument, c->dtype);
    const struct gpi_offence o = gpi_rule_first_offence(ctx, &rule);
    reporter.sticky = record;
    if (o.verdict.rule != GPI_RULE_NONE)
        gpi_report(&reporter, o.verdict.rule, o.index, o.value, o.verdict.bound);
}

gp_status gpi_content_report(gp_context *ctx, const char *f, const struct gpi_content *c)
{
    if (ctx->backend == GP_BACKEND_CUDA)
        return queue(ctx, f, c, ctx->sticky, false);
    report_to(ctx->sticky, ctx, c);
    return GP_OK;
}

gp_status gpi_content_find(gp_context *ctx, const char *f, const struct gpi_content *c)
{
    struct gpi_sticky found = {0};
    if (ctx->backend == GP_BACKEND_CPU)
        return gpi_content_check(ctx, f, c);
    GPI_FRAME(frame, ctx, f, gpi_piece(sizeof found));
    struct gpi_sticky *record = gpi_frame_take(&frame, sizeof found);
    GPI_TRY(gpi_cuda_fill(ctx, record, 0, sizeof found));
    GPI_TRY(queue(ctx, f, c, record, false));
    GPI_TRY(gpi_cuda_copy(ctx, record, sizeof found, &found));
    GPI_TRY(gp_context_synchronize(ctx));
    return gpi_sticky_fail(ctx, &found);
}

/* Only calls of the user: a nested one has another name. */
static bool is_wanted(const gp_context *ctx, const char *f)
{
    return ctx->validate && ctx->function == f;
}

/* What the rules find together, as the record on CUDA would have it. */
static gp_status check_all(gp_context *ctx, const struct gpi_content *rules, int count)
{
    struct gpi_sticky found = {0};
    for (int i = 0; i < count; i++)
        report_to(&found, ctx, &rules[i]);
    return gpi_sticky_fail(ctx, &found);
}

gp_status gpi_validate_begin(gp_context *ctx, const char *f, const struct gpi_content *rules,
                             int count)
{
    gp_status s = GP_OK;
    if (!is_wanted(ctx, f))
        return GP_OK;
    if (ctx->backend == GP_BACKEND_CPU)
        return check_all(ctx, rules, count);
    GPI_TRY(gpi_gate_begin(ctx, f));
    for (int i = 0; i < count && s == GP_OK; i++)
        s = queue(ctx, f, &rules[i], ctx->sticky, true);
    return gpi_gate_enter(ctx, f, s);
}

gp_status gpi_validate_end(gp_context *ctx, const char *f, gp_status status)
{
    if (!is_wanted(ctx, f) || ctx->backend == GP_BACKEND_CPU)
        return status;
    return gpi_gate_end(ctx, f, status);
}
