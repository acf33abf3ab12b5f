/* SPDX-License-Identifier: MIT */
#include "cub_peer.h"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/reverse_iterator.h>

namespace
{
template <class T> int inclusive(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceScan::InclusiveSum(temp, bytes, static_cast<const T *>(a->in),
                                             static_cast<T *>(a->out), n, stream);
    });
}

template <class T> int backward(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceScan::InclusiveSum(
            temp, bytes, thrust::make_reverse_iterator(static_cast<const T *>(a->in) + n),
            thrust::make_reverse_iterator(static_cast<T *>(a->out) + n), n, stream);
    });
}

struct larger {
    __host__ __device__ int32_t operator()(int32_t x, int32_t y) const
    {
        return x > y ? x : y;
    }
};

int inclusive_max(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceScan::InclusiveScan(temp, bytes, static_cast<const int32_t *>(a->in),
                                              static_cast<int32_t *>(a->out), larger{}, n, stream);
    });
}

template <class T> int exclusive(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceScan::ExclusiveSum(temp, bytes, static_cast<const T *>(a->in),
                                             static_cast<T *>(a->out), n, stream);
    });
}

struct same_key {
    __host__ __device__ bool operator()(uint32_t a, uint32_t b) const
    {
        return a == b;
    }
};

int sum_by_key(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceScan::InclusiveSumByKey(
            temp, bytes, static_cast<const uint32_t *>(a->rows),
            static_cast<const int32_t *>(a->in), static_cast<int32_t *>(a->out), n, same_key{},
            stream);
    });
}

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

extern "C" const struct bench_peer bench_cub_scan_peers[] = {
    {cub_version.text, "segments", nullptr, GP_I32, nullptr, sum_by_key, false},
    {cub_version.text, "scan", "inclusive_sum", GP_I8, nullptr, inclusive<int8_t>, false},
    {cub_version.text, "scan", "inclusive_sum", GP_I16, nullptr, inclusive<int16_t>, false},
    {cub_version.text, "scan", "inclusive_sum", GP_I32, nullptr, inclusive<int32_t>, false},
    {cub_version.text, "scan", "inclusive_sum", GP_I64, nullptr, inclusive<int64_t>, false},
    {cub_version.text, "scan", "inclusive_sum", GP_F32, nullptr, inclusive<float>, false},
    {cub_version.text, "scan", "inclusive_sum", GP_F64, nullptr, inclusive<double>, false},
    {cub_version.text, "scan", "unaligned_sum", GP_I32, nullptr, inclusive<int32_t>, false},
    {cub_version.text, "scan", "algorithms", GP_I32, nullptr, inclusive<int32_t>, false},
    {cub_version.text, "ladder", "inclusive_sum", GP_I32, nullptr, inclusive<int32_t>, false},
    {cub_version.text, "reduce", "backward_sum", GP_I32, nullptr, backward<int32_t>, false},
    {cub_version.text, "reduce", "backward_sum", GP_F32, nullptr, backward<float>, false},
    {cub_version.text, "reduce", "backward_sum", GP_F64, nullptr, backward<double>, false},
    {cub_version.text, "scan", "inclusive_max", GP_I32, nullptr, inclusive_max, false},
    {cub_version.text, "scan", "exclusive_sum", GP_I32, nullptr, exclusive<int32_t>, false},
    {nullptr, nullptr, nullptr, gp_dtype(0), nullptr, nullptr, false},
};

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
