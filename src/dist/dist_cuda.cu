/* SPDX-License-Identifier: MIT */
/* Small kernels of calls over ranks. They read little, so they find out about widths on the way. */
#include <cuda_runtime.h>

#include "device/elementwise.cuh"
#include "device/host.cuh"
#include "device/key_order.cuh"
#include "dist/dist_internal.h"
#include "tuning/elementwise_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

/* A grid of any size: out[i] = keys of a sorted array whose word is below words[i]. */
template <class Key> __global__ void dist_probe_k(gpi_dist_kernel k, KeyOrder<Key> order)
{
    for (uint64_t i = grid_item(); i < (uint64_t)k.rows; i += grid_items()) {
        uint64_t low = 0, high = k.n;
        while (low < high) {
            const uint64_t middle = low + (high - low) / 2;
            if ((uint64_t)order.word(((const Key *)k.in)[middle]) < ((const uint64_t *)k.words)[i])
                low = middle + 1;
            else
                high = middle;
        }
        ((uint64_t *)k.out)[i] = low;
    }
}

/* A grid of any size: out[i] = the word of key number i of a sample. */
template <class Key> __global__ void dist_sample_k(gpi_dist_kernel k, KeyOrder<Key> order)
{
    for (uint64_t i = grid_item(); i < (uint64_t)k.rows; i += grid_items())
        ((uint64_t *)k.out)[i] = order.word(((const Key *)k.in)[GPI_DIST_SAMPLED(k.n, k.rows, i)]);
}

GPI_DEVICE uint64_t integer_at(size_t bytes, const void *in, uint64_t i)
{
    return bytes == 8 ? ((const uint64_t *)in)[i] : ((const uint32_t *)in)[i];
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
template <class Index> __global__ void dist_renumber_k(gpi_dist_kernel k)
{
    const Index *list = (const Index *)k.words;
    for (uint64_t i = grid_item(); i < k.n; i += grid_items()) {
        const uint64_t column = ((const Index *)k.in)[i];
        uint64_t low = 0, high = column - k.offset < k.own ? 0 : k.count;
        while (low < high) {
            const uint64_t middle = low + (high - low) / 2;
            if (list[middle] < column)
                low = middle + 1;
            else
                high = middle;
        }
        const bool is_own = column - k.offset < k.own;
        ((Index *)k.out)[i] = (Index)(is_own ? column - k.offset : k.own + low);
    }
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
    gpi_dist_kernel k = *kernel;
    if (k.task == GPI_DIST_COLLECT)
        return collect(ctx, function, k.items);
    const bool words = k.task == GPI_DIST_PROBE || k.task == GPI_DIST_SAMPLE;
    const uint64_t threads = words ? (uint64_t)k.rows : k.n;
    const unsigned grid = elementwise_grid(ctx, threads, elementwise_tuning.blocks_per_sm);
    if (words)
        return with_word(k.in_bytes, [&](auto word) {
            using Key = decltype(word);
            auto kernel = k.task == GPI_DIST_PROBE ? dist_probe_k<Key> : dist_sample_k<Key>;
            kernel<<<grid, elementwise_threads, 0, ctx->stream>>>(k, KeyOrder<Key>(k.order));
            return gpi_cuda_launched(ctx, function);
        });
    if (k.task == GPI_DIST_RENUMBER) {
        if (k.in_bytes == 8)
            dist_renumber_k<uint64_t><<<grid, elementwise_threads, 0, ctx->stream>>>(k);
        else
            dist_renumber_k<uint32_t><<<grid, elementwise_threads, 0, ctx->stream>>>(k);
        return gpi_cuda_launched(ctx, function);
    }
    if (k.task == GPI_DIST_SHIFT)
        k.rows = 1;
    dist_add_k<<<grid, elementwise_threads, 0, ctx->stream>>>(k);
    return gpi_cuda_launched(ctx, function);
}
