/* SPDX-License-Identifier: MIT */
/* How libgp_cub calls CUB, for all of core/cub.h. */
#pragma once

#include <cuda_runtime.h>

#include "core/cub.h"
#include "device/space.cuh"

namespace GPI_SPACE
{

/* f(), which calls CUB, on the call's device. Its error is fetched from this library's copy of the
 * CUDA runtime: libgp has another, which does not know of it. */
template <class F> int cub_call(const gpi_cub_call *call, F f)
{
    int current = -1;
    cudaError_t e = cudaGetDevice(&current);
    if (e == cudaSuccess && current != call->device)
        e = cudaSetDevice(call->device);
    if (e == cudaSuccess)
        e = f();
    const cudaError_t pending = cudaGetLastError();
    return e != cudaSuccess ? e : pending;
}

} // namespace GPI_SPACE
