/* SPDX-License-Identifier: MIT */
/*
 * The prefix of a tile from the published sums of all tiles before it.
 *
 * There are no inclusive prefixes to wait for, so no chain: a tile's prefix is ready one read after
 * the sums of its predecessors are. Sums are taken in fixed groups of 32 tiles: each group as one
 * balanced tree, groups folded from left to right, the last, partial group padded with identities.
 * The association of the operator therefore depends on tile numbers alone, not on which block took
 * which tile when, and float results are the same bits in every run.
 *
 * One warp owns the object and asks for tiles in rising order; it keeps the fold of the full groups
 * it has passed.
 */
#pragma once

#include "device/tile_state.cuh"
#include "device/warp.cuh"

namespace GPI_SPACE
{

/* Which of 32 N tiles lane l has in v[i]: number 32 i + l, or N l + i. */
enum Arrangement { striped, blocked };

/* Read the words of 32 N tiles from first on, by a warp, until all are there; tiles from end on
 * count as identity. */
template <Arrangement arrangement, class Op, class A, int N>
GPI_DEVICE void poll_tiles(const TileState<A> &state, uint32_t first, uint32_t end, const Op &op,
                           A (&v)[N])
{
    bool ready;
    do {
        ready = true;
#pragma unroll
        for (int i = 0; i < N; i++) {
            uint32_t tile;
            if constexpr (arrangement == striped)
                tile = first + 32 * i + lane_id();
            else
                tile = first + lane_id() * N + i;
            v[i] = op.identity();
            if (tile < end)
                ready = state.read(tile, v[i]) && ready;
        }
    } while (!__all_sync(all_lanes, ready));
}

/* BATCH groups are polled at once. */
template <class Op, class A, int BATCH> struct Lookahead {
    static constexpr uint32_t prefix_tiles = 0; /* no prefixes are published */

    A folded;       /* initial value, then groups [0, group) */
    uint32_t group; /* full groups folded */

    GPI_DEVICE Lookahead(A init, uint32_t) : folded(init), group(0)
    {
    }

    /* init op (sums of all tiles before tile); the same value in every lane. */
    GPI_DEVICE A exclusive(const TileState<A> &state, uint32_t tile)
    {
        A prefix = folded;
        stall(stall_resolve, state.epoch, tile);
        while (group * 32 < tile) {
            A v[BATCH];
            poll_tiles<striped>(state, group * 32, tile, Op(), v);
            if ((group + 1) * 32 >= tile) {
                v[0] = warp_reduce<Op>(v[0]);
            } else {
#pragma unroll
                for (int b = 0; b < BATCH; b++) /* all, so that their latencies overlap */
                    v[b] = warp_reduce<Op>(v[b]);
            }
#pragma unroll
            for (int b = 0; b < BATCH; b++) {
                if (group * 32 >= tile)
                    break;
                prefix = Op::apply(folded, v[b]);
                if ((group + 1) * 32 > tile)
                    return prefix;
                folded = prefix;
                group++;
            }
        }
        return prefix;
    }
};

/*
 * The same by a block of W warps, each of which polls groups of its own, so that the words of a
 * middle-sized array take one trip. Groups are folded as one balanced tree too, 32 of them at a
 * time. Every thread owns the object and gets the prefix.
 */
template <class Op, class A, int W> struct BlockLookahead {
    static constexpr uint32_t round = 32 * 32; /* tiles */
    struct Shared {
        A sum[32];
    };

    A folded; /* initial value, then the tiles before next */
    uint32_t next, warp;

    GPI_DEVICE explicit BlockLookahead(A init) : folded(init), next(0), warp(warp_id())
    {
    }

    /* Words that were there are not read again: they would delay those that are on their way. */
    static GPI_DEVICE A poll(const TileState<A> &state, uint32_t tile, uint32_t end)
    {
        A v = Op::identity();
        bool ready = tile >= end;
        do {
            if (!ready)
                ready = state.read(tile, v);
        } while (!__all_sync(all_lanes, ready));
        return warp_reduce<Op>(v);
    }

    /* Between two calls the block synchronizes: shared is used again. */
    GPI_DEVICE A exclusive(const TileState<A> &state, uint32_t tile, Shared &shared)
    {
        stall(stall_resolve, state.epoch, tile);
        while (next < tile) {
            for (uint32_t g = warp; g < 32 && next + 32 * g < tile; g += W) {
                A sum = poll(state, next + 32 * g + lane_id(), tile);
                if (lane_id() == 0)
                    shared.sum[g] = sum;
            }
            __syncthreads();
            A group = Op::identity();
            if (next + 32 * lane_id() < tile)
                group = shared.sum[lane_id()];
            A prefix = Op::apply(folded, warp_reduce<Op>(group));
            if (tile - next < round)
                return prefix;
            folded = prefix;
            next += round;
            if (next < tile)
                __syncthreads();
        }
        return folded;
    }
};

/*
 * The same for operators whose code is long, such as those known at run time: a lane folds EACH
 * neighbouring tiles alone, so that a group of 32 x EACH tiles takes one tree.
 */
template <class Op, class A, int EACH> struct WideLookahead {
    static constexpr uint32_t tiles = 32 * EACH; /* of a group */

    const Op &op;
    A folded; /* initial value, then the tiles before next */
    uint32_t next;

    GPI_DEVICE WideLookahead(const Op &op_, A init, uint32_t first = 0)
        : op(op_), folded(init), next(first)
    {
    }

    /* The fold of this lane's tiles of the group at next; tiles from end on count as identity. */
    GPI_DEVICE A poll(const TileState<A> &state, uint32_t end) const
    {
        A v[EACH];
        poll_tiles<blocked>(state, next, end, op, v);
#pragma unroll
        for (int i = 1; i < EACH; i++)
            v[0] = op.apply(v[0], v[i]);
        return v[0];
    }

    /* init op (sums of all tiles before tile); the same value in every lane. */
    GPI_DEVICE A exclusive(const TileState<A> &state, uint32_t tile)
    {
        while (next < tile) {
            A prefix = op.apply(folded, warp_reduce(poll(state, tile), op));
            if (tile - next < tiles)
                return prefix;
            folded = prefix;
            next += tiles;
        }
        return folded;
    }
};

/*
 * The same for values of many words, which take long to read and to fold: the prefix of a group of
 * 32 x EACH tiles is published as well, by the warp that resolves the group's last tile, so that of
 * the tiles before only those of the same group are read. A chain, but of a link for many tiles.
 */
template <class Op, class A, int EACH> struct GroupLookahead {
    static constexpr uint32_t prefix_tiles = 32 * EACH; /* of a group */

    A init;
    uint32_t prefixes; /* the word of that of the first group: behind those of all tiles */

    GPI_DEVICE GroupLookahead(A init_, uint32_t tiles) : init(init_), prefixes(tiles)
    {
    }

    static GPI_DEVICE A fold(const A (&v)[EACH])
    {
        A sum = v[0];
#pragma unroll
        for (int i = 1; i < EACH; i++)
            sum = Op::apply(sum, v[i]);
        return warp_reduce<Op>(sum);
    }

    /* init op (sums of all tiles before tile); the same value in every lane. */
    GPI_DEVICE A exclusive(const TileState<A> &state, uint32_t tile)
    {
        const uint32_t group = tile / prefix_tiles;
        const bool last = tile % prefix_tiles == prefix_tiles - 1;
        A before = init, v[EACH];
        stall(stall_resolve, state.epoch, tile);
        bool known = group == 0 || state.read(prefixes + group - 1, before);
        poll_tiles<blocked>(state, group * prefix_tiles, last ? tile + 1 : tile, Op(), v);
        A sum = fold(v);
        while (!known)
            known = state.read(prefixes + group - 1, before);
        __syncwarp();
        if (last) {
            if (lane_id() == 0)
                state.publish(prefixes + group, Op::apply(before, sum));
            if (lane_id() == 31)
                v[EACH - 1] = Op::identity();
            sum = fold(v);
        }
        return Op::apply(before, sum);
    }
};

/* That of a stream, from the initial value and the number of tiles. */
template <class Op, class A, int BATCH>
using StreamLookahead =
    std::conditional_t<(sizeof(A) > 16), GroupLookahead<Op, A, 2>, Lookahead<Op, A, BATCH>>;

} // namespace GPI_SPACE
