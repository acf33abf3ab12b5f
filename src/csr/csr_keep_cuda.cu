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

/* Entries of up to BYTES in ARRAYS arrays; tiles of long ones have half as many. */
template <int ARRAYS, int BYTES> gp_status keep(gp_context *ctx, const gpi_csr_keep *k)
{
    static const char f[] = "gp_csr_filter";
    constexpr int W = 12, R = compact_tuning.sum_warps, L = compact_tuning.load_warps;
    constexpr int shared = compact_tuning.shared_bytes;
    constexpr int groups = shared < 160 << 10 || BYTES > 16 ? 4 : 8;
    constexpr int stage = stream_shared_bytes<KeepStream<ARRAYS, BYTES, W, R, L, groups, 1>>;
    constexpr int S = shared / stage < 8 ? shared / stage : 8;
    constexpr uint64_t most = (uint64_t)csr_tuning.threads << 16;
    KeepParams p = {*k, {}};
    LaunchList list;
    GPI_TRY((stream_add<KeepStream<ARRAYS, BYTES, W, R, L, groups, S>>(ctx, f, p, k->nnz, list)));
    const uint32_t blocks = blocks_for<csr_tuning.threads, most>(gpi_min(k->num_rows + 1, most));
    if (k->out_pointers)
        list.add(launch_dependent(csr_kept_pointers_k, true, blocks, csr_tuning.threads, 0, *k));
    return list.queue(ctx, f);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_csr_keep)(gp_context *ctx, const gpi_csr_keep *k)
{
    using namespace GPI_SPACE;
    const size_t pair = k->arrays[0].item_bytes + k->arrays[1].item_bytes;
    const size_t all = pair + k->arrays[2].item_bytes;
    if (all == pair && pair <= 12)
        return pair <= 8 ? keep<2, 8>(ctx, k) : keep<2, 12>(ctx, k);
    return all <= 12 ? keep<3, 12>(ctx, k) : all <= 16 ? keep<3, 16>(ctx, k) : keep<3, 24>(ctx, k);
}
