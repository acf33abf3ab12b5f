/* SPDX-License-Identifier: MIT */
/* The only list of multisplits on CUDA, by architecture. */
#include "core/variants.h"
#include "multisplit/multisplit_internal.h"

#define DECLARE(sm) extern const struct gpi_multisplit_cuda gpi_multisplit_cuda_sm##sm;
#define ROW(sm) GPI_CUDA(&gpi_multisplit_cuda_sm##sm),

GPI_SMS(DECLARE)

static const struct gpi_multisplit_cuda *const table[] = {GPI_SMS(ROW)};

const struct gpi_multisplit_cuda *gpi_multisplit_cuda_get(int sm_row)
{
    return table[sm_row];
}
