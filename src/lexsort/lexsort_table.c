/* SPDX-License-Identifier: MIT */
/* The only list of what packs words on CUDA, by architecture. */
#include "core/variants.h"
#include "lexsort/lexsort_internal.h"
#include "lexsort/lexsort_parts_internal.h"

#define DECLARE(sm)                                                                                \
    extern const struct gpi_lex_kernels gpi_lex_kernels_sm##sm;                                    \
    extern const struct gpi_lex_part_kernels gpi_lex_part_kernels_sm##sm;
#define ROW(sm) GPI_CUDA(&gpi_lex_kernels_sm##sm),
#define ROW_PARTS(sm) GPI_CUDA(&gpi_lex_part_kernels_sm##sm),

GPI_SMS(DECLARE)

static const struct gpi_lex_kernels *const table[] = {GPI_SMS(ROW)};
static const struct gpi_lex_part_kernels *const part_table[] = {GPI_SMS(ROW_PARTS)};

const struct gpi_lex_kernels *gpi_lex_kernels_get(int sm_row)
{
    return table[sm_row];
}

const struct gpi_lex_part_kernels *gpi_lex_part_kernels_get(int sm_row)
{
    return part_table[sm_row];
}
