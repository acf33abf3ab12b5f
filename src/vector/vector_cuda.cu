/* SPDX-License-Identifier: MIT */
/* Launchers of vectors. */
#include <cuda_runtime.h>

#include "device/host.cuh"

extern "C" {
#include "core/dtype.h"
}

#include "tuning/elementwise_tuning.cuh"
#include "vector/vector_kernels.cuh"

namespace GPI_SPACE
{
namespace
{

template <class T> gp_status sum(gp_context *ctx, const gpi_vector_args *a)
{
    using A = typename VectorScalar<T>::A;
    const uint32_t blocks = (uint32_t)gpi_vector_blocks(a->n, sizeof(T));
    const bool root = a->kind == GPI_VECTOR_NORM;
    const DotParams<T> p = {(const T *)a->x, (const T *)a->y, {a->n, a->device_n},
                            (A *)a->sums,    (A *)a->out,     root};
    const A *const sums = (const A *)a->sums;
    A *const out = (A *)a->out;
    LaunchList list;
    list.add(launch_of(vector_dot_k<T, 4>, blocks, elementwise_threads, 0, p));
    if (blocks > 1)
        list.add(launch_dependent(vector_total_k<A>, true, 1, elementwise_threads, 0, sums, blocks,
                                  root, out));
    return list.queue(ctx, a->function);
}

template <class T> gp_status map(gp_context *ctx, const gpi_vector_args *a)
{
    using A = typename VectorScalar<T>::A;
    constexpr int each = 4;
    const uint64_t threads = a->n * sizeof(T) / (16 * each) + elementwise_threads;
    const unsigned grid = elementwise_grid(ctx, threads, elementwise_tuning.blocks_per_sm);
    const MapParams<T> p = {(int)a->kind,
                            (const T *)a->x,
                            (const T *)a->y,
                            {a->n, a->device_n},
                            (T *)a->out,
                            (A)a->alpha,
                            (A)a->beta,
                            (const A *)a->device_alpha,
                            (const A *)a->device_beta};
    vector_map_k<T, each><<<grid, elementwise_threads, 0, ctx->stream>>>(p);
    return gpi_cuda_launched(ctx, a->function);
}

template <class T> gp_status launch(gp_context *ctx, const gpi_vector_args *a)
{
    return a->kind <= GPI_VECTOR_NORM ? sum<T>(ctx, a) : map<T>(ctx, a);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_vector)(gp_context *ctx, const gpi_vector_args *args)
{
    using namespace GPI_SPACE;
    switch (args->dtype) {
    case GP_F16:
        return launch<f16_t>(ctx, args);
    case GP_BF16:
        return launch<bf16_t>(ctx, args);
    case GP_F32:
        return launch<float>(ctx, args);
    default:
        return launch<double>(ctx, args);
    }
}
