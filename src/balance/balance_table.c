/* SPDX-License-Identifier: MIT */
/* The implementations: one per backend, and per GPU architecture of this build. */
#include "balance/balance_internal.h"

static const struct gpi_balance_table cpu = {
    gpi_balance_search_cpu, gpi_balance_expand_cpu, gpi_balance_partition_cpu,
    gpi_balance_bound_cpu,  gpi_balance_check_cpu,
};

#if GPI_HAVE_CUDA

/* A launcher per architecture and offset width; the front ends below choose between the widths. */
#define DECLARE(sm)                                                                                \
    gp_status gpi_balance_search_o32_sm##sm(gp_context *, const char *,                            \
                                            const struct gpi_balance_args *);                      \
    gp_status gpi_balance_search_o64_sm##sm(gp_context *, const char *,                            \
                                            const struct gpi_balance_args *);                      \
    gp_status gpi_balance_expand_o32_sm##sm(gp_context *, const char *,                            \
                                            const struct gpi_balance_args *);                      \
    gp_status gpi_balance_expand_o64_sm##sm(gp_context *, const char *,                            \
                                            const struct gpi_balance_args *);                      \
    gp_status gpi_balance_partition_o32_sm##sm(gp_context *, const char *,                         \
                                               const struct gpi_partition_args *);                 \
    gp_status gpi_balance_partition_o64_sm##sm(gp_context *, const char *,                         \
                                               const struct gpi_partition_args *);                 \
    gp_status gpi_balance_check_o32_sm##sm(gp_context *, const char *,                             \
                                           const struct gpi_offsets_check_args *);                 \
    gp_status gpi_balance_check_o64_sm##sm(gp_context *, const char *,                             \
                                           const struct gpi_offsets_check_args *);                 \
    gp_status gpi_balance_bound_sm##sm(gp_context *, const char *, const struct gpi_bound_args *);

GPI_SMS(DECLARE)

#define BY_WIDTH(name, args, sm)                                                                   \
    static gp_status name##_sm##sm(gp_context *ctx, const char *function, const struct args *a)    \
    {                                                                                              \
        return a->offset_bytes == 8 ? gpi_balance_##name##_o64_sm##sm(ctx, function, a)            \
                                    : gpi_balance_##name##_o32_sm##sm(ctx, function, a);           \
    }
#define FRONTS(sm)                                                                                 \
    BY_WIDTH(search, gpi_balance_args, sm)                                                         \
    BY_WIDTH(expand, gpi_balance_args, sm)                                                         \
    BY_WIDTH(partition, gpi_partition_args, sm)                                                    \
    BY_WIDTH(check, gpi_offsets_check_args, sm)

GPI_SMS(FRONTS)

#define ROW(sm)                                                                                    \
    {search_sm##sm, expand_sm##sm, partition_sm##sm, gpi_balance_bound_sm##sm, check_sm##sm},

static const struct gpi_balance_table cuda[] = {GPI_SMS(ROW)};

#endif

const struct gpi_balance_table *gpi_balance_table(gp_context *ctx, const char *function)
{
    if (ctx->backend == GP_BACKEND_CPU)
        return &cpu;
#if GPI_HAVE_CUDA
    if (ctx->backend == GP_BACKEND_CUDA)
        return &cuda[ctx->sm_row];
#endif
    gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: not in this build for this backend", function);
    return NULL;
}
