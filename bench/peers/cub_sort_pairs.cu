/* SPDX-License-Identifier: MIT */
#include "cub_peer.h"

#include <cub/device/device_radix_sort.cuh>

namespace
{
template <class Key, class Value> int pairs(struct bench *b, const struct bench_args *a)
{
    return cub_run(b, a, [=](void *temp, size_t &bytes, int n, cudaStream_t stream) {
        return cub::DeviceRadixSort::SortPairs(
            temp, bytes, static_cast<const Key *>(a->in), static_cast<Key *>(a->out),
            static_cast<const Value *>(a->values), static_cast<Value *>(a->out_values), n, 0,
            static_cast<int>(sizeof(Key)) * 8, stream);
    });
}

// A case of the suite distributions with values.
template <class Key> int pairs_only(struct bench *b, const struct bench_args *a)
{
    return a->values ? pairs<Key, uint32_t>(b, a) : int(BENCH_SKIP);
}
} // namespace

// An argsort is a sort of pairs with the positions, which are there already.
extern "C" const struct bench_peer bench_cub_pairs_peers[] = {
    {cub_version.text, "sort", "argsort", GP_U32, nullptr, pairs<uint32_t, uint32_t>, false},
    {cub_version.text, "sort", "pairs_u32", GP_U32, nullptr, pairs<uint32_t, uint32_t>, false},
    {cub_version.text, "sort", "pairs_20_bits", GP_U32, nullptr, pairs<uint32_t, uint32_t>, false},
    {cub_version.text, "sort", "pairs_u64", GP_U32, nullptr, pairs<uint32_t, uint64_t>, false},
    {cub_version.text, "sort", "pairs_u32", GP_U64, nullptr, pairs<uint64_t, uint32_t>, false},
    {cub_version.text, "distributions", nullptr, GP_U32, nullptr, pairs_only<uint32_t>, false},
    {cub_version.text, "distributions", nullptr, GP_F32, nullptr, pairs_only<float>, false},
    {nullptr, nullptr, nullptr, gp_dtype(0), nullptr, nullptr, false},
};
