/* SPDX-License-Identifier: MIT */
/* The parameters of a partition pass, the groups of threads that run it, and the places of items:
 * ranks in a warp, and what tiles before have of their digits. */
#pragma once

#include "radixsort/radixsort_tile.cuh"

namespace GPI_SPACE
{

template <class T, int N> struct SharedArray {
    T item[N];
    GPI_DEVICE T &operator[](uint32_t i)
    {
        return item[i];
    }
};
template <class T> struct SharedArray<T, 0> {
};

/* T threads of a block with a barrier of their own. */
template <int T> struct Group {
    static constexpr int threads = T;

    static GPI_DEVICE int thread()
    {
        return (int)threadIdx.x % T;
    }

    static GPI_DEVICE int number()
    {
        return (int)threadIdx.x / T;
    }

    /* Barriers by constant numbers, which checkers can follow. */
    template <int BARRIER> static GPI_DEVICE void sync_of()
    {
        __syncwarp(); /* the compiler does not know that warps have to be together */
        asm volatile("bar.sync %0, %1;" ::"n"(BARRIER), "n"(T) : "memory");
    }

    static GPI_DEVICE void sync()
    {
        number() == 0 ? sync_of<1>() : sync_of<2>();
    }

    template <int BARRIER> static GPI_DEVICE bool any_of(bool mine)
    {
        uint32_t some;
        __syncwarp();
        asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0;"
                     " bar.red.or.pred q, %2, %3, p; selp.u32 %0, 1, 0, q; }"
                     : "=r"(some)
                     : "r"((uint32_t)mine), "n"(BARRIER), "n"(T)
                     : "memory");
        return some;
    }

    static GPI_DEVICE bool any(bool mine)
    {
        return number() == 0 ? any_of<1>(mine) : any_of<2>(mine);
    }
};

/* The digit counts of a tile, a row per warp. ROW: radix_bins, or more if there are digits
 * beyond those. */
template <class G, int ROW> struct TileCounts {
    static constexpr int warps = G::threads / 32;
    alignas(16) uint32_t of[warps][ROW];
    uint32_t nothing[32]; /* dummy counters: lanes without an item add here, without a branch */
    uint32_t warp_total[8];

    GPI_DEVICE uint32_t *uncounted()
    {
        return nothing + lane_id();
    }

    GPI_DEVICE uint32_t *own()
    {
        return of[G::thread() / 32];
    }

    GPI_DEVICE void clear()
    {
        uint4 *c = (uint4 *)own();
        for (int i = lane_id(); i < ROW / 4; i += 32)
            c[i] = make_uint4(0, 0, 0, 0);
        __syncwarp();
    }

    /* of[w][d] becomes the position at which warp w's items of digit d start in digit order.
     * Returns the count of the thread's digit and its start; publish(count) is called as soon as
     * the count is known. */
    template <class F> GPI_DEVICE uint2 sum(F publish)
    {
        const int d = G::thread();
        uint32_t count[warps], total = 0;
#pragma unroll
        for (int w = 0; w < warps; w++) {
            count[w] = d < radix_bins ? of[w][d] : 0;
            total += count[w];
        }
        publish(total);
        const uint32_t begin = sum_before_bin<G>(total, warp_total);
        if (d < radix_bins) {
            uint32_t at = begin;
#pragma unroll
            for (int w = 0; w < warps; w++) {
                of[w][d] = at;
                at += count[w];
            }
        }
        return make_uint2(total, begin);
    }
};

/* As rank_rows(), for the rows after the first ones. first: a hot digit; d, most: the lane's digit
 * and rank in the row before. */
template <int I, class C, class D, class S>
GPI_DEVICE void rank_hot_rows(C &tile, uint32_t first, uint32_t d, uint32_t most, D digit, S set)
{
    uint32_t *const counts = tile.own(), *const uncounted = tile.uncounted();
    const uint32_t more = __ballot_sync(all_lanes, most >= radix_tuning.hot_max / 2 && d != first);
    const uint32_t second =
        more ? __shfl_sync(all_lanes, d, __ffs(more) - 1) : (uint32_t)radix_bins;
    const uint32_t below = (1u << lane_id()) - 1;
    __syncwarp();
    uint32_t firsts = counts[first], seconds = more ? counts[second] : 0;
    __syncwarp();
#pragma unroll
    for (int i = radix_tuning.probe_rows; i < I; i++) {
        d = digit(i);
        const uint32_t a = __ballot_sync(all_lanes, d == first);
        const uint32_t b = __ballot_sync(all_lanes, d == second);
        const bool is_hot = d == first || d == second;
        const uint32_t other = atomicAdd(is_hot ? uncounted : &counts[d], 1u);
        const uint32_t among =
            d == first ? firsts + __popc(a & below) : seconds + __popc(b & below);
        set(i, is_hot ? among : other);
        firsts += __popc(a);
        seconds += __popc(b);
    }
    if (lane_id() == 0) {
        counts[first] = firsts;
        if (more)
            counts[second] = seconds;
    }
}

/*
 * Ranks of a warp's items among those of their digit, row by row, by atomic additions that return
 * the rank. tile: its TileCounts; digit(i) returns the digit of row i and is called once per row;
 * set(i, rank) stores its rank. An addition serves lanes with the same digit one after the other: a
 * hot digit, and perhaps a second one, are counted by ballots instead. All lanes execute the
 * addition in either case, so that no row waits behind a branch.
 */
template <int I, class C, class D, class S> GPI_DEVICE void rank_rows(C &tile, D digit, S set)
{
    uint32_t *const counts = tile.own();
    uint32_t d = 0, most = 0;
#pragma unroll
    for (int i = 0; i < radix_tuning.probe_rows; i++) {
        d = digit(i);
        most = atomicAdd(&counts[d], 1u);
        set(i, most);
    }
    const uint32_t hot = __ballot_sync(all_lanes, most >= radix_tuning.hot_max);
    if (hot) {
        const uint32_t first = __shfl_sync(all_lanes, d, __ffs(hot) - 1);
        rank_hot_rows<I>(tile, first, d, most, digit, set);
        return;
    }
#pragma unroll
    for (int i = radix_tuning.probe_rows; i < I; i++)
        set(i, atomicAdd(&counts[digit(i)], 1u));
}

/* Whether the rows of a warp are in ascending order. wrap: the item before lane 0's first. */
template <int ROWS> GPI_DEVICE bool rising(const uint32_t (&mine)[ROWS], bool valid, uint32_t &wrap)
{
    bool ordered = true;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const uint32_t left = __shfl_sync(all_lanes, mine[i], (lane_id() + 31) & 31);
        const uint32_t before = lane_id() == 0 ? wrap : left;
        wrap = left;
        ordered = ordered && (before <= mine[i] || !valid);
    }
    return ordered;
}

/* One partition pass. */
struct PartitionPass {
    uint32_t from, to; /* enum gpi_radix_place */
    int shift, bits;   /* its digit */
    uint32_t *ticket;
    bool leave_keys;        /* keys are not wanted, and this pass is the last one */
    bool prefetches;        /* tiles into the L2: a pass into buckets needs all of it for writes */
    bool segmented;         /* each segment of the plan by itself, its bins in the buckets */
    const uint64_t *starts; /* of the bins; not read if there are segment_starts */
    const uint32_t *segment_starts; /* of the buckets, of which a bin has 2^below */
    int below;
    uint32_t *cursors;    /* if not stable */
    void *states, *clear; /* if stable: of its tiles, and those to be cleared for the next pass */
    uint64_t clear_rows;
};

/* ---- tiles before ---- */

/*
 * The number of items of a bin before a tile of a stable pass (Adinets and Merrill 2022,
 * "Onesweep"): each tile publishes its count, looks back at the tiles before it until one has
 * published a prefix, and then publishes its own prefix. The look-backs of all later tiles wait for
 * a claimed tile, so tiles are claimed in ascending order, and late.
 */

/* The state of a bin in a tile, which later tiles read: a count and its meaning. */
template <class W> struct DigitState {
    static constexpr W own = (W)1 << (8 * sizeof(W) - 2); /* items of the tile */
    static constexpr W upto = own << 1;                   /* items of all tiles up to this one */
    static constexpr W count = own - 1;

    static GPI_DEVICE void write(W *word, W value)
    {
        if constexpr (sizeof(W) == 4)
            asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
        else
            asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
    }

    static GPI_DEVICE W read(const W *word)
    {
        W value;
        if constexpr (sizeof(W) == 4)
            asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                         : "=r"(value)
                         : "l"(word)
                         : "memory");
        else
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                         : "=l"(value)
                         : "l"(word)
                         : "memory");
        return value;
    }
};

/* Items of a bin in tiles [first, tile), BYTES of states at a time; publishes the sum with this
 * tile's own count. */
template <int BYTES, class W>
GPI_DEVICE uint64_t look_back(W *states, int bin, uint32_t first, uint32_t tile, uint32_t own)
{
    using State = DigitState<W>;
    constexpr int batch = BYTES / sizeof(W);
    W before = 0;
    uint32_t left = tile - first;
    W *mine = states + (uint64_t)tile * radix_bins + bin;
    const W *at = mine - radix_bins;
    bool found = false;
    while (!found && left > 0) {
        W word[batch];
#pragma unroll
        for (int i = 0; i < batch; i++)
            word[i] = i < left ? State::read(at - i * radix_bins) : State::upto;
        while (word[0] < State::own) /* to read the others again would only be traffic */
            word[0] = State::read(at);
        int used = 0;
#pragma unroll
        for (int i = 0; i < batch; i++) { /* without branches: bins end at different tiles */
            const bool takes = !found && used == i && word[i] >= State::own;
            before += takes ? word[i] & State::count : 0;
            found = takes ? word[i] >= State::upto : found;
            used += takes;
        }
        at -= used * radix_bins;
        left -= min(left, (uint32_t)used);
    }
    State::write(mine, State::upto | (before + own));
    return before;
}

/* Where a stable pass puts the items of a tile. By the threads of a group that have a bin. */
template <class K, class Policy, int BYTES> struct StablePlaces {
    using TileClaim = typename Policy::TileClaim;

    const RadixKeys<K> &job;
    const PartitionPass &pass;
    const Policy &policy;
    int d; /* the thread's bin */

    template <class W> GPI_DEVICE void publish_as(const TileClaim &claim, uint32_t count) const
    {
        DigitState<W>::write((W *)pass.states + (uint64_t)claim.tile * radix_bins + d,
                             DigitState<W>::own | count);
        for (uint64_t row = claim.tile; row < pass.clear_rows; row += policy.tiles)
            ((W *)pass.clear)[row * radix_bins + d] = 0;
    }

    GPI_DEVICE void publish(const TileClaim &claim, uint32_t count) const
    {
        if (job.narrow_states())
            publish_as<uint32_t>(claim, count);
        else
            publish_as<uint64_t>(claim, count);
    }

    /* Where the count items of the bin go. */
    GPI_DEVICE uint64_t find(const TileClaim &claim, uint32_t count) const
    {
        const uint32_t first = policy.first_tile(claim);
        return policy.start(claim, d) +
               (job.narrow_states()
                    ? look_back<BYTES>((uint32_t *)pass.states, d, first, claim.tile, count)
                    : look_back<BYTES>((uint64_t *)pass.states, d, first, claim.tile, count));
    }
};

} // namespace GPI_SPACE
