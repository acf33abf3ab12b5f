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
    varying = warp_or(varying);
    if (lane_id() == 0 && varying)
        atomicOr((unsigned long long *)&state->varying[blockIdx.y], (unsigned long long)varying);
}

/* The table of a sample of a power of two of items, for their words; all zero at first. */
struct SampleTable {
    uint32_t samples, slots;
    uint32_t *tag, *more;

    /* Whether the word was there; it may be there a third time. */
    GPI_DEVICE bool add(uint64_t word, uint32_t *thrice) const
    {
        const uint32_t mine = gpi_lex_tag(word);
        uint32_t at = mine / (uint32_t)(((uint64_t)1 << 32) / slots), there;
        while ((there = atomicCAS(&tag[at], 0u, mine)) != 0 && there != mine)
            at = (at + 1) % slots;
        if (there == mine && atomicAdd(&more[at], 1u) > 0)
            *thrice = 1;
        return there == mine;
    }

    /* Whether few enough of the words are there again to order what agrees by comparing: then an
     * item has half another to be compared with, on the average. */
    GPI_DEVICE bool are_few(const gpi_lex_state &s, int width, uint64_t n) const
    {
        return !s.thrice[width] && s.again[width] * n <= (uint64_t)samples * samples / 4;
    }
};

struct SampleTables {
    SampleTable of[2]; /* of words of 32 and of 64 bits */
};

/* The plan, and the items of each step, by the last block to have looked at its part of a sample.
 * Grid: a thread per item of the sample. */
__global__ void __launch_bounds__(elementwise_threads)
    lex_plan_k(const __grid_constant__ gpi_lex_pack k, bool parts_wanted, gpi_lex_state *state,
               const __grid_constant__ SampleTables tables)
{
    __shared__ gpi_lex_plan plan;
    __shared__ bool last;
    const uint64_t n = item_count(k), i = grid_item(), most = tables.of[0].samples;
    const uint64_t samples = n < most ? n : most;
    if (threadIdx.x == 0)
        gpi_lex_plan_of(state->varying, k.parts.count, &plan);
    __syncthreads();
    const bool narrow = k.n >= GPI_LEX_NARROW_CUDA && !(parts_wanted && plan.total <= 64);
    for (int width = 0; width < 2; width++) {
        const uint32_t bits = width ? 64 : 32;
        if (plan.total <= bits || (width == 0 && !narrow))
            continue; /* not asked for */
        bool again = false;
        if (i < samples)
            again = tables.of[width].add(
                gpi_lex_key(&k.parts, &plan, (int)(plan.total - bits), i * n / samples),
                &state->thrice[width]);
        const uint32_t all = (uint32_t)__syncthreads_count(again);
        if (threadIdx.x == 0)
            atomicAdd(&state->again[width], all);
    }
    /* What the others of this block have stored comes before the barrier, and with it before this
     * block has told. */
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(&state->told, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last || threadIdx.x > 0)
        return;
    state->plan = plan;
    for (uint32_t p = 0; p < k.parts.count; p++)
        state->first[p] = gpi_lex_word_of(&k.parts.part[p], gpi_lex_load(&k.parts.part[p], 0));
    gpi_lex_decide(state, k.slots, n, narrow && tables.of[0].are_few(*state, 0, n),
                   tables.of[1].are_few(*state, 1, n));
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

/* Put the indices of equal words in order, by insertion, a thread per run. Words have 32 bits if
 * items were sorted by these. Any grid. */
template <class Index>
__global__ void __launch_bounds__(elementwise_threads)
    lex_repair_k(const __grid_constant__ gpi_lex_pack k, const void *words, gpi_lex_state *state,
                 Index *indices)
{
    const uint64_t n = item_count(k);
    const bool narrow = state->narrow > 0;
    const auto w = [=](uint64_t i) {
        return narrow ? ((const uint32_t *)words)[i] : ((const uint64_t *)words)[i];
    };
    for (uint64_t i = grid_item(); i < n; i += grid_items()) {
        const uint64_t word = w(i);
        uint64_t end = i + 1;
        if (end == n || w(end) != word || (i > 0 && w(i - 1) == word))
            continue;
        while (end < n && w(end) == word && end - i <= GPI_LEX_RUN)
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
        const uint64_t same = ((first & ~(mask << plan.low[p])) ^ part.order.flip) & part.mask;
        const uint32_t at = plan.bits[p] ? plan.at[p] : 0, low = plan.low[p];
        void *const out = outs.part[p];
        for (uint64_t i = grid_item(); out && i < n; i += grid_items()) {
            const uint64_t x = same ^ ((uint64_t)words[i] >> at & mask) << low;
            if (part.bytes == 8)
                ((uint64_t *)out)[i] = x;
            else if (part.bytes == 4)
                ((uint32_t *)out)[i] = (uint32_t)x;
            else if (part.bytes == 2)
                ((uint16_t *)out)[i] = (uint16_t)x;
            else
                ((uint8_t *)out)[i] = (uint8_t)x;
        }
    }
}

/* f(x) with x of the unsigned type of 4 or 8 bytes. */
template <class F> void with_index(size_t bytes, F f)
{
    bytes == 4 ? f(uint32_t()) : f(uint64_t());
}

unsigned grid_for(const gp_context *ctx, uint64_t n, bool counted)
{
    return elementwise_grid(
        ctx, n, counted ? elementwise_tuning.blocks_counted : elementwise_tuning.blocks_per_sm);
}

void plan(gp_context *ctx, const gpi_lex_pack *k, bool parts_wanted, gpi_lex_state *state)
{
    const ItemCount count = {k->n, k->device_n};
    const dim3 grid(grid_for(ctx, k->n, true), k->parts.count);
    uint32_t samples = GPI_LEX_SAMPLE_CUDA, *memory = (uint32_t *)k->words;
    while (samples > k->n / 256)
        samples /= 2;
    SampleTables tables;
    for (SampleTable &t : tables.of) {
        t = {samples, 2 * samples, memory, memory + 2 * samples};
        memory += 4 * samples;
    }
    cudaMemsetAsync(state, 0, sizeof *state, ctx->stream);
    cudaMemsetAsync(k->words, 0, 8 * samples * sizeof *memory, ctx->stream);
    lex_vary_k<<<grid, elementwise_threads, 0, ctx->stream>>>(k->parts, count, state);
    lex_plan_k<<<samples / elementwise_threads, elementwise_threads, 0, ctx->stream>>>(
        *k, parts_wanted, state, tables);
}

void pack(gp_context *ctx, const gpi_lex_pack *k)
{
    const unsigned grid = grid_for(ctx, (k->n + batch - 1) / batch, k->device_n);
    with_index(k->word_bytes, [=](auto word) {
        lex_parts_k<decltype(word)><<<grid, elementwise_threads, 0, ctx->stream>>>(*k);
    });
}

void repair(gp_context *ctx, const gpi_lex_pack *k, const void *sorted, gpi_lex_state *state,
            void *indices)
{
    const unsigned grid = grid_for(ctx, k->n, true);
    with_index(k->index_bytes, [=](auto index) {
        lex_repair_k<<<grid, elementwise_threads, 0, ctx->stream>>>(*k, sorted, state,
                                                                    (decltype(index) *)indices);
    });
}

void unpack(gp_context *ctx, const gpi_lex_pack *k, const void *sorted, void *const *outs)
{
    Outs o = {};
    for (uint32_t p = 0; p < k->parts.count; p++)
        o.part[p] = outs[p];
    const unsigned grid = grid_for(ctx, k->n, k->device_n);
    with_index(k->state ? 8 : k->word_bytes, [=](auto word) {
        lex_parts_back_k<<<grid, elementwise_threads, 0, ctx->stream>>>(
            *k, (const decltype(word) *)sorted, o);
    });
}

} // namespace
} // namespace GPI_SPACE

extern "C" {
extern const struct gpi_lex_part_kernels GPI_LAUNCHER(gpi_lex_part_kernels);
const struct gpi_lex_part_kernels GPI_LAUNCHER(gpi_lex_part_kernels) = {
    GPI_SPACE::plan, GPI_SPACE::pack, GPI_SPACE::repair, GPI_SPACE::unpack};
}
