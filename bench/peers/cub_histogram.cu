/* SPDX-License-Identifier: MIT */
#include "cub_peer.h"

#include <cub/device/device_histogram.cuh>

namespace
{
template <class T> int even(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceHistogram::HistogramEven(
            temp, bytes, static_cast<const T *>(a->in), static_cast<uint32_t *>(a->out),
            static_cast<int>(a->bins) + 1, 0, static_cast<int>(a->bound), n, stream);
    });
}
} // namespace

extern "C" const struct bench_peer bench_cub_histogram_peers[] = {
    {cub_version.text, "histogram", nullptr, GP_I32, nullptr, even<int32_t>, false},
    {cub_version.text, "histogram", nullptr, GP_U8, nullptr, even<uint8_t>, false},
    {nullptr, nullptr, nullptr, gp_dtype(0), nullptr, nullptr, false},
};
