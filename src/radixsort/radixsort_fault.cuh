/* SPDX-License-Identifier: MIT */
/*
 * Faults, for test builds (option fault_injection): in one of seven tiles two items of
 * one digit and one row swap ranks, as if the lanes of a shared-memory addition had been served out
 * of order. What is made and what is repaired is counted. Otherwise empty.
 */
#pragma once

#include <cstdint>

#include "device/warp.cuh"

namespace GPI_SPACE
{

enum RadixFault { fault_made, fault_repaired };

/* An item as a fault sees it. */
struct FaultRow {
    bool valid;
    uint32_t digit, rank;
    uint64_t identity;
};

#ifdef GPI_FAULT
static __device__ unsigned long long radix_faults[2];

/* Every thread of a block or group calls, with its number in it. */
GPI_DEVICE void fault_count(RadixFault which, int thread)
{
    if (thread == 0)
        atomicAdd(&radix_faults[which], 1ull);
}

/* The first two lanes whose items have the same digit, but another identity. */
GPI_DEVICE bool fault_twins(bool valid, uint32_t digit, uint64_t identity, int (&twin)[2])
{
    const uint32_t have = __ballot_sync(all_lanes, valid);
    for (int a = 0; a < 32; a++) {
        const bool same = digit == __shfl_sync(all_lanes, digit, a) && lane_id() > a;
        const bool other = identity != __shfl_sync(all_lanes, identity, a);
        const uint32_t found = __ballot_sync(all_lanes, valid && same && other);
        if (!(have >> a & 1) || !found)
            continue;
        twin[0] = a;
        twin[1] = __ffs(found) - 1;
        return true;
    }
    return false;
}

/*
 * Of a tile, by its number, by one of its warps: items.row(i) describes the item of this thread in
 * row i: whether there is one, its digit, its rank and its identity. Items of one identity cannot
 * be distinguished afterwards. items.set(i, rank) gives the item another rank.
 */
template <int ROWS, class Items>
GPI_DEVICE void fault_swap(uint32_t number, int warp, int warps, Items items)
{
    if (number % 7 != 5 || warp != (int)(number / 7) % warps)
        return;
    bool made = false;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const FaultRow row = items.row(i);
        int twin[2];
        if (made || !fault_twins(row.valid, row.digit, row.identity, twin))
            continue;
        made = true;
        const int from = lane_id() == twin[0] ? twin[1] : twin[0];
        const uint32_t swapped = __shfl_sync(all_lanes, row.rank, from);
        if (lane_id() == twin[0] || lane_id() == twin[1])
            items.set(i, swapped);
    }
    if (made && lane_id() == 0)
        atomicAdd(&radix_faults[fault_made], 1ull);
}
#else
GPI_DEVICE void fault_count(RadixFault, int)
{
}

template <int ROWS, class Items> GPI_DEVICE void fault_swap(uint32_t, int, int, Items)
{
}
#endif

} // namespace GPI_SPACE
