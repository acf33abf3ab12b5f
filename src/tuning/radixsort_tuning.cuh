/* SPDX-License-Identifier: MIT */
/* Shapes of the sort's kernels. A row needs its provenance: GPU, date, measured. */
#pragma once

#include <cstdint>

#include "device/gpu.cuh"

namespace GPI_SPACE
{

struct RadixTuning {
    int least_sm, shared_bytes; /* that one block may have */

    /* A tile of a partition pass belongs to a group of a block's threads. */
    int tile_threads, groups_max;
    int batch_rows; /* rows of a tile that a warp reads or writes at once */

    /* A digit is hot for a warp if, in the last of the warp's first probe_rows rows of 32 keys, a
     * key has the rank hot_max or more among those of its digit. */
    int probe_rows, hot_max;

    /* A pass is hot if a digit has more than 1/hot_digit of the items. Others over pairs of 4 bytes
     * have long tiles, of all threads of a block, from long_tile_items items on. */
    uint64_t hot_digit, long_tile_items;

    int look_back_bytes; /* of states of earlier tiles that a look-back reads at once */

    /* Below small_items items tiles are small, so that all multiprocessors have one. There is a
     * block for every block_items items: blocks without work delay the others at barriers. */
    uint64_t small_items, block_items;

    /* Tile states have 32 bits below narrow_items items, otherwise 64. */
    uint64_t narrow_items;

    /* Buckets: bits of the histogram in shared memory that finds them, at most and at least; bits
     * of the histogram that sorts one; mean items of a bucket, and the same for small sorts, where
     * one bucket per block has to give work to all multiprocessors. */
    int bucket_bits, bucket_bits_min, bin_bits;
    int bucket_items, bucket_items_small;
    int wide_items; /* items per thread where a key of 4 bytes and a position take 8 bytes */

    /* Up to ranked_bytes of words are sorted in one launch without a barrier, up to piece_items
     * items by pieces (sort-61). */
    uint64_t ranked_bytes, piece_items;

    /* Keys of 16 bits alone are counted from counted_items items on: below, the table costs more
     * than partition passes. */
    uint64_t counted_items;

    /* Buckets larger than shared memory that one block may sort through memory: 1/large_share of
     * the items in the largest (or twice the size of a bucket), 1/large_excess in all of them. */
    uint64_t large_share, large_excess;

    /* The same of buckets that are counted by values: 1/values_share in the largest. */
    uint32_t values_share;

    /* Where such buckets do not fit, sorts whose blocks hold the array have up to 2^split_bits of
     * them between splitters, and take split_sample words for each, or twice as many if they have
     * more than split_mean items on the average. */
    uint64_t split_mean, split_sample;
    int split_bits;

    /* Skewed keys of 8 bytes are split by levels, unless words differ in digits_few digits at most,
     * which are as few passes; those of 4 bytes may go by a map from mapped_items items on. */
    uint64_t mapped_items;
    int digits_few;

    /* What levels would split is sorted by the bits that tell words apart if these take bit_passes
     * at most. By a look at words in order: two more if 1/uneven_share of them have a neighbour
     * 2^uneven_bits times as far as the other one, two less if 1/repeated_share repeat. Pairs from
     * bit_pairs items on, as even ones take up to 15 us longer. */
    int bit_passes, uneven_bits;
    uint64_t uneven_share, repeated_share, bit_pairs;

    /* If buckets do not fit, passes by digits_close digits are faster than a map, but for few
     * words; splitters are slower from close_items items on if two digits are enough, as is
     * likely where the words of a look differ by less than 2^close_bits; beside values below
     * mapped_items, if three are, by less than 2^close_bits_wide. */
    int digits_close, close_bits, close_bits_wide;
    uint64_t close_items;

    /* Of pairs passes are faster than splitters if 1/clumped_share of a sample's words are in the
     * same bin of their bucket as the next one. */
    uint32_t clumped_share;

    /* Where buckets do not fit, repeats_sample words tell how often words repeat. Of arrays of
     * less than map_items a map is tried first if a word has at most repeats_max items (of keys
     * alone repeats_max_keys) on the average, but for those that the sample has three times and
     * more, which are to leave more than 1/others_few of it; or if items of a word, times the words
     * of the sample's range, are 2^map_close_bits a bucket at most; but not if buckets would have
     * clumped times the pairs of the sample's words that even ones have. If all but 1/hot_rest of
     * the sample are words that are there hot_words times, a map is tried of any array. It is
     * learned from map_sample words, or twice as many, and has 2^map_cell_bits cells, and rows of
     * 2^map_row_bits. Buckets that are too large are left to blocks if one of them has
     * 1/map_large_share of the array to move at most, all of them 1/map_large_work. */
    uint32_t repeats_sample, repeats_max, repeats_max_keys, hot_words, hot_rest, others_few,
        clumped;
    uint64_t map_items;
    int map_close_bits, map_cell_bits, map_row_bits;
    int map_sample;
    uint64_t map_large_share, map_large_work;

    /* From sampled_items items on a sample is taken first: one item in sample_bits for the bits
     * that vary, one in sample_counts for the counts of buckets. Those of 8-byte keys, or of a
     * look below, do not fit if 1/sample_excess is in buckets of sample_full times the mean. */
    uint64_t sampled_items, sample_bits, sample_counts, sample_excess;
    uint32_t sample_full;
};

/*
 * H200, 2026-11-21 and 22, entries of docs/tuning: tiles sort-11 and sort-14, keys alone sort-22 to
 * sort-24, hot digits sort-12, look-back sort-19, blocks sort-26, wide words sort-28, units
 * skew-03 and skew-05.
 */
constexpr RadixTuning radix_sm75()
{
    RadixTuning t = {};
    t.least_sm = 75, t.shared_bytes = 64 * 1024;
    t.tile_threads = 512, t.groups_max = 2, t.batch_rows = 8;
    t.probe_rows = 4, t.hot_max = 20, t.hot_digit = 6;
    t.long_tile_items = 16 << 20;
    t.look_back_bytes = 32;
    t.small_items = 2 << 20, t.block_items = 2048;
    t.narrow_items = 1 << 30;
    t.bucket_bits = 12, t.bucket_bits_min = 7, t.bin_bits = 12;
    t.bucket_items = 8192, t.bucket_items_small = 2048, t.wide_items = 10;
    t.ranked_bytes = 32 << 10, t.piece_items = 64 << 10;
    t.counted_items = 4 << 20;
    t.split_mean = 3072, t.split_sample = 8, t.split_bits = 10;
    t.large_share = 1024, t.large_excess = 16, t.values_share = 512;
    t.mapped_items = 4 << 20, t.digits_few = 2;
    t.digits_close = 3, t.close_bits = 14, t.close_bits_wide = 23;
    t.close_items = 1 << 20, t.clumped_share = 16;
    t.bit_passes = 4, t.uneven_bits = 6, t.uneven_share = 14, t.repeated_share = 8;
    t.bit_pairs = 64 << 20;
    t.repeats_sample = 1024, t.repeats_max = 24, t.repeats_max_keys = 64;
    t.hot_words = 4, t.hot_rest = 16, t.others_few = 128, t.clumped = 2;
    t.map_items = 64 << 20, t.map_sample = 24 << 10, t.map_close_bits = 15;
    t.map_cell_bits = 8, t.map_row_bits = 7;
    t.map_large_share = 256, t.map_large_work = 8;
    t.sampled_items = 64 << 20, t.sample_bits = 1024, t.sample_counts = 256;
    t.sample_excess = 8, t.sample_full = 8;
    return t;
}

/* By count, and not measured: what fits. */
constexpr RadixTuning radix_sm80_99kb()
{
    RadixTuning t = radix_sm75();
    t.least_sm = 80, t.shared_bytes = 99 * 1024;
    t.bucket_bits = 14;
    return t;
}

constexpr RadixTuning radix_sm80()
{
    RadixTuning t = radix_sm80_99kb();
    t.shared_bytes = 163 * 1024;
    t.bucket_bits = 15;
    t.map_cell_bits = 11, t.map_row_bits = 10;
    return t;
}

constexpr RadixTuning radix_sm90()
{
    RadixTuning t = radix_sm80();
    t.least_sm = 90, t.shared_bytes = 227 * 1024;
    return t;
}

constexpr RadixTuning radix_rows[] = {radix_sm75(), radix_sm80_99kb(), radix_sm80(), radix_sm90()};

/* A build that tests faults has few buckets, so that its arrays are on both sides of each limit: of
 * 3 M pairs maps and levels, of 9 M passes and counts by values. */
constexpr RadixTuning with_limits(RadixTuning t)
{
#ifdef GPI_FAULT
    t.bucket_bits = t.split_bits = 9, t.values_share = 64;
    t.narrow_items = 1 << 18, t.long_tile_items = 1, t.mapped_items = 2 << 20;
#endif
    return t;
}

constexpr RadixTuning radix_tuning = with_limits(row_for(radix_rows));

/* Items per thread of a tile: as many as shared memory holds (a key, a value and a place each) and
 * registers (keys alone are in registers), few for small arrays. Small and large arrays have the
 * same shape if keys have 1 byte, if they have 2 bytes and values, and if values have 8 bytes, but
 * for keys of 4 bytes beside these: sort-80 in docs/tuning. */
constexpr int radix_tile_groups(int key_bytes, int value_bytes)
{
    return key_bytes == 8 || value_bytes == 8 ? 1 : 2;
}

/* Whether passes of large arrays may have tiles of all threads, of which there is one group. */
constexpr bool radix_has_long_tiles(int key_bytes, int value_bytes)
{
    return key_bytes == 4 && value_bytes == 4;
}

/* Items per thread that fit beside 26 KiB of counters and else_bytes; with a byte for the digit of
 * each if that is kept. */
constexpr int radix_tile_fit(int key_bytes, int value_bytes, int else_bytes, bool kept = false)
{
    int per_item = key_bytes + value_bytes + 2 + kept;
    return (radix_tuning.shared_bytes - 26 * 1024 - else_bytes) /
           (radix_tuning.tile_threads * per_item);
}

constexpr int radix_tile_items(int key_bytes, int value_bytes, bool small)
{
    int fit = radix_tile_fit(key_bytes, value_bytes, 0);
    int wide = radix_tile_groups(key_bytes, value_bytes) == 1;
    int one_shape = key_bytes == 1 || (key_bytes == 2 && value_bytes);
    int most = value_bytes == 8 ? (key_bytes == 4 && !small ? 28 : 20)
               : one_shape      ? 32
               : small          ? (wide || !value_bytes ? 8 : 16)
               : key_bytes == 2 ? 32
               : value_bytes    ? 56
               : wide           ? 20
                                : 48;
    return (fit < most ? fit : most) / 4 * 4;
}

/* The same for a split into buckets, in which keys alone may come in any order: with more of them
 * registers do not suffice. H200, 2026-11-22: sort-22 and sort-23 in docs/tuning. */
constexpr int radix_partition_items(int key_bytes, int value_bytes, int items)
{
    const int most = key_bytes == 8 ? 20 : 40;
    return value_bytes || items < most ? items : most;
}

/* The same by levels, of keys of 8 bytes, with the digits of items. */
constexpr int radix_level_items(int value_bytes)
{
    int fit = radix_tile_fit(8, value_bytes, 6 * 1024, true);
    int most = value_bytes ? 48 : 16;
    return (fit < most ? fit : most) / 4 * 4;
}

/* The same by a map, with the digits of items. */
constexpr int radix_map_items(int key_bytes, int value_bytes)
{
    const int map_bytes =
        4 * ((1 << radix_tuning.map_cell_bits) + (4 << radix_tuning.map_row_bits));
    int fit = radix_tile_fit(key_bytes, value_bytes, map_bytes + 1024, true);
    int most = value_bytes ? 48 : key_bytes == 8 ? 16 : 32;
    return (fit < most ? fit : most) / 4 * 4;
}

/* ---- bounds, for scratch and on the device ---- */

/* Kinds of sorts: keys that have buckets; those with other ways where buckets do not fit, by levels
 * of splitters if there would be many passes, or by a map. */
constexpr bool radix_has_buckets_of(size_t key_bytes)
{
    return key_bytes > 2;
}

constexpr bool radix_has_levels_or_map(size_t key_bytes, size_t value_bytes)
{
    const int items = key_bytes == 8 ? radix_level_items((int)value_bytes)
                                     : radix_map_items((int)key_bytes, (int)value_bytes);
    return radix_has_buckets_of(key_bytes) && (value_bytes <= 4 || items >= 8);
}

/* From this number of items on. Beside values of 8 bytes a map is faster than passes below, too,
 * but all other keys are slower by its launch: skew-66. */
constexpr uint64_t radix_levels_or_map_from(size_t key_bytes, size_t value_bytes)
{
    return key_bytes == 8     ? radix_tuning.small_items
           : value_bytes == 8 ? 2 * radix_tuning.mapped_items
                              : radix_tuning.mapped_items;
}

constexpr bool radix_by_splitters_of(size_t key_bytes)
{
    return key_bytes == 8;
}

constexpr bool radix_by_map_of(size_t key_bytes)
{
    return key_bytes == 4;
}

constexpr bool radix_is_small(uint64_t n)
{
    return n < radix_tuning.small_items;
}

/* The most buckets, which are counted with 16 bits: see count_buckets(). */
constexpr int radix_bucket_bits_max = radix_tuning.bucket_bits + 1;

/* More items are sorted by passes. */
constexpr uint64_t radix_buckets_items_max = (1ull << 32) - (1 << 16);

/* Items that a bucket should have at most on the average: of uniform keys buckets vary by the root
 * of their size. */
__host__ __device__ constexpr uint64_t bucket_mean_max(uint64_t bucket_max)
{
    return bucket_max - bucket_max / 16;
}

/* Buckets of n items by a map, of half of what a block can sort. */
__host__ __device__ constexpr uint32_t map_buckets(uint64_t n, uint32_t bucket_max)
{
    const uint64_t most = radix_tuning.map_items;
    return (uint32_t)((n < most ? n : most) / (bucket_max / 2)) + 2;
}

/* The same with words that have one of their own, in each cell at most. */
__host__ __device__ constexpr uint32_t map_buckets_max(uint64_t n, uint32_t bucket_max)
{
    return map_buckets(n, bucket_max) + (2u << radix_tuning.map_cell_bits) + 2;
}

/* Bits of their numbers. */
__host__ __device__ constexpr int map_bucket_bits(uint32_t buckets)
{
    int bits = 2;
    while (buckets > 1u << bits)
        bits++;
    return bits;
}

/* Of those the second pass takes, if there is one. */
__host__ __device__ constexpr int map_second_bits(int bits, bool in_place)
{
    return bits <= 8 && !in_place ? 0 : bits / 2;
}

/* Words of the sample, whole batches of all threads: twice as many for many buckets. */
__host__ __device__ constexpr uint32_t map_sample(uint64_t n)
{
    return (uint32_t)radix_tuning.map_sample << (n >= radix_tuning.map_items / 8);
}

/* Bits of a place in a table of these words, of which at most half are taken; bytes of the table,
 * with one place more, counts, and a list of places and how many there are. */
__host__ __device__ constexpr int map_words_bits(uint32_t sample)
{
    int bits = 1;
    while (2 * sample > 1u << bits)
        bits++;
    return bits;
}

constexpr size_t map_words_bytes(uint32_t sample)
{
    return (2 * ((1u << map_words_bits(sample)) + 1) + sample + 1) * sizeof(uint32_t);
}

/* Buckets of a segment between splitters at least. */
constexpr uint32_t level_buckets_min = 16;

/* Items that such a bucket has on the average, so that nearly all fit a block: buckets between
 * every 32nd word of a sample vary by a fifth. Of the larger ones a few are left, whose level costs
 * large sorts less than more buckets do. */
__host__ __device__ constexpr uint32_t level_mean(uint32_t bucket_max, uint64_t n)
{
    return n < radix_tuning.sampled_items ? bucket_max / 16 * 9 : bucket_max / 8 * 5;
}

/* Cells of equal ranges between the first and the last splitter, where the search for a word
 * begins. Of evenly distributed words a cell has a splitter at most. */
constexpr uint32_t split_cells = 1024;

/* Of a segment between splitters in memory: see SplitTable. */
constexpr size_t split_table_bytes(size_t key_bytes)
{
    return 256 * (2 * key_bytes + sizeof(uint32_t)) + split_cells;
}

/* A bucket that is sorted inside a block. H200, 2026-11-21, u32 keys and u64 keys at 2^28: 12 bits,
 * 3 blocks for 4-byte keys 3107 and 5459 us; 13 bits 3199 and 5629; two passes instead of bins 3521
 * and 6314. Pairs of 8-byte keys: of two blocks a thread's registers do not suffice (sort-39). */
struct RadixBucketShape {
    int threads, items, blocks; /* blocks that share a multiprocessor */

    constexpr int all_items() const
    {
        return threads * items;
    }
};

/* Whether values pass through shared memory there: those of 8 bytes where two blocks have room. */
constexpr bool radix_values_staged(int key_bytes, int value_bytes)
{
    const bool two_fit = 2 * (18 * 512 * 12 + 2048) <= radix_tuning.shared_bytes;
    return value_bytes == 4 || (value_bytes == 8 && key_bytes == 4 && two_fit);
}

/* Counts of its bins; after them those of parts, positions of items, or their values. */
constexpr int bucket_stage_bytes(int items, int key_bytes, int value_bytes)
{
    const int counts = 4 << radix_tuning.bin_bits;
    const int after = radix_values_staged(key_bytes, value_bytes) ? value_bytes * items
                      : value_bytes                               ? 2 * items
                                                                  : 0;
    return after > counts ? after : counts;
}

constexpr int radix_bucket_bytes(int items, int key_bytes, int value_bytes)
{
    const int most = items * 512;
    return most * (key_bytes == 8 ? 8 : 4) + bucket_stage_bytes(most, key_bytes, value_bytes) +
           2048;
}

constexpr RadixBucketShape radix_bucket_shape(int key_bytes, int value_bytes)
{
    int items = 18, blocks_max = !value_bytes ? 3 : key_bytes == 8 ? 1 : 2;
    if (blocks_max > gpu.threads / 512)
        blocks_max = gpu.threads / 512;
    while (radix_bucket_bytes(items, key_bytes, value_bytes) > radix_tuning.shared_bytes)
        items -= 2;
    int blocks = radix_tuning.shared_bytes / radix_bucket_bytes(items, key_bytes, value_bytes);
    return {512, items, blocks < blocks_max ? blocks : blocks_max};
}

/* Whether as many blocks as fit take all buckets, one after the other. A block alone on its
 * multiprocessor leaves that idle while the next one starts, 0.3 us; of others, which have fewer
 * registers, a loop does not fit them. H100, 2026-11-26: calls-14. */
template <int KEY_BYTES, int VALUE_BYTES>
constexpr bool radix_buckets_loop = KEY_BYTES == 8 && VALUE_BYTES > 0 &&
                                    radix_bucket_shape(KEY_BYTES, VALUE_BYTES).blocks == 1;

/* Items that a bucket between splitters should have on the average at most: the largest of a
 * sample's buckets is to fit a block, or where keys of 4 bytes have values, its wide words. Keys of
 * 8 bytes have more buckets, as a few whose bins do not suit keep all others waiting: skew-37. */
constexpr uint64_t radix_split_mean(int key_bytes, int value_bytes, uint64_t bucket_max)
{
    return key_bytes == 8 || value_bytes ? bucket_max / 4 : bucket_max / 2;
}

__host__ __device__ constexpr uint32_t radix_large_segment(uint32_t bucket_max)
{
    return bucket_max * 6;
}

/* From this number of pairs on buckets are smaller, if a single histogram can sort them then. */
constexpr uint64_t radix_position_items(int key_bytes)
{
    return key_bytes == 8 ? 8 << 20 : 4 << 20;
}

} // namespace GPI_SPACE
