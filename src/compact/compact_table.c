/* SPDX-License-Identifier: MIT */
/* The only list of implementations: CPU by instruction set, CUDA by architecture. */
#include "compact/compact_internal.h"
#include "core/threads.h"

extern const struct gpi_compact_loops gpi_compact_loops_base;
#if GPI_ISA_VARIANTS
extern const struct gpi_compact_loops gpi_compact_loops_avx2, gpi_compact_loops_avx512;
#endif

const struct gpi_compact_loops *gpi_compact_loops_for(int isa)
{
#if GPI_ISA_VARIANTS
    if (isa == GPI_ISA_AVX512)
        return &gpi_compact_loops_avx512;
    if (isa == GPI_ISA_AVX2)
        return &gpi_compact_loops_avx2;
#else
    (void)isa;
#endif
    return &gpi_compact_loops_base;
}

#if GPI_HAVE_CUDA

#define DECLARE(sm)                                                                                \
    gpi_compact_launch gpi_compact_index_sm##sm, gpi_compact_wide_sm##sm, gpi_compact_b1_sm##sm,   \
        gpi_compact_b2_sm##sm, gpi_compact_b4_sm##sm, gpi_compact_b8_sm##sm,                       \
        gpi_compact_b16_sm##sm;                                                                    \
    gpi_compact_cub gpi_compact_cub_sm##sm;

#define ROW(sm)                                                                                    \
    {gpi_compact_index_sm##sm,                                                                     \
     gpi_compact_wide_sm##sm,                                                                      \
     {gpi_compact_b1_sm##sm, gpi_compact_b2_sm##sm, gpi_compact_b4_sm##sm, gpi_compact_b8_sm##sm,  \
      gpi_compact_b16_sm##sm},                                                                     \
     gpi_compact_cub_sm##sm},

GPI_SMS(DECLARE)

static const struct gpi_compact_cuda rows[] = {GPI_SMS(ROW)};

const struct gpi_compact_cuda *gpi_compact_cuda_for(int sm_row)
{
    return &rows[sm_row];
}

#else

const struct gpi_compact_cuda *gpi_compact_cuda_for(int sm_row)
{
    (void)sm_row;
    return NULL;
}

#endif
