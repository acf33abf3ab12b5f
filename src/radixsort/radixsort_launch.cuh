/* SPDX-License-Identifier: MIT */
/*
 * On the host, for the two units of a kind of sort: launches of partitions and of sorts of few
 * items, and the scratch with how many buckets, tiles and segments a sort can have. A unit is what
 * the first sort of a process has to load, so what only large sorts need has one of its own.
 */
#pragma once

#include <algorithm>

#include "device/host.cuh"
#include "radixsort/radixsort_map_learn.cuh"
#include "radixsort/radixsort_partition_k.cuh"
#include "radixsort/radixsort_rank_k.cuh"
#include "radixsort/radixsort_split_learn.cuh"
#include "tuning/radixsort_tuning.cuh"

typedef GPI_PASTE(GPI_PASTE(uint, GPI_KEY_BITS), _t) Key;

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

/* ---- few items ---- */

constexpr int rank_threads = 1024, piece_threads = 512;

/* Rows of 32 items that a block ranks. */
inline int ranked_rows(const gp_context *ctx, int n)
{
    const int rows = (n + 31) / 32;
    return std::min((rows + ctx->sm_count - 1) / ctx->sm_count, rank_threads / 32);
}

inline int ranking_blocks(const gp_context *ctx, int n)
{
    const int each = 32 * ranked_rows(ctx, n);
    return (n + each - 1) / each;
}

/* If in place, all blocks have to be there at once. */
inline bool sorts_by_ranks(const gp_context *ctx, const RadixKeys<Key> &job)
{
    return job.n * sizeof(RadixWord<Key>) <= radix_tuning.ranked_bytes &&
           RankItems<Key, rank_threads>::bytes((int)job.n) <= radix_tuning.shared_bytes &&
           !(job.in_place && ranking_blocks(ctx, (int)job.n) > ctx->sm_count);
}

inline gp_status set_met(gp_context *ctx, const char *function, RadixKeys<Key> &job)
{
    gpi_state state;
    GPI_TRY(gpi_state_get(ctx, function, 1, &state));
    job.met = LastingBarrier::of(state);
    return GP_OK;
}

template <int VB>
gp_status add_ranks(gp_context *ctx, const char *function,
                    RadixJob<Key, typename Payload<VB>::type> &job, LaunchList &list)
{
    const int n = (int)job.n, shared = RankItems<Key, rank_threads>::bytes(n);
    static uint64_t allowed;
    auto kernel = radix_rank_k<Key, has_floats, VB, rank_threads>;
    GPI_TRY(shared_memory_allow(ctx, function, kernel, radix_tuning.shared_bytes, &allowed));
    if (job.in_place)
        GPI_TRY(set_met(ctx, function, job));
    gpi_launch launch =
        launch_of(kernel, (unsigned)ranking_blocks(ctx, n), rank_threads, shared, job);
    launch.cooperative = job.in_place;
    list.add(launch);
    return GP_OK;
}

inline int piece_blocks(const gp_context *ctx, int n)
{
    return std::min({ctx->sm_count, pieces_max, (n + Pieces::least - 1) / Pieces::least});
}

template <int VB> int pieces_shared_bytes(const gp_context *ctx, int n)
{
    using Work = PiecesKernel<Key, has_floats, VB, piece_threads>;
    const int blocks = piece_blocks(ctx, n);
    return Work::shared_bytes(blocks, Pieces::bucket_max(n, blocks));
}

/* How many of n items may be sorted by pieces, if there is a temporary array. */
template <int VB> uint32_t items_by_pieces(const gp_context *ctx, uint64_t n)
{
    const int most = (int)std::min(n, radix_tuning.piece_items);
    return pieces_shared_bytes<VB>(ctx, most) <= radix_tuning.shared_bytes ? (uint32_t)most : 0;
}

/* Up to job.one_bucket_max items; if there are more, it does nothing. */
template <int VB>
gp_status add_pieces(gp_context *ctx, const char *function,
                     RadixJob<Key, typename Payload<VB>::type> &job, LaunchList &list)
{
    static uint64_t allowed;
    auto kernel = radix_pieces_k<Key, has_floats, VB, piece_threads>;
    const int most = (int)job.one_bucket_max;
    GPI_TRY(set_met(ctx, function, job));
    GPI_TRY(shared_memory_allow(ctx, function, kernel, radix_tuning.shared_bytes, &allowed));
    list.add(launch_cooperative(kernel, (unsigned)piece_blocks(ctx, most), piece_threads,
                                pieces_shared_bytes<VB>(ctx, most), job));
    return GP_OK;
}

/* ---- scratch ---- */

/* The engine's scratch; what has to be zero comes first. */
struct Scratch {
    gpi_radix_plan *plan;
    uint64_t *starts;
    uint32_t *buckets, *recount, *cursors;
    void *states[2];
    gpi_radix_adaptive adaptive;
    gpi_radix_map map;
    size_t zeroed, bytes;
};

inline uint64_t bucket_max_of(size_t value_bytes)
{
    const RadixBucketShape bucket = radix_bucket_shape(sizeof(Key), (int)value_bytes);
    return (uint64_t)bucket.threads * bucket.items;
}

/* The most buckets, which are counted with 16 bits: see count_buckets(). */
constexpr int bucket_bits_max = radix_tuning.bucket_bits + 1;

/* More items are sorted by passes. */
constexpr uint64_t buckets_items_max = (1ull << 32) - (1 << 16);

/* Buckets for n items as large as shared memory allows, or 0 if there cannot be enough of them. */
inline int bits_if_narrow_of(uint64_t n, uint64_t bucket_max)
{
    int bits = radix_tuning.bucket_bits_min;
    while (bits < radix_tuning.bucket_bits &&
           (n >> bits > radix_tuning.bucket_items ||
            (bits < radix_bits && n >> bits > radix_tuning.bucket_items_small)))
        bits++;
    if (n >> bits > bucket_mean_max(bucket_max))
        bits = bucket_bits_max;
    return n >> bits > bucket_mean_max(bucket_max) ? 0 : bits;
}

/* Bits of an item's position in such a bucket, which is somewhat larger than the mean. */
inline int position_bits_of(uint64_t n, int bits)
{
    const uint64_t most = (n >> bits) + (n >> bits) / 16;
    int position = 0;
    while (most > 1ull << position)
        position++;
    return position;
}

/* Buckets for n items of which all lower bits may vary: these and a position are to fit a word, so
 * that one count sorts a bucket, or the items are to be so few that words can be wide. */
inline int bucket_bits_of(uint64_t n, uint64_t bucket_max, size_t value_bytes)
{
    const int threads = radix_bucket_shape(sizeof(Key), (int)value_bytes).threads;
    const uint64_t wide_mean = bucket_mean_max((uint64_t)threads * radix_tuning.wide_items);
    const uint64_t enough = sizeof(Key) == 8 ? 2 * radix_tuning.bucket_items_small - 1 : wide_mean;
    int bits = bits_if_narrow_of(n, bucket_max);
    if (value_bytes && bits && n >= radix_position_items(sizeof(Key)))
        while (bits < radix_tuning.bucket_bits && bits < position_bits_of(n, bits) &&
               n >> bits > enough)
            bits++;
    return bits;
}

/* Where there cannot be enough of them, keys alone of 4 bytes are counted by their values. */
inline bool may_be_by_values(uint64_t n, size_t value_bytes)
{
    return sizeof(Key) == 4 && value_bytes == 0 && n <= buckets_items_max &&
           n >> bucket_bits_max > bucket_mean_max(bucket_max_of(0));
}

/* Tiles of n items, if a thread has that many of one. */
inline uint64_t tiles_with(uint64_t n, int items, size_t value_bytes)
{
    const int groups = radix_tile_groups(sizeof(Key), (int)value_bytes);
    return n / ((uint64_t)radix_tuning.tile_threads / groups * items) + 1;
}

/* Tiles of n items, or of any fewer: the bound of a larger sort holds for smaller ones. */
inline uint64_t tiles_of(uint64_t n, size_t value_bytes)
{
    auto tiles = [=](uint64_t items, bool small) {
        return tiles_with(items, radix_tile_items(sizeof(Key), (int)value_bytes, small),
                          value_bytes);
    };
    const uint64_t small = tiles(is_small(n) ? n : radix_tuning.small_items, true);
    const uint64_t large = is_small(n) ? 0 : tiles(n, false);
    return small > large ? small : large;
}

/* Bits of the number of a bucket between splitters; 0 if blocks cannot hold the array, or the place
 * of states their counts. */
template <int VB> int split_bits_of(const gp_context *ctx, const RadixKeys<Key> &job)
{
    using Work = SplitArray<Key, VB, radix_tuning.tile_threads>;
    const uint32_t blocks = partition_blocks(ctx, job.n);
    const uint64_t rows = tiles_of(job.n, VB) + GPI_RADIX_SEGMENTS;
    int bits = job.bucket_bits;
    while (bits < radix_tuning.split_bits &&
           job.n >> bits > radix_split_mean(sizeof(Key), VB, job.bucket_max))
        bits++;
    const bool fits =
        job.n >> bits <= job.bucket_max / 2 && (blocks + 1ull) << bits <= rows * radix_bins &&
        Work::bytes(job.n, blocks, bits) + 1024 <= (uint64_t)radix_tuning.shared_bytes;
    return fits ? bits : 0;
}

/* Sorts that are partitioned adaptively if buckets do not fit. */
inline bool may_be_adaptive(uint64_t n, size_t value_bytes)
{
    return radix_has_adaptive<Key>(value_bytes) &&
           n >= (radix_by_splitters<Key> ? radix_tuning.small_items : radix_tuning.adaptive_items);
}

inline uint64_t adaptive_tiles(uint64_t n, size_t value_bytes)
{
    return tiles_with(n, radix_adaptive_items_of(sizeof(Key), (int)value_bytes), value_bytes);
}

/* Upper bound of the segments of a level that one block could not sort through memory. */
inline uint64_t segments_of(uint64_t n, uint64_t bucket_max)
{
    return n / radix_adaptive_large((uint32_t)bucket_max) + 1;
}

/* Upper bound of those that a block could sort as well, and all of them if they are few; more of
 * wide keys, which a block sorts in more passes. */
inline uint64_t others_of(uint64_t n, uint64_t bucket_max)
{
    const uint64_t all = n / bucket_max + 1, few = all < 384 ? all : 384;
    const uint64_t most = (sizeof(Key) == 8 ? 2 : 1) * segments_of(n, bucket_max);
    return most > few ? most : few;
}

inline uint64_t all_segments_of(uint64_t n, size_t value_bytes)
{
    const uint64_t bucket_max = bucket_max_of(value_bytes);
    return segments_of(n, bucket_max) + others_of(n, bucket_max);
}

/*
 * Upper bound of the entries, the bins that are no segments of the next level. Between splitters a
 * segment has 16 buckets, or one more than its items are worth. By cells:
 *   5 n / bucket_max             bins without a hot cell
 *   3 hot_share segments         hot cells of large segments, and the bins before and after each
 *   2 * 3 levels segments        bins beside a hot cell that is a segment again, at every level
 *   n / GPI_RADIX_COPIED         pieces of equal keys to copy
 */
inline uint64_t entries_of(uint64_t n, size_t value_bytes)
{
    const uint64_t levels = GPI_RADIX_LEVELS, bucket_max = bucket_max_of(value_bytes);
    if (radix_by_splitters<Key>)
        return levels * (n / level_mean((uint32_t)bucket_max, 0) +
                         level_buckets_min * all_segments_of(n, value_bytes)) +
               n / GPI_RADIX_COPIED;
    return 3 * radix_tuning.hot_share * segments_of(n, bucket_max) +
           2 * 3 * levels * all_segments_of(n, value_bytes) + 5 * n / bucket_max +
           n / GPI_RADIX_COPIED;
}

/* Blocks that sort buckets, with some more for the entries of a list: what is left without a block
 * is sorted through memory, which takes as long as all others. Those of levels are smaller. */
inline uint32_t blocks_of(uint64_t n, int bucket_bits, size_t value_bytes)
{
    const uint32_t listed =
        (1u << bucket_bits) + (1u << bucket_bits) / 4 * (radix_by_splitters<Key> ? 3 : 1);
    const uint32_t bucket_max = (uint32_t)bucket_max_of(value_bytes);
    if (!may_be_adaptive(n, value_bytes))
        return listed;
    if (radix_by_splitters<Key>)
        return n >> radix_tuning.bucket_bits <= bucket_mean_max(bucket_max)
                   ? listed
                   : std::max(listed, (uint32_t)(n / level_mean(bucket_max, n) / 4 * 5));
    return std::max(listed, map_buckets(n, bucket_max));
}

/* Items that such a sort has: more go by passes, but what a bound is for holds for fewer. */
inline uint64_t adaptive_items(uint64_t n, size_t value_bytes)
{
    const uint64_t mean = bucket_mean_max(bucket_max_of(value_bytes));
    const uint64_t by_cells = ((mean + 1) << radix_tuning.bucket_bits) - 1;
    const uint64_t most = radix_by_splitters<Key> ? buckets_items_max : by_cells;
    return n < most ? n : most;
}

template <class F> gpi_radix_adaptive adaptive_of(uint64_t n, size_t value_bytes, F take)
{
    const uint64_t most = bucket_max_of(value_bytes), segments = all_segments_of(n, value_bytes);
    gpi_radix_adaptive s = {};
    s.others_max = (uint32_t)others_of(n, most);
    for (int i = 0; i < 2; i++)
        s.segments[i] = (gpi_radix_segment *)take(segments * sizeof(gpi_radix_segment));
    s.first_bins = (uint8_t *)take(1 << radix_tuning.bucket_bits);
    s.segment_of = (uint32_t *)take((adaptive_tiles(n, value_bytes) + segments) * sizeof(uint32_t));
    const uint32_t blocks = blocks_of(n, bucket_bits_of(n, most, value_bytes), value_bytes);
    s.entries = (gpi_radix_entry *)take(std::max(blocks, 1u << radix_tuning.split_bits) *
                                        sizeof(gpi_radix_entry));
    s.large = (gpi_radix_entry *)take(entries_of(n, value_bytes) * sizeof(gpi_radix_entry));
    return s;
}

template <class F> gpi_radix_map map_of(uint64_t n, size_t value_bytes, F take)
{
    const uint32_t buckets = map_buckets(n, (uint32_t)bucket_max_of(value_bytes));
    const size_t table = sizeof(uint32_t) << map_bucket_bits(buckets);
    gpi_radix_map s = {};
    s.sample = take(map_sample(n) * sizeof(Key));
    s.counts = (uint32_t *)take(table);
    s.starts = (uint32_t *)take(table + sizeof(uint32_t));
    s.cursors = (uint32_t *)take(table + GPI_RADIX_SEGMENTS * sizeof(uint32_t));
    return s;
}

/* The most tiles of a level of such a sort, which has part ones in each segment. */
inline uint64_t adaptive_rows(uint64_t n, size_t value_bytes)
{
    const uint64_t rows = adaptive_tiles(n, value_bytes) + all_segments_of(n, value_bytes);
    const int map_items = radix_map_items(sizeof(Key), (int)value_bytes);
    const uint64_t mapped = tiles_with(n, map_items, value_bytes) + GPI_RADIX_SEGMENTS;
    return radix_by_map<Key> && mapped > rows ? mapped : rows;
}

/* Of a segment of such a sort; where it has its tables, others have states of every second pass. */
constexpr size_t adaptive_table_bytes =
    radix_by_splitters<Key> ? SplitTable<Key>::bytes : GPI_RADIX_CELLS * sizeof(uint32_t);

inline Scratch scratch_of(char *memory, uint64_t n, size_t value_bytes)
{
    constexpr size_t passes = GPI_RADIX_PASSES * radix_bins;
    constexpr size_t starts = sizeof(Key) == 2 ? (1 << 16) + 1 : passes;
    Scratch s = {};
    size_t at = 0;
    auto take = [&](size_t bytes) {
        char *span = memory + at;
        at += gpi_piece(bytes);
        return span;
    };
    const bool cells = may_be_adaptive(n, value_bytes);
    const uint64_t rows = tiles_of(n, value_bytes) + GPI_RADIX_SEGMENTS;
    const uint64_t of_adaptive = adaptive_items(n, value_bytes);
    /* Between splitters keys alone come in any order. */
    const bool stable = cells && (value_bytes || !radix_by_splitters<Key>);
    const uint64_t more = stable ? adaptive_rows(of_adaptive, value_bytes) : 0;
    const size_t row =
        radix_bins * (n < radix_tuning.narrow_items ? sizeof(uint32_t) : sizeof(uint64_t));
    const size_t tables =
        cells ? all_segments_of(of_adaptive, value_bytes) * adaptive_table_bytes : 0;
    const int table_bits = is_small(n) ? radix_bits : bucket_bits_max;
    const size_t table = ((1 << table_bits) + GPI_RADIX_SEGMENTS) * sizeof(uint32_t);
    s.plan = (gpi_radix_plan *)take(sizeof(gpi_radix_plan));
    s.starts = (uint64_t *)take(starts * sizeof(uint64_t));
    s.buckets = (uint32_t *)take(table);
    s.recount = (uint32_t *)take(table);
    s.zeroed = at;
    s.cursors = (uint32_t *)take(table);
    const uint64_t second = radix_by_map<Key> && more > rows ? more : rows;
    s.states[0] = take((rows > more ? rows : more) * row);
    s.states[1] = take(second * row > tables ? second * row : tables);
    if (cells) {
        s.adaptive = adaptive_of(of_adaptive, value_bytes, take);
        s.adaptive.tables = (uint32_t *)s.states[1];
        if (radix_by_map<Key>)
            s.map = map_of(of_adaptive, value_bytes, take);
    } else {
        s.adaptive.entries = (gpi_radix_entry *)((char *)s.states[1] + GPI_RADIX_LEARNED);
    }
    s.bytes = at;
    return s;
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
