/* SPDX-License-Identifier: MIT */
/* The only list of implementations of this room. */
#include "core/threads.h"
#include "core/variants.h"
#include "csr/csr_sort_cpu.h"

/* Units of widths: index and offset bits. */
#define EACH_PAIR(X) X(i32_o32) X(i32_o64) X(i64_o64)

#define DECLARE_PAIR(unit, suffix)                                                                 \
    gp_status gpi_csr_row_pointers_##unit##_##suffix(gp_context *, const struct gpi_csr_rows *);   \
    gp_status gpi_csr_count_rows_##unit##_##suffix(gp_context *, const struct gpi_csr_rows *);     \
    gp_status gpi_csr_check_##unit##_##suffix(gp_context *, const struct gpi_csr_matrix *,         \
                                              uint64_t *);                                         \
    gp_status gpi_csr_spmv_##unit##_f32_##suffix(gp_context *, const struct gpi_csr_spmv *);       \
    gp_status gpi_csr_spmv_##unit##_f64_##suffix(gp_context *, const struct gpi_csr_spmv *);
#define PAIR_ENTRY(unit, suffix)                                                                   \
    {gpi_csr_row_pointers_##unit##_##suffix,                                                       \
     gpi_csr_count_rows_##unit##_##suffix,                                                         \
     gpi_csr_check_##unit##_##suffix,                                                              \
     {gpi_csr_spmv_##unit##_f32_##suffix, gpi_csr_spmv_##unit##_f64_##suffix},                     \
     NULL},
#define DECLARE_CUDA(unit, sm) extern const struct gpi_csr_ops gpi_csr_ops_##unit##_sm##sm;
#define CUDA_ENTRY(unit, sm) GPI_CUDA(&gpi_csr_ops_##unit##_sm##sm),

#define DECLARE(unit) GPI_ISAS_OF(DECLARE_PAIR, unit) GPI_SMS_OF(DECLARE_CUDA, unit)
EACH_PAIR(DECLARE)

#define CPU_ROW(unit) {GPI_ISAS_OF(PAIR_ENTRY, unit)},
#define CUDA_ROW(unit) {GPI_SMS_OF(CUDA_ENTRY, unit)},
static const struct gpi_csr_ops cpu[][GPI_ISA_COUNT] = {EACH_PAIR(CPU_ROW)};
static const struct gpi_csr_ops *const cuda[][GPI_SM_COUNT] = {EACH_PAIR(CUDA_ROW)};

const struct gpi_csr_ops *gpi_csr_find(const gp_context *ctx, size_t index_bytes,
                                       size_t offset_bytes)
{
    const int pair = (index_bytes == 8) + (offset_bytes == 8); /* offsets are the wider ones */
    return ctx->backend == GP_BACKEND_CUDA ? cuda[pair][ctx->sm_row] : &cpu[pair][ctx->isa];
}

/* ---- the CPU's sort ---- */

#define DECLARE_SORT(unit, isa) void gpi_csr_sort_##unit##_##isa(struct gpi_csr_sort *);
#define SORT_ENTRY(unit, isa) gpi_csr_sort_##unit##_##isa,

GPI_ISAS_OF(DECLARE_SORT, k64v32)
GPI_ISAS_OF(DECLARE_SORT, k64v64)
GPI_ISAS_OF(DECLARE_SORT, k128v64)

gpi_csr_sort_fn gpi_csr_sort_find(const gp_context *ctx, bool wide_keys, bool wide_slots)
{
    static const gpi_csr_sort_fn k64v32[] = {GPI_ISAS_OF(SORT_ENTRY, k64v32)};
    static const gpi_csr_sort_fn k64v64[] = {GPI_ISAS_OF(SORT_ENTRY, k64v64)};
    static const gpi_csr_sort_fn k128v64[] = {GPI_ISAS_OF(SORT_ENTRY, k128v64)};
    return wide_keys ? k128v64[ctx->isa] : wide_slots ? k64v64[ctx->isa] : k64v32[ctx->isa];
}
