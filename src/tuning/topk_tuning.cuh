/* SPDX-License-Identifier: MIT */
/*
 * Shape of the top-k kernels. A row needs its provenance: GPU, date, measured ratio to the row it
 * replaces. Results do not depend on it.
 */
#pragma once

#include "device/gpu.cuh"

namespace GPI_SPACE
{

struct TopkTuning {
    int least_sm, shared_bytes;
    int threads, blocks_per_sm; /* of blocks that have to run at the same time */
    int items;                  /* of a thread of a tile */
    int vectors;                /* of 16 bytes, that a thread reads at once to count */
};

/*
 * H200, CUDA 13.0, 2026-11-22, us, 100 of 2^28 keys u8 u16 u32 u64: 1019 1206 1606 3807 (this
 * row); key by key, eight at a time 1547 2294 3018 5692; eight blocks, key by key, whole tiles
 * unchecked 726 1048 1369 3733, but at 2^24 112 175 233 243 where this row takes 80 113 178 196.
 */
constexpr TopkTuning topk_rows[] = {{75, 0, 256, 4, 8, 4}};
constexpr TopkTuning topk_tuning = row_for(topk_rows);

} // namespace GPI_SPACE
