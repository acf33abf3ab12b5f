/* SPDX-License-Identifier: MIT */
/*
 * Segments that fit a block, on CUDA: a pass over the offsets leaves a bit where a segment begins
 * and how long the longest one is; then blocks sort tiles of whole segments (segsort_tile.cuh).
 */
#include <cuda_runtime.h>

#include "core/words.h"
#include "device/gpu.cuh"
#include "device/host.cuh"
#include "device/word_type.cuh"
#include "segsort/segsort_apart.cuh"
#include "segsort/segsort_tile.cuh"

namespace GPI_SPACE
{
namespace
{

using Tiles = gpi_segsort_tiles;

constexpr uint32_t heads_threads = 256, heads_blocks = 8; /* of a multiprocessor */
/* The same; registers and shared memory suffice for those. */
template <class K, bool PLACES>
constexpr uint32_t tile_blocks = sizeof(K) == 4 ? (PLACES ? 5 : 7) : (PLACES ? 4 : 5);
constexpr uint64_t longest_of_tile = GPI_SEGSORT_LONGEST;
/* A tile has the segments that begin in a step of the array. Of few items steps are short, so that
 * all blocks have some, but not shorter than that. */
constexpr uint32_t step_least = 512;

GPI_DEVICE uint64_t segment_count(const Tiles &a)
{
    return item_count(ItemCount{a.num_segments, a.device_num_segments});
}

/* Where segment s begins in the arrays, if s is a segment or their number. */
GPI_DEVICE uint64_t begin_of(const Tiles &a, uint64_t s)
{
    if (a.wide)
        return ((const uint64_t *)a.offsets)[s] - ((const uint64_t *)a.offsets)[0];
    return ((const uint32_t *)a.offsets)[s] - ((const uint32_t *)a.offsets)[0];
}

/* ---- where segments begin -------------------------------------------------------------------- */

/* Set bits, which rise along a warp: those of a word by one lane. Words that agree in the low 32
 * bits of their number are not neighbours in a warp, or a segment is too long for this way. No item
 * is behind the last one. */
GPI_DEVICE void set_heads(uint32_t *heads, uint64_t item, bool is_head)
{
    const uint32_t word = (uint32_t)(item / 32);
    uint32_t bits = is_head ? 1u << item % 32 : 0;
    for (int d = 1; d < 32; d *= 2) {
        const uint32_t next = shuffle_down(word, d), more = shuffle_down(bits, d);
        bits |= lane_id() + d < 32 && next == word ? more : 0;
    }
    const uint32_t left = shuffle_up(word, 1);
    if (bits && (lane_id() == 0 || left != word))
        atomicOr(heads + item / 32, bits);
}

/* Grid: any. Before: heads and plan are zero. After: they are known, and the lists of long segments
 * or, if there is one or offsets are wrong, that all items go another way. */
__global__ void __launch_bounds__(heads_threads) segsort_heads_k(Tiles a)
{
    grid_wait();
    const uint64_t n = item_count(a), count = segment_count(a);
    const uint64_t step = (uint64_t)gridDim.x * heads_threads;
    uint64_t longest = 0;
    bool wrong = count == 0 && n > 0, others = false;
    for (uint64_t s = (uint64_t)blockIdx.x * heads_threads + threadIdx.x; s - lane_id() < count;
         s += step) {
        const uint64_t begin = s < count ? begin_of(a, s) : n;
        const uint64_t end = s < count ? begin_of(a, s + 1) : n;
        const bool fits = begin < end && end <= n, is_long = fits && end - begin > longest_of_tile;
        wrong |= begin > end || end > n || (s + 1 == count && end != n);
        others |= is_long;
        longest = fits && !is_long ? max(longest, end - begin) : longest;
        set_heads(a.heads, min(begin, n), fits);
        if (is_long && a.bases)
            put_apart(a, begin, end - begin);
    }
    const uint32_t most = warp_max((uint32_t)longest);
    if (lane_id() == 0 && most > *(volatile uint64_t *)&a.plan->longest)
        atomicMax((unsigned long long *)&a.plan->longest, (unsigned long long)most);
    if (wrong)
        a.plan->wrong = 1;
    if ((wrong || others) && !a.bases) {
        a.plan->items = n;
        a.plan->segments = count;
    }
}

/* The first head of [from, end), or `none`; by a warp. */
GPI_DEVICE uint64_t first_head(const uint32_t *heads, uint64_t from, uint64_t end, uint64_t none)
{
#pragma unroll 1
    for (uint64_t at = from / 32; 32 * at < end; at += 32) {
        const uint64_t own = at + lane_id();
        const uint32_t bits = 32 * own < end ? heads[own] : 0;
        const uint32_t lanes = __ballot_sync(all_lanes, bits != 0);
        if (lanes) {
            const int first = __ffs(lanes) - 1;
            return 32 * (at + first) + __ffs(shuffle(bits, first)) - 1;
        }
    }
    return none;
}

/* The last head of [begin, end), or begin; by a warp. */
GPI_DEVICE uint64_t last_head(const uint32_t *heads, uint64_t begin, uint64_t end)
{
#pragma unroll 1
    for (uint64_t at = (end + 31) / 32; 32 * at > begin; at -= min(at, (uint64_t)32)) {
        const uint64_t own = at - 1 - lane_id();
        const uint32_t bits = (uint64_t)lane_id() < at && 32 * own >= begin ? heads[own] : 0;
        const uint32_t lanes = __ballot_sync(all_lanes, bits != 0);
        if (lanes) {
            const int first = __ffs(lanes) - 1;
            return 32 * (at - 1 - first) + 31 - __clz(shuffle(bits, first));
        }
    }
    return begin;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* 32 bits of the tile, those behind its end set. */
GPI_DEVICE uint32_t heads_from(const Tiles &a, uint64_t n, uint64_t begin, uint32_t first,
                               uint32_t total)
{
    const uint64_t item = begin + first, word = item / 32;
    uint32_t bits = 0;
    if (a.heads) {
        const uint32_t low = item < n ? a.heads[word] : 0;
        const uint32_t high = 32 * (word + 1) < n ? a.heads[word + 1] : 0;
        bits = __funnelshift_r(low, high, item % 32);
    }
    bits |= first == 0;
    return first + 32 <= total ? bits : first < total ? bits | ~0u << (total - first) : ~0u;
}

/* The tile has the segments that begin in its step, but for a long one that is the last of them and
 * does not end there. */
template <class Tile>
GPI_DEVICE void find_edges(const Tiles &a, Tile &s, uint64_t n, uint64_t begin, uint64_t end)
{
    const uint64_t reach = end + longest_of_tile + 32;
    uint64_t edge = threadIdx.x / 32 == 1 ? n : 0;
    if (a.heads && threadIdx.x < 32)
        edge = first_head(a.heads, begin, end, end);
    else if (a.heads && threadIdx.x < 64 && end < n)
        edge = first_head(a.heads, end, min(reach, n), reach < n ? ~0ull : n);
    else if (a.heads && threadIdx.x >= 64)
        edge = last_head(a.heads, begin, end);
    if (lane_id() == 0)
        s.edge[threadIdx.x / 32] = edge;
}

template <class K, bool PLACES>
GPI_DEVICE void find_tile(const Tiles &a, SegmentTile<K, PLACES> &s, uint64_t n, uint64_t tile,
                          uint64_t step)
{
    const uint64_t end = min((tile + 1) * step, n);
    if (threadIdx.x < 96)
        find_edges(a, s, n, tile * step, end);
    __syncthreads();
    const bool cut = a.heads && s.edge[1] - s.edge[2] > longest_of_tile;
    const uint64_t last = cut ? s.edge[2] : s.edge[1];
    const uint32_t total =
        s.edge[0] < end ? (uint32_t)min(last - s.edge[0], (uint64_t)GPI_SEGSORT_TILE) : 0;
    s.heads[threadIdx.x] = heads_from(a, n, s.edge[0], 32 * threadIdx.x, total);
    if (threadIdx.x < tile_classes)
        s.count[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        s.total = total;
    if (a.heads)
        return;
    /* Keys are needed when segments are known. */
    for (uint64_t k = threadIdx.x * 128; k < n * a.key_bytes; k += tile_threads * 128)
        asm volatile("prefetch.global.L2 [%0];" ::"l"((const char *)a.keys_in + k));
    __syncthreads();
    for (uint64_t k = threadIdx.x, count = segment_count(a); k < count; k += tile_threads) {
        const uint64_t begin = begin_of(a, k);
        if (begin < total && begin < begin_of(a, k + 1))
            atomicOr(s.heads + begin / 32, 1u << begin % 32);
    }
}

/* ---- keys and values ------------------------------------------------------------------------- */

/* get() and put() of all items of a tile, N of a thread at a time; all() is done between. */
template <int N, class Get, class Put, class All>
GPI_DEVICE void for_items(uint32_t total, const Get &get, const Put &put, const All &all)
{
    uint32_t first = threadIdx.x;
    asm volatile("" : "+r"(first)); /* or addresses of all loops would be kept */
#pragma unroll 1
    for (; first < total; first += N * tile_threads) {
        decltype(get(0u, 0u)) item[N] = {};
#pragma unroll
        for (uint32_t k = 0; k < N; k++)
            if (first + k * tile_threads < total)
                item[k] = get(first, k);
        all(item);
#pragma unroll
        for (uint32_t k = 0; k < N; k++)
            if (first + k * tile_threads < total)
                put(first, k, item[k]);
    }
}

/* Where item k of those is that begin with the thread's item `first`. */
template <class Tile> GPI_DEVICE uint32_t side_of(const Tile &, uint32_t first, uint32_t k)
{
    static_assert(tile_threads % Tile::line == 0, "gaps of those are alike");
    return Tile::at(first) + k * Tile::at(tile_threads);
}

/* Items of V to their places. */
template <class V, class Tile> GPI_DEVICE void move_items(const Tile &s, const void *in, void *out)
{
    const V *from = (const V *)in + s.edge[0];
    V *to = (V *)out + s.edge[0];
    for_items<sizeof(V) == 16 ? 4 : 8>(
        s.total, [&](uint32_t i, uint32_t k) { return from[s.places[side_of(s, i, k)]]; },
        [&](uint32_t i, uint32_t k, const V &item) { (to + i)[k * tile_threads] = item; },
        [](auto &) {});
}

/* The same in place, of `parts` words V each: by shared memory, where keys are no more. */
template <class V, class Tile> GPI_DEVICE void turn_items(Tile &s, uint32_t parts, void *items)
{
    V *at = (V *)items + s.edge[0] * parts, *room = (V *)s.keys;
#pragma unroll 1
    for (uint32_t part = 0; part < parts; part++) {
        const auto put = [&](uint32_t i, uint32_t k, V item) {
            at[(i + k * tile_threads) * parts + part] = item;
        };
        __syncthreads();
        for_items<8>(
            s.total,
            [&](uint32_t i, uint32_t k) { return at[(i + k * tile_threads) * parts + part]; },
            [&](uint32_t i, uint32_t k, V item) { (room + i)[k * tile_threads] = item; },
            [](auto &) {});
        __syncthreads();
        for_items<8>(
            s.total, [&](uint32_t i, uint32_t k) { return room[s.places[side_of(s, i, k)]]; }, put,
            [](auto &) {});
    }
}

template <class Tile> GPI_DEVICE void move_bytes(Tile &s, uint32_t bytes, const void *in, void *out)
{
    if (in == out)
        return bytes == 1   ? turn_items<uint8_t>(s, 1, out)
               : bytes == 2 ? turn_items<uint16_t>(s, 1, out)
                            : turn_items<uint32_t>(s, bytes / 4, out);
    switch (bytes) {
    case 1:
        return move_items<uint8_t>(s, in, out);
    case 2:
        return move_items<uint16_t>(s, in, out);
    case 4:
        return move_items<uint32_t>(s, in, out);
    case 8:
        return move_items<uint64_t>(s, in, out);
    default:
        return move_items<uint4>(s, in, out);
    }
}

template <class K, bool PLACES> GPI_DEVICE void load_keys(const Tiles &a, SegmentTile<K, PLACES> &s)
{
    const TileWords<K, PLACES> words(a);
    with_word_type<K>(a.key_bytes, [&](auto type) {
        const auto *from = (const decltype(type) *)a.keys_in + s.edge[0];
        for_items<8>(
            s.total, [&](uint32_t i, uint32_t k) { return (K)(from + i)[k * tile_threads]; },
            [&](uint32_t i, uint32_t k, K key) {
                s.keys[side_of(s, i, k)] = key;
                if (PLACES)
                    s.places[side_of(s, i, k)] = (uint16_t)(i + k * tile_threads);
            },
            [&](auto &keys) { words.make_words(keys); });
    });
}

template <class K, bool PLACES>
GPI_DEVICE void store_tile(const Tiles &a, SegmentTile<K, PLACES> &s)
{
    const TileWords<K, PLACES> words(a);
    if (!PLACES || a.exact)
        with_word_type<K>(a.key_bytes, [&](auto type) {
            using Key = decltype(type);
            Key *to = (Key *)a.keys_out + s.edge[0];
            for_items<8>(
                s.total, [&](uint32_t i, uint32_t k) { return s.keys[side_of(s, i, k)]; },
                [&](uint32_t i, uint32_t k, K key) { (to + i)[k * tile_threads] = (Key)key; },
                [&](auto &keys) { words.make_keys(keys); });
        });
    if (PLACES && !a.exact)
        move_bytes(s, a.key_bytes, a.keys_in, a.keys_out);
    if (PLACES && a.value_bytes)
        move_bytes(s, a.value_bytes, a.values_in, a.values_out);
}

/* Grid: any. After: all segments but long ones are sorted, or nothing has been written as the plan
 * says that all items go another way. */
template <class K, bool PLACES>
__global__ void __launch_bounds__(tile_threads, tile_blocks<K, PLACES>) segsort_tiles_k(Tiles a)
{
    extern __shared__ uint64_t memory[];
    SegmentTile<K, PLACES> &s = *reinterpret_cast<SegmentTile<K, PLACES> *>(memory);
    grid_wait();
    const uint64_t n = item_count(a);
    uint64_t step = GPI_SEGSORT_TILE;
    if (a.heads) {
        if (a.plan->wrong || a.plan->items || a.plan->longest == 0)
            return;
        const uint64_t share = max((n + gridDim.x - 1) / gridDim.x, (uint64_t)step_least);
        step = min(GPI_SEGSORT_TILE + 1 - a.plan->longest, share) & ~(uint64_t)31;
    }
#pragma unroll 1
    for (uint64_t tile = blockIdx.x; tile * step < n; tile += gridDim.x) {
        find_tile(a, s, n, tile, step);
        __syncthreads();
        if (s.total) {
            load_keys(a, s);
            __syncthreads();
            s.sort();
            store_tile(a, s);
        }
        __syncthreads(); /* what is shared is read */
    }
}

unsigned apart_blocks(const gp_context *ctx, uint64_t n)
{
    const uint64_t most = (uint64_t)ctx->sm_count * (gpu.threads / apart_threads);
    return (unsigned)gpi_min(gpi_ceil_div(n, apart_share), most);
}

/* The launches: what decides, if there is more than a tile; tiles; words of long segments. */
template <class K, bool PLACES>
gp_status launch(gp_context *ctx, const char *function, const Tiles &t)
{
    static uint64_t may;
    const int bytes = (int)sizeof(SegmentTile<K, PLACES>);
    const auto kernel = segsort_tiles_k<K, PLACES>;
    const uint64_t steps = gpi_ceil_div(t.n, t.heads ? step_least : GPI_SEGSORT_TILE);
    const uint64_t room = (uint64_t)ctx->sm_count * tile_blocks<K, PLACES>;
    LaunchList list;
    GPI_TRY(shared_memory_allow(ctx, function, kernel, bytes, &may));
    if (t.heads) {
        const uint64_t most = (uint64_t)ctx->sm_count * heads_blocks;
        const uint64_t passes = gpi_ceil_div(t.num_segments + 1, heads_threads);
        list.add(launch_zeros(t.plan, t.zeroed));
        list.add(launch_of(segsort_heads_k, (unsigned)gpi_min(passes, most), heads_threads, 0, t));
    }
    list.add(launch_dependent(kernel, t.heads != nullptr, (unsigned)gpi_min(steps, room),
                              tile_threads, bytes, t));
    if (t.bases)
        list.add(
            launch_dependent(segsort_pack_k, true, apart_blocks(ctx, t.n), apart_threads, 0, t));
    return list.queue(ctx, function);
}

gp_status sort_tiles(gp_context *ctx, const char *function, const Tiles *t)
{
    if (t->key_bytes == 8)
        return t->places ? launch<uint64_t, true>(ctx, function, *t)
                         : launch<uint64_t, false>(ctx, function, *t);
    return t->places ? launch<uint32_t, true>(ctx, function, *t)
                     : launch<uint32_t, false>(ctx, function, *t);
}

gp_status put_keys(gp_context *ctx, const char *function, const Tiles *t)
{
    LaunchList list;
    list.add(launch_of(segsort_unpack_k, apart_blocks(ctx, t->n), apart_threads, 0, *t));
    return list.queue(ctx, function);
}

} // namespace
} // namespace GPI_SPACE

extern "C" {
extern const struct gpi_segsort_kernels GPI_LAUNCHER(gpi_segsort_kernels);
const struct gpi_segsort_kernels GPI_LAUNCHER(gpi_segsort_kernels) = {GPI_SPACE::sort_tiles,
                                                                      GPI_SPACE::put_keys};
}
