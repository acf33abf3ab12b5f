/* SPDX-License-Identifier: MIT */
#include "radixsort/radixsort_internal.h"

#include "core/threads.h"

#define DECLARE_CPU(isa)                                                                           \
    gpi_radixsort_cpu_fn gpi_radixsort_k1_cpu_##isa, gpi_radixsort_k2_cpu_##isa,                   \
        gpi_radixsort_k4_cpu_##isa, gpi_radixsort_k8_cpu_##isa;
#define ROW_CPU(isa)                                                                               \
    {                                                                                              \
        gpi_radixsort_k1_cpu_##isa, gpi_radixsort_k2_cpu_##isa, gpi_radixsort_k4_cpu_##isa,        \
            gpi_radixsort_k8_cpu_##isa                                                             \
    }

DECLARE_CPU(base)
#if GPI_ISA_VARIANTS
DECLARE_CPU(avx2)
DECLARE_CPU(avx512)
#endif

static gpi_radixsort_cpu_fn *const cpu_table[][4] = {
    ROW_CPU(base),
#if GPI_ISA_VARIANTS
    ROW_CPU(avx2),
    ROW_CPU(avx512),
#endif
};

gpi_radixsort_cpu_fn *gpi_radixsort_cpu_get(int isa, int width)
{
    return cpu_table[isa][width];
}

/* CUDA has no code yet. */
gpi_radixsort_cub_fn *gpi_radixsort_cub_get(int sm_row, int width)
{
    (void)sm_row;
    (void)width;
    return NULL;
}

const struct gpi_radix_cuda_kernels *gpi_radixsort_kernels_get(int sm_row)
{
    (void)sm_row;
    return NULL;
}
