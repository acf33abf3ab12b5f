/* SPDX-License-Identifier: MIT */
/*
 * Words of a bucket that agree in all but their positions, after it was sorted by words without the
 * lowest bits (radixsort_bucket_bins.cuh): in the order of their keys.
 */
#pragma once

#include "device/undefined.cuh"
#include "device/warp.cuh"

namespace GPI_SPACE
{

/* How many words from p on agree; 0 if p is not the first of them. */
template <class Bins> GPI_DEVICE int ties_at(const Bins &b, int p)
{
    const int positions = b.position_bits();
    const auto own = b.s.words[p] >> positions;
    int end = p + 1;
    if (p > 0 && b.s.words[p - 1] >> positions == own)
        return 0;
    while (end < b.count && b.s.words[end] >> positions == own)
        end++;
    return end - p;
}

template <class Bins, class K>
GPI_DEVICE void insertion(const Bins &b, const K *keys_in, int begin, int end)
{
    const auto key = [&](int p) { return b.word_of(keys_in[b.position(p)]); };
    for (int i = begin + 1; i < end; i++)
        for (int j = i; j > begin && key(j) < key(j - 1); j--) {
            const auto word = b.s.words[j];
            b.s.words[j] = b.s.words[j - 1];
            b.s.words[j - 1] = word;
        }
}

/* By a whole block. They share a bin, so they are few. */
template <class Bins, class K> GPI_DEVICE void order_ties(const Bins &b, const K *keys_in)
{
    int ties[Bins::items_of_thread], most = 0;
    leave_undefined<Bins::in_loop>(ties);
    b.for_rows([&](int i) {
        ties[i] = ties_at(b, Bins::item(i));
        most = max(most, ties[i]);
    });
    if (!__syncthreads_or(most > 1))
        return;
    b.for_rows([&](int i) { insertion(b, keys_in, Bins::item(i), Bins::item(i) + ties[i]); });
    __syncthreads();
}

/* As a call, which leaves words of 4 bytes the registers for their other ways. */
template <class Bins, class K>
__device__ __noinline__ void call_order_ties(const Bins &b, const K *keys_in)
{
    order_ties(b, keys_in);
}

} // namespace GPI_SPACE
