/* SPDX-License-Identifier: MIT */
/*
 * Ranks of items by counting: an item goes behind all that are less, and behind equal ones that
 * were before it. Words alone are sorted in short runs, and a binary search finds the place of each
 * of a warp's 32 words in every run: 8 steps for 128 words in place of as many comparisons. It
 * takes the same time whatever the words are, but for equal ones in a run, and no two threads have
 * to agree on anything.
 */
#pragma once

#include "radixsort/radixsort_key_codec.cuh"

namespace GPI_SPACE
{

template <class Word> GPI_DEVICE void put_in_order(Word &a, Word &b, bool rising)
{
    const bool swap = (b < a) == rising;
    const Word first = swap ? b : a;
    b = swap ? a : b;
    a = first;
}

/* One step of a bitonic sort (Batcher 1968) with the lane that has that bit other than this one. */
template <class Word> GPI_DEVICE void exchange_lanes(Word (&word)[4], int bit, bool rising)
{
    const bool least = !(lane_id() & bit) == rising;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const Word other = shuffle_xor(word[i], bit);
        word[i] = least == (other < word[i]) ? other : word[i];
    }
}

/*
 * 128 words of a warp in order, as runs of RUN: of 32, word[i] of all lanes is one; of 128, lane i
 * has words 4 i to 4 i + 3 of it. Loops, as code that runs once has to come from memory first.
 */
template <int RUN, class Word> GPI_DEVICE void sort_runs(Word (&word)[4])
{
    constexpr bool in_lanes = RUN == 128;
    static_assert(in_lanes || RUN == 32, "the runs that there are");
    if (in_lanes) {
        put_in_order(word[0], word[1], true);
        put_in_order(word[2], word[3], false);
    }
#pragma unroll 1
    for (int lanes = in_lanes ? 1 : 2; lanes <= 32; lanes *= 2) {
        const bool rising = !(lane_id() & lanes);
#pragma unroll 1
        for (int bit = lanes / 2; bit; bit /= 2)
            exchange_lanes(word, bit, rising);
        if (in_lanes) {
            put_in_order(word[0], word[2], rising);
            put_in_order(word[1], word[3], rising);
            put_in_order(word[0], word[1], rising);
            put_in_order(word[2], word[3], rising);
        }
    }
}

/* Four words of each lane side by side, as runs of 128 are. */
template <class Word> GPI_DEVICE void put_run(Word *to, const Word (&word)[4])
{
    struct alignas(16) Four {
        Word of[4];
    };
    ((Four *)to)[lane_id()] = {word[0], word[1], word[2], word[3]};
}

/* How many words of its run equal a lane's own one and are before it. words: unsorted, in rows of
 * 32; the run begins with row `begin`, the own word is in row `row`. */
template <class Word>
GPI_DEVICE uint32_t equals_before(const Word *words, int begin, int row, Word own)
{
    uint32_t equals = __popc(__match_any_sync(all_lanes, own) & ((1u << lane_id()) - 1));
#pragma unroll 4
    for (int p = begin * 32; p < row * 32; p++)
        equals += words[p] == own;
    return equals;
}

/* How many words of BATCH runs of RUN from run `begin` on go before a lane's own one, of row `row`.
 * runs: sorted; words: unsorted. */
template <int RUN, int BATCH, class Word>
GPI_DEVICE uint32_t words_before(const Word *runs, const Word *words, int begin, int row, Word own)
{
    const int own_run = row / (RUN / 32);
    const Word *run[BATCH];
    Word limit[BATCH];
    uint32_t less[BATCH], before = 0;
#pragma unroll
    for (int i = 0; i < BATCH; i++) {
        run[i] = runs + (begin + i) * RUN;
        limit[i] = own + (begin + i < own_run);
        less[i] = 0;
    }
#pragma unroll
    for (int step = RUN / 2; step; step /= 2)
#pragma unroll
        for (int i = 0; i < BATCH; i++)
            less[i] += run[i][less[i] + step - 1] < limit[i] ? step : 0;
#pragma unroll
    for (int i = 0; i < BATCH; i++) {
        const bool all = begin + i < own_run && limit[i] == 0; /* no word is above its own */
        less[i] += run[i][less[i]] < limit[i];
        before += all ? RUN : less[i];
        if (begin + i == own_run) {
            const bool equals = less[i] + 1 < RUN && run[i][less[i] + 1] == own;
            if (__any_sync(all_lanes, equals))
                before += equals_before(words, own_run * (RUN / 32), row, own);
        }
    }
    return before;
}

/* Items of a block of T threads, in shared memory. */
template <class Word, int T, int RUN> struct RankedItems {
    static constexpr int warps = T / 32, batch = 256 / RUN > 4 ? 4 : 256 / RUN; /* runs */

    Word *runs, *words; /* sorted in each run, and in the order of items */
    uint32_t *ranks;
    uint32_t *source; /* where items are */
    int count;

    /* For items in whole batches, and in what a warp sorts at once. */
    static __host__ __device__ constexpr int room(int items)
    {
        constexpr int each = batch * RUN > 128 ? batch * RUN : 128;
        return (items + each - 1) / each * each;
    }

    static constexpr int bytes(int most)
    {
        return room(most) * (int)(2 * sizeof(Word) + 2 * sizeof(uint32_t));
    }

    GPI_DEVICE RankedItems(char *memory, int most)
    {
        runs = (Word *)memory;
        words = runs + room(most);
        ranks = (uint32_t *)(words + room(most));
        source = ranks + room(most);
        count = 0;
    }

    /* Of `items` words, word_of(0), word_of(1), ... Then the block synchronizes. */
    template <class F> GPI_DEVICE void load(int items, F word_of)
    {
        count = items;
#pragma unroll 1
        for (int first = (int)threadIdx.x / 32 * 128; first < room(count); first += warps * 128) {
            Word word[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int p = first + i * 32 + lane_id();
                word[i] = p < count ? word_of(p) : (Word) ~(Word)0;
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
                words[first + i * 32 + lane_id()] = word[i];
                ranks[first + i * 32 + lane_id()] = 0;
            }
            sort_runs<RUN>(word);
            if (RUN == 128)
                put_run(runs + first, word);
#pragma unroll
            for (int i = 0; RUN < 128 && i < 4; i++)
                runs[first + i * 32 + lane_id()] = word[i];
        }
    }

    /* Ranks of the items of `own` rows of 32 from row `first` on. Then the block synchronizes. */
    GPI_DEVICE void rank(int first, int own) const
    {
        const int batches = room(count) / (batch * RUN);
#pragma unroll 1
        for (int t = (int)threadIdx.x / 32; t < own * batches; t += warps) {
            const int row = first + t / batches, begin = t % batches * batch;
            const int p = row * 32 + lane_id();
            atomicAdd(&ranks[p], words_before<RUN, batch>(runs, words, begin, row, words[p]));
        }
    }
};

} // namespace GPI_SPACE
