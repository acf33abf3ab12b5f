/* SPDX-License-Identifier: MIT */
/* The only list of implementations: [instruction set] or [GPU architecture]. */
#include "core/threads.h"
#include "core/variants.h"
#include "vector/vector_internal.h"

#define DECLARE(name)                                                                              \
    gp_status gpi_vector_##name(gp_context *ctx, const struct gpi_vector_args *args);
#define CUDA_DECLARE(number) DECLARE(sm##number)
#define CUDA_ENTRY(number) GPI_CUDA(gpi_vector_sm##number),

DECLARE(cpu_base)
#if GPI_ISA_VARIANTS
DECLARE(cpu_avx512)
#endif
GPI_SMS(CUDA_DECLARE)

gpi_vector_fn gpi_vector_find(const gp_context *ctx)
{
    static const gpi_vector_fn cuda[] = {GPI_SMS(CUDA_ENTRY)};
    if (ctx->backend == GP_BACKEND_CUDA)
        return cuda[ctx->sm_row];
#if GPI_ISA_VARIANTS
    if (ctx->isa == GPI_ISA_AVX512)
        return gpi_vector_cpu_avx512;
#endif
    return gpi_vector_cpu_base;
}
