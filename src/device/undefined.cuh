/* SPDX-License-Identifier: MIT */
/* Registers that hold nothing yet. */
#pragma once

#include <cstdint>

#include "device/space.cuh"

namespace GPI_SPACE
{

/*
 * The array holds nothing: only some of its items are written, and those are read. In a LOOP it is
 * worth saying so, which takes no instruction: in machine code what is not written is what the
 * iteration before has left, so that all of the array's registers are taken around the whole loop
 * (calls-14 in docs/tuning).
 */
template <bool LOOP, class X, int N> GPI_DEVICE void leave_undefined(X (&items)[N])
{
    if constexpr (LOOP && sizeof(X) == 8) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            uint64_t nothing;
            asm volatile("{\n\t.reg .b64 none;\n\tmov.b64 %0, none;\n\t}" : "=l"(nothing));
            items[i] = (X)nothing;
        }
    } else if constexpr (LOOP) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            uint32_t nothing;
            asm volatile("{\n\t.reg .b32 none;\n\tmov.b32 %0, none;\n\t}" : "=r"(nothing));
            items[i] = (X)nothing;
        }
    }
}

} // namespace GPI_SPACE
