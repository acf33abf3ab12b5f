/* SPDX-License-Identifier: MIT */
/*
 * Stalls, for test builds (option stall_injection): at the places where tiles depend on each other
 * some of them, chosen by a hash of launch, tile and place, stop for a while, so that orders appear
 * which an idle GPU hardly ever shows. Otherwise empty.
 */
#pragma once

#include <cstdint>

#include "device/space.cuh"

namespace GPI_SPACE
{

enum StallPlace { stall_start, stall_load, stall_publish, stall_resolve, stall_store };

#ifdef GPI_STALL
/* One in 8 sleeps up to 8 us, one in 128 up to 60 us. */
GPI_DEVICE void stall(StallPlace place, uint64_t launch, uint32_t tile)
{
    uint64_t h = (launch * 5 + place) * 0x9E3779B97F4A7C15ull + tile;
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93ull;
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93ull;
    h ^= h >> 32;
    if (h & 7)
        return;
    for (uint32_t us = (uint32_t)(h >> 8) % (h >> 3 & 15 ? 8 : 60); us > 0; us--)
        __nanosleep(1000);
}
#else
GPI_DEVICE void stall(StallPlace, uint64_t, uint32_t)
{
}
#endif

} // namespace GPI_SPACE
