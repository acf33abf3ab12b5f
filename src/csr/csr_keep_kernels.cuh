/* SPDX-License-Identifier: MIT */
/* Filter: columns and values that are kept, and of a list rows, in one pass. Of a matrix it leaves
 * a bit for each entry and how many are kept before each word of bits, from which rows begin. */
#pragma once

extern "C" {
#include "csr/csr_keep.h"
}
#include "csr/csr_ahead.cuh"
#include "csr/csr_kernels.cuh"
#include "device/grid.cuh"
#include "device/stream.cuh"

namespace GPI_SPACE
{

/* The comparison of gpi_compact_range in the value's own width. */
template <class T> struct KeptRange {
    T flip, low, span;
    bool invert;

    GPI_DEVICE explicit KeptRange(const gpi_compact_range &r)
        : flip((T)r.flip), low((T)r.low), span((T)r.span), invert(r.invert != 0)
    {
    }

    GPI_DEVICE bool operator()(T x) const
    {
        const T negative = (T)(0 - (x >> (8 * sizeof(T) - 1)));
        return ((T)((x ^ (negative & flip)) - low) <= span) != invert;
    }
};

struct KeepParams {
    gpi_csr_keep k;
    gpi_state state;
};

/*
 * The policy of the stream (device/stream.cuh). Sums are counts of entries that are kept. A stage
 * has all arrays of a tile, each from the 16-byte boundary at or before its first byte. Tile:
 * W x 32 x GROUPS entries of up to BYTES in ARRAYS arrays.
 */
template <int ARRAYS, int BYTES, int W, int R, int L, int GROUPS, int S>
struct KeepStream : StreamPolicy {
    static constexpr int part_items = 32 * GROUPS, tile_items = W * part_items;
    static constexpr int beside = 128; /* of an array: what completes 16 bytes at both ends */
    static constexpr int stage_bytes = tile_items * BYTES + ARRAYS * beside;
    static constexpr int store_warps = W, sum_warps = R, load_warps = L, stages = S;
    static constexpr bool part_is_copy = false, sums_add = true;
    static constexpr int batch = 4; /* of groups */
    static_assert(GROUPS <= 32 && GROUPS % batch == 0, "a lane holds the bits of a group");
    static_assert(tile_items >= GPI_CSR_KEEP_TILE, "the states are enough");

    using Params = KeepParams;
    using Loader = StageLoader<L>;
    using Sum = uint32_t;
    using Prefix = uint64_t;
    struct Part {
    };
    struct Group {
        uint32_t bits, before; /* in the part */
    };
    struct Own {
        alignas(16) Group groups[S][W][GROUPS];
    };

    const KeepParams &p;
    StreamShared<KeepStream> &s;
    char *ring;
    uint32_t tiles;

    GPI_DEVICE uint64_t items() const
    {
        return item_count(ItemCount{p.k.nnz, p.k.device_nnz});
    }

    GPI_DEVICE char *array(int stage, int a) const
    {
        uint32_t at = a ? tile_items * (uint32_t)p.k.arrays[0].item_bytes + beside : 0;
        if (ARRAYS == 3 && a == 2)
            at += tile_items * (uint32_t)p.k.arrays[1].item_bytes + beside;
        return ring + stage * stage_bytes + at;
    }

    /* Items of a part. */
    template <class T> GPI_DEVICE const T *part(int stage, int a, int w) const
    {
        return (const T *)(array(stage, a) + misalignment(p.k.arrays[a].in)) + w * part_items;
    }

    /* ---- loaders ---- */

    /* The kernel behind may read its pointers now. */
    static GPI_DEVICE Loader loader()
    {
        grid_release();
        return {};
    }

    GPI_DEVICE StageSpan span(uint32_t tile, int stage, int a) const
    {
        const uint64_t first = (uint64_t)tile * tile_items, rest = s.n - first;
        const uint32_t bytes = (uint32_t)p.k.arrays[a].item_bytes;
        return Loader::span(array(stage, a), (const char *)p.k.arrays[a].in + first * bytes,
                            (uint32_t)min(rest, (uint64_t)tile_items) * bytes, tile == 0,
                            rest * bytes);
    }

    GPI_DEVICE void load_tile(uint32_t tile, int stage, const Loader &loader) const
    {
        if constexpr (ARRAYS == 3)
            loader.load(&s.loaded[stage], span(tile, stage, 0), span(tile, stage, 1),
                        span(tile, stage, 2));
        else
            loader.load(&s.loaded[stage], span(tile, stage, 0), span(tile, stage, 1));
    }

    /* ---- counts ---- */

    /* Lane k: the bits of group k. */
    template <class T> GPI_DEVICE uint32_t compared(int stage, int w, uint32_t left) const
    {
        const KeptRange<T> range(p.k.range);
        const T *values = part<T>(stage, 1, w);
        uint32_t bits = 0;
#pragma unroll 4
        for (int k = 0; k < GROUPS; k++) {
            const uint32_t i = 32 * k + lane_id();
            const uint32_t group = __ballot_sync(all_lanes, i < left && range(values[i]));
            bits = lane_id() == k ? group : bits;
        }
        return bits;
    }

    GPI_DEVICE uint32_t bits_of(uint64_t first, int stage, int w, uint32_t left) const
    {
        if (!p.k.by_value) {
            const uint32_t own = left > 32 * lane_id() ? left - 32 * lane_id() : 0;
            const uint32_t bits = own ? p.k.heads.bits[first / 32 + lane_id()] : 0;
            return own < 32 ? bits & ((1u << own) - 1) : bits;
        }
        switch (p.k.arrays[1].item_bytes) {
        case 1:
            return compared<uint8_t>(stage, w, left);
        case 2:
            return compared<uint16_t>(stage, w, left);
        case 4:
            return compared<uint32_t>(stage, w, left);
        default:
            return compared<uint64_t>(stage, w, left);
        }
    }

    GPI_DEVICE uint32_t part_sum(uint32_t tile, int stage, int w) const
    {
        const uint64_t first = (uint64_t)tile * tile_items + w * part_items;
        const uint32_t left = first < s.n ? (uint32_t)min(s.n - first, (uint64_t)part_items) : 0;
        const uint32_t bits = bits_of(first, stage, w, left), own = __popc(bits);
        const uint32_t before = warp_exclusive(own);
        if (lane_id() < GROUPS)
            s.own.groups[stage][w][lane_id()] = {bits, before};
        return __shfl_sync(all_lanes, before + own, 31);
    }

    GPI_DEVICE uint32_t add(uint32_t l, uint32_t r) const
    {
        return l + r;
    }

    GPI_DEVICE Prefix after(const Prefix &prefix, uint32_t sum) const
    {
        return prefix + sum;
    }

    GPI_DEVICE Prefix start() const
    {
        return 0;
    }

    GPI_DEVICE CountsBefore look_ahead() const
    {
        return {};
    }

    /* ---- store warps ---- */

    GPI_DEVICE void load_part(Part &, uint32_t, int, int) const
    {
    }

    GPI_DEVICE void set_rank(uint64_t word, uint64_t rank) const
    {
        if (p.k.heads.wide)
            ((uint64_t *)p.k.heads.ranks)[word] = rank;
        else
            ((uint32_t *)p.k.heads.ranks)[word] = (uint32_t)rank;
    }

    template <class T> GPI_DEVICE void move(int stage, int a, int w, uint64_t base) const
    {
        struct alignas(16) Groups {
            Group group[batch];
        };
        const T *from = part<T>(stage, a, w) + lane_id();
        T *to = (T *)p.k.arrays[a].out + base;
        const uint32_t mine = 1u << lane_id();
#pragma unroll 1
        for (int k = 0; k < GROUPS; k += batch) {
            const Groups g = *(const Groups *)&s.own.groups[stage][w][k];
            T item[batch];
#pragma unroll
            for (int b = 0; b < batch; b++)
                item[b] = from[32 * (k + b)];
#pragma unroll
            for (int b = 0; b < batch; b++)
                if (g.group[b].bits & mine)
                    to[g.group[b].before + __popc(g.group[b].bits & (mine - 1))] = item[b];
        }
    }

    GPI_DEVICE void store_part(const Part &, uint32_t tile, int stage, int w,
                               const Prefix &base) const
    {
        const uint64_t first = (uint64_t)tile * tile_items + w * part_items;
        const uint64_t word = first / 32 + lane_id();
        if (p.k.out_pointers && lane_id() < GROUPS && word * 32 < s.n) {
            const Group own = s.own.groups[stage][w][lane_id()];
            if (p.k.by_value)
                p.k.heads.bits[word] = own.bits;
            set_rank(word, base + own.before);
        }
#pragma unroll 1
        for (int a = 0; a < ARRAYS; a++)
            switch (p.k.arrays[a].item_bytes) {
            case 0:
                break;
            case 1:
                move<uint8_t>(stage, a, w, base);
                break;
            case 2:
                move<uint16_t>(stage, a, w, base);
                break;
            case 4:
                move<uint32_t>(stage, a, w, base);
                break;
            default:
                move<uint64_t>(stage, a, w, base);
            }
    }

    /* The end counts as an entry. */
    GPI_DEVICE void finish(const Prefix &all) const
    {
        *p.k.out_nnz = all;
        if (p.k.out_pointers && s.n % 32 == 0) {
            p.k.heads.bits[s.n / 32] = 0;
            set_rank(s.n / 32, all);
        }
    }
};

/* ---- row pointers ---------------------------------------------------------------------------- */

/* A thread reads its first pointer while the stream still runs. */
template <class O> GPI_DEVICE void kept_pointers(const gpi_csr_keep &k, uint64_t n, uint64_t rows)
{
    const O *pointers = (const O *)k.pointers;
    uint64_t r = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t pointer = r <= rows ? pointers[r] : 0;
    grid_wait();
    while (r <= rows) {
        ((O *)k.out_pointers)[r] = (O)heads_before(k.heads, min(pointer, n));
        r += (uint64_t)gridDim.x * blockDim.x;
        pointer = r <= rows ? pointers[r] : 0;
    }
}

/* Behind the stream, which writes none of its inputs. Grid: any. */
__global__ __launch_bounds__(csr_tuning.threads) void csr_kept_pointers_k(
    const __grid_constant__ gpi_csr_keep k)
{
    const uint64_t n = item_count(ItemCount{k.nnz, k.device_nnz});
    const uint64_t rows = item_count(ItemCount{k.num_rows, k.device_num_rows});
    if (k.offset_bytes == 8)
        kept_pointers<uint64_t>(k, n, rows);
    else
        kept_pointers<uint32_t>(k, n, rows);
}

} // namespace GPI_SPACE
