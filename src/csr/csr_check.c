/* SPDX-License-Identifier: MIT */
/* Argument checks that the front doors of this room share. */
#include <inttypes.h>

#include "core/check.h"
#include "csr/csr_internal.h"

gp_status gpi_csr_check_pair(gp_context *ctx, const char *f, bool by, gp_dtype index,
                             gp_dtype offset)
{
    const char *index_dtype = GPI_MEMBER(by, "index_dtype");
    const char *offset_dtype = GPI_MEMBER(by, "offset_dtype");
    GPI_TRY(gpi_check_index_dtype(ctx, f, index_dtype, index));
    GPI_TRY(gpi_check_index_dtype(ctx, f, offset_dtype, offset));
    if (gpi_dtype_bytes(offset) < gpi_dtype_bytes(index))
        return gpi_fail(ctx, GP_ERROR_DTYPE, "%s: %s is %s, expected one as wide as %s %s or wider",
                        f, offset_dtype, gp_dtype_string(offset), index_dtype,
                        gp_dtype_string(index));
    return GP_OK;
}

gp_status gpi_csr_check_value_dtype(gp_context *ctx, const char *f, bool by, gp_dtype dtype)
{
    if (!gpi_dtype_is_float(dtype))
        return gpi_fail_dtype(ctx, f, GPI_MEMBER(by, "value_dtype"), dtype,
                              "f16, bf16, f32 or f64");
    return GP_OK;
}

gp_status gpi_csr_check_count(gp_context *ctx, const char *f, bool by, const char *argument,
                              uint64_t count, gp_dtype index)
{
    uint64_t limit = index == GP_I32   ? (uint64_t)1 << 31
                     : index == GP_U32 ? (uint64_t)1 << 32
                                       : GPI_MAX_N;
    GPI_TRY(gpi_check_n(ctx, f, argument, count));
    if (count > limit)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: %s is %" PRIu64 ", more than %s %s can number",
                        f, argument, count, GPI_MEMBER(by, "index_dtype"), gp_dtype_string(index));
    return GP_OK;
}

gp_status gpi_csr_check_nnz(gp_context *ctx, const char *f, bool by, uint64_t nnz, gp_dtype offset)
{
    uint64_t limit = offset == GP_I32 ? INT32_MAX : offset == GP_U32 ? UINT32_MAX : GPI_MAX_N;
    GPI_TRY(gpi_check_n(ctx, f, "nnz", nnz));
    if (nnz > limit)
        return gpi_fail(ctx, GP_ERROR_OVERFLOW, "%s: nnz is %" PRIu64 ", which does not fit %s %s",
                        f, nnz, GPI_MEMBER(by, "offset_dtype"), gp_dtype_string(offset));
    return GP_OK;
}

/* What a product may be asked for; 0 in other calls. */
static gp_status check_flag(gp_context *ctx, const char *f, bool is_product, const char *member,
                            int flag)
{
    if (!is_product)
        return gpi_check_unused(ctx, f, member, (uint64_t)flag);
    if (flag != 0 && flag != 1)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: %s is %d, expected 0 or 1", f, member, flag);
    return GP_OK;
}

gp_status gpi_csr_take_desc(gp_context *ctx, const char *f, bool by, bool with_values,
                            const gp_csr_desc *given, gp_csr_desc *d)
{
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_csr_desc)));
    if (!by)
        return GP_OK;
    GPI_TRY(gpi_csr_check_pair(ctx, f, by, d->index_dtype, d->offset_dtype));
    if (with_values)
        GPI_TRY(gpi_csr_check_value_dtype(ctx, f, by, d->value_dtype));
    else
        GPI_TRY(gpi_check_unused_dtype(ctx, f, "desc->value_dtype", d->value_dtype));
    GPI_TRY(check_flag(ctx, f, with_values, "desc->hot_columns", d->hot_columns));
    GPI_TRY(check_flag(ctx, f, with_values, "desc->device_alpha", d->device_alpha));
    return check_flag(ctx, f, with_values, "desc->device_beta", d->device_beta);
}
