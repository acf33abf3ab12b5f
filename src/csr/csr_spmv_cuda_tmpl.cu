/* SPDX-License-Identifier: MIT */
/* CUDA: SpMV of one width of columns and one architecture: GPI_UNIT names the width, GPI_INDEX is
 * the type of columns. */
#include <cuda_runtime.h>

#include "csr/csr_band_kernels.cuh"
#include "csr/csr_spmv_launch.cuh"

namespace GPI_SPACE
{
namespace
{

using I = GPI_INDEX;

/* What brings x of the hot columns together, and their product; of a plan that may have some. */
template <class V>
gp_status add_hot(gp_context *ctx, const gpi_csr_spmv *s, const SpmvTiles &tiles,
                  const SpmvVectors<V> &v, LaunchList &list)
{
    static uint64_t allowed;
    const int value = (int)s->dtype - (int)GP_F16, bytes = GPI_CSR_PARTS.bytes[value];
    GPI_TRY(shared_memory_allow(ctx, "gp_spmv", GPI_CSR_PARTS.multiply[value], bytes, &allowed));
    list.add({GPI_CSR_PARTS.pack[value],
              {(void *)&s->hot, (void *)&s->plan, (void *)&s->x},
              blocks_for<csr_tuning.threads, GPI_CSR_HOT>(GPI_CSR_HOT),
              (unsigned)csr_tuning.threads,
              0,
              false,
              false});
    list.add({GPI_CSR_PARTS.multiply[value],
              {(void *)&tiles, (void *)&s->hot, (void *)&s->plan, (void *)&v},
              (unsigned)ctx->sm_count,
              (unsigned)GPI_CSR_PARTS.threads[value],
              (size_t)bytes,
              false,
              true});
    return GP_OK;
}

/* Bytes of x that each tile asks the L2 for, so that they are on their way while tiles look for
 * their beginnings: where all run at once, unless much of x may not be used. */
uint32_t x_share(const gpi_csr_spmv *s)
{
    if (s->tiles > gpi_csr_tiles_wanted(s->dtype) || s->a.num_cols > s->a.nnz)
        return 0;
    const uint64_t share = s->a.num_cols * gpi_dtype_bytes(s->dtype) / s->tiles;
    return (uint32_t)(share + 32) & ~31u;
}

static_assert(csr_tuning.bands + 2 <= GPI_LAUNCHES_MAX, "bands, and what finds beginnings");

/* The products of all bands but the first, as nears[1] and on have them. list keeps where the
 * arguments are, not what they are. */
void add_bands(gp_context *ctx, const gpi_csr_spmv *s, const SpmvTiles &tiles, const I *const &cols,
               NearColumns<I> *nears, const SpmvVectors<double> &v, LaunchList &list)
{
    const uint32_t blocks = spmv_blocks_of<spmv_threads / 32>(s);
    const uint32_t at_once = (uint32_t)ctx->sm_count * spmv_blocks<double>;
    for (uint32_t k = 1; k < spmv_bands(s); k++) {
        nears[k] = nears[0];
        nears[k].band.first = k * nears[0].band.count;
        list.add(launch_dependent(spmv_band_k<I>, true, blocks < at_once ? blocks : at_once,
                                  spmv_threads, 0, tiles, cols, nears[k], v));
    }
}

template <class V, bool BF16 = false> gp_status spmv(gp_context *ctx, const gpi_csr_spmv *s)
{
    using A = typename SpmvSum<V>::A;
    const SpmvTiles tiles = spmv_tiles_of(s, s->plan != nullptr);
    const I *const cols = (const I *)s->a.cols;
    const SpmvVectors<V> v = {(const V *)s->values,
                              (const V *)s->x,
                              (V *)s->y,
                              {(A)s->alpha, (const A *)s->device_alpha},
                              {(A)s->beta, (const A *)s->device_beta},
                              (A *)s->pieces,
                              BF16,
                              s->a.num_cols * sizeof(V),
                              x_share(s)};
    const bool may_be_hot = s->hot.cols && GPI_CSR_PARTS.threads[(int)s->dtype - (int)GP_F16];
    const uint32_t bands = sizeof(V) == 8 ? spmv_bands(s) : 1;
    const auto band = (I)(bands > 1 ? (s->a.num_cols + bands - 1) / bands : 0);
    NearColumns<I> nears[csr_tuning.bands] = {
        {(const I *)s->least, s->above, s->shape, s->shape_table, s->plan, may_be_hot, {0, band}}};
    SpmvVectors<V> added = v; /* by the bands behind the first */
    added.beta = {1, nullptr};
    LaunchList list;
    if (may_be_hot)
        GPI_TRY(add_hot(ctx, s, tiles, v, list));
    else if (s->starts && !s->plan)
        list.add(spmv_starts_of(s, tiles));
    list.add(launch_dependent(
        s->plan ? spmv_tiles_k<SPMV_NEAR, I, V> : spmv_tiles_k<SPMV_PLAIN, I, V>, list.count > 0,
        spmv_blocks_of<spmv_threads / 32>(s), spmv_threads, 0, tiles, cols, nears[0], v));
    if constexpr (sizeof(V) == 8)
        add_bands(ctx, s, tiles, cols, nears, added, list);
    return list.queue(ctx, "gp_spmv");
}

/* ---- plans ---- */

gp_status plan_starts(gp_context *ctx, const gpi_csr_spmv *s)
{
    const SpmvTiles tiles = spmv_tiles_of(s, true);
    LaunchList list;
    list.add(launch_zeros(s->left, s->tiles * sizeof *s->left));
    list.add(spmv_starts_of(s, tiles));
    return list.queue(ctx, "gp_spmv_plan");
}

/* In place of what is above the least columns. */
gp_status make_hot(gp_context *ctx, const gpi_csr_spmv *s)
{
    const I *const cols = (const I *)s->a.cols;
    GPI_TRY(gpi_cuda_fill(ctx, s->hot.place, 0, s->a.num_cols * sizeof *s->hot.place));
    const uint64_t sample = gpi_csr_hot_sample(s->a.nnz);
    spmv_sample_k<<<plan_grid(ctx, sample), csr_tuning.threads, 0, ctx->stream>>>(
        cols, s->a.nnz, sample, s->a.num_cols, s->hot.place, s->plan);
    GPI_TRY(gpi_cuda_launched(ctx, "gp_spmv_plan"));
    GPI_TRY(GPI_CSR_PARTS.choose_hot(ctx, s));
    spmv_recode_k<<<plan_grid(ctx, s->a.nnz), csr_tuning.threads, 0, ctx->stream>>>(
        cols, s->a.nnz, s->a.num_cols, s->hot, s->plan);
    return gpi_cuda_launched(ctx, "gp_spmv_plan");
}

/* Whether columns are spread. */
gp_status add_spread(gp_context *ctx, const gpi_csr_spmv *s)
{
    const uint64_t sectors = gpi_csr_sectors(s->a.num_cols, s->a.nnz);
    GPI_TRY(gpi_cuda_fill(ctx, s->sectors, 0, (sectors + 31) / 32 * sizeof *s->sectors));
    spmv_spread_k<<<plan_grid(ctx, sectors), csr_tuning.threads, 0, ctx->stream>>>(
        (const I *)s->a.cols, s->a.nnz, s->a.num_cols, sectors, s->sectors, s->plan);
    return gpi_cuda_launched(ctx, "gp_spmv_plan");
}

gp_status make_plan(gp_context *ctx, const gpi_csr_spmv *s, const gpi_csr_plan *given)
{
    const SpmvShapes shapes = {s->above, s->shape, s->shape_table, s->shape_hashes, s->shapes};
    const uint32_t grid = plan_grid(ctx, s->a.nnz);
    spmv_header_k<<<1, 1, 0, ctx->stream>>>(s->plan, *given);
    if (shapes.count)
        GPI_TRY(gpi_cuda_fill(ctx, shapes.hashes, 0, shapes.count * sizeof *shapes.hashes));
    if (s->a.nnz)
        spmv_near_k<<<grid, csr_tuning.threads, 0, ctx->stream>>>((const I *)s->a.cols, s->a.nnz,
                                                                  (I *)s->least, shapes, s->plan);
    if (shapes.count)
        spmv_shapes_k<<<grid, csr_tuning.threads, 0, ctx->stream>>>(s->a.nnz, shapes, s->plan);
    GPI_TRY(gpi_cuda_launched(ctx, "gp_spmv_plan"));
    if (spmv_bands(s) > 1)
        GPI_TRY(add_spread(ctx, s));
    return s->hot.cols ? make_hot(ctx, s) : GP_OK;
}

gp_status pattern(gp_context *ctx, const gpi_csr_spmv *s, uint64_t *sum)
{
    const gpi_csr_matrix *const a = &s->a;
    const uint64_t most = a->nnz > a->num_rows ? a->nnz : a->num_rows + 1;
    GPI_TRY(gpi_cuda_fill(ctx, sum, 0, sizeof *sum));
    spmv_pattern_k<<<plan_grid(ctx, most), csr_tuning.threads, 0, ctx->stream>>>(
        spmv_tiles_of(s, true), (const I *)a->cols, sum);
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
const gpi_csr_plan_ops PLAN = {GPI_SPACE::plan_starts, GPI_SPACE::make_plan, GPI_SPACE::pattern,
                               GPI_SPACE::differs};

extern const gpi_csr_spmv_fn TABLE[GPI_CSR_VALUES];
const gpi_csr_spmv_fn TABLE[GPI_CSR_VALUES] = {GPI_SPACE::spmv<GPI_SPACE::SpmvHalf>,
                                               GPI_SPACE::spmv<GPI_SPACE::SpmvHalf, true>,
                                               GPI_SPACE::spmv<float>, GPI_SPACE::spmv<double>};
}
