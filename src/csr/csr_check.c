/* SPDX-License-Identifier: MIT */
/* Argument checks that the front doors of this room share. */
#include <inttypes.h>

#include "core/check.h"
#include "csr/csr_internal.h"

gp_status gpi_csr_check_pair(gp_context *ctx, const char *f, gp_dtype index, gp_dtype offset)
{
    GPI_TRY(gpi_check_index_dtype(ctx, f, "index_dtype", index));
    GPI_TRY(gpi_check_index_dtype(ctx, f, "offset_dtype", offset));
    if (gpi_dtype_bytes(offset) < gpi_dtype_bytes(index))
        return gpi_fail(ctx, GP_ERROR_DTYPE,
                        "%s: offset_dtype is %s, expected one as wide as index_dtype %s or wider",
                        f, gp_dtype_string(offset), gp_dtype_string(index));
    return GP_OK;
}

gp_status gpi_csr_check_count(gp_context *ctx, const char *f, const char *argument, uint64_t count,
                              gp_dtype index)
{
    uint64_t limit = index == GP_I32   ? (uint64_t)1 << 31
                     : index == GP_U32 ? (uint64_t)1 << 32
                                       : GPI_MAX_N;
    GPI_TRY(gpi_check_n(ctx, f, argument, count));
    if (count > limit)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: %s is %" PRIu64 ", more than index_dtype %s can number", f, argument,
                        count, gp_dtype_string(index));
    return GP_OK;
}

gp_status gpi_csr_check_nnz(gp_context *ctx, const char *f, uint64_t nnz, gp_dtype offset)
{
    uint64_t limit = offset == GP_I32 ? INT32_MAX : offset == GP_U32 ? UINT32_MAX : GPI_MAX_N;
    GPI_TRY(gpi_check_n(ctx, f, "nnz", nnz));
    if (nnz > limit)
        return gpi_fail(ctx, GP_ERROR_OVERFLOW,
                        "%s: nnz is %" PRIu64 ", which does not fit offset_dtype %s", f, nnz,
                        gp_dtype_string(offset));
    return GP_OK;
}
