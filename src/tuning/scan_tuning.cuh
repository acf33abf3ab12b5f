/* SPDX-License-Identifier: MIT */
/*
 * Shapes of the scan kernels. A row needs its provenance: GPU, date, measured ratio to the row it
 * replaces. Changing tile shapes changes the association of float sums.
 */
#pragma once

#include <cstdint>

#include "device/gpu.cuh"

namespace GPI_SPACE
{

/* The streaming kernel: one block per multiprocessor. */
struct StreamShape {
    int store_warps, sum_warps, load_warps;
    int vectors; /* of 16 bytes of the larger item, per lane of a store warp */
    int stages_max;
};

struct ScanTuning {
    int least_sm, shared_bytes; /* for the stages; what else a block has takes up to 4 KB more */

    /* Plain scans of scalars of 4 and 8 bytes: vectors a power of two. Of pairs and of shorter
     * items, segmented scans (of items of 16 bytes wide_segments), and both of items of 32 bytes (a
     * vector is an item), whose lanes have their vectors side by side: an odd number. */
    StreamShape scan, runs, segments, wide_segments, large;
    int64_t stream_from_bytes; /* of the larger array: below, the tile kernel is faster */

    /* Bytes of input from which on the L2 is asked to keep lines that were read, so that it gives
     * up those that were written. */
    uint64_t keep_bytes;

    int cluster_vectors; /* per lane of the cluster kernel, for small arrays */

    /* The tile kernels: warps and blocks that share a multiprocessor; more tiles than that are
     * claimed one by one. */
    int tile_warps_per_sm, tile_blocks_per_sm;

    /* The kernels that find the heads of segments: threads of a block, blocks of a multiprocessor,
     * and those of 4-byte offsets that it is to hold at once, flags or keys of a lane in flight,
     * offsets of a lane, and words of bits that a warp makes at once. */
    int heads_threads, heads_blocks_per_sm, heads_resident, heads_loads, heads_offsets, heads_span;
};

/* Turing: 64 KB, 1024 threads on a multiprocessor. Eight loader warps of four vectors a lane have a
 * tile of 16 KB in flight. Measured on an H200 alone: arch-05 in docs/tuning. */
constexpr ScanTuning scan_sm75()
{
    ScanTuning t = {};
    t.least_sm = 75, t.shared_bytes = 58 * 1024;
    t.scan = {8, 4, 8, 4, 3};
    t.runs = t.segments = t.wide_segments = {12, 6, 8, 3, 3};
    t.large = {8, 8, 8, 1, 3};
    t.stream_from_bytes = (4 << 20) + 1;
    t.keep_bytes = 64 << 20;
    t.cluster_vectors = 2;
    t.tile_warps_per_sm = 32, t.tile_blocks_per_sm = 4;
    t.heads_threads = 256, t.heads_blocks_per_sm = 32, t.heads_resident = 4;
    t.heads_loads = t.heads_offsets = 8, t.heads_span = 768;
    return t;
}

/* 99 KB: sm_86, 89, 120. Five stages of 16 KB, by count; loader warps as for 163 KB. */
constexpr ScanTuning scan_sm80_99kb()
{
    ScanTuning t = scan_sm75();
    t.least_sm = 80, t.shared_bytes = 95 * 1024;
    t.scan = {8, 4, loader_warps(8), 4, 12};
    t.runs = t.segments = t.wide_segments = {12, 6, loader_warps(4), 3, 12};
    t.large = {8, 8, loader_warps(4), 3, 12};
    t.heads_resident = 6;
    return t;
}

/*
 * 163 KB: A100. Four stages of 32 KB, scanned in runs of 30 KB. On an H200, 2026-11-23, inclusive
 * sum at 2^28 with 1, 2, 4, 8 loader warps, us: i32 691 584 557 544 (CUB 769), i64 1365 1159 1109
 * 1092 (1272); with 4 and 16 KB tiles 636, 1278.
 */
constexpr ScanTuning scan_sm80()
{
    ScanTuning t = scan_sm80_99kb();
    t.shared_bytes = 158 * 1024;
    t.scan.vectors = 8;
    t.runs.vectors = t.segments.vectors = t.wide_segments.vectors = 5;
    return t;
}

/*
 * H200, CUDA 13.0, 2026-11-21, inclusive sum, of memcpy at 2^28 (i32 also at 2^24):
 *   24 KB tiles: i32 0.960 0.938, f32 0.960, i64 0.958, f64 0.959, i16 0.974, i8 0.922
 *   32 KB tiles: i32 0.955 0.949, f32 0.957, i64 0.977, f64 0.975, i16 0.970, i8 0.920
 *   16 KB tiles: i32 0.927 0.829
 * 24 KB against 32 KB, us: i32 2^20 9.4 8.6, 2^22 15.5 14.9, 2^28 527.6 528.1; f32 2^21 11.7 10.4,
 * 2^24 41.9 39.1, 2^28 525.7 527.0. Two look-ahead warps: f32 2^22 15.8 15.6, 2^28 527.0 529.6.
 * Two sum warps instead of four: i32 0.962, but f32 0.938, i64 0.910, f64 0.880, i8 0.669.
 *
 * Lines that the L2 keeps, 2026-11-22, us, after and before: i64 2^24 69.5 71.4, 2^23 38.6 39.4,
 * 2^28 1005 1046; f32 2^26 131.9 136.5; no difference at f32 2^24, also 64 MB.
 *
 * Streaming from 4 MB on instead of 8 MB, 2026-11-23, us: i32 2^21 10.6 9.9, i64 2^20 10.1 9.8;
 * from 2 MB on i64 2^19 7.7 8.1.
 *
 * Segmented scans of wide items, 2026-11-24, {8, 8, 1, 7} and {12, 8, 1, 5}, 512 MB, us: affine
 * maps of doubles 335 325 (64 a segment), 330 320 (10000); sums of u64 277 286, f32 and bytes lose.
 *
 * Cluster kernel, 2026-11-21, inclusive sum of 8 to 64 KB against the tile kernel: 0.6 to 0.8 us
 * less, of 5.3 to 5.9; 4 vectors gain as much but for the smallest arrays.
 */
constexpr ScanTuning scan_sm90()
{
    ScanTuning t = scan_sm80();
    t.least_sm = 90, t.shared_bytes = 200 * 1024;
    t.runs = {12, 12, 1, 5, 12};
    t.segments = {8, 8, 1, 7, 12};
    t.wide_segments = {12, 8, 1, 5, 12};
    t.large = {8, 8, 1, 5, 12};
    return t;
}

constexpr ScanTuning scan_rows[] = {scan_sm75(), scan_sm80_99kb(), scan_sm80(), scan_sm90()};
constexpr ScanTuning scan_tuning = row_for(scan_rows);

/* That of a unit. */
template <class Types> constexpr StreamShape shape_of(const StreamShape &shape)
{
    return Types::bytes_out <= 16 ? shape : scan_tuning.large;
}

} // namespace GPI_SPACE
