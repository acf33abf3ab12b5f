/* SPDX-License-Identifier: MIT */
/*
 * Whether the buckets of a sort have few distinct keys each, however many items: then a visitor may
 * want them though they are too large to be sorted (gpi_radix_visitor).
 *
 * They do if few bits are left to compare inside a bucket. Otherwise a sample of words from all of
 * the array decides: distinct words of each bucket are counted by a bitmap (linear counting, Whang
 * et al. 1990) and compared with k (1 - e^(-words / k)), which is how many are expected of k keys
 * that are equally frequent. Buckets of one pass are preferred, if these have few keys, too.
 */
#pragma once

#include "device/grid.cuh"
#include "radixsort/radixsort_key_codec.cuh"

namespace GPI_SPACE
{

/* Sorts of fewer items are not for visitors of few keys. */
constexpr uint64_t radix_few_items = 4 << 20;

/* The counts of the sample, in the array that the first pass writes to later. */
struct FewKeys {
    static constexpr int words_of_bucket = 8, bits_of_bucket = 9;
    static constexpr int bytes_of_bucket = 8 + (1 << bits_of_bucket) / 8;
    /* Bits of the items that there are for a bucket at least; and buckets for a usual one, if its
     * keys are few anyway. */
    static constexpr int items_bits = 11, usual_share = 4;
    static_assert(bytes_of_bucket <= 4 << items_bits && words_of_bucket <= 1 << items_bits,
                  "there is room, and every word of the sample is another one");
    static constexpr float mean = 36; /* keys, of which one bucket in 100000 has 65 */
    static constexpr uint32_t most = 1 << radix_few_bits;

    int bits;       /* of the number of a bucket */
    uint2 *counts;  /* of a bucket: sampled words, and distinct ones */
    uint32_t *seen; /* a bitmap by hashes, which keep atomic operations of a bucket apart */

    template <class K> static GPI_DEVICE FewKeys of(const RadixKeys<K> &job, int bits)
    {
        uint2 *const counts = (uint2 *)job.keys[gpi_radix_tmp];
        return {bits, counts, (uint32_t *)(counts + (1 << bits))};
    }

    /* Bits of the number of a bucket, at most. */
    static GPI_DEVICE int bits_of(uint64_t items)
    {
        return min(63 - __clzll((long long)items) - items_bits, radix_tuning.bucket_bits);
    }

    /* By all blocks. */
    template <int T> GPI_DEVICE void clear() const
    {
        const uint32_t count = bytes_of_bucket / 4 << bits >> 2;
        for (uint32_t i = blockIdx.x * T + threadIdx.x; i < count; i += gridDim.x * T)
            ((uint4 *)counts)[i] = make_uint4(0, 0, 0, 0);
    }

    /* Distinct ones expected among the sampled words of a bucket of `mean` keys, in 64ths. */
    static GPI_DEVICE uint32_t expected(uint32_t words)
    {
        return (uint32_t)(64 * mean * (1 - __expf(-(float)words / mean)));
    }
};

/* By a warp: counts each lane's word in its bucket. One lane adds for all lanes of a bucket, as one
 * bucket may have most of the words. */
template <class K>
GPI_DEVICE void add_few_keys(const FewKeys &few, uint32_t bucket, K word, bool there)
{
    const uint32_t mixed = (uint32_t)(word ^ (K)((uint64_t)word >> 31));
    const uint32_t place = mixed * 0x9e3779b1u >> (32 - FewKeys::bits_of_bucket - few.bits);
    const uint32_t same_bucket = __match_any_sync(all_lanes, there ? bucket : ~0u);
    const uint32_t same_place = __match_any_sync(all_lanes, there ? place : ~0u);
    const uint32_t mask = 1u << place % 32;
    const bool adds = there && __ffs(same_place) - 1 == lane_id();
    const bool is_new = adds && !(atomicOr(&few.seen[place / 32], mask) & mask);
    const uint32_t all_new = __ballot_sync(all_lanes, is_new) & same_bucket;
    if (!there || __ffs(same_bucket) - 1 != lane_id())
        return;
    atomicAdd(&few.counts[bucket].x, __popc(same_bucket));
    if (all_new)
        atomicAdd(&few.counts[bucket].y, __popc(all_new));
}

template <int T, bool FLOAT, class K>
GPI_DEVICE void count_few_keys(const RadixKeys<K> &job, int shift, const FewKeys &few)
{
    const uint32_t sample = (uint32_t)FewKeys::words_of_bucket << few.bits;
    const uint64_t apart = job.items() / sample;
    const DigitOf<K> bucket = {shift, (1u << few.bits) - 1};
    for (uint32_t first = blockIdx.x * T; first < sample; first += gridDim.x * T) {
        const uint32_t i = first + threadIdx.x;
        const uint64_t at = i * apart + __umulhi(i * 0x9e3779b1u, (uint32_t)apart);
        const bool there = i < sample;
        const K word = there ? job.order.template word<FLOAT>(job.keys[gpi_radix_in][at]) : K();
        add_few_keys(few, bucket(word), word, there);
    }
}

/* Sums over some buckets. */
struct FewTally {
    uint32_t different = 0, expected = 0, most = 0;

    /* Buckets with more words than words_max are left out: if one word is frequent, there are too
     * few others to tell. */
    GPI_DEVICE void add(uint2 count, uint32_t words_max)
    {
        most = max(most, count.y);
        different += count.x <= words_max ? 64 * count.y : 0;
        expected += count.x <= words_max ? FewKeys::expected(count.x) : 0;
    }
};

/* By a warp: adds the sums of its lanes to those of all warps. */
static GPI_DEVICE void share_few(gpi_radix_few &all, const FewTally &own)
{
    const uint32_t different = warp_sum(own.different), expected = warp_sum(own.expected);
    const bool full = __any_sync(all_lanes, own.most > FewKeys::most);
    if (lane_id() > 0)
        return;
    atomicAdd(&all.different, different);
    atomicAdd(&all.expected, expected);
    if (full)
        atomicOr(&all.full, 1u);
}

/* By all blocks, a warp for each bucket of one pass: sums over the 256 buckets of one pass in
 * plan.few[0], over all 2^bits buckets in plan.few[1]. */
template <int T> GPI_DEVICE void tally_few_keys(gpi_radix_plan &plan, const uint2 *counts, int bits)
{
    constexpr int warps = T / 32;
    const int more = bits - radix_bits;
    for (int b = blockIdx.x * warps + threadIdx.x / 32; b < radix_bins; b += gridDim.x * warps) {
        uint2 sum = make_uint2(0, 0);
        FewTally coarse, fine;
#pragma unroll 4
        for (int i = lane_id(); i < 1 << more; i += 32) {
            const uint2 count = __ldcg(counts + (b << more) + i);
            sum.x += count.x, sum.y += count.y;
            fine.add(count, 8 * FewKeys::words_of_bucket);
        }
        const uint2 all = make_uint2(warp_sum(sum.x), warp_sum(sum.y));
        if (lane_id() == 0)
            coarse.add(all, ~0u);
        share_few(plan.few[0], coarse);
        share_few(plan.few[1], fine);
    }
}

static GPI_DEVICE bool are_few(const volatile gpi_radix_few &all)
{
    return !all.full && all.different <= all.expected;
}

/* What find_few_keys() returns: the bits of the number of a bucket, 0 if they do not have few keys;
 * and the barrier, which is not passed by address, as it would lie in memory then. */
struct FewBits {
    int bits;
    GridBarrier barrier;
};

/* By all blocks, which have cleared FewKeys; no bits from `end` on vary. */
template <int T, bool FLOAT, class K>
__device__ __noinline__ FewBits find_few_keys(const RadixKeys<K> &job, int end, GridBarrier barrier)
{
    const int most = FewKeys::bits_of(job.items());
    const int usual = FewKeys::bits_of(job.items() / FewKeys::usual_share);
    const int varying = end - job.begin, bits = varying < most ? varying : most;
    const int enough = varying < radix_bits                     ? varying
                       : varying <= radix_bits + radix_few_bits ? radix_bits
                       : varying - usual <= radix_few_bits      ? usual
                       : varying - bits <= radix_few_bits       ? bits
                                                                : 0;
    if (enough) {
        if (blockIdx.x == 0 && threadIdx.x == 0)
            job.plan->visitor_bits = (uint32_t)enough;
        return {enough, barrier};
    }
    const FewKeys few = FewKeys::of(job, bits);
    gpi_radix_plan &plan = *job.plan;
    count_few_keys<T, FLOAT>(job, end - bits, few);
    barrier.wait();
    tally_few_keys<T>(plan, few.counts, bits);
    barrier.wait();
    const int found = are_few(plan.few[0]) ? radix_bits : are_few(plan.few[1]) ? bits : 0;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        plan.visitor_bits = (uint32_t)found;
    return {found, barrier};
}

/* Whether a sort has buckets of few keys for a visitor; MAY: the kernel may have a visitor. */
template <bool MAY> struct BucketsOfFew {
    bool asked = false;
    int bits = 0; /* of their numbers; 0: there are none */

    template <class K> GPI_DEVICE bool may_be(const RadixKeys<K> &job) const
    {
        return MAY && !asked && job.for_visitor && job.items() >= radix_few_items;
    }

    /* By all blocks, before they wait for each other and find() is called. */
    template <int T, class K> GPI_DEVICE void clear(const RadixKeys<K> &job) const
    {
        if (may_be(job))
            FewKeys::of(job, FewKeys::bits_of(job.items())).template clear<T>();
    }

    /* Whether there are some; only the first call samples. */
    template <int T, bool FLOAT, class K>
    GPI_DEVICE bool find(const RadixKeys<K> &job, int end, GridBarrier &barrier)
    {
        if constexpr (MAY)
            if (may_be(job)) {
                const FewBits found = find_few_keys<T, FLOAT, K>(job, end, barrier);
                bits = found.bits, barrier = found.barrier, asked = true;
            }
        return bits > 0;
    }
};

/* By all blocks: whether a sort begins again, as the visitor has left the buckets; then everything
 * is cleared. */
template <int T, class K> GPI_DEVICE bool begins_again(const RadixKeys<K> &job)
{
    gpi_radix_plan &plan = *job.plan;
    GridBarrier barrier = {&plan.again_arrived, 0};
    if (!plan.visitor_bits || plan.route != gpi_radix_route_buckets)
        return false;
    barrier.wait();
    job.template clear_tables<T>();
    barrier.wait();
    return true;
}

} // namespace GPI_SPACE
