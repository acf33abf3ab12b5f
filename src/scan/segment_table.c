/* SPDX-License-Identifier: MIT */
/* The only list of segmented scans: [backend][unit][instruction set or GPU architecture]. */
#include "core/dtype.h"
#include "core/threads.h"
#include "scan/segment_internal.h"

#define DECLARE(name)                                                                              \
    gp_status gpi_segment_##name(gp_context *ctx, const struct gpi_segment_args *args);

#if GPI_ISA_VARIANTS
#define CPU_NAMES(EACH, name)                                                                      \
    EACH(cpu_##name##_base) EACH(cpu_##name##_avx2) EACH(cpu_##name##_avx512)
#else
#define CPU_NAMES(EACH, name) EACH(cpu_##name##_base)
#endif

#if GPI_HAVE_CUDA
#define CUDA_DECLARE(name, sm) DECLARE(name##_sm##sm)
#define CUDA_ENTRY(name, sm) gpi_segment_##name##_sm##sm,
#define CUDA_UNIT(name) GPI_SMS_OF(CUDA_DECLARE, name)
GPI_SEGMENT_CUDA_UNITS(CUDA_UNIT)
#define CUDA_ENTRIES(name)                                                                         \
    {                                                                                              \
        GPI_SMS_OF(CUDA_ENTRY, name)                                                               \
    }
#else
#define CUDA_ENTRIES(name)                                                                         \
    {                                                                                              \
        NULL                                                                                       \
    }
#endif

#define CPU_UNIT(name, dtype, scalars, cuda) CPU_NAMES(DECLARE, name)
GPI_SEGMENT_UNITS(CPU_UNIT)

enum { SM_ROWS_MAX = 16 };

struct entry {
    gp_dtype dtype;
    size_t scalars;
    gpi_segment_fn cpu[GPI_ISA_COUNT];
    gpi_segment_fn cuda[SM_ROWS_MAX];
};

#define CPU_ENTRY(name) gpi_segment_##name,
#define ENTRY(name, dtype, scalars, cuda)                                                          \
    {dtype, scalars, {CPU_NAMES(CPU_ENTRY, name)}, CUDA_ENTRIES(cuda)},

static const struct entry table[] = {GPI_SEGMENT_UNITS(ENTRY)};

gpi_segment_fn gpi_segment_find(const gp_context *ctx, gp_dtype dtype, gp_op op)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct entry *e = &table[i];
        if (e->dtype == dtype && e->scalars == gpi_op_scalars(op))
            return ctx->backend == GP_BACKEND_CUDA ? e->cuda[ctx->sm_row] : e->cpu[ctx->isa];
    }
    return NULL;
}

#if GPI_HAVE_CUDA
#define HEADS_DECLARE(sm)                                                                          \
    gp_status gpi_segment_heads_sm##sm(gp_context *ctx, const struct gpi_segment_args *args,       \
                                       uint32_t *heads);
#define HEADS_ENTRY(sm) gpi_segment_heads_sm##sm,
GPI_SMS(HEADS_DECLARE)

gpi_segment_heads_fn gpi_segment_heads_find(const gp_context *ctx)
{
    static const gpi_segment_heads_fn heads[] = {GPI_SMS(HEADS_ENTRY)};
    return heads[ctx->sm_row];
}
#else
gpi_segment_heads_fn gpi_segment_heads_find(const gp_context *ctx)
{
    (void)ctx;
    return NULL;
}
#endif
