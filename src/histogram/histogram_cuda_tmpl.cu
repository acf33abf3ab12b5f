/* SPDX-License-Identifier: MIT */
/*
 * Launcher, compiled per unit and architecture. The build gives GPI_UNIT and GPI_IS_FLOAT,
 * GPI_STORED and GPI_VALUE as the kernels know the types.
 */
#include <cuda_runtime.h>

#include "histogram/histogram_kernels.cuh"

namespace GPI_SPACE
{

using Stored = GPI_STORED;
using Value = GPI_VALUE;

/* Items that one launch may give to a block, so that 32-bit counters in shared memory
 * do not wrap. */
constexpr uint64_t block_items_max = (uint64_t)1 << 31;

static uint32_t grid_of(const gp_context *ctx, uint64_t n)
{
    constexpr uint64_t per_block = (uint64_t)histogram_tuning.threads * 16 / sizeof(Stored);
    constexpr uint64_t counts = (uint64_t)histogram_tuning.threads * 16; /* of short items */
    if (n <= per_block * histogram_tuning.vectors && n <= counts)
        return 1;
    uint64_t blocks = (n + per_block - 1) / per_block;
    return (uint32_t)(blocks < (uint64_t)ctx->sm_count ? blocks : (uint64_t)ctx->sm_count);
}

/* How to lay out a block's table of rows with that much shared memory; false: it does not fit. More
 * columns than a block has items per row would cost more to clear and add up than they save. */
static bool shape_of(uint32_t rows, uint64_t edges_bytes, uint64_t block_items, size_t memory,
                     SharedShape *shape)
{
    const uint64_t row_words = ((uint64_t)rows + 31) / 32 * 32;
    if (row_words * 4 > memory)
        return false;
    shape->edges = edges_bytes && row_words * 4 + edges_bytes <= memory;
    const uint64_t room = (memory - (shape->edges ? edges_bytes : 0)) / 4;
    const uint64_t useful = block_items > 2048 ? block_items : 2048;
    shape->column_bits = 0;
    while (shape->column_bits < 5 && row_words << (shape->column_bits + 1) <= room &&
           row_words << (shape->column_bits + 1) <= useful)
        shape->column_bits++;
    shape->table_words = (uint32_t)(row_words << shape->column_bits);
    return true;
}

/* Static shared memory of the kernels, and what they may have of both kinds unless
 * asked for more. */
enum { static_shared_max = 64, shared_without_asking = 48 * 1024 };

static size_t shared_memory_of(const gp_context *ctx)
{
    int bytes = shared_without_asking;
    cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, ctx->device);
    return (size_t)bytes - static_shared_max;
}

/* Zero what the kernels add to. */
static void clear(const gp_context *ctx, const gpi_histogram_args *a)
{
    if (a->accumulate)
        return;
    cudaMemsetAsync(a->counts, 0, (size_t)a->binning.bins * (a->wide_counters ? 8 : 4),
                    ctx->stream);
    if (a->outside)
        cudaMemsetAsync(a->outside, 0, sizeof *a->outside, ctx->stream);
}

static HistogramOut out_of(const gpi_histogram_args *a)
{
    HistogramOut out = {};
    out.counts = a->counts;
    out.outside = reinterpret_cast<unsigned long long *>(a->outside);
    out.n = a->n;
    out.device_n = a->device_n;
    out.bins = a->binning.bins;
    out.wide = a->wide_counters;
    return out;
}

template <bool by_value, class Bin>
static void launch_shared(const gp_context *ctx, const gpi_histogram_args *a, Bin bin,
                          const SharedShape &shape, uint64_t edges_bytes)
{
    const auto kernel = count_shared_k<by_value, Bin>;
    const size_t bytes = (size_t)shape.table_words * 4 + (shape.edges ? edges_bytes : 0);
    const uint32_t grid = grid_of(ctx, a->n);
    const uint64_t slice = grid * block_items_max;
    const Stored *in = static_cast<const Stored *>(a->in);
    HistogramOut out = out_of(a);
    out.store = grid == 1 && !a->accumulate && !by_value;
    if (!out.store)
        clear(ctx, a);
    if (bytes + static_shared_max > shared_without_asking)
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    for (uint64_t done = 0; done < a->n; done += slice) {
        out.n = a->n - done < slice ? a->n - done : slice;
        out.begin = done;
        kernel<<<grid, histogram_tuning.threads, bytes, ctx->stream>>>(bin, in + done, shape, out);
    }
}

template <class Bin>
static void launch(const gp_context *ctx, const gpi_histogram_args *a, Bin bin,
                   uint64_t edges_bytes)
{
    constexpr bool by_value = sizeof(Stored) == 1;
    const uint32_t rows = by_value ? 256 : a->binning.bins;
    const uint32_t grid = grid_of(ctx, a->n);
    SharedShape shape = {};
    if (a->n == 0)
        return clear(ctx, a);
    if (shape_of(rows, by_value ? 0 : edges_bytes, a->n / grid, shared_memory_of(ctx), &shape))
        return launch_shared<by_value>(ctx, a, bin, shape, edges_bytes);
    if constexpr (!by_value) {
        clear(ctx, a);
        count_global_k<<<grid, histogram_tuning.threads, 0, ctx->stream>>>(
            bin, static_cast<const Stored *>(a->in), out_of(a));
    }
}

static void launch_edges(const gp_context *ctx, const gpi_histogram_args *a)
{
    const gpi_binning &b = a->binning;
    const BinEdges<Stored, Value> bin = {static_cast<const Stored *>(b.edges), b.flip, b.bins};
    launch(ctx, a, bin, ((uint64_t)b.bins + 1) * sizeof(Stored));
}

#if GPI_IS_FLOAT

static void launch_even(const gp_context *ctx, const gpi_histogram_args *a)
{
    const gpi_binning &b = a->binning;
    launch(ctx, a, BinScale<Stored, Value>{b.from, b.to, b.scale, b.bins - 1}, 0);
}

#else

static void launch_even(const gp_context *ctx, const gpi_histogram_args *a)
{
    const gpi_binning &b = a->binning;
    if constexpr (sizeof(Stored) == 8)
        if (b.kind == GPI_BINNING_WIDE)
            return launch(ctx, a, BinWide{b.lo, b.last, b.m_hi, b.m_lo}, 0);
    launch(ctx, a,
           BinNarrow<Stored>{(Stored)b.lo, (Stored)b.last, (uint32_t)b.q, (uint32_t)(b.m_hi >> 32),
                             (uint32_t)b.m_hi},
           0);
}

#endif

} // namespace GPI_SPACE

#define GPI_UNIT_LAUNCHER GPI_LAUNCHER(GPI_PASTE(gpi_histogram_, GPI_UNIT))

extern "C" void GPI_UNIT_LAUNCHER(const gp_context *ctx, const struct gpi_histogram_args *args)
{
    using namespace GPI_SPACE;
    if (args->binning.kind == GPI_BINNING_EDGES)
        launch_edges(ctx, args);
    else
        launch_even(ctx, args);
}
