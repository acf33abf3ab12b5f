/* SPDX-License-Identifier: MIT */
/* What the kernel of segreduce_kernels.cuh folds: sums, the other operators, pairs. */
#pragma once

#include <type_traits>

#include "device/flip.cuh"
#include "device/report.cuh"

namespace GPI_SPACE
{

struct SegreduceParams {
    const char *in;
    char *out;           /* or NULL, of places */
    uint64_t *indices;   /* or NULL */
    const void *offsets; /* NULL: rows */
    uint64_t n, count;   /* items and segments, or their bounds */
    uint64_t row_length;
    const uint64_t *device_n, *device_count; /* or NULL */
    uint64_t tile;                           /* weight of a tile, see segreduce_share.cuh */
    uint64_t *shares;     /* segments that end before each share, and all; NULL: searched for */
    uint32_t share_tiles; /* of a share, which a block claims */
    uint32_t item_shift, end_weight; /* an item weighs 1 << item_shift */
    uint32_t offset_bytes;
    gpi_state state;
    gpi_reporter reporter;
};

GPI_DEVICE uint64_t offset_at(const SegreduceParams &p, uint64_t s)
{
    return p.offset_bytes == 4 ? __ldg((const uint32_t *)p.offsets + s)
                               : __ldg((const uint64_t *)p.offsets + s);
}

/* x - base, of offsets as wide as they are. */
GPI_DEVICE uint64_t offset_from(const SegreduceParams &p, uint64_t x, uint64_t base)
{
    return p.offset_bytes == 4 ? (uint32_t)x - (uint32_t)base : x - base;
}

/* The first item of segment s; of the number of segments: n. */
GPI_DEVICE uint64_t segment_begin(const SegreduceParams &p, uint64_t s)
{
    return p.offsets ? offset_from(p, offset_at(p, s), offset_at(p, 0)) : s * p.row_length;
}

/*
 * A fold is an object that travels as a kernel argument. The operator may be known at run time
 * alone, so that few kernels serve all of them:
 *
 *   T                  an item as stored, of PIECE-byte scalars; integers without their sign
 *   A                  the folds of items of a share
 *   Far                the same of any items
 *   share_items        items of a share, at most
 *   places             items are known by their index; others are replaced by neutral ones where a
 *                      word has items that do not count
 *   neutral            an item that adds nothing
 *   prepare(raw)       a word, before the calls below
 *   item(raw, i, at)   item i of a word; at: its index in the share
 *   word(op, all, raw, at)    all op the items of a word
 *   row(op, all, words, at)   the same of some words, with the op of with_one_op()
 *   part(op, all, raw, at, begin, end)   of places: all op items [begin, end) of a word, if any
 *   identity(), apply(l, r)   on A and on Far
 *   with_op(f)         f(op) of an object whose op(l, r) is that of apply(), without a choice
 *   with_one_op(f)     the same, with fewer choices left in op and more code
 *   nothing()          of a segment without items
 *   far(a, first)      first: the index of the share's first item
 *   begin(p, s)        of places: what store() needs of segment s
 *   keeps_begins       markers leave it to storers (segreduce-30 in docs/tuning)
 *   store(p, s, far, begin)   the result of segment s, by one thread
 *   in_order()         not all items of a lane may be folded before those of the next one
 *   not_before(a, at)  of places, which took neutral items before the first one, at `at`, for items
 */
template <class Fold, class T_, class A_, int PIECE_ = (int)sizeof(T_)> struct SegmentFold {
    using T = T_;
    using A = A_;
    using Far = A_;
    static constexpr int piece = PIECE_, word_bytes = sizeof(T) < 4 ? 4 : (int)sizeof(T);
    static constexpr int per_word = word_bytes / (int)sizeof(T);
    static constexpr bool places = false;
    static constexpr bool keeps_begins = false;
    static constexpr bool rounds = false; /* so the result depends on how items are grouped */
    static constexpr uint32_t share_items = ~0u; /* of a share, at most */
    using RawIn = Raw<word_bytes>;

    T neutral;
    bool has_init;

    GPI_DEVICE const Fold &self() const
    {
        return *static_cast<const Fold *>(this);
    }
    GPI_DEVICE void prepare(RawIn &) const
    {
    }
    template <class F> GPI_DEVICE void with_op(F f) const
    {
        f([this](const A &l, const A &r) { return self().apply(l, r); });
    }
    template <class F> GPI_DEVICE void with_one_op(F f) const
    {
        self().with_op(f);
    }
    template <class Op> GPI_DEVICE A word(Op op, A all, const RawIn &raw, uint32_t at) const
    {
#pragma unroll
        for (int i = 0; i < per_word; i++)
            all = op(all, self().item(raw, i, at + i));
        return all;
    }
    template <class Op, int N>
    GPI_DEVICE A row(Op op, A all, const RawIn (&words)[N], uint32_t at) const
    {
#pragma unroll
        for (int w = 0; w < N; w++)
            all = self().word(op, all, words[w], at + w * per_word);
        return all;
    }
    /* A word whose items before begin and from end on are neutral. */
    GPI_DEVICE RawIn within(const RawIn &raw, int begin, int end) const
    {
        RawIn none = raw_filled<T, word_bytes>(neutral);
        self().prepare(none);
        return raw_joined<T>(raw_joined<T>(none, raw, begin), none, end);
    }
    GPI_DEVICE A nothing() const
    {
        return self().identity();
    }
    GPI_DEVICE bool in_order() const
    {
        return false;
    }
    static GPI_DEVICE A not_before(const A &all, uint32_t)
    {
        return all;
    }
    static GPI_DEVICE Far far(const A &all, uint64_t)
    {
        return all;
    }
    static GPI_DEVICE uint64_t begin(const SegreduceParams &, uint64_t)
    {
        return 0;
    }
};

/* ---- integers ---- */

GPI_DEVICE void segment_integer_store(char *out, int bytes, uint64_t s, uint64_t x)
{
    if (bytes == 1)
        ((uint8_t *)out)[s] = (uint8_t)x;
    else if (bytes == 2)
        ((uint16_t *)out)[s] = (uint16_t)x;
    else if (bytes == 4)
        ((uint32_t *)out)[s] = (uint32_t)x;
    else
        ((uint64_t *)out)[s] = x;
}

/* Sums in A, as wide as the outputs need. Signed items that are widened are flipped to unsigned
 * ones, which are that much larger. */
template <class T, class A_> struct IntegerSum : SegmentFold<IntegerSum<T, A_>, T, A_> {
    using Base = SegmentFold<IntegerSum, T, A_>;
    using A = A_;
    using typename Base::RawIn;
    A init, larger;
    int out_bytes;
    Flip flip;

    GPI_DEVICE A identity() const
    {
        return 0;
    }
    GPI_DEVICE A apply(A l, A r) const
    {
        return l + r;
    }
    GPI_DEVICE void prepare(RawIn &raw) const
    {
#pragma unroll
        for (int i = 0; i < RawIn::words; i++)
            raw.w[i] ^= flip.word[0];
    }
    GPI_DEVICE A item(const RawIn &raw, int i, uint32_t) const
    {
        return raw_get<T>(raw, i) - larger;
    }
    template <class Op> GPI_DEVICE A word(Op op, A all, const RawIn &raw, uint32_t at) const
    {
        if constexpr (sizeof(T) == 1)
            return all + __dp4a(raw.w[0], 0x01010101u, 0u) - 4 * larger;
        else if constexpr (sizeof(T) == 2)
            return all + __dp2a_lo(raw.w[0], 0x0101u, 0u) - 2 * larger;
        else
            return op(all, item(raw, 0, at));
    }
    GPI_DEVICE void store(const SegreduceParams &p, uint64_t s, A all, uint64_t) const
    {
        segment_integer_store(p.out, out_bytes, s, init + all);
    }
};

/* Operators on integers; row(): of narrow items side by side in words, if `rows`. */
template <class T, class A> struct HighestOf {
    static constexpr bool rows = sizeof(T) < 4 && GPI_SM >= 90; /* one instruction for two */

    GPI_DEVICE A operator()(A l, A r) const
    {
        return l < r ? r : l;
    }
    template <class Word, int N> GPI_DEVICE A row(const Word (&words)[N]) const
    {
        constexpr uint32_t low = sizeof(T) == 1 ? 0x00ff00ff : ~0u;
        uint32_t even = 0, odd = 0;
#pragma unroll
        for (int w = 0; w < N; w++) {
            even = __vmaxu2(even, words[w].w[0] & low);
            if (sizeof(T) == 1)
                odd = __vmaxu2(odd, words[w].w[0]);
        }
        even = __vmaxu2(even, odd >> 8 & low);
        return max(even & 0xffff, even >> 16);
    }
};

template <class T, class A> struct BitsOf {
    static constexpr bool rows = sizeof(T) < 4;
    A both, either; /* see IntegerFold */

    GPI_DEVICE A operator()(A l, A r) const
    {
        return ((l & r) & both) | ((l ^ r) & either);
    }
    /* Above the lowest item there are others. */
    template <class Word, int N> GPI_DEVICE A row(const Word (&words)[N]) const
    {
        A all = words[0].w[0];
#pragma unroll
        for (int w = 1; w < N; w++)
            all = (*this)(all, words[w].w[0]);
        all = (*this)(all, all >> 16);
        return sizeof(T) == 1 ? (*this)(all, all >> 8) : all;
    }
};

template <class A> struct ProductOf {
    static constexpr bool rows = false;

    GPI_DEVICE A operator()(A l, A r) const
    {
        return l * r;
    }
};

/* The other operators on integers, computed in A: minimum and maximum as the greatest of flipped
 * items (device/flip.cuh), products and bits. */
template <class T, class A> struct IntegerFold : SegmentFold<IntegerFold<T, A>, T, A> {
    using Base = SegmentFold<IntegerFold, T, A>;
    using typename Base::RawIn;
    bool highest, product;
    A init, none;   /* flipped, as items are */
    A both, either; /* which bits of an AND and of an XOR make the result */
    Flip flip;

    GPI_DEVICE A identity() const
    {
        return none;
    }
    GPI_DEVICE A other(A l, A r) const
    {
        const A bits = BitsOf<T, A>{both, either}(l, r), times = l * r;
        return product ? times : bits;
    }
    GPI_DEVICE A apply(A l, A r) const
    {
        return highest ? HighestOf<T, A>()(l, r) : other(l, r);
    }
    template <class F> GPI_DEVICE void with_op(F f) const
    {
        if (highest)
            f(HighestOf<T, A>());
        else
            f([this](A l, A r) { return other(l, r); });
    }
    template <class F> GPI_DEVICE void with_one_op(F f) const
    {
        if (highest)
            f(HighestOf<T, A>());
        else if (product)
            f(ProductOf<A>());
        else
            f(BitsOf<T, A>{both, either});
    }
    template <class Op, int N>
    GPI_DEVICE A row(Op op, A all, const RawIn (&words)[N], uint32_t at) const
    {
        if constexpr (Op::rows)
            return op(all, op.row(words));
        else
            return Base::row(op, all, words, at);
    }
    GPI_DEVICE void prepare(RawIn &raw) const
    {
#pragma unroll
        for (int i = 0; i < RawIn::words; i++)
            raw.w[i] ^= flip.word[i & 1];
    }
    GPI_DEVICE A item(const RawIn &raw, int i, uint32_t) const
    {
        return raw_get<T>(raw, i);
    }
    GPI_DEVICE void store(const SegreduceParams &p, uint64_t s, A all, uint64_t) const
    {
        ((T *)p.out)[s] = (T)apply(init, all) ^ flip_of<T>(flip);
    }
};

/* ---- floats ---- */

/* Half precision, which of the two is known at run time; float and double. */
template <class T, class A> struct RealItems {
    bool bf16;

    template <int BYTES> GPI_DEVICE A get(const Raw<BYTES> &raw, int i) const
    {
        if constexpr (sizeof(T) == 2) {
            const uint16_t bits = raw_get<uint16_t>(raw, i);
            const float f16 = widen<float>(f16_t{bits});
            return bf16 ? widen<float>(bf16_t{bits}) : f16;
        } else {
            return (A)raw_get<T>(raw, i);
        }
    }

    GPI_DEVICE void put(char *out, uint64_t s, A x, bool wide) const
    {
        if constexpr (sizeof(T) == 2) {
            if (wide)
                ((float *)out)[s] = x;
            else if (bf16)
                ((bf16_t *)out)[s] = narrow<bf16_t>(x);
            else
                ((f16_t *)out)[s] = narrow<f16_t>(x);
        } else {
            ((A *)out)[s] = x;
        }
    }
};

/* Products in the order of the items, as one of items that lie far apart may overflow. */
template <class T, class A> struct RealFold : SegmentFold<RealFold<T, A>, T, A> {
    using Base = SegmentFold<RealFold, T, A>;
    using typename Base::RawIn;
    static constexpr bool rounds = true;
    RealItems<T, A> items;
    A init, none;
    bool product;
    bool wide; /* the output has the dtype of the accumulator */

    GPI_DEVICE A identity() const
    {
        return none;
    }
    GPI_DEVICE A apply(A l, A r) const
    {
        return product ? l * r : l + r;
    }
    template <class F> GPI_DEVICE void with_op(F f) const
    {
        if (product)
            f([](A l, A r) { return l * r; });
        else
            f([](A l, A r) { return l + r; });
    }
    GPI_DEVICE bool in_order() const
    {
        return product;
    }
    GPI_DEVICE A item(const RawIn &raw, int i, uint32_t) const
    {
        return items.get(raw, i);
    }
    /* The sum of nothing is +0, not the -0 that is neutral. */
    GPI_DEVICE A nothing() const
    {
        return !product && !this->has_init ? (A)0 : none;
    }
    GPI_DEVICE void store(const SegreduceParams &p, uint64_t s, A all, uint64_t) const
    {
        items.put(p.out, s, apply(init, all), wide);
    }
};

/* ---- pair operators ---- */

template <class Item, class Op>
struct PairsFold
    : SegmentFold<PairsFold<Item, Op>, Item, Item, (int)sizeof(typename Item::Scalar)> {
    using Base = SegmentFold<PairsFold, Item, Item, (int)sizeof(typename Item::Scalar)>;
    using typename Base::RawIn;
    Item init; /* or the identity */

    GPI_DEVICE Item identity() const
    {
        return Op::identity();
    }
    GPI_DEVICE Item apply(Item l, Item r) const
    {
        return Op::apply(l, r);
    }
    GPI_DEVICE Item item(const RawIn &raw, int i, uint32_t) const
    {
        return raw_get<Item>(raw, i);
    }
    GPI_DEVICE void store(const SegreduceParams &p, uint64_t s, Item all, uint64_t) const
    {
        item_store<Item, Base::piece>(p.out + s * sizeof(Item),
                                      this->has_init ? Op::apply(init, all) : all);
    }
};

} // namespace GPI_SPACE
