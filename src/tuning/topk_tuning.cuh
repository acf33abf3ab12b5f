/* SPDX-License-Identifier: MIT */
/*
 * Shape of the top-k kernels. A row needs its provenance: GPU, date, measured ratio to the row it
 * replaces. Results do not depend on it.
 */
#pragma once

#include "device/space.cuh"

namespace GPI_SPACE
{

/* First row, by count and not by measurement: eight loads in flight per thread, and blocks of 8 KiB
 * of bins, eight to a multiprocessor of sm_80 and newer. */
constexpr int topk_threads = 256;
constexpr int topk_items = 8;
constexpr int topk_tile = topk_threads * topk_items;
constexpr int topk_blocks_per_sm = 8;

} // namespace GPI_SPACE
