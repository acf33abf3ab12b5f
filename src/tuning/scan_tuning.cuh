/* SPDX-License-Identifier: MIT */
/*
 * Shapes of the scan kernels. A row needs its provenance: GPU, date, measured ratio to the row it
 * replaces. Changing tile shapes changes the association of float sums.
 */
#pragma once

#include "device/space.cuh"

namespace GPI_SPACE
{

/* One block per multiprocessor; vectors: per lane of a scan warp, of 16 bytes of the larger item.
 */
struct StreamShape {
    int scan_warps, reduce_warps, vectors, stages_max, shared_bytes;
    long long from_bytes; /* of the larger array: below, the tile kernel is faster */
};

/*
 * sm_90. H200, CUDA 13.0, 2026-11-21, inclusive sum, of memcpy. i32 at 2^28, 2^26, 2^24, 2^22:
 *   8 + 4 warps, 24 KB tiles: 0.962 0.942 0.913 0.834   (this row)
 *   8 + 2 warps, 24 KB tiles: 0.962 0.946 0.927 0.855   but f64 0.88, i64 0.91, i8 0.67 at 2^28
 *   8 + 4 warps, 32 KB tiles: 0.956 0.943 0.908 0.787   and f64 0.95, i64 0.96, i8 0.79 at 2^28
 *   8 + 2 warps, 32 KB tiles: 0.957 0.943 0.922 0.808
 *   8 + 2 warps, 16 KB tiles: 0.927 0.893 0.829 0.753
 */
constexpr StreamShape stream_shape = {8, 4, 6, 12, 200 * 1024, 8 << 20};

/* Blocks of the tile kernel that share a multiprocessor; more tiles than that are taken by ticket.
 */
constexpr int tile_blocks_per_sm = 4;

} // namespace GPI_SPACE
