/* SPDX-License-Identifier: MIT */
/* The only list of histogram implementations: [unit][instruction set or GPU architecture]. */
#include "core/check.h"
#include "core/threads.h"
#include "histogram/histogram_internal.h"

#define BINNING_DECLARE(name)                                                                      \
    void gpi_binning_##name(const struct gpi_binning *binning, const void *in, size_t count,       \
                            uint32_t *index);                                                      \
    void gpi_edge_grid_##name(struct gpi_binning *binning, uint32_t cells, uint32_t *below,        \
                              uint32_t *bin, void *edges);
#if GPI_ISA_VARIANTS
#define BINNING_DECLARE_ALL(name)                                                                  \
    BINNING_DECLARE(name##_base) BINNING_DECLARE(name##_avx2) BINNING_DECLARE(name##_avx512)
#define BINNING_ENTRIES(name)                                                                      \
    {{gpi_binning_##name##_base, gpi_edge_grid_##name##_base},                                     \
     {gpi_binning_##name##_avx2, gpi_edge_grid_##name##_avx2},                                     \
     {gpi_binning_##name##_avx512, gpi_edge_grid_##name##_avx512}},
#else
#define BINNING_DECLARE_ALL(name) BINNING_DECLARE(name##_base)
#define BINNING_ENTRIES(name) {{gpi_binning_##name##_base, gpi_edge_grid_##name##_base}},
#endif

GPI_HISTOGRAM_UNITS(BINNING_DECLARE_ALL)

static const struct gpi_binning_functions binnings[GPI_HISTOGRAM_UNIT_COUNT][GPI_ISA_COUNT] = {
    GPI_HISTOGRAM_UNITS(BINNING_ENTRIES)};

enum gpi_histogram_unit gpi_histogram_unit_of(gp_dtype dtype)
{
    switch (dtype) {
    case GP_F16:
        return GPI_HISTOGRAM_f16;
    case GP_BF16:
        return GPI_HISTOGRAM_bf16;
    case GP_F32:
        return GPI_HISTOGRAM_f32;
    case GP_F64:
        return GPI_HISTOGRAM_f64;
    case GP_I8:
    case GP_U8:
        return GPI_HISTOGRAM_b8;
    case GP_I16:
    case GP_U16:
        return GPI_HISTOGRAM_b16;
    case GP_I32:
    case GP_U32:
        return GPI_HISTOGRAM_b32;
    default:
        return GPI_HISTOGRAM_b64;
    }
}

struct gpi_binning_functions gpi_binning_find(const gp_context *ctx, gp_dtype dtype)
{
    return binnings[gpi_histogram_unit_of(dtype)][ctx->isa];
}

#if GPI_HAVE_CUDA

#define CUDA_DECLARE(name, sm)                                                                     \
    void gpi_histogram_##name##_sm##sm(const gp_context *ctx,                                      \
                                       const struct gpi_histogram_args *args);
#define CUDA_DECLARE_ALL(name) GPI_SMS_OF(CUDA_DECLARE, name)
#define CUDA_ENTRY(name, sm) gpi_histogram_##name##_sm##sm,
#define CUDA_ENTRIES(name) {GPI_SMS_OF(CUDA_ENTRY, name)},
#define CUB_DECLARE(sm)                                                                            \
    bool gpi_histogram_cub_sm##sm(const gp_context *ctx, const struct gpi_histogram_args *args,    \
                                  void *temp, size_t *temp_bytes);
#define CUB_ENTRY(sm) gpi_histogram_cub_sm##sm,

GPI_HISTOGRAM_UNITS(CUDA_DECLARE_ALL)
GPI_SMS(CUB_DECLARE)

enum { SM_ROWS_MAX = 16 };

static const gpi_histogram_fn kernels[GPI_HISTOGRAM_UNIT_COUNT][SM_ROWS_MAX] = {
    GPI_HISTOGRAM_UNITS(CUDA_ENTRIES)};
static const gpi_histogram_cub_fn cub[SM_ROWS_MAX] = {GPI_SMS(CUB_ENTRY)};

gpi_histogram_fn gpi_histogram_find(const gp_context *ctx, gp_dtype dtype)
{
    return kernels[gpi_histogram_unit_of(dtype)][ctx->sm_row];
}

gpi_histogram_cub_fn gpi_histogram_cub_find(const gp_context *ctx)
{
    return cub[ctx->sm_row];
}

#else

gpi_histogram_fn gpi_histogram_find(const gp_context *ctx, gp_dtype dtype)
{
    (void)ctx;
    (void)dtype;
    return NULL;
}

gpi_histogram_cub_fn gpi_histogram_cub_find(const gp_context *ctx)
{
    (void)ctx;
    return NULL;
}

#endif
