/* SPDX-License-Identifier: MIT */
/* Launcher of bulk binary search. */
#include "device/host.cuh"

#include "balance/balance_bound_kernels.cuh"
#include "core/words.h"
#include "tuning/balance_tuning.cuh"

using namespace GPI_SPACE::balance;

template <class Key, int ROUNDS> static void bound(gp_context *ctx, const gpi_bound_args *a)
{
    const uint64_t most = (uint64_t)ctx->sm_count * balance_tuning.blocks_per_sm;
    const uint64_t blocks = gpi_ceil_div(a->m, (uint64_t)ROUNDS * bound_threads);
    bound_k<Key, ROUNDS><<<(unsigned)gpi_min(blocks, most), bound_threads, 0, ctx->stream>>>(
        (const Key *)a->sorted, GPI_SPACE::ItemCount{a->n, a->device_n}, (const Key *)a->needles,
        GPI_SPACE::ItemCount{a->m, a->device_m}, a->order, (Key)a->infinity, a->upper,
        a->index_bytes == 8, a->out);
}

/* A tile's needles take half as much memory as its part of the array may, or, of 4 bytes, a quarter
 * where tiles of that size would leave multiprocessors room for more blocks. */
template <class Key> static void bound(gp_context *ctx, const gpi_bound_args *a)
{
    constexpr int many = sizeof(Key) == 8 ? 4 : 8;
    if constexpr (sizeof(Key) == 4)
        if (a->m / ((uint64_t)many * bound_threads) < ctx->sm_count * 8u)
            return bound<Key, many / 2>(ctx, a);
    bound<Key, many>(ctx, a);
}

extern "C" void GPI_LAUNCHER(gpi_balance_bound)(gp_context *ctx, const gpi_bound_args *a)
{
    GPI_SPACE::with_word(a->item_bytes, [=](auto word) { bound<decltype(word)>(ctx, a); });
}
