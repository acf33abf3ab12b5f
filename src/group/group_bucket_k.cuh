/* SPDX-License-Identifier: MIT */
/*
 * The folds of groups out of the buckets of a sort that are not sorted yet.
 *
 * A bucket holds all items of a range of keys. Where it has few keys, a warp finds them while it
 * reads the bucket once: keys stand in a small table of shared memory (group_bucket_words.cuh), and
 * beside each of them every lane has an accumulator of its own. So no two lanes write to the same
 * place, and which values a lane folds, in what order, depends on where they lie alone: floats have
 * the same bits in every run. At the end the warp folds the accumulators of a key by a tree, and
 * the keys of the bucket are put in order by counting those that are less.
 *
 * Large buckets are cut into chunks (group_chunks_k.cuh), whose groups are items again: of up to
 * join_parts chunks the last warp that is done folds those of all, and of that many such joins the
 * last one does; always in the order of the chunks.
 *
 * A bucket with more keys than the table has room for, or with a float that is not the one of its
 * word (a zero or a NaN of other bits, of which the first is wanted), makes all warps give up: then
 * the buckets are sorted as if nothing had been tried. Otherwise the sort ends here.
 */
#pragma once

#include <algorithm>

#include "group/group_bucket_rows.cuh"
#include "group/group_bucket_words.cuh"
#include "group/group_chunks_k.cuh"

namespace GPI_SPACE
{

constexpr int bucket_warps = 4; /* of a block, each for itself */

template <class Cell> struct BucketFold : BucketRows<Cell> {
    using Base = BucketRows<Cell>;
    using Base::batch, Base::T, Base::for_rows;
    using typename Base::Values;
    template <class K> using Rows = typename Base::template Rows<K>;
    static constexpr int most = bucket_keys;
    static constexpr int quad = 4; /* rows whose accumulators are read at once */
    static constexpr uint32_t all_rows = (1u << batch) - 1;
    static constexpr uint32_t join_parts = 64;
    using Known = BucketWords::Known;

    struct Shared {
        char table[most][T][sizeof(Cell)];
        BucketWords words;
        uint8_t rank[most];
    };

    const BucketParams &p;
    Shared &s;

    template <class A> GPI_DEVICE A &cell(uint32_t number, uint32_t lane) const
    {
        return *(A *)s.table[number][lane];
    }

    GPI_DEVICE bool others_gave_up() const
    {
        return __any_sync(all_lanes, *(volatile uint32_t *)&p.progress->gave_up);
    }

    static GPI_DEVICE uint32_t warps()
    {
        return gridDim.x * bucket_warps;
    }

    /* ---- the table ---- */

    GPI_DEVICE void clear() const
    {
        by_operator<Cell>(p.form, [&](auto op) {
            using A = Operand<decltype(op)>;
#pragma unroll 4
            for (int i = 0; i < most; i++)
                cell<A>(i, lane_id()) = decltype(op)::identity();
        });
    }

    /* ---- items ---- */

    /* The rows with a bit in `rows`, whose values are `flip`ped. */
    GPI_DEVICE void fold(const Cell (&value)[batch], const uint32_t (&number)[batch], uint32_t rows,
                         const Flip &flip) const
    {
        by_operator<Cell>(p.form, [&](auto op) {
            using Op = decltype(op);
            using A = Operand<Op>;
#pragma unroll
            for (int first = 0; first < batch; first += quad) {
                const uint32_t *at = number + first;
                A own[quad];
#pragma unroll
                for (int j = 0; j < quad; j++)
                    own[j] = cell<A>(at[j], lane_id());
#pragma unroll
                for (int j = 0; j < quad; j++) {
#pragma unroll
                    for (int i = 0; i < j; i++)
                        own[j] = at[i] == at[j] ? own[i] : own[j];
                    const A x = item_flipped<Op, A>(bits_as<A>(value[first + j]), flip);
                    own[j] = Op::apply(own[j], rows >> (first + j) & 1 ? x : Op::identity());
                }
#pragma unroll
                for (int j = 0; j < quad; j++)
                    cell<A>(at[j], lane_id()) = own[j];
            }
        });
    }

    /* Numbers of the words of all rows; false: there are too many, or a float is not its word's. */
    template <class K>
    GPI_DEVICE bool number_rows(const K (&key)[batch], uint32_t (&number)[batch],
                                Known &known) const
    {
        bool found = true, its_own = true;
        const auto seek = [&] {
            for_rows([&](int j) {
                const K word = p.word_of(key[j]);
                number[j] = s.words.number_of(word, known);
                found &= s.words.template at<K>(number[j]) == word;
            });
        };
        seek();
        if (!__all_sync(all_lanes, found)) {
            for_rows([&](int j) {
                if (known.count <= most)
                    known = BucketWords::with<K>(s.words, known, p.word_of(key[j]));
            });
            seek();
        }
        if (p.order<K>().merged)
            for_rows([&](int j) {
                its_own = its_own && p.order<K>().template is_of_word<true>(key[j]);
            });
        return known.count <= most && __all_sync(all_lanes, its_own);
    }

    /* What is folded: the items of a chunk; or the groups of chunks that are `apart` from each
     * other, of which each has room for `most`. */
    struct Source {
        uint32_t number;       /* of the chunk, or of the first one */
        uint32_t first, count; /* items, or places of groups */
        uint32_t apart;        /* 0: items */
    };

    /* Rows from number `begin` on. Groups may have been folded by other multiprocessors: not by way
     * of the L1. Places without one, and rows behind the last item, have a key and no value. */
    template <class K> GPI_DEVICE void load(Rows<K> &r, const Source &from, uint32_t begin) const
    {
        const uint32_t own = begin + lane_id(), last = from.count - 1;
        if (!from.apart) {
            const K *keys = (const K *)p.keys[p.place()] + from.first;
            const char *values = p.values[p.place()] + (uint64_t)from.first * p.form.in_bytes;
            r.there = own > last ? 0 : all_rows >> (batch - 1 - min((last - own) / T, batch - 1u));
            if (begin + batch * T <= from.count)
                r.read(p.form, keys, values, own);
            else if (begin <= last)
                r.read_rest(p.form, keys, values, own, last);
            return;
        }
        const K other = __ldcg((const K *)p.groups + (uint64_t)from.number * most);
        r.there = 0;
        for_rows([&](int j) {
            const uint32_t at = own + j * T, slot = at % most;
            const uint64_t chunk = from.number + min(at, last) / most * from.apart;
            const bool there = at <= last && slot < __ldcg(&p.chunks[chunk].groups);
            const uint64_t place = chunk * most + slot;
            r.key[j] = there ? __ldcg((const K *)p.groups + place) : other;
            r.value[j] = there ? __ldcg((const Cell *)p.folds + place) : Cell();
            r.there |= (uint32_t)there << j;
        });
    }

    /* False: there are more keys than there is room for. */
    template <class K> GPI_DEVICE bool read(const Source &from, Known &known) const
    {
        const Flip flip = from.apart ? Flip{} : p.form.flip;
        Rows<K> rows, next;
        load(rows, from, 0);
#pragma unroll 1
        for (uint32_t begin = 0; begin < from.count; begin += batch * T) {
            uint32_t number[batch];
            load(next, from, begin + batch * T);
            if (!from.apart)
                rows.widen(p.form);
            if (!number_rows(rows.key, number, known))
                return false;
            fold(rows.value, number, rows.there, flip);
            rows = next;
        }
        return true;
    }

    /* The same of items whose keys are one integer. */
    GPI_DEVICE void read_values(const Source &from) const
    {
        const char *values = p.values[p.place()] + (uint64_t)from.first * p.form.in_bytes;
        const uint32_t step = batch * T, last = from.count - 1;
#pragma unroll 1
        for (uint32_t i = lane_id(); i <= last; i += step) {
            Values rows;
            rows.read(p.form, values, [=](int j) { return min(i + j * T, last); });
            rows.widen(p.form);
            by_operator<Cell>(p.form, [&](auto op) {
                using Op = decltype(op);
                using A = Operand<Op>;
                A own = cell<A>(0, lane_id());
                for_rows([&](int j) {
                    const A x = item_flipped<Op, A>(bits_as<A>(rows.value[j]), p.form.flip);
                    own = Op::apply(own, i + j * T <= last ? x : Op::identity());
                });
                cell<A>(0, lane_id()) = own;
            });
        }
    }

    /* ---- groups ---- */

    /* In order: each behind those that are less. */
    template <class K> GPI_DEVICE void store_keys(K *groups, uint32_t count) const
    {
        __syncwarp();
        for (uint32_t i = lane_id(); i < count; i += T) {
            const K own = s.words.template at<K>(i);
            uint32_t less = 0;
#pragma unroll 4
            for (uint32_t j = 0; j < count; j++)
                less += s.words.template at<K>(j) < own;
            s.rank[i] = (uint8_t)less;
            groups[less] = p.order<K>().template key<true>(own);
        }
        __syncwarp();
    }

    /* A key after the other, and nothing is left in the table. */
    GPI_DEVICE void store_folds(Cell *folds, uint32_t count, bool whole) const
    {
        by_operator<Cell>(p.form, [&](auto op) {
            using Op = decltype(op);
            using A = Operand<Op>;
#pragma unroll 2
            for (uint32_t i = 0; i < count; i++) {
                A x = warp_reduce<Op>(cell<A>(i, lane_id()));
                cell<A>(i, lane_id()) = Op::identity();
                x = whole ? item_flipped<Op, A>(x, p.form.flip) : x;
                if (lane_id() == 0)
                    folds[s.rank[i]] = bits_as<Cell>(x);
            }
        });
    }

    /* The groups that have been read; whole: those of a bucket. */
    template <class K> GPI_DEVICE void store(uint32_t number, uint32_t count, bool whole) const
    {
        store_keys((K *)p.groups + (uint64_t)number * most, count);
        store_folds((Cell *)p.folds + (uint64_t)number * most, count, whole);
        if (lane_id() > 0)
            return;
        p.chunks[number].groups = count;
        if (whole && p.first)
            atomicAdd(&p.sums[number / GPI_GROUP_CHUNKS], count);
    }

    /* True for the last one of `parts` warps. Each fold counts on. */
    GPI_DEVICE bool is_last(uint32_t &folded, uint32_t parts) const
    {
        uint32_t before = 0;
        __threadfence(); /* what this warp has stored is there before it counts, */
        __syncwarp();
        if (lane_id() == 0)
            before = atomicAdd(&folded, 1u);
        before = __shfl_sync(all_lanes, before, 0);
        __threadfence(); /* and the last one reads behind that */
        return (before + 1) % parts == 0;
    }

    /* A source, and its groups to the chunk of its number. */
    template <class K> GPI_DEVICE bool fold_source(const Source &from, bool whole) const
    {
        const K key = from.apart ? __ldcg((const K *)p.groups + (uint64_t)from.number * most)
                                 : ((const K *)p.keys[p.place()])[from.first];
        const K word = p.word_of(key), none = word ^ (K)1 << p.shift(); /* of another bucket */
        Known known = s.words.begin(none);
        if (p.one_key() && !p.order<K>().merged && !from.apart) {
            known = BucketWords::with<K>(s.words, known, word);
            read_values(from);
        } else if (!read<K>(from, known)) {
            return false;
        }
        store<K>(from.number, known.count, whole);
        return true;
    }

    /* What the last warp of some that folded parts of a bucket does next; false: nothing. */
    GPI_DEVICE bool join_next(const gpi_group_chunk &c, uint32_t number, Source &from) const
    {
        const uint32_t begin = c.part / join_parts * join_parts, first = number - c.part;
        const uint32_t parts = min(c.parts - begin, join_parts);
        const uint32_t joins = (c.parts + join_parts - 1) / join_parts;
        if (from.apart == 0) {
            from = {first + begin, 0, parts * most, 1};
            return is_last(p.chunks[from.number].folded[0], parts);
        }
        from = {first, 0, joins * most, join_parts};
        return is_last(p.chunks[first].folded[1], joins);
    }

    template <class K> GPI_DEVICE bool fold_chunk(const gpi_group_chunk &c, uint32_t number) const
    {
        Source from = {number, c.first, c.count, 0};
        for (;;) {
            const bool whole = c.parts == 1 || from.apart == join_parts ||
                               (from.apart == 1 && c.parts <= join_parts);
            if (!fold_source<K>(from, whole))
                return false;
            if (whole || !join_next(c, number, from))
                return true;
        }
    }

    /* Into the L2 what is read first of a chunk. */
    GPI_DEVICE void fetch(const gpi_group_chunk &c) const
    {
        const uint32_t i = lane_id() * 16;
        if (i >= c.count || i >= batch * T)
            return;
        const char *key = (const char *)p.keys[p.place()] + (uint64_t)(c.first + i) * p.key_bytes;
        const char *value = p.values[p.place()] + (uint64_t)(c.first + i) * p.form.in_bytes;
        asm volatile("prefetch.global.L2 [%0];" ::"l"(key));
        if (p.form.in_bytes)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(value));
    }

    /* Chunks in turn with the other warps. */
    template <class K> GPI_DEVICE void fold_chunks() const
    {
        const uint32_t chunks = p.progress->chunks;
        gpi_group_chunk next = {};
        const uint32_t first = blockIdx.x * bucket_warps + warp_id();
        if (first < chunks)
            next = p.chunks[first];
        clear();
#pragma unroll 1
        for (uint32_t i = first; i < chunks; i += warps()) {
            const gpi_group_chunk c = next;
            if (i + warps() < chunks) {
                next = p.chunks[i + warps()];
                fetch(next);
            }
            if (others_gave_up())
                return;
            if (c.count && !fold_chunk<K>(c, i)) {
                if (lane_id() == 0)
                    *(volatile uint32_t *)&p.progress->gave_up = 1;
                return;
            }
        }
    }

    /* By one lane, the last of all. */
    GPI_DEVICE void finish() const
    {
        const bool all = !*(volatile uint32_t *)&p.progress->gave_up;
        p.progress->folded = all;
        p.progress->remaining = all ? 0 : item_count(p);
        if (all)
            p.done();
    }

    GPI_DEVICE void run() const
    {
        grid_release();
        grid_wait();
        if (!others_gave_up()) {
            if (p.key_bytes == 4)
                fold_chunks<uint32_t>();
            else
                fold_chunks<uint64_t>();
        }
        __threadfence();
        __syncwarp();
        if (p.last && lane_id() == 0 && atomicAdd(&p.progress->done, 1u) == warps() - 1)
            finish();
    }
};

/* Of a multiprocessor: as many as shared memory holds. */
template <class Cell>
constexpr int bucket_blocks = std::min<int>(
    gpu.block_shared_bytes / (bucket_warps * sizeof(typename BucketFold<Cell>::Shared) + 1024),
    gpu.threads / (64 * bucket_warps));

/* Grid: any. Between the partitions of a sort and the sort of its buckets, for each fold. After the
 * last one: the groups of all chunks, or all items remain. */
template <class Cell>
__global__ void __launch_bounds__(32 * bucket_warps, bucket_blocks<Cell>)
    group_bucket_k(const __grid_constant__ BucketParams p)
{
    extern __shared__ __align__(16) char memory[];
    using Work = BucketFold<Cell>;
    Work{{}, p, ((typename Work::Shared *)memory)[warp_id()]}.run();
}

} // namespace GPI_SPACE
