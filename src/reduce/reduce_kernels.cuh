/* SPDX-License-Identifier: MIT */
/* The kernel that folds an array, whatever is folded. */
#pragma once

#include "device/block.cuh"
#include "device/item_count.cuh"
#include "device/lookahead.cuh"
#include "device/ops.cuh"
#include "device/report.cuh"
#include "device/tile_io.cuh"
#include "tuning/reduce_tuning.cuh"

namespace GPI_SPACE
{

struct ReduceParams {
    const char *in;
    uint64_t n;
    const uint64_t *device_n;
    gpi_state state;
    gpi_reporter reporter;
};

/*
 * A fold is an object that travels as a kernel argument:
 *
 *   Items                    how the input is stored
 *   X                        the fold of a vector of items
 *   Lane                     the fold of a lane's vectors, in ascending order
 *   A                        the folds of lanes, warps and tiles
 *   ordered                  the operator sees the items in their order: X, Lane and A are one type
 *   exact                    any order and grouping of the items gives the same bits
 *   warp_reduces             false: as the operators of ops.cuh
 *   vector(raw)              the fold of the items of a vector
 *   none(), item(p), join(l, r)  the same one by one, from a neutral X
 *   lane(), add(lane, x, row)    a lane's fold, and vector number row of it
 *   leave(lane, v)           of a lane whose vectors are v, v + 32, .. of the array
 *   identity(), apply(l, r)  on A; identity() is neutral to the last bit
 *   start()                  the value before the first item
 *   finish(p, n, all)        stores the result; by one thread. n may be 0
 */

/* Whether the L1 keeps what is read; by_size: unless passes_l1(). A kernel of float sums has one
 * kind of loads: with both it is slower. */
enum class L1Use { kept, passed, by_size };

__host__ __device__ __forceinline__ bool passes_l1(uint64_t bytes)
{
    return bytes < reduce_tuning.pass_below_bytes;
}

inline bool sums_pass_l1(uint64_t bytes)
{
    return bytes >= reduce_tuning.sums_pass_from_bytes && passes_l1(bytes);
}

/* One input dtype; PIECE: bytes of a scalar. */
template <class T, int PIECE = (int)sizeof(T)> struct ReduceItems {
    using In = T;
    static constexpr int piece = PIECE;
    static constexpr int bytes = sizeof(T) < 16 ? 16 : (int)sizeof(T);
    static constexpr int per_vector = bytes / (int)sizeof(T);
    using RawIn = Raw<bytes>;
};

/* The vectors of an array. A misaligned one is read with the bytes around it, so its first and last
 * vector are not safe to read. */
template <class Items> struct ReduceArray {
    const char *in;
    uint64_t n, safe_begin, safe_end;

    GPI_DEVICE ReduceArray(const char *in_, uint64_t n_) : in(in_), n(n_)
    {
        const uint64_t whole = n / Items::per_vector;
        safe_begin = aligned() ? 0 : 1;
        safe_end = aligned() || whole == 0 ? whole : whole - 1;
    }

    GPI_DEVICE bool aligned() const
    {
        return misalignment(in) == 0;
    }

    /* Vectors first + lane, + 32, ..; those that are not safe are left alone. */
    template <int K, L1Use L1>
    GPI_DEVICE void load(typename Items::RawIn (&raw)[K], bool (&safe)[K], uint64_t first) const
    {
        const char *p = in + first * Items::bytes;
        const int begin = first < safe_begin ? 1 : 0;
        const int end = safe_end < first            ? -1
                        : safe_end - first > K * 32 ? K * 32 + 1
                                                    : (int)(safe_end - first);
#pragma unroll
        for (int k = 0; k < K; k++)
            safe[k] = lane_id() + 32 * k >= begin && lane_id() + 32 * k < end;
        const bool passes =
            L1 == L1Use::by_size ? passes_l1(n * sizeof(typename Items::In)) : L1 == L1Use::passed;
        if (aligned() && passes) {
#pragma unroll
            for (int k = 0; k < K; k++)
                if (safe[k])
                    raw[k] =
                        raw_load_passing<Items::bytes>(p + (lane_id() + k * 32) * Items::bytes);
        } else if (aligned()) {
#pragma unroll
            for (int k = 0; k < K; k++)
                if (safe[k])
                    raw[k] =
                        raw_load_aligned<Items::bytes>(p + (lane_id() + k * 32) * Items::bytes);
        } else if constexpr (Items::bytes == 16) {
            load_shifted<K>(raw, p, begin, end);
        } else {
#pragma unroll
            for (int k = 0; k < K; k++)
                if (safe[k])
                    raw[k] = raw_load_shifted<Items::bytes, Items::piece>(p + (lane_id() + k * 32) *
                                                                                  Items::bytes);
        }
    }

    /* A vector's end is the begin of the next aligned 16 bytes, which another lane has read. Safe
     * vectors are [begin, end), so those 16 bytes up to the number end can be read. */
    template <int K>
    static GPI_DEVICE void load_shifted(typename Items::RawIn (&raw)[K], const char *p, int begin,
                                        int end)
    {
        const char *base = p - misalignment(p);
        Raw<16> part[K + 1] = {};
#pragma unroll
        for (int k = 0; k <= K; k++) {
            const int i = lane_id() + 32 * k;
            if (i >= begin && i <= end && (k < K || lane_id() == 0))
                part[k] = raw_load_aligned<16>(base + i * 16);
        }
#pragma unroll
        for (int k = 0; k < K; k++) {
            uint32_t c[8];
#pragma unroll
            for (int w = 0; w < 4; w++) {
                c[w] = part[k].w[w];
                c[4 + w] = __shfl_sync(all_lanes, lane_id() == 0 ? part[k + 1].w[w] : part[k].w[w],
                                       (lane_id() + 1) & 31);
            }
            words_at<4>(c, misalignment(p), raw[k].w);
        }
    }

    /* A vector at an end of the array, item by item. */
    template <class Fold> GPI_DEVICE typename Fold::X slowly(const Fold &fold, uint64_t v) const
    {
        typename Fold::X x = fold.none();
        const uint64_t begin = v * Items::per_vector, end = begin + Items::per_vector;
#pragma unroll 1
        for (uint64_t i = begin; i < end && i < n; i++)
            x = fold.join(x, fold.item(in + i * sizeof(typename Items::In)));
        return x;
    }
};

/* What a lane folds of one warp's part of a tile, rounds x K x 32 vectors from first on. */
template <class Fold, int K, L1Use L1>
GPI_DEVICE typename Fold::A reduce_part(const Fold &fold,
                                        const ReduceArray<typename Fold::Items> &array,
                                        uint64_t first, int rounds)
{
    typename Fold::Lane lane = fold.lane();
    for (int r = 0; r < rounds; r++) {
        typename Fold::Items::RawIn raw[K];
        bool safe[K];
        const uint64_t row = first + r * K * 32;
        array.template load<K, L1>(raw, safe, row);
        typename Fold::X x[K];
#pragma unroll
        for (int k = 0; k < K; k++)
            x[k] = safe[k] ? fold.vector(raw[k]) : array.slowly(fold, row + lane_id() + 32 * k);
        if constexpr (Fold::ordered) {
            fold.add(lane, WarpRows<Fold, K>::reduce(x, fold), r);
        } else {
#pragma unroll
            for (int k = 0; k < K; k++)
                fold.add(lane, x[k], r * K + k);
        }
    }
    return fold.leave(lane, first + lane_id());
}

/* The fold of a block's lanes; in lane 0 of warp 0. After reduce_part() a lane of an ordered fold
 * has all of its warp. */
template <class Fold, int W>
GPI_DEVICE typename Fold::A reduce_block(const Fold &fold, typename Fold::A lane,
                                         typename Fold::A (&warp_sums)[W])
{
    if constexpr (!Fold::ordered)
        lane = warp_reduce(lane, fold);
    const int warp = warp_id();
    share_warp_sum(warp_sums, warp, lane);
    __syncthreads();
    if (warp != 0)
        return lane;
    return reduce_warps(warp_sums, fold);
}

/* Tiles of 1 or 2 rounds that n items take. */
template <class Items, int ROUND_VECTORS> GPI_DEVICE uint32_t tiles_of(uint64_t n, int rounds)
{
    const uint64_t vectors = (n + Items::per_vector - 1) / Items::per_vector;
    const uint64_t all_rounds = (vectors + ROUND_VECTORS - 1) / ROUND_VECTORS;
    return (uint32_t)(rounds == 1 ? all_rounds : (all_rounds + 1) / 2); /* no division */
}

/*
 * Which tiles a block takes: of exact folds, and where there is a block for each, the first is that
 * of the block's number, so that no load waits for a claim; the others are claimed. A claim also
 * tells the epoch, so each block makes one. Folds whose blocks wait for each other, before the last
 * one has started, claim every tile (device/epoch.cuh).
 */
struct ReduceTiles {
    uint32_t tiles, claimed_from, claims;

    GPI_DEVICE ReduceTiles(uint32_t tiles_, bool exact) : tiles(tiles_)
    {
        const bool own_first = exact || launch_claims_once(tiles);
        claimed_from = own_first ? gridDim.x : 0;
        claims = launch_claims_once(tiles) ? gridDim.x : own_first ? tiles : tiles + gridDim.x;
    }

    GPI_DEVICE bool own_first() const
    {
        return claimed_from != 0;
    }

    GPI_DEVICE Launch claimed(const gpi_state &s, uint64_t number) const
    {
        Launch l = launch_numbered(s, claims, number);
        l.tile += claimed_from;
        return l;
    }

    /* Of a block, by the tile number that was none: blocks in the order of their last claims. */
    GPI_DEVICE uint32_t end_number(uint32_t tile) const
    {
        return tile - claimed_from - (claims - gridDim.x);
    }
};

/*
 * The fold of a sum of each block, in any order, by the block that has claimed last: all others run
 * already. shared: W accumulators.
 */
template <class Fold, int W>
GPI_DEVICE void reduce_block_sums(const ReduceParams &p, const Fold &fold, uint64_t n,
                                  const TileState<typename Fold::A> &state,
                                  typename Fold::A (&shared)[W])
{
    typename Fold::A sum = fold.identity(), of_block;
    for (uint32_t b = threadIdx.x; b < gridDim.x; b += W * 32) {
        while (!state.read(b, of_block))
            ;
        sum = fold.apply(sum, of_block);
    }
    __syncwarp();
    sum = reduce_block<Fold, W>(fold, sum, shared);
    if (threadIdx.x != 0)
        return;
    fold.finish(p, n, fold.apply(fold.start(), sum));
    state.retire_one(p.state, gridDim.x);
}

/* How far a block has come when all tiles are claimed. */
struct ReduceEnd {
    uint32_t number;  /* of this block, by its last claim */
    uint32_t sums;    /* published ones */
    bool all_claimed; /* the publishers run already: blocks other than the last may wait too */
};

/*
 * The fold of the published sums. Warps fold groups of them, and publish those in turn behind the
 * sums; the last block folds the groups. A block only waits for blocks that already run.
 */
template <class Fold, int W>
GPI_DEVICE void reduce_sums(const ReduceParams &p, const Fold &fold, uint64_t n,
                            const TileState<typename Fold::A> &state, const ReduceEnd &end)
{
    using A = typename Fold::A;
    using Groups = WideLookahead<Fold, A, sizeof(A) <= 8 ? 8 : 2>;
    const bool last = end.number == gridDim.x - 1;
    const uint32_t warp = warp_id(), groups = (end.sums + Groups::tiles - 1) / Groups::tiles;
    const bool shared = end.all_claimed && groups > 1;
    const uint32_t step = shared ? gridDim.x * W : W;
    if (last || shared)
        for (uint32_t g = shared ? end.number * W + warp : warp; g < groups; g += step) {
            const Groups group(fold, fold.identity(), g * Groups::tiles);
            const A sum = warp_reduce(group.poll(state, end.sums), fold);
            if (lane_id() == 0 && groups > 1)
                state.publish(end.sums + g, sum);
            else if (lane_id() == 0)
                fold.finish(p, n, fold.apply(fold.start(), sum));
        }
    if (!last || warp != 0)
        return;
    if (groups != 1) {
        Groups all(fold, fold.start(), end.sums);
        const A sum = all.exclusive(state, end.sums + groups);
        if (lane_id() == 0)
            fold.finish(p, n, sum);
    }
    if (lane_id() == 0)
        state.retire_one(p.state, end.sums + groups);
}

/*
 * Grid: a block of W warps per tile, or fewer. Tile: rounds x W x K x 32 vectors, rounds by n.
 * Shared: W accumulators, twice. Exact folds publish a sum per block, others one per tile.
 * After: what the fold's finish() stores.
 */
template <class Fold, int W, int K, int BLOCKS, L1Use L1>
__global__ void __launch_bounds__(W * 32, BLOCKS)
    reduce_k(const __grid_constant__ ReduceParams p, const __grid_constant__ Fold fold)
{
    using Items = typename Fold::Items;
    using A = typename Fold::A;
    __shared__ A warp_sums[2][W];
    __shared__ Launch launch;
    __shared__ uint32_t next[2];
    const int warp = warp_id();
    const bool leader = threadIdx.x == 0, alone = gridDim.x == 1;
    if (p.device_n) { /* beside a trip to the number of items */
        const uint64_t most = p.n * sizeof(typename Items::In);
        prefetch_tile(p.in, most, blockIdx.x, GPI_REDUCE_ROUNDS(most) * W * K * 512, threadIdx.x,
                      W * 32);
    }
    const uint64_t n = item_count(p);
    const ReduceArray<Items> array(p.in, n);
    const int rounds = GPI_REDUCE_ROUNDS(n * sizeof(typename Items::In));
    const uint64_t part = (uint64_t)rounds * K * 32;
    const uint32_t tiles = tiles_of<Items, W * K * 32>(n, rounds);
    const ReduceTiles share(tiles, Fold::exact);

    uint32_t tile = blockIdx.x;
    if (!alone && (!share.own_first() || tile >= tiles)) {
        if (leader) {
            launch = share.claimed(p.state, counter_claim(p.state));
            next[1] = launch.tile;
        }
        __syncthreads();
        tile = next[1];
    }
    A sum = fold.identity();
    for (int turn = 0; tile < tiles; turn++) {
        /* 1. Fold each warp's part. Meanwhile the next tile's number comes. */
        const uint64_t number = leader && !alone ? counter_claim(p.state) : 0;
        const A lane =
            reduce_part<Fold, K, L1>(fold, array, (tile * (uint64_t)W + warp) * part, rounds);
        if (leader) {
            launch = alone ? Launch{0, tiles} : share.claimed(p.state, number);
            next[turn & 1] = launch.tile;
        }

        /* 2. Keep the tile's fold, or publish it. */
        if constexpr (Fold::exact) {
            sum = fold.apply(sum, lane);
            __syncthreads();
        } else {
            sum = reduce_block<Fold, W>(fold, lane, warp_sums[turn & 1]);
            if (leader && !alone)
                TileState<A>(p.state, launch.epoch).publish(tile, sum);
        }
        tile = next[turn & 1];
    }

    /* 3. Fold what was published. */
    if constexpr (Fold::exact)
        sum = reduce_block<Fold, W>(fold, sum, warp_sums[0]);
    if (alone) {
        if (leader)
            fold.finish(p, n, fold.apply(fold.start(), sum));
        return;
    }
    const TileState<A> state(p.state, launch.epoch);
    const uint32_t number = share.end_number(tile);
    if constexpr (Fold::exact) {
        if (leader)
            state.publish(blockIdx.x, sum);
        if (number == gridDim.x - 1)
            reduce_block_sums<Fold, W>(p, fold, n, state, warp_sums[1]);
    } else {
        reduce_sums<Fold, W>(p, fold, n, state, {number, tiles, !share.own_first()});
    }
}

} // namespace GPI_SPACE
