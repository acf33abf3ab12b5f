/* SPDX-License-Identifier: MIT */
/*
 * Shape of the merge kernel by key width. A row needs its provenance: GPU, date, measured ratio to
 * the row it replaces. Results do not depend on it.
 */
#pragma once

#include "device/space.cuh"

namespace GPI_SPACE
{

constexpr int merge_threads = 256;

/* Items of a thread: odd, so that threads that walk their own items do not meet in a bank of shared
 * memory. First row, by count and not by measurement: tiles of 2816 to 4864 keys, eight blocks on a
 * multiprocessor of sm_80 and newer. */
template <class Key> struct MergeShape {
    static constexpr int items = sizeof(Key) == 8 ? 11 : sizeof(Key) == 4 ? 15 : 19;
    static constexpr int tile = merge_threads * items;
};

} // namespace GPI_SPACE
