/* SPDX-License-Identifier: MIT */
/* Small kernels of calls over ranks. They read little, so they find out about widths on the way. */
#include <cuda_runtime.h>

#include "device/elementwise.cuh"
#include "device/host.cuh"
#include "dist/dist_internal.h"
#include "tuning/elementwise_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

GPI_DEVICE uint64_t integer_at(size_t bytes, const void *in, uint64_t i)
{
    switch (bytes) {
    case 1:
        return ((const uint8_t *)in)[i];
    case 2:
        return ((const uint16_t *)in)[i];
    case 4:
        return ((const uint32_t *)in)[i];
    default:
        return ((const uint64_t *)in)[i];
    }
}

GPI_DEVICE uint64_t word_at(const gpi_dist_kernel &k, uint64_t i)
{
    const uint64_t key = integer_at(k.in_bytes, k.in, i);
    return GPI_DIST_WORD(&k.order, k.in_bytes, key);
}

/* A grid of any size: out[i] = keys of a sorted array whose word is below words[i]. */
__global__ void dist_probe_k(gpi_dist_kernel k)
{
    for (uint64_t i = grid_item(); i < (uint64_t)k.rows; i += grid_items()) {
        uint64_t low = 0, high = k.n;
        while (low < high) {
            const uint64_t middle = low + (high - low) / 2;
            if (word_at(k, middle) < ((const uint64_t *)k.words)[i])
                low = middle + 1;
            else
                high = middle;
        }
        ((uint64_t *)k.out)[i] = low;
    }
}

/* A grid of any size: out[i] = the word of key number i of a sample. */
__global__ void dist_sample_k(gpi_dist_kernel k)
{
    for (uint64_t i = grid_item(); i < (uint64_t)k.rows; i += grid_items())
        ((uint64_t *)k.out)[i] = word_at(k, GPI_DIST_SAMPLED(k.n, k.rows, i));
}

/* A grid of any size: out[i] = the sum over rows of in[r * n + i], and offset. */
__global__ void dist_add_k(gpi_dist_kernel k)
{
    for (uint64_t i = grid_item(); i < k.n; i += grid_items()) {
        uint64_t sum = k.offset;
        for (int r = 0; r < k.rows; r++)
            sum += integer_at(k.in_bytes, k.in, (uint64_t)r * k.n + i);
        if (k.out_bytes == 8)
            ((uint64_t *)k.out)[i] = sum;
        else
            ((uint32_t *)k.out)[i] = (uint32_t)sum;
    }
}

/* A grid of any size: columns as places of x, see gpi_dist_renumber(). */
__global__ void dist_renumber_k(gpi_dist_kernel k)
{
    for (uint64_t i = grid_item(); i < k.n; i += grid_items()) {
        const uint64_t column = integer_at(k.in_bytes, k.in, i);
        const bool is_own = column - k.offset < k.own;
        uint64_t low = 0, high = is_own ? 0 : k.count;
        while (low < high) {
            const uint64_t middle = low + (high - low) / 2;
            if (integer_at(k.in_bytes, k.words, middle) < column)
                low = middle + 1;
            else
                high = middle;
        }
        const uint64_t place = is_own ? column - k.offset : k.own + low;
        if (k.in_bytes == 8)
            ((uint64_t *)k.out)[i] = place;
        else
            ((uint32_t *)k.out)[i] = (uint32_t)place;
    }
}

/* Words of a list that are at most that key. */
GPI_DEVICE uint32_t up_to(const uint64_t *list, uint32_t count, uint64_t key)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (list[middle] <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A grid of any size: numbers of rows, see gpi_dist_number_rows(). */
__global__ void dist_number_k(gpi_dist_kernel k)
{
    constexpr int AT_ONCE = 4; /* neighbours, whose numbers of a byte are one word */
    for (uint64_t i = AT_ONCE * grid_item(); i < k.n; i += AT_ONCE * grid_items()) {
        const int here = k.n - i < AT_ONCE ? (int)(k.n - i) : AT_ONCE;
        uint32_t number[AT_ONCE] = {0};
#pragma unroll
        for (int a = 0; a < AT_ONCE; a++)
            if (a < here)
                number[a] = up_to((const uint64_t *)k.words, (uint32_t)k.rows,
                                  integer_at(k.in_bytes, k.in, i + (uint64_t)a));
        if (k.out_bytes == 1 && here == AT_ONCE)
            *(uint32_t *)((uint8_t *)k.out + i) =
                number[0] | number[1] << 8 | number[2] << 16 | number[3] << 24;
        else
            for (int a = 0; a < here; a++)
                if (k.out_bytes == 1)
                    ((uint8_t *)k.out)[i + (uint64_t)a] = (uint8_t)number[a];
                else
                    ((uint32_t *)k.out)[i + (uint64_t)a] = number[a];
    }
}

/* A grid of any size; 10 KB of shared memory: keys in parts of intervals, see gpi_dist_count(),
 * are added to out. */
__global__ void dist_count_k(gpi_dist_kernel k)
{
    constexpr int AT_ONCE = 4; /* reads that are under way together */
    __shared__ uint32_t found[GPI_DIST_PROBES + GP_COMM_RANKS_MAX];
    const uint64_t *starts = (const uint64_t *)k.words;
    const int bins = k.rows << k.step;
    for (int b = (int)threadIdx.x; b < bins; b += elementwise_threads)
        found[b] = 0;
    __syncthreads();
    for (uint64_t i = grid_item(); i < k.n; i += AT_ONCE * grid_items()) {
        uint64_t key[AT_ONCE];
#pragma unroll
        for (int a = 0; a < AT_ONCE; a++) {
            const uint64_t at = i + (uint64_t)a * grid_items();
            key[a] = at < k.n ? integer_at(k.in_bytes, k.in, at) : UINT64_MAX; /* in no interval */
        }
#pragma unroll
        for (int a = 0; a < AT_ONCE; a++) {
            const uint32_t j = up_to(starts, (uint32_t)k.rows, key[a]);
            const uint64_t in = j ? key[a] - starts[j - 1] : UINT64_MAX;
            if (in >> k.bits == 0)
                atomicAdd(&found[((j - 1) << k.step) + (uint32_t)(in >> (k.bits - k.step))], 1u);
        }
    }
    __syncthreads();
    for (int b = (int)threadIdx.x; b < bins; b += elementwise_threads)
        if (found[b])
            atomicAdd((unsigned long long *)k.out + b, (unsigned long long)found[b]);
}

/* A grid of any size: the words of single items, then those of an array. */
template <class Word> __global__ void dist_collect_k(const __grid_constant__ gpi_dist_collection c)
{
    const uint32_t words = (uint32_t)(c.item_bytes / sizeof(Word));
    const uint64_t single = (uint64_t)c.count * words, all = single + c.n * words;
    for (uint64_t i = grid_item(); i < all; i += grid_items()) {
        const Word *from = (const Word *)c.in + (i - single);
        if (i < single) {
            const void *item = c.item[i / words];
            from = (const Word *)(item ? item : c.given) + i % words;
        }
        ((Word *)c.out)[i] = *from;
    }
}

} // namespace

static gp_status collect(gp_context *ctx, const char *function, const gpi_dist_collection *c)
{
    const bool wide = c->item_bytes % 4 == 0;
    const uint64_t words = ((uint64_t)c->count + c->n) * (c->item_bytes / (wide ? 4 : 1));
    const unsigned grid = elementwise_grid(ctx, words, elementwise_tuning.blocks_per_sm);
    auto kernel = wide ? dist_collect_k<uint32_t> : dist_collect_k<uint8_t>;
    kernel<<<grid, elementwise_threads, 0, ctx->stream>>>(*c);
    return gpi_cuda_launched(ctx, function);
}

} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_dist_launch)(gp_context *ctx, const char *function,
                                                   const gpi_dist_kernel *kernel)
{
    using namespace GPI_SPACE;
    static void (*const kernels[])(gpi_dist_kernel) = {
        dist_probe_k, dist_sample_k,   nullptr,       dist_add_k,
        dist_add_k,   dist_renumber_k, dist_number_k, dist_count_k}; /* as enum gpi_dist_task */
    gpi_dist_kernel k = *kernel;
    if (k.task == GPI_DIST_COLLECT)
        return collect(ctx, function, k.items);
    if (k.task == GPI_DIST_SHIFT)
        k.rows = 1;
    const bool words = k.task == GPI_DIST_PROBE || k.task == GPI_DIST_SAMPLE;
    const uint64_t threads = words ? (uint64_t)k.rows : k.n;
    const unsigned grid = elementwise_grid(ctx, threads, elementwise_tuning.blocks_per_sm);
    kernels[k.task]<<<grid, elementwise_threads, 0, ctx->stream>>>(k);
    return gpi_cuda_launched(ctx, function);
}
