/* SPDX-License-Identifier: MIT */
/*
 * The partition of an array between splitters, stable, by all blocks: each has a share, of which
 * shared memory holds the places. All blocks rank a sample (radixsort_splitters.cuh); every warp
 * finds the buckets of its items and counts them, row by row by the lanes that agree in their
 * bucket; keys and then values are put in order in shared memory, while the counts of a bucket are
 * summed up over blocks; then runs of a bucket are written to where it lies. No step takes longer
 * where many items are equal. Where shared memory has no room for the items of a share, these are
 * put in order and written in rounds, of as many places as it has room for.
 */
#pragma once

#include "device/grid.cuh"
#include "radixsort/radixsort_places.cuh"
#include "radixsort/radixsort_splitters.cuh"

namespace GPI_SPACE
{

/* Keys of integers, too, take the order of floats, as the code is there once then. */
template <class K, int VB, int T, bool LARGE, bool ROUNDS> struct SplitArray {
    using V = typename Payload<VB>::type;
    using Job = RadixJob<K, V>;
    using Memory = SplitMemory<K, VB, T, ROUNDS>;
    static constexpr uint32_t warps = T / 32, batch = LARGE ? 8 : 4; /* rows */
    static constexpr bool asks = LARGE && !ROUNDS && VB > 0;         /* whether passes are faster */

    static constexpr uint32_t one_run = 1 << 16; /* beside a number of items */

    /* Beside a place: the bucket's items are equal, and go to the output. */
    static constexpr uint32_t in_order = 1u << 31;

    const Job
        &job; /* in shared memory: parameters of a kernel are read slowly by address, copies of
                     * threads fill the L1 */
    const Splitters<K> splitters;
    const uint32_t buckets, share;
    uint32_t first, count; /* items of the share */
    char *moved;           /* items in order; before, the sample, or the splitters as a tree and the
                            * buckets of items */
    uint32_t *begins;      /* of buckets: its first place in the block, and above that how many
                            * buckets before have items there */
    uint16_t *counts;      /* [warp][bucket], then where the first of them goes in the block */
    uint16_t *places;      /* of items: among those of their warp and bucket, then in the block */

    /* Where the counts were, once items have places: the items of a bucket in the block are a run.
     * runs: where in the output place 0 of the block would go if all were of that run; heads: of 32
     * places each, a bit where a run begins; runs_before: how many runs begin before these. */
    uint32_t *runs, *heads;
    uint16_t *runs_before;

    GPI_DEVICE SplitArray(const Job &job_, char *memory)
        : job(job_), splitters(Splitters<K>::of(job_)), buckets(splitters.buckets()),
          share(Memory::share_of(job.items(), gridDim.x)), moved(memory)
    {
        const uint32_t n = (uint32_t)job.items();
        first = min(blockIdx.x * share, n);
        count = min(share, n - first);
        begins = (uint32_t *)(memory + Memory::moved_bytes(n, share, job.split_bits));
        runs = begins + buckets;
        counts = ROUNDS ? digits() + share : (uint16_t *)runs;
        heads = runs + buckets;
        runs_before = (uint16_t *)(heads + share / 32);
        places = (uint16_t *)runs + Memory::counts_bytes(share, job.split_bits) / 2;
    }

    static GPI_DEVICE uint32_t warp()
    {
        return threadIdx.x / 32;
    }

    GPI_DEVICE uint16_t *own_counts() const
    {
        return counts + warp() * buckets;
    }

    /* The counts of buckets, zero at first; those of each block are in of_block(). */
    GPI_DEVICE uint32_t *totals() const
    {
        return (uint32_t *)job.starts;
    }

    GPI_DEVICE uint32_t *of_block(uint32_t bucket, uint32_t block) const
    {
        uint32_t *const all = ROUNDS ? (uint32_t *)job.lists.large : (uint32_t *)job.states[0];
        return all + bucket * gridDim.x + block;
    }

    /* Keys alone: blocks take their places in a bucket as they come, which costs a barrier less,
     * unless there are many of both. */
    GPI_DEVICE bool any_order() const
    {
        return VB == 0 && !ROUNDS && job.items() < radix_tuning.small_items;
    }

    /* f(p, end) for batches of rows of the warp, in order, of items from `from` to `to`; a lane's
     * items are p + 32 i < end. */
    template <class F> GPI_DEVICE void for_rows(uint32_t from, uint32_t to, F f) const
    {
        const uint32_t rows = (to - from + 31) / 32, each = (rows + warps - 1) / warps;
        const uint32_t end = min(from + (warp() + 1) * each * 32, to);
#pragma unroll 1
        for (uint32_t p = from + warp() * each * 32 + lane_id(); p - lane_id() < end;
             p += 32 * batch)
            f(p, end);
    }

    template <class F> GPI_DEVICE void for_rows(F f) const
    {
        for_rows(0, count, f);
    }

    /* f(i, before) for numbers below end, with the sum of value(i) of all before. */
    template <class N, class F> GPI_DEVICE void for_sums(uint32_t end, N value, F f) const
    {
        uint32_t at = 0;
        for (uint32_t i = threadIdx.x; i - threadIdx.x < end; i += T) {
            const uint2 sum = split_sums<T>(i < end ? value(i) : 0);
            if (i < end)
                f(i, at + sum.x);
            at += sum.y;
        }
    }

    GPI_DEVICE uint16_t *digits() const
    {
        return (uint16_t *)((K *)moved + buckets);
    }

    /* The buckets of items, and their ranks among those of the warp. */
    GPI_DEVICE void find_buckets() const
    {
        K *tree = (K *)moved;
        uint16_t *const own = own_counts(), *const to = digits();
        splitters.load(tree, threadIdx.x, T);
        for (uint32_t i = threadIdx.x; i < warps * buckets / 2; i += T)
            ((uint32_t *)counts)[i] = 0;
        __syncthreads();
        const DigitOfSplit<K> bucket = {0, buckets - 1, tree, job.compared(), job.split_bits};
        const K *from = job.keys[gpi_radix_in] + first;
        for_rows([&](uint32_t p, uint32_t end) {
            K word[batch];
            uint32_t digit[batch], peers[batch];
#pragma unroll
            for (uint32_t i = 0; i < batch; i++)
                word[i] = from[min(p + i * 32, end - 1)];
#pragma unroll
            for (uint32_t i = 0; i < batch; i++)
                word[i] = job.order.template word<true>(word[i]);
            bucket.all(word, digit);
            find_split_peers(p, end, buckets, digit, peers);
#pragma unroll
            for (uint32_t i = 0; i < batch; i++) {
                const bool mine = p + i * 32 < end;
                const uint32_t at = own[digit[i]];
                const uint32_t before = __popc(peers[i] & ((1u << lane_id()) - 1));
                __syncwarp();
                if (mine && before == 0)
                    own[digit[i]] = (uint16_t)(at + __popc(peers[i]));
                __syncwarp();
                if (mine) {
                    to[p + i * 32] = (uint16_t)digit[i];
                    places[p + i * 32] = (uint16_t)(at + before);
                }
            }
        });
        __syncthreads();
    }

    /* Counts of warps become places; all blocks get to know those of the block. */
    GPI_DEVICE void sum_warps() const
    {
        const auto of_warp = [&](uint32_t b, uint32_t w) -> uint16_t & {
            return counts[w * buckets + b];
        };
        for_sums(
            buckets,
            [&](uint32_t b) {
                uint32_t sum = 0;
#pragma unroll 4
                for (uint32_t w = 0; w < warps; w++)
                    sum += of_warp(b, w);
                *of_block(b, blockIdx.x) = sum && any_order() ? atomicAdd(totals() + b, sum) : sum;
                return sum + (sum > 0 ? one_run : 0);
            },
            [&](uint32_t b, uint32_t before) {
                begins[b] = before;
                uint32_t at = before % one_run;
#pragma unroll 4
                for (uint32_t w = 0; w < warps; w++) {
                    const uint32_t own = of_warp(b, w);
                    of_warp(b, w) = (uint16_t)at;
                    at += own;
                }
            });
        __syncthreads();
    }

    /* A bucket's counts of blocks become items of the blocks before. */
    GPI_DEVICE void sum_blocks() const
    {
        for (uint32_t b = warp() * gridDim.x + blockIdx.x; b < buckets; b += warps * gridDim.x) {
            uint32_t at = 0;
            for (uint32_t i = lane_id(); i - lane_id() < gridDim.x; i += 32) {
                const uint32_t own = i < gridDim.x ? __ldcg(of_block(b, i)) : 0;
                const uint32_t upto = warp_running_sum(own);
                if (i < gridDim.x)
                    *of_block(b, i) = at + upto - own;
                at += __shfl_sync(all_lanes, upto, 31);
            }
            if (lane_id() == 0)
                totals()[b] = at;
        }
    }

    /* Ranks become places in the block. Then the block synchronizes. */
    GPI_DEVICE void find_places() const
    {
        const uint16_t *const own = own_counts(), *const digit = digits();
        for_rows([&](uint32_t p, uint32_t end) {
            uint32_t place[batch];
#pragma unroll
            for (uint32_t i = 0; i < batch; i++) {
                const uint32_t q = min(p + i * 32, end - 1);
                place[i] = places[q] + own[digit[q]];
            }
            __syncwarp(); /* the last item is read by other lanes, too */
#pragma unroll
            for (uint32_t i = 0; i < batch; i++)
                if (p + i * 32 < end)
                    places[p + i * 32] = (uint16_t)place[i];
        });
    }

    /* Items that a round moves, at most. */
    template <class X> GPI_DEVICE uint32_t round_items() const
    {
        const uint64_t n = job.items();
        return ROUNDS ? Memory::moved_bytes(n, share, job.split_bits) / sizeof(X) / 32 * 32 : share;
    }

    /* Items of a round go to their places. Then the block synchronizes. */
    template <class X, class F> GPI_DEVICE void put_in_order(uint32_t begin, F item) const
    {
        for_rows([&](uint32_t p, uint32_t end) {
            X x[batch];
#pragma unroll
            for (uint32_t i = 0; i < batch; i++)
                x[i] = item(min(p + i * 32, end - 1));
#pragma unroll
            for (uint32_t i = 0; i < batch; i++)
                if (p + i * 32 < end) {
                    const uint32_t at = places[p + i * 32] - begin;
                    if (!ROUNDS || at < round_items<X>())
                        ((X *)moved)[at] = x[i];
                }
        });
    }

    GPI_DEVICE bool has_items(uint32_t bucket) const
    {
        const uint32_t end = bucket + 1 < buckets ? begins[bucket + 1] % one_run : count;
        return begins[bucket] % one_run < end;
    }

    /* Where runs begin in the block; heads are zero. Then the block synchronizes. */
    GPI_DEVICE void find_heads() const
    {
        for (uint32_t b = threadIdx.x; b < buckets; b += T)
            if (has_items(b))
                atomicOr(&heads[begins[b] % one_run / 32], 1u << begins[b] % 32);
        __syncthreads();
        for_sums(
            share / 32, [&](uint32_t row) { return __popc(heads[row]); },
            [&](uint32_t row, uint32_t before) { runs_before[row] = (uint16_t)before; });
    }

    /* Whether equal items, too, go where others do: in rounds some are read after writes. */
    GPI_DEVICE bool stays() const
    {
        return ROUNDS && job.in_place;
    }

    /* Where the block's runs go; false if a bucket is too large. Each block adds some of the
     * buckets to the list that radixsort_bucket_k.cuh gets from levels and maps, too. */
    GPI_DEVICE bool place() const
    {
        bool fits = true;
        gpi_radix_entry entry; /* of the thread's bucket, and its items in blocks before */
        uint32_t before = 0;
        for_sums(
            buckets,
            [&](uint32_t b) {
                before = __ldcg(of_block(b, blockIdx.x));
                entry = split_entry(splitters, b, 0, __ldcg(totals() + b));
                return entry.count;
            },
            [&](uint32_t b, uint32_t start) {
                entry.first = start;
                const bool equal = entry.bits == 0, word = equal && !stays();
                const uint32_t most = equal ? (uint32_t)GPI_RADIX_COPIED : 2 * job.bucket_max;
                if (equal && stays())
                    entry.from = gpi_radix_tmp;
                if (b % gridDim.x == blockIdx.x)
                    job.lists.entries[b] = entry;
                fits = fits && (word || entry.count <= most);
                if (has_items(b))
                    runs[begins[b] / one_run] =
                        start + before - begins[b] % one_run + (word ? in_order : 0);
            });
        return __syncthreads_and(fits);
    }

    /* Where runs go, when the counts of all blocks are there; false if a bucket is too large. */
    GPI_DEVICE bool find_runs(GridBarrier &barrier) const
    {
        barrier.wait_for_others();
        if (!any_order()) {
            sum_blocks();
            barrier.arrive(gridDim.x);
        }
        find_heads();
        if (!any_order())
            barrier.wait_for_others();
        if (place())
            return true;
        barrier.wait(); /* passes count where totals are */
        for (uint32_t b = threadIdx.x; b < buckets; b += T)
            totals()[b] = 0;
        barrier.wait();
        return false;
    }

    /* store(to, at, x) for the items of a round in order. */
    template <class X, class F> GPI_DEVICE void write(uint32_t begin, F store) const
    {
        for_rows(begin, min(begin + round_items<X>(), count), [&](uint32_t p, uint32_t end) {
            X x[batch];
            uint32_t run[batch];
#pragma unroll
            for (uint32_t i = 0; i < batch; i++) {
                const uint32_t q = min(p + i * 32, end - 1), row = q / 32;
                x[i] = ((const X *)moved)[q - begin];
                run[i] = runs[runs_before[row] + __popc(heads[row] & ((2u << q % 32) - 1)) - 1];
            }
#pragma unroll
            for (uint32_t i = 0; i < batch; i++)
                if (p + i * 32 < end)
                    store(run[i] & in_order, (run[i] & ~in_order) + p + i * 32, x[i]);
        });
        __syncthreads();
    }

    /* Of keys, or of values. */
    template <class X>
    GPI_DEVICE ValueArray<X> array(bool keys, uint32_t place, uint32_t at = 0) const
    {
        if constexpr (VB > 0 && std::is_same_v<X, V>)
            if (!keys)
                return job.values_at(place, at);
        return {(void *)(job.keys[place] + at), sizeof(K)};
    }

    /* Keys, or then values, to their buckets; false if one of these is too large. */
    template <class X> GPI_DEVICE bool move(GridBarrier &barrier, bool keys) const
    {
        const ValueArray<X> from = array<X>(keys, gpi_radix_in, first),
                            out = array<X>(keys, gpi_radix_out),
                            tmp = array<X>(keys, gpi_radix_tmp);
        uint32_t begin = 0;
        do {
            put_in_order<X>(begin,
                            [&](uint32_t p) { return from ? from.load(p) : (X)(first + p); });
            if (keys && begin == 0) {
                if (!find_runs(barrier))
                    return false;
            } else {
                __syncthreads();
                if (!ROUNDS && job.in_place) /* others may still read where equal keys' values go */
                    barrier.wait();
            }
            write<X>(begin, [&](bool done, uint32_t at, X x) { (done ? out : tmp).store(at, x); });
            begin += round_items<X>();
        } while (ROUNDS && begin < count);
        return true;
    }

    /* By the same code where they are of one size, as it comes from memory. */
    GPI_DEVICE bool move_all(GridBarrier &barrier) const
    {
        if constexpr (VB == sizeof(K)) {
            bool moves = true;
#pragma unroll 1
            for (int i = 0; i < 2 && moves; i++)
                moves = move<V>(barrier, i == 0);
            return moves;
        } else if constexpr (VB > 0) {
            return move<K>(barrier, true) && move<V>(barrier, false);
        } else {
            return move<K>(barrier, true);
        }
    }

    /* True if blocks can and should sort the buckets, which have their items then. */
    GPI_DEVICE bool run() const
    {
        GridBarrier barrier = {ROUNDS ? &job.plan->map_arrived : &job.plan->split_arrived, 0};
        if (job.plan->skewed != gpi_radix_sampled) {
            take_sample<T>(job, blockIdx.x, gridDim.x);
            barrier.wait();
        }
        rank_sample<T, asks>(job);
        if constexpr (VB > 0) /* they are needed last */
            job.values_at(gpi_radix_in, first).prefetch(count);
        barrier.wait();
        if (asks && are_clumped<T>(job))
            return false;
        find_buckets();
        sum_warps();
        barrier.arrive(gridDim.x);
        find_places();
        __syncthreads();
        for (uint32_t row = threadIdx.x; row < share / 32; row += T)
            heads[row] = 0;
        if (!move_all(barrier))
            return false;
        if (blockIdx.x == 0 && threadIdx.x == 0)
            job.plan->entries = buckets;
        return true;
    }
};

/* A call: between the lines of other sorts its code would cost them microseconds. */
template <class K, int VB, int T, bool LARGE, bool ROUNDS = false>
__device__ __noinline__ bool split_array(const RadixJobOf<K, VB> &job)
{
    using Work = SplitArray<K, VB, T, LARGE, ROUNDS>;
    extern __shared__ __align__(16) char memory[];
    __shared__ typename Work::Job shared;
    static_assert(sizeof(job) % sizeof(uint32_t) == 0, "whole words");
    for (uint32_t i = threadIdx.x; i < sizeof(job) / sizeof(uint32_t); i += T)
        ((uint32_t *)&shared)[i] = ((const uint32_t *)&job)[i];
    __syncthreads();
    if (ROUNDS && threadIdx.x == 0)
        shared.split_bits = shared.rounds_bits;
    __syncthreads();
    return Work(shared, memory).run();
}

} // namespace GPI_SPACE
