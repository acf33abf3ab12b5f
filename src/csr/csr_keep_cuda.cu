/* SPDX-License-Identifier: MIT */
/* CUDA: launcher of the filter. */
#include <cuda_runtime.h>

#include "core/words.h"
#include "csr/csr_keep_kernels.cuh"
#include "device/host.cuh"
#include "tuning/compact_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

/* Entries of up to BYTES. */
template <int BYTES> gp_status keep(gp_context *ctx, const gpi_csr_keep *k)
{
    static const char f[] = "gp_csr_filter";
    constexpr int W = 12, R = compact_tuning.sum_warps, L = compact_tuning.load_warps;
    constexpr int shared = compact_tuning.shared_bytes, groups = shared < 160 << 10 ? 4 : 8;
    constexpr int stage = stream_shared_bytes<KeepStream<BYTES, W, R, L, groups, 1>>;
    constexpr int S = shared / stage < 8 ? shared / stage : 8;
    constexpr uint64_t most = (uint64_t)csr_tuning.threads << 16;
    KeepParams p = {*k, {}};
    LaunchList list;
    GPI_TRY((stream_add<KeepStream<BYTES, W, R, L, groups, S>>(ctx, f, p, k->nnz, list)));
    const uint32_t blocks = blocks_for<csr_tuning.threads, most>(gpi_min(k->num_rows + 1, most));
    if (k->out_pointers)
        list.add(launch_dependent(csr_kept_pointers_k, true, blocks, csr_tuning.threads, 0, *k));
    return list.queue(ctx, f);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_csr_keep)(gp_context *ctx, const gpi_csr_keep *k)
{
    const bool wide = k->arrays[0].item_bytes + k->arrays[1].item_bytes > 8;
    return wide ? GPI_SPACE::keep<16>(ctx, k) : GPI_SPACE::keep<8>(ctx, k);
}
