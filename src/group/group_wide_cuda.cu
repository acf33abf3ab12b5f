/* SPDX-License-Identifier: MIT */
/* The heads of keys that have no kernel of their own: one bit per item. */
#include "device/host.cuh"
#include "device/item_count.cuh"
#include "device/warp.cuh"

extern "C" {
#include "group/group_internal.h"
}

namespace GPI_SPACE
{
namespace
{

constexpr int threads = 256;

/*
 * Grid: any; 256 threads. A warp takes 32 items at a time; neighbouring lanes compare neighbouring
 * words of them with those of the item before. After: bits[w] for all w < ceil(n / 32).
 */
template <class Word>
__global__ void __launch_bounds__(threads)
    group_wide_k(const Word *keys, const uint32_t words, const gpi_group_args a, uint32_t *bits)
{
    const uint64_t n = item_count(a), warps = (uint64_t)gridDim.x * (threads / 32);
    for (uint64_t g = ((uint64_t)blockIdx.x * threads + threadIdx.x) / 32; 32 * g < n; g += warps) {
        const uint32_t items = n - 32 * g < 32 ? (uint32_t)(n - 32 * g) : 32;
        const Word *own = keys + 32 * g * words;
        uint32_t heads = g == 0;
        for (uint32_t u = (g == 0 ? words : 0) + lane_id(); u < items * words; u += 32)
            heads |= (uint32_t)(own[u] != own[(int64_t)u - words]) << u / words;
        heads = warp_or(heads);
        if (lane_id() == 0)
            bits[g] = heads;
    }
}

template <class Word> gp_status launch(gp_context *ctx, const gpi_group_pass *pass)
{
    const gpi_group_args &a = *pass->a;
    const uint64_t blocks = (a.n + threads - 1) / threads, most = (uint64_t)ctx->sm_count * 32;
    const Word *keys = (const Word *)a.keys;
    const uint32_t words = a.key_bytes / sizeof(Word);
    LaunchList list;
    list.add(launch_of(group_wide_k<Word>, (uint32_t)(blocks < most ? blocks : most), threads, 0,
                       keys, words, a, pass->bits));
    return list.queue(ctx, pass->function);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_group_wide)(gp_context *ctx, const gpi_group_pass *pass)
{
    using namespace GPI_SPACE;
    const uint32_t bytes = pass->a->key_bytes;
    return bytes % 8 == 0   ? launch<uint64_t>(ctx, pass)
           : bytes % 4 == 0 ? launch<uint32_t>(ctx, pass)
           : bytes % 2 == 0 ? launch<uint16_t>(ctx, pass)
                            : launch<uint8_t>(ctx, pass);
}
