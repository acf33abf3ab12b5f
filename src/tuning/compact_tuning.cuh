/* SPDX-License-Identifier: MIT */
/* Shapes of the compaction kernels. A row needs its provenance: GPU, date, measured ratio. */
#pragma once

#include "device/space.cuh"

namespace GPI_SPACE
{

/* One block per multiprocessor; tile_bytes: of the items of a tile, at most, in shared memory. */
struct CompactStreamShape {
    int store_warps, mark_warps, tile_bytes, stages_max, shared_bytes;
    long long from_bytes; /* of items and flags read: below, the tile kernel is faster */
};

/* sm_90: the shape of the scan's stream, not yet measured for compaction. */
constexpr CompactStreamShape compact_stream_shape = {8, 4, 32 << 10, 12, 200 * 1024, 8 << 20};

/* Blocks of the tile kernels that share a multiprocessor; more tiles than that are taken by ticket.
 */
constexpr int compact_tile_blocks_per_sm = 4;

} // namespace GPI_SPACE
