/* SPDX-License-Identifier: MIT */
/*
 * Blocked arrangement of one warp's part of a tile: each lane has K vectors that lie side by side,
 * so one scan over the lanes serves them all, where a striped part (device/scan_part.cuh) takes one
 * for each vector. Outputs go through shared memory to where neighbouring lanes store neighbouring
 * vectors. An odd K keeps the lanes' vectors in different banks. Backward, vectors and the items in
 * them are counted from the end of the part; pointers are to its first byte either way.
 */
#pragma once

#include "device/scan_part.cuh"

namespace GPI_SPACE
{

template <class Types, int K, bool BACKWARD = false> struct LaneRun {
    using In = typename Types::In;
    using Out = typename Types::Out;
    static constexpr int items = 32 * K * Types::per_vector;
    static constexpr int scratch_bytes = 32 * K * Types::bytes_out; /* shared, of each warp */
    static_assert(K % 2 == 1 && Types::bytes_in >= 16, "lanes would share banks");

    /* p: whole part in shared memory, readable up to the next 16-byte boundaries. */
    static GPI_DEVICE void load(typename Types::RawIn (&raw)[K], const char *p)
    {
        constexpr int bytes = Types::bytes_in;
        if (misalignment(p) == 0) {
#pragma unroll
            for (int k = 0; k < K; k++)
                raw[k] = raw_load_aligned<bytes>(p + place(k) * bytes);
        } else {
#pragma unroll
            for (int k = 0; k < K; k++)
                raw[k] = raw_load_shifted<bytes, Types::piece_in>(p + place(k) * bytes);
        }
        if constexpr (BACKWARD)
#pragma unroll
            for (int k = 0; k < K; k++)
                raw[k] = raw_reversed<In>(raw[k]);
    }

    /* Vector k of this lane's outputs. */
    static GPI_DEVICE void leave(char *scratch, int k, const typename Types::RawOut &out)
    {
        constexpr int bytes = Types::bytes_out;
        if constexpr (BACKWARD)
            raw_store_aligned<bytes>(scratch + place(k) * bytes, raw_reversed<Out>(out));
        else
            raw_store_aligned<bytes>(scratch + place(k) * bytes, out);
    }

    /* The first count outputs of the part, when all lanes have left theirs. */
    static GPI_DEVICE void store(char *p, const char *scratch, int count)
    {
        constexpr int bytes = Types::bytes_out;
        char *mine = p + lane_id() * bytes;
        const char *from = scratch + lane_id() * bytes;
        __syncwarp();
        if (count < items) {
            const int first = BACKWARD ? items - count : 0;
            for (int i = first + lane_id(); i < first + count; i += 32)
                item_store<Out, Types::piece_out>(
                    p + (int64_t)i * sizeof(Out),
                    item_load<Out, Types::piece_out>(scratch + i * sizeof(Out)));
        } else if (misalignment(p) == 0) {
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

  private:
    /* Of this lane's vector k in the part. */
    static GPI_DEVICE int place(int k)
    {
        const int at = lane_id() * K + k;
        return BACKWARD ? 32 * K - 1 - at : at;
    }
};

/* Whether outputs pass through the stage, where the warp's items were. They do not where they are
 * longer, or short: a vector of many items takes long to make, and the stage would wait for it. */
template <class Types>
constexpr bool outputs_in_stage = sizeof(typename Types::In) >= 4 &&
                                  sizeof(typename Types::Out) <= sizeof(typename Types::In);

/* Otherwise they have shared memory of their own for each of W store warps. */
template <class Part, bool SEPARATE, int W> struct RunScratch {
};
template <class Part, int W> struct RunScratch<Part, true, W> {
    alignas(16) char scratch[W][Part::scratch_bytes];
};

} // namespace GPI_SPACE
