/* SPDX-License-Identifier: MIT */
/* What reduce_k folds: sums, the other operators, pairs, and places of extremes. */
#pragma once

#include <type_traits>

#include "device/flip.cuh"
#include "reduce/reduce_kernels.cuh"

namespace GPI_SPACE
{

/* Where a result goes, and what comes before the first item. */
template <class A> struct ReduceResult {
    char *out;
    uint64_t *total; /* 8 bytes or NULL */
    A init;
    bool has_init;
    bool wide;     /* report a sum that does not fit */
    int out_dtype; /* gp_dtype */
    int out_bytes; /* of an integer */
    int sign_bits; /* of a signed integer, otherwise 0 */
};

GPI_DEVICE void integer_store(const ReduceParams &p, const ReduceResult<uint64_t> &r, uint64_t x)
{
    const int unused = 64 - 8 * r.out_bytes;
    const uint64_t low = x << unused;
    const uint64_t stored = r.sign_bits ? (uint64_t)((int64_t)low >> unused) : low >> unused;
    if (r.out_bytes == 1)
        *(uint8_t *)r.out = (uint8_t)stored;
    else if (r.out_bytes == 2)
        *(uint16_t *)r.out = (uint16_t)stored;
    else if (r.out_bytes == 4)
        *(uint32_t *)r.out = (uint32_t)stored;
    else
        *(uint64_t *)r.out = stored;
    if (r.total)
        *r.total = r.wide ? x : stored;
    if (r.wide && stored != x)
        report(p.reporter, GPI_RULE_TOTAL, GPI_NO_INDEX, x, 0);
}

template <class A> GPI_DEVICE void float_store(const ReduceResult<A> &r, A x)
{
    if constexpr (std::is_same_v<A, double>)
        *(double *)r.out = x;
    else if (r.out_dtype == GP_F16)
        *(f16_t *)r.out = narrow<f16_t>(x);
    else if (r.out_dtype == GP_BF16)
        *(bf16_t *)r.out = narrow<bf16_t>(x);
    else
        *(float *)r.out = x;
    if (r.total)
        *r.total = (uint64_t)__double_as_longlong((double)x + 0.0); /* never -0 */
}

/* Scalars: the result is a 64-bit integer or a float. */
template <class A>
using ResultOf = std::conditional_t<is_integer<A>::value, ReduceResult<uint64_t>, ReduceResult<A>>;

template <class A> GPI_DEVICE void scalar_store(const ReduceParams &p, const ResultOf<A> &r, A x)
{
    if constexpr (is_integer<A>::value)
        integer_store(p, r, Limits<A>::is_signed ? (uint64_t)(int64_t)x : (uint64_t)x);
    else
        float_store(r, x);
}

/* Folds whose vectors, lanes and tiles have one type; T: an item as stored. */
template <class Fold, class A_, class T, int PIECE = (int)sizeof(T)> struct OneType {
    using Items = ReduceItems<T, PIECE>;
    using A = A_;
    using X = A_;
    using Lane = A_;
    static constexpr bool warp_reduces = false;

    GPI_DEVICE const Fold &self() const
    {
        return *static_cast<const Fold *>(this);
    }
    GPI_DEVICE A none() const
    {
        return self().identity();
    }
    GPI_DEVICE A join(A l, A r) const
    {
        return self().apply(l, r);
    }
    GPI_DEVICE A lane() const
    {
        return self().identity();
    }
    GPI_DEVICE void add(A &lane, A x, int) const
    {
        lane = self().apply(lane, x);
    }
    GPI_DEVICE A leave(A lane, uint64_t) const
    {
        return lane;
    }
    GPI_DEVICE A item(const char *p) const
    {
        return widen<A>(item_load<T, PIECE>(p));
    }
    GPI_DEVICE A vector(const typename Items::RawIn &raw) const
    {
        A t = widen<A>(raw_get<T>(raw, 0));
#pragma unroll
        for (int i = 1; i < Items::per_vector; i++)
            t = self().apply(t, widen<A>(raw_get<T>(raw, i)));
        return t;
    }
    GPI_DEVICE A start() const
    {
        return self().result.has_init ? (A)self().result.init : self().identity();
    }
};

/* ---- sums ---- */

/* Four bytes or two 16-bit items in one instruction; below 2^31 for a vector. */
template <class T> GPI_DEVICE uint32_t word_total(uint32_t w, uint32_t t)
{
    if constexpr (sizeof(T) == 1)
        return Limits<T>::is_signed ? (uint32_t)__dp4a((int)w, 0x01010101, (int)t)
                                    : __dp4a(w, 0x01010101u, t);
    else
        return Limits<T>::is_signed ? (uint32_t)__dp2a_lo((int)w, 0x0101, (int)t)
                                    : __dp2a_lo(w, 0x0101u, t);
}

/* A: int64_t or uint64_t, float or double. */
template <class T, class A> struct SumFold : OneType<SumFold<T, A>, A, T> {
    using Base = OneType<SumFold, A, T>;
    using Items = typename Base::Items;
    static constexpr bool ordered = false, exact = is_integer<A>::value;
    ResultOf<A> result;

    explicit SumFold(const ResultOf<A> &r) : result(r)
    {
    }

    GPI_DEVICE A identity() const
    {
        return zero_for_sum<A>();
    }
    GPI_DEVICE A apply(A l, A r) const
    {
        return l + r;
    }
    GPI_DEVICE A vector(const typename Items::RawIn &raw) const
    {
        if constexpr (is_integer<A>::value && sizeof(T) <= 2) {
            uint32_t t = 0;
#pragma unroll
            for (int i = 0; i < Items::RawIn::words; i++)
                t = word_total<T>(raw.w[i], t);
            return Limits<T>::is_signed ? (A)(int32_t)t : (A)t;
        } else {
            return Base::vector(raw);
        }
    }
    /* The sum of nothing is +0, not the -0 that is neutral. */
    GPI_DEVICE void finish(const ReduceParams &p, uint64_t n, A all) const
    {
        scalar_store<A>(p, result, n == 0 && !result.has_init ? (A)0 : all);
    }
};

/* ---- the other operators on integers ---- */

/* T: what the items are without their sign, in a 32- or 64-bit accumulator. Minimum and maximum of
 * both signs are one kernel, and so are AND and OR (device/flip.cuh). */
template <class T, class A, class Op> struct IntegerFold : OneType<IntegerFold<T, A, Op>, A, T> {
    using Base = OneType<IntegerFold, A, T>;
    using Items = typename Base::Items;
    static constexpr bool ordered = false, exact = true, warp_reduces = Op::warp_reduces;
    ReduceResult<uint64_t> result;
    Flip flip;
    bool is_signed; /* the items */

    IntegerFold(const ReduceResult<uint64_t> &r, const Flip &f, bool s)
        : result(r), flip(f), is_signed(s)
    {
    }

    GPI_DEVICE A identity() const
    {
        return Op::identity();
    }
    GPI_DEVICE A apply(A l, A r) const
    {
        return Op::apply(l, r);
    }
    static GPI_DEVICE A reduce(A v) /* by a warp */
    {
        return Op::reduce(v);
    }
    GPI_DEVICE A item(const char *p) const
    {
        return item_flipped<Op, T>((A)item_load<T, Items::piece>(p), flip);
    }
    GPI_DEVICE A vector(const typename Items::RawIn &raw) const
    {
        return Base::vector(raw_flipped<Op>(raw, flip));
    }
    GPI_DEVICE A start() const
    {
        return result.has_init ? item_flipped<Op, T>((A)(T)result.init, flip) : identity();
    }
    GPI_DEVICE void finish(const ReduceParams &p, uint64_t, A all) const
    {
        const T bits = (T)item_flipped<Op, T>(all, flip);
        integer_store(p, result,
                      is_signed ? (uint64_t)(int64_t)(std::make_signed_t<T>)bits : (uint64_t)bits);
    }
};

/* ---- products of floats ---- */

/* Ordered: a product of items that lie far apart overflows where one of neighbours does not. */
template <class T, class A> struct ProductFold : OneType<ProductFold<T, A>, A, T> {
    static constexpr bool ordered = true, exact = false;
    ReduceResult<A> result;

    explicit ProductFold(const ReduceResult<A> &r) : result(r)
    {
    }

    GPI_DEVICE A identity() const
    {
        return Product<A>::identity();
    }
    GPI_DEVICE A apply(A l, A r) const
    {
        return Product<A>::apply(l, r);
    }
    GPI_DEVICE void finish(const ReduceParams &, uint64_t, A all) const
    {
        float_store(result, all);
    }
};

/* ---- pair operators ---- */

template <class A, class Op, int PIECE>
struct PairFold : OneType<PairFold<A, Op, PIECE>, A, A, PIECE> {
    static constexpr bool ordered = true, exact = false;
    ReduceResult<A> result;

    explicit PairFold(const ReduceResult<A> &r) : result(r)
    {
    }

    GPI_DEVICE A identity() const
    {
        return Op::identity();
    }
    GPI_DEVICE A apply(A l, A r) const
    {
        return Op::apply(l, r);
    }
    GPI_DEVICE void finish(const ReduceParams &, uint64_t, A all) const
    {
        item_store<A, PIECE>(result.out, all);
    }
};

/* ---- where the smallest or largest item is ---- */

/* A value, and the first vector that has it. */
template <class V> struct alignas(16) Place {
    V value;
    uint64_t vector;
};

/* A lane's best value, and which of its vectors has it first. */
template <class V> struct LanePlace {
    V value;
    int row;
};

/*
 * V: the items widened to 32 bits, or 64. Of integers the largest is searched as the smallest of
 * their complements. Also MIN and MAX of floats: which of several equal items is the first, which
 * zero, which NaN, is a matter of place.
 */
template <class T, class V> struct PlaceFold {
    using Items = ReduceItems<T>;
    using X = V;
    using Lane = LanePlace<V>;
    using A = Place<V>;
    static constexpr bool ordered = false, exact = true; /* the vector's number decides ties */
    static constexpr bool warp_reduces = false;
    static constexpr bool integer = is_integer<V>::value;
    char *value;     /* or NULL */
    uint64_t *index; /* NULL: the item is the result */
    bool largest;
    ResultOf<V> result;
    T init; /* as stored, beside result.init */

    GPI_DEVICE bool before(V a, V b) const
    {
        if constexpr (integer)
            return a < b;
        else
            return largest ? less(b, a) : less(a, b);
    }
    GPI_DEVICE V join(V l, V r) const
    {
        return before(r, l) ? r : l;
    }
    GPI_DEVICE V none() const
    {
        if constexpr (integer)
            return highest_value<V>();
        else
            return largest ? lowest_value<V>() : highest_value<V>();
    }
    GPI_DEVICE V load(T x) const
    {
        if constexpr (integer)
            x = largest ? (T)~x : x;
        return widen<V>(x);
    }
    GPI_DEVICE V item(const char *p) const
    {
        return load(item_load<T, Items::piece>(p));
    }
    GPI_DEVICE V vector(const typename Items::RawIn &raw) const
    {
        if constexpr (integer) {
            typename Items::RawIn turned;
#pragma unroll
            for (int i = 0; i < Items::RawIn::words; i++)
                turned.w[i] = raw.w[i] ^ (largest ? ~0u : 0u);
            return extreme<false>(turned);
        } else {
            return largest ? extreme<true>(raw) : extreme<false>(raw);
        }
    }
    GPI_DEVICE Lane lane() const
    {
        return {none(), 0};
    }
    GPI_DEVICE void add(Lane &lane, V x, int row) const
    {
        const bool better = before(x, lane.value);
        lane.value = better ? x : lane.value;
        lane.row = better ? row : lane.row;
    }
    /* A lane without any vector has a number behind those of the array. */
    GPI_DEVICE A leave(const Lane &lane, uint64_t v) const
    {
        return {lane.value, v + 32 * lane.row};
    }
    GPI_DEVICE A identity() const
    {
        return {none(), ~0ull};
    }
    GPI_DEVICE A apply(A l, A r) const
    {
        const bool worse = before(l.value, r.value);
        const bool take = before(r.value, l.value) || (!worse && r.vector < l.vector);
        return {take ? r.value : l.value, take ? r.vector : l.vector};
    }
    GPI_DEVICE A start() const
    {
        return identity();
    }

    GPI_DEVICE void finish(const ReduceParams &p, uint64_t n, A all) const
    {
        if (index)
            finish_place(p, n, all);
        else if constexpr (!integer)
            finish_value(p, n, all);
    }

  private:
    /* The first item of the array that has the value: it is in that vector. */
    GPI_DEVICE T first_of(const ReduceParams &p, uint64_t n, A all, uint64_t &i) const
    {
        const uint64_t first = all.vector * Items::per_vector;
        T x[Items::per_vector] = {};
#pragma unroll
        for (int j = 0; j < Items::per_vector; j++) /* all on the way together */
            if (first + j < n)
                x[j] = item_load<T, Items::piece>(p.in + (first + j) * sizeof(T));
        T found = x[0];
#pragma unroll
        for (int j = Items::per_vector - 1; j >= 0; j--)
            if (first + j < n &&
                !before(all.value, load(x[j]))) { /* not worse, and before others */
                found = x[j];
                i = first + j;
            }
        return found;
    }

    GPI_DEVICE void finish_place(const ReduceParams &p, uint64_t n, A all) const
    {
        uint64_t i = ~0ull;
        const T x = n > 0 ? first_of(p, n, all, i) : nothing();
        *index = i;
        if (value)
            item_store<T, Items::piece>(value, x);
    }

    /* The value is the first item that has it, to the last bit; but not of NaNs, which are equal to
     * none() and may lose bits when they are widened. */
    GPI_DEVICE void finish_value(const ReduceParams &p, uint64_t n, A all) const
    {
        uint64_t i;
        T x = n > 0 ? narrow<T>(all.value) : nothing();
        if (n > 0 && all.value != all.value)
            x = first_of(p, n, all, i);
        const bool started = result.has_init && !before(widen<V>(x), (V)result.init);
        scalar_store<V>(p, result, started ? (V)result.init : widen<V>(x));
        /* as it is stored: of halves narrow() makes all NaNs one */
        item_store<T, Items::piece>(result.out, started ? init : x);
    }

    /* The identity of MIN or MAX. */
    GPI_DEVICE T nothing() const
    {
        using Limit = std::conditional_t<integer, T, V>;
        return narrow<T>((V)(largest ? lowest_value<Limit>() : highest_value<Limit>()));
    }

    template <bool LARGEST> static GPI_DEVICE V extreme(const typename Items::RawIn &raw)
    {
        V best = widen<V>(raw_get<T>(raw, 0));
#pragma unroll
        for (int i = 1; i < Items::per_vector; i++) {
            V x = widen<V>(raw_get<T>(raw, i));
            best = (LARGEST ? less(best, x) : less(x, best)) ? x : best;
        }
        return best;
    }
};

} // namespace GPI_SPACE
