/* SPDX-License-Identifier: MIT */
/*
 * Counting sort of buckets of any size, of keys alone that differ in their lowest 16 bits at most.
 *
 * Counts of all 2^16 values have 8 bits each. If one overflows, their sum is less than the number
 * of items; then the values are counted once more, in four parts, by counts of 32 bits.
 */
#pragma once

#include "device/grid.cuh"
#include "radixsort/radixsort_bucket_global.cuh"

namespace GPI_SPACE
{

template <class K, int T> struct ValueBucket {
    static constexpr int warps = T / 32, table_words = 1 << (radix_value_bits - 2);
    static constexpr int rows = table_words / 128 / warps; /* of 32 quads of words, of a warp */
    static constexpr uint32_t window = 256;                /* items that a warp marks at once */
    static_assert(rows * 128 * warps == table_words, "a warp's share is whole rows");
    static_assert(window == 32 * 8, "a lane clears 16 bytes of marks");

    struct Shared {
        alignas(16) uint32_t table[table_words];
        alignas(16) uint16_t stage[warps][window]; /* marks: values in a row, plus 1; 0: none */
        uint32_t total[warps];
        uint32_t next; /* bucket */
    };

    const RadixKeys<K> &job;
    Shared &s;
    K base; /* the bits that all words share */
    uint32_t mask;

    GPI_DEVICE uint32_t value(K key) const
    {
        return (uint32_t)job.order.template word_alone<true>(key) & mask;
    }

    /* Counts the values from begin on, as many as the table has room for. */
    template <int BITS> GPI_DEVICE void count(const K *keys, uint32_t items, uint32_t begin) const
    {
        constexpr uint32_t in_word = 32 / BITS;
        constexpr int batch = 8;
        for (int i = threadIdx.x; i < table_words / 4; i += T)
            ((uint4 *)s.table)[i] = make_uint4(0, 0, 0, 0);
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < items; i += batch * T) {
            K key[batch];
#pragma unroll
            for (uint32_t j = 0; j < batch; j++)
                key[j] = i + j * T < items ? keys[i + j * T] : (K)0;
#pragma unroll
            for (uint32_t j = 0; j < batch; j++) {
                const uint32_t v = value(key[j]) - begin;
                if (i + j * T < items && v < table_words * in_word)
                    atomicAdd(&s.table[v / in_word], 1u << v % in_word * BITS);
            }
        }
        __syncthreads();
    }

    /* Four words of the table: a lane's part of a row of its warp's share. */
    GPI_DEVICE uint4 quad(int row) const
    {
        const int warp = (int)threadIdx.x / 32;
        return ((const uint4 *)s.table)[(warp * rows + row) * 32 + lane_id()];
    }

    template <int BITS> static GPI_DEVICE uint32_t sum_of(uint4 q)
    {
        if (BITS == 32)
            return q.x + q.y + q.z + q.w;
        auto bytes = [](uint32_t word, uint32_t sum) { return __dp4a(word, 0x01010101u, sum); };
        return bytes(q.x, bytes(q.y, bytes(q.z, bytes(q.w, 0u))));
    }

    /* The sums of the counts before this warp's share of the table, and of all counts. */
    template <int BITS> GPI_DEVICE uint2 sums() const
    {
        uint32_t sum = 0;
        for (int row = 0; row < rows; row++)
            sum += sum_of<BITS>(quad(row));
        sum = warp_sum(sum);
        if (lane_id() == 0)
            s.total[threadIdx.x / 32] = sum;
        __syncthreads();
        const uint32_t total = lane_id() < warps ? s.total[lane_id()] : 0;
        return {warp_sum(lane_id() < threadIdx.x / 32 ? total : 0), warp_sum(total)};
    }

    GPI_DEVICE K key(uint32_t v) const
    {
        return job.order.template key<true>((K)(base | v));
    }

    /* Marks the first item of each value of a lane's quad in the window from w on; at: the first
     * item of the quad. */
    template <int BITS>
    static GPI_DEVICE void mark(uint16_t *stage, uint4 q, uint32_t at, uint32_t w)
    {
        constexpr uint32_t in_word = 32 / BITS;
        const uint32_t words[4] = {q.x, q.y, q.z, q.w}, first = lane_id() * 4 * in_word + 1;
#pragma unroll
        for (uint32_t i = 0; i < 4; i++)
#pragma unroll
            for (uint32_t b = 0; b < in_word; b++) {
                const uint32_t items = words[i] >> b * BITS & 0xffffffffu >> (32 - BITS);
                if (items && at + items > w && at < w + window)
                    stage[max(at, w) - w] = (uint16_t)(first + i * in_word + b);
                at += items;
            }
    }

    /* Writes the counted values, which begin at `begin`: each warp those of its share of the table,
     * row by row. In a window of the output the first item of each value is marked; a running
     * maximum gives the other items the last mark before them. */
    template <int BITS> GPI_DEVICE void write(K *to, uint32_t before, uint32_t begin) const
    {
        constexpr uint32_t in_row = 32 * 4 * 32 / BITS;
        const uint32_t warp = threadIdx.x / 32;
        uint16_t *stage = s.stage[warp];
        for (int row = 0; row < rows; row++) {
            const uint4 q = quad(row);
            const uint32_t sum = sum_of<BITS>(q), upto = warp_running_sum(sum);
            const uint32_t all = __shfl_sync(all_lanes, upto, 31);
            const uint32_t first = begin + (warp * rows + row) * in_row;
            for (uint32_t w = 0; w < all; w += window) {
                ((uint4 *)stage)[lane_id()] = make_uint4(0, 0, 0, 0);
                __syncwarp();
                mark<BITS>(stage, q, upto - sum, w);
                __syncwarp();
                uint32_t last = 0;
                for (uint32_t p = 0; p < window && w + p < all; p += 32) {
                    const uint32_t own = max(warp_running_max(stage[p + lane_id()]), last);
                    last = __shfl_sync(all_lanes, own, 31);
                    if (w + p + lane_id() < all)
                        __stcs(to + before + w + p + lane_id(), key(first + own - 1));
                }
                __syncwarp();
            }
            before += all;
        }
    }

    /* Sorts a bucket by a block, to the output, where it may lie already. */
    GPI_DEVICE void sort(uint32_t from, uint64_t first, uint32_t items) const
    {
        const K *keys = job.keys[from] + first;
        K *out = job.keys[gpi_radix_out] + first;
        count<8>(keys, items, 0);
        const uint2 sum = sums<8>();
        if (sum.y == items) {
            write<8>(out, sum.x, 0);
            return;
        }
        K *to = from == gpi_radix_out ? job.keys[gpi_radix_tmp] + first : out;
        uint32_t before = 0;
        for (uint32_t begin = 0; begin <= mask; begin += table_words) {
            __syncthreads();
            count<32>(keys, items, begin);
            const uint2 part = sums<32>();
            write<32>(to, before + part.x, begin);
            before += part.y;
        }
        __syncthreads();
        if (to != out)
            copy_items<T>(to, 0, items, out);
    }
};

/* Grid: any; blocks claim buckets. */
template <class K, int T>
__global__ void __launch_bounds__(T, 3) radix_values_k(const __grid_constant__ RadixKeys<K> job)
{
    extern __shared__ __align__(16) char memory[];
    auto &s = *(typename ValueBucket<K, T>::Shared *)memory;
    const gpi_radix_plan &plan = *job.plan;
    if (plan.route != gpi_radix_route_buckets)
        return;
    const uint32_t buckets = 1u << plan.bits, from = job.buckets_place(plan.shift, plan.bits);
    const int bits = (int)plan.shift - job.begin;
    if (bits == 0) { /* all are in order */
        const uint64_t threads = (uint64_t)gridDim.x * T, end = from == gpi_radix_tmp ? job.n : 0;
        for (uint64_t i = (uint64_t)blockIdx.x * T + threadIdx.x; i < end; i += threads)
            job.keys[gpi_radix_out][i] = job.keys[from][i];
        return;
    }
    for (uint32_t number = blockIdx.x; number < buckets;) {
        const uint64_t first = job.bucket_starts()[number], end = job.bucket_starts()[number + 1];
        if (first < end) {
            const uint32_t mask = (1u << bits) - 1;
            const K word = job.order.template word_alone<true>(job.keys[from][first]);
            ValueBucket<K, T>{job, s, (K)(word & ~mask), mask}.sort(from, first,
                                                                    (uint32_t)(end - first));
        }
        __syncthreads();
        if (threadIdx.x == 0)
            s.next = gridDim.x + atomicAdd(&job.plan->buckets_claimed, 1u);
        __syncthreads();
        number = s.next;
    }
}

template <class K> gp_status add_values(CallLaunches &list, const RadixKeys<K> &job)
{
    constexpr int T = 512, blocks_per_sm = 3;
    constexpr int shared = sizeof(typename ValueBucket<K, T>::Shared);
    static uint64_t allowed;
    auto kernel = radix_values_k<K, T>;
    const unsigned blocks = blocks_per_sm * (unsigned)list.ctx->sm_count;
    return list.add_with(shared, &allowed, launch_of(kernel, blocks, T, shared, job));
}

} // namespace GPI_SPACE
