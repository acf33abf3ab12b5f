/* SPDX-License-Identifier: MIT */
/* The implementations: one per backend, and per GPU architecture and offset width of this build. */
#include "balance/balance_internal.h"
#include "core/variants.h"

static const struct gpi_balance_table cpu = {
    gpi_balance_search_cpu, gpi_balance_expand_cpu,    gpi_balance_partition_cpu,
    gpi_balance_bound_cpu,  gpi_balance_intervals_cpu, gpi_balance_plan_cpu,
};

#define DECLARE(sm)                                                                                \
    gpi_balance_fn gpi_balance_search_o32_sm##sm, gpi_balance_search_o64_sm##sm,                   \
        gpi_balance_expand_o32_sm##sm, gpi_balance_expand_o64_sm##sm,                              \
        gpi_balance_intervals_o32_sm##sm, gpi_balance_intervals_o64_sm##sm;                        \
    gpi_plan_fn gpi_balance_plan_o32_sm##sm, gpi_balance_plan_o64_sm##sm;                          \
    gpi_partition_fn gpi_balance_partition_o32_sm##sm, gpi_balance_partition_o64_sm##sm;           \
    gpi_bound_all_fn gpi_balance_bound_sm##sm;
#define WIDTH(offsets, sm)                                                                         \
    {GPI_CUDA(gpi_balance_search_##offsets##_sm##sm),                                              \
     GPI_CUDA(gpi_balance_expand_##offsets##_sm##sm),                                              \
     GPI_CUDA(gpi_balance_partition_##offsets##_sm##sm),                                           \
     GPI_CUDA(gpi_balance_bound_sm##sm),                                                           \
     GPI_CUDA(gpi_balance_intervals_##offsets##_sm##sm),                                           \
     GPI_CUDA(gpi_balance_plan_##offsets##_sm##sm)},
#define ROW(sm) {WIDTH(o32, sm) WIDTH(o64, sm)},

GPI_SMS(DECLARE)

static const struct gpi_balance_table cuda[][2] = {GPI_SMS(ROW)};

const struct gpi_balance_table *gpi_balance_table(const gp_context *ctx, size_t offset_bytes)
{
    return ctx->backend == GP_BACKEND_CPU ? &cpu : &cuda[ctx->sm_row][offset_bytes == 8];
}
