/* SPDX-License-Identifier: MIT */
/* Segmented scan of large arrays: the policy of the stream (device/stream.cuh). */
#pragma once

#include "device/grid.cuh"
#include "device/stream.cuh"
#include "segments/segments_part.cuh"

namespace GPI_SPACE
{

/*
 * As the plain scan (scan_stream.cuh), with heads in every stage: behind the items, which lie as in
 * memory from the 16-byte boundary at or before the first, a bit for each of them. Last comes what
 * the sum warps leave of each part.
 */
template <class Types, class Op, int W, int R, int L, int K, int S>
struct SegmentStream : StreamPolicy {
    using A = typename Types::A;
    using In = typename Types::In;
    using Params = SegmentParams<A>;
    using Loader = StageLoader<L>;
    using Part = SegmentPart<Types, Op, K>;
    using Fold = FoldSegments<A, Op>;
    using Sum = Folded<A>;
    using Prefix = A;
    static constexpr int store_warps = W, sum_warps = R, load_warps = L, stages = S;
    static constexpr int tile_items = W * Part::items;
    static constexpr int tile_bytes = tile_items * (int)sizeof(In);
    static constexpr int items_bytes = tile_bytes + 128, heads_bytes = tile_items / 8;
    static constexpr int upto_bytes = 32 * (int)sizeof(A); /* of a part */
    static constexpr int stage_bytes =
        (items_bytes + heads_bytes + W * upto_bytes + 127) / 128 * 128;
    static constexpr bool in_stage = outputs_in_stage<Types>;
    static constexpr bool part_is_copy = !in_stage;
    static constexpr bool prefetches_all = GPI_SM < 80 || sizeof(In) >= 16;
    using Own = RunScratch<Part, !in_stage, W>;
    static_assert(heads_bytes % 16 == 0, "copies take 16 bytes at a time");

    const Params &p;
    StreamShared<SegmentStream> &s;
    char *ring;
    uint32_t tiles;

    GPI_DEVICE uint64_t items() const
    {
        return p.items();
    }

    GPI_DEVICE void prefetch(uint64_t tile, uint32_t thread, uint32_t threads) const
    {
        prefetch_tile(p.in, p.n * sizeof(In), tile, tile_bytes, thread, threads);
    }

    GPI_DEVICE char *stage(int i) const
    {
        return ring + i * stage_bytes;
    }

    /* A warp's items; without the shift, where its outputs may be. */
    GPI_DEVICE char *items_of(int stage_index, int warp, uint32_t shifted_by) const
    {
        return stage(stage_index) + shifted_by + warp * Part::items * (int)sizeof(In);
    }

    GPI_DEVICE uint32_t *heads(int stage_index, int warp = 0) const
    {
        return (uint32_t *)(stage(stage_index) + items_bytes) + warp * (Part::items / 32);
    }

    GPI_DEVICE A *upto(int stage_index, int warp) const
    {
        return (A *)(stage(stage_index) + items_bytes + heads_bytes + warp * upto_bytes);
    }

    /* ---- loaders ---- */

    static GPI_DEVICE Loader loader()
    {
        grid_wait(); /* for the heads */
        return {};
    }

    /* Identities after the last item, so that the other warps need no special case. */
    GPI_DEVICE void pad(char *tile_start, int count) const
    {
        for (int i = count + Loader::thread(); i < tile_items; i += Loader::threads)
            item_store<In, Types::piece_in>(tile_start + i * sizeof(In),
                                            neutral_item<Op, In>(p.flip));
    }

    GPI_DEVICE void load_tile(uint32_t tile, int stage_index, const Loader &loader) const
    {
        const char *from = p.in + (uint64_t)tile * tile_bytes;
        const uint64_t first = (uint64_t)tile * tile_items, rest = s.n - first;
        const int count = rest < tile_items ? (int)rest : tile_items;
        char *to = stage(stage_index);
        const StageSpan in =
            Loader::span(to, from, count * (uint32_t)sizeof(In), tile == 0, rest * sizeof(In));
        if (count < tile_items)
            pad(to + misalignment(from), count);
        if (!p.heads && Loader::thread() < 32)
            row_heads(p, first, tile_items / 32, heads(stage_index));
        const StageSpan bits = {(char *)heads(stage_index), (const char *)(p.heads + first / 32), 0,
                                p.heads ? (uint32_t)heads_bytes : 0};
        if constexpr (in_stage)
            Loader::follows_writes();
        loader.load(&s.loaded[stage_index], in, bits);
    }

    /* ---- folds ---- */

    GPI_DEVICE Folded<A> part_sum(uint32_t, int stage_index, int w) const
    {
        Part part;
        const char *from = items_of(stage_index, w, misalignment(p.in));
        part.load(from, heads(stage_index, w), p);
        return part.sum(from, upto(stage_index, w), p);
    }

    GPI_DEVICE Folded<A> add(const Folded<A> &l, const Folded<A> &r) const
    {
        return Fold::apply(l, r);
    }

    GPI_DEVICE A after(const A &prefix, const Folded<A> &sum) const
    {
        return Fold::apply({prefix, 0}, sum).value;
    }

    GPI_DEVICE A start() const
    {
        return Op::identity();
    }

    /* Prefixes of segments that go on. */
    using Folds = StreamLookahead<Fold, Folded<A>, 4>;
    static constexpr uint32_t prefix_tiles = Folds::prefix_tiles;
    struct Ahead {
        Folds folds;

        GPI_DEVICE A exclusive(const TileState<Folded<A>> &state, uint32_t tile)
        {
            return folds.exclusive(state, tile).value;
        }
    };

    GPI_DEVICE Ahead look_ahead() const
    {
        return {Folds(Fold::identity(), tiles)};
    }

    /* ---- store warps ---- */

    GPI_DEVICE void load_part(Part &part, uint32_t, int stage_index, int warp) const
    {
        part.load(items_of(stage_index, warp, misalignment(p.in)), heads(stage_index, warp), p);
    }

    GPI_DEVICE void join_part(Part &part, int stage_index, int warp) const
    {
        part.join(upto(stage_index, warp));
        if constexpr (in_stage)
            stage_taken<W>(misalignment(p.in) != 0);
    }

    GPI_DEVICE char *scratch(int stage_index, int warp) const
    {
        if constexpr (in_stage)
            return items_of(stage_index, warp, 0);
        else
            return s.own.scratch[warp];
    }

    GPI_DEVICE void store_part(const Part &part, uint32_t tile, int stage_index, int warp,
                               const A &prefix) const
    {
        const uint64_t first = (uint64_t)tile * tile_items + (uint64_t)warp * Part::items;
        if (first < s.n)
            part.store(p.out + first * sizeof(typename Types::Out), prefix,
                       s.n - first < Part::items ? (int)(s.n - first) : Part::items,
                       scratch(stage_index, warp), p);
    }
};

} // namespace GPI_SPACE
