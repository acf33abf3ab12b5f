/* SPDX-License-Identifier: MIT */
/* Small kernels of calls over ranks. They read little, so they find out about widths on the way. */
#include <cuda_runtime.h>

#include "device/host.cuh"
#include "device/search.cuh"
#include "dist/dist_cut.cuh"
#include "dist/dist_mail.cuh"
#include "tuning/elementwise_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

GPI_DEVICE uint64_t word_at(const gpi_dist_kernel &k, uint64_t i)
{
    const uint64_t key = integer_at(k.in_bytes, k.in, i);
    return GPI_DIST_WORD(&k.order, k.in_bytes, key);
}

/* A grid of any size: out[i] = keys of a sorted array whose word is below words[i]. */
__global__ void dist_probe_k(gpi_dist_kernel k)
{
#pragma unroll 1
    for (uint64_t i = grid_item(); i < (uint64_t)k.rows; i += grid_items()) {
        const uint64_t word = ((const uint64_t *)k.words)[i];
        ((uint64_t *)k.out)[i] =
            partition_point(k.n, [&](uint64_t at) { return word_at(k, at) < word; });
    }
}

/* A grid of any size: out[i] = the word of key number i of a sample. */
__global__ void dist_sample_k(gpi_dist_kernel k)
{
#pragma unroll 1
    for (uint64_t i = grid_item(); i < (uint64_t)k.rows; i += grid_items())
        ((uint64_t *)k.out)[i] = word_at(k, GPI_DIST_SAMPLED(k.n, k.rows, i));
}

/* A grid of any size: out[i] = the sum over rows of in[r * n + i], and offset. */
__global__ void dist_add_k(gpi_dist_kernel k)
{
#pragma unroll 1
    for (uint64_t i = grid_item(); i < k.n; i += grid_items()) {
        uint64_t sum = k.offset;
#pragma unroll 1
        for (int r = 0; r < k.rows; r++)
            sum += integer_at(k.in_bytes, k.in, (uint64_t)r * k.n + i);
        integer_to(k.out_bytes, k.out, i, sum);
    }
}

/* A grid of any size: columns as places of x, see gpi_dist_renumber(). */
__global__ void dist_renumber_k(gpi_dist_kernel k)
{
#pragma unroll 1
    for (uint64_t i = grid_item(); i < k.n; i += grid_items()) {
        const uint64_t column = integer_at(k.in_bytes, k.in, i);
        const bool is_own = column - k.offset < k.own;
        const uint64_t before = partition_point(is_own ? 0 : k.count, [&](uint64_t at) {
            return integer_at(k.in_bytes, k.words, at) < column;
        });
        integer_to(k.in_bytes, k.out, i, is_own ? column - k.offset : k.own + before);
    }
}

/* Words of a list that are at most that key. */
GPI_DEVICE uint32_t up_to(const uint64_t *list, uint32_t count, uint64_t key)
{
    return partition_point(count, [&](uint32_t i) { return list[i] <= key; });
}

/* Four neighbours, whose numbers of a byte are one word. */
template <class K> struct alignas(16) Four {
    K of[4];
};

/* A grid of any size; 8 KB of shared memory: numbers of rows, see gpi_dist_number_rows(). */
template <class K> __global__ void dist_number_k(gpi_dist_kernel k)
{
    constexpr int AT_ONCE = 4;
    __shared__ uint64_t limits[GP_COMM_RANKS_MAX];
    const K *keys = (const K *)k.in;
    const bool aligned = (uintptr_t)keys % sizeof(uint4) == 0;
    for (int j = (int)threadIdx.x; j < k.rows; j += elementwise_threads)
        limits[j] = ((const uint64_t *)k.words)[j];
    __syncthreads();
    const uint64_t first = limits[0];
    for (uint64_t i = AT_ONCE * grid_item(); i < k.n; i += AT_ONCE * grid_items()) {
        const int here = k.n - i < AT_ONCE ? (int)(k.n - i) : AT_ONCE;
        uint32_t number[AT_ONCE];
        Four<K> key = {};
        if (aligned && here == AT_ONCE)
            key = *(const Four<K> *)(keys + i);
        else
            for (int a = 0; a < here; a++)
                key.of[a] = keys[i + (uint64_t)a];
#pragma unroll
        for (int a = 0; a < AT_ONCE; a++)
            number[a] =
                k.rows == 1 ? first <= key.of[a] : up_to(limits, (uint32_t)k.rows, key.of[a]);
        if (k.out_bytes == 1 && here == AT_ONCE)
            *(uint32_t *)((uint8_t *)k.out + i) =
                number[0] | number[1] << 8 | number[2] << 16 | number[3] << 24;
        else
            for (int a = 0; a < here; a++)
                if (k.out_bytes == 1)
                    ((uint8_t *)k.out)[i + (uint64_t)a] = (uint8_t)number[a];
                else
                    ((uint32_t *)k.out)[i + (uint64_t)a] = number[a];
    }
}

/* count(key) of all keys, by a grid of any size. */
template <class K, class Count> GPI_DEVICE void each_key(const gpi_dist_kernel &k, Count count)
{
    constexpr int AT_ONCE = 8; /* reads that are under way together */
    const K *keys = (const K *)k.in;
    uint64_t i = grid_item();
    for (; i + (AT_ONCE - 1) * grid_items() < k.n; i += AT_ONCE * grid_items()) {
        K key[AT_ONCE];
#pragma unroll
        for (int a = 0; a < AT_ONCE; a++)
            key[a] = keys[i + (uint64_t)a * grid_items()];
#pragma unroll
        for (int a = 0; a < AT_ONCE; a++)
            count(key[a]);
    }
    for (; i < k.n; i += grid_items())
        count(keys[i]);
}

/* A grid of any size; 18 KB of shared memory: keys in parts of intervals, see gpi_dist_count(),
 * are added to out. */
template <class K> __global__ void dist_count_k(gpi_dist_kernel k)
{
    __shared__ uint32_t found[GPI_DIST_PROBES + GP_COMM_RANKS_MAX];
    __shared__ uint64_t starts[GP_COMM_RANKS_MAX];
    const int bins = k.rows << k.step, shift = k.bits - k.step;
    const K last = k.bits ? (K)(~0ull >> (64 - k.bits)) : 0; /* of an interval that begins at 0 */
    for (int b = (int)threadIdx.x; b < bins; b += elementwise_threads)
        found[b] = 0;
    for (int j = (int)threadIdx.x; j < k.rows; j += elementwise_threads)
        starts[j] = ((const uint64_t *)k.words)[j];
    __syncthreads();
    const K first = (K)starts[0];
    if (k.rows == 1)
        each_key<K>(k, [&](K key) {
            const K in = key - first;
            if (in <= last)
                atomicAdd(&found[in >> shift], 1u);
        });
    else
        each_key<K>(k, [&](K key) {
            const uint32_t j = up_to(starts, (uint32_t)k.rows, key);
            const K in = j ? key - (K)starts[j - 1] : 0;
            if (j && in <= last)
                atomicAdd(&found[((j - 1) << k.step) + (uint32_t)(in >> shift)], 1u);
        });
    __syncthreads();
    for (int b = (int)threadIdx.x; b < bins; b += elementwise_threads)
        if (found[b])
            atomicAdd((unsigned long long *)k.out + b, (unsigned long long)found[b]);
}

/* A grid of any size: out[i] = in[i] + offset. */
template <class K> __global__ void dist_copy_k(gpi_dist_kernel k)
{
    constexpr int AT_ONCE = 4; /* reads that are under way together */
    const K *in = (const K *)k.in;
    K *out = (K *)k.out;
    uint64_t i = grid_item();
    for (; i + (AT_ONCE - 1) * grid_items() < k.n; i += AT_ONCE * grid_items()) {
        K x[AT_ONCE];
#pragma unroll
        for (int a = 0; a < AT_ONCE; a++)
            x[a] = in[i + (uint64_t)a * grid_items()];
#pragma unroll
        for (int a = 0; a < AT_ONCE; a++)
            out[i + (uint64_t)a * grid_items()] = x[a] + (K)k.offset;
    }
    for (; i < k.n; i += grid_items())
        out[i] = in[i] + (K)k.offset;
}

/* A grid of any size, with a row of blocks for each rank: copies of n integers of each. */
__global__ void dist_copy_each_k(const __grid_constant__ gpi_dist_cutting from, size_t bytes,
                                 void *out)
{
    const unsigned r = blockIdx.y;
    uint64_t before = 0;
    for (unsigned s = 0; s < r; s++)
        before += from.n[s];
#pragma unroll 1
    for (uint64_t i = grid_item(); i < from.n[r]; i += grid_items())
        integer_to(bytes, out, before + i, integer_at(bytes, from.keys[r], i));
}

} // namespace

/* Blocks on a multiprocessor that count: few, as each adds what it finds to the counts of all. */
constexpr int count_blocks = 4;

/* Blocks that all wait for other GPUs: few of them, so that others' work has room. */
constexpr unsigned mail_blocks_max = 64;

static gp_status mail_launch(gp_context *ctx, const char *function, const gpi_mailing *mailing)
{
    gpi_mailing m = *mailing;
    const size_t bytes = gpi_dtype_bytes(m.dtype);
    const unsigned blocks =
        m.receives && m.use == GPI_MAIL_BEFORE ? elementwise_grid(ctx, m.n, 1) : 1;
    const unsigned grid = blocks < 1 ? 1 : blocks < mail_blocks_max ? blocks : mail_blocks_max;
    if (!gpi_dtype_is_float(m.dtype))
        m.flip = flip_of<uint64_t>(flip_for(m.op, 8 * (int)bytes, gpi_dtype_is_signed(m.dtype))) &
                 ~0ull >> (64 - 8 * bytes);
    const size_t item_bytes = gpi_op_scalars(m.op) * bytes;
    const gpi_launch launch =
        launch_dependent(dist_mail_k, true, grid, elementwise_threads, 0, m, bytes, item_bytes);
    return gpi_launch_all(ctx, function, &launch, 1);
}

static gp_status cut_launch(gp_context *ctx, const char *function, const gpi_dist_kernel &k)
{
    dist_cut_k<<<1, 2 * cut_threads, 0, ctx->stream>>>(*k.cutting, k.order, k.in_bytes,
                                                       (uint64_t *)k.out);
    return gpi_cuda_launched(ctx, function);
}

static gp_status copy_each_launch(gp_context *ctx, const char *function, const gpi_dist_kernel &k)
{
    uint64_t most = 0;
    for (int r = 0; r < k.cutting->ranks; r++)
        most = k.cutting->n[r] > most ? k.cutting->n[r] : most;
    if (most == 0)
        return GP_OK;
    const dim3 grid(elementwise_grid(ctx, most, elementwise_tuning.blocks_per_sm),
                    (unsigned)k.cutting->ranks);
    dist_copy_each_k<<<grid, elementwise_threads, 0, ctx->stream>>>(*k.cutting, k.in_bytes, k.out);
    return gpi_cuda_launched(ctx, function);
}

} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_dist_launch)(gp_context *ctx, const char *function,
                                                   const gpi_dist_kernel *kernel)
{
    using namespace GPI_SPACE;
    gpi_dist_kernel k = *kernel;
    const bool wide = k.in_bytes == 8;
    const auto count = wide ? dist_count_k<uint64_t> : dist_count_k<uint32_t>;
    const auto number = wide ? dist_number_k<uint64_t> : dist_number_k<uint32_t>;
    const auto copy = wide              ? dist_copy_k<uint64_t>
                      : k.in_bytes == 4 ? dist_copy_k<uint32_t>
                                        : dist_copy_k<uint8_t>;
    const auto shift = k.in_bytes == k.out_bytes ? copy : dist_add_k;
    void (*const kernels[])(gpi_dist_kernel) = {
        dist_probe_k, dist_sample_k,   copy,   nullptr, nullptr, shift,
        dist_add_k,   dist_renumber_k, number, count}; /* as enum gpi_dist_task */
    if (k.task == GPI_DIST_MAIL)
        return mail_launch(ctx, function, k.mailing);
    if (k.task == GPI_DIST_CUT)
        return cut_launch(ctx, function, k);
    if (k.task == GPI_DIST_COPY_EACH)
        return copy_each_launch(ctx, function, k);
    if (k.task == GPI_DIST_SHIFT)
        k.rows = 1;
    const bool words = k.task == GPI_DIST_PROBE || k.task == GPI_DIST_SAMPLE;
    const uint64_t threads = words ? (uint64_t)k.rows : k.n;
    const unsigned grid = elementwise_grid(
        ctx, threads, k.task == GPI_DIST_COUNT ? count_blocks : elementwise_tuning.blocks_per_sm);
    kernels[k.task]<<<grid, elementwise_threads, 0, ctx->stream>>>(k);
    return gpi_cuda_launched(ctx, function);
}
