/* SPDX-License-Identifier: MIT */
/* What the kernels of runs share: what tiles exchange, keys, parameters. */
#pragma once

#include <new>

#include "device/grid.cuh"
#include "device/host.cuh"
#include "device/item_count.cuh"
#include "device/lookahead.cuh"
#include "device/ops.cuh"
#include "device/report.cuh"
#include "device/stream.cuh"
#include "device/warp.cuh"

extern "C" {
#include "group/group_internal.h"
}

namespace GPI_SPACE
{

/* The tiles of both streams. */
template <int ITEMS> struct RunTiles : StreamPolicy {
    static constexpr int tile_items = ITEMS;

    static GPI_DEVICE uint64_t first_of(uint32_t tile)
    {
        return (uint64_t)tile * ITEMS;
    }

    /* n: of the array. */
    static GPI_DEVICE uint32_t items_of(uint32_t tile, uint64_t n)
    {
        const uint64_t rest = n - first_of(tile);
        return rest < ITEMS ? (uint32_t)rest : ITEMS;
    }
};

/* Of a range of items: how many heads it has, and a value from the last one on, if there is one,
 * otherwise of the whole range. */
template <class A> struct Runs {
    A value;
    uint64_t count;
};

template <class A, class Op> struct FoldRuns {
    static constexpr bool commutes = false, warp_reduces = false;

    static GPI_DEVICE Runs<A> identity()
    {
        return Runs<A>{Op::identity(), 0};
    }

    static GPI_DEVICE Runs<A> apply(const Runs<A> &l, const Runs<A> &r)
    {
        return Runs<A>{r.count ? r.value : Op::apply(l.value, r.value), l.count + r.count};
    }
};

/* The same of a tile, as it is published. */
template <class A> struct TileRuns {
    A value;
    uint32_t count;
};

/*
 * The runs before a tile, as Lookahead (device/lookahead.cuh) finds prefixes: groups of 32 tiles,
 * folded from left to right. Of a group one ballot tells where its last head is, so that the counts
 * are a sum, and the values one tree. Find has value_of(first, value, with): the value of the group
 * whose first tile that is, from the last tile of the mask `with` on.
 */
template <class A, class Op> struct RunsAhead {
    static constexpr int batch = 5; /* groups that are polled at once */
    Runs<A> folded;                 /* groups [0, group) */
    uint32_t group;

    template <class Find, class Own>
    GPI_DEVICE Runs<A> find(const TileState<TileRuns<Own>> &state, uint32_t tile)
    {
        Runs<A> prefix = folded;
        stall(stall_resolve, state.epoch, tile);
        while (group * 32 < tile) {
            TileRuns<Own> v[batch];
            Runs<A> sum[batch];
            poll_tiles<striped>(state, group * 32, tile, Find(), v);
#pragma unroll
            for (int b = 0; b < batch; b++) { /* all, so that their latencies overlap */
                const uint32_t with = __ballot_sync(all_lanes, v[b].count != 0);
                sum[b].value = Find::value_of((group + b) * 32, v[b].value, with);
                sum[b].count = warp_sum(v[b].count);
            }
#pragma unroll
            for (int b = 0; b < batch; b++) {
                if (group * 32 >= tile)
                    break;
                prefix = FoldRuns<A, Op>::apply(folded, sum[b]);
                if ((group + 1) * 32 > tile)
                    return prefix;
                folded = prefix;
                group++;
            }
        }
        return prefix;
    }
};

/* The operator of values that do not change before the next head. */
template <class A> struct Stays {
    static GPI_DEVICE A identity()
    {
        return A();
    }
    static GPI_DEVICE A apply(A l, A)
    {
        return l;
    }
};

/* Of floats zeros are equal, and so are NaNs. */
template <class Key> struct KeyDiffers {
    Key sign, inf;

    /* FLOATS: inf is not 0. */
    template <bool FLOATS> GPI_DEVICE bool differ(Key x, Key y) const
    {
        const Key low = (Key)~sign;
        if constexpr (FLOATS)
            return x != y && ((x | y) & low) != 0 &&
                   !((Key)(x & low) > inf && (Key)(y & low) > inf);
        else
            return x != y;
    }

    GPI_DEVICE bool operator()(Key x, Key y) const
    {
        return inf ? differ<true>(x, y) : differ<false>(x, y);
    }
};

/* Of 32 items from `first` on, which are below count: bits behind the last item are not valid. */
GPI_DEVICE uint32_t bits_before(uint32_t count, uint32_t first)
{
    return count >= first + 32 ? ~0u : count > first ? (1u << (count - first)) - 1 : 0;
}

inline gp_status queue_flush(gp_context *ctx, const char *function, gpi_group_queue *queue)
{
    const int count = queue->count;
    queue->count = 0;
    return count ? gpi_launch_all(ctx, function, queue->launches, count) : GP_OK;
}

/* A place for the next kernel and its parameters; which may overlap the end of the one before. */
template <class Params>
gp_status queue_place(gp_context *ctx, const gpi_group_pass *pass, const Params &params,
                      Params **placed)
{
    gpi_group_queue *queue = pass->queue;
    static_assert(sizeof(Params) <= GPI_GROUP_PARAMS_BYTES && alignof(Params) <= 8,
                  "the queue has no room");
    if (queue->count == GPI_LAUNCHES_MAX)
        GPI_TRY(queue_flush(ctx, pass->function, queue));
    *placed = new (queue->params[queue->count]) Params(params);
    return GP_OK;
}

/* The kernel of a policy, which has grid_wait() before it takes an epoch: tiles of two kernels must
 * not be claimed at the same time. */
template <class Policy>
gp_status queue_stream(gp_context *ctx, const gpi_group_pass *pass,
                       const typename Policy::Params &params, uint64_t n)
{
    typename Policy::Params *p;
    LaunchList list;
    GPI_TRY(queue_place(ctx, pass, params, &p));
    GPI_TRY(stream_add<Policy>(ctx, pass->function, *p, n, list, pass->queue->count > 0));
    pass->queue->launches[pass->queue->count++] = list.launches[0];
    return GP_OK;
}

/* u / d, of u < 256 d. */
struct Quotient {
    uint32_t d, inverse;

    GPI_DEVICE explicit Quotient(uint32_t by)
        : d(by), inverse(by > 1 && by < 4096 ? 0xffffffffu / by + 1 : 0)
    {
    }
    GPI_DEVICE uint32_t of(uint32_t u) const
    {
        return inverse ? __umulhi(u, inverse) : u / d;
    }
};

struct RunsParams {
    const void *keys;
    uint64_t sign, inf;
    uint64_t n;
    const uint64_t *device_n;
    uint32_t *bits; /* of heads: an output beside keys, otherwise the input */
    void *keys_out, *heads, *lengths;
    const void *from; /* of a move, in units */
    void *to;
    uint32_t units, unit_bytes;
    uint32_t index_bytes;
    bool longer, last, counts;
    uint64_t capacity;
    uint64_t *out_count;
    gpi_state state;
    gpi_reporter reporter;
    const uint64_t *more; /* to count, or NULL */
};

} // namespace GPI_SPACE
