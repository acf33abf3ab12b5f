/* SPDX-License-Identifier: MIT */
#include "cub_peer.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

namespace
{
int unique(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceSelect::Unique(temp, bytes, static_cast<const uint32_t *>(a->in),
                                         static_cast<uint32_t *>(a->out), a->count, n, stream);
    });
}

int lengths(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceRunLengthEncode::Encode(
            temp, bytes, static_cast<const uint32_t *>(a->in), static_cast<uint32_t *>(a->out),
            static_cast<uint32_t *>(a->out_values), a->count, n, stream);
    });
}

struct plus {
    template <class T> __host__ __device__ T operator()(T x, T y) const
    {
        return x + y;
    }
};

int sums(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceReduce::ReduceByKey(
            temp, bytes, static_cast<const uint32_t *>(a->in), static_cast<uint32_t *>(a->out),
            static_cast<const float *>(a->values), static_cast<float *>(a->out_values), a->count,
            plus(), n, stream);
    });
}

// The sort's scratch, or that of the reduction, behind sorted keys and values.
template <class Key, class Value> int group_by(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        const size_t array = static_cast<size_t>(n) * sizeof(Key);
        Key *keys = static_cast<Key *>(temp);
        Value *values = reinterpret_cast<Value *>(keys + n);
        void *rest = temp ? static_cast<char *>(temp) + 2 * array : nullptr;
        size_t sort = bytes, reduce = bytes;
        cudaError_t e = cub::DeviceRadixSort::SortPairs(rest, sort, static_cast<const Key *>(a->in),
                                                        keys, static_cast<const Value *>(a->values),
                                                        values, n, 0, 8 * sizeof(Key), stream);
        if (e == cudaSuccess)
            e = cub::DeviceReduce::ReduceByKey(rest, reduce, keys, static_cast<Key *>(a->out),
                                               values, static_cast<Value *>(a->out_values),
                                               a->count, plus(), n, stream);
        if (!temp)
            bytes = 2 * array + (sort > reduce ? sort : reduce);
        return e;
    });
}
} // namespace

#define CASES(name, run)                                                                           \
    {cub_version.text, "group", name "_1", GP_U32, nullptr, run, false},                           \
        {cub_version.text, "group", name "_2", GP_U32, nullptr, run, false},                       \
        {cub_version.text, "group", name "_16", GP_U32, nullptr, run, false},                      \
        {cub_version.text, "group", name "_1000", GP_U32, nullptr, run, false},                    \
        {cub_version.text, "group", name "_1000000", GP_U32, nullptr, run, false},                 \
        {cub_version.text, "group", name "_powerlaw", GP_U32, nullptr, run, false},                \
        {cub_version.text, "group", name "_one", GP_U32, nullptr, run, false},

#define GROUPS(name)                                                                               \
    {cub_version.text, "group", name, GP_U32, nullptr, group_by<uint32_t, float>, false},          \
        {cub_version.text, "group", name, GP_U64, nullptr, group_by<uint64_t, double>, false},

extern "C" const struct bench_peer bench_cub_group_peers[] = {
    CASES("unique", unique) CASES("lengths", lengths) CASES("sums", sums) GROUPS("group_by_1024")
        GROUPS("group_by_1048576") GROUPS("group_by_134217728") GROUPS("group_by_zipf_1024")
            GROUPS("group_by_zipf_1048576") GROUPS("group_by_zipf_134217728")
                GROUPS("group_by_sparse_1024") GROUPS("group_by_sparse_1048576")
                    GROUPS("group_by_sparse_134217728"){nullptr, nullptr, nullptr, gp_dtype(0),
                                                        nullptr, nullptr, false},
};
