/* SPDX-License-Identifier: MIT */
/* CUDA: SpMV of one pair of widths and one architecture: GPI_UNIT names the pair, GPI_INDEX and
 * GPI_OFFSET are its types. */
#include <cuda_runtime.h>

#include "csr/csr_spmv_kernels.cuh"
#include "device/host.cuh"

namespace GPI_SPACE
{
namespace
{

using I = GPI_INDEX;
using O = GPI_OFFSET;

/* Rows whose pointers are read twice, rather than searched. */
constexpr uint64_t few_rows = 1 << 21;

SpmvTiles<O> tiles_of(const gpi_csr_spmv *s)
{
    return {(const O *)s->a.row_pointers,
            s->a.num_rows,
            s->a.nnz,
            s->device_num_rows,
            s->device_nnz,
            s->starts,
            s->left,
            (uint32_t)s->tiles,
            s->tile_log};
}

template <class V> gp_status spmv(gp_context *ctx, const gpi_csr_spmv *s)
{
    using A = typename SpmvSum<V>::A;
    constexpr int warps = spmv_threads / 32;
    constexpr uint64_t most = 2 * GPI_MAX_N >> GPI_CSR_TILE_LOG_MAX; /* of rows and entries */
    const SpmvTiles<O> tiles = tiles_of(s);
    const I *const cols = (const I *)s->a.cols;
    const SpmvVectors<V> v = {(const V *)s->values,
                              (const V *)s->x,
                              (V *)s->y,
                              {(A)s->alpha, (const A *)s->device_alpha},
                              {(A)s->beta, (const A *)s->device_beta},
                              (A *)s->pieces};
    const bool few = s->a.num_rows <= few_rows;
    const uint32_t blocks = few ? blocks_for<csr_tuning.threads, few_rows>(s->a.num_rows)
                                : blocks_for<csr_tuning.threads, most>(s->tiles);
    LaunchList list;
    list.add(launch_of(few ? spmv_scatter_k<O> : spmv_search_k<O>, blocks, csr_tuning.threads, 0,
                       tiles));
    list.add(launch_dependent(spmv_tiles_k<I, O, V>, true, blocks_for<warps, most>(s->tiles),
                              spmv_threads, 0, tiles, cols, v));
    return list.queue(ctx, "gp_spmv");
}

} // namespace
} // namespace GPI_SPACE

#define TABLE GPI_LAUNCHER(GPI_PASTE(gpi_csr_spmv_, GPI_UNIT))

extern "C" {
extern const gpi_csr_spmv_fn TABLE[GPI_CSR_VALUES];
const gpi_csr_spmv_fn TABLE[GPI_CSR_VALUES] = {GPI_SPACE::spmv<GPI_SPACE::f16_t>,
                                               GPI_SPACE::spmv<GPI_SPACE::bf16_t>,
                                               GPI_SPACE::spmv<float>, GPI_SPACE::spmv<double>};
}
