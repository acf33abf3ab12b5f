/* SPDX-License-Identifier: MIT */
/* X and Y of SpMM: which columns lanes have, and how these are read and stored. */
#pragma once

#include "csr/csr_internal.h"
#include "csr/csr_vectors.cuh"

namespace GPI_SPACE
{

/* Groups of 8 lanes with N columns each. */
template <int N_> struct SpmmLanes {
    static constexpr int N = N_;
    uint32_t n; /* columns, of whole lanes */

    GPI_DEVICE uint32_t columns() const
    {
        return n;
    }
    GPI_DEVICE uint32_t number() const /* in the group */
    {
        return lane_id() % size();
    }
    GPI_DEVICE uint32_t column(int k) const
    {
        return number() * N + k;
    }
    GPI_DEVICE bool has_columns() const
    {
        return column(0) < n;
    }
    GPI_DEVICE uint32_t group() const
    {
        return lane_id() / size();
    }
    GPI_DEVICE uint32_t groups() const
    {
        return 32 / size();
    }
    static constexpr GPI_DEVICE uint32_t size()
    {
        return GPI_CSR_SPMM_LANES;
    }
};

/* A lane's numbers of a row of X or Y. */
template <class V, int N> struct alignas(N * sizeof(V) < 16 ? N * sizeof(V) : 16) SpmmPack {
    V of[N];
};

/* As load_kept(). */
template <class V, int N> GPI_DEVICE SpmmPack<V, N> spmm_load(const char *p)
{
    constexpr int words = sizeof(SpmmPack<V, N>) / 16;
    union Image {
        SpmmPack<V, N> pack;
        uint4 of[words + 1];
        GPI_DEVICE Image() : of()
        {
        }
    } u;
    if constexpr (N == 1) {
        u.pack.of[0] = load_kept((const V *)p);
    } else {
#pragma unroll
        for (int i = 0; i < words; i++)
            u.of[i] = __ldg((const uint4 *)p + i);
    }
    return u.pack;
}

/* As spmv_store(). */
template <class V, class A, int N>
GPI_DEVICE void spmm_store(V *to, const A (&sum)[N], A a, A b, bool is_bf16)
{
    using Pack = SpmmPack<V, N>;
    Pack p;
    if (b != 0)
        p = *(Pack *)to;
#pragma unroll
    for (int k = 0; k < N; k++)
        spmv_store(&p.of[k], a, sum[k], b, is_bf16);
    *(Pack *)to = p;
}

/* Bytes from row to row of X: of packs below 2^32. */
template <int N> using SpmmRow = std::conditional_t<(N > 1), uint32_t, uint64_t>;

template <class V_, int N> struct SpmmMatrices {
    using V = V_;
    using A = typename SpmvSum<V>::A;
    using Lanes = SpmmLanes<N>;
    const V *values, *x;
    V *y;
    gpi_csr_dense x_at, y_at;
    SpmvScalar<A> alpha, beta;
    A *pieces; /* as those of SpmvVectors, a number for each column */
    bool is_bf16;

    /* The lane's numbers of row 0 of Y. */
    GPI_DEVICE V *y_of(const Lanes &lanes) const
    {
        return y + lanes.column(0) * y_at.column;
    }

    GPI_DEVICE void store(uint64_t row, const Lanes &lanes, const A (&sum)[N]) const
    {
        if (lanes.has_columns())
            spmm_store(y_of(lanes) + row * y_at.row, sum, alpha.get(), beta.get(), is_bf16);
    }
};

} // namespace GPI_SPACE
