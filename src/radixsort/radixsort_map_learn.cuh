/* SPDX-License-Identifier: MIT */
/*
 * Learning a map (radixsort_map.cuh) from a sample, counting all keys by it, and what follows from
 * the counts: where buckets begin, which words they have, whether blocks can sort them. By all
 * blocks of radixsort_map_k.cuh: they take the sample together, and each of them learns the same
 * map from it, in shared memory, which takes less time than barriers between the steps of one that
 * they learn together.
 */
#pragma once

#include "device/grid.cuh"
#include "radixsort/radixsort_histogram.cuh"
#include "radixsort/radixsort_map.cuh"

namespace GPI_SPACE
{

/* Counts of the rows of a level, or of two buckets each. */
constexpr int map_counts = 4096;
static_assert(map_counts >= map_rows && map_counts >= map_cells, "of each row");

/* Shared memory that it takes. */
template <class K> constexpr int map_learn_bytes(uint32_t bucket_max)
{
    const uint32_t buckets = map_buckets(UINT64_MAX, bucket_max);
    const uint32_t counts = buckets > map_counts ? buckets : (uint32_t)map_counts;
    return (int)sizeof(RadixMap<K>) + (int)(counts * sizeof(uint32_t));
}

/* f(keys) for all keys in small arrays, by all blocks; the next two are on their way while
 * one is used. */
template <int T, class K, class F> GPI_DEVICE void for_each_batch(const K *keys, uint64_t n, F f)
{
    constexpr int V = 16 / sizeof(K), vectors = sizeof(K) == 4 ? 2 : 4, batch = V * vectors;
    union Batch {
        uint4 raw[vectors];
        K key[batch];
    };
    const uint32_t threads = gridDim.x * T, thread = blockIdx.x * T + threadIdx.x;
    const uint32_t head =
        min((uint32_t)n, (uint32_t)((16 - (uintptr_t)keys % 16) % 16 / sizeof(K)));
    const uint32_t all = (uint32_t)(n - head) / V, whole = all / vectors;
    const uint4 *from = (const uint4 *)(keys + head);
    Batch now, next;
    auto load = [&](uint32_t i, Batch &to) {
        if (i < whole)
#pragma unroll
            for (int v = 0; v < vectors; v++)
                to.raw[v] = __ldcs(from + (uint64_t)i * vectors + v);
    };
    load(thread, now);
#pragma unroll 1
    for (uint32_t i = thread; i < whole; i += threads) {
        load(i + threads, next);
        f(now.key);
        now = next;
    }
    const uint32_t rest = head + (uint32_t)(n - head) % batch; /* one at a time */
    if (thread < rest) {
        const K one[1] = {keys[thread < head ? thread : n - rest + thread]};
        f(one);
    }
}

template <int T, bool FLOAT, class K> struct MapLearner {
    static constexpr uint32_t batch = 8; /* words of a thread at a time */
    static_assert(radix_tuning.map_sample % (batch * T) == 0, "all threads have whole batches");

    const RadixKeys<K> &job;
    RadixMap<K> &map;
    uint32_t *table, *sums;
    uint32_t buckets, sample;

    GPI_DEVICE uint32_t threads() const
    {
        return gridDim.x * T;
    }

    GPI_DEVICE uint32_t thread() const
    {
        return blockIdx.x * T + threadIdx.x;
    }

    GPI_DEVICE K word(K key) const
    {
        return (K)(job.order.template word<FLOAT>(key) & job.compared());
    }

    /* By all blocks: one word from anywhere in each of as many equal pieces of the array; and clear
     * the counts of buckets. */
    GPI_DEVICE void take_sample() const
    {
        const uint64_t apart = (job.items() << 32) / sample;
        const K *keys = job.keys[gpi_radix_in];
        K *const taken = (K *)job.map.sample;
        uint32_t *const counts = job.map.counts;
        for (uint32_t i = thread(); i < sample; i += threads()) {
            const uint32_t first = (uint32_t)(i * apart >> 32);
            const uint32_t after = (uint32_t)((i + 1) * apart >> 32);
            taken[i] = word(keys[first + __umulhi(i * 0x9e3779b1u, after - first)]);
        }
        for (uint32_t i = thread(); i < 1u << map_bucket_bits(buckets); i += threads())
            counts[i] = 0;
    }

    /* f(words) for all batches of the sample that are this thread's. */
    template <class F> GPI_DEVICE void for_sample(F f) const
    {
        const K *const taken = (const K *)job.map.sample;
#pragma unroll 1
        for (uint32_t i = threadIdx.x; i < sample; i += T * batch) {
            K w[batch];
#pragma unroll
            for (uint32_t j = 0; j < batch; j++)
                w[j] = __ldcg(taken + i + j * T);
            f(w);
        }
    }

    /* The range is that of the sample without a few words of both ends, which would leave fewer
     * cells to all others. */
    GPI_DEVICE void set_range() const
    {
        constexpr int lanes = T / map_ends; /* that have an end together */
        K least = (K) ~(K)0, most = 0, *ends = (K *)table;
        static_assert(lanes <= 32 && 2 * map_ends <= T && 2 * sizeof(K) * map_ends <= map_counts,
                      "ends are where counts will be");
        for_sample([&](const K(&w)[batch]) {
#pragma unroll
            for (uint32_t j = 0; j < batch; j++) {
                least = min(least, w[j]);
                most = max(most, w[j]);
            }
        });
#pragma unroll
        for (int d = lanes / 2; d; d >>= 1) {
            least = min(least, __shfl_xor_sync(all_lanes, least, d));
            most = max(most, __shfl_xor_sync(all_lanes, most, d));
        }
        if (threadIdx.x % lanes == 0) {
            ends[threadIdx.x / lanes] = least;
            ends[map_ends + threadIdx.x / lanes] = most;
        }
        __syncthreads();
        if (threadIdx.x < 2 * map_ends) {
            const bool high = threadIdx.x >= map_ends;
            const uint32_t own = threadIdx.x % map_ends;
            const K *others = high ? ends + map_ends : ends, mine = others[own];
            uint32_t before = 0;
#pragma unroll 8
            for (uint32_t j = 0; j < map_ends; j++)
                before += others[j] < mine || (others[j] == mine && j < own);
            if (before == (high ? map_ends - 1 - map_ends_apart : map_ends_apart))
                (high ? map.range : map.low) = mine;
        }
        __syncthreads();
        if (threadIdx.x == 0)
            map.set_range(map.low, map.range);
        clear_counts();
    }

    GPI_DEVICE void clear_counts() const
    {
        for (uint32_t i = threadIdx.x; i < map_counts; i += T)
            table[i] = 0;
        __syncthreads();
    }

    /* Words of the sample in each row of a level, 0: of the cells. */
    GPI_DEVICE void count_rows(uint32_t level) const
    {
        for_sample([&](const K(&w)[batch]) {
            uint32_t row[batch];
            if (level) {
                map.positions(w, level - 1, row);
            } else {
#pragma unroll
                for (uint32_t j = 0; j < batch; j++) {
                    uint32_t fraction;
                    row[j] = map.cell_of(w[j], fraction);
                }
            }
#pragma unroll
            for (uint32_t j = 0; j < batch; j++)
                atomicAdd(&table[row[j] >> (level ? 16 - map_row_bits : 0)], 1u);
        });
        __syncthreads();
    }

    /* The rows of a level from their counts; of the last one, positions in buckets. */
    template <int ROWS> GPI_DEVICE void set_rows(uint32_t level, uint32_t *rows, bool last) const
    {
        constexpr int each = ROWS > T ? ROWS / T : 1; /* of a thread */
        static_assert(ROWS % T == 0 || T % ROWS == 0, "threads have as many rows");
        const uint32_t first = threadIdx.x * each;
        uint32_t count[each], sum = 0;
        for (int i = 0; i < each; i++) {
            count[i] = first < ROWS ? table[first + i] : 0;
            sum += count[i];
        }
        const uint32_t shift = __clz((int)buckets) - 16, all = last ? buckets << shift : 0xffff;
        const uint64_t scale = ((uint64_t)all << 40) / sample;
        uint32_t before = block_sums<T>(sum, sums).x;
        for (int i = 0; i < each; i++) {
            const uint32_t base = (uint32_t)(before * scale >> 40);
            before += count[i];
            if (first < ROWS)
                rows[first + i] = map_row(base, (uint32_t)(before * scale >> 40) - base);
        }
        if (threadIdx.x == 0)
            map.levels = level, map.bucket_shift = shift;
        __syncthreads();
    }

    GPI_DEVICE void set_rows(uint32_t level, bool last) const
    {
        if (level == 0)
            set_rows<map_cells>(level, map.cells, last);
        else
            set_rows<map_rows>(level, map.rows[level - 1], last);
    }

    /* Whether no bucket has much more of the sample than it should; two of them share a count. */
    GPI_DEVICE bool is_even() const
    {
        const uint32_t most = 3 * sample / buckets + 8;
        clear_counts();
        for_sample([&](const K(&w)[batch]) {
            uint32_t bucket[batch];
            map.positions(w, map.levels, bucket);
#pragma unroll
            for (uint32_t j = 0; j < batch; j++) {
                bucket[j] >>= map.bucket_shift;
                atomicAdd(&table[bucket[j] / 2], 1u << 16 * (bucket[j] & 1));
            }
        });
        __syncthreads();
        bool even = true;
        for (uint32_t i = threadIdx.x; i < map_counts; i += T)
            even = even && (table[i] & 0xffff) <= most && table[i] >> 16 <= most;
        return __syncthreads_and(even);
    }

    /* Level after level, until buckets are even. */
    GPI_DEVICE void learn() const
    {
        set_range();
#pragma unroll 1
        for (uint32_t level = 0;; level++) {
            count_rows(level);
            set_rows(level, true);
            if (level == map_levels || is_even())
                return;
            clear_counts();
            count_rows(level);
            set_rows(level, false);
            clear_counts();
        }
    }

    /* Items of all buckets. */
    GPI_DEVICE void count_keys() const
    {
        for (uint32_t i = threadIdx.x; i < buckets; i += T)
            table[i] = 0;
        __syncthreads();
        for_each_batch<T>(job.keys[gpi_radix_in], job.items(), [&](const auto &keys) {
            constexpr int batch = sizeof keys / sizeof *keys;
            K words[batch];
            uint32_t bucket[batch];
#pragma unroll
            for (int j = 0; j < batch; j++)
                words[j] = word(keys[j]);
            map.positions(words, map.levels, bucket);
#pragma unroll
            for (int j = 0; j < batch; j++)
                atomicAdd(&table[bucket[j] >> map.bucket_shift], 1u);
        });
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < buckets; i += T)
            if (table[i])
                atomicAdd(&job.map.counts[i], table[i]);
    }

    /* By one block: where buckets begin, and the tiles of each segment of the second pass. */
    GPI_DEVICE void set_starts(uint32_t tile_items) const
    {
        const int bits = map_bucket_bits(buckets), second = bits / 2;
        const uint32_t size = 1u << bits, segments = size >> second;
        uint32_t at = 0;
        for (uint32_t i = threadIdx.x; i - threadIdx.x < size; i += T) {
            const uint32_t count = i < size ? __ldcg(&job.map.counts[i]) : 0;
            const uint2 sum = block_sums<T>(count, sums);
            if (i < size)
                job.map.starts[i] = job.map.cursors[i] = at + sum.x;
            at += sum.y;
        }
        if (threadIdx.x == 0)
            job.map.starts[size] = at;
        __syncthreads();
        uint32_t tiles = 0;
        if (threadIdx.x < segments) {
            const uint32_t from = job.map.starts[threadIdx.x << second];
            const uint32_t to = job.map.starts[(threadIdx.x + 1) << second];
            tiles = (to - from + tile_items - 1) / tile_items;
            job.map.cursors[size + threadIdx.x] = from;
        }
        const uint32_t before = block_sums<T>(tiles, sums).x;
        if (threadIdx.x < radix_bins)
            job.plan->segment_tile[threadIdx.x] = before;
        if (threadIdx.x == radix_bins - 1)
            job.plan->segment_tile[radix_bins] = before + tiles;
    }

    /* What the blocks of radixsort_bucket_k.cuh get, but where it begins; and the work of those
     * that sort a bucket through memory. Each of a warp's 31 buckets ends where the next begins. */
    GPI_DEVICE void describe_buckets(uint32_t block, uint32_t blocks) const
    {
        const uint32_t warp = (block * T + threadIdx.x) / 32, warps = blocks * (T / 32);
        for (uint32_t first = warp * 31; first < buckets; first += warps * 31) {
            const uint32_t b = first + lane_id();
            const K least = b < buckets ? map.least_from(b) : (K)0;
            const K after = __shfl_down_sync(all_lanes, least, 1);
            if (b >= buckets || lane_id() == 31)
                continue;
            const uint32_t count = __ldcg(&job.map.counts[b]);
            const bool last = after == 0 || after > (K)(map.low + map.range);
            const K base = (K)((least + (K)(((K)1 << job.begin) - 1)) >> job.begin);
            const K end = (K)((last ? job.compared() : (K)(after - 1)) >> job.begin);
            gpi_radix_entry entry = {base, 0, count, 0, gpi_radix_out};
            const bool large = count > job.bucket_max;
            if (count && end > base)
                entry.bits = 64 - __clzll((long long)(uint64_t)(end - base));
            job.adaptive.entries[b] = entry;
            if (large && entry.bits) {
                const uint32_t work = count * ((entry.bits + radix_bits - 1) / radix_bits);
                atomicMax(&job.plan->map_work_max, work);
                atomicAdd(&job.plan->map_work_all, work);
            }
        }
    }

    GPI_DEVICE bool fits() const
    {
        const uint64_t n = job.items(), share = n / radix_tuning.map_large_share;
        const uint64_t most = share > 4 * job.bucket_max ? share : 4 * job.bucket_max;
        return __ldcg(&job.plan->map_work_max) <= most &&
               __ldcg(&job.plan->map_work_all) <= n / radix_tuning.map_large_work;
    }

    /* What follows from the counts; true if blocks can sort the buckets. */
    GPI_DEVICE bool finish(GridBarrier &barrier, uint32_t tile_items) const
    {
        const bool alone = gridDim.x == 1;
        if (blockIdx.x == 0)
            set_starts(tile_items);
        if (blockIdx.x > 0 || alone)
            describe_buckets(alone ? 0 : blockIdx.x - 1, alone ? 1 : gridDim.x - 1);
        barrier.wait();
        return fits();
    }
};

/* Whether the buckets that the map makes are small enough; barrier is moved on. The map is left at
 * the beginning of shared memory. */
template <int T, bool FLOAT, class K>
GPI_DEVICE bool learn_map(const RadixKeys<K> &job, uint32_t tile_items)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ uint32_t sums[T / 32];
    GridBarrier barrier = {&job.plan->map_arrived, 0};
    RadixMap<K> &map = *(RadixMap<K> *)memory;
    const MapLearner<T, FLOAT, K> learner = {job,
                                             map,
                                             (uint32_t *)(memory + sizeof(map)),
                                             sums,
                                             map_buckets(job.items(), job.bucket_max),
                                             map_sample(job.items())};
    learner.take_sample();
    barrier.wait();
    learner.learn();
    learner.count_keys();
    barrier.wait();
    return learner.finish(barrier, tile_items);
}

} // namespace GPI_SPACE
