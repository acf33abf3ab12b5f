/* SPDX-License-Identifier: MIT */
/* The heads of keys that have no kernel of their own, one bit per item; the queue of kernels. */
#include "group/group_runs.cuh"

namespace GPI_SPACE
{
namespace
{

constexpr int threads = 256;

struct WideParams {
    const void *keys;
    uint64_t n;
    const uint64_t *device_n;
    uint32_t words; /* of a key */
    uint32_t *bits;
};

/*
 * Grid: any; 256 threads. A warp takes 32 items at a time; neighbouring lanes compare neighbouring
 * words of them with those of the item before. After: bits[w] for all w < ceil(n / 32).
 */
template <class Word> __global__ void __launch_bounds__(threads) group_wide_k(const WideParams p)
{
    const uint64_t n = item_count(p), warps = (uint64_t)gridDim.x * (threads / 32);
    const uint32_t words = p.words;
    for (uint64_t g = ((uint64_t)blockIdx.x * threads + threadIdx.x) / 32; 32 * g < n; g += warps) {
        const uint32_t items = n - 32 * g < 32 ? (uint32_t)(n - 32 * g) : 32;
        const Word *own = (const Word *)p.keys + 32 * g * words;
        uint32_t heads = g == 0;
        for (uint32_t u = (g == 0 ? words : 0) + lane_id(); u < items * words; u += 32)
            heads |= (uint32_t)(own[u] != own[(int64_t)u - words]) << u / words;
        heads = warp_or(heads);
        if (lane_id() == 0)
            p.bits[g] = heads;
    }
}

template <class Word> gp_status queue(gp_context *ctx, const gpi_group_pass *pass)
{
    const gpi_group_args *a = pass->a;
    const uint64_t blocks = (a->n + threads - 1) / threads, most = (uint64_t)ctx->sm_count * 32;
    const WideParams params = {a->keys, a->n, a->device_n, (uint32_t)(a->key_bytes / sizeof(Word)),
                               pass->bits};
    WideParams *p;
    GPI_TRY(queue_place(ctx, pass, params, &p));
    pass->queue->launches[pass->queue->count++] =
        launch_of(group_wide_k<Word>, (uint32_t)(blocks < most ? blocks : most), threads, 0, *p);
    return GP_OK;
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_group_wide)(gp_context *ctx, const gpi_group_pass *pass)
{
    using namespace GPI_SPACE;
    const uint32_t bytes = pass->a->key_bytes;
    return bytes % 8 == 0   ? queue<uint64_t>(ctx, pass)
           : bytes % 4 == 0 ? queue<uint32_t>(ctx, pass)
           : bytes % 2 == 0 ? queue<uint16_t>(ctx, pass)
                            : queue<uint8_t>(ctx, pass);
}

extern "C" gp_status GPI_LAUNCHER(gpi_group_flush)(gp_context *ctx, const char *function,
                                                   gpi_group_queue *queue)
{
    return GPI_SPACE::queue_flush(ctx, function, queue);
}
