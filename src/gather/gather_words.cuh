/* SPDX-License-Identifier: MIT */
/*
 * A gather of items that are no whole words of 4 bytes, or do not lie on such, to neighbouring
 * places: a thread makes words of the output, of the end of an item and the beginning of the next.
 */
#pragma once

#include "gather/gather_kernels.cuh"

namespace GPI_SPACE
{
namespace
{

constexpr int joined_batch = 4;      /* words that a thread has on their way at once */
constexpr uint32_t joined_least = 3; /* bytes of an item: a word has two of them at most */

/* A tile's bytes have places of 16 bits, which a multiplication divides by the size of an item. */
struct JoinedShape {
    uint32_t reciprocal, tile_items;
};

/* `bytes` bytes, at most 4, from any address: whole words that have one of them are read. */
GPI_DEVICE uint32_t bytes_from(const char *from, uint32_t bytes)
{
    const uint32_t shift = (uint32_t)(uintptr_t)from % 4;
    const uint32_t *words = (const uint32_t *)(from - shift);
    const uint32_t low = bytes ? words[0] : 0, high = shift + bytes > 4 ? words[1] : 0;
    return __funnelshift_r(low, high, shift * 8);
}

/* Words of a thread, each step of all of them before the next, as in MoveBatch. */
template <class Index> struct JoinedBatch {
    uint32_t item[joined_batch], part[joined_batch], lacks[joined_batch];
    uint32_t own[joined_batch], next[joined_batch];

    GPI_DEVICE void find(const gpi_gather_args &a, const JoinedShape &shape, uint32_t at,
                         uint32_t last)
    {
#pragma unroll
        for (int k = 0; k < joined_batch; k++) {
            const uint32_t place = min(at + 4 * 32 * k, last), bytes = (uint32_t)a.item_bytes;
            item[k] = __umulhi(place, shape.reciprocal);
            part[k] = place - item[k] * bytes;
            /* what the item has less than 4 bytes comes from the next one */
            lacks[k] = (uint32_t)max((int)(part[k] + 4 - bytes), 0);
        }
    }

    GPI_DEVICE void load(const gpi_gather_args &a, const Index *indices)
    {
        Index first[joined_batch], second[joined_batch];
#pragma unroll
        for (int k = 0; k < joined_batch; k++) {
            first[k] = indices[item[k]];
            second[k] = indices[item[k] + (lacks[k] > 0)];
        }
        const char *in = (const char *)a.in;
#pragma unroll
        for (int k = 0; k < joined_batch; k++) {
            own[k] = bytes_from(in + first[k] * a.in_stride + part[k], 4 - lacks[k]);
            next[k] = bytes_from(in + second[k] * a.in_stride, lacks[k]);
        }
    }

    GPI_DEVICE void store(char *out, uint32_t at, uint32_t end) const
    {
#pragma unroll
        for (int k = 0; k < joined_batch; k++)
            if (at + 4 * 32 * k < end)
                *(uint32_t *)(out + at + 4 * 32 * k) =
                    __funnelshift_r(own[k] << 8 * lacks[k], next[k], 8 * lacks[k]);
    }
};

/* Grid: any; 256 threads. After: all outputs. */
template <class Index>
__global__ void __launch_bounds__(elementwise_threads)
    gather_words_k(const gpi_gather_args a, const JoinedShape shape)
{
    const uint32_t bytes = (uint32_t)a.item_bytes;
    const uint64_t n = item_count(a);
    for (uint64_t first = (uint64_t)blockIdx.x * shape.tile_items; first < n;
         first += (uint64_t)gridDim.x * shape.tile_items) {
        const uint64_t left = n - first;
        const uint32_t all = (left < shape.tile_items ? (uint32_t)left : shape.tile_items) * bytes;
        const Index *indices = (const Index *)a.indices + first;
        char *out = (char *)a.out + first * bytes;
        /* Whole words are [head, tail). */
        const uint32_t head = min((uint32_t)(0 - (uintptr_t)out) % 4, all);
        const uint32_t tail = head + (all - head) / 4 * 4;
        for (uint32_t at = head + 4 * (threadIdx.x / 32 * 32 * joined_batch + lane_id()); at < tail;
             at += 4 * joined_batch * elementwise_threads) {
            JoinedBatch<Index> batch;
            batch.find(a, shape, at, tail - 4);
            batch.load(a, indices);
            batch.store(out, at, tail);
        }
        const uint32_t at = threadIdx.x < head ? threadIdx.x : tail + threadIdx.x - head;
        if (threadIdx.x < head + all - tail) {
            const uint32_t item = __umulhi(at, shape.reciprocal);
            out[at] =
                ((const char *)a.in)[(uint64_t)indices[item] * a.in_stride + at - item * bytes];
        }
    }
}

} // namespace
} // namespace GPI_SPACE
