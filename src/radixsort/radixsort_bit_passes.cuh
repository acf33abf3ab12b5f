/* SPDX-License-Identifier: MIT */
/*
 * LSD passes over the bits that distinguish keys of 8 bytes: in place of levels where these bits
 * are few, or where there cannot be levels.
 *
 * A bit that is the same in all words is skipped, and so is one that always equals the next higher
 * bit, like those between the sign and the magnitude of small integers. A digit has two parts, so
 * that it can skip a range of bits between them, as between two numbers that are packed in a word.
 * Thus digits hold more of the bits than at fixed places. A look at a few words, the same for all
 * blocks, tells how many passes there would be, and whether they are faster than levels; while
 * digits are counted, all words tell whether more bits have to be compared.
 */
#pragma once

#include "radixsort/radixsort_partition_k.cuh"
#include "radixsort/radixsort_split_learn.cuh"

namespace GPI_SPACE
{

/* A word for each of T threads, the same in all blocks, from the same places as those of look(). */
template <int T, bool FLOAT, class K> GPI_DEVICE K word_of_look(const RadixKeys<K> &job)
{
    const uint64_t n = job.items(), from = n * threadIdx.x / T;
    const uint32_t piece = (uint32_t)(n * (threadIdx.x + 1) / T - from);
    const K key = job.keys[gpi_radix_in][from + __umulhi(threadIdx.x * 0x9e3779b1u, piece)];
    return job.order.template word<FLOAT>(key);
}

/* What is known of the bits of words. */
struct SeenBits {
    uint64_t varying;  /* in which some word differs from the first one */
    uint64_t changing; /* the same of words xor'ed with themselves one bit lower */

    template <class K> GPI_DEVICE void add(K differs)
    {
        varying |= differs;
        changing |= differs ^ differs >> 1;
    }

    /* By a warp. */
    GPI_DEVICE void add_to(uint64_t &all_varying, uint64_t &all_changing) const
    {
        const uint64_t varies = warp_or(varying), changes = warp_or(changing);
        if (lane_id() > 0)
            return;
        atomicOr((unsigned long long *)&all_varying, varies);
        atomicOr((unsigned long long *)&all_changing, changes);
    }

    /* Those that have to be compared. */
    GPI_DEVICE uint64_t telling(uint64_t compared) const
    {
        return varying & compared & (changing | ~(compared >> 1));
    }

    /* The same where only some words are known: with the next higher bits, as far as these take no
     * pass more. */
    GPI_DEVICE uint64_t likely(uint64_t compared) const
    {
        uint64_t bits = telling(compared);
        for (int i = 0; i < radix_bits; i++) {
            const uint64_t more = (bits | bits << 1) & compared;
            bits = digits_of(more) > digits_of(bits) ? bits : more;
        }
        return bits;
    }

    static GPI_DEVICE int digits_of(uint64_t bits)
    {
        return (__popcll(bits) + radix_bits - 1) / radix_bits;
    }
};

/* A digit in two parts, each of which lies in two bytes of the word. */
template <class K> struct DigitOfParts {
    static constexpr bool kept = false;
    int shift;
    uint32_t mask, bytes, low_mask;
    int high_shift;

    /* parts: a byte each for where the low and the high one begin, and the bits of the high one and
     * of both. */
    static GPI_DEVICE DigitOfParts of(uint32_t parts)
    {
        const uint32_t low = parts & 255, high = parts >> 8 & 255, bits = parts >> 24,
                       low_bits = bits - (parts >> 16 & 255);
        auto two_from = [](uint32_t place) { return place / 8 | min(place / 8 + 1, 7u) << 4; };
        return {(int)(low % 8), (1u << bits) - 1, two_from(low) | two_from(high) << 8,
                (1u << low_bits) - 1, (int)(16 + high % 8 - low_bits)};
    }

    GPI_DEVICE uint32_t operator()(K word) const
    {
        const uint32_t parts = __byte_perm((uint32_t)word, (uint32_t)(word >> 32), bytes);
        return (parts >> shift & low_mask) | (parts >> high_shift & (mask ^ low_mask));
    }
};

/* A pass by such a digit. */
template <class K, class G, int ITEMS> struct PartitionByParts : PartitionByBits<K, G, ITEMS> {
    using Base = PartitionByBits<K, G, ITEMS>;
    using Base::Base;
    using Digit = DigitOfParts<K>;

    GPI_DEVICE Digit digit() const
    {
        return Digit::of((uint32_t)this->pass.shift);
    }
};

/* The lowest of some bits as the two parts of a digit. */
struct BitParts {
    uint64_t low, high;

    static GPI_DEVICE BitParts of(uint64_t bits, int places)
    {
        const uint64_t low = bits & ((1ull << places) - 1) << begin(bits), rest = bits & ~low;
        return {low, rest & ((1ull << (radix_bits - places)) - 1) << begin(rest)};
    }

    static GPI_DEVICE int begin(uint64_t part)
    {
        return max(__ffsll((long long)part) - 1, 0);
    }

    static GPI_DEVICE int width(uint64_t part)
    {
        return 64 - __clzll((long long)(part >> begin(part)));
    }

    /* With all bits between those of a part. */
    GPI_DEVICE uint64_t taken() const
    {
        return ((1ull << width(low)) - 1) << begin(low) | ((1ull << width(high)) - 1)
                                                              << begin(high);
    }

    /* For DigitOfParts::of(). */
    GPI_DEVICE uint32_t digit() const
    {
        const int high_bits = width(high), bits = width(low) + high_bits;
        return (uint32_t)(begin(low) | begin(high) << 8 | high_bits << 16 | bits << 24);
    }
};

/* The digits of passes over some bits, from the lowest on. */
struct BitDigits {
    uint64_t covered; /* bits that are in one */
    int passes;
    uint32_t digit[GPI_RADIX_PASSES];

    /* By a warp. Each lane tries another width of the low part, 1 to 8; that of the digit with the
     * most bits to compare is taken. */
    GPI_DEVICE void set(uint64_t bits)
    {
        uint64_t all = 0;
        int pass = 0;
        for (; bits; pass++) {
            const int places = lane_id() % radix_bits + 1;
            const BitParts tried = BitParts::of(bits, places);
            const int best = warp_fold<radix_bits>(__popcll(tried.low | tried.high) << 4 | places,
                                                   [](int a, int b) { return max(a, b); });
            const BitParts parts = BitParts::of(bits, best & 15);
            if (lane_id() == 0)
                digit[pass] = parts.digit();
            all |= parts.taken();
            bits &= ~all;
        }
        if (lane_id() == 0)
            covered = all, passes = pass;
    }
};

/* The most passes that take no longer than levels, by a word for each thread of a block. Levels
 * take longer where words clump, as bins of buckets have more items then: the distances of a word
 * from its two neighbours differ much. They take less where words repeat, as a bucket of one word
 * is in order. */
template <int T, class K> GPI_DEVICE int passes_worth(K word, K *words)
{
    words[threadIdx.x] = word;
    const K *const at = sort_sample<T>(words, T) + min(threadIdx.x, (uint32_t)T - 3);
    const K below = at[1] - at[0], above = at[2] - at[1];
    const int repeated = __syncthreads_count(below == 0);
    const bool differ = max(below, above) >> radix_tuning.uneven_bits > min(below, above);
    const int uneven = __syncthreads_count(below && above && differ);
    if (repeated > T / 2)
        return 1;
    return radix_tuning.bit_passes + (uneven > (int)(T / radix_tuning.uneven_share) ? 2 : 0) -
           (repeated > (int)(T / radix_tuning.repeated_share) ? 2 : 0);
}

/* starts[pass][bin] += the count of the bin; and the bits of all words are added to the plan. */
template <int T, bool FLOAT, class K>
GPI_DEVICE void count_bit_digits(const RadixKeys<K> &job, const BitDigits &digits, uint32_t *table)
{
    constexpr int batch = 16, columns = DigitCounts<K>::columns;
    const int passes = digits.passes;
    for (int i = threadIdx.x; i < passes * radix_bins * columns; i += T)
        table[i] = 0;
    __syncthreads();
    const uint64_t n = job.items();
    const K *const keys = job.keys[gpi_radix_in];
    const K first = job.order.template word<FLOAT>(keys[0]);
    SeenBits seen = {};
    for (uint64_t tile = (uint64_t)blockIdx.x * batch * T; tile < n;
         tile += (uint64_t)gridDim.x * batch * T) {
        const uint32_t left = (uint32_t)min(n - tile, (uint64_t)batch * T);
        K word[batch];
#pragma unroll
        for (int i = 0; i < batch; i++)
            if (i * T + threadIdx.x < left)
                word[i] = __ldcs(keys + tile + i * T + threadIdx.x);
#pragma unroll
        for (int i = 0; i < batch; i++) {
            word[i] = job.order.template word<FLOAT>(word[i]);
            seen.add(i * T + threadIdx.x < left ? (K)(word[i] ^ first) : (K)0);
        }
#pragma unroll 1
        for (int p = 0; p < passes; p++) {
            const DigitOfParts<K> digit = DigitOfParts<K>::of(digits.digit[p]);
            uint32_t *const counts = table + p * radix_bins * columns + lane_id() % columns;
#pragma unroll
            for (int i = 0; i < batch; i++)
                if (i * T + threadIdx.x < left)
                    atomicAdd(counts + digit(word[i]) * columns, 1u);
        }
    }
    seen.add_to(job.plan->varying, job.plan->changing);
    __syncthreads();
    for (int i = threadIdx.x; i < passes * radix_bins; i += T) {
        uint32_t sum = 0;
        for (int c = 0; c < columns; c++)
            sum += table[i * columns + (c + threadIdx.x) % columns];
        if (sum)
            atomicAdd((unsigned long long *)&job.starts[i], (unsigned long long)sum);
    }
}

template <class K, bool FLOAT, int VB, int T> struct BitPasses {
    static constexpr int items = radix_tile_items(sizeof(K), VB, false);
    using Kernel = PartitionKernel<K, FLOAT, VB, T, items, true>;
    using Passes =
        Partitioner<K, FLOAT, VB, true, T, items,
                    PartitionByParts<K, Group<T / Kernel::groups>, T / Kernel::groups * items>>;
    static constexpr int shared_bytes = std::max(
        {(int)sizeof(typename Kernel::template Shared<Passes>), (int)DigitCounts<K>::shared_bytes});

    Kernel kernel;
    BitDigits &digits;

    /* Sets the digits by a look at a few words, the same in all blocks; returns how many passes are
     * worth it. */
    GPI_DEVICE int look(bool levels_may) const
    {
        __shared__ SeenBits seen;
        const RadixKeys<K> &job = kernel.job;
        const K word = word_of_look<T, FLOAT>(job);
        SeenBits own = {};
        own.add((K)(word ^ job.order.template word<FLOAT>(job.keys[gpi_radix_in][0])));
        if (threadIdx.x == 0)
            seen = {};
        __syncthreads();
        own.add_to(seen.varying, seen.changing);
        __syncthreads();
        const uint64_t bits = seen.likely(job.compared());
        if (levels_may && SeenBits::digits_of(bits) > radix_tuning.bit_passes + 2)
            return -1;
        if (threadIdx.x < 32)
            digits.set(bits);
        __syncthreads();
        return levels_may ? passes_worth<T>((K)(word & job.compared()), (K *)kernel.memory)
                          : GPI_RADIX_PASSES;
    }

    /* By all blocks: counts digits, again if these lack bits that all words show. False if that
     * takes more passes than are worth it; nothing has been moved then. */
    GPI_DEVICE bool count(int most)
    {
        const RadixKeys<K> &job = kernel.job;
        while (digits.passes <= most) {
            count_bit_digits<T, FLOAT>(job, digits, (uint32_t *)kernel.memory);
            kernel.barrier.wait();
            const SeenBits seen = {job.plan->varying, job.plan->changing};
            const uint64_t bits = seen.telling(job.compared());
            if (!(bits & ~digits.covered))
                return true;
            for (int i = blockIdx.x * T + threadIdx.x; i < GPI_RADIX_PASSES * radix_bins;
                 i += gridDim.x * T)
                job.starts[i] = 0;
            __syncthreads();
            if (threadIdx.x < 32)
                digits.set(bits);
            kernel.barrier.wait();
        }
        return false;
    }

    /* By one block. plan_passes() expects a digit for every eight compared bits: those beyond the
     * last have all items in one bin. A pass has at least the bins of each later one, whose states
     * it clears. */
    GPI_DEVICE void plan() const
    {
        const RadixKeys<K> &job = kernel.job;
        for (int p = digits.passes + threadIdx.x; p < GPI_RADIX_PASSES; p += T)
            job.starts[p * radix_bins] = job.items();
        __syncthreads();
        plan_passes<K>(job, (uint64_t *)kernel.memory);
        uint32_t bits = 0;
        for (int p = digits.passes - 1; p >= 0 && threadIdx.x == 0; p--) {
            bits = max(bits, digits.digit[p] >> 24);
            job.plan->pass[p].shift = digits.digit[p];
            job.plan->pass[p].bits = bits;
        }
    }

    /* Does nothing if levels are faster, which may follow. */
    GPI_DEVICE void sort(bool levels_may)
    {
        const RadixKeys<K> &job = kernel.job;
        const int most = look(levels_may);
        if (most < 0 || digits.passes > most)
            return;
        job.template clear_states<T>(kernel.tiles());
        if (!count(most))
            return;
        if (blockIdx.x == 0)
            plan();
        kernel.barrier.wait();
        Passes::init();
        kernel.template partitions<Passes>(false);
        kernel.finish();
    }
};

/* Grid: cooperative, a block per multiprocessor. After: the sorted array, and gpi_radix_route_lsd;
 * or what was before, if the route was one of buckets or levels are to follow. */
template <class K, bool FLOAT, int VB, int T>
__global__ void __launch_bounds__(T, 1)
    radix_bit_passes_k(const __grid_constant__ RadixJobOf<K, VB> job)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ BitDigits digits;
    using Work = BitPasses<K, FLOAT, VB, T>;
    const uint32_t route = job.plan->route;
    const bool levels_may = route == gpi_radix_route_levels_or_map;
    const bool left = route == gpi_radix_route_lsd || route == gpi_radix_route_undecided;
    if (!levels_may && !(Work::Kernel::passes_follow && left))
        return;
    job.take_items();
    Work{{job, memory, {&job.plan->split_arrived, 0}}, digits}.sort(levels_may);
}

} // namespace GPI_SPACE
