/* SPDX-License-Identifier: MIT */
#include "topk/topk_internal.h"

#define DECLARE_CPU(isa)                                                                           \
    extern const struct gpi_topk_loops gpi_topk_b8_cpu_##isa, gpi_topk_b16_cpu_##isa,              \
        gpi_topk_b32_cpu_##isa, gpi_topk_b64_cpu_##isa;
#define ROW_CPU(isa)                                                                               \
    {                                                                                              \
        &gpi_topk_b8_cpu_##isa, &gpi_topk_b16_cpu_##isa, &gpi_topk_b32_cpu_##isa,                  \
            &gpi_topk_b64_cpu_##isa                                                                \
    }

DECLARE_CPU(base)
#if GPI_ISA_VARIANTS
DECLARE_CPU(avx2)
DECLARE_CPU(avx512)
#endif

static const struct gpi_topk_loops *const cpu_table[][4] = {
    ROW_CPU(base),
#if GPI_ISA_VARIANTS
    ROW_CPU(avx2),
    ROW_CPU(avx512),
#endif
};

const struct gpi_topk_loops *gpi_topk_loops_get(int isa, int width)
{
    return cpu_table[isa][width];
}

#if GPI_HAVE_CUDA
#define DECLARE_CUDA(sm) gpi_topk_launch_fn gpi_topk_launch_sm##sm;
#define ROW_CUDA(sm) gpi_topk_launch_sm##sm,

GPI_SMS(DECLARE_CUDA)

static gpi_topk_launch_fn *const cuda_table[] = {GPI_SMS(ROW_CUDA)};

gpi_topk_launch_fn *gpi_topk_launch_get(int sm_row)
{
    return cuda_table[sm_row];
}
#else
gpi_topk_launch_fn *gpi_topk_launch_get(int sm_row)
{
    (void)sm_row;
    return NULL;
}
#endif
