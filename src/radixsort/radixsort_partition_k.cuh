/* SPDX-License-Identifier: MIT */
/*
 * The partition passes of a sort, all in one cooperative launch: count, plan, partition. By the
 * counts of buckets the plan says which route the keys take (radixsort_internal.h). One or two
 * partitions bring them into buckets of their highest bits, so the number of trips through memory
 * does not grow with the width of the key; or a partition between splitters; or passes follow from
 * the lowest digit on (Knuth volume 3, 5.2.5); or nothing, before passes over some bits
 * (radixsort_bit_passes.cuh), levels (radixsort_levels_k.cuh) and maps (radixsort_map_k.cuh).
 */
#pragma once

#include <algorithm>

#include "radixsort/radixsort_digits.cuh"
#include "radixsort/radixsort_few_keys.cuh"
#include "radixsort/radixsort_partition_pass.cuh"
#include "radixsort/radixsort_plan_sample.cuh"
#include "radixsort/radixsort_split_array.cuh"

namespace GPI_SPACE
{

template <class K, bool FLOAT, int VB, int T, int I, bool LARGE> struct PartitionKernel {
    using V = typename Payload<VB>::type;
    template <int GROUPS, bool STABLE, int ITEMS>
    using Partitions = Partitioner<K, FLOAT, VB, STABLE, T, ITEMS,
                                   PartitionByBits<K, Group<T / GROUPS>, T / GROUPS * ITEMS>>;
    static constexpr int groups = radix_tile_groups(sizeof(K), VB);
    static constexpr bool has_long = LARGE && radix_has_long_tiles(sizeof(K), VB);
    using Passes = Partitions<groups, true, I>;
    using LongPasses = Partitions<has_long ? 1 : groups, true, I>;
    using Buckets = Partitions<groups, false, radix_partition_items(sizeof(K), VB, I)>;
    template <class Partitions> struct Shared {
        typename Partitions::Tile::OfGroup tile[T / Partitions::G::threads];
        typename Partitions::Policy::Shared policy[T / Partitions::G::threads];
    };
    static constexpr int shared_bytes =
        std::max({sizeof(Shared<Passes>), sizeof(Shared<LongPasses>), sizeof(Shared<Buckets>)});
    /* Passes of keys alone are left to radixsort_bit_passes.cuh. */
    static constexpr bool passes_follow = LARGE && radix_by_splitters<K> && VB == 0;
    static constexpr bool looks_early = LARGE && radix_by_map<K> && VB <= 4;
    static constexpr bool looks_ahead = radix_has_splits<K, VB, LARGE>;

    const RadixJob<K, V> &job;
    char *memory;
    GridBarrier barrier;
    bool all_equal = false; /* by the bits that are compared */
    bool in_vain = false;   /* to count all keys, by look() */
    bool looked = false;    /* and uneven, by the first block, which now looks for a map */
    int more = 0;           /* bits of buckets, by a few words */
    BucketsOfFew<VB && LARGE> of_few;

    GPI_DEVICE uint64_t tiles() const
    {
        return (job.items() + Passes::Tile::items - 1) / Passes::Tile::items;
    }

    GPI_DEVICE Top top(BitRange vary) const
    {
        const int few = min(vary.end - job.begin, of_few.bits);
        return few ? Top{vary.end - few, few} : Top::of(job, vary).divided(more);
    }

    /* Whether buckets are to be made for a visitor. */
    GPI_DEVICE bool buckets_of_few(BitRange vary)
    {
        return of_few.template find<T, FLOAT>(job, vary.end, barrier);
    }

    /* Blocks that look while others count. */
    GPI_DEVICE uint32_t looking() const
    {
        if constexpr (looks_ahead)
            if (job.split_bits)
                return LARGE && may_look() ? 0 : looking_blocks<T>(job);
        return LARGE ? looks_early && looks_for_passes(job) : 1;
    }

    /* By the same code whenever keys are counted. */
    GPI_DEVICE void count(Top t, uint32_t *counts) const
    {
        uint32_t *const table = (uint32_t *)memory;
        if constexpr (LARGE)
            if (t.bits > radix_tuning.bucket_bits) {
                count_buckets<T, FLOAT, true, K>(job, t.shift, t.bits, 1, counts, table);
                return;
            }
        count_buckets<T, FLOAT, false, K, looks_early>(job, t.shift, t.bits, 1, counts, table,
                                                       looking());
    }

    /* The bits that vary in a sample; false if passes follow, so that keys need not be counted. */
    GPI_DEVICE bool sample(BitRange &vary)
    {
        uint32_t *table = (uint32_t *)memory;
        count_buckets<T, FLOAT, false, K>(job, job.begin, 0, radix_tuning.sample_bits, job.recount,
                                          table);
        barrier.wait();
        vary = varying_range(job, job.plan->varying);
        if (vary.end == job.begin && !job.levels_or_map)
            return false;
        if (vary.end == job.begin)
            vary = {job.begin, job.end};
        if (blockIdx.x == 0 && threadIdx.x == 0)
            job.recount[0] = 0;
        if (buckets_of_few(vary))
            return true;
        Top t = top(vary);
        const bool ends = job.ends_with_buckets(t.shift, t.bits);
        const int halves = max(t.bits - radix_tuning.bucket_bits, 0);
        t = {t.shift + halves, t.bits - halves};
        barrier.wait();
        count_buckets<T, FLOAT, false, K>(job, t.shift, t.bits, radix_tuning.sample_counts,
                                          job.recount, table);
        barrier.wait();
        if (blockIdx.x == 0)
            plan_sample<T, LARGE>(job, t, halves ? t.bits : job.bits_max, ends, job.recount,
                                  radix_tuning.sample_counts, table);
        barrier.wait();
        more = (int)job.plan->bits;
        for (int i = blockIdx.x * T + threadIdx.x; i < 1 << t.bits; i += gridDim.x * T)
            job.recount[i] = 0;
        return !job.plan->skewed;
    }

    /* Where it is worth it: even keys take as much longer. */
    GPI_DEVICE bool may_look() const
    {
        return job.items() >= radix_tuning.mapped_items &&
               (radix_by_splitters<K> ? job.items() < radix_tuning.sampled_items
                                      : job.split_bits > 0);
    }

    GPI_DEVICE void plan(Top t, bool may_again, uint32_t *counts)
    {
        if (blockIdx.x == 0 &&
            plan_buckets<T, LARGE, K>(job, t.shift, t.bits, may_again, counts, Buckets::Tile::items,
                                      (uint32_t *)memory) == Planned::unfit)
            plan_unfit<T, LARGE>(job, t.shift, t.bits, counts, (uint32_t *)memory);
        barrier.wait();
    }

    /* By other bits than those that they were counted by before. */
    GPI_DEVICE void count_again(Top t)
    {
        for (int i = blockIdx.x * T + threadIdx.x; i < 1 << t.bits; i += gridDim.x * T)
            job.recount[i] = 0;
        barrier.wait();
        count(t, job.recount);
        barrier.wait();
        plan(t, false, job.recount);
    }

    /* True if the buckets are small enough, or for a visitor: their starts are there then. */
    GPI_DEVICE bool count_buckets_of_top()
    {
        uint32_t *counts = job.buckets;
        BitRange vary = {job.begin, job.end};
        of_few.template clear<T>(job);
        if (LARGE && job.items() >= radix_tuning.sampled_items && !sample(vary))
            return false;
        if constexpr (LARGE && (radix_by_splitters<K> || radix_has_splits<K, VB, LARGE>))
            if (may_look()) {
                const uint32_t seen = look<T, FLOAT, true, K>(job);
                vary = {(int)(seen & 0xff), (int)(seen >> 8 & 0xff)};
                in_vain = seen >> 16 & 1;
                more = (int)(seen >> 20 & 15);
                if (in_vain && of_few.may_be(job)) {
                    barrier.wait();
                    in_vain = !buckets_of_few(vary);
                }
                if (in_vain) {
                    in_vain = seen >> 24 == 0;
                    if (!in_vain && blockIdx.x == 0 && threadIdx.x == 0)
                        job.plan->skewed = gpi_radix_close;
                    if (!in_vain)
                        barrier.wait();
                    return false;
                }
            }
        Top t = top(vary);
        if constexpr (looks_ahead)
            if (job.split_bits && blockIdx.x < looking() && gridDim.x > looking())
                look_ahead<T, FLOAT, LARGE, K>(job);
        uint32_t seen = 0;
        if constexpr (looks_early)
            if (blockIdx.x == 0 && gridDim.x > 1 && looks_for_passes(job))
                seen = look_for_passes<T, FLOAT, K>(job);
        count(t, counts);
        barrier.arrive(gridDim.x);
        if constexpr (looks_early)
            if (seen)
                look_for_map<T, K>(job, seen);
        barrier.wait_for_others();
        if ((looks_ahead || looks_early) && job.plan->skewed) {
            in_vain = looks_ahead && job.plan->skewed == gpi_radix_sampled;
            looked = looks_early && job.plan->skewed >= gpi_radix_looked;
            return false;
        }
        const BitRange exact = varying_range(job, job.plan->varying);
        all_equal = exact.end == job.begin;
        if (all_equal)
            return false;
        if (exact.end - job.begin <= radix_bits + radix_few_bits)
            buckets_of_few(exact);
        Top now = top(exact);
        if (now.shift != t.shift || now.bits != t.bits) {
            more = 0;
            now = top(exact);
            counts = job.recount;
            if (exact.end == vary.end && now.bits < t.bits)
                join_buckets<T>(job, t.bits - now.bits, now.bits, counts);
            else
                count(now, counts);
            t = now;
            barrier.wait();
        }
        plan(t, true, counts);
        const bool again = job.plan->route == gpi_radix_route_undecided;
        const bool buckets = job.plan->route == gpi_radix_route_buckets;
        if (!again && (buckets || of_few.bits || !buckets_of_few(exact)))
            return buckets;
        count_again(again ? t.divided((int)job.plan->bits - t.bits) : top(exact));
        return job.plan->route == gpi_radix_route_buckets;
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
        pass.leave_keys = (step || !second) && shift == job.begin && !job.keys_wanted;
        if (step == 0) {
            pass.to = second ? (uint32_t)gpi_radix_tmp : job.buckets_place(shift, bits);
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

    /* They have longer runs; but no group ranks while another writes, as hot digits need. */
    GPI_DEVICE bool takes_long_tiles(int p) const
    {
        return job.plan->pass[p].active == gpi_radix_cold &&
               job.items() >= radix_tuning.long_tile_items;
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
        pass.prefetches = !(has_long && takes_long_tiles(p));
        pass.starts = job.starts + p * radix_bins;
        pass.states = job.states[now.number % 2];
        pass.clear = job.states[(now.number + 1) % 2];
        pass.clear_rows = tiles();
        return pass;
    }

    /* Pass i by tiles of all threads. In one function with others, those of keys alone spill. */
    GPI_DEVICE void long_partition(int i)
    {
        auto &shared = *(Shared<LongPasses> *)memory;
        __syncthreads();
        if (threadIdx.x == 0)
            shared.tile[0].pass = digit_pass(i);
        __syncthreads();
        const typename LongPasses::Policy policy(job, shared.tile[0].pass, shared.policy[0]);
        LongPasses(job, shared.tile[0], policy).run();
        barrier.wait();
    }

    /* All passes of a route. */
    template <class Partitions> GPI_DEVICE void partitions(bool buckets)
    {
        using G = typename Partitions::G;
        auto &shared = *(Shared<Partitions> *)memory;
        auto &tile = shared.tile[G::number()];
        const int end = buckets ? 1 + (job.plan->bits > radix_bits) : (job.end - job.begin + 7) / 8;
        for (int i = 0; i < end; i++) {
            if (!buckets && !job.plan->pass[i].active)
                continue;
            if constexpr (has_long)
                if (!buckets && takes_long_tiles(i)) {
                    long_partition(i);
                    continue;
                }
            G::sync();
            if (G::thread() == 0)
                tile.pass = buckets ? bucket_pass(i) : digit_pass(i);
            G::sync();
            const typename Partitions::Policy policy(job, tile.pass, shared.policy[G::number()]);
            Partitions(job, tile, policy).run();
            /* Nothing follows the last pass into buckets; of pairs, to know costs registers. */
            if (VB > 0 || !buckets || i + 1 < end)
                barrier.wait();
        }
    }

    /* False if a map follows. */
    GPI_DEVICE bool count_passes()
    {
        job.template clear_states<T>(tiles());
        count_digits<T, FLOAT, K, looks_early>(job, (uint32_t *)memory, looked);
        barrier.wait();
        if constexpr (looks_early)
            if (looked && map_follows(job)) {
                if (blockIdx.x == 0 && threadIdx.x == 0)
                    job.plan->route = gpi_radix_route_levels_or_map;
                return false;
            }
        if (blockIdx.x == 0)
            plan_passes<K>(job, (uint64_t *)memory);
        barrier.wait();
        return true;
    }

    GPI_DEVICE void finish_values(uint32_t place) const
    {
        const void *from = job.values[place];
        void *to = job.values[gpi_radix_out];
        if (job.values_at(place).is_narrow())
            copy_by_all<T>((const uint8_t *)from, job.items() * job.value_bytes, (uint8_t *)to);
        else
            copy_by_all<T>((const V *)from, job.items(), (V *)to);
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
            copy_by_all<T>(job.keys[from], job.items(), job.keys[gpi_radix_out]);
        if constexpr (VB > 0)
            if (copy_values)
                finish_values(from);
    }
};

/* Grid: cooperative, a block per multiprocessor at most. LARGE: for more than small arrays. After:
 * the sorted array; or buckets and route gpi_radix_route_buckets; or their entries, or nothing, and
 * gpi_radix_route_levels_or_map; or gpi_radix_route_one_bucket; or, where passes are to follow in a
 * kernel of their own, another route. */
template <class K, bool FLOAT, int VB, int T, int I, bool LARGE>
__global__ void __launch_bounds__(T, 1)
    radix_partition_k(const __grid_constant__ RadixJobOf<K, VB> job)
{
    extern __shared__ __align__(16) char memory[];
    using Work = PartitionKernel<K, FLOAT, VB, T, I, LARGE>;
    job.take_items();
    if constexpr (VB > 0 && LARGE)
        if (job.again && !begins_again<T>(job))
            return;
    if (job.is_one_bucket()) {
        if (blockIdx.x == 0 && threadIdx.x == 0)
            job.plan->route = gpi_radix_route_one_bucket;
        return;
    }
    Work kernel = {job, memory, {&job.plan->arrived, 0}};
    Work::Passes::init();
    if constexpr (Work::has_long)
        Work::LongPasses::init();
    if constexpr (radix_has_buckets<K>) {
        bool buckets = false;
        if (job.bucket_bits) {
            if (VB > 0)
                job.template clear_states<T>(kernel.tiles());
            buckets = kernel.count_buckets_of_top();
            if constexpr (radix_has_splits<K, VB, LARGE>)
                if ((kernel.in_vain || job.plan->route == gpi_radix_route_splitters) &&
                    split_array<K, VB, T, LARGE>(job))
                    return;
        }
        if (!Work::passes_follow && ((LARGE && radix_by_splitters<K> && kernel.in_vain) ||
                                     job.plan->route == gpi_radix_route_levels_or_map))
            return;
        if (__builtin_expect(buckets, true)) { /* their loops lie first in the code: skew-60 */
            kernel.template partitions<typename Work::Buckets>(true);
            return;
        }
    }
    if constexpr (Work::passes_follow) {
        if (!kernel.all_equal)
            return;
        if (blockIdx.x == 0 && threadIdx.x == 0)
            job.plan->route = gpi_radix_route_done;
    } else if (!kernel.all_equal) {
        if (!kernel.count_passes())
            return;
        kernel.template partitions<typename Work::Passes>(false);
    }
    kernel.finish();
}

/* ---- launches ---- */

template <class K, bool FLOAT, int VB, int I, bool LARGE>
gp_status add_partition(CallLaunches &list, const RadixJobOf<K, VB> &job)
{
    constexpr int T = radix_tuning.tile_threads;
    constexpr int tile = PartitionKernel<K, FLOAT, VB, T, I, LARGE>::shared_bytes;
    constexpr int counts = DigitCounts<K>::shared_bytes;
    constexpr int buckets = (1 << radix_tuning.bucket_bits) * sizeof(uint32_t);
    constexpr int usual = std::max({tile, counts, buckets});
    constexpr bool splits = radix_has_splits<K, VB, LARGE>;
    constexpr int most = splits ? radix_tuning.shared_bytes - 1024 : usual;
    static_assert(tile + 64 <= radix_tuning.shared_bytes, "a tile must fit beside a number");
    static uint64_t allowed;
    auto kernel = radix_partition_k<K, FLOAT, VB, T, I, LARGE>;
    const unsigned blocks = partition_blocks(list.ctx, job.n);
    using Memory = SplitMemory<K, VB, T, false>;
    int shared = usual;
    if constexpr (splits)
        if (job.split_bits)
            shared = std::max(usual, (int)Memory::bytes(job.n, blocks, job.split_bits));
    return list.add_with(most, &allowed, launch_cooperative(kernel, blocks, T, shared, job));
}

} // namespace GPI_SPACE
