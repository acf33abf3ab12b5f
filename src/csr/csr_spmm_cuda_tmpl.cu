/* SPDX-License-Identifier: MIT */
/* CUDA: SpMM of one pair of widths and one architecture: GPI_UNIT names the pair, GPI_INDEX and
 * GPI_OFFSET are its types. */
#include <cuda_runtime.h>

#include "csr/csr_spmm_kernels.cuh"
#include "csr/csr_spmv_launch.cuh"

namespace GPI_SPACE
{
namespace
{

using I = GPI_INDEX;
using O = GPI_OFFSET;

template <class V> gp_status spmm(gp_context *ctx, const gpi_csr_spmv *s)
{
    using A = typename SpmvSum<V>::A;
    const SpmvTiles<O> tiles = spmv_tiles_of<O>(s);
    const SpmmMatrices<V> v = {(const V *)s->values,
                               (const V *)s->x,
                               (V *)s->y,
                               s->x_at,
                               s->y_at,
                               {(A)s->alpha, (const A *)s->device_alpha},
                               {(A)s->beta, (const A *)s->device_beta},
                               (A *)s->pieces};
    const SpmmLanes lanes = {s->columns, s->columns <= 8 ? 3 : s->columns <= 16 ? 4 : 5};
    const I *const cols = (const I *)s->a.cols;
    LaunchList list;
    if (!s->plan)
        list.add(spmv_starts_of(s, tiles));
    list.add(launch_dependent(spmm_tiles_k<I, O, V>, !s->plan, spmv_blocks_of<spmm_threads / 32>(s),
                              spmm_threads, 0, tiles, cols, v, lanes));
    return list.queue(ctx, "gp_spmm");
}

} // namespace
} // namespace GPI_SPACE

#define TABLE GPI_LAUNCHER(GPI_PASTE(gpi_csr_spmm_, GPI_UNIT))

extern "C" {
extern const gpi_csr_spmv_fn TABLE[GPI_CSR_VALUES];
const gpi_csr_spmv_fn TABLE[GPI_CSR_VALUES] = {GPI_SPACE::spmm<GPI_SPACE::f16_t>,
                                               GPI_SPACE::spmm<GPI_SPACE::bf16_t>,
                                               GPI_SPACE::spmm<float>, GPI_SPACE::spmm<double>};
}
