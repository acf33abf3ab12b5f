/* SPDX-License-Identifier: MIT */
/*
 * A multisplit's moves of items that are one word: from registers into the order of buckets in
 * shared memory, and from there to their places. Meanwhile the next tile is on its way to
 * registers again.
 *
 * An item in that order does not carry its bucket: a bit says where the items of a bucket begin,
 * and so the number of bits up to an item says which of the tile's buckets is its own. An access of
 * shared memory to places of two words would take twice as long as all ranks.
 */
#pragma once

#include "device/word_type.cuh"
#include "multisplit/multisplit_kernels.cuh"
#include "multisplit/multisplit_meet.cuh"

namespace GPI_SPACE
{

/* Threads of a block: many where there are enough tiles for that, as a tile's pieces of a bucket
 * are longer then; and blocks on a multiprocessor. */
constexpr int split_words_many =
    split_threads * GPI_MULTISPLIT_LARGE_TILE_BYTES / GPI_MULTISPLIT_WORD_TILE_BYTES;
template <int THREADS> constexpr int split_words_resident = THREADS > split_threads ? 2 : 3;

/* Of 32 items of a tile, per warp. */
template <class Word>
constexpr int word_rows = sizeof(Word) <= 4
                              ? split_rows
                              : GPI_MULTISPLIT_WORD_TILE_BYTES / (int)sizeof(Word) / split_threads;

template <class Word, int THREADS> struct SplitWordsShared {
    static constexpr int items = word_rows<Word> * THREADS, rows = items / 32, warps = THREADS / 32;
    alignas(16) uint32_t before[warps][split_buckets]; /* as SplitShared */
    char *place[split_buckets]; /* where place 0 of the tile would go, by bucket that has items */
    uint32_t sums[warps], following;
    uint32_t bits[rows];         /* by row of 32 items in order: where buckets begin */
    alignas(16) uint2 row[rows]; /* the same, and how many begin before it, less one */
    alignas(16) Word item[items];
};

/* One block's way through its range. */
template <class Word, int THREADS> struct SplitWords {
    using Shared = SplitWordsShared<Word, THREADS>;
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
            rank[k] = 32 * k < left ? numbers[32 * k] : split_absent;
        with_word_type<Word>(a.item_bytes, [&](auto type) {
            const auto *in = (const decltype(type) *)a.in + first + first_item();
#pragma unroll
            for (int k = 0; k < rows; k++)
                if (32 * k < left)
                    item[k] = in[32 * k];
        });
    }

    GPI_DEVICE void find_ranks()
    {
        split_rank(a.num_buckets, rows, s.before[threadIdx.x / 32], rank);
    }

    /* *next: of thread b, where the next item of bucket b goes. */
    GPI_DEVICE void find_places(uint32_t count, uint64_t *next)
    {
        const uint32_t warp = threadIdx.x / 32;
        const bool some = split_has_buckets(a.num_buckets);
        const SplitCounts<Shared::warps> counts(s.before, some ? a.num_buckets : 0);
        /* Items, and above them buckets that have any. */
        const uint32_t own = counts.all | (uint32_t)(counts.all > 0) << 16;
        uint32_t sum = 0;
        if (some) {
            sum = warp_exclusive(own);
            share_warp_sum(s.sums, warp, sum + own, 31);
        }
        if (threadIdx.x < Shared::rows)
            s.bits[threadIdx.x] = 0;
        __syncthreads();
        if (!some)
            return;
        fold_warps_before<Sum<uint32_t>>(sum, s.sums, warp);
        const uint32_t begin = sum & 0xffff;
        if (counts.all) {
            s.place[sum >> 16] = (char *)a.out + (int64_t)(*next - begin) * (int64_t)bytes();
            atomicOr(&s.bits[begin / 32], 1u << begin % 32);
        }
        *next = split_next(*next, a.num_buckets, counts.all, begin, count);
        counts.put_begins(s.before, begin);
    }

    /* All items, absent ones too. */
    GPI_DEVICE void exchange()
    {
        const uint32_t *before = s.before[threadIdx.x / 32];
#pragma unroll
        for (int k = 0; k < rows; k += batch) {
            uint32_t at[batch];
#pragma unroll
            for (int j = 0; j < batch; j++)
                at[j] = before[rank[k + j] & 255] + (rank[k + j] >> 8);
#pragma unroll
            for (int j = 0; j < batch; j++)
                s.item[at[j]] = item[k + j];
        }
    }

    /* For the rows of the warp's part of the order. */
    GPI_DEVICE void count_begins()
    {
        const uint32_t first = threadIdx.x / 32 * rows, lane = lane_id();
        uint32_t before = 0;
#pragma unroll
        for (uint32_t r = 0; r < Shared::rows; r += 32)
            before += r + lane < first ? __popc(s.bits[r + lane]) : 0;
        before = warp_sum(before) - 1;
        const uint32_t bits = lane < rows ? s.bits[first + lane] : 0;
        const uint32_t begins = before + warp_exclusive(__popc(bits));
        if (lane < rows)
            s.row[first + lane] = make_uint2(bits, begins);
        __syncwarp();
    }

    /* Of the warp's part of the order. */
    GPI_DEVICE void store(uint32_t count)
    {
        const uint32_t first = threadIdx.x / 32 * rows, up_to = lanes_below() << 1 | 1;
        const int left = left_of(count);
        count_begins();
#pragma unroll
        for (int k = 0; k < rows; k += batch) {
            Word word[batch];
            char *to[batch];
#pragma unroll
            for (int j = 0; j < batch; j++) {
                const uint2 row = s.row[first + k + j];
                word[j] = s.item[first_item() + 32 * (k + j)];
                to[j] = s.place[row.y + __popc(row.x & up_to)] +
                        (first_item() + 32 * (k + j)) * bytes();
                if constexpr (sizeof(Word) < 16) /* or they leave in four stores */
                    __builtin_assume(__isGlobal(to[j]));
            }
            with_word_type<Word>(a.item_bytes, [&](auto type) {
#pragma unroll
                for (int j = 0; j < batch; j++)
                    if (32 * (k + j) < left)
                        *(decltype(type) *)to[j] = (decltype(type))word[j];
            });
        }
    }
};

/* Of a launch at once: where thread b's items of bucket b go, of a tile of `count` items in
 * `places`, of which those that are absent count as the last bucket's. */
template <int WARPS>
GPI_DEVICE uint64_t split_met_place(const SplitParams &p, uint32_t count, uint32_t places,
                                    const uint32_t (&before)[WARPS][split_buckets],
                                    uint2 (&scratch)[split_buckets], uint32_t (&sums)[WARPS])
{
    uint32_t own = SplitCounts<WARPS>(before, p.a.num_buckets).all;
    if (threadIdx.x == p.a.num_buckets - 1)
        own -= places - count;
    return split_meet<WARPS>(p, own, scratch, sums);
}

/* As split_move_k, in tiles of SplitWordsShared::items. Word is uint32_t for items of 1 and 2
 * bytes, too. */
template <class Word, int THREADS>
__global__ void __launch_bounds__(THREADS, split_words_resident<THREADS>)
    split_words_k(const SplitParams p)
{
    extern __shared__ __align__(16) char memory[];
    using Work = SplitWords<Word, THREADS>;
    constexpr uint32_t tile_items = Work::Shared::items;
    Work work = {p.a, *(typename Work::Shared *)memory, {}, {}};
    constexpr bool may_meet = THREADS == split_threads;
    SplitWay<may_meet> way(p, work.s.following);
    if (blockIdx.x == 0 && !way.is_at_once())
        split_write_offsets(p);

    work.load(way.first, way.count(tile_items));
    while (way.is_there()) {
        const uint32_t count = way.count(tile_items);
        work.find_ranks();
        way.announce();
        __syncthreads();
        if constexpr (may_meet)
            if (way.is_at_once())
                way.place = split_met_place(p, count, tile_items, work.s.before,
                                            (uint2(&)[split_buckets])work.s.place, work.s.sums);
        work.find_places(count, &way.place);
        __syncthreads();
        work.exchange();
        way.step(tile_items);
        work.load(way.first, way.is_there() ? way.count(tile_items) : 0);
        __syncthreads();
        work.store(count);
    }
}

} // namespace GPI_SPACE
