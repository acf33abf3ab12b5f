/* SPDX-License-Identifier: MIT */
/*
 * Steps that read and write every item once: tiles in one launch, each waiting for those before it.
 * A tile's state is one 64-bit word, kind and value together, so that a thread that sees the kind
 * has the value too and no fence is needed.
 */
#include "tile.cuh"

namespace
{
enum kind : uint32_t { nothing_yet = 0, own_sum = 1, prefix = 2 }; // zeros mean nothing yet

struct tile_state {
    uint64_t word;
};

__device__ void publish(tile_state *s, kind k, item value)
{
    uint64_t word = uint64_t(k) << 32 | value;
    asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(&s->word), "l"(word) : "memory");
}

// Wait until a tile's state is of kind k or better.
__device__ uint64_t wait_for(const tile_state *s, kind k)
{
    uint64_t word;
    do {
        asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(&s->word) : "memory");
    } while (uint32_t(word >> 32) < k);
    return word;
}

// Blocks take their tiles in the order in which they start, so that a tile waits for running ones
// only. Every thread gets the number.
__device__ unsigned take_tile(unsigned *next)
{
    __shared__ unsigned s_tile;
    if (threadIdx.x == 0)
        s_tile = atomicAdd(next, 1);
    __syncthreads();
    return s_tile;
}

// One thread: the prefix of the tile before.
__device__ item chain(tile_state *states, unsigned number, item sum)
{
    item before = number ? item(wait_for(states + number - 1, prefix)) : 0;
    publish(states + number, prefix, before + sum);
    return before;
}

// One warp: adds up the sums of the tiles before, 32 at a time, back to one whose prefix is known.
__device__ item look_back(tile_state *states, unsigned number, item sum)
{
    int lane = int(threadIdx.x);
    item before = 0;
    if (lane == 0)
        publish(states + number, number ? own_sum : prefix, sum);
    for (int64_t last = int64_t(number) - 1; last >= 0; last -= 32) {
        // Before the first tile lies a prefix of 0.
        uint64_t word = uint64_t(prefix) << 32;
        if (last >= lane)
            word = wait_for(states + (last - lane), own_sum);
        unsigned known = __ballot_sync(all_lanes, uint32_t(word >> 32) == prefix);
        int nearest = known ? __ffs(int(known)) - 1 : 31;
        before += warp_sum(lane <= nearest ? item(word) : 0);
        if (known)
            break;
    }
    if (lane == 0 && number)
        publish(states + number, prefix, before + sum);
    return before;
}

// Grid: a block per tile. *next and states are zero before.
template <bool looks_back>
__global__ void __launch_bounds__(threads)
    single_pass_k(const item *in, size_t n, item *out, unsigned *next, tile_state *states)
{
    __shared__ item s[32];
    __shared__ item s_before;
    unsigned number = take_tile(next);
    size_t first = size_t(number) * tile_items;
    tile t = load_tile(in, n, first);
    item sum = scan_tile(t, s);
    if (threadIdx.x < (looks_back ? 32 : 1)) {
        item before = looks_back ? look_back(states, number, sum) : chain(states, number, sum);
        if (threadIdx.x == 0)
            s_before = before;
    }
    __syncthreads();
    store_tile(t, s_before, out, n, first);
}

template <bool looks_back> int single_pass(struct bench *b, const struct bench_args *a)
{
    scan_call c = call_of(b, a);
    unsigned tiles = unsigned(divide_up(c.n, tile_items));
    size_t bytes = (size_t(tiles) + 1) * sizeof(tile_state);
    tile_state *states = static_cast<tile_state *>(bench_temp(b, bytes)); // the first: the counter
    cudaError_t e = cudaMemsetAsync(states, 0, bytes, c.stream);
    single_pass_k<looks_back><<<tiles, threads, 0, c.stream>>>(
        c.in, c.n, c.out, reinterpret_cast<unsigned *>(states), states + 1);
    return ladder_result(e);
}
} // namespace

// New: one pass over memory. Each tile waits until the one before knows its prefix, so that the
// whole array is a chain of n / 4096 links. Yan, Long and Zhang 2013.
extern "C" int ladder_chained(struct bench *b, const struct bench_args *a)
{
    return single_pass<false>(b, a);
}

// New: the wait is cut short. A tile publishes its own sum at once, and one that needs its prefix
// adds up sums instead of waiting for prefixes. Merrill and Garland 2016.
extern "C" int ladder_lookback(struct bench *b, const struct bench_args *a)
{
    return single_pass<true>(b, a);
}
