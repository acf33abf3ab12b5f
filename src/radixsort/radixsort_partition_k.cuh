/* SPDX-License-Identifier: MIT */
/*
 * The partition passes of a sort, all in one cooperative launch: count, plan, partition. What route
 * the keys take is found out on the device:
 *
 * From the top digit. One read counts up to 2^15 buckets by the highest bits that vary; one or two
 * partition passes bring every key into its bucket, and radixsort_bucket_k.cuh sorts the buckets,
 * each inside one multiprocessor. The number of trips through memory does not grow with the width
 * of the key.
 *
 * The same with buckets between the splitters of a sample (radixsort_splitters.cuh), if those of
 * bits are too large and the array is small.
 *
 * By passes, from the lowest digit (Knuth volume 3, 5.2.5), if many keys are in buckets that are
 * too large otherwise; a few such buckets are for radixsort_bucket_global.cuh. A digit that is the
 * same in all keys needs no pass.
 *
 * By levels, if large arrays have such keys: those of 8 bytes between splitters
 * (radixsort_levels_k.cuh); those of 4 bytes by a map, if words hardly repeat, or by cells, if
 * nearly all are in a few buckets or of few words, or many are only somewhat too large: the counts
 * are left to radixsort_adaptive_k.cuh. Nothing is partitioned here then.
 */
#pragma once

#include "device/grid.cuh"
#include "radixsort/radixsort_histogram.cuh"
#include "radixsort/radixsort_partition_pass.cuh"

namespace GPI_SPACE
{

template <class K, bool FLOAT, int VB, int T, int I, bool SPLITS> struct PartitionKernel {
    using V = typename Payload<VB>::type;
    static constexpr int groups = radix_tile_groups(sizeof(K), VB);
    static constexpr int tile_items = T / groups * I;
    using G = Group<T / groups>;
    template <bool STABLE, int ITEMS>
    using Partitions =
        Partitioner<K, FLOAT, VB, STABLE, T, ITEMS, PartitionByBits<K, G, T / groups * ITEMS>>;
    using Passes = Partitions<true, I>;
    using Buckets = Partitions<false, radix_partition_items(sizeof(K), VB, I)>;
    using Splits =
        Partitioner<K, FLOAT, VB, false, T, I, PartitionBySplitters<K, G, T / groups * I>>;
    template <class Partitions> struct Shared {
        typename Partitions::Tile::OfGroup tile[groups];
        typename Partitions::Policy::Shared policy[groups];
    };
    static constexpr int shared_bytes = SPLITS && sizeof(Shared<Splits>) > sizeof(Shared<Passes>)
                                            ? sizeof(Shared<Splits>)
                                            : sizeof(Shared<Passes>);
    static_assert(sizeof(Shared<Buckets>) <= sizeof(Shared<Passes>), "they share it");

    const RadixJob<K, V> &job;
    char *memory;
    GridBarrier barrier;
    bool all_equal = false; /* by the bits that are compared */
    bool by_levels = false; /* what look() has found */

    GPI_DEVICE uint64_t tiles() const
    {
        return (job.items() + tile_items - 1) / tile_items;
    }

    /* Bits [shift, shift + bits) of a word are the number of its bucket,
     * the highest of those that vary. */
    struct Top {
        int shift, bits;
    };

    GPI_DEVICE Top top(BitRange vary) const
    {
        const bool few = vary.end - job.bits_if_narrow - vary.begin <= job.narrow_limit;
        const int most = few ? job.bits_if_narrow : job.bucket_bits;
        const int bits = vary.end - job.begin < most ? vary.end - job.begin : most;
        return {vary.end - bits, bits};
    }

    GPI_DEVICE void count(Top t, uint32_t *counts) const
    {
        if constexpr (!SPLITS)
            if (t.bits > radix_tuning.bucket_bits) {
                count_buckets<T, FLOAT, true, K>(job, t.shift, t.bits, 1, counts,
                                                 (uint32_t *)memory);
                return;
            }
        count_buckets<T, FLOAT, false, K>(job, t.shift, t.bits, 1, counts, (uint32_t *)memory);
    }

    /* The bits that vary in a sample; false if there is no need to count all keys, as
     * they will go by passes. */
    GPI_DEVICE bool sample(BitRange &vary)
    {
        uint32_t *table = (uint32_t *)memory;
        count_buckets<T, FLOAT, false, K>(job, job.begin, 0, radix_tuning.sample_bits, job.recount,
                                          table);
        barrier.wait();
        vary = varying_range(job, job.plan->varying);
        if (vary.end == job.begin && !job.adaptive_allowed)
            return false;
        if (vary.end == job.begin)
            vary = {job.begin, job.end};
        Top t = top(vary);
        const int halves = max(t.bits - radix_tuning.bucket_bits, 0);
        t = {t.shift + halves, t.bits - halves};
        if (blockIdx.x == 0 && threadIdx.x == 0)
            job.recount[0] = 0;
        barrier.wait();
        count_buckets<T, FLOAT, false, K>(job, t.shift, t.bits, radix_tuning.sample_counts,
                                          job.recount, table);
        barrier.wait();
        if (blockIdx.x == 0)
            plan_sample<T, !SPLITS>(job, t.bits, job.recount, radix_tuning.sample_counts, table);
        barrier.wait();
        for (int i = blockIdx.x * T + threadIdx.x; i < 1 << t.bits; i += gridDim.x * T)
            job.recount[i] = 0;
        return !job.plan->skewed;
    }

    /* A look at a word for each thread, the same in all blocks, so that none waits: the bits that
     * vary in these. True if buckets are so full that all keys would be counted in vain, and
     * levels follow. */
    __device__ __noinline__ bool look(BitRange &vary) const
    {
        extern __shared__ __align__(16) char memory[];
        uint32_t *table = (uint32_t *)memory;
        __shared__ unsigned long long differ;
        const K *keys = job.keys[gpi_radix_in];
        const uint64_t n = job.items(), from = n * threadIdx.x / T;
        const uint32_t piece = (uint32_t)(n * (threadIdx.x + 1) / T - from);
        const K word =
            job.order.template word<FLOAT>(keys[from + __umulhi(threadIdx.x * 0x9e3779b1u, piece)]);
        const K varying = warp_or((K)(word ^ job.order.template word<FLOAT>(keys[0])));
        if (threadIdx.x == 0)
            differ = 0;
        __syncthreads();
        if (lane_id() == 0)
            atomicOr(&differ, (unsigned long long)varying);
        __syncthreads();
        vary = varying_range(job, differ);
        if (vary.end == job.begin)
            vary = {job.begin, job.end};
        const Top t = top(vary);
        for (int i = threadIdx.x; i < 1 << t.bits; i += T)
            table[i] = 0;
        __syncthreads();
        const uint32_t bucket = DigitOf<K>{t.shift, (1u << t.bits) - 1}(word);
        atomicAdd(&table[bucket], 1u);
        __syncthreads();
        const uint32_t full = max(radix_tuning.sample_full * T >> t.bits, 2u);
        const int excess = __syncthreads_count(table[bucket] > full);
        if (excess <= (int)(T / radix_tuning.sample_excess) || !splits_by_levels(job, differ))
            return false;
        if (blockIdx.x == 0 && threadIdx.x == 0)
            job.plan->route = gpi_radix_route_adaptive;
        return true;
    }

    /* Counts of 2^bits buckets from those of 2^more as many. */
    GPI_DEVICE void join_buckets(int more, int bits, uint32_t *counts) const
    {
        for (int i = blockIdx.x * T + threadIdx.x; i < 1 << bits; i += gridDim.x * T) {
            uint32_t sum = 0;
            for (int j = 0; j < 1 << more; j++)
                sum += job.buckets[(i << more) + j];
            counts[i] = sum;
        }
    }

    /* True if the buckets between splitters are small enough. */
    GPI_DEVICE bool split()
    {
        take_sample<T, FLOAT>(job);
        barrier.wait();
        rank_sample<T>(job);
        barrier.wait();
        count_by_splitters<T, FLOAT>(job);
        barrier.wait();
        return place_by_splitters(job);
    }

    /* True if the buckets are small enough: their starts are there then. */
    GPI_DEVICE bool count_buckets_of_top()
    {
        uint32_t *counts = job.buckets;
        BitRange vary = {job.begin, job.end};
        if (job.items() >= radix_tuning.sampled_items && !sample(vary))
            return false;
        if constexpr (radix_by_splitters<K> && !SPLITS)
            if (job.items() >= radix_tuning.adaptive_items &&
                job.items() < radix_tuning.sampled_items && look(vary)) {
                by_levels = true;
                return false;
            }
        Top t = top(vary);
        count(t, counts);
        barrier.wait();
        const BitRange exact = varying_range(job, job.plan->varying);
        all_equal = exact.end == job.begin;
        if (all_equal)
            return false;
        const Top now = top(exact);
        if (now.shift != t.shift || now.bits != t.bits) {
            counts = job.recount;
            if (exact.end == vary.end && now.bits < t.bits)
                join_buckets(t.bits - now.bits, now.bits, counts);
            else
                count(now, counts);
            t = now;
            barrier.wait();
        }
        if (blockIdx.x == 0)
            plan_buckets<T, !SPLITS, K>(job, t.shift, t.bits, counts, Buckets::Tile::items,
                                        (uint32_t *)memory);
        barrier.wait();
        return job.plan->route == gpi_radix_route_buckets;
    }

    /* The one into buckets between splitters. */
    GPI_DEVICE PartitionPass split_pass() const
    {
        PartitionPass pass = {};
        pass.to = gpi_radix_tmp;
        pass.bits = job.bucket_bits;
        pass.ticket = &job.plan->tickets[0];
        pass.segment_starts = job.split_starts();
        pass.states = job.states[0];
        pass.cursors = job.plan->split_placed;
        return pass;
    }

    /* Partition pass number step of those into buckets. */
    GPI_DEVICE PartitionPass bucket_pass(int step) const
    {
        const int shift = job.plan->shift, bits = job.plan->bits;
        const int second = bits > radix_bits ? bits / 2 : 0, first = bits - second;
        PartitionPass pass = {};
        pass.ticket = &job.plan->tickets[step];
        pass.segment_starts = job.bucket_starts();
        pass.states = job.states[step];
        if (step == 0) {
            pass.to = gpi_radix_tmp;
            pass.shift = shift + second;
            pass.bits = first;
            pass.below = second;
            pass.cursors = second ? job.cursors + (1 << bits) : job.cursors;
            pass.clear = job.states[1];
            pass.clear_rows = second && VB > 0 ? tiles() + GPI_RADIX_SEGMENTS : 0;
        } else {
            pass.from = gpi_radix_tmp;
            pass.to = gpi_radix_out;
            pass.shift = shift;
            pass.bits = second;
            pass.segmented = true;
            pass.cursors = job.cursors;
        }
        return pass;
    }

    /* Pass p of sorting from the lowest digit. */
    GPI_DEVICE PartitionPass digit_pass(int p) const
    {
        const gpi_radix_pass now = job.plan->pass[p];
        PartitionPass pass = {};
        pass.from = now.from;
        pass.to = now.to;
        pass.shift = now.shift;
        pass.bits = now.bits;
        pass.ticket = &job.plan->tickets[2 + p];
        pass.leave_keys = now.last && !job.keys_wanted;
        pass.starts = job.starts + p * radix_bins;
        pass.states = job.states[now.number % 2];
        pass.clear = job.states[(now.number + 1) % 2];
        pass.clear_rows = tiles();
        return pass;
    }

    /* All passes of a route. */
    template <class Partitions> GPI_DEVICE void partitions(bool buckets)
    {
        auto &shared = *(Shared<Partitions> *)memory;
        auto &tile = shared.tile[G::number()];
        const int steps = !buckets                      ? (job.end - job.begin + 7) / 8
                          : job.plan->bits > radix_bits ? 2
                                                        : 1;
        for (int i = 0; i < steps; i++) {
            if (!buckets && !job.plan->pass[i].active)
                continue;
            G::sync();
            if (G::thread() == 0)
                tile.pass = buckets ? bucket_pass(i) : digit_pass(i);
            G::sync();
            const typename Partitions::Policy policy(job, tile.pass, shared.policy[G::number()]);
            Partitions(job, tile, policy).run();
            /* Nothing follows the last pass into buckets; of pairs, to know costs registers. */
            if (VB > 0 || !buckets || i + 1 < steps)
                barrier.wait();
        }
    }

    /* A call: between the lines of other sorts its code would cost them microseconds. */
    __device__ __noinline__ void partition_by_splitters()
    {
        extern __shared__ __align__(16) char memory[]; /* or the compiler forgets what it is, */
        const RadixJob<K, V> job = this->job;          /* and reads this again after every store */
        auto &shared = *(Shared<Splits> *)memory;
        auto &tile = shared.tile[G::number()];
        if (G::thread() == 0)
            tile.pass = split_pass();
        G::sync();
        const typename Splits::Policy policy(job, tile.pass, shared.policy[G::number()]);
        Splits(job, tile, policy).run();
    }

    GPI_DEVICE void count_passes()
    {
        job.template clear_states<T>(tiles());
        count_digits<T, FLOAT, K>(job, (uint32_t *)memory);
        barrier.wait();
        if (blockIdx.x == 0)
            plan_passes<K>(job, (uint64_t *)memory);
        barrier.wait();
    }

    /* to[i] = from[i], or i; several loads of a thread are on their way at once. */
    template <class X> GPI_DEVICE void copy(const X *from, uint64_t n, X *to) const
    {
        constexpr int batch = 8;
        const uint64_t threads = (uint64_t)gridDim.x * T;
        uint64_t i = (uint64_t)blockIdx.x * T + threadIdx.x;
        auto item = [=](uint64_t at) { return from ? __ldcs(from + at) : (X)at; };
        for (; i + (batch - 1) * threads < n; i += batch * threads) {
            X x[batch];
#pragma unroll
            for (int j = 0; j < batch; j++)
                x[j] = item(i + j * threads);
#pragma unroll
            for (int j = 0; j < batch; j++)
                __stcs(to + i + j * threads, x[j]);
        }
        for (; i < n; i += threads)
            to[i] = item(i);
    }

    GPI_DEVICE void finish_values(uint32_t place) const
    {
        const void *from = job.values[place];
        void *to = job.values[gpi_radix_out];
        if (job.values_at(place).is_narrow())
            copy((const uint8_t *)from, job.items() * job.value_bytes, (uint8_t *)to);
        else
            copy((const V *)from, job.items(), (V *)to);
    }

    /* What the passes left elsewhere goes to the output. */
    GPI_DEVICE void finish()
    {
        const uint32_t from = job.plan->result;
        if (from == gpi_radix_out)
            return;
        const bool copy_keys = job.keys_wanted && job.keys[from] != job.keys[gpi_radix_out];
        const bool copy_values = VB > 0 && job.values[from] != job.values[gpi_radix_out];
        if (copy_keys)
            copy(job.keys[from], job.items(), job.keys[gpi_radix_out]);
        if constexpr (VB > 0)
            if (copy_values)
                finish_values(from);
    }
};

/* Grid: cooperative, a block per multiprocessor at most. Tile: T x I items. SPLITS: with what sorts
 * by splitters. After: the sorted array; or buckets and route gpi_radix_route_buckets; or their
 * entries, or what radixsort_adaptive_k.cuh needs, and gpi_radix_route_adaptive; or nothing but
 * the route gpi_radix_route_one_bucket. */
template <class K, bool FLOAT, int VB, int T, int I, bool SPLITS>
__global__ void __launch_bounds__(T, 1)
    radix_partition_k(const __grid_constant__ RadixJob<K, typename Payload<VB>::type> job)
{
    extern __shared__ __align__(16) char memory[];
    using Work = PartitionKernel<K, FLOAT, VB, T, I, SPLITS>;
    job.take_items();
    if (job.is_one_bucket()) {
        if (blockIdx.x == 0 && threadIdx.x == 0)
            job.plan->route = gpi_radix_route_one_bucket;
        return;
    }
    Work kernel = {job, memory, {&job.plan->arrived, 0}};
    Work::Passes::init();
    bool buckets = false;
    if constexpr (radix_has_buckets<K>) {
        if (job.bucket_bits) {
            if (VB > 0)
                job.template clear_states<T>(kernel.tiles());
            buckets = kernel.count_buckets_of_top();
            if constexpr (SPLITS)
                if (job.plan->route == gpi_radix_route_splitters && kernel.split()) {
                    kernel.partition_by_splitters();
                    return;
                }
        }
        if (kernel.by_levels || job.plan->route == gpi_radix_route_adaptive)
            return;
        if (buckets)
            kernel.template partitions<typename Work::Buckets>(true);
    }
    if (buckets)
        return;
    if (!kernel.all_equal) {
        kernel.count_passes();
        kernel.template partitions<typename Work::Passes>(false);
    }
    kernel.finish();
}

} // namespace GPI_SPACE
