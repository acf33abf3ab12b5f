/* SPDX-License-Identifier: MIT */
/*
 * Sorting a bucket inside one block by stable passes from the lowest digit in shared memory.
 *
 * If more bits are left than two passes take, the highest of them are sorted first. Most keys
 * are then in order; runs of keys that agree so far are short, or of equal keys, and a thread
 * sorts each short one by insertion. A bucket with a long run that is not in order is sorted by
 * all its bits.
 *
 * The order in which the lanes of a shared-memory addition are served is checked at the end,
 * as in radixsort_partition_keys.cuh: neighbours must ascend. A bucket that fails is put in
 * order by exchanges.
 */
#pragma once

#include "radixsort/radixsort_fault.cuh"
#include "radixsort/radixsort_bucket_global.cuh"
#include "radixsort/radixsort_warp_rank.cuh"

namespace GPI_SPACE
{

template <class K, bool FLOAT, int VB, int T, int I> struct BucketLsd {
    using V = typename Payload<VB>::type;
    static constexpr int warps = T / 32, items_max = T * I;
    /* A stable pass has counters per warp; the first pass over keys alone need not be stable, and
     * has one set of them. */
    static constexpr int digit_bits = VB > 0 ? 9 : 8, bins = 1 << digit_bits;
    static constexpr int first_bits = VB > 0 ? digit_bits : 10, first_bins = 1 << first_bits;
    static constexpr int run_max = 16;
    static constexpr bool pairs = VB > 0;

    struct Shared {
        K keys[items_max];
        alignas(16) uint32_t counts[warps * bins];
        uint32_t warp_total[warps];
        SharedArray<uint16_t, pairs ? items_max : 0> source;
    };

    const RadixJob<K, V> &job;
    Shared &s;
    int count;
    int rows, mine; /* of a warp; of those, how many have an item for this thread */
    K compared;     /* bits of a word; those above begin + bits are the same in all of them */
    int bits;       /* [begin, begin + bits) are to be sorted by */

    GPI_DEVICE KeyCodec<K, FLOAT, VB> codec() const
    {
        return {job.order};
    }

    /* The compared bits of the word of an encoded key. */
    GPI_DEVICE K word(K encoded) const
    {
        return (K)(codec().word(encoded) & compared);
    }

    GPI_DEVICE int first_item() const
    {
        return (int)threadIdx.x / 32 * rows * 32 + lane_id();
    }

    GPI_DEVICE void set_count(int n)
    {
        count = n;
        rows = (n + 32 * warps - 1) / (32 * warps);
        const int left = n - first_item();
        mine = left <= 0 ? 0 : (left + 31) / 32 < rows ? (left + 31) / 32 : rows;
    }

    /* Unrolled loops over rows end early, all threads of a block together. */
    GPI_DEVICE bool done(int i) const
    {
        return i % 3 == 0 && i >= rows;
    }

    GPI_DEVICE void load(const K *keys, const V *values, K (&key)[I])
    {
#pragma unroll
        for (int i = 0; i < I; i++)
            if (done(i))
                break;
            else if (i < mine)
                key[i] = __ldcs(keys + first_item() + i * 32);
        if constexpr (pairs) {
            const char *line = (const char *)(values + threadIdx.x * 128 / sizeof(V));
            if (values && threadIdx.x * 128 < count * sizeof(V))
                asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
#pragma unroll 4
            for (int i = 0; i < mine; i++)
                s.source[first_item() + i * 32] = (uint16_t)(first_item() + i * 32);
        }
    }

    /* All loads are on their way before the first key is needed. */
    GPI_DEVICE void encode(K (&key)[I]) const
    {
#pragma unroll
        for (int i = 0; i < I; i++)
            if (i < mine)
                key[i] = codec().encode(key[i]);
    }

    /* counts[w][d] becomes where warp w's items of digit d start. */
    template <int BINS, int SETS> GPI_DEVICE void sum_counts()
    {
        constexpr int each = (BINS + T - 1) / T;
        uint32_t all = 0;
#pragma unroll
        for (int b = 0; b < each; b++) {
            const int d = threadIdx.x * each + b;
            if (d < BINS)
#pragma unroll 8
                for (int w = 0; w < SETS; w++)
                    all += s.counts[w * BINS + d];
        }
        const uint32_t upto = warp_running_sum(all);
        if (lane_id() == 31)
            s.warp_total[threadIdx.x / 32] = upto;
        __syncthreads();
        uint32_t at = upto - all;
        for (uint32_t w = 0; w < threadIdx.x / 32; w++)
            at += s.warp_total[w];
#pragma unroll
        for (int b = 0; b < each; b++) {
            const int d = threadIdx.x * each + b;
            if (d < BINS)
#pragma unroll 8
                for (int w = 0; w < SETS; w++) {
                    const uint32_t c = s.counts[w * BINS + d];
                    s.counts[w * BINS + d] = at;
                    at += c;
                }
        }
    }

    /* Ranks of a pass, for radixsort_fault.cuh; without values equal keys are the same. */
    template <int BITS> struct FaultItems {
        const BucketLsd &bucket;
        const K (&key)[I];
        uint32_t (&rank)[I];

        GPI_DEVICE FaultRow row(int i) const
        {
            const bool valid = i < bucket.mine;
            if (!valid)
                return {};
            return {valid, rank[i] % (1u << BITS), rank[i],
                    pairs ? (uint64_t)lane_id() : (uint64_t)bucket.word(key[i])};
        }

        GPI_DEVICE void set(int i, uint32_t to) const
        {
            rank[i] = to;
        }
    };

    /* One pass by bits [begin + lowest, begin + lowest + width) of the word; stable with a set of
     * counters for each warp. */
    template <int BITS, int SETS> GPI_DEVICE void pass(int lowest, int width, K (&key)[I])
    {
        constexpr uint32_t bins_of = 1u << BITS;
        const DigitOf<K> digit = {job.begin + lowest, (1u << width) - 1};
        uint32_t *counts = s.counts + (SETS > 1 ? threadIdx.x / 32 * bins_of : 0), rank[I];
        for (int i = threadIdx.x; i < SETS * (int)bins_of / 4; i += T)
            ((uint4 *)s.counts)[i] = make_uint4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < I; i++)
            if (done(i))
                break;
            else if (i < mine) {
                const uint32_t d = digit(word(key[i]));
                rank[i] = atomicAdd(&counts[d], 1u) << BITS | d;
            }
        /* In the last pass, where no other one comes after it that would hide the fault. */
        if (SETS > 1 && lowest + width == bits && bits <= first_bits + 2 * digit_bits)
            fault_swap<I>(blockIdx.x + 5, (int)threadIdx.x / 32, warps,
                          FaultItems<BITS>{*this, key, rank});
        __syncthreads();
        sum_counts<bins_of, SETS>();
        __syncthreads();
#pragma unroll
        for (int i = 0; i < I; i++)
            if (done(i))
                break;
            else if (i < mine) {
                rank[i] = counts[rank[i] % bins_of] + (rank[i] >> BITS);
                s.keys[rank[i]] = key[i];
            }
        if constexpr (pairs) {
            uint16_t source[I];
#pragma unroll
            for (int i = 0; i < I; i++)
                if (done(i))
                    break;
                else if (i < mine)
                    source[i] = s.source[first_item() + i * 32];
            __syncthreads();
#pragma unroll
            for (int i = 0; i < I; i++)
                if (done(i))
                    break;
                else if (i < mine)
                    s.source[rank[i]] = source[i];
        }
        __syncthreads();
    }

    GPI_DEVICE void reload(K (&key)[I])
    {
#pragma unroll
        for (int i = 0; i < I; i++)
            if (done(i))
                break;
            else if (i < mine)
                key[i] = s.keys[first_item() + i * 32];
    }

    /* By bits [begin + lowest, begin + bits) of the word. */
    GPI_DEVICE void passes(int lowest, K (&key)[I])
    {
        int at = lowest;
        if constexpr (!pairs) {
            const int width = bits - at < first_bits ? bits - at : first_bits;
            pass<first_bits, 1>(at, width, key);
            at += width;
            if (at < bits)
                reload(key);
        }
        const int number = (bits - at + digit_bits - 1) / digit_bits;
        const int width = number ? (bits - at + number - 1) / number : 0;
        while (at < bits) {
            pass<digit_bits, warps>(at, bits - at < width ? bits - at : width, key);
            at += width;
            if (at < bits)
                reload(key);
        }
    }

    GPI_DEVICE K head(int p, int lowest) const
    {
        return (K)(word(s.keys[p]) >> (job.begin + lowest));
    }

    /* Length of the run of keys that agree in the bits from lowest on, if one begins at p. */
    GPI_DEVICE int run_at(int p, int lowest) const
    {
        const K mine_head = head(p, lowest);
        if (p + 1 == count || head(p + 1, lowest) != mine_head ||
            (p > 0 && head(p - 1, lowest) == mine_head))
            return 0;
        int end = p + 2;
        while (end < count && end - p <= run_max && head(end, lowest) == mine_head)
            end++;
        return end - p;
    }

    /* Whether the keys at p and p + 1 fall, and their run is long: more than half of what is too
     * long, so that it is enough to look that far on both sides. */
    GPI_DEVICE bool falls_in_long_run(int p, int lowest) const
    {
        constexpr int far = run_max / 2;
        if (p + 1 == count || word(s.keys[p]) <= word(s.keys[p + 1]))
            return false;
        const K mine_head = head(p, lowest);
        return (p >= far && head(p - far, lowest) == mine_head) ||
               (p + far < count && head(p + far, lowest) == mine_head);
    }

    GPI_DEVICE bool long_run_falls(int lowest) const
    {
        bool falls = false;
        for (int p = threadIdx.x; p < count && !falls; p += T)
            falls = falls_in_long_run(p, lowest);
        return __syncthreads_or(falls);
    }

    /* Put such runs in order; false if one that is not is too long for that.
     * Counters are free then. */
    GPI_DEVICE bool sort_runs(int lowest)
    {
        uint8_t *runs = (uint8_t *)s.counts;
        static_assert(sizeof s.counts >= items_max, "a length for each item");
        bool too_long = false;
        for (int p = threadIdx.x; p < count; p += T) {
            const int run = run_at(p, lowest);
            too_long = too_long || run > run_max;
            runs[p] = (uint8_t)(run > run_max ? 0 : run);
        }
        if (__syncthreads_or(too_long) && long_run_falls(lowest))
            return false;
        for (int p = threadIdx.x; p < count; p += T)
            if (runs[p])
                insertion(p, p + runs[p]);
        __syncthreads();
        return true;
    }

    GPI_DEVICE void insertion(int begin, int end)
    {
        for (int i = begin + 1; i < end; i++)
            for (int j = i; j > begin && word(s.keys[j]) < word(s.keys[j - 1]); j--)
                swap(j - 1, j);
    }

    GPI_DEVICE void swap(int i, int j)
    {
        const K key = s.keys[i];
        s.keys[i] = s.keys[j];
        s.keys[j] = key;
        if constexpr (pairs) {
            const uint16_t source = s.source[i];
            s.source[i] = s.source[j];
            s.source[j] = source;
        }
    }

    /* The key at p is after the one at p + 1. */
    GPI_DEVICE bool falls(int p, K key, K next) const
    {
        const K a = word(key), b = word(next);
        if constexpr (pairs)
            return b < a || (a == b && s.source[p + 1] < s.source[p]);
        else
            return b < a;
    }

    static __device__ __noinline__ void exchange_neighbours(BucketLsd b)
    {
        for (bool moved = true; __syncthreads_or(moved);) {
            moved = false;
            for (int odd = 0; odd < 2; odd++) {
                for (int p = 2 * threadIdx.x + odd; p + 1 < b.count; p += 2 * T)
                    if (b.falls(p, b.s.keys[p], b.s.keys[p + 1])) {
                        b.swap(p, p + 1);
                        moved = true;
                    }
                __syncthreads();
            }
        }
    }

    GPI_DEVICE bool write(K *keys) const
    {
        bool ordered = true;
#pragma unroll 4
        for (int p = threadIdx.x; p < count; p += T) {
            const K key = s.keys[p], next = s.keys[p + 1 < count ? p + 1 : p];
            ordered = ordered && (p + 1 == count || !falls(p, key, next));
            if (keys)
                __stcs(keys + p, codec().decode(key));
        }
        return ordered;
    }

    /* Values are fetched by source; a bucket may be sorted where it lies, so all are read before
     * one is written. */
    GPI_DEVICE void write_values(V *values, const V *values_in, uint64_t first) const
    {
        V value[I];
#pragma unroll
        for (int i = 0; i < I; i++) {
            const int p = i * T + (int)threadIdx.x;
            if (p < count) {
                const uint32_t source = s.source[p];
                if (values_in)
                    value[i] = values_in[source];
                else
                    value[i] = (V)(first + source);
            }
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < I; i++) {
            const int p = i * T + (int)threadIdx.x;
            if (p < count)
                __stcs(values + p, value[i]);
        }
    }

    /* Not inlined: its registers are not those of the kernel. */
    static __device__ __noinline__ void sort_by_passes(BucketLsd b, uint64_t first, uint32_t from)
    {
        b.sort(first, from);
    }

    GPI_DEVICE void sort(uint64_t first, uint32_t from)
    {
        const K *keys_in = job.keys[from] + first;
        const V *values_in = job.values[from] ? job.values[from] + first : nullptr;
        K *keys = job.keys_wanted ? job.keys[gpi_radix_out] + first : nullptr;
        V *values = pairs ? job.values[gpi_radix_out] + first : nullptr;
        K key[I];
        load(keys_in, values_in, key);
        encode(key);
        /* The highest bits first, if that leaves out at least a pass. */
        constexpr int two = first_bits + digit_bits;
        int lowest = bits > two + digit_bits ? bits - two : 0;
        for (;;) {
            passes(lowest, key);
            if (lowest == 0)
                break;
            if (sort_runs(lowest))
                break;
            lowest = 0;
            reload(key);
        }
        if (__syncthreads_or(!write(keys))) {
            fault_count(fault_repaired, (int)threadIdx.x);
            exchange_neighbours(*this);
            write(keys);
        }
        if constexpr (pairs)
            write_values(values, values_in, first);
    }

    /* A bucket of equal keys, which may be of any size. */
    GPI_DEVICE void copy(uint64_t first, uint64_t end) const
    {
        if (job.keys_wanted)
            copy_items<T>(job.keys[gpi_radix_tmp], first, end, job.keys[gpi_radix_out]);
        if constexpr (pairs)
            copy_items<T>(job.values[gpi_radix_tmp], first, end, job.values[gpi_radix_out]);
    }
};

} // namespace GPI_SPACE
