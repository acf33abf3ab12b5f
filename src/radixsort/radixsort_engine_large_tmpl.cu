/* SPDX-License-Identifier: MIT */
/* Launches of what only large sorts need: compiled as radixsort_engine_tmpl.cu is. */
#include <cuda_runtime.h>

#include "radixsort/radixsort_launch.cuh"
#include "radixsort/radixsort_bucket_global.cuh"
#include "radixsort/radixsort_adaptive_k.cuh"
#include "radixsort/radixsort_levels_k.cuh"
#include "radixsort/radixsort_values_k.cuh"

namespace GPI_SPACE
{
namespace
{

template <int VB>
gp_status add_adaptive(gp_context *ctx, const char *function,
                       const RadixJob<Key, typename Payload<VB>::type> &job, LaunchList &list)
{
    constexpr int T = radix_tuning.tile_threads, I = radix_adaptive_items_of(sizeof(Key), VB);
    using Work = std::conditional_t<radix_by_splitters<Key>, LevelsKernel<Key, true, VB, T, I>,
                                    AdaptiveKernel<Key, true, VB, T, I>>;
    static_assert(Work::shared_bytes + 1024 <= radix_tuning.shared_bytes, "a tile must fit");
    static uint64_t allowed;
    auto kernel = [] {
        if constexpr (radix_by_splitters<Key>)
            return radix_levels_k<Key, true, VB, T, I>;
        else
            return radix_adaptive_k<Key, true, VB, T, I>;
    }();
    GPI_TRY(shared_memory_allow(ctx, function, kernel, Work::shared_bytes, &allowed));
    list.add(launch_cooperative(kernel, (unsigned)ctx->sm_count, T, Work::shared_bytes, job));
    return GP_OK;
}

template <int VB>
void add_large(const gp_context *ctx, const RadixJob<Key, typename Payload<VB>::type> &job,
               LaunchList &list)
{
    constexpr int T = radix_tuning.tile_threads, blocks_per_sm = 2;
    list.add(launch_dependent(radix_bucket_global_k<Key, true, VB, T>, job.device_n != nullptr,
                              blocks_per_sm * (unsigned)ctx->sm_count, T, 0, job));
}

/* What sorts the buckets of job.by_values. */
template <class K>
gp_status add_values(gp_context *ctx, const char *function, const RadixKeys<K> &job,
                     LaunchList &list)
{
    constexpr int T = 512, blocks_per_sm = 3;
    constexpr int shared = sizeof(typename ValueBucket<K, T>::Shared);
    static uint64_t allowed;
    auto kernel = radix_values_k<K, T>;
    GPI_TRY(shared_memory_allow(ctx, function, kernel, shared, &allowed));
    list.add(launch_of(kernel, blocks_per_sm * (unsigned)ctx->sm_count, T, shared, job));
    return GP_OK;
}

} // namespace

template <class K, int VB>
gp_status add_large_sort(gp_context *ctx, const char *function, bool floats,
                         const RadixJob<K, typename Payload<VB>::type> &job, LaunchList &list)
{
    constexpr int items = radix_tile_items(sizeof(Key), VB, false);
    if constexpr (has_integers<VB>)
        if (!floats)
            GPI_TRY((add_partition<false, VB, items, false>(ctx, function, job, list)));
    if constexpr (has_floats)
        if (floats)
            GPI_TRY((add_partition<true, VB, items, false>(ctx, function, job, list)));
    if constexpr (sizeof(Key) == 4 && VB == 0)
        if (job.by_values)
            return add_values<Key>(ctx, function, job, list);
    if constexpr (radix_has_adaptive<Key>(VB))
        if (job.adaptive_allowed) {
            GPI_TRY(add_adaptive<VB>(ctx, function, job, list));
            add_large<VB>(ctx, job, list);
        }
    return GP_OK;
}

template gp_status
add_large_sort<Key, GPI_VALUE_BYTES>(gp_context *, const char *, bool,
                                     const RadixJob<Key, Payload<GPI_VALUE_BYTES>::type> &,
                                     LaunchList &);

#ifdef GPI_FAULT
template <class K, int VB> void add_large_faults(uint64_t counts[2])
{
    add_unit_faults(counts);
}

template void add_large_faults<Key, GPI_VALUE_BYTES>(uint64_t[2]);
#endif

} // namespace GPI_SPACE
