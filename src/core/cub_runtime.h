/* SPDX-License-Identifier: MIT */
/*
 * The functions of the CUDA runtime that CUB and nvcc's own code in libgp_cub call. libgp_cub is
 * linked without a runtime: it has functions of these names that call libgp's (cub/cub_forward.c),
 * so that there is one copy of 660 kB, and one current device and one pending error for both.
 * What a toolkit calls beyond them brings its runtime into libgp_cub, in place of these functions.
 */
#ifndef GPI_CUB_RUNTIME_H
#define GPI_CUB_RUNTIME_H

#include <cuda_runtime_api.h>

/* X(result, name, parameters, arguments); launches of CUDA 13 and of 12. */
#define GPI_CUB_CALLS(X)                                                                           \
    X(cudaError_t, cudaGetDevice, (int *device), (device))                                         \
    X(cudaError_t, cudaSetDevice, (int device), (device))                                          \
    X(cudaError_t, cudaGetDeviceCount, (int *count), (count))                                      \
    X(cudaError_t, cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr what, int device),     \
      (value, what, device))                                                                       \
    X(cudaError_t, cudaGetLastError, (void), ())                                                   \
    X(cudaError_t, cudaPeekAtLastError, (void), ())                                                \
    X(cudaError_t, cudaFuncGetAttributes, (struct cudaFuncAttributes * of, const void *function),  \
      (of, function))                                                                              \
    X(cudaError_t, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,                         \
      (int *blocks, const void *function, int threads, size_t shared, unsigned flags),             \
      (blocks, function, threads, shared, flags))                                                  \
    X(cudaError_t, cudaMemcpyAsync,                                                                \
      (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),   \
      (to, from, bytes, kind, stream))                                                             \
    X(cudaError_t, cudaMemsetAsync, (void *at, int byte, size_t bytes, cudaStream_t stream),       \
      (at, byte, bytes, stream))                                                                   \
    X(cudaError_t, cudaLaunchKernelExC,                                                            \
      (const cudaLaunchConfig_t *how, const void *function, void **arguments),                     \
      (how, function, arguments))                                                                  \
    X(cudaError_t, cudaLaunchKernel,                                                               \
      (const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,               \
       cudaStream_t stream),                                                                       \
      (function, grid, block, arguments, shared, stream))                                          \
    X(cudaError_t, __cudaLaunchKernel,                                                             \
      (cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,                \
       cudaStream_t stream),                                                                       \
      (kernel, grid, block, arguments, shared, stream))                                            \
    X(cudaError_t, __cudaGetKernel, (cudaKernel_t * kernel, const void *function),                 \
      (kernel, function))                                                                          \
    X(unsigned, __cudaPushCallConfiguration,                                                       \
      (dim3 grid, dim3 block, size_t shared, struct CUstream_st * stream),                         \
      (grid, block, shared, stream))                                                               \
    X(cudaError_t, __cudaPopCallConfiguration,                                                     \
      (dim3 * grid, dim3 * block, size_t * shared, void *stream), (grid, block, shared, stream))

/* What nvcc's code calls when a library starts and ends. */
#define GPI_CUB_REGISTRATIONS(X)                                                                   \
    X(void **, __cudaRegisterFatBinary, (void *code), )                                            \
    X(void, __cudaRegisterFatBinaryEnd, (void **binary), )                                         \
    X(void, __cudaUnregisterFatBinary, (void **binary), )                                          \
    X(void, __cudaRegisterFunction,                                                                \
      (void **binary, const char *host, char *device, const char *name, int threads,               \
       uint3 *thread, uint3 *block, dim3 *block_size, dim3 *grid_size, int *warp_size), )          \
    X(void, __cudaRegisterVar,                                                                     \
      (void **binary, char *host, char *device, const char *name, int external, size_t bytes,      \
       int constant, int global), )

/* Weak: a runtime may lack some, and a runtime that is linked comes before cub/cub_forward.c. */
#define GPI_CUB_DECLARE(result, name, parameters, arguments)                                       \
    extern result name parameters __attribute__((weak));
GPI_CUB_CALLS(GPI_CUB_DECLARE)
GPI_CUB_REGISTRATIONS(GPI_CUB_DECLARE)

#define GPI_CUB_MEMBER(result, name, parameters, arguments) result(*name) parameters;
struct gpi_cub_runtime {
    int version; /* CUDART_VERSION: structs are of that version */
    GPI_CUB_CALLS(GPI_CUB_MEMBER)
    GPI_CUB_REGISTRATIONS(GPI_CUB_MEMBER)
};

#endif
