/* SPDX-License-Identifier: MIT */
/*
 * What the two units of a kind of sort share. A unit is what the first sort of a process has to
 * load, so the kernels that only large sorts need have one of their own.
 */
#pragma once

#include "device/host.cuh"
#include "radixsort/radixsort_partition_k.cuh"
#include "tuning/radixsort_tuning.cuh"

#if GPI_KEY_BITS == 8
#define KEYS gpi_radix_k1
typedef uint8_t Key;
#elif GPI_KEY_BITS == 16
#define KEYS gpi_radix_k2
typedef uint16_t Key;
#elif GPI_KEY_BITS == 32
#define KEYS gpi_radix_k4
typedef uint32_t Key;
#else
#define KEYS gpi_radix_k8
typedef uint64_t Key;
#endif

namespace GPI_SPACE
{

/* Rare cases share the kernels of floats: see KeyOrder. */
template <int VB> constexpr bool either = sizeof(Key) == 2 || VB == 8 || (sizeof(Key) == 8 && VB);
template <int VB> constexpr bool has_integers = sizeof(Key) == 1 || !either<VB>;
constexpr bool has_floats = sizeof(Key) > 1;

/* The kernels of the second unit for a sort that is not small: its partitions, floats: as floats;
 * and what follows them where buckets do not fit. */
template <class K, int VB>
gp_status add_large_partition(gp_context *ctx, const char *function, bool floats,
                              const RadixJob<K, typename Payload<VB>::type> &job, LaunchList &list);
template <class K, int VB>
gp_status add_large_rest(gp_context *ctx, const char *function,
                         const RadixJob<K, typename Payload<VB>::type> &job, LaunchList &list);
#ifdef GPI_FAULT
template <class K, int VB> void add_large_faults(uint64_t counts[2]);
#endif

namespace
{

constexpr bool is_small(uint64_t n)
{
    return n < radix_tuning.small_items;
}

static_assert(radix_tuning.small_items >> radix_bits <= radix_tuning.bucket_items,
              "one digit is the number of the bucket");

/* Blocks of a partition kernel. */
static unsigned partition_blocks(const gp_context *ctx, uint64_t n)
{
    const uint64_t most = n / radix_tuning.block_items + 1, sms = (uint64_t)ctx->sm_count;
    return (unsigned)(most < sms ? most : sms);
}

template <bool FLOAT, int VB, int I, bool LARGE>
gp_status add_partition(gp_context *ctx, const char *function,
                        const RadixJob<Key, typename Payload<VB>::type> &job, LaunchList &list)
{
    constexpr int T = radix_tuning.tile_threads;
    constexpr int tile = PartitionKernel<Key, FLOAT, VB, T, I, LARGE>::shared_bytes;
    constexpr int counts = DigitCounts<Key>::shared_bytes;
    constexpr int buckets = (1 << radix_tuning.bucket_bits) * sizeof(uint32_t);
    constexpr int table = counts > buckets ? counts : buckets;
    constexpr bool splits = radix_has_splits<Key, VB, LARGE>;
    constexpr int most = splits ? radix_tuning.shared_bytes - 1024 : tile > table ? tile : table;
    static_assert(tile + 64 <= radix_tuning.shared_bytes, "a tile must fit beside a number");
    static uint64_t allowed;
    auto kernel = radix_partition_k<Key, FLOAT, VB, T, I, LARGE>;
    GPI_TRY(shared_memory_allow(ctx, function, kernel, most, &allowed));
    const unsigned blocks = partition_blocks(ctx, job.n);
    int shared = tile > table ? tile : table;
    if constexpr (splits)
        if (job.split_bits)
            shared =
                std::max(shared, (int)SplitArray<Key, VB, T>::bytes(job.n, blocks, job.split_bits));
    list.add(launch_cooperative(kernel, blocks, T, shared, job));
    return GP_OK;
}

#ifdef GPI_FAULT
/* Those of this unit. */
static void add_unit_faults(uint64_t counts[2])
{
    unsigned long long here[2] = {};
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(here, radix_faults, sizeof here);
    counts[fault_made] += here[fault_made];
    counts[fault_repaired] += here[fault_repaired];
}
#endif

} // namespace
} // namespace GPI_SPACE
