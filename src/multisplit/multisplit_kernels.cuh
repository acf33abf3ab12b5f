/* SPDX-License-Identifier: MIT */
/* Ranks and moves of a multisplit by numbers of 8 bits. */
#pragma once

#include "device/block.cuh"
#include "device/gpu.cuh"
#include "device/item_count.cuh"
#include "device/item_stage.cuh"
#include "device/tile_io.cuh"
#include "device/ops.cuh"
#include "device/warp.cuh"

#include "multisplit/multisplit_count.cuh"

namespace GPI_SPACE
{

constexpr int split_threads = 256, split_warps = split_threads / 32;
constexpr int split_resident = 4; /* blocks on a multiprocessor */
static_assert(split_buckets <= split_threads, "a thread per bucket");
constexpr int split_rows =
    GPI_MULTISPLIT_TILE_MAX / split_threads; /* of 32 items of a tile, per warp */

/* A block's way through the shares that it claims, tile by tile. `following`, in shared memory, is
 * the share after the one that it is at. MAY_MEET: the launch may be at once. */
template <bool MAY_MEET> struct SplitWay {
    const SplitParams &p;
    uint32_t &following;
    const uint64_t n;
    uint64_t first, end; /* of the tile, and of its share */
    uint64_t place = 0;  /* where the next item of bucket b goes, of thread b */
    bool is_new = true;  /* the share */
    bool meets;          /* the others are yet to be met, even if there are no items */
    uint32_t ahead = 0;  /* the share after the following, of thread 0 */

    GPI_DEVICE SplitWay(const SplitParams &p, uint32_t &following)
        : p(p), following(following), n(item_count(p.a)), meets(is_at_once())
    {
        enter(blockIdx.x);
        if (threadIdx.x == 0)
            ahead = claim();
    }

    GPI_DEVICE bool is_at_once() const
    {
        return MAY_MEET && p.shares.at_once;
    }

    GPI_DEVICE bool is_there() const
    {
        return first < n || (MAY_MEET && meets);
    }

    GPI_DEVICE uint32_t count(uint32_t tile_items) const
    {
        const uint64_t left = first < end ? end - first : 0;
        return left < tile_items ? (uint32_t)left : tile_items;
    }

    /* Before a barrier, and after all are past step(). The claim is not waited for. */
    GPI_DEVICE void announce()
    {
        if (threadIdx.x == 0 && is_new) {
            following = ahead;
            ahead = claim();
        }
        is_new = false;
    }

    /* To the next tile, after that barrier. */
    GPI_DEVICE void step(uint32_t tile_items)
    {
        first += tile_items;
        meets = false;
        if (first >= end)
            enter(following);
    }

  private:
    GPI_DEVICE uint32_t claim() const
    {
        return is_at_once() ? gridDim.x : gridDim.x + atomicAdd(p.shares.claimed, 1u);
    }

    GPI_DEVICE void enter(uint32_t share)
    {
        first = end = share * p.shares.items;
        is_new = true;
        if (first >= n)
            return;
        end = n - first < p.shares.items ? n : first + p.shares.items;
        if (threadIdx.x < p.a.num_buckets && !is_at_once())
            place = p.shares.counts[(uint64_t)threadIdx.x * p.shares.number + share];
    }
};

struct SplitShared {
    alignas(16) uint32_t before[split_warps][split_buckets]; /* of a warp's items; then where they
                                                              * begin */
    uint64_t shift[split_buckets]; /* from a place in the tile to one in out */
    uint32_t sums[split_warps], following;
};

/* The number of items that are not there, so that they are the last ones of the last bucket: those
 * that a tile lacks come behind all that it has. */
constexpr uint32_t split_absent = 255;

/* Lanes with bit i of x. In assembly, as the compiler makes three instructions of the test. */
template <int I> GPI_DEVICE uint32_t lanes_with_bit(uint32_t x)
{
    uint32_t votes;
    asm volatile("{ .reg .pred set; .reg .b32 bit; and.b32 bit, %1, %2; setp.ne.u32 set, bit, 0;"
                 " vote.sync.ballot.b32 %0, set, 0xffffffff; }"
                 : "=r"(votes)
                 : "r"(x), "n"(1 << I));
    return votes;
}

/*
 * Lane b gets which lanes have bucket b in their lowest five bits, and so, from the lane of its own
 * bucket, each lane the lanes that share it. turn[i]: bit i of the lane turned over, in all bits.
 */
struct SplitLanes {
    uint32_t turn[5];

    GPI_DEVICE SplitLanes()
    {
#pragma unroll
        for (int i = 0; i < 5; i++)
            turn[i] = lane_id() >> i & 1 ? 0 : all_lanes;
    }

    GPI_DEVICE uint32_t of_lane(uint32_t bucket) const
    {
        return (lanes_with_bit<0>(bucket) ^ turn[0]) & (lanes_with_bit<1>(bucket) ^ turn[1]) &
               (lanes_with_bit<2>(bucket) ^ turn[2]) & (lanes_with_bit<3>(bucket) ^ turn[3]) &
               (lanes_with_bit<4>(bucket) ^ turn[4]);
    }
};

GPI_DEVICE uint32_t lanes_below()
{
    return (1u << lane_id()) - 1;
}

constexpr int rank_batch = 4; /* rows; ROWS and rows are multiples of it */

/* Ranks of a warp's rows of items among those of its part of the tile, where buckets are at most 32
 * and lane b counts bucket b. item[k]: its number; then bucket | rank << 8. */
template <int ROWS>
GPI_DEVICE void rank_few(uint32_t num_buckets, uint32_t rows, uint32_t *before,
                         uint32_t (&item)[ROWS])
{
    const SplitLanes lanes;
    const uint32_t below = lanes_below();
    uint32_t counted = 0;
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        if (k % rank_batch == 0 && k >= rows)
            break;
        const uint32_t bucket = split_bucket(item[k], num_buckets);
        const uint32_t of_lane = lanes.of_lane(bucket);
        const uint32_t peers = __shfl_sync(all_lanes, of_lane, bucket);
        const uint32_t had = __shfl_sync(all_lanes, counted, bucket);
        item[k] = bucket | (had + __popc(peers & below)) << 8;
        counted += __popc(of_lane);
    }
    before[lane_id()] = counted;
}

/* The same for more buckets, whose counts are in shared memory. The highest lane of a bucket adds
 * for all of them, so that no two lanes of a row add to one count. */
template <int ROWS>
GPI_DEVICE void rank_many(uint32_t num_buckets, uint32_t rows, uint32_t *before,
                          uint32_t (&item)[ROWS])
{
    constexpr int batch = rank_batch;
    const SplitLanes lanes;
    const uint32_t below = lanes_below();
    for (int b = lane_id(); b < split_buckets / 4; b += 32)
        ((uint4 *)before)[b] = make_uint4(0, 0, 0, 0);
    __syncwarp();
#pragma unroll
    for (int k = 0; k < ROWS; k += batch) {
        uint32_t last[batch], had[batch];
        if (k >= rows)
            break;
#pragma unroll
        for (int j = 0; j < batch; j++) {
            const uint32_t bucket = split_bucket(item[k + j], num_buckets);
            uint32_t peers = __shfl_sync(all_lanes, lanes.of_lane(bucket), bucket);
            peers &= lanes_with_bit<5>(bucket) ^ (bucket & 32 ? 0 : all_lanes);
            peers &= lanes_with_bit<6>(bucket) ^ (bucket & 64 ? 0 : all_lanes);
            peers &= lanes_with_bit<7>(bucket) ^ (bucket & 128 ? 0 : all_lanes);
            const uint32_t rank = __popc(peers & below);
            last[j] = 31 - __clz(peers);
            had[j] = 0;
            if (last[j] == lane_id())
                had[j] = atomicAdd(&before[bucket], rank + 1);
            __syncwarp();
            item[k + j] = bucket | rank << 8;
        }
#pragma unroll
        for (int j = 0; j < batch; j++)
            item[k + j] += __shfl_sync(all_lanes, had[j], last[j]) << 8;
    }
}

/* Either. rows: of the warp's that may have items. */
template <int ROWS>
GPI_DEVICE void split_rank(uint32_t num_buckets, uint32_t rows, uint32_t *before,
                           uint32_t (&item)[ROWS])
{
    if (num_buckets <= 32)
        rank_few(num_buckets, rows, before, item);
    else
        rank_many(num_buckets, rows, before, item);
}

/* What a tile has of thread b's bucket, in the part of each of WARPS and in all. */
template <int WARPS> struct SplitCounts {
    uint32_t own[WARPS], all;

    GPI_DEVICE SplitCounts(const uint32_t (&before)[WARPS][split_buckets], uint32_t num_buckets)
        : all(0)
    {
        const uint32_t b = threadIdx.x;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            all += own[w] = b < num_buckets ? before[w][b] : 0;
    }

    /* Counts become the places where they begin. */
    GPI_DEVICE void put_begins(uint32_t (&before)[WARPS][split_buckets], uint32_t begin) const
    {
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            before[w][threadIdx.x] = begin;
            begin += own[w];
        }
    }
};

/* Whether the calling warp has buckets. */
GPI_DEVICE bool split_has_buckets(uint32_t num_buckets)
{
    return threadIdx.x / 32 * 32 < num_buckets;
}

/* Where bucket b's next items go, if these are `all`, absent ones among them, and begin there in a
 * tile of `count` items. */
GPI_DEVICE uint64_t split_next(uint64_t place, uint32_t num_buckets, uint32_t all, uint32_t begin,
                               uint32_t count)
{
    return place + (threadIdx.x == num_buckets - 1 ? count - begin : all);
}

/* Where each warp's items of a bucket begin in the tile, and how far from there they go. *place: of
 * thread b, where the next item of bucket b goes. */
GPI_DEVICE void split_places(SplitShared &s, uint32_t num_buckets, uint32_t count, uint64_t *place)
{
    const uint32_t warp = threadIdx.x / 32;
    const bool some = split_has_buckets(num_buckets);
    const SplitCounts<split_warps> counts(s.before, some ? num_buckets : 0);
    uint32_t begin = 0;
    if (some) {
        begin = warp_exclusive(counts.all);
        share_warp_sum(s.sums, warp, begin + counts.all, 31);
    }
    __syncthreads();
    if (!some)
        return;
    fold_warps_before<Sum<uint32_t>>(begin, s.sums, warp);
    s.shift[threadIdx.x] = *place - begin;
    *place = split_next(*place, num_buckets, counts.all, begin, count);
    counts.put_begins(s.before, begin);
}

/* The tile's items along the list, each an item's number | bucket << 16, to their places. */
template <class Word>
GPI_DEVICE void split_store(const SplitShared &s, const Word *stage, const uint32_t *list,
                            uint32_t items, const ItemWords &words, Word *out)
{
#pragma unroll 2
    for (uint32_t w = threadIdx.x; w < items * words.count; w += split_threads) {
        const uint32_t j = words.item_of(w), entry = list[j], rest = w - j * words.count;
        out[(s.shift[entry >> 16] + j) * words.count + rest] =
            stage[(entry & 0xffff) * words.count + rest];
    }
}

/* By one block. */
GPI_DEVICE void split_write_offsets(const SplitParams &p)
{
    if (threadIdx.x < p.a.num_buckets)
        p.a.offsets[threadIdx.x] = p.shares.counts[(uint64_t)threadIdx.x * p.shares.number];
    if (threadIdx.x == 0)
        p.a.offsets[p.a.num_buckets] = item_count(p.a);
}

/*
 * Grid: no more blocks than shares; split_threads threads. Counts: items before them. Dynamic
 * shared memory: a tile's items, and from list_at on a list of them; list_at 0: the list alone.
 * After: items and offsets.
 */
template <class Word>
__global__ void __launch_bounds__(split_threads, split_resident)
    split_move_k(const SplitParams p, const uint32_t tile_items, const uint32_t list_at)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ SplitShared s;
    const gpi_multisplit_args &a = p.a;
    const ItemWords words(a.item_bytes / sizeof(Word));
    uint32_t *list = (uint32_t *)(memory + list_at);
    /* Of a warp, whole batches: only the last items of a tile may be absent. */
    const uint32_t rows =
        (tile_items + rank_batch * split_threads - 1) / (rank_batch * split_threads) * rank_batch;
    const uint32_t warp = threadIdx.x / 32, start = warp * rows * 32 + lane_id();
    SplitWay<false> way(p, s.following);
    if (blockIdx.x == 0)
        split_write_offsets(p);

    while (way.is_there()) {
        const uint64_t first = way.first, next = first / tile_items + 1;
        const uint32_t count = way.count(tile_items);
        uint32_t item[split_rows];

        /* 1. Items to the stage; ranks in each warp's part. What comes next is asked for. */
        prefetch_tile((const char *)a.in, way.end * a.item_bytes, next, tile_items * a.item_bytes,
                      threadIdx.x, split_threads);
        prefetch_tile((const char *)a.numbers, way.end, next, tile_items, threadIdx.x,
                      split_threads);
        const uint8_t *numbers = (const uint8_t *)a.numbers + first + start;
#pragma unroll
        for (int k = 0; k < split_rows; k++)
            item[k] = k < rows && start + 32 * k < count ? numbers[32 * k] : split_absent;
        const char *in = (const char *)a.in + first * a.item_bytes;
        const Word *stage =
            (const Word *)(list_at ? stage_items<split_threads>(in, count * a.item_bytes, memory)
                                   : in);
        split_rank(a.num_buckets, rows, s.before[warp], item);
        way.announce();
        __syncthreads();

        /* 2. Where every warp's items of a bucket begin. */
        split_places(s, a.num_buckets, count, &way.place);
        __syncthreads();

        /* 3. The list. */
#pragma unroll
        for (int k = 0; k < split_rows; k++) {
            const uint32_t i = start + 32 * k, bucket = item[k] & 255;
            if (k < rows && i < count)
                list[s.before[warp][bucket] + (item[k] >> 8)] = i | bucket << 16;
        }
        __syncthreads();

        /* 4. Store. */
        split_store(s, stage, list, count, words, (Word *)a.out);
        way.step(tile_items);
        __syncthreads();
    }
}

} // namespace GPI_SPACE
