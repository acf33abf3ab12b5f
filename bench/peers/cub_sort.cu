/* SPDX-License-Identifier: MIT */
#include "cub_peer.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

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

template <class Key, class Value> int pairs(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceRadixSort::SortPairs(
            temp, bytes, static_cast<const Key *>(a->in), static_cast<Key *>(a->out),
            static_cast<const Value *>(a->values), static_cast<Value *>(a->out_values), n, 0,
            static_cast<int>(sizeof(Key)) * 8, stream);
    });
}

// The suite distributions has cases with values and without; of other sizes beside unsigned keys.
template <class Key> int either(struct bench *b, const struct bench_args *a)
{
    if constexpr (std::is_unsigned_v<Key>) {
        if (a->values && a->value_bytes == 1)
            return pairs<Key, uint8_t>(b, a);
        if (a->values && a->value_bytes == 2)
            return pairs<Key, uint16_t>(b, a);
        if (a->values && a->value_bytes == 3)
            return pairs<Key, uchar3>(b, a);
        if (a->values && a->value_bytes == 8)
            return pairs<Key, uint64_t>(b, a);
        if (a->values && a->value_bytes == 16)
            return pairs<Key, uint4>(b, a);
    }
    return a->values ? pairs<Key, uint32_t>(b, a) : keys<Key>(b, a);
}

int segments(struct bench *b, const struct bench_args *a)
{
    const uint32_t *offsets = static_cast<const uint32_t *>(a->offsets);
    if (a->num_rows > INT_MAX)
        return BENCH_SKIP;
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceSegmentedSort::SortKeys(
            temp, bytes, static_cast<const uint32_t *>(a->in), static_cast<uint32_t *>(a->out), n,
            static_cast<int>(a->num_rows), offsets, offsets + 1, stream);
    });
}
} // namespace

// An argsort is a sort of pairs with the positions, which are there already.
extern "C" const struct bench_peer bench_cub_sort_peers[] = {
    {cub_version.text, "sort", "keys", GP_U8, nullptr, keys<uint8_t>, false},
    {cub_version.text, "sort", "keys", GP_U16, nullptr, keys<uint16_t>, false},
    {cub_version.text, "sort", "keys", GP_U32, nullptr, keys<uint32_t>, false},
    {cub_version.text, "sort", "keys", GP_U64, nullptr, keys<uint64_t>, false},
    {cub_version.text, "sort", "keys", GP_F32, nullptr, keys<float>, false},
    {cub_version.text, "sort", "argsort", GP_U32, nullptr, pairs<uint32_t, uint32_t>, false},
    {cub_version.text, "sort", "pairs_u32", GP_U32, nullptr, pairs<uint32_t, uint32_t>, false},
    {cub_version.text, "sort", "pairs_20_bits", GP_U32, nullptr, pairs<uint32_t, uint32_t>, false},
    {cub_version.text, "sort", "pairs_u64", GP_U32, nullptr, pairs<uint32_t, uint64_t>, false},
    {cub_version.text, "sort", "pairs_u32", GP_U64, nullptr, pairs<uint64_t, uint32_t>, false},
    {cub_version.text, "segsort", nullptr, GP_U32, nullptr, segments, false},
    {cub_version.text, "distributions", nullptr, GP_U32, nullptr, either<uint32_t>, false},
    {cub_version.text, "distributions", nullptr, GP_I32, nullptr, either<int32_t>, false},
    {cub_version.text, "distributions", nullptr, GP_F32, nullptr, either<float>, false},
    {cub_version.text, "distributions", nullptr, GP_U64, nullptr, either<uint64_t>, false},
    {cub_version.text, "distributions", nullptr, GP_I64, nullptr, either<int64_t>, false},
    {cub_version.text, "distributions", nullptr, GP_F64, nullptr, either<double>, false},
    {nullptr, nullptr, nullptr, gp_dtype(0), nullptr, nullptr, false},
};
