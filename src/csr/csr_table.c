/* SPDX-License-Identifier: MIT */
/* The only list of implementations of this room. */
#include "core/threads.h"
#include "core/variants.h"
#include "csr/csr_buckets.h"
#include "csr/csr_by_row.h"
#include "csr/csr_keep.h"
#include "csr/csr_sort_cpu.h"
#include "csr/csr_turn.h"

/* Units of widths: index and offset bits. */
#define EACH_PAIR(X) X(i32_o32) X(i32_o64) X(i64_o64)

#define DECLARE_PAIR(unit, suffix)                                                                 \
    gp_status gpi_csr_row_pointers_##unit##_##suffix(gp_context *, const struct gpi_csr_rows *);   \
    gp_status gpi_csr_count_rows_##unit##_##suffix(gp_context *, const struct gpi_csr_rows *);     \
    gp_status gpi_csr_check_##unit##_##suffix(gp_context *, const struct gpi_csr_matrix *,         \
                                              uint64_t *);                                         \
    gp_status gpi_csr_check_list_##unit##_##suffix(gp_context *, const struct gpi_csr_list *,      \
                                                   uint64_t *);                                    \
    gp_status gpi_csr_mark_##unit##_##suffix(gp_context *, const struct gpi_csr_marks *);          \
    void gpi_csr_kept_pointers_##unit##_##suffix(gp_context *,                                     \
                                                 const struct gpi_csr_kept_pointers *);
#define PAIR_ENTRY(unit, suffix)                                                                   \
    {gpi_csr_row_pointers_##unit##_##suffix, gpi_csr_count_rows_##unit##_##suffix,                 \
     gpi_csr_check_##unit##_##suffix,        gpi_csr_check_list_##unit##_##suffix,                 \
     gpi_csr_mark_##unit##_##suffix,         NULL,                                                 \
     gpi_csr_kept_pointers_##unit##_##suffix},
#define DECLARE_CUDA(unit, sm) extern const struct gpi_csr_ops gpi_csr_ops_##unit##_sm##sm;
#define CUDA_ENTRY(unit, sm) GPI_CUDA(&gpi_csr_ops_##unit##_sm##sm),

#define DECLARE(unit) GPI_ISAS_OF(DECLARE_PAIR, unit) GPI_SMS_OF(DECLARE_CUDA, unit)
EACH_PAIR(DECLARE)

#define CPU_ROW(unit) {GPI_ISAS_OF(PAIR_ENTRY, unit)},
#define CUDA_ROW(unit) {GPI_SMS_OF(CUDA_ENTRY, unit)},
static const struct gpi_csr_ops cpu[][GPI_ISA_COUNT] = {EACH_PAIR(CPU_ROW)};
static const struct gpi_csr_ops *const cuda[][GPI_SM_COUNT] = {EACH_PAIR(CUDA_ROW)};

static int pair_of(size_t index_bytes, size_t offset_bytes)
{
    return (index_bytes == 8) + (offset_bytes == 8); /* offsets are the wider ones */
}

const struct gpi_csr_ops *gpi_csr_find(const gp_context *ctx, size_t index_bytes,
                                       size_t offset_bytes)
{
    const int pair = pair_of(index_bytes, offset_bytes);
    return ctx->backend == GP_BACKEND_CUDA ? cuda[pair][ctx->sm_row] : &cpu[pair][ctx->isa];
}

#define DECLARE_BY_ROW(unit, sm)                                                                   \
    extern const struct gpi_csr_by_row_ops gpi_csr_columns_##unit##_sm##sm;
#define BY_ROW_ENTRY(unit, sm) GPI_CUDA(&gpi_csr_columns_##unit##_sm##sm),
GPI_SMS_OF(DECLARE_BY_ROW, i32)
GPI_SMS_OF(DECLARE_BY_ROW, i64)

const struct gpi_csr_by_row_ops *gpi_csr_by_row_find(const gp_context *ctx, size_t index_bytes)
{
    static const struct gpi_csr_by_row_ops *const i32[] = {GPI_SMS_OF(BY_ROW_ENTRY, i32)};
    static const struct gpi_csr_by_row_ops *const i64[] = {GPI_SMS_OF(BY_ROW_ENTRY, i64)};
    return (index_bytes == 8 ? i64 : i32)[ctx->sm_row];
}

#define DECLARE_KEEP(sm) gpi_csr_keep_fn gpi_csr_keep_sm##sm;
#define KEEP_ENTRY(sm) GPI_CUDA(gpi_csr_keep_sm##sm),
GPI_SMS(DECLARE_KEEP)

gpi_csr_keep_fn *gpi_csr_keep_find(const gp_context *ctx)
{
    static gpi_csr_keep_fn *const keep[] = {GPI_SMS(KEEP_ENTRY)};
    return keep[ctx->sm_row];
}

#define DECLARE_BUCKETS(sm) extern gpi_csr_buckets_fn *const gpi_csr_buckets_sm##sm;
#define BUCKETS_ENTRY(sm) GPI_CUDA(&gpi_csr_buckets_sm##sm),
GPI_SMS(DECLARE_BUCKETS)

gpi_csr_buckets_fn *gpi_csr_buckets_find(const gp_context *ctx)
{
    static gpi_csr_buckets_fn *const *const count[] = {GPI_SMS(BUCKETS_ENTRY)};
    return ctx->backend == GP_BACKEND_CUDA ? *count[ctx->sm_row] : NULL;
}

#define DECLARE_TURN(sm) extern gpi_csr_turn_fn *const gpi_csr_turn_sm##sm;
#define TURN_ENTRY(sm) GPI_CUDA(&gpi_csr_turn_sm##sm),
GPI_SMS(DECLARE_TURN)

gpi_csr_turn_fn *gpi_csr_turn_find(const gp_context *ctx)
{
    static gpi_csr_turn_fn *const *const turn[] = {GPI_SMS(TURN_ENTRY)};
    return *turn[ctx->sm_row];
}

/* ---- SpMV and SpMM ---- */

#define DECLARE_SPMV(unit, isa)                                                                    \
    gp_status gpi_csr_spmv_##unit##_##isa(gp_context *, const struct gpi_csr_spmv *);
#define DECLARE_SPMM(unit, isa)                                                                    \
    gp_status gpi_csr_spmm_##unit##_##isa(gp_context *, const struct gpi_csr_spmv *);
#define SPMV_ENTRY(unit, isa) gpi_csr_spmv_##unit##_##isa,
#define SPMM_ENTRY(unit, isa) gpi_csr_spmm_##unit##_##isa,
#define EACH_VALUE(X, pair) X(pair##_f16) X(pair##_bf16) X(pair##_f32) X(pair##_f64)
#define DECLARE_VALUE(unit) GPI_ISAS_OF(DECLARE_SPMV, unit)
#define SPMV_VALUE_ROW(unit) {GPI_ISAS_OF(SPMV_ENTRY, unit)},
#define SPMM_VALUE_ROW(value) {GPI_ISAS_OF(SPMM_ENTRY, value)},

/* On CUDA of column widths alone, SpMM on the CPU of no width. */
#define EACH_INDEX(X) X(i32) X(i64)
#define DECLARE_PRODUCTS_CUDA(unit, sm)                                                            \
    extern const gpi_csr_spmv_fn gpi_csr_spmv_##unit##_sm##sm[GPI_CSR_VALUES];                     \
    extern const gpi_csr_spmv_fn gpi_csr_spmm_##unit##_sm##sm[GPI_CSR_VALUES];
#define SPMV_CUDA_ENTRY(unit, sm) GPI_CUDA(gpi_csr_spmv_##unit##_sm##sm),
#define SPMM_CUDA_ENTRY(unit, sm) GPI_CUDA(gpi_csr_spmm_##unit##_sm##sm),
#define DECLARE_PAIR_PRODUCTS(unit) EACH_VALUE(DECLARE_VALUE, unit)
#define DECLARE_PRODUCTS_OF(unit) GPI_SMS_OF(DECLARE_PRODUCTS_CUDA, unit)
EACH_PAIR(DECLARE_PAIR_PRODUCTS)
EACH_INDEX(DECLARE_PRODUCTS_OF)
GPI_ISAS_OF(DECLARE_SPMM, f16)
GPI_ISAS_OF(DECLARE_SPMM, bf16)
GPI_ISAS_OF(DECLARE_SPMM, f32)
GPI_ISAS_OF(DECLARE_SPMM, f64)

#define DECLARE_PLAN(unit, sm) extern const struct gpi_csr_plan_ops gpi_csr_plan_##unit##_sm##sm;
#define PLAN_ENTRY(unit, sm) GPI_CUDA(&gpi_csr_plan_##unit##_sm##sm),
#define DECLARE_PLANS(unit) GPI_SMS_OF(DECLARE_PLAN, unit)
#define PLAN_ROW(unit) {GPI_SMS_OF(PLAN_ENTRY, unit)},
EACH_INDEX(DECLARE_PLANS)

const struct gpi_csr_plan_ops *gpi_csr_plan_find(const gp_context *ctx, size_t index_bytes)
{
    static const struct gpi_csr_plan_ops *const plans[][GPI_SM_COUNT] = {EACH_INDEX(PLAN_ROW)};
    return plans[index_bytes == 8][ctx->sm_row];
}

typedef const gpi_csr_spmv_fn on_cpu[GPI_CSR_VALUES][GPI_ISA_COUNT];
typedef const gpi_csr_spmv_fn *const on_cuda[GPI_SM_COUNT];

gpi_csr_spmv_fn gpi_csr_spmv_find(const gp_context *ctx, size_t index_bytes, size_t offset_bytes,
                                  gp_dtype value_dtype, bool is_spmm)
{
#define SPMV_CPU(unit) {EACH_VALUE(SPMV_VALUE_ROW, unit)},
#define SPMV_CUDA(unit) {GPI_SMS_OF(SPMV_CUDA_ENTRY, unit)},
#define SPMM_CUDA(unit) {GPI_SMS_OF(SPMM_CUDA_ENTRY, unit)},
    static on_cpu spmv_cpu[] = {EACH_PAIR(SPMV_CPU)};
    static on_cpu spmm_cpu = {SPMM_VALUE_ROW(f16) SPMM_VALUE_ROW(bf16) SPMM_VALUE_ROW(f32)
                                  SPMM_VALUE_ROW(f64)};
    static on_cuda spmv_cuda[] = {EACH_INDEX(SPMV_CUDA)}, spmm_cuda[] = {EACH_INDEX(SPMM_CUDA)};
    const int value = (int)value_dtype - (int)GP_F16;
    if (ctx->backend == GP_BACKEND_CUDA)
        return (is_spmm ? spmm_cuda : spmv_cuda)[index_bytes == 8][ctx->sm_row][value];
    if (is_spmm)
        return spmm_cpu[value][ctx->isa];
    return spmv_cpu[pair_of(index_bytes, offset_bytes)][value][ctx->isa];
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

#define DECLARE_PACKED(isa) void gpi_csr_sort_packed_##isa(struct gpi_csr_sort *);
#define PACKED_ENTRY(isa) gpi_csr_sort_packed_##isa,
GPI_ISAS(DECLARE_PACKED)

gpi_csr_sort_fn gpi_csr_sort_packed_find(const gp_context *ctx)
{
    static const gpi_csr_sort_fn sorts[] = {GPI_ISAS(PACKED_ENTRY)};
    return sorts[ctx->isa];
}
