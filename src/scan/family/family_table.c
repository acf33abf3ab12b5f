/* SPDX-License-Identifier: MIT */
/* The only list of the family's implementations on CUDA: [accumulator][GPU architecture]. */
#include "core/variants.h"
#include "scan/family/family_internal.h"

#define SCAN_DECLARE(name, sm)                                                                     \
    gp_status gpi_scan_family_##name##_sm##sm(gp_context *ctx, const struct gpi_scan_args *args);
#define CUB_DECLARE(name, sm)                                                                      \
    int gpi_scan_cub_##name##_sm##sm(const gp_context *ctx, const struct gpi_scan_args *args,      \
                                     void *temporary, size_t *bytes);
#define DECLARE(name) GPI_SMS_OF(SCAN_DECLARE, name) GPI_SMS_OF(CUB_DECLARE, name)
GPI_SCAN_ACCUMULATORS(DECLARE)

#define SCAN_ENTRY(name, sm) GPI_CUDA(gpi_scan_family_##name##_sm##sm),
#define CUB_ENTRY(name, sm) GPI_CUDA(gpi_scan_cub_##name##_sm##sm),
#define ENTRY(name) {{GPI_SMS_OF(SCAN_ENTRY, name)}, {GPI_SMS_OF(CUB_ENTRY, name)}},

static const struct {
    gpi_scan_fn scan[GPI_SM_COUNT];
    gpi_scan_cub_fn cub[GPI_SM_COUNT];
} table[] = {GPI_SCAN_ACCUMULATORS(ENTRY)};

gpi_scan_fn gpi_scan_family_find(const gp_context *ctx, enum gpi_scan_accumulator a)
{
    return table[a].scan[ctx->sm_row];
}

gpi_scan_cub_fn gpi_scan_cub_find(const gp_context *ctx, enum gpi_scan_accumulator a)
{
    return table[a].cub[ctx->sm_row];
}
