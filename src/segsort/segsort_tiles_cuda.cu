/* SPDX-License-Identifier: MIT */
/*
 * Segments that fit a block, on CUDA: a pass over the offsets marks the first segment of every 128
 * items and finds how long the longest one is; then blocks sort tiles of whole segments, which is
 * in segsort_tile.cuh.
 */
#include <cuda_runtime.h>

#include "core/words.h"
#include "device/gpu.cuh"
#include "device/host.cuh"
#include "device/search.cuh"
#include "device/word_type.cuh"
#include "segsort/segsort_apart.cuh"
#include "segsort/segsort_tile.cuh"

namespace GPI_SPACE
{
namespace
{

using Tiles = gpi_segsort_tiles;

constexpr uint32_t marks_threads = 256, marks_blocks = 8; /* of a multiprocessor */
/* The same; registers and shared memory suffice for those. */
template <class K, bool PLACES>
constexpr uint32_t tile_blocks = sizeof(K) == 4 ? (PLACES ? 5 : 7) : (PLACES ? 4 : 5);
constexpr uint64_t longest_of_tile = GPI_SEGSORT_LONGEST;
/* A tile has the segments that begin in a step of the array. Of few items steps are short, so that
 * all blocks have some, but not shorter than that. */
constexpr uint32_t step_least = 512;
static_assert(GPI_SEGSORT_TILE <= 32 * GPI_SEGSORT_MARK, "a mark for each lane");

GPI_DEVICE uint64_t segment_count(const Tiles &a)
{
    return item_count(ItemCount{a.num_segments, a.device_num_segments});
}

/* Where segments begin in the arrays, and their number where the last one ends. */
struct Begins {
    const void *offsets;
    bool wide;
    uint64_t base;

    GPI_DEVICE explicit Begins(const Tiles &a) : offsets(a.offsets), wide(a.wide), base(0)
    {
        base = (*this)[0];
    }

    GPI_DEVICE uint64_t operator[](uint64_t s) const
    {
        if (wide)
            return ((const uint64_t *)offsets)[s] - base;
        return ((const uint32_t *)offsets)[s] - (uint32_t)base;
    }

    /* How far behind `origin`, or the most that there is. */
    GPI_DEVICE uint32_t behind(uint64_t origin, uint32_t s) const
    {
        if (wide)
            return (uint32_t)min((*this)[s] - origin, (uint64_t)UINT32_MAX);
        return ((const uint32_t *)offsets)[s] - (uint32_t)(base + origin);
    }
};

/* ---- where segments begin -------------------------------------------------------------------- */

/* What the plan and lists say of a thread's segments. */
template <class Offset>
GPI_DEVICE void mark_segments(const Tiles &a, uint64_t n, Offset &longest, bool &wrong,
                              bool &others)
{
    const Offset *offsets = (const Offset *)a.offsets, base = offsets[0];
    const Offset most = (Offset)min(n, (uint64_t)(Offset) ~(Offset)0);
    const uint32_t count = (uint32_t)segment_count(a), step = gridDim.x * marks_threads;
#pragma unroll 4
    for (uint32_t s = blockIdx.x * marks_threads + threadIdx.x; s < count; s += step) {
        const Offset begin = offsets[s] - base, end = offsets[s + 1] - base, length = end - begin;
        const bool fits = begin <= end && end <= most;
        wrong |= !fits || (s + 1 == count && end != n);
        if (fits && length > longest_of_tile) {
            others = true;
            if (a.bases)
                put_apart(a, begin, length);
        } else if (fits) {
            longest = max(longest, length);
        }
        if (begin / GPI_SEGSORT_MARK != end / GPI_SEGSORT_MARK && end < most)
            a.marks[end / GPI_SEGSORT_MARK] = s + 1;
    }
}

/* Grid: any. Before: marks and plan are zero. After: a mark of items in which segments begin is the
 * number of the first of them, and the plan and the lists of long segments are known or, if there
 * is one or offsets are wrong, that all items go another way. */
__global__ void __launch_bounds__(marks_threads) segsort_marks_k(Tiles a)
{
    grid_wait();
    const uint64_t n = item_count(a), count = segment_count(a);
    bool wrong = count == 0 && n > 0, others = false;
    uint64_t longest = 0;
    uint32_t near = 0;
    if (a.wide)
        mark_segments<uint64_t>(a, n, longest, wrong, others);
    else
        mark_segments<uint32_t>(a, n, near, wrong, others);
    const uint32_t most = warp_max((uint32_t)longest | near);
    if (lane_id() == 0 && most > *(volatile uint64_t *)&a.plan->longest)
        atomicMax((unsigned long long *)&a.plan->longest, (unsigned long long)most);
    if (wrong)
        a.plan->wrong = 1;
    if ((wrong || others) && !a.bases) {
        a.plan->items = n;
        a.plan->segments = count;
    }
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* How many rounds of a warp have no items from segment s on, which has none: as many as are seen
 * at a glance, or all. */
GPI_DEVICE uint32_t empty_rounds(const Begins &begins, uint32_t s, uint32_t count)
{
    const uint64_t begin = begins[s], left = count - s;
    const uint64_t rounds = (left + tile_threads - 1) / tile_threads;
    const auto is_empty = [&](uint64_t k) {
        return begins[min(s + k + 1, (uint64_t)count)] == begin;
    };
    const uint64_t ahead = min((uint64_t)lane_id() + 1, rounds) * tile_threads - 1;
    const uint32_t more = __ballot_sync(all_lanes, !is_empty(ahead));
    if (more || rounds <= 32)
        return more ? max(__ffs(more) - 1, 1) : (uint32_t)rounds;
    return (uint32_t)(partition_point_lanes(left, is_empty) / tile_threads);
}

/* Segments from `first` on that begin before `end`, in lists of the tile but for long ones: it ends
 * before a long one that is the last. What is in shared memory is known after a barrier; returns
 * whether offsets are wrong, which can be if there is no plan. */
template <class Tile>
GPI_DEVICE bool find_segments(const Tiles &a, Tile &s, uint32_t first, uint64_t end)
{
    const Begins begins(a);
    const uint32_t count = (uint32_t)segment_count(a);
    const uint64_t origin = a.plan ? begins[first] : 0;
    const uint32_t room = (uint32_t)(end - origin), most = a.plan ? longest_of_tile : room;
    bool wrong = count == 0;
    if (threadIdx.x == 0)
        s.begin = origin;
    uint32_t rounds = 1;
#pragma unroll 1
    for (uint32_t at = first + 32 * warp_id(); at < count; at += rounds * tile_threads) {
        const uint32_t own = at + lane_id();
        const uint32_t begin = own < count ? begins.behind(origin, own) : room;
        const uint32_t next = own < count ? begins.behind(origin, own + 1) : room;
        const bool starts = begin < room && begin < next, fits = next - begin <= most;
        if (!a.plan)
            wrong |= begin > next || next > room || (own + 1 == count && next != room);
        else if (!__any_sync(all_lanes, begin < room))
            break;
        else if (starts && next >= room)
            s.total = fits ? next : begin;
        s.list(starts && fits, begin, next - begin);
        rounds =
            a.plan && !__any_sync(all_lanes, begin < next) ? empty_rounds(begins, at, count) : 1;
    }
    return wrong;
}

/* Where there is no plan all items are one tile and, if offsets are wrong, one segment. */
template <class Tile> GPI_DEVICE void settle_tile(Tile &s, uint64_t n, bool wrong)
{
    wrong = __syncthreads_or(wrong);
    if (threadIdx.x == 0)
        s.total = (uint32_t)n;
    if (!wrong)
        return;
    if (threadIdx.x < tile_classes)
        s.count[threadIdx.x] = 0;
    __syncthreads();
    s.list(threadIdx.x == 0, 0, (uint32_t)n);
}

/* ---- keys and values ------------------------------------------------------------------------- */

/* get() and put() of N items of a thread; all() is done between. */
template <int N, bool WHOLE, class Get, class Put, class All>
GPI_DEVICE void step_of_items(uint32_t first, uint32_t total, const Get &get, const Put &put,
                              const All &all)
{
    decltype(get(0u, 0u)) item[N] = {};
#pragma unroll
    for (uint32_t k = 0; k < N; k++)
        if (WHOLE || first + k * tile_threads < total)
            item[k] = get(first, k);
    all(item);
#pragma unroll
    for (uint32_t k = 0; k < N; k++)
        if (WHOLE || first + k * tile_threads < total)
            put(first, k, item[k]);
}

/* The same of all items of a tile. */
template <int N, class Get, class Put, class All>
GPI_DEVICE void for_items(uint32_t total, const Get &get, const Put &put, const All &all)
{
    uint32_t first = threadIdx.x;
    asm volatile("" : "+r"(first)); /* or addresses of all loops would be kept */
#pragma unroll 1
    for (; first + (N - 1) * tile_threads < total; first += N * tile_threads)
        step_of_items<N, true>(first, total, get, put, all);
    if (first < total)
        step_of_items<N, false>(first, total, get, put, all);
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
    const V *from = (const V *)in + s.begin;
    V *to = (V *)out + s.begin;
    for_items<sizeof(V) == 16 ? 4 : 8>(
        s.total, [&](uint32_t i, uint32_t k) { return from[s.places[side_of(s, i, k)]]; },
        [&](uint32_t i, uint32_t k, const V &item) { (to + i)[k * tile_threads] = item; },
        [](auto &) {});
}

/* The same in place, of `parts` words V each: by shared memory, where keys are no more. */
template <class V, class Tile> GPI_DEVICE void turn_items(Tile &s, uint32_t parts, void *items)
{
    V *at = (V *)items + s.begin * parts, *room = (V *)s.keys;
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
        const auto *from = (const decltype(type) *)a.keys_in + s.begin;
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
            Key *to = (Key *)a.keys_out + s.begin;
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
    if (a.plan) {
        if (a.plan->wrong || a.plan->items || a.plan->longest == 0)
            return;
        const uint64_t share = max((n + gridDim.x - 1) / gridDim.x, (uint64_t)step_least);
        step = min(GPI_SEGSORT_TILE + 1 - a.plan->longest, share) & ~(GPI_SEGSORT_MARK - 1ull);
    }
    if (threadIdx.x < tile_classes)
        s.count[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll 1
    for (uint64_t tile = blockIdx.x; tile * step < n; tile += gridDim.x) {
        const uint64_t begin = tile * step, end = min(begin + step, n);
        uint32_t first = 0;
        if (a.plan) {
            const uint64_t own = begin + lane_id() * GPI_SEGSORT_MARK;
            const uint32_t mark = own < end ? a.marks[own / GPI_SEGSORT_MARK] : 0;
            const uint32_t lanes = __ballot_sync(all_lanes, mark || own == 0);
            if (!lanes)
                continue;
            first = shuffle(mark, __ffs(lanes) - 1);
        }
        const bool wrong = find_segments(a, s, first, end);
        if (!a.plan)
            settle_tile(s, n, wrong);
        __syncthreads();
        load_keys(a, s);
        __syncthreads();
        s.sort();
        store_tile(a, s);
        if (threadIdx.x < tile_classes)
            s.count[threadIdx.x] = 0;
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
    const uint64_t steps = gpi_ceil_div(t.n, t.plan ? step_least : GPI_SEGSORT_TILE);
    const uint64_t room = (uint64_t)ctx->sm_count * tile_blocks<K, PLACES>;
    LaunchList list;
    GPI_TRY(shared_memory_allow(ctx, function, kernel, bytes, &may));
    if (t.plan) {
        const uint64_t most = (uint64_t)ctx->sm_count * marks_blocks;
        const uint64_t passes = gpi_ceil_div(t.num_segments + 1, marks_threads);
        list.add(launch_zeros(t.plan, t.zeroed));
        list.add(launch_of(segsort_marks_k, (unsigned)gpi_min(passes, most), marks_threads, 0, t));
    }
    list.add(launch_dependent(kernel, t.plan != nullptr, (unsigned)gpi_min(steps, room),
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
