/* SPDX-License-Identifier: MIT */
/* CUDA: SpMV of one pair of widths and one architecture: GPI_UNIT names the pair, GPI_INDEX and
 * GPI_OFFSET are its types. */
#include <cuda_runtime.h>

#include "csr/csr_plan_kernels.cuh"
#include "csr/csr_spmv_launch.cuh"

namespace GPI_SPACE
{
namespace
{

using I = GPI_INDEX;
using O = GPI_OFFSET;

template <class V> gp_status spmv(gp_context *ctx, const gpi_csr_spmv *s)
{
    using A = typename SpmvSum<V>::A;
    const SpmvTiles<O> tiles = spmv_tiles_of<O>(s);
    const I *const cols = (const I *)s->a.cols;
    const SpmvVectors<V> v = {(const V *)s->values,
                              (const V *)s->x,
                              (V *)s->y,
                              {(A)s->alpha, (const A *)s->device_alpha},
                              {(A)s->beta, (const A *)s->device_beta},
                              (A *)s->pieces};
    const NearColumns<I> near = {(const I *)s->least, s->above, s->plan};
    const uint32_t blocks = spmv_blocks_of<spmv_threads / 32>(s);
    LaunchList list;
    if (s->plan) {
        list.add(
            launch_of(spmv_tiles_k<true, I, O, V>, blocks, spmv_threads, 0, tiles, cols, near, v));
    } else {
        list.add(spmv_starts_of(s, tiles));
        list.add(launch_dependent(spmv_tiles_k<false, I, O, V>, true, blocks, spmv_threads, 0,
                                  tiles, cols, near, v));
    }
    return list.queue(ctx, "gp_spmv");
}

/* ---- plans ---- */

gp_status make_plan(gp_context *ctx, const gpi_csr_spmv *s, const gpi_csr_plan *given)
{
    const SpmvTiles<O> tiles = spmv_tiles_of<O>(s);
    spmv_header_k<<<1, 1, 0, ctx->stream>>>(s->plan, *given);
    GPI_TRY(gpi_cuda_fill(ctx, s->left, 0, s->tiles * sizeof *s->left));
    LaunchList list;
    list.add(spmv_starts_of(s, tiles));
    GPI_TRY(list.queue(ctx, "gp_spmv_plan"));
    if (s->a.nnz)
        spmv_near_k<<<plan_grid(ctx, s->a.nnz), csr_tuning.threads, 0, ctx->stream>>>(
            (const I *)s->a.cols, s->a.nnz, (I *)s->least, s->above, s->plan);
    return gpi_cuda_launched(ctx, "gp_spmv_plan");
}

gp_status pattern(gp_context *ctx, const gpi_csr_matrix *a, uint64_t *sum)
{
    const uint64_t most = a->nnz > a->num_rows ? a->nnz : a->num_rows + 1;
    GPI_TRY(gpi_cuda_fill(ctx, sum, 0, sizeof *sum));
    spmv_pattern_k<<<plan_grid(ctx, most), csr_tuning.threads, 0, ctx->stream>>>(
        (const O *)a->row_pointers, a->num_rows + 1, (const I *)a->cols, a->nnz, sum);
    return gpi_cuda_launched(ctx, "gp_spmv_plan");
}

gp_status differs(gp_context *ctx, const gpi_csr_plan *plan, const uint64_t *sum,
                  const gpi_csr_plan *want, uint32_t *is_other)
{
    spmv_differs_k<<<1, 1, 0, ctx->stream>>>(plan, sum, *want, is_other);
    return gpi_cuda_launched(ctx, "gp_spmv_planned");
}

} // namespace
} // namespace GPI_SPACE

#define PLAN GPI_LAUNCHER(GPI_PASTE(gpi_csr_plan_, GPI_UNIT))
#define TABLE GPI_LAUNCHER(GPI_PASTE(gpi_csr_spmv_, GPI_UNIT))

extern "C" {
extern const gpi_csr_plan_ops PLAN;
const gpi_csr_plan_ops PLAN = {GPI_SPACE::make_plan, GPI_SPACE::pattern, GPI_SPACE::differs};

extern const gpi_csr_spmv_fn TABLE[GPI_CSR_VALUES];
const gpi_csr_spmv_fn TABLE[GPI_CSR_VALUES] = {GPI_SPACE::spmv<GPI_SPACE::f16_t>,
                                               GPI_SPACE::spmv<GPI_SPACE::bf16_t>,
                                               GPI_SPACE::spmv<float>, GPI_SPACE::spmv<double>};
}
