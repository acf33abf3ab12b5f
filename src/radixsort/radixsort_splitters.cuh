/* SPDX-License-Identifier: MIT */
/*
 * Buckets of about as many items each, whatever the keys are: the words of a sample are ranked, and
 * those at equal distances are the splitters between two buckets (Frazer and McKellar 1970). A word
 * that would be a splitter more than once has a bucket of its own, which needs no sort; the buckets
 * that it leaves empty stand for the blocks that copy it.
 */
#pragma once

#include "radixsort/radixsort_histogram.cuh"

namespace GPI_SPACE
{

/* Shared memory by addresses of 32 bits, which cost an instruction less to compute. */
template <class X> GPI_DEVICE uint32_t shared_address(const X *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

template <class K> GPI_DEVICE K shared_word(uint32_t address)
{
    K word;
    if constexpr (sizeof(K) == 4)
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
    else
        asm volatile("ld.shared.u64 %0, [%1];" : "=l"(word) : "r"(address) : "memory");
    return word;
}

GPI_DEVICE uint32_t shared_byte(uint32_t address)
{
    uint32_t byte;
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(byte) : "r"(address) : "memory");
    return byte;
}

/* Levels of a search tree for a number of buckets. */
GPI_DEVICE int levels_of(uint32_t buckets)
{
    return 32 - __clz((int)(buckets - 1));
}

/* As in the sorted sample, equal ones among them; number 0 is not one. */
template <class K> struct Splitters {
    const RadixKeys<K> &job;

    static GPI_DEVICE K highest()
    {
        return (K) ~(K)0;
    }

    GPI_DEVICE uint32_t buckets() const
    {
        return 1u << job.bucket_bits;
    }

    /* Of words: twice as many to a bucket where one that is too large would not fit a block. */
    GPI_DEVICE uint32_t sample_items() const
    {
        const bool large = job.items() >> job.bucket_bits > radix_tuning.split_mean;
        return buckets() *
               (uint32_t)(large ? 2 * radix_tuning.split_sample : radix_tuning.split_sample);
    }

    GPI_DEVICE K *sample() const
    {
        return (K *)job.states[1];
    }

    GPI_DEVICE K *raw() const
    {
        return sample() + sample_items();
    }

    /* The least word of bucket b > 0. */
    GPI_DEVICE K least(uint32_t b) const
    {
        const K word = raw()[b];
        return after(word, b > 1 && raw()[b - 1] == word);
    }

    /* What a splitter becomes where the one before it is equal. */
    static GPI_DEVICE K after(K word, bool again)
    {
        return again && word != highest() ? (K)(word + 1) : word;
    }

    /* The first splitter that is not below a word; as many as there are buckets, if all are. */
    GPI_DEVICE uint32_t first_from(K word) const
    {
        uint32_t begin = 1, end = buckets();
        while (begin < end) {
            const uint32_t middle = (begin + end) / 2;
            if (raw()[middle] < word)
                begin = middle + 1;
            else
                end = middle;
        }
        return begin;
    }

    /* To shared memory as a search tree; by as many threads. */
    GPI_DEVICE void load(K (&tree)[radix_bins], uint32_t thread, uint32_t threads) const
    {
        for (uint32_t node = 1 + thread; node < buckets(); node += threads)
            tree[node] = least(in_order(node, job.bucket_bits));
    }

    /* The number in ascending order of a node of a tree of 2^levels - 1. */
    static GPI_DEVICE uint32_t in_order(uint32_t node, int levels)
    {
        const int level = 31 - __clz((int)node);
        return (2 * node + 1 - (2u << level)) << (levels - 1 - level);
    }
};

/* The bucket of a word: how many splitters are not above it. They are the nodes of a search tree,
 * the children of node i at 2 i and 2 i + 1: words of a level lie together, so that lanes that
 * search for different words meet in few banks (in an ascending array the first steps of all are to
 * one bank). */
template <class K> struct DigitOfSplit {
    static constexpr bool kept = true;
    int shift;
    uint32_t mask;
    const K *tree; /* in shared memory */
    K compared;
    int levels;

    /* Of several words: a step of all searches before the next one of any. Nodes are addresses, so
     * that a step is a load, a comparison, a choice and an addition with a shift. */
    template <int N> GPI_DEVICE void all(const K (&word)[N], uint32_t (&digit)[N]) const
    {
        constexpr uint32_t bytes = sizeof(K);
        const uint32_t base = shared_address(tree);
        uint32_t left = 0u - base, right = bytes - base;
        asm("" : "+r"(left), "+r"(right)); /* or the compiler adds twice */
#pragma unroll
        for (int i = 0; i < N; i++)
            digit[i] = base + bytes;
#pragma unroll 1
        for (int level = 0; level < levels; level++) {
            K node[N];
#pragma unroll
            for (int i = 0; i < N; i++)
                node[i] = shared_word<K>(digit[i]);
#pragma unroll
            for (int i = 0; i < N; i++)
                digit[i] = (digit[i] << 1) + (node[i] <= (K)(word[i] & compared) ? right : left);
        }
#pragma unroll
        for (int i = 0; i < N; i++)
            digit[i] = min((digit[i] - base) / bytes - (1u << levels), mask);
    }

    GPI_DEVICE uint32_t operator()(K word) const
    {
        const K words[1] = {word};
        uint32_t digits[1];
        all(words, digits);
        return digits[0];
    }
};

/* ---- learning -------------------------------------------------------------------------------- */

/* Words of the sample, one from each of as many equal pieces of the array. */
template <int T, bool FLOAT, class K>
__device__ __noinline__ void take_sample(const RadixKeys<K> &job)
{
    const Splitters<K> splitters = {job};
    const uint32_t items = splitters.sample_items(), bits = 31 - __clz((int)items);
    const uint32_t n = (uint32_t)job.items();
    for (uint32_t i = blockIdx.x * T + threadIdx.x; i < items; i += gridDim.x * T) {
        const uint32_t first = (uint32_t)((uint64_t)n * i >> bits);
        const uint32_t end = (uint32_t)((uint64_t)n * (i + 1) >> bits);
        const K key = job.keys[gpi_radix_in][first + __umulhi(i * 0x9e3779b1u, end - first)];
        splitters.sample()[i] = (K)(job.order.template word<FLOAT>(key) & job.compared());
    }
}

/* How many of words [begin, end), whose numbers are multiples of 4, are less; or not more. */
template <bool EQUAL, class K>
GPI_DEVICE uint32_t count_below(const K *words, uint32_t begin, uint32_t end, K word)
{
    constexpr uint32_t batch = 16 / sizeof(K);
    uint32_t below = 0;
#pragma unroll 4
    for (uint32_t j = begin; j < end; j += batch) {
        union {
            uint4 raw;
            K word[batch];
        } some = {((const uint4 *)words)[j / batch]};
#pragma unroll
        for (uint32_t k = 0; k < batch; k++)
            below += EQUAL ? some.word[k] <= word : some.word[k] < word;
    }
    return below;
}

/* The splitters of the sample: each block ranks some of its words, 32 at a time, every warp by a
 * part of the sample. Equal words have the order that they are in. */
template <int T, class K> __device__ __noinline__ void rank_sample(const RadixKeys<K> &job)
{
    extern __shared__ __align__(16) char memory[];
    constexpr uint32_t warps = T / 32, batch = 16 / sizeof(K);
    const Splitters<K> splitters = {job};
    const uint32_t items = splitters.sample_items(), apart = items / splitters.buckets();
    const uint32_t part = items / warps, begin = threadIdx.x / 32 * part, end = begin + part;
    K *words = (K *)memory;
    uint32_t(&ranks)[32] = *(uint32_t(*)[32])(words + items);
    for (uint32_t i = threadIdx.x; i < items / batch; i += T)
        ((uint4 *)words)[i] = ((const uint4 *)splitters.sample())[i];
    for (uint32_t first = blockIdx.x * 32; first < items; first += gridDim.x * 32) {
        const uint32_t own = first + lane_id();
        if (threadIdx.x < 32)
            ranks[threadIdx.x] = 0;
        __syncthreads();
        const K word = words[own];
        uint32_t below = 0;
        if (end <= first) {
            below = count_below<true>(words, begin, end, word);
        } else if (begin > first) {
            below = count_below<false>(words, begin, end, word);
        } else {
            below = count_below<true>(words, begin, first, word) +
                    count_below<false>(words, first + 32, end, word);
            for (uint32_t j = first; j < first + 32; j++)
                below += words[j] < word || (words[j] == word && j < own);
        }
        atomicAdd(&ranks[lane_id()], below);
        __syncthreads();
        const uint32_t rank = ranks[lane_id()];
        if (threadIdx.x < 32 && rank % apart == 0)
            splitters.raw()[rank / apart] = word;
        __syncthreads();
    }
}

/* counts[bucket] += its items. */
template <int T, bool FLOAT, class K>
__device__ __noinline__ void count_by_splitters(const RadixKeys<K> &job)
{
    extern __shared__ __align__(16) char memory[];
    K(&words)[radix_bins] = *(K(*)[radix_bins])memory;
    uint32_t *table = (uint32_t *)(words + radix_bins);
    Splitters<K>{job}.load(words, threadIdx.x, T);
    for (int i = threadIdx.x; i < radix_bins; i += T)
        table[i] = 0;
    __syncthreads();
    constexpr int batch = 8;
    const uint32_t last = Splitters<K>{job}.buckets() - 1;
    const DigitOfSplit<K> bucket = {0, last, words, job.compared(), job.bucket_bits};
    const K *keys = job.keys[gpi_radix_in];
    const uint64_t n = job.items(), threads = (uint64_t)gridDim.x * T;
    for (uint64_t i = (uint64_t)blockIdx.x * T + threadIdx.x; i < n; i += batch * threads) {
        K word[batch];
        uint32_t digit[batch];
#pragma unroll
        for (int j = 0; j < batch; j++)
            word[j] = i + j * threads < n ? keys[i + j * threads] : (K)0;
#pragma unroll
        for (int j = 0; j < batch; j++)
            word[j] = job.order.template word<FLOAT>(word[j]);
        bucket.all(word, digit);
#pragma unroll
        for (int j = 0; j < batch; j++)
            if (i + j * threads < n)
                atomicAdd(&table[digit[j]], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < radix_bins; i += T)
        if (table[i])
            atomicAdd(&job.plan->split_counts[i], table[i]);
}

/* What sorts bucket b, or copies a share of equal words: they lie in the buckets of all splitters
 * that they are, but one; if no word is higher, in all. */
template <class K>
GPI_DEVICE gpi_radix_entry split_entry(const RadixKeys<K> &job, uint32_t b, const uint32_t *starts)
{
    const Splitters<K> splitters = {job};
    const uint32_t buckets = splitters.buckets();
    const K *raw = splitters.raw(), word = b > 0 ? raw[b] : (K)0;
    const uint32_t begin = b == 0 ? 0 : splitters.first_from(word);
    const uint32_t end = word == Splitters<K>::highest() ? buckets : splitters.first_from(word + 1);
    const uint32_t share = b == 0 ? 0 : end - begin - (word != Splitters<K>::highest());
    if (b - begin < share) {
        const uint64_t first = starts[begin], count = starts[begin + share] - starts[begin];
        const uint32_t from = (uint32_t)(count * (b - begin) / share);
        const uint32_t to = (uint32_t)(count * (b - begin + 1) / share);
        return {0, (uint32_t)first + from, to - from, 0, gpi_radix_tmp};
    }
    const K least = b > 0 ? splitters.least(b) : (K)0;
    const K most = b + 1 < buckets ? (K)(splitters.least(b + 1) - 1) : Splitters<K>::highest();
    const uint64_t base = (uint64_t)(K)(least >> job.begin), range = (K)(most >> job.begin) - base;
    const uint32_t bits = range ? 64 - __clzll((long long)range) : 0;
    return {base, starts[b], starts[b + 1] - starts[b], bits, gpi_radix_tmp};
}

/* By every block, with the same result: where buckets start; and by one of them the list of
 * entries that radixsort_bucket_k.cuh gets from adaptive partitioning too, with its route. False
 * if a bucket is too large all the same, and passes are to sort. */
template <class K> __device__ __noinline__ bool place_by_splitters(const RadixKeys<K> &job)
{
    __shared__ uint32_t warp_total[8];
    const Splitters<K> splitters = {job};
    const uint32_t b = threadIdx.x, buckets = splitters.buckets();
    const uint32_t count = b < buckets ? job.plan->split_counts[b] : 0;
    const uint32_t before = sum_before_bin<WholeBlock>(count, warp_total);
    if (b <= buckets)
        job.split_starts()[b] = b < buckets ? before : (uint32_t)job.items();
    __syncthreads();
    gpi_radix_entry entry = {};
    if (b < buckets)
        entry = split_entry(job, b, job.split_starts());
    const bool fits = !__syncthreads_or(entry.bits > 0 && entry.count > 2 * job.bucket_max);
    if (blockIdx.x != 0)
        return fits;
    if (b < buckets)
        job.adaptive.entries[b] = entry;
    if (b == 0) {
        job.plan->entries = buckets;
        job.plan->route = fits ? gpi_radix_route_adaptive : gpi_radix_route_lsd;
    }
    return fits;
}

} // namespace GPI_SPACE
