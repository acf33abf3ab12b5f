/* SPDX-License-Identifier: MIT */
/*
 * What the kernels of a sort share: the order of keys, digits, values, and the arguments of a sort.
 *
 * The host queues the same kernels whatever the keys are. The first one counts keys and writes a
 * plan (struct gpi_radix_plan), by which later kernels return at once if there is nothing to do for
 * them. So the host never waits for the device.
 */
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/block_scan.cuh"
#include "device/host.cuh"
#include "device/item_count.cuh"
#include "device/warp.cuh"
#include "radixsort/radixsort_internal.h"
#include "tuning/radixsort_tuning.cuh"

namespace GPI_SPACE
{

constexpr int radix_bits = 8, radix_bins = 256;

/* The kinds of radixsort_tuning.cuh. */
template <class K> constexpr bool radix_has_buckets = radix_has_buckets_of(sizeof(K));
template <class K> constexpr bool radix_by_splitters = radix_by_splitters_of(sizeof(K));
template <class K> constexpr bool radix_by_map = radix_by_map_of(sizeof(K));

/* Whether a partition kernel has what splits an array whose buckets of bits do not fit. */
template <class K, int VB, bool LARGE>
constexpr bool radix_has_splits = LARGE ? sizeof(K) == 4 && VB <= 4 : radix_has_buckets<K>;

/* Words of which passes may know the least and the most one. */
template <class K> constexpr bool radix_has_reach = sizeof(K) == 4;

/* Bits that leave few keys in a bucket for a visitor (radixsort_few_keys.cuh). */
constexpr int radix_few_bits = 6;

/* Bits in which the keys of a bucket may differ that is counted by values. */
constexpr int radix_value_bits = 16;

/*
 * Order words: unsigned words that compare as the keys do, computed without a branch. Negative
 * floats are inverted, positive ones get the sign bit, and a bias is subtracted so that all NaNs
 * come last. Beside values, equal keys must have equal words: all zeros share one, and so do all
 * NaNs. Words of keys alone are invertible. See KeyCodec for what blocks hold.
 */
template <class K> struct KeyOrder {
    K sign, inf;          /* of floats; 0: integers */
    K positive, negative; /* what keys are xor'ed with */
    K bias, flip;         /* then bias is subtracted, and flip is xor'ed */
    bool merged;          /* floats: zeros, and NaNs, share a word */

    static KeyOrder of(const gpi_radix_order &order, bool exact)
    {
        const K sign = (K)order.sign, inf = (K)order.inf;
        if (!inf)
            return {sign, 0, 0, 0, 0, (K)order.flip, false};
        const K bias = exact ? (K) ~(K)(sign | inf) : (K)0;
        return {sign, inf, sign, (K) ~(K)0, bias, (K)order.flip, !exact};
    }

    template <bool FLOAT> GPI_DEVICE K word(K x) const
    {
        return word_alone<FLOAT>(FLOAT && merged ? merge(x) : x);
    }

    /* The invertible word, where keys are alone. */
    template <bool FLOAT> GPI_DEVICE K word_alone(K x) const
    {
        if constexpr (FLOAT) {
            x ^= is_negative(x) ? negative : positive;
            x -= bias;
        }
        return (K)(x ^ flip);
    }

    /* Whether key(word(x)) == x: false for zeros and NaNs but the one that shares its word. */
    template <bool FLOAT> GPI_DEVICE bool is_of_word(K x) const
    {
        return !(FLOAT && merged) || merge(x) == x;
    }

    /* The key of an invertible word. */
    template <bool FLOAT> GPI_DEVICE K key(K word) const
    {
        K x = (K)(word ^ flip);
        if constexpr (FLOAT) {
            x += bias;
            x ^= is_negative(x) ? positive : negative;
        }
        return x;
    }

  private:
    static GPI_DEVICE bool is_negative(K x)
    {
        return x >> (8 * sizeof(K) - 1);
    }

    /* All zeros become one, and all NaNs the one with the highest word, as by adding 0. */
    GPI_DEVICE K merge(K x) const
    {
        if constexpr (sizeof(K) == 4) {
            return __float_as_uint(__fadd_rn(__uint_as_float(x), 0.0f));
        } else {
            const K magnitude = (K)(x & (K)~sign);
            x = magnitude == 0 ? (K)0 : x;
            return magnitude > inf ? (K)~sign : x;
        }
    }
};

/* How a block stores a key: without values as its order word, beside values as the key. */
template <class K, bool FLOAT, int VB> struct KeyCodec {
    const KeyOrder<K> &order;

    GPI_DEVICE K encode(K key) const
    {
        return VB ? key : order.template word_alone<FLOAT>(key);
    }

    GPI_DEVICE K word(K encoded) const
    {
        return VB ? order.template word<FLOAT>(encoded) : encoded;
    }

    GPI_DEVICE K decode(K encoded) const
    {
        return VB ? encoded : order.template key<FLOAT>(encoded);
    }
};

/* bits [shift, shift + log2(mask + 1)) of a word. */
template <class K> struct DigitOf {
    static constexpr bool kept = false; /* it costs less to find it again than to keep it */
    int shift;
    uint32_t mask;

    GPI_DEVICE uint32_t operator()(K word) const
    {
        if constexpr (sizeof(K) == 8) {
            const bool high = shift >= 32;
            const uint32_t low32 = (uint32_t)word, high32 = (uint32_t)(word >> 32);
            return __funnelshift_r(high ? high32 : low32, high ? 0 : high32, shift) & mask;
        } else {
            return (uint32_t)word >> shift & mask;
        }
    }
};

/* ---- values ---- */

/* Payload of a pair. */
template <int BYTES> struct Payload {
    using type =
        std::conditional_t<BYTES == 8, uint64_t, std::conditional_t<BYTES == 4, uint32_t, uint8_t>>;
};

/* The values of a loop: the positions of items, or words or fewer bytes in memory. */
enum class ValueKind { positions, whole, narrow };

/* Values in memory. Kernels hold those of 1 and 2 bytes as words of 4, so that these widths need no
 * kernels of their own. */
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

    /* f(pointer to values of their width), for loops in f, which then ask for the width once.
     * NARROW: values have fewer bytes than a V. */
    template <bool NARROW, class F> GPI_DEVICE void visit(F f) const
    {
        if constexpr (!NARROW)
            f((V *)at);
        else if (bytes == 2)
            f((uint16_t *)at);
        else
            f((uint8_t *)at);
    }

    /* Loads n values to the L2, a line of 128 bytes by each thread. */
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

/* ---- arguments ---- */

/* The arguments of a sort's kernels, without the values. */
template <class K> struct RadixKeys {
    K *keys[3]; /* by enum gpi_radix_place */
    uint64_t n;
    const uint64_t *device_n; /* or NULL */
    KeyOrder<K> order;
    int begin, end;     /* bits compared */
    int bucket_bits;    /* 0: by passes only */
    int bits_if_narrow; /* enough if at most narrow_limit bits vary below them */
    int narrow_limit;
    int bits_max; /* of buckets of words that leave some of them empty */
    uint32_t bucket_max;
    uint32_t one_bucket_max; /* items that are one bucket of the input; 0: see is_one_bucket() */
    bool in_place;
    bool keys_wanted; /* otherwise the last pass does not write them */
    gpi_radix_plan *plan;
    uint64_t *starts;     /* where each bin of a pass starts: [pass][bin] */
    uint32_t *buckets;    /* counts, then where each bucket starts; 2^bits_max + 1 */
    uint32_t *recount;    /* the same for a narrower range of bits */
    uint32_t *cursors;    /* of the bins of a pass whose items may come in any order */
    void *states[2];      /* of the tiles of even and odd passes: [tile][bin] */
    int split_bits;       /* of a bucket between splitters, if those of bits do not fit; or 0 */
    uint32_t close_range; /* of words that go by passes, and not between splitters */
    bool levels_or_map;   /* levels or a map may be taken if buckets do not fit */
    bool by_values;       /* buckets are counted by radixsort_values_k.cuh */
    bool for_visitor;     /* buckets of few keys may be too large: see gpi_radix_visitor */
    bool again;           /* a launch for the case that the visitor leaves such buckets */
    uint32_t repeats_max; /* items that a word may have on the average for a map */
    uint32_t entries;     /* blocks for buckets, or entries of a bucket's size */
    int rounds_bits;      /* as split_bits, before levels; or 0 */
    gpi_radix_lists lists;
    gpi_radix_map map;
    uint64_t *met; /* of a LastingBarrier */

    /* By all threads of a block, before items(): reads a number in global memory once, as barriers
     * of the grid invalidate the L1. */
    GPI_DEVICE void take_items() const
    {
        begin_items();
        __syncthreads();
    }

    /* The same where the block synchronizes later. */
    GPI_DEVICE void begin_items() const
    {
        if (threadIdx.x == 0)
            there() = item_count(*this);
    }

    static GPI_DEVICE uint64_t &there()
    {
        __shared__ uint64_t items;
        return items;
    }

    GPI_DEVICE uint64_t items() const
    {
        return there();
    }

    /* Whether all items, maybe none, are one bucket of the input, which the first block of
     * radixsort_bucket_k.cuh sorts, so that there are no passes. */
    GPI_DEVICE bool is_one_bucket() const
    {
        return items() <= one_bucket_max;
    }

    /* Whether blocks may sort the buckets that are larger than shared memory. most: items of the
     * largest one; excess: items of all of them. */
    GPI_DEVICE bool large_fit(uint32_t most, uint32_t excess) const
    {
        const uint64_t n = items(), share = n / radix_tuning.large_share,
                       twice = 2 * (uint64_t)bucket_max;
        return most <= bucket_max ||
               (most <= (share > twice ? share : twice) && excess < n / radix_tuning.large_excess);
    }

    /* Whether the passes end with the sorted array, as the items of a bucket are equal. A single
     * pass in place would overwrite what it reads. */
    GPI_DEVICE bool ends_with_buckets(int shift, int bits) const
    {
        return shift == begin && (bits > radix_bits || !in_place);
    }

    /* Where buckets are: gpi_radix_plan::result, without a read. */
    GPI_DEVICE uint32_t buckets_place(int shift, int bits) const
    {
        return bits > radix_bits || ends_with_buckets(shift, bits) ? gpi_radix_out : gpi_radix_tmp;
    }

    /* The bits of a word that are compared. */
    GPI_DEVICE K compared() const
    {
        return (K)((K) ~(K)0 >> (8 * (int)sizeof(K) - end) >> begin << begin);
    }

    /* Whether tile states, which are a count and two more bits, have 32 bits. */
    GPI_DEVICE bool narrow_states() const
    {
        return items() < radix_tuning.narrow_items;
    }

    /* By all blocks: clears what is zero when a sort begins, but for the plan's counter of blocks
     * that wait for this. */
    template <int T> GPI_DEVICE void clear_tables() const
    {
        const uint32_t thread = blockIdx.x * T + threadIdx.x, threads = gridDim.x * T;
        uint32_t *const words = (uint32_t *)plan;
        for (uint32_t i = thread; i < offsetof(gpi_radix_plan, again_arrived) / 4; i += threads)
            words[i] = 0;
        for (uint32_t *i = (uint32_t *)starts + thread; i < cursors; i += threads)
            *i = 0;
    }

    /* By all blocks. */
    template <int T> GPI_DEVICE void clear_states(uint64_t rows) const
    {
        const uint64_t thread = (uint64_t)blockIdx.x * T + threadIdx.x;
        const uint64_t words = rows * radix_bins * (narrow_states() ? 1 : 2);
        for (uint64_t i = thread; i < words; i += (uint64_t)gridDim.x * T)
            ((uint32_t *)states[0])[i] = 0;
    }

    GPI_DEVICE const uint32_t *bucket_starts() const
    {
        return plan->recounted ? recount : buckets;
    }
};

template <class K, class V> struct RadixJob : RadixKeys<K> {
    void *values[3]; /* values[gpi_radix_in] NULL: the positions 0, 1, .. */
    uint32_t value_bytes;

    GPI_DEVICE ValueArray<V> values_at(uint32_t place, uint64_t first = 0) const
    {
        const ValueArray<V> all = {values[place], value_bytes};
        return all ? all + first : all;
    }
};

template <class K, int VB> using RadixJobOf = RadixJob<K, typename Payload<VB>::type>;

/* Which of some lanes have the digit of this one. */
GPI_DEVICE uint32_t match_digit(uint32_t digit, uint32_t lanes = all_lanes)
{
    for (int b = 0; b < radix_bits; b++) {
        const uint32_t set = __ballot_sync(all_lanes, digit >> b & 1);
        lanes &= digit >> b & 1 ? set : ~set;
    }
    return lanes;
}

/* How many items of a digit are before a lane's own one, by counters of a warp that grow row by
 * row. lanes: those that have an item. */
GPI_DEVICE uint32_t rank_by_ballot(uint32_t *counts, uint32_t digit, uint32_t lanes = all_lanes)
{
    const uint32_t peers = match_digit(digit, lanes);
    const uint32_t rank = counts[digit] + __popc(peers & ((1u << lane_id()) - 1));
    __syncwarp();
    if (peers >> lane_id() == 1)
        counts[digit] = rank + 1;
    __syncwarp();
    return rank;
}

} // namespace GPI_SPACE
