/* SPDX-License-Identifier: MIT */
/*
 * A GPU out of fibers, for tests of device code where there is none: every thread of a block is a
 * fiber, blocks run on threads of the host. Included before each translated unit (translate.py), in
 * place of what nvcc includes.
 *
 * Lanes of a warp run in any order between two points where they meet, not in step, so code that
 * counts on lockstep fails here. Memory is that of the host: weaker orders than x86-64 has are not
 * shown, nor is speed.
 */
#ifndef EMULATOR_H
#define EMULATOR_H

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <vector_functions.h>

#undef __device__
#undef __host__
#undef __global__
#undef __forceinline__
#undef __noinline__
#undef __shared__
#undef __constant__
#undef __grid_constant__
#undef __launch_bounds__
#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __shared__ static thread_local
#define __constant__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define __CUDA_ARCH__ (GPI_SM * 10)
#define __builtin_assume(condition) ((void)0)

extern thread_local uint3 threadIdx, blockIdx;
extern thread_local dim3 blockDim, gridDim;

namespace emulator
{

/* ---- threads --------------------------------------------------------------------------------- */

/* Where the lanes of a warp meet. */
struct Warp {
    uint32_t arrived = 0, generation = 0;
    uint64_t slot[2][32]; /* what each lane brings, by turns */
};

struct Fiber {
    uint3 thread;
    Warp *warp;
    const uint32_t *waits_for; /* to be another value than `while_it_is`; NULL: runs */
    uint32_t while_it_is;
    bool polls; /* it gave way in a loop */
    void *context;
};

extern thread_local Fiber *self_;

inline Fiber &self()
{
    return *self_;
}

void give_way(); /* of a loop that waits for other threads */
void wait_while(const uint32_t *word, uint32_t is);
uint32_t meet(int barrier, int threads, uint32_t mine, bool all); /* AND or OR of theirs */
int block_threads_alive();
void *dynamic_shared();

/* ---- warps ----------------------------------------------------------------------------------- */

template <class T> uint64_t word_of(T value)
{
    uint64_t word = 0;
    static_assert(sizeof(T) <= 8, "exchanged in 64 bits");
    memcpy(&word, &value, sizeof value);
    return word;
}

template <class T> T value_of(uint64_t word)
{
    T value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* All lanes of the mask bring a word; returns those of all. */
inline const uint64_t *exchange(uint32_t mask, uint64_t mine)
{
    Fiber &f = self();
    Warp &w = *f.warp;
    const uint32_t turn = w.generation;
    w.slot[turn & 1][f.thread.x & 31] = mine;
    if (++w.arrived == (uint32_t)__builtin_popcount(mask)) {
        w.arrived = 0;
        w.generation++;
    } else {
        wait_while(&w.generation, turn);
    }
    return w.slot[turn & 1];
}

template <class F> uint32_t fold_lanes(uint32_t mask, uint32_t mine, F f)
{
    const uint64_t *all = exchange(mask, mine);
    const int first = __builtin_ctz(mask);
    uint32_t sum = (uint32_t)all[first];
    for (int i = first + 1; i < 32; i++)
        if (mask >> i & 1)
            sum = f(sum, (uint32_t)all[i]);
    return sum;
}

/* ---- launches -------------------------------------------------------------------------------- */

enum { THREADS_MAX = 1024, SHARED = 227 << 10 }; /* of a block; bytes */

struct Shape {
    unsigned grid, threads;
    unsigned cluster; /* blocks of it; 0: none */
    size_t bytes;
    bool cooperative;
};

/* By threads of the host; returns when all blocks have ended. */
void run_grid(const Shape &shape, const std::function<void()> &thread);

/* Runs it, or records it where the stream is captured. */
cudaError_t launch(const Shape &shape, cudaStream_t stream, std::function<void()> thread);

/* What cudaLaunchKernelExC() needs of a kernel. */
using Caller = std::function<void()> (*)(const void *kernel, void **arguments);
void remember(const void *kernel, Caller caller);

template <class... P> struct CallOf {
    template <size_t... I>
    static std::function<void()> bound(void (*kernel)(P...), void **arguments,
                                       std::index_sequence<I...>)
    {
        auto copies = std::make_shared<std::tuple<std::remove_const_t<P>...>>(
            *(std::remove_const_t<P> *)arguments[I]...);
        return [=] { std::apply(kernel, *copies); };
    }
    static std::function<void()> call(const void *kernel, void **arguments)
    {
        return bound((void (*)(P...))kernel, arguments, std::index_sequence_for<P...>());
    }
};

template <class... P> const void *known(void (*kernel)(P...))
{
    remember((const void *)kernel, CallOf<P...>::call);
    return (const void *)kernel;
}

struct Launch {
    Shape shape;
    cudaStream_t stream;

    Launch(unsigned grid, unsigned threads, size_t bytes = 0, cudaStream_t s = nullptr)
        : shape{grid, threads, 0, bytes, false}, stream(s)
    {
    }

    template <class F, class... A> void of(F f, A... arguments)
    {
        auto copies = std::make_shared<std::tuple<A...>>(arguments...);
        launch(shape, stream, [=] { std::apply(f, *copies); });
    }
};

/* ---- shared memory by 32-bit addresses, and blocks of a cluster ------------------------------ */

/* From below the thread's storage on; the highest bits: 0, or a block of the cluster and one. */
constexpr uint32_t address_bits = 28;

uint32_t shared_address_of(const void *p);
char *shared_at(uint32_t address);
void cluster_arrive();
void cluster_wait();

} // namespace emulator

#include "functions.h"
#include "ptx.h"

#endif
