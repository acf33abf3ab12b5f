/* SPDX-License-Identifier: MIT */
/* The only list of merges: CPU by instruction set and log2 of the key's bytes,
 * CUDA by architecture. */
#include "core/variants.h"
#include "merge/merge_internal.h"

#define DECLARE_CPU(isa)                                                                           \
    gpi_merge_share_fn gpi_merge_b8_cpu_##isa, gpi_merge_b16_cpu_##isa, gpi_merge_b32_cpu_##isa,   \
        gpi_merge_b64_cpu_##isa;
#define ROW_CPU(isa)                                                                               \
    {gpi_merge_b8_cpu_##isa, gpi_merge_b16_cpu_##isa, gpi_merge_b32_cpu_##isa,                     \
     gpi_merge_b64_cpu_##isa},
#define DECLARE_CUDA(sm) gpi_merge_launch_fn gpi_merge_launch_sm##sm;
#define ROW_CUDA(sm) GPI_CUDA(gpi_merge_launch_sm##sm),

GPI_ISAS(DECLARE_CPU)
GPI_SMS(DECLARE_CUDA)

static gpi_merge_share_fn *const cpu_table[][4] = {GPI_ISAS(ROW_CPU)};
static gpi_merge_launch_fn *const cuda_table[] = {GPI_SMS(ROW_CUDA)};

gpi_merge_share_fn *gpi_merge_share_get(int isa, int width)
{
    return cpu_table[isa][width];
}

gpi_merge_launch_fn *gpi_merge_launch_get(int sm_row)
{
    return cuda_table[sm_row];
}
