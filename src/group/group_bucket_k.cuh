/* SPDX-License-Identifier: MIT */
/*
 * The folds of groups out of the buckets of a sort that are not sorted yet.
 *
 * A bucket holds all items of a range of keys. Where it has few keys, a block finds them while it
 * reads the bucket once: keys stand in a small table of shared memory, and beside each of them
 * every thread has an accumulator of its own. So no two threads write to the same place, and which
 * values a thread folds, in what order, depends on where they lie alone: floats have the same bits
 * in every run, wherever a key has come to stand in the table. At the end a warp folds the
 * accumulators of a key by a tree, and the keys of the bucket are put in order by counting those
 * that are less.
 *
 * A bucket with more keys than the table has room for, or with a float that is not the one of its
 * word (a zero or a NaN of other bits, of which the first is wanted), makes all blocks give up:
 * then the buckets are sorted as if nothing had been tried. Otherwise the sort ends here.
 *
 * Large buckets are cut into chunks. Those of more than one chunk have one key, as nothing is left
 * to compare in them, or the call gives up, too (group_chunks_k.cuh).
 */
#pragma once

#include "group/group_bucket_words.cuh"
#include "group/group_chunks_k.cuh"

namespace GPI_SPACE
{

/* Threads of a block, whose accumulators fit shared memory. */
template <class Cell>
constexpr int bucket_threads = bucket_places * 64 * sizeof(Cell) < gpu.block_shared_bytes ? 64 : 32;

template <class Cell> struct BucketFold {
    static constexpr int T = bucket_threads<Cell>, D = bucket_places, most = bucket_keys;
    static constexpr int batch = 8; /* rows of T items that a thread has on their way */
    static constexpr int quad = 4;  /* rows whose accumulators are read at once */

    struct Shared {
        char table[D][T][sizeof(Cell)];
        BucketWords words;
        uint64_t listed[most]; /* words that are there; where, and in which order */
        uint8_t place[most], rank[most];
    };

    const BucketParams &p;
    Shared &s;

    template <class F> static GPI_DEVICE void for_rows(F f)
    {
#pragma unroll
        for (int j = 0; j < batch; j++)
            f(j);
    }

    template <class A> GPI_DEVICE A &cell(uint32_t place, uint32_t thread) const
    {
        return *(A *)s.table[place][thread];
    }

    /* ---- the table ---- */

    GPI_DEVICE void clear() const
    {
        by_operator<Cell>(p.form, [&](auto op) {
            using A = Operand<decltype(op)>;
#pragma unroll 4
            for (int i = 0; i < D; i++)
                cell<A>(i, threadIdx.x) = decltype(op)::identity();
        });
    }

    /* ---- items ---- */

    /* Values of rows of items, T apart, of one thread. */
    struct Values {
        Cell value[batch];

        template <class F> GPI_DEVICE void read(const BucketForm &form, const char *values, F at)
        {
            if (form.in_bytes == sizeof(Cell))
                for_rows([&](int j) { value[j] = __ldcs((const Cell *)values + at(j)); });
            else if (form.in_bytes)
                for_rows([&](int j) { value[j] = __ldcs((const uint32_t *)values + at(j)); });
        }

        /* As accumulators are, once they are needed. */
        GPI_DEVICE void widen(const BucketForm &form)
        {
            if (form.in_bytes == sizeof(Cell))
                return;
            if (!form.in_bytes)
                for_rows([&](int j) { value[j] = 1; });
            else if (form.is_float)
                for_rows([&](int j) { value[j] = widened_float((uint32_t)value[j]); });
            else
                for_rows([&](int j) {
                    value[j] = (Cell)((uint32_t)value[j] ^ form.sign) - (Cell)form.sign;
                });
        }

        static GPI_DEVICE Cell widened_float(uint32_t bits)
        {
            if constexpr (sizeof(Cell) == 8)
                return bits_as<Cell>((double)__uint_as_float(bits));
            else
                return bits;
        }
    };

    template <class K> struct Rows : Values {
        K key[batch];

        GPI_DEVICE void read(const BucketForm &form, const K *keys, const char *values, uint32_t i)
        {
            for_rows([&](int j) { key[j] = __ldcs(keys + i + j * T); });
            Values::read(form, values, [=](int j) { return i + j * T; });
        }

        /* Of rows behind the last item that one. */
        GPI_DEVICE void read_rest(const BucketForm &form, const K *keys, const char *values,
                                  uint32_t i, uint32_t last)
        {
            for_rows([&](int j) { key[j] = __ldcs(keys + min(i + j * T, last)); });
            Values::read(form, values, [=](int j) { return min(i + j * T, last); });
        }
    };

    /* The first `count` rows. */
    GPI_DEVICE void fold(const Cell (&value)[batch], const uint32_t (&place)[batch],
                         int count) const
    {
        by_operator<Cell>(p.form, [&](auto op) {
            using Op = decltype(op);
            using A = Operand<Op>;
#pragma unroll
            for (int first = 0; first < batch; first += quad) {
                const uint32_t *at = place + first;
                A own[quad];
#pragma unroll
                for (int j = 0; j < quad; j++)
                    own[j] = cell<A>(at[j], threadIdx.x);
#pragma unroll
                for (int j = 0; j < quad; j++) {
#pragma unroll
                    for (int i = 0; i < j; i++)
                        own[j] = at[i] == at[j] ? own[i] : own[j];
                    const A x = item_flipped<Op, A>(bits_as<A>(value[first + j]), p.form.flip);
                    own[j] = Op::apply(own[j], first + j < count ? x : Op::identity());
                }
#pragma unroll
                for (int j = 0; j < quad; j++)
                    cell<A>(at[j], threadIdx.x) = own[j];
            }
        });
    }

    /* The first `count` rows, by a warp. False: some key has no place. */
    template <class K> GPI_DEVICE bool fold_rows(Rows<K> &rows, K none, int count) const
    {
        uint32_t place[batch];
        bool found = true, placed = true;
        rows.widen(p.form);
        for_rows([&](int j) {
            const K word = p.word_of(rows.key[j]);
            place[j] = BucketWords::place_of(word);
            found &= s.words.template at<K>(place[j]) == word;
        });
        if (!found)
            for_rows([&](int j) {
                const K word = p.word_of(rows.key[j]);
                if (placed && s.words.template at<K>(place[j]) != word)
                    place[j] = BucketWords::find<K>(s.words, none, word);
                placed = placed && place[j] < D;
            });
        __syncwarp(); /* lanes that seek go their own ways until here */
        if (p.order<K>().merged)
            for_rows([&](int j) {
                placed = placed && p.order<K>().template is_of_word<true>(rows.key[j]);
            });
        if (placed)
            fold(rows.value, place, count);
        return placed;
    }

    template <class K> GPI_DEVICE bool read(const gpi_group_chunk &c, K none) const
    {
        const K *keys = (const K *)p.keys[p.place()] + c.first;
        const char *values = p.values[p.place()] + (uint64_t)c.first * p.form.in_bytes;
        const uint32_t step = batch * T, whole = c.count / step * step, last = c.count - 1;
        Rows<K> rows, next;
        const auto read = [&](Rows<K> &r, uint32_t first) {
            if (first < whole)
                r.read(p.form, keys, values, first + threadIdx.x);
            else if (first <= last)
                r.read_rest(p.form, keys, values, first + threadIdx.x, last);
        };
        read(rows, 0);
#pragma unroll 1
        for (uint32_t first = 0; first <= last; first += step) {
            const uint32_t i = first + threadIdx.x;
            read(next, first + step);
            const bool placed = fold_rows(rows, none, i <= last ? (int)((last - i) / T) + 1 : 0);
            if (!__all_sync(all_lanes, placed))
                return false;
            rows = next;
        }
        return true;
    }

    /* The same where all keys are one integer. */
    GPI_DEVICE void read_values(const gpi_group_chunk &c, uint32_t place) const
    {
        const char *values = p.values[p.place()] + (uint64_t)c.first * p.form.in_bytes;
        const uint32_t step = batch * T, last = c.count - 1;
#pragma unroll 1
        for (uint32_t i = threadIdx.x; i <= last; i += step) {
            Values rows;
            rows.read(p.form, values, [=](int j) { return min(i + j * T, last); });
            rows.widen(p.form);
            by_operator<Cell>(p.form, [&](auto op) {
                using Op = decltype(op);
                using A = Operand<Op>;
                A own = cell<A>(place, threadIdx.x);
                for_rows([&](int j) {
                    const A x = item_flipped<Op, A>(bits_as<A>(rows.value[j]), p.form.flip);
                    own = Op::apply(own, i + j * T <= last ? x : Op::identity());
                });
                cell<A>(place, threadIdx.x) = own;
            });
        }
    }

    /* ---- groups ---- */

    /* By a warp: the words that are there, and where. */
    template <class K> GPI_DEVICE void list_keys(K none) const
    {
        uint32_t keys = 0;
        for (int i = lane_id(); i < D; i += 32) {
            const K word = s.words.template at<K>(i);
            const uint32_t with = __ballot_sync(all_lanes, word != none);
            const uint32_t at = keys + __popc(with & ((1u << lane_id()) - 1));
            if (word != none)
                s.listed[at] = word, s.place[at] = (uint8_t)i;
            keys += __popc(with);
        }
    }

    /* In order: each behind those that are less. */
    template <class K> GPI_DEVICE void store_keys(K *groups) const
    {
        for (uint32_t i = threadIdx.x; i < s.words.count; i += T) {
            const uint64_t own = s.listed[i];
            uint32_t less = 0;
#pragma unroll 4
            for (uint32_t j = 0; j < s.words.count; j++)
                less += s.listed[j] < own;
            s.rank[i] = (uint8_t)less;
            groups[less] = p.order<K>().template key<true>((K)own);
        }
    }

    /* A warp takes a key after the other, and leaves nothing in the table. */
    GPI_DEVICE void store_folds(Cell *folds, bool whole) const
    {
        by_operator<Cell>(p.form, [&](auto op) {
            using Op = decltype(op);
            using A = Operand<Op>;
#pragma unroll 2
            for (uint32_t i = threadIdx.x / 32; i < s.words.count; i += T / 32) {
                const uint32_t place = s.place[i];
                A x = cell<A>(place, lane_id());
                cell<A>(place, lane_id()) = Op::identity();
#pragma unroll
                for (int t = 32; t < T; t += 32) {
                    x = Op::apply(x, cell<A>(place, t + lane_id()));
                    cell<A>(place, t + lane_id()) = Op::identity();
                }
                x = warp_reduce<Op>(x);
                x = whole ? item_flipped<Op, A>(x, p.form.flip) : x;
                if (lane_id() == 0)
                    folds[s.rank[i]] = bits_as<Cell>(x);
            }
        });
    }

    /* Into the L2 what is read first of a chunk. */
    GPI_DEVICE void fetch(const gpi_group_chunk &c) const
    {
        const uint32_t i = threadIdx.x * 16;
        if (i >= c.count || i >= batch * T)
            return;
        const char *key = (const char *)p.keys[p.place()] + (uint64_t)(c.first + i) * p.key_bytes;
        const char *value = p.values[p.place()] + (uint64_t)(c.first + i) * p.form.in_bytes;
        asm volatile("prefetch.global.L2 [%0];" ::"l"(key));
        if (p.form.in_bytes)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(value));
    }

    /* All items, by the block; false: the chunk has more keys than there is room for. */
    template <class K> GPI_DEVICE bool read_chunk(const gpi_group_chunk &c) const
    {
        const K word = p.word_of(((const K *)p.keys[p.place()])[c.first]);
        const K none = word ^ (K)1 << p.shift(); /* of another bucket */
        bool placed = true;
        s.words.template begin<T>(word, none);
        __syncthreads();
        if (p.one_key() && !p.order<K>().merged)
            read_values(c, BucketWords::place_of(word));
        else
            placed = read(c, none);
        if (!__syncthreads_and(placed) || s.words.full)
            return false;
        if (threadIdx.x < 32)
            list_keys(none);
        __syncthreads();
        return true;
    }

    GPI_DEVICE bool fold_chunk(const gpi_group_chunk &c, uint32_t number) const
    {
        const uint64_t base = (uint64_t)number * most;
        if (!(p.key_bytes == 4 ? read_chunk<uint32_t>(c) : read_chunk<uint64_t>(c)))
            return false;
        if (p.key_bytes == 4)
            store_keys((uint32_t *)p.groups + base);
        else
            store_keys((uint64_t *)p.groups + base);
        __syncthreads();
        store_folds((Cell *)p.folds + base, c.parts == 1);
        if (threadIdx.x == 0 && c.parts && p.first) {
            p.chunks[number].groups = s.words.count; /* later parts have no groups of their own */
            atomicAdd(&p.sums[number / GPI_GROUP_CHUNKS], s.words.count);
        }
        __syncthreads();
        return true;
    }

    /* Chunks in turn with the other blocks. */
    GPI_DEVICE void fold_chunks() const
    {
        const uint32_t chunks = p.progress->chunks;
        gpi_group_chunk next = {};
        if (blockIdx.x < chunks)
            next = p.chunks[blockIdx.x];
        clear();
#pragma unroll 1
        for (uint32_t i = blockIdx.x; i < chunks; i += gridDim.x) {
            const gpi_group_chunk c = next;
            if (i + gridDim.x < chunks) {
                next = p.chunks[i + gridDim.x];
                fetch(next);
            }
            if (__syncthreads_or(*(volatile uint32_t *)&p.progress->gave_up))
                return;
            if (c.count && !fold_chunk(c, i)) {
                if (threadIdx.x == 0)
                    *(volatile uint32_t *)&p.progress->gave_up = 1;
                return;
            }
        }
    }

    /* By one thread, the last of all. */
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
        if (!__syncthreads_or(*(volatile uint32_t *)&p.progress->gave_up))
            fold_chunks();
        __threadfence();
        __syncthreads();
        if (p.last && threadIdx.x == 0 && atomicAdd(&p.progress->done, 1u) == gridDim.x - 1)
            finish();
    }
};

/* Grid: any. Between the partitions of a sort and the sort of its buckets, for each fold. After the
 * last one: the groups of all chunks, or all items remain. */
template <class Cell>
__global__ void __launch_bounds__(bucket_threads<Cell>)
    group_bucket_k(const __grid_constant__ BucketParams p)
{
    extern __shared__ __align__(16) char memory[];
    using Work = BucketFold<Cell>;
    Work{p, *(typename Work::Shared *)memory}.run();
}

} // namespace GPI_SPACE
