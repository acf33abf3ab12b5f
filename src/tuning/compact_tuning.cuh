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

/*
 * sm_90. H200, CUDA 13.0, 2026-11-21, u32 at 2^28, 10, 50, 90% kept by flags and 50% by comparison,
 * of the ideal: 8 + 8 warps and 24 KB tiles 0.740 0.851 0.870 0.575 (this row); 8 + 4 and 32 KB
 * 0.606 0.688 0.751 0.350; 8 + 8 and 32 KB 0.626 0.702 0.759 0.594; 8 + 16 and 24 KB 0.732 0.856
 * 0.864 0.568; 16 KB 0.378 0.481 0.586 0.406; 12 + 8 and 36 KB 0.635 0.723 0.786 0.468.
 */
constexpr CompactStreamShape compact_stream_shape = {8, 8, 24 << 10, 12, 200 * 1024, 8 << 20};

/* Blocks of the tile kernels that share a multiprocessor; more tiles than that are drawn
 * one by one. */
constexpr int compact_tile_blocks_per_sm = 4;

} // namespace GPI_SPACE
