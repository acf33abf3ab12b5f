/* SPDX-License-Identifier: MIT */
#include "radixsort/radixsort_internal.h"

#include "core/threads.h"
#include "radixsort/radixsort_engine.h"
#include "radixsort/radixsort_lexsort.h"
#include "radixsort/radixsort_segmented.h"

/* Sorts of an array and of a segment by one thread, by log2 of the key's bytes. */
struct cpu_row {
    gpi_radixsort_cpu_fn *sort[4], *segment[4];
};

#define DECLARE_CPU(isa)                                                                           \
    gpi_radixsort_cpu_fn gpi_radixsort_k1_cpu_##isa, gpi_radixsort_k2_cpu_##isa,                   \
        gpi_radixsort_k4_cpu_##isa, gpi_radixsort_k8_cpu_##isa,                                    \
        gpi_radixsort_segment_k1_cpu_##isa, gpi_radixsort_segment_k2_cpu_##isa,                    \
        gpi_radixsort_segment_k4_cpu_##isa, gpi_radixsort_segment_k8_cpu_##isa;
#define ROW_CPU(isa)                                                                               \
    {                                                                                              \
        {gpi_radixsort_k1_cpu_##isa, gpi_radixsort_k2_cpu_##isa, gpi_radixsort_k4_cpu_##isa,       \
         gpi_radixsort_k8_cpu_##isa},                                                              \
        {                                                                                          \
            gpi_radixsort_segment_k1_cpu_##isa, gpi_radixsort_segment_k2_cpu_##isa,                \
                gpi_radixsort_segment_k4_cpu_##isa, gpi_radixsort_segment_k8_cpu_##isa             \
        }                                                                                          \
    }

DECLARE_CPU(base)
#if GPI_ISA_VARIANTS
DECLARE_CPU(avx2)
DECLARE_CPU(avx512)
#endif

static const struct cpu_row cpu_table[] = {
    ROW_CPU(base),
#if GPI_ISA_VARIANTS
    ROW_CPU(avx2),
    ROW_CPU(avx512),
#endif
};

gpi_radixsort_cpu_fn *gpi_radixsort_cpu_get(int isa, int width)
{
    return cpu_table[isa].sort[width];
}

gpi_radixsort_cpu_fn *gpi_radixsort_segment_get(int isa, int width)
{
    return cpu_table[isa].segment[width];
}

#if GPI_HAVE_CUDA
#define DECLARE_CUDA(sm)                                                                           \
    gpi_radixsort_cub_fn gpi_radixsort_k1_cub_sm##sm, gpi_radixsort_k2_cub_sm##sm,                 \
        gpi_radixsort_k4_cub_sm##sm, gpi_radixsort_k8_cub_sm##sm;                                  \
    extern const struct gpi_radix_cuda_kernels gpi_radixsort_kernels_sm##sm;                       \
    extern const struct gpi_radix_engine gpi_radix_k1v0_sm##sm, gpi_radix_k1v4_sm##sm,             \
        gpi_radix_k1v8_sm##sm, gpi_radix_k2v0_sm##sm, gpi_radix_k2v4_sm##sm,                       \
        gpi_radix_k2v8_sm##sm, gpi_radix_k4v0_sm##sm, gpi_radix_k4v4_sm##sm,                       \
        gpi_radix_k4v8_sm##sm, gpi_radix_k8v0_sm##sm, gpi_radix_k8v4_sm##sm,                       \
        gpi_radix_k8v8_sm##sm;                                                                     \
    extern const struct gpi_lex_kernels gpi_lex_kernels_sm##sm;                                    \
    gpi_segmented_check_fn gpi_segmented_check_sm##sm;
#define ROW_CUB(sm)                                                                                \
    {gpi_radixsort_k1_cub_sm##sm, gpi_radixsort_k2_cub_sm##sm, gpi_radixsort_k4_cub_sm##sm,        \
     gpi_radixsort_k8_cub_sm##sm},
#define ROW_KERNELS(sm) &gpi_radixsort_kernels_sm##sm,
#define ROW_ENGINE(sm)                                                                             \
    {{&gpi_radix_k1v0_sm##sm, &gpi_radix_k1v4_sm##sm, &gpi_radix_k1v8_sm##sm},                     \
     {&gpi_radix_k2v0_sm##sm, &gpi_radix_k2v4_sm##sm, &gpi_radix_k2v8_sm##sm},                     \
     {&gpi_radix_k4v0_sm##sm, &gpi_radix_k4v4_sm##sm, &gpi_radix_k4v8_sm##sm},                     \
     {&gpi_radix_k8v0_sm##sm, &gpi_radix_k8v4_sm##sm, &gpi_radix_k8v8_sm##sm}},
#define ROW_LEX(sm) &gpi_lex_kernels_sm##sm,
#define ROW_CHECK(sm) gpi_segmented_check_sm##sm,

GPI_SMS(DECLARE_CUDA)

static gpi_radixsort_cub_fn *const cub_table[][4] = {GPI_SMS(ROW_CUB)};
static const struct gpi_radix_cuda_kernels *const kernels_table[] = {GPI_SMS(ROW_KERNELS)};
static const struct gpi_radix_engine *const engine_table[][4][3] = {GPI_SMS(ROW_ENGINE)};
static const struct gpi_lex_kernels *const lex_table[] = {GPI_SMS(ROW_LEX)};
static gpi_segmented_check_fn *const check_table[] = {GPI_SMS(ROW_CHECK)};

gpi_radixsort_cub_fn *gpi_radixsort_cub_get(int sm_row, int width)
{
    return cub_table[sm_row][width];
}

const struct gpi_radix_cuda_kernels *gpi_radixsort_kernels_get(int sm_row)
{
    return kernels_table[sm_row];
}

const struct gpi_radix_engine *gpi_radix_engine_get(int sm_row, int width, size_t value_bytes)
{
    return engine_table[sm_row][width][value_bytes / 4];
}

size_t gpi_radix_engine_bytes(int width, uint64_t n, size_t value_bytes)
{
    size_t most = 0;
    for (size_t i = 0; i < sizeof engine_table / sizeof *engine_table; i++) {
        size_t bytes = engine_table[i][width][value_bytes / 4]->bytes(n, value_bytes);
        most = bytes > most ? bytes : most;
    }
    return most;
}

uint64_t gpi_radix_counted_from(int width)
{
    uint64_t most = 0;
    for (size_t i = 0; i < sizeof engine_table / sizeof *engine_table; i++)
        most = engine_table[i][width][0]->counted_from > most
                   ? engine_table[i][width][0]->counted_from
                   : most;
    return most;
}

const struct gpi_lex_kernels *gpi_lex_kernels_get(int sm_row)
{
    return lex_table[sm_row];
}

gpi_segmented_check_fn *gpi_segmented_check_get(int sm_row)
{
    return check_table[sm_row];
}
#else
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

const struct gpi_radix_engine *gpi_radix_engine_get(int sm_row, int width, size_t value_bytes)
{
    (void)sm_row;
    (void)width;
    (void)value_bytes;
    return NULL;
}

size_t gpi_radix_engine_bytes(int width, uint64_t n, size_t value_bytes)
{
    (void)width;
    (void)n;
    (void)value_bytes;
    return 0;
}

uint64_t gpi_radix_counted_from(int width)
{
    (void)width;
    return UINT64_MAX;
}

const struct gpi_lex_kernels *gpi_lex_kernels_get(int sm_row)
{
    (void)sm_row;
    return NULL;
}

gpi_segmented_check_fn *gpi_segmented_check_get(int sm_row)
{
    (void)sm_row;
    return NULL;
}
#endif
