/* SPDX-License-Identifier: MIT */
/* What the scans' kernels share: the types of a unit, and the steps on one warp's part of
 * a tile. */
#pragma once

#include <type_traits>

#include "device/flip.cuh"
#include "device/warp.cuh"

namespace GPI_SPACE
{

/* One dtype unit: how items are stored, what they are added up in, at which alignment. */
template <class In_, class A_, class Out_, int PIECE_IN_, int PIECE_OUT_, bool WIDE_>
struct ScanTypes {
    using In = In_;
    using A = A_;
    using Out = Out_;
    static constexpr int piece_in = PIECE_IN_, piece_out = PIECE_OUT_; /* bytes of a scalar */
    static constexpr bool wide = WIDE_;                                /* check that outputs fit */
    static constexpr bool scalar = sizeof(Out) == PIECE_OUT_;
    static constexpr int item = sizeof(In) > sizeof(Out) ? sizeof(In) : sizeof(Out);
    static constexpr int per_vector = item < 16 ? 16 / item : 1;
    static constexpr int bytes_in = per_vector * sizeof(In);
    static constexpr int bytes_out = per_vector * sizeof(Out);
    using RawIn = Raw<bytes_in>;
    using RawOut = Raw<bytes_out>;
};

template <int ITEMS> GPI_DEVICE uint32_t tiles_of(uint64_t n)
{
    return (uint32_t)((n + ITEMS - 1) / ITEMS);
}

/* Four bytes in one instruction. */
template <class Types> GPI_DEVICE uint32_t bytes_total(const typename Types::RawIn &raw)
{
    uint32_t t = 0;
#pragma unroll
    for (int i = 0; i < Types::RawIn::words; i++) {
        if constexpr (Limits<typename Types::In>::is_signed)
            t = (uint32_t)__dp4a((int)raw.w[i], 0x01010101, (int)t);
        else
            t = __dp4a(raw.w[i], 0x01010101u, t);
    }
    return t;
}

/* Fold of the items of a vector, left to right. */
template <class Types, class Op>
GPI_DEVICE typename Types::A vector_total(const typename Types::RawIn &raw)
{
    using A = typename Types::A;
    if constexpr (sizeof(typename Types::In) == 1 && std::is_same_v<Op, Sum<uint32_t>>) {
        return bytes_total<Types>(raw);
    } else {
        A t = widen<A>(raw_get<typename Types::In>(raw, 0));
#pragma unroll
        for (int i = 1; i < Types::per_vector; i++)
            t = Op::apply(t, widen<A>(raw_get<typename Types::In>(raw, i)));
        return t;
    }
}

/* A narrow result read back is another value. */
template <class Types> GPI_DEVICE bool lost(typename Types::A x)
{
    if constexpr (Types::wide)
        return (typename Types::A)(typename Types::Out)x != x;
    else
        return false;
}

/* The outputs of a vector whose prefix is x; the first count of them will be stored. */
template <class Types, class Op>
GPI_DEVICE typename Types::RawOut vector_scan(const typename Types::RawIn &raw, typename Types::A x,
                                              bool before, int count, bool &overflow)
{
    using A = typename Types::A;
    using In = typename Types::In;
    A out[Types::per_vector];
#pragma unroll
    for (int i = 0; i < Types::per_vector; i++) {
        const A next = Op::apply(x, widen<A>(raw_get<In>(raw, i)));
        out[i] = before ? x : next;
        overflow = overflow || (i < count && lost<Types>(out[i]));
        x = next;
    }
    return raw_narrow<typename Types::Out>(out);
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

    GPI_DEVICE void store(char *p, A prefix, bool shifted_by_one, const Flip &flip,
                          bool &overflow) const
    {
        constexpr int bytes = Types::bytes_out;
        char *mine = p + first_vector() * bytes;
        if (misalignment(p) == 0) {
#pragma unroll
            for (int k = 0; k < K; k++)
                raw_store_aligned<bytes>(
                    mine + k * step * bytes,
                    directed(outputs(k, prefix, shifted_by_one, all, flip, overflow)));
        } else if constexpr (BACKWARD) {
            store_shifted_backward(p + lane_id() * bytes, prefix, shifted_by_one, flip, overflow);
        } else {
            ShiftedRun<bytes, Types::piece_out> run = {};
#pragma unroll
            for (int k = 0; k < K; k++)
                run.put(mine + k * 32 * bytes,
                        outputs(k, prefix, shifted_by_one, all, flip, overflow), k == 0,
                        k == K - 1);
        }
    }

    /* Only the first count outputs of the part. */
    GPI_DEVICE void store_partial(char *p, A prefix, bool shifted_by_one, int count,
                                  const Flip &flip, bool &overflow) const
    {
#pragma unroll
        for (int k = 0; k < K; k++) {
            int at = (k * 32 + lane_id()) * Types::per_vector;
            typename Types::RawOut out =
                outputs(k, prefix, shifted_by_one, count - at, flip, overflow);
#pragma unroll
            for (int i = 0; i < Types::per_vector; i++)
                if (at + i < count)
                    item_store<Out, Types::piece_out>(p + place(at + i) * sizeof(Out),
                                                      raw_get<Out>(out, i));
        }
    }

  private:
    static constexpr int all = Types::per_vector;
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

    /* The run of vectors rises with the lanes: the last vectors first, each from the other lane. */
    GPI_DEVICE void store_shifted_backward(char *mine, A prefix, bool shifted_by_one,
                                           const Flip &flip, bool &overflow) const
    {
        constexpr int bytes = Types::bytes_out;
        ShiftedRun<bytes, Types::piece_out> run = {};
#pragma unroll
        for (int k = K - 1; k >= 0; k--) {
            typename Types::RawOut out =
                directed(outputs(k, prefix, shifted_by_one, all, flip, overflow));
            run.put(mine + (K - 1 - k) * 32 * bytes, shuffle(out, 31 - lane_id()), k == K - 1,
                    k == 0);
        }
    }

    GPI_DEVICE typename Types::RawOut outputs(int k, A prefix, bool shifted_by_one, int count,
                                              const Flip &flip, bool &overflow) const
    {
        return raw_flipped<Op>(vector_scan<Types, Op>(raw[k], Op::apply(prefix, before[k]),
                                                      shifted_by_one, count, overflow),
                               flip);
    }
};

} // namespace GPI_SPACE
