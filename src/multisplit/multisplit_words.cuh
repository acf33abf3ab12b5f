/* SPDX-License-Identifier: MIT */
/*
 * A multisplit's moves of items that are one word: from registers into the order of buckets in
 * shared memory, and from there to their places. Meanwhile the next tile is on its way to
 * registers again.
 *
 * Ranks are what additions to shared memory return. Hardware serves the lanes of one addition in
 * lane order, but this is not guaranteed, so each tile checks it: an item carries its bucket and
 * its position, and these must ascend. A tile that fails the check is stored once more, to places
 * that are counted one by one.
 */
#pragma once

#include "multisplit/multisplit_kernels.cuh"

namespace GPI_SPACE
{

constexpr int split_words_resident = 3; /* blocks on a multiprocessor; four lack registers */
constexpr uint32_t split_hot = 8;       /* items of a bucket in a row that delay an addition */

/* f of an item's type, where items of up to 4 bytes share the code. */
template <class Word, class F> GPI_DEVICE void with_item(uint32_t bytes, const F &f)
{
    if constexpr (sizeof(Word) > 4)
        f(Word());
    else if (bytes == 4)
        f(uint32_t());
    else if (bytes == 2)
        f(uint16_t());
    else
        f(uint8_t());
}

/* Of 32 items of a tile, per warp. */
template <class Word>
constexpr int word_rows = sizeof(Word) <= 4
                              ? split_rows
                              : GPI_MULTISPLIT_WORD_TILE_BYTES / (int)sizeof(Word) / split_threads;

/* Items in the order of buckets, and bucket << 16 | position in the tile. */
template <class Word, int ITEMS> struct SplitOrder {
    Word item[ITEMS];
    uint32_t from[ITEMS];

    GPI_DEVICE void put(uint32_t at, Word word, uint32_t source)
    {
        item[at] = word;
        from[at] = source;
    }

    GPI_DEVICE uint32_t get(uint32_t at, Word &word) const
    {
        word = item[at];
        return from[at];
    }

    GPI_DEVICE uint32_t source(uint32_t at) const
    {
        return from[at];
    }
};

/* Small items share an access with that. */
template <int ITEMS> struct SplitOrder<uint32_t, ITEMS> {
    uint2 of[ITEMS];

    GPI_DEVICE void put(uint32_t at, uint32_t word, uint32_t source)
    {
        of[at] = make_uint2(word, source);
    }

    GPI_DEVICE uint32_t get(uint32_t at, uint32_t &word) const
    {
        const uint2 both = of[at];
        word = both.x;
        return both.y;
    }

    GPI_DEVICE uint32_t source(uint32_t at) const
    {
        return of[at].y;
    }
};

template <class Word> struct SplitWordsShared {
    static constexpr int items = word_rows<Word> * split_threads;
    alignas(16) uint32_t before[split_warps][split_buckets]; /* as SplitShared */
    char *place[split_buckets]; /* where place 0 of the tile would go, by bucket */
    uint32_t sums[split_warps];
    alignas(16) SplitOrder<Word, items> order;
};

/* One block's way through its range. */
template <class Word> struct SplitWords {
    using Shared = SplitWordsShared<Word>;
    static constexpr int rows = word_rows<Word>, batch = 4;

    const gpi_multisplit_args &a;
    Shared &s;
    Word item[rows];
    uint32_t rank[rows]; /* the number; then bucket | rank in the warp's part << 8 */

    GPI_DEVICE uint32_t bytes() const
    {
        return sizeof(Word) > 4 ? sizeof(Word) : a.item_bytes;
    }

    /* Of the warp's part, in the tile. */
    static GPI_DEVICE uint32_t first_item()
    {
        return threadIdx.x / 32 * rows * 32 + lane_id();
    }

    /* This thread's rows are there as far as this is above 32 times their number. */
    static GPI_DEVICE int left_of(uint32_t count)
    {
        return (int)count - (int)first_item();
    }

    GPI_DEVICE void load(uint64_t first, uint32_t count)
    {
        const uint8_t *numbers = (const uint8_t *)a.numbers + first + first_item();
        const int left = left_of(count);
#pragma unroll
        for (int k = 0; k < rows; k++)
            rank[k] = 32 * k < left ? numbers[32 * k] : 0;
        with_item<Word>(a.item_bytes, [&](auto type) {
            const auto *in = (const decltype(type) *)a.in + first + first_item();
#pragma unroll
            for (int k = 0; k < rows; k++)
                if (32 * k < left)
                    item[k] = in[32 * k];
        });
    }

    /* Additions to the counter of one bucket wait for each other: one that the first row has often
     * is counted by ballots. */
    GPI_DEVICE void find_ranks(uint32_t count)
    {
        uint32_t *before = s.before[threadIdx.x / 32];
        const int left = left_of(count);
        for (int b = lane_id(); b < split_buckets / 4; b += 32)
            ((uint4 *)before)[b] = make_uint4(0, 0, 0, 0);
        __syncwarp();
        const uint32_t first = split_bucket(rank[0], a.num_buckets);
        const uint32_t among = 0 < left ? atomicAdd(&before[first], 1u) : 0;
        rank[0] = first | among << 8;
        const uint32_t often = __ballot_sync(all_lanes, among >= split_hot - 1);
        if (often) {
            rank_with_hot(before, left, __shfl_sync(all_lanes, first, __ffs(often) - 1));
            return;
        }
#pragma unroll
        for (int k = 1; k < rows; k++) {
            const uint32_t bucket = split_bucket(rank[k], a.num_buckets);
            const uint32_t had = 32 * k < left ? atomicAdd(&before[bucket], 1u) : 0;
            rank[k] = bucket | had << 8;
        }
    }

    GPI_DEVICE void rank_with_hot(uint32_t *before, int left, uint32_t hot)
    {
        __syncwarp();
        uint32_t counted = before[hot];
        __syncwarp();
#pragma unroll
        for (int k = 1; k < rows; k++) {
            const bool there = 32 * k < left;
            const uint32_t bucket = split_bucket(rank[k], a.num_buckets);
            const uint32_t same = __ballot_sync(all_lanes, there && bucket == hot);
            uint32_t had = counted + __popc(same & ((1u << lane_id()) - 1));
            if (there && bucket != hot)
                had = atomicAdd(&before[bucket], 1u);
            rank[k] = bucket | had << 8;
            counted += __popc(same);
        }
        if (lane_id() == 0)
            before[hot] = counted;
    }

    /* In builds with fault_injection: in one of seven tiles the items of a row that share a bucket
     * get their ranks in the other order. */
    GPI_DEVICE void swap_ranks(uint64_t tile, uint32_t count)
    {
#ifdef GPI_FAULT
        const bool there = 32 < left_of(count);
        const uint32_t peers =
            __match_any_sync(all_lanes, there ? rank[1] & 255 : split_buckets + lane_id());
        const uint32_t first = __shfl_sync(all_lanes, rank[1], __ffs(peers) - 1);
        const uint32_t last = __shfl_sync(all_lanes, rank[1], 31 - __clz(peers));
        if (there && tile % 7 == 5)
            rank[1] = first + last - rank[1];
#endif
    }

    /* *next: of thread b, where the next item of bucket b goes. */
    GPI_DEVICE void find_places(uint64_t *next)
    {
        const uint32_t b = threadIdx.x;
        uint32_t own[split_warps], all = 0;
#pragma unroll
        for (int w = 0; w < split_warps; w++)
            all += own[w] = s.before[w][b];
        uint32_t begin = warp_exclusive(all);
        share_warp_sum(s.sums, b / 32, begin + all, 31);
        __syncthreads();
        fold_warps_before<Sum<uint32_t>>(begin, s.sums, b / 32);
        s.place[b] = (char *)a.out + (int64_t)(*next - begin) * (int64_t)bytes();
        *next += all;
#pragma unroll
        for (int w = 0; w < split_warps; w++) {
            s.before[w][b] = begin;
            begin += own[w];
        }
    }

    GPI_DEVICE void exchange(uint32_t count)
    {
        const uint32_t *before = s.before[threadIdx.x / 32];
        const int left = left_of(count);
#pragma unroll
        for (int k = 0; k < rows; k += batch) {
            uint32_t at[batch];
#pragma unroll
            for (int j = 0; j < batch; j++)
                at[j] = before[rank[k + j] & 255] + (rank[k + j] >> 8);
#pragma unroll
            for (int j = 0; j < batch; j++)
                if (32 * (k + j) < left)
                    s.order.put(at[j], item[k + j],
                                (rank[k + j] & 255) << 16 | (first_item() + 32 * (k + j)));
        }
    }

    /* Of the warp's part of the order; false if it does not ascend. */
    GPI_DEVICE bool store(uint32_t count) const
    {
        const int left = left_of(count);
        uint32_t last = 0;
        bool ascends = true;
        if (lane_id() == 0 && first_item() > 0 && left > 0)
            last = s.order.source(first_item() - 1) + 1;
#pragma unroll
        for (int k = 0; k < rows; k += batch) {
            Word word[batch];
            uint32_t source[batch];
            char *to[batch];
#pragma unroll
            for (int j = 0; j < batch; j++)
                source[j] = s.order.get(first_item() + 32 * (k + j), word[j]);
#pragma unroll
            for (int j = 0; j < batch; j++) {
                const bool there = 32 * (k + j) < left;
                const uint32_t left_one =
                    __shfl_sync(all_lanes, source[j] + 1, (lane_id() + 31) & 31);
                const uint32_t least = lane_id() == 0 ? last : left_one;
                last = left_one;
                ascends = ascends && (source[j] >= least || !there);
                to[j] =
                    s.place[there ? source[j] >> 16 : 0] + (first_item() + 32 * (k + j)) * bytes();
            }
            with_item<Word>(a.item_bytes, [&](auto type) {
#pragma unroll
                for (int j = 0; j < batch; j++)
                    if (32 * (k + j) < left)
                        *(decltype(type) *)to[j] = (decltype(type))word[j];
            });
        }
        return ascends;
    }

    /* The tile once more, each item to the place that the others leave it. */
    static __device__ __noinline__ void repair(Shared &s, uint32_t bytes, uint32_t count)
    {
        for (uint32_t i = threadIdx.x; i < count; i += split_threads) {
            Word word;
            const uint32_t source = s.order.get(i, word);
            uint32_t place = 0;
            for (uint32_t j = 0; j < count; j++)
                place += s.order.source(j) < source;
            char *to = s.place[source >> 16] + place * bytes;
            with_item<Word>(bytes,
                            [&](auto type) { *(decltype(type) *)to = (decltype(type))word; });
        }
        __syncthreads();
    }
};

/* As split_move_k, in tiles of SplitWordsShared::items. Word is uint32_t for items of 1 and 2
 * bytes, too. */
template <class Word>
__global__ void __launch_bounds__(split_threads, split_words_resident)
    split_words_k(const gpi_multisplit_args a, const uint64_t *counts)
{
    extern __shared__ __align__(16) char memory[];
    using Work = SplitWords<Word>;
    constexpr uint32_t tile_items = Work::Shared::items;
    Work work = {a, *(typename Work::Shared *)memory, {}, {}};
    const SplitRange range = split_range(a, tile_items, blockIdx.x, gridDim.x);
    uint64_t next = 0;
    if (threadIdx.x < a.num_buckets)
        next = *split_count_of(counts, threadIdx.x);
    if (blockIdx.x == 0)
        split_write_offsets(a, counts);
    const auto count_at = [&](uint64_t first) {
        return first >= range.end               ? 0u
               : range.end - first < tile_items ? (uint32_t)(range.end - first)
                                                : tile_items;
    };

    bool ascends = true;
    uint32_t before = 0; /* items of the tile before */
    work.load(range.begin, count_at(range.begin));
    for (uint64_t first = range.begin; first < range.end; first += tile_items) {
        const uint32_t count = count_at(first);
        work.find_ranks(count);
        work.swap_ranks(first / tile_items, count);
        if (__syncthreads_or(!ascends))
            Work::repair(work.s, work.bytes(), before);
        work.find_places(&next);
        __syncthreads();
        work.exchange(count);
        work.load(first + tile_items, count_at(first + tile_items));
        __syncthreads();
        ascends = work.store(count);
        before = count;
    }
    if (__syncthreads_or(!ascends))
        Work::repair(work.s, work.bytes(), before);
}

} // namespace GPI_SPACE
