/* SPDX-License-Identifier: MIT */
/*
 * SpMV. The merge of row ends and entries (device/search.cuh) is cut into tiles of equal weight, a
 * warp each, and no warp waits for another:
 *
 *     spmv_search_k    where the tiles begin (csr_spmv_starts.cuh), but for those that run at once
 *                      with it and find that themselves
 *     spmv_tiles_k     the products of a tile, and their sums between row ends
 *
 * A row that does not fill several tiles belongs as a whole to the tile where it ends. Of a longer
 * one each of its tiles has a piece; the warp that is the last to leave a piece sums them.
 */
#pragma once

#include "csr/csr_spmv_tile.cuh"

namespace GPI_SPACE
{

constexpr int spmv_threads = csr_tuning.spmv_threads;

template <class V>
constexpr int spmv_blocks = sizeof(V) < 8 ? csr_tuning.spmv_blocks : csr_tuning.spmv_f64_blocks;

/* All of a tile; near_worth: its columns are near ones; hot, band: of products of those forms. */
template <SpmvForm FORM, class I, class V>
GPI_DEVICE void spmv_tile(const SpmvTiles &a, const SpmvVectors<V> &v, uint32_t tile,
                          const SpmvShare &share, SpmvChunk<typename SpmvSum<V>::A> &chunk,
                          const I *cols, const NearColumns<I> &near, bool near_worth,
                          const SpmvHotX<V> &hot, const SpmvBand<I> &band)
{
    constexpr uint32_t items = SpmvChunk<typename SpmvSum<V>::A>::items;
    uint32_t skip = (uint32_t)share.entry % 32;
    if (FORM == SPMV_PLAIN &&
        (share.entries + skip + items - 1) / items > (share.entries + items - 1) / items)
        skip = 0; /* an aligned beginning is not worth another chunk */
    SpmvTile<FORM, I, V> t = {a,
                              v,
                              chunk,
                              cols,
                              near,
                              hot,
                              a.pointers + (share.row + 1) * a.pointer_bytes,
                              v.y + share.row,
                              share.entry - skip,
                              tile,
                              share.rows,
                              skip,
                              share.entries + skip,
                              share.comes_in,
                              share.goes_on,
                              near_worth,
                              band};
    t.all();
}

/*
 * A warp per tile. Shared: a SpmvChunk per warp. After: y, unless row pointers fall. FORM:
 * with the columns of a plan, which are near, or as they are; if they are hot, and there is a
 * kernel for that, nothing is left to do.
 */
template <SpmvForm FORM, class I, class V>
__global__ __launch_bounds__(spmv_threads, spmv_blocks<V>) void spmv_tiles_k(
    const __grid_constant__ SpmvTiles a, const I *cols, const __grid_constant__ NearColumns<I> near,
    const __grid_constant__ SpmvVectors<V> v)
{
    __shared__ SpmvChunk<typename SpmvSum<V>::A> s_chunks[spmv_threads / 32];
    /* the same for all lanes, as the compiler then knows: bounds and addresses are in registers of
     * the warp, and lanes have theirs for what is on its way */
    const uint32_t warp = warp_max(threadIdx.x / 32),
                   tile = blockIdx.x * (spmv_threads / 32) + warp;
    const gpi_csr_start all = a.end();
    if (FORM == SPMV_NEAR && sizeof(V) == 8)
        grid_release();
    if (v.x_share)
        ask_for_share(v.x, v.x_bytes, v.x_share, tile);
    const bool early = FORM == SPMV_PLAIN && tile < a.early;
    if (!early)
        grid_wait();
    if ((uint64_t)tile * a.units >= all.row + all.entry)
        return;
    if (FORM == SPMV_NEAR && near.has_hot && near.plan->hot)
        return;
    const SpmvBounds bounds =
        early               ? SpmvSearch{a, (uint32_t)all.entry, (uint32_t)all.row}.bounds(tile)
        : FORM == SPMV_NEAR ? SpmvBounds::whole(a, tile, all)
                            : SpmvBounds::known(a, tile, all);
    /* asked by all lanes, so that the compiler does not put off the loads until it is used */
    const uint32_t worth = FORM == SPMV_NEAR ? warp_max(spmv_worth(near.plan)) : 0;
    constexpr bool knows_far = FORM == SPMV_NEAR && sizeof(V) == 8;
    SpmvShare share(a, bounds, all);
    if (!share.is_there)
        return;
    if (FORM == SPMV_PLAIN || sizeof(V) < 8)
        share.make_uniform();
    if (FORM == SPMV_NEAR && worth == 2) {
        share.make_uniform();
        spmv_tile<SPMV_SHAPED, I, V>(a, v, tile, share, s_chunks[warp], cols, near, true, {}, {});
    } else if (knows_far && worth == 0) {
        const I count = spmv_has_bands(near) ? near.band.count : (I) ~(I)0;
        spmv_tile<SPMV_FAR, I, V>(a, v, tile, share, s_chunks[warp], cols, near, false, {},
                                  {0, count});
    } else
        spmv_tile<FORM, I, V>(a, v, tile, share, s_chunks[warp], cols, near, knows_far || worth, {},
                              {});
}

} // namespace GPI_SPACE
