/* SPDX-License-Identifier: MIT */
/* The only list of launchers, by architecture. */
#include "core/variants.h"
#include "dist/dist_kernels_internal.h"

#define DECLARE(sm) gpi_dist_launch_fn gpi_dist_launch_sm##sm;
#define ROW(sm) GPI_CUDA(gpi_dist_launch_sm##sm),

GPI_SMS(DECLARE)

static gpi_dist_launch_fn *const table[] = {GPI_SMS(ROW)};

gpi_dist_launch_fn *gpi_dist_launch_get(int sm_row)
{
    return table[sm_row];
}
