/* SPDX-License-Identifier: MIT */
#include "cub_peer.h"

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace
{
struct below {
    uint32_t bound;
    __host__ __device__ bool operator()(uint32_t x) const
    {
        return x < bound;
    }
};

struct record {
    uint32_t words[3];
};

template <class Item> int flagged(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceSelect::Flagged(temp, bytes, static_cast<const Item *>(a->in),
                                          static_cast<const uint8_t *>(a->flags),
                                          static_cast<Item *>(a->out), a->count, n, stream);
    });
}

int indices(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceSelect::Flagged(temp, bytes, thrust::counting_iterator<uint32_t>(0),
                                          static_cast<const uint8_t *>(a->flags),
                                          static_cast<uint32_t *>(a->out), a->count, n, stream);
    });
}

int select_if(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceSelect::If(temp, bytes, static_cast<const uint32_t *>(a->in),
                                     static_cast<uint32_t *>(a->out), a->count, n,
                                     below{static_cast<uint32_t>(a->bound)}, stream);
    });
}

template <class T> int even(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceHistogram::HistogramEven(
            temp, bytes, static_cast<const T *>(a->in), static_cast<uint32_t *>(a->out),
            static_cast<int>(a->bins) + 1, 0, static_cast<int>(a->bound), n, stream);
    });
}
} // namespace

extern "C" const struct bench_peer bench_cub_select_peers[] = {
    {cub_version.text, "compact", "flags_10", GP_U32, nullptr, flagged<uint32_t>, false},
    {cub_version.text, "compact", "flags_50", GP_U32, nullptr, flagged<uint32_t>, false},
    {cub_version.text, "compact", "flags_90", GP_U32, nullptr, flagged<uint32_t>, false},
    {cub_version.text, "compact", "if_50", GP_U32, nullptr, select_if, false},
    {cub_version.text, "compact", "indices_50", GP_U32, nullptr, indices, false},
    {cub_version.text, "compact", "records_12", GP_U32, nullptr, flagged<record>, false},
    {nullptr, nullptr, nullptr, gp_dtype(0), nullptr, nullptr, false},
};

extern "C" const struct bench_peer bench_cub_histogram_peers[] = {
    {cub_version.text, "histogram", nullptr, GP_I32, nullptr, even<int32_t>, false},
    {cub_version.text, "histogram", nullptr, GP_U8, nullptr, even<uint8_t>, false},
    {nullptr, nullptr, nullptr, gp_dtype(0), nullptr, nullptr, false},
};
