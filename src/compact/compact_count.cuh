/* SPDX-License-Identifier: MIT */
/* How many items are selected, and flags as outputs: loops over the array, without tiles. */
#pragma once

#include "compact/compact_bytes.cuh"
#include "device/gpu.cuh"
#include "device/grid.cuh"

namespace GPI_SPACE
{

/* Of this thread, 16 bytes at a time between the first and the last 16-byte boundary. What lies
 * first comes last: a kernel that moves the items afterwards finds it in the L2. */
template <class Item, class OfVector, class OfItem>
GPI_DEVICE uint64_t count_items(const Item *items, uint64_t n, uint64_t start, uint64_t stride,
                                const OfVector &of_vector, const OfItem &of_item)
{
    uint64_t head = ((0 - (uintptr_t)items) & 15) / sizeof(Item), count = 0;
    head = head < n ? head : n;
    constexpr int each = 16 / sizeof(Item);
    const uint64_t vectors = (n - head) / each, tail = head + each * vectors;
    const uint4 *in = (const uint4 *)(items + head);
    constexpr int batch = 4; /* vectors of a thread at once */
    uint64_t i = start;
    for (; i + (batch - 1) * stride < vectors; i += batch * stride) {
        uint4 v[batch];
        uint32_t sum = 0;
#pragma unroll
        for (int k = 0; k < batch; k++)
            v[k] = in[vectors - 1 - i - k * stride];
#pragma unroll
        for (int k = 0; k < batch; k++)
            sum += of_vector(v[k]);
        count += sum;
    }
    for (; i < vectors; i += stride)
        count += of_vector(in[vectors - 1 - i]);
    if (start < head)
        count += of_item(items[start]);
    if (start < n - tail)
        count += of_item(items[tail + start]);
    return count;
}

GPI_DEVICE uint64_t count_flags(const uint8_t *keep, uint64_t n, uint64_t start, uint64_t stride)
{
    return count_items(
        keep, n, start, stride,
        [](const uint4 &f) -> uint32_t {
            return __popc(bytes_set(f.x)) + __popc(bytes_set(f.y)) + __popc(bytes_set(f.z)) +
                   __popc(bytes_set(f.w));
        },
        [](uint8_t flag) -> uint32_t { return flag != 0; });
}

/* The same of bits. */
GPI_DEVICE uint64_t count_bits(const uint32_t *words, uint64_t n, uint64_t start, uint64_t stride)
{
    const uint64_t all = (n + 31) / 32;
    uint64_t count = 0;
    for (uint64_t i = start; i < all; i += stride) {
        const uint64_t first = 32 * (all - 1 - i);
        count += __popc(flag_word(words, first, n - first < 32 ? (uint32_t)(n - first) : 32));
    }
    return count;
}

/* Which items of a vector a range has, a bit each. */
template <class Item> struct RangeOfVector {
    Range<Item> range;

    GPI_DEVICE explicit RangeOfVector(const gpi_compact_range &r) : range(r)
    {
    }

    GPI_DEVICE uint32_t operator()(const uint4 &v) const
    {
        union {
            uint4 whole;
            Item item[16 / sizeof(Item)];
        } u = {v};
        uint32_t bits = 0;
#pragma unroll
        for (int k = 0; k < 16 / (int)sizeof(Item); k++)
            bits |= (uint32_t)range(u.item[k]) << k;
        return bits;
    }
};
template <> struct RangeOfVector<uint8_t> {
    RangeOfBytes range;

    GPI_DEVICE explicit RangeOfVector(const gpi_compact_range &r) : range(r)
    {
    }

    GPI_DEVICE uint32_t operator()(const uint4 &v) const
    {
        const uint32_t words[4] = {v.x, v.y, v.z, v.w};
        return bits_of_words(words, range);
    }
};

template <class Item>
GPI_DEVICE uint64_t count_range(const gpi_compact_args &a, uint64_t n, uint64_t start,
                                uint64_t stride)
{
    const Range<Item> range(a.range);
    const RangeOfVector<Item> of_vector(a.range);
    return count_items((const Item *)a.in, n, start, stride,
                       [=](const uint4 &v) -> uint32_t { return __popc(of_vector(v)); },
                       [=](Item x) -> uint32_t { return range(x); });
}

/* A byte per bit, of ITEMS. */
template <int ITEMS> GPI_DEVICE void store_flags(uint8_t *out, uint32_t bits)
{
    uint32_t w[ITEMS < 4 ? 1 : ITEMS / 4];
#pragma unroll
    for (int k = 0; 4 * k < ITEMS; k++)
        w[k] = (bits >> 4 * k & 15) * 0x00204081 & 0x01010101;
    if constexpr (ITEMS == 16)
        *(uint4 *)out = make_uint4(w[0], w[1], w[2], w[3]);
    else if constexpr (ITEMS == 8)
        *(uint2 *)out = make_uint2(w[0], w[1]);
    else if constexpr (ITEMS == 4)
        *(uint32_t *)out = w[0];
    else
        *(uint16_t *)out = (uint16_t)w[0];
}

/* Flags of the items from number `begin` on, a multiple of 32, by comparison to out. */
template <class Item>
GPI_DEVICE uint64_t write_flags_one_by_one(const gpi_compact_args &a, uint64_t begin, uint64_t n,
                                           uint64_t start, uint64_t stride)
{
    const Range<Item> range(a.range);
    uint64_t count = 0;
    for (uint64_t first = begin + start / 32 * 32; first < n; first += stride) {
        const uint64_t i = first + lane_id();
        const bool kept = i < n && range(((const Item *)a.in)[i]);
        const uint32_t group = __ballot_sync(all_lanes, kept);
        if (!a.bits && i < n)
            ((uint8_t *)a.out)[i] = kept;
        if (a.bits && lane_id() == 0)
            ((uint32_t *)a.out)[first / 32] = group;
        count += kept;
    }
    return count;
}

/* The same of all, 16 bytes at a time as far as they go and boundaries of memory allow. Lanes that
 * have the bits of one word join them. */
template <class Item>
GPI_DEVICE uint64_t write_flags(const gpi_compact_args &a, uint64_t n, uint64_t start,
                                uint64_t stride)
{
    constexpr int each = 16 / sizeof(Item), lanes = 32 / each, warp_items = 32 * each;
    constexpr int batch = 4; /* vectors of a thread at once */
    const RangeOfVector<Item> range(a.range);
    const bool aligned = (uintptr_t)a.in % 16 == 0 && (a.bits || (uintptr_t)a.out % each == 0);
    const uint64_t end = aligned ? n / (batch * warp_items) * (batch * warp_items) : 0;
    uint64_t count = 0;
    for (uint64_t first = start / 32 * (batch * warp_items); first < end;
         first += stride / 32 * (batch * warp_items)) {
        const uint64_t own = first / each + lane_id(); /* vector */
        uint4 v[batch];
#pragma unroll
        for (int k = 0; k < batch; k++)
            v[k] = ((const uint4 *)a.in)[own + 32 * k];
#pragma unroll
        for (int k = 0; k < batch; k++) {
            uint32_t bits = range(v[k]);
            count += __popc(bits);
            if (!a.bits) {
                store_flags<each>((uint8_t *)a.out + (own + 32 * k) * each, bits);
                continue;
            }
            bits <<= lane_id() % lanes * each;
#pragma unroll
            for (int by = 1; by < lanes; by *= 2)
                bits |= __shfl_xor_sync(all_lanes, bits, by);
            if (lane_id() % lanes == 0)
                ((uint32_t *)a.out)[(own + 32 * k) / lanes] = bits;
        }
    }
    return count + write_flags_one_by_one<Item>(a, end, n, start, stride);
}

/* The sum over all blocks of a launch to *total, by the one that began last: all others run, or
 * have ended. Each block has a number and a state. */
GPI_DEVICE void sum_blocks(const TileState<uint64_t> &state, uint32_t number, uint64_t own,
                           uint64_t *total)
{
    constexpr int batch = 4;
    if (lane_id() == 0)
        state.publish(number, own);
    if (number != gridDim.x - 1)
        return;
    uint64_t sum = 0;
    for (uint32_t first = 0; first < gridDim.x; first += 32 * batch) {
        uint64_t v[batch];
        poll_tiles<striped>(state, first, gridDim.x, Sum<uint64_t>(), v);
#pragma unroll
        for (int k = 0; k < batch; k++)
            sum += v[k];
    }
    sum = warp_fold(sum, [](uint64_t a, uint64_t b) { return a + b; });
    if (lane_id() == 0)
        *total = sum;
}

constexpr int count_threads = 256;
/* On a multiprocessor, for which the compiler saves registers. */
constexpr int count_resident = gpu.threads / count_threads < GPI_COMPACT_COUNT_BLOCKS
                                   ? gpu.threads / count_threads
                                   : GPI_COMPACT_COUNT_BLOCKS;

/*
 * Grid: as many blocks as run at once; count_threads threads. After: *out_count; with a.flags, out
 * has all flags. BYTES 0: by flags. Its states are released before the kernel after may begin.
 */
template <int BYTES>
__global__ void __launch_bounds__(count_threads, count_resident)
    compact_count_k(const CompactParams p)
{
    __shared__ Launch launch;
    __shared__ uint64_t counts[count_threads / 32];
    const uint64_t n = item_count(p.a), stride = (uint64_t)gridDim.x * count_threads;
    const uint64_t start = (uint64_t)blockIdx.x * count_threads + threadIdx.x;
    uint64_t count;
    if (threadIdx.x == 0) {
        launch = launch_begin(p.state, gridDim.x);
        if (launch.tile == 0)
            TileState<uint64_t>(p.state, launch.epoch).retire_one(p.state, gridDim.x);
        __threadfence();
    }
    grid_release();
    if constexpr (BYTES == 0)
        count = p.a.bits ? count_bits((const uint32_t *)p.a.keep, n, start, stride)
                         : count_flags((const uint8_t *)p.a.keep, n, start, stride);
    else
        count = p.a.flags ? write_flags<ItemOf<BYTES>>(p.a, n, start, stride)
                          : count_range<ItemOf<BYTES>>(p.a, n, start, stride);
    count = warp_fold(count, [](uint64_t a, uint64_t b) { return a + b; });
    if (lane_id() == 0)
        counts[threadIdx.x / 32] = count;
    __syncthreads();
    if (threadIdx.x >= 32)
        return;
    count = 0;
#pragma unroll
    for (int w = 0; w < count_threads / 32; w++)
        count += counts[w];
    sum_blocks(TileState<uint64_t>(p.state, launch.epoch), launch.tile, count, p.a.out_count);
}

/* Whether a partition in one array takes one launch: its blocks run at once, and have room for
 * `most` tiles. */
inline bool compact_is_at_once(const CompactParams &p, uint64_t tiles, uint64_t most)
{
    return p.a.follows && tiles <= most;
}

/* The number of selected items, and flags; and before a partition in one array, so that its first
 * item that is not kept can find its place. p gets its states, and those of the tiles behind it. */
template <int BYTES>
gp_status compact_count(gp_context *ctx, const char *function, CompactParams &p, LaunchList &list)
{
    if ((!p.a.follows || p.at_once) && !p.a.flags)
        return GP_OK;
    GPI_TRY(gpi_state_get(ctx, function, gpi_compact_slots(&p.a, ctx->sm_count), &p.state));
    list.add(launch_of(compact_count_k<BYTES>, gpi_compact_count_blocks(p.a.n, ctx->sm_count),
                       count_threads, 0, p));
    return GP_OK;
}

/* The same by flags, of items of every size: its kernel is in one unit (compact_list_cuda.cu). */
gp_status compact_count_flags(gp_context *ctx, const char *function, CompactParams &p,
                              LaunchList &list);

} // namespace GPI_SPACE
