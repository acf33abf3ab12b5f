/* SPDX-License-Identifier: MIT */
/* The kernels of fill and iota. */
#pragma once

#include <stdint.h>

#include "device/elementwise.cuh"
#include "device/item_count.cuh"
#include "device/ops.cuh"

extern "C" {
#include "fill/fill_internal.h"
}

namespace GPI_SPACE
{
namespace
{

constexpr uint32_t fill_small = 64; /* bytes of an item that come with the launch that repeats it */
constexpr uint32_t fill_piece = 3840; /* of a longer one, with each launch before */

template <uint32_t BYTES> struct FillBytes {
    uint8_t at[BYTES];
};

/* A part of the first item, if there is one. Grid: one block; 256 threads. */
__global__ void __launch_bounds__(elementwise_threads)
    fill_first_k(const __grid_constant__ FillBytes<fill_piece> piece, const uint32_t bytes,
                 const gpi_fill_args a, uint8_t *to)
{
    if (item_count(a) == 0)
        return;
    for (uint32_t b = threadIdx.x; b < bytes; b += elementwise_threads)
        to[b] = piece.at[b];
}

constexpr uint32_t fill_line = 128; /* bytes that are better not stored in two parts */

/* Where the words of an output are, from the first line on, and what is at its ends. */
struct FillSpan {
    uint8_t *begin, *end, *first; /* first: the first word */
    uint64_t words;

    GPI_DEVICE FillSpan(uint8_t *begin, uint8_t *end)
        : begin(begin), end(end), first(begin + (0 - (uintptr_t)begin) % fill_line)
    {
        first = first < end ? first : end;
        words = (uint64_t)(end - first) / 16;
    }

    /* The thread's byte before the first word or behind the last one, or NULL: of 144 threads. */
    GPI_DEVICE uint8_t *edge(uint64_t thread) const
    {
        const bool front = thread < fill_line;
        uint8_t *byte = front ? begin + thread : first + 16 * words + (thread - fill_line);
        return thread < fill_line + 16 && byte < (front ? first : end) ? byte : nullptr;
    }
};

/* The 16 bytes of a word whose first one is byte `phase` of an item. */
GPI_DEVICE uint4 fill_word(const uint8_t *item, uint32_t item_bytes, uint32_t phase)
{
    uint32_t word[4];
#pragma unroll
    for (int w = 0; w < 4; w++) {
        word[w] = 0;
#pragma unroll
        for (int b = 0; b < 4; b++) {
            word[w] |= (uint32_t)item[phase] << 8 * b;
            phase = phase + 1 == item_bytes ? 0 : phase + 1;
        }
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

/* Words from one of a thread to its next: those of whole lines, if there are enough threads. */
GPI_DEVICE uint64_t fill_step(uint32_t period)
{
    const uint64_t threads = grid_items(), lines = (uint64_t)period * (fill_line / 16);
    const uint64_t whole = threads / lines * lines, steps = threads / period * period;
    return whole ? whole : steps ? steps : threads;
}

/*
 * Every item, or, if none is given, every one but the first, which is there and is repeated.
 * Grid: at least `period` threads, or as many as there are words; 256 threads. period: of words
 * after which they repeat.
 */
__global__ void __launch_bounds__(elementwise_threads)
    fill_k(const __grid_constant__ FillBytes<fill_small> given, const bool is_given,
           const gpi_fill_args a, const uint32_t period)
{
    __shared__ uint8_t small[fill_small];
    const uint32_t item_bytes = (uint32_t)a.item_bytes;
    const uint64_t n = item_count(a), step = fill_step(period);
    uint8_t *const out = static_cast<uint8_t *>(a.out);
    if (is_given && threadIdx.x < fill_small)
        small[threadIdx.x] = given.at[threadIdx.x];
    __syncthreads();
    if (n == 0)
        return;
    const uint8_t *const item = is_given ? small : out;
    const FillSpan span(out + (is_given ? 0 : item_bytes), out + n * item_bytes);
    if (uint8_t *const edge = span.edge(grid_item()))
        *edge = item[(uint64_t)(edge - out) % item_bytes];
    uint64_t w = grid_item();
    if (w >= step || w >= span.words)
        return;
    uint4 *const words = reinterpret_cast<uint4 *>(span.first);
    const uint64_t place = (uint64_t)(span.first - out) + 16 * w;
    const uint4 word = fill_word(item, item_bytes, (uint32_t)(place % item_bytes));
#pragma unroll 4
    for (; w < span.words; w += step)
        words[w] = word;
}

/* ---- iota ---- */

/* The float next to x towards 0, or x itself, with the last bit set if it is not x: rounded to
 * fewer bits it becomes what x does. */
GPI_DEVICE float odd_float(double x)
{
    const float toward = __double2float_rz(x);
    return __uint_as_float(__float_as_uint(toward) | ((double)toward != x ? 1u : 0u));
}

template <class T> GPI_DEVICE T iota_rounded(double x)
{
    if constexpr (std::is_same_v<T, double>)
        return x;
    else if constexpr (std::is_same_v<T, float>)
        return __double2float_rn(x);
    else
        return narrow<T>(odd_float(x));
}

/* Halves have one NaN. */
template <> GPI_DEVICE f16_t iota_rounded<f16_t>(double x)
{
    return x == x ? narrow<f16_t>(odd_float(x)) : f16_t{0x7fff};
}

template <> GPI_DEVICE bf16_t iota_rounded<bf16_t>(double x)
{
    return x == x ? narrow<bf16_t>(odd_float(x)) : bf16_t{0x7fff};
}

/* Item i + j. */
template <class T> GPI_DEVICE T iota_item(const gpi_iota_args &a, uint64_t i, int j)
{
    if constexpr (std::is_integral_v<T>) {
        using W = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
        return (T)((W)a.first + ((W)i + (W)j) * (W)a.step);
    } else {
        const double place = (double)i + (double)j; /* numbers of items are exact */
        return iota_rounded<T>(__dadd_rn(a.real_first, __dmul_rn(place, a.real_step)));
    }
}

/* Grid: any; 256 threads. After: all items. */
template <class T>
__global__ void __launch_bounds__(elementwise_threads) iota_k(const gpi_iota_args a)
{
    constexpr int V = 16 / sizeof(T);
    T *const out = static_cast<T *>(a.out);
    const uint64_t n = item_count(a);
    uint64_t head = (0 - (uintptr_t)out) % 16 / sizeof(T);
    head = head < n ? head : n;
    const uint64_t words = (n - head) / V, tail = head + words * V;
    if (grid_item() < head)
        out[grid_item()] = iota_item<T>(a, grid_item(), 0);
    if (grid_item() < n - tail)
        out[tail + grid_item()] = iota_item<T>(a, tail + grid_item(), 0);
    for (uint64_t w = grid_item(); w < words; w += grid_items()) {
        union {
            uint4 word;
            T item[V];
        } u;
        const uint64_t i = head + w * V;
#pragma unroll
        for (int j = 0; j < V; j++)
            u.item[j] = iota_item<T>(a, i, j);
        *reinterpret_cast<uint4 *>(out + i) = u.word;
    }
}

} // namespace
} // namespace GPI_SPACE
