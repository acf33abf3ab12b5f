/* SPDX-License-Identifier: MIT */
/* A warp's part of a tile in blocked arrangement: for operators that cost more than a trip through
 * shared memory, and where several items share a word. */
#pragma once

#include "device/lane_run.cuh"
#include "scan/scan_params.cuh"

namespace GPI_SPACE
{

/* The sum warps leave the fold of every lane's items and those before them in the part, so the
 * store warps go over the items only once. */
template <class Types, class Op, int K, bool BACKWARD> struct BlockedPart {
    using A = typename Types::A;
    using In = typename Types::In;
    using Run = LaneRun<Types, K, BACKWARD>;
    static constexpr int items = Run::items, scratch_bytes = Run::scratch_bytes;

    typename Types::RawIn raw[K];
    A before; /* fold of the items of the lanes before; not used by lane 0 */

    GPI_DEVICE void load(const char *p, const Flip &flip)
    {
        Run::load(raw, p);
#pragma unroll
        for (int k = 0; k < K; k++)
            raw[k] = raw_flipped<Op>(raw[k], flip);
    }

    /* Item i becomes 0. */
    GPI_DEVICE void drop(int i)
    {
#pragma unroll
        for (int k = 0; k < K; k++)
            raw[k] = raw_dropped<In>(raw[k], i - (lane_id() * K + k) * Types::per_vector);
    }

    /* The fold of the part; upto: one of each lane. */
    GPI_DEVICE A sum(A *upto) const
    {
        A own = vector_total<Types, Op>(raw[0]);
#pragma unroll
        for (int k = 1; k < K; k++)
            own = Op::apply(own, vector_total<Types, Op>(raw[k]));
        own = warp_scan<Op>(own);
        upto[lane_id()] = own;
        return shuffle(own, 31);
    }

    GPI_DEVICE void join(const A *upto)
    {
        before = upto[lane_id() == 0 ? 0 : lane_id() - 1];
    }

    /* The first count outputs; scratch: scratch_bytes of shared memory that are this warp's own. */
    GPI_DEVICE void store(char *p, A prefix, bool shifted_by_one, int count, const Flip &flip,
                          uint32_t &lost, char *scratch) const
    {
        A x = lane_id() == 0 ? prefix : Op::apply(prefix, before);
        uint32_t own_lost = 0;
#pragma unroll
        for (int k = 0; k < K; k++) {
            const typename Types::RawOut out =
                vector_scan<Types, Op>(raw[k], x, shifted_by_one, own_lost);
            Run::leave(scratch, k, raw_flipped<Op>(out, flip));
        }
        if (lane_id() * K * Types::per_vector < count) /* not behind an item that was dropped */
            lost |= own_lost;
        Run::store(p, scratch, count);
    }
};

} // namespace GPI_SPACE
