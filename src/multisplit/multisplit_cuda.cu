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
                const gpi_multisplit_shares *shares)
{
    const auto kernel = a->num_buckets <= split_few ? split_count_k<true> : split_count_k<false>;
    kernel<<<shares->number, count_threads, 0, ctx->stream>>>(SplitParams{*a, *shares, nullptr});
    return gpi_cuda_launched(ctx, function);
}

/* Where the list begins: behind a tile's items, at their place in 16 bytes of memory. */
uint32_t list_begin(const gpi_multisplit_args &a)
{
    const uint32_t bytes = gpi_multisplit_tile_items(a.item_bytes) * a.item_bytes;
    return a.item_bytes > GPI_MULTISPLIT_STAGED ? 0 : (bytes + 31) / 16 * 16;
}

int list_bytes(const gpi_multisplit_args &a)
{
    return (int)(list_begin(a) + gpi_multisplit_tile_items(a.item_bytes) * sizeof(uint32_t));
}

/* Blocks of so much shared memory that share a multiprocessor. */
constexpr int resident(int bytes, int most)
{
    constexpr int reserved = 1024; /* of every block */
    const int fit = multisplit_tuning.shared_bytes / (bytes + reserved);
    return fit < 1 ? 1 : fit < most ? fit : most;
}

/* That run at once, but no more than shares. */
uint32_t blocks_of(const gp_context *ctx, const SplitParams &p, int on_each)
{
    const uint32_t blocks = (uint32_t)(ctx->sm_count * on_each);
    return blocks < p.shares.number ? blocks : p.shares.number;
}

template <class Word, int THREADS> constexpr int words_on_each()
{
    return resident((int)sizeof(SplitWordsShared<Word, THREADS>), split_words_resident<THREADS>);
}

template <class Word, int THREADS>
gp_status launch_words(gp_context *ctx, const char *function, const SplitParams &p)
{
    constexpr int bytes = (int)sizeof(SplitWordsShared<Word, THREADS>);
    const auto kernel = split_words_k<Word, THREADS>;
    static uint64_t allowed;
    GPI_TRY(shared_memory_allow(ctx, function, kernel, bytes, &allowed));
    const uint32_t blocks = blocks_of(ctx, p, words_on_each<Word, THREADS>());
    LaunchList list;
    list.add(p.shares.at_once ? launch_cooperative(kernel, blocks, THREADS, bytes, p)
                              : launch_of(kernel, blocks, THREADS, bytes, p));
    return list.queue(ctx, function);
}

/* Large tiles where two of them share a multiprocessor. */
template <class Word>
gp_status launch_words(gp_context *ctx, const char *function, const SplitParams &p)
{
    constexpr int bytes = (int)sizeof(SplitWordsShared<Word, split_words_many>);
    if constexpr (sizeof(Word) <= 8 && resident(bytes, 2) == 2)
        if (gpi_multisplit_is_large(&p.a))
            return launch_words<Word, split_words_many>(ctx, function, p);
    return launch_words<Word, split_threads>(ctx, function, p);
}

template <class Word>
gp_status launch_move(gp_context *ctx, const char *function, const SplitParams &p)
{
    static uint64_t allowed;
    /* Of bytes: no other tile has more. */
    constexpr int most =
        GPI_MULTISPLIT_TILE_BYTES + 32 + GPI_MULTISPLIT_TILE_MAX * (int)sizeof(uint32_t);
    GPI_TRY(shared_memory_allow(ctx, function, split_move_k<Word>, most, &allowed));
    const int bytes = list_bytes(p.a);
    const int on_each = resident(bytes + (int)sizeof(SplitShared), split_resident);
    split_move_k<Word><<<blocks_of(ctx, p, on_each), split_threads, bytes, ctx->stream>>>(
        p, gpi_multisplit_tile_items(p.a.item_bytes), list_begin(p.a));
    return gpi_cuda_launched(ctx, function);
}

uint32_t most_at_once(const gp_context *ctx, const gpi_multisplit_args *a)
{
    if (!gpi_multisplit_is_word(a->item_bytes) || gpi_multisplit_is_large(a))
        return 0;
    const int on_each = a->item_bytes == 16  ? words_on_each<uint4, split_threads>()
                        : a->item_bytes == 8 ? words_on_each<uint64_t, split_threads>()
                                             : words_on_each<uint32_t, split_threads>();
    const uint32_t most = (uint32_t)(ctx->sm_count * on_each);
    return most < GPI_MULTISPLIT_MEET_SHARES ? most : GPI_MULTISPLIT_MEET_SHARES;
}

gp_status move(gp_context *ctx, const char *function, const gpi_multisplit_args *a,
               const gpi_multisplit_shares *shares)
{
    SplitParams p = {*a, *shares, nullptr};
    gpi_state state;
    if (shares->at_once) {
        GPI_TRY(gpi_state_get(ctx, function, 1, &state));
        p.met = LastingBarrier::of(state);
    }
    if (gpi_multisplit_is_word(a->item_bytes))
        return a->item_bytes == 16  ? launch_words<uint4>(ctx, function, p)
               : a->item_bytes == 8 ? launch_words<uint64_t>(ctx, function, p)
                                    : launch_words<uint32_t>(ctx, function, p);
    return a->item_bytes % 16 == 0  ? launch_move<uint4>(ctx, function, p)
           : a->item_bytes % 8 == 0 ? launch_move<uint64_t>(ctx, function, p)
           : a->item_bytes % 4 == 0 ? launch_move<uint32_t>(ctx, function, p)
           : a->item_bytes % 2 == 0 ? launch_move<uint16_t>(ctx, function, p)
                                    : launch_move<uint8_t>(ctx, function, p);
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
    GPI_SPACE::most_at_once, GPI_SPACE::count, GPI_SPACE::move, GPI_SPACE::search};
}
