/* SPDX-License-Identifier: MIT */
/* The groups that first chunks of buckets have (group_bucket_k.cuh), to their places. */
#pragma once

#include "device/grid.cuh"
#include "device/report.cuh"
#include "group/group_bucket.cuh"

namespace GPI_SPACE
{

/* What chunks have of their groups, and where it belongs. */
struct PlacesArray {
    const void *from;
    void *to;       /* or NULL */
    uint32_t bytes; /* 4 or 8, of an item */
};

struct PlacesParams {
    gpi_group_progress *progress;
    const uint32_t *sums;
    const gpi_group_chunk *chunks;
    PlacesArray arrays[1 + GPI_GROUP_BUCKET_FOLDS]; /* keys, and folds */
    int count;
    uint64_t capacity;
    gpi_reporter reporter;
};

constexpr int places_threads = 256;

struct GroupPlaces {
    static constexpr int T = places_threads, D = bucket_keys, C = GPI_GROUP_CHUNKS;
    static_assert(C <= T, "a thread for each chunk");
    struct Shared {
        uint32_t total[T / 32], place[C], groups[C];
    };

    const PlacesParams &p;
    Shared &s;

    template <class Cell>
    GPI_DEVICE void store(const PlacesArray &a, uint64_t chunk, uint32_t i, uint64_t place) const
    {
        const Cell *from = (const Cell *)a.from + chunk * D;
#pragma unroll 1
        for (uint32_t k = lane_id(); k < s.groups[i] && place + k < p.capacity; k += 32)
            ((Cell *)a.to)[place + k] = from[k];
    }

    /* A block takes C chunks. */
    GPI_DEVICE void run() const
    {
        const uint32_t chunks = p.progress->chunks, first = blockIdx.x * C, t = threadIdx.x;
        uint32_t sum = 0;
        for (uint32_t i = t; i < blockIdx.x; i += T)
            sum += p.sums[i];
        const uint32_t before = block_sums<T>(sum, s.total).y;
        uint32_t groups = 0;
        if (t < C && first + t < chunks && p.chunks[first + t].part == 0)
            groups = p.chunks[first + t].groups;
        const uint2 sums = block_sums<T>(groups, s.total);
        if (t < C)
            s.groups[t] = groups, s.place[t] = before + sums.x;
        __syncthreads();
        for (uint32_t i = t / 32; i < C; i += T / 32)
            for (int a = 0; a < p.count && s.groups[i]; a++)
                if (p.arrays[a].bytes == 4)
                    store<uint32_t>(p.arrays[a], first + i, i, s.place[i]);
                else
                    store<uint64_t>(p.arrays[a], first + i, i, s.place[i]);
        if (t > 0 || chunks - 1 - first >= C)
            return;
        p.progress->groups = before + sums.y;
        if (before + sums.y > p.capacity)
            report(p.reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, before + sums.y, p.capacity);
    }
};

/* Grid: a block for GPI_GROUP_CHUNKS chunks. After, where chunks have all groups: the output. */
__global__ void __launch_bounds__(places_threads)
    group_places_k(const __grid_constant__ PlacesParams p)
{
    __shared__ GroupPlaces::Shared shared;
    grid_wait();
    if (p.progress->folded && blockIdx.x * GPI_GROUP_CHUNKS < p.progress->chunks)
        GroupPlaces{p, shared}.run();
}

} // namespace GPI_SPACE
