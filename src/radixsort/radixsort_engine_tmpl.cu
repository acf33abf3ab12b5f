/* SPDX-License-Identifier: MIT */
/*
 * Launches of a sort: compiled with GPI_KEY_BITS=8|16|32|64 and GPI_VALUE_BYTES=0|4|8, those of 32
 * and 64 bits once more with GPI_LARGE_SORT for what only large sorts need. A unit is what the
 * first sort of a process has to load.
 */
#include <algorithm>

#include <cuda_runtime.h>

#include "radixsort/radixsort_launch.cuh"
#ifdef GPI_LARGE_SORT
#include "radixsort/radixsort_adaptive_k.cuh"
#include "radixsort/radixsort_bucket_global.cuh"
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
gp_status add_large_partition(gp_context *ctx, const char *function, bool floats,
                              const RadixJob<K, typename Payload<VB>::type> &job, LaunchList &list)
{
    constexpr int items = radix_tile_items(sizeof(Key), VB, false);
    if constexpr (has_integers<VB>)
        if (!floats)
            return add_partition<false, VB, items, true>(ctx, function, job, list);
    return add_partition<has_floats, VB, items, true>(ctx, function, job, list);
}

template <class K, int VB>
gp_status add_large_rest(gp_context *ctx, const char *function,
                         const RadixJob<K, typename Payload<VB>::type> &job, LaunchList &list)
{
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
add_large_partition<Key, GPI_VALUE_BYTES>(gp_context *, const char *, bool,
                                          const RadixJob<Key, Payload<GPI_VALUE_BYTES>::type> &,
                                          LaunchList &);
template gp_status
add_large_rest<Key, GPI_VALUE_BYTES>(gp_context *, const char *,
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

#else
#include "radixsort/radixsort_bucket_k.cuh"
#include "radixsort/radixsort_counting.cuh"

extern "C" {
#include "radixsort/radixsort_internal.h"
}

#if GPI_KEY_BITS == 8
#define KEYS gpi_radix_k1
#elif GPI_KEY_BITS == 16
#define KEYS gpi_radix_k2
#elif GPI_KEY_BITS == 32
#define KEYS gpi_radix_k4
#else
#define KEYS gpi_radix_k8
#endif
#define ENGINE GPI_LAUNCHER(GPI_PASTE(GPI_PASTE(KEYS, v), GPI_VALUE_BYTES))

namespace GPI_SPACE
{
namespace
{

static size_t bytes(uint64_t n)
{
    return scratch_of(nullptr, n, GPI_VALUE_BYTES).bytes;
}

template <int VB>
RadixJob<Key, typename Payload<VB>::type> job_of(const gpi_radix_engine_args *args)
{
    using V = typename Payload<VB>::type;
    const Scratch s = scratch_of((char *)args->scratch, args->n, VB);
    RadixJob<Key, V> job = {};
    for (int i = 0; i < 3; i++) {
        job.keys[i] = (Key *)args->keys[i];
        job.values[i] = args->values[i];
    }
    job.value_bytes = (uint32_t)args->value_bytes;
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
    using Narrow = BucketBins<Key, FLOAT, VB, bucket.threads, bucket.items>;
    using Wide = BucketBins<Key, FLOAT, VB, bucket.threads, radix_tuning.wide_items, uint64_t>;
    static constexpr bool has_wide = VB && sizeof(Key) == 4;
    static constexpr int bucket_shared =
        std::max(sizeof(typename Narrow::Shared), has_wide ? sizeof(typename Wide::Shared) : 0);
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
    const unsigned full = (unsigned)ctx->sm_count * b.blocks;
    const bool loop = radix_buckets_loop<sizeof(Key), VB> && job.entries > full;
    const bool early = is_small(job.n) || job.device_n; /* where little may be done */
    list.add(launch_dependent(kernel, early, loop ? full : job.entries, b.threads,
                              Shape::bucket_shared, job));
    return GP_OK;
}

/* Keys alone that are counted instead of moved; a table of 2^16 counts has to be worth it. */
constexpr uint64_t counted_from = sizeof(Key) == 1   ? 1
                                  : sizeof(Key) == 2 ? radix_tuning.counted_items
                                                     : UINT64_MAX;

/* Up to here one block counts keys of 8 bits: more that are no bucket take as long by all of them.
 * H100, 2026-11-26: sort-48 in docs/tuning. */
constexpr uint64_t counted_alone = sizeof(Key) == 1 ? 1 << 16 : 0;
template <class K> gpi_launch counting_alone(const RadixKeys<K> &job)
{
    constexpr int T = 1024;
    return launch_of(radix_count_alone_k<K, T>, 1, T, 0, job);
}

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

/* What sorts buckets; or, where there are none, what is few enough in memory. */
template <bool FLOAT, int VB>
gp_status add_rest(gp_context *ctx, const char *function,
                   RadixJob<Key, typename Payload<VB>::type> &job, LaunchList &list)
{
    if constexpr (radix_has_buckets<Key>)
        return !job.by_values && (job.bucket_bits || job.one_bucket_max)
                   ? add_local<FLOAT, VB>(ctx, function, job, list)
                   : GP_OK;
    else
        return job.one_bucket_max ? add_pieces<VB>(ctx, function, job, list) : GP_OK;
}

/* What a visitor has to do with the buckets. */
template <class K, class V>
gp_status visit_buckets(gp_context *ctx, const char *function, gpi_radix_visitor *visitor,
                        const RadixJob<K, V> &job, LaunchList &list)
{
    const RadixKeys<K> &keys = job;
    const gpi_radix_buckets buckets = {&keys, job.values};
    return visitor->visit(ctx, function, visitor, &buckets, list.launches, &list.count);
}

template <int LAUNCHES> gp_status make_room(gp_context *ctx, const char *function, LaunchList &list)
{
    if (list.count + LAUNCHES > GPI_LAUNCHES_MAX) {
        GPI_TRY(list.queue(ctx, function));
        list.count = 0;
    }
    return GP_OK;
}

/* Up to what buckets that do not fit need; again: for the partitions if the visitor leaves them. */
template <bool FLOAT, int VB, class Job>
gp_status add_large_sort(gp_context *ctx, const char *function, gpi_radix_visitor *visitor,
                         Job &job, Job &again, LaunchList &list)
{
    const bool visited = VB > 0 && visitor && job.bucket_bits;
    again = job;
    job.for_visitor = again.again = visited && visitor->few_keys;
    GPI_TRY((add_large_partition<Key, VB>(ctx, function, FLOAT, job, list)));
    if (visited)
        GPI_TRY(visit_buckets(ctx, function, visitor, job, list));
    GPI_TRY(make_room<1>(ctx, function, list));
    if (again.again)
        GPI_TRY((add_large_partition<Key, VB>(ctx, function, FLOAT, again, list)));
    GPI_TRY(make_room<3>(ctx, function, list)); /* the rest, and the buckets' kernel */
    return add_large_rest<Key, VB>(ctx, function, job, list);
}

/* The kernels of a sort that takes more than one block. */
template <bool FLOAT, int VB, class Job>
gp_status add_passes(gp_context *ctx, const char *function, gpi_radix_visitor *visitor, Job &job,
                     Job &again, LaunchList &list)
{
    constexpr bool buckets = radix_has_buckets<Key>;
    constexpr int few = radix_tile_items(sizeof(Key), VB, true);
    if (is_small(job.n)) /* the kernel of floats: what it does more does not show there */
        GPI_TRY((add_partition<has_floats, VB, few, false>(ctx, function, job, list)));
    else if constexpr (buckets)
        GPI_TRY((add_large_sort<FLOAT, VB>(ctx, function, visitor, job, again, list)));
    else
        GPI_TRY((add_partition<has_floats, VB, radix_tile_items(sizeof(Key), VB, false), false>(
            ctx, function, job, list)));
    return add_rest<FLOAT, VB>(ctx, function, job, list);
}

/* Of more items than buckets hold: keys of 4 bytes alone in buckets that are counted by values,
 * keys of 8 bytes by levels. */
template <int VB> void set_more_buckets(RadixKeys<Key> &job)
{
    const bool levels = radix_by_splitters<Key> && may_be_adaptive(job.n, VB);
    job.by_values = !job.device_n && may_be_by_values(job.n, VB);
    if (job.by_values)
        job.bucket_max = (uint32_t)(job.n / radix_tuning.values_share);
    if (job.by_values || (levels && !job.bucket_bits && job.n <= buckets_items_max))
        job.bucket_bits = job.bits_if_narrow = bucket_bits_max;
}

/* Of keys of 4 and 8 bytes: buckets, and what is one. The first pass into buckets of keys alone is
 * not stable. */
template <bool FLOAT, int VB>
void set_buckets(const gp_context *ctx, const gpi_radix_engine_args *args, RadixKeys<Key> &job)
{
    constexpr uint64_t most = Shapes<FLOAT, VB>::bucket_max;
    constexpr int word_bits = sizeof(Key) == 8 ? 64 : 32;
    const bool buckets = VB > 0 || args->exact;
    job.one_bucket_max = buckets && (job.n <= most || job.device_n) ? (uint32_t)most : 0;
    job.bucket_max = (uint32_t)most;
    if (buckets && job.end - job.begin > 8) {
        job.bucket_bits = bucket_bits_of(job.n, most, VB);
        job.bits_if_narrow = bits_if_narrow_of(job.n, most);
        job.narrow_limit = word_bits - position_bits_of(job.n, job.bits_if_narrow);
        set_more_buckets<VB>(job);
    }
    /* Words that repeat go as fast by passes beside values, until cells or a map would follow. */
    const bool splits = is_small(job.n) || (radix_has_splits<Key, VB, true> &&
                                            (!VB || job.n >= radix_tuning.adaptive_items));
    job.split_bits = job.bucket_bits && splits ? split_bits_of<VB>(ctx, job) : 0;
    const bool cells_fit = radix_by_splitters<Key> || job.bucket_bits <= radix_tuning.bucket_bits;
    job.adaptive_allowed =
        job.bucket_bits && !job.split_bits && cells_fit && may_be_adaptive(job.n, VB);
    job.cells_even = job.by_values ? radix_tuning.values_share - 2 /* of two buckets */
                     : VB          ? radix_tuning.cells_even
                                   : radix_tuning.cells_even_keys;
    job.repeats_max = VB ? radix_tuning.repeats_max : radix_tuning.repeats_max_keys;
    job.entries = job.adaptive_allowed ? blocks_of(job.n, job.bucket_bits, VB)
                                       : 1u << std::max(job.bucket_bits, job.split_bits);
}

template <bool FLOAT, int VB>
gp_status sort_as(gp_context *ctx, const char *function, const gpi_radix_engine_args *args,
                  RadixJob<Key, typename Payload<VB>::type> &job)
{
    LaunchList list;
    RadixJob<Key, typename Payload<VB>::type> again;
    if constexpr (radix_has_buckets<Key>) {
        set_buckets<FLOAT, VB>(ctx, args, job);
        if (job.n <= job.one_bucket_max) {
            job.bucket_bits = 0;
            job.entries = 1;
            GPI_TRY((add_local<FLOAT, VB>(ctx, function, job, list)));
            return list.queue(ctx, function);
        }
    } else if (!job.device_n) {
        job.one_bucket_max = 0;
    }
    list.add(launch_zeros(args->scratch, scratch_of(nullptr, job.n, VB).zeroed));
    if constexpr (VB == 0 && sizeof(Key) <= 2)
        if (args->exact && job.n >= counted_from) {
            GPI_TRY((add_counting<FLOAT, Key>(ctx, function, job, list)));
            return list.queue(ctx, function);
        }
    GPI_TRY((add_passes<FLOAT, VB>(ctx, function, args->visitor, job, again, list)));
    return list.queue(ctx, function);
}

template <int VB>
gp_status sort_with(gp_context *ctx, const char *function, const gpi_radix_engine_args *args)
{
    RadixJob<Key, typename Payload<VB>::type> job = job_of<VB>(args);
    const uint32_t few = job.keys[gpi_radix_tmp] ? items_by_pieces<VB>(ctx, job.n) : 0;
    const bool ranked = sorts_by_ranks(ctx, job);
    LaunchList list;
    if constexpr (VB == 0 && counted_alone > 0)
        if (args->exact && job.n <= counted_alone) {
            list.add(counting_alone<Key>(job));
            return list.queue(ctx, function);
        }
    job.one_bucket_max = few;
    if (ranked || few == job.n) {
        GPI_TRY(ranked ? add_ranks<VB>(ctx, function, job, list)
                       : add_pieces<VB>(ctx, function, job, list));
        return list.queue(ctx, function);
    }
    if constexpr (has_integers<VB>)
        if (!has_floats || !args->order.inf)
            return sort_as<false, VB>(ctx, function, args, job);
    return sort_as<has_floats, VB>(ctx, function, args, job);
}

static gp_status sort(gp_context *ctx, const char *function, const gpi_radix_engine_args *args)
{
    return sort_with<GPI_VALUE_BYTES>(ctx, function, args);
}

#ifdef GPI_FAULT
void add_faults(uint64_t counts[2])
{
    add_unit_faults(counts);
    if constexpr (radix_has_buckets<Key>)
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
#endif
