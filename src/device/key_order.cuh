/* SPDX-License-Identifier: MIT */
/* The order of keys as unsigned words, see core/order.h. */
#pragma once

#include "core/order.h"
#include "device/space.cuh"

namespace GPI_SPACE
{

template <class Key> struct KeyOrder {
    Key sign, inf, flip;

    explicit KeyOrder(const gpi_radix_order &o)
        : sign((Key)o.sign), inf((Key)o.inf), flip((Key)o.flip)
    {
    }

    GPI_DEVICE Key word(Key x) const
    {
        return (Key)((inf ? GPI_RADIX_FLOAT(Key, x, sign, inf) : x) ^ flip);
    }
};

} // namespace GPI_SPACE
