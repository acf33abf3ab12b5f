/* SPDX-License-Identifier: MIT */
/*
 * Compaction by flags of items of any size. A tile's items wait in shared memory; a list names
 * those that are kept in their order, behind them the others. So the output is written word by
 * word, whatever the size of an item. Of items that are whole words, word w is one of item list[w /
 * words]. Of others, a word of the output has the end of one item and the beginning of the next.
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
/* Words of items of odd sizes: each has bytes of two items at most. */
struct SplitWord {
};
template <class Word> constexpr bool splits = std::is_same_v<Word, SplitWord>;

/* Groups of 32 items of a tile; a warp counts them, so there are as many for each lane. */
template <class Word>
constexpr int groups_of = (splits<Word> ? GPI_COMPACT_SPLIT_TILE_MAX : GPI_COMPACT_LIST_TILE_MAX) /
                          32;
/* Whether a tile's items are on their way while its flags are counted. That frees registers for one
 * more block; with words of 4 bytes, and items of odd sizes, it takes longer (compact-23). */
template <class Word> constexpr bool is_ahead = !splits<Word> && sizeof(Word) != 4;
/* Blocks on a multiprocessor: as many as registers and shared memory allow. */
constexpr int blocks_fit = gpu.threads / threads;
template <class Word> constexpr int blocks_wanted = splits<Word> ? 4 : is_ahead<Word> ? 6 : 5;
template <class Word>
constexpr int blocks_of = blocks_fit < blocks_wanted<Word> ? blocks_fit : blocks_wanted<Word>;
constexpr int shared_unasked = 48 * 1024; /* bytes that every kernel may have */
static_assert(groups_of<SplitWord> <= threads, "a thread per group of 32 items");

/* Which of 32 items are kept, and how many are kept before them in the tile. */
struct alignas(8) ListGroup {
    uint32_t bits, before;
};

template <int GROUPS> struct ListShared {
    Launch launch;
    uint64_t n, prefix;
    char *others; /* of a partition: where they begin */
    alignas(16) ListGroup of[GROUPS];
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
        s.of[threadIdx.x].bits = bits;
        return;
    }
    for (uint32_t g = warp_id(); g < GROUPS; g += batch * warps) {
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
                s.of[g + k * warps].bits = bits;
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
    s.of[threadIdx.x].bits = __funnelshift_r(low, high, shift) & low_bits(left);
}

/* Kept items before each group, by one warp; returns those of the tile. */
template <int GROUPS> GPI_DEVICE uint32_t list_count(ListShared<GROUPS> &s)
{
    constexpr int each = GROUPS / 32;
    uint32_t before[each], sum = 0;
#pragma unroll
    for (int k = 0; k < each; k++) {
        before[k] = sum;
        sum += __popc(s.of[each * lane_id() + k].bits);
    }
    const uint32_t lanes_before = warp_exclusive(sum);
#pragma unroll
    for (int k = 0; k < each; k++)
        s.of[each * lane_id() + k].before = lanes_before + before[k];
    return __shfl_sync(all_lanes, lanes_before + sum, 31);
}

constexpr uint32_t list_batch = 4; /* groups that a warp has at once */

/* put(i, whether item i is kept, kept items before it) for each item of a tile, and for those up to
 * a whole batch of groups. A warp has groups side by side, several at once, as what is read of one
 * is not known to be other memory than what is stored of the last. */
template <int GROUPS, class Put>
GPI_DEVICE void list_each(const ListShared<GROUPS> &s, uint32_t count, const Put &put)
{
    struct alignas(16) Batch {
        ListGroup of[list_batch];
    };
    const uint32_t mine = 1u << lane_id(), groups = (count + 31) / 32;
    const uint32_t each = (groups + list_batch * warps - 1) / (list_batch * warps) * list_batch;
    const uint32_t first = warp_id() * each, end = min(first + each, groups);
#pragma unroll 1
    for (uint32_t g = first; g < end; g += list_batch) {
        const Batch group = *(const Batch *)&s.of[g];
#pragma unroll
        for (uint32_t k = 0; k < list_batch; k++)
            put(32 * (g + k) + lane_id(), group.of[k].bits & mine,
                group.of[k].before + __popc(group.of[k].bits & (mine - 1)));
    }
}

/* The list of a tile: kept items, then, of a partition, the others. Those behind the last item are
 * others, too, and are not read. */
template <int GROUPS>
GPI_DEVICE void list_make(const ListShared<GROUPS> &s, uint32_t count, bool partition,
                          uint16_t *list)
{
    const uint32_t kept_of_tile = s.tile_kept;
    if (partition)
        list_each(s, count, [=](uint32_t i, bool kept, uint32_t before) {
            list[kept ? before : kept_of_tile + i - before] = (uint16_t)i;
        });
    else
        list_each(s, count, [=](uint32_t i, bool kept, uint32_t before) {
            if (kept)
                list[before] = (uint16_t)i;
        });
}

/* The items of the list, `items` of them, to out. */
template <class Word>
GPI_DEVICE void list_store(const char *stage, const uint16_t *list, uint32_t items,
                           const ItemWords &words, char *out)
{
    for (uint32_t w = threadIdx.x; w < items * words.count; w += threads) {
        const uint32_t j = words.item_of(w);
        ((Word *)out)[w] = ((const Word *)stage)[list[j] * words.count + w - j * words.count];
    }
}

/* The same of items of an odd number of halves of a word, which leave as whole words. */
GPI_DEVICE void list_store_halves(const char *stage, const uint16_t *list, uint32_t items,
                                  const ItemWords &halves, char *out)
{
    const uint16_t *in = (const uint16_t *)stage;
    const uint32_t end = items * halves.count, head = (uintptr_t)out / 2 % 2;
    const auto half_at = [&](uint32_t at) -> uint32_t {
        const uint32_t j = halves.item_of(at);
        return in[(list[j] - j) * halves.count + at];
    };
#pragma unroll 2
    for (uint32_t at = head + 2 * threadIdx.x; at + 1 < end; at += 2 * threads)
        *(uint32_t *)(out + 2 * at) = half_at(at) | half_at(at + 1) << 16;
    /* What is before the first word, and behind the last one. */
    const uint32_t at = threadIdx.x ? end - 1 : 0;
    if (threadIdx.x < 2 && at < end && (threadIdx.x ? (end - head) % 2 : head))
        ((uint16_t *)out)[at] = (uint16_t)half_at(at);
}

/* 4 bytes from any address of shared memory; whole words are read. */
GPI_DEVICE uint32_t list_word(const char *from)
{
    const uint32_t *words = (const uint32_t *)(from - ((uintptr_t)from & 3));
    return __funnelshift_r(words[0], words[1], (uint32_t)(uintptr_t)from * 8);
}

/* The same of items of odd sizes, of bytes.count bytes. */
GPI_DEVICE void list_store_split(const char *stage, const uint16_t *list, uint32_t items,
                                 const ItemWords &bytes, char *out)
{
    const uint32_t end = items * bytes.count, pad = (0 - (uint32_t)(uintptr_t)out) & 3;
    const uint32_t head = pad < end ? pad : end, tail = head + (end - head) / 4 * 4;
#pragma unroll 2
    for (uint32_t at = head + 4 * threadIdx.x; at < tail; at += 4 * threads) {
        const uint32_t j = bytes.item_of(at), skip = at - j * bytes.count;
        /* What item j has less than 4 bytes of comes from the next item. */
        const uint32_t lacks = max((int)(skip + 4 - bytes.count), 0);
        const uint32_t x = list_word(stage + list[j] * bytes.count + skip);
        const uint32_t y = list_word(stage + list[j + (lacks > 0)] * bytes.count);
        *(uint32_t *)(out + at) = __funnelshift_r(x << 8 * lacks, y, 8 * lacks);
    }
    const uint32_t at = threadIdx.x < head ? threadIdx.x : tail + threadIdx.x - head;
    if (at < end && threadIdx.x < head + end - tail) {
        const uint32_t j = bytes.item_of(at);
        out[at] = stage[list[j] * bytes.count + at - j * bytes.count];
    }
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
template <bool AT_ONCE, int GROUPS>
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
    if constexpr (AT_ONCE) {
        char *others = others_behind(p, ahead, state, tiles);
        if (lane_id() == 0)
            s.others = others;
    }
    if (lane_id() == 0) {
        s.prefix = prefix.kept;
        if (tile == tiles - 1)
            compact_finish(p, prefix.after(tile_kept));
    }
}

/*
 * Grid: one block per tile, or fewer; 8 warps. Tile: tile_items, at most 32 groups_of<Word>, in
 * dynamic shared memory, where the list begins at list_at. Blocks claim tiles in order
 * (device/epoch.cuh). AT_ONCE: a cooperative launch with a block per tile. After: all outputs and
 * the count.
 */
template <class Word, bool AT_ONCE>
__global__ void __launch_bounds__(threads, blocks_of<Word>)
    compact_list_k(const CompactParams p, const uint32_t tile_items, const uint32_t list_at)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ ListShared<groups_of<Word>> s;
    const ItemWords words(splits<Word> ? p.a.item_bytes : p.a.item_bytes / sizeof(Word));
    uint16_t *list = (uint16_t *)(memory + list_at);

    /* 1. Which tile. */
    if (threadIdx.x == 0) {
        const uint64_t number = counter_claim(p.state); /* beside a trip to the number of items */
        s.n = item_count(p.a);
        s.launch = launch_begin(p.state, (uint32_t)((s.n + tile_items - 1) / tile_items), number);
        s.others = p.a.sides ? others_begin(p) : NULL;
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
        const char *in = (const char *)p.a.in + first * p.a.item_bytes, *stage;
        const uint32_t bytes = count * p.a.item_bytes;
        if constexpr (is_ahead<Word>)
            stage = stage_items<threads, true>(in, bytes, memory);
        if (p.a.bits)
            list_mark_bits((const uint32_t *)p.a.keep, first, count, s);
        else
            list_mark((const uint8_t *)p.a.keep + first, count, s);
        if constexpr (!is_ahead<Word>)
            stage = stage_items<threads>(in, bytes, memory);
        else if (p.a.in_place) /* who publishes a count has read the items */
            stage_wait();
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
            list_look_ahead<AT_ONCE>(p, s, ahead, state, tile, tiles, tile_kept);
        list_make(s, count, p.a.sides > 0, list);
        if constexpr (is_ahead<Word>)
            stage_wait();
        __syncthreads();

        /* 4. Store. */
        stall(stall_store, s.launch.epoch, tile);
        const uint32_t room = list_room(p.a.capacity, s.prefix, tile_kept);
        const auto store = [&](uint32_t from, uint32_t items, char *out, uint64_t place) {
            char *to = out + place * p.a.item_bytes;
            __builtin_assume(__isGlobal(to));
            if constexpr (splits<Word>)
                list_store_split(stage, list + from, items, words, to);
            else if constexpr (sizeof(Word) == 2)
                list_store_halves(stage, list + from, items, words, to);
            else
                list_store<Word>(stage, list + from, items, words, to);
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

template <class Word> gp_status launch(gp_context *ctx, const char *function, CompactParams &p)
{
    const uint32_t tile_items = gpi_compact_tile_items(&p.a, ctx->sm_count);
    const uint64_t tiles = gpi_compact_tiles(&p.a, ctx->sm_count);
    if (tiles > UINT32_MAX) /* 2^47 bytes of items, at least */
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                        "%s: more items of %u bytes than tiles have numbers", function,
                        p.a.item_bytes);
    /* Items begin at their place in 16 bytes of memory, and whole words are read behind them. */
    const uint32_t list_at = (tile_items * p.a.item_bytes + 47) / 16 * 16;
    const int shared = (int)(list_at + (tile_items + 32 * list_batch) * sizeof(uint16_t));
    constexpr int own = (int)sizeof(ListShared<groups_of<Word>>), blocks_max = blocks_of<Word>;
    const int fit = compact_tuning.shared_bytes / (shared + own);
    const uint64_t most = (uint64_t)ctx->sm_count * (fit < 1            ? 1
                                                     : fit < blocks_max ? fit
                                                                        : blocks_max);
    const uint32_t grid = (uint32_t)(tiles < most ? tiles : most);
    p.at_once = compact_is_at_once(p, tiles, most);
    const auto kernel = p.at_once ? compact_list_k<Word, true> : compact_list_k<Word, false>;
    uint64_t allowed = 0; /* every time: few calls ask for it */
    if (shared + own > shared_unasked)
        GPI_TRY(shared_memory_allow(ctx, function, kernel, shared, &allowed));
    GPI_TRY(gpi_state_get(ctx, function, tiles, &p.state));
    LaunchList list;
    GPI_TRY(compact_count_flags(ctx, function, p, list));
    list.add(p.at_once ? launch_cooperative(kernel, grid, threads, shared, p, tile_items, list_at)
                       : launch_dependent(kernel, p.a.follows, grid, threads, shared, p, tile_items,
                                          list_at));
    return list.queue(ctx, function);
}

} // namespace

gp_status compact_count_flags(gp_context *ctx, const char *function, CompactParams &p,
                              LaunchList &list)
{
    return compact_count<0>(ctx, function, p, list);
}

} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_compact_list)(gp_context *ctx, const char *function,
                                                    const gpi_compact_args *a)
{
    using namespace GPI_SPACE;
    CompactParams p = {*a, {}, gpi_reporter_of(ctx, nullptr, (gp_dtype)0), false, false, false};
    return a->item_bytes % 16 == 0  ? launch<uint4>(ctx, function, p)
           : a->item_bytes % 8 == 0 ? launch<uint64_t>(ctx, function, p)
           : a->item_bytes % 4 == 0 ? launch<uint32_t>(ctx, function, p)
           : a->item_bytes % 2 == 0 ? launch<uint16_t>(ctx, function, p)
                                    : launch<SplitWord>(ctx, function, p);
}
