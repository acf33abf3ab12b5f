/* SPDX-License-Identifier: MIT */
/* Shapes of the kernels of runs. A row needs its provenance: GPU, date, measured ratio. */
#pragma once

#include "device/gpu.cuh"

namespace GPI_SPACE
{

struct GroupTuning {
    int least_sm, shared_bytes; /* for the stages and what is beside them */

    /* Both streaming kernels: one block per multiprocessor. */
    int store_warps, sum_warps, load_warps;
    int tile_bytes; /* of keys, or of values, at most */
    int u32_bytes;  /* the same of values that are folded in 32-bit integers */
    int stages_max;

    int few_parts; /* of items in few groups: multiprocessors of most devices */
};

/* Turing: 64 KB, 1024 threads on a multiprocessor. By count, as compaction. */
constexpr GroupTuning group_sm75()
{
    GroupTuning t = {};
    t.least_sm = 75, t.shared_bytes = 60 * 1024;
    t.store_warps = 8, t.sum_warps = 8, t.load_warps = 8;
    t.tile_bytes = t.u32_bytes = 10 << 10, t.stages_max = 12;
    t.few_parts = 68;
    return t;
}

/* 99 KB: sm_86, 89, 120. By count. */
constexpr GroupTuning group_sm80_99kb()
{
    GroupTuning t = group_sm75();
    t.least_sm = 80, t.shared_bytes = 95 * 1024;
    t.load_warps = loader_warps(4), t.tile_bytes = t.u32_bytes = 16 << 10;
    return t;
}

/* 163 KB: A100. By count. */
constexpr GroupTuning group_sm80()
{
    GroupTuning t = group_sm80_99kb();
    t.shared_bytes = 158 * 1024;
    t.tile_bytes = t.u32_bytes = 24 << 10;
    t.few_parts = 108;
    return t;
}

/* The shape of compaction on an H200. u32_bytes: on an H100, 2026-11-27; with 24 KB 1-byte values
 * take 1.09 of the time, 4-byte ones 1.02 to 1.07. */
constexpr GroupTuning group_sm90()
{
    GroupTuning t = group_sm80();
    t.least_sm = 90, t.shared_bytes = 200 * 1024;
    t.u32_bytes = 32 << 10;
    t.few_parts = 132;
    return t;
}

constexpr GroupTuning group_rows[] = {group_sm75(), group_sm80_99kb(), group_sm80(), group_sm90()};
constexpr GroupTuning group_tuning = row_for(group_rows);

} // namespace GPI_SPACE
