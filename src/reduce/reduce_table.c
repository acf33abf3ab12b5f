/* SPDX-License-Identifier: MIT */
/* The only list of reduce implementations: [unit][instruction set or GPU architecture]. */
#include "core/check.h"
#include "core/threads.h"
#include "core/variants.h"
#include "reduce/reduce_internal.h"

#define CPU_DECLARE(name, isa) extern const struct gpi_reduce_cpu gpi_reduce_cpu_##name##_##isa;
#define CPU_ENTRY(name, isa) &gpi_reduce_cpu_##name##_##isa,

#define DECLARE_UNIT(name, in, out, scalars, wide) GPI_ISAS_OF(CPU_DECLARE, name)
GPI_REDUCE_CPU_UNITS(DECLARE_UNIT)

struct cpu_entry {
    gp_dtype in, out;
    size_t scalars;
    const struct gpi_reduce_cpu *unit[GPI_ISA_COUNT];
};

#define ENTRY(name, in, out, scalars, wide) {in, out, scalars, {GPI_ISAS_OF(CPU_ENTRY, name)}},
static const struct cpu_entry table[] = {GPI_REDUCE_CPU_UNITS(ENTRY)};

/* Only of f32 does the output dtype matter: the others' accumulators serve any. Only sums, in 64
 * bits, and the order depend on the sign of integers. */
const struct gpi_reduce_cpu *gpi_reduce_cpu_find(const gp_context *ctx, gp_dtype in, gp_dtype out,
                                                 gp_op op)
{
    if (op != GP_SUM && !gpi_scan_is_order(op))
        in = out = gpi_dtype_unsigned(in);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct cpu_entry *e = &table[i];
        if (e->in == in && e->scalars == gpi_op_scalars(op) && (e->out == out || in != GP_F32))
            return e->unit[ctx->isa];
    }
    return NULL;
}

#define CUDA_DECLARE(name, sm)                                                                     \
    gp_status gpi_reduce_##name##_sm##sm(gp_context *ctx, const struct gpi_reduce_args *args);
#define CUDA_DECLARE_ALL(name) GPI_SMS_OF(CUDA_DECLARE, name)
#define CUDA_ENTRY(name, sm) GPI_CUDA(gpi_reduce_##name##_sm##sm),
#define CUDA_ENTRIES(name) {GPI_SMS_OF(CUDA_ENTRY, name)},
#define CUDA_INDEX(name) UNIT_##name,

GPI_REDUCE_CUDA_UNITS(CUDA_DECLARE_ALL)

enum cuda_unit { GPI_REDUCE_CUDA_UNITS(CUDA_INDEX) };
static const gpi_reduce_fn kernels[][GPI_SM_COUNT] = {GPI_REDUCE_CUDA_UNITS(CUDA_ENTRIES)};

gpi_reduce_fn gpi_reduce_find(const gp_context *ctx, gp_dtype in, gp_op op)
{
    enum cuda_unit unit = gpi_op_scalars(op) > 1     ? UNIT_pair
                          : gpi_dtype_is_float(in)   ? UNIT_real
                          : gpi_dtype_bytes(in) <= 2 ? UNIT_small
                                                     : UNIT_large;
    return kernels[unit][ctx->sm_row];
}
