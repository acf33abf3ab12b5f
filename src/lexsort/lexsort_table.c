/* SPDX-License-Identifier: MIT */
/* The only list of what makes words of parts, by backend and architecture. */
#include "core/variants.h"
#include "lexsort/lexsort_parts_internal.h"

#define DECLARE(sm) extern const struct gpi_lex_part_kernels gpi_lex_part_kernels_sm##sm;
#define ROW(sm) GPI_CUDA(&gpi_lex_part_kernels_sm##sm),

extern const struct gpi_lex_part_kernels gpi_lex_part_kernels_cpu;
GPI_SMS(DECLARE)

static const struct gpi_lex_part_kernels *const table[] = {GPI_SMS(ROW)};

const struct gpi_lex_part_kernels *gpi_lex_kernels_of(const gp_context *ctx)
{
    return ctx->backend == GP_BACKEND_CPU ? &gpi_lex_part_kernels_cpu : table[ctx->sm_row];
}
