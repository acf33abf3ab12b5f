/* SPDX-License-Identifier: MIT */
/*
 * Keys of 8 and 16 bits alone are not moved: they are counted, and the output is written from the
 * counts (counting sort, Knuth volume 3, 5.2).
 */
#pragma once

#include "device/search.cuh"
#include "radixsort/radixsort_digits.cuh"

namespace GPI_SPACE
{

template <class K> struct Counting {
    static constexpr int values = 1 << 8 * sizeof(K);
    /* Counters for all values of 8 bits fit a block, in columns; those for half or a quarter of the
     * values of 16 bits do, so that 2 or 4 blocks read the same keys and count a part each. */
    static constexpr int half_bytes = values / 2 * (int)sizeof(uint32_t);
    static constexpr int parts = sizeof(K) == 1                            ? 1
                                 : half_bytes <= radix_tuning.shared_bytes ? 2
                                                                           : 4;
    static constexpr int threads = sizeof(K) == 1 ? 512 : 1024;
    static constexpr int shared_bytes =
        sizeof(K) == 1 ? DigitCounts<K>::shared_bytes : values / parts * (int)sizeof(uint32_t);
    static constexpr int blocks_per_sm = sizeof(K) == 1 ? 4 : 1;
};

/* Grid: any multiple of Counting::parts. After: job.starts[value] += its keys. */
template <class K, bool FLOAT>
__global__ void __launch_bounds__(Counting<K>::threads)
    radix_count_values_k(const __grid_constant__ RadixKeys<K> job)
{
    constexpr int T = Counting<K>::threads, parts = Counting<K>::parts;
    extern __shared__ uint32_t table[];
    job.begin_items();
    if constexpr (parts == 1) {
        count_digits<T, FLOAT, K>(job, table);
    } else {
        constexpr uint32_t size = Counting<K>::values / parts;
        const uint32_t part = blockIdx.x % parts;
        const KeyOrder<K> order = job.order;
        for (uint32_t i = threadIdx.x; i < size; i += T)
            table[i] = 0;
        __syncthreads();
        if (job.is_one_bucket())
            return;
        for_each_key<T>(job.keys[gpi_radix_in], job.items(), blockIdx.x / parts, gridDim.x / parts,
                        [&](K key) {
                            const uint32_t word = order.template word_alone<FLOAT>(key);
                            if (word / size == part)
                                atomicAdd(&table[word % size], 1u);
                        });
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < size; i += T)
            if (table[i])
                atomicAdd((unsigned long long *)&job.starts[part * size + i],
                          (unsigned long long)table[i]);
    }
}

/* Grid: one block. After: starts[value] is where its keys start, starts[VALUES] their number. */
template <class K>
__global__ void __launch_bounds__(1024) radix_starts_k(const __grid_constant__ RadixKeys<K> job)
{
    constexpr int VALUES = Counting<K>::values;
    uint64_t *const starts = job.starts;
    __shared__ uint64_t warp_total[32];
    if (Counting<K>::parts > 1) { /* counts of bytes are as many as a block sums up at once */
        job.take_items();
        if (job.is_one_bucket())
            return;
    }
    constexpr int run = VALUES < 1024 ? 32 : VALUES / 32;
    const int begin = (int)warp_id() * run, end = begin + run < VALUES ? begin + run : VALUES;
    uint64_t sum = 0;
#pragma unroll 8
    for (int i = begin; i < end; i += 32)
        sum += starts[i + lane_id()];
    sum = warp_fold(sum, [](uint64_t a, uint64_t b) { return a + b; });
    if (lane_id() == 0)
        warp_total[threadIdx.x / 32] = sum;
    __syncthreads();
    uint64_t at = 0;
    for (uint32_t w = 0; w < threadIdx.x / 32; w++)
        at += warp_total[w];
#pragma unroll 4
    for (int i = begin; i < end; i += 32) {
        const uint64_t count = starts[i + lane_id()];
        const uint64_t upto = warp_running_sum(count);
        starts[i + lane_id()] = at + upto - count;
        at += __shfl_sync(all_lanes, upto, 31);
    }
    if (threadIdx.x == 1024 - 32) /* of the last warp */
        starts[VALUES] = at;
}

/* The value of item i, by a warp. */
GPI_DEVICE uint32_t value_at(const uint64_t *starts, uint32_t values, uint64_t i)
{
    return partition_point_lanes(values - 1,
                                 [=](uint32_t v) { return __ldg(starts + v + 1) <= i; });
}

/* The value of item i, which is v or a later one, by one thread. */
GPI_DEVICE uint32_t value_from(const uint64_t *starts, uint32_t values, uint32_t v, uint64_t i)
{
    if (__ldg(starts + v + 1) > i)
        return v;
    uint32_t high = values - 1;
    while (v < high) {
        const uint32_t middle = v + (high - v + 1) / 2;
        if (__ldg(starts + middle) <= i)
            v = middle;
        else
            high = middle - 1;
    }
    return v;
}

/* Grid: any. A thread writes 16 bytes; the ends of the array one key at a time. */
template <class K, bool FLOAT>
__global__ void __launch_bounds__(256)
    radix_write_values_k(const __grid_constant__ RadixKeys<K> job)
{
    constexpr uint32_t values = Counting<K>::values, V = 16 / sizeof(K);
    K *out = job.keys[gpi_radix_out];
    const uint64_t n = job.starts[values], before = (16 - (uintptr_t)out % 16) % 16 / sizeof(K);
    const uint64_t head = before < n ? before : n;
    const uint64_t vectors = (n - head) / V, tail = head + vectors * V;
    const uint64_t thread = (uint64_t)blockIdx.x * 256 + threadIdx.x;
    for (uint64_t warp = thread - lane_id(); warp < vectors; warp += (uint64_t)gridDim.x * 256) {
        uint32_t v = value_at(job.starts, values, head + warp * V);
        const uint64_t first = head + (warp + lane_id()) * V;
        if (warp + lane_id() >= vectors)
            continue;
        union {
            K key[V];
            uint4 raw;
        } u;
        v = value_from(job.starts, values, v, first);
        K key = job.order.template key<FLOAT>((K)v);
        uint64_t end = __ldg(job.starts + v + 1);
#pragma unroll
        for (uint32_t i = 0; i < V; i++) {
            if (first + i >= end) {
                v = value_from(job.starts, values, v, first + i);
                key = job.order.template key<FLOAT>((K)v);
                end = __ldg(job.starts + v + 1);
            }
            u.key[i] = key;
        }
        __stcs((uint4 *)(out + first), u.raw);
    }
    if (thread < head)
        out[thread] = job.order.template key<FLOAT>((K)value_from(job.starts, values, 0, thread));
    if (tail + thread < n)
        out[tail + thread] =
            job.order.template key<FLOAT>((K)value_from(job.starts, values, 0, tail + thread));
}

/* ---- few keys of 8 bits, by one block ---- */

/* The value of item i, where starts[value] is the first item of a value. */
GPI_DEVICE uint32_t byte_at(const uint32_t *starts, uint32_t i)
{
    uint32_t v = 0;
#pragma unroll
    for (uint32_t step = 128; step; step /= 2)
        if (starts[v + step] <= i)
            v += step;
    return v;
}

/* By a block: starts of values from counts in a column for each lane, table[value][lane]; the last
 * start is the number of keys. */
template <int T>
GPI_DEVICE void starts_of_columns(const uint32_t *table, uint32_t (&starts)[radix_bins + 1])
{
    __shared__ uint32_t warp_total[8];
    constexpr int each = 32 / (T / radix_bins);
    const int value = threadIdx.x * radix_bins / T, part = threadIdx.x % (T / radix_bins);
    uint32_t sum = 0;
#pragma unroll
    for (int c = 0; c < each; c++)
        sum += table[value * 32 + part * each + (c + value) % each];
    sum = warp_fold<T / radix_bins>(sum, [](uint32_t a, uint32_t b) { return a + b; });
    if (part == 0)
        starts[value] = sum;
    __syncthreads();
    const uint32_t count = threadIdx.x < radix_bins ? starts[threadIdx.x] : 0;
    const uint32_t before = sum_before_bin<WholeBlock>(count, warp_total);
    if (threadIdx.x < radix_bins)
        starts[threadIdx.x] = before;
    if (threadIdx.x == radix_bins - 1)
        starts[radix_bins] = before + count;
    __syncthreads();
}

/* Up to here a thread reads and writes one key at a time: vectors take more code, which has to be
 * loaded and runs once. sort-66 in docs/tuning. */
constexpr uint32_t single_counted = 4 << 10;

/* Writes the keys of all values, 16 keys at a time between the first and the last boundary of 16
 * bytes in the output. */
template <class K, int T>
GPI_DEVICE void write_vectors(const RadixKeys<K> &job, const uint32_t (&starts)[radix_bins + 1])
{
    constexpr uint32_t V = 16;
    const KeyOrder<K> order = job.order;
    K *const out = job.keys[gpi_radix_out];
    const uint32_t n = starts[radix_bins], before = (uint32_t)(-(uintptr_t)out % V);
    const uint32_t head = before < n ? before : n, vectors = (n - head) / V;
    for (uint32_t i = threadIdx.x; i < vectors; i += T) {
        union {
            K key[V];
            uint4 raw;
        } u;
        const uint32_t first = head + i * V;
        uint32_t v = byte_at(starts, first), end = starts[v + 1];
#pragma unroll
        for (uint32_t k = 0; k < V; k++) {
            if (first + k >= end) {
                v = byte_at(starts, first + k);
                end = starts[v + 1];
            }
            u.key[k] = order.template key<false>((K)v);
        }
        *(uint4 *)(out + first) = u.raw;
    }
    const uint32_t ends = n - vectors * V; /* before and after the vectors */
    if (threadIdx.x < ends) {
        const uint32_t i = threadIdx.x < head ? threadIdx.x : threadIdx.x + vectors * V;
        out[i] = order.template key<false>((K)byte_at(starts, i));
    }
}

/* Grid: one block of T threads. After: the sorted keys, in one launch; in place, too. */
template <class K, int T>
__global__ void __launch_bounds__(T) radix_count_alone_k(const __grid_constant__ RadixKeys<K> job)
{
    static_assert(sizeof(K) == 1, "values are bins");
    __shared__ __align__(16) uint32_t table[radix_bins * 32];
    __shared__ uint32_t starts[radix_bins + 1];
    for (int i = threadIdx.x; i < radix_bins * 8; i += T)
        ((uint4 *)table)[i] = uint4{};
    job.take_items();
    const uint32_t n = (uint32_t)job.items();
    const bool single = n <= single_counted;
    const K *keys = job.keys[gpi_radix_in];
    const KeyOrder<K> order = job.order;
    auto count = [&](K key) {
        atomicAdd(table + lane_id() + order.template word_alone<false>(key) * 32, 1u);
    };
    if (single)
#pragma unroll 4
        for (uint32_t i = threadIdx.x; i < n; i += T)
            count(keys[i]);
    else
        for_each_key<T>(keys, n, 0, 1, count);
    __syncthreads();
    starts_of_columns<T>(table, starts);
    if (!single)
        write_vectors<K, T>(job, starts);
    else
#pragma unroll 4
        for (uint32_t i = threadIdx.x; i < n; i += T)
            job.keys[gpi_radix_out][i] = order.template key<false>((K)byte_at(starts, i));
}

/* ---- launches ---- */

/* Keys alone that are counted instead of moved; a table of 2^16 counts has to be worth it. */
template <class K>
constexpr uint64_t radix_counted_from = sizeof(K) == 1   ? 1
                                        : sizeof(K) == 2 ? radix_tuning.counted_items
                                                         : UINT64_MAX;

/* Up to here one block counts keys of 8 bits: more that are no bucket take as long by all of them.
 * H100, 2026-11-26: sort-48 in docs/tuning. */
template <class K> constexpr uint64_t radix_counted_alone = sizeof(K) == 1 ? 1 << 16 : 0;

template <class K, bool FLOAT> gp_status add_counting(CallLaunches &list, const RadixKeys<K> &job)
{
    using Count = Counting<K>;
    static uint64_t allowed;
    const uint32_t sms = (uint32_t)list.ctx->sm_count;
    const uint32_t blocks = sms * Count::blocks_per_sm;
    const uint32_t grid =
        blocks < Count::parts ? Count::parts : blocks / Count::parts * Count::parts;
    auto count = radix_count_values_k<K, FLOAT>;
    GPI_TRY(list.add_with(Count::shared_bytes, &allowed,
                          launch_of(count, grid, Count::threads, Count::shared_bytes, job)));
    list.add(launch_of(radix_starts_k<K>, 1, 1024, 0, job));
    list.add(launch_of(radix_write_values_k<K, FLOAT>, sms * 8, 256, 0, job));
    return GP_OK;
}

} // namespace GPI_SPACE
