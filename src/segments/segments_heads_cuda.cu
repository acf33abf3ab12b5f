/* SPDX-License-Identifier: MIT */
/*
 * The heads of segments as bits, before the scan: one kernel, and for offsets another that clears
 * the bits. They are a 64th of the traffic of a scan of 4-byte items, and what a segment's
 * description costs does not meet the scan: millions of empty segments are a few more loads here,
 * spread over all blocks.
 */
#include "device/host.cuh"
#include "device/ops.cuh"
#include "segments/segments_heads_marks.cuh"
#include "segments/segments_heads_offsets.cuh"

namespace GPI_SPACE
{
namespace
{

constexpr int threads = scan_tuning.heads_threads;

/* Enough blocks for work pieces, each piece of one thread; several waves, so that they even out. */
uint32_t grid_of(const gp_context *ctx, uint64_t pieces)
{
    const uint64_t blocks = (pieces + threads - 1) / threads,
                   most = (uint64_t)ctx->sm_count * scan_tuning.heads_blocks_per_sm;
    return (uint32_t)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

using Kernel = void (*)(gpi_segment_marks);

/* pieces: of work. Dependent: the kernel has grid_wait(). */
void add(const gp_context *ctx, gpi_segment_args *args, Kernel kernel, uint64_t pieces,
         bool dependent = false)
{
    args->launches[args->launch_count++] =
        launch_dependent(kernel, dependent, grid_of(ctx, pieces), threads, 0, args->marks);
}

template <class Marks> void add_marks(const gp_context *ctx, gpi_segment_args *args)
{
    if constexpr (sizeof(typename Marks::Item) <= 2)
        if ((uintptr_t)args->marks.array % 16 == 0)
            return add(ctx, args, segment_short_marks_k<Marks>, args->n / 64);
    add(ctx, args, segment_marks_k<Marks>, args->n / rounds);
}

void add_keys(const gp_context *ctx, gpi_segment_args *args)
{
    with_word(args->segments.item_bytes,
              [=](auto key) { add_marks<Keys<decltype(key)>>(ctx, args); });
}

void add_offsets(const gp_context *ctx, gpi_segment_args *args)
{
    const Kernel kernel =
        args->segments.item_bytes == 4 ? segment_offsets_k<uint32_t> : segment_offsets_k<uint64_t>;
    add(ctx, args, segment_no_heads_k, args->n / 512);
    add(ctx, args, kernel, args->segments.count / 8, true);
}

} // namespace
} // namespace GPI_SPACE

extern "C" void GPI_LAUNCHER(gpi_segment_heads)(const gp_context *ctx, gpi_segment_args *args)
{
    using namespace GPI_SPACE;
    if (args->segments.source == GPI_SEGMENT_FLAGS)
        add_marks<Flags>(ctx, args);
    else if (args->segments.source == GPI_SEGMENT_KEYS)
        add_keys(ctx, args);
    else
        add_offsets(ctx, args);
}
