/* SPDX-License-Identifier: MIT */
/* Launches of sorts of few items (radixsort_rank_k.cuh), and how many those are. On the host. */
#pragma once

#include <algorithm>

#include "radixsort/radixsort_launch.cuh"
#include "radixsort/radixsort_rank_k.cuh"

namespace GPI_SPACE
{
namespace
{

constexpr int rank_threads = 1024, piece_threads = 512;

/* Rows of 32 items that a block ranks. */
static int ranked_rows(const gp_context *ctx, int n)
{
    const int rows = (n + 31) / 32;
    return std::min((rows + ctx->sm_count - 1) / ctx->sm_count, rank_threads / 32);
}

static int ranking_blocks(const gp_context *ctx, int n)
{
    const int each = 32 * ranked_rows(ctx, n);
    return (n + each - 1) / each;
}

/* If in place, all blocks have to be there at once. */
static bool sorts_by_ranks(const gp_context *ctx, const RadixKeys<Key> &job)
{
    return job.n * sizeof(RadixWord<Key>) <= radix_tuning.ranked_bytes &&
           RankItems<Key, rank_threads>::bytes((int)job.n) <= radix_tuning.shared_bytes &&
           !(job.in_place && ranking_blocks(ctx, (int)job.n) > ctx->sm_count);
}

static gp_status set_met(gp_context *ctx, const char *function, RadixKeys<Key> &job)
{
    gpi_state state;
    GPI_TRY(gpi_state_get(ctx, function, 1, &state));
    job.met = LastingBarrier::of(state);
    return GP_OK;
}

template <int VB>
gp_status add_ranks(gp_context *ctx, const char *function,
                    RadixJob<Key, typename Payload<VB>::type> &job, LaunchList &list)
{
    const int n = (int)job.n, shared = RankItems<Key, rank_threads>::bytes(n);
    static uint64_t allowed;
    auto kernel = radix_rank_k<Key, has_floats, VB, rank_threads>;
    GPI_TRY(shared_memory_allow(ctx, function, kernel, radix_tuning.shared_bytes, &allowed));
    if (job.in_place)
        GPI_TRY(set_met(ctx, function, job));
    gpi_launch launch =
        launch_of(kernel, (unsigned)ranking_blocks(ctx, n), rank_threads, shared, job);
    launch.cooperative = job.in_place;
    list.add(launch);
    return GP_OK;
}

static int piece_blocks(const gp_context *ctx, int n)
{
    return std::min({ctx->sm_count, pieces_max, (n + Pieces::least - 1) / Pieces::least});
}

template <int VB> int pieces_shared_bytes(const gp_context *ctx, int n)
{
    using Work = PiecesKernel<Key, has_floats, VB, piece_threads>;
    const int blocks = piece_blocks(ctx, n);
    return Work::shared_bytes(blocks, Pieces::bucket_max(n, blocks));
}

/* How many of n items may be sorted by pieces, if there is a temporary array. */
template <int VB> uint32_t items_by_pieces(const gp_context *ctx, uint64_t n)
{
    const int most = (int)std::min(n, radix_tuning.piece_items);
    return pieces_shared_bytes<VB>(ctx, most) <= radix_tuning.shared_bytes ? (uint32_t)most : 0;
}

/* Up to job.one_bucket_max items; if there are more, it does nothing. */
template <int VB>
gp_status add_pieces(gp_context *ctx, const char *function,
                     RadixJob<Key, typename Payload<VB>::type> &job, LaunchList &list)
{
    static uint64_t allowed;
    auto kernel = radix_pieces_k<Key, has_floats, VB, piece_threads>;
    const int most = (int)job.one_bucket_max;
    GPI_TRY(set_met(ctx, function, job));
    GPI_TRY(shared_memory_allow(ctx, function, kernel, radix_tuning.shared_bytes, &allowed));
    list.add(launch_cooperative(kernel, (unsigned)piece_blocks(ctx, most), piece_threads,
                                pieces_shared_bytes<VB>(ctx, most), job));
    return GP_OK;
}

} // namespace
} // namespace GPI_SPACE
