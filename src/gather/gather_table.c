/* SPDX-License-Identifier: MIT */
/* The only list of gathers on CUDA, by architecture. */
#include "core/variants.h"
#include "gather/gather_internal.h"

#define DECLARE(sm) gpi_gather_launch_fn gpi_gather_launch_sm##sm;
#define ROW(sm) GPI_CUDA(gpi_gather_launch_sm##sm),

GPI_SMS(DECLARE)

static gpi_gather_launch_fn *const table[] = {GPI_SMS(ROW)};

gpi_gather_launch_fn *gpi_gather_launch_get(int sm_row)
{
    return table[sm_row];
}
