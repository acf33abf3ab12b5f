/* SPDX-License-Identifier: MIT */
/* The only list of merges: CPU by log2 of the key's bytes, CUDA by architecture. */
#include "core/variants.h"
#include "merge/merge_internal.h"

#define DECLARE_CUDA(sm) gpi_merge_launch_fn gpi_merge_launch_sm##sm;
#define ROW_CUDA(sm) GPI_CUDA(gpi_merge_launch_sm##sm),

gpi_merge_share_fn gpi_merge_b8_cpu_base, gpi_merge_b16_cpu_base, gpi_merge_b32_cpu_base,
    gpi_merge_b64_cpu_base;
GPI_SMS(DECLARE_CUDA)

static gpi_merge_share_fn *const cpu_table[] = {gpi_merge_b8_cpu_base, gpi_merge_b16_cpu_base,
                                                gpi_merge_b32_cpu_base, gpi_merge_b64_cpu_base};
static gpi_merge_launch_fn *const cuda_table[] = {GPI_SMS(ROW_CUDA)};

gpi_merge_share_fn *gpi_merge_share_get(int width)
{
    return cpu_table[width];
}

gpi_merge_launch_fn *gpi_merge_launch_get(int sm_row)
{
    return cuda_table[sm_row];
}
