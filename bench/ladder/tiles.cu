/* SPDX-License-Identifier: MIT */
/* Steps with several items a thread: scan-then-fan once more, then reducing before scanning. */
#include "tile.cuh"

namespace
{
// Grid: a block per tile. Scans each tile by itself; sums[b]: the sum of tile b.
__global__ void __launch_bounds__(threads)
    scan_tiles_k(const item *in, size_t n, item *out, item *sums)
{
    __shared__ item s[32];
    size_t first = size_t(blockIdx.x) * tile_items;
    tile t = load_tile(in, n, first);
    item sum = scan_tile(t, s);
    store_tile(t, 0, out, n, first);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

// Grid: a block per tile but the first.
__global__ void __launch_bounds__(threads) add_to_tiles_k(item *out, size_t n, const item *sums)
{
    size_t first = (size_t(blockIdx.x) + 1) * tile_items;
    store_tile(load_tile(out, n, first), sums[blockIdx.x], out, n, first);
}

// Grid: a block per tile. sums[b]: the sum of tile b.
__global__ void __launch_bounds__(threads) reduce_tiles_k(const item *in, size_t n, item *sums)
{
    __shared__ item s[32];
    item sum = block_sum(thread_sum(load_tile(in, n, size_t(blockIdx.x) * tile_items)), s);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

// Grid: a block per tile. sums[b - 1]: the sum of all tiles before tile b.
__global__ void __launch_bounds__(threads)
    scan_from_sums_k(const item *in, size_t n, item *out, const item *sums)
{
    __shared__ item s[32];
    size_t first = size_t(blockIdx.x) * tile_items;
    tile t = load_tile(in, n, first);
    scan_tile(t, s);
    store_tile(t, blockIdx.x ? sums[blockIdx.x - 1] : 0, out, n, first);
}

// The sum of part's tiles: each thread first adds up its own items of all of them.
__global__ void __launch_bounds__(threads)
    reduce_parts_k(const item *in, size_t n, size_t part_items, item *sums)
{
    __shared__ item s[32];
    size_t first = blockIdx.x * part_items, end = first + part_items < n ? first + part_items : n;
    item sum = 0;
    for (; first < end; first += tile_items)
        sum += thread_sum(load_tile(in, n, first));
    sum = block_sum(sum, s);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

// Grid: a block per part. Every block adds up the sums of the parts before its own by itself.
__global__ void __launch_bounds__(threads)
    scan_parts_k(const item *in, size_t n, size_t part_items, item *out, const item *sums)
{
    __shared__ item s[32];
    size_t first = blockIdx.x * part_items, end = first + part_items < n ? first + part_items : n;
    item before = 0;
    for (unsigned k = threadIdx.x; k < blockIdx.x; k += threads)
        before += sums[k];
    before = block_sum(before, s);
    for (; first < end; first += tile_items) {
        tile t = load_tile(in, n, first);
        __syncthreads(); // s is read no more
        item sum = scan_tile(t, s);
        store_tile(t, before, out, n, first);
        before += sum;
    }
}

void scan_then_fan(const scan_call &c, item *sums)
{
    unsigned tiles = unsigned(divide_up(c.n, tile_items));
    scan_tiles_k<<<tiles, threads, 0, c.stream>>>(c.in, c.n, c.out, sums);
    if (tiles == 1)
        return;
    size_t next = divide_up(tiles, 4) * 4; // the sums of the next level, 16-byte aligned
    scan_then_fan({sums, sums, tiles, c.stream}, sums + next);
    add_to_tiles_k<<<tiles - 1, threads, 0, c.stream>>>(c.out, c.n, sums);
}

void reduce_then_scan(const scan_call &c, item *sums)
{
    unsigned tiles = unsigned(divide_up(c.n, tile_items));
    if (tiles > 1) {
        size_t next = divide_up(tiles, 4) * 4;
        reduce_tiles_k<<<tiles, threads, 0, c.stream>>>(c.in, c.n, sums);
        reduce_then_scan({sums, sums, tiles, c.stream}, sums + next);
    }
    scan_from_sums_k<<<tiles, threads, 0, c.stream>>>(c.in, c.n, c.out, sums);
}

// The sums of all levels, each rounded up to 4: fewer than twice those of the first, and some.
item *level_sums(struct bench *b, size_t n)
{
    return temp_items(b, 2 * divide_up(n, tile_items) + 32);
}
} // namespace

// New: 16 items a thread, moved by 16 bytes: fewer steps of the network for an item, fewer
// instructions, more loads in flight. Merrill and Grimshaw 2009.
extern "C" int ladder_items(struct bench *b, const struct bench_args *a)
{
    scan_then_fan(call_of(b, a), level_sums(b, a->n));
    return ladder_result();
}

// New: the first pass only adds up. Memory sees two reads and a write of each item instead of two
// reads and two writes. Dotsenko et al. 2008.
extern "C" int ladder_reduce_then_scan(struct bench *b, const struct bench_args *a)
{
    reduce_then_scan(call_of(b, a), level_sums(b, a->n));
    return ladder_result();
}

// New: as many parts as blocks fit on the GPU at once, so that there are few sums, no recursion and
// two launches at any n. Merrill and Grimshaw 2009.
extern "C" int ladder_two_pass(struct bench *b, const struct bench_args *a)
{
    scan_call c = call_of(b, a);
    int device = 0, sms = 0, resident = 0;
    cudaError_t e = cudaGetDevice(&device);
    if (e == cudaSuccess)
        e = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (e == cudaSuccess)
        e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, scan_parts_k, threads, 0);
    if (e != cudaSuccess)
        return ladder_result(e);
    size_t tiles = divide_up(c.n, tile_items);
    size_t part_items = divide_up(tiles, size_t(sms) * size_t(resident)) * tile_items;
    unsigned parts = unsigned(divide_up(c.n, part_items));
    item *sums = temp_items(b, parts);
    if (parts > 1)
        reduce_parts_k<<<parts, threads, 0, c.stream>>>(c.in, c.n, part_items, sums);
    scan_parts_k<<<parts, threads, 0, c.stream>>>(c.in, c.n, part_items, c.out, sums);
    return ladder_result();
}
