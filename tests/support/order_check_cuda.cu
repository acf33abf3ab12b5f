/* SPDX-License-Identifier: MIT */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include "order_check.h"

static void check_cuda(cudaError_t e)
{
    if (e != cudaSuccess) {
        printf("order_check_cuda.cu: %s\n", cudaGetErrorString(e));
        exit(1);
    }
}

static __global__ void fill_k(bench_spread spread, uint64_t seed, uint64_t n, uint32_t *keys,
                              uint32_t *positions)
{
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        keys[i] =
            (uint32_t)bench_spread_bits(spread, spread == BENCH_UNIT, 4, i, n, bench_hash(seed, i));
        if (positions)
            positions[i] = (uint32_t)i;
    }
}

static __global__ void count_wrong_k(const __grid_constant__ t_order order,
                                     unsigned long long *wrong)
{
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    unsigned long long mine = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < order.n; i += stride)
        mine += t_order_wrong(&order, i);
    if (mine)
        atomicAdd(wrong, mine);
}

void t_order_fill_cuda(gp_stream stream, enum bench_spread spread, uint64_t seed, uint64_t n,
                       uint32_t *keys, uint32_t *positions)
{
    fill_k<<<2048, 256, 0, stream>>>(spread, seed, n, keys, positions);
    check_cuda(cudaGetLastError());
}

uint64_t t_order_count_wrong_cuda(gp_stream stream, const struct t_order *order)
{
    unsigned long long *d_wrong, wrong = 0;
    check_cuda(cudaMalloc((void **)&d_wrong, sizeof wrong));
    check_cuda(cudaMemcpyAsync(d_wrong, &wrong, sizeof wrong, cudaMemcpyHostToDevice, stream));
    count_wrong_k<<<2048, 256, 0, stream>>>(*order, d_wrong);
    check_cuda(cudaMemcpyAsync(&wrong, d_wrong, sizeof wrong, cudaMemcpyDeviceToHost, stream));
    check_cuda(cudaStreamSynchronize(stream));
    check_cuda(cudaFree(d_wrong));
    return wrong;
}
