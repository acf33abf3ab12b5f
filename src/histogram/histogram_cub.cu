/* SPDX-License-Identifier: MIT */
/* The same call through CUB, for i32, u8 and f32 in even bins with 32-bit counters. */
#include <cuda_runtime.h>

#include <cub/device/device_histogram.cuh>

#include "device/space.cuh"
#include "histogram/histogram_internal.h"

namespace
{

/* Level: wide enough for lo and for hi, which is exclusive. */
template <class T, class Level>
cudaError_t even(const gp_context *ctx, const gpi_histogram_args *a, Level lo, Level hi, void *temp,
                 size_t *temp_bytes)
{
    return cub::DeviceHistogram::HistogramEven(
        temp, *temp_bytes, static_cast<const T *>(a->in), static_cast<uint32_t *>(a->counts),
        (int)a->binning.bins + 1, lo, hi, (int)a->n, ctx->stream);
}

} // namespace

extern "C" bool GPI_LAUNCHER(gpi_histogram_cub)(const gp_context *ctx,
                                                const struct gpi_histogram_args *args, void *temp,
                                                size_t *temp_bytes)
{
    const gpi_binning &b = args->binning;
    /* With one value per bin last may stop early, at the largest value of the dtype. */
    const bool whole = b.q == 1 && b.m_hi == 0;
    const int lo = (int)b.lo, hi = (int)((int64_t)lo + (whole ? b.bins : (int64_t)b.last + 1));
    cudaError_t e = cudaErrorNotSupported;
    if (args->dtype == GP_F32)
        e = even<float, float>(ctx, args, (float)b.from, (float)b.to, temp, temp_bytes);
    else if (args->dtype == GP_U8)
        e = even<uint8_t, int>(ctx, args, lo, hi, temp, temp_bytes);
    else if (args->dtype == GP_I32)
        e = even<int32_t, int>(ctx, args, lo, hi, temp, temp_bytes);
    return e == cudaSuccess;
}
