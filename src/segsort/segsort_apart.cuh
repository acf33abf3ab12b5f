/* SPDX-License-Identifier: MIT */
/*
 * Segments that fit no block, where keys are alone: words of their number among those segments and
 * of a key, for one sort, and sorted keys out of these. The lists of where they begin are made by
 * the pass over all offsets (segsort_tiles_cuda.cu), in any order.
 */
#pragma once

#include "device/search.cuh"
#include "segsort/segsort_words.cuh"

namespace GPI_SPACE
{

constexpr uint32_t apart_threads = 256, apart_share = 256; /* items of a warp at a time */
constexpr int apart_bits = 41; /* of the number of items, in the list's */

/* Room in the list for a segment, whose number and place among the items are neighbours' ones. */
GPI_DEVICE void put_apart(const gpi_segsort_tiles &a, uint64_t begin, uint64_t length)
{
    const uint64_t at = atomicAdd((unsigned long long *)&a.plan->apart,
                                  (unsigned long long)(1ull << apart_bits | length));
    const uint64_t k = at >> apart_bits;
    if (k >= a.list_room) /* segments of wrong offsets overlap */
        return;
    a.bases[k] = at & ((1ull << apart_bits) - 1);
    a.begins[k] = begin;
}

/* Where items are whose place among those of long segments is known. */
struct ApartPlaces {
    const uint64_t *bases, *begins;
    uint64_t count, items; /* segments; without them, as offsets are wrong, all items are one */

    GPI_DEVICE ApartPlaces(const gpi_segsort_tiles &a, uint64_t n)
        : bases(a.bases), begins(a.begins), count(0), items(n)
    {
        if (a.plan->wrong)
            return;
        count = a.plan->apart >> apart_bits;
        items = a.plan->apart & ((1ull << apart_bits) - 1);
    }

    /* The segment of item i; by a warp. */
    GPI_DEVICE uint64_t segment_of(uint64_t i) const
    {
        return count ? partition_point_warp(bases, count, [=](uint64_t b) { return b <= i; }) - 1
                     : 0;
    }

    GPI_DEVICE uint64_t place(uint64_t segment, uint64_t i) const
    {
        return count ? i - bases[segment] + begins[segment] : i;
    }
};

/* Grid: any. After: words has the items of long segments, plan->items says how many. */
__global__ void __launch_bounds__(apart_threads) segsort_pack_k(gpi_segsort_tiles a)
{
    grid_wait();
    const TileWords<uint32_t, false> words(a);
    const ApartPlaces places(a, item_count(a));
    if (blockIdx.x == 0 && threadIdx.x == 0)
        a.plan->items = places.items;
    const uint64_t step = (uint64_t)gridDim.x * (apart_threads / 32) * apart_share;
    uint64_t first = (blockIdx.x * (uint64_t)(apart_threads / 32) + threadIdx.x / 32) * apart_share;
    for (; first < places.items; first += step) {
        const uint64_t segment = places.segment_of(first); /* or the next one: none is as short */
        const uint64_t next = segment + 1 < places.count ? places.bases[segment + 1] : ~0ull;
#pragma unroll
        for (uint32_t k = 0; k < apart_share / 32; k++) {
            const uint64_t i = first + 32 * k + lane_id(), own = segment + (i >= next);
            if (i < places.items)
                a.words[i] = own << 8 * a.key_bytes |
                             words.word(load_key<uint32_t>(a, places.place(own, i)));
        }
    }
}

/* Grid: any. After: the keys of sorted words are in their segments. */
__global__ void __launch_bounds__(apart_threads) segsort_unpack_k(gpi_segsort_tiles a)
{
    grid_wait();
    const TileWords<uint32_t, false> words(a);
    const ApartPlaces places(a, item_count(a));
    const uint64_t step = (uint64_t)gridDim.x * apart_threads;
#pragma unroll 4
    for (uint64_t i = blockIdx.x * (uint64_t)apart_threads + threadIdx.x; i < places.items;
         i += step) {
        const uint64_t word = a.sorted[i];
        store_key<uint32_t>(a, places.place(word >> 8 * a.key_bytes, i), words.key((uint32_t)word));
    }
}

} // namespace GPI_SPACE
