/* SPDX-License-Identifier: MIT */
/*
 * Divides bins of many items into as many parts as they have items: items are counted by part and
 * scattered, as they were by bin.
 *
 * Bins of few different keys, as where keys repeat beside values: by whether a key is less than a
 * pivot, equal or greater, and in each of the three by the item's position. A bin of one key or two
 * is in order then but for neighbours.
 *
 * A bin of many keys that has most of the items, as where keys lie close together at both ends of a
 * bucket: by equal ranges between the least and the greatest word of the bin.
 */
#pragma once

#include "radixsort/radixsort_bucket_order.cuh"

namespace GPI_SPACE
{

/* Of a BucketBins whose items are in bins; threads hold them while they are counted. */
template <class Bins> struct BinParts {
    using Word = typename Bins::BinWord;
    static constexpr int I = Bins::items_of_thread, T = Bins::warps * 32;
    static constexpr uint32_t wide_bin = 128, huge_bin = 512; /* that windows take long for */
    static constexpr uint32_t is_large = 1 << 15;             /* beside the first item of a bin */
    static_assert(Bins::items_max < 1 << 15 && I % 2 == 0, "two numbers are a word");

    /* Of a large bin, in the place of its items. */
    struct Range {
        uint32_t least, most, count;
    };
    static_assert(sizeof(Range) <= Bins::largest_bin * sizeof(Word), "its items have room");

    const Bins &b;
    int shift; /* of bins */

    GPI_DEVICE Word key(Word word) const
    {
        return word >> b.position_bits();
    }

    struct Bin {
        uint32_t first, count;

        GPI_DEVICE bool large() const
        {
            return count > (uint32_t)Bins::largest_bin;
        }
    };

    GPI_DEVICE Bin bin_of(Word word) const
    {
        const uint32_t number = b.number_of(word, shift);
        const uint32_t first = number ? *b.count_of(number - 1) : 0;
        return {first, *b.count_of(number) - first};
    }

    /* The middle one of three keys of a bin; all_differ: they do. */
    GPI_DEVICE Word pivot(Bin bin, bool &all_differ) const
    {
        const Word begin = key(b.s.words[bin.first]);
        const Word middle = key(b.s.words[bin.first + bin.count / 2]);
        const Word end = key(b.s.words[bin.first + bin.count - 1]);
        all_differ = begin != middle && middle != end && begin != end;
        return max(min(begin, middle), min(max(begin, middle), end));
    }

    GPI_DEVICE uint32_t part_by_position(Word word, uint32_t scale) const
    {
        const Bin bin = bin_of(word);
        const uint32_t quarter = bin.count / 4;
        bool many;
        const Word middle = pivot(bin, many), own = key(word);
        const uint32_t before = own < middle ? 0 : own == middle ? quarter : 3 * quarter;
        const uint32_t position = (uint32_t)word & ((1u << b.position_bits()) - 1);
        const uint32_t into = __umulhi(position * scale, own == middle ? bin.count / 2 : quarter);
        return bin.first + before + into;
    }

    /* Of T items at equal distances, how many are in large bins; in large bins of many keys; and
     * in wide bins of many keys. */
    GPI_DEVICE uint3 large_items() const
    {
        const Bin bin = bin_of(b.s.words[threadIdx.x * (uint32_t)b.count / T]);
        bool many;
        pivot(bin, many);
        const uint32_t large = __syncthreads_count(bin.large());
        const uint32_t of_many = __syncthreads_count(bin.large() && many);
        return make_uint3(large, of_many, __syncthreads_count(bin.count > wide_bin && many));
    }

    GPI_DEVICE uint32_t *count_of(uint32_t number) const
    {
        return (uint32_t *)b.s.stage + number / 2;
    }

    /* Counts become starts; the items of the largest part are noted for exchanges. */
    GPI_DEVICE void sum_parts() const
    {
        uint16_t *const counts = (uint16_t *)b.s.stage;
        const int first = (int)threadIdx.x * I, end = min(first + I, b.count);
        uint32_t sum = 0, most = 0;
        for (int p = first; p < end; p++) {
            sum += counts[p];
            most = max(most, (uint32_t)counts[p]);
        }
        most = warp_max(most);
        if (lane_id() == 0)
            b.s.fullest[threadIdx.x / 32] = most;
        uint32_t at = block_sums<T>(sum, b.s.total).x;
        for (int p = first; p < end; p++) {
            const uint32_t count = counts[p];
            counts[p] = (uint16_t)at;
            at += count;
        }
        most = warp_max(lane_id() < Bins::warps ? b.s.fullest[lane_id()] : 0);
        if (lane_id() == 0)
            b.s.largest[threadIdx.x / 32] = most;
        __syncthreads();
    }

    /* f(i) for rows in which this thread may have an item; f is long, so it is there only once. */
    template <class F> GPI_DEVICE void for_groups(F f) const
    {
        constexpr int group = I % 3 == 0 ? 3 : 2;
#pragma unroll
        for (int i = 0; i < I; i += group) {
            if (i * T >= b.count)
                break;
#pragma unroll
            for (int j = 0; j < group; j++)
                f(i + j);
        }
    }

    /* The bits of a word that vary in its bin, 32 of them at most. */
    GPI_DEVICE uint32_t in_bin(Word word) const
    {
        return (uint32_t)((word & (((Word)1 << shift) - 1)) >> max(shift - 32, 0));
    }

    GPI_DEVICE Range *range_of(uint32_t first) const
    {
        return (Range *)(b.s.words + first);
    }

    /* The part of a word of a large bin. Products are rounded alike in all of a bin, so parts
     * ascend with words. Equal words may have any part: at one count they would queue up. */
    GPI_DEVICE uint32_t part_by_range(Word word, uint32_t first) const
    {
        const Range bin = *range_of(first);
        if (!Bins::pairs && shift <= 32 && bin.least == bin.most)
            return first + lane_id() % Bins::largest_bin;
        const float range = (float)(bin.most - bin.least) + 1;
        const float scale = __fdividef((float)bin.count, range);
        const float into = (float)(in_bin(word) - bin.least) * scale;
        return first + min((uint32_t)into, bin.count - 1);
    }

    /* The ranges of large bins, when all words are in registers. */
    template <class F, class G> GPI_DEVICE void find_ranges(F word, G number) const
    {
        for_groups([&](int i) {
            const int p = Bins::item(i);
            if (number(i) == (p | is_large) && p < b.count)
                *range_of(p) = {~0u, 0, bin_of(word(i)).count};
        });
        __syncthreads();
        for_groups([&](int i) {
            if (!(number(i) & is_large) || Bins::item(i) >= b.count)
                return;
            Range *const bin = range_of(number(i) & ~is_large);
            const uint32_t own = in_bin(word(i));
            /* Volatile, as others write them; an old value only means an atomic in vain. */
            if (own < *(volatile uint32_t *)&bin->least)
                atomicMin(&bin->least, own);
            if (own > *(volatile uint32_t *)&bin->most)
                atomicMax(&bin->most, own);
        });
        __syncthreads();
    }

    template <bool RANGES> GPI_DEVICE void divide() const
    {
        const uint32_t scale = ~0u / (uint32_t)b.count;
        Word word[I];
        uint32_t numbers[I / 2] = {}; /* of parts, two in a word */
        leave_undefined<Bins::in_loop>(word);
        const auto number = [&](int i) {
            return __byte_perm(numbers[i / 2], 0, i % 2 ? 0x4432 : 0x4410);
        };
        const auto set_number = [&](int i, uint32_t n) {
            numbers[i / 2] = __byte_perm(numbers[i / 2], n, i % 2 ? 0x5410 : 0x3254);
        };
        for_groups([&](int i) {
            const int p = min(Bins::item(i), b.count - 1);
            word[i] = b.s.words[p];
            if constexpr (RANGES) {
                const Bin bin = bin_of(word[i]);
                set_number(i, bin.large() ? bin.first | is_large : p);
            } else {
                set_number(i, part_by_position(word[i], scale));
            }
        });
        __syncthreads();
        if constexpr (RANGES)
            find_ranges([&](int i) { return word[i]; }, number);
        for (int p = threadIdx.x; p < (b.count + 1) / 2; p += T)
            *count_of(2 * p) = 0;
        __syncthreads();
        for_groups([&](int i) {
            if (RANGES && number(i) & is_large)
                set_number(i, part_by_range(word[i], number(i) & ~is_large));
            if (Bins::item(i) < b.count)
                atomicAdd(count_of(number(i)), 1u << number(i) % 2 * 16);
        });
        __syncthreads();
        sum_parts();
        for_groups([&](int i) {
            const uint32_t up = number(i) % 2 * 16;
            if (Bins::item(i) < b.count)
                b.s.words[atomicAdd(count_of(number(i)), 1u << up) >> up & 0xffff] = word[i];
        });
        __syncthreads();
    }
};

/* The same bins, of another type perhaps, by the name of the block's shared memory: in a function
 * that is called the compiler would not know that it is shared memory. */
template <class To, class Bins> GPI_DEVICE To in_shared_memory(const Bins &b)
{
    extern __shared__ __align__(16) char memory[];
    return {b.job, *(typename To::Shared *)memory, b.count, b.compared, b.base};
}

/* If most items are in wide bins of many keys, and some bin is huge: divides bins by ranges. If few
 * large bins have many keys: by positions, where most items are in large bins. Then neighbours are
 * exchanged. A call that floats and integers share. */
template <class Bins>
__device__ __noinline__ void divide_bins(const Bins bins, int shift, uint32_t largest)
{
    using Parts = BinParts<Bins>;
    const Bins b = in_shared_memory<Bins>(bins);
    const Parts parts = {b, shift};
    const bool huge = largest > Parts::huge_bin;
    const bool counts_fit = (b.count + 2) * (int)sizeof(uint16_t) <= Bins::stage_bytes;
    if (!counts_fit || (!Bins::pairs && !huge))
        return;
    const uint3 large = parts.large_items();
    if (huge && 4 * large.z > 3 * Parts::T)
        parts.template divide<true>();
    else if (!Bins::pairs || 8 * large.y > large.x)
        return;
    else if constexpr (Bins::pairs)
        if (2 * large.x >= Parts::T)
            parts.template divide<false>();
    exchange_neighbours(b, Bins::largest_bin);
}

} // namespace GPI_SPACE
