/* SPDX-License-Identifier: MIT */
/* The only list of implementations of this room. */
#include "core/cuda.h"
#include "core/threads.h"
#include "csr/csr_coo_cuda.h"
#include "csr/csr_sort_cpu.h"

#if GPI_ISA_VARIANTS
#define EACH_ISA(X, unit) X(unit, base) X(unit, avx2) X(unit, avx512)
#else
#define EACH_ISA(X, unit) X(unit, base)
#endif

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
     {gpi_csr_spmv_##unit##_f32_##suffix, gpi_csr_spmv_##unit##_f64_##suffix}},

#define DECLARE_CPU(unit) EACH_ISA(DECLARE_PAIR, unit)
EACH_PAIR(DECLARE_CPU)

#define CPU_ENTRIES(unit) {EACH_ISA(PAIR_ENTRY, unit)},
static const struct gpi_csr_ops cpu[GPI_CSR_PAIRS][GPI_ISA_COUNT] = {EACH_PAIR(CPU_ENTRIES)};

#if GPI_HAVE_CUDA
#define CUDA_DECLARE(unit, sm)                                                                     \
    extern const struct gpi_csr_ops gpi_csr_ops_##unit##_sm##sm;                                   \
    extern const struct gpi_csr_kernels gpi_csr_kernels_##unit##_sm##sm;
#define CUDA_DECLARE_ALL(unit) GPI_SMS_OF(CUDA_DECLARE, unit)
EACH_PAIR(CUDA_DECLARE_ALL)

#define CUDA_OPS(unit, sm) &gpi_csr_ops_##unit##_sm##sm,
#define CUDA_OPS_ALL(unit) {GPI_SMS_OF(CUDA_OPS, unit)},
#define CUDA_KERNELS(unit, sm) &gpi_csr_kernels_##unit##_sm##sm,
#define CUDA_KERNELS_ALL(unit) {GPI_SMS_OF(CUDA_KERNELS, unit)},
enum { SM_ROWS_MAX = 16 };
static const struct gpi_csr_ops *const cuda[GPI_CSR_PAIRS][SM_ROWS_MAX] = {EACH_PAIR(CUDA_OPS_ALL)};
static const struct gpi_csr_kernels *const kernels[GPI_CSR_PAIRS][SM_ROWS_MAX] = {
    EACH_PAIR(CUDA_KERNELS_ALL)};
#endif

const struct gpi_csr_ops *gpi_csr_find(const gp_context *ctx, enum gpi_csr_pair pair)
{
#if GPI_HAVE_CUDA
    if (ctx->backend == GP_BACKEND_CUDA)
        return cuda[pair][ctx->sm_row];
#endif
    return &cpu[pair][ctx->isa];
}

const struct gpi_csr_kernels *gpi_csr_kernels_find(const gp_context *ctx, enum gpi_csr_pair pair)
{
#if GPI_HAVE_CUDA
    return kernels[pair][ctx->sm_row];
#else
    (void)ctx;
    (void)pair;
    return NULL;
#endif
}

/* ---- the CPU's sort ---- */

#define DECLARE_SORT(unit, isa) void gpi_csr_sort_##unit##_##isa(struct gpi_csr_sort *);
#define SORT_ENTRY(unit, isa) gpi_csr_sort_##unit##_##isa,

EACH_ISA(DECLARE_SORT, k64v32)
EACH_ISA(DECLARE_SORT, k64v64)
EACH_ISA(DECLARE_SORT, k128v64)

gpi_csr_sort_fn gpi_csr_sort_find(const gp_context *ctx, bool wide_keys, bool wide_slots)
{
    static const gpi_csr_sort_fn k64v32[GPI_ISA_COUNT] = {EACH_ISA(SORT_ENTRY, k64v32)};
    static const gpi_csr_sort_fn k64v64[GPI_ISA_COUNT] = {EACH_ISA(SORT_ENTRY, k64v64)};
    static const gpi_csr_sort_fn k128v64[GPI_ISA_COUNT] = {EACH_ISA(SORT_ENTRY, k128v64)};
    return wide_keys ? k128v64[ctx->isa] : wide_slots ? k64v64[ctx->isa] : k64v32[ctx->isa];
}
