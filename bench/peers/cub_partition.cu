/* SPDX-License-Identifier: MIT */
#include "cub_peer.h"

#include <cub/device/device_partition.cuh>
#include <cub/device/device_radix_sort.cuh>

namespace
{
struct between {
    uint32_t low, high;
    __host__ __device__ bool operator()(uint32_t x) const
    {
        return x >= low && x <= high;
    }
};

// Into one array, the others from its end and in the other order.
int flagged(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DevicePartition::Flagged(temp, bytes, static_cast<const uint32_t *>(a->in),
                                             static_cast<const uint8_t *>(a->flags),
                                             static_cast<uint32_t *>(a->out), a->count, n, stream);
    });
}

// The last part in the other order.
int in_three(struct bench *b, const struct bench_args *a)
{
    const auto bound = static_cast<uint32_t>(a->bound);
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DevicePartition::If(
            temp, bytes, static_cast<const uint32_t *>(a->in), static_cast<uint32_t *>(a->out),
            static_cast<uint32_t *>(a->out_values), static_cast<uint32_t *>(a->out_offsets),
            a->count, n, between{bound, 2 * bound}, between{0, bound - 1}, stream);
    });
}

// A sort by the bits that the numbers have.
int by_numbers(struct bench *b, const struct bench_args *a)
{
    int bits = 0;
    while (size_t{1} << bits < a->bins)
        bits++;
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceRadixSort::SortPairs(temp, bytes, static_cast<const uint8_t *>(a->rows),
                                               static_cast<uint8_t *>(a->out_values),
                                               static_cast<const uint32_t *>(a->in),
                                               static_cast<uint32_t *>(a->out), n, 0, bits, stream);
    });
}
} // namespace

extern "C" const struct bench_peer bench_cub_partition_peers[] = {
    {cub_version.text, "compact", "partition", GP_U32, nullptr, flagged, true},
    {cub_version.text, "compact", "three_parts", GP_U32, nullptr, in_three, true},
    {cub_version.text, "compact", "multisplit_32", GP_U32, nullptr, by_numbers, false},
    {nullptr, nullptr, nullptr, gp_dtype(0), nullptr, nullptr, false},
};
