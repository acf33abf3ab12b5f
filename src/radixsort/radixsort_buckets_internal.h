/* SPDX-License-Identifier: MIT */
/* What kernels of other rooms see of a sort on CUDA (gpi_radix_visitor): its buckets after the
 * partition passes, unsorted. */
#ifndef GPI_RADIXSORT_BUCKETS_INTERNAL_H
#define GPI_RADIXSORT_BUCKETS_INTERNAL_H

#include "device/copy_async.cuh"
#include "radixsort/radixsort_key_codec.cuh"

namespace GPI_SPACE
{

struct RadixBuckets {
    gpi_radix_plan *plan;
    const uint32_t *buckets, *recount; /* as in RadixKeys */
    int begin;
    uint32_t key_bytes; /* 4 or 8 */
    uint64_t n;
    const uint64_t *device_n;
    KeyOrder<uint32_t> order4;
    KeyOrder<uint64_t> order8;
    const void *keys[3]; /* by enum gpi_radix_place */
    const char *values[3];

    GPI_DEVICE bool any() const
    {
        return plan->route == gpi_radix_route_buckets;
    }

    /* Whether they may have few keys: by what a sample says, or their bits. */
    GPI_DEVICE bool may_have_few_keys() const
    {
        return any() && (plan->visitor_bits || (int)plan->shift - begin <= radix_few_bits);
    }

    /* Nothing is left to sort. */
    GPI_DEVICE void done() const
    {
        plan->route = gpi_radix_route_done;
    }

    GPI_DEVICE uint32_t count() const
    {
        return 1u << plan->bits;
    }

    /* Where each bucket begins, and the last one ends. */
    GPI_DEVICE const uint32_t *starts() const
    {
        return plan->recounted ? recount : buckets;
    }

    /* The lowest bit of a word that has the bucket's number. */
    GPI_DEVICE uint32_t shift() const
    {
        return plan->shift;
    }

    /* Nothing is left to compare inside a bucket. */
    GPI_DEVICE bool one_key() const
    {
        return (int)plan->shift == begin;
    }

    /* Where the items are. */
    GPI_DEVICE uint32_t place() const
    {
        return plan->result;
    }

    template <class K> GPI_DEVICE const KeyOrder<K> &order() const
    {
        if constexpr (sizeof(K) == 4)
            return order4;
        else
            return order8;
    }

    /* The word of an integer, or of a float but those that is_of_word() says are none. */
    template <class K> GPI_DEVICE K word_of(K key) const
    {
        using Signed = std::conditional_t<sizeof(K) == 4, int32_t, int64_t>;
        const KeyOrder<K> &o = order<K>();
        const K negative = (K)((Signed)key >> (8 * sizeof(K) - 1));
        return key ^ (negative & (o.negative ^ o.positive)) ^ (o.positive ^ o.flip);
    }
};

template <class K> RadixBuckets radix_buckets_of(const gpi_radix_buckets *sort)
{
    const RadixKeys<K> &job = *static_cast<const RadixKeys<K> *>(sort->keys);
    RadixBuckets b = {};
    b.plan = job.plan;
    b.buckets = job.buckets, b.recount = job.recount;
    b.begin = job.begin;
    b.key_bytes = sizeof(K);
    b.n = job.n, b.device_n = job.device_n;
    if constexpr (sizeof(K) == 4)
        b.order4 = job.order;
    else
        b.order8 = job.order;
    for (int i = 0; i < 3; i++) {
        b.keys[i] = job.keys[i];
        b.values[i] = (const char *)sort->values[i];
    }
    return b;
}

} // namespace GPI_SPACE

#endif
