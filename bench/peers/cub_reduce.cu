/* SPDX-License-Identifier: MIT */
#include "cub_peer.h"

#include <cub/device/device_reduce.cuh>

namespace
{
template <class T> int sum(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceReduce::Sum(temp, bytes, static_cast<const T *>(a->in),
                                      static_cast<T *>(a->out), n, stream);
    });
}

template <class T> int max(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceReduce::Max(temp, bytes, static_cast<const T *>(a->in),
                                      static_cast<T *>(a->out), n, stream);
    });
}

template <class T> int argmin(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceReduce::ArgMin(temp, bytes, static_cast<const T *>(a->in),
                                         static_cast<T *>(a->out), a->count, n, stream);
    });
}
} // namespace

extern "C" const struct bench_peer bench_cub_reduce_peers[] = {
    {cub_version.text, "reduce", "reduce_sum", GP_I8, nullptr, sum<int8_t>, false},
    {cub_version.text, "reduce", "reduce_sum", GP_I16, nullptr, sum<int16_t>, false},
    {cub_version.text, "reduce", "reduce_sum", GP_I32, nullptr, sum<int32_t>, false},
    {cub_version.text, "reduce", "reduce_sum", GP_I64, nullptr, sum<int64_t>, false},
    {cub_version.text, "reduce", "reduce_sum", GP_F32, nullptr, sum<float>, false},
    {cub_version.text, "reduce", "reduce_sum", GP_F64, nullptr, sum<double>, false},
    {cub_version.text, "reduce", "unaligned_sum", GP_I32, nullptr, sum<int32_t>, false},
    {cub_version.text, "reduce", "reduce_max", GP_I32, nullptr, max<int32_t>, false},
    {cub_version.text, "reduce", "reduce_max", GP_F32, nullptr, max<float>, false},
    {cub_version.text, "reduce", "argmin", GP_I32, nullptr, argmin<int32_t>, false},
    {cub_version.text, "reduce", "argmin", GP_F32, nullptr, argmin<float>, false},
    {nullptr, nullptr, nullptr, gp_dtype(0), nullptr, nullptr, false},
};
