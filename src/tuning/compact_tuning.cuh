/* SPDX-License-Identifier: MIT */
/* Shapes of the compaction kernels. A row needs its provenance: GPU, date, measured ratio. */
#pragma once

#include <cstdint>

#include "device/gpu.cuh"

namespace GPI_SPACE
{

struct CompactTuning {
    int least_sm, shared_bytes; /* for the stages and their bits */

    /* The streaming kernel: one block per multiprocessor. */
    int store_warps, sum_warps, load_warps;
    int packed_bytes;     /* of an item: partitions of larger ones store item by item */
    int byte_store_warps; /* where a tile has bytes, or flags alone; each takes 1024 at most */
    int compare_warps;    /* that store and that sum up, by comparisons of items of two bytes */
    int tile_bytes;       /* of items, at most */
    int stages_max;
    /* Of items and flags read: below from_bytes the tile kernel is faster, and above wide_to_bytes
     * if an item and its flag have more than 4 bytes. */
    int64_t from_bytes, wide_to_bytes;

    /* Calls that read as many bytes as the L2 has, or about, leave it to what others wrote. */
    int64_t pass_from_bytes, pass_to_bytes;

    /* Blocks of the tile kernels that share a multiprocessor; if there are more tiles, the blocks
     * claim them one by one. */
    int tile_blocks_per_sm;
};

/*
 * Turing: 64 KB, 1024 threads on a multiprocessor. On an H200, 2026-11-24, u32, 10, 50, 90% kept by
 * flags and 50% by comparison, us: the streaming kernel at 2^28 1150 1180 1213 890, at 2^24 79 82
 * 83 63, at 2^20 11.8 11.9 11.9 10.8; the tile kernel 890 915 948 932, 71 72 74 71, 12.6 12.6 12.6
 * 12.1 (CUB 861 945 1074 828, 64 68 76 59, 12.6 12.7 13.0 11.9). 2^27 items of 1, 2, 8, 16 bytes
 * and positions, 50% by flags: 289 356 1009 1983 459 and 413 472 634 1085 547.
 */
constexpr CompactTuning compact_sm75()
{
    CompactTuning t = {};
    t.least_sm = 75, t.shared_bytes = 62 * 1024;
    t.store_warps = 8, t.sum_warps = 8, t.load_warps = 8, t.byte_store_warps = 8,
    t.compare_warps = 8, t.packed_bytes = 1;
    t.tile_bytes = 12 << 10, t.stages_max = 12, t.from_bytes = 256 << 10;
    t.wide_to_bytes = 16 << 20;
    t.tile_blocks_per_sm = 4;
    t.pass_to_bytes = -1;
    return t;
}

/* 99 KB: sm_86, 89, 120. By count; loader warps as for 163 KB. */
constexpr CompactTuning compact_sm80_99kb()
{
    CompactTuning t = compact_sm75();
    t.least_sm = 80, t.shared_bytes = 97 * 1024;
    t.load_warps = loader_warps(4), t.tile_bytes = 16 << 10, t.wide_to_bytes = INT64_MAX;
    t.packed_bytes = 2;
    return t;
}

/*
 * 163 KB: A100. On an H200, 2026-11-23, u32 at 2^28, 10, 50, 90% kept by flags and 50% by
 * comparison, us, by loader warps: 1 737 786 847 696, 2 584 635 704 565, 4 535 571 648 526, 8 562
 * 579 633 546 (CUB 761 828 932 623); 4 and tiles of 16 KB 1006 1022 1028 1023.
 */
constexpr CompactTuning compact_sm80()
{
    CompactTuning t = compact_sm80_99kb();
    t.shared_bytes = 160 * 1024;
    t.tile_bytes = 24 << 10;
    return t;
}

/*
 * H200, CUDA 13.0, 2026-11-21, u32 at 2^28, 10, 50, 90% kept by flags and 50% by comparison, of the
 * ideal: 8 + 8 warps and 24 KB tiles 0.740 0.851 0.870 0.575 (this row); 8 + 4 and 32 KB 0.606
 * 0.688 0.751 0.350; 8 + 8 and 32 KB 0.626 0.702 0.759 0.594; 8 + 16 and 24 KB 0.732 0.856 0.864
 * 0.568; 16 KB 0.378 0.481 0.586 0.406; 12 + 8 and 36 KB 0.635 0.723 0.786 0.468.
 * From 256 KB on, 2026-11-23, us: 50% by flags, 2^20 12.4 9.8, 2^18 10.0 7.4, 2^16 7.8 6.8.
 * H100, 2026-11-25, positions of 2^27 flags and 2^29 bytes by flags, 50% kept, 8 and 16 warps that
 * store, us: 210 159, 616 558.
 * What passes the L2: compact-31.
 */
constexpr CompactTuning compact_sm90()
{
    CompactTuning t = compact_sm80();
    t.least_sm = 90, t.shared_bytes = 214 * 1024;
    t.byte_store_warps = 16, t.compare_warps = 12;
    t.pass_from_bytes = 8 << 20, t.pass_to_bytes = 100 << 20;
    return t;
}

constexpr CompactTuning compact_rows[] = {compact_sm75(), compact_sm80_99kb(), compact_sm80(),
                                          compact_sm90()};
constexpr CompactTuning compact_tuning = row_for(compact_rows);

} // namespace GPI_SPACE
