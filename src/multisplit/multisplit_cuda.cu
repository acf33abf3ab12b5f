/* SPDX-License-Identifier: MIT */
/* Launchers of multisplit, and the small kernels around a sort of wider numbers. */
#include "multisplit/multisplit_kernels.cuh"
#include "multisplit/multisplit_words.cuh"

#include "device/elementwise.cuh"
#include "device/host.cuh"
#include "tuning/elementwise_tuning.cuh"
#include "tuning/multisplit_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

/* ---- numbers of 8 bits ----------------------------------------------------------------------- */

gp_status count(gp_context *ctx, const char *function, const gpi_multisplit_args *a,
                uint32_t blocks, uint64_t *counts)
{
    const auto kernel = a->num_buckets <= split_few ? split_count_k<true> : split_count_k<false>;
    kernel<<<blocks * GPI_MULTISPLIT_COUNTERS, count_threads, 0, ctx->stream>>>(
        *a, gpi_multisplit_tile_items(a->item_bytes), counts);
    return gpi_cuda_launched(ctx, function);
}

/* Where the list begins: behind a tile's items, at their place in 16 bytes of memory. */
uint32_t list_begin(const gpi_multisplit_args &a)
{
    const uint32_t bytes = gpi_multisplit_tile_items(a.item_bytes) * a.item_bytes;
    return a.item_bytes > GPI_MULTISPLIT_STAGED ? 0 : (bytes + 31) / 16 * 16;
}

/* Of items that are one word. */
int words_bytes(uint32_t item_bytes)
{
    return item_bytes == 16  ? (int)sizeof(SplitWordsShared<uint4>)
           : item_bytes == 8 ? (int)sizeof(SplitWordsShared<uint64_t>)
                             : (int)sizeof(SplitWordsShared<uint32_t>);
}

int dynamic_bytes(const gpi_multisplit_args &a)
{
    if (gpi_multisplit_is_word(a.item_bytes))
        return words_bytes(a.item_bytes);
    return (int)(list_begin(a) + gpi_multisplit_tile_items(a.item_bytes) * sizeof(uint32_t));
}

int resident(const gpi_multisplit_args *a)
{
    constexpr int reserved = 1024; /* of every block */
    const bool word = gpi_multisplit_is_word(a->item_bytes);
    const int own = word ? 0 : (int)sizeof(SplitShared),
              most = word ? split_words_resident : split_resident;
    const int fit = multisplit_tuning.shared_bytes / (dynamic_bytes(*a) + own + reserved);
    return fit < 1 ? 1 : fit < most ? fit : most;
}

template <class Word>
gp_status launch_words(gp_context *ctx, const char *function, const gpi_multisplit_args *a,
                       uint32_t blocks, const uint64_t *counts)
{
    constexpr int bytes = (int)sizeof(SplitWordsShared<Word>);
    static uint64_t allowed;
    GPI_TRY(shared_memory_allow(ctx, function, split_words_k<Word>, bytes, &allowed));
    split_words_k<Word><<<blocks, split_threads, bytes, ctx->stream>>>(*a, counts);
    return gpi_cuda_launched(ctx, function);
}

template <class Word>
gp_status launch_move(gp_context *ctx, const char *function, const gpi_multisplit_args *a,
                      uint32_t blocks, const uint64_t *counts)
{
    static uint64_t allowed;
    /* Of bytes: no other tile has more. */
    constexpr int most =
        GPI_MULTISPLIT_TILE_BYTES + 32 + GPI_MULTISPLIT_TILE_MAX * (int)sizeof(uint32_t);
    const uint32_t tile_items = gpi_multisplit_tile_items(a->item_bytes);
    const uint32_t list_at = list_begin(*a);
    GPI_TRY(shared_memory_allow(ctx, function, split_move_k<Word>, most, &allowed));
    split_move_k<Word><<<blocks, split_threads, dynamic_bytes(*a), ctx->stream>>>(*a, tile_items,
                                                                                  list_at, counts);
    return gpi_cuda_launched(ctx, function);
}

gp_status move(gp_context *ctx, const char *function, const gpi_multisplit_args *a, uint32_t blocks,
               const uint64_t *counts)
{
    if (gpi_multisplit_is_word(a->item_bytes))
        return a->item_bytes == 16  ? launch_words<uint4>(ctx, function, a, blocks, counts)
               : a->item_bytes == 8 ? launch_words<uint64_t>(ctx, function, a, blocks, counts)
                                    : launch_words<uint32_t>(ctx, function, a, blocks, counts);
    return a->item_bytes % 16 == 0  ? launch_move<uint4>(ctx, function, a, blocks, counts)
           : a->item_bytes % 8 == 0 ? launch_move<uint64_t>(ctx, function, a, blocks, counts)
           : a->item_bytes % 4 == 0 ? launch_move<uint32_t>(ctx, function, a, blocks, counts)
           : a->item_bytes % 2 == 0 ? launch_move<uint16_t>(ctx, function, a, blocks, counts)
                                    : launch_move<uint8_t>(ctx, function, a, blocks, counts);
}

/* ---- numbers of 32 bits ---------------------------------------------------------------------- */

unsigned grid_for(const gp_context *ctx, uint64_t n)
{
    return elementwise_grid(ctx, n, elementwise_tuning.blocks_per_sm);
}

/* A thread per offset; any grid. */
__global__ void __launch_bounds__(elementwise_threads)
    split_search_k(const gpi_multisplit_args a, const uint32_t *sorted)
{
    const uint64_t n = item_count(a);
    for (uint64_t b = grid_item(); b <= a.num_buckets; b += grid_items()) {
        uint64_t low = 0, high = n;
        while (low < high && b < a.num_buckets) {
            const uint64_t middle = low + (high - low) / 2;
            if (sorted[middle] < b)
                low = middle + 1;
            else
                high = middle;
        }
        a.offsets[b] = b < a.num_buckets ? low : n;
    }
}

gp_status search(gp_context *ctx, const char *function, const gpi_multisplit_args *a,
                 const uint32_t *sorted)
{
    split_search_k<<<grid_for(ctx, (uint64_t)a->num_buckets + 1), elementwise_threads, 0,
                     ctx->stream>>>(*a, sorted);
    return gpi_cuda_launched(ctx, function);
}

} // namespace
} // namespace GPI_SPACE

extern "C" {
extern const struct gpi_multisplit_cuda GPI_LAUNCHER(gpi_multisplit_cuda);
const struct gpi_multisplit_cuda GPI_LAUNCHER(gpi_multisplit_cuda) = {
    GPI_SPACE::resident, GPI_SPACE::count, GPI_SPACE::move, GPI_SPACE::search};
}
