/* SPDX-License-Identifier: MIT */
/* A kernel of one's own, a call of gp, and a kernel again on one stream. Exit code 77: no GPU. */
#include <cuda_runtime.h>

#include "cli.h"
#include "recipe.h"

constexpr int n = 1 << 20;

static void need_cuda(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "own_kernel: %s\n", cudaGetErrorString(error));
    exit(1);
}

/* Grid: any. */
__global__ void fill_k(int *x, int value)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = value;
}

/* Grid: any. wrong: how many x[i] are not (i + 1) * step. */
__global__ void check_k(const int *x, int step, unsigned *wrong)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (x[i] != (i + 1) * step)
            atomicAdd(wrong, 1u);
}

int main(int argc, char **argv)
{
    int devices = 0;
    cli_alone("own_kernel", "A kernel, a call of gp, and a kernel again on one stream, checked.",
              argc, argv);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
        return puts("own_kernel: no GPU"), 77;
    cudaStream_t stream; /* the program's, which gp is to use */
    int *x;
    unsigned *wrong, result;
    need_cuda(cudaStreamCreate(&stream));
    need_cuda(cudaMalloc(&x, n * sizeof *x)); /* memory of any origin will do */
    need_cuda(cudaMalloc(&wrong, sizeof *wrong));
    gp_context_options options = GP_CONTEXT_OPTIONS_INIT;
    options.backend = GP_BACKEND_CUDA;
    options.stream = stream;
    need(gp_context_create(&ctx, &options));

    need_cuda(cudaMemsetAsync(wrong, 0, sizeof *wrong, stream));
    fill_k<<<64, 256, 0, stream>>>(x, 2);
    need(gp_scan_inclusive(ctx, GP_I32, GP_SUM, x, n, x)); /* behind fill_k, in front of check_k */
    check_k<<<64, 256, 0, stream>>>(x, 2, wrong);
    need_cuda(cudaMemcpyAsync(&result, wrong, sizeof result, cudaMemcpyDefault, stream));
    need(gp_context_synchronize(ctx)); /* waits for the stream, and says what gp's calls found */

    printf("%u of %d wrong\n", result, n);
    gp_context_destroy(ctx); /* the stream is the program's: destroyed after the context */
    need_cuda(cudaFree(x));
    need_cuda(cudaFree(wrong));
    need_cuda(cudaStreamDestroy(stream));
    return result != 0;
}
