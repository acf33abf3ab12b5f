/* SPDX-License-Identifier: MIT */
/* Launcher of differences. */
#include <cuda_runtime.h>

#include "device/host.cuh"

extern "C" {
#include "core/dtype.h"
#include "difference/difference_internal.h"
}

#include "difference/difference_kernels.cuh"
#include "tuning/elementwise_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

template <class T> gp_status launch(gp_context *ctx, const gpi_difference_args *a)
{
    constexpr int each = 4;
    const uint64_t threads = a->n * sizeof(T) / (16 * each) + elementwise_threads;
    const unsigned grid = elementwise_grid(ctx, threads, elementwise_tuning.blocks_per_sm);
    difference_k<T, each><<<grid, elementwise_threads, 0, ctx->stream>>>((const T *)a->in, a->n,
                                                                         a->device_n, (T *)a->out);
    return gpi_cuda_launched(ctx, a->function);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_difference)(gp_context *ctx, const gpi_difference_args *args)
{
    using namespace GPI_SPACE;
    switch (args->dtype) {
    case GP_F16:
        return launch<f16_t>(ctx, args);
    case GP_BF16:
        return launch<bf16_t>(ctx, args);
    case GP_F32:
        return launch<float>(ctx, args);
    case GP_F64:
        return launch<double>(ctx, args);
    default:
        return with_word(gpi_dtype_bytes(args->dtype),
                         [=](auto word) { return launch<decltype(word)>(ctx, args); });
    }
}
