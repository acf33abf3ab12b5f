/* SPDX-License-Identifier: MIT */
/* The fold of each run: the policy of the stream (device/stream.cuh). */
#pragma once

#include "device/flip.cuh"
#include "group/group_runs.cuh"

namespace GPI_SPACE
{

/* How a value lies in memory: integers without a sign, floats. */
enum FoldForm { form_u8, form_u16, form_u32, form_u64, form_f16, form_bf16, form_f32, form_f64 };

template <class A> struct FoldParams {
    const char *values;
    const uint32_t *bits;
    char *out;
    uint64_t n;
    const uint64_t *device_n;
    uint64_t capacity;
    FoldForm from, to;
    uint32_t in_bytes;
    Flip flip;
    Flip sign; /* of signed integers that are narrower than A: their sign bit */
    /* Of short arrays; otherwise NULL, as another kernel has stored keys and count. */
    const void *keys;
    void *keys_out;
    uint32_t key_bytes;
    uint64_t *out_count;
    gpi_reporter reporter;
    gpi_state state;
    const uint64_t *more; /* to count, or NULL */
};

/* value(i) of K values, each of which is stored as an S. */
template <class S, class A, int K> GPI_DEVICE void fold_widen(const char *at, A (&v)[K])
{
#pragma unroll
    for (int i = 0; i < K; i++)
        v[i] = widen<A>(((const S *)at)[i]);
}

/* K values that lie side by side. */
template <class A, int K> GPI_DEVICE void fold_load(FoldForm form, const char *at, A (&v)[K])
{
    if constexpr (std::is_same_v<A, float>) {
        if (form == form_f32)
            fold_widen<float>(at, v);
        else if (form == form_f16)
            fold_widen<f16_t>(at, v);
        else
            fold_widen<bf16_t>(at, v);
    } else if constexpr (std::is_same_v<A, double>) {
        if (form == form_f64)
            fold_widen<double>(at, v);
        else
            fold_widen<float>(at, v);
    } else if constexpr (std::is_integral_v<A>) {
        if (form == form_u32)
            fold_widen<uint32_t>(at, v);
        else if (form == form_u8)
            fold_widen<uint8_t>(at, v);
        else if (sizeof(A) == 4 || form == form_u16)
            fold_widen<uint16_t>(at, v);
        else
            fold_widen<uint64_t>(at, v);
    } else {
#pragma unroll
        for (int i = 0; i < K; i++)
            v[i] = item_load<A, sizeof(typename A::Scalar)>(at + i * sizeof(A));
    }
}

/* x[i] as an S to first + j + 32 i, where j + 32 i is below end. */
template <class S, class A, int K>
GPI_DEVICE void fold_narrow(char *out, uint64_t first, uint32_t j, uint32_t end, const A (&x)[K])
{
    S *to = (S *)out + first + j;
#pragma unroll
    for (int i = 0; i < K; i++)
        if (j + 32 * i < end) {
            if constexpr (!std::is_arithmetic_v<A>)
                item_store<A, sizeof(typename A::Scalar)>((char *)(to + 32 * i), x[i]);
            else if constexpr (std::is_floating_point_v<A> && sizeof(S) == 2)
                to[32 * i] = narrow<S>(x[i]);
            else
                to[32 * i] = (S)x[i];
        }
}

template <class A, int K>
GPI_DEVICE void fold_store(FoldForm form, char *out, uint64_t first, uint32_t j, uint32_t end,
                           const A (&x)[K])
{
    if constexpr (std::is_same_v<A, float>) {
        if (form == form_f32)
            fold_narrow<float>(out, first, j, end, x);
        else if (form == form_f16)
            fold_narrow<f16_t>(out, first, j, end, x);
        else
            fold_narrow<bf16_t>(out, first, j, end, x);
    } else if constexpr (std::is_same_v<A, uint32_t>) {
        if (form == form_u32)
            fold_narrow<uint32_t>(out, first, j, end, x);
        else if (form == form_u16)
            fold_narrow<uint16_t>(out, first, j, end, x);
        else
            fold_narrow<uint8_t>(out, first, j, end, x);
    } else {
        fold_narrow<A>(out, first, j, end, x);
    }
}

/* A warp's part: K values of each lane, side by side; an odd K keeps lanes in different banks. */
template <class A, class Op, int K> struct FoldPart {
    A v[K];
    uint32_t heads; /* of the lane's values */
    uint32_t lanes; /* with heads */
    A before;       /* fold of the run that goes on from the lanes before */

    /* values: of the part; words: its bits, K of them and one that is readable; count: values that
     * there are. */
    GPI_DEVICE void load(const FoldParams<A> &p, const char *values, const uint32_t *words,
                         uint32_t count)
    {
        const uint32_t first = lane_id() * K;
        fold_load(p.from, values + first * p.in_bytes, v);
        heads = __funnelshift_r(words[first / 32], words[first / 32 + 1], first % 32);
        heads &= (1u << K) - 1;
        if constexpr (std::is_integral_v<A>)
            if (const A sign = flip_of<A>(p.sign))
#pragma unroll
                for (int i = 0; i < K; i++)
                    v[i] = (v[i] ^ sign) - sign;
        if (count < 32 * K) {
            heads &= bits_before(count, first);
#pragma unroll
            for (int i = 0; i < K; i++)
                v[i] = first + i < count ? flipped(p, v[i]) : Op::identity();
        } else if constexpr (flips<Op>) {
#pragma unroll
            for (int i = 0; i < K; i++)
                v[i] = flipped(p, v[i]);
        }
        lanes = __ballot_sync(all_lanes, heads != 0);
    }

    static GPI_DEVICE A flipped(const FoldParams<A> &p, A x)
    {
        return item_flipped<Op, A>(x, p.flip);
    }

    /* The fold of the part from its last head on, and its heads; upto: one of each lane, likewise,
     * over the lanes up to it. */
    template <class Sum> GPI_DEVICE Sum sum(A *upto) const
    {
        A own = v[0];
#pragma unroll
        for (int i = 1; i < K; i++)
            own = heads >> i & 1 ? v[i] : Op::apply(own, v[i]);
        const uint32_t reached = lanes & ((2u << lane_id()) - 1);
        own = warp_scan_within<Op>(own, reached ? lane_id() - (31 - __clz(reached)) : lane_id());
        upto[lane_id()] = own;
        return Sum{shuffle(own, 31), warp_sum(__popc(heads))};
    }

    GPI_DEVICE void join(const A *upto)
    {
        before = lane_id() == 0 ? Op::identity() : upto[lane_id() - 1];
    }

    /* The folds of the runs that end before an item of the part, in their order; returns how many:
     * the first of them began before the part. */
    GPI_DEVICE uint32_t leave(A prefix, A *scratch) const
    {
        const uint32_t left = warp_exclusive(__popc(heads));
        A x = lanes & ((1u << lane_id()) - 1) ? before : Op::apply(prefix, before);
        uint32_t place = left;
#pragma unroll
        for (int i = 0; i < K; i++) {
            const bool head = heads >> i & 1;
            if (head)
                scratch[place++] = x;
            x = head ? v[i] : Op::apply(x, v[i]);
        }
        __syncwarp();
        return shuffle(place, 31);
    }
};

/*
 * Sums are folds from the last head on, and how many heads there are. A stage holds a tile's values
 * as they lie in memory from the 16-byte boundary at or before the first, their bits, and what the
 * sum warps leave of each part. Tile: W x 32 x K values.
 */
template <class A, class Op, int W, int R, int L, int K, int S>
struct FoldStream : RunTiles<W * 32 * K> {
    using Tiles = RunTiles<W * 32 * K>;
    using Tiles::first_of;
    using Tiles::items_of;
    using Tiles::tile_items;
    using Params = FoldParams<A>;
    using Loader = StageLoader<L>;
    using Part = FoldPart<A, Op, K>;
    using Fold = FoldRuns<A, Op>;
    static constexpr bool wide = sizeof(A) > 8; /* values that take long to read and to fold */
    using Sum = std::conditional_t<wide, Runs<A>, TileRuns<A>>;
    using Prefix = Runs<A>;
    static constexpr int part_items = 32 * K;
    static constexpr int held_bytes = tile_items * (int)sizeof(A) + 16;
    static constexpr int bits_bytes = tile_items / 8 + 16;
    static constexpr int upto_bytes = W * 32 * (int)sizeof(A);
    static constexpr int stage_bytes = (held_bytes + bits_bytes + upto_bytes + 127) / 128 * 128;
    static constexpr int store_warps = W, sum_warps = R, load_warps = L, stages = S;
    static constexpr bool part_is_copy = true;
    static_assert(K % 2 == 1 && K < 32 && tile_items % 128 == 0, "banks, and copies of bits");
    struct Own {
        A scratch[W][part_items];
    };

    const Params &p;
    StreamShared<FoldStream> &s;
    char *ring;
    uint32_t tiles;

    GPI_DEVICE void wait() const
    {
        grid_wait(); /* see queue_stream() */
    }

    GPI_DEVICE uint64_t items() const
    {
        return item_count(p);
    }

    GPI_DEVICE char *upto_of(int stage) const
    {
        return ring + stage * stage_bytes + held_bytes;
    }

    GPI_DEVICE A *upto(int stage, int w) const
    {
        return (A *)upto_of(stage) + w * 32;
    }

    GPI_DEVICE char *bits_of(int stage) const
    {
        return upto_of(stage) + upto_bytes;
    }

    GPI_DEVICE void load(Part &part, uint32_t tile, int stage, int w) const
    {
        const uint32_t begin = w * part_items, count = items_of(tile, s.n);
        part.load(p, ring + stage * stage_bytes + misalignment(p.values) + begin * p.in_bytes,
                  (const uint32_t *)bits_of(stage) + w * K, count > begin ? count - begin : 0);
    }

    /* ---- loaders ---- */

    GPI_DEVICE void prefetch(uint64_t tile, uint32_t thread, uint32_t threads) const
    {
        prefetch_tile(p.values, p.n * p.in_bytes, tile, tile_items * p.in_bytes, thread, threads);
    }

    static GPI_DEVICE Loader loader()
    {
        grid_wait(); /* for the bits */
        return {};
    }

    GPI_DEVICE void load_tile(uint32_t tile, int stage, const Loader &loader) const
    {
        const uint64_t rest = s.n - first_of(tile);
        const StageSpan values =
            Loader::span(ring + stage * stage_bytes, p.values + first_of(tile) * p.in_bytes,
                         items_of(tile, s.n) * p.in_bytes, tile == 0, rest * p.in_bytes);
        const char *from = (const char *)p.bits + first_of(tile) / 8;
        loader.load(&s.loaded[stage], values, StageSpan{bits_of(stage), from, 0, tile_items / 8});
    }

    /* ---- folds ---- */

    GPI_DEVICE Sum part_sum(uint32_t tile, int stage, int w) const
    {
        Part part;
        load(part, tile, stage, w);
        return part.template sum<Sum>(upto(stage, w));
    }

    GPI_DEVICE Sum add(const Sum &l, const Sum &r) const
    {
        return {r.count ? r.value : Op::apply(l.value, r.value), l.count + r.count};
    }

    GPI_DEVICE Prefix after(const Prefix &prefix, const Sum &sum) const
    {
        return Fold::apply(prefix, {sum.value, sum.count});
    }

    GPI_DEVICE Prefix start() const
    {
        return Fold::identity();
    }

    struct Ahead : RunsAhead<A, Op> {
        static GPI_DEVICE TileRuns<A> identity()
        {
            return {Op::identity(), 0};
        }

        /* Lanes without a value come last: of two NaNs a minimum is the left one, and its identity
         * is a NaN. */
        static GPI_DEVICE A value_of(uint32_t, A own, uint32_t with)
        {
            const int first = with ? 31 - __clz(with) : 0;
            const A value = shuffle(own, ((int)lane_id() + first) % 32);
            return warp_reduce<Op>((int)lane_id() + first < 32 ? value : Op::identity());
        }

        GPI_DEVICE Prefix exclusive(const TileState<TileRuns<A>> &state, uint32_t tile)
        {
            return this->template find<Ahead>(state, tile);
        }
    };
    using Groups = GroupLookahead<Fold, Runs<A>, 2>;
    static constexpr uint32_t prefix_tiles = wide ? Groups::prefix_tiles : 0;

    GPI_DEVICE auto look_ahead() const
    {
        if constexpr (wide)
            return Groups(start(), tiles);
        else
            return Ahead{{start(), 0}};
    }

    /* The last run ends with the array. */
    GPI_DEVICE void finish(const Prefix &all) const
    {
        if (p.out_count) {
            *p.out_count = all.count + (p.more ? *p.more : 0);
            if (all.count > p.capacity)
                report(p.reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, all.count, p.capacity);
        }
        const A last[] = {Part::flipped(p, all.value)};
        if (all.count > 0)
            fold_store(p.to, p.out, all.count - 1, 0, all.count <= p.capacity, last);
    }

    /* ---- store warps ---- */

    GPI_DEVICE void load_part(Part &part, uint32_t tile, int stage, int w) const
    {
        load(part, tile, stage, w);
        if (p.keys_out)
            keys_near(tile, w);
    }

    /* A part's keys into the L1, which has room for those of a tile, while its prefix is waited
     * for: a word of each sector is read. */
    GPI_DEVICE void keys_near(uint32_t tile, int w) const
    {
        constexpr uint32_t sector = 32;
        const uint32_t begin = w * part_items, count = items_of(tile, s.n);
        const uint32_t items = count < begin ? 0 : min(count - begin, (uint32_t)part_items);
        const char *from = (const char *)p.keys + (first_of(tile) + begin) * p.key_bytes;
        for (uint32_t at = lane_id() * sector; at < items * p.key_bytes; at += 32 * sector) {
            uint32_t byte;
            asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(byte) : "l"(from + at));
        }
    }

    GPI_DEVICE void join_part(Part &part, int stage, int w) const
    {
        part.join(upto(stage, w));
    }

    /* Of some outputs, the first of which is number count - 1, those that there is room for. */
    GPI_DEVICE uint32_t room(uint64_t count, uint32_t some) const
    {
        return count + some <= p.capacity + 1 ? some
               : count <= p.capacity          ? (uint32_t)(p.capacity + 1 - count)
                                              : 0;
    }

    /* Run number before.count - 1 is the one that goes on into the part; there is none before the
     * first item of all. */
    GPI_DEVICE void store_part(const Part &part, uint32_t tile, int, int w,
                               const Prefix &before) const
    {
        constexpr int each = sizeof(A) > 8 ? 1 : 4;
        A *scratch = s.own.scratch[w];
        const uint32_t some = part.leave(before.value, scratch);
        const uint64_t first = before.count - 1;
        const uint32_t end = room(before.count, some);
        for (uint32_t j = lane_id() + (before.count == 0); j < some; j += 32 * each) {
            A x[each];
#pragma unroll
            for (int i = 0; i < each; i++)
                x[i] = Part::flipped(p, scratch[min(j + 32 * i, some - 1)]);
            fold_store(p.to, p.out, first, j, end, x);
        }
        __syncwarp();
        if (p.keys_out)
            store_keys(part.heads, first_of(tile) + w * part_items, before.count,
                       (uint16_t *)scratch);
    }

    /* The first keys of the runs that begin in a part; list: of their places. */
    GPI_DEVICE void store_keys(uint32_t heads, uint64_t first, uint64_t count, uint16_t *list) const
    {
        uint32_t at = warp_exclusive(__popc(heads));
        for (; heads; heads &= heads - 1)
            list[at++] = (uint16_t)(lane_id() * K + __ffs(heads) - 1);
        const uint32_t some = room(count + 1, shuffle(at, 31));
        __syncwarp();
        if (p.key_bytes == 4)
            move_keys<uint32_t>(list, some, first, count);
        else if (p.key_bytes == 8)
            move_keys<uint64_t>(list, some, first, count);
        else if (p.key_bytes == 2)
            move_keys<uint16_t>(list, some, first, count);
        else
            move_keys<uint8_t>(list, some, first, count);
        __syncwarp();
    }

    template <class Key>
    GPI_DEVICE void move_keys(const uint16_t *list, uint32_t some, uint64_t first,
                              uint64_t count) const
    {
        constexpr int each = 4; /* on their way at once */
        const Key *from = (const Key *)p.keys + first;
        Key *to = (Key *)p.keys_out + count;
        for (uint32_t j = lane_id(); j < some; j += 32 * each) {
            Key key[each];
#pragma unroll
            for (int i = 0; i < each; i++)
                key[i] = __ldg(from + list[min(j + 32 * i, some - 1)]);
#pragma unroll
            for (int i = 0; i < each; i++)
                if (j + 32 * i < some)
                    to[j + 32 * i] = key[i];
        }
    }
};

} // namespace GPI_SPACE
