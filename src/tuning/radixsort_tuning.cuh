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

    /* A digit is hot if a warp counts more than crowd_max items of it in its first probe_rows rows
     * of 32. */
    int probe_rows, crowd_max;

    int look_back_bytes; /* of states of earlier tiles that a look-back reads at once */

    /* Below small_items tiles are small, so that all multiprocessors have one. A launch has a block
     * for every block_items items: blocks without work only make others wait. */
    uint64_t small_items, block_items;

    uint64_t narrow_items; /* from so many items on, states of tiles have 64 bits instead of 32 */

    /* Bits that number the buckets, at most and at least: the counters lie in shared memory. Bits
     * by which one count sorts a bucket. Mean items of a bucket, and where there are few buckets:
     * with one per block they have to suffice for all multiprocessors. */
    int bucket_bits, bucket_bits_min, fine_bits;
    int bucket_items, bucket_items_small;
    int wide_items; /* 64-bit words a thread, where key and position do not fit 32 bits */

    uint64_t counted_items; /* 16-bit keys alone are counted from so many on; below, passes win */

    /* Limits for oversized buckets, which a block sorts through memory: at most n / large_share
     * items in any one (or twice what shared memory holds), n / large_excess in all. */
    uint64_t large_share, large_excess;

    /* Adaptive partitioning, from spread_items items on. It pays if all but n / units_rest items
     * lie in units of at least n / units_few, or if no unit holds n / radix_units_even() items and
     * units_digits digits vary. A unit above 1 / spread_heavy of its segment gets its own bin. */
    uint64_t spread_items, spread_heavy, units_few, units_rest;
    int units_digits;

    /* From sampled_items items on, one key in sample_bits is sampled for the bits that vary, and
     * one in sample_counts for the sizes of buckets. */
    uint64_t sampled_items, sample_bits, sample_counts;
};

/*
 * H200, 2026-11-21 and 22, entries of docs/tuning: tiles sort-11 and sort-14, keys alone sort-22 to
 * sort-24, digits that crowd sort-12, look-back sort-19, blocks sort-26, wide words sort-28, units
 * skew-03 and skew-05.
 */
constexpr RadixTuning radix_sm75()
{
    RadixTuning t = {};
    t.least_sm = 75, t.shared_bytes = 64 * 1024;
    t.tile_threads = 512, t.groups_max = 2, t.batch_rows = 8;
    t.probe_rows = 4, t.crowd_max = 20;
    t.look_back_bytes = 32;
    t.small_items = 2 << 20, t.block_items = 2048;
#ifdef GPI_FAULT /* a build that tests faults has arrays on both sides */
    t.narrow_items = 1 << 18;
#else
    t.narrow_items = 1 << 30;
#endif
    t.bucket_bits = 13, t.bucket_bits_min = 7, t.fine_bits = 12;
    t.bucket_items = 8192, t.bucket_items_small = 2048, t.wide_items = 10;
    t.counted_items = 4 << 20;
    t.large_share = 1024, t.large_excess = 16;
    t.spread_items = 4 << 20, t.spread_heavy = 16, t.units_few = 8, t.units_rest = 16;
    t.units_digits = 4;
    t.sampled_items = 64 << 20, t.sample_bits = 1024, t.sample_counts = 256;
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
    return t;
}

constexpr RadixTuning radix_sm90()
{
    RadixTuning t = radix_sm80();
    t.least_sm = 90, t.shared_bytes = 227 * 1024;
    return t;
}

constexpr RadixTuning radix_rows[] = {radix_sm75(), radix_sm80_99kb(), radix_sm80(), radix_sm90()};
constexpr RadixTuning radix_tuning = row_for(radix_rows);

/* Items per thread of a tile: as many as shared memory holds (a key, a value and a place each) and
 * registers (keys alone are in registers), few for small arrays. Values of 8 bytes, keys of 1, and
 * values of keys of 2 have one shape, between the two. */
constexpr int radix_tile_groups(int key_bytes, int value_bytes)
{
    return key_bytes == 8 || value_bytes == 8 ? 1 : 2;
}

/* Items per thread that fit beside 26 KiB of counters and else_bytes. */
constexpr int radix_tile_fit(int key_bytes, int value_bytes, int else_bytes)
{
    int per_item = key_bytes + value_bytes + 2;
    return (radix_tuning.shared_bytes - 26 * 1024 - else_bytes) /
           (radix_tuning.tile_threads * per_item);
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
 * registers do not suffice. H200, 2026-11-22: sort-22 and sort-23 in docs/tuning. */
constexpr int radix_partition_items(int key_bytes, int value_bytes, int items)
{
    const int most = key_bytes == 8 ? 20 : 40;
    return value_bytes || items < most ? items : most;
}

/* The same beside a table of the bins of units. */
constexpr int radix_spread_items_of(int key_bytes, int value_bytes)
{
    int fit = radix_tile_fit(key_bytes, value_bytes, (1 << radix_tuning.bucket_bits) + 4 * 1024);
    int most = value_bytes ? 48 : radix_partition_items(key_bytes, 0, 48);
    return (fit < most ? fit : most) / 4 * 4;
}

/* A bucket that is sorted inside a block. H200, 2026-11-21, u32 keys and u64 keys at 2^28: 12 bits,
 * 3 blocks for 4-byte keys 3107 and 5459 us; 13 bits 3199 and 5629; two passes instead of bins 3521
 * and 6314. */
struct RadixBucketShape {
    int threads, items, blocks; /* blocks that share a multiprocessor */
};

constexpr int radix_bucket_bytes(int items, int key_bytes, int value_bytes)
{
    int threads = 512, most = items * threads;
    int by_passes = most * (key_bytes + (value_bytes ? 2 : 0)) + threads / 32 * 2048;
    int counts = 4 << radix_tuning.fine_bits, stage = value_bytes == 4 ? most * 4 : 0;
    int by_bins = most * (key_bytes == 8 ? 8 : 4) + (stage > counts ? stage : counts);
    return (by_passes > by_bins ? by_passes : by_bins) + 2048;
}

constexpr RadixBucketShape radix_bucket_shape(int key_bytes, int value_bytes)
{
    int items = 18, blocks_most = value_bytes ? 2 : 3;
    if (blocks_most > gpu.threads / 512)
        blocks_most = gpu.threads / 512;
    while (radix_bucket_bytes(items, key_bytes, value_bytes) > radix_tuning.shared_bytes)
        items -= 2;
    int blocks = radix_tuning.shared_bytes / radix_bucket_bytes(items, key_bytes, value_bytes);
    return {512, items, blocks < blocks_most ? blocks : blocks_most};
}

/* Units are even if none holds one in so many. */
constexpr uint32_t radix_units_even(int value_bytes)
{
    return value_bytes ? 400 : 32;
}

__host__ __device__ constexpr uint32_t radix_spread_large(uint32_t bucket_most)
{
    return bucket_most * 6;
}

/* Pairs have smaller buckets from so many on, if that lets one count sort them. */
constexpr uint64_t radix_position_items(int key_bytes)
{
    return key_bytes == 8 ? 8 << 20 : 4 << 20;
}

} // namespace GPI_SPACE
