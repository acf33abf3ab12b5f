/* SPDX-License-Identifier: MIT */
/* What launchers need of the core. */
#pragma once

#include <type_traits>

#include "core/check.h"
#include "core/context.h"
#include "core/cuda.h"
#include "core/launch.h"
#include "core/workspace.h"

#include "device/space.cuh"

namespace GPI_SPACE
{

/* Blocks for n items of EACH, n at most MOST: a kernel that has no loop over them needs all of them
 * in one grid. */
template <uint64_t EACH, uint64_t MOST = GPI_MAX_N> uint32_t blocks_for(uint64_t n)
{
    static_assert((MOST + EACH - 1) / EACH < 0x7fffffff, "more blocks than a grid can have");
    return (uint32_t)((n + EACH - 1) / EACH);
}

/* f(x) with x of the unsigned type of 1, 2, 4 or, for any other number of bytes, 8 bytes. */
template <class F> auto with_word(size_t bytes, F f)
{
    switch (bytes) {
    case 1:
        return f(uint8_t());
    case 2:
        return f(uint16_t());
    case 4:
        return f(uint32_t());
    default:
        return f(uint64_t());
    }
}

/* Let a kernel use that much dynamic shared memory; once per device,
 * remembered in the bits of done. */
template <class Kernel>
gp_status shared_memory_allow(gp_context *ctx, const char *function, Kernel kernel, int bytes,
                              uint64_t *done)
{
    const uint64_t bit = ctx->device < 64 ? 1ull << ctx->device : 0; /* beyond: every time */
    if (__atomic_load_n(done, __ATOMIC_RELAXED) & bit)
        return GP_OK;
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) !=
        cudaSuccess)
        return gpi_cuda_launched(ctx, function);
    __atomic_fetch_or(done, bit, __ATOMIC_RELAXED);
    return GP_OK;
}

/* A kernel for gpi_launch_all(); the arguments stay where they are. */
template <class... Parameters, class... Arguments>
gpi_launch launch_of(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, int shared,
                     const Arguments &...arguments)
{
    static_assert(sizeof...(Arguments) == sizeof...(Parameters), "one for each parameter");
    static_assert((std::is_same_v<Parameters, Arguments> && ...), "of its type");
    return {(const void *)kernel,
            {(void *)&arguments...},
            blocks,
            threads,
            (size_t)shared,
            false,
            false};
}

/* One whose blocks are all there at once, for a GridBarrier. */
template <class Kernel, class... Arguments>
gpi_launch launch_cooperative(Kernel kernel, unsigned blocks, unsigned threads, int shared,
                              const Arguments &...arguments)
{
    gpi_launch l = launch_of(kernel, blocks, threads, shared, arguments...);
    l.cooperative = true;
    return l;
}

/* One that has grid_wait() (device/grid.cuh). If early, its blocks take their places as
 * soon as those of the kernel before leave them, not when that one has ended. */
template <class Kernel, class... Arguments>
gpi_launch launch_dependent(Kernel kernel, bool early, unsigned blocks, unsigned threads,
                            int shared, const Arguments &...arguments)
{
    gpi_launch l = launch_of(kernel, blocks, threads, shared, arguments...);
    l.overlap = early && GPI_SM >= 90;
    return l;
}

/* Zeros. */
inline gpi_launch launch_zeros(void *memory, size_t bytes)
{
    return {nullptr, {memory}, 0, 0, bytes, false, false};
}

/* The kernels of a call, at most GPI_LAUNCHES_MAX, which are queued together. */
struct LaunchList {
    gpi_launch launches[GPI_LAUNCHES_MAX];
    int count = 0;

    void add(const gpi_launch &launch)
    {
        launches[count++] = launch;
    }

    gp_status queue(gp_context *ctx, const char *function) const
    {
        return gpi_launch_all(ctx, function, launches, count);
    }
};

/* Launches of a call, for functions that add to them. */
struct CallLaunches : LaunchList {
    gp_context *ctx;
    const char *function;

    CallLaunches(gp_context *ctx_, const char *function_) : ctx(ctx_), function(function_)
    {
    }

    /* One that takes up to `most` bytes of shared memory; allowed: zero at first, of its kernel. */
    gp_status add_with(int most, uint64_t *allowed, const gpi_launch &launch)
    {
        GPI_TRY(shared_memory_allow(ctx, function, launch.kernel, most, allowed));
        add(launch);
        return GP_OK;
    }

    gp_status queue() const
    {
        return LaunchList::queue(ctx, function);
    }

    /* For that many more launches: queues those in the list if there is none. */
    gp_status make_room(int more)
    {
        if (count + more <= GPI_LAUNCHES_MAX)
            return GP_OK;
        GPI_TRY(queue());
        count = 0;
        return GP_OK;
    }
};

} // namespace GPI_SPACE
