/* SPDX-License-Identifier: MIT */
/* The CUDA side of the harness: tasks as kernels, cold-cache timing by events,
 * and the memory's rates. */
#include "bench.h"

#include <cstdio>

#include <cuda_runtime.h>

#include "bench_task_item.h"

namespace
{
constexpr size_t flush_bytes = size_t(256) << 20; // several times any L2
constexpr int block = 256;
// The spin kernel waits until the host has queued everything,
// but no shorter and no longer than this.
constexpr unsigned long long spin_min_ns = 100000, spin_max_ns = 20000000;

struct gate {
    unsigned open;      // set by the host when all is queued
    unsigned timed_out; // set by the spin kernel when the host never came
};

struct state {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    void *flush;
    volatile gate *host_gate;
    gate *device_gate;
    uint32_t *sink; // where the read kernel's result would go
    int blocks;
    bool warned;
} cuda;

void check(cudaError_t e, const char *what)
{
    if (e != cudaSuccess)
        bench_die("%s: %s (%s)", what, cudaGetErrorString(e), cudaGetErrorName(e));
}

// Grid: any; each thread takes items in strides of the grid.
__global__ void task_k(bench_task t)
{
    size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < t.n; i += stride)
        bench_task_item(&t, i);
}

__device__ unsigned long long now_ns()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

// One thread: holds the stream back, so that what follows starts without waiting for the host.
__global__ void spin_k(volatile gate *g)
{
    unsigned long long start = now_ns();
    while (now_ns() - start < spin_min_ns || !g->open)
        if (now_ns() - start > spin_max_ns) {
            g->timed_out = 1;
            break;
        }
}

// Reads n 16-byte words, four loads of a thread in flight;
// the store never happens for the input used.
__global__ void __launch_bounds__(block) read_k(const uint4 *in, size_t n, uint32_t *sink)
{
    size_t stride = size_t(gridDim.x) * blockDim.x;
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    uint32_t x = 0;
    for (; i + 3 * stride < n; i += 4 * stride) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = __ldcs(in + i + k * stride);
#pragma unroll
        for (int k = 0; k < 4; k++)
            x += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    for (; i < n; i += stride) {
        uint4 v = __ldcs(in + i);
        x += v.x + v.y + v.z + v.w;
    }
    if (x == 0xFFFFFFFF)
        *sink = x;
}

__global__ void __launch_bounds__(block) write_k(uint4 *out, size_t n)
{
    size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += stride)
        __stcs(out + i, make_uint4(3, 3, 3, 3));
}

int copy_rate(struct bench *, const struct bench_args *a)
{
    check(cudaMemcpyAsync(a->out, a->in, a->n, cudaMemcpyDeviceToDevice, cuda.stream), "memcpy");
    return BENCH_OK;
}

// One warp that does nothing: what a launch costs the host.
__global__ void empty_k()
{
}

int launch_empty(struct bench *, const struct bench_args *)
{
    empty_k<<<1, 32, 0, cuda.stream>>>();
    check(cudaGetLastError(), "empty kernel");
    return BENCH_OK;
}

int grid_for(size_t items)
{
    size_t blocks = (items + block - 1) / block;
    return blocks < size_t(cuda.blocks) ? int(blocks ? blocks : 1) : cuda.blocks;
}

int read_rate(struct bench *, const struct bench_args *a)
{
    size_t words = a->n / sizeof(uint4);
    read_k<<<grid_for(words), block, 0, cuda.stream>>>(static_cast<const uint4 *>(a->in), words,
                                                       cuda.sink);
    check(cudaGetLastError(), "read kernel");
    return BENCH_OK;
}

int write_rate(struct bench *, const struct bench_args *a)
{
    size_t words = a->n / sizeof(uint4);
    write_k<<<grid_for(words), block, 0, cuda.stream>>>(static_cast<uint4 *>(a->out), words);
    check(cudaGetLastError(), "write kernel");
    return BENCH_OK;
}

void cuda_task(struct bench *, const struct bench_task *t)
{
    task_k<<<grid_for(t->n), block, 0, cuda.stream>>>(*t);
    check(cudaGetLastError(), "task kernel");
}

void cuda_fill_bytes(struct bench *, void *memory, int byte, size_t bytes)
{
    check(cudaMemsetAsync(memory, byte, bytes, cuda.stream), "memset");
}

// The context may be on any device; its memory tells which.
int use_device_of_context(struct bench *b)
{
    cudaPointerAttributes a;
    check(cudaPointerGetAttributes(&a, bench_buffer(b, BENCH_SLOT_BAD, 256)), "pointer attributes");
    check(cudaSetDevice(a.device), "cudaSetDevice");
    return a.device;
}

void cuda_open(struct bench *b)
{
    cudaDeviceProp p;
    void *host = nullptr, *mapped = nullptr;
    cuda.stream = gp_context_stream(b->ctx);
    check(cudaGetDeviceProperties(&p, use_device_of_context(b)), "device properties");
    snprintf(b->machine, sizeof b->machine, "%s", p.name);
    cuda.blocks = p.multiProcessorCount * (p.maxThreadsPerMultiProcessor / block);
    check(cudaEventCreate(&cuda.begin), "event");
    check(cudaEventCreate(&cuda.end), "event");
    check(cudaMalloc(&cuda.flush, flush_bytes), "256 MB to flush the L2 cache");
    check(cudaMalloc(&cuda.sink, sizeof *cuda.sink), "malloc");
    check(cudaHostAlloc(&host, sizeof(gate), cudaHostAllocMapped), "mapped host memory");
    check(cudaHostGetDevicePointer(&mapped, host, 0), "mapped host memory");
    cuda.host_gate = static_cast<volatile gate *>(host);
    cuda.device_gate = static_cast<gate *>(mapped);
    bench_add_peers(b, bench_ladder_peers);
    bench_add_peers(b, bench_cub_scan_peers);
    bench_add_peers(b, bench_cub_reduce_peers);
    bench_add_peers(b, bench_cub_segreduce_peers);
    bench_add_peers(b, bench_cub_select_peers);
    bench_add_peers(b, bench_cub_partition_peers);
    bench_add_peers(b, bench_cub_group_peers);
    bench_add_peers(b, bench_cub_sort_peers);
    bench_add_peers(b, bench_cub_histogram_peers);
#if BENCH_HAVE_CUSPARSE
    bench_add_peers(b, bench_cusparse_peers());
#endif
#if BENCH_HAVE_CUBLAS
    bench_add_peers(b, bench_cublas_peers());
#endif
}

void cuda_close(struct bench *)
{
    check(cudaDeviceSynchronize(), "at the end");
    cudaEventDestroy(cuda.begin);
    cudaEventDestroy(cuda.end);
    cudaFree(cuda.flush);
    cudaFree(cuda.sink);
    cudaFreeHost(const_cast<gate *>(cuda.host_gate));
}

// Flush, hold the stream back, queue event, work, event; then let go.
int cuda_time(struct bench *b, bench_run run, const struct bench_args *a, double *seconds)
{
    float ms = 0;
    cuda.host_gate->open = 0;
    cuda.host_gate->timed_out = 0;
    check(cudaMemsetAsync(cuda.flush, 1, flush_bytes, cuda.stream), "flush");
    spin_k<<<1, 1, 0, cuda.stream>>>(cuda.device_gate);
    check(cudaGetLastError(), "spin kernel");
    check(cudaEventRecord(cuda.begin, cuda.stream), "event");
    int result = run(b, a);
    check(cudaEventRecord(cuda.end, cuda.stream), "event");
    cuda.host_gate->open = 1;
    check(cudaEventSynchronize(cuda.end), "a timed call");
    check(cudaEventElapsedTime(&ms, cuda.begin, cuda.end), "event");
    if (cuda.host_gate->timed_out && !cuda.warned) {
        printf("  note: a call waited for the device; its time holds host time too\n");
        cuda.warned = true;
    }
    *seconds = ms * 1e-3;
    return result;
}
} // namespace

extern "C" const struct bench_backend bench_cuda = {
    "cuda",          "memcpy",     "kernel",
    cuda_open,       cuda_close,   cuda_task,
    cuda_fill_bytes, cuda_time,    {copy_rate, read_rate, write_rate},
    false,           launch_empty,
};

extern "C" void bench_cuda_start(double *runtime, double *stream)
{
    cudaStream_t made;
    double begin = bench_now();
    check(cudaFree(nullptr), "the start of the CUDA runtime");
    *runtime = bench_now() - begin;
    begin = bench_now();
    check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "stream");
    *stream = bench_now() - begin;
}
