/* SPDX-License-Identifier: MIT */
/*
 * Stream compaction.
 *
 *   1. every item gets one bit: its flag, or whether it compares with the constant;
 *   2. the set bits of each tile are counted, and the counts of all tiles before it added up;
 *   3. each kept item goes to (count of the tiles before) + (set bits before it in its tile).
 *
 * The others of a partition are the items whose bit is not set, and as many of them come before a
 * place as the kept ones leave. A partition in three has two bits, inside and below.
 *
 * The CPU does this block by block in one pass: a thread counts, adds its count to that of the
 * blocks before in turn, and moves. So does CUDA: a tile publishes its count, adds up the counts of
 * its predecessors as they appear (Merrill and Garland 2016 without the chain of inclusive
 * prefixes), and moves. A partition in one array needs the total before the first item that is not
 * kept finds its place: the CPU marks everything first, CUDA counts in a launch of its own, or,
 * where a block has one tile and all blocks run at once, waits for the counts of all tiles.
 *
 * On CUDA items of 2, 4, 8 and 16 bytes, and positions, go straight to their places; bytes, and
 * shorts of a partition by comparison, are packed in shared memory first (compact_pack.cuh). For
 * items of other sizes a tile has a list (compact_list_cuda.cu). Counts and flags as outputs take
 * loops without tiles (compact_count.cuh).
 *
 * Scratch: CPU [counts of all blocks][bits of all items], in one array only, and the same of those
 * below; in place [a block for each thread]; CUDA none but the tile states (CUB: its own).
 */
#ifndef GPI_COMPACT_INTERNAL_H
#define GPI_COMPACT_INTERNAL_H

#include <stdbool.h>

#include <gp/compact.h>

#include "core/context.h"

enum { GPI_COMPACT_ITEM_MAX = 65536 };

/*
 * A comparison with a constant as a range of words: with w = x ^ (flip where x is negative), an
 * item is kept if (w - low <= span) != invert, all unsigned and in the item's width. The flip
 * turns the order of float bits into the order of integers; low also rotates the negative NaNs
 * above the others. An item is less than all that equal the value if w - least < first.
 */
struct gpi_compact_range {
    uint64_t flip, low, span, least, first;
    uint32_t invert;
};

/* An output beside the kept items. */
struct gpi_compact_side {
    void *out;
    uint64_t capacity; /* items that may be written; not above n */
};

/* A call that has been checked. */
struct gpi_compact_args {
    const void *in;
    const void *keep; /* NULL: by range */
    struct gpi_compact_range range;
    uint64_t n;
    const uint64_t *device_n; /* or NULL */
    void *out;                /* of kept items, or NULL; or of flags */
    void *indices;            /* of their positions, or NULL */
    uint64_t *out_count;
    uint64_t capacity;               /* of kept ones that may be written; not above n */
    struct gpi_compact_side side[2]; /* of a partition: the others, and then those above */
    uint32_t sides;                  /* how many of them */
    uint32_t counts;                 /* numbers at out_count */
    bool follows;                    /* the others have no array: they follow the kept items */
    uint32_t item_bytes;             /* of in; 0 when only flags are read */
    uint32_t index_bytes;            /* 4 or 8, with indices */
    bool bits;                       /* flags are bits */
    bool flags;                      /* out gets flags */
    bool in_place;
};

/* Bytes of n flags. */
static inline uint64_t gpi_compact_flag_bytes(bool bits, uint64_t n)
{
    return bits ? (n + 31) / 32 * 4 : n;
}

/* The range of the items x with (x compare *value), or with *upper too, in gp's order of dtype. */
struct gpi_compact_range gpi_compact_range_of(gp_dtype dtype, gp_compare compare, const void *value,
                                              const void *upper);

/* The items below a range, too. */
struct gpi_compact_range gpi_compact_range_below(const struct gpi_compact_range *range);

/* ---- CPU ---- */

/* One instruction set's inner loops. bits holds one bit per item, 64 to a word,
 * zero past the end. */
struct gpi_compact_loops {
    /* Bits of the items [first, first + items), a multiple of 64; returns how many are set. */
    uint64_t (*mark)(const struct gpi_compact_args *a, uint64_t first, size_t items,
                     uint64_t *bits);
    /* The first room outputs whose bit differs from the low bit of skip, to out: items, or
     * positions of index_bytes; past the cache, if they stream. */
    void (*move)(const struct gpi_compact_args *a, uint64_t first, size_t items,
                 const uint64_t *bits, uint64_t skip, size_t index_bytes, bool stream, void *out,
                 uint64_t room);
    /* The bits as bytes. */
    void (*spread)(const uint64_t *bits, size_t items, uint8_t *out);
};

const struct gpi_compact_loops *gpi_compact_loops_for(int isa);

size_t gpi_compact_cpu_bytes(const struct gpi_compact_args *a, int threads);
gp_status gpi_compact_cpu(gp_context *ctx, const char *function, const struct gpi_compact_args *a);

/* ---- CUDA ---- */

/* Queues the kernels of one call with n > 0. */
typedef gp_status gpi_compact_launch(gp_context *ctx, const char *function,
                                     const struct gpi_compact_args *a);

/* One architecture's launchers. */
struct gpi_compact_cuda {
    gpi_compact_launch *index, *list; /* positions of flags; items of other sizes */
    gpi_compact_launch *by_width[5];  /* items of 1, 2, 4, 8, 16 bytes, and all by comparison */
};

const struct gpi_compact_cuda *gpi_compact_cuda_for(int sm_row);

enum {
    GPI_COMPACT_WARPS = 8,                /* of a tile's block */
    GPI_COMPACT_COUNT_BLOCKS = 6,         /* per multiprocessor, of loops without tiles, at most */
    GPI_COMPACT_LIST_TILE_BYTES = 32768,  /* of staged items, unless one item is larger */
    GPI_COMPACT_LIST_TILE_MAX = 4096,     /* items: 128 words of bits */
    GPI_COMPACT_SPLIT_TILE_BYTES = 24576, /* the same of items of odd sizes */
    GPI_COMPACT_SPLIT_TILE_MAX = 8192
};

/* 0..4 for 1, 2, 4, 8, 16; -1 for other sizes. */
static inline int gpi_compact_width(uint32_t item_bytes)
{
    for (int i = 0; i < 5; i++)
        if (item_bytes == 1u << i)
            return i;
    return -1;
}

/* Groups of 32 items that a warp holds in registers at most. */
static inline uint32_t gpi_compact_groups_max(uint32_t item_bytes)
{
    return item_bytes <= 4 ? 16 : item_bytes == 8 ? 8 : 4;
}

/* Whole groups of 32, if there is one: the flags of all tiles then lie as those of the first do. */
static inline uint32_t gpi_compact_whole_groups(uint32_t items)
{
    return items < 32 ? items : items / 32 * 32;
}

/* Items per tile: large ones when there are many items, small ones when few, so that all SMs work:
 * each has two, or one of a list. */
static inline uint32_t gpi_compact_tile_items(const struct gpi_compact_args *a, int sm_count)
{
    const uint32_t least = 32 * GPI_COMPACT_WARPS;
    uint32_t t = least * gpi_compact_groups_max(a->item_bytes), each = 2;
    if (a->item_bytes && gpi_compact_width(a->item_bytes) < 0) {
        const bool split = a->item_bytes % 2 != 0;
        const uint32_t most = split ? GPI_COMPACT_SPLIT_TILE_MAX : GPI_COMPACT_LIST_TILE_MAX;
        t = (split ? GPI_COMPACT_SPLIT_TILE_BYTES : GPI_COMPACT_LIST_TILE_BYTES) / a->item_bytes;
        t = t < 1 ? 1 : gpi_compact_whole_groups(t > most ? most : t);
        each = 1;
    }
    while (t > least && a->n < (uint64_t)sm_count * each * t)
        t = gpi_compact_whole_groups(t / 2);
    return t;
}

static inline uint64_t gpi_compact_tiles(const struct gpi_compact_args *a, int sm_count)
{
    uint32_t t = gpi_compact_tile_items(a, sm_count);
    return (a->n + t - 1) / t;
}

/* Blocks of the loops without tiles. */
static inline uint32_t gpi_compact_count_blocks(uint64_t n, int sm_count)
{
    const uint64_t blocks = (n + 4095) / 4096, most = (uint64_t)sm_count * GPI_COMPACT_COUNT_BLOCKS;
    return (uint32_t)(blocks < most ? blocks : most);
}

/* States that a call takes: its tiles, or those blocks. */
static inline uint64_t gpi_compact_slots(const struct gpi_compact_args *a, int sm_count)
{
    const uint64_t tiles = gpi_compact_tiles(a, sm_count);
    const uint64_t blocks = gpi_compact_count_blocks(a->n, sm_count);
    return tiles > blocks ? tiles : blocks;
}

#endif
