/* SPDX-License-Identifier: MIT */
/*
 * Shape of the merge kernel by key width. A row needs its provenance: GPU, date, measured ratio to
 * the row it replaces. Results do not depend on it.
 */
#pragma once

#include "device/gpu.cuh"

namespace GPI_SPACE
{

struct MergeTuning {
    int least_sm, shared_bytes;
    int threads;
    /* Items of a thread, by the key's bytes: odd, so that threads that walk their own items do not
     * meet in a bank of shared memory. */
    int items_8, items_4, items_narrow;
};

/* By count and not by measurement: tiles of 2816 to 4864 keys, eight blocks on a multiprocessor of
 * sm_80 and newer. */
constexpr MergeTuning merge_rows[] = {{75, 0, 256, 11, 15, 19}};
constexpr MergeTuning merge_tuning = row_for(merge_rows);

template <class Key> struct MergeShape {
    static constexpr int items = sizeof(Key) == 8   ? merge_tuning.items_8
                                 : sizeof(Key) == 4 ? merge_tuning.items_4
                                                    : merge_tuning.items_narrow;
    static constexpr int tile = merge_tuning.threads * items;
};

} // namespace GPI_SPACE
