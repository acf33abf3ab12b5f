/* SPDX-License-Identifier: MIT */
/*
 * Two operators for six on integers: the greatest of flipped items is the minimum or the maximum of
 * signed or unsigned ones, and the OR of flipped items is AND or OR. Bits are flipped in the words
 * of a vector, several items at once, as it is loaded and before it is stored; in between, and in
 * what tiles exchange, 0 is neutral to both.
 */
#pragma once

#include "device/ops.cuh"
#include "device/tile_io.cuh"

namespace GPI_SPACE
{

/* The greatest of flipped items. */
template <class A> struct Highest : WarpReduction<GP_MAX, A> {
    static constexpr bool commutes = true, flips = true;
    static GPI_DEVICE A identity()
    {
        return 0;
    }
    static GPI_DEVICE A apply(A l, A r)
    {
        return l < r ? r : l;
    }
};

/* The OR of flipped items. */
template <class A> struct Union : WarpReduction<GP_OR, A> {
    static constexpr bool commutes = true, flips = true;
    static GPI_DEVICE A identity()
    {
        return 0;
    }
    static GPI_DEVICE A apply(A l, A r)
    {
        return l | r;
    }
};

template <class Op, class = void> struct Flips {
    static constexpr bool value = false;
};
template <class Op> struct Flips<Op, decltype((void)Op::flips)> {
    static constexpr bool value = Op::flips;
};
template <class Op> constexpr bool flips = Flips<Op>::value;

/* The bits that are flipped: of 8 bytes, of which every item takes its own. */
struct Flip {
    uint32_t word[2];
};

template <class T> __host__ __device__ __forceinline__ T flip_of(const Flip &f)
{
    return (T)((uint64_t)f.word[1] << 32 | f.word[0]);
}

template <class Op, int BYTES> GPI_DEVICE Raw<BYTES> raw_flipped(Raw<BYTES> r, const Flip &f)
{
    if constexpr (flips<Op>) {
#pragma unroll
        for (int i = 0; i < Raw<BYTES>::words; i++)
            r.w[i] ^= f.word[i & 1];
    }
    return r;
}

/* An item of dtype T, or a result, flipped; in the low bits. */
template <class Op, class T, class A>
__host__ __device__ __forceinline__ A item_flipped(A x, const Flip &f)
{
    if constexpr (flips<Op>)
        return x ^ flip_of<T>(f);
    else
        return x;
}

/* What stands in memory for no item. */
template <class Op, class In> GPI_DEVICE In neutral_item(const Flip &f)
{
    return narrow<In>(item_flipped<Op, In>(Op::identity(), f));
}

/* ---- on the host ---- */

/* For items of `bits` bits; nothing for operators that do not flip. */
inline Flip flip_for(gp_op op, int bits, bool is_signed)
{
    const bool ordered = op == GP_MIN || op == GP_MAX;
    uint64_t item = op == GP_MIN || op == GP_AND ? ~0ull >> (64 - bits) : 0;
    if (ordered && is_signed)
        item ^= 1ull << (bits - 1);
    uint64_t all = 0;
    for (int at = 0; at < 64; at += bits)
        all |= item << at;
    return {{(uint32_t)all, (uint32_t)(all >> 32)}};
}

#define ONE(...) +1
static_assert((0 GPI_ARITHMETIC_OPERATORS(ONE)) == 2 && (0 GPI_ORDER_OPERATORS(ONE)) == 2 &&
                  (0 GPI_BITS_OPERATORS(ONE)) == 3,
              "with_operator() chooses among these");
#undef ONE

/* f(Op()) of what computes op on scalars in accumulators A; integers are unsigned. */
template <class A, class F> gp_status with_operator(gp_op op, const F &f)
{
    if (op == GP_SUM)
        return f(Sum<A>());
    if (op == GP_PRODUCT)
        return f(Product<A>());
    if constexpr (std::is_integral_v<A>) {
        if (op == GP_MIN || op == GP_MAX)
            return f(Highest<A>());
        if (op == GP_AND || op == GP_OR)
            return f(Union<A>());
        return f(Xor<A>());
    } else {
        return op == GP_MIN ? f(Min<A>()) : f(Max<A>());
    }
}

} // namespace GPI_SPACE
