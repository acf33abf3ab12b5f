/* SPDX-License-Identifier: MIT */
/*
 * The buckets of a sort cut into chunks of GPI_GROUP_CHUNK items, and one that may have less. Chunk
 * j of bucket b, which begins at item s, has the number b + s / GPI_GROUP_CHUNK + j, so that no two
 * have the same; numbers that are left over have no items.
 */
#pragma once

#include "device/grid.cuh"
#include "group/group_bucket.cuh"

namespace GPI_SPACE
{

struct BucketParams : RadixBuckets {
    BucketForm form;
    gpi_group_progress *progress;
    const uint64_t *more; /* groups that are there already, if no items are */
    uint32_t *sums;       /* of the groups of GPI_GROUP_CHUNKS chunks */
    bool first, last;     /* of the folds */
    gpi_group_chunk *chunks;
    void *groups, *folds; /* keys, and folds: [chunk][key of it] */

    static GPI_DEVICE uint32_t first_chunk(uint32_t bucket, uint32_t start)
    {
        return bucket + start / GPI_GROUP_CHUNK;
    }

    GPI_DEVICE uint32_t chunk_count() const
    {
        return first_chunk(count(), starts()[count()]);
    }
};

/* Grid: any. After the partitions of a sort: the chunks, or that nothing is tried; *p.progress has
 * begun, and there are no groups. */
__global__ void __launch_bounds__(256) group_chunks_k(const __grid_constant__ BucketParams p)
{
    const uint32_t thread = blockIdx.x * 256 + threadIdx.x, threads = gridDim.x * 256;
    grid_release();
    grid_wait();
    const bool tried = p.may_have_few_keys();
    if (thread == 0) {
        *p.progress = {};
        p.progress->groups = *p.more;
        p.progress->gave_up = !tried;
        p.progress->chunks = tried ? p.chunk_count() : 0;
    }
    if (!tried)
        return;
    const uint32_t *starts = p.starts(), sums = p.chunk_count() / GPI_GROUP_CHUNKS + 1;
    for (uint32_t i = thread; i < sums; i += threads)
        p.sums[i] = 0;
    for (uint32_t b = thread; b < p.count(); b += threads) {
        const uint32_t start = starts[b], end = starts[b + 1];
        const uint32_t parts = (end - start + GPI_GROUP_CHUNK - 1) / GPI_GROUP_CHUNK;
        const uint32_t number = p.first_chunk(b, start);
        uint32_t at = start;
        for (uint32_t i = number; i < p.first_chunk(b + 1, end); i++) {
            const uint32_t count = min(end - at, (uint32_t)GPI_GROUP_CHUNK);
            p.chunks[i] = {at, count, i - number, parts, 0, {0, 0}};
            at += count;
        }
    }
}

} // namespace GPI_SPACE
