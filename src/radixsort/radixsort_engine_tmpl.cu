/* SPDX-License-Identifier: MIT */
/*
 * The engine of a sort on CUDA: chooses and launches its kernels. Compiled with
 * GPI_KEY_BITS=8|16|32|64 and GPI_VALUE_BYTES=0|4|8; for 32 and 64 bits once more with
 * GPI_LARGE_SORT, for 64 bits also with GPI_BIT_PASSES. Kernels that only large sorts need are in
 * these units as the first launch of a kernel loads all of its unit.
 */
#include <algorithm>

#include <cuda_runtime.h>

#include "radixsort/radixsort_partition_k.cuh"
#include "tuning/radixsort_tuning.cuh"

typedef GPI_PASTE(GPI_PASTE(uint, GPI_KEY_BITS), _t) Key;

namespace GPI_SPACE
{

/* The unit of large sorts. */
template <class K, int VB> struct LargeUnit {
    static gp_status add_partition(CallLaunches &list, const RadixJobOf<K, VB> &job, bool floats);
    /* What follows where buckets do not fit. */
    static gp_status add_rest(CallLaunches &list, const RadixJobOf<K, VB> &job);
    static void add_faults(uint64_t counts[GPI_RADIX_FAULT_TILES][2]);
};

/* The unit of keys of 8 bytes. */
template <class K, int VB> struct BitPassesUnit {
    static gp_status add(CallLaunches &list, const RadixJobOf<K, VB> &job);
    static void add_faults(uint64_t counts[GPI_RADIX_FAULT_TILES][2]);
};

namespace
{

constexpr bool has_floats = sizeof(Key) > 1;

/* f(std::true_type()) for kernels of floats, or f(std::false_type()). In rare cases integers share
 * the kernels of floats: see KeyOrder. */
template <int VB, class F> gp_status with_float(bool floats, F f)
{
    constexpr bool shared = sizeof(Key) == 2 || VB == 8 || (sizeof(Key) == 8 && VB);
    if constexpr (!has_floats || !shared)
        if (!has_floats || !floats)
            return f(std::false_type());
    return f(std::bool_constant<has_floats>());
}

#ifdef GPI_FAULT
void add_unit_faults(uint64_t counts[GPI_RADIX_FAULT_TILES][2])
{
    unsigned long long here[GPI_RADIX_FAULT_TILES][2] = {};
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(here, radix_faults, sizeof here);
    for (int tile = 0; tile < GPI_RADIX_FAULT_TILES; tile++)
        for (int what : {fault_made, fault_repaired})
            counts[tile][what] += here[tile][what];
}
#endif

} // namespace
} // namespace GPI_SPACE

#ifdef GPI_BIT_PASSES
#include "radixsort/radixsort_bit_passes.cuh"

namespace GPI_SPACE
{

template <class K, int VB>
gp_status BitPassesUnit<K, VB>::add(CallLaunches &list, const RadixJobOf<K, VB> &job)
{
    return with_float<VB>(job.order.inf != 0, [&](auto floats) {
        constexpr bool FLOAT = decltype(floats)::value;
        constexpr int T = radix_tuning.tile_threads;
        constexpr int shared = BitPasses<K, FLOAT, VB, T>::shared_bytes;
        static_assert(shared + 256 <= radix_tuning.shared_bytes, "a tile must fit");
        static uint64_t allowed;
        return list.add_with(shared, &allowed,
                             launch_cooperative(radix_bit_passes_k<K, FLOAT, VB, T>,
                                                (unsigned)list.ctx->sm_count, T, shared, job));
    });
}

#ifdef GPI_FAULT
template <class K, int VB>
void BitPassesUnit<K, VB>::add_faults(uint64_t counts[GPI_RADIX_FAULT_TILES][2])
{
    add_unit_faults(counts);
}
#endif

template struct BitPassesUnit<Key, GPI_VALUE_BYTES>;

} // namespace GPI_SPACE

#elif defined(GPI_LARGE_SORT)
#include "radixsort/radixsort_bucket_global.cuh"
#include "radixsort/radixsort_levels_k.cuh"
#include "radixsort/radixsort_map_k.cuh"
#include "radixsort/radixsort_values_k.cuh"

namespace GPI_SPACE
{
namespace
{

template <int VB> gp_status add_levels(CallLaunches &list, const RadixJobOf<Key, VB> &job)
{
    constexpr int T = radix_tuning.tile_threads, I = radix_level_items(VB);
    constexpr int shared = LevelsKernel<Key, true, VB, T, I>::shared_bytes;
    constexpr int most = radix_tuning.shared_bytes - 1024;
    static_assert(shared <= most, "a tile must fit");
    static uint64_t allowed, in_rounds;
    const unsigned blocks = (unsigned)list.ctx->sm_count;
    if (job.rounds_bits)
        return list.add_with(
            most, &in_rounds,
            launch_cooperative(radix_levels_k<Key, true, VB, T, I, true>, blocks, T, most, job));
    return list.add_with(
        shared, &allowed,
        launch_cooperative(radix_levels_k<Key, true, VB, T, I, false>, blocks, T, shared, job));
}

template <int VB> gp_status add_map(CallLaunches &list, const RadixJobOf<Key, VB> &job)
{
    constexpr int T = radix_tuning.tile_threads, I = radix_map_items(sizeof(Key), VB);
    constexpr int passes = radix_tile_items(sizeof(Key), VB, false);
    constexpr int shared = std::max({MapKernel<Key, true, VB, T, I>::shared_bytes,
                                     PartitionKernel<Key, true, VB, T, passes, true>::shared_bytes,
                                     DigitCounts<Key>::shared_bytes});
    static_assert(shared + 1024 <= radix_tuning.shared_bytes, "a tile must fit");
    static uint64_t allowed;
    return list.add_with(shared, &allowed,
                         launch_cooperative(radix_map_k<Key, true, VB, T, I, passes>,
                                            (unsigned)list.ctx->sm_count, T, shared, job));
}

} // namespace

template <class K, int VB>
gp_status LargeUnit<K, VB>::add_partition(CallLaunches &list, const RadixJobOf<K, VB> &job,
                                          bool floats)
{
    return with_float<VB>(floats, [&](auto floats) {
        constexpr int items = radix_tile_items(sizeof(K), VB, false);
        return GPI_SPACE::add_partition<K, decltype(floats)::value, VB, items, true>(list, job);
    });
}

template <class K, int VB>
gp_status LargeUnit<K, VB>::add_rest(CallLaunches &list, const RadixJobOf<K, VB> &job)
{
    if constexpr (sizeof(Key) == 4 && VB == 0)
        if (job.by_values)
            return add_values<Key>(list, job);
    if constexpr (radix_has_levels_or_map(sizeof(Key), VB)) {
        if constexpr (radix_by_splitters<Key>)
            if (!VB || job.n >= radix_tuning.bit_pairs)
                GPI_TRY((BitPassesUnit<K, VB>::add(list, job)));
        if (job.levels_or_map) {
            if constexpr (radix_by_map<Key>)
                GPI_TRY(add_map<VB>(list, job));
            else
                GPI_TRY(add_levels<VB>(list, job));
            /* A map leaves nothing to it, but then the bucket kernel begins 7 us later: skew-61. */
            list.add(launch_bucket_global<Key, VB>(list.ctx, job));
        }
    }
    return GP_OK;
}

#ifdef GPI_FAULT
template <class K, int VB>
void LargeUnit<K, VB>::add_faults(uint64_t counts[GPI_RADIX_FAULT_TILES][2])
{
    add_unit_faults(counts);
}
#endif

template struct LargeUnit<Key, GPI_VALUE_BYTES>;

} // namespace GPI_SPACE

#else
#include "radixsort/radixsort_bucket_k.cuh"
#include "radixsort/radixsort_counting.cuh"
#include "radixsort/radixsort_rank_k.cuh"

extern "C" gpi_radix_layout_fn GPI_LAUNCHER(gpi_radix_layout);

/* gpi_radix_k32v4_sm90 */
#define KEYS GPI_PASTE(gpi_radix_k, GPI_KEY_BITS)
#define ENGINE GPI_LAUNCHER(GPI_PASTE(GPI_PASTE(KEYS, v), GPI_VALUE_BYTES))

namespace GPI_SPACE
{
namespace
{

template <int VB>
RadixJobOf<Key, VB> job_of(const gpi_radix_engine_args *args, const gpi_radix_layout &layout)
{
    auto piece = [&](gpi_radix_piece i, auto &to) {
        to = (std::remove_reference_t<decltype(to)>)((char *)args->scratch + layout.pieces[i].at);
    };
    RadixJobOf<Key, VB> job = {};
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
    piece(GPI_RADIX_PLAN, job.plan);
    piece(GPI_RADIX_STARTS, job.starts);
    piece(GPI_RADIX_BUCKETS, job.buckets);
    piece(GPI_RADIX_RECOUNT, job.recount);
    piece(GPI_RADIX_CURSORS, job.cursors);
    piece(GPI_RADIX_STATES, job.states[0]);
    piece(GPI_RADIX_STATES_ODD, job.states[1]);
    gpi_radix_lists &lists = job.lists;
    lists.others_max = layout.others_max;
    piece(GPI_RADIX_SEGMENT_LIST, lists.segments[0]);
    piece(GPI_RADIX_SEGMENT_LIST_ODD, lists.segments[1]);
    piece(GPI_RADIX_SEGMENT_OF, lists.segment_of);
    piece(GPI_RADIX_ENTRIES, lists.entries);
    piece(GPI_RADIX_LARGE, lists.large);
    lists.tables = (uint32_t *)job.states[1];
    if (!layout.pieces[GPI_RADIX_ENTRIES].bytes) /* behind the sample of splitters */
        lists.entries = (gpi_radix_entry *)((char *)job.states[1] + GPI_RADIX_LEARNED);
    piece(GPI_RADIX_MAP_SAMPLE, job.map.sample);
    piece(GPI_RADIX_MAP_COUNTS, job.map.counts);
    job.map.cursors = job.cursors; /* buckets of bits have none where there is a map */
    job.map.starts = job.cursors + layout.map_starts;
    return job;
}

template <bool FLOAT, int VB>
gp_status add_local(CallLaunches &list, const RadixJobOf<Key, VB> &job)
{
    constexpr RadixBucketShape b = radix_bucket_shape(sizeof(Key), VB);
    using Narrow = BucketBins<Key, FLOAT, VB, b.threads, b.items>;
    using Wide = BucketBins<Key, FLOAT, VB, b.threads, radix_tuning.wide_items, uint64_t>;
    constexpr bool has_wide = VB && sizeof(Key) == 4;
    constexpr int shared =
        std::max(sizeof(typename Narrow::Shared), has_wide ? sizeof(typename Wide::Shared) : 0);
    static_assert(shared <= radix_tuning.shared_bytes, "a bucket must fit");
    static uint64_t allowed;
    auto kernel = radix_bucket_k<Key, FLOAT, VB, b.threads, b.items, b.blocks>;
    const unsigned full = (unsigned)list.ctx->sm_count * b.blocks;
    const bool loop = radix_buckets_loop<sizeof(Key), VB> && job.entries > full;
    const bool early = radix_is_small(job.n) || job.device_n; /* where little may be done */
    return list.add_with(
        shared, &allowed,
        launch_dependent(kernel, early, loop ? full : job.entries, b.threads, shared, job));
}

/* The last kernel: sorts buckets; of keys that have none, what turns out to be few items. */
template <bool FLOAT, int VB> gp_status add_rest(CallLaunches &list, RadixJobOf<Key, VB> &job)
{
    if constexpr (radix_has_buckets<Key>)
        return !job.by_values && (job.bucket_bits || job.one_bucket_max)
                   ? add_local<FLOAT, VB>(list, job)
                   : GP_OK;
    else
        return job.one_bucket_max ? add_pieces<Key, has_floats, VB>(list, job) : GP_OK;
}

/* All kernels but the last one. again: the job of the partitions that run if the visitor leaves
 * the buckets as they are. */
template <bool FLOAT, int VB, class Job>
gp_status add_large_sort(CallLaunches &list, gpi_radix_visitor *visitor, Job &job, Job &again)
{
    const bool visited = VB > 0 && visitor && job.bucket_bits;
    const RadixKeys<Key> &keys = job;
    const gpi_radix_buckets buckets = {&keys, job.values};
    again = job;
    job.for_visitor = again.again = visited && visitor->few_keys;
    GPI_TRY((LargeUnit<Key, VB>::add_partition(list, job, FLOAT)));
    if (visited)
        GPI_TRY(
            visitor->visit(list.ctx, list.function, visitor, &buckets, list.launches, &list.count));
    GPI_TRY(list.make_room(1));
    if (again.again)
        GPI_TRY((LargeUnit<Key, VB>::add_partition(list, again, FLOAT)));
    GPI_TRY(list.make_room(4)); /* the rest, and the buckets' kernel */
    return LargeUnit<Key, VB>::add_rest(list, job);
}

/* Of keys of 4 and 8 bytes: the numbers of buckets, and which ways there are if these do not fit.
 * Passes into buckets of keys alone are not stable, so that words have to be exact. */
template <int VB>
void set_buckets(const gp_context *ctx, const gpi_radix_engine_args *args,
                 const gpi_radix_layout &layout, RadixKeys<Key> &job)
{
    constexpr uint64_t most = radix_bucket_shape(sizeof(Key), VB).all_items();
    const bool buckets = VB > 0 || args->exact;
    job.one_bucket_max = buckets && (job.n <= most || job.device_n) ? (uint32_t)most : 0;
    /* Of a number in memory none are counted by values. */
    if (buckets && job.end - job.begin > 8 && !(layout.by_values && job.device_n)) {
        job.bucket_bits = layout.bucket_bits;
        job.bits_if_narrow = layout.bits_if_narrow;
        job.narrow_limit = 8 * (int)sizeof(Key) - layout.narrow_position_bits;
        job.bits_max = layout.bits_max;
        job.by_values = layout.by_values;
    }
    job.bucket_max = (uint32_t)(job.by_values ? job.n / radix_tuning.values_share : most);
    const bool small = radix_is_small(job.n), splits = small || radix_has_splits<Key, VB, true>;
    job.split_bits = job.bucket_bits && splits ? split_bits_of<VB, false>(ctx, job, layout) : 0;
    /* Those of keys alone are as fast up to there (skew-59). */
    const bool close = VB > 0 ? job.n >= radix_tuning.close_items : !small;
    const bool wide = VB > 0 && !small && job.n < radix_tuning.mapped_items;
    const int close_bits = wide ? radix_tuning.close_bits_wide : radix_tuning.close_bits;
    job.close_range = job.split_bits && close ? 1u << close_bits : 0;
    job.levels_or_map = job.bucket_bits && !job.split_bits && layout.levels_or_map;
    if (job.levels_or_map && radix_by_splitters<Key>)
        job.rounds_bits = split_bits_of<VB, true>(ctx, job, layout);
    job.repeats_max = VB ? radix_tuning.repeats_max : radix_tuning.repeats_max_keys;
    job.entries = job.levels_or_map
                      ? std::max(layout.entries, 1u << job.rounds_bits)
                      : std::max(1u << std::max(job.bucket_bits, job.split_bits), layout.divided);
}

/* A sort of one bucket, or of several launches. */
template <bool FLOAT, int VB>
gp_status sort_as(CallLaunches &list, const gpi_radix_engine_args *args,
                  const gpi_radix_layout &layout, RadixJobOf<Key, VB> &job)
{
    RadixJobOf<Key, VB> again;
    if constexpr (radix_has_buckets<Key>) {
        set_buckets<VB>(list.ctx, args, layout, job);
        if (job.n <= job.one_bucket_max) {
            job.bucket_bits = 0;
            job.entries = 1;
            GPI_TRY((add_local<FLOAT, VB>(list, job)));
            return list.queue();
        }
    } else if (!job.device_n) {
        job.one_bucket_max = 0;
    }
    list.add(launch_zeros(args->scratch, layout.zeroed));
    if constexpr (VB == 0 && sizeof(Key) <= 2)
        if (args->exact && job.n >= radix_counted_from<Key>) {
            GPI_TRY((add_counting<Key, FLOAT>(list, job)));
            return list.queue();
        }
    constexpr int few = radix_tile_items(sizeof(Key), VB, true);
    constexpr int many = radix_tile_items(sizeof(Key), VB, false);
    if (radix_is_small(job.n)) /* the kernel of floats: what it does more does not show there */
        GPI_TRY((add_partition<Key, has_floats, VB, few, false>(list, job)));
    else if constexpr (radix_has_buckets<Key>)
        GPI_TRY((add_large_sort<FLOAT, VB>(list, args->visitor, job, again)));
    else
        GPI_TRY((add_partition<Key, has_floats, VB, many, false>(list, job)));
    GPI_TRY((add_rest<FLOAT, VB>(list, job)));
    return list.queue();
}

/* Few items take one launch, by ranks or pieces. */
template <int VB>
gp_status sort(gp_context *ctx, const char *function, const gpi_radix_engine_args *args)
{
    gpi_radix_layout layout;
    GPI_LAUNCHER(gpi_radix_layout)(sizeof(Key), VB, args->n, &layout);
    RadixJobOf<Key, VB> job = job_of<VB>(args, layout);
    const uint32_t few =
        job.keys[gpi_radix_tmp] ? items_by_pieces<Key, has_floats, VB>(ctx, job.n) : 0;
    const bool ranked = sorts_by_ranks(ctx, job);
    CallLaunches list(ctx, function);
    if constexpr (VB == 0 && radix_counted_alone < Key >> 0)
        if (args->exact && job.n <= radix_counted_alone<Key>) {
            list.add(launch_of(radix_count_alone_k<Key, 1024>, 1, 1024, 0, (RadixKeys<Key> &)job));
            return list.queue();
        }
    job.one_bucket_max = few;
    if (ranked || few == job.n) {
        GPI_TRY((ranked ? add_ranks<Key, has_floats, VB>(list, job)
                        : add_pieces<Key, has_floats, VB>(list, job)));
        return list.queue();
    }
    return with_float<VB>(args->order.inf != 0, [&](auto floats) {
        return sort_as<decltype(floats)::value, VB>(list, args, layout, job);
    });
}

#ifdef GPI_FAULT
void add_faults(uint64_t counts[GPI_RADIX_FAULT_TILES][2])
{
    add_unit_faults(counts);
    if constexpr (radix_has_buckets<Key>)
        LargeUnit<Key, GPI_VALUE_BYTES>::add_faults(counts);
    if constexpr (radix_by_splitters<Key>)
        BitPassesUnit<Key, GPI_VALUE_BYTES>::add_faults(counts);
}
#endif

} // namespace
} // namespace GPI_SPACE

extern "C" {
extern const gpi_radix_engine ENGINE;
const gpi_radix_engine ENGINE = {GPI_SPACE::sort<GPI_VALUE_BYTES>,
                                 GPI_SPACE::radix_counted_from<Key>,
#ifdef GPI_FAULT
                                 GPI_SPACE::add_faults
#endif
};
}
#endif
