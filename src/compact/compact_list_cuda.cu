/* SPDX-License-Identifier: MIT */
/*
 * Compaction by flags of items of any size. A tile's items wait in shared memory; a list names
 * those that are kept in their order, behind them the others. So the output is written word by
 * word, whatever the size of an item: word w is one of item list[w / words].
 */
#include "compact/compact_count.cuh"
#include "device/block.cuh"
#include "device/item_stage.cuh"
#include "device/tile_io.cuh"
#include "tuning/compact_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

constexpr int warps = GPI_COMPACT_WARPS, threads = 32 * warps;
/* Groups of 32 items of a tile; a warp counts them, so there are as many for each lane. */
template <bool PACK>
constexpr int groups_of = (PACK ? GPI_COMPACT_PACKED_TILE_MAX : GPI_COMPACT_LIST_TILE_MAX) / 32;
/* Blocks on a multiprocessor: as many as registers and shared memory allow. */
constexpr int blocks_fit = gpu.threads / threads;
template <bool PACK>
constexpr int blocks_of = blocks_fit < (PACK ? 4 : 5) ? blocks_fit : (PACK ? 4 : 5);
constexpr int shared_unasked = 48 * 1024; /* bytes that every kernel may have */
static_assert(groups_of<true> <= threads, "a thread per group of 32 items");

template <int GROUPS> struct ListShared {
    Launch launch;
    uint64_t n, prefix;
    char *others;                          /* of a partition: where they begin */
    uint32_t bits[GROUPS], before[GROUPS]; /* by group: which are kept, kept ones before */
    uint32_t tile_kept, next;
};

/* One bit per item: a thread has 32 of them if they lie on vectors, or a warp, in turn. */
template <int GROUPS>
GPI_DEVICE void list_mark(const uint8_t *keep, uint32_t count, ListShared<GROUPS> &s)
{
    constexpr int batch = 4;
    const uint32_t own = 32 * threadIdx.x;
    if (misalignment(keep) == 0) {
        uint32_t bits = 0;
        if (threadIdx.x >= GROUPS)
            return;
        if (own + 32 <= count)
            bits = bits_of_words(raw_load_aligned<32>((const char *)keep + own).w, bytes_set);
        else
#pragma unroll 1
            for (uint32_t i = own; i < count; i++)
                bits |= (uint32_t)(keep[i] != 0) << (i - own);
        s.bits[threadIdx.x] = bits;
        return;
    }
    for (uint32_t g = threadIdx.x / 32; g < GROUPS; g += batch * warps) {
        bool kept[batch];
#pragma unroll
        for (int k = 0; k < batch; k++) {
            const uint32_t i = 32 * (g + k * warps) + lane_id();
            kept[k] = i < count && keep[i];
        }
#pragma unroll
        for (int k = 0; k < batch; k++) {
            const uint32_t bits = __ballot_sync(all_lanes, kept[k]);
            if (lane_id() == 0)
                s.bits[g + k * warps] = bits;
        }
    }
}

/* The same where flags are bits; a tile may begin inside a word. */
template <int GROUPS>
GPI_DEVICE void list_mark_bits(const uint32_t *words, uint64_t first, uint32_t count,
                               ListShared<GROUPS> &s)
{
    const uint32_t before = 32 * threadIdx.x, left = count <= before ? 0 : count - before;
    const uint32_t shift = first % 32;
    const uint32_t *word = words + (first + before) / 32;
    if (threadIdx.x >= GROUPS)
        return;
    const uint32_t low = left ? word[0] : 0, high = left > 32 - shift ? word[1] : 0;
    s.bits[threadIdx.x] = __funnelshift_r(low, high, shift) & low_bits(left);
}

/* Kept items before each group, by one warp; returns those of the tile. */
template <int GROUPS> GPI_DEVICE uint32_t list_count(ListShared<GROUPS> &s)
{
    constexpr int each = GROUPS / 32;
    uint32_t before[each], sum = 0;
#pragma unroll
    for (int k = 0; k < each; k++) {
        before[k] = sum;
        sum += __popc(s.bits[each * lane_id() + k]);
    }
    const uint32_t lanes_before = warp_exclusive(sum);
#pragma unroll
    for (int k = 0; k < each; k++)
        s.before[each * lane_id() + k] = lanes_before + before[k];
    return __shfl_sync(all_lanes, lanes_before + sum, 31);
}

/* put(i, place) for the items of a tile, with the place in its order: kept ones, then, of a
 * partition, the others. */
template <class Put, int GROUPS>
GPI_DEVICE void list_each(const ListShared<GROUPS> &s, uint32_t count, bool partition,
                          const Put &put)
{
    for (uint32_t g = threadIdx.x / 32; 32 * g < count; g += warps) {
        const uint32_t i = 32 * g + lane_id(), bits = s.bits[g];
        const uint32_t left = s.before[g] + __popc(bits & ((1u << lane_id()) - 1));
        if (bits >> lane_id() & 1)
            put(i, left);
        else if (partition && i < count)
            put(i, s.tile_kept + i - left);
    }
}

/* The items themselves in that order, word by word, four items of a lane at once: where they come
 * from memory is readable for a word behind them. */
template <int GROUPS>
GPI_DEVICE void list_pack(const ListShared<GROUPS> &s, uint32_t count, bool partition,
                          uint32_t item_bytes, const char *stage, char *packed)
{
    constexpr uint32_t batch = 4;
    const uint32_t under = (1u << lane_id()) - 1, warp = threadIdx.x / 32;
    for (uint32_t g = warp; 32 * g < count; g += batch * warps) {
        uint32_t from[batch], to[batch];
        bool moves[batch];
#pragma unroll
        for (uint32_t k = 0; k < batch; k++) {
            const uint32_t group = min(g + k * warps, (uint32_t)GROUPS - 1);
            const uint32_t i = 32 * (g + k * warps) + lane_id(), bits = s.bits[group];
            const uint32_t left = s.before[group] + __popc(bits & under);
            const bool kept = bits >> lane_id() & 1;
            from[k] = (i < count ? i : 0) * item_bytes;
            to[k] = (kept ? left : s.tile_kept + i - left) * item_bytes;
            moves[k] = (kept || partition) && i < count;
        }
        for (uint32_t at = 0; at < item_bytes; at += 4) {
            uint32_t word[batch];
#pragma unroll
            for (uint32_t k = 0; k < batch; k++)
                word[k] = raw_word_at(stage + from[k] + at).w[0];
#pragma unroll
            for (uint32_t b = 0; b < 4; b++) {
                if (at + b >= item_bytes)
                    break;
#pragma unroll
                for (uint32_t k = 0; k < batch; k++)
                    if (moves[k])
                        packed[to[k] + at + b] = (char)(word[k] >> 8 * b);
            }
        }
    }
}

/* The items of the list, `items` of them, to out. */
template <class Word>
GPI_DEVICE void list_store(const Word *stage, const uint16_t *list, uint32_t items,
                           const ItemWords &words, Word *out)
{
    for (uint32_t w = threadIdx.x; w < items * words.count; w += threads) {
        const uint32_t j = words.item_of(w);
        out[w] = stage[list[j] * words.count + w - j * words.count];
    }
}

/* Bytes [from, from + bytes) of shared memory to out, 16 at a time between its boundaries. */
GPI_DEVICE void list_store_packed(const char *from, uint32_t bytes, char *out)
{
    const uint32_t begin = misalignment(out), end = begin + bytes;
    const uint32_t first = (begin + 15) / 16, last = end / 16;
    const uint32_t head = first * 16 < end ? first * 16 : end;
    const uint32_t tail = last < first ? end : last * 16;
    char *base = out - begin;
    from -= begin; /* of vector v: from + 16 v */
    const uint32_t shift = (uintptr_t)from % 4 * 8;
    for (uint32_t v = first + threadIdx.x; v < last; v += threads) {
        const uint32_t *words = (const uint32_t *)(from - shift / 8) + 4 * v;
        uint32_t w[5];
#pragma unroll
        for (int k = 0; k < 5; k++)
            w[k] = words[k];
        ((uint4 *)base)[v] =
            make_uint4(__funnelshift_r(w[0], w[1], shift), __funnelshift_r(w[1], w[2], shift),
                       __funnelshift_r(w[2], w[3], shift), __funnelshift_r(w[3], w[4], shift));
    }
    if (begin + threadIdx.x < head)
        base[begin + threadIdx.x] = from[begin + threadIdx.x];
    if (tail + threadIdx.x < end)
        base[tail + threadIdx.x] = from[tail + threadIdx.x];
}

/* The positions of the first `items` of the list, whose tile begins at `first`. */
GPI_DEVICE void list_store_indices(const gpi_compact_args &a, const uint16_t *list, uint32_t items,
                                   uint64_t first, uint64_t place)
{
#pragma unroll 1 /* or all loops of the kernel lack registers */
    for (uint32_t j = threadIdx.x; j < items; j += threads)
        store_index(a, place + j, first + list[j]);
}

/* Outputs from a place on that fit below a capacity. */
GPI_DEVICE uint32_t list_room(uint64_t capacity, uint64_t place, uint32_t items)
{
    const uint64_t left = place < capacity ? capacity - place : 0;
    return left < items ? (uint32_t)left : items;
}

/* By one warp: the tile's count and what is before it. */
template <int GROUPS>
GPI_DEVICE void list_look_ahead(const CompactParams &p, ListShared<GROUPS> &s,
                                CountAhead<false> &ahead, const TileState<uint32_t> &state,
                                uint32_t tile, uint32_t tiles, uint32_t tile_kept)
{
    if (lane_id() == 0) {
        order_in_place(p);
        state.publish(tile, tile_kept);
    }
    const Before<false> prefix = ahead.exclusive(state, tile);
    order_in_place(p);
    if (lane_id() == 0) {
        s.prefix = prefix.kept;
        if (tile == tiles - 1)
            compact_finish(p, prefix.after(tile_kept));
    }
}

/*
 * Grid: one block per tile, or fewer; 8 warps. Tile: tile_items, at most 32 groups_of<PACK>, in
 * dynamic shared memory, where the list begins at list_at. PACK: items go to packed_at in their
 * order, and leave from there as whole words of 16 bytes; the list is for indices. Blocks claim
 * tiles in order (device/epoch.cuh). After: all outputs and the count.
 */
template <class Word, bool PACK>
__global__ void __launch_bounds__(threads, blocks_of<PACK>)
    compact_list_k(const CompactParams p, const uint32_t tile_items, const uint32_t list_at,
                   const uint32_t packed_at)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ ListShared<groups_of<PACK>> s;
    const ItemWords words(p.a.item_bytes / sizeof(Word));
    uint16_t *list = (uint16_t *)(memory + list_at);
    char *packed = memory + packed_at;

    /* 1. Which tile. */
    if (threadIdx.x == 0) {
        const uint64_t number = counter_claim(p.state); /* beside a trip to the number of items */
        s.n = item_count(p.a);
        s.launch = launch_begin(p.state, (uint32_t)((s.n + tile_items - 1) / tile_items), number);
        s.others = p.a.sides ? others_begin(p.a) : NULL;
    }
    __syncthreads();
    const uint64_t n = s.n;
    const uint32_t tiles = (uint32_t)((n + tile_items - 1) / tile_items);
    const TileState<uint32_t> state(p.state, s.launch.epoch);
    CountAhead<false> ahead;
    if (threadIdx.x == 0 && s.launch.tile == 0) {
        state.retire_one(p.state, tiles);
        if (tiles == 0)
            compact_finish<false>(p, {0, 0});
    }

    for (uint32_t tile = s.launch.tile; tile < tiles; tile = s.next) {
        const uint64_t first = (uint64_t)tile * tile_items;
        const uint32_t count = n - first < tile_items ? (uint32_t)(n - first) : tile_items;

        /* 2. One bit per item; the items to the stage. */
        if (p.a.bits)
            list_mark_bits((const uint32_t *)p.a.keep, first, count, s);
        else
            list_mark((const uint8_t *)p.a.keep + first, count, s);
        const Word *stage = (const Word *)stage_items<threads>(
            (const char *)p.a.in + first * p.a.item_bytes, count * p.a.item_bytes, memory);
        __syncthreads();

        /* 3. The tile's count, and where its items are in its order; those of the tiles before. */
        if (threadIdx.x < 32) {
            const uint32_t kept = list_count(s);
            if (lane_id() == 0)
                s.tile_kept = kept;
        }
        __syncthreads();
        const uint32_t tile_kept = s.tile_kept;
        if (threadIdx.x < 32)
            list_look_ahead(p, s, ahead, state, tile, tiles, tile_kept);
        if constexpr (PACK)
            list_pack(s, count, p.a.sides > 0, p.a.item_bytes, (const char *)stage, packed);
        if (!PACK || p.a.indices)
            list_each(s, count, p.a.sides > 0,
                      [&](uint32_t i, uint32_t place) { list[place] = (uint16_t)i; });
        __syncthreads();

        /* 4. Store. */
        stall(stall_store, s.launch.epoch, tile);
        const uint32_t room = list_room(p.a.capacity, s.prefix, tile_kept);
        const auto store = [&](uint32_t from, uint32_t items, char *out, uint64_t place) {
            Word *to = (Word *)out + place * words.count;
            if constexpr (PACK)
                list_store_packed(packed + from * p.a.item_bytes, items * p.a.item_bytes,
                                  (char *)to);
            else
                list_store(stage, list + from, items, words, to);
        };
        store(0, room, (char *)p.a.out, s.prefix);
        if (p.a.indices)
            list_store_indices(p.a, list, room, first, s.prefix);
        if (p.a.sides) {
            const uint64_t place = first - s.prefix;
            store(tile_kept, list_room(p.a.side[0].capacity, place, count - tile_kept), s.others,
                  place);
        }
        /* 5. The next tile: those behind it wait for its count from here on. */
        if (threadIdx.x == 0)
            s.next = tile_next(p.state, tiles);
        __syncthreads();
    }
}

template <class Word, bool PACK>
gp_status launch(gp_context *ctx, const char *function, CompactParams &p)
{
    const uint32_t tile_items = gpi_compact_tile_items(&p.a, ctx->sm_count);
    const uint64_t tiles = gpi_compact_tiles(&p.a, ctx->sm_count);
    if (tiles > UINT32_MAX) /* 2^47 bytes of items, at least */
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                        "%s: more items of %u bytes than tiles have numbers", function,
                        p.a.item_bytes);
    auto kernel = compact_list_k<Word, PACK>;
    /* Items begin at their place in 16 bytes of memory. Of packed ones whole words are read. */
    const uint32_t bytes = (tile_items * p.a.item_bytes + 47) / 16 * 16;
    const uint32_t packed_at = bytes, list_at = PACK ? 2 * bytes : bytes;
    const int shared = (int)(list_at + (!PACK || p.a.indices ? tile_items * sizeof(uint16_t) : 0));
    constexpr int own = (int)sizeof(ListShared<groups_of<PACK>>), blocks_max = blocks_of<PACK>;
    const int fit = compact_tuning.shared_bytes / (shared + own);
    const uint64_t most = (uint64_t)ctx->sm_count * (fit < 1            ? 1
                                                     : fit < blocks_max ? fit
                                                                        : blocks_max);
    uint64_t allowed = 0; /* every time: few calls ask for it */
    if (shared + own > shared_unasked)
        GPI_TRY(shared_memory_allow(ctx, function, kernel, shared, &allowed));
    GPI_TRY(gpi_state_get(ctx, function, tiles, &p.state));
    LaunchList list;
    GPI_TRY(compact_count<0>(ctx, function, p, list));
    list.add(launch_dependent(kernel, p.a.follows, (uint32_t)(tiles < most ? tiles : most), threads,
                              shared, p, tile_items, list_at, packed_at));
    return list.queue(ctx, function);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_compact_list)(gp_context *ctx, const char *function,
                                                    const gpi_compact_args *a)
{
    using namespace GPI_SPACE;
    CompactParams p = {*a, {}, gpi_reporter_of(ctx, nullptr, (gp_dtype)0)};
    if (gpi_compact_is_packed(a->item_bytes))
        return launch<uint8_t, true>(ctx, function, p);
    return a->item_bytes % 16 == 0  ? launch<uint4, false>(ctx, function, p)
           : a->item_bytes % 8 == 0 ? launch<uint64_t, false>(ctx, function, p)
           : a->item_bytes % 4 == 0 ? launch<uint32_t, false>(ctx, function, p)
           : a->item_bytes % 2 == 0 ? launch<uint16_t, false>(ctx, function, p)
                                    : launch<uint8_t, false>(ctx, function, p);
}
