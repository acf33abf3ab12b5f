/* SPDX-License-Identifier: MIT */
/* The columns of SpMV as a plan has them. */
#pragma once

#include "csr/csr_internal.h"
#include "csr/csr_vectors.cuh"

namespace GPI_SPACE
{

/* The columns that a product is of; entries of others are left out. */
template <class I> struct SpmvBand {
    I first, count;

    GPI_DEVICE bool has(I col) const
    {
        return (I)(col - first) < count;
    }
};

/* Columns as a plan has them: of 32 entries at a time the least, and 16 bits above it for each, or
 * which shape these have. */
template <class I> struct NearColumns {
    const I *least; /* all ones: one of the 32 is too far */
    const uint16_t *above;
    const uint16_t *shape, *shapes; /* of 32 entries, a number; the numbers above, of each shape */
    const gpi_csr_plan *plan;       /* which says whether it is worth it */
    bool has_hot;                   /* there is a kernel for hot columns */
    SpmvBand<I> band; /* the one to multiply, if x is read in bands; count 0: it never is */
};

/* Whether 16 bits suffice for most columns of a plan. */
GPI_DEVICE bool spmv_near_is_worth(const gpi_csr_plan *plan)
{
    return plan->far_left >= 0;
}

/* 1: they do; 2: and most of these have a shape, so that next to nothing is read. By one load. */
GPI_DEVICE uint32_t spmv_worth(const gpi_csr_plan *plan)
{
    const longlong2 left = *(const longlong2 *)&plan->far_left;
    return left.x < 0 ? 0 : left.y < 0 ? 1 : 2;
}

/* Whether x is read in bands, if columns are far from each other. */
template <class I> GPI_DEVICE bool spmv_has_bands(const NearColumns<I> &near)
{
    return near.band.count && near.plan->spread_left <= 0;
}

/* How columns are known: as they are, as NearColumns or by the shapes of these, as a gpi_csr_hot
 * has them, or as they are and by a plan, so that it is known that they are far apart. */
enum SpmvForm { SPMV_PLAIN, SPMV_NEAR, SPMV_SHAPED, SPMV_HOT, SPMV_FAR };

/* x of the hot columns; own: of the first `owned`, in shared memory. */
template <class V> struct SpmvHotX {
    static constexpr uint32_t owned = sizeof(V) == 8 ? GPI_CSR_HOT_F64 : GPI_CSR_HOT;
    const V *own, *all;

    GPI_DEVICE V at(uint32_t place) const
    {
        return place < owned ? own[place] : load_kept(all + place);
    }
};

} // namespace GPI_SPACE
