/* SPDX-License-Identifier: MIT */
#include "core/threads.h"

#if GPI_OPENMP
#include <omp.h>
#endif

void gpi_parallel_for(int threads, size_t count, void (*body)(void *arg, size_t i), void *arg)
{
#if GPI_OPENMP
    if (threads > 1 && count > 1) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (size_t i = 0; i < count; i++)
            body(arg, i);
        return;
    }
#else
    (void)threads;
#endif
    for (size_t i = 0; i < count; i++)
        body(arg, i);
}

int gpi_threads_default(void)
{
#if GPI_OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

enum gpi_isa gpi_isa_detect(void)
{
#if GPI_ISA_VARIANTS
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512cd"))
        return GPI_ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        return GPI_ISA_AVX2;
#endif
    return GPI_ISA_BASE;
}
