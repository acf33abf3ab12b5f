/* SPDX-License-Identifier: MIT */
/* Launcher of the scan algorithms that are not the default for one accumulator, GPI_ACC; included
 * by family_cuda_tmpl.cu once for each of a group. */
#include "scan/family/family_host.cuh"

#include "scan/family/family_fenwick.cuh"
#include "scan/family/family_multi_pass.cuh"
#include "scan/family/family_single_pass.cuh"
#include "tuning/scan_tuning.cuh"

#define GPI_UNIT_SPACE GPI_PASTE(family_, GPI_ACC)

namespace GPI_SPACE
{
namespace
{
namespace GPI_UNIT_SPACE
{

using Acc = GPI_ACC;

const char function[] = "gp_scan"; /* its short forms take AUTO, forward */
constexpr int threads = Family<Acc>::threads;
constexpr uint64_t tile_items = Family<Acc>::tile;
constexpr int acc_dtype = std::is_same_v<Acc, u32>   ? GP_U32
                          : std::is_same_v<Acc, u64> ? GP_U64
                          : std::is_same_v<Acc, f64> ? GP_F64
                                                     : GP_F32; /* of pairs: not used */

using Params = FamilyParams<Acc>;

/* Also the blocks of kernels with one per tile. */
uint32_t tiles_of(uint64_t n)
{
    return n <= tile_items ? 1 : blocks_for<tile_items>(n);
}

Acc *take(gpi_frame *frame, uint64_t items)
{
    return (Acc *)gpi_frame_take(frame, items * sizeof(Acc));
}

/* slots: of the tile states. */
gp_status single_pass(gp_context *ctx, const Params &p, uint64_t slots, gp_algorithm algorithm)
{
    const uint64_t tiles = tiles_of(p.n),
                   most = (uint64_t)ctx->sm_count * scan_tuning.tile_blocks_per_sm;
    gpi_state state;
    GPI_TRY(gpi_state_get(ctx, function, slots, &state));
    family_single_pass_k<Acc>
        <<<(uint32_t)(tiles < most ? tiles : most), threads, 0, ctx->stream>>>(p, state, algorithm);
    return gpi_cuda_launched(ctx, function);
}

/* The scan of a level's sums: exclusive, from the initial value on. */
Params next_level(const Params &p, uint64_t items, const Acc *sums, Acc *prefixes)
{
    Params up = p;
    up.in = (const char *)sums;
    up.out = (char *)prefixes;
    up.in_dtype = up.out_dtype = acc_dtype;
    up.kind = GP_SCAN_EXCLUSIVE;
    up.total = nullptr;
    up.wide = false;
    up.n = items;
    while (1ull << (up.level_bits - p.level_bits) < tile_items)
        up.level_bits++;
    return up;
}

/* keep: accumulators for the local scans, or NULL. */
gp_status multi_pass(gp_context *ctx, Params p, bool fan, Acc *keep, gpi_frame *frame)
{
    const uint32_t tiles = tiles_of(p.n);
    if (tiles == 1) {
        family_scan_k<Acc><<<1, threads, 0, ctx->stream>>>(p);
        return gpi_cuda_launched(ctx, function);
    }
    Acc *sums = take(frame, tiles), *prefixes = take(frame, tiles);
    Params first = p;
    first.sums = p.sums = sums;
    first.local = true;
    if (keep) {
        first.out = (char *)keep;
        first.out_dtype = acc_dtype;
        first.wide = false;
    }
    if (fan)
        family_scan_k<Acc><<<tiles, threads, 0, ctx->stream>>>(first);
    else
        family_reduce_k<Acc><<<tiles, threads, 0, ctx->stream>>>(first);
    GPI_TRY(multi_pass(ctx, next_level(p, tiles, sums, prefixes), fan, nullptr, frame));
    p.prefixes = prefixes;
    if (fan) {
        p.in = first.out;
        p.in_dtype = first.out_dtype;
        family_fan_k<Acc><<<tiles, threads, 0, ctx->stream>>>(p);
    } else {
        p.sums = nullptr;
        family_scan_k<Acc><<<tiles, threads, 0, ctx->stream>>>(p);
    }
    return gpi_cuda_launched(ctx, function);
}

gp_status two_pass(gp_context *ctx, Params p, gpi_frame *frame)
{
    const uint32_t tiles = tiles_of(p.n), parts = tiles < threads ? tiles : threads;
    p.sums = take(frame, parts);
    family_part_reduce_k<Acc><<<parts, threads, 0, ctx->stream>>>(p);
    family_part_scan_k<Acc><<<parts, threads, 0, ctx->stream>>>(p);
    return gpi_cuda_launched(ctx, function);
}

gp_status fenwick(gp_context *ctx, Params p, gpi_frame *frame)
{
    const uint32_t tiles = tiles_of(p.n);
    p.prefixes = p.sums = take(frame, tiles);
    if (tiles > 1)
        family_fenwick_sums_k<Acc><<<tiles, threads, 0, ctx->stream>>>(p);
    uint64_t stride = 1;
    for (uint64_t nodes = tiles; nodes > 1; nodes /= tile_items, stride *= tile_items)
        family_fenwick_merge_k<Acc><<<tiles_of(nodes), threads, 0, ctx->stream>>>(
            p.op, ItemCount{p.n, p.device_n}, p.sums, stride, nodes);
    family_fenwick_query_k<Acc><<<tiles, threads, 0, ctx->stream>>>(p);
    return gpi_cuda_launched(ctx, function);
}

gp_status with_frame(gp_context *ctx, const Params &p, gp_algorithm algorithm, bool keep,
                     gpi_frame *frame)
{
    if (algorithm == GP_ALGORITHM_REDUCE_THEN_SCAN_TWO_PASS)
        return two_pass(ctx, p, frame);
    if (algorithm == GP_ALGORITHM_FENWICK)
        return fenwick(ctx, p, frame);
    Acc *kept = keep && tiles_of(p.n) > 1 ? take(frame, p.n) : nullptr;
    return multi_pass(ctx, p, algorithm == GP_ALGORITHM_SCAN_THEN_FAN, kept, frame);
}

} // namespace GPI_UNIT_SPACE
} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(GPI_PASTE(gpi_scan_family_, GPI_ACC))(gp_context *ctx,
                                                                        const gpi_scan_args *args)
{
    using namespace GPI_SPACE;
    using namespace GPI_UNIT_SPACE;
    const gp_algorithm algorithm = args->algorithm;
    const Params p = family_params<Acc>(gpi_reporter_of(ctx, nullptr, args->out_dtype), args);
    const uint64_t slots = gpi_scan_family_slots(args);
    if (slots)
        return single_pass(ctx, p, slots, algorithm);
    gpi_frame frame;
    GPI_TRY(gpi_frame_open(ctx, function, gpi_scan_family_bytes(GP_BACKEND_CUDA, args), &frame));
    gp_status status = with_frame(ctx, p, algorithm, gpi_scan_family_keeps(args), &frame);
    gpi_frame_close(&frame);
    return status;
}

#undef GPI_ACC
