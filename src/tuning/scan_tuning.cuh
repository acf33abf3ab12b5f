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

/* sm_90. H200, prototype of 2026-10: 8 + 4 warps, 32 KB tiles, 6 stages 0.96 of memcpy at 2^28 i32;
 * 64 KB tiles 0.83; 12 + 4 warps, 36 KB, 5 stages equal; two blocks per multiprocessor lose. */
constexpr StreamShape stream_shape = {8, 4, 8, 12, 200 * 1024, 8 << 20};

/* Blocks of the tile kernel that share a multiprocessor; more tiles than that are taken by ticket.
 */
constexpr int tile_blocks_per_sm = 4;

} // namespace GPI_SPACE
