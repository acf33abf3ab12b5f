/* SPDX-License-Identifier: MIT */
/* The only list of implementations: CPU by instruction set and by unit, CUDA by architecture. */
#include "core/dtype.h"
#include "core/variants.h"
#include "group/group_internal.h"
#include "scan/scan_internal.h"

#define DECLARE_CPU(isa) extern const struct gpi_group_loops gpi_group_loops_##isa;
#define ROW_CPU(isa) &gpi_group_loops_##isa,
#define DECLARE_CUDA(sm)                                                                           \
    gpi_group_launch gpi_group_wide_sm##sm, gpi_group_b1_sm##sm, gpi_group_b2_sm##sm,              \
        gpi_group_b4_sm##sm, gpi_group_b8_sm##sm, gpi_group_bits_sm##sm, gpi_group_u32_sm##sm,     \
        gpi_group_u64_sm##sm, gpi_group_f32_sm##sm, gpi_group_f64_sm##sm, gpi_group_pair_sm##sm;   \
    gpi_group_flush gpi_group_flush_sm##sm;                                                        \
    gpi_group_fold_buckets gpi_group_fold_buckets_sm##sm;                                          \
    gpi_group_fold_few gpi_group_fold_few_sm##sm;
#define ROW_CUDA(sm)                                                                               \
    {GPI_CUDA(gpi_group_wide_sm##sm),                                                              \
     {GPI_CUDA(gpi_group_b1_sm##sm), GPI_CUDA(gpi_group_b2_sm##sm), GPI_CUDA(gpi_group_b4_sm##sm), \
      GPI_CUDA(gpi_group_b8_sm##sm), GPI_CUDA(gpi_group_bits_sm##sm)},                             \
     GPI_CUDA(gpi_group_u32_sm##sm),                                                               \
     GPI_CUDA(gpi_group_u64_sm##sm),                                                               \
     GPI_CUDA(gpi_group_f32_sm##sm),                                                               \
     GPI_CUDA(gpi_group_f64_sm##sm),                                                               \
     GPI_CUDA(gpi_group_pair_sm##sm),                                                              \
     GPI_CUDA(gpi_group_flush_sm##sm),                                                             \
     GPI_CUDA(gpi_group_fold_buckets_sm##sm),                                                      \
     GPI_CUDA(gpi_group_fold_few_sm##sm)},

GPI_ISAS(DECLARE_CPU)
GPI_SMS(DECLARE_CUDA)

static const struct gpi_group_loops *const cpu_table[] = {GPI_ISAS(ROW_CPU)};
static const struct gpi_group_cuda cuda_table[] = {GPI_SMS(ROW_CUDA)};

const struct gpi_group_loops *gpi_group_loops_for(int isa)
{
    return cpu_table[isa];
}

const struct gpi_group_cuda *gpi_group_cuda_for(int sm_row)
{
    return &cuda_table[sm_row];
}

/* ---- folds on the CPU ---- */

#define DECLARE_FOLD(name, in, out, scalars, wide)                                                 \
    extern const struct gpi_group_fold_cpu gpi_group_fold_##name;
#define ENTRY(name, in, out, scalars, wide) {in, out, scalars, &gpi_group_fold_##name},

GPI_SCAN_UNITS_SAME(DECLARE_FOLD)
GPI_SCAN_UNITS_SUM(DECLARE_FOLD)

static const struct {
    gp_dtype in, out;
    size_t scalars;
    const struct gpi_group_fold_cpu *fold;
} folds[] = {GPI_SCAN_UNITS_SAME(ENTRY) GPI_SCAN_UNITS_SUM(ENTRY)};

/* Only of the order, and where they are widened, does the sign of integers matter. */
const struct gpi_group_fold_cpu *gpi_group_fold_cpu_for(gp_dtype in, gp_dtype out, gp_op op)
{
    if (in == out && !gpi_scan_is_order(op))
        in = out = gpi_dtype_unsigned(in);
    for (size_t i = 0; i < sizeof folds / sizeof folds[0]; i++)
        if (folds[i].in == in && folds[i].out == out && folds[i].scalars == gpi_op_scalars(op))
            return folds[i].fold;
    return NULL;
}
