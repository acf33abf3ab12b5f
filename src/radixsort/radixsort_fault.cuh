/* SPDX-License-Identifier: MIT */
/*
 * Faults, for test builds (option fault_injection): in one of seven tiles and buckets two items of
 * one digit and one row swap ranks, as if the lanes of a shared-memory addition had been served out
 * of order. What is made and what is repaired is counted. Otherwise empty.
 */
#pragma once

#include <cstdint>

#include "device/warp.cuh"

namespace GPI_SPACE
{

enum RadixFault { fault_made, fault_repaired };

#ifdef GPI_FAULT
static __device__ unsigned long long radix_faults[2];

/* Every thread of a block calls. */
GPI_DEVICE void fault_count(RadixFault which)
{
    if (threadIdx.x == 0)
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

/* Of tile or bucket number: ranks hold the digit in their low BITS bits, row i has an item for this
 * thread if i * 32 < left. Items of one identity cannot be told apart afterwards. */
template <int BITS, int I, class F>
GPI_DEVICE void fault_swap(uint32_t number, int left, uint32_t (&ranks)[I], F identity)
{
    if (number % 7 != 5 || threadIdx.x / 32 != number / 7 % (blockDim.x / 32))
        return;
    bool made = false;
#pragma unroll
    for (int i = 0; i < I; i++) {
        const bool valid = i * 32 < left;
        const uint32_t rank = valid ? ranks[i] : 0;
        int twin[2];
        if (made || !fault_twins(valid, rank % (1u << BITS), valid ? identity(i) : 0, twin))
            continue;
        made = true;
        const int from = lane_id() == twin[0] ? twin[1] : twin[0];
        const uint32_t swapped = __shfl_sync(all_lanes, rank, from);
        if (lane_id() == twin[0] || lane_id() == twin[1])
            ranks[i] = swapped;
    }
    if (made && lane_id() == 0)
        atomicAdd(&radix_faults[fault_made], 1ull);
}
#else
GPI_DEVICE void fault_count(RadixFault)
{
}

template <int BITS, int I, class F>
GPI_DEVICE void fault_swap(uint32_t, int, const uint32_t (&)[I], F)
{
}
#endif

} // namespace GPI_SPACE
