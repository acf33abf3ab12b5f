/* SPDX-License-Identifier: MIT */
/*
 * COO to CSR: entries that are in order, without duplicates, and stay where they are.
 *
 * A block has three tiles in shared memory: one is looked at, the next one comes
 * (device/stage_load.cuh), and the one before leaves. No block waits for another. Columns and
 * values leave as they came, by bulk copies where the arrays are aligned alike.
 */
#pragma once

#include "csr/csr_write_kernels.cuh"
#include "device/bulk_store.cuh"
#include "device/ring.cuh"
#include "device/stage_load.cuh"

namespace GPI_SPACE
{

constexpr int ordered_warps = 4, ordered_threads = ordered_warps * 32;
constexpr int ordered_arrays = 3; /* rows, columns, values */
constexpr int ordered_stages = GPI_SM >= 80 ? 3 : 1;
template <class I> constexpr uint32_t ordered_tile = EntrySegment<I>::entries *ordered_warps;

/* Of a stage: for each array the bytes before a tile that fit 16, those of the tile, and what
 * completes 16 at both ends. */
__host__ __device__ constexpr uint32_t ordered_room(uint32_t tile, uint32_t item_bytes)
{
    return tile * item_bytes + 128; /* at least 48 */
}

template <class I> __host__ __device__ constexpr uint32_t ordered_stage(uint32_t value_bytes)
{
    return 2 * ordered_room(ordered_tile<I>, sizeof(I)) +
           ordered_room(ordered_tile<I>, value_bytes);
}

/* Entries of a tile in shared memory, and of the 16 bytes before it. */
template <class I> struct StagedEntries {
    const I *rows, *cols;
    uint64_t first;

    GPI_DEVICE void load(uint64_t i, I &row, I &col) const
    {
        row = rows[(uint32_t)(i - first)];
        col = cols[(uint32_t)(i - first)];
    }

    GPI_DEVICE uint64_t row(uint64_t i) const
    {
        return rows[(uint32_t)(i - first)];
    }
};

/* Shared memory that a tile was loaded to, by a block. */
GPI_DEVICE void store_staged(const char *from, char *to, uint32_t bytes)
{
    const uint32_t misfit = (uint32_t)((uintptr_t)from | (uintptr_t)to | bytes);
    uint32_t head = min(-misalignment(to) & 15u, bytes), middle = (bytes - head) / 16 * 16;
    if (misalignment(from) != misalignment(to)) {
        head = misfit % 4 ? bytes : 0;
        middle = 0;
        for (uint32_t i = threadIdx.x * 4; i + head < bytes; i += ordered_threads * 4)
            __stcs((uint32_t *)(to + i), *(const uint32_t *)(from + i));
        bytes = head;
    }
#if GPI_SM >= 90
    if (threadIdx.x == 0 && middle)
        bulk_store(to + head, from + head, middle);
#else
    for (uint32_t i = head + threadIdx.x * 16; i < head + middle; i += ordered_threads * 16)
        __stcs((uint4 *)(to + i), *(const uint4 *)(from + i));
#endif
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < bytes - middle; i += ordered_threads)
        to[i < head ? i : i + middle] = from[i < head ? i : i + middle];
}

/* The tiles of a block. */
template <class I, class O> struct OrderedTiles {
    static constexpr int pending = ordered_stages > 2 ? ordered_stages - 2 : 0; /* of stores */
    static constexpr uint32_t tile = ordered_tile<I>;
    static constexpr uint32_t lead = 16 / sizeof(I);

    const GivenEntries<I> &in;
    const WriteArgs<I, O> &a;
    char *ring;
    uint64_t *loaded;

    GPI_DEVICE char *stage(int s) const
    {
        return ring + s * ordered_stage<I>(a.value_bytes);
    }

    GPI_DEVICE static uint32_t before(uint64_t t)
    {
        return t ? lead : 0;
    }

    GPI_DEVICE uint32_t count(uint64_t t) const
    {
        return (uint32_t)min(a.shape.n - t * tile, (uint64_t)tile);
    }

    /* Array k: rows, columns, values. Of the first two also the 16 bytes before a tile. */
    GPI_DEVICE StageSpan span(uint64_t t, int s, int k) const
    {
        const uint32_t item_bytes = k < 2 ? sizeof(I) : a.value_bytes;
        const uint32_t more = k < 2 ? before(t) : 0;
        const void *array = k == 0 ? in.rows : k == 1 ? in.cols : (const void *)a.values;
        const uint64_t begin = t * tile - more;
        return StageLoader<1>::span(
            stage(s) + k * ordered_room(tile, sizeof(I)), (const char *)array + begin * item_bytes,
            (more + count(t)) * item_bytes, t == 0, (a.shape.n - begin) * item_bytes);
    }

    /* By the first warp, once all are done with the stage. */
    GPI_DEVICE void load(uint64_t t, int s) const
    {
#if GPI_SM >= 90
        if (threadIdx.x == 0)
            bulk_stores_read<pending>();
        __syncwarp();
#endif
#pragma unroll 1 /* one copy of what the loop has */
        for (int k = 0; k < ordered_arrays; k++)
            StageLoader<1>().load(&loaded[s], span(t, s, k));
    }

    GPI_DEVICE StagedEntries<I> entries(uint64_t t, int s) const
    {
        const char *rows = stage(s), *cols = rows + ordered_room(tile, sizeof(I));
        return {(const I *)(rows + misalignment(in.rows)),
                (const I *)(cols + misalignment(in.cols)), t * tile - before(t)};
    }

    /* Columns and values, by the block. */
    GPI_DEVICE void store(uint64_t t, int s) const
    {
        const char *const cols = (const char *)(entries(t, s).cols + before(t));
        const char *const values = stage(s) + 2 * ordered_room(tile, sizeof(I));
#pragma unroll 1
        for (int k = 0; k < 2; k++) {
            const uint32_t item_bytes = k ? a.value_bytes : sizeof(I);
            store_staged(k ? values + misalignment(a.values) : cols,
                         (k ? a.out_values : (char *)a.out_cols) + t * tile * item_bytes,
                         count(t) * item_bytes);
        }
#if GPI_SM >= 90
        if (threadIdx.x == 0)
            bulk_commit();
#endif
    }
};

/* Whether another block has found that entries cannot stay. */
template <class I, class O> GPI_DEVICE bool is_left(const WriteArgs<I, O> &a)
{
    const volatile uint64_t *u = a.unsorted;
    return u[0] | u[1] | u[2];
}

/* By a block that has found it among its entries, or that stops. Where a row goes on for more
 * entries than are sorted by themselves, they do not have to be tried. */
template <class I, class O>
GPI_DEVICE void leave(const WriteArgs<I, O> &a, const GivenEntries<I> &in, uint64_t entry,
                      bool stop, bool wrong, bool cols_fall)
{
    cols_fall = __syncthreads_or(cols_fall);
    wrong = __syncthreads_or(wrong);
    if (threadIdx.x || stop)
        return;
    volatile uint64_t *const u = a.unsorted;
    const uint64_t n = a.shape.n, later = entry + a.longest_row;
    const bool is_long = later < n && in.row(entry) == in.row(later);
    const bool by_row = cols_fall && a.sorted_cols && !is_long;
    u[wrong || (cols_fall && !by_row) ? 0 : cols_fall ? 2 : 1] = n;
    if (by_row && !wrong)
        u[3] = a.shape.num_rows;
}

/*
 * Grid: any; ordered_threads threads, ordered_stages stages of shared memory. After: columns,
 * values, pointers but for what is left to csr_fill_k, and *out_nnz; or one of a.unsorted says what
 * is to be done.
 */
template <class I, class O>
__global__ __launch_bounds__(ordered_threads, 4) void csr_ordered_k(GivenEntries<I> in,
                                                                    WriteArgs<I, O> a)
{
    extern __shared__ __align__(128) char memory[];
    __shared__ uint64_t loaded[ordered_stages];
    a.shape.take_counts();
    const uint64_t n = a.shape.n, tiles = n / ordered_tile<I> + 1;
    const OrderedTiles<I, O> block = {in, a, memory, loaded};
    const bool loads = threadIdx.x < 32;
    if (threadIdx.x < ordered_stages)
        barrier_init(&loaded[threadIdx.x], ordered_arrays * barrier_warp_arrivals);
    barrier_init_done();
    __syncthreads();
    RingTurn<ordered_stages> turn, loading;
    constexpr uint32_t ahead = ordered_stages > 1; /* tiles */
    for (uint64_t coming = blockIdx.x;; coming += gridDim.x) {
        if (loads && coming < tiles)
            block.load(coming, loading.stage);
        loading.next();
        if (coming < ahead * gridDim.x)
            continue;
        const uint64_t tile = coming - ahead * gridDim.x;
        if (tile >= tiles)
            break;
        const int stage = turn.stage;
        const uint32_t parity = turn.parity;
        turn.next();
        const bool stop = threadIdx.x == 0 && is_left(a);
        barrier_wait(&loaded[stage], parity);
        const StagedEntries<I> from = block.entries(tile, stage);
        EntrySegment<I> e(from, tile * ordered_tile<I> + threadIdx.x / 32 * e.entries, n);
        const bool wrong = e.template find<true>(a.shape, a.merged);
        const bool again = lane_id() < e.steps && e.heads != e.kept();
        if (__syncthreads_or(stop || wrong || e.cols_fall || again)) {
            if (ahead && coming < tiles)
                barrier_wait(&loaded[turn.stage], turn.parity); /* nothing is on the way */
            leave(a, in, tile * ordered_tile<I>, stop, wrong || (again && a.duplicates_are_errors),
                  e.cols_fall);
            break;
        }
        if (e.has_end && a.out_nnz && lane_id() == 31)
            *a.out_nnz = n;
        block.store(tile, stage);
        if (a.out_pointers)
            e.write_pointers(from, e.begin, 32 * lane_id(), a.shape.num_rows, a.out_pointers);
        __syncthreads(); /* the stage is read */
    }
#if GPI_SM >= 90
    if (threadIdx.x == 0)
        bulk_stores_read<0>();
#endif
}

} // namespace GPI_SPACE
