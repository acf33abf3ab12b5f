/* SPDX-License-Identifier: MIT */
/* How libgp_cub calls CUB, for all of core/cub.h. */
#pragma once

#include <cuda_runtime.h>

#include "core/cub.h"
#include "device/space.cuh"

namespace GPI_SPACE
{

/* f(), which calls CUB, on the call's device. This library may have a CUDA runtime of its own,
 * which knows neither libgp's current device nor its pending error: see core/cub.h. */
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
