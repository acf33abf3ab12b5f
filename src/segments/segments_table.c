/* SPDX-License-Identifier: MIT */
/* The only list of segmented scans: [backend][unit][instruction set or GPU architecture]. */
#include "core/dtype.h"
#include "core/threads.h"
#include "core/variants.h"
#include "segments/segments_internal.h"

#define DECLARE(name)                                                                              \
    gp_status gpi_segment_##name(gp_context *ctx, const struct gpi_segment_args *args);

#define CPU_DECLARE(name, isa) DECLARE(cpu_##name##_##isa)
#define CPU_ENTRY(name, isa) gpi_segment_cpu_##name##_##isa,
#define CUDA_DECLARE(name, sm) DECLARE(name##_sm##sm)
#define CUDA_ENTRY(name, sm) GPI_CUDA(gpi_segment_##name##_sm##sm),

#define CPU_UNIT(name, dtype, scalars, without_sign) GPI_ISAS_OF(CPU_DECLARE, name)
GPI_SEGMENT_UNITS(CPU_UNIT)
#define CUDA_UNIT(name) GPI_SMS_OF(CUDA_DECLARE, name)
GPI_SEGMENT_CUDA_UNITS(CUDA_UNIT)

struct entry {
    gp_dtype dtype;
    size_t scalars;
    gpi_segment_fn cpu[GPI_ISA_COUNT];
    gpi_segment_fn bits[GPI_ISA_COUNT]; /* for operators to which a sign makes no difference */
    gpi_segment_fn cuda[GPI_SM_COUNT];
};

#define ENTRY(name, dtype, scalars, without_sign)                                                  \
    {dtype,                                                                                        \
     scalars,                                                                                      \
     {GPI_ISAS_OF(CPU_ENTRY, name)},                                                               \
     {GPI_ISAS_OF(CPU_ENTRY, without_sign)},                                                       \
     {GPI_SMS_OF(CUDA_ENTRY, without_sign)}},

static const struct entry table[] = {GPI_SEGMENT_UNITS(ENTRY)};

gpi_segment_fn gpi_segment_find(const gp_context *ctx, gp_dtype dtype, gp_op op)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct entry *e = &table[i];
        if (e->dtype != dtype || e->scalars != gpi_op_scalars(op))
            continue;
        if (ctx->backend == GP_BACKEND_CUDA)
            return e->cuda[ctx->sm_row];
        return (gpi_scan_is_order(op) ? e->cpu : e->bits)[ctx->isa];
    }
    return NULL;
}

#define HEADS_DECLARE(sm)                                                                          \
    void gpi_segment_heads_sm##sm(const gp_context *ctx, struct gpi_segment_args *args);
#define HEADS_ENTRY(sm) GPI_CUDA(gpi_segment_heads_sm##sm),
GPI_SMS(HEADS_DECLARE)

gpi_segment_heads_fn gpi_segment_heads_find(const gp_context *ctx)
{
    static const gpi_segment_heads_fn heads[] = {GPI_SMS(HEADS_ENTRY)};
    return heads[ctx->sm_row];
}
