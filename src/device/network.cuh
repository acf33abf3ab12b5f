/* SPDX-License-Identifier: MIT */
/*
 * Words sorted in the registers of neighbouring threads, E each: those of a thread by Batcher's
 * odd-even merge sort, and between threads by his bitonic merges (Batcher 1968).
 */
#pragma once

#include <type_traits>

#include "device/warp.cuh"

namespace GPI_SPACE
{

/* A key of 8 bytes, and where it was. */
struct PlacedKey {
    uint32_t place, low, high;

    GPI_DEVICE uint64_t key() const
    {
        return (uint64_t)high << 32 | low;
    }

    GPI_DEVICE friend bool operator<(const PlacedKey &a, const PlacedKey &b)
    {
        const bool below = a.key() < b.key(), same = a.key() == b.key();
        return below | (same & (a.place < b.place)); /* without branches */
    }
};

template <class W> GPI_DEVICE void put_in_order(W &a, W &b)
{
    if constexpr (std::is_same_v<W, uint32_t>) {
        const W low = min(a, b), high = max(a, b);
        a = low, b = high;
    } else {
        const bool swap = b < a;
        const W low = pick(swap, b, a), high = pick(swap, a, b);
        a = low, b = high;
    }
}

/* The greater one of two words if the thread is the upper one of those that have them. */
template <class W> GPI_DEVICE W of_side(W own, W other, bool upper)
{
    return pick((own < other) != upper, own, other);
}

/* From the step on that compares words `apart` of lists of P words each. */
template <int P = 1, int APART = 1, class W, int E> GPI_DEVICE void sort_thread(W (&w)[E])
{
#pragma unroll
    for (int i = APART % P; i < E - APART; i++)
        if ((i - APART % P) / APART % 2 == 0 && i / (2 * P) == (i + APART) / (2 * P))
            put_in_order(w[i], w[i + APART]);
    if constexpr (APART > 1)
        sort_thread<P, APART / 2>(w);
    else if constexpr (2 * P < E)
        sort_thread<2 * P, 2 * P>(w);
}

/* Words of a thread that rise and then fall, or fall and rise. */
template <class W, int E> GPI_DEVICE void merge_thread(W (&w)[E])
{
#pragma unroll
    for (int apart = E / 2; apart; apart /= 2)
#pragma unroll
        for (int k = 0; k < E; k++)
            if (!(k & apart))
                put_in_order(w[k], w[k + apart]);
}

/* Two sorted lists of as many lanes each become one that rises and one that falls or the other way
 * round, all words of the first one below those of the second. */
template <class W, int E> GPI_DEVICE void halve_lists(W (&w)[E], int lanes)
{
    const bool upper = lane_id() & lanes / 2;
#pragma unroll
    for (int k = 0; k < E / 2; k++) {
        const W first = shuffle_xor(w[E - 1 - k], lanes - 1);
        const W last = shuffle_xor(w[k], lanes - 1);
        w[k] = of_side(w[k], first, upper);
        w[E - 1 - k] = of_side(w[E - 1 - k], last, upper);
    }
}

template <class W, int E> GPI_DEVICE void exchange_lanes(W (&w)[E], int apart)
{
    const bool upper = lane_id() & apart;
#pragma unroll
    for (int k = 0; k < E; k++)
        w[k] = of_side(w[k], shuffle_xor(w[k], apart), upper);
}

/* The words of each 2 lanes .. of `lanes` lanes become one ascending list, of two that are. */
template <class W, int E> GPI_DEVICE void merge_lanes(W (&w)[E], int lanes)
{
    halve_lists(w, lanes);
#pragma unroll 1
    for (int apart = lanes / 4; apart; apart /= 2)
        exchange_lanes(w, apart);
    merge_thread(w);
}

} // namespace GPI_SPACE
