/* SPDX-License-Identifier: MIT */
/* The only list of selections: CPU by instruction set and log2 of the key's bytes,
 * CUDA by architecture. */
#include "core/variants.h"
#include "topk/topk_internal.h"

#define DECLARE_CPU(isa)                                                                           \
    extern const struct gpi_topk_loops gpi_topk_b8_cpu_##isa, gpi_topk_b16_cpu_##isa,              \
        gpi_topk_b32_cpu_##isa, gpi_topk_b64_cpu_##isa;
#define ROW_CPU(isa)                                                                               \
    {&gpi_topk_b8_cpu_##isa, &gpi_topk_b16_cpu_##isa, &gpi_topk_b32_cpu_##isa,                     \
     &gpi_topk_b64_cpu_##isa},
#define DECLARE_CUDA(sm) gpi_topk_launch_fn gpi_topk_launch_sm##sm;
#define ROW_CUDA(sm) GPI_CUDA(gpi_topk_launch_sm##sm),

GPI_ISAS(DECLARE_CPU)
GPI_SMS(DECLARE_CUDA)

static const struct gpi_topk_loops *const cpu_table[][4] = {GPI_ISAS(ROW_CPU)};
static gpi_topk_launch_fn *const cuda_table[] = {GPI_SMS(ROW_CUDA)};

const struct gpi_topk_loops *gpi_topk_loops_get(int isa, int width)
{
    return cpu_table[isa][width];
}

gpi_topk_launch_fn *gpi_topk_launch_get(int sm_row)
{
    return cuda_table[sm_row];
}
