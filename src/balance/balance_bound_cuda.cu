/* SPDX-License-Identifier: MIT */
/* Launcher of bulk binary search. */
#include "device/host.cuh"

#include "balance/balance_bound_kernels.cuh"
#include "tuning/balance_tuning.cuh"

using namespace GPI_SPACE::balance;

template <class Key> static void bound(gp_context *ctx, const gpi_bound_args *a)
{
    uint64_t blocks = (a->m + balance_tuning.bound_threads - 1) / balance_tuning.bound_threads;
    uint64_t most = (uint64_t)ctx->sm_count * balance_tuning.blocks_per_sm;
    bound_k<Key><<<(unsigned)(blocks < most ? blocks : most), balance_tuning.bound_threads, 0,
                   ctx->stream>>>((const Key *)a->sorted, a->n, (const Key *)a->needles, a->m,
                                  a->order, (Key)a->infinity, a->upper, a->index_bytes == 8,
                                  a->out);
}

extern "C" void GPI_LAUNCHER(gpi_balance_bound)(gp_context *ctx, const gpi_bound_args *a)
{
    GPI_SPACE::with_word(a->item_bytes, [=](auto word) { bound<decltype(word)>(ctx, a); });
}
