/* SPDX-License-Identifier: MIT */
/* Scan of large arrays: the policy of the stream (device/stream.cuh). */
#pragma once

#include "device/stream.cuh"
#include "scan/scan_part_blocked.cuh"
#include "tuning/scan_tuning.cuh"

namespace GPI_SPACE
{

template <class Types, class Op, int K, bool BACKWARD, bool RUNS> struct PartOf {
    using type = StripedPart<Types, Op, K, BACKWARD>;
    static constexpr int scratch_bytes = 16;
};
template <class Types, class Op, int K> struct PartOf<Types, Op, K, false, true> {
    using type = BlockedPart<Types, Op, K>;
    static constexpr int scratch_bytes = type::scratch_bytes;
};

/*
 * A stage holds one tile as it lies in memory, from the 16-byte boundary at or before its first
 * byte, so that bulk copies fit at any alignment. Backward, tiles and the warps' parts of them are
 * counted from the end, and the last tile may begin before the array. Tile: W x 32 x K vectors.
 */
template <class Types, class Op, int W, int R, int L, int K, int S, bool BACKWARD = false>
struct ScanStream : StreamPolicy {
    using A = typename Types::A;
    using In = typename Types::In;
    using Params = ScanParams<A>;
    using Sum = A;
    using Prefix = A;
    static constexpr bool runs = !Types::scalar && !BACKWARD;
    using Part = typename PartOf<Types, Op, K, BACKWARD, runs>::type;
    static constexpr int scratch_bytes = PartOf<Types, Op, K, BACKWARD, runs>::scratch_bytes;
    static constexpr int store_warps = W, sum_warps = R, load_warps = L, stages = S;
    static constexpr int tile_items = W * Part::items;
    static constexpr int tile_bytes = tile_items * (int)sizeof(In);
    static constexpr int stage_bytes = tile_bytes + 128;
    static constexpr int groups_at_once = Types::scalar && sizeof(A) == 8 ? 5 : 4; /* looked at */
    static constexpr bool part_is_copy = true;

    using Loader = StageLoader<L, true>;
    struct Own {
        char scratch[W][scratch_bytes]; /* of a warp that stores runs */
    };

    const Params &p;
    StreamShared<ScanStream> &s;
    char *ring;
    uint32_t tiles;
    bool overflow = false; /* of an output of this warp */

    GPI_DEVICE uint64_t items() const
    {
        return scan_n(p);
    }

    /* Some block takes the tile of this block's number first:
     * fetch it while the numbers are claimed. */
    GPI_DEVICE void prefetch() const
    {
        if constexpr (BACKWARD) {
            const uint64_t bytes = p.n * sizeof(In);
            const uint64_t behind = (uint64_t)(blockIdx.x + 1) * tile_bytes;
            if (behind <= bytes)
                prefetch_tile(p.in + (bytes - behind), tile_bytes, 0, tile_bytes);
        } else {
            prefetch_tile(p.in, p.n * sizeof(In), blockIdx.x, tile_bytes);
        }
    }

    GPI_DEVICE char *stage(int i) const
    {
        return ring + i * stage_bytes;
    }

    /* Where a warp's part of a tile lies in a stage. */
    GPI_DEVICE const char *part_of(int stage_index, int warp) const
    {
        const char *from = BACKWARD ? p.in + s.n * sizeof(In) : p.in;
        const int place = BACKWARD ? W - 1 - warp : warp;
        return stage(stage_index) + misalignment(from) + place * Part::items * sizeof(In);
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
        loader.load(&s.loaded[stage_index], BACKWARD ? span_backward(tile, to, rest, count)
                                                     : span_forward(tile, to, rest, count));
    }

    /* ---- sums ---- */

    GPI_DEVICE A part_sum(uint32_t, int stage_index, int w) const
    {
        Part part;
        part.load(part_of(stage_index, w), p.flip);
        if constexpr (runs)
            return warp_reduce<Op>(part.total());
        A sum = vector_total<Types, Op>(part.raw[0]);
        if constexpr (Op::commutes) {
#pragma unroll
            for (int k = 1; k < K; k++)
                sum = Op::apply(sum, vector_total<Types, Op>(part.raw[k]));
            return warp_reduce<Op>(sum);
        } else {
            sum = warp_reduce<Op>(sum);
#pragma unroll
            for (int k = 1; k < K; k++)
                sum = Op::apply(sum, warp_reduce<Op>(vector_total<Types, Op>(part.raw[k])));
            return sum;
        }
    }

    GPI_DEVICE A add(A l, A r) const
    {
        return Op::apply(l, r);
    }

    GPI_DEVICE A after(A prefix, A sum) const
    {
        return Op::apply(prefix, sum);
    }

    GPI_DEVICE A start() const
    {
        return scan_start<Op>(p);
    }

    GPI_DEVICE Lookahead<Op, A, groups_at_once, 16> look_ahead() const
    {
        return Lookahead<Op, A, groups_at_once, 16>(start());
    }

    GPI_DEVICE void finish(A total) const
    {
        scan_finish<Types, Op>(p, s.n, total);
    }

    /* ---- store warps ---- */

    GPI_DEVICE void load_part(Part &part, uint32_t, int stage_index, int warp) const
    {
        part.load(part_of(stage_index, warp), p.flip);
        part.scan();
    }

    GPI_DEVICE void store_part(const Part &part, uint32_t tile, int, int warp, A prefix)
    {
        const uint64_t first = (uint64_t)tile * tile_items + (uint64_t)warp * Part::items;
        const bool before = p.kind != inclusive;
        const uint64_t place = BACKWARD ? s.n - first - Part::items : first; /* modulo 2^64 */
        char *out = p.out + place * sizeof(typename Types::Out);
        const bool whole = (uint64_t)(tile + 1) * tile_items <= s.n;
        if (!whole && first >= s.n)
            return;
        const int count = whole || s.n - first >= Part::items ? Part::items : (int)(s.n - first);
        if constexpr (runs) {
            if (whole)
                part.store(out, prefix, before, s.own.scratch[warp]);
            else
                part.store_partial(out, prefix, before, count, s.own.scratch[warp]);
        } else {
            if (whole)
                part.store(out, prefix, before, p.flip, overflow);
            else
                part.store_partial(out, prefix, before, count, p.flip, overflow);
        }
    }

    GPI_DEVICE void end() const
    {
        if (Types::wide && overflow)
            report(p.reporter, GPI_RULE_OVERFLOW, GPI_NO_INDEX, 0, 0);
    }
};

} // namespace GPI_SPACE
