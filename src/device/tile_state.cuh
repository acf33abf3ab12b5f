/* SPDX-License-Identifier: MIT */
/*
 * One partial result per tile, published once, read by later tiles.
 *
 * Value and tag travel in one atomic word, so relaxed order is enough: who sees the tag sees the
 * value. Accumulators up to 4 bytes use {value32, tag32}; larger ones a 16-byte word {value64,
 * tag64} per 8 bytes, each with its own tag, so a torn accumulator is never accepted.
 */
#pragma once

#include "device/epoch.cuh"

namespace GPI_SPACE
{

template <class A> struct TileState {
    static constexpr bool narrow_word = sizeof(A) <= 4;
    static constexpr uint32_t pieces = narrow_word ? 1 : (sizeof(A) + 7) / 8;

    uint64_t *words;
    uint64_t epoch;

    union Image {
        A value;
        uint64_t part[pieces];
        GPI_DEVICE Image() : part()
        {
        }
    };

    GPI_DEVICE TileState(const gpi_state &s, uint64_t epoch_)
        : words(narrow_word ? s.words8 : s.words16), epoch(epoch_)
    {
    }

    GPI_DEVICE void publish(uint32_t tile, A value) const
    {
        Image image;
        stall(stall_publish, epoch, tile);
        image.value = value;
        if constexpr (narrow_word) {
            uint64_t w = image.part[0] & 0xffffffffu | epoch << 32;
            asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(words + tile), "l"(w)
                         : "memory");
        } else {
#pragma unroll
            for (uint32_t i = 0; i < pieces; i++)
                asm volatile("{\n.reg .b128 w;\nmov.b128 w, {%1, %2};\n"
                             "st.relaxed.gpu.global.b128 [%0], w;\n}" ::"l"(
                                 words + 2 * ((uint64_t)tile * pieces + i)),
                             "l"(image.part[i]), "l"(epoch)
                             : "memory");
        }
    }

    /* True once this launch has published the tile. */
    GPI_DEVICE bool read(uint32_t tile, A &value) const
    {
        Image image;
        bool ready = true;
        if constexpr (narrow_word) {
            uint64_t w;
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                         : "=l"(w)
                         : "l"(words + tile)
                         : "memory");
            image.part[0] = w & 0xffffffffu;
            ready = w >> 32 == (epoch & 0xffffffffu);
        } else {
#pragma unroll
            for (uint32_t i = 0; i < pieces; i++) {
                uint64_t tag;
                asm volatile("{\n.reg .b128 w;\nld.relaxed.gpu.global.b128 w, [%2];\n"
                             "mov.b128 {%0, %1}, w;\n}"
                             : "=l"(image.part[i]), "=l"(tag)
                             : "l"(words + 2 * ((uint64_t)tile * pieces + i))
                             : "memory");
                ready = ready && tag == epoch;
            }
        }
        value = image.value;
        return ready;
    }

    /* Ask the L2 for a tile's words, before anyone needs them. */
    GPI_DEVICE void prefetch(uint32_t tile) const
    {
        const uint64_t *word = narrow_word ? words + tile : words + 2 * (uint64_t)tile * pieces;
        asm volatile("prefetch.global.L2 [%0];" ::"l"(word));
    }

    /* Tags come round after 2^32 launches. So that no word can be that old, each launch gives one
     * of each array that it does not use the tag of the launch before, in turn. By one thread. */
    GPI_DEVICE void retire_one(const gpi_state &s, uint32_t tiles) const
    {
        const uint32_t slot = (uint32_t)epoch % s.slots, before = (uint32_t)epoch - 1;
        if (!narrow_word || slot >= tiles)
            s.words8[slot] = (uint64_t)before << 32;
        if (narrow_word || slot / pieces >= tiles)
            s.words16[2 * (uint64_t)slot + 1] = before;
    }
};

} // namespace GPI_SPACE
