/* SPDX-License-Identifier: MIT */
/*
 * Shape of the top-k kernels. A row needs its provenance: GPU, date, measured ratio to the row it
 * replaces. Results do not depend on it.
 */
#pragma once

#include "device/space.cuh"

namespace GPI_SPACE
{

/* First row, by count and not by measurement: eight loads in flight per thread, 64 registers, and
 * four blocks to a multiprocessor of every architecture, which have to run at the same time. */
constexpr int topk_threads = 256;
constexpr int topk_items = 8;
constexpr int topk_vectors = 4; /* of 16 bytes, that a thread reads at once to count */
constexpr int topk_tile = topk_threads * topk_items;
constexpr int topk_blocks_per_sm = 4;

} // namespace GPI_SPACE
