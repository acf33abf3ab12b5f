/* SPDX-License-Identifier: MIT */
/* Filter: what is kept of each array, and where rows begin among it, out of a bit for each entry
 * and how many bits are before each word of them. */
#pragma once

extern "C" {
#include "csr/csr_keep.h"
}
#include "csr/csr_kernels.cuh"

namespace GPI_SPACE
{

constexpr int keep_words = 8; /* of a warp at a time */
constexpr uint64_t keep_tile = csr_tuning.threads / 32 * keep_words * 32;

/* The ranks become the bits of each word, of those that have entries and one more. Grid: any. */
template <class Rank> GPI_DEVICE void count_words(const gpi_csr_keep &k, uint64_t n, uint64_t words)
{
    for (uint64_t w = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; w < words;
         w += (uint64_t)gridDim.x * blockDim.x) {
        const uint64_t left = w * 32 < n ? n - w * 32 : 0;
        const uint32_t there = left >= 32 ? ~0u : (1u << left) - 1;
        ((Rank *)k.heads.ranks)[w] = left ? __popc(k.heads.bits[w] & there) : 0;
    }
}

__global__ __launch_bounds__(csr_tuning.threads) void csr_count_bits_k(gpi_csr_keep k,
                                                                       uint64_t words)
{
    const uint64_t n = item_count(ItemCount{k.nnz, k.device_nnz});
    if (k.heads.wide)
        count_words<uint64_t>(k, n, words);
    else
        count_words<uint32_t>(k, n, words);
}

/* The words of a warp; a lane has one, or none. */
struct KeptWords {
    uint64_t first; /* entry */
    uint32_t bits = 0;
    uint64_t rank = 0;

    GPI_DEVICE KeptWords(const gpi_csr_heads &h, uint64_t tile, uint64_t n)
        : first(tile * keep_tile + threadIdx.x / 32 * keep_words * 32)
    {
        const uint64_t word = first / 32 + lane_id();
        if (lane_id() >= keep_words || word * 32 >= n)
            return;
        bits = h.bits[word];
        if (n - word * 32 < 32)
            bits &= (1u << (uint32_t)(n - word * 32)) - 1;
        rank = heads_rank(h, word);
    }

    /* Kept items, of EACH words at once. */
    template <class T, int EACH = 1> GPI_DEVICE void move(const void *in, void *out) const
    {
#pragma unroll 1
        for (int w = 0; w < keep_words; w += EACH) {
            T item[EACH] = {};
#pragma unroll
            for (int k = 0; k < EACH; k++)
                if (shuffle(bits, w + k) >> lane_id() & 1)
                    item[k] = ((const T *)in)[first + 32 * (w + k) + lane_id()];
#pragma unroll
            for (int k = 0; k < EACH; k++) {
                const uint32_t all = shuffle(bits, w + k);
                const uint64_t at = shuffle(rank, w + k);
                if (all >> lane_id() & 1)
                    ((T *)out)[at + __popc(all & ((1u << lane_id()) - 1))] = item[k];
            }
        }
    }
};

GPI_DEVICE void keep_array(const KeptWords &w, const gpi_csr_kept &array)
{
    switch (array.item_bytes) {
    case 0:
        break;
    case 1:
        w.move<uint8_t>(array.in, array.out);
        break;
    case 2:
        w.move<uint16_t>(array.in, array.out);
        break;
    case 4:
        w.move<uint32_t, keep_words>(array.in, array.out);
        break;
    default:
        w.move<uint64_t, keep_words>(array.in, array.out);
    }
}

template <class O>
GPI_DEVICE void keep_pointers(const gpi_csr_keep &k, uint64_t n, uint64_t num_rows, uint32_t block,
                              uint32_t blocks)
{
    for (uint64_t r = (uint64_t)block * blockDim.x + threadIdx.x; r <= num_rows;
         r += (uint64_t)blocks * blockDim.x)
        ((O *)k.out_pointers)[r] =
            (O)heads_before(k.heads, min((uint64_t)((const O *)k.pointers)[r], n));
}

/* Grid: entry_blocks for entries, the others for row pointers. */
__global__
__launch_bounds__(csr_tuning.threads) void csr_keep_k(const __grid_constant__ gpi_csr_keep k,
                                                      uint32_t entry_blocks)
{
    const uint64_t n = item_count(ItemCount{k.nnz, k.device_nnz});
    if (blockIdx.x >= entry_blocks) {
        const uint64_t rows = item_count(ItemCount{k.num_rows, k.device_num_rows});
        const uint32_t block = blockIdx.x - entry_blocks, blocks = gridDim.x - entry_blocks;
        if (k.offset_bytes == 8)
            keep_pointers<uint64_t>(k, n, rows, block, blocks);
        else
            keep_pointers<uint32_t>(k, n, rows, block, blocks);
        return;
    }
    for (uint64_t tile = blockIdx.x; tile * keep_tile < n; tile += entry_blocks) {
        const KeptWords words(k.heads, tile, n);
#pragma unroll 1
        for (int i = 0; i < GPI_CSR_KEPT_ARRAYS; i++)
            keep_array(words, k.arrays[i]);
    }
}

} // namespace GPI_SPACE
