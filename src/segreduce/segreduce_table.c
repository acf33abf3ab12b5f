/* SPDX-License-Identifier: MIT */
/* The only list of implementations: [unit][instruction set or GPU architecture]. */
#include "core/check.h"
#include "core/threads.h"
#include "core/variants.h"
#include "segreduce/segreduce_cpu_internal.h"

#define CUDA_DECLARE(sm)                                                                           \
    gp_status gpi_segreduce_sm##sm(gp_context *ctx, const struct gpi_segreduce_args *args);
#define CUDA_ENTRY(sm) GPI_CUDA(gpi_segreduce_sm##sm),

GPI_SMS(CUDA_DECLARE)

gpi_segreduce_fn gpi_segreduce_find(const gp_context *ctx)
{
    static const gpi_segreduce_fn kernels[] = {GPI_SMS(CUDA_ENTRY)};
    return kernels[ctx->sm_row];
}

#define CPU_DECLARE(name, isa)                                                                     \
    extern const struct gpi_segreduce_cpu gpi_segreduce_cpu_##name##_##isa;
#define DECLARE_UNIT(name, in, out, scalars, wide) CPU_DECLARE(name, base)
GPI_REDUCE_CPU_UNITS(DECLARE_UNIT)

struct cpu_entry {
    gp_dtype in, out;
    size_t scalars;
    const struct gpi_segreduce_cpu *unit;
};

#define ENTRY(name, in, out, scalars, wide) {in, out, scalars, &gpi_segreduce_cpu_##name##_base},
static const struct cpu_entry table[] = {GPI_REDUCE_CPU_UNITS(ENTRY)};

#if GPI_ISA_VARIANTS
/* Those whose items a vector gathers. */
#define GATHERED(UNIT)                                                                             \
    UNIT(i32, GP_I32, GP_I32, 1, false)                                                            \
    UNIT(u32, GP_U32, GP_U32, 1, false)                                                            \
    UNIT(i64, GP_I64, GP_I64, 1, false)                                                            \
    UNIT(u64, GP_U64, GP_U64, 1, false)                                                            \
    UNIT(f32, GP_F32, GP_F32, 1, false)                                                            \
    UNIT(f64, GP_F64, GP_F64, 1, false)                                                            \
    UNIT(affine_f32, GP_F32, GP_F32, 2, false)                                                     \
    UNIT(affine_f64, GP_F64, GP_F64, 2, false)
#define DECLARE_GATHERED(name, in, out, scalars, wide) CPU_DECLARE(name, avx512)
#define GATHERED_ENTRY(name, in, out, scalars, wide)                                               \
    {in, out, scalars, &gpi_segreduce_cpu_##name##_avx512},
GATHERED(DECLARE_GATHERED)
static const struct cpu_entry gathered[] = {GATHERED(GATHERED_ENTRY)};
#endif

/* Only of f32 does the output dtype matter: the others' accumulators serve any. */
static const struct gpi_segreduce_cpu *found(const struct cpu_entry *entries, size_t count,
                                             gp_dtype in, gp_dtype out, gp_op op)
{
    for (const struct cpu_entry *e = entries; e < entries + count; e++)
        if (e->in == in && e->scalars == gpi_op_scalars(op) && (e->out == out || in != GP_F32))
            return e->unit;
    return NULL;
}

const struct gpi_segreduce_cpu *gpi_segreduce_cpu_find(const gp_context *ctx, gp_dtype in,
                                                       gp_dtype out, gp_op op)
{
    const struct gpi_segreduce_cpu *unit = NULL;
#if GPI_ISA_VARIANTS
    if (ctx->isa == GPI_ISA_AVX512)
        unit = found(gathered, sizeof gathered / sizeof gathered[0], in, out, op);
#else
    (void)ctx;
#endif
    return unit ? unit : found(table, sizeof table / sizeof table[0], in, out, op);
}

#if GPI_ISA_VARIANTS
gpi_segreduce_widen_fn gpi_segreduce_widen_avx512;
gpi_segreduce_narrow_fn gpi_segreduce_narrow_avx512;
gpi_segreduce_prefix_fn gpi_segreduce_prefix_avx512;
#endif

gpi_segreduce_narrow_fn *gpi_segreduce_cpu_narrow(const gp_context *ctx)
{
#if GPI_ISA_VARIANTS
    if (ctx->isa == GPI_ISA_AVX512)
        return gpi_segreduce_narrow_avx512;
#endif
    (void)ctx;
    return NULL;
}

gpi_segreduce_prefix_fn *gpi_segreduce_cpu_prefix(const gp_context *ctx)
{
#if GPI_ISA_VARIANTS
    if (ctx->isa == GPI_ISA_AVX512)
        return gpi_segreduce_prefix_avx512;
#endif
    (void)ctx;
    return NULL;
}

const struct gpi_segreduce_cpu *gpi_segreduce_cpu_wider(const gp_context *ctx, gp_dtype in,
                                                        gp_op op, gp_dtype *as,
                                                        gpi_segreduce_widen_fn **widen)
{
#if GPI_ISA_VARIANTS
    *as = gpi_dtype_is_float(in) ? GP_F32 : gpi_dtype_is_signed(in) ? GP_I32 : GP_U32;
    *widen = gpi_segreduce_widen_avx512;
    if (ctx->isa == GPI_ISA_AVX512 && gpi_dtype_bytes(in) < 4 && gpi_op_scalars(op) == 1)
        return found(gathered, sizeof gathered / sizeof gathered[0], *as, *as, op);
#endif
    (void)ctx, (void)in, (void)op, (void)as, (void)widen;
    return NULL;
}
