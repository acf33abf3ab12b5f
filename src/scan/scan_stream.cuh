/* SPDX-License-Identifier: MIT */
/* Scan of large arrays: the policy of the stream (device/stream.cuh). */
#pragma once

#include "device/stream.cuh"
#include "scan/scan_part_blocked.cuh"
#include "tuning/scan_tuning.cuh"

namespace GPI_SPACE
{

/* Parts whose lanes have their vectors side by side. */
template <class Types>
constexpr bool in_runs = Types::bytes_in >= 16 &&
                         (!Types::scalar || sizeof(typename Types::Out) < 4);

template <class Types, class Op, int K, bool BACKWARD, bool RUNS> struct PartOf {
    using type = StripedPart<Types, Op, K, BACKWARD>;
    static constexpr int upto_bytes = 0;
};
template <class Types, class Op, int K, bool BACKWARD> struct PartOf<Types, Op, K, BACKWARD, true> {
    using type = BlockedPart<Types, Op, K, BACKWARD>;
    static constexpr int upto_bytes = 32 * (int)sizeof(typename Types::A);
};

/*
 * A stage holds one tile as it lies in memory, from the 16-byte boundary at or before its first
 * byte, so that bulk copies fit at any alignment. Backward, tiles and the warps' parts of them are
 * counted from the end, and the last tile may begin before the array. Behind it lies what the sum
 * warps leave of each part. Tile: W x 32 x K vectors.
 */
template <class Types, class Op, int W, int R, int L, int K, int S, bool BACKWARD = false>
struct ScanStream : StreamPolicy {
    using A = typename Types::A;
    using In = typename Types::In;
    using Total = typename Types::Total;
    using Params = ScanParams<Total>;
    using Sum = Total;
    using Prefix = Total;
    static constexpr bool runs = in_runs<Types>;
    using ItsPart = PartOf<Types, Op, K, BACKWARD, runs>;
    using Part = typename ItsPart::type;
    static constexpr bool in_stage = runs && outputs_in_stage<Types>;
    static constexpr int store_warps = W, sum_warps = R, load_warps = L, stages = S;
    static constexpr int tile_items = W * Part::items;
    static constexpr int tile_bytes = tile_items * (int)sizeof(In);
    static constexpr int items_bytes = tile_bytes + 128;
    static constexpr int stage_bytes = items_bytes + W * ItsPart::upto_bytes;
    static constexpr int groups_at_once = Types::scalar && sizeof(A) == 8 ? 5 : 4; /* looked at */
    static constexpr bool part_is_copy = !in_stage;
    static constexpr bool prefetches_all = GPI_SM < 80 || sizeof(In) >= 16;

    using Loader = StageLoader<L, LoadHint::always>;
    using Own = RunScratch<Part, runs && !in_stage, W>;

    using TotalOp = std::conditional_t<Types::wide, GPI_SPACE::Sum<Total>, Op>;

    const Params &p;
    StreamShared<ScanStream> &s;
    char *ring;
    uint32_t tiles;
    uint32_t lost = 0; /* of this warp's outputs: see Steps */

    GPI_DEVICE uint64_t items() const
    {
        return scan_n(p);
    }

    GPI_DEVICE void prefetch(uint64_t tile, uint32_t thread, uint32_t threads) const
    {
        const uint64_t bytes = p.n * sizeof(In);
        if constexpr (BACKWARD) {
            const uint64_t behind = (tile + 1) * tile_bytes;
            if (behind <= bytes)
                prefetch_tile(p.in + (bytes - behind), tile_bytes, 0, tile_bytes, thread, threads);
        } else {
            prefetch_tile(p.in, bytes, tile, tile_bytes, thread, threads);
        }
    }

    GPI_DEVICE char *stage(int i) const
    {
        return ring + i * stage_bytes;
    }

    /* Of a tile's items from the 16-byte boundary before. */
    GPI_DEVICE uint32_t shift() const
    {
        return misalignment(BACKWARD ? p.in + s.n * sizeof(In) : p.in);
    }

    /* Where a warp's part of a tile lies in a stage; without the shift, where its outputs may. */
    GPI_DEVICE char *part_of(int stage_index, int warp, uint32_t shifted_by) const
    {
        const int place = BACKWARD ? W - 1 - warp : warp;
        return stage(stage_index) + shifted_by + place * Part::items * (int)sizeof(In);
    }

    GPI_DEVICE A *upto(int stage_index, int warp) const
    {
        return (A *)(stage(stage_index) + items_bytes + warp * ItsPart::upto_bytes);
    }

    /* ---- loaders ---- */

    GPI_DEVICE Loader loader() const
    {
        return Loader::with_hint(s.n * sizeof(In) >= scan_tuning.keep_bytes);
    }

    /* Identities in place of the items [first, end), which the last tile lacks, so that the other
     * warps need no special case. */
    GPI_DEVICE void pad(char *tile_start, int first, int end) const
    {
        for (int i = first + Loader::thread(); i < end; i += Loader::threads)
            item_store<In, Types::piece_in>(tile_start + i * sizeof(In),
                                            neutral_item<Op, In>(p.flip));
    }

    GPI_DEVICE StageSpan span_forward(uint32_t tile, char *to, uint64_t rest, int count) const
    {
        const char *from = p.in + (uint64_t)tile * tile_bytes;
        const uint32_t bytes = count * (uint32_t)sizeof(In);
        const StageSpan span = Loader::span(to, from, bytes, tile == 0, rest * sizeof(In));
        if (count < tile_items)
            pad(to + misalignment(from), count, tile_items);
        return span;
    }

    /* The same with tiles from the end; data is bytes [data_begin, data_end) of the stage. */
    GPI_DEVICE StageSpan span_backward(uint32_t tile, char *to, uint64_t rest, int count) const
    {
        const uint32_t data_end = misalignment(p.in + rest * sizeof(In)) + tile_bytes;
        const uint32_t data_begin = data_end - count * (uint32_t)sizeof(In);
        const char *from = p.in + rest * sizeof(In) - data_end; /* of the stage's first byte */
        uint32_t begin = data_begin & ~15u, end = (data_end + 15) & ~15u;
        if (rest <= tile_items && begin < data_begin) {
            begin += 16;
            Loader::copy_bytes(to + data_begin, from + data_begin,
                               (begin < data_end ? begin : data_end) - data_begin);
        }
        if (tile == 0 && end > begin && end > data_end) {
            end -= 16;
            Loader::copy_bytes(to + end, from + end, data_end - end);
        }
        pad(to + data_end - tile_bytes, 0, tile_items - count);
        return {to, from, begin, end > begin ? end : begin};
    }

    GPI_DEVICE void load_tile(uint32_t tile, int stage_index, const Loader &loader)
    {
        const uint64_t rest = s.n - (uint64_t)tile * tile_items;
        const int count = rest < tile_items ? (int)rest : tile_items;
        char *to = stage(stage_index);
        if constexpr (in_stage)
            Loader::follows_writes();
        loader.load(&s.loaded[stage_index], BACKWARD ? span_backward(tile, to, rest, count)
                                                     : span_forward(tile, to, rest, count));
    }

    /* ---- sums ---- */

    GPI_DEVICE Total part_sum(uint32_t, int stage_index, int w) const
    {
        Part part;
        part.load(part_of(stage_index, w, shift()), p.flip);
        if constexpr (runs)
            return total_of<Types>(part.sum(upto(stage_index, w)));
        else if constexpr (Types::wide && sizeof(In) == 4)
            return striped_total<typename Types::Wider, TotalOp>(part.raw);
        else
            return total_of<Types>(striped_total<Types, Op>(part.raw));
    }

    GPI_DEVICE Total add(Total l, Total r) const
    {
        return TotalOp::apply(l, r);
    }

    GPI_DEVICE Total after(Total prefix, Total sum) const
    {
        return TotalOp::apply(prefix, sum);
    }

    GPI_DEVICE Total start() const
    {
        return scan_start<TotalOp>(p);
    }

    using Ahead = StreamLookahead<TotalOp, Total, groups_at_once>;
    static constexpr uint32_t prefix_tiles = Ahead::prefix_tiles;

    GPI_DEVICE Ahead look_ahead() const
    {
        return Ahead(start(), tiles);
    }

    GPI_DEVICE void finish(Total total) const
    {
        scan_finish<Types, Op>(p, s.n, total);
    }

    /* ---- store warps ---- */

    GPI_DEVICE void load_part(Part &part, uint32_t tile, int stage_index, int warp) const
    {
        part.load(part_of(stage_index, warp, shift()), p.flip);
        if constexpr (Types::wide) { /* an exclusive scan has no output behind the last item */
            const uint64_t last =
                s.n - 1 - (uint64_t)tile * tile_items - (uint64_t)warp * Part::items;
            if (p.kind != inclusive && last < Part::items)
                part.drop((int)last);
        }
        if constexpr (!runs)
            part.scan();
    }

    GPI_DEVICE void join_part(Part &part, int stage_index, int warp) const
    {
        if constexpr (runs)
            part.join(upto(stage_index, warp));
        if constexpr (in_stage)
            stage_taken<W>(shift() != 0);
    }

    GPI_DEVICE void store_part(const Part &part, uint32_t tile, int stage_index, int warp,
                               Total before_part)
    {
        const A prefix = (A)before_part;
        const uint64_t first = (uint64_t)tile * tile_items + (uint64_t)warp * Part::items;
        const bool before = p.kind != inclusive;
        const uint64_t place = BACKWARD ? s.n - first - Part::items : first; /* modulo 2^64 */
        char *out = p.out + place * sizeof(typename Types::Out);
        const bool whole = (uint64_t)(tile + 1) * tile_items <= s.n;
        if (!whole && first >= s.n)
            return;
        const int count = whole || s.n - first >= Part::items ? Part::items : (int)(s.n - first);
        if constexpr (in_stage)
            part.store(out, prefix, before, count, p.flip, lost, part_of(stage_index, warp, 0));
        else if constexpr (runs)
            part.store(out, prefix, before, count, p.flip, lost, s.own.scratch[warp]);
        else
            part.store(out, prefix, before, count, p.flip, lost);
    }

    GPI_DEVICE void end() const
    {
        if (Types::wide && Steps<Types>::any_lost(lost))
            report(p.reporter, GPI_RULE_OVERFLOW, GPI_NO_INDEX, 0, 0);
    }
};

} // namespace GPI_SPACE
