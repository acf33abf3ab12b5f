/* SPDX-License-Identifier: MIT */
/* The types of a scan's unit, and the fold and the scan of one lane's vector. */
#pragma once

#include <type_traits>

#include "device/flip.cuh"

namespace GPI_SPACE
{

/* What tiles are added up in. */
template <bool WIDE, class In, class A> struct TotalOf {
    using type = A;
};
template <class In, class A> struct TotalOf<true, In, A> {
    using type = std::conditional_t<std::is_signed_v<In>, int64_t, uint64_t>;
};

/* One dtype unit: how items are stored, what they are added up in, at which alignment. */
template <class In_, class A_, class Out_, int PIECE_IN_, int PIECE_OUT_, bool WIDE_>
struct ScanTypes {
    using In = In_;
    using A = A_;
    using Out = Out_;
    static constexpr int piece_in = PIECE_IN_, piece_out = PIECE_OUT_; /* bytes of a scalar */
    static constexpr bool wide = WIDE_; /* tiles are added up in 64 bits, steps are checked */
    static constexpr bool scalar = sizeof(Out) == PIECE_OUT_;
    static constexpr int item = sizeof(In) > sizeof(Out) ? sizeof(In) : sizeof(Out);
    static constexpr int per_vector = item < 16 ? 16 / item : 1;
    static constexpr int bytes_in = per_vector * sizeof(In);
    static constexpr int bytes_out = per_vector * sizeof(Out);
    using Total = typename TotalOf<WIDE_, In, A>::type;
    using Wider =
        ScanTypes<In, Total, Out, PIECE_IN_, PIECE_OUT_, WIDE_>; /* where A is too short */
    using RawIn = Raw<bytes_in>;
    using RawOut = Raw<bytes_out>;
};

/* right if alone, otherwise left op right: an instruction that does not run where it need not.
 * Compilers choose between two results instead. */
template <class Op> GPI_DEVICE uint32_t unless(uint32_t alone, uint32_t left, uint32_t right)
{
    if constexpr (std::is_same_v<Op, Highest<uint32_t>>)
        asm("{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n @!p max.u32 %0, %1, %0;\n}"
            : "+r"(right)
            : "r"(left), "r"(alone));
    else if constexpr (std::is_same_v<Op, Union<uint32_t>>)
        asm("{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n @!p or.b32 %0, %1, %0;\n}"
            : "+r"(right)
            : "r"(left), "r"(alone));
    else if constexpr (std::is_same_v<Op, Xor<uint32_t>>)
        asm("{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n @!p xor.b32 %0, %1, %0;\n}"
            : "+r"(right)
            : "r"(left), "r"(alone));
    else if constexpr (std::is_same_v<Op, Product<uint32_t>>)
        asm("{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n @!p mul.lo.u32 %0, %1, %0;\n}"
            : "+r"(right)
            : "r"(left), "r"(alone));
    else
        asm("{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n @!p add.u32 %0, %1, %0;\n}"
            : "+r"(right)
            : "r"(left), "r"(alone));
    return right;
}

/*
 * Where an item of less than 32 bits lies in its accumulator. Where neither the result nor what is
 * exchanged is wider than the item, bits that do not belong to it may be left where they are: below
 * it, if an operator carries nothing up, otherwise above it. So an item takes a shift, or nothing,
 * and no mask. Shifts to the left are multiplications, for which there is a unit beside that of
 * shifts to the right and nearly all else; a byte to the right of others takes a dot product there.
 */
template <class Types, class Op> struct ItemPlace {
    using A = typename Types::A;
    using In = typename Types::In;
    using Out = typename Types::Out;
    static constexpr bool loose =
        std::is_integral_v<In> && sizeof(In) < 4 && std::is_same_v<In, Out> && !Types::wide;
    static constexpr bool bitwise = std::is_same_v<Op, Union<A>> || std::is_same_v<Op, Xor<A>>;
    static constexpr bool high = loose && (bitwise || std::is_same_v<Op, Highest<A>>);
    static constexpr bool dots = loose && sizeof(In) == 1 && std::is_same_v<Op, Sum<A>>;
    static constexpr int bits = (int)sizeof(In) * 8, up = high ? 32 - bits : 0;

    /* From and to an accumulator that holds the item alone. */
    static GPI_DEVICE A placed(A x)
    {
        if constexpr (high)
            return x << up;
        else
            return x;
    }
    static GPI_DEVICE A back(A x)
    {
        if constexpr (high)
            return x >> up;
        else
            return x;
    }

    /* Item i of a word. */
    static GPI_DEVICE A in_word(uint32_t word, int i)
    {
        const int at = i * bits;
        if constexpr (high)
            return word << (up - at);
        else if constexpr (sizeof(In) == 1)
            return at ? __dp4a(word, 1u << at, 0u) : word;
        else
            return word >> at;
    }

    static GPI_DEVICE A item(const typename Types::RawIn &raw, int i)
    {
        if constexpr (loose)
            return in_word(raw.w[i * bits / 32], i % (32 / bits));
        else
            return widen<A>(raw_get<In>(raw, i));
    }

    /* x op the item, or the item alone if it is a head. */
    static GPI_DEVICE A behind(A x, uint32_t head, const typename Types::RawIn &raw, int i)
    {
        return unless<Op>(head, x, item(raw, i));
    }

    /* x op the item; a sum of bytes is one dot product. */
    static GPI_DEVICE A with_item(A x, const typename Types::RawIn &raw, int i)
    {
        if constexpr (dots)
            return __dp4a(raw.w[i / 4], 1u << i % 4 * 8, x);
        else
            return Op::apply(x, item(raw, i));
    }

    static GPI_DEVICE typename Types::RawOut narrowed(const A (&x)[Types::per_vector])
    {
        return raw_narrow<Out, high>(x);
    }
};

/* The fold of short integers a word at a time: begin, behind which add() puts the items of those
 * words that it is to take; end() is the fold itself. none: a word of what is neutral. */
template <class Types, class Op> struct WordFold {
    using In = typename Types::In;
    using A = typename Types::A;
    using Its = ItemPlace<Types, Op>;
    static constexpr bool sum = sizeof(In) == 1 && std::is_same_v<Op, Sum<uint32_t>>;
    static constexpr bool bitwise = Its::loose && Its::bitwise;
    static constexpr bool highest = Its::high && !bitwise && GPI_SM >= 90;
    static constexpr bool product = Its::loose && std::is_same_v<Op, Product<A>>;
    static constexpr bool exists = sum || bitwise || highest || product;
    static constexpr uint32_t begin = product ? 1 : 0;
    static constexpr uint32_t none = product ? ~0u / ((1u << (Its::bits % 32)) - 1) : 0;

    static GPI_DEVICE uint32_t add(uint32_t t, uint32_t word, bool take = true)
    {
        if constexpr (product) {
            uint32_t own = Its::in_word(word, 0);
#pragma unroll
            for (int i = 1; i < 32 / Its::bits; i++)
                own *= Its::in_word(word, i);
            return unless<Op>(!take, own, t);
        } else if (!take) {
            return t;
        } else if constexpr (sum && Limits<In>::is_signed) {
            return (uint32_t)__dp4a((int)word, 0x01010101, (int)t);
        } else if constexpr (sum) {
            return __dp4a(word, 0x01010101u, t);
        } else if constexpr (bitwise) {
            return Op::apply(t, word);
        } else {
            return __vimax3_u16x2(t, word, sizeof(In) == 1 ? word << 8 : word);
        }
    }

    static GPI_DEVICE A end(uint32_t t)
    {
        if constexpr (bitwise) {
#pragma unroll
            for (int bits = 16; bits >= Its::bits; bits /= 2)
                t = Op::apply(t, t << bits);
        } else if constexpr (highest) {
            t = Op::apply(t, t << 16);
        }
        return Its::back(t);
    }
};

/* Fold of the items of a vector, left to right. */
template <class Types, class Op>
GPI_DEVICE typename Types::A vector_total(const typename Types::RawIn &raw)
{
    using A = typename Types::A;
    using Its = ItemPlace<Types, Op>;
    using Words = WordFold<Types, Op>;
    if constexpr (Words::exists) {
        uint32_t t = Words::begin;
#pragma unroll
        for (int i = 0; i < Types::RawIn::words; i++)
            t = Words::add(t, raw.w[i]);
        return Words::end(t);
    } else {
        A t = Its::item(raw, 0);
#pragma unroll
        for (int i = 1; i < Types::per_vector; i++)
            t = Op::apply(t, Its::item(raw, i));
        return Its::back(t);
    }
}

/*
 * Sums modulo 2^32 whose outputs are to be in their range. If no output before was lost, a sum is
 * right, and a step is too short to come back into the range, so it is enough to look at the ends
 * of steps: at bits that stay 0, one look for all of them (any_lost()). Sums of shorter types are
 * shifted by `bias`, to where the range begins at 0.
 */
template <class Types> struct Steps {
    using Out = typename Types::Out;
    static constexpr bool is_signed = std::is_signed_v<Out>;
    static constexpr int bits = (int)sizeof(Out) * 8;
    static constexpr uint32_t bias = Types::wide && is_signed && bits < 32 ? 1u << (bits - 1) : 0;

    /* From x by an item to next. */
    static GPI_DEVICE uint32_t lost(uint32_t x, uint32_t item, uint32_t next)
    {
        if constexpr (bits < 32)
            return next;
        else if constexpr (is_signed)
            return (x ^ next) & (item ^ next);
        else
            return (x & item) | ((x | item) & ~next);
    }
    static GPI_DEVICE bool any_lost(uint32_t lost)
    {
        return bits < 32 ? lost >> bits % 32 != 0 : lost >> 31 != 0;
    }
};

/* The outputs of a vector whose prefix is x, which becomes that of the next one; lost: see Steps,
 * of all its steps, the one behind the last output too. */
template <class Types, class Op>
GPI_DEVICE typename Types::RawOut vector_scan(const typename Types::RawIn &raw,
                                              typename Types::A &x, bool before, uint32_t &lost)
{
    using A = typename Types::A;
    using Out = typename Types::Out;
    using Its = ItemPlace<Types, Op>;
    using Checked = Steps<Types>;
    constexpr bool small = sizeof(Out) < 4; /* several in a word, which are moved at once */
    const A first = x;
    A out[Types::per_vector];
    x = Its::placed(x);
    if constexpr (Checked::bias != 0)
        x += Checked::bias;
#pragma unroll
    for (int i = 0; i < Types::per_vector; i++) {
        const A item = Its::item(raw, i), next = Op::apply(x, item);
        out[i] = before && !small ? x : next;
        if constexpr (Types::wide)
            lost |= Checked::lost(x, item, next);
        x = next;
    }
    x = Its::back(x);
    auto outputs = Its::narrowed(out);
    if constexpr (Checked::bias != 0) {
        x -= Checked::bias;
        constexpr uint32_t biases = Checked::bits == 8 ? 0x80808080u : 0x80008000u;
#pragma unroll
        for (int i = 0; i < Types::RawOut::words; i++)
            outputs.w[i] ^= biases;
    }
    if constexpr (small)
        if (before)
            return raw_moved<Out>(outputs, narrow<Out>(first));
    return outputs;
}

} // namespace GPI_SPACE
