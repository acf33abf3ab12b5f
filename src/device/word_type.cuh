/* SPDX-License-Identifier: MIT */
/* A type of items by their size, where items of up to 4 bytes share the code of a kernel. */
#pragma once

#include <stdint.h>

#include "device/space.cuh"

namespace GPI_SPACE
{

/* f of an item's type, which is Word or, if that has 4 bytes, not larger. */
template <class Word, class F> GPI_DEVICE void with_word_type(uint32_t bytes, const F &f)
{
    if constexpr (sizeof(Word) > 4)
        f(Word());
    else if (bytes == 4)
        f(uint32_t());
    else if (bytes == 2)
        f(uint16_t());
    else
        f(uint8_t());
}

} // namespace GPI_SPACE
