/* SPDX-License-Identifier: MIT */
/*
 * The buckets of a sort cut into chunks of GPI_GROUP_CHUNK items, and one that may have less. Chunk
 * j of bucket b, which begins at item s, has the number b + s / GPI_GROUP_CHUNK + j, so that no two
 * have the same; numbers that are left over have no items.
 */
#pragma once

#include "group/group_bucket.cuh"

namespace GPI_SPACE
{

struct BucketParams : RadixBuckets {
    BucketForm form;
    gpi_group_progress *progress;
    uint32_t *sums;   /* of the groups of GPI_GROUP_CHUNKS chunks */
    bool first, last; /* of the folds */
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

/* Grid: any. After the partitions of a sort, and zeros in *p.progress: the chunks, or that there
 * are none. */
__global__ void __launch_bounds__(256) group_chunks_k(const __grid_constant__ BucketParams p)
{
    const uint32_t thread = blockIdx.x * 256 + threadIdx.x, *starts = p.starts();
    if (!p.any()) {
        if (thread == 0)
            p.progress->gave_up = 1;
        return;
    }
    if (thread == 0)
        p.progress->chunks = p.chunk_count();
    for (uint32_t b = thread; b < p.count(); b += gridDim.x * 256) {
        const uint32_t start = starts[b], end = starts[b + 1];
        uint32_t parts = (end - start + GPI_GROUP_CHUNK - 1) / GPI_GROUP_CHUNK, at = start;
        if (parts > 1 && !p.one_key())
            p.progress->gave_up = 1;
        for (uint32_t i = p.first_chunk(b, start); i < p.first_chunk(b + 1, end); i++) {
            const uint32_t count = min(end - at, (uint32_t)GPI_GROUP_CHUNK);
            p.chunks[i] = {at, count, 0, parts};
            at += count, parts = 0;
        }
    }
}

} // namespace GPI_SPACE
