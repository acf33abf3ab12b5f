/* SPDX-License-Identifier: MIT */
/* The only list of segmented scans: [backend][unit][instruction set or GPU architecture]. */
#include "core/dtype.h"
#include "core/threads.h"
#include "core/variants.h"
#include "segments/segments_internal.h"

#define DECLARE(name)                                                                              \
    gp_status gpi_segment_##name(gp_context *ctx, const struct gpi_segment_args *args);

#define CPU_DECLARE(name, isa)                                                                     \
    DECLARE(cpu_##name##_##isa)                                                                    \
    gpi_segment_chunk_fn gpi_segment_chunk_##name##_##isa;
#define CPU_ENTRY(name, isa) {gpi_segment_cpu_##name##_##isa, gpi_segment_chunk_##name##_##isa},
#define CUDA_DECLARE(name, sm) DECLARE(name##_sm##sm)
#define CUDA_ENTRY(name, sm) GPI_CUDA(gpi_segment_##name##_sm##sm),

#define CPU_UNIT(name, dtype, scalars, without_sign) GPI_ISAS_OF(CPU_DECLARE, name)
GPI_SEGMENT_UNITS(CPU_UNIT)
#define CUDA_UNIT(name) GPI_SMS_OF(CUDA_DECLARE, name)
GPI_SEGMENT_CUDA_UNITS(CUDA_UNIT)

struct cpu_unit {
    gpi_segment_fn call;
    gpi_segment_chunk_fn *chunk;
};

struct entry {
    gp_dtype dtype;
    size_t scalars;
    struct cpu_unit cpu[GPI_ISA_COUNT];
    struct cpu_unit bits[GPI_ISA_COUNT]; /* for operators to which a sign makes no difference */
    gpi_segment_fn cuda[GPI_SM_COUNT];
};

#define ENTRY(name, dtype, scalars, without_sign)                                                  \
    {dtype,                                                                                        \
     scalars,                                                                                      \
     {GPI_ISAS_OF(CPU_ENTRY, name)},                                                               \
     {GPI_ISAS_OF(CPU_ENTRY, without_sign)},                                                       \
     {GPI_SMS_OF(CUDA_ENTRY, without_sign)}},

static const struct entry table[] = {GPI_SEGMENT_UNITS(ENTRY)};

static const struct entry *entry_find(gp_dtype dtype, gp_op op)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].dtype == dtype && table[i].scalars == gpi_op_scalars(op))
            return &table[i];
    return NULL;
}

static const struct cpu_unit *cpu_unit_of(const gp_context *ctx, const struct entry *e, gp_op op)
{
    return &(gpi_scan_is_order(op) ? e->cpu : e->bits)[ctx->isa];
}

gpi_segment_fn gpi_segment_find(const gp_context *ctx, gp_dtype dtype, gp_op op)
{
    const struct entry *e = entry_find(dtype, op);
    if (!e)
        return NULL;
    return ctx->backend == GP_BACKEND_CUDA ? e->cuda[ctx->sm_row] : cpu_unit_of(ctx, e, op)->call;
}

gpi_segment_chunk_fn *gpi_segment_chunk_find(const gp_context *ctx, gp_dtype dtype, gp_op op)
{
    return cpu_unit_of(ctx, entry_find(dtype, op), op)->chunk;
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
