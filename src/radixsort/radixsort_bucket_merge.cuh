/* SPDX-License-Identifier: MIT */
/*
 * Sorting a bucket inside one block by merging, which takes the same time whatever its keys are.
 *
 * Each thread sorts neighbouring items in registers (odd-even transposition, Knuth volume 3,
 * 5.3.4). Then runs in shared memory are merged two by two, each thread as many outputs as it has
 * items: where they begin in both runs is where the merge path crosses their diagonal (Odeh, Green,
 * Mwassi, Shmueli and Birk 2012). Equal keys stay in order.
 *
 * Beside values an item is the word of a key and the position that it had, by which key and value
 * are found at the end.
 */
#pragma once

#include "radixsort/radixsort_bucket_global.cuh"
#include "radixsort/radixsort_places.cuh"

namespace GPI_SPACE
{

template <class K, bool FLOAT, int VB, int T, int I> struct BucketMerge {
    using V = typename Payload<VB>::type;
    static constexpr bool pairs = VB > 0;
    static constexpr int items_max = T * I;
    static constexpr int most = I | 1; /* of a thread; an odd number of words meets all banks */
    static constexpr int few = 9;      /* keys alone that spill no registers */

    struct Shared {
        K words[items_max + 1]; /* one is read behind the last */
        SharedArray<uint16_t, pairs ? items_max : 0> source;
    };

    /* Up to M neighbouring items of a thread, in registers. Loops over them end where no thread of
     * the block has more. */
    template <int M> struct Items {
        K word[M];
        uint16_t source[pairs ? M : 1];

        GPI_DEVICE Items()
        {
            leave_undefined<radix_buckets_loop<sizeof(K), VB>>(word);
            if constexpr (pairs)
                leave_undefined<radix_buckets_loop<sizeof(K), VB>>(source);
        }
    };

    /* A run in shared memory. */
    struct Run {
        int at, end;
    };

    const RadixJob<K, V> &job;
    Shared &s;
    int count;
    K compared; /* bits of a word */
    int each;   /* items of a thread */
    int first;  /* of this thread's */
    int mine;   /* how many these are */

    GPI_DEVICE BucketMerge(const RadixJob<K, V> &job_, char *memory, int count_, K compared_)
        : job(job_), s(*(Shared *)memory), count(count_), compared(compared_)
    {
        each = (count + T - 1) / T | 1;
        first = (int)threadIdx.x * each;
        mine = min(max(count - first, 0), each);
    }

    GPI_DEVICE KeyCodec<K, FLOAT, VB> codec() const
    {
        return {job.order};
    }

    /* Keys alone may have bits that are not compared, but move along. */
    GPI_DEVICE bool less(K a, K b) const
    {
        return pairs ? a < b : (K)(a & compared) < (K)(b & compared);
    }

    /* ---- between memory and shared memory ---- */

    GPI_DEVICE void read(const K *keys, const ValueArray<V> &values) const
    {
        if constexpr (pairs) /* they are needed last */
            values.prefetch(count);
#pragma unroll
        for (int i = 0; i < I; i++)
            if (const int p = i * T + (int)threadIdx.x; p < count) {
                const K key = codec().encode(__ldcs(keys + p));
                s.words[p] = pairs ? (K)(codec().word(key) & compared) : key;
                if constexpr (pairs)
                    s.source[p] = (uint16_t)p;
            }
        __syncthreads();
    }

    GPI_DEVICE void write_keys(K *keys) const
    {
#pragma unroll 4
        for (int p = threadIdx.x; p < count; p += T)
            __stcs(keys + p, codec().decode(s.words[p]));
    }

    /* Items by their positions, or these. A bucket may be sorted where it lies, so all are read
     * before one is written. */
    template <class X>
    GPI_DEVICE void write_picked(X *to, const X *from, uint64_t first_position) const
    {
        X item[I];
        leave_undefined<radix_buckets_loop<sizeof(K), VB>>(item);
#pragma unroll
        for (int i = 0; i < I; i++)
            if (const int p = i * T + (int)threadIdx.x; p < count)
                item[i] = from ? from[s.source[p]] : (X)(first_position + s.source[p]);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < I; i++)
            if (const int p = i * T + (int)threadIdx.x; p < count)
                __stcs(to + p, item[i]);
    }

    /* The same through shared memory, where words are not needed any more. */
    GPI_DEVICE void write_narrow(const ValueArray<V> &to, const ValueArray<V> &from) const
    {
        const ValueArray<V> staged = {s.words, from.bytes};
        for (uint32_t i = threadIdx.x; i < count * from.bytes; i += T)
            ((char *)staged.at)[i] = ((const char *)from.at)[i];
        __syncthreads();
        for (int p = threadIdx.x; p < count; p += T)
            to.store_narrow(p, staged.load_narrow(s.source[p]));
    }

    /* ---- between shared memory and registers ---- */

    template <int M> GPI_DEVICE void get(Items<M> &items, int i, int p) const
    {
        items.word[i] = s.words[p];
        if constexpr (pairs)
            items.source[i] = s.source[p];
    }

    /* Whether no thread has an item from i on; known for every second i. */
    GPI_DEVICE bool ends(int i) const
    {
        return i % 2 == 0 && i >= each;
    }

    template <int M> GPI_DEVICE void put(const Items<M> &items) const
    {
#pragma unroll
        for (int i = 0; i < M; i++) {
            if (ends(i))
                break;
            if (i < mine) {
                s.words[first + i] = items.word[i];
                if constexpr (pairs)
                    s.source[first + i] = items.source[i];
            }
        }
    }

    /* ---- sorting ---- */

    template <class X> static GPI_DEVICE void swap_if(bool swaps, X &a, X &b)
    {
        const X first_one = swaps ? b : a;
        b = swaps ? a : b;
        a = first_one;
    }

    template <int M> GPI_DEVICE void exchange(Items<M> &items, int i) const
    {
        const bool falls = i + 1 < mine && less(items.word[i + 1], items.word[i]);
        swap_if(falls, items.word[i], items.word[i + 1]);
        if constexpr (pairs)
            swap_if(falls, items.source[i], items.source[i + 1]);
    }

    template <int M> GPI_DEVICE void sort_own() const
    {
        Items<M> items;
#pragma unroll
        for (int i = 0; i < M; i++)
            if (i < mine)
                get(items, i, first + i);
#pragma unroll 1
        for (int round = 0; round < each; round += 2) {
#pragma unroll
            for (int i = 0; i + 1 < M; i += 2) {
                if (i >= each)
                    break;
                exchange(items, i);
            }
#pragma unroll
            for (int i = 1; i + 1 < M; i += 2) {
                if (i >= each)
                    break;
                exchange(items, i);
            }
        }
        put(items);
    }

    /* How many of the first `outputs` outputs come from a. */
    GPI_DEVICE int path(Run a, Run b, int outputs) const
    {
        int low = max(0, outputs - (b.end - b.at)), high = min(outputs, a.end - a.at);
        while (low < high) {
            const int middle = (low + high) / 2;
            if (less(s.words[b.at + outputs - 1 - middle], s.words[a.at + middle]))
                high = middle;
            else
                low = middle + 1;
        }
        return low;
    }

    /* This thread's outputs of the merge of runs of some threads' items: a power of two. */
    template <int M> GPI_DEVICE void merge(int threads, Items<M> &items) const
    {
        const int begin = ((int)threadIdx.x & -2 * threads) * each, run = threads * each;
        Run a = {begin, min(begin + run, count)}, b = {a.end, min(begin + 2 * run, count)};
        const int from_a = path(a, b, first - begin);
        a.at += from_a;
        b.at += first - begin - from_a;
        K word_a = s.words[a.at], word_b = s.words[b.at];
#pragma unroll
        for (int i = 0; i < M; i++) {
            if (ends(i))
                break;
            if (i < mine) {
                const bool take_b = a.at >= a.end || (b.at < b.end && less(word_b, word_a));
                const int p = take_b ? b.at++ : a.at++;
                items.word[i] = take_b ? word_b : word_a;
                if constexpr (pairs)
                    items.source[i] = s.source[p];
                const K next = s.words[p + 1];
                word_a = take_b ? word_a : next;
                word_b = take_b ? next : word_b;
            }
        }
    }

    template <int M> GPI_DEVICE void sort_all() const
    {
        sort_own<M>();
        __syncthreads();
#pragma unroll 1
        for (int threads = 1; threads * each < count; threads *= 2) {
            Items<M> items;
            if (mine > 0)
                merge(threads, items);
            __syncthreads();
            put(items);
            __syncthreads();
        }
    }

    /* Not inlined: its registers are not those of the kernel. */
    static __device__ __noinline__ void sort(BucketMerge b, uint64_t first, uint32_t from)
    {
        const K *keys_in = b.job.keys[from] + first;
        const ValueArray<V> values_in = b.job.values_at(from, first);
        b.read(keys_in, values_in);
        if (!pairs && b.each <= few)
            b.template sort_all<few>();
        else
            b.template sort_all<most>();
        K *keys = b.job.keys[gpi_radix_out] + first;
        if constexpr (pairs) {
            const ValueArray<V> values = b.job.values_at(gpi_radix_out, first);
            if (values_in.is_narrow())
                b.write_narrow(values, values_in);
            else
                b.write_picked((V *)values.at, (const V *)values_in.at, first);
            if (b.job.keys_wanted)
                b.write_picked(keys, keys_in, 0);
        } else {
            b.write_keys(keys);
        }
    }
};

} // namespace GPI_SPACE
