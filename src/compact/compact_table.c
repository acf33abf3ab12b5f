/* SPDX-License-Identifier: MIT */
/* The only list of implementations: CPU by instruction set, CUDA by architecture. */
#include "compact/compact_internal.h"
#include "core/variants.h"

#define DECLARE_CPU(isa) extern const struct gpi_compact_loops gpi_compact_loops_##isa;
#define ROW_CPU(isa) &gpi_compact_loops_##isa,
#define DECLARE_CUDA(sm)                                                                           \
    gpi_compact_launch gpi_compact_index_sm##sm, gpi_compact_list_sm##sm, gpi_compact_b1_sm##sm,   \
        gpi_compact_b2_sm##sm, gpi_compact_b4_sm##sm, gpi_compact_b8_sm##sm,                       \
        gpi_compact_b16_sm##sm;
#define ROW_CUDA(sm)                                                                               \
    {GPI_CUDA(gpi_compact_index_sm##sm),                                                           \
     GPI_CUDA(gpi_compact_list_sm##sm),                                                            \
     {GPI_CUDA(gpi_compact_b1_sm##sm), GPI_CUDA(gpi_compact_b2_sm##sm),                            \
      GPI_CUDA(gpi_compact_b4_sm##sm), GPI_CUDA(gpi_compact_b8_sm##sm),                            \
      GPI_CUDA(gpi_compact_b16_sm##sm)}},

GPI_ISAS(DECLARE_CPU)
GPI_SMS(DECLARE_CUDA)

static const struct gpi_compact_loops *const cpu_table[] = {GPI_ISAS(ROW_CPU)};
static const struct gpi_compact_cuda cuda_table[] = {GPI_SMS(ROW_CUDA)};

const struct gpi_compact_loops *gpi_compact_loops_for(int isa)
{
    return cpu_table[isa];
}

const struct gpi_compact_cuda *gpi_compact_cuda_for(int sm_row)
{
    return &cuda_table[sm_row];
}
