/* SPDX-License-Identifier: MIT */
/*
 * Launches of a sort: compiled with GPI_KEY_BITS=8|16|32|64 and GPI_VALUE_BYTES=0|4|8. A unit is
 * what the first sort of a process has to load.
 */
#include <algorithm>

#include <cuda_runtime.h>

#include "radixsort/radixsort_counting.cuh"
#include "radixsort/radixsort_launch.cuh"
#include "radixsort/radixsort_bucket_k.cuh"
#include "radixsort/radixsort_scratch.cuh"

#define ENGINE GPI_LAUNCHER(GPI_PASTE(GPI_PASTE(KEYS, v), GPI_VALUE_BYTES))

namespace GPI_SPACE
{
namespace
{

static size_t bytes(uint64_t n, size_t value_bytes)
{
    return scratch_of(nullptr, n, value_bytes).bytes;
}

template <int VB>
RadixJob<Key, typename Payload<VB>::type> job_of(const gpi_radix_engine_args *args)
{
    using V = typename Payload<VB>::type;
    const Scratch s = scratch_of((char *)args->scratch, args->n, VB);
    RadixJob<Key, V> job = {};
    for (int i = 0; i < 3; i++) {
        job.keys[i] = (Key *)args->keys[i];
        job.values[i] = (V *)args->values[i];
    }
    job.n = args->n;
    job.device_n = args->device_n;
    job.order = KeyOrder<Key>::of(args->order, args->exact);
    job.begin = args->begin_bit;
    job.end = args->end_bit;
    job.in_place = args->keys[gpi_radix_in] == args->keys[gpi_radix_out] ||
                   (VB && args->values[gpi_radix_in] == args->values[gpi_radix_out]);
    job.keys_wanted = args->keys_wanted;
    job.plan = s.plan;
    job.starts = s.starts;
    job.buckets = s.buckets;
    job.recount = s.recount;
    job.cursors = s.cursors;
    job.states[0] = s.states[0];
    job.states[1] = s.states[1];
    job.adaptive = s.adaptive;
    job.map = s.map;
    return job;
}

template <bool FLOAT, int VB> struct Shapes {
    static constexpr RadixBucketShape bucket = radix_bucket_shape(sizeof(Key), VB);
    static constexpr int bucket_max = bucket.threads * bucket.items;
    using Merge = BucketMerge<Key, FLOAT, VB, bucket.threads, bucket.items>;
    using Narrow = BucketBins<Key, FLOAT, VB, bucket.threads, bucket.items>;
    using Wide = BucketBins<Key, FLOAT, VB, bucket.threads, radix_tuning.wide_items, uint64_t>;
    static constexpr bool has_wide = VB && sizeof(Key) == 4;
    static constexpr int bucket_shared =
        std::max({sizeof(typename Merge::Shared), sizeof(typename Narrow::Shared),
                  has_wide ? sizeof(typename Wide::Shared) : 0});
    static constexpr int small = radix_tile_items(sizeof(Key), VB, true);
    static_assert(bucket_shared <= radix_tuning.shared_bytes, "a bucket must fit");
};

template <bool FLOAT, int VB>
gp_status add_local(gp_context *ctx, const char *function,
                    const RadixJob<Key, typename Payload<VB>::type> &job, LaunchList &list)
{
    using Shape = Shapes<FLOAT, VB>;
    constexpr RadixBucketShape b = Shape::bucket;
    static uint64_t allowed;
    auto kernel = radix_bucket_k<Key, FLOAT, VB, b.threads, b.items, b.blocks>;
    GPI_TRY(shared_memory_allow(ctx, function, kernel, Shape::bucket_shared, &allowed));
    const unsigned buckets = job.adaptive_allowed ? job.entries : 1u << job.bucket_bits;
    const unsigned full = (unsigned)ctx->sm_count * b.blocks;
    const bool loop = radix_buckets_loop<sizeof(Key), VB> && buckets > full;
    const bool early = is_small(job.n) || job.device_n; /* where little may be done */
    list.add(launch_dependent(kernel, early, loop ? full : buckets, b.threads, Shape::bucket_shared,
                              job));
    return GP_OK;
}

/* Keys alone that are counted instead of moved; a table of 2^16 counts has to be worth it. */
constexpr uint64_t counted_from = sizeof(Key) == 1   ? 1
                                  : sizeof(Key) == 2 ? radix_tuning.counted_items
                                                     : UINT64_MAX;

/* Up to here one block counts keys of 8 bits: more that are no bucket take as long by all of them.
 * H100, 2026-11-26: sort-48 in docs/tuning. */
constexpr uint64_t counted_alone = sizeof(Key) == 1 ? 1 << 16 : 0;

template <bool FLOAT, class K>
gp_status add_counting(gp_context *ctx, const char *function, const RadixKeys<K> &job,
                       LaunchList &list)
{
    using Count = Counting<K>;
    static uint64_t allowed;
    const uint32_t sms = (uint32_t)ctx->sm_count;
    const uint32_t blocks = sms * Count::blocks_per_sm;
    const uint32_t grid =
        blocks < Count::parts ? Count::parts : blocks / Count::parts * Count::parts;
    auto count = radix_count_values_k<K, FLOAT>;
    GPI_TRY(shared_memory_allow(ctx, function, count, Count::shared_bytes, &allowed));
    list.add(launch_of(count, grid, Count::threads, Count::shared_bytes, job));
    list.add(launch_of(radix_starts_k<K>, 1, 1024, 0, job));
    list.add(launch_of(radix_write_values_k<K, FLOAT>, sms * 8, 256, 0, job));
    return GP_OK;
}

static void set_bucket_bits(RadixKeys<Key> &job, uint64_t bucket_max, size_t value_bytes)
{
    constexpr int word_bits = sizeof(Key) == 8 ? 64 : 32;
    job.bucket_bits = bucket_bits_of(job.n, bucket_max, value_bytes);
    job.bits_if_narrow = bits_if_narrow_of(job.n, bucket_max);
    job.narrow_limit = word_bits - position_bits_of(job.n, job.bits_if_narrow);
}

/* The kernels of a sort that takes more than one block. */
template <bool FLOAT, int VB>
gp_status add_passes(gp_context *ctx, const char *function,
                     const RadixJob<Key, typename Payload<VB>::type> &job, LaunchList &list)
{
    if (is_small(job.n)) /* the kernel of floats: what it does more does not show there */
        GPI_TRY((add_partition<has_floats, VB, Shapes<FLOAT, VB>::small, radix_has_buckets<Key>>(
            ctx, function, job, list)));
    else
        GPI_TRY((add_large_sort<Key, VB>(ctx, function, FLOAT, job, list)));
    return job.bucket_bits || job.one_bucket_max ? add_local<FLOAT, VB>(ctx, function, job, list)
                                                 : GP_OK;
}

template <bool FLOAT, int VB>
gp_status sort_as(gp_context *ctx, const char *function, const gpi_radix_engine_args *args)
{
    using Shape = Shapes<FLOAT, VB>;
    RadixJob<Key, typename Payload<VB>::type> job = job_of<VB>(args);
    LaunchList list;
    const bool buckets = VB > 0 || args->exact; /* the first pass of keys alone is not stable */
    const bool one = args->n <= Shape::bucket_max;
    job.one_bucket_max = buckets && (one || args->device_n) ? Shape::bucket_max : 0;
    if (buckets && one) {
        GPI_TRY((add_local<FLOAT, VB>(ctx, function, job, list)));
        return list.queue(ctx, function);
    }
    if (radix_has_buckets<Key> && buckets && job.end - job.begin > 8)
        set_bucket_bits(job, Shape::bucket_max, VB);
    if constexpr (VB == 0 && counted_alone > 0)
        if (args->exact && args->n <= counted_alone) {
            constexpr int T = 1024;
            const RadixKeys<Key> &keys = job;
            list.add(launch_of(radix_count_alone_k<Key, T>, 1, T, 0, keys));
            return list.queue(ctx, function);
        }
    job.bucket_max = Shape::bucket_max;
    job.splits_allowed =
        job.bucket_bits && is_small(args->n) &&
        args->n >> job.bucket_bits <= radix_split_mean(sizeof(Key), VB, Shape::bucket_max);
    job.adaptive_allowed = job.bucket_bits && may_be_adaptive(args->n, VB);
    job.cells_even = VB ? radix_tuning.cells_even : radix_tuning.cells_even_keys;
    job.repeats_max = VB ? radix_tuning.repeats_max : radix_tuning.repeats_max_keys;
    job.entries = blocks_of(job.n, job.bucket_bits, VB);
    list.add(launch_zeros(args->scratch, scratch_of(nullptr, args->n, VB).zeroed));
    if constexpr (VB == 0 && sizeof(Key) <= 2)
        if (args->exact && args->n >= counted_from) {
            if (sizeof(Key) == 1) /* few are counted as fast */
                job.one_bucket_max = 0;
            GPI_TRY((add_counting<FLOAT, Key>(ctx, function, job, list)));
            if (job.one_bucket_max)
                GPI_TRY((add_local<FLOAT, VB>(ctx, function, job, list)));
            return list.queue(ctx, function);
        }
    GPI_TRY((add_passes<FLOAT, VB>(ctx, function, job, list)));
    return list.queue(ctx, function);
}

template <int VB>
gp_status sort_with(gp_context *ctx, const char *function, const gpi_radix_engine_args *args)
{
    if constexpr (has_integers<VB>)
        if (!has_floats || !args->order.inf)
            return sort_as<false, VB>(ctx, function, args);
    return sort_as<has_floats, VB>(ctx, function, args);
}

static gp_status sort(gp_context *ctx, const char *function, const gpi_radix_engine_args *args)
{
    return sort_with<GPI_VALUE_BYTES>(ctx, function, args);
}

#ifdef GPI_FAULT
void add_faults(uint64_t counts[2])
{
    add_unit_faults(counts);
    add_large_faults<Key, GPI_VALUE_BYTES>(counts);
}
#endif

} // namespace
} // namespace GPI_SPACE

extern "C" {
extern const gpi_radix_engine ENGINE;
#ifdef GPI_FAULT
const gpi_radix_engine ENGINE = {GPI_SPACE::sort, GPI_SPACE::bytes, GPI_SPACE::counted_from,
                                 GPI_SPACE::add_faults};
#else
const gpi_radix_engine ENGINE = {GPI_SPACE::sort, GPI_SPACE::bytes, GPI_SPACE::counted_from};
#endif
}
