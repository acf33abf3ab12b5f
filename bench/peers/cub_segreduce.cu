/* SPDX-License-Identifier: MIT */
/* CUB's sums of segments. */
#include "cub_peer.h"

#include <cub/device/device_segmented_reduce.cuh>

namespace
{
template <class T> int sums(struct bench *b, const struct bench_args *a)
{
    const uint32_t *offsets = static_cast<const uint32_t *>(a->offsets);
    if (a->num_rows > INT_MAX)
        return BENCH_SKIP;
    return cub_run(b, a, [=](void *temp, size_t &bytes, int, cudaStream_t stream) {
        return cub::DeviceSegmentedReduce::Sum(
            temp, bytes, static_cast<const T *>(a->in), static_cast<T *>(a->out),
            static_cast<int>(a->num_rows), offsets, offsets + 1, stream);
    });
}
} // namespace

extern "C" const struct bench_peer bench_cub_segreduce_peers[] = {
    {cub_version.text, "segreduce", nullptr, GP_I32, nullptr, sums<int32_t>, false},
    {cub_version.text, "segreduce", nullptr, GP_F32, nullptr, sums<float>, false},
    {nullptr, nullptr, nullptr, gp_dtype(0), nullptr, nullptr, false},
};
