/* SPDX-License-Identifier: MIT */
/* The first steps: global memory alone, no thread helps another within a kernel. */
#include "ladder.cuh"

#include <utility>

namespace
{
// Grid: one thread. The loop that a CPU would run: n additions, each after the other.
__global__ void one_thread_k(const item *in, size_t n, item *out)
{
    item sum = 0;
    for (size_t i = 0; i < n; i++)
        out[i] = sum += in[i];
}

// Grid: a block of one thread per part of block_items items. sums[b]: the sum of part b.
__global__ void scan_parts_k(const item *in, size_t n, item *out, item *sums)
{
    size_t first = size_t(blockIdx.x) * block_items;
    item sum = 0;
    for (size_t i = first; i < first + block_items && i < n; i++)
        out[i] = sum += in[i];
    sums[blockIdx.x] = sum;
}

// Grid: a block of one thread per part but the first. Adds the sum of all parts before.
__global__ void add_to_parts_k(item *out, size_t n, const item *sums)
{
    size_t first = (size_t(blockIdx.x) + 1) * block_items;
    item before = sums[blockIdx.x];
    for (size_t i = first; i < first + block_items && i < n; i++)
        out[i] += before;
}

// Grid: a thread per item. Each item takes up the sum of the d items that end d places before it.
__global__ void __launch_bounds__(block_items)
    add_left_k(const item *from, item *to, size_t n, size_t d)
{
    size_t i = size_t(blockIdx.x) * block_items + threadIdx.x;
    if (i < n)
        to[i] = i >= d ? from[i] + from[i - d] : from[i];
}
} // namespace

// The serial loop, as it is: work n, depth n.
extern "C" int ladder_one_thread(struct bench *b, const struct bench_args *a)
{
    scan_call c = call_of(b, a);
    one_thread_k<<<1, 1, 0, c.stream>>>(c.in, c.n, c.out);
    return ladder_result();
}

// New: many multiprocessors. The array is cut into parts, each scanned by a block of one thread;
// then the parts' sums are scanned and added. The cut is the oldest idea of all: Blelloch
// 1990, 1.3.
extern "C" int ladder_thread_per_block(struct bench *b, const struct bench_args *a)
{
    scan_call c = call_of(b, a);
    unsigned parts = unsigned(divide_up(c.n, block_items));
    item *sums = temp_items(b, parts);
    scan_parts_k<<<parts, 1, 0, c.stream>>>(c.in, c.n, c.out, sums);
    one_thread_k<<<1, 1, 0, c.stream>>>(sums, parts, sums);
    if (parts > 1)
        add_to_parts_k<<<parts - 1, 1, 0, c.stream>>>(c.out, c.n, sums);
    return ladder_result();
}

// New: a thread per item, so that neighbours read neighbouring words. log2(n) passes over memory
// and n log2(n) additions. Hillis and Steele 1986.
extern "C" int ladder_thread_per_item(struct bench *b, const struct bench_args *a)
{
    scan_call c = call_of(b, a);
    unsigned blocks = unsigned(divide_up(c.n, block_items));
    int passes = 1;
    while (size_t(1) << passes < c.n)
        passes++;
    // Two buffers in turn, begun such that the last pass writes out.
    item *to = c.out, *other = temp_items(b, c.n);
    if (passes % 2 == 0)
        std::swap(to, other);
    const item *from = c.in;
    for (int pass = 0; pass < passes; pass++) {
        add_left_k<<<blocks, block_items, 0, c.stream>>>(from, to, c.n, size_t(1) << pass);
        from = to;
        std::swap(to, other);
    }
    return ladder_result();
}
