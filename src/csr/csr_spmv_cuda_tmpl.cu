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

template <class V> SpmvVectors<V> vectors_of(const gpi_csr_spmv *s)
{
    using A = typename SpmvSum<V>::A;
    return {(const V *)s->values,
            (const V *)s->x,
            (V *)s->y,
            {(A)s->alpha, (const A *)s->device_alpha},
            {(A)s->beta, (const A *)s->device_beta},
            (A *)s->pieces};
}

template <class V> gp_status planned(gp_context *ctx, const gpi_csr_spmv *s)
{
    const SpmvTiles<O> tiles = spmv_tiles_of<O>(s);
    const I *const cols = (const I *)s->a.cols;
    const SpmvVectors<V> v = vectors_of<V>(s);
    const PlannedColumns<I> plan = {(const I *)s->least, s->above, (const uint8_t *)s->ends,
                                    s->have_empty, s->plan};
    LaunchList list;
    list.add(launch_of(spmv_tiles_k<true, I, O, V>, spmv_blocks_of<spmv_threads / 32>(s),
                       spmv_threads, 0, tiles, cols, plan, v));
    return list.queue(ctx, "gp_spmv");
}

template <class V> gp_status spmv(gp_context *ctx, const gpi_csr_spmv *s)
{
    if (s->plan)
        return planned<V>(ctx, s);
    const SpmvTiles<O> tiles = spmv_tiles_of<O>(s);
    const I *const cols = (const I *)s->a.cols;
    const SpmvVectors<V> v = vectors_of<V>(s);
    const PlannedColumns<I> none = {};
    LaunchList list;
    list.add(spmv_starts_of(s, tiles));
    list.add(launch_dependent(spmv_tiles_k<false, I, O, V>, true,
                              spmv_blocks_of<spmv_threads / 32>(s), spmv_threads, 0, tiles, cols,
                              none, v));
    return list.queue(ctx, "gp_spmv");
}

/* ---- plans ---- */

gp_status make_tiles(gp_context *ctx, const gpi_csr_spmv *s)
{
    const SpmvTiles<O> tiles = spmv_tiles_of<O>(s);
    GPI_TRY(gpi_cuda_fill(ctx, s->left, 0, s->tiles * sizeof *s->left));
    GPI_TRY(gpi_cuda_fill(ctx, s->have_empty, 0, s->tiles));
    LaunchList list;
    list.add(spmv_starts_of(s, tiles));
    GPI_TRY(list.queue(ctx, "gp_spmv_plan"));
    spmv_empty_k<<<plan_grid(ctx, s->a.num_rows), csr_tuning.threads, 0, ctx->stream>>>(
        tiles, s->have_empty);
    return gpi_cuda_launched(ctx, "gp_spmv_plan");
}

gp_status make_plan(gp_context *ctx, const gpi_csr_spmv *s, const gpi_csr_plan *given)
{
    const SpmvTiles<O> tiles = spmv_tiles_of<O>(s);
    spmv_header_k<<<1, 1, 0, ctx->stream>>>(s->plan, *given);
    GPI_TRY(gpi_cuda_fill(ctx, s->ends, 0, (s->a.nnz + 31) / 32 * sizeof *s->ends));
    spmv_ends_k<<<plan_grid(ctx, s->a.num_rows), csr_tuning.threads, 0, ctx->stream>>>(tiles,
                                                                                       s->ends);
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
const gpi_csr_plan_ops PLAN = {GPI_SPACE::make_plan, GPI_SPACE::make_tiles, GPI_SPACE::pattern,
                               GPI_SPACE::differs};

extern const gpi_csr_spmv_fn TABLE[GPI_CSR_VALUES];
const gpi_csr_spmv_fn TABLE[GPI_CSR_VALUES] = {GPI_SPACE::spmv<GPI_SPACE::f16_t>,
                                               GPI_SPACE::spmv<GPI_SPACE::bf16_t>,
                                               GPI_SPACE::spmv<float>, GPI_SPACE::spmv<double>};
}
