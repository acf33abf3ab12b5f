/* SPDX-License-Identifier: MIT */
/*
 * Bounds of the buckets, tiles and segments of a sort on CUDA, and the layout of its scratch. Host
 * code, compiled for each architecture by its tuning. As the number of items may be on the device,
 * what is enough for n items is enough for any fewer.
 */
#include <algorithm>

#include "core/workspace.h"
#include "radixsort/radixsort_internal.h"
#include "tuning/radixsort_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

/* Of sorts with keys and values of these widths. */
struct Bounds {
    size_t key_bytes, value_bytes;
    RadixBucketShape bucket = radix_bucket_shape((int)key_bytes, (int)value_bytes);
    uint32_t bucket_max = (uint32_t)bucket.all_items();
    bool by_splitters = radix_by_splitters_of(key_bytes), by_map = radix_by_map_of(key_bytes);

    /* ---- buckets ---- */

    /* Bits of the number of a bucket, if buckets are as large as shared memory allows; 0: there
     * cannot be enough of them for n items. */
    int bits_if_narrow(uint64_t n) const
    {
        const uint64_t mean_max = bucket_mean_max(bucket_max);
        const uint64_t mean = std::min((uint64_t)radix_tuning.bucket_items, mean_max);
        int bits = radix_tuning.bucket_bits_min;
        if (!radix_has_buckets_of(key_bytes))
            return 0;
        while (bits < radix_tuning.bucket_bits &&
               (n >> bits > mean ||
                (bits < GPI_RADIX_BITS && n >> bits > (uint64_t)radix_tuning.bucket_items_small)))
            bits++;
        if (n >> bits > mean_max)
            bits = radix_bucket_bits_max;
        return n >> bits > mean_max ? 0 : bits;
    }

    /* Bits of an item's position in a bucket that is somewhat larger than the mean. */
    static int position_bits(uint64_t n, int bits)
    {
        const uint64_t most = (n >> bits) + (n >> bits) / 16;
        int position = 0;
        while (most > 1ull << position)
            position++;
        return position;
    }

    /* The same if all lower bits may vary: these and a position should fit a word, so that one
     * count sorts a bucket; or buckets should be so small that words can be wide. */
    int bucket_bits(uint64_t n) const
    {
        const uint64_t wide =
            bucket_mean_max((uint64_t)bucket.threads * (uint64_t)radix_tuning.wide_items);
        const uint64_t enough =
            key_bytes == 8 ? 2 * (uint64_t)radix_tuning.bucket_items_small - 1 : wide;
        int bits = bits_if_narrow(n);
        if (value_bytes && bits && n >= radix_position_items((int)key_bytes))
            while (bits < radix_tuning.bucket_bits && bits < position_bits(n, bits) &&
                   n >> bits > enough)
                bits++;
        return bits;
    }

    /* At most, for the tables of buckets. */
    int bits_max(uint64_t n) const
    {
        const int few = std::max((int)GPI_RADIX_BITS, bucket_bits(n)) + 1;
        return radix_is_small(n) ? few : radix_bucket_bits_max;
    }

    /* Keys alone of 4 bytes are counted by values if there cannot be enough buckets. */
    bool by_values(uint64_t n) const
    {
        return key_bytes == 4 && value_bytes == 0 && n <= radix_buckets_items_max &&
               n >> radix_bucket_bits_max > bucket_mean_max(bucket_max);
    }

    /* ---- tiles ---- */

    /* Tiles of n items; items: of a thread. */
    uint64_t tiles_with(uint64_t n, int items) const
    {
        const int groups = radix_tile_groups((int)key_bytes, (int)value_bytes);
        return n / ((uint64_t)(radix_tuning.tile_threads / groups) * (uint64_t)items) + 1;
    }

    /* Tiles of n items or fewer, which may have the small shape. */
    uint64_t tiles(uint64_t n) const
    {
        const int few = radix_tile_items((int)key_bytes, (int)value_bytes, true);
        const int many = radix_tile_items((int)key_bytes, (int)value_bytes, false);
        const uint64_t small = tiles_with(std::min(n, radix_tuning.small_items), few);
        return radix_is_small(n) ? small : std::max(small, tiles_with(n, many));
    }

    /* Rows of states: a row for each tile, and each segment may end with a part of a tile. */
    uint64_t rows(uint64_t n) const
    {
        return tiles(n) + GPI_RADIX_SEGMENTS;
    }

    /* ---- levels ---- */

    /* Whether there are levels or a map for buckets that do not fit. */
    bool levels_or_map(uint64_t n) const
    {
        return radix_has_levels_or_map(key_bytes, value_bytes) &&
               n >= radix_levels_or_map_from(key_bytes, value_bytes);
    }

    /* Items that levels or a map can have, if the sort has n items or fewer: more go by passes. */
    uint64_t levels_or_map_items(uint64_t n) const
    {
        const uint64_t by_map = ((bucket_mean_max(bucket_max) + 1) << radix_tuning.bucket_bits) - 1;
        return std::min(n, by_splitters ? radix_buckets_items_max : by_map);
    }

    uint64_t level_tiles(uint64_t n) const
    {
        return tiles_with(n, radix_level_items((int)value_bytes));
    }

    /* Segments of a level that are too large for a block to sort through memory. */
    uint64_t segments(uint64_t n) const
    {
        return n / radix_large_segment(bucket_max) + 1;
    }

    /* The others, at most: all of them if they are few. */
    uint64_t others(uint64_t n) const
    {
        const uint64_t all = n / bucket_max + 1, few = 384;
        return std::max(2 * segments(n), std::min(all, few));
    }

    uint64_t all_segments(uint64_t n) const
    {
        return segments(n) + others(n);
    }

    /* Rows of states by levels, or by a map. */
    uint64_t levels_or_map_rows(uint64_t n) const
    {
        const int map_items = radix_map_items((int)key_bytes, (int)value_bytes);
        return by_map ? tiles_with(n, map_items) + GPI_RADIX_SEGMENTS
                      : level_tiles(n) + all_segments(n);
    }

    /* Entries by levels: each segment has a bucket more than its items need, or 16; and pieces of
     * equal keys are copied. */
    uint64_t entries(uint64_t n) const
    {
        return GPI_RADIX_LEVELS *
                   (n / level_mean(bucket_max, 0) + level_buckets_min * all_segments(n)) +
               n / GPI_RADIX_COPIED;
    }

    /* Bits of the number of a bucket by a map. */
    int map_bits(uint64_t n) const
    {
        return map_bucket_bits(map_buckets_max(n, bucket_max));
    }

    /* Buckets by more bits, where all would be a little too large. Larger sorts of other keys would
     * take 1% longer if they had blocks for that: skew-64. */
    uint32_t divided(uint64_t n, int bits) const
    {
        return bits < bits_max(n) && n <= radix_tuning.sampled_items
                   ? (uint32_t)(n / (bucket_max / 64 * 31)) + 4
                   : 0;
    }

    /* Blocks that sort buckets. A list may have more entries than there are buckets of bits; what
     * has no block is sorted through memory, which takes as long as all others. */
    uint32_t blocks(uint64_t n, int bits) const
    {
        const uint32_t all = 1u << bits, more = all / 4 * (by_splitters ? 3 : 1);
        const uint32_t listed = std::max(all + more, divided(n, bits));
        if (!by_splitters)
            return std::max(listed, map_buckets(n, bucket_max));
        return n >> radix_tuning.bucket_bits <= bucket_mean_max(bucket_max)
                   ? listed
                   : std::max(listed, (uint32_t)(n / level_mean(bucket_max, n) / 4 * 5));
    }
};

/* Lays out the scratch of n items, piece after piece. */
struct Scratch {
    const Bounds &bounds;
    uint64_t n;
    gpi_radix_layout &to;

    void take(enum gpi_radix_piece piece, size_t bytes) const
    {
        to.pieces[piece] = {to.bytes, bytes};
        to.bytes += gpi_piece(bytes);
    }

    /* What has to be zero at first comes first. */
    void take_tables() const
    {
        const size_t starts =
            bounds.key_bytes == 2 ? (1 << 16) + 1 : GPI_RADIX_PASSES * GPI_RADIX_BINS;
        const size_t table = ((1 << bounds.bits_max(n)) + GPI_RADIX_SEGMENTS) * sizeof(uint32_t);
        take(GPI_RADIX_PLAN, sizeof(gpi_radix_plan));
        take(GPI_RADIX_STARTS, starts * sizeof(uint64_t));
        take(GPI_RADIX_BUCKETS, table);
        take(GPI_RADIX_RECOUNT, table);
        to.zeroed = to.bytes;
        take(GPI_RADIX_CURSORS, std::max(table, 2 * to.map_starts * sizeof(uint32_t)));
    }

    /* States of tiles. Those of odd passes share their memory with the tables of segments by
     * levels, and with the table of words of a map's sample. */
    void take_states(uint64_t items) const
    {
        const size_t word = n < radix_tuning.narrow_items ? sizeof(uint32_t) : sizeof(uint64_t);
        const size_t row = GPI_RADIX_BINS * word;
        /* By levels keys alone come in any order, without states. */
        const bool stable = bounds.value_bytes || !bounds.by_splitters;
        const uint64_t rows = bounds.rows(n);
        const uint64_t all = bounds.levels_or_map(n) && stable
                                 ? std::max(rows, bounds.levels_or_map_rows(items))
                                 : rows;
        const size_t tables = bounds.all_segments(items) * split_table_bytes(bounds.key_bytes);
        const size_t others = !bounds.levels_or_map(n) ? 0
                              : bounds.by_map          ? map_words_bytes(map_sample(n))
                                                       : tables;
        take(GPI_RADIX_STATES, all * row);
        take(GPI_RADIX_STATES_ODD, std::max((bounds.by_map ? all : rows) * row, others));
    }

    void take_entries(uint64_t items) const
    {
        /* Buckets of sampled sorts are larger: just below there may be more. */
        const uint64_t below = std::min(items, radix_tuning.sampled_items - 1);
        const uint32_t blocks = std::max({bounds.blocks(items, bounds.bucket_bits(items)),
                                          bounds.blocks(below, bounds.bucket_bits(below)),
                                          1u << radix_tuning.split_bits});
        take(GPI_RADIX_ENTRIES, blocks * sizeof(gpi_radix_entry));
    }

    void take_levels(uint64_t items) const
    {
        const uint64_t segments = bounds.all_segments(items);
        take(GPI_RADIX_SEGMENT_LIST, segments * sizeof(gpi_radix_segment));
        take(GPI_RADIX_SEGMENT_LIST_ODD, segments * sizeof(gpi_radix_segment));
        take(GPI_RADIX_SEGMENT_OF, (bounds.level_tiles(items) + segments) * sizeof(uint32_t));
        take_entries(items);
        take(GPI_RADIX_LARGE, bounds.entries(items) * sizeof(gpi_radix_entry));
    }

    void take_map(uint64_t items) const
    {
        take_entries(items);
        take(GPI_RADIX_MAP_SAMPLE, map_sample(items) * bounds.key_bytes);
        take(GPI_RADIX_MAP_COUNTS, sizeof(uint32_t) << bounds.map_bits(items));
    }
};

} // namespace
} // namespace GPI_SPACE

extern "C" gpi_radix_layout_fn GPI_LAUNCHER(gpi_radix_layout);

extern "C" void GPI_LAUNCHER(gpi_radix_layout)(size_t key_bytes, size_t value_bytes, uint64_t n,
                                               gpi_radix_layout *layout)
{
    using namespace GPI_SPACE;
    const Bounds bounds = {key_bytes, value_bytes};
    const uint64_t items = bounds.levels_or_map_items(n);
    *layout = {};
    layout->bucket_bits = bounds.bucket_bits(n);
    layout->bits_if_narrow = bounds.bits_if_narrow(n);
    layout->bits_max = bounds.bits_max(n);
    layout->narrow_position_bits = Bounds::position_bits(n, layout->bits_if_narrow);
    layout->by_values = bounds.by_values(n);
    /* More items than buckets hold: counted by values, or by levels. */
    const bool levels = bounds.levels_or_map(n) && bounds.by_splitters && !layout->bucket_bits;
    if (layout->by_values || (levels && n <= radix_buckets_items_max))
        layout->bucket_bits = layout->bits_if_narrow = radix_bucket_bits_max;
    layout->levels_or_map =
        bounds.levels_or_map(n) && layout->bucket_bits &&
        (bounds.by_splitters || layout->bucket_bits <= radix_tuning.bucket_bits);
    if (layout->bucket_bits)
        layout->divided = bounds.divided(n, layout->bucket_bits);
    if (layout->levels_or_map)
        layout->entries = bounds.blocks(n, layout->bucket_bits);
    layout->rows = bounds.rows(n);
    if (bounds.by_splitters)
        layout->others_max = (uint32_t)bounds.others(items);
    if (bounds.levels_or_map(n) && bounds.by_map)
        layout->map_starts = (1u << bounds.map_bits(items)) + GPI_RADIX_SEGMENTS;
    const Scratch scratch = {bounds, n, *layout};
    scratch.take_tables();
    scratch.take_states(items);
    if (!bounds.levels_or_map(n))
        return;
    if (bounds.by_map)
        scratch.take_map(items);
    else
        scratch.take_levels(items);
}
