/* SPDX-License-Identifier: MIT */
/* Words out of parts, and what is decided by them, on CUDA. */
#include <cuda_runtime.h>

#include "device/elementwise.cuh"
#include "device/item_count.cuh"
#include "device/warp.cuh"
#include "tuning/elementwise_tuning.cuh"

extern "C" {
#include "lexsort/lexsort_parts_internal.h"
}

namespace GPI_SPACE
{
namespace
{

constexpr int batch = 4; /* items of a thread that are read at a time */

/* state->varying[p] |= bits in which words of part p differ from the first item's.
 * Grid: any, by parts. */
__global__ void __launch_bounds__(elementwise_threads)
    lex_vary_k(const __grid_constant__ gpi_lex_parts parts, ItemCount count, gpi_lex_state *state)
{
    const uint64_t n = item_count(count), step = grid_items();
    const gpi_lex_part part = parts.part[blockIdx.y];
    const uint64_t first = gpi_lex_load(&part, 0);
    uint64_t varying = 0;
    for (uint64_t i = grid_item(); i < n; i += batch * step) {
        uint64_t x[batch];
#pragma unroll
        for (int k = 0; k < batch; k++)
            x[k] = i + k * step < n ? gpi_lex_load(&part, i + k * step) : first;
#pragma unroll
        for (int k = 0; k < batch; k++)
            varying |= gpi_lex_word_of(&part, x[k]) ^ gpi_lex_word_of(&part, first);
    }
#pragma unroll
    for (int d = 16; d; d >>= 1)
        varying |= __shfl_xor_sync(all_lanes, varying, d);
    if (lane_id() == 0 && varying)
        atomicOr((unsigned long long *)&state->varying[blockIdx.y], (unsigned long long)varying);
}

/* Whether two items of a sample agree in the highest bits, for all threads. Of one block. */
GPI_DEVICE bool sample_repeats(const gpi_lex_parts &parts, const gpi_lex_plan &plan, uint64_t n,
                               uint32_t *table)
{
    const uint64_t samples = n < GPI_LEX_SAMPLE ? n : GPI_LEX_SAMPLE;
    bool repeats = false;
    for (uint32_t i = threadIdx.x; i < GPI_LEX_TABLE; i += blockDim.x)
        table[i] = 0;
    __syncthreads();
    for (uint64_t i = threadIdx.x; i < samples; i += blockDim.x) {
        const uint64_t key = gpi_lex_key(&parts, &plan, (int)plan.total - 64, i * n / samples);
        const uint32_t tag = gpi_lex_tag(key);
        uint32_t at = tag / (uint32_t)(((uint64_t)1 << 32) / GPI_LEX_TABLE), there;
        while ((there = atomicCAS(&table[at], 0u, tag)) != 0 && there != tag)
            at = (at + 1) % GPI_LEX_TABLE;
        repeats = repeats || there == tag;
    }
    return __syncthreads_or(repeats);
}

/* The plan, and the items of each step. Grid: one block. */
__global__ void __launch_bounds__(1024) lex_plan_k(const __grid_constant__ gpi_lex_parts parts,
                                                   ItemCount count, int slots, gpi_lex_state *state)
{
    __shared__ gpi_lex_plan plan;
    __shared__ uint32_t table[GPI_LEX_TABLE];
    const uint64_t n = item_count(count);
    if (threadIdx.x == 0) {
        gpi_lex_plan_of(state->varying, parts.count, &plan);
        state->plan = plan;
    }
    if (threadIdx.x < parts.count) {
        const gpi_lex_part &part = parts.part[threadIdx.x];
        state->first[threadIdx.x] = gpi_lex_word_of(&part, gpi_lex_load(&part, 0));
    }
    __syncthreads();
    const bool repeats = plan.total > 64 && sample_repeats(parts, plan, n, table);
    if (threadIdx.x == 0)
        gpi_lex_decide(state, slots, n, repeats);
}

/* The item whose word is word i. */
GPI_DEVICE uint64_t item_of(const gpi_lex_pack &k, bool starts, uint64_t i)
{
    if (!k.indices)
        return i;
    if (k.index_bytes == 4) {
        uint32_t *const at = (uint32_t *)k.indices + i;
        if (!starts)
            return *at;
        *at = (uint32_t)i;
    } else {
        uint64_t *const at = (uint64_t *)k.indices + i;
        if (!starts)
            return *at;
        *at = i;
    }
    return i;
}

/* words[i] = 64 bits of the key of item i, or of item indices[i]. Any grid. */
template <class Word>
__global__ void __launch_bounds__(elementwise_threads)
    lex_parts_k(const __grid_constant__ gpi_lex_pack k)
{
    __shared__ gpi_lex_plan plan;
    const uint64_t n = item_count(k);
    if (threadIdx.x == 0)
        plan = k.state ? k.state->plan : k.plan;
    __syncthreads();
    const int begin = gpi_lex_begin(&k, &plan);
    const bool starts = gpi_lex_is_first(&k, &plan);
    const uint64_t step = grid_items();
    for (uint64_t i = grid_item(); i < n; i += batch * step) {
        uint64_t item[batch], key[batch];
#pragma unroll
        for (int b = 0; b < batch; b++) {
            const uint64_t at = i + b * step;
            item[b] = at < n ? item_of(k, starts, at) : 0;
            key[b] = 0;
        }
        for (uint32_t p = 0; p < k.parts.count; p++) {
            const gpi_lex_part &part = k.parts.part[p];
            if (!gpi_lex_has_share(&plan, p, begin))
                continue;
            uint64_t x[batch];
#pragma unroll
            for (int b = 0; b < batch; b++)
                x[b] = gpi_lex_load(&part, item[b]);
#pragma unroll
            for (int b = 0; b < batch; b++)
                key[b] |= gpi_lex_share(&plan, p, begin, gpi_lex_word_of(&part, x[b]));
        }
#pragma unroll
        for (int b = 0; b < batch; b++)
            if (i + b * step < n)
                ((Word *)k.words)[i + b * step] = (Word)key[b];
    }
}

/* Put the indices of equal words in order, by insertion, a thread per run. Any grid. */
template <class Index>
__global__ void __launch_bounds__(elementwise_threads)
    lex_repair_k(const __grid_constant__ gpi_lex_pack k, const uint64_t *w, gpi_lex_state *state,
                 Index *indices)
{
    const uint64_t n = item_count(k);
    for (uint64_t i = grid_item(); i < n; i += grid_items()) {
        uint64_t end = i + 1;
        if (end == n || w[end] != w[i] || (i > 0 && w[i - 1] == w[i]))
            continue;
        while (end < n && w[end] == w[i] && end - i <= GPI_LEX_RUN)
            end++;
        if (end - i > GPI_LEX_RUN) {
            gpi_lex_give_up(state, k.slots, n);
            continue;
        }
        for (uint64_t j = i + 1; j < end; j++) {
            const Index item = indices[j];
            uint64_t to = j;
            for (; to > i && gpi_lex_less(&k.parts, item, indices[to - 1]); to--)
                indices[to] = indices[to - 1];
            indices[to] = item;
        }
    }
}

struct Outs {
    void *part[GP_KEY_PARTS_MAX];
};

/* Sorted parts out of sorted words that hold all bits that vary. Any grid. */
template <class Word>
__global__ void __launch_bounds__(elementwise_threads)
    lex_parts_back_k(const __grid_constant__ gpi_lex_pack k, const Word *words,
                     const __grid_constant__ Outs outs)
{
    __shared__ gpi_lex_plan plan;
    const uint64_t n = item_count(k);
    if (threadIdx.x == 0)
        plan = k.state ? k.state->plan : k.plan;
    __syncthreads();
    for (uint32_t p = 0; p < k.parts.count; p++) {
        const gpi_lex_part &part = k.parts.part[p];
        const uint64_t mask = plan.bits[p] ? ~(uint64_t)0 >> (64 - plan.bits[p]) : 0;
        const uint64_t first = k.state ? k.state->first[p] : 0;
        const uint64_t same = (first & ~(mask << plan.low[p])) ^ part.order.flip;
        const uint32_t at = plan.bits[p] ? plan.at[p] : 0, low = plan.low[p];
        for (uint64_t i = grid_item(); i < n; i += grid_items()) {
            const uint64_t x = same ^ ((uint64_t)words[i] >> at & mask) << low;
            if (part.bytes == 8)
                ((uint64_t *)outs.part[p])[i] = x;
            else
                ((uint32_t *)outs.part[p])[i] = (uint32_t)x;
        }
    }
}

unsigned grid_for(const gp_context *ctx, uint64_t n, bool counted)
{
    return elementwise_grid(
        ctx, n, counted ? elementwise_tuning.blocks_counted : elementwise_tuning.blocks_per_sm);
}

void plan(gp_context *ctx, const gpi_lex_parts *parts, int slots, uint64_t n,
          const uint64_t *device_n, gpi_lex_state *state, void *words)
{
    const ItemCount count = {n, device_n};
    (void)words;
    cudaMemsetAsync(state, 0, sizeof *state, ctx->stream);
    const dim3 grid(grid_for(ctx, n, true), parts->count);
    lex_vary_k<<<grid, elementwise_threads, 0, ctx->stream>>>(*parts, count, state);
    lex_plan_k<<<1, 1024, 0, ctx->stream>>>(*parts, count, slots, state);
}

void pack(gp_context *ctx, const gpi_lex_pack *k)
{
    const unsigned grid = grid_for(ctx, (k->n + batch - 1) / batch, k->device_n);
    if (k->word_bytes == 8)
        lex_parts_k<uint64_t><<<grid, elementwise_threads, 0, ctx->stream>>>(*k);
    else
        lex_parts_k<uint32_t><<<grid, elementwise_threads, 0, ctx->stream>>>(*k);
}

void repair(gp_context *ctx, const gpi_lex_pack *k, const void *sorted, gpi_lex_state *state,
            void *indices)
{
    const unsigned grid = grid_for(ctx, k->n, true);
    if (k->index_bytes == 4)
        lex_repair_k<<<grid, elementwise_threads, 0, ctx->stream>>>(*k, (const uint64_t *)sorted,
                                                                    state, (uint32_t *)indices);
    else
        lex_repair_k<<<grid, elementwise_threads, 0, ctx->stream>>>(*k, (const uint64_t *)sorted,
                                                                    state, (uint64_t *)indices);
}

void unpack(gp_context *ctx, const gpi_lex_pack *k, const void *sorted, void *const *outs)
{
    Outs o = {};
    for (uint32_t p = 0; p < k->parts.count; p++)
        o.part[p] = outs[p];
    const unsigned grid = grid_for(ctx, k->n, k->device_n);
    if (k->state || k->word_bytes == 8)
        lex_parts_back_k<<<grid, elementwise_threads, 0, ctx->stream>>>(
            *k, (const uint64_t *)sorted, o);
    else
        lex_parts_back_k<<<grid, elementwise_threads, 0, ctx->stream>>>(
            *k, (const uint32_t *)sorted, o);
}

} // namespace
} // namespace GPI_SPACE

extern "C" {
extern const struct gpi_lex_part_kernels GPI_LAUNCHER(gpi_lex_part_kernels);
const struct gpi_lex_part_kernels GPI_LAUNCHER(gpi_lex_part_kernels) = {
    GPI_SPACE::plan, GPI_SPACE::pack, GPI_SPACE::repair, GPI_SPACE::unpack};
}
