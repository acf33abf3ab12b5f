/* SPDX-License-Identifier: MIT */
/* Steps that scan a warp in registers; scan_then_fan.cuh has what surrounds them. */
#include "scan_then_fan.cuh"

namespace
{
struct shuffle_warp {
    static constexpr int row_items = 0;

    static __device__ item scan(item v, item *, int lane)
    {
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            item left = __shfl_up_sync(all_lanes, v, d);
            if (lane >= d)
                v += left;
        }
        return v;
    }
};

// The shuffle itself says whether the lane it read from exists: the predicate of its second result.
struct predicated_warp {
    static constexpr int row_items = 0;

    static __device__ item scan(item v, item *, int)
    {
#pragma unroll
        for (int d = 1; d < 32; d *= 2)
            asm volatile("{\n\t"
                         ".reg .u32 left;\n\t"
                         ".reg .pred exists;\n\t"
                         "shfl.sync.up.b32 left|exists, %0, %1, 0, 0xffffffff;\n\t"
                         "@exists add.u32 %0, %0, left;\n\t"
                         "}"
                         : "+r"(v)
                         : "r"(d));
        return v;
    }
};
} // namespace

// New: lanes hand each other registers; no shared memory within a warp. Kogge and Stone's network
// on the shuffle instruction, CUDA C++ Programming Guide, "Warp Shuffle Functions".
extern "C" int ladder_shuffle(struct bench *b, const struct bench_args *a)
{
    return scan_then_fan<by_warps<shuffle_warp>>(b, a, sums_by::recursion);
}

// New: no comparison of the lane; two instructions a step. PTX ISA, "shfl.sync".
extern "C" int ladder_predicated(struct bench *b, const struct bench_args *a)
{
    return scan_then_fan<by_warps<predicated_warp>>(b, a, sums_by::recursion);
}
