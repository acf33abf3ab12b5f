/* SPDX-License-Identifier: MIT */
/* The only list of histogram implementations: [unit][instruction set or GPU architecture]. */
#include "core/check.h"
#include "core/threads.h"
#include "core/variants.h"
#include "histogram/histogram_internal.h"

#define BINNING_DECLARE(name)                                                                      \
    void gpi_binning_##name(const struct gpi_binning *binning, const void *in, size_t count,       \
                            uint32_t *index);                                                      \
    void gpi_edge_grid_##name(struct gpi_binning *binning, uint32_t cells, uint32_t *below,        \
                              uint32_t *bin, void *edges);
#define BINNING_ENTRY(name) {gpi_binning_##name, gpi_edge_grid_##name},
#define BINNING_DECLARE_ISA(name, isa) BINNING_DECLARE(name##_##isa)
#define BINNING_ENTRY_ISA(name, isa) BINNING_ENTRY(name##_##isa)
#define BINNING_DECLARE_ALL(name) GPI_ISAS_OF(BINNING_DECLARE_ISA, name)
#define BINNING_ENTRIES(name) {GPI_ISAS_OF(BINNING_ENTRY_ISA, name)},

GPI_HISTOGRAM_UNITS(BINNING_DECLARE_ALL)

static const struct gpi_binning_functions binnings[GPI_HISTOGRAM_UNIT_COUNT][GPI_ISA_COUNT] = {
    GPI_HISTOGRAM_UNITS(BINNING_ENTRIES)};

/* Dtypes are numbered as the units are, integers signed and unsigned in turn. */
static enum gpi_histogram_unit unit_of(gp_dtype dtype)
{
    if (gpi_dtype_is_float(dtype))
        return GPI_HISTOGRAM_f16 + (dtype - GP_F16);
    return GPI_HISTOGRAM_b8 + (dtype - GP_I8) / 2;
}

struct gpi_binning_functions gpi_binning_find(const gp_context *ctx, gp_dtype dtype)
{
    return binnings[unit_of(dtype)][ctx->isa];
}

#define CUDA_DECLARE(name, sm)                                                                     \
    void gpi_histogram_##name##_sm##sm(const gp_context *ctx,                                      \
                                       const struct gpi_histogram_args *args);
#define CUDA_DECLARE_ALL(name) GPI_SMS_OF(CUDA_DECLARE, name)
#define CUDA_ENTRY(name, sm) GPI_CUDA(gpi_histogram_##name##_sm##sm),
#define CUDA_ENTRIES(name) {GPI_SMS_OF(CUDA_ENTRY, name)},

GPI_HISTOGRAM_UNITS(CUDA_DECLARE_ALL)

static const gpi_histogram_fn kernels[GPI_HISTOGRAM_UNIT_COUNT][GPI_SM_COUNT] = {
    GPI_HISTOGRAM_UNITS(CUDA_ENTRIES)};

gpi_histogram_fn gpi_histogram_find(const gp_context *ctx, gp_dtype dtype)
{
    return kernels[unit_of(dtype)][ctx->sm_row];
}
