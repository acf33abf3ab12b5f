/* SPDX-License-Identifier: MIT */
/* What the scans' kernels share: the steps on one warp's part of a tile. */
#pragma once

#include "device/vector.cuh"
#include "device/warp.cuh"

namespace GPI_SPACE
{

template <int ITEMS> GPI_DEVICE uint32_t tiles_of(uint64_t n)
{
    return (uint32_t)((n + ITEMS - 1) / ITEMS);
}

/* The fold of a part in striped arrangement: vector k * 32 + lane. */
template <class Types, class Op, int K>
GPI_DEVICE typename Types::A striped_total(const typename Types::RawIn (&raw)[K])
{
    typename Types::A sum = vector_total<Types, Op>(raw[0]);
    if constexpr (!Op::commutes)
        sum = warp_reduce<Op>(sum);
#pragma unroll
    for (int k = 1; k < K; k++) {
        const typename Types::A next = vector_total<Types, Op>(raw[k]);
        sum = Op::apply(sum, Op::commutes ? next : warp_reduce<Op>(next));
    }
    return Op::commutes ? warp_reduce<Op>(sum) : sum;
}

/* What a part adds to the total: a sum of integers modulo 2^32 has not left its range. */
template <class Types> GPI_DEVICE typename Types::Total total_of(typename Types::A sum)
{
    if constexpr (Types::wide && std::is_signed_v<typename Types::In>)
        return (int32_t)sum;
    else
        return sum;
}

/* A total that is another value in the type of the outputs. */
template <class Types> GPI_DEVICE bool lost(typename Types::Total x)
{
    if constexpr (Types::wide)
        return (typename Types::Total)(typename Types::Out)x != x;
    else
        return false;
}

/*
 * One warp's vectors of a tile in striped arrangement: K per lane, vector k * 32 + lane. Backward,
 * vectors and the items in them are counted from the end of the part; pointers are to its first
 * byte either way.
 */
template <class Types, class Op, int K, bool BACKWARD = false> struct StripedPart {
    using A = typename Types::A;
    using In = typename Types::In;
    using Out = typename Types::Out;
    static constexpr int items = 32 * K * Types::per_vector;

    typename Types::RawIn raw[K];
    A before[K]; /* fold of the warp's items before vector k of this lane */

    /* Whole part; p in shared or global memory, readable up to the next 16-byte boundaries. */
    GPI_DEVICE void load(const char *p, const Flip &flip)
    {
        constexpr int bytes = Types::bytes_in, unit = bytes < 16 ? bytes : 16;
        const char *mine = p + first_vector() * bytes;
        if ((uintptr_t)p % unit == 0) {
#pragma unroll
            for (int k = 0; k < K; k++)
                raw[k] = raw_load_aligned<bytes>(mine + k * step * bytes);
        } else {
#pragma unroll
            for (int k = 0; k < K; k++)
                raw[k] = raw_load_shifted<bytes, Types::piece_in>(mine + k * step * bytes);
        }
#pragma unroll
        for (int k = 0; k < K; k++) {
            if constexpr (BACKWARD)
                raw[k] = raw_reversed<In>(raw[k]);
            raw[k] = raw_flipped<Op>(raw[k], flip);
        }
    }

    /* Only the first count items of the part exist; the others become identities. */
    GPI_DEVICE void load_partial(const char *p, int count, const Flip &flip)
    {
#pragma unroll
        for (int k = 0; k < K; k++) {
            raw[k] = {};
#pragma unroll
            for (int i = 0; i < Types::per_vector; i++) {
                int at = (k * 32 + lane_id()) * Types::per_vector + i;
                In x = neutral_item<Op, In>(flip);
                if (at < count)
                    x = item_load<In, Types::piece_in>(p + (int64_t)at * sizeof(In));
                raw_set<In>(raw[k], i, x);
            }
            raw[k] = raw_flipped<Op>(raw[k], flip);
        }
    }

    /* Item i becomes 0. */
    GPI_DEVICE void drop(int i)
    {
#pragma unroll
        for (int k = 0; k < K; k++)
            raw[k] = raw_dropped<In>(raw[k], i - (k * 32 + lane_id()) * Types::per_vector);
    }

    /* Fill before[]; returns the fold of the whole part. Where a value takes two shuffles, fewer of
     * them are worth the longer way. */
    GPI_DEVICE A scan()
    {
        if constexpr (Types::scalar && sizeof(A) == 8) {
#pragma unroll
            for (int k = 0; k < K; k++)
                before[k] = vector_total<Types, Op>(raw[k]);
            return WarpRows<Op, K>::scan(before);
        } else {
            A run = Op::identity();
#pragma unroll
            for (int k = 0; k < K; k++) {
                A upto = warp_scan<Op>(vector_total<Types, Op>(raw[k]));
                A left = shuffle_up(upto, 1);
                before[k] = lane_id() == 0 ? run : Op::apply(run, left);
                run = Op::apply(run, shuffle(upto, 31));
            }
            return run;
        }
    }

    /* The first count outputs of the part. All are made first, so that the ways to store them, of
     * which one alone is for most tiles, have the code of a copy. */
    GPI_DEVICE void store(char *p, A prefix, bool shifted_by_one, int count, const Flip &flip,
                          uint32_t &lost) const
    {
        constexpr int bytes = Types::bytes_out;
        char *mine = p + first_vector() * bytes;
        typename Types::RawOut out[K];
#pragma unroll
        for (int k = 0; k < K; k++)
            out[k] = directed(outputs(k, prefix, shifted_by_one, flip, lost));
        if (count < items) {
            store_some(p, out, count);
        } else if (misalignment(p) == 0) {
#pragma unroll
            for (int k = 0; k < K; k++)
                raw_store_aligned<bytes>(mine + k * step * bytes, out[k]);
        } else if constexpr (BACKWARD) {
            store_shifted_backward(p + lane_id() * bytes, out);
        } else {
            ShiftedRun<bytes, Types::piece_out> run = {};
#pragma unroll
            for (int k = 0; k < K; k++)
                run.put(mine + k * 32 * bytes, out[k], k == 0, k == K - 1);
        }
    }

  private:
    static constexpr int step = BACKWARD ? -32 : 32; /* from a lane's vector to its next */

    /* Where this lane's vector 0, and where item i, lies in the part. */
    static GPI_DEVICE int first_vector()
    {
        return BACKWARD ? 32 * K - 1 - lane_id() : lane_id();
    }
    static GPI_DEVICE int64_t place(int i)
    {
        return BACKWARD ? items - 1 - i : i;
    }
    static GPI_DEVICE typename Types::RawOut directed(const typename Types::RawOut &raw)
    {
        if constexpr (BACKWARD)
            return raw_reversed<Out>(raw);
        else
            return raw;
    }

    /* Of the last tile, item by item; by a loop in which the next vector becomes the first. */
    static GPI_DEVICE void store_some(char *p, typename Types::RawOut (&out)[K], int count)
    {
        constexpr int last = Types::per_vector - 1;
#pragma unroll 1
        for (int at = lane_id() * Types::per_vector; at < items; at += 32 * Types::per_vector) {
#pragma unroll
            for (int i = 0; i <= last; i++)
                if (at + i < count)
                    item_store<Out, Types::piece_out>(
                        p + place(at + i) * sizeof(Out),
                        raw_get<Out>(out[0], BACKWARD ? last - i : i));
#pragma unroll
            for (int k = 1; k < K; k++)
                out[k - 1] = out[k];
        }
    }

    /* The run of vectors rises with the lanes: the last vectors first, each from the other lane. */
    static GPI_DEVICE void store_shifted_backward(char *mine,
                                                  const typename Types::RawOut (&out)[K])
    {
        constexpr int bytes = Types::bytes_out;
        ShiftedRun<bytes, Types::piece_out> run = {};
#pragma unroll
        for (int k = K - 1; k >= 0; k--)
            run.put(mine + (K - 1 - k) * 32 * bytes, shuffle(out[k], 31 - lane_id()), k == K - 1,
                    k == 0);
    }

    GPI_DEVICE typename Types::RawOut outputs(int k, A prefix, bool shifted_by_one,
                                              const Flip &flip, uint32_t &lost) const
    {
        A x = Op::apply(prefix, before[k]);
        return raw_flipped<Op>(vector_scan<Types, Op>(raw[k], x, shifted_by_one, lost), flip);
    }
};

} // namespace GPI_SPACE
