/* SPDX-License-Identifier: MIT */
/*
 * What a multiprocessor of each architecture has, and how a room finds its row of numbers.
 *
 * A row of src/tuning is a struct that begins with
 *
 *     int least_sm, shared_bytes;      the architecture from which on it is meant, and the shared
 *                                      memory that its largest block needs
 *
 * and the rows of a room stand in rising order. A GPU takes the last one that is for its
 * architecture or an older one and that fits.
 */
#pragma once

#include "device/space.cuh"

namespace GPI_SPACE
{

struct Gpu {
    int sm;
    int block_shared_bytes; /* that a block may have, if it asks for it */
    int threads;            /* that run at once */
};

constexpr int gpu_block_threads = 1024; /* of every architecture */

/* CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". */
constexpr Gpu gpus[] = {
    {75, 64 * 1024, 1024},   {80, 163 * 1024, 2048},  {86, 99 * 1024, 1536},
    {87, 163 * 1024, 1536},  {89, 99 * 1024, 1536},   {90, 227 * 1024, 2048},
    {100, 227 * 1024, 2048}, {103, 227 * 1024, 2048}, {110, 227 * 1024, 1536},
    {120, 99 * 1024, 1536},  {121, 99 * 1024, 1536},
};

/* Of an architecture that is not listed: those of the newest before it. */
constexpr Gpu gpu_of(int sm)
{
    Gpu found = gpus[0];
    for (const Gpu &gpu : gpus)
        if (gpu.sm <= sm)
            found = gpu;
    return found;
}

/* Of the architecture that is compiled for. */
constexpr Gpu gpu = gpu_of(GPI_SM);

/* Warps that load stages: one where there are bulk copies, which one lane starts. */
constexpr int loader_warps(int without_bulk_copies)
{
    return GPI_SM >= 90 ? 1 : without_bulk_copies;
}

template <class Row> constexpr bool row_fits(const Row &row, const Gpu &g)
{
    return row.least_sm <= g.sm && row.shared_bytes <= g.block_shared_bytes;
}

template <class Row, int N> constexpr Row row_for(const Row (&rows)[N], const Gpu &g = gpu)
{
    Row found = rows[0];
    for (const Row &row : rows)
        if (row_fits(row, g))
            found = row;
    return found;
}

} // namespace GPI_SPACE
