/* SPDX-License-Identifier: MIT */
/* How many items a call has whose number is in device memory. */
#pragma once

#include <cstdint>

#include "device/space.cuh"

namespace GPI_SPACE
{

/* What a kernel gets that has no other struct. */
struct ItemCount {
    uint64_t n;
    const uint64_t *device_n; /* NULL, or n is its bound */
};

/* n of a call's arguments, or *device_n if that is less: a larger value there counts as n. */
template <class Call> GPI_DEVICE uint64_t item_count(const Call &call)
{
    return call.device_n && *call.device_n < call.n ? *call.device_n : call.n;
}

} // namespace GPI_SPACE
