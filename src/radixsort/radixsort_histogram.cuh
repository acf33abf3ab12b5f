/* SPDX-License-Identifier: MIT */
/* Counting, and the plan that follows from the counts, by the blocks of one launch. */
#pragma once

#include "radixsort/radixsort_key_codec.cuh"
#include "radixsort/radixsort_sample.cuh"
#include "radixsort/radixsort_splitters.cuh"
#include "tuning/radixsort_tuning.cuh"

namespace GPI_SPACE
{

struct NeverStops {
    GPI_DEVICE bool operator()() const
    {
        return false;
    }
};

/* f(key) for all keys, by the threads of `blocks` blocks; 16 bytes at a time between the first and
 * the last boundary. False if a thread stopped, as it was asked to. */
template <int T, class K, class F, class S = NeverStops>
GPI_DEVICE bool for_each_key(const K *keys, uint64_t n, uint32_t block, uint32_t blocks, F f,
                             S stops = {})
{
    constexpr int V = 16 / sizeof(K), batch = sizeof(K) == 1 ? 4 : 8;
    const uint64_t thread = (uint64_t)block * T + threadIdx.x;
    const uint64_t threads = (uint64_t)blocks * T;
    uint64_t head = (16 - (uintptr_t)keys % 16) % 16 / sizeof(K);
    head = head < n ? head : n;
    const uint64_t vectors = (n - head) / V;
    const uint4 *from = (const uint4 *)(keys + head);
    union Vector {
        uint4 raw;
        K key[V];
    };
    auto all = [&](const uint4 &raw) {
        Vector u;
        u.raw = raw;
#pragma unroll
        for (int v = 0; v < V; v++)
            f(u.key[v]);
    };
    uint64_t i = thread;
    for (; i + (batch - 1) * threads < vectors; i += batch * threads) {
        uint4 x[batch];
#pragma unroll
        for (int j = 0; j < batch; j++)
            x[j] = __ldcs(from + i + j * threads);
        const bool stopped = stops(); /* read with them */
#pragma unroll
        for (int j = 0; j < batch; j++)
            all(x[j]);
        if (stopped)
            return false;
    }
    for (; i < vectors; i += threads)
        all(__ldcs(from + i));
    if (thread < head)
        f(keys[thread]);
    if (head + vectors * V + thread < n)
        f(keys[head + vectors * V + thread]);
    return true;
}

/* The same for one key in sample_stride: runs of 32 neighbours, one from each of as many equal
 * pieces of the array, so that sorted keys are sampled evenly, and those in runs too. */
template <int T, class K, class F>
GPI_DEVICE void for_each_key_in_sample(const K *keys, uint64_t n, uint64_t sample_stride, F f)
{
    constexpr int batch = 8;
    const uint64_t apart = 32 * sample_stride, runs = n / apart,
                   warps = (uint64_t)gridDim.x * (T / 32);
    uint64_t run = (uint64_t)blockIdx.x * (T / 32) + threadIdx.x / 32;
    auto run_of = [=](uint64_t r) {
        return r * apart + __umulhi((uint32_t)r * 0x9e3779b1u, (uint32_t)apart - 31);
    };
    for (; run < runs; run += batch * warps) {
        K key[batch];
#pragma unroll
        for (int i = 0; i < batch; i++)
            if (run + i * warps < runs)
                key[i] = keys[run_of(run + i * warps) + lane_id()];
#pragma unroll
        for (int i = 0; i < batch; i++)
            if (run + i * warps < runs)
                f(key[i]);
    }
}

/* ---- buckets by the top bits ---- */

/* Sorts of which the first block looks for a reason to stop while all others count keys. */
template <class K> GPI_DEVICE bool looks_for_passes(const RadixKeys<K> &job)
{
    return job.levels_or_map && job.items() >= radix_tuning.mapped_items &&
           job.items() < radix_tuning.map_items && !job.for_visitor;
}

/* The word that tells a block of such a sort to stop a count, one of enum radix_stop: one for each
 * block, as blocks that read the same word wait for each other in the L2. They lie in the table of
 * second counts, which is zero until keys are counted again, and which passes do not use; larger
 * sorts, whose sample is counted there, have no such words. */
enum radix_stop { radix_stop_buckets = 1, radix_stop_digits };

template <class K> GPI_DEVICE uint32_t *stop_of_block(const RadixKeys<K> &job, uint32_t block)
{
    return job.recount + block * 8 % (1u << radix_bucket_bits_max);
}

/* counts[bucket] += its keys, of all or of one in sample_stride; and the bits that vary. The first
 * `idle` blocks do not count if there are more; STOPS: others stop when the first says so. HALVES:
 * counts of a block have 16 bits, so that twice as many fit. One that overflows loses items, of
 * which plan_buckets() finds too few then. */
template <int T, bool FLOAT, bool HALVES, class K, bool STOPS = false>
__device__ __noinline__ void count_buckets(const RadixKeys<K> &job, int shift, int bits,
                                           uint64_t sample_stride, uint32_t *counts,
                                           uint32_t *table, uint32_t idle = 0)
{
    idle = gridDim.x > idle ? idle : 0;
    const uint32_t blocks = gridDim.x - idle;
    if (blockIdx.x < idle)
        return;
    const DigitOf<K> bucket = {shift, (1u << bits) - 1};
    for (int i = threadIdx.x; i < 1 << bits >> HALVES; i += T)
        table[i] = 0;
    __syncthreads();
    const KeyOrder<K> order = job.order;
    const K first = order.template word<FLOAT>(job.keys[gpi_radix_in][0]);
    K varying = 0;
    auto count = [&](K key) {
        const K word = order.template word<FLOAT>(key);
        varying |= (K)(word ^ first);
        const uint32_t b = bucket(word);
        if constexpr (HALVES)
            atomicAdd(&table[b / 2], b % 2 ? 1u << 16 : 1u);
        else
            atomicAdd(&table[b], 1u);
    };
    const K *const keys = job.keys[gpi_radix_in];
    if constexpr (STOPS) {
        const volatile uint32_t *const stop = stop_of_block(job, blockIdx.x);
        const bool first = looks_for_passes(job) && counts == job.buckets; /* or these are counts */
        auto stops = [&] { return first && *stop != 0; };
        if (__syncthreads_or(
                !for_each_key<T>(keys, job.items(), blockIdx.x - idle, blocks, count, stops)))
            return;
    } else {
        if (!HALVES && sample_stride > 1)
            for_each_key_in_sample<T>(keys, job.items(), sample_stride, count);
        else
            for_each_key<T>(keys, job.items(), blockIdx.x - idle, blocks, count);
        __syncthreads();
    }
    for (int i = threadIdx.x; i < 1 << bits; i += T) {
        const uint32_t count = HALVES ? ((const uint16_t *)table)[i] : table[i];
        if (count)
            atomicAdd(&counts[i], count);
    }
    const uint64_t all = warp_or((uint64_t)varying);
    if (lane_id() == 0)
        atomicOr((unsigned long long *)&job.plan->varying, all);
}

/* The bits between the lowest and the highest one of [job.begin, job.end) in which words differ. */
struct BitRange {
    int begin, end;
};

template <class K> GPI_DEVICE BitRange varying_range(const RadixKeys<K> &job, uint64_t words_differ)
{
    const uint64_t compared = ~0ull >> (64 - job.end) >> job.begin << job.begin;
    const uint64_t varying = words_differ & compared;
    if (varying == 0)
        return {job.begin, job.begin};
    return {__ffsll(varying) - 1, 64 - __clzll(varying)};
}

/* Digits in which words differ: the passes that there would be. */
template <class K> GPI_DEVICE int varying_digits(const RadixKeys<K> &job, uint64_t words_differ)
{
    const int bits = job.end - job.begin;
    const uint64_t varying = words_differ >> job.begin & ~0ull >> (64 - bits);
    int digits = 0;
    for (int p = 0; p < bits; p += radix_bits)
        digits += (varying >> p & (radix_bins - 1)) != 0;
    return digits;
}

/* Whether levels of splitters are faster than passes, if buckets do not fit. */
template <class K> GPI_DEVICE bool splits_by_levels(const RadixKeys<K> &job, uint64_t words_differ)
{
    return radix_by_splitters<K> && job.levels_or_map &&
           varying_digits(job, words_differ) > radix_tuning.digits_few;
}

/*
 * By a warp: counts[begin, end) become exclusive sums from at on, in cursors too; BATCH rows of 32
 * are read at once, and begin moves past all that fill a batch. Returns at for what is left.
 */
template <uint32_t BATCH>
GPI_DEVICE uint32_t starts_of_run(uint32_t *counts, uint32_t *cursors, uint32_t &begin,
                                  uint32_t end, uint32_t at)
{
    for (; begin + 32 * (BATCH - 1) < end; begin += 32 * BATCH) {
        uint32_t count[BATCH];
        const uint32_t i = begin + lane_id();
#pragma unroll
        for (uint32_t j = 0; j < BATCH; j++)
            count[j] = i + j * 32 < end ? counts[i + j * 32] : 0;
#pragma unroll
        for (uint32_t j = 0; j < BATCH; j++) {
            const uint32_t upto = warp_running_sum(count[j]);
            if (i + j * 32 < end)
                counts[i + j * 32] = cursors[i + j * 32] = at + upto - count[j];
            at += __shfl_sync(all_lanes, upto, 31);
        }
    }
    return at;
}

/* By one block: the route then. */
template <int T, bool LARGE, class K>
__device__ __noinline__ void plan_unfit(const RadixKeys<K> &job, int shift, int bits,
                                        const uint32_t *counts, uint32_t *shared)
{
    shared += 160; /* behind what plan_buckets() may still read */
    const int digits = varying_digits(job, job.plan->varying);
    if (job.split_bits && digits > 1) { /* one is one pass */
        if (threadIdx.x == 0)
            job.plan->route = gpi_radix_route_splitters;
        return;
    }
    const UnevenWays ways = uneven_ways<T, LARGE>(job, digits, shared);
    bool close = false;
    if constexpr (LARGE && radix_has_reach<K>)
        close = !ways.few && job.levels_or_map && digits > radix_tuning.digits_few &&
                are_close<T>(job, shift, bits, counts, shared);
    const bool mapped = !close && ways.map != gpi_radix_unmapped;
    const bool splits = mapped || splits_by_levels(job, job.plan->varying);
    if (threadIdx.x > 0)
        return;
    job.plan->mapped = mapped ? ways.map : gpi_radix_unmapped;
    job.plan->route = splits ? gpi_radix_route_levels_or_map : gpi_radix_route_lsd;
    if (close)
        job.plan->skewed = gpi_radix_close;
}

/* Bits [shift, shift + bits) of a word are the number of its bucket: of those that vary,
 * the highest ones. */
struct Top {
    int shift, bits;

    template <class K> static GPI_DEVICE Top of(const RadixKeys<K> &job, BitRange vary)
    {
        const bool few = vary.end - job.bits_if_narrow - vary.begin <= job.narrow_limit;
        const int most = few ? job.bits_if_narrow : job.bucket_bits;
        const int bits = vary.end - job.begin < most ? vary.end - job.begin : most;
        return {vary.end - bits, bits};
    }

    GPI_DEVICE Top divided(int more) const
    {
        return {shift - more, bits + more};
    }

    /* How many bits more the number of a bucket has to have, as items are evenly in `used` buckets
     * that are too large; 0: none, or there would be too many buckets, or fewer than 512
     * items in each. */
    template <class K>
    GPI_DEVICE int more(const RadixKeys<K> &job, uint32_t used, int bits_max) const
    {
        const uint64_t n = job.items();
        const uint32_t mean_max = (uint32_t)bucket_mean_max(job.bucket_max);
        int more = 0;
        while ((uint64_t)used * mean_max << more < n)
            more++;
        const bool fits = more <= shift - job.begin && bits + more <= bits_max &&
                          (uint64_t)used << more <= job.entries && n >> (bits + more) >= 512;
        return fits ? more : 0;
    }
};

enum class Planned { unfit, buckets, again };

/*
 * By one block: whether buckets fit; then counts become starts, and there are the tiles of the
 * second pass. If all are too large, as words are even but leave some of the buckets empty, the
 * plan has the bits that they are to be counted `again` by, if they may. Each warp sums a run of
 * counts, 32 at a time.
 */
template <int T, bool LARGE, class K>
__device__ __noinline__ Planned plan_buckets(const RadixKeys<K> &job, int shift, int bits,
                                             bool may_again, uint32_t *counts, uint32_t tile_items,
                                             uint32_t *shared)
{
    constexpr uint32_t warps = T / 32;
    const uint64_t n = job.items();
    const uint32_t size = 1u << bits, warp = threadIdx.x / 32;
    const uint32_t rows = (size + 31) / 32, run = (rows + warps - 1) / warps * 32;
    const uint32_t begin = warp * run < size ? warp * run : size;
    const uint32_t end = begin + run < size ? begin + run : size;
    uint32_t sum = 0, most = 0, excess = 0, rest = 0, last = 0;
    for (uint32_t i = begin; i < end; i += 32) {
        const uint32_t count = i + lane_id() < size ? counts[i + lane_id()] : 0;
        sum += count;
        most = count > most ? count : most;
        excess += count > job.bucket_max ? count : 0;
        last = count ? i + lane_id() + 1 : last;
        rest = count ? max(rest, size - i - lane_id()) : rest;
    }
    last = warp_max(last), rest = warp_max(rest);
#pragma unroll
    for (int d = 16; d; d >>= 1) {
        const uint32_t other = __shfl_xor_sync(all_lanes, most, d);
        sum += __shfl_xor_sync(all_lanes, sum, d);
        excess += __shfl_xor_sync(all_lanes, excess, d);
        most = other > most ? other : most;
    }
    if (lane_id() == 0) {
        shared[warp] = sum;
        shared[32 + warp] = most;
        shared[64 + warp] = excess;
        shared[96 + warp] = last;
        shared[128 + warp] = rest;
    }
    __syncthreads();
    uint32_t at = 0, all = 0;
    excess = 0;
    for (uint32_t w = 0; w < warps; w++) {
        at += w < warp ? shared[w] : 0;
        all += shared[w];
        excess += shared[64 + w];
        most = shared[32 + w] > most ? shared[32 + w] : most;
        last = max(last, shared[96 + w]);
        rest = max(rest, shared[128 + w]);
    }
    const uint32_t used = last + rest - size;
    const bool few_keys = job.plan->visitor_bits > 0;
    const bool any_size = few_keys || job.ends_with_buckets(shift, bits);
    const bool fits =
        all == n && (!job.by_values || shift - job.begin <= radix_value_bits) &&
        (any_size || (used <= job.entries &&
                      (job.split_bits ? most <= job.bucket_max : job.large_fit(most, excess))));
    int more = 0;
    if (may_again && !any_size && all == n && excess > n / 64 && (uint64_t)most * used <= 2 * n)
        more = Top{shift, bits}.more(job, used, job.bits_max);
    if (threadIdx.x == 0) {
        job.plan->mapped = gpi_radix_unmapped;
        job.plan->route = more ? gpi_radix_route_undecided : gpi_radix_route_buckets;
        job.plan->recounted = counts != job.buckets;
        job.plan->shift = shift;
        job.plan->bits = bits + more;
        job.plan->first = size - rest;
        job.plan->used = used;
        job.plan->result = job.buckets_place(shift, bits);
        counts[size] = (uint32_t)n;
    }
    if (more)
        return Planned::again;
    if (!fits)
        return Planned::unfit;
    uint32_t next = begin;
    at = starts_of_run<plan_batch>(counts, job.cursors, next, end, at);
    starts_of_run<1>(counts, job.cursors, next, end, at);
    if (bits <= radix_bits)
        return Planned::buckets;
    /* Segments of the second pass: buckets with the same first digit. */
    __syncthreads();
    const int second = bits / 2, segments = 1 << (bits - second);
    uint32_t tiles = 0;
    if ((int)threadIdx.x < segments) {
        const uint32_t from = counts[threadIdx.x << second];
        const uint32_t to = counts[(threadIdx.x + 1) << second];
        tiles = (to - from + tile_items - 1) / tile_items;
        job.cursors[size + threadIdx.x] = from;
    }
    const uint32_t before = sum_before_bin<WholeBlock>(tiles, *(uint32_t(*)[8])(shared + 160));
    if (threadIdx.x < radix_bins)
        job.plan->segment_tile[threadIdx.x] = before;
    if (threadIdx.x == radix_bins - 1)
        job.plan->segment_tile[radix_bins] = before + tiles;
    return Planned::buckets;
}

} // namespace GPI_SPACE
