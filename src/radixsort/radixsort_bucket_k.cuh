/* SPDX-License-Identifier: MIT */
/*
 * Sorts buckets, each inside one block: a bin sort by a single count, then exchanges.
 *
 * The highest bits that vary in the bucket make about as many bins as there are items. Items are
 * counted by bin and scattered into the bins, in any order. A bin has few items then: each thread
 * takes a run of neighbouring items into registers, and odd-even transposition (Knuth volume 3,
 * 5.3.4) sorts them in as many rounds as the largest bin has items. Larger bins are sorted in
 * windows (radixsort_bucket_windows.cuh).
 *
 * Beside values a word is the varying bits of a key above the item's position in the bucket. So no
 * two words are equal, their order is the stable one, and the position finds the value. Words are
 * as wide as keys, or twice as wide if key and position need that and shared memory has room.
 * Otherwise the lowest bits of keys are left out: the few words that tie are sorted by their keys.
 *
 * The compiler orders functions that it does not inline by their mangled names, and allocates
 * registers in that order: renaming BucketGlobal, finish_large or the kernel can change its code.
 */
#pragma once

#include "radixsort/radixsort_bucket_global.cuh"
#include "radixsort/radixsort_bucket_windows.cuh"

namespace GPI_SPACE
{

template <class K, bool FLOAT, int VB, int T, int I, class Word = RadixWord<K>> struct BucketBins {
    using V = typename Payload<VB>::type;
    using KeyWord = RadixWord<K>;
    using BinWord = Word;
    using OfIntegers = BucketBins<K, false, VB, T, I, Word>; /* with the same memory */
    static constexpr bool pairs = VB > 0;
    static constexpr int warps = T / 32, items_of_thread = I, items_max = T * I;
    static constexpr int bin_bits = radix_tuning.bin_bits, bins = 1 << bin_bits;
    static constexpr int quads = bins / T / 4; /* of counts that a thread sums */
    /* A bin in two warps is sorted among the 32 items around their border if it has largest_bin
     * items at most, or most_rounds in windows that overlap by half. Fewer of keys alone: where
     * these repeat they are in order. */
    static constexpr int largest_bin = 16;
    static constexpr int most_rounds = sizeof(Word) == 8 ? 40 : pairs ? 128 : 48;
    static_assert(most_rounds <= 16 * I, "a bin is in one of them");
    /* Values pass through shared memory where the counts were. */
    static constexpr bool staged = radix_values_staged(sizeof(K), VB);
    static constexpr int stage_bytes = bucket_stage_bytes(items_max, sizeof(K), VB);

    struct Shared {
        alignas(16) Word words[items_max];
        alignas(16) char stage[stage_bytes];
        KeyWord varying[warps];
        uint32_t total[warps];
        uint32_t fullest[warps];  /* the largest of the counts that this warp has summed */
        uint32_t largest[warps];  /* no bin with items in this warp's window has more */
        uint32_t crossing[warps]; /* of a large bin that begins in the window before; or 0 */
    };
    static_assert(I % 2 == 0, "a thread reads its items two at a time");
    static_assert(quads % 2 == 0 && warps <= 32, "two sums share a word");
    static_assert(items_max < 1 << 16, "and are less than 2^16");

    const RadixJob<K, V> &job;
    Shared &s;
    int count;
    K compared;   /* bits of a key's word */
    KeyWord base; /* no word is smaller */

    static constexpr bool in_loop = radix_buckets_loop<sizeof(K), VB>;

    /* Whether a key and a position may have more bits than a word. */
    static constexpr bool words_may_tie = pairs && sizeof(Word) <= sizeof(KeyWord);

    GPI_DEVICE KeyCodec<K, FLOAT, VB> codec() const
    {
        return {job.order};
    }

    GPI_DEVICE uint32_t *counts() const
    {
        return (uint32_t *)s.stage;
    }

    /* Bits of a word that hold the position; the others hold bits of the key. */
    GPI_DEVICE int position_bits() const
    {
        return pairs ? 32 - __clz(count - 1) : 0;
    }

    static GPI_DEVICE int item(int i)
    {
        return i * T + (int)threadIdx.x;
    }

    /* f(i) for each row in which this thread has an item; no test for each of the rows in which
     * all threads have one. */
    template <class F> GPI_DEVICE void for_rows(F f) const
    {
        constexpr int group = I % 3 == 0 ? 3 : 2;
#pragma unroll
        for (int i = 0; i < I; i += group) {
            if ((i + group) * T <= count) {
#pragma unroll
                for (int j = 0; j < group; j++)
                    f(i + j);
                continue;
            }
            if (i * T >= count)
                break;
#pragma unroll
            for (int j = 0; j < group; j++)
                if (item(i + j) < count)
                    f(i + j);
        }
    }

    GPI_DEVICE KeyWord word_of(K key) const
    {
        if constexpr (pairs)
            return (KeyWord)((codec().word(key) & compared) >> job.begin) - base;
        else
            return (KeyWord)codec().encode(key) - base;
    }

    /* Then the block synchronizes. */
    GPI_DEVICE void clear_counts() const
    {
#pragma unroll
        for (int i = threadIdx.x; i < bins / 4; i += T)
            ((uint4 *)s.stage)[i] = make_uint4(0, 0, 0, 0);
        if (lane_id() == 0)
            s.largest[threadIdx.x / 32] = s.crossing[threadIdx.x / 32] = 0;
    }

    /* Which bits of the words vary in the whole bucket. */
    GPI_DEVICE KeyWord varying_bits(KeyWord varying) const
    {
        varying = warp_or(varying);
        if (lane_id() == 0)
            s.varying[threadIdx.x / 32] = varying;
        __syncthreads();
        return warp_or(lane_id() < warps ? s.varying[lane_id()] : (KeyWord)0);
    }

    static GPI_DEVICE uint32_t number_of(Word word, int shift)
    {
        return DigitOf<Word>{shift, bins - 1}(word);
    }

    /* Swizzled beside values: if few bits vary, the low bits of a bin's number are bits of the
     * position that neighbours share, so their counts would lie in the same bank. */
    GPI_DEVICE uint32_t *count_of(uint32_t b) const
    {
        return counts() + (pairs ? b ^ (b >> 5 & 28) : b);
    }

    /* The counts of four neighbouring bins; a row has 32 of them. */
    GPI_DEVICE uint4 *quad(uint32_t row) const
    {
        return (uint4 *)counts() + row * 32 + (pairs ? lane_id() ^ (row & 7) : lane_id());
    }

    GPI_DEVICE uint32_t position(int p) const
    {
        return (uint32_t)s.words[p] & ((1u << position_bits()) - 1);
    }

    GPI_DEVICE void write_keys(K *to, const BucketBits<KeyWord> &keys) const
    {
        /* open(bits): a key's word, less the base, from the bits that are left of it. */
        const auto write = [&](auto open) {
            for_rows([&](int i) {
                const Word word = s.words[item(i)];
                if constexpr (pairs) {
                    const KeyWord bits = open((KeyWord)(word >> position_bits() << keys.low));
                    const K whole = (K)((keys.same | bits) + base);
                    __stcs(to + item(i), job.order.template key<FLOAT>(whole));
                } else {
                    __stcs(to + item(i), codec().decode((K)(open((KeyWord)word) + base)));
                }
            });
        };
        if (keys.has_hole())
            write([&](KeyWord w) { return keys.hole.open(w) | keys.same; });
        else
            write([](KeyWord w) { return w; });
    }

    static GPI_DEVICE KeyWord lowest(int bits)
    {
        return bits < 8 * (int)sizeof(KeyWord) ? ((KeyWord)1 << bits) - 1 : (KeyWord) ~(KeyWord)0;
    }

    /* Read a bucket, and clear the counts. */
    GPI_DEVICE void read(uint64_t first, uint32_t from, BucketKeys<KeyWord, I> &keys) const
    {
        const K *keys_in = job.keys[from] + first;
        K key[I];
        leave_undefined<in_loop>(key);
        leave_undefined<in_loop>(keys.word);
        for_rows([&](int i) { key[i] = __ldcs(keys_in + item(i)); });
        if constexpr (pairs) /* they are needed last */
            job.values_at(from, first).prefetch(count);
        const KeyWord first_word = word_of(keys_in[0]);
        KeyWord differ = 0;
        keys.of_words = true;
        for_rows([&](int i) {
            keys.of_words =
                keys.of_words && (!pairs || job.order.template is_of_word<FLOAT>(key[i]));
            keys.word[i] = word_of(key[i]);
            differ |= keys.word[i] ^ first_word;
        });
        clear_counts();
        const KeyWord varying = varying_bits(differ);
        keys.high = 64 - __clzll(varying);
        keys.low = varying ? __ffsll(varying) - 1 : 0;
        keys.same = first_word & (KeyWord) ~((KeyWord)lowest(keys.high) ^ lowest(keys.low));
        keys.hole = BitHole<KeyWord>::of(varying, max(keys.low, keys.high - bin_bits), keys.high);
        if (!keys.has_hole())
            return;
        keys.same = first_word & (KeyWord)~varying;
        for_rows([&](int i) { keys.word[i] = keys.hole.close(keys.word[i] ^ keys.same); });
    }

    /* Whether the bits that vary, and a position, fit a word, and the items shared memory. */
    GPI_DEVICE bool fits(const BucketBits<KeyWord> &keys) const
    {
        return count <= items_max && left_out(keys) == 0;
    }

    /* How many of the lowest bits that vary do not fit a word beside a position. */
    GPI_DEVICE int left_out(const BucketBits<KeyWord> &keys) const
    {
        return max(0, keys.bits() + position_bits() - 8 * (int)sizeof(Word));
    }

    template <int N>
    GPI_DEVICE void sort(uint64_t first, uint32_t from, const BucketKeys<KeyWord, N> &keys) const
    {
        const K *keys_in = job.keys[from] + first;
        const ValueArray<V> values_in = job.values_at(from, first);
        const int gone = left_out(keys), low = keys.low + gone;
        const int all = keys.bits() - gone + position_bits();
        /* Whether all items of a bin are equal. */
        const bool exact = all <= bin_bits;
        const int above = exact ? 0 : all - bin_bits, shift = pairs ? above : above + low;
        const KeyWord same = keys.has_hole() ? (KeyWord)0 : keys.same; /* that words still have */
        Word word[I];
        leave_undefined<in_loop>(word);
        for_rows([&](int i) {
            if constexpr (pairs)
                word[i] = (Word)((keys.word[i] ^ same) >> low) << position_bits() | (Word)item(i);
            else
                word[i] = keys.word[i];
            atomicAdd(count_of(number_of(word[i], shift)), 1u);
        });
        __syncthreads();
        const uint32_t fullest = sum_bins(*this), largest = exact ? 0 : fullest;
        for_rows(
            [&](int i) { s.words[atomicAdd(count_of(number_of(word[i], shift)), 1u)] = word[i]; });
        __syncthreads();
        /* If words may tie, bins have to be small. */
        const bool large = largest > (uint32_t)(gone ? largest_bin : most_rounds);
        const bool overlap = !large && largest > (uint32_t)largest_bin;
        if (overlap)
            find_crossing(*this);
        if constexpr (staged)
            if (values_in && !values_in.is_narrow() && !large)
                for_rows([&](int i) {
                    copy_async((V *)s.stage + item(i), (const V *)values_in.at + item(i));
                });
        if (largest > 1 && !large)
            exchange_neighbours(*this, overlap ? most_rounds : largest_bin);
        if (large) {
            finish_large(*this, first, from, (BucketBits<KeyWord>)keys, shift, largest);
            return;
        }
        if constexpr (words_may_tie && sizeof(Word) == 8) {
            if (gone)
                order_ties(*this, keys_in);
        } else if constexpr (words_may_tie) {
            if (gone)
                call_order_ties(*this, keys_in);
        }
        write(first, keys_in, values_in, keys);
    }

    GPI_DEVICE void write(uint64_t first, const K *keys_in, const ValueArray<V> &values_in,
                          const BucketBits<KeyWord> &from) const
    {
        K *keys = job.keys[gpi_radix_out] + first;
        if constexpr (pairs) {
            V *values = (V *)job.values_at(gpi_radix_out, first).at;
            if (!values_in)
                for_rows([&](int i) { values[item(i)] = (V)(first + position(item(i))); });
            else if (!staged)
                write_picked(*this, values, (const V *)values_in.at);
            else if (!values_in.is_narrow())
                write_staged(*this, values);
            else if constexpr (VB == 4)
                write_narrow(*this, job.values_at(gpi_radix_out, first), values_in);
            if (!job.keys_wanted)
                return;
            const bool whole = job.begin == 0 && job.end == 8 * (int)sizeof(K);
            if (!whole || left_out(from) || (FLOAT && !__syncthreads_and(from.of_words))) {
                write_picked(*this, keys, keys_in);
                return;
            }
        }
        write_keys(keys, from);
    }
};

/* ---- the kernel ---- */

GPI_DEVICE bool has_entries(const gpi_radix_plan &plan)
{
    return plan.route == gpi_radix_route_levels_or_map || plan.route == gpi_radix_route_splitters;
}

/* How many buckets there are; or everything is one, in the input. LOOP: empty ones count, too, as
 * no block is launched for them. */
template <bool LOOP, class K> GPI_DEVICE uint32_t buckets_of(const RadixKeys<K> &job)
{
    if (!job.bucket_bits) {
        job.take_items();
        return job.is_one_bucket();
    }
    const gpi_radix_plan &plan = *job.plan;
    return plan.route == gpi_radix_route_one_bucket ? 1
           : has_entries(plan)                      ? min(plan.entries, job.entries)
           : plan.route == gpi_radix_route_buckets  ? (LOOP ? 1u << plan.bits : plan.used)
                                                    : 0;
}

/* A bucket, of at most T x I items but for a few, by a whole block. */
template <class K, bool FLOAT, int VB, int T, int I>
GPI_DEVICE void sort_bucket(const RadixJobOf<K, VB> &job, char *memory, uint32_t number)
{
    uint64_t first = 0, end = 0;
    uint32_t from = gpi_radix_in;
    K base = 0;
    int bits = job.end - job.begin; /* that may vary in the bucket, from job.begin on */
    const K compared = job.compared();
    const gpi_radix_plan &plan = *job.plan;
    if (!job.bucket_bits || plan.route == gpi_radix_route_one_bucket) {
        end = item_count(job);
    } else if (has_entries(plan)) {
        const gpi_radix_entry e = job.lists.entries[number];
        first = e.first;
        end = first + e.count;
        from = e.from;
        base = (K)e.base;
        bits = (int)e.bits;
    } else {
        if constexpr (!radix_buckets_loop<sizeof(K), VB>)
            number += plan.first;
        first = job.bucket_starts()[number];
        end = job.bucket_starts()[number + 1];
        from = job.buckets_place(plan.shift, plan.bits);
        bits = (int)plan.shift - job.begin;
    }
    if (first == end)
        return;
    if (bits == 0) {
        if (from == gpi_radix_tmp)
            copy_bucket<T, VB>(job, from, first, end);
        return;
    }
    const int count = (int)(end - first);
    using Narrow = BucketBins<K, FLOAT, VB, T, I>;
    using Global = BucketGlobal<K, FLOAT, VB, T>;
    if (end - first > T * I) {
        Global::sort({job, *(typename Global::Shared *)memory, first, end - first, base}, from,
                     bits);
        return;
    }
    const Narrow narrow = {job, *(typename Narrow::Shared *)memory, count, compared, base};
    BucketKeys<RadixWord<K>, I> keys;
    narrow.read(first, from, keys);
    if constexpr (VB > 0 && sizeof(K) == 4) {
        using Wide = BucketBins<K, FLOAT, VB, T, radix_tuning.wide_items, uint64_t>;
        const Wide wide = {job, *(typename Wide::Shared *)memory, count, compared, base};
        if (!narrow.fits(keys) && wide.fits(keys)) {
            __syncthreads();
            wide.clear_counts();
            __syncthreads();
            wide.sort(first, from, keys);
            return;
        }
    }
    narrow.sort(first, from, keys);
}

/*
 * Grid: a block per bucket, or, if they loop, fewer, which then claim others. After: the output, if
 * the route was one of buckets, or everything is one; if it was levels_or_map, all of the output
 * but what radix_bucket_global_k writes.
 */
template <class K, bool FLOAT, int VB, int T, int I, int BLOCKS>
__global__ void __launch_bounds__(T, BLOCKS)
    radix_bucket_k(const __grid_constant__ RadixJobOf<K, VB> job)
{
    extern __shared__ __align__(16) char memory[];
    grid_wait();
    const uint32_t buckets = buckets_of<radix_buckets_loop<sizeof(K), VB>>(job);
    uint32_t number = blockIdx.x;
    if constexpr (radix_buckets_loop<sizeof(K), VB>) {
        __shared__ uint32_t next;
        while (number < buckets) {
            uint32_t claimed = buckets; /* while the bucket is sorted */
            if (threadIdx.x == 0 && buckets > gridDim.x)
                claimed = gridDim.x + atomicAdd(&job.plan->buckets_claimed, 1u);
            sort_bucket<K, FLOAT, VB, T, I>(job, memory, number);
            __syncthreads();
            if (threadIdx.x == 0)
                next = claimed;
            __syncthreads();
            number = next;
        }
    } else if (number < buckets) {
        sort_bucket<K, FLOAT, VB, T, I>(job, memory, number);
    }
}

} // namespace GPI_SPACE
