/* SPDX-License-Identifier: MIT */
/* The folds of segreduce_kernels.cuh that find places: of the least or the greatest items. */
#pragma once

#include "segreduce/segreduce_folds.cuh"

namespace GPI_SPACE
{

template <class V> struct alignas(16) KeyPlace {
    uint64_t index;
    V key;
};

/* A key and the place in its share, of which the lower one comes first: as one number, or two. */
struct NearPlace {
    uint64_t key;
    uint32_t at, unused;
};
GPI_DEVICE bool place_before(uint32_t l, uint32_t r)
{
    return l < r;
}
GPI_DEVICE bool place_before(uint64_t l, uint64_t r)
{
    return l < r;
}
GPI_DEVICE bool place_before(const NearPlace &l, const NearPlace &r)
{
    return l.key < r.key || (l.key == r.key && l.at < r.at);
}

/*
 * Where the first of the smallest keys is, and its item; also minimum and maximum of floats, where
 * the item that is chosen keeps its bits. Keys are unsigned numbers in gp's order, or against it;
 * floats that are equal in that order have one key: zeros of both signs, and all NaNs. A key below
 * 4 bytes and its place, of which a share has less than 2^16, are one number of 32 bits.
 */
template <class T, class V>
using NearPlaceOf = std::conditional_t<sizeof(T) < 4, uint32_t,
                                       std::conditional_t<sizeof(V) == 8, NearPlace, uint64_t>>;

template <class T, class V>
struct PlacesFold : SegmentFold<PlacesFold<T, V>, T, NearPlaceOf<T, V>> {
    using A = NearPlaceOf<T, V>;
    using Base = SegmentFold<PlacesFold, T, A>;
    using typename Base::RawIn;
    using Far = KeyPlace<V>;
    static constexpr bool places = true, keeps_begins = sizeof(T) == 4;
    static constexpr uint32_t share_items = sizeof(T) < 4 ? 0xfffe : ~0u; /* for near() */
    static constexpr T sign = (T)((T)1 << (8 * sizeof(T) - 1));
    T infinity; /* of floats; above it are NaNs. 0: integers */
    T flip;     /* bits of keys: all for the largest, and the sign of signed integers */
    T init, none;

    GPI_DEVICE V key(T x) const
    {
        T k = x;
        if (infinity) {
            const T magnitude = x & (T)~sign;
            const T number = magnitude == 0 ? sign : x & sign ? (T)~x : (T)(x | sign);
            k = magnitude > infinity ? (T) ~(T)0 : number;
        }
        return (T)(k ^ flip);
    }
    /* Items become keys. */
    GPI_DEVICE void prepare(RawIn &raw) const
    {
        if constexpr (sizeof(T) == 8) {
            const T own = key(raw_get<T>(raw, 0));
            raw = {};
            raw_set<T>(raw, 0, own);
        } else if constexpr (sizeof(T) == 4) {
            const float x = __uint_as_float(raw.w[0]);
            const uint32_t bits = __float_as_uint(__fadd_rn(x, 0.0f)); /* one zero */
            const uint32_t number = bits ^ ((uint32_t)((int32_t)bits >> 31) | sign);
            const uint32_t k = x != x ? ~0u : number;
            raw.w[0] = (infinity ? k : raw.w[0]) ^ flip;
        } else {
            uint32_t &w = raw.w[0];
            if constexpr (sizeof(T) == 2)
                if (infinity)
                    w = numbers_of_halves(w);
            w ^= flip * (sizeof(T) == 1 ? 0x01010101u : 0x00010001u);
        }
    }
    /* Two at once; a half plus zero has one zero. */
    GPI_DEVICE uint32_t numbers_of_halves(uint32_t w) const
    {
#if GPI_SM >= 90
        uint32_t bits, nans, negative;
        if (infinity == 0x7f80) {
            asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(bits) : "r"(w), "r"(0x3f803f80), "r"(0));
            asm("set.neu.u32.bf16x2 %0, %1, %2;" : "=r"(nans) : "r"(w), "r"(w));
        } else {
            asm("add.rn.f16x2 %0, %1, %2;" : "=r"(bits) : "r"(w), "r"(0));
            asm("set.neu.u32.f16x2 %0, %1, %2;" : "=r"(nans) : "r"(w), "r"(w));
        }
        asm("prmt.b32 %0, %1, %2, %3;"
            : "=r"(negative)
            : "r"(bits), "r"(0), "r"(0xbb99)); /* signs */
        return (bits ^ (negative | 0x80008000)) | nans;
#else
        const auto number = [this](uint32_t x) { return (uint32_t)(T)(key((T)x) ^ flip); };
        return number(w) | number(w >> 16) << 16;
#endif
    }
    /* The item whose key that is. Zeros and NaNs have one key each. */
    GPI_DEVICE T item_of(const SegreduceParams &p, const Far &all) const
    {
        const T k = (T)all.key ^ flip;
        if (!infinity)
            return k;
        if (k == sign || k == (T) ~(T)0)
            return ((const T *)p.in)[all.index];
        return k & sign ? (T)(k ^ sign) : (T)~k;
    }
    static GPI_DEVICE A near(V key, uint32_t at)
    {
        if constexpr (sizeof(T) < 4)
            return (uint32_t)key << 16 | at;
        else if constexpr (sizeof(V) == 8)
            return {key, at, 0};
        else
            return (uint64_t)key << 32 | at;
    }
    GPI_DEVICE A identity() const
    {
        return near(sizeof(T) < 4 ? 0xffff : (V) ~(V)0, sizeof(T) < 4 ? 0xffff : ~0u);
    }
    GPI_DEVICE A apply(const A &l, const A &r) const
    {
        if constexpr (sizeof(A) == 4)
            return min(l, r);
        else
            return place_before(r, l) ? r : l;
    }
    GPI_DEVICE Far apply(const Far &l, const Far &r) const
    {
        const bool take = r.key < l.key || (r.key == l.key && r.index < l.index);
        return {take ? r.index : l.index, take ? r.key : l.key};
    }
    GPI_DEVICE A item(const RawIn &raw, int i, uint32_t at) const
    {
        if constexpr (sizeof(T) == 2)
            return __byte_perm(raw.w[0], at, i ? 0x3254 : 0x1054);
        else if constexpr (sizeof(T) == 1)
            return __byte_perm(raw.w[0], at, 0x7054 | i << 8); /* at has less than 16 bits */
        else
            return near(raw_get<T>(raw, i), at);
    }
    template <class Op>
    GPI_DEVICE A part(Op op, A all, const RawIn &raw, uint32_t at, int begin, int end) const
    {
#pragma unroll
        for (int i = 0; i < Base::per_word; i++) {
            const A with = op(all, item(raw, i, at + i));
            all = i >= begin && i < end ? with : all;
        }
        return all;
    }
    template <class Op> GPI_DEVICE A word(Op op, A all, const RawIn &raw, uint32_t at) const
    {
        return part(op, all, raw, at, 0, Base::per_word);
    }
    /* Neutral keys are the greatest ones, which items may have too. */
    static GPI_DEVICE RawIn within(const RawIn &raw, int begin, int end)
    {
        const RawIn none = raw_filled<T, Base::word_bytes>((T) ~(T)0);
        return raw_joined<T>(raw_joined<T>(none, raw, begin), none, end);
    }
    static GPI_DEVICE A not_before(const A &all, uint32_t at)
    {
        if constexpr (sizeof(T) < 4)
            return (uint16_t)all < at ? (all & 0xffff0000) | at : all;
        else if constexpr (sizeof(V) == 8)
            return {all.key, all.at < at ? at : all.at, 0};
        else
            return (uint32_t)all < at ? all >> 32 << 32 | at : all;
    }
    static GPI_DEVICE Far far(const A &all, uint64_t first)
    {
        if constexpr (sizeof(T) < 4)
            return {(uint16_t)all == 0xffff ? ~0ull : first + (uint16_t)all, all >> 16};
        else if constexpr (sizeof(V) == 8)
            return {all.at == ~0u ? ~0ull : first + all.at, all.key};
        else
            return {(uint32_t)all == ~0u ? ~0ull : first + (uint32_t)all, (V)(all >> 32)};
    }
    /* Where the segment begins, which takes as long as the way to the L2. */
    static GPI_DEVICE uint64_t begin(const SegreduceParams &p, uint64_t s)
    {
        return p.indices ? segment_begin(p, s) : 0;
    }
    GPI_DEVICE void store(const SegreduceParams &p, uint64_t s, const Far &all,
                          uint64_t begin) const
    {
        const bool known = all.index < p.n;
        const bool started = this->has_init && !(known && all.key < key(init));
        if (p.out)
            ((T *)p.out)[s] = started ? init : known ? item_of(p, all) : none;
        if (p.indices)
            p.indices[s] = known ? all.index - begin : ~0ull;
    }
};

} // namespace GPI_SPACE
