/* SPDX-License-Identifier: MIT */
/* The groups that chunks of buckets have (group_bucket_k.cuh), to their places in the output. Where
 * a bucket of one key has several chunks, their folds become one. */
#pragma once

#include "device/report.cuh"
#include "group/group_bucket.cuh"

namespace GPI_SPACE
{

/* What chunks have of their groups, and where it belongs. */
struct PlacesArray {
    const void *from;
    void *to;       /* or NULL */
    uint32_t bytes; /* 4 or 8, of an item */
    bool joins;     /* parts are folded */
    BucketForm form;
};

struct PlacesParams {
    const gpi_group_progress *progress;
    const uint32_t *sums;
    const gpi_group_chunk *chunks;
    PlacesArray arrays[1 + GPI_GROUP_BUCKET_FOLDS]; /* keys, and folds */
    int count;
    uint64_t capacity;
    uint64_t *out_count;
    gpi_reporter reporter;
};

constexpr int places_threads = 256;

struct GroupPlaces {
    static constexpr int T = places_threads, D = bucket_keys, C = GPI_GROUP_CHUNKS;
    static_assert(C <= T, "a thread for each chunk");
    struct Shared {
        uint32_t total[T / 32], place[C], groups[C], parts[C];
    };

    const PlacesParams &p;
    Shared &s;

    /* By a warp: the only fold of a chunk and of those behind it that are of the same bucket. */
    template <class Cell>
    GPI_DEVICE void join(const PlacesArray &a, uint64_t chunk, uint32_t parts, uint64_t place) const
    {
        const Cell *from = (const Cell *)a.from + chunk * D;
        by_operator<Cell>(a.form, [&](auto op) {
            using Op = decltype(op);
            using A = Operand<Op>;
            A x = Op::identity();
#pragma unroll 1
            for (uint64_t j = lane_id(); j < parts; j += 32)
                x = Op::apply(x, bits_as<A>(from[j * D]));
            x = item_flipped<Op, A>(warp_reduce<Op>(x), a.form.flip);
            if (lane_id() == 0 && place < p.capacity)
                ((Cell *)a.to)[place] = bits_as<Cell>(x);
        });
    }

    template <class Cell>
    GPI_DEVICE void store(const PlacesArray &a, uint64_t chunk, uint32_t i, uint64_t place) const
    {
        const Cell *from = (const Cell *)a.from + chunk * D;
        if (a.joins && s.parts[i] > 1)
            return join<Cell>(a, chunk, s.parts[i], place);
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
        gpi_group_chunk c = {};
        if (t < C && first + t < chunks)
            c = p.chunks[first + t];
        const uint2 sums = block_sums<T>(c.groups, s.total);
        if (t < C)
            s.groups[t] = c.groups, s.parts[t] = c.parts, s.place[t] = before + sums.x;
        __syncthreads();
        for (uint32_t i = t / 32; i < C; i += T / 32)
            for (int a = 0; a < p.count && s.groups[i]; a++)
                if (p.arrays[a].bytes == 4)
                    store<uint32_t>(p.arrays[a], first + i, i, s.place[i]);
                else
                    store<uint64_t>(p.arrays[a], first + i, i, s.place[i]);
        if (t > 0 || chunks - 1 - first >= C)
            return;
        *p.out_count = before + sums.y;
        if (before + sums.y > p.capacity)
            report(p.reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, before + sums.y, p.capacity);
    }
};

/* Grid: a block for GPI_GROUP_CHUNKS chunks. After, where chunks have all groups: the output. */
__global__ void __launch_bounds__(places_threads)
    group_places_k(const __grid_constant__ PlacesParams p)
{
    __shared__ GroupPlaces::Shared shared;
    if (p.progress->folded && blockIdx.x * GPI_GROUP_CHUNKS < p.progress->chunks)
        GroupPlaces{p, shared}.run();
}

} // namespace GPI_SPACE
