/* SPDX-License-Identifier: MIT */
/*
 * Barriers in shared memory that whole warps arrive at, and any thread waits for: those of the
 * hardware (sm_80 and newer), otherwise words.
 *
 * A barrier passes through phases; a phase ends with the last arrival that the barrier expects. A
 * wait for parity 0 returns when phase 0, 2, .. has ended, a wait for parity 1 when phase 1, 3, ..
 * has, so a thread that waits for one phase after another alternates between them. Writes before
 * an arrival are seen after a wait for its phase.
 */
#pragma once

#include <cstdint>

#include "device/warp.cuh"

namespace GPI_SPACE
{

GPI_DEVICE uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* Before another look at a barrier that does not put a thread to sleep itself: other warps need the
 * way to shared memory too. */
GPI_DEVICE void barrier_pause()
{
    __nanosleep(32);
}

#if GPI_SM >= 80

/* Of a warp that arrives: each of its lanes does. */
constexpr uint32_t barrier_warp_arrivals = 32;

GPI_DEVICE void barrier_init(uint64_t *b, uint32_t arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(arrivals));
}

GPI_DEVICE void barrier_arrive_one(uint64_t *b)
{
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(b)) : "memory");
}

GPI_DEVICE void barrier_arrive(uint64_t *b)
{
    barrier_arrive_one(b);
}

GPI_DEVICE void barrier_wait(uint64_t *b, uint32_t parity)
{
#if GPI_SM >= 90
    asm volatile("{\n.reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
                 "@!done bra again;\n}" ::"r"(shared_address(b)),
                 "r"(parity)
                 : "memory");
#else
    uint32_t done;
    for (;; barrier_pause()) {
        asm volatile("{\n.reg .pred done;\n"
                     "mbarrier.test_wait.parity.shared.b64 done, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, done;\n}"
                     : "=r"(done)
                     : "r"(shared_address(b)), "r"(parity)
                     : "memory");
        if (done)
            return;
    }
#endif
}

#else

/* Of a warp that arrives: one lane does for all. */
constexpr uint32_t barrier_warp_arrivals = 1;

/* The two words of a barrier. No warp arrives in a phase before the last one has ended. */
struct BarrierWords {
    uint32_t missing; /* arrivals; expected in the high half */
    uint32_t phase;   /* 0 or 1 */
};

GPI_DEVICE void barrier_init(uint64_t *b, uint32_t arrivals)
{
    *(BarrierWords *)b = {arrivals << 16 | arrivals, 0};
}

GPI_DEVICE void barrier_arrive_one(uint64_t *b)
{
    const uint32_t word = shared_address(b);
    uint32_t before;
    /* release: what this warp wrote; acquire: the last one passes on what the others did */
    asm volatile("atom.acq_rel.cta.shared.add.u32 %0, [%1], -1;"
                 : "=r"(before)
                 : "r"(word)
                 : "memory");
    if ((before & 0xffff) != 1)
        return;
    asm volatile("{\n.reg .u32 phase;\n"
                 "st.shared.u32 [%0], %1;\n"
                 "ld.shared.u32 phase, [%0 + 4];\n"
                 "xor.b32 phase, phase, 1;\n"
                 "st.release.cta.shared.u32 [%0 + 4], phase;\n}" ::"r"(word),
                 "r"((before & 0xffff0000) | before >> 16)
                 : "memory");
}

GPI_DEVICE void barrier_arrive(uint64_t *b)
{
    __syncwarp();
    if (lane_id() == 0)
        barrier_arrive_one(b);
}

GPI_DEVICE void barrier_wait(uint64_t *b, uint32_t parity)
{
    uint32_t phase;
    for (;; barrier_pause()) {
        asm volatile("ld.acquire.cta.shared.u32 %0, [%1 + 4];"
                     : "=r"(phase)
                     : "r"(shared_address(b))
                     : "memory");
        if (phase != parity)
            return;
    }
}

#endif

/* After the barriers of a block are made, before __syncthreads(): a copy engine sees them too. */
GPI_DEVICE void barrier_init_done()
{
#if GPI_SM >= 90
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

} // namespace GPI_SPACE
