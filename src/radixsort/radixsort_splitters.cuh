/* SPDX-License-Identifier: MIT */
/*
 * Buckets of about as many items each, whatever the keys are: the words of a sample are ranked, and
 * those at equal distances are the splitters between two buckets (Frazer and McKellar 1970). A word
 * that would be a splitter more than once has a bucket of its own, which needs no sort.
 */
#pragma once

#include "device/barrier.cuh"
#include "radixsort/radixsort_key_codec.cuh"
#include "radixsort/radixsort_ranks.cuh"

namespace GPI_SPACE
{

/* Shared memory by addresses of 32 bits, which cost an instruction less to compute. */
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

/* Words of the sample of a small sort: twice as many to a bucket where one that is too large would
 * not fit a block. */
__host__ __device__ constexpr uint32_t split_sample_items(uint64_t n, int bits)
{
    const bool large = n >> bits > radix_tuning.split_mean;
    return (uint32_t)(large ? 2 * radix_tuning.split_sample : radix_tuning.split_sample) << bits;
}

/* What the partition of an array between them has in shared memory; see SplitArray. In rounds items
 * move in what is left. */
template <class K, int VB, int T, bool ROUNDS> struct SplitMemory {
    static constexpr uint32_t warps = T / 32;
    static constexpr uint32_t item_bytes = VB > (int)sizeof(K) ? VB : (uint32_t)sizeof(K);

    /* Items of a share, whole rows. */
    static __host__ __device__ constexpr uint32_t share_of(uint64_t n, uint32_t blocks)
    {
        return ((uint32_t)((n + blocks - 1) / blocks) + 31) / 32 * 32;
    }

    /* Of the sample, and of what finds buckets; and of all items, unless these move in rounds. */
    static __host__ __device__ constexpr uint32_t moved_least(uint64_t n, uint32_t share, int bits)
    {
        const uint32_t ranking = split_sample_items(n, bits) * (uint32_t)sizeof(K) + 512;
        const uint32_t counts = ROUNDS ? 2 * warps << bits : 0;
        const uint32_t before = ((uint32_t)sizeof(K) << bits) + share * 2 + counts;
        const uint32_t items = ROUNDS ? 0 : share * item_bytes;
        const uint32_t found = before > items ? before : items;
        return ranking > found ? ranking : found;
    }

    static __host__ __device__ constexpr uint32_t moved_bytes(uint64_t n, uint32_t share, int bits)
    {
        return ROUNDS ? (uint32_t)radix_tuning.shared_bytes - 1024 - kept_bytes(share, bits)
                      : moved_least(n, share, bits);
    }

    /* Counts of warps if items do not move in rounds, then runs. */
    static __host__ __device__ constexpr uint32_t counts_bytes(uint32_t share, int bits)
    {
        const uint32_t before = 2 * warps << bits, after = (4u << bits) + share / 32 * 6;
        return ((!ROUNDS && before > after ? before : after) + 3) / 4 * 4;
    }

    static __host__ __device__ constexpr uint32_t kept_bytes(uint32_t share, int bits)
    {
        return (4u << bits) + counts_bytes(share, bits) + share * 2;
    }

    static __host__ __device__ constexpr uint64_t bytes(uint64_t n, uint32_t blocks, int bits)
    {
        const uint32_t share = share_of(n, blocks);
        return (uint64_t)moved_least(n, share, bits) + kept_bytes(share, bits);
    }
};

/* Words of the sample in a bucket that are looked at, of every second one. */
constexpr uint32_t split_between = 8;

/* The splitters as they stand in the sorted sample, where some may be equal. Number b is the lower
 * bound of bucket b, so there is no number 0. */
template <class K> struct Splitters {
    const RadixKeys<K> &job;
    const K *ordered;

    static GPI_DEVICE Splitters of(const RadixKeys<K> &job)
    {
        Splitters all = {job, nullptr};
        all.ordered = all.raw();
        return all;
    }

    static GPI_DEVICE K highest()
    {
        return (K) ~(K)0;
    }

    GPI_DEVICE uint32_t buckets() const
    {
        return 1u << job.split_bits;
    }

    GPI_DEVICE uint32_t sample_items() const
    {
        return split_sample_items(job.items(), job.split_bits);
    }

    GPI_DEVICE K *sample() const
    {
        return (K *)job.states[1];
    }

    /* Where they are ranked. */
    GPI_DEVICE K *raw() const
    {
        return sample() + sample_items();
    }

    /* split_between words of every second bucket, in order. Entries may lie over the last of them,
     * and are written when all blocks have read these. */
    GPI_DEVICE K *between() const
    {
        return raw() + buckets();
    }

    /* The least word of a bucket. */
    GPI_DEVICE K least(uint32_t b) const
    {
        return b ? after(ordered[b], b > 1 && ordered[b - 1] == ordered[b]) : (K)0;
    }

    GPI_DEVICE K most(uint32_t b) const
    {
        return b + 1 < buckets() ? (K)(least(b + 1) - 1) : highest();
    }

    /* Whether all items of a bucket are equal. */
    GPI_DEVICE bool is_word(uint32_t b) const
    {
        return (K)(most(b) >> job.begin) <= (K)(least(b) >> job.begin);
    }

    /* A splitter that is equal to the one before becomes the next word: so a word that would be two
     * splitters has a bucket of its own. */
    static GPI_DEVICE K after(K word, bool again)
    {
        return again && word != highest() ? (K)(word + 1) : word;
    }

    /* Loads the splitters into shared memory as a search tree, by that number of threads. */
    GPI_DEVICE void load(K *tree, uint32_t thread, uint32_t threads) const
    {
        for (uint32_t node = 1 + thread; node < buckets(); node += threads)
            tree[node] = least(in_order(node, job.split_bits));
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

constexpr uint32_t split_run = 128; /* words of the sample that a warp puts in order */

/* Words of the sample, one from each of as many equal pieces of the array, in runs in order; by
 * block number `block` of `blocks`. */
template <int T, class K>
__device__ __noinline__ void take_sample(const RadixKeys<K> &job, uint32_t block, uint32_t blocks)
{
    const Splitters<K> splitters = Splitters<K>::of(job);
    const uint32_t items = splitters.sample_items(), bits = 31 - __clz((int)items);
    const uint32_t n = (uint32_t)job.items(), warp = threadIdx.x / 32;
    for (uint32_t run = warp * blocks + block; run < items / split_run; run += T / 32 * blocks) {
        K word[4];
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            const uint32_t i = run * split_run + j * 32 + lane_id();
            const uint32_t first = (uint32_t)((uint64_t)n * i >> bits);
            const uint32_t end = (uint32_t)((uint64_t)n * (i + 1) >> bits);
            word[j] = job.keys[gpi_radix_in][first + __umulhi(i * 0x9e3779b1u, end - first)];
        }
#pragma unroll
        for (uint32_t j = 0; j < 4; j++)
            word[j] = (K)(job.order.template word<true>(word[j]) & job.compared());
        sort_runs<split_run>(word);
        put_run(splitters.sample() + run * split_run, word);
    }
}

/* How many words of a run go before words of another one: those that are less, and equal ones if
 * the run is before. */
template <class K, int N>
GPI_DEVICE void add_before(const K *run, bool is_before, const K (&word)[N], uint32_t (&before)[N])
{
    uint32_t less[N];
    const auto goes = [&](uint32_t at, K w) { return is_before ? run[at] <= w : run[at] < w; };
#pragma unroll
    for (int i = 0; i < N; i++)
        less[i] = 0;
#pragma unroll 1
    for (uint32_t step = split_run / 2; step; step /= 2)
#pragma unroll
        for (int i = 0; i < N; i++)
            less[i] += goes(less[i] + step - 1, word[i]) ? step : 0;
#pragma unroll
    for (int i = 0; i < N; i++)
        before[i] += less[i] + goes(less[i], word[i]);
}

/* The splitters of the sample: each block ranks the words of a run, every warp among some runs.
 * Equal words have the order that they are in. BETWEEN: and words between them. */
template <int T, bool BETWEEN, class K>
__device__ __noinline__ void rank_sample(const RadixKeys<K> &job)
{
    extern __shared__ __align__(16) char memory[];
    constexpr uint32_t rows = split_run / 32, batch = 16 / sizeof(K);
    const Splitters<K> splitters = Splitters<K>::of(job);
    const uint32_t items = splitters.sample_items(), apart = items / splitters.buckets();
    K *words = (K *)memory;
    uint32_t *ranks = (uint32_t *)(words + items);
    for (uint32_t i = threadIdx.x; i < items / batch; i += T)
        ((uint4 *)words)[i] = __ldcg((const uint4 *)splitters.sample() + i);
    for (uint32_t run = blockIdx.x; run < items / split_run; run += gridDim.x) {
        if (threadIdx.x < split_run)
            ranks[threadIdx.x] = threadIdx.x;
        __syncthreads();
        K word[rows];
        uint32_t before[rows] = {};
#pragma unroll
        for (uint32_t i = 0; i < rows; i++)
            word[i] = words[run * split_run + i * 32 + lane_id()];
#pragma unroll 1
        for (uint32_t other = threadIdx.x / 32; other < items / split_run; other += T / 32)
            if (other != run)
                add_before(words + other * split_run, other < run, word, before);
#pragma unroll
        for (uint32_t i = 0; i < rows; i++)
            atomicAdd(&ranks[i * 32 + lane_id()], before[i]);
        __syncthreads();
        if (threadIdx.x < split_run) {
            const uint32_t each = apart / split_between;
            const uint32_t rank = ranks[threadIdx.x], b = rank / apart;
            const K own = words[run * split_run + threadIdx.x];
            if (rank % apart == 0)
                splitters.raw()[b] = own;
            if (BETWEEN && b % 2 == 0 && rank % each == 0)
                splitters.between()[b / 2 * split_between + rank % apart / each] = own;
        }
        __syncthreads();
    }
}

/* The lanes whose items have the same bucket, of each row, whose items are p + 32 i < end; by
 * ballots, as an instruction that matches lanes takes the longer, the more buckets there are. */
template <uint32_t N>
GPI_DEVICE void find_split_peers(uint32_t p, uint32_t end, uint32_t buckets,
                                 const uint32_t (&digit)[N], uint32_t (&peers)[N])
{
#pragma unroll
    for (uint32_t i = 0; i < N; i++)
        peers[i] = __ballot_sync(all_lanes, p + i * 32 < end);
#pragma unroll 1
    for (uint32_t bit = 1; bit < buckets; bit *= 2)
#pragma unroll
        for (uint32_t i = 0; i < N; i++) {
            const uint32_t set = __ballot_sync(all_lanes, digit[i] & bit);
            peers[i] &= digit[i] & bit ? set : ~set;
        }
}

/* block_sums() as a call: its code comes from memory once. */
template <int T> __device__ __noinline__ uint2 split_sums(uint32_t value)
{
    __shared__ uint32_t sums[T / 32];
    const uint32_t upto = warp_running_sum(value);
    __syncthreads();
    if (lane_id() == 31)
        sums[threadIdx.x / 32] = upto;
    __syncthreads();
    const uint32_t other = lane_id() < T / 32 ? sums[lane_id()] : 0;
    const uint32_t before = warp_sum(lane_id() < threadIdx.x / 32 ? other : 0);
    return make_uint2(before + upto - value, warp_sum(other));
}

/* By a block: whether it would take long to sort buckets, as many items are in bins with others
 * whose words are equal or close: of the sample's words in a bucket every clumped_share-th is in
 * the same bin as the next one. Passes are faster then. */
template <int T, class K> __device__ __noinline__ bool are_clumped(const RadixKeys<K> &job)
{
    const Splitters<K> splitters = Splitters<K>::of(job);
    const uint32_t buckets = splitters.buckets();
    uint32_t together = 0;
    for (uint32_t b = 2 * threadIdx.x; b < buckets; b += 2 * T) {
        K word[split_between];
#pragma unroll
        for (uint32_t i = 0; i < split_between; i += 16 / sizeof(K))
            *(uint4 *)&word[i] =
                __ldcg((const uint4 *)(splitters.between() + b / 2 * split_between + i));
        const K least = b ? splitters.least(b) : word[0], most = splitters.most(b);
        const uint64_t range = most > least ? (K)((most - least) >> job.begin) : 0;
        const int bin = 64 - __clzll((long long)range) - radix_tuning.bin_bits;
        const int shift = job.begin + max(bin, 0);
#pragma unroll
        for (uint32_t i = 0; i + 1 < split_between; i++)
            together += bin >= 0 && word[i] >= least && word[i + 1] <= most &&
                        (K)(word[i] - least) >> shift == (K)(word[i + 1] - least) >> shift;
    }
    const uint32_t words = buckets / 2 * (split_between - 1);
    return split_sums<T>(together).y > words / radix_tuning.clumped_share;
}

/* What sorts bucket b; equal words are in the output. */
template <class K>
GPI_DEVICE gpi_radix_entry split_entry(const Splitters<K> &splitters, uint32_t b, uint32_t first,
                                       uint32_t count)
{
    const int shift = splitters.job.begin;
    const uint64_t base = (uint64_t)(K)(splitters.least(b) >> shift);
    const uint64_t range = (uint64_t)(K)(splitters.most(b) >> shift) - base;
    const bool word = splitters.is_word(b);
    const uint32_t bits = word ? 0 : 64 - __clzll((long long)range);
    const uint32_t from = word ? gpi_radix_out : gpi_radix_tmp;
    return {base, first, count, bits, from};
}

/* ---- for the launch ---- */

/* Blocks of a partition kernel. */
inline unsigned partition_blocks(const gp_context *ctx, uint64_t n)
{
    const uint64_t most = n / radix_tuning.block_items + 1, sms = (uint64_t)ctx->sm_count;
    return (unsigned)(most < sms ? most : sms);
}

/* Bits of the number of a bucket between splitters; 0 if blocks cannot hold the array, or what has
 * their counts. */
template <int VB, bool ROUNDS, class K>
int split_bits_of(const gp_context *ctx, const RadixKeys<K> &job, const gpi_radix_layout &layout)
{
    using Memory = SplitMemory<K, VB, radix_tuning.tile_threads, ROUNDS>;
    const uint64_t counts =
        ROUNDS ? layout.pieces[GPI_RADIX_LARGE].bytes / sizeof(uint32_t) : layout.rows * radix_bins;
    const uint32_t blocks = partition_blocks(ctx, job.n);
    int bits = job.bucket_bits;
    while (bits < radix_tuning.split_bits &&
           job.n >> bits > radix_split_mean(sizeof(K), VB, job.bucket_max))
        bits++;
    const bool fits =
        job.n >> bits <= job.bucket_max / 2 && (blocks + 1ull) << bits <= counts &&
        Memory::bytes(job.n, blocks, bits) + 1024 <= (uint64_t)radix_tuning.shared_bytes;
    return fits ? bits : 0;
}

} // namespace GPI_SPACE
