/* SPDX-License-Identifier: MIT */
/*
 * The heads of segments as bits: one kernel, before that of the scan. The bits are a 64th of the
 * traffic of a scan of 4-byte items, and what a segment's description costs does not meet the scan:
 * millions of empty segments are a few more loads here, spread over all blocks.
 */
#include <type_traits>

extern "C" {
#include "segments/segments_internal.h"
}
#include "device/host.cuh"
#include "device/report.cuh"
#include "device/ops.cuh"
#include "device/tile_io.cuh"
#include "device/warp.cuh"
#include "tuning/scan_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

constexpr int threads = scan_tuning.heads_threads;
constexpr int rounds = scan_tuning.heads_loads;

/* ---- flags and keys: an item per bit ---- */

struct Flags {
    using Value = uint32_t;
    const uint8_t *flags;
    GPI_DEVICE uint32_t load(uint64_t i) const
    {
        return __ldg(flags + i);
    }
    static GPI_DEVICE bool head(uint32_t own, uint32_t)
    {
        return own != 0;
    }
};

template <class Key> struct Keys {
    using Value = std::conditional_t<sizeof(Key) < 4, uint32_t, Key>;
    const Key *keys;
    GPI_DEVICE Value load(uint64_t i) const
    {
        return __ldg(keys + i);
    }
    static GPI_DEVICE bool head(Value own, Value before)
    {
        return own != before;
    }
};

/* Grid: any; 256 threads. A warp makes 32 words at a time, a ballot for each; the value
 * before an item comes from the lane before. After: heads[w] for all w < ceil(n / 32); bits
 * from n on are 0. */
template <class Marks>
__global__ void __launch_bounds__(threads)
    segment_marks_k(const Marks marks, uint64_t n, uint32_t *heads)
{
    using Value = typename Marks::Value;
    const uint64_t words = (n + 31) / 32, warps = (uint64_t)gridDim.x * (threads / 32);
    const uint64_t warp = ((uint64_t)blockIdx.x * threads + threadIdx.x) / 32;
    for (uint64_t w0 = warp * 32; w0 < words; w0 += warps * 32) {
        uint32_t mine = 0;
        Value last = w0 ? marks.load(w0 * 32 - 1) : 0; /* before the first item */
        for (int r0 = 0; r0 < 32; r0 += rounds) {
            const uint64_t first = (w0 + r0) * 32 + lane_id();
            Value own[rounds];
#pragma unroll
            for (int r = 0; r < rounds; r++)
                own[r] = first + r * 32 < n ? marks.load(first + r * 32) : 0;
#pragma unroll
            for (int r = 0; r < rounds; r++) {
                const Value left = shuffle_up(own[r], 1);
                const bool head = Marks::head(own[r], lane_id() == 0 ? last : left);
                const uint32_t word = __ballot_sync(all_lanes, head && first + r * 32 < n);
                if (lane_id() == r0 + r)
                    mine = word;
                last = shuffle(own[r], 31);
            }
        }
        if (w0 == 0 && lane_id() == 0)
            mine |= 1;
        if (w0 + lane_id() < words)
            heads[w0 + lane_id()] = mine;
    }
}

/* Bit j: byte j of four is not 0. */
GPI_DEVICE uint32_t bytes_set(uint32_t four)
{
    const uint32_t high = ((four & 0x7f7f7f7fu) + 0x7f7f7f7fu | four) & 0x80808080u;
    return (high >> 7) * 0x10204080u >> 28;
}

/*
 * Flags at a 16-byte boundary: 16 of them per lane and load. Grid: any; 256 threads. After:
 * the bits of the first n / 16 groups of 16 items; the last, partial word by the last thread.
 */
__global__ void __launch_bounds__(threads)
    segment_flags_k(const uint8_t *flags, uint64_t n, uint32_t *heads)
{
    const uint64_t groups = n / 16, all = (uint64_t)gridDim.x * threads;
    const uint64_t thread = (uint64_t)blockIdx.x * threads + threadIdx.x;
    uint16_t *to = (uint16_t *)heads;
    for (uint64_t g0 = thread; g0 < groups; g0 += 4 * all) {
        uint4 v[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (g0 + j * all < groups)
                v[j] = __ldcs((const uint4 *)flags + g0 + j * all);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const uint64_t g = g0 + j * all;
            if (g < groups)
                to[g] = (uint16_t)(bytes_set(v[j].x) | bytes_set(v[j].y) << 4 |
                                   bytes_set(v[j].z) << 8 | bytes_set(v[j].w) << 12 | (g == 0));
        }
    }
    if (thread == all - 1 && n % 16) {
        uint32_t rest = groups == 0;
        for (uint64_t i = groups * 16; i < n; i++)
            rest |= (uint32_t)(flags[i] != 0) << i % 16;
        to[groups] = (uint16_t)rest;
    }
}

/* ---- offsets: a segment per bit ---- */

constexpr int side_by_side = scan_tuning.heads_offsets;

/* The lane's offsets from s on; what stands behind the array is past_end. By a whole warp, whose
 * first offset is s0. */
template <class Offset>
GPI_DEVICE void load_offsets(const Offset *offsets, uint64_t num_segments, uint64_t s0,
                             Offset past_end, Offset (&to)[side_by_side])
{
    constexpr int V = side_by_side;
    const uint64_t s = s0 + lane_id() * V;
    if ((uintptr_t)offsets % 16 == 0 && s0 + 32 * V <= num_segments) {
        union {
            uint4 vector[V * sizeof(Offset) / 16];
            Offset at[V];
        } u;
#pragma unroll
        for (size_t j = 0; j < V * sizeof(Offset) / 16; j++)
            u.vector[j] = __ldcs((const uint4 *)(offsets + s) + j);
#pragma unroll
        for (int j = 0; j < V; j++)
            to[j] = u.at[j];
    } else {
#pragma unroll
        for (int j = 0; j < V; j++)
            to[j] = s + j <= num_segments ? __ldg(offsets + s + j) : past_end;
    }
}

/* Set bits in a word that neighbouring lanes have too: the last of these lanes does, for all. */
template <class Word> GPI_DEVICE void heads_set_together(uint32_t *heads, Word word, uint32_t bits)
{
    const Word before = shuffle_up(word, 1);
    const uint32_t firsts = __ballot_sync(all_lanes, lane_id() == 0 || word != before);
    const uint32_t upto = firsts & 0xffffffffu >> 31 - lane_id();
    const int reach = lane_id() - (31 - __clz(upto));
    bits = warp_scan_within<Or<uint32_t>>(bits, reach);
    if (bits && (lane_id() == 31 || firsts >> lane_id() + 1 & 1))
        atomicOr(heads + word, bits);
}

/* Set bits in each lane's words: with offsets that ascend, a word that neither lane beside has is
 * this lane's alone. */
template <class Word>
GPI_DEVICE void heads_set(uint32_t *heads, const Word (&word)[side_by_side],
                          uint32_t (&bits)[side_by_side])
{
    constexpr int V = side_by_side;
    const Word before = shuffle_up(word[V - 1], 1), after = shuffle_down(word[0], 1);
#pragma unroll
    for (int j = 0; j < V; j++) {
        if (j + 1 < V && word[j] == word[j + 1]) {
            bits[j + 1] |= bits[j];
        } else if (bits[j]) {
            const bool first = word[j] == word[0] && (lane_id() == 0 || word[j] == before);
            const bool last = word[j] == word[V - 1] && (lane_id() == 31 || word[j] == after);
            if (first || last)
                atomicOr(heads + word[j], bits[j]);
            else
                heads[word[j]] = bits[j];
        }
    }
}

/* The heads of a warp's offsets, relative to the first; those from n on are left out. Returns
 * whether they fall; after: the offset behind the lane's. */
template <class Offset>
GPI_DEVICE bool heads_of(uint32_t *heads, const Offset (&at)[side_by_side], Offset after, Offset n)
{
    constexpr int V = side_by_side;
    Offset word[V];
    uint32_t bits[V], together = 0;
    bool falls = false, one_word = true;
#pragma unroll
    for (int j = 0; j < V; j++) {
        const Offset next = j + 1 < V ? at[j + 1] : after;
        falls = falls || at[j] > next;
        word[j] = at[j] / 32;
        one_word = one_word && word[j] == word[0];
        bits[j] = at[j] < n && at[j] != next ? 1u << at[j] % 32 : 0;
        together |= bits[j];
    }
    if (__all_sync(all_lanes, one_word))
        heads_set_together(heads, word[0], together);
    else
        heads_set(heads, word, bits);
    return falls;
}

template <class Offset> GPI_DEVICE Offset sign_bit(const gpi_reporter &reporter)
{
    const bool is_signed = reporter.source.dtype == GP_I32 || reporter.source.dtype == GP_I64;
    return is_signed ? (Offset)1 << (8 * sizeof(Offset) - 1) : 0;
}

/* Whether offset s is above the next, as numbers of a dtype with the sign bit bias (0: none). */
template <class Offset> GPI_DEVICE bool falls_behind(const Offset *offsets, uint64_t s, Offset bias)
{
    return (Offset)(offsets[s] ^ bias) > (Offset)(offsets[s + 1] ^ bias);
}

/* Report what thread has met: that the first offset is negative or the last is not past_end (thread
 * 0), or the place where offsets fall. Where they have fallen below the first one, the thread has
 * met the place at which they come back. Not inlined, for the kernel's loop to stay as it is. */
template <class Offset>
__device__ __noinline__ void report_offsets(const Offset *offsets, uint64_t num_segments,
                                            Offset past_end, uint64_t thread, uint64_t step,
                                            const gpi_reporter &reporter)
{
    const Offset bias = sign_bit<Offset>(reporter), base = offsets[0];
    if (thread == 0 && offsets[num_segments] != past_end)
        report(reporter, GPI_RULE_LAST, num_segments, offsets[num_segments], past_end);
    if (thread == 0 && (base & bias))
        report(reporter, GPI_RULE_NEGATIVE, 0, base, 0);
    for (uint64_t first = thread * side_by_side; first < num_segments; first += step)
        for (uint64_t s = first; s < first + side_by_side && s < num_segments; s++) {
            if ((Offset)(offsets[s] - base) <= (Offset)(offsets[s + 1] - base))
                continue;
            while (s > 0 && !falls_behind(offsets, s, bias))
                s--;
            return report(reporter, GPI_RULE_FALLS, s + 1, offsets[s + 1], offsets[s]);
        }
}

/*
 * Grid: any; 256 threads; heads are zeroed before. After: a bit where a segment starts, and at 0.
 * Nothing outside the array is written whatever the offsets hold. Reports where they fall or that
 * they do not end at n.
 */
template <class Offset>
__global__ void __launch_bounds__(threads)
    segment_offsets_k(const Offset *__restrict__ offsets, uint64_t num_segments, Offset n,
                      uint32_t *heads, const gpi_reporter reporter)
{
    constexpr int V = side_by_side;
    const Offset base = __ldg(offsets), past_end = base + n;
    const uint64_t thread = (uint64_t)blockIdx.x * threads + threadIdx.x;
    const uint64_t step = (uint64_t)gridDim.x * threads * V;
    bool bad = false;
    if (thread == 0) {
        bad = __ldg(offsets + num_segments) != past_end || (base & sign_bit<Offset>(reporter));
        atomicOr(heads, 1u);
    }
    uint64_t s0 = (thread - lane_id()) * V;
    Offset at[V], ahead[V]; /* one round is read while the one before is worked on */
    if (s0 < num_segments)
        load_offsets(offsets, num_segments, s0, past_end, ahead);
    for (; s0 < num_segments; s0 += step) {
#pragma unroll
        for (int j = 0; j < V; j++)
            at[j] = ahead[j] - base;
        Offset after = past_end;
        if (lane_id() == 31 && s0 + 32 * V <= num_segments)
            after = __ldg(offsets + s0 + 32 * V);
        if (s0 + step < num_segments)
            load_offsets(offsets, num_segments, s0 + step, past_end, ahead);
        const Offset of_next_lane = shuffle_down(at[0], 1);
        after = lane_id() == 31 ? (Offset)(after - base) : of_next_lane;
        bad = heads_of(heads, at, after, n) || bad;
    }
    if (bad)
        report_offsets(offsets, num_segments, past_end, thread, step, reporter);
}

/* ---- launches ---- */

/* Enough blocks for work pieces, each piece of one thread; several waves, so that they even out. */
uint32_t grid_of(const gp_context *ctx, uint64_t pieces)
{
    const uint64_t blocks = (pieces + threads - 1) / threads,
                   most = (uint64_t)ctx->sm_count * scan_tuning.heads_blocks_per_sm;
    return (uint32_t)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

template <class Marks>
void launch_marks(gp_context *ctx, const Marks &marks, uint64_t n, uint32_t *heads)
{
    segment_marks_k<<<grid_of(ctx, (n + 31) / 32), threads, 0, ctx->stream>>>(marks, n, heads);
}

void launch_flags(gp_context *ctx, const uint8_t *flags, uint64_t n, uint32_t *heads)
{
    if ((uintptr_t)flags % 16)
        launch_marks(ctx, Flags{flags}, n, heads);
    else
        segment_flags_k<<<grid_of(ctx, n / 64), threads, 0, ctx->stream>>>(flags, n, heads);
}

void launch_keys(gp_context *ctx, const gpi_segments *g, uint64_t n, uint32_t *heads)
{
    if (g->item_bytes == 1)
        launch_marks(ctx, Keys<uint8_t>{(const uint8_t *)g->array}, n, heads);
    else if (g->item_bytes == 2)
        launch_marks(ctx, Keys<uint16_t>{(const uint16_t *)g->array}, n, heads);
    else if (g->item_bytes == 4)
        launch_marks(ctx, Keys<uint32_t>{(const uint32_t *)g->array}, n, heads);
    else
        launch_marks(ctx, Keys<uint64_t>{(const uint64_t *)g->array}, n, heads);
}

template <class Offset>
void launch_offsets(gp_context *ctx, const gpi_segments *g, uint64_t n, uint32_t *heads)
{
    segment_offsets_k<<<grid_of(ctx, g->count / 8), threads, 0, ctx->stream>>>(
        (const Offset *)g->array, g->count, (Offset)n, heads,
        gpi_reporter_of(ctx, "offsets", g->offset_dtype));
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_segment_heads)(gp_context *ctx, const gpi_segment_args *args,
                                                     uint32_t *heads)
{
    using namespace GPI_SPACE;
    const gpi_segments *g = &args->segments;
    if (g->source == GPI_SEGMENT_FLAGS)
        launch_flags(ctx, (const uint8_t *)g->array, args->n, heads);
    else if (g->source == GPI_SEGMENT_KEYS)
        launch_keys(ctx, g, args->n, heads);
    else if (g->item_bytes == 4)
        launch_offsets<uint32_t>(ctx, g, args->n, heads);
    else
        launch_offsets<uint64_t>(ctx, g, args->n, heads);
    return gpi_cuda_launched(ctx, args->function);
}
