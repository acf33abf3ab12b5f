/* SPDX-License-Identifier: MIT */
/*
 * What the kernels that walk along the merge path share, and parts of it. Repeated items are in
 * balance_expand.cuh, segments and ranks of items in balance_search.cuh.
 */
#pragma once

#include "balance/balance_walk.cuh"

namespace GPI_SPACE::balance
{

/* Blocks on a multiprocessor for which the compiler saves registers. */
constexpr int resident(int blocks)
{
    return blocks * threads <= gpu.threads ? blocks : gpu.threads / threads;
}

/* The count, and whether it is what was said, by one thread of the launch. */
GPI_DEVICE void settle_total(uint64_t num_segments, uint64_t limit, uint64_t total,
                             bool may_cover_less, bool capped, uint64_t *out_count,
                             gpi_reporter reporter)
{
    if (capped || may_cover_less ? total > limit : total != limit)
        report_alone(reporter, capped ? GPI_RULE_CAPACITY : GPI_RULE_SPAN,
                     capped ? GPI_NO_INDEX : num_segments, total, limit);
    if (out_count)
        *out_count = total;
}

/* The same by all. */
template <class Offset>
GPI_DEVICE void settle_count(const segments<Offset> &g, uint64_t limit, bool may_cover_less,
                             gpi_reporter reporter)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        settle_total(g.num_segments, limit, g.total(), may_cover_less, false, nullptr, reporter);
}

/* Store V values at a place of the tile: as one vector if all are items of the tile. PASSING: ahead
 * of others, the L2 gives them up. */
template <int V, bool PASSING = false, class Item>
GPI_DEVICE void store_values(const tile &t, uint32_t place, const Item (&values)[V], Item *out,
                             bool aligned)
{
    const uint32_t end = t.pad + (uint32_t)(t.i1 - t.i0);
    Item *to = out + ((int64_t)t.i0 - (int64_t)t.pad + (int64_t)place);
    if (aligned && place >= t.pad && place + V <= end) {
        union {
            uint4 vector;
            Item value[V];
        } u;
#pragma unroll
        for (int j = 0; j < V; j++)
            u.value[j] = values[j];
        if constexpr (PASSING)
            __stcs(reinterpret_cast<uint4 *>(to), u.vector);
        else
            *reinterpret_cast<uint4 *>(to) = u.vector;
        return;
    }
#pragma unroll
    for (int j = 0; j < V; j++)
        if (place + j >= t.pad && place + j < end)
            to[j] = values[j];
}

/* Places by which out + i misses the vector boundary before it. */
template <class Item> GPI_DEVICE uint32_t misalignment(const Item *out, uint64_t i)
{
    return (uint32_t)(((uintptr_t)out / sizeof(Item) + i) % (16 / sizeof(Item)));
}

/*
 * Where every part of a merge path begins. Grid: any; 288 threads; no shared memory.
 * After: row_starts[p] and nnz_starts[p] for all p <= parts.
 */
template <class Offset>
__global__ void __launch_bounds__(threads)
    partition_k(const Offset *__restrict__ offsets, walk_size size, uint64_t parts,
                Offset *__restrict__ row_starts, Offset *__restrict__ nnz_starts,
                gpi_reporter reporter)
{
    size.take_counts();
    const segments<Offset> g(offsets, size.num_segments);
    settle_count(g, size.limit, size.may_cover_less, reporter);
    const uint64_t num_rows = g.num_segments;
    const uint64_t nnz = size.may_cover_less ? min(size.limit, g.total()) : size.limit;
    const uint64_t share = (num_rows + nnz + parts - 1) / parts;
    for (uint64_t p = (uint64_t)blockIdx.x * threads + threadIdx.x; p <= parts;
         p += (uint64_t)gridDim.x * threads) {
        uint64_t d = min(p * share, num_rows + nnz);
        uint64_t row = merge_path_search(offsets, g.base, num_rows, nnz, d);
        row_starts[p] = (Offset)row;
        nnz_starts[p] = (Offset)(d - row);
    }
}

/* Grid: any. */
template <class Offset>
__global__ void __launch_bounds__(threads)
    plan_k(const Offset *__restrict__ offsets, uint64_t num_segments, uint64_t num_items,
           gpi_balance_plan *plan)
{
    const uint64_t begins = (num_segments + num_items) / GPI_BALANCE_PLAN_STEPS + 1;
    const Offset base = offsets[0];
    for (uint64_t k = (uint64_t)blockIdx.x * threads + threadIdx.x; k < begins;
         k += (uint64_t)gridDim.x * threads)
        plan->begins[k] =
            merge_path_search(offsets, base, num_segments, num_items, k * GPI_BALANCE_PLAN_STEPS);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        plan->num_segments = num_segments;
        plan->num_items = num_items;
    }
}

} // namespace GPI_SPACE::balance
