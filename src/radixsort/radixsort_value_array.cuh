/* SPDX-License-Identifier: MIT */
/* What moves beside keys, in kernels and in memory. */
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/space.cuh"

namespace GPI_SPACE
{

/* Payload of a pair. */
template <int BYTES> struct Payload;
template <> struct Payload<0> {
    using type = uint8_t;
};
template <> struct Payload<4> {
    using type = uint32_t;
};
template <> struct Payload<8> {
    using type = uint64_t;
};

/* How a loop has its values: they are the positions of items, or in memory. */
enum class ValueKind { positions, whole, narrow };

/* Values in memory, where those of 1 and 2 bytes are what the caller's are, though kernels hold
 * words of 4: arrays are as small as can be, and there is no kernel for their widths. */
template <class V> struct ValueArray {
    void *at;
    uint32_t bytes; /* of a value */

    explicit GPI_DEVICE operator bool() const
    {
        return at;
    }

    GPI_DEVICE bool is_narrow() const
    {
        return sizeof(V) == 4 && bytes < 4;
    }

    GPI_DEVICE ValueArray operator+(uint64_t first) const
    {
        return {(char *)at + first * (sizeof(V) == 4 ? bytes : sizeof(V)), bytes};
    }

    /* f(the array, as one of what its values are), with loops in f, so that these ask for the width
     * once. NARROW: whether values have less bytes than a V. */
    template <bool NARROW, class F> GPI_DEVICE void visit(F f) const
    {
        if constexpr (!NARROW)
            f((V *)at);
        else if (bytes == 2)
            f((uint16_t *)at);
        else
            f((uint8_t *)at);
    }

    /* Ask the L2 for n of them, by a line of 128 bytes for each thread. */
    GPI_DEVICE void prefetch(uint32_t n) const
    {
        const uint32_t byte = threadIdx.x * 128;
        if (at && byte < n * bytes)
            asm volatile("prefetch.global.L2 [%0];" ::"l"((const char *)at + byte));
    }

    template <class I> GPI_DEVICE V load(I i) const
    {
        return is_narrow() ? load_narrow(i) : ((const V *)at)[i];
    }

    template <class I> GPI_DEVICE void store(I i, V v) const
    {
        if (is_narrow())
            store_narrow(i, v);
        else
            ((V *)at)[i] = v;
    }

    template <class I> GPI_DEVICE V load_narrow(I i) const
    {
        return bytes == 2 ? ((const uint16_t *)at)[i] : ((const uint8_t *)at)[i];
    }

    template <class I> GPI_DEVICE void store_narrow(I i, V v) const
    {
        if (bytes == 2)
            ((uint16_t *)at)[i] = (uint16_t)v;
        else
            ((uint8_t *)at)[i] = (uint8_t)v;
    }
};

} // namespace GPI_SPACE
