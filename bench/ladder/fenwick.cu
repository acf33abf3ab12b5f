/* SPDX-License-Identifier: MIT */
/*
 * A scan as a data structure: build a Fenwick tree, then query it at every position. Node j,
 * counted from 1, holds the sum of the items (j - b, j], where b is the lowest bit set in j; the
 * prefix at j is the sum of the nodes that are left when j loses its lowest bit again and again.
 * Fenwick 1994.
 */
#include "ladder.cuh"

namespace
{
// Grid: a block per block_items items. out: the tree of each block by itself, node j at j - 1.
// nodes: the tree over the blocks' sums, zero before; block sums are added to every node that
// covers them.
__global__ void __launch_bounds__(block_items)
    build_k(const item *in, size_t n, item *out, item *nodes, unsigned blocks)
{
    __shared__ item s[block_items];
    unsigned t = threadIdx.x;
    size_t i = size_t(blockIdx.x) * block_items + t;
    s[t] = i < n ? in[i] : 0;
    // A node that 2d divides takes the node d before it; those two do not change at this level.
    for (unsigned d = 1; d < block_items; d *= 2) {
        __syncthreads();
        if ((t + 1) % (2 * d) == 0)
            s[t] += s[t - d];
    }
    if (i < n)
        out[i] = s[t];
    if (t == block_items - 1)
        for (unsigned j = blockIdx.x + 1; j <= blocks; j += j & (0u - j))
            atomicAdd(nodes + j, s[t]);
}

// Grid: as build_k. out: the trees, then the prefixes.
__global__ void __launch_bounds__(block_items) query_k(item *out, size_t n, const item *nodes)
{
    __shared__ item s[block_items];
    __shared__ item s_before;
    unsigned t = threadIdx.x;
    size_t i = size_t(blockIdx.x) * block_items + t;
    s[t] = i < n ? out[i] : 0;
    if (t < 32) { // lane k: the node at which bit k of the block's number is the lowest
        item sum = blockIdx.x >> t & 1 ? nodes[blockIdx.x >> t << t] : 0;
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_xor_sync(all_lanes, sum, d);
        if (t == 0)
            s_before = sum;
    }
    __syncthreads();
    item sum = s_before;
    for (unsigned j = t + 1; j > 0; j &= j - 1)
        sum += s[j - 1];
    if (i < n)
        out[i] = sum;
}
} // namespace

// New: two kernels with no scan in either; the second needs log2(n) reads for an item, 10 of them
// in shared memory.
extern "C" int ladder_fenwick(struct bench *b, const struct bench_args *a)
{
    scan_call c = call_of(b, a);
    unsigned blocks = unsigned(divide_up(c.n, block_items));
    item *nodes = temp_items(b, blocks + 1);
    cudaError_t e = cudaMemsetAsync(nodes, 0, (blocks + 1) * sizeof *nodes, c.stream);
    build_k<<<blocks, block_items, 0, c.stream>>>(c.in, c.n, c.out, nodes, blocks);
    query_k<<<blocks, block_items, 0, c.stream>>>(c.out, c.n, nodes);
    return ladder_result(e);
}
