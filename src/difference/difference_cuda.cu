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

template <class T>
gp_status launch(gp_context *ctx, const char *function, const void *in, uint64_t n, void *out)
{
    constexpr int each = 4;
    const uint64_t threads = n * sizeof(T) / (16 * each) + elementwise_threads;
    const unsigned grid = elementwise_grid(ctx, threads, elementwise_tuning.blocks_per_sm);
    difference_k<T, each>
        <<<grid, elementwise_threads, 0, ctx->stream>>>((const T *)in, n, (T *)out);
    return gpi_cuda_launched(ctx, function);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_difference)(gp_context *ctx, const char *function,
                                                  gp_dtype dtype, const void *in, uint64_t n,
                                                  void *out)
{
    using namespace GPI_SPACE;
    switch (dtype) {
    case GP_F16:
        return launch<f16_t>(ctx, function, in, n, out);
    case GP_BF16:
        return launch<bf16_t>(ctx, function, in, n, out);
    case GP_F32:
        return launch<float>(ctx, function, in, n, out);
    case GP_F64:
        return launch<double>(ctx, function, in, n, out);
    default:
        return with_word(gpi_dtype_bytes(dtype), [=](auto word) {
            return launch<decltype(word)>(ctx, function, in, n, out);
        });
    }
}
