/* SPDX-License-Identifier: MIT */
/*
 * Histogram: binning (value -> bin) is separate from counting (bin -> counter).
 *
 * Binning, see struct gpi_binning: integers in even bins by a multiplication with a rounded-up
 * reciprocal that is exact for every value (Granlund and Montgomery 1994, division by invariant
 * integers), so nothing divides; floats by one subtraction and one multiplication in double; edges
 * by binary search, on the CPU among the few edges that a table of cells leaves.
 *
 * CUDA: persistent blocks count in shared memory, in several columns when bins are few so that
 * lanes do not collide, and add their table to the result at the end; tables that do not fit
 * are counted by global atomics (histogram_kernels.cuh). 8-bit dtypes count their 256 values
 * and bin those.
 *
 * CPU: workers count chunks of the input in private tables, which are then added
 * (histogram_cpu.c); with more bins than caches have counters, items are first brought together by
 * the high bits of their bin (histogram_cpu_split.c).
 *
 * Workspace: CUDA: none (CUB: its own). CPU: the tables, two bytes per item where items are brought
 * together, and the edges.
 */
#ifndef GPI_HISTOGRAM_INTERNAL_H
#define GPI_HISTOGRAM_INTERNAL_H

#include <gp/histogram.h>

#include "core/context.h"

/*
 * Units: what the code depends on. Signed and unsigned integers share one: values below lo
 * wrap to large distances, and edges compare after flipping the sign bit.
 */
#define GPI_HISTOGRAM_UNITS(UNIT)                                                                  \
    UNIT(b8) UNIT(b16) UNIT(b32) UNIT(b64) UNIT(f16) UNIT(bf16) UNIT(f32) UNIT(f64)

enum gpi_histogram_unit {
#define GPI_HISTOGRAM_ENUM(name) GPI_HISTOGRAM_##name,
    GPI_HISTOGRAM_UNITS(GPI_HISTOGRAM_ENUM)
#undef GPI_HISTOGRAM_ENUM
        GPI_HISTOGRAM_UNIT_COUNT
};

enum gpi_binning_kind {
    GPI_BINNING_NARROW, /* integers, hi - lo < 2^32 */
    GPI_BINNING_WIDE,   /* integers, hi - lo >= 2^32 */
    GPI_BINNING_SCALE,  /* floats */
    GPI_BINNING_EDGES
};

/*
 * Where a search among edges begins, on the CPU. A map that never falls as its argument rises sends
 * values to cells; the edges of a cell are therefore neighbours, and those of the cells before it
 * are all below. Two maps: one linear in the value, one in its logarithm (the bits of a float are
 * such a one), and the better for the edges at hand is taken. However they are spread the result is
 * exact, and a search takes at most as many steps as one among all of them.
 */
struct gpi_edge_grid {
    const uint32_t *below; /* [cell]: edges of the cells before; NULL: there is one cell only */
    const void *edges;     /* without equal ones, in the type they are compared in */
    const uint32_t *bin;   /* [edge]: its bin, if some were left out; otherwise NULL */
    uint32_t last;         /* the final edge */
    uint32_t cells;        /* at most */
    uint32_t longest;      /* most edges of a cell */
    bool logarithmic;
    unsigned shift; /* cell = min(rank, span) >> shift, or */
    uint64_t span;
    double scale; /* cell = distance * scale: floats, linear */
};

/*
 * How a value finds its bin. With R = hi - lo, d = x - lo < R and bins = q R + r, r < R:
 *
 *     floor(d bins / R) = d q + floor(d r / R) = d q + floor(d m / 2^w),  m = floor(r 2^w / R) + 1.
 *
 * The last step is exact: m exceeds r 2^w / R by at most 1, so d m / 2^w exceeds d r / R by at most
 * d / 2^w, and that is less than 1 / R, the smallest distance to the next integer, when
 * R <= 2^(w/2). By the same argument d may be R, whose bin is bins: the CPU clamps d to R.
 *
 * One multiplication of 32 bits is enough if q = 0 and, with m' = ceil(bins 2^w / R) < 2^32,
 * R times what m' R exceeds bins 2^w by is below 2^w. That depends on the numbers;
 * bins R <= 2^31 suffices.
 */
struct gpi_binning {
    enum gpi_binning_kind kind;
    uint32_t bins;
    uint64_t lo;         /* integers: bits of lo, extended to 64 */
    uint64_t last;       /* integers: R - 1 */
    uint64_t q;          /* integers */
    uint64_t m_hi, m_lo; /* integers: m, w = 128; for NARROW w = 64 and m is m_hi */
    uint32_t m_short;    /* NARROW: m' with w = 32 + shift, or 0 if it would not be exact */
    uint32_t shift;
    uint32_t none;     /* what stands for "in no bin" on the CPU; not a bin that values reach */
    double from, to;   /* floats: lo and hi */
    double scale;      /* floats: bins / (hi - lo) */
    const void *edges; /* bins + 1 */
    uint64_t flip;     /* EDGES of integers: the sign bit of signed dtypes */
    struct gpi_edge_grid grid;
};

/* One call, checked. */
struct gpi_histogram_args {
    struct gpi_binning binning;
    gp_dtype dtype;
    const void *in;
    uint64_t n;
    const uint64_t *device_n; /* NULL, or n is its bound, on CUDA */
    bool wide_counters;       /* uint64_t, otherwise uint32_t */
    bool accumulate;
    void *counts;
    uint64_t *outside; /* or NULL */
};

/* lo and hi as the caller gave them; writes the error text if they are not allowed. */
gp_status gpi_binning_even(gp_context *ctx, const char *function, gp_dtype dtype, const void *lo,
                           const void *hi, size_t bins, struct gpi_binning *binning);
void gpi_binning_whole(gp_dtype dtype, size_t bins, struct gpi_binning *binning);
void gpi_binning_edges(gp_dtype dtype, const void *edges, size_t bins, struct gpi_binning *binning);

/* ---- CPU ---- */

/* index[i] = the bin of in[i], or binning->none; count is at most GPI_BINNING_BLOCK. Named
 * gpi_binning_<unit>_<instruction set>. */
typedef void (*gpi_binning_fn)(const struct gpi_binning *binning, const void *in, size_t count,
                               uint32_t *index);
/* Blocks are small so that a processor counts one while it bins the next. */
enum { GPI_BINNING_BLOCK = 256 };

/* Fill grid from the edges. below has room for cells words, bin for bins + 1,
 * edges for 2 bins + 1 of GPI_EDGE_BYTES. Named gpi_edge_grid_<unit>_<instruction set>. */
typedef void (*gpi_edge_grid_fn)(struct gpi_binning *binning, uint32_t cells, uint32_t *below,
                                 uint32_t *bin, void *edges);
enum { GPI_EDGE_BYTES = 8, GPI_EDGES_FEW = 16 /* compared one by one */ };

struct gpi_binning_functions {
    gpi_binning_fn bin;
    gpi_edge_grid_fn edge_grid;
};

struct gpi_binning_functions gpi_binning_find(const gp_context *ctx, gp_dtype dtype);

gp_status gpi_histogram_cpu(gp_context *ctx, const char *function,
                            const struct gpi_histogram_args *args);
/* Frame bytes; threads 0: any. */
size_t gpi_histogram_cpu_bytes(gp_dtype dtype, uint64_t n, size_t bins, int threads);

/* ---- CUDA ---- */

/* Queues the call. Named gpi_histogram_<unit>_sm<architecture>. The device is current. */
typedef void (*gpi_histogram_fn)(const gp_context *ctx, const struct gpi_histogram_args *args);

/* NULL: not in this build. */
gpi_histogram_fn gpi_histogram_find(const gp_context *ctx, gp_dtype dtype);

#endif
