/* SPDX-License-Identifier: MIT */
/* The only list of the family's implementations on CUDA: [accumulator][GPU architecture]. */
#include "core/variants.h"
#include "scan/family/family_internal.h"

#define SCAN_DECLARE(name, sm)                                                                     \
    gp_status gpi_scan_family_##name##_sm##sm(gp_context *ctx, const struct gpi_scan_args *args);
#define DECLARE(name) GPI_SMS_OF(SCAN_DECLARE, name)
GPI_SCAN_ACCUMULATORS(DECLARE)

#define SCAN_ENTRY(name, sm) GPI_CUDA(gpi_scan_family_##name##_sm##sm),
#define ENTRY(name) {GPI_SMS_OF(SCAN_ENTRY, name)},

static const gpi_scan_fn table[][GPI_SM_COUNT] = {GPI_SCAN_ACCUMULATORS(ENTRY)};

gpi_scan_fn gpi_scan_family_find(const gp_context *ctx, enum gpi_scan_accumulator a)
{
    return table[a][ctx->sm_row];
}
