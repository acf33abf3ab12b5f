/* SPDX-License-Identifier: MIT */
/* The only list of fills on CUDA, by architecture. */
#include "core/variants.h"
#include "fill/fill_internal.h"

#define DECLARE(sm) extern const struct gpi_fill_launchers gpi_fill_launchers_sm##sm;
#define ROW(sm) GPI_CUDA(&gpi_fill_launchers_sm##sm),

GPI_SMS(DECLARE)

static const struct gpi_fill_launchers *const table[] = {GPI_SMS(ROW)};

const struct gpi_fill_launchers *gpi_fill_launchers_get(int sm_row)
{
    return table[sm_row];
}
