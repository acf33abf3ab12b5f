/* SPDX-License-Identifier: MIT */
/* CUDA: SpMM of one width of columns and one architecture: GPI_UNIT names the width, GPI_INDEX is
 * the type of columns. */
#include <cuda_runtime.h>

#include "csr/csr_spmm_kernels.cuh"
#include "csr/csr_spmv_launch.cuh"

namespace GPI_SPACE
{
namespace
{

using I = GPI_INDEX;

/* The product with n columns of X from `first` on. */
template <class V, bool BF16, int N>
gp_status columns_of(gp_context *ctx, const gpi_csr_spmv *s, uint32_t first, uint32_t n,
                     bool has_starts)
{
    using A = typename SpmvSum<V>::A;
    const SpmvTiles tiles = spmv_tiles_of(s, has_starts);
    const SpmmMatrices<V, N> v = {(const V *)s->values,
                                  (const V *)s->x + first * s->x_at.column,
                                  (V *)s->y + first * s->y_at.column,
                                  s->x_at,
                                  s->y_at,
                                  {(A)s->alpha, (const A *)s->device_alpha},
                                  {(A)s->beta, (const A *)s->device_beta},
                                  (A *)s->pieces,
                                  BF16};
    const SpmmLanes<N> lanes = {n};
    const I *const cols = (const I *)s->a.cols;
    LaunchList list;
    if (s->starts && !has_starts)
        list.add(spmv_starts_of(s, tiles));
    list.add(launch_dependent(spmm_tiles_k<I, V, N>, list.count > 0,
                              spmv_blocks_of<spmm_threads / 32>(s), spmm_threads, 0, tiles, cols, v,
                              lanes));
    return list.queue(ctx, "gp_spmm");
}

/* Whether the rows are of whole packs of a lane's numbers. */
template <class V>
bool has_packs(const gpi_csr_spmv *s, const void *numbers, const gpi_csr_dense &at)
{
    return at.column == 1 && s->columns % 4 == 0 && at.row % 4 == 0 &&
           at.row <= UINT32_MAX / sizeof(V) && (uintptr_t)numbers % alignof(SpmmPack<V, 4>) == 0;
}

/* Numbers of 2 bytes are not packed: that would be as much code again. */
template <class V, bool BF16 = false> gp_status spmm(gp_context *ctx, const gpi_csr_spmv *s)
{
    constexpr uint32_t lanes = GPI_CSR_SPMM_LANES;
    if constexpr (sizeof(V) > 2)
        if (s->columns > lanes && has_packs<V>(s, s->x, s->x_at) && has_packs<V>(s, s->y, s->y_at))
            return columns_of<V, BF16, 4>(ctx, s, 0, s->columns, s->plan != nullptr);
    for (uint32_t first = 0; first < s->columns; first += lanes) {
        const uint32_t n = s->columns - first < lanes ? s->columns - first : lanes;
        const bool has_starts = s->plan || (s->starts && first);
        GPI_TRY((columns_of<V, BF16, 1>(ctx, s, first, n, has_starts)));
    }
    return GP_OK;
}

} // namespace
} // namespace GPI_SPACE

#define TABLE GPI_LAUNCHER(GPI_PASTE(gpi_csr_spmm_, GPI_UNIT))

extern "C" {
extern const gpi_csr_spmv_fn TABLE[GPI_CSR_VALUES];
const gpi_csr_spmv_fn TABLE[GPI_CSR_VALUES] = {GPI_SPACE::spmm<GPI_SPACE::SpmvHalf>,
                                               GPI_SPACE::spmm<GPI_SPACE::SpmvHalf, true>,
                                               GPI_SPACE::spmm<float>, GPI_SPACE::spmm<double>};
}
