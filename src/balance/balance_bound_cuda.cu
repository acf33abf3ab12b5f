/* SPDX-License-Identifier: MIT */
/* Launcher of bulk binary search. */
#include "device/host.cuh"

#include "balance/balance_bound_kernels.cuh"
#include "tuning/balance_tuning.cuh"

using namespace GPI_SPACE::balance;

template <class Key> static void bound(gp_context *ctx, const gpi_bound_args *a)
{
    uint64_t blocks = (a->m + bound_threads - 1) / bound_threads;
    uint64_t most = (uint64_t)ctx->sm_count * blocks_per_sm;
    bound_k<Key><<<(unsigned)(blocks < most ? blocks : most), bound_threads, 0, ctx->stream>>>(
        (const Key *)a->sorted, a->n, (const Key *)a->needles, a->m, a->order, (Key)a->infinity,
        a->upper, a->index_bytes == 8, a->out);
}

extern "C" gp_status GPI_LAUNCHER(gpi_balance_bound)(gp_context *ctx, const char *function,
                                                     const gpi_bound_args *a)
{
    if (a->item_bytes == 8)
        bound<uint64_t>(ctx, a);
    else if (a->item_bytes == 4)
        bound<uint32_t>(ctx, a);
    else if (a->item_bytes == 2)
        bound<uint16_t>(ctx, a);
    else
        bound<uint8_t>(ctx, a);
    return gpi_cuda_launched(ctx, function);
}
