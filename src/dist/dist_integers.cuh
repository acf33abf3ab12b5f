/* SPDX-License-Identifier: MIT */
/* Unsigned integers of 1, 2, 4 or 8 bytes in arrays. */
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/space.cuh"

namespace GPI_SPACE
{

GPI_DEVICE uint64_t integer_at(size_t bytes, const void *in, uint64_t i)
{
    switch (bytes) {
    case 1:
        return ((const uint8_t *)in)[i];
    case 2:
        return ((const uint16_t *)in)[i];
    case 4:
        return ((const uint32_t *)in)[i];
    default:
        return ((const uint64_t *)in)[i];
    }
}

GPI_DEVICE void integer_to(size_t bytes, void *out, uint64_t i, uint64_t x)
{
    switch (bytes) {
    case 1:
        ((uint8_t *)out)[i] = (uint8_t)x;
        break;
    case 2:
        ((uint16_t *)out)[i] = (uint16_t)x;
        break;
    case 4:
        ((uint32_t *)out)[i] = (uint32_t)x;
        break;
    default:
        ((uint64_t *)out)[i] = x;
    }
}

} // namespace GPI_SPACE
