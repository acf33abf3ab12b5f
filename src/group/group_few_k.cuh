/* SPDX-License-Identifier: MIT */
/*
 * The folds of few groups, without a sort.
 *
 * A block finds the keys of its items in a hash table of shared memory, which numbers them, and
 * every warp has an accumulator of its own for each key. Of the 32 items that a warp takes at once
 * those of equal keys are folded by a tree over their lanes, and the first lane adds the result.
 * So no two warps write to the same accumulator, and which values are folded in what order depends
 * on where they lie alone, not on the numbers of keys: floats have the same bits in every run. Then
 * the block folds the accumulators of its warps, and puts keys into a table of all blocks; behind a
 * barrier a warp folds those of one key, in order, and finds its place by counting keys that are
 * less. The parts of the items that blocks take are as many on every device of an architecture.
 *
 * More keys than there is room for make all blocks give up, mostly as soon as they have seen as
 * many items: then everything is sorted. So does a float that is not the one of its word (a zero or
 * a NaN of other bits, of which the first is wanted).
 */
#pragma once

#include <algorithm>

#include "device/item_count.cuh"
#include "device/lasting_barrier.cuh"
#include "device/report.cuh"
#include "group/group_bucket_rows.cuh"
#include "tuning/group_tuning.cuh"

namespace GPI_SPACE
{

struct FewParams {
    BucketForm form;
    bool first;    /* of the folds */
    uint64_t *met; /* of a LastingBarrier */
    gpi_group_few *few;
    void *folds; /* [part][place of a key] */
    const void *keys;
    const char *values;
    uint64_t n;
    const uint64_t *device_n;
    KeyOrder<uint32_t> order4;
    KeyOrder<uint64_t> order8;
    void *keys_out; /* or NULL */
    void *out;
    uint64_t capacity;
    gpi_reporter reporter;

    template <class K> GPI_DEVICE const KeyOrder<K> &order() const
    {
        if constexpr (sizeof(K) == 4)
            return order4;
        else
            return order8;
    }
};

constexpr int few_fixed_bytes = (4 * GPI_GROUP_FEW + 2) * 12;

/* Warps of a block, of which a multiprocessor has one. */
template <class Cell>
constexpr int few_warps = std::min<int>(32, (gpu.block_shared_bytes - few_fixed_bytes) /
                                                (GPI_GROUP_FEW * (int)sizeof(Cell)));

/* Tables have words of keys, of which 0 is none: its key has the place behind the last one. */
template <class K> constexpr K few_vacant = (K)0x9e3779b97f4a7c15u;

/* `bits` bits. */
template <class K> GPI_DEVICE uint32_t few_hash(K word, int bits)
{
    uint32_t x = (uint32_t)word * 0x9e3779b1u;
    if constexpr (sizeof(K) == 8)
        x += (uint32_t)(word >> 32) * 0x85ebca6bu;
    return x >> (32 - bits);
}

template <class K> GPI_DEVICE K few_swap(K *at, K key)
{
    if constexpr (sizeof(K) == 8)
        return (K)atomicCAS((unsigned long long *)at, 0ull, (unsigned long long)key);
    else
        return atomicCAS(at, (K)0, key);
}

template <class K, class Cell> struct GroupFew : BucketRows<Cell, 4> {
    using Base = BucketRows<Cell, 4>;
    using Base::batch, Base::T, Base::for_rows;
    using Rows = typename Base::template Rows<K>;
    static constexpr uint32_t most = GPI_GROUP_FEW, places = 4 * most, all_places = 2 * most;
    static constexpr int places_bits = 12, ways = 16 / sizeof(K);
    static_assert(1 << places_bits == places, "a hash function's");
    static constexpr uint32_t none = ~0u, all_rows = (1u << batch) - 1;
    static constexpr int warps = few_warps<Cell>;
    static constexpr uint32_t parts = group_tuning.few_parts;
    static_assert(parts <= GPI_GROUP_FEW_PARTS, "there is room");

    /* Neighbours, in which a key is sought first. */
    struct alignas(16) Places {
        K keys[ways];
    };

    struct Shared {
        Cell table[warps][most];
        alignas(16) K keys[places + 1];
        uint32_t number[places + 1];
        uint32_t count; /* numbers that have been given */
    };

    const FewParams &p;
    Shared &s;

    GPI_DEVICE bool is_full() const
    {
        return *(volatile uint32_t *)&s.count > most;
    }

    GPI_DEVICE Cell *folds_of(uint32_t part) const
    {
        return (Cell *)p.folds + (uint64_t)part * (all_places + 1);
    }

    GPI_DEVICE K *table() const
    {
        return (K *)(p.few + 1);
    }

    /* Whether a sample may be of no more keys than there is room for, by bits of their hashes: as
     * many that are equally frequent give 7/8 of their number. Blocks take the same words, each
     * from another one on, and not at equal distances, for they come out of the L2. */
    GPI_DEVICE bool may_be_few() const
    {
        constexpr uint32_t samples = 2 * most, words = 2 * most, step = 32 * warps;
        const uint64_t n = item_count(p), piece = n / samples;
        uint32_t *const bits = (uint32_t *)s.table;
        uint32_t seen = 0;
        for (uint32_t i = threadIdx.x; i < words; i += step)
            bits[i] = 0;
        if (threadIdx.x == 0)
            s.count = 0;
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < samples && piece > 0; i += step) {
            const uint32_t own = (i + 16 * blockIdx.x) % samples;
            const uint64_t at = piece * own + __umulhi(own * 0x9e3779b1u, (uint32_t)piece);
            const uint32_t hash = few_hash(((const K *)p.keys)[at], 16);
            atomicOr(&bits[hash / 32], 1u << hash % 32);
        }
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < words; i += step)
            seen += __popc(bits[i]);
        seen = warp_reduce<Sum<uint32_t>>(seen);
        if (lane_id() == 0)
            atomicAdd(&s.count, seen);
        __syncthreads();
        const bool few = s.count <= most / 16 * 15;
        __syncthreads();
        return few;
    }

    GPI_DEVICE void clear() const
    {
        const uint32_t step = 32 * warps;
        for (uint32_t i = threadIdx.x; i <= places; i += step)
            s.keys[i] = 0, s.number[i] = none;
        if (threadIdx.x == 0)
            s.count = 0;
        for (uint32_t i = blockIdx.x * step + threadIdx.x; i < all_places; i += gridDim.x * step)
            table()[i] = 0;
        if (blockIdx.x == 0 && threadIdx.x == 0)
            *p.few = {};
        by_operator<Cell>(p.form, [&](auto op) {
            const Cell empty = bits_as<Cell>(decltype(op)::identity());
            for (uint32_t i = threadIdx.x; i < warps * most; i += step)
                s.table[0][i] = empty;
        });
        __syncthreads();
    }

    /* The number of a key that was not at the place where it is sought first; any one if there are
     * too many keys. A call, as it is rare. */
    static __device__ __noinline__ uint32_t seek(Shared &s, K key, uint32_t at)
    {
        if (key == 0)
            at = places;
        while (key) {
            const K there = *(volatile K *)&s.keys[at];
            if (there == key)
                break;
            if (there == 0) {
                if (*(volatile uint32_t *)&s.count > most)
                    return 0;
                const K before = few_swap(&s.keys[at], key);
                if (before == 0 || before == key)
                    break;
            }
            at = (at + 1) % places;
        }
        volatile uint32_t *const number = &s.number[at];
        if (*number == none && atomicCAS(&s.number[at], none, none - 1) == none)
            atomicExch(&s.number[at], min(atomicAdd(&s.count, 1u), most - 1));
        while (*number >= none - 1) /* another thread is about to write it */
            ;
        return *number;
    }

    /* Numbers of the keys of all rows. */
    GPI_DEVICE void number_rows(const K (&key)[batch], uint32_t (&number)[batch]) const
    {
        uint32_t at[batch], missing = 0;
        Places there[batch];
        for_rows([&](int j) {
            const K word = key[j] ^ few_vacant<K>;
            at[j] = few_hash(word, places_bits) / ways * ways;
            there[j] = *(const Places *)&s.keys[at[j]];
        });
        for_rows([&](int j) {
            const K word = key[j] ^ few_vacant<K>;
            uint32_t way = ways;
#pragma unroll
            for (int w = 0; w < ways; w++)
                way = there[j].keys[w] == word ? w : way;
            number[j] = s.number[at[j] + way];
            missing |= (uint32_t)(way == ways || number[j] >= none - 1) << j;
        });
        if (__all_sync(all_lanes, !missing))
            return;
        for_rows([&](int j) {
            if (missing >> j & 1)
                number[j] = seek(s, key[j] ^ few_vacant<K>, at[j]);
            __syncwarp();
        });
    }

    /* The values of lanes with the same number, in the first one of them (Westphal 2015). */
    template <class Op, class A> static GPI_DEVICE A fold_peers(A x, uint32_t peers, uint32_t rank)
    {
        uint32_t above = peers & ~1u << lane_id();
        while (__any_sync(all_lanes, above)) {
            const int next = __ffs(above);
            const A other = shuffle(x, next ? next - 1 : lane_id());
            if (next)
                x = Op::apply(x, other);
            above &= __ballot_sync(all_lanes, !(rank & 1));
            rank >>= 1;
        }
        return x;
    }

    GPI_DEVICE void fold(const Cell (&value)[batch], const uint32_t (&number)[batch],
                         uint32_t rows) const
    {
        by_operator<Cell>(p.form, [&](auto op) {
            using Op = decltype(op);
            using A = Operand<Op>;
            A *const own = (A *)s.table[threadIdx.x / 32];
            for_rows([&](int j) {
                const uint32_t peers = __match_any_sync(all_lanes, number[j]);
                const uint32_t rank = __popc(peers & ((1u << lane_id()) - 1));
                const A item = item_flipped<Op, A>(bits_as<A>(value[j]), p.form.flip);
                const A x = fold_peers<Op>(rows >> j & 1 ? item : Op::identity(), peers, rank);
                if (rank == 0)
                    own[number[j]] = Op::apply(own[number[j]], x);
                __syncwarp();
            });
        });
    }

    GPI_DEVICE void load(Rows &r, uint64_t first, uint64_t n) const
    {
        const K *keys = (const K *)p.keys + first;
        const char *values = p.values + first * p.form.in_bytes;
        const uint32_t own = lane_id();
        if (first >= n)
            return;
        const uint32_t last = (uint32_t)min(n - first, (uint64_t)batch * T) - 1;
        r.there = own > last ? 0 : all_rows >> (batch - 1 - (last - own) / T);
        if (last + 1 == batch * T)
            r.read(p.form, keys, values, own);
        else
            r.read_rest(p.form, keys, values, own, last);
    }

    /* Rows in turn with the warps of all parts; until there are too many keys. */
    GPI_DEVICE void read(uint32_t part) const
    {
        const uint64_t n = item_count(p), step = (uint64_t)parts * warps * batch * T;
        uint64_t at = (uint64_t)(threadIdx.x / 32 * parts + part) * batch * T;
        const KeyOrder<K> &order = p.order<K>();
        Rows rows, next;
        load(rows, at, n);
#pragma unroll 1
        for (; at < n; at += step) {
            uint32_t number[batch];
            load(next, at + step, n);
            const uint32_t gave_up = *(volatile uint64_t *)&p.few->gave_up;
            rows.widen(p.form);
            if (order.merged) {
                bool its_own = true;
                for_rows([&](int j) {
                    its_own = its_own && order.template is_of_word<true>(rows.key[j]);
                });
                if (!its_own)
                    atomicMax(&s.count, most + 1);
            }
            number_rows(rows.key, number);
            fold(rows.value, number, rows.there);
            rows = next;
            if (__any_sync(all_lanes, gave_up || is_full()))
                break;
        }
    }

    /* The place of a key in the table of all blocks. */
    GPI_DEVICE uint32_t place_of(K key) const
    {
        if (key == 0) {
            *(volatile uint32_t *)&p.few->has_zero = 1;
            return all_places;
        }
        uint32_t at = few_hash(key, places_bits - 1);
        for (uint32_t i = 0; i < all_places; i++, at = (at + 1) % all_places) {
            const K there = *(volatile K *)(table() + at);
            if (there == key)
                return at;
            if (there)
                continue;
            const K before = few_swap(table() + at, key);
            if (before == 0 && atomicAdd(&p.few->count, 1u) >= most)
                break;
            if (before == 0 || before == key)
                return at;
        }
        *(volatile uint64_t *)&p.few->gave_up = 1;
        return all_places;
    }

    /* What has been found in a part; nothing is left in the table. False: too many keys. */
    GPI_DEVICE bool publish(uint32_t part) const
    {
        Cell *const folds = folds_of(part);
        __syncthreads();
        if (is_full()) {
            *(volatile uint64_t *)&p.few->gave_up = 1;
            return false;
        }
        by_operator<Cell>(p.form, [&](auto op) {
            using Op = decltype(op);
            using A = Operand<Op>;
            for (uint32_t i = threadIdx.x; i <= all_places; i += 32 * warps)
                folds[i] = bits_as<Cell>(Op::identity());
            __syncthreads();
            for (uint32_t i = threadIdx.x; i <= places; i += 32 * warps) {
                const uint32_t number = s.number[i];
                if (number == none)
                    continue;
                A x = Op::identity();
                for (int w = 0; w < warps; w++) {
                    x = Op::apply(x, bits_as<A>(s.table[w][number]));
                    s.table[w][number] = bits_as<Cell>(Op::identity());
                }
                folds[place_of(s.keys[i])] = bits_as<Cell>(x);
            }
        });
        __syncthreads();
        return true;
    }

    /* Words of the keys of all blocks, and whether there are some. */
    GPI_DEVICE void collect() const
    {
        for (uint32_t i = threadIdx.x; i <= all_places; i += 32 * warps) {
            const K word = i < all_places ? __ldcg(table() + i) : (K)0;
            s.keys[i] = p.order<K>().template word<true>(word ^ few_vacant<K>);
            s.number[i] = i < all_places ? word != 0 : __ldcg(&p.few->has_zero);
        }
        __syncthreads();
    }

    /* The group of a place. */
    GPI_DEVICE void store(uint32_t place) const
    {
        const K word = s.keys[place];
        uint32_t less = 0;
#pragma unroll 4
        for (uint32_t i = lane_id(); i <= all_places; i += 32)
            less += s.number[i] && s.keys[i] < word;
        less = warp_reduce<Sum<uint32_t>>(less);
        by_operator<Cell>(p.form, [&](auto op) {
            using Op = decltype(op);
            using A = Operand<Op>;
            A x = Op::identity();
            for (uint32_t b = lane_id(); b < parts; b += 32)
                x = Op::apply(x, bits_as<A>(__ldcg(folds_of(b) + place)));
            x = item_flipped<Op, A>(warp_reduce<Op>(x), p.form.flip);
            if (lane_id() == 0 && less < p.capacity)
                ((Cell *)p.out)[less] = bits_as<Cell>(x);
        });
        if (lane_id() == 0 && less < p.capacity && p.first && p.keys_out)
            ((K *)p.keys_out)[less] = p.order<K>().template key<true>(word);
    }

    /* By one thread. */
    GPI_DEVICE void finish(bool all, uint32_t groups) const
    {
        p.few->remaining = all ? 0 : item_count(p);
        p.few->groups = all ? groups : 0;
        if (all && p.first && groups > p.capacity)
            report(p.reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, groups, p.capacity);
    }

    GPI_DEVICE void run() const
    {
        if (!may_be_few()) {
            if (blockIdx.x == 0 && threadIdx.x == 0)
                finish(false, 0);
            return;
        }
        clear();
        LastingBarrier{p.met}.wait(gridDim.x);
        for (uint32_t part = blockIdx.x; part < parts; part += gridDim.x) {
            read(part);
            if (!publish(part))
                break;
        }
        LastingBarrier{p.met}.wait(gridDim.x);
        const uint32_t groups = __ldcg(&p.few->count) + __ldcg(&p.few->has_zero);
        const bool all = !__ldcg(&p.few->gave_up) && groups <= most;
        if (blockIdx.x == 0 && threadIdx.x == 0)
            finish(all, groups);
        if (!all)
            return;
        collect();
        for (uint32_t i = threadIdx.x / 32 * gridDim.x + blockIdx.x; i <= all_places;
             i += warps * gridDim.x)
            if (s.number[i])
                store(i);
    }
};

/* Grid: blocks that are there at once. After: the groups of all items and nothing remains, or all
 * items do. */
template <class K, class Cell>
__global__ void __launch_bounds__(32 * few_warps<Cell>)
    group_few_k(const __grid_constant__ FewParams p)
{
    extern __shared__ __align__(16) char memory[];
    using Work = GroupFew<K, Cell>;
    Work{{}, p, *(typename Work::Shared *)memory}.run();
}

} // namespace GPI_SPACE
