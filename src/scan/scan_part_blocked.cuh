/* SPDX-License-Identifier: MIT */
/* A warp's part of a tile in blocked arrangement: for operators that cost more than a trip through
 * shared memory. */
#pragma once

#include "scan/scan_params.cuh"

namespace GPI_SPACE
{

/*
 * One warp's vectors of a tile: each lane has K that lie side by side, so that one tree over the
 * lanes serves them all, where StripedPart takes one for each. Outputs go through shared memory to
 * where neighbouring lanes store neighbouring vectors. An odd K keeps the lanes' vectors in
 * different banks.
 */
template <class Types, class Op, int K> struct BlockedPart {
    using A = typename Types::A;
    using In = typename Types::In;
    using Out = typename Types::Out;
    static constexpr int items = 32 * K * Types::per_vector;
    static constexpr int scratch_bytes = 32 * K * Types::bytes_out;
    static_assert(K % 2 == 1 && Types::bytes_in >= 16, "lanes would share banks");

    typename Types::RawIn raw[K];
    A before; /* fold of the items of the lanes before; not used by lane 0 */

    /* Whole part; p in shared memory, readable up to the next 16-byte boundaries. */
    GPI_DEVICE void load(const char *p, const Flip &)
    {
        const char *mine = p + lane_id() * K * Types::bytes_in;
        const bool aligned = misalignment(p) == 0;
#pragma unroll
        for (int k = 0; k < K; k++)
            raw[k] = aligned ? raw_load_aligned<Types::bytes_in>(mine + k * Types::bytes_in)
                             : raw_load_shifted<Types::bytes_in, Types::piece_in>(
                                   mine + k * Types::bytes_in);
    }

    /* The fold of this lane's items. */
    GPI_DEVICE A total() const
    {
        A sum = vector_total<Types, Op>(raw[0]);
#pragma unroll
        for (int k = 1; k < K; k++)
            sum = Op::apply(sum, vector_total<Types, Op>(raw[k]));
        return sum;
    }

    GPI_DEVICE void scan()
    {
        before = shuffle_up(warp_scan<Op>(total()), 1);
    }

    /* All outputs; scratch: scratch_bytes of shared memory that are this warp's own. */
    GPI_DEVICE void store(char *p, A prefix, bool shifted_by_one, char *scratch) const
    {
        constexpr int bytes = Types::bytes_out;
        leave(prefix, shifted_by_one, scratch);
        char *mine = p + lane_id() * bytes;
        const char *from = scratch + lane_id() * bytes;
        if (misalignment(p) == 0) {
#pragma unroll
            for (int k = 0; k < K; k++)
                raw_store_aligned<bytes>(mine + k * 32 * bytes,
                                         raw_load_aligned<bytes>(from + k * 32 * bytes));
        } else {
            ShiftedRun<bytes, Types::piece_out> run = {};
#pragma unroll
            for (int k = 0; k < K; k++)
                run.put(mine + k * 32 * bytes, raw_load_aligned<bytes>(from + k * 32 * bytes),
                        k == 0, k == K - 1);
        }
        __syncwarp();
    }

    /* Only the first count outputs. */
    GPI_DEVICE void store_partial(char *p, A prefix, bool shifted_by_one, int count,
                                  char *scratch) const
    {
        leave(prefix, shifted_by_one, scratch);
        for (int i = lane_id(); i < count; i += 32)
            item_store<Out, Types::piece_out>(
                p + i * sizeof(Out), item_load<Out, Types::piece_out>(scratch + i * sizeof(Out)));
        __syncwarp();
    }

  private:
    /* The outputs in their order, in scratch. */
    GPI_DEVICE void leave(A prefix, bool shifted_by_one, char *scratch) const
    {
        constexpr int bytes = Types::bytes_out;
        A x = lane_id() == 0 ? prefix : Op::apply(prefix, before);
#pragma unroll
        for (int k = 0; k < K; k++) {
            typename Types::RawOut out = {};
#pragma unroll
            for (int i = 0; i < Types::per_vector; i++) {
                const A next = Op::apply(x, widen<A>(raw_get<In>(raw[k], i)));
                raw_set<Out>(out, i, narrow<Out>(shifted_by_one ? x : next));
                x = next;
            }
            raw_store_aligned<bytes>(scratch + (lane_id() * K + k) * bytes, out);
        }
        __syncwarp();
    }
};

} // namespace GPI_SPACE
