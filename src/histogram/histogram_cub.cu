/* SPDX-License-Identifier: MIT */
/* The same call through CUB, for i32, u8 and f32 in even bins with 32-bit counters. */
#include <cuda_runtime.h>

#include <cub/device/device_histogram.cuh>

#include "device/cub_call.cuh"
#include "histogram/histogram_internal.h"

namespace GPI_SPACE
{
namespace
{

/* Level: wide enough for lo and for hi, which is exclusive. */
template <class T, class Level>
cudaError_t even(gpi_cub_call *call, const gpi_histogram_args *a, Level lo, Level hi)
{
    return cub::DeviceHistogram::HistogramEven(
        call->temporary, call->bytes, static_cast<const T *>(a->in),
        static_cast<uint32_t *>(a->counts), (int)a->binning.bins + 1, lo, hi, (int)a->n,
        call->stream);
}

cudaError_t histogram(gpi_cub_call *call, const gpi_histogram_args *a)
{
    const gpi_binning &b = a->binning;
    /* With one value per bin last may stop early, at the largest value of the dtype. */
    const bool whole = b.q == 1 && b.m_hi == 0;
    const int lo = (int)b.lo, hi = (int)((int64_t)lo + (whole ? b.bins : (int64_t)b.last + 1));
    if (a->dtype == GP_F32)
        return even<float, float>(call, a, (float)b.from, (float)b.to);
    if (a->dtype == GP_U8)
        return even<uint8_t, int>(call, a, lo, hi);
    return a->dtype == GP_I32 ? even<int32_t, int>(call, a, lo, hi) : cudaErrorNotSupported;
}

} // namespace
} // namespace GPI_SPACE

extern "C" int GPI_LAUNCHER(gpi_histogram_cub)(gpi_cub_call *call, const gpi_histogram_args *a)
{
    return GPI_SPACE::cub_call(call, [=] { return GPI_SPACE::histogram(call, a); });
}
