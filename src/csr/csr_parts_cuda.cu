/* SPDX-License-Identifier: MIT */
/* CUDA: what SpMV and SpMM of one architecture have for all widths of columns: where tiles begin,
 * and hot columns, whose numbers have 32 bits. */
#include <cuda_runtime.h>

#include "csr/csr_hot_kernels.cuh"
#include "csr/csr_spmv_launch.cuh"

namespace GPI_SPACE
{
namespace
{

gp_status choose(gp_context *ctx, const gpi_csr_spmv *s)
{
    const uint64_t n = s->a.num_cols;
    const uint32_t blocks = plan_grid(ctx, n);
    GPI_TRY(gpi_cuda_fill(ctx, s->hot.bins, 0, GPI_CSR_HOT_BINS * sizeof *s->hot.bins));
    spmv_hot_bins_k<<<blocks, csr_tuning.threads, 0, ctx->stream>>>(s->hot, n);
    spmv_hot_limits_k<<<1, 1, 0, ctx->stream>>>(s->hot, s->plan, gpi_csr_hot_sample(s->a.nnz));
    spmv_hot_places_k<<<blocks, csr_tuning.threads, 0, ctx->stream>>>(s->hot, n, s->plan);
    return gpi_cuda_launched(ctx, "gp_spmv_plan");
}

} // namespace
} // namespace GPI_SPACE

extern "C" {
using namespace GPI_SPACE;
#define OF_VALUES(f) f<SpmvHalf>, f<SpmvHalf>, f<float>, f<double>
#define KERNELS(k)                                                                                 \
    (const void *)k<SpmvHalf>, (const void *)k<SpmvHalf>, (const void *)k<float>,                  \
        (const void *)k<double>
const gpi_csr_part_ops GPI_CSR_PARTS = {
    {(const void *)spmv_search_k<uint32_t>, (const void *)spmv_search_k<uint64_t>},
    choose,
#if GPI_SM >= 90
    {KERNELS(spmv_pack_k)},
    {KERNELS(spmv_hot_k)},
    {OF_VALUES(spmv_hot_threads)},
    {OF_VALUES(spmv_hot_bytes)},
#else /* not enough shared memory */
    {},
    {},
    {},
    {},
#endif
};
}
