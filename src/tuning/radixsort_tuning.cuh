/* SPDX-License-Identifier: MIT */
/* Shapes of the sort's kernels. A row needs its provenance: GPU, date, measured. */
#pragma once

#include <cstdint>

#include "device/space.cuh"

namespace GPI_SPACE
{

/* Shared memory that one block may have. */
constexpr int radix_shared_bytes = GPI_SM >= 90                   ? 227 * 1024
                                   : GPI_SM == 80 || GPI_SM == 87 ? 163 * 1024
                                   : GPI_SM == 75                 ? 64 * 1024
                                                                  : 99 * 1024;

/* Bits of the counters in shared memory that find the buckets. */
constexpr int radix_bucket_bits_most = radix_shared_bytes > 132 * 1024  ? 15
                                       : radix_shared_bytes > 66 * 1024 ? 14
                                                                        : 13;

/* A tile of a split belongs to a group of a block's threads. Items per thread: as many as shared
 * memory holds (a key, a value and a place each) and registers (keys alone are in registers), few
 * for small arrays. Values of 8 bytes, keys of 1, and values of keys of 2 have one shape, between
 * the two. H200, 2026-11-21: see docs/tuning.md, "Two groups in a block" and "Tiles that land";
 * keys alone 2026-11-22, "Rows that do not wait", their small tiles "Who is waited for". */
constexpr int radix_tile_threads = 512, radix_groups_most = 2;

constexpr int radix_tile_groups(int key_bytes, int value_bytes)
{
    return key_bytes == 8 || value_bytes == 8 ? 1 : 2;
}

/* Of the shared memory that the counts of digits and so much else leave. */
constexpr int radix_tile_fit(int key_bytes, int value_bytes, int else_bytes)
{
    int per_item = key_bytes + value_bytes + 2;
    return (radix_shared_bytes - 26 * 1024 - else_bytes) / (radix_tile_threads * per_item);
}

constexpr int radix_tile_items(int key_bytes, int value_bytes, bool small)
{
    int fit = radix_tile_fit(key_bytes, value_bytes, 0);
    int wide = radix_tile_groups(key_bytes, value_bytes) == 1;
    int one_shape = key_bytes == 1 || (key_bytes == 2 && value_bytes);
    int most = value_bytes == 8 ? 20
               : one_shape      ? 32
               : small          ? (wide || !value_bytes ? 8 : 16)
               : key_bytes == 2 ? 32
               : value_bytes    ? 56
               : wide           ? 20
                                : 48;
    return (fit < most ? fit : most) / 4 * 4;
}

/* The same for a split into buckets, in which keys alone may come in any order: with more of them
 * registers do not suffice. H200, 2026-11-22: see docs/tuning.md, "Rows that do not wait". */
constexpr int radix_split_items(int key_bytes, int value_bytes, int items)
{
    const int most = key_bytes == 8 ? 20 : 40;
    return value_bytes || items < most ? items : most;
}

/* The same beside a table of the bins of units. */
constexpr int radix_spread_items_of(int key_bytes, int value_bytes)
{
    int fit = radix_tile_fit(key_bytes, value_bytes, (1 << radix_bucket_bits_most) + 4 * 1024);
    int most = value_bytes ? 48 : radix_split_items(key_bytes, 0, 48);
    return (fit < most ? fit : most) / 4 * 4;
}

/* A warp looks for digits that crowd in its first rows: what one must count there to be taken for
 * one, of 32 to a row. H200, 2026-11-22: see docs/tuning.md, "Rows that do not wait". */
constexpr int radix_probe_rows = 4, radix_crowd_most = 20;

/* Rows of a tile that a warp reads or writes at once. */
constexpr int radix_batch_rows = 8;

/* Below this many items tiles are small, so that all multiprocessors have one. */
constexpr uint64_t radix_small_items = 2 << 20;

/* A block for so many items: blocks that have nothing to do only make others wait. H200,
 * 2026-11-22: see docs/tuning.md, "Small sorts, and pairs of middle sizes". */
constexpr uint64_t radix_block_items = 2048;

/* States of tiles are 32 bits for fewer items, otherwise 64. A build that tests faults has arrays
 * on both sides. */
#ifdef GPI_FAULT
constexpr uint64_t radix_narrow_items = 1 << 18;
#else
constexpr uint64_t radix_narrow_items = 1 << 30;
#endif

/* Bytes of states of earlier tiles that a look-back reads at once. H200, 2026-11-22: see
 * docs/tuning.md, "Who is waited for". */
constexpr int radix_look_back_bytes = 32;

/* A bucket that is sorted inside a block. H200, 2026-11-21, u32 keys and u64 keys at 2^28: 12 bits,
 * 3 blocks for 4-byte keys 3107 and 5459 us; 13 bits 3199 and 5629; two passes instead of bins 3521
 * and 6314. */
struct RadixBucketShape {
    int threads, items, blocks; /* blocks that share a multiprocessor */
};

/* Bits by which a bucket is counted when one count is to sort it. */
constexpr int radix_fine_bits = 12;

constexpr int radix_bucket_bytes(int items, int key_bytes, int value_bytes)
{
    int threads = 512, most = items * threads;
    int by_passes = most * (key_bytes + (value_bytes ? 2 : 0)) + threads / 32 * 2048;
    int counts = 4 << radix_fine_bits, stage = value_bytes == 4 ? most * 4 : 0;
    int by_bins = most * (key_bytes == 8 ? 8 : 4) + (stage > counts ? stage : counts);
    return (by_passes > by_bins ? by_passes : by_bins) + 2048;
}

constexpr RadixBucketShape radix_bucket_shape(int key_bytes, int value_bytes)
{
    int items = 18, blocks_most = value_bytes ? 2 : 3;
    while (radix_bucket_bytes(items, key_bytes, value_bytes) > radix_shared_bytes)
        items -= 2;
    int blocks = radix_shared_bytes / radix_bucket_bytes(items, key_bytes, value_bytes);
    return {512, items, blocks < blocks_most ? blocks : blocks_most};
}

/* Keys of 16 bits alone are counted from so many on: below, the table costs more than passes. */
constexpr uint64_t radix_counted_items = 4 << 20;

/* What may be in buckets that a block sorts through memory: of all items one in so many in one of
 * them (or twice what shared memory holds), and one in so many in all. */
constexpr uint64_t radix_large_share = 1024, radix_large_excess = 16;

/* Keys spread unevenly are sorted by units from so many items on. What has more items than a block
 * should sort through memory is split once more; a unit with more than one in so many items of its
 * segment gets a bin of its own. */
constexpr uint64_t radix_spread_items = 4 << 20, radix_spread_heavy = 16;

/* They are, if nearly all (but one in 16) are in units that hold one in 8, or if no unit holds one
 * in 400, of keys alone in 32, and 4 digits vary; otherwise passes are faster. H200, 2026-11-22:
 * see docs/tuning.md, "Rows that do not wait". */
constexpr uint64_t radix_units_few = 8, radix_units_rest = 16;
constexpr int radix_units_digits = 4;
constexpr uint32_t radix_units_even(int value_bytes)
{
    return value_bytes ? 400 : 32;
}

/* So many items are sampled before they are counted: one in so many for the bits that vary, and for
 * the counts of buckets. */
constexpr uint64_t radix_sampled_items = 64 << 20, radix_sample_bits = 1024,
                   radix_sample_counts = 256;

__host__ __device__ constexpr uint32_t radix_spread_large(uint32_t bucket_most)
{
    return bucket_most * 6;
}

/* Items that a bucket should have on the average, and where there are few buckets: with one per
 * block they have to be enough for all multiprocessors. */
constexpr int radix_bucket_items = 8192, radix_bucket_items_small = 2048;
constexpr int radix_bucket_bits_least = 7;

/* Pairs have smaller buckets from so many on, if that lets one count sort them; and so many wide
 * words a thread, where a key of 4 bytes and a position need them. H200, 2026-11-22: see
 * docs/tuning.md, "Small sorts, and pairs of middle sizes". */
constexpr int radix_wide_items = 10;
constexpr uint64_t radix_position_items(int key_bytes)
{
    return key_bytes == 8 ? 8 << 20 : 4 << 20;
}

} // namespace GPI_SPACE
