/* SPDX-License-Identifier: MIT */
/*
 * Shapes of the scan kernels. A row needs its provenance: GPU, date, measured ratio to the row it
 * replaces. Changing tile shapes changes the association of float sums.
 */
#pragma once

#include "device/space.cuh"

namespace GPI_SPACE
{

/* One block per multiprocessor; vectors: per lane of a scan warp,
 * of 16 bytes of the larger item. */
struct StreamShape {
    int scan_warps, reduce_warps;
    int vectors, vectors_wide; /* items below 8 bytes, and from 8 on */
    int vectors_pairs;         /* of the pair operators: odd, and half of it too */
    int stages_max, shared_bytes;
    long long from_bytes; /* of the larger array: below, the tile kernel is faster */
};

/*
 * sm_90. H200, CUDA 13.0, 2026-11-21, inclusive sum, of memcpy at 2^28 (i32 also at 2^24):
 *   24 KB tiles: i32 0.960 0.938, f32 0.960, i64 0.958, f64 0.959, i16 0.974, i8 0.922
 *   32 KB tiles: i32 0.955 0.949, f32 0.957, i64 0.977, f64 0.975, i16 0.970, i8 0.920
 *   16 KB tiles: i32 0.927 0.829
 * 24 KB against 32 KB, us: i32 2^20 9.4 8.6, 2^22 15.5 14.9, 2^28 527.6 528.1; f32 2^21 11.7 10.4,
 * 2^24 41.9 39.1, 2^28 525.7 527.0. Two look-ahead warps: f32 2^22 15.8 15.6, 2^28 527.0 529.6.
 * Two reduce warps instead of four: i32 0.962, but f32 0.938, i64 0.910, f64 0.880, i8 0.669.
 * 8 MB by the tile kernel, whose blocks look ahead with all warps: i64 2^20 11.2 to 11.0 us.
 */
constexpr StreamShape stream_shape = {8, 4, 8, 8, 7, 12, 200 * 1024, (8 << 20) + 1};

/* Bytes of input from which on the L2 is asked to keep lines that were read, so that it gives up
 * those that were written. H200, CUDA 13.0, 2026-11-22, us, after and before: i64 2^24 69.5 71.4,
 * 2^23 38.6 39.4, 2^28 1005 1046; f32 2^26 131.9 136.5; no difference at f32 2^24, also 64 MB. */
constexpr uint64_t stream_keep_bytes = 64 << 20;

/* Segmented scans, whose stages also hold head bits: the shape they were tuned with. Pairs are as
 * other wide items there. */
constexpr StreamShape segment_stream_shape = {8, 4, 6, 8, 8, 12, 200 * 1024, 8 << 20};

/* Small arrays: vectors per lane of the cluster kernel, whose blocks are as those of the tile
 * kernel. H200, CUDA 13.0, 2026-11-21, inclusive sum of 8 to 64 KB against the tile kernel: 0.6 to
 * 0.8 us less, of 5.3 to 5.9; 4 vectors gain as much but for the smallest arrays. */
constexpr int cluster_vectors = 2;

/* Warps, and blocks of GPI_SCAN_TILE_WARPS, that share a multiprocessor in the tile kernels; more
 * tiles than that are drawn one by one. */
constexpr int tile_warps_per_sm = 32, tile_blocks_per_sm = 4;

/* Warps of a block for sums of longer arrays of 8-byte items. H200, CUDA 13.0, 2026-11-21, 16
 * against 8, us: i64 2^20 10.1 10.7, f64 2^20 10.2 10.7, i64 2^19 8.0 8.1, 2^17 6.2 5.9,
 * 2^15 6.0 5.6. */
constexpr int tile_warps_wide = 16;
constexpr uint64_t tile_wide_from_bytes = 4 << 20;

} // namespace GPI_SPACE
