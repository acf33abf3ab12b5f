/* SPDX-License-Identifier: MIT */
#include "cub_peer.h"

#include <cub/device/device_scan.cuh>

namespace
{
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
} // namespace

extern "C" const struct bench_peer bench_cub_by_key_peers[] = {
    {cub_version.text, "segments", nullptr, GP_I32, nullptr, sum_by_key, false},
    {nullptr, nullptr, nullptr, gp_dtype(0), nullptr, nullptr, false},
};
