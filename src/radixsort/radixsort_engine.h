/* SPDX-License-Identifier: MIT */
/* The CUDA sort engine as the host and its kernels see it. */
#ifndef GPI_RADIXSORT_ENGINE_H
#define GPI_RADIXSORT_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/context.h"
#include "radixsort/radixsort_order.h"

/* Sorting from the top digit: buckets are found by two partition passes of up to 8 bits. */
enum { GPI_RADIX_PASSES = 8, GPI_RADIX_SEGMENTS = 256 };

/* Bytes of a sample and its splitters; entries follow them, in the place of an array of states. */
enum { GPI_RADIX_LEARNED = 80 << 10 };

/* Sorting from the top digit when buckets of equal ranges would be too large, by levels: cells that
 * a range of keys of 4 bytes is counted by from the second level on, items that a block copies. */
enum { GPI_RADIX_CELLS = 1024 };
enum { GPI_RADIX_LEVELS = 10, GPI_RADIX_COPIED = 1 << 16 };

enum gpi_radix_place { gpi_radix_in, gpi_radix_tmp, gpi_radix_out };

enum gpi_radix_route {
    gpi_radix_route_undecided,
    gpi_radix_route_lsd,
    gpi_radix_route_buckets,
    gpi_radix_route_splitters,
    gpi_radix_route_adaptive,
    gpi_radix_route_one_bucket
};

/* Where a map of words to buckets and what was counted by it are: see radixsort_map.cuh. */
struct gpi_radix_map {
    void *sample;                        /* words */
    uint32_t *counts, *starts, *cursors; /* of buckets */
};

/* What is still too large for a block; see radixsort_adaptive_k.cuh and radixsort_levels_k.cuh. */
struct gpi_radix_segment {
    uint64_t base, end;    /* no word is smaller, or larger */
    uint64_t low;          /* the cells of its words: see radixsort_sample.cuh */
    uint32_t shift, cells; /* the same; 0 cells: no pass is needed any more */
    uint32_t first, count; /* its items */
    uint32_t tile;         /* its first one */
    /* Between splitters: buckets, and steps of a search from the first one of a cell; low and shift
     * are those of CellsOf, with the rest of it. */
    uint32_t buckets, steps, unused;
    uint64_t gap, beyond;
};

/* Items that a block is to sort by the lowest bits of their words, less the base if they are more
 * than a bucket; to copy if there are none. */
struct gpi_radix_entry {
    uint64_t base; /* no word is smaller */
    uint32_t first, count, bits;
    uint32_t from; /* enum gpi_radix_place */
};

/* The lists of such a sort. */
struct gpi_radix_adaptive {
    struct gpi_radix_segment *segments[2];   /* of even and odd levels */
    uint32_t others_max;                     /* segments of a level that need not be ones */
    uint32_t *tables;                        /* [segment]: SegmentTable or SplitTable */
    uint8_t *first_bins;                     /* of the cells of the first level */
    uint32_t *segment_of;                    /* [tile] */
    struct gpi_radix_entry *entries, *large; /* of one bucket's size, and the others */
};

/* One partition by one digit. */
struct gpi_radix_pass {
    uint32_t active, shift, bits;
    uint32_t from, to; /* enum gpi_radix_place */
    uint32_t number;   /* among the active ones */
    uint32_t last;     /* it writes the result */
};

/* What a sample tells of the buckets of one pass or of all: different words, in 64ths, as many as
 * expected of few keys, and whether a bucket has too many. */
struct gpi_radix_few {
    uint32_t different, expected, full;
};

/* Written on the device, see radixsort_key_codec.cuh. Zeroed when a sort begins. */
struct gpi_radix_plan {
    uint64_t varying; /* bits in which some word differs from the first */
    uint32_t arrived; /* blocks at the barrier */
    uint32_t tickets[GPI_RADIX_PASSES + 2];
    uint32_t route;
    uint32_t recounted;
    uint32_t skewed;      /* by the sample: there is no need to count all keys */
    uint32_t shift, bits; /* the bucket of a word: (word >> shift) % 2^bits */
    uint32_t result;      /* where the array is after the passes */
    uint32_t segment_tile[GPI_RADIX_SEGMENTS + 1]; /* first tile of each, in the second pass */
    uint32_t split_arrived;                        /* by splitters: blocks at the barrier */
    /* By levels: */
    uint32_t adaptive_arrived, adaptive_tickets[2], zoomed;
    uint32_t segments[2], others, tiles, entries, large;
    /* By a map: whether it is to be tried; what buckets too large for a block take. */
    uint32_t mapped, map_arrived, map_passed, map_tickets[2], map_work_max, map_work_all;
    struct gpi_radix_pass pass[GPI_RADIX_PASSES];
    uint32_t buckets_claimed; /* by blocks that have sorted their first one */
    struct gpi_radix_few few[2];
    uint32_t visitor_bits;  /* of the numbers of buckets that a visitor may want; 0: to be sorted */
    uint32_t again_arrived; /* the last one, see clear_tables() */
};

/* A sort of n > 0 items, or of any number up to n that is on the device, by at least one bit. */
struct gpi_radix_engine_args {
    struct gpi_radix_order order;
    bool exact; /* words distinguish NaNs and zeros: items may come in any order otherwise */
    int begin_bit, end_bit;
    uint64_t n;
    const uint64_t *device_n; /* or NULL */
    size_t value_bytes;       /* 0, 1, 2, 4 or 8 */
    void *keys[3];            /* by place; all three exist unless counted, in may equal out */
    void *values[3];          /* in NULL: the positions */
    bool keys_wanted;
    struct gpi_radix_visitor *visitor; /* or NULL; see radixsort_internal.h */
    void *scratch;
};

/* The code of one key width, and of values of no, up to 4, or 8 bytes. */
struct gpi_radix_engine {
    gp_status (*sort)(gp_context *ctx, const char *function,
                      const struct gpi_radix_engine_args *args);
    size_t (*bytes)(uint64_t n); /* of its scratch */
    /* From this number on exact keys alone are counted, not moved: there is no array gpi_radix_tmp,
     * and the scratch of one item is enough. */
    uint64_t counted_from;
#ifdef GPI_FAULT
    void (*add_faults)(uint64_t counts[2]); /* those made and those repaired, of this width */
#endif
};

#ifdef GPI_FAULT
/* Since the program began; waits for the device. Of test builds, see radixsort_tile.cuh. */
GP_API void gp_radix_sort_faults(gp_context *ctx, uint64_t counts[2]);
#endif

/* radixsort_table.c; width is log2 of the key's bytes, value_bytes is 0, 1, 2, 4 or 8.
 * The most scratch that an engine of this build takes, and the most keys that none
 * of them counts. */
size_t gpi_radix_engine_bytes(int width, uint64_t n, size_t value_bytes);
uint64_t gpi_radix_counted_from(int width);

#endif
