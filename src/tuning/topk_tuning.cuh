/* SPDX-License-Identifier: MIT */
/*
 * Shape of the top-k kernels. A row needs its provenance: GPU, date, measured ratio to the row it
 * replaces. Results do not depend on it.
 */
#pragma once

#include "device/space.cuh"

namespace GPI_SPACE
{

/*
 * Four blocks to a multiprocessor of every architecture, which have to run at the same time.
 * H200, CUDA 13.0, 2026-11-22, us, 100 of 2^28 keys u8 u16 u32 u64: 1019 1206 1606 3807 (this
 * row); key by key, eight at a time 1547 2294 3018 5692; eight blocks, key by key, whole tiles
 * unchecked 726 1048 1369 3733, but at 2^24 112 175 233 243 where this row takes 80 113 178 196.
 */
constexpr int topk_threads = 256;
constexpr int topk_items = 8;
constexpr int topk_vectors = 4; /* of 16 bytes, that a thread reads at once to count */
constexpr int topk_tile = topk_threads * topk_items;
constexpr int topk_blocks_per_sm = 4;

} // namespace GPI_SPACE
