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

template <class Item> struct Selects {
    Item flip, low, span;
    bool invert;

    __device__ bool operator()(const Item &x) const
    {
        Item negative = (Item)(0 - (x >> (8 * sizeof(Item) - 1)));
        return ((Item)((x ^ (negative & flip)) - low) <= span) != invert;
    }
};

template <class Item>
cudaError_t by_range(const gp_context *ctx, const gpi_compact_args *a, void *temporary,
                     size_t *bytes)
{
    const gpi_compact_range &r = a->range;
    const Selects<Item> selects = {(Item)r.flip, (Item)r.low, (Item)r.span, r.invert != 0};
    return cub::DeviceSelect::If(temporary, *bytes, (const Item *)a->in, (Item *)a->out,
                                 a->out_count, (int64_t)a->n, selects, ctx->stream);
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
    switch (a->item_bytes) {
    case 1:
        return select<uint8_t>(ctx, a, temporary, bytes);
    case 2:
        return select<uint16_t>(ctx, a, temporary, bytes);
    case 4:
        return select<uint32_t>(ctx, a, temporary, bytes);
    case 8:
        return select<uint64_t>(ctx, a, temporary, bytes);
    default:
        return by_flags<uint4>(ctx, a, temporary, bytes);
    }
}
