/* SPDX-License-Identifier: MIT */
/*
 * Segment, and with ranks place in it, of every item. A warp has a share of the merge path, and
 * needs no other warp.
 *
 * A warp has the next offsets in registers, its window, and goes along them in steps of up to
 * step_items items. Where a segment begins that is not empty, its distance from the segment of the
 * step's first item and a bit are left in shared memory; the segment of an item is that of the last
 * bit at or before it, which its word of bits and the last bit before that word tell. Without a bit
 * all items are of one segment.
 */
#pragma once

#include "balance/balance_kernels.cuh"

namespace GPI_SPACE::balance
{

constexpr int search_warps = balance_tuning.search_warps;
constexpr int search_threads = search_warps * 32;
constexpr int window_rounds = 4; /* offsets of a lane, 32 apart */
constexpr uint32_t window = 32 * window_rounds;
constexpr uint32_t step_items = 32 * 32; /* a word of bits for each lane */
constexpr uint32_t no_place = ~0u;
/* Of a multiprocessor. */
template <bool with_ranks> constexpr int search_blocks = with_ranks ? 4 : 5;
static_assert(window < 256, "distances are bytes");

/* Of a warp. */
struct step_stage {
    uint32_t bits[32];
    alignas(4) uint8_t distance[step_items];
};

template <int V> struct alignas(V) distances {
    uint8_t at[V];
};

/* The bits of a step, of whose words each lane has one, and the last bit before that word. */
struct step_bits {
    uint32_t word, left;

    explicit GPI_DEVICE step_bits(const step_stage &s) : word(s.bits[lane_id()])
    {
        const uint32_t top = lane_id() * 32 + 31 - __clz(word);
        const uint32_t lanes = __ballot_sync(all_lanes, word != 0) & ((1u << lane_id()) - 1);
        const uint32_t nearest = __shfl_sync(all_lanes, top, lanes ? 31 - __clz(lanes) : 0);
        left = lanes ? nearest : no_place;
    }
};

/* The walk of a warp. */
template <class Offset, class Index, bool with_ranks> struct search_walk {
    static constexpr int V = 16 / sizeof(Index);

    const segments<Offset> &g;
    Index *segments_out, *ranks_out;
    step_stage &stage;
    bool ranks_aligned;
    uint64_t i, end;            /* the next item, and where the share ends */
    uint64_t s, last;           /* the segment of the item before, and the last one of the share */
    uint64_t open;              /* where segment s begins */
    Offset next[window_rounds]; /* the window: where segments s + 1 and on begin, striped */

    GPI_DEVICE void load_window()
    {
#pragma unroll
        for (int q = 0; q < window_rounds; q++) {
            const uint64_t at = s + 1 + q * 32 + lane_id();
            next[q] = at <= last ? (Offset)g.at(at) : ~(Offset)0;
        }
    }

    /* Go on to the segment that is `count` of the window further, by all lanes. */
    GPI_DEVICE void advance(uint32_t count)
    {
        if (count == 0)
            return;
        if constexpr (with_ranks) {
            Offset begin = 0;
#pragma unroll
            for (int q = 0; q < window_rounds; q++) {
                const Offset of_round = shuffle(next[q], (count - 1) % 32);
                begin = (count - 1) / 32 == q ? of_round : begin;
            }
            open = begin;
        }
        s += count;
        load_window();
    }

    /* The segment of the window that begins behind the one of round q that this lane has. */
    GPI_DEVICE Offset after(int q) const
    {
        const Offset right = shuffle_down(next[q], 1);
        const Offset first = q + 1 < window_rounds
                                 ? shuffle(next[q + 1 < window_rounds ? q + 1 : q], 0)
                                 : ~(Offset)0;
        return lane_id() == 31 ? first : right;
    }

    /* The bits and distances of the segments that begin in [i, stop) and have items; whether there
     * are any. count: those of the window that begin at stop or before. */
    GPI_DEVICE bool leave_heads(uint64_t stop, uint32_t pad, uint32_t &count)
    {
        bool heads[window_rounds], any = false;
        count = 0;
#pragma unroll
        for (int q = 0; q < window_rounds; q++) {
            const Offset right = after(q); /* by all lanes */
            heads[q] = next[q] >= i && next[q] < stop && right > next[q];
            any |= heads[q];
            count += __popc(__ballot_sync(all_lanes, next[q] <= stop));
        }
        if (!__any_sync(all_lanes, any))
            return false;
        stage.bits[lane_id()] = 0;
        __syncwarp();
#pragma unroll
        for (int q = 0; q < window_rounds; q++) {
            const uint32_t place = (uint32_t)(next[q] - i) + pad;
            if (heads[q]) {
                stage.distance[place] = (uint8_t)(q * 32 + lane_id() + 1);
                atomicOr(&stage.bits[place / 32], 1u << place % 32);
            }
        }
        __syncwarp();
        return true;
    }

    GPI_DEVICE void store(const tile &t, uint32_t place, const Index (&values)[V],
                          const Index (&ranks)[V]) const
    {
        store_values<V, true>(t, place, values, segments_out, true);
        if (with_ranks)
            store_values<V, true>(t, place, ranks, ranks_out, ranks_aligned);
    }

    /* The items of a step that begins in segment t.s0, whose item 0 would have place `start`. */
    GPI_DEVICE void write_one(const tile &t, Index start) const
    {
        const uint32_t stop = t.pad + (uint32_t)(t.i1 - t.i0);
        for (uint32_t place = lane_id() * V; place < stop; place += 32 * V) {
            Index values[V], ranks[V];
#pragma unroll
            for (int j = 0; j < V; j++) {
                values[j] = (Index)t.s0;
                ranks[j] = start + place + j;
            }
            store(t, place, values, ranks);
        }
    }

    GPI_DEVICE void write_many(const tile &t, Index start) const
    {
        const uint32_t stop = t.pad + (uint32_t)(t.i1 - t.i0);
        const step_bits b(stage);
#pragma unroll 2
        for (uint32_t round = 0; round < stop; round += 32 * V) {
            const uint32_t place = round + lane_id() * V, bit = place % 32;
            const uint32_t word = __shfl_sync(all_lanes, b.word, place / 32);
            const uint32_t left = __shfl_sync(all_lanes, b.left, place / 32);
            const uint32_t below = word & ((1u << bit) - 1);
            uint32_t head = below ? place - bit + 31 - __clz(below) : left;
            uint32_t distance = head != no_place ? stage.distance[head] : 0;
            const auto staged = *reinterpret_cast<const distances<V> *>(&stage.distance[place]);
            Index values[V], ranks[V];
#pragma unroll
            for (int j = 0; j < V; j++) {
                const bool is_head = word >> (bit + j) & 1;
                distance = is_head ? staged.at[j] : distance;
                head = is_head ? place + j : head;
                values[j] = (Index)t.s0 + distance;
                ranks[j] = place + j + (head != no_place ? (Index)0 - head : start);
            }
            store(t, place, values, ranks);
        }
        __syncwarp(); /* the stage is read */
    }

    /* Where a step ends: as far as window and stage go, on a boundary of vectors if it can. */
    GPI_DEVICE uint64_t stop_of(uint64_t known, uint32_t pad) const
    {
        const uint64_t stop = min(min(i + step_items - pad, end), known);
        const uint32_t over = misalignment(segments_out, stop);
        return stop < end && stop > i + over ? stop - over : stop;
    }

    GPI_DEVICE void step()
    {
        const uint64_t known = shuffle(next[window_rounds - 1], 31);
        if (known <= i) {
            advance(window);
            return;
        }
        const uint32_t pad = misalignment(segments_out, i);
        const uint64_t stop = stop_of(known, pad);
        const tile t = {s, s, i, stop, pad};
        const Index start = with_ranks ? (Index)(i - open - pad) : 0;
        uint32_t count;
        const bool many = leave_heads(stop, pad, count);
        i = stop;
        advance(count);
        if (many)
            write_many(t, start);
        else
            write_one(t, start);
    }
};

/* Offsets of as many bytes, which the L2 has, are probed first where even segments would be: of
 * larger ones a wrong guess asks memory for lines that are of no use. */
constexpr uint64_t guess_bytes = 32 << 20;

/* The segments passed before a step, by a warp. */
template <class Offset> GPI_DEVICE uint64_t find_step(const segments<Offset> &g, uint64_t step)
{
    uint64_t low = merge_path_low(g.num_items, step);
    uint64_t high = merge_path_high(g.num_segments, step);
    if (g.num_segments * sizeof(Offset) <= guess_bytes) {
        const float part = (float)step / (float)(g.num_segments + g.num_items);
        const uint64_t even = (uint64_t)(part * (float)g.num_segments);
        narrow_near(min(max(even, low), high), low, high,
                    [&](uint64_t s) { return passes_before(g.offsets, g.base, s, step); });
    }
    return merge_path_search_warp(g.offsets, g.base, low, high, step);
}

/* The segments passed where the shares of a block begin, and where the last one ends, by all its
 * threads: `share` steps of the path for each warp, from step `first` on. The block's two by a
 * search of all segments, the others between them. */
template <class Offset>
GPI_DEVICE void find_shares(const segments<Offset> &g, uint64_t first, uint32_t share,
                            uint64_t *begins)
{
    const uint32_t warp = threadIdx.x / 32;
    const uint64_t steps = g.num_segments + g.num_items;
    if (warp < 2) {
        const uint64_t step = min(first + warp * search_warps * share, steps);
        begins[warp * search_warps] = find_step(g, step);
    }
    __syncthreads();
    if (warp > 0) {
        const uint64_t step = min(first + warp * share, steps);
        const uint64_t low = max(begins[0], merge_path_low(g.num_items, step));
        const uint64_t high = min(begins[search_warps], merge_path_high(g.num_segments, step));
        begins[warp] = merge_path_search_warp(g.offsets, g.base, low, high, step);
    }
    __syncthreads();
}

/* The same out of a plan: whether it has them all. */
template <class Offset>
GPI_DEVICE bool take_shares(const segments<Offset> &g, uint64_t first, uint32_t share,
                            const gpi_balance_plan &plan, uint64_t *begins)
{
    bool right = plan.num_segments == g.num_segments && plan.num_items == g.num_items;
    if (right && threadIdx.x <= search_warps) {
        const uint64_t steps = g.num_segments + g.num_items;
        const uint64_t step = min(first + threadIdx.x * share, steps);
        uint64_t s = g.num_segments;
        if (step < steps) {
            s = plan.begins[step / GPI_BALANCE_PLAN_STEPS];
            right = s >= merge_path_low(g.num_items, step) &&
                    s <= merge_path_high(g.num_segments, step);
            /* The path has passed the segments below s, and not s. */
            right = right && (s == 0 || passes_before(g.offsets, g.base, s - 1, step)) &&
                    (s >= min(g.num_segments, step) || !passes_before(g.offsets, g.base, s, step));
        }
        begins[threadIdx.x] = s;
    }
    return __syncthreads_and(right);
}

/* Ask the L2 for a slice of the offsets, by a warp. */
template <class Offset>
GPI_DEVICE void ask_for_slice(const segments<Offset> &g, uint64_t begin, uint64_t slice)
{
    constexpr uint64_t line = 128 / sizeof(Offset);
    const uint64_t end = min(begin + slice, g.num_segments);
#pragma unroll 1
    for (uint64_t at = begin + lane_id() * line; at < end; at += 32 * line)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(g.offsets + at));
}

/* Offsets of as many bytes are asked for by the first blocks, before any of them writes. */
constexpr uint64_t at_once_bytes = 8 << 20;

template <class Offset> GPI_DEVICE bool ask_at_once(const segments<Offset> &g, uint32_t resident)
{
    if (g.num_segments * sizeof(Offset) > at_once_bytes)
        return false;
    const uint32_t blocks = min(resident, gridDim.x);
    const uint64_t slice = (g.num_segments + blocks - 1) / blocks;
    if (threadIdx.x < 32 && blockIdx.x < blocks)
        ask_for_slice(g, blockIdx.x * slice, slice);
    return true;
}

/* Of larger arrays a block that begins with segment s asks for what the block that takes its place
 * will read, if segments are even from here on. What the L2 does not keep is only asked for where
 * they have been even so far. */
template <class Offset>
GPI_DEVICE void ask_ahead(const segments<Offset> &g, uint64_t s, uint32_t resident)
{
    const uint64_t slice = (g.num_segments + gridDim.x - 1) / gridDim.x, ahead = resident * slice;
    const uint64_t even = blockIdx.x * slice, off = s > even ? s - even : even - s;
    if (threadIdx.x < 32 && (off <= ahead || g.num_segments * sizeof(Offset) <= guess_bytes))
        ask_for_slice(g, s + ahead, slice);
}

/*
 * Grid: a block for each search_warps shares of the path, or fewer where the number of steps is in
 * memory; search_threads threads; search_warps stages of shared memory.
 * After: segments_out[i], and with ranks ranks_out[i], for all i < limit (or, if the offsets may
 * cover less, for all that they cover).
 */
template <bool COUNTED, class Offset, class Index, bool with_ranks>
__global__ void __launch_bounds__(search_threads, search_blocks<with_ranks>)
    search_k(const Offset *__restrict__ offsets, walk_size size, uint32_t share,
             const gpi_balance_plan *__restrict__ plan, Index *__restrict__ segments_out,
             Index *__restrict__ ranks_out, uint32_t resident, gpi_reporter reporter)
{
    __shared__ step_stage stages[search_warps];
    __shared__ uint64_t begins[search_warps + 1];
    if constexpr (COUNTED)
        size.take_counts();
    segments<Offset> g(offsets, size.num_segments);
    g.num_items = COUNTED && size.may_cover_less ? min(size.limit, g.total()) : size.limit;
    settle_count(g, size.limit, COUNTED && size.may_cover_less, reporter);
    const uint32_t warp = threadIdx.x / 32, part = search_warps * share;
    const uint64_t steps = g.num_segments + g.num_items;
    const bool asked = COUNTED || ask_at_once(g, resident);
    const auto take = [&](uint64_t first) {
        if (!plan || !take_shares(g, first, share, *plan, begins))
            find_shares(g, first, share, begins);
        if (!asked)
            ask_ahead(g, begins[0], resident);
        const uint64_t begin = min(first + warp * share, steps), stop = min(begin + share, steps);
        const uint64_t s = begins[warp], last = begins[warp + 1];
        search_walk<Offset, Index, with_ranks> walk = {g,
                                                       segments_out,
                                                       ranks_out,
                                                       stages[warp],
                                                       misalignment(segments_out, 0) ==
                                                           misalignment(ranks_out, 0),
                                                       begin - s,
                                                       stop - last,
                                                       s,
                                                       last,
                                                       with_ranks ? g.at(s) : 0};
        walk.load_window();
        while (walk.i < walk.end)
            walk.step();
    };
    if constexpr (COUNTED)
        for (uint64_t b = blockIdx.x; b * part < steps; b += gridDim.x) {
            take(b * part);
            __syncthreads(); /* the begins are read */
        }
    else
        take((uint64_t)blockIdx.x * part);
}

} // namespace GPI_SPACE::balance
