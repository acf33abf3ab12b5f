/* SPDX-License-Identifier: MIT */
/*
 * Learns a map (radixsort_map.cuh) from a sample and counts all keys by it. All blocks take the
 * sample together; then each block learns the same map in its shared memory, which is faster than
 * grid barriers between the steps of learning one together.
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

/* Shared memory of learning, and of counting all buckets. */
template <class K> constexpr int map_learn_bytes(uint32_t bucket_max)
{
    const uint32_t buckets = map_buckets_max(UINT64_MAX, bucket_max);
    const uint32_t counts = buckets > map_counts ? buckets : (uint32_t)map_counts;
    return (int)sizeof(RadixMap<K>) + (int)(counts * sizeof(uint32_t));
}

/* f(keys) for all keys in small arrays, by all blocks; the next array is loaded meanwhile. */
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

/*
 * A hash table in global memory, with linear probing, of the words of a sample and how often it has
 * each. All blocks add words; those that reach the asked for count are listed: they get marks.
 */
template <class K> struct MapWords {
    static constexpr K none = (K) ~(K)0; /* which has a place of its own, the last one */
    uint32_t bits;                       /* of a place */
    K *words;
    uint32_t *counts, *listed, *list;

    /* In the states of odd passes. */
    static GPI_DEVICE MapWords of(const RadixKeys<K> &job, uint32_t sample)
    {
        const uint32_t bits = map_words_bits(sample), places = (1u << bits) + 1;
        K *const words = (K *)job.states[1];
        uint32_t *const counts = (uint32_t *)(words + places);
        return {bits, words, counts, counts + places, counts + places + 1};
    }

    template <int T> GPI_DEVICE void clear() const
    {
        const uint32_t thread = blockIdx.x * T + threadIdx.x;
        for (uint32_t i = thread; i <= 1u << bits; i += gridDim.x * T) {
            words[i] = none;
            counts[i] = 0;
        }
        if (thread == 0)
            *listed = 0;
    }

    /* By whole warps. */
    GPI_DEVICE void add(K word, uint32_t least) const
    {
        const uint32_t same = __match_any_sync(all_lanes, word);
        if (same & ((1u << lane_id()) - 1))
            return;
        uint32_t at = word == none ? 1u << bits : word * 0x9e3779b1u >> (32 - bits);
        while (word != none) {
            const K found = atomicCAS(&words[at], none, word);
            if (found == none || found == word)
                break;
            at = (at + 1) & ((1u << bits) - 1);
        }
        const uint32_t more = __popc(same), before = atomicAdd(&counts[at], more);
        if (before < least && before + more >= least)
            list[atomicAdd(listed, 1u)] = at;
    }
};

template <int T, bool FLOAT, class K> struct MapLearner {
    static constexpr uint32_t batch = 8; /* words of a thread at a time */
    static_assert(radix_tuning.map_sample % (batch * T) == 0, "all threads have whole batches");

    const RadixKeys<K> &job;
    RadixMap<K> &map;
    uint32_t *table, *sums;
    uint32_t buckets; /* as many as to have without marks */
    uint32_t sample;  /* words */
    MapWords<K> marks;

    GPI_DEVICE K word(K key) const
    {
        return (K)(job.order.template word<FLOAT>(key) & job.compared());
    }

    /* By all blocks: takes a word from a pseudorandom place in each of as many equal pieces of the
     * array, and clears the counts of buckets. */
    GPI_DEVICE void take_sample() const
    {
        const uint32_t thread = blockIdx.x * T + threadIdx.x, threads = gridDim.x * T;
        const uint64_t apart = (job.items() << 32) / sample;
        const K *keys = job.keys[gpi_radix_in];
        K *const taken = (K *)job.map.sample;
        uint32_t *const counts = job.map.counts;
        for (uint32_t i = thread; i < sample; i += threads) {
            const uint32_t first = (uint32_t)(i * apart >> 32);
            const uint32_t after = (uint32_t)((i + 1) * apart >> 32);
            taken[i] = word(keys[first + __umulhi(i * 0x9e3779b1u, after - first)]);
            if (map.marked)
                marks.add(taken[i], max(sample / buckets / 2, 3u));
        }
        const uint32_t most = map_buckets_max(job.items(), job.bucket_max);
        for (uint32_t i = thread; i < 1u << map_bucket_bits(most); i += threads)
            counts[i] = 0;
    }

    /* The rows of words in a level, by the levels before; level 0: the cells. */
    template <int N>
    GPI_DEVICE void rows_of(uint32_t level, const K (&w)[N], uint32_t (&row)[N]) const
    {
        if (level)
            map.positions(w, level - 1, row);
#pragma unroll
        for (int j = 0; j < N; j++) {
            uint32_t fraction;
            row[j] = level ? row[j] >> (16 - map_row_bits) : map.cell_of(w[j], fraction);
        }
    }

    /* Marks: of each row the listed word that the sample has most often. */
    GPI_DEVICE void set_marks(uint32_t level) const
    {
        const uint32_t count = __ldcg(marks.listed);
        auto for_listed = [&](auto f) {
            for (uint32_t i = threadIdx.x; i < count; i += T) {
                const uint32_t at = __ldcg(marks.list + i);
                const K w[1] = {at >> marks.bits ? MapWords<K>::none : __ldcg(marks.words + at)};
                uint32_t row[1];
                rows_of(level, w, row);
                f(row[0], __ldcg(marks.counts + at), w[0]);
            }
        };
        K *const own = map.marks(level);
        for (uint32_t i = threadIdx.x; i < (uint32_t)(level ? map_rows : map_cells); i += T)
            own[i] = (K) ~(K)0;
        for_listed([&](uint32_t row, uint32_t often, K) { atomicMax(&table[row], often); });
        __syncthreads();
        for_listed([&](uint32_t row, uint32_t often, K w) {
            if (table[row] == often)
                atomicMin(&own[row], w);
        });
        __syncthreads();
        clear_table(map_counts);
    }

    /* f(words) for this thread's part of the sample, in batches. */
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

    /* The range of the sample without a few outliers, which would leave few cells to the others:
     * of the least words of map_ends parts that of rank map_ends_apart, and likewise the most. */
    GPI_DEVICE void set_range() const
    {
        constexpr int lanes = T / map_ends; /* of a part */
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
        least = warp_fold<lanes>(least, [](K a, K b) { return min(a, b); });
        most = warp_fold<lanes>(most, [](K a, K b) { return max(a, b); });
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
        clear_table(map_counts);
    }

    GPI_DEVICE void clear_table(uint32_t counts) const
    {
        for (uint32_t i = threadIdx.x; i < counts; i += T)
            table[i] = 0;
        __syncthreads();
    }

    /* Counts the words of the sample in each row of a level; marked: but those with a mark. */
    GPI_DEVICE void count_rows(uint32_t level, bool marked) const
    {
        for_sample([&](const K(&w)[batch]) {
            uint32_t row[batch];
            rows_of(level, w, row);
#pragma unroll
            for (uint32_t j = 0; j < batch; j++)
                if (!marked || map.marks(level)[row[j]] != w[j])
                    atomicAdd(&table[row[j]], 1u);
        });
        __syncthreads();
    }

    /* The rows of a level from their counts, with positions in buckets if it is the last. */
    template <int ROWS> GPI_DEVICE void set_rows(uint32_t level, uint32_t *rows, bool last) const
    {
        constexpr int each = ROWS > T ? ROWS / T : 1; /* of a thread */
        static_assert(ROWS % T == 0 || T % ROWS == 0, "threads have as many rows");
        const uint32_t first = threadIdx.x * each;
        const bool marked = last && map.marked;
        const K *const own_words = map.marks(level);
        uint32_t count[each], sum = 0, apart = 0;
        for (int i = 0; i < each; i++) {
            count[i] = first < ROWS ? table[first + i] : 0;
            sum += count[i];
            apart += marked && first < ROWS && own_words[first + i] != (K) ~(K)0;
        }
        const uint2 of_marks = marked ? block_sums<T>(apart, sums) : make_uint2(0, 0);
        const uint2 of_rows = block_sums<T>(sum, sums);
        /* Marked words fill buckets, too. Each may split a bucket in two. */
        const uint32_t most = buckets - min(of_marks.y, buckets / 4);
        const uint64_t wanted = job.items() / (job.bucket_max / 2) * 4 / 3;
        const uint64_t share = of_rows.y * wanted / sample + 1;
        const uint32_t spread = marked && share < most ? (uint32_t)share : most;
        const uint32_t numbers = spread + (marked ? 2 * of_marks.y + 2 : 0);
        const uint32_t shift = __clz((int)numbers) - 16, all = last ? spread << shift : 0xffff;
        const uint64_t scale = of_rows.y ? ((uint64_t)all << 40) / of_rows.y : 0;
        uint32_t before = of_rows.x, own = of_marks.x;
        for (int i = 0; i < each; i++) {
            const uint32_t base = (uint32_t)(before * scale >> 40);
            before += count[i];
            if (first >= ROWS)
                continue;
            const uint32_t width = (uint32_t)(before * scale >> 40) - base;
            rows[first + i] = (base + (2 * own << shift)) << 16 | width;
            own += marked && own_words[first + i] != (K) ~(K)0;
        }
        if (threadIdx.x == 0)
            map.levels = level, map.bucket_shift = shift, map.buckets = numbers;
        __syncthreads();
    }

    GPI_DEVICE void set_rows(uint32_t level, bool last) const
    {
        if (level == 0)
            set_rows<map_cells>(level, map.cells, last);
        else
            set_rows<map_rows>(level, map.rows[level - 1], last);
    }

    /* Whether no bucket has much more of the sample than its share; two buckets share a word. */
    GPI_DEVICE bool is_even() const
    {
        const uint32_t most = 3 * sample / buckets + 8;
        const uint32_t words = map.buckets / 2 + 1;
        clear_table(words);
        for_sample([&](const K(&w)[batch]) {
            uint32_t bucket[batch];
            map.template positions<MapMarks::left_out>(w, map.levels, bucket);
#pragma unroll
            for (uint32_t j = 0; j < batch; j++) {
                if (bucket[j] == ~0u)
                    continue;
                bucket[j] >>= map.bucket_shift;
                atomicAdd(&table[bucket[j] / 2], 1u << 16 * (bucket[j] & 1));
            }
        });
        __syncthreads();
        bool even = true;
        for (uint32_t i = threadIdx.x; i < words; i += T)
            even = even && (table[i] & 0xffff) <= most && table[i] >> 16 <= most;
        return __syncthreads_and(even);
    }

    /* Adds levels until buckets are even. */
    GPI_DEVICE void learn() const
    {
        set_range();
#pragma unroll 1
        for (uint32_t level = 0;; level++) {
            if (map.marked)
                set_marks(level);
            count_rows(level, map.marked);
            set_rows(level, true);
            if (level == map_levels || is_even())
                return;
            clear_table(map_counts);
            count_rows(level, false);
            set_rows(level, false);
            clear_table(map_counts);
        }
    }

    /* Items of all buckets. */
    GPI_DEVICE void count_keys() const
    {
        clear_table(map.buckets);
        for_each_batch<T>(job.keys[gpi_radix_in], job.items(), [&](const auto &keys) {
            constexpr int batch = sizeof keys / sizeof *keys;
            K words[batch];
            uint32_t bucket[batch];
#pragma unroll
            for (int j = 0; j < batch; j++)
                words[j] = word(keys[j]);
            map.template positions<MapMarks::apart>(words, map.levels, bucket);
#pragma unroll
            for (int j = 0; j < batch; j++)
                atomicAdd(&table[bucket[j] >> map.bucket_shift], 1u);
        });
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < map.buckets; i += T)
            if (table[i])
                atomicAdd(&job.map.counts[i], table[i]);
    }
};

/* By all blocks: learns a map and counts its buckets. The map has map_learn_bytes() of shared
 * memory, sums a word for each warp. */
template <int T, bool FLOAT, class K>
GPI_DEVICE void learn_map(const RadixKeys<K> &job, RadixMap<K> &map, uint32_t *sums,
                          GridBarrier &barrier)
{
    const uint32_t sample = map_sample(job.items());
    const MapLearner<T, FLOAT, K> learner = {job,
                                             map,
                                             (uint32_t *)(&map + 1),
                                             sums,
                                             map_buckets(job.items(), job.bucket_max),
                                             sample,
                                             MapWords<K>::of(job, sample)};
    if (threadIdx.x == 0)
        map.marked = job.plan->mapped == gpi_radix_marked;
    __syncthreads();
    if (map.marked) {
        learner.marks.template clear<T>();
        barrier.wait();
    }
    learner.take_sample();
    barrier.wait();
    learner.learn();
    learner.count_keys();
    barrier.wait();
}

} // namespace GPI_SPACE
