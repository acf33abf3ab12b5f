/* SPDX-License-Identifier: MIT */
/*
 * What the kernels of the scan family share. They exist to be compared, so each is written for
 * being read, and the operator and the dtypes as stored are run-time arguments: the same for all
 * threads, one kernel per accumulator. They run on every GPU.
 */
#pragma once

#include "device/epoch.cuh"
#include "device/item_count.cuh"
#include "device/report.cuh"
#include "device/tile_io.cuh"
#include "scan/family/run_time_op.cuh"

namespace GPI_SPACE
{

template <class A> struct Family {
    static constexpr int threads = GPI_SCAN_FAMILY_THREADS, warps = threads / 32;
    static constexpr int items = GPI_SCAN_FAMILY_ITEMS(sizeof(A));
    static constexpr int tile = GPI_SCAN_FAMILY_TILE(sizeof(A));
};

template <class A> struct FamilyParams {
    const char *in;
    char *out;
    uint64_t n; /* items of the array, or their bound */
    const uint64_t *device_n;
    int level_bits; /* one item of this level stands for 2^level_bits of the call's */
    uint64_t *total;
    gpi_reporter reporter;
    RunTimeOp<A> op;
    A start; /* the initial value, or what stands for it */
    int kind, in_dtype, out_dtype, out_bits;
    bool out_signed, wide;
    int method;        /* gp_scan_tile */
    bool local;        /* every tile's prefix is the identity */
    A *sums;           /* of tiles or parts, or NULL */
    const A *prefixes; /* of tiles, or NULL */
};

/* Items of a level: those of the call, or one for each tile of the level below. */
template <class A> GPI_DEVICE uint64_t level_items(const FamilyParams<A> &p)
{
    if (!p.device_n)
        return p.n;
    const uint64_t n = *p.device_n, whole = n >> p.level_bits;
    return min(p.n, whole + (whole << p.level_bits < n));
}

/* Whether a level stands for one tile, whose prefix is known. */
template <class A> GPI_DEVICE bool is_unneeded(const FamilyParams<A> &p, uint64_t n)
{
    return p.level_bits > 0 && n <= 1;
}

/* Whether the sum of the only tile is not needed. */
template <class A> GPI_DEVICE bool is_one_tile(uint64_t n)
{
    return n <= Family<A>::tile;
}

/* By all threads of a block: whether its tile, which is not the first, has no items, because fewer
 * of them are there than the host knew. */
template <class A> GPI_DEVICE bool is_behind(uint64_t n, uint64_t first)
{
    return first >= n && blockIdx.x > 0;
}

/* ---- items as stored and as computed ---- */

template <class S> struct Tag {
    using Type = S;
};

template <class A> constexpr int scalar_bytes = (int)sizeof(A);
template <class T> constexpr int scalar_bytes<Affine<T>> = (int)sizeof(T);
template <class T> constexpr int scalar_bytes<Mat2<T>> = (int)sizeof(T);

/* Calls f(Tag<S>()), S being the type of a dtype that A accumulates. */
template <class A, class F> GPI_DEVICE void with_stored(int dtype, F f)
{
    if constexpr (std::is_same_v<A, uint64_t>) {
        if (dtype == GP_I32)
            return f(Tag<int32_t>());
        if (dtype == GP_U32)
            return f(Tag<uint32_t>());
    }
    if constexpr (std::is_integral_v<A>) {
        if (dtype == GP_I8)
            return f(Tag<int8_t>());
        if (dtype == GP_U8)
            return f(Tag<uint8_t>());
        if (dtype == GP_I16)
            return f(Tag<int16_t>());
        if (dtype == GP_U16)
            return f(Tag<uint16_t>());
    } else if constexpr (std::is_same_v<A, float>) {
        if (dtype == GP_F16)
            return f(Tag<f16_t>());
        if (dtype == GP_BF16)
            return f(Tag<bf16_t>());
    } else if constexpr (std::is_same_v<A, double>) {
        if (dtype == GP_F32)
            return f(Tag<float>());
    }
    f(Tag<A>());
}

/* Bytes between the scalars of an item stored as S. */
template <class A, class S> GPI_DEVICE constexpr int piece_of()
{
    return sizeof(S) == sizeof(A) ? scalar_bytes<A> : (int)sizeof(S);
}

template <class A, class S> GPI_DEVICE A stored_load(const char *array, uint64_t i)
{
    return widen<A>(item_load<S, piece_of<A, S>()>(array + i * sizeof(S)));
}

/* Returns false if an integer sum in 64 bits does not fit. */
template <class A, class S> GPI_DEVICE bool stored_save(char *array, uint64_t i, A x)
{
    S stored = narrow<S>(x);
    item_store<S, piece_of<A, S>()>(array + i * sizeof(S), stored);
    if constexpr (is_integer<S>::value && sizeof(A) == 8 && sizeof(S) < 8)
        return widen<A>(stored) == x;
    else
        return true;
}

/* ---- sizes ---- */

/* Items of the tile that begins at first. */
template <class A> GPI_DEVICE int tile_count(uint64_t n, uint64_t first)
{
    return first >= n ? 0 : n - first < Family<A>::tile ? (int)(n - first) : Family<A>::tile;
}

/* ---- tiles ---- */

/* Items of a tile into shared memory; identities after the last. By the block, then synchronise. */
template <class A>
GPI_DEVICE void tile_load(const FamilyParams<A> &p, A *s, uint64_t first, int count)
{
    with_stored<A>(p.in_dtype, [&](auto tag) {
        using S = typename decltype(tag)::Type;
#pragma unroll
        for (int k = 0; k < Family<A>::items; k++) {
            const int i = k * Family<A>::threads + threadIdx.x;
            s[i] = i < count ? stored_load<A, S>(p.in, first + i) : p.op.neutral;
        }
    });
}

/* The outputs of a tile whose inclusive scan is in s, behind prefix. */
template <class A>
GPI_DEVICE void tile_store(const FamilyParams<A> &p, const A *s, uint64_t first, int count,
                           A prefix)
{
    const int shift = p.kind != GP_SCAN_INCLUSIVE;
    with_stored<A>(p.out_dtype, [&](auto tag) {
        using S = typename decltype(tag)::Type;
        bool fits = true;
        for (int i = threadIdx.x; i < count; i += Family<A>::threads) {
            A y = i < shift ? prefix : p.op.apply(prefix, s[i - shift]);
            fits = stored_save<A, S>(p.out, first + i, y) && fits;
        }
        if (p.wide && !fits)
            report(p.reporter, GPI_RULE_OVERFLOW, GPI_NO_INDEX, 0, 0);
    });
}

/* The total in 64 bits, where it is wanted. Pairs have none. */
template <class A> GPI_DEVICE void total_store(const FamilyParams<A> &p, A total)
{
    uint64_t word = 0;
    if constexpr (scalar_bytes<A> != sizeof(A)) {
        word = 0;
    } else if constexpr (!is_integer<A>::value) {
        word = (uint64_t)__double_as_longlong((double)total + 0.0); /* never -0 */
    } else {
        const int unused = 64 - p.out_bits;
        const uint64_t bits = (uint64_t)total << unused;
        word = p.out_signed ? (uint64_t)((int64_t)bits >> unused) : bits >> unused;
        if (p.wide && word != (uint64_t)total)
            report_total(p.reporter, (uint64_t)total);
        if (p.wide)
            word = (uint64_t)total;
    }
    if (p.total)
        *p.total = word;
}

/* The total, and the last of n + 1 row pointers. By one thread, once. */
template <class A> GPI_DEVICE void family_finish(const FamilyParams<A> &p, uint64_t n, A total)
{
    if (p.kind == GP_SCAN_ROW_POINTERS)
        with_stored<A>(p.out_dtype, [&](auto tag) {
            bool fits = stored_save<A, typename decltype(tag)::Type>(p.out, n, total);
            if (p.wide && !fits)
                report(p.reporter, GPI_RULE_OVERFLOW, GPI_NO_INDEX, 0, 0);
        });
    total_store(p, total);
}

/* Whether the tile that begins at first has the last item; of no items, tile 0. */
template <class A> GPI_DEVICE bool is_last_tile(uint64_t n, uint64_t first)
{
    return first + Family<A>::tile >= n && (first < n || first == 0);
}

} // namespace GPI_SPACE
