/* SPDX-License-Identifier: MIT */
/* The only list of sorts: CPU by instruction set, CUDA by architecture,
 * both by log2 of the key's bytes. */
#include "radixsort/radixsort_internal.h"

#include "core/variants.h"
#include "radixsort/radixsort_engine.h"

/* Sorts of an array and of a segment by one thread. */
struct cpu_row {
    gpi_radixsort_cpu_fn *sort[4];
    gpi_radixsort_segment_fn *segment[4];
    gpi_radixsort_short_fn *several;
};

#define DECLARE_CPU(isa)                                                                           \
    gpi_radixsort_cpu_fn gpi_radixsort_k1_cpu_##isa, gpi_radixsort_k2_cpu_##isa,                   \
        gpi_radixsort_k4_cpu_##isa, gpi_radixsort_k8_cpu_##isa;                                    \
    gpi_radixsort_segment_fn gpi_radixsort_segment_k1_cpu_##isa,                                   \
        gpi_radixsort_segment_k2_cpu_##isa, gpi_radixsort_segment_k4_cpu_##isa,                    \
        gpi_radixsort_segment_k8_cpu_##isa;                                                        \
    gpi_radixsort_short_fn gpi_radixsort_short_cpu_##isa;
#define ROW_CPU(isa)                                                                               \
    {{gpi_radixsort_k1_cpu_##isa, gpi_radixsort_k2_cpu_##isa, gpi_radixsort_k4_cpu_##isa,          \
      gpi_radixsort_k8_cpu_##isa},                                                                 \
     {gpi_radixsort_segment_k1_cpu_##isa, gpi_radixsort_segment_k2_cpu_##isa,                      \
      gpi_radixsort_segment_k4_cpu_##isa, gpi_radixsort_segment_k8_cpu_##isa},                     \
     gpi_radixsort_short_cpu_##isa},

GPI_ISAS(DECLARE_CPU)

static const struct cpu_row cpu_table[] = {GPI_ISAS(ROW_CPU)};

gpi_radixsort_cpu_fn *gpi_radixsort_cpu_get(int isa, int width)
{
    return cpu_table[isa].sort[width];
}

gpi_radixsort_segment_fn *gpi_radixsort_segment_get(int isa, int width)
{
    return cpu_table[isa].segment[width];
}

gpi_radixsort_short_fn *gpi_radixsort_short_get(int isa)
{
    return cpu_table[isa].several;
}

#define DECLARE_CUDA(sm)                                                                           \
    extern const struct gpi_radix_cuda_kernels gpi_radixsort_kernels_sm##sm;                       \
    extern const struct gpi_radix_engine gpi_radix_k1v0_sm##sm, gpi_radix_k1v4_sm##sm,             \
        gpi_radix_k1v8_sm##sm, gpi_radix_k2v0_sm##sm, gpi_radix_k2v4_sm##sm,                       \
        gpi_radix_k2v8_sm##sm, gpi_radix_k4v0_sm##sm, gpi_radix_k4v4_sm##sm,                       \
        gpi_radix_k4v8_sm##sm, gpi_radix_k8v0_sm##sm, gpi_radix_k8v4_sm##sm,                       \
        gpi_radix_k8v8_sm##sm;
#define ENGINES(width, sm)                                                                         \
    {                                                                                              \
        GPI_CUDA(&gpi_radix_##width##v0_sm##sm), GPI_CUDA(&gpi_radix_##width##v4_sm##sm),          \
            GPI_CUDA(&gpi_radix_##width##v8_sm##sm)                                                \
    }
#define ROW_CUDA(sm)                                                                               \
    {{ENGINES(k1, sm), ENGINES(k2, sm), ENGINES(k4, sm), ENGINES(k8, sm)},                         \
     GPI_CUDA(&gpi_radixsort_kernels_sm##sm)},

GPI_SMS(DECLARE_CUDA)

static const struct gpi_radix_cuda cuda_table[] = {GPI_SMS(ROW_CUDA)};

const struct gpi_radix_cuda *gpi_radix_cuda_get(const gp_context *ctx)
{
    return cuda_table[ctx->sm_row].kernels ? &cuda_table[ctx->sm_row] : NULL;
}

size_t gpi_radix_engine_bytes(int width, uint64_t n, size_t value_bytes)
{
    size_t most = 0;
    for (int row = 0; row < GPI_SM_COUNT; row++) {
        const struct gpi_radix_engine *engine =
            cuda_table[row].engine[width][(value_bytes + 3) / 4];
        size_t bytes = engine ? engine->bytes(n) : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

uint64_t gpi_radix_counted_from(int width)
{
    uint64_t most = 0;
    for (int row = 0; row < GPI_SM_COUNT; row++) {
        const struct gpi_radix_engine *engine = cuda_table[row].engine[width][0];
        uint64_t from = engine ? engine->counted_from : UINT64_MAX;
        most = from > most ? from : most;
    }
    return most;
}
