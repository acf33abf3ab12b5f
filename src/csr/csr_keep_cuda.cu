/* SPDX-License-Identifier: MIT */
/* CUDA: launchers of the filter. */
#include <cuda_runtime.h>

#include "core/words.h"
#include "csr/csr_keep_kernels.cuh"
#include "device/host.cuh"

namespace GPI_SPACE
{
namespace
{

gp_status count_bits(gp_context *ctx, const gpi_csr_keep *k)
{
    const uint64_t words = gpi_csr_head_words(k->nnz);
    const uint32_t blocks = blocks_for<csr_tuning.threads, GPI_MAX_N / 32 + 2>(words);
    csr_count_bits_k<<<blocks, csr_tuning.threads, 0, ctx->stream>>>(*k, words);
    return gpi_cuda_launched(ctx, "gp_csr_filter");
}

gp_status keep(gp_context *ctx, const gpi_csr_keep *k)
{
    const uint32_t entries = csr_blocks(ctx, k->device_nnz, blocks_for<keep_tile>(k->nnz));
    const uint32_t rows = k->out_pointers
                              ? blocks_for<csr_tuning.threads, (uint64_t)csr_tuning.threads << 16>(
                                    gpi_min(k->num_rows + 1, (uint64_t)csr_tuning.threads << 16))
                              : 0;
    csr_keep_k<<<entries + rows, csr_tuning.threads, 0, ctx->stream>>>(*k, entries);
    return gpi_cuda_launched(ctx, "gp_csr_filter");
}

} // namespace
} // namespace GPI_SPACE

extern "C" {
extern const gpi_csr_keep_ops GPI_LAUNCHER(gpi_csr_keep_ops);
const gpi_csr_keep_ops GPI_LAUNCHER(gpi_csr_keep_ops) = {GPI_SPACE::count_bits, GPI_SPACE::keep};
}
