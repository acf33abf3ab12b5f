/* SPDX-License-Identifier: MIT */
/* CUDA: launcher of the transposes out of buckets, for all widths. */
#include <cuda_runtime.h>

#include "csr/csr_turn_kernels.cuh"
#include "device/host.cuh"

namespace GPI_SPACE
{
namespace
{

constexpr bool fits = sizeof(TurnShared) <= gpu.block_shared_bytes;

TurnArgs args_of(const gpi_csr_turn *turn, const gpi_radix_buckets *buckets)
{
    const gpi_csr_coo *c = turn->c;
    TurnArgs a = {};
    a.buckets = radix_buckets_of<uint32_t>(buckets);
    a.num_rows = c->num_rows;
    a.compared = c->row_bits < 32 ? (1u << c->row_bits) - 1 : ~0u;
    a.left = turn->left;
    a.pointers = c->row_pointers, a.cols = c->out_cols, a.values = c->out_values;
    a.wide_pointers = c->offset_bytes == 8, a.wide_cols = c->index_bytes == 8;
    a.value_bytes = (uint32_t)c->value_bytes;
    return a;
}

gp_status turn_buckets(gp_context *ctx, const gpi_csr_turn *turn, const gpi_radix_buckets *buckets)
{
    constexpr int bytes = sizeof(TurnShared);
    static uint64_t allowed;
    const char *function = turn->c->function;
    const TurnArgs a = args_of(turn, buckets);
    LaunchList list;
    GPI_TRY(shared_memory_allow(ctx, function, csr_turn_k, bytes, &allowed));
    list.add(launch_of(csr_turn_check_k, 1, 1024, 0, a));
    list.add(
        launch_dependent(csr_turn_k, true, 2 * (unsigned)ctx->sm_count, turn_threads, bytes, a));
    return list.queue(ctx, function);
}

} // namespace
} // namespace GPI_SPACE

#define TURN GPI_LAUNCHER(gpi_csr_turn)

extern "C" {
extern gpi_csr_turn_fn *const TURN;
gpi_csr_turn_fn *const TURN = GPI_SPACE::fits ? GPI_SPACE::turn_buckets : nullptr;
}
