/* SPDX-License-Identifier: MIT */
#include "cub_peer.h"

#include <cub/device/device_radix_sort.cuh>

namespace
{
template <class T> int keys(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceRadixSort::SortKeys(temp, bytes, static_cast<const T *>(a->in),
                                              static_cast<T *>(a->out), n, 0,
                                              static_cast<int>(sizeof(T)) * 8, stream);
    });
}

// A case of the suite distributions without values; the others are for the sort of pairs.
template <class T> int keys_alone(struct bench *b, const struct bench_args *a)
{
    return a->values ? int(BENCH_SKIP) : keys<T>(b, a);
}
} // namespace

extern "C" const struct bench_peer bench_cub_keys_peers[] = {
    {cub_version.text, "sort", "keys", GP_U8, nullptr, keys<uint8_t>, false},
    {cub_version.text, "sort", "keys", GP_U16, nullptr, keys<uint16_t>, false},
    {cub_version.text, "sort", "keys", GP_U32, nullptr, keys<uint32_t>, false},
    {cub_version.text, "sort", "keys", GP_U64, nullptr, keys<uint64_t>, false},
    {cub_version.text, "sort", "keys", GP_F32, nullptr, keys<float>, false},
    {cub_version.text, "distributions", nullptr, GP_U32, nullptr, keys_alone<uint32_t>, false},
    {cub_version.text, "distributions", nullptr, GP_F32, nullptr, keys_alone<float>, false},
    {nullptr, nullptr, nullptr, gp_dtype(0), nullptr, nullptr, false},
};
