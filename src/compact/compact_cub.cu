/* SPDX-License-Identifier: MIT */
/* The same call through CUB: the baseline that our kernels are compared with. */
#include <cub/device/device_select.cuh>

#include "compact/compact_kernels.cuh"
#include "device/cub_call.cuh"

namespace GPI_SPACE
{
namespace
{

template <class Item> cudaError_t by_flags(gpi_cub_call *call, const gpi_compact_args *a)
{
    return cub::DeviceSelect::Flagged(call->temporary, call->bytes, (const Item *)a->in,
                                      (const uint8_t *)a->keep, (Item *)a->out, a->out_count,
                                      (int64_t)a->n, call->stream);
}

template <class Item> cudaError_t by_range(gpi_cub_call *call, const gpi_compact_args *a)
{
    return cub::DeviceSelect::If(call->temporary, call->bytes, (const Item *)a->in, (Item *)a->out,
                                 a->out_count, (int64_t)a->n, Range<Item>(a->range), call->stream);
}

cudaError_t select(gpi_cub_call *call, const gpi_compact_args *a)
{
    if (a->item_bytes == 16)
        return by_flags<uint4>(call, a);
    return with_word(a->item_bytes, [=](auto word) {
        using Item = decltype(word);
        return a->keep ? by_flags<Item>(call, a) : by_range<Item>(call, a);
    });
}

} // namespace
} // namespace GPI_SPACE

extern "C" int GPI_LAUNCHER(gpi_compact_cub)(gpi_cub_call *call, const gpi_compact_args *a)
{
    return GPI_SPACE::cub_call(call, [=] { return GPI_SPACE::select(call, a); });
}
