/* SPDX-License-Identifier: MIT */
/*
 * Scans of several kernels. A level of a recursion is an array: that of the caller, or the sums of
 * the tiles of the level below. Blocks of tiles past an n that only the device knows end at once.
 * If all items are in one tile, so do all kernels but the last one.
 *
 * Reduce-then-scan: reduce_k writes a sum per tile; the sums are scanned the same way until they
 * fit one tile; scan_k scans each tile behind its prefix. Reads 2 n, writes n. Work n for the sums
 * besides the tiles' own; depth: two tiles per level, log_T n levels. Source: Dotsenko,
 * Govindaraju, Sloan, Boyd and Manferdelli 2008.
 *
 * Two passes: the array is cut into as many parts as there are blocks; each block reduces its part;
 * then each folds the sums of the parts before its own and scans its part tile after tile.
 * Work n besides the tiles' own; depth m / 256 tiles for m tiles, twice. Reads 2 n, writes n.
 * Source: Merrill and Grimshaw 2009 (parallel scan for stream architectures).
 *
 * Scan-then-fan: scan_k scans each tile alone and writes its total; the totals are scanned the same
 * way; fan_k adds each tile's prefix to its items. Reads 2 n, writes 2 n.
 * Work n to add; depth: one tile and one application per level.
 * Source: Sengupta, Harris, Zhang and Owens 2007; Harris, Sengupta and Owens 2007.
 */
#pragma once

#include "scan/family/family_tile.cuh"

namespace GPI_SPACE
{

/* Grid: a block per tile. Shared: a tile, an accumulator per warp. After: sums, if there are two
 * tiles or more. */
template <class A>
__global__ void __launch_bounds__(Family<A>::threads)
    family_reduce_k(const __grid_constant__ FamilyParams<A> p)
{
    __shared__ A s[Family<A>::tile], part[Family<A>::warps];
    const uint64_t n = level_items(p), first = (uint64_t)blockIdx.x * Family<A>::tile;
    if (is_one_tile<A>(n) || is_behind<A>(n, first))
        return;
    tile_load(p, s, first, tile_count<A>(n, first));
    __syncthreads();
    const A sum = tile_reduce(p.op, s, part);
    if (threadIdx.x == 0)
        p.sums[blockIdx.x] = sum;
}

/* Grid: a block per tile. Shared: a tile, an accumulator per thread. After: outputs
 * behind the tile's prefix (or behind none, if local), sums where asked for; total, row
 * pointer n unless local. */
template <class A>
__global__ void __launch_bounds__(Family<A>::threads)
    family_scan_k(const __grid_constant__ FamilyParams<A> p)
{
    constexpr int T = Family<A>::tile;
    __shared__ A s[T], sums[Family<A>::threads];
    const uint64_t n = level_items(p), first = (uint64_t)blockIdx.x * T;
    const int count = tile_count<A>(n, first);
    if (is_behind<A>(n, first) || is_unneeded(p, n))
        return;
    const A prefix = p.local ? p.op.neutral : blockIdx.x > 0 ? p.prefixes[blockIdx.x] : p.start;
    tile_load(p, s, first, count);
    __syncthreads();
    tile_scan(p.op, p.method, s, sums);
    tile_store(p, s, first, count, prefix);
    if (threadIdx.x > 0)
        return;
    if (p.sums)
        p.sums[blockIdx.x] = s[T - 1];
    if (!p.local && is_last_tile<A>(n, first))
        family_finish(p, n, p.op.apply(prefix, s[T - 1]));
}

/* Grid: a block per tile. in holds the scans of the tiles; out may be in. After: outputs, total,
 * row pointer n. */
template <class A>
__global__ void __launch_bounds__(Family<A>::threads)
    family_fan_k(const __grid_constant__ FamilyParams<A> p)
{
    const uint64_t n = level_items(p), first = (uint64_t)blockIdx.x * Family<A>::tile;
    const int count = tile_count<A>(n, first);
    if (is_behind<A>(n, first) || is_unneeded(p, n))
        return;
    const A prefix = blockIdx.x > 0 ? p.prefixes[blockIdx.x] : p.start;
    with_stored<A>(p.in_dtype, [&](auto tag_in) {
        with_stored<A>(p.out_dtype, [&](auto tag_out) {
            using In = typename decltype(tag_in)::Type;
            using Out = typename decltype(tag_out)::Type;
            bool fits = true;
            for (int i = (int)threadIdx.x; i < count; i += Family<A>::threads) {
                A y = p.op.apply(prefix, stored_load<A, In>(p.in, first + i));
                fits = stored_save<A, Out>(p.out, first + i, y) && fits;
            }
            if (p.wide && !fits)
                report(p.reporter, GPI_RULE_OVERFLOW, GPI_NO_INDEX, 0, 0);
        });
    });
    if (threadIdx.x == 0 && is_last_tile<A>(n, first))
        family_finish(p, n, p.op.apply(prefix, p.sums[blockIdx.x]));
}

/* ---- two passes: part b of gridDim.x parts are the tiles [m b / parts, m (b + 1) / parts) ---- */

struct PartTiles {
    uint64_t begin, end;
};

template <class A> GPI_DEVICE PartTiles part_tiles(uint64_t n)
{
    const uint64_t m = (n + Family<A>::tile - 1) / Family<A>::tile;
    return {m * blockIdx.x / gridDim.x, m * (blockIdx.x + 1) / gridDim.x};
}

/* Grid: a block per part, not more than a block has threads. Shared: a tile, an accumulator per
 * warp. After: sums. */
template <class A>
__global__ void __launch_bounds__(Family<A>::threads)
    family_part_reduce_k(const __grid_constant__ FamilyParams<A> p)
{
    __shared__ A s[Family<A>::tile], part[Family<A>::warps];
    const uint64_t n = item_count(p);
    const PartTiles tiles = part_tiles<A>(n);
    A sum = p.op.neutral;
    for (uint64_t tile = tiles.begin; tile < tiles.end; tile++) {
        const uint64_t first = tile * Family<A>::tile;
        tile_load(p, s, first, tile_count<A>(n, first));
        __syncthreads();
        sum = p.op.apply(sum, tile_reduce(p.op, s, part));
        __syncthreads(); /* s and part are free again */
    }
    if (threadIdx.x == 0)
        p.sums[blockIdx.x] = sum;
}

/* The same grid. Shared: a tile, an accumulator per thread and per warp. After: all outputs, total,
 * row pointer n. */
template <class A>
__global__ void __launch_bounds__(Family<A>::threads)
    family_part_scan_k(const __grid_constant__ FamilyParams<A> p)
{
    constexpr int T = Family<A>::tile;
    __shared__ A s[T], sums[Family<A>::threads], part[Family<A>::warps];
    const uint64_t n = item_count(p);
    const PartTiles tiles = part_tiles<A>(n);
    const A mine = threadIdx.x < blockIdx.x ? p.sums[threadIdx.x] : p.op.neutral;
    A prefix = p.op.apply(p.start, block_reduce_by(p.op, mine, part));
    for (uint64_t tile = tiles.begin; tile < tiles.end; tile++) {
        const uint64_t first = tile * T;
        const int count = tile_count<A>(n, first);
        tile_load(p, s, first, count);
        __syncthreads();
        tile_scan(p.op, p.method, s, sums);
        tile_store(p, s, first, count, prefix);
        prefix = p.op.apply(prefix, s[T - 1]);
        __syncthreads(); /* s is free again */
    }
    if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1)
        family_finish(p, n, prefix);
}

} // namespace GPI_SPACE
