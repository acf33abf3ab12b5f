/* SPDX-License-Identifier: MIT */
/* The scratch of a sort, and how many buckets, tiles and segments it can have. On the host. */
#pragma once

#include "radixsort/radixsort_launch.cuh"
#include "radixsort/radixsort_map_learn.cuh"
#include "radixsort/radixsort_split_levels.cuh"

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
    gpi_radix_adaptive adaptive;
    gpi_radix_map map;
    size_t zeroed, bytes;
};

static uint64_t bucket_max_of(size_t value_bytes)
{
    const RadixBucketShape bucket = radix_bucket_shape(sizeof(Key), (int)value_bytes);
    return (uint64_t)bucket.threads * bucket.items;
}

/* The most buckets, which are counted with 16 bits: see count_buckets(). */
constexpr int bucket_bits_max = radix_tuning.bucket_bits + 1;

/* More items are sorted by passes. */
constexpr uint64_t buckets_items_max = (1ull << 32) - (1 << 16);

/* Buckets for n items as large as shared memory allows, or 0 if there cannot be enough of them. */
static int bits_if_narrow_of(uint64_t n, uint64_t bucket_max)
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
static int bucket_bits_of(uint64_t n, uint64_t bucket_max, size_t value_bytes)
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
static bool may_be_by_values(uint64_t n, size_t value_bytes)
{
    return sizeof(Key) == 4 && value_bytes == 0 && n <= buckets_items_max &&
           n >> bucket_bits_max > bucket_mean_max(bucket_max_of(0));
}

/* Tiles of n items, or of any fewer: the bound of a larger sort holds for smaller ones. */
static uint64_t tiles_of(uint64_t n, size_t value_bytes)
{
    auto tiles = [=](uint64_t items, bool small) {
        const int each = radix_tile_items(sizeof(Key), (int)value_bytes, small);
        const int groups = radix_tile_groups(sizeof(Key), (int)value_bytes);
        return items / ((uint64_t)radix_tuning.tile_threads / groups * each) + 1;
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
static bool may_be_adaptive(uint64_t n, size_t value_bytes)
{
    return radix_has_adaptive<Key>(value_bytes) &&
           n >= (radix_by_splitters<Key> ? radix_tuning.small_items : radix_tuning.adaptive_items);
}

static uint64_t adaptive_tiles(uint64_t n, size_t value_bytes)
{
    const int items = radix_adaptive_items_of(sizeof(Key), (int)value_bytes);
    const int groups = radix_tile_groups(sizeof(Key), (int)value_bytes);
    return n / ((uint64_t)radix_tuning.tile_threads / groups * items) + 1;
}

/* Upper bound of the segments of a level that one block could not sort through memory. */
static uint64_t segments_of(uint64_t n, uint64_t bucket_max)
{
    return n / radix_adaptive_large((uint32_t)bucket_max) + 1;
}

/* Upper bound of those that a block could sort as well, and all of them if they are few; more of
 * wide keys, which a block sorts in more passes. */
static uint64_t others_of(uint64_t n, uint64_t bucket_max)
{
    const uint64_t all = n / bucket_max + 1, few = all < 384 ? all : 384;
    const uint64_t most = (sizeof(Key) == 8 ? 2 : 1) * segments_of(n, bucket_max);
    return most > few ? most : few;
}

static uint64_t all_segments_of(uint64_t n, size_t value_bytes)
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
static uint64_t entries_of(uint64_t n, size_t value_bytes)
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
static uint32_t blocks_of(uint64_t n, int bucket_bits, size_t value_bytes)
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
static uint64_t adaptive_items(uint64_t n, size_t value_bytes)
{
    const uint64_t mean = bucket_mean_max(bucket_max_of(value_bytes));
    const uint64_t by_cells = ((mean + 1) << radix_tuning.bucket_bits) - 1;
    const uint64_t most = radix_by_splitters<Key> ? buckets_items_max : by_cells;
    return n < most ? n : most;
}

template <class F> static gpi_radix_adaptive adaptive_of(uint64_t n, size_t value_bytes, F take)
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

template <class F> static gpi_radix_map map_of(uint64_t n, size_t value_bytes, F take)
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

/* Tiles of the passes by a map. */
static uint64_t map_tiles(uint64_t n, size_t value_bytes)
{
    const int items = radix_map_items(sizeof(Key), (int)value_bytes);
    const int groups = radix_tile_groups(sizeof(Key), (int)value_bytes);
    return n / ((uint64_t)radix_tuning.tile_threads / groups * items) + 1;
}

/* The most tiles of a level of such a sort, which has part ones in each segment. */
static uint64_t adaptive_rows(uint64_t n, size_t value_bytes)
{
    const uint64_t rows = adaptive_tiles(n, value_bytes) + all_segments_of(n, value_bytes);
    const uint64_t mapped = map_tiles(n, value_bytes) + GPI_RADIX_SEGMENTS;
    return radix_by_map<Key> && mapped > rows ? mapped : rows;
}

/* Where such a sort has its tables, others have the states of every second pass. */
static uint64_t adaptive_tables_bytes(uint64_t n, size_t value_bytes)
{
    const size_t each =
        radix_by_splitters<Key> ? SplitTable<Key>::bytes : GPI_RADIX_CELLS * sizeof(uint32_t);
    return all_segments_of(n, value_bytes) * each;
}

static Scratch scratch_of(char *memory, uint64_t n, size_t value_bytes)
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
    const size_t tables = cells ? adaptive_tables_bytes(of_adaptive, value_bytes) : 0;
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

} // namespace
} // namespace GPI_SPACE
