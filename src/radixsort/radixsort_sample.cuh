/* SPDX-License-Identifier: MIT */
/* What a sample says of words: the range they are in, how often they repeat, whether they clump,
 * and the way that follows from that. */
#pragma once

#include "radixsort/radixsort_key_codec.cuh"

namespace GPI_SPACE
{

/* Lane i gets the i-th smallest of a warp's words (Batcher's bitonic sort). */
template <class K> GPI_DEVICE K warp_sorted(K word)
{
#pragma unroll
    for (int size = 2; size <= 32; size *= 2)
#pragma unroll
        for (int apart = size / 2; apart; apart /= 2) {
            const K other = __shfl_xor_sync(all_lanes, word, apart);
            const bool upper = lane_id() & apart, falls = lane_id() & size;
            word = (word < other) == (upper == falls) ? word : other;
        }
    return word;
}

/* ---- reach ---- */

/*
 * Integers around zero vary in all bits, though few are needed to tell them apart. Where words are
 * less than 256^d apart, but for their d - 1 lowest digits, these and the next one are enough, and
 * words are in order if that digit begins with the one of the least word.
 */
struct Reach {
    int digits;     /* that tell words apart */
    uint32_t first; /* with which the highest of them begins */

    static GPI_DEVICE Reach of(uint32_t least, uint32_t most)
    {
        int below = 0; /* bits */
        while ((most >> below) - (least >> below) >= 256)
            below += 8;
        return {below / 8 + 1, (least >> below) % 256};
    }
};

/* By a block: the least and the most of what its threads have. */
GPI_DEVICE uint2 block_ends(uint32_t least, uint32_t most, uint32_t *shared)
{
    __syncthreads();
    if (threadIdx.x < 2)
        shared[threadIdx.x] = 0;
    __syncthreads();
    most = warp_max(most);
    const uint32_t rest = warp_max(~least);
    if (lane_id() == 0) {
        atomicMax(&shared[0], rest);
        atomicMax(&shared[1], most);
    }
    __syncthreads();
    const uint2 ends = {~shared[0], shared[1]};
    __syncthreads();
    return ends;
}

/* One block plans while all others wait: each thread issues plan_batch reads before it uses one. */
constexpr uint32_t plan_batch = 8;

/* By one block: whether few digits tell words apart, by the counts of the buckets that they are in,
 * all or those of a sample. */
template <int T, class K>
__device__ __noinline__ bool are_close(const RadixKeys<K> &job, int shift, int bits,
                                       const uint32_t *counts, uint32_t *shared)
{
    uint32_t least = ~0u, most = 0;
    for (uint32_t i = threadIdx.x; i < 1u << bits; i += T * plan_batch) {
        uint32_t count[plan_batch];
#pragma unroll
        for (uint32_t j = 0; j < plan_batch; j++)
            count[j] = i + j * T < 1u << bits ? counts[i + j * T] : 0;
#pragma unroll
        for (uint32_t j = 0; j < plan_batch; j++)
            if (count[j]) {
                most = i + j * T;
                least = min(least, most);
            }
    }
    const uint2 ends = block_ends(least, most, shared);
    const int up = shift - job.begin;
    return Reach::of(ends.x << up, ((ends.y + 1) << up) - 1).digits <= radix_tuning.digits_close;
}

/* ---- repeats ---- */

/*
 * How often the words of an array repeat, and how far apart they are, by a sample of them. Counts
 * of buckets do not tell that: a full one may have one word or many.
 */

struct Repeats {
    uint32_t pairs;     /* of equal words */
    uint32_t twice;     /* words that it has so often */
    uint32_t often;     /* the others that are there more than once, each time */
    uint32_t hot;       /* the same of words that it has radix_tuning.hot_words times or more */
    uint32_t low, high; /* all but a few of the outermost words are between them */
};

constexpr uint32_t clumps_max = 4095; /* buckets, of which a row of 16 bits has 4 bits more */

/* What a thread has of the sample. */
template <class K> struct SampleOf {
    static constexpr int each = 2;
    K of[each];
};

/* The ends of a block's words, of which each thread has N, without the warps with the lowest and
 * the highest word, as one may be far from all others. */
template <int T, int N, class K>
GPI_DEVICE void inner_range(const K (&word)[N], K *ends, K &low, K &high)
{
    constexpr uint32_t warps = T / 32;
    static_assert(warps > 1 && warps <= 16, "a warp has all ends");
    low = high = word[0];
#pragma unroll
    for (int j = 1; j < N; j++) {
        low = min(low, word[j]);
        high = max(high, word[j]);
    }
    low = __shfl_sync(all_lanes, warp_sorted(low), 0);
    high = __shfl_sync(all_lanes, warp_sorted(high), 31);
    if (lane_id() == 0) {
        ends[threadIdx.x / 32] = low;
        ends[warps + threadIdx.x / 32] = high;
    }
    __syncthreads();
    const bool mine = lane_id() < warps;
    low = warp_sorted(mine ? ends[lane_id()] : (K) ~(K)0);
    high = warp_sorted(mine ? ends[warps + lane_id()] : (K)0);
    low = __shfl_sync(all_lanes, low, 1);
    high = __shfl_sync(all_lanes, high, 30);
}

/*
 * How many pairs of a block's words share a bucket if the range that most of them are in has equal
 * cells, and each cell as many of the buckets as it has of the words, as in a map
 * (radixsort_map.cuh) without rows.
 */
template <int T>
__device__ __noinline__ uint32_t pairs_in_buckets(SampleOf<uint32_t> words, uint32_t low,
                                                  uint32_t high, uint32_t buckets, uint32_t *shared)
{
    constexpr int bits = radix_tuning.map_cell_bits, cells = 1 << bits, fraction = 4;
    constexpr int each = cells > T ? cells / T : 1; /* of a thread */
    uint32_t *const rows = shared, *const counts = rows + cells, *const sums = counts + clumps_max;
    const uint32_t range = high > low ? high - low : 0, first = threadIdx.x * each;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < cells + clumps_max; i += T)
        rows[i] = 0;
    __syncthreads();
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t &at : words.of) {
        at = min(max(at, low) - low, range) << __clz((int)(range | 1));
        atomicAdd(&rows[at >> (32 - bits)], 1u);
    }
    __syncthreads();
    for (int i = 0; i < each; i++)
        sum += first < cells ? rows[first + i] : 0;
    uint32_t before = block_sums<T>(sum, sums).x;
    auto place = [&] { return (before * buckets << fraction) / radix_tuning.repeats_sample; };
    for (int i = 0; i < each && first < cells; i++) {
        const uint32_t base = place();
        before += rows[first + i];
        rows[first + i] = base << 16 | (place() - base);
    }
    __syncthreads();
    sum = 0;
#pragma unroll
    for (const uint32_t at : words.of) {
        const uint32_t row = rows[at >> (32 - bits)];
        const uint32_t bucket = (row >> 16) + __umulhi(at << bits, row & 0xffff);
        sum += atomicAdd(&counts[bucket >> fraction], 1u);
    }
    return block_sums<T>(sum, sums).y;
}

/* Key j of a thread's, at some place in one of as many equal pieces of the array. */
template <int T, class K> GPI_DEVICE const K *sampled_key(const RadixKeys<K> &job, int j)
{
    constexpr uint32_t sample = radix_tuning.repeats_sample;
    static_assert(sample == SampleOf<K>::each * T, "all threads have as many words");
    const uint64_t apart = job.items() / sample;
    const uint32_t i = threadIdx.x + j * T;
    return job.keys[gpi_radix_in] + i * apart + __umulhi(i * 0x9e3779b1u, (uint32_t)apart);
}

template <int T, class K> GPI_DEVICE SampleOf<K> sample_words(const RadixKeys<K> &job)
{
    SampleOf<K> words;
#pragma unroll
    for (int j = 0; j < SampleOf<K>::each; j++) {
        const K word = job.order.template word<true>(*sampled_key<T>(job, j));
        words.of[j] = (K)(word & job.compared());
    }
    return words;
}

/* Whether nearly all words have an equal one in their warp, so that it takes no table to tell. */
template <int T, class K> GPI_DEVICE bool are_few(const SampleOf<K> &words, uint32_t *sums)
{
    const uint32_t alone = __popc(__match_any_sync(all_lanes, words.of[0])) == 1;
    return block_sums<T>(alone, sums).y <= T / radix_tuning.others_few;
}

/* By one block, with a table in shared memory of the words of the sample. */
template <int T>
__device__ __noinline__ Repeats sample_repeats(SampleOf<uint32_t> sampled, uint32_t *shared)
{
    constexpr uint32_t sample = radix_tuning.repeats_sample, places = 2 * sample;
    constexpr uint32_t none = ~0u;
    uint32_t *const words = shared, *const counts = words + places, *const sums = counts + places;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < places; i += T) {
        words[i] = none;
        counts[i] = 0;
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < SampleOf<uint32_t>::each; j++) {
        const uint32_t word = sampled.of[j];
        uint32_t at = word * 0x9e3779b1u >> (__clz((int)places) + 1);
        for (;; at = (at + 1) % places) {
            const uint32_t found = atomicCAS(&words[at], none, word);
            if (found == none || found == word)
                break;
        }
        atomicAdd(&counts[at], 1u);
    }
    __syncthreads();
    uint32_t pairs = 0, many = 0; /* with what is below 2^12 in the upper bits */
    for (uint32_t i = threadIdx.x; i < places; i += T) {
        const uint32_t count = counts[i];
        pairs += count ? count * (count - 1) / 2 : 0;
        pairs += count == 2 ? 1u << 20 : 0;
        many += count > 2 ? count : 0;
        many += count >= radix_tuning.hot_words ? count << 16 : 0;
    }
    static_assert(sample <= 1024, "sums fit");
    pairs = block_sums<T>(pairs, sums).y;
    many = block_sums<T>(many, sums).y;
    Repeats repeats = {pairs & 0xfffff, pairs >> 20, many & 0xffff, many >> 16, 0, 0};
    inner_range<T>(sampled.of, sums + 32, repeats.low, repeats.high);
    return repeats;
}

/* ---- ways for uneven keys ---- */

/* What is likely to be faster than passes, if buckets do not fit: a map where nearly all are of few
 * words, which get buckets of their own; or, of fewer items, where words hardly repeat but for
 * some, or are so close that a bin of a bucket has equal ones, unless they clump, so that straight
 * pieces would leave many buckets too large. */
struct UnevenWays {
    enum gpi_radix_map_kind map;
    bool few; /* words, however close they are */
};

/* By one block: the way that a sample speaks for. A call, as it costs registers of the loops over
 * tiles where it is inlined. */
template <int T, class K>
__device__ __noinline__ UnevenWays sampled_ways(const RadixKeys<K> &job, uint32_t *shared)
{
    constexpr uint64_t sample = radix_tuning.repeats_sample;
    const SampleOf<K> words = sample_words<T>(job);
    __syncthreads();
    if (are_few<T>(words, shared))
        return {gpi_radix_marked, true};
    const uint64_t n = job.items(), buckets = map_buckets(n, job.bucket_max);
    const Repeats repeats = sample_repeats<T>(words, shared);
    if (repeats.hot >= sample - sample / radix_tuning.hot_rest)
        return {gpi_radix_marked, true};
    const uint64_t repeated = repeats.pairs * n / (sample * sample / 2);
    const int inner = 32 - __clz((int)(max(repeats.high, repeats.low) - repeats.low));
    const bool close = repeated << inner <= buckets << radix_tuning.map_close_bits;
    /* One pair says nothing, though it may stand for many. */
    const uint64_t others = sample - repeats.often;
    const bool rare =
        others > sample / radix_tuning.others_few &&
        (repeats.twice < 2 || repeats.twice * n / (sample * others / 2) <= job.repeats_max);
    if (n >= radix_tuning.map_items || (!rare && !close))
        return {gpi_radix_unmapped, false};
    bool clumped = false;
    if (others > sample / 2) { /* or most are of words that a map has buckets of their own for */
        const uint32_t most = min((uint32_t)buckets, clumps_max);
        const uint32_t all = pairs_in_buckets<T>(words, repeats.low, repeats.high, most, shared);
        const uint64_t smooth = sample * sample / 2 / most;
        clumped = all - repeats.pairs > radix_tuning.clumped * smooth + sample / 16;
    }
    const bool marked = rare && repeats.often;
    return {clumped ? gpi_radix_unmapped : marked ? gpi_radix_marked : gpi_radix_mapped, false};
}

/* The same; digits: the passes that there would be. */
template <int T, bool LARGE, class K>
GPI_DEVICE UnevenWays uneven_ways(const RadixKeys<K> &job, int digits, uint32_t *shared)
{
    if constexpr (LARGE && radix_by_map<K>)
        if (job.levels_or_map && job.items() >= radix_tuning.mapped_items &&
            digits > radix_tuning.digits_few)
            return sampled_ways<T>(job, shared);
    return {gpi_radix_unmapped, false};
}

} // namespace GPI_SPACE
