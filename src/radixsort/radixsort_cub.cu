/* SPDX-License-Identifier: MIT */
/* Sorts of unsigned words through CUB: compiled with GPI_KEY_BITS=8|16|32|64. */
#include <cuda_runtime.h>

#include <cub/device/device_radix_sort.cuh>

#include "device/space.cuh"
#include "radixsort/radixsort_internal.h"

#if GPI_KEY_BITS == 8
#define SORT GPI_LAUNCHER(gpi_radixsort_k1_cub)
typedef uint8_t Word;
#elif GPI_KEY_BITS == 16
#define SORT GPI_LAUNCHER(gpi_radixsort_k2_cub)
typedef uint16_t Word;
#elif GPI_KEY_BITS == 32
#define SORT GPI_LAUNCHER(gpi_radixsort_k4_cub)
typedef uint32_t Word;
#else
#define SORT GPI_LAUNCHER(gpi_radixsort_k8_cub)
typedef uint64_t Word;
#endif

namespace
{

/*
 * CUB's kernels differ by the type of the count. On an H200 at 2^28, 32 bits are 1.15 times as fast
 * as 64 for values of 4 bytes, 0.86 times for u32 keys alone, and else equal within 3% but for
 * keys of 1 byte, where gp has its own way.
 */
template <class Count> cudaError_t sort_keys(gpi_radix_cub_args *a)
{
    return cub::DeviceRadixSort::SortKeys(
        a->temporary, a->bytes, static_cast<const Word *>(a->keys_in),
        static_cast<Word *>(a->keys_out), (Count)a->n, a->begin_bit, a->end_bit, a->stream);
}

template <class Value, class Count> cudaError_t sort_pairs(gpi_radix_cub_args *a)
{
    return cub::DeviceRadixSort::SortPairs(
        a->temporary, a->bytes, static_cast<const Word *>(a->keys_in),
        static_cast<Word *>(a->keys_out), static_cast<const Value *>(a->values_in),
        static_cast<Value *>(a->values_out), (Count)a->n, a->begin_bit, a->end_bit, a->stream);
}

} // namespace

extern "C" int SORT(gpi_radix_cub_args *a)
{
    if (a->value_bytes == 4) /* n is below 2^32 */
        return sort_pairs<uint32_t, uint32_t>(a);
    if (a->value_bytes == 8)
        return sort_pairs<uint64_t, uint64_t>(a);
    return sort_keys<uint64_t>(a);
}
