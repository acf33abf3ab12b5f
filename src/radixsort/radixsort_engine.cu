/* SPDX-License-Identifier: MIT */
/*
 * Launches of a sort: compiled with GPI_KEY_BITS=8|16|32|64 and GPI_VALUE_BYTES=0|4|8. A unit is
 * what the first sort of a process has to load.
 */
#include <cuda_runtime.h>

#include "device/host.cuh"
#include "radixsort/radixsort_counting.cuh"
#include "radixsort/radixsort_local.cuh"
#include "radixsort/radixsort_spread.cuh"
#include "radixsort/radixsort_sweep.cuh"
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
#define ENGINE GPI_LAUNCHER(GPI_PASTE(GPI_PASTE(KEYS, v), GPI_VALUE_BYTES))

namespace GPI_SPACE
{
namespace
{

/* The engine's scratch; what has to be zero comes first. */
struct Scratch {
    gpi_radix_plan *plan;
    uint64_t *starts;
    uint32_t *buckets, *recount, *cursors;
    void *states[2];
    gpi_radix_spread spread;
    size_t zeroed, bytes;
};

/* Items that a bucket should have at most on the average: of uniform keys buckets vary by the root
 * of their size. */
static uint64_t bucket_mean_most(uint64_t bucket_most)
{
    return bucket_most - bucket_most / 16;
}

/* Buckets for n items as large as shared memory allows, or 0 if there cannot be enough of them. */
static int few_bits_of(uint64_t n, uint64_t bucket_most)
{
    int bits = radix_bucket_bits_least;
    while (bits < radix_bucket_bits_most &&
           (n >> bits > radix_bucket_items ||
            (bits < radix_bits && n >> bits > radix_bucket_items_small)))
        bits++;
    return n >> bits > bucket_mean_most(bucket_most) ? 0 : bits;
}

/* Bits of an item's position in such a bucket, which is somewhat larger than the mean. */
static int position_bits_of(uint64_t n, int bits)
{
    const uint64_t most = (n >> bits) + (n >> bits) / 16;
    int position = 0;
    while (most > 1ull << position)
        position++;
    return position;
}

/* Buckets for n items of which all lower bits may vary: these and a position are to fit a word, so
 * that one count sorts a bucket, or the items are to be so few that words can be wide. */
static int bucket_bits_of(uint64_t n, uint64_t bucket_most, size_t value_bytes)
{
    const int threads = radix_bucket_shape(sizeof(Key), (int)value_bytes).threads;
    const uint64_t wide_mean = bucket_mean_most((uint64_t)threads * radix_wide_items);
    const uint64_t enough = sizeof(Key) == 8 ? 2 * radix_bucket_items_small - 1 : wide_mean;
    int bits = few_bits_of(n, bucket_most);
    if (value_bytes && bits && n >= radix_position_items(sizeof(Key)))
        while (bits < radix_bucket_bits_most && bits < position_bits_of(n, bits) &&
               n >> bits > enough)
            bits++;
    return bits;
}

static bool is_small(uint64_t n)
{
    return n < radix_small_items;
}

static_assert(radix_small_items >> radix_bits <= radix_bucket_items, "one digit tells the bucket");

/* Tiles of n items, or of any fewer: the bound of a larger sort holds for smaller ones. */
static uint64_t tiles_of(uint64_t n, size_t value_bytes)
{
    auto tiles = [=](uint64_t items, bool small) {
        const int each = radix_tile_items(sizeof(Key), (int)value_bytes, small);
        const int groups = radix_tile_groups(sizeof(Key), (int)value_bytes);
        return items / ((uint64_t)radix_tile_threads / groups * each) + 1;
    };
    const uint64_t small = tiles(is_small(n) ? n : radix_small_items, true);
    const uint64_t large = is_small(n) ? 0 : tiles(n, false);
    return small > large ? small : large;
}

/* Sorts that go by units if buckets do not fit. */
static bool may_go_by_units(uint64_t n, size_t value_bytes)
{
    return radix_has_units<Key>(value_bytes) && n >= radix_spread_items;
}

static uint64_t spread_tiles(uint64_t n, size_t value_bytes)
{
    const int items = radix_spread_items_of(sizeof(Key), (int)value_bytes);
    const int groups = radix_tile_groups(sizeof(Key), (int)value_bytes);
    return n / ((uint64_t)radix_tile_threads / groups * items) + 1;
}

static uint64_t bucket_most_of(size_t value_bytes)
{
    const RadixBucketShape bucket = radix_bucket_shape(sizeof(Key), (int)value_bytes);
    return (uint64_t)bucket.threads * bucket.items;
}

/* The most segments of a level that have to be ones, */
static uint64_t segments_of(uint64_t n, uint64_t bucket_most)
{
    return n / radix_spread_large((uint32_t)bucket_most) + 1;
}

/* and with as many others. */
static uint64_t all_segments_of(uint64_t n, size_t value_bytes)
{
    return 2 * segments_of(n, bucket_most_of(value_bytes));
}

/*
 * An entry is a bin that is not a segment of the next level. Those of no heavy unit: two for what
 * fits a bucket, of all items once. Heavy units have a sixteenth of what a segment that has to be
 * one has at least, and two bins beside them. A heavy unit that is a segment again, at each level,
 * has two too.
 */
static uint64_t entries_of(uint64_t n, uint64_t bucket_most)
{
    const uint64_t levels = sizeof(Key) == 8 ? GPI_RADIX_LEVELS : 4; /* of 15 and 10 bits */
    const uint64_t around = 3 * radix_spread_heavy + 2 * 3 * levels;
    return around * segments_of(n, bucket_most) + 5 * n / bucket_most + n / GPI_RADIX_COPIED;
}

/* Blocks that sort buckets, with some more for the entries of a list. */
static uint32_t blocks_of(int bucket_bits)
{
    return (1u << bucket_bits) + (1u << bucket_bits) / 8;
}

/* Items that such a sort has: more go by passes, but what a bound is for holds for fewer. */
static uint64_t spread_items(uint64_t n, size_t value_bytes)
{
    const uint64_t mean = bucket_mean_most(bucket_most_of(value_bytes));
    const uint64_t most = ((mean + 1) << radix_bucket_bits_most) - 1;
    return n < most ? n : most;
}

template <class F> static gpi_radix_spread spread_of(uint64_t n, size_t value_bytes, F take)
{
    const uint64_t most = bucket_most_of(value_bytes), segments = all_segments_of(n, value_bytes);
    gpi_radix_spread s = {};
    s.others_most = (uint32_t)segments_of(n, most);
    for (int i = 0; i < 2; i++)
        s.segments[i] = (gpi_radix_segment *)take(segments * sizeof(gpi_radix_segment));
    s.first_bins = (uint8_t *)take(1 << radix_bucket_bits_most);
    s.segment_of = (uint32_t *)take((spread_tiles(n, value_bytes) + segments) * sizeof(uint32_t));
    s.entries = (gpi_radix_entry *)take(blocks_of(bucket_bits_of(n, most, value_bytes)) *
                                        sizeof(gpi_radix_entry));
    s.large = (gpi_radix_entry *)take(entries_of(n, most) * sizeof(gpi_radix_entry));
    return s;
}

/* The most tiles of a level of such a sort, which has part ones in each segment. */
static uint64_t spread_rows(uint64_t n, size_t value_bytes)
{
    return spread_tiles(n, value_bytes) + all_segments_of(n, value_bytes);
}

/* Where such a sort has its tables, others have the states of every second split. */
static uint64_t spread_tables_bytes(uint64_t n, size_t value_bytes)
{
    return all_segments_of(n, value_bytes) * GPI_RADIX_UNITS * sizeof(uint32_t);
}

static Scratch scratch_of(char *memory, uint64_t n, size_t value_bytes)
{
    constexpr size_t passes = GPI_RADIX_PASSES * radix_bins;
    constexpr size_t starts = sizeof(Key) == 2 ? (1 << 16) + 1 : passes;
    Scratch s = {};
    size_t at = 0;
    auto take = [&](size_t bytes) {
        char *piece = memory + at;
        at += gpi_piece(bytes);
        return piece;
    };
    const bool units = may_go_by_units(n, value_bytes);
    const uint64_t rows = tiles_of(n, value_bytes) + GPI_RADIX_SEGMENTS;
    const uint64_t of_units = spread_items(n, value_bytes);
    const uint64_t more = units ? spread_rows(of_units, value_bytes) : 0;
    const size_t row = radix_bins * (n < radix_narrow_items ? sizeof(uint32_t) : sizeof(uint64_t));
    const size_t tables = units ? spread_tables_bytes(of_units, value_bytes) : 0;
    const int table_bits = is_small(n) ? radix_bits : radix_bucket_bits_most;
    const size_t table = ((1 << table_bits) + GPI_RADIX_SEGMENTS) * sizeof(uint32_t);
    s.plan = (gpi_radix_plan *)take(sizeof(gpi_radix_plan));
    s.starts = (uint64_t *)take(starts * sizeof(uint64_t));
    s.buckets = (uint32_t *)take(table);
    s.recount = (uint32_t *)take(table);
    s.zeroed = at;
    s.cursors = (uint32_t *)take(table);
    s.states[0] = take((rows > more ? rows : more) * row);
    s.states[1] = take(rows * row > tables ? rows * row : tables);
    if (units) {
        s.spread = spread_of(of_units, value_bytes, take);
        s.spread.tables = (uint32_t *)s.states[1];
    }
    s.bytes = at;
    return s;
}

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
    job.spread = s.spread;
    return job;
}

template <bool FLOAT, int VB> struct Shapes {
    static constexpr RadixBucketShape bucket = radix_bucket_shape(sizeof(Key), VB);
    static constexpr int bucket_most = bucket.threads * bucket.items;
    using Local = Bucket<Key, FLOAT, VB, bucket.threads, bucket.items>;
    using Fine = FineBucket<Key, FLOAT, VB, bucket.threads, bucket.items>;
    using Wide = FineBucket<Key, FLOAT, VB, bucket.threads, radix_wide_items, uint64_t>;
    static constexpr int local_shared = sizeof(typename Local::Shared) >
                                                sizeof(typename Fine::Shared)
                                            ? sizeof(typename Local::Shared)
                                            : sizeof(typename Fine::Shared);
    static constexpr int large = radix_tile_items(sizeof(Key), VB, false);
    static constexpr int small = radix_tile_items(sizeof(Key), VB, true);
    static_assert(local_shared <= radix_shared_bytes, "a bucket must fit");
    static_assert(!VB || sizeof(Key) != 4 || sizeof(typename Wide::Shared) <= local_shared,
                  "also with wide words");
};

template <bool FLOAT, int VB, int I>
gp_status launch_sweep(gp_context *ctx, const char *function,
                       const RadixJob<Key, typename Payload<VB>::type> &job)
{
    constexpr int T = radix_tile_threads;
    constexpr int tile = Sweep<Key, FLOAT, VB, T, I>::shared_bytes;
    constexpr int counts = DigitCounts<Key>::shared_bytes;
    constexpr int buckets = (1 << radix_bucket_bits_most) * sizeof(uint32_t);
    constexpr int table = counts > buckets ? counts : buckets;
    constexpr int shared = tile > table ? tile : table;
    static_assert(tile <= radix_shared_bytes, "a tile must fit");
    static uint64_t allowed;
    auto kernel = radix_sweep_k<Key, FLOAT, VB, T, I>;
    GPI_TRY(shared_memory_allow(ctx, function, kernel, shared, &allowed));
    const uint64_t most = job.n / radix_block_items + 1, sms = (uint64_t)ctx->sm_count;
    void *arguments[] = {(void *)&job};
    cudaLaunchCooperativeKernel(kernel, dim3((unsigned)(most < sms ? most : sms)), dim3(T),
                                arguments, shared, ctx->stream);
    return gpi_cuda_launched(ctx, function);
}

template <bool FLOAT, int VB>
gp_status launch_local(gp_context *ctx, const char *function,
                       const RadixJob<Key, typename Payload<VB>::type> &job)
{
    using Shape = Shapes<FLOAT, VB>;
    constexpr RadixBucketShape b = Shape::bucket;
    static uint64_t allowed;
    auto kernel = radix_local_k<Key, FLOAT, VB, b.threads, b.items, b.blocks>;
    GPI_TRY(shared_memory_allow(ctx, function, kernel, Shape::local_shared, &allowed));
    const unsigned blocks = job.by_units ? job.entries : 1u << job.bucket_bits;
    launch_dependent(ctx, kernel, is_small(job.n), blocks, b.threads, Shape::local_shared, job);
    return gpi_cuda_launched(ctx, function);
}

template <int VB>
gp_status launch_spread(gp_context *ctx, const char *function,
                        const RadixJob<Key, typename Payload<VB>::type> &job)
{
    constexpr int T = radix_tile_threads, I = radix_spread_items_of(sizeof(Key), VB);
    using Work = Spread<Key, true, VB, T, I>;
    constexpr int shared = Work::shared_bytes;
    static_assert(shared <= radix_shared_bytes, "a tile must fit");
    static uint64_t allowed;
    auto kernel = radix_spread_k<Key, true, VB, T, I>;
    GPI_TRY(shared_memory_allow(ctx, function, kernel, shared, &allowed));
    void *arguments[] = {(void *)&job};
    cudaLaunchCooperativeKernel(kernel, dim3((unsigned)ctx->sm_count), dim3(T), arguments, shared,
                                ctx->stream);
    return gpi_cuda_launched(ctx, function);
}

template <int VB>
gp_status launch_large(gp_context *ctx, const char *function,
                       const RadixJob<Key, typename Payload<VB>::type> &job)
{
    constexpr int T = radix_tile_threads, blocks_per_sm = 2;
    const unsigned blocks = blocks_per_sm * (unsigned)ctx->sm_count;
    radix_large_k<Key, true, VB, T><<<blocks, T, 0, ctx->stream>>>(job);
    return gpi_cuda_launched(ctx, function);
}

/* Keys alone that are counted instead of moved; a table of 2^16 counts has to be worth it. */
constexpr uint64_t counted_from = sizeof(Key) == 1   ? 1
                                  : sizeof(Key) == 2 ? radix_counted_items
                                                     : UINT64_MAX;

template <bool FLOAT, class K>
gp_status launch_counting(gp_context *ctx, const char *function, const RadixKeys<K> &job)
{
    using Count = Counting<K>;
    static uint64_t allowed;
    const uint32_t sms = (uint32_t)ctx->sm_count;
    const uint32_t blocks = sms * Count::blocks_per_sm;
    const uint32_t grid =
        blocks < Count::parts ? Count::parts : blocks / Count::parts * Count::parts;
    auto count = radix_count_values_k<K, FLOAT>;
    GPI_TRY(shared_memory_allow(ctx, function, count, Count::shared_bytes, &allowed));
    count<<<grid, Count::threads, Count::shared_bytes, ctx->stream>>>(job);
    radix_starts_k<Count::values><<<1, 1024, 0, ctx->stream>>>(job.n, job.starts);
    radix_write_values_k<K, FLOAT><<<sms * 8, 256, 0, ctx->stream>>>(job);
    return gpi_cuda_launched(ctx, function);
}

static void set_bucket_bits(RadixKeys<Key> &job, uint64_t bucket_most, size_t value_bytes)
{
    constexpr int word_bits = sizeof(Key) == 8 ? 64 : 32;
    job.bucket_bits = bucket_bits_of(job.n, bucket_most, value_bytes);
    job.few_bits = few_bits_of(job.n, bucket_most);
    job.few_below = word_bits - position_bits_of(job.n, job.few_bits);
}

template <bool FLOAT, int VB>
gp_status sort_as(gp_context *ctx, const char *function, const gpi_radix_engine_args *args)
{
    using Shape = Shapes<FLOAT, VB>;
    RadixJob<Key, typename Payload<VB>::type> job = job_of<VB>(args);
    const bool buckets = VB > 0 || args->exact; /* the first split of keys alone is not stable */
    if (buckets && args->n <= Shape::bucket_most)
        return launch_local<FLOAT, VB>(ctx, function, job);
    if (radix_has_buckets<Key> && buckets && job.end - job.begin > 8)
        set_bucket_bits(job, Shape::bucket_most, VB);
    job.bucket_most = Shape::bucket_most;
    job.by_units = job.bucket_bits && may_go_by_units(args->n, VB);
    job.units_even = radix_units_even(VB);
    job.entries = blocks_of(job.bucket_bits);
    GPI_TRY(gpi_cuda_fill(ctx, args->scratch, 0, scratch_of(nullptr, args->n, VB).zeroed));
    if constexpr (VB == 0 && sizeof(Key) <= 2)
        if (args->exact && args->n >= counted_from)
            return launch_counting<FLOAT, Key>(ctx, function, job);
    if (is_small(args->n)) /* the kernel of floats: what it does more does not show there */
        GPI_TRY((launch_sweep<(sizeof(Key) > 1), VB, Shape::small>(ctx, function, job)));
    else
        GPI_TRY((launch_sweep<FLOAT, VB, Shape::large>(ctx, function, job)));
    if constexpr (radix_has_units<Key>(VB))
        if (job.by_units) {
            GPI_TRY(launch_spread<VB>(ctx, function, job));
            GPI_TRY(launch_large<VB>(ctx, function, job));
        }
    return job.bucket_bits ? launch_local<FLOAT, VB>(ctx, function, job) : GP_OK;
}

/* Rare cases share the kernels of floats: see KeyOrder. */
template <int VB> constexpr bool either = sizeof(Key) == 2 || VB == 8 || (sizeof(Key) == 8 && VB);

template <int VB>
gp_status sort_with(gp_context *ctx, const char *function, const gpi_radix_engine_args *args)
{
    if constexpr (sizeof(Key) > 1 && !either<VB>)
        if (args->order.inf)
            return sort_as<true, VB>(ctx, function, args);
    constexpr bool as_floats = sizeof(Key) != 1 && either<VB>;
    return sort_as<as_floats, VB>(ctx, function, args);
}

static gp_status sort(gp_context *ctx, const char *function, const gpi_radix_engine_args *args)
{
    return sort_with<GPI_VALUE_BYTES>(ctx, function, args);
}

#ifdef GPI_FAULT
void add_faults(uint64_t counts[2])
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

extern "C" {
extern const gpi_radix_engine ENGINE;
#ifdef GPI_FAULT
const gpi_radix_engine ENGINE = {GPI_SPACE::sort, GPI_SPACE::bytes, GPI_SPACE::counted_from,
                                 GPI_SPACE::add_faults};
#else
const gpi_radix_engine ENGINE = {GPI_SPACE::sort, GPI_SPACE::bytes, GPI_SPACE::counted_from};
#endif
}
