/* SPDX-License-Identifier: MIT */
/* The kernel of a round of mail, see dist_mail_internal.h. It reads little, so it finds out about
 * types and operators on the way. */
#pragma once

#include "device/elementwise.cuh"
#include "device/flip.cuh"
#include "device/grid.cuh"
#include "dist/dist_integers.cuh"

extern "C" {
#include "dist/dist_mail_internal.h"
}

namespace GPI_SPACE
{

/* ---- items of a dtype, and an operator on them ----------------------------------------------- */

struct MailIntegers {
    using A = uint64_t;
    gp_op op;
    size_t bytes;
    uint64_t flip;

    GPI_DEVICE A load(const void *in, uint64_t i) const
    {
        return integer_at(bytes, in, i) ^ flip;
    }
    GPI_DEVICE void store(void *out, uint64_t i, A x) const
    {
        integer_to(bytes, out, i, x ^ flip);
    }
    GPI_DEVICE A neutral() const
    {
        return op == GP_PRODUCT;
    }
    GPI_DEVICE A apply(A l, A r) const
    {
        switch (op) {
        case GP_SUM:
            return l + r;
        case GP_PRODUCT:
            return l * r;
        case GP_MIN:
        case GP_MAX:
            return Highest<A>::apply(l, r);
        case GP_AND:
        case GP_OR:
            return l | r;
        default:
            return l ^ r;
        }
    }
};

template <class T> GPI_DEVICE T float_applied(gp_op op, T l, T r)
{
    switch (op) {
    case GP_SUM:
        return l + r;
    case GP_PRODUCT:
        return l * r;
    case GP_MIN:
        return Min<T>::apply(l, r);
    default:
        return Max<T>::apply(l, r);
    }
}

/* A sum starts from +0. */
template <class T> GPI_DEVICE T float_neutral(gp_op op)
{
    switch (op) {
    case GP_SUM:
        return 0;
    case GP_PRODUCT:
        return 1;
    case GP_MIN:
        return highest_value<T>();
    default:
        return lowest_value<T>();
    }
}

/* f32, and halves, which are computed in it. */
struct MailFloats {
    using A = float;
    gp_op op;
    gp_dtype dtype;

    GPI_DEVICE A load(const void *in, uint64_t i) const
    {
        if (dtype == GP_F16)
            return widen<A>(((const f16_t *)in)[i]);
        if (dtype == GP_BF16)
            return widen<A>(((const bf16_t *)in)[i]);
        return ((const A *)in)[i];
    }
    GPI_DEVICE void store(void *out, uint64_t i, A x) const
    {
        if (dtype == GP_F16)
            ((f16_t *)out)[i] = narrow<f16_t>(x);
        else if (dtype == GP_BF16)
            ((bf16_t *)out)[i] = narrow<bf16_t>(x);
        else
            ((A *)out)[i] = x;
    }
    GPI_DEVICE A neutral() const
    {
        return float_neutral<A>(op);
    }
    GPI_DEVICE A apply(A l, A r) const
    {
        return float_applied(op, l, r);
    }
};

struct MailDoubles {
    using A = double;
    gp_op op;

    GPI_DEVICE A load(const void *in, uint64_t i) const
    {
        return ((const A *)in)[i];
    }
    GPI_DEVICE void store(void *out, uint64_t i, A x) const
    {
        ((A *)out)[i] = x;
    }
    GPI_DEVICE A neutral() const
    {
        return float_neutral<A>(op);
    }
    GPI_DEVICE A apply(A l, A r) const
    {
        return float_applied(op, l, r);
    }
};

/* Items of several scalars, which are aligned as one. */
template <class Item, class Op> struct MailItems {
    using A = Item;
    using S = typename Item::Scalar;
    static constexpr int scalars = sizeof(Item) / sizeof(S);

    GPI_DEVICE A load(const void *in, uint64_t i) const
    {
        A x;
#pragma unroll
        for (int k = 0; k < scalars; k++)
            (&x.s0)[k] = ((const S *)in)[i * scalars + k];
        return x;
    }
    GPI_DEVICE void store(void *out, uint64_t i, A x) const
    {
#pragma unroll
        for (int k = 0; k < scalars; k++)
            ((S *)out)[i * scalars + k] = (&x.s0)[k];
    }
    GPI_DEVICE A neutral() const
    {
        return Op::identity();
    }
    GPI_DEVICE A apply(A l, A r) const
    {
        return Op::apply(l, r);
    }
};

/* ---- a round --------------------------------------------------------------------------------- */

struct alignas(16) MailShared {
    uint32_t parts[GPI_MAIL_RANKS][GPI_MAIL_WORDS];
    char sums[elementwise_threads][GPI_DIST_ITEM_MAX];
    char part[GPI_DIST_ITEM_MAX];
};

/* Items [begin, end) of this thread, of few: those of the first threads are as many. */
struct MailItemsHere {
    uint32_t begin, end;

    GPI_DEVICE explicit MailItemsHere(const gpi_mailing &m)
    {
        const uint32_t n = (uint32_t)m.n;
        const uint32_t each = (n + elementwise_threads - 1) / elementwise_threads;
        begin = min(threadIdx.x * each, n);
        end = min(begin + each, n);
    }
};

/* Sums of the items up to those of each thread, and the part of this rank. */
struct MailSum {
    const gpi_mailing &m;
    MailShared &s;

    template <class Kind> GPI_DEVICE void operator()(const Kind &kind) const
    {
        typename Kind::A *sums = (typename Kind::A *)s.sums, sum = {};
        const MailItemsHere here(m);
#pragma unroll 1
        for (uint32_t i = here.begin; i < here.end; i++) {
            const typename Kind::A x = kind.load(m.in, i);
            sum = i == here.begin ? x : kind.apply(sum, x);
        }
#pragma unroll 1
        for (int d = 1; d < elementwise_threads; d *= 2) {
            sums[threadIdx.x] = sum;
            __syncthreads();
            if ((int)threadIdx.x >= d && here.begin < here.end)
                sum = kind.apply(sums[threadIdx.x - d], sum);
            __syncthreads();
        }
        sums[threadIdx.x] = sum;
        if (here.begin < here.end && here.end == m.n)
            kind.store(s.part, 0, sum);
        __syncthreads();
    }
};

/* What is to be done with the parts of all. */
struct MailFold {
    const gpi_mailing &m;
    MailShared &s;

    template <class Kind> GPI_DEVICE void operator()(const Kind &kind) const
    {
        typename Kind::A before = {};
        bool some = m.has_init;
        if (some)
            before = kind.load(m.init, 0);
#pragma unroll 1
        for (int r = 0; r < m.folded; r++)
            if (m.present >> r & 1) {
                const typename Kind::A part = kind.load(s.parts[r], 0);
                before = some ? kind.apply(before, part) : part;
                some = true;
            }
        if (m.use == GPI_MAIL_RESULT && some && m.out && grid_item() == 0)
            kind.store(m.out, 0, before);
        if (m.use == GPI_MAIL_BEFORE && some)
            put_before(kind, before);
        if (m.use == GPI_MAIL_INCLUSIVE || m.use == GPI_MAIL_EXCLUSIVE)
            scan(kind, before, some);
    }

    template <class Kind, class A> GPI_DEVICE void put_before(const Kind &kind, A before) const
    {
#pragma unroll 1
        for (uint64_t i = grid_item(); i < m.n; i += grid_items())
            kind.store(m.out, i, kind.apply(before, kind.load(m.out, i)));
    }

    template <class Kind, class A> GPI_DEVICE void scan(const Kind &kind, A sum, bool some) const
    {
        const MailItemsHere here(m);
        if (threadIdx.x > 0) {
            const A sums = ((const A *)s.sums)[threadIdx.x - 1];
            sum = some ? kind.apply(sum, sums) : sums;
            some = true;
        }
#pragma unroll 1
        for (uint32_t i = here.begin; i < here.end; i++) {
            const A x = kind.load(m.in, i), with = some ? kind.apply(sum, x) : x;
            const A without = some ? sum : kind.neutral();
            kind.store(m.out, i, m.use == GPI_MAIL_EXCLUSIVE ? without : with);
            sum = with;
            some = true;
        }
    }
};

template <class Do>
GPI_DEVICE void mail_by_kind(const gpi_mailing &m, size_t dtype_bytes, const Do &act)
{
    const bool wide = m.dtype == GP_F64;
    if (m.op == GP_AFFINE && wide)
        act(MailItems<Affine<double>, Compose<Affine<double>>>());
    else if (m.op == GP_AFFINE)
        act(MailItems<Affine<float>, Compose<Affine<float>>>());
    else if (m.op == GP_MAT2 && wide)
        act(MailItems<Mat2<double>, Multiply2x2<Mat2<double>>>());
    else if (m.op == GP_MAT2)
        act(MailItems<Mat2<float>, Multiply2x2<Mat2<float>>>());
    else if (wide)
        act(MailDoubles{m.op});
    else if (m.dtype == GP_F32 || m.dtype == GP_F16 || m.dtype == GP_BF16)
        act(MailFloats{m.op, m.dtype});
    else
        act(MailIntegers{m.op, dtype_bytes, m.flip});
}

/* Word number w of a part; the memory behind it is not read. */
GPI_DEVICE uint32_t mail_part_word(const void *part, int w, size_t item_bytes)
{
    if (!part || 4 * (size_t)w >= item_bytes)
        return 0;
    return item_bytes < 4 ? (uint32_t)integer_at(item_bytes, part, 0) : ((const uint32_t *)part)[w];
}

/* Until the word is of that round. Whether it will come at all is asked now and then, as that lies
 * in host memory; a word that was on its way when the first rank left still gets here. */
GPI_DEVICE uint32_t mail_word(const uint64_t *word, uint32_t round, const uint32_t *stop)
{
    constexpr uint32_t eager = 1 << 10, patience = 64;
    uint32_t stops = 0;
    uint64_t x;
    for (uint32_t i = 1; (uint32_t)((x = *(const volatile uint64_t *)word) >> 32) != round; i++) {
        if (i % 64 == 0 && *(const volatile uint32_t *)stop && ++stops == patience)
            break;
        if (i > eager)
            __nanosleep(200);
    }
    return (uint32_t)x;
}

/* A grid of any size, or, where items are at in, one block; a thread for each word of a mail; 9 KB
 * of shared memory. */
__global__ void dist_mail_k(const __grid_constant__ gpi_mailing m, size_t dtype_bytes,
                            size_t item_bytes)
{
    static_assert(GPI_MAIL_RANKS * GPI_MAIL_WORDS == elementwise_threads, "a thread for each word");
    __shared__ MailShared s;
    gpi_mail *own = m.mails[m.rank];
    grid_wait();
    const uint32_t round = own->round + 1;
    const int r = (int)threadIdx.x / GPI_MAIL_WORDS, w = (int)threadIdx.x % GPI_MAIL_WORDS;
    if (m.in)
        mail_by_kind(m, dtype_bytes, MailSum{m, s});
    const void *part = m.part || !m.in ? m.part : s.part;
    if (m.orders)
        __threadfence_system(); /* what earlier kernels wrote, before the word that tells of it */
    if (m.sends && blockIdx.x == 0 && r < m.ranks)
        *(volatile uint64_t *)&m.mails[r]->words[round & 1][m.rank][w] =
            (uint64_t)round << 32 | mail_part_word(part, w, item_bytes);
    if (!m.receives)
        return;
    if (r < m.ranks)
        s.parts[r][w] = mail_word(&own->words[round & 1][r][w], round, m.stop);
    if (m.orders)
        __threadfence_system(); /* and behind it what later ones read */
    __syncthreads();
    mail_by_kind(m, dtype_bytes, MailFold{m, s});
    if (threadIdx.x == 0 && atomicAdd(&own->done, 1u) == gridDim.x - 1) {
        own->done = 0;
        own->round = round; /* for the next kernel: the other blocks have read it */
    }
}

} // namespace GPI_SPACE
