/* SPDX-License-Identifier: MIT */
#include "merge/merge_internal.h"

#define DECLARE_CPU(isa)                                                                           \
    gpi_merge_share_fn gpi_merge_b8_cpu_##isa, gpi_merge_b16_cpu_##isa, gpi_merge_b32_cpu_##isa,   \
        gpi_merge_b64_cpu_##isa;
#define ROW_CPU(isa)                                                                               \
    {                                                                                              \
        gpi_merge_b8_cpu_##isa, gpi_merge_b16_cpu_##isa, gpi_merge_b32_cpu_##isa,                  \
            gpi_merge_b64_cpu_##isa                                                                \
    }

DECLARE_CPU(base)
#if GPI_ISA_VARIANTS
DECLARE_CPU(avx2)
DECLARE_CPU(avx512)
#endif

static gpi_merge_share_fn *const cpu_table[][4] = {
    ROW_CPU(base),
#if GPI_ISA_VARIANTS
    ROW_CPU(avx2),
    ROW_CPU(avx512),
#endif
};

gpi_merge_share_fn *gpi_merge_share_get(int isa, int width)
{
    return cpu_table[isa][width];
}

#if GPI_HAVE_CUDA
#define DECLARE_CUDA(sm) gpi_merge_launch_fn gpi_merge_launch_sm##sm;
#define ROW_CUDA(sm) gpi_merge_launch_sm##sm,

GPI_SMS(DECLARE_CUDA)

static gpi_merge_launch_fn *const cuda_table[] = {GPI_SMS(ROW_CUDA)};

gpi_merge_launch_fn *gpi_merge_launch_get(int sm_row)
{
    return cuda_table[sm_row];
}
#else
gpi_merge_launch_fn *gpi_merge_launch_get(int sm_row)
{
    (void)sm_row;
    return NULL;
}
#endif
