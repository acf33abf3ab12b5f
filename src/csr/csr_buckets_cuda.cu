/* SPDX-License-Identifier: MIT */
/* CUDA: launcher of the counts of rows by buckets, for all widths. */
#include <cuda_runtime.h>

#include "csr/csr_behind.cuh"
#include "csr/csr_buckets_kernels.cuh"
#include "device/host.cuh"

namespace GPI_SPACE
{
namespace
{

constexpr int split_max = (int)SplitBlock::bytes(split_tile / split_pack + most_buckets);
constexpr int count_max = (4 << GPI_CSR_BUCKET_BITS) + 4;
constexpr bool fits = split_max <= gpu.block_shared_bytes && count_max <= gpu.block_shared_bytes;

constexpr char name[] = "gp_csr_row_pointers_unsorted";

template <class Kernel, class... Arguments>
gp_status launch(gp_context *ctx, Kernel kernel, uint32_t blocks, int threads, int most, int bytes,
                 uint64_t *may, const Arguments &...arguments)
{
    GPI_TRY(shared_memory_allow(ctx, name, kernel, most, may));
    launch_behind(ctx, kernel, blocks, threads, bytes, arguments...);
    return gpi_cuda_launched(ctx, name);
}

template <class I> gp_status split(gp_context *ctx, const SplitArgs &a)
{
    static uint64_t may;
    return launch(ctx, csr_split_k<I>, (uint32_t)gpi_min(a.tiles, (uint64_t)ctx->sm_count),
                  split_threads, split_max, (int)SplitBlock::bytes(a.pitch), &may, a);
}

gp_status count(gp_context *ctx, const SplitArgs &a)
{
    static uint64_t may_count, may_add;
    const int bytes = (4 << a.shift) + 4;
    const uint32_t at_once = (uint32_t)ctx->sm_count * (2 * bytes < gpu.block_shared_bytes ? 2 : 1);
    const uint32_t blocks = a.buckets < at_once ? a.buckets : at_once;
    GPI_TRY(launch(ctx, csr_count_split_k, blocks, split_count_threads, count_max, bytes,
                   &may_count, a));
    return launch(ctx, csr_add_split_k, (uint32_t)ctx->sm_count, split_count_threads, count_max,
                  bytes, &may_add, a);
}

gp_status count_rows(gp_context *ctx, const gpi_csr_rows *args, size_t index_bytes,
                     size_t offset_bytes, gpi_frame *frame)
{
    const gpi_csr_buckets b = gpi_csr_buckets_of(args->nnz, args->num_rows);
    const SplitArgs a = {args->rows,
                         {args->nnz, args->unsorted},
                         {args->num_rows, args->unsorted + 1},
                         b.shift,
                         b.buckets,
                         b.tiles,
                         b.pitch,
                         (uint4 *)gpi_frame_take(frame, b.pool),
                         (uint16_t *)gpi_frame_take(frame, b.begins),
                         (uint32_t *)(args->unsorted + 2),
                         args->row_pointers,
                         offset_bytes == 8};
    GPI_TRY(index_bytes == 8 ? split<uint64_t>(ctx, a) : split<uint32_t>(ctx, a));
    return count(ctx, a);
}

} // namespace
} // namespace GPI_SPACE

#define BUCKETS GPI_LAUNCHER(gpi_csr_buckets)

extern "C" {
extern gpi_csr_buckets_fn *const BUCKETS;
gpi_csr_buckets_fn *const BUCKETS = GPI_SPACE::fits ? GPI_SPACE::count_rows : nullptr;
}
