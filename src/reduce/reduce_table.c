/* SPDX-License-Identifier: MIT */
/* The only list of reduce implementations: [unit][instruction set or GPU architecture]. */
#include "core/check.h"
#include "core/threads.h"
#include "reduce/reduce_internal.h"

#if GPI_ISA_VARIANTS
#define CPU_NAMES(EACH, name)                                                                      \
    EACH(cpu_##name##_base) EACH(cpu_##name##_avx2) EACH(cpu_##name##_avx512)
#else
#define CPU_NAMES(EACH, name) EACH(cpu_##name##_base)
#endif
#define CPU_DECLARE(name) extern const struct gpi_reduce_cpu gpi_reduce_##name;
#define CPU_ENTRY(name) &gpi_reduce_##name,

#define DECLARE_UNIT(name, in, out, scalars) CPU_NAMES(CPU_DECLARE, name)
GPI_REDUCE_CPU_UNITS(DECLARE_UNIT)

struct cpu_entry {
    gp_dtype in, out; /* 0: any */
    size_t scalars;
    const struct gpi_reduce_cpu *unit[GPI_ISA_COUNT];
};

#define ENTRY(name, in, out, scalars) {in, (gp_dtype)out, scalars, {CPU_NAMES(CPU_ENTRY, name)}},
static const struct cpu_entry table[] = {GPI_REDUCE_CPU_UNITS(ENTRY)};

const struct gpi_reduce_cpu *gpi_reduce_cpu_find(const gp_context *ctx, gp_dtype in, gp_dtype out,
                                                 gp_op op)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct cpu_entry *e = &table[i];
        if (e->in == in && e->scalars == gpi_op_scalars(op) && (!e->out || e->out == out))
            return e->unit[ctx->isa];
    }
    return NULL;
}

#if GPI_HAVE_CUDA

#define CUDA_DECLARE(name, sm)                                                                     \
    gp_status gpi_reduce_##name##_sm##sm(gp_context *ctx, const struct gpi_reduce_args *args);
#define CUDA_DECLARE_ALL(name) GPI_SMS_OF(CUDA_DECLARE, name)
#define CUDA_ENTRY(name, sm) gpi_reduce_##name##_sm##sm,
#define CUDA_ENTRIES(name) {GPI_SMS_OF(CUDA_ENTRY, name)},
#define CUDA_INDEX(name) UNIT_##name,

GPI_REDUCE_CUDA_UNITS(CUDA_DECLARE_ALL)

enum { SM_ROWS_MAX = 16 };
enum cuda_unit { GPI_REDUCE_CUDA_UNITS(CUDA_INDEX) };
static const gpi_reduce_fn kernels[][SM_ROWS_MAX] = {GPI_REDUCE_CUDA_UNITS(CUDA_ENTRIES)};

gpi_reduce_fn gpi_reduce_find(const gp_context *ctx, gp_dtype in, gp_op op)
{
    enum cuda_unit unit = gpi_op_scalars(op) > 1     ? UNIT_pair
                          : gpi_dtype_is_float(in)   ? UNIT_real
                          : gpi_dtype_bytes(in) <= 2 ? UNIT_small
                                                     : UNIT_large;
    return kernels[unit][ctx->sm_row];
}
#else
gpi_reduce_fn gpi_reduce_find(const gp_context *ctx, gp_dtype in, gp_op op)
{
    (void)ctx, (void)in, (void)op;
    return NULL;
}
#endif
