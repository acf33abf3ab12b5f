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

/* Only of f32 does the output dtype matter: the others' accumulators serve any. */
const struct gpi_segreduce_cpu *gpi_segreduce_cpu_find(gp_dtype in, gp_dtype out, gp_op op)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].in == in && table[i].scalars == gpi_op_scalars(op) &&
            (table[i].out == out || in != GP_F32))
            return table[i].unit;
    return NULL;
}

/* Those that are compiled for AVX-512 alone. */
#if GPI_ISA_VARIANTS
#define FIND(ctx, name) ((ctx)->isa == GPI_ISA_AVX512 ? name##_avx512 : NULL)
#else
#define FIND(ctx, name) NULL
#endif

gpi_segreduce_lines_fn gpi_segreduce_lines_avx512;
gpi_segreduce_widen_fn gpi_segreduce_widen_avx512;
gpi_segreduce_narrow_fn gpi_segreduce_narrow_avx512;
gpi_segreduce_piece_fn gpi_segreduce_side_f32_avx512, gpi_segreduce_side_f64_avx512,
    gpi_segreduce_side_affine_f32_avx512, gpi_segreduce_side_affine_f64_avx512;

gpi_segreduce_lines_fn *gpi_segreduce_cpu_lines(const gp_context *ctx)
{
    (void)ctx;
    return FIND(ctx, gpi_segreduce_lines);
}

gpi_segreduce_widen_fn *gpi_segreduce_cpu_widen(const gp_context *ctx)
{
    (void)ctx;
    return FIND(ctx, gpi_segreduce_widen);
}

gpi_segreduce_narrow_fn *gpi_segreduce_cpu_narrow(const gp_context *ctx)
{
    (void)ctx;
    return FIND(ctx, gpi_segreduce_narrow);
}

gpi_segreduce_piece_fn *gpi_segreduce_cpu_side(const gp_context *ctx, gp_dtype in, gp_dtype out,
                                               gp_op op)
{
    const size_t scalars = gpi_op_scalars(op);
    (void)ctx;
    if (!gpi_dtype_is_float(in) || (in == GP_F32 && out == GP_F64) || gpi_scan_is_order(op))
        return NULL;
    if (scalars == 1 && in == GP_F64)
        return FIND(ctx, gpi_segreduce_side_f64);
    if (scalars == 1)
        return FIND(ctx, gpi_segreduce_side_f32);
    if (scalars == 2 && in == GP_F64)
        return FIND(ctx, gpi_segreduce_side_affine_f64);
    if (scalars == 2)
        return FIND(ctx, gpi_segreduce_side_affine_f32);
    return NULL;
}
