/* SPDX-License-Identifier: MIT */
/* The same call through CUB: the baseline that our kernels are compared with. */
#include <cub/device/device_select.cuh>

#include "compact/compact_kernels.cuh"

namespace GPI_SPACE
{
namespace
{

template <class Item>
cudaError_t by_flags(const gp_context *ctx, const gpi_compact_args *a, void *temporary,
                     size_t *bytes)
{
    return cub::DeviceSelect::Flagged(temporary, *bytes, (const Item *)a->in, a->keep,
                                      (Item *)a->out, a->out_count, (int64_t)a->n, ctx->stream);
}

template <class Item>
cudaError_t by_range(const gp_context *ctx, const gpi_compact_args *a, void *temporary,
                     size_t *bytes)
{
    return cub::DeviceSelect::If(temporary, *bytes, (const Item *)a->in, (Item *)a->out,
                                 a->out_count, (int64_t)a->n, Range<Item>(a->range), ctx->stream);
}

template <class Item>
cudaError_t select(const gp_context *ctx, const gpi_compact_args *a, void *temporary, size_t *bytes)
{
    return a->keep ? by_flags<Item>(ctx, a, temporary, bytes)
                   : by_range<Item>(ctx, a, temporary, bytes);
}

} // namespace
} // namespace GPI_SPACE

extern "C" int GPI_LAUNCHER(gpi_compact_cub)(const gp_context *ctx, const gpi_compact_args *a,
                                             void *temporary, size_t *bytes)
{
    using namespace GPI_SPACE;
    if (a->item_bytes == 16)
        return by_flags<uint4>(ctx, a, temporary, bytes);
    return with_word(a->item_bytes,
                     [=](auto word) { return select<decltype(word)>(ctx, a, temporary, bytes); });
}
