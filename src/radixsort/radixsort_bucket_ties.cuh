/* SPDX-License-Identifier: MIT */
/*
 * Words of a bucket that agree in all but their positions, after it was sorted by words without the
 * lowest bits (radixsort_bucket_bins.cuh): in the order of their keys.
 */
#pragma once

#include "device/warp.cuh"

namespace GPI_SPACE
{

/* How many words from p on agree, largest_bin + 1 at most; 0 if p is not the first of them. */
template <class Bins> GPI_DEVICE int ties_at(const Bins &b, int p)
{
    const int positions = b.position_bits();
    const auto own = b.s.words[p] >> positions;
    int end = p + 1;
    if (p > 0 && b.s.words[p - 1] >> positions == own)
        return 0;
    while (end < b.count && end - p <= Bins::largest_bin && b.s.words[end] >> positions == own)
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

/* By a whole block; false if too many agree. */
template <class Bins, class K> GPI_DEVICE bool order_ties(const Bins &b, const K *keys_in)
{
    int ties[Bins::items_of_thread], most = 0;
    b.for_rows([&](int i) {
        ties[i] = ties_at(b, Bins::item(i));
        most = max(most, ties[i]);
    });
    if (!__syncthreads_or(most > 1))
        return true;
    if (__syncthreads_or(most > Bins::largest_bin))
        return false;
    b.for_rows([&](int i) { insertion(b, keys_in, Bins::item(i), Bins::item(i) + ties[i]); });
    __syncthreads();
    return true;
}

} // namespace GPI_SPACE
