/* SPDX-License-Identifier: MIT */
/* What libgp_cub exports: the rooms' calls through CUB, by GPU architecture. */
#include "core/cub.h"
#include "core/variants.h"

#define DECLARE(sm)                                                                                \
    extern gpi_cub_scan_fn *const gpi_scan_cub_sm##sm[];                                           \
    extern gpi_cub_sort_fn *const gpi_radixsort_cub_sm##sm[];                                      \
    gpi_cub_compact_fn gpi_compact_cub_sm##sm;                                                     \
    gpi_cub_histogram_fn gpi_histogram_cub_sm##sm;
#define ROW(sm)                                                                                    \
    {sm, gpi_scan_cub_sm##sm, gpi_compact_cub_sm##sm, gpi_histogram_cub_sm##sm,                    \
     gpi_radixsort_cub_sm##sm},

GPI_SMS(DECLARE)

static const struct gpi_cub rows[] = {GPI_SMS(ROW)};

#if GPI_CUB == GPI_CUB_BESIDE
#define START gpi_cub_start
#else
#define START NULL
#endif

const struct gpi_cub_table *gp_cub_table(void)
{
    static const struct gpi_cub_table table = {GPI_CUB_BORDER, GP_VERSION, GPI_SM_COUNT, rows,
                                               START};
    return &table;
}
