/* SPDX-License-Identifier: MIT */
/*
 * Repeated items of few bytes, by walks along the merge path (balance_walk.cuh).
 *
 * A tile has a bit for each of its items, set where a segment begins that has items. So the set
 * bits up to an item number the segments with items, and the values of these wait in shared memory
 * in that order. A lane makes whole vectors of the output of a run of items, whose bits lie in one
 * word: each item costs it a count of bits and an access to shared memory.
 */
#pragma once

#include "balance/balance_kernels.cuh"
#include "device/block.cuh"
#include "device/raw.cuh"

namespace GPI_SPACE::balance
{

/* Items of BYTES; a run of them fills whole vectors of 16 bytes. */
template <int BYTES> struct expand_shape {
    static constexpr int factor = BYTES % 16 == 0  ? 16
                                  : BYTES % 8 == 0 ? 8
                                  : BYTES % 4 == 0 ? 4
                                  : BYTES % 2 == 0 ? 2
                                                   : 1; /* the power of two in BYTES */
    static constexpr int run = 16 / factor, vectors = BYTES / factor, words = 4 * vectors;
    static constexpr int stride = BYTES < 3 ? BYTES : (BYTES + 3) / 4 * 4; /* of a value */
    static constexpr uint32_t places = balance_tuning.expand_stage_bytes / stride / 32 * 32;
    /* The first segments of a thread, whose offsets and values are read once. */
    static constexpr int held = places <= 8192 ? 2 : 4;
    /* Steps of a tile: its first run may begin before the first item. */
    static constexpr uint32_t units = places - 16;

    /* The item in a run with which a vector of out begins, if a tile begins with item i. */
    static GPI_DEVICE uint32_t pad_of(const void *out, uint64_t i)
    {
        uint32_t inverse = 1; /* of the odd factor, modulo 16 */
#pragma unroll
        for (int k = 0; k < 2; k++)
            inverse *= 2 - vectors * inverse;
        const uint64_t factors = (uint64_t)(uintptr_t)out / factor + i * vectors;
        return (uint32_t)factors * inverse % run;
    }
};

template <int BYTES> struct expand_stage {
    using shape = expand_shape<BYTES>;
    path_ends path;
    uint32_t bits[shape::places / 32], before[shape::places / 32]; /* and set ones before them */
    uint32_t sums[warps];
    alignas(16) char values[shape::places * shape::stride];
    /* Vectors of a warp in the order of lanes, to be stored in that of memory. */
    uint4 crossing[shape::vectors > 1 ? warps * 32 * shape::vectors : 1];
};

/* An item as words, zero behind its bytes. */
template <int BYTES>
struct alignas(BYTES <= 4   ? 4
               : BYTES <= 8 ? 8
               : BYTES % 16 ? 4
                            : 16) expand_value {
    static constexpr int words = (BYTES + 3) / 4;
    uint32_t w[words];

    /* From an address that is a multiple of the power of two in BYTES. */
    static GPI_DEVICE expand_value read(const char *from)
    {
        expand_value v = {};
        if constexpr (BYTES % 4 == 0) {
#pragma unroll
            for (int k = 0; k < words; k++)
                v.w[k] = __ldg((const uint32_t *)from + k);
        } else if constexpr (BYTES % 2 == 0) {
#pragma unroll
            for (int k = 0; k < BYTES / 2; k++)
                v.w[k / 2] |= (uint32_t)__ldg((const uint16_t *)from + k) << k % 2 * 16;
        } else {
#pragma unroll
            for (int k = 0; k < BYTES; k++)
                v.w[k / 4] |= (uint32_t)__ldg((const uint8_t *)from + k) << k % 4 * 8;
        }
        return v;
    }

    GPI_DEVICE void put(char *values, uint32_t slot) const
    {
        if constexpr (BYTES >= 3)
            ((expand_value *)values)[slot] = *this;
        else if constexpr (BYTES == 2)
            ((uint16_t *)values)[slot] = (uint16_t)w[0];
        else
            ((uint8_t *)values)[slot] = (uint8_t)w[0];
    }

    static GPI_DEVICE expand_value get(const char *values, uint32_t slot)
    {
        if constexpr (BYTES >= 3)
            return ((const expand_value *)values)[slot];
        else if constexpr (BYTES == 2)
            return {{((const uint16_t *)values)[slot]}};
        else
            return {{((const uint8_t *)values)[slot]}};
    }
};

/* The value as item j of a run; j must be a constant after unrolling. */
template <int BYTES, int WORDS>
GPI_DEVICE void run_put(uint32_t (&run)[WORDS], int j, const expand_value<BYTES> &v)
{
    const int first = j * BYTES / 4, bit = j * BYTES % 4 * 8;
#pragma unroll
    for (int k = 0; k < expand_value<BYTES>::words; k++) {
        const int bits = 8 * (BYTES - 4 * k < 4 ? BYTES - 4 * k : 4);
        run[first + k] |= v.w[k] << bit;
        if (bit + bits > 32)
            run[first + k + 1] |= v.w[k] >> (32 - bit);
    }
}

/* What a tile is made from. */
template <class Offset> struct expand_input {
    const segments<Offset> &g;
    const char *in;

    /* Where in the tile segment s begins, or ~0 if none of its items are there. */
    GPI_DEVICE uint32_t place_of(const tile &t, uint64_t s) const
    {
        const uint64_t begin = g.at(s), end = min(g.at(s + 1), t.i1);
        return begin < t.i0 || begin >= end ? ~0u : (uint32_t)(begin - t.i0) + t.pad;
    }

    template <int BYTES> GPI_DEVICE expand_value<BYTES> value_of(uint64_t s) const
    {
        return expand_value<BYTES>::read(in + s * BYTES);
    }
};

/* Set bits before each word, by all workers. */
template <int BYTES> GPI_DEVICE void count_marks(expand_stage<BYTES> &s)
{
    constexpr uint32_t words = expand_shape<BYTES>::places / 32;
    constexpr uint32_t each = (words + workers - 1) / workers;
    const uint32_t first = each * threadIdx.x;
    uint32_t own[each], sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < each; k++) {
        own[k] = sum;
        sum += first + k < words ? __popc(s.bits[first + k]) : 0;
    }
    uint32_t before = warp_exclusive(sum);
    if (lane_id() == 31)
        s.sums[threadIdx.x / 32] = before + sum;
    workers_sync();
#pragma unroll
    for (uint32_t w = 0; w < warps; w++)
        before += w < threadIdx.x / 32 ? s.sums[w] : 0;
#pragma unroll
    for (uint32_t k = 0; k < each; k++)
        if (first + k < words)
            s.before[first + k] = before + own[k];
    workers_sync();
}

/* The bits of a tile's segments and their values. Segment t.s0 has no bit, and value 0. */
template <int BYTES, class Offset>
GPI_DEVICE void stage_values(const expand_input<Offset> &from, const tile &t,
                             expand_stage<BYTES> &s)
{
    const uint64_t end = min(t.s1 + 1, from.g.num_segments);
    const uint32_t count = (uint32_t)(end - min(end, t.s0 + 1)); /* behind t.s0 */
    const auto slot_put = [&](uint32_t place, const expand_value<BYTES> &v) {
        const uint32_t bits = s.bits[place / 32] & ((2u << place % 32) - 1);
        v.put(s.values, s.before[place / 32] + __popc(bits));
    };
    constexpr int held = expand_shape<BYTES>::held;
    uint32_t place[held];
    expand_value<BYTES> value[held];
    /* 1. No bits. */
    for (uint32_t w = threadIdx.x; w < expand_shape<BYTES>::places / 32; w += workers)
        s.bits[w] = 0;
    workers_sync();
    /* 2. Those where segments begin. */
#pragma unroll
    for (int k = 0; k < held; k++) {
        const uint32_t d = k * workers + threadIdx.x;
        place[k] = ~0u;
        if (d >= count)
            continue;
        place[k] = from.place_of(t, t.s0 + 1 + d);
        value[k] = from.template value_of<BYTES>(t.s0 + 1 + d);
    }
#pragma unroll
    for (int k = 0; k < held; k++)
        if (place[k] != ~0u)
            atomicOr(&s.bits[place[k] / 32], 1u << place[k] % 32);
    for (uint32_t d = held * workers + threadIdx.x; d < count; d += workers) {
        const uint32_t more = from.place_of(t, t.s0 + 1 + d);
        if (more != ~0u)
            atomicOr(&s.bits[more / 32], 1u << more % 32);
    }
    workers_sync();
    count_marks(s);
    /* 3. Values in the order of bits. */
    if (threadIdx.x == 0)
        from.template value_of<BYTES>(min(t.s0, from.g.num_segments - 1)).put(s.values, 0);
#pragma unroll
    for (int k = 0; k < held; k++)
        if (place[k] != ~0u)
            slot_put(place[k], value[k]);
    for (uint32_t d = held * workers + threadIdx.x; d < count; d += workers) {
        const uint32_t more = from.place_of(t, t.s0 + 1 + d);
        if (more != ~0u)
            slot_put(more, from.template value_of<BYTES>(t.s0 + 1 + d));
    }
    workers_sync();
}

/* Items of one run of bytes or shorts, where in none of the warp's runs many segments begin: the
 * value before the run fills it, and each that begins all from its item on. slot: of the first
 * value; bits: where others begin. */
template <int BYTES, int WORDS>
GPI_DEVICE void fill_run(const expand_stage<BYTES> &s, uint32_t slot, uint32_t bits,
                         uint32_t (&words)[WORDS])
{
    constexpr uint32_t all_items = BYTES == 1 ? 0x01010101 : 0x00010001;
    const uint32_t before = expand_value<BYTES>::get(s.values, slot).w[0] * all_items;
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        words[k] = before;
    for (; __any_sync(all_lanes, bits != 0); bits &= bits - 1) {
        const int first = __clz(__brev(bits)) * 8 * BYTES; /* behind the run, if there is none */
        const uint32_t value = expand_value<BYTES>::get(s.values, ++slot).w[0] * all_items;
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            const uint32_t later = shifted_left(~0u, first - 32 * k);
            words[k] = (words[k] & ~later) | (value & later);
        }
    }
}

/* The items of one run. */
template <int BYTES>
GPI_DEVICE void make_run(const expand_stage<BYTES> &s, uint32_t run,
                         uint32_t (&words)[expand_shape<BYTES>::words])
{
    using shape = expand_shape<BYTES>;
    const uint32_t place = run * shape::run, word = s.bits[place / 32];
    const uint32_t first = s.before[place / 32] + __popc(word & ((1u << place % 32) - 1));
    const uint32_t bits = word >> place % 32;
    if constexpr (BYTES <= 2) {
        constexpr int many = BYTES == 1 ? 3 : 1; /* more of them take longer than item by item */
        const uint32_t own = bits & ((1u << shape::run) - 1);
        if (!__any_sync(all_lanes, __popc(own) > many)) {
            fill_run<BYTES>(s, first, own, words);
            return;
        }
    }
    expand_value<BYTES> value[shape::run];
#pragma unroll
    for (int j = 0; j < shape::run; j++)
        value[j] = expand_value<BYTES>::get(s.values, first + __popc(bits & ((2u << j) - 1)));
#pragma unroll
    for (int k = 0; k < shape::words; k++)
        words[k] = 0;
#pragma unroll
    for (int j = 0; j < shape::run; j++)
        run_put<BYTES>(words, j, value[j]);
}

/* Bytes [16 v, 16 v + 16) from base on, of those that are below end and not below begin. */
GPI_DEVICE void store_vector(char *base, uint32_t v, const uint4 &x, uint32_t begin, uint32_t end)
{
    const uint32_t at = 16 * v;
    if (at >= begin && at + 16 <= end) {
        reinterpret_cast<uint4 *>(base)[v] = x;
        return;
    }
    const uint32_t words[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
    for (uint32_t k = 0; k < 16; k++)
        if (at + k >= begin && at + k < end)
            base[at + k] = (char)(words[k / 4] >> k % 4 * 8);
}

/*
 * Repeat items of BYTES, in and out aligned to the power of two in them. Grid: blocks that take
 * tiles_per_block tiles each, of units steps, at most those of the shape; 288 threads; up to 45 KiB
 * of shared memory. After: out[i] for all i < min(limit, what the offsets cover).
 */
template <int BYTES, class Offset>
__global__ void __launch_bounds__(threads, resident(expand_shape<BYTES>::words > 12 ? 4 : 5))
    expand_k(const Offset *__restrict__ offsets, walk_size size, bool capped, uint32_t units,
             const char *__restrict__ in, char *__restrict__ out, uint64_t *out_count,
             gpi_reporter reporter)
{
    using shape = expand_shape<BYTES>;
    constexpr int V = shape::vectors;
    __shared__ expand_stage<BYTES> s;
    walk_path<4, BYTES != 2 && BYTES != 4>(
        offsets, size, units, s.path,
        [=](uint64_t count, uint64_t limit, uint64_t total) {
            settle_total(count, limit, total, size.may_cover_less, capped, out_count, reporter);
        },
        [=](uint64_t s0, uint64_t s1) { prefetch_values(in, s0 * BYTES, s1 * BYTES); },
        [&](const segments<Offset> &g, uint64_t s0, uint64_t s1, uint64_t d0, uint64_t d1) {
            const tile t = {s0, s1, d0 - s0, d1 - s1, shape::pad_of(out, d0 - s0)};
            if (t.i0 >= t.i1)
                return;
            stage_values<BYTES>(expand_input<Offset>{g, in}, t, s);
            const uint32_t items = (uint32_t)(t.i1 - t.i0) + t.pad;
            const uint32_t begin = t.pad * BYTES, end = items * BYTES;
            const uint32_t runs = (items + shape::run - 1) / shape::run;
            char *base = out + (t.i0 - t.pad) * BYTES;
            for (uint32_t first = threadIdx.x / 32 * 32; first < runs; first += workers) {
                uint32_t w[shape::words];
                make_run<BYTES>(s, min(first + lane_id(), runs - 1), w);
                if constexpr (V == 1) {
                    if (first + lane_id() < runs)
                        store_vector(base, first + lane_id(), make_uint4(w[0], w[1], w[2], w[3]),
                                     begin, end);
                } else {
                    uint4 *crossing = s.crossing + threadIdx.x / 32 * 32 * V;
                    __syncwarp();
#pragma unroll
                    for (int k = 0; k < V; k++)
                        crossing[lane_id() * V + k] =
                            make_uint4(w[4 * k], w[4 * k + 1], w[4 * k + 2], w[4 * k + 3]);
                    __syncwarp();
#pragma unroll 1 /* the ends of a tile are code enough */
                    for (uint32_t k = 0; k < V; k++)
                        if (first * V + 32 * k + lane_id() < runs * V)
                            store_vector(base, first * V + 32 * k + lane_id(),
                                         crossing[32 * k + lane_id()], begin, end);
                }
            }
        });
}

} // namespace GPI_SPACE::balance
