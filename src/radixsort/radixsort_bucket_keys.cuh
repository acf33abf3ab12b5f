/* SPDX-License-Identifier: MIT */
/* The keys of a bucket in registers: their words, and the bits in which these vary. */
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/space.cuh"

namespace GPI_SPACE
{

/* A key's bits as they are compared. */
template <class K>
using RadixWord = typename std::conditional<sizeof(K) == 8, uint64_t, uint32_t>::type;

/* Bits of words that do not vary, between others that do, as between a high and a low number that
 * share a key. Without them the highest bits are those that vary. Narrow words have no holes. */
template <class Word> struct BitHole {
    int at, bits;

    /* The longest one above a bit, and what it has below that bit. */
    static GPI_DEVICE BitHole of(Word varying, int begin, int end)
    {
        BitHole hole = {0, 0};
        if constexpr (sizeof(Word) == 8) {
            for (int p = begin; p < end;) {
                const int change = __ffsll((long long)~(varying >> p)); /* 0: ones to the end */
                p += change ? change - 1 : 64;
                const int zeros = p < end ? __ffsll((long long)(varying >> p)) - 1 : 0;
                if (zeros > hole.bits)
                    hole = {p, zeros};
                p += zeros;
            }
            const int under = 64 - __clzll((long long)(varying & (((Word)1 << begin) - 1)));
            if (hole.bits && hole.at == begin)
                hole = {under, hole.bits + begin - under};
        }
        return hole;
    }

    GPI_DEVICE Word below() const
    {
        return ((Word)1 << at) - 1;
    }

    /* A word without the hole, in which it has no bits, */
    GPI_DEVICE Word close(Word word) const
    {
        return (word & below()) | (word >> bits & ~below());
    }

    /* and with it. */
    GPI_DEVICE Word open(Word word) const
    {
        return (word & below()) | (word & ~below()) << bits;
    }
};

/* The keys of a bucket in a block's registers. Bits [low, high) vary. */
template <class Word, int I> struct BucketKeys {
    Word word[I], same; /* same: the bits that do not vary */
    int low, high;
    BitHole<Word> hole; /* if there is one, words are closed and have none of the bits of same */
    bool of_words;      /* this thread's keys can be made of their words */

    GPI_DEVICE bool has_hole() const
    {
        return sizeof(Word) == 8 && hole.bits;
    }

    /* That vary. */
    GPI_DEVICE int bits() const
    {
        return has_hole() ? high - low - hole.bits : high - low;
    }

    /* What is the same in all words, but what they have lost with the hole. */
    GPI_DEVICE Word still_same() const
    {
        return has_hole() ? (Word)0 : same;
    }
};

} // namespace GPI_SPACE
